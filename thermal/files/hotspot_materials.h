/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_HOTSPOT_MATERIALS_H
#define TMX_THERMAL_FILES_HOTSPOT_MATERIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

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
    struct tmx_material *item; /* [n] owned */
    size_t n;
    char source[512];
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

/* Private to the readers of materials and layer files: lines of words, until err has an error. */
struct tmx_hotspot_lines {
    struct tmx_text_file text;
    struct tmx_lines lines;
    const char *of; /* what a line is of, for messages: "", " of a layer" */
    struct tmx_err *err;
};
#define TMX_HOTSPOT_FAIL(r, ...) \
    tmx_error_at((r)->err, TMX_EPARSE, (r)->text.name, (r)->lines.number, __VA_ARGS__)
/* First field of the next filled line; what names it in the message at the file's end. */
struct tmx_span tmx_hotspot_next(struct tmx_hotspot_lines *r, const char *what);
double tmx_hotspot_number(struct tmx_hotspot_lines *r, struct tmx_span token, const char *what, double min,
                          double max);

#endif
