/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_FLOORPLAN_FLOORPLAN_H
#define TMX_CORE_FLOORPLAN_FLOORPLAN_H

/* Floorplan units as plain data, and HotSpot's floorplan files; other formats are in thermal/files/. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

struct tmx_unit {
    char *name;                     /* compared case-insensitively */
    double x_m, y_m, w_m, h_m;      /* [m] left, bottom, width (along x), height (along y) */
    double heat_capacity_j_per_m3k; /* own material of a detailed stack; NAN: the layer's */
    double resistivity_mk_per_w;    /* likewise */
    unsigned line;                  /* in the file it was read from, 0 when made by code */
};

struct tmx_floorplan {
    struct tmx_unit *unit; /* [n_unit] */
    size_t n_unit;
    char source[512];       /* file name for messages */
    struct tmx_arena arena; /* of the units that were added, and their names */
};

/* Append a copy of *u, all units having been added so. Returns TMX_OK or TMX_ENOMEM. */
enum tmx_status tmx_floorplan_add(struct tmx_floorplan *fp, const struct tmx_unit *u, struct tmx_err *err);
/* Release what fp owns; accepts zeroed memory. */
void tmx_floorplan_finish(struct tmx_floorplan *fp);

/* Shift so that min x = min y = 0. */
void tmx_floorplan_normalise(struct tmx_floorplan *fp);
/* Extent of the die [m], measured from the origin (0 for an empty floorplan). */
double tmx_floorplan_width_m(const struct tmx_floorplan *fp);
double tmx_floorplan_height_m(const struct tmx_floorplan *fp);
double tmx_unit_area_m2(const struct tmx_unit *u);
/* Index of the unit with this name (case-insensitive); n_unit when absent. */
size_t tmx_floorplan_find(const struct tmx_floorplan *fp, const char *name);

/* Check that units are positive, inside the die, named once, and tile it: an overlap
 * or a gap (an empty square) deeper than what is taken for rounding, max(2 um, 1e-4 of the longer die side),
 * is an error naming the units and the place; gaps are accepted with allow_gaps. Returns TMX_OK, TMX_EPARSE
 * or TMX_ENOMEM. O(n_unit^2). */
enum tmx_status tmx_floorplan_check(const struct tmx_floorplan *fp, int allow_gaps, struct tmx_err *err);
/* The same, with overlaps up to this depth accepted. */
enum tmx_status tmx_floorplan_check_loose(const struct tmx_floorplan *fp, int allow_gaps, double overlap_m,
                                          struct tmx_err *err);

struct tmx_tiling {                    /* how well the units cover the die */
    double die_m2, gap_m2, overlap_m2; /* uncovered area; area covered again, counted each time */
};
enum tmx_status tmx_floorplan_tiling(const struct tmx_floorplan *fp, struct tmx_tiling *tiling,
                                     struct tmx_err *err);

/* HotSpot floorplan files (.flp): one block per line,
 *     name  width  height  left-x  bottom-y  [heat-capacity  resistivity]
 * in metres (J/(m3 K) and m K/W for the material), `#` starts a comment line. Wire lists
 * (`name1 name2 density`) are skipped. Format: docs/formats.md. */

enum { TMX_FLP_MAX_UNITS = 65536, TMX_NAME_SIZE = 512 }; /* HotSpot has 8192, and the same names */

/* Read the file at path into *fp (overwritten; end it with tmx_floorplan_finish, also
 * after failure) and shift it to the origin. Checks each line; whether the blocks tile
 * the die is tmx_floorplan_check's question. Errors: TMX_EIO, TMX_EPARSE, TMX_ENOMEM. */
enum tmx_status tmx_flp_read(const char *path, struct tmx_floorplan *fp, struct tmx_err *err);

/* Write fp so that tmx_flp_read reads it back equal; comment may be NULL or several
 * lines, each is written behind `# `. */
void tmx_flp_print(const struct tmx_floorplan *fp, const char *comment, FILE *out);

/* The same to a file that appears whole or not at all. */
enum tmx_status tmx_flp_write(const char *path, const struct tmx_floorplan *fp, const char *comment,
                              struct tmx_err *err);

/* Changes to a floorplan, and regular chips made from a few numbers. Pure geometry. */

/* Stretch the die and its units. Factors above 0. */
void tmx_floorplan_scale(struct tmx_floorplan *fp, double factor_x, double factor_y);
/* Quarter turns counter-clockwise (negative: clockwise); the die stays at the origin. */
void tmx_floorplan_rotate(struct tmx_floorplan *fp, int quarter_turns);
/* Left and right change places. (Top and bottom: rotate twice as well.) */
void tmx_floorplan_mirror(struct tmx_floorplan *fp);
/* Move one unit, or all when unit is n_unit. */
void tmx_floorplan_move(struct tmx_floorplan *fp, size_t unit, double dx_m, double dy_m);
/* Exchange the places of two units; each takes the other's size. */
void tmx_floorplan_swap(struct tmx_floorplan *fp, size_t a, size_t b);
/* Cut a unit into n_x by n_y equal pieces <name>_<row>_<column>, row 0 at the bottom. */
TMX_NODISCARD enum tmx_status tmx_floorplan_split(struct tmx_floorplan *fp, size_t unit, size_t n_x,
                                                  size_t n_y, struct tmx_err *err);
/* Replace *fp by n_x by n_y equal cells over the same die, each named
 * <unit that covers its middle>_<row>_<column>, or gap_... where none does. */
TMX_NODISCARD enum tmx_status tmx_floorplan_grid(struct tmx_floorplan *fp, size_t n_x, size_t n_y,
                                                 struct tmx_err *err);

enum tmx_sm_layout {
    TMX_PLACE_EDGES,        /* two bands of clusters along the bottom and the top edge */
    TMX_PLACE_CENTRE,       /* the two bands side by side in the middle */
    TMX_PLACE_COLUMNS,      /* two bands along the left and the right edge */
    TMX_PLACE_CHECKERBOARD, /* clusters and cache blocks by turns */
    TMX_PLACE_SPREAD,       /* rows of single SMs with strips of uncore between them */
};
extern const char *const tmx_sm_layout_names[]; /* NULL-terminated, in this order */

struct tmx_regular_chip {
    double width_m, height_m;
    size_t n_sm, per_cluster; /* n_sm is a multiple of per_cluster */
    double sm_area_m2;        /* of one SM: the same in every placement */
    double margin_m; /* width of the memory controllers' strips MC0, MC1 at the left and right edge */
    int placement;   /* enum tmx_placement */
};

/* Fills *fp (overwritten) with units SM<i>, MC<i>, UNCORE<i>, CACHE<i> that tile the die.
 * SMs per_cluster * c .. per_cluster * c + per_cluster - 1 are cluster c. TMX_ECONFIG when
 * they do not fit. */
TMX_NODISCARD enum tmx_status tmx_floorplan_generate(struct tmx_floorplan *fp,
                                                     const struct tmx_regular_chip *c, struct tmx_err *err);

#endif
