/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_HOTSPOT_LCF_H
#define TMX_THERMAL_FILES_HOTSPOT_LCF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "thermal/assembly/spec.h"

/* HotSpot materials files: per material, one token a line, its name, `solid` or `fluid`,
 * conductivity, volumetric heat capacity and, for a fluid, the dynamic viscosity. */

enum { TMX_MATERIAL_NAME_SIZE = 64 };

struct tmx_material {
    char name[TMX_MATERIAL_NAME_SIZE]; /* case counts, as in HotSpot */
    bool fluid;
    double k_w_per_mk, p_j_per_m3k, viscosity_pa_s; /* the last of a fluid */
    unsigned line;
};

struct tmx_materials {
    struct tmx_material *item; /* [n] */
    size_t n;
    char source[512];
    struct tmx_arena arena;
};

/* Bounds a conductivity must keep where it is used; outside it has other units. Vacuum
 * panels reach 0.01, diamond 2200, graphite and nanotube films up to 5000 W/(m K). */
#define TMX_MIN_CONDUCTIVITY 0.01
#define TMX_MAX_CONDUCTIVITY 5000.0

/* Read path into *m (overwritten; tmx_materials_finish also after failure). Errors:
 * TMX_EIO, TMX_EPARSE with file:line, TMX_ENOMEM. */
enum tmx_status tmx_materials_read(const char *path, struct tmx_materials *m, struct tmx_err *err);
void tmx_materials_finish(struct tmx_materials *m);

/* NULL when absent. */
const struct tmx_material *tmx_materials_find(const struct tmx_materials *m, const char *name);

/* Fail at the material's line unless its conductivity keeps the bounds: TMX_EPARSE. Materials called "none"
 * or "vacuum", by which HotSpot's users leave out a sink, may conduct next to nothing. */
enum tmx_status tmx_materials_check(const struct tmx_materials *m, const struct tmx_material *item,
                                    struct tmx_err *err);
/* What follows `unknown material "name"`: the nearest one, if one is near, or that there is no file of them.
 * Returns hint. */
const char *tmx_materials_hint(const struct tmx_materials *m, const char *name, char hint[TMX_HINT_SIZE]);

/* HotSpot layer files (.lcf): the layers of a stack, the one farthest from the sink is
 * layer 0, the last one is the interface to the spreader. Format: docs/formats.md. */

enum { TMX_LCF_MAX_LAYERS = 256 };

struct tmx_lcf_part {    /* a floorplan that lies in a layer */
    char floorplan[512]; /* as written: relative to the current folder, else to the .lcf's */
    double x_m, y_m;     /* of its lower left corner in the stack's plane */
    char prefix[64];     /* before its units' names */
    unsigned line;
};

struct tmx_lcf_layer {
    struct tmx_layer l; /* without floorplan and channels */
    bool given;
    struct tmx_lcf_part *part; /* [n_part] its floorplan, then those of `place` */
    size_t n_part;
    bool at;                      /* the first one's place is given */
    struct tmx_channels channels; /* of `channels`, at line wet, else 0 */
    unsigned wet;
    unsigned line; /* of its number */
};

struct tmx_lcf {
    struct tmx_lcf_layer *layer; /* [n_layer] by layer number */
    size_t n_layer;
    char source[512];
    struct tmx_arena arena;
};

/* Read path into *lcf (overwritten; tmx_lcf_finish also after failure). Material names are
 * looked up in materials. Errors: TMX_EIO, TMX_EPARSE with file:line (a layer
 * given twice or missing, an unknown material, a value out of bounds), TMX_ENOMEM. */
enum tmx_status tmx_lcf_read(const char *path, const struct tmx_materials *materials, struct tmx_lcf *lcf,
                             struct tmx_err *err);
void tmx_lcf_finish(struct tmx_lcf *lcf);

/* The line `channels ...` of a layer. */
void tmx_lcf_print_channels(struct tmx_channels c, FILE *out);

#endif
