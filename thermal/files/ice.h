/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_ICE_H
#define TMX_THERMAL_FILES_ICE_H

#include <stdbool.h>

#include "base/text.h"
#include "core/floorplan/floorplan.h"
#include "thermal/assembly/spec.h"

/* Import from 3D-ICE: floorplans (.flp) and stacks (.stk) of layers, dies and channels with
 * conventional heat sinks. Lengths there are um, conductivities W/(um K), heat
 * capacities J/(um3 K). Pluggable sinks and 2.5D placements are refused with the line. Format: 3D-ICE 4.0
 * user guide. */

/* True when the file looks like a 3D-ICE floorplan, or stack, by its content. */
bool tmx_ice_is(const char *path, bool stack);

struct tmx_ice_powers { /* of a floorplan's units: its elements, those of several rectangles shared by area */
    double *w;          /* [n_unit][n_slot] owned */
    size_t n_slot;      /* 0: no element has any; those without draw 0 W, which a warning says */
    size_t n_without;   /* elements without power values, and the first of them */
    char without[160];
};

/* Read `name : position x, y; dimension w, h; material M; power values ...;` blocks; materials are those of
 * stack, and refused where it is NULL. powers may be NULL; else it is overwritten, and its w is freed by the
 * caller, also after failure. */
struct tmx_ice_stack;
enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                                 const struct tmx_ice_stack *stack, struct tmx_err *err);

/* Write fp as a 3D-ICE floorplan; power_w [n_row][n_column] (NULL: none) has a column each unit, column[u],
 * in rows. Errors: TMX_EIO, TMX_ECONFIG for a name that 3D-ICE could not read twice. */
struct tmx_trace;
enum tmx_status tmx_ice_write_flp(const char *path, const struct tmx_floorplan *fp,
                                  const struct tmx_trace *power, const size_t *column, struct tmx_err *err);

/* The chip of a HotSpot `.config` or `.lcf` at path -> the folder out_dir with stack.stk and a floorplan for
 * each layer that dissipates, with the powers of the config's -p. Errors: TMX_EUNSUPPORTED for what 3D-ICE's
 * solid stacks do not have (fillers, units' own materials, a secondary path). note says what is not the same;
 * "": all is. */
enum { TMX_ICE_NOTE = 400 };
enum tmx_status tmx_ice_write_stack(const char *path, const char *out_dir, char note[TMX_ICE_NOTE],
                                    struct tmx_err *err);

/* Write stack.lcf and one .flp a layer into the folder out_dir (made when absent): HotSpot's
 * layer order, layer 0 farthest from the sink. Layers without a floorplan get one block. Where the stack has
 * a top heat sink also stack.config, its film, ambient, start, slot and cells as HotSpot's options, and where
 * elements have power values stack.ptrace. 3D-ICE has no spreader and no sink: those are two sheets of 10 nm,
 * so the configuration is one for --network physical. */
enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir, struct tmx_err *err);

/* Private to ice_read.c and ice_write.c. */

/* A name that is made up gets _ behind it as long as a unit has it. */
void tmx_ice_name_apart(const struct tmx_floorplan *fp, char *name, size_t size);

struct tmx_ice_lex { /* the words of a 3D-ICE file */
    struct tmx_text_file text;
    const char *next;
    struct tmx_span word;                  /* empty at the end of the file */
    char phrase[64];                       /* the last one with a word in it, for messages */
    unsigned line;                         /* of word */
    char skipped[200];                     /* words without an effect here, with their lines */
    const struct tmx_ice_stack *materials; /* whose materials words may name; NULL: none */
    struct tmx_err *err;                   /* the first error ends the file */
};

enum {
    TMX_ICE_NAME = 128,
    TMX_ICE_MAX_MATERIAL = 64,
    TMX_ICE_MAX_KIND = 64,
    TMX_ICE_MAX_SLICE = 16,
    TMX_ICE_MAX_STACK = 256
};

struct tmx_ice_material {
    char name[TMX_ICE_NAME];
    double k_w_per_mk, c_j_per_m3k; /* k from face to face */
    double k_part_x, k_part_y;      /* along the chip's length and width, of k */
};

struct tmx_ice_slice { /* one sheet of one material */
    double height_m;
    size_t material;
    bool source;   /* dissipates, by the die's floorplan */
    size_t layout; /* other materials in parts of it: of the stack's layouts, from 1 on; 0: none */
};

struct tmx_ice_layout { /* of a layer, `layout "file" ;` */
    char file[512];
    unsigned line;
    struct tmx_floorplan units; /* owned: with its fillers */
};

struct tmx_ice_plate {       /* of 3D-ICE 2.x's heat sink */
    double height_m, side_m; /* 0: it has none */
    size_t material;
};

struct tmx_ice_kind { /* `layer TMX_ICE_NAME :` or `die TMX_ICE_NAME :`, top to bottom */
    char name[TMX_ICE_NAME];
    struct tmx_ice_slice slice[TMX_ICE_MAX_SLICE];
    size_t n_slice;
    bool die, channel; /* channel: the kind that `microchannel` or `pinfin` adds, of one slice, its walls */
};

struct tmx_ice_placed { /* an entry of `stack :`, top to bottom */
    char name[TMX_ICE_NAME], floorplan[512];
    size_t kind;
    struct tmx_floorplan units;   /* owned: of a die, with its fillers */
    struct tmx_ice_powers powers; /* owned; of its elements, which come first */
};

/* A 3D-ICE stack as it was read. */
struct tmx_ice_stack {
    struct tmx_ice_lex l;
    struct tmx_ice_material material[TMX_ICE_MAX_MATERIAL];
    size_t n_material, n_outer; /* n_outer: those that a layout's own may hide */
    struct tmx_ice_layout layout[TMX_ICE_MAX_KIND];
    size_t n_layout;
    struct tmx_ice_kind kind[TMX_ICE_MAX_KIND];
    size_t n_kind;
    struct tmx_ice_placed placed[TMX_ICE_MAX_STACK];
    size_t n_placed;
    double length_m, width_m, cell_length_m, cell_width_m;
    double top_w_per_m2k, bottom_w_per_m2k; /* films of the heat sinks; 0: none */
    struct tmx_ice_plate sink, spreader;
    struct tmx_channels channels; /* of every `channel`; 0 where no file part defines them */
    unsigned channels_line;
    double ambient_k;         /* of both */
    double init_k, slot_s;    /* of the solver; slot 0: steady, or not given */
    char block[TMX_ICE_NAME]; /* file of the layers without a floorplan */
    const char *block_word;   /* of the file's block that is read */
};

/* Read the file at path; the floorplans it names are not opened. *s is overwritten; end it with
 * tmx_ice_stack_finish, also after failure. Errors: TMX_EIO, TMX_EPARSE with file:line, TMX_ENOMEM. */
enum tmx_status tmx_ice_stack_read(struct tmx_ice_stack *s, const char *path, struct tmx_err *err);
/* The layout file at path; *fp is overwritten, and finished by the caller, also after failure. */
enum tmx_status tmx_ice_read_layout(struct tmx_ice_stack *s, const char *path, struct tmx_floorplan *fp,
                                    struct tmx_err *err);
void tmx_ice_stack_finish(struct tmx_ice_stack *s); /* accepts zeroed memory */

#endif
