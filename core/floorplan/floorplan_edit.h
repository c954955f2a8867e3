/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_FLOORPLAN_FLOORPLAN_EDIT_H
#define TMX_CORE_FLOORPLAN_FLOORPLAN_EDIT_H

/* Changes to a floorplan, and regular chips made from a few numbers. Pure geometry. */

#include <stdbool.h>

#include "core/floorplan/floorplan.h"

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
