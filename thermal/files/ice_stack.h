/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_ICE_STACK_H
#define TMX_THERMAL_FILES_ICE_STACK_H

/* Private to ice_stack.c and ice_convert.c: a 3D-ICE stack as it was read. */

#include "thermal/files/ice_io.h"
#include "thermal/files/ice_lex.h"

enum {
    TMX_ICE_NAME = 128,
    TMX_ICE_MAX_MATERIAL = 64,
    TMX_ICE_MAX_KIND = 64,
    TMX_ICE_MAX_SLICE = 16,
    TMX_ICE_MAX_STACK = 64
};

struct tmx_ice_material {
    char name[TMX_ICE_NAME];
    double k_w_per_mk, c_j_per_m3k;
};

struct tmx_ice_slice { /* one sheet of one material */
    double height_m;
    size_t material;
    bool source; /* dissipates, by the die's floorplan */
};

struct tmx_ice_kind { /* `layer TMX_ICE_NAME :` or `die TMX_ICE_NAME :`, top to bottom */
    char name[TMX_ICE_NAME];
    struct tmx_ice_slice slice[TMX_ICE_MAX_SLICE];
    size_t n_slice;
    bool die;
};

struct tmx_ice_placed { /* an entry of `stack :`, top to bottom */
    char name[TMX_ICE_NAME], floorplan[512];
    size_t kind;
    struct tmx_floorplan units;   /* owned: of a die, with its fillers */
    struct tmx_ice_powers powers; /* owned; of its elements, which come first */
};

struct tmx_ice_stack {
    struct tmx_ice_lex l;
    struct tmx_ice_material material[TMX_ICE_MAX_MATERIAL];
    size_t n_material;
    struct tmx_ice_kind kind[TMX_ICE_MAX_KIND];
    size_t n_kind;
    struct tmx_ice_placed placed[TMX_ICE_MAX_STACK];
    size_t n_placed;
    double length_m, width_m, cell_length_m, cell_width_m;
    double top_w_per_m2k, bottom_w_per_m2k; /* films of the heat sinks; 0: none */
    double ambient_k;                       /* of both */
    double init_k, slot_s;                  /* of the solver; slot 0: steady, or not given */
    char block[TMX_ICE_NAME];               /* file of the layers without a floorplan */
};

/* Read the file at path; the floorplans it names are not opened. *s is overwritten; end it with
 * tmx_ice_stack_finish, also after failure. Errors: TMX_EIO, TMX_EPARSE with file:line, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_ice_stack_read(struct tmx_ice_stack *s, const char *path,
                                                 struct tmx_err *err);
void tmx_ice_stack_finish(struct tmx_ice_stack *s); /* accepts zeroed memory */

#endif
