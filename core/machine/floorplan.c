/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/floorplan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum tmx_status tmx_floorplan_add(struct tmx_floorplan *fp, const struct tmx_unit *u, struct tmx_err *err)
{
    const size_t n = fp->n_unit;
    struct tmx_unit *unit = realloc(fp->unit, (n + 1) * sizeof *unit);
    if (!unit) {
        return tmx_fail(err, TMX_ENOMEM, "floorplan of %zu units", n + 1);
    }
    fp->unit = unit;
    unit[n] = *u;
    const size_t size = strlen(u->name) + 1;
    unit[n].name = malloc(size);
    if (!unit[n].name) {
        return tmx_fail(err, TMX_ENOMEM, "floorplan of %zu units", n + 1);
    }
    memcpy(unit[n].name, u->name, size);
    fp->n_unit = n + 1;
    return TMX_OK;
}

void tmx_floorplan_finish(struct tmx_floorplan *fp)
{
    for (size_t i = 0; i < fp->n_unit; i++) {
        free(fp->unit[i].name);
    }
    free(fp->unit);
    *fp = (struct tmx_floorplan){0};
}

void tmx_floorplan_normalise(struct tmx_floorplan *fp)
{
    if (fp->n_unit == 0) {
        return;
    }
    double x_min = fp->unit[0].x_m, y_min = fp->unit[0].y_m;
    for (size_t i = 1; i < fp->n_unit; i++) {
        x_min = fp->unit[i].x_m < x_min ? fp->unit[i].x_m : x_min;
        y_min = fp->unit[i].y_m < y_min ? fp->unit[i].y_m : y_min;
    }
    for (size_t i = 0; i < fp->n_unit; i++) {
        fp->unit[i].x_m -= x_min;
        fp->unit[i].y_m -= y_min;
    }
}

double tmx_floorplan_width_m(const struct tmx_floorplan *fp)
{
    double w = 0;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const double right = fp->unit[i].x_m + fp->unit[i].w_m;
        w = right > w ? right : w;
    }
    return w;
}

double tmx_floorplan_height_m(const struct tmx_floorplan *fp)
{
    double h = 0;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const double top = fp->unit[i].y_m + fp->unit[i].h_m;
        h = top > h ? top : h;
    }
    return h;
}

double tmx_unit_area_m2(const struct tmx_unit *u)
{
    return u->w_m * u->h_m;
}

size_t tmx_floorplan_find(const struct tmx_floorplan *fp, const char *name)
{
    for (size_t i = 0; i < fp->n_unit; i++) {
        if (tmx_word_compare(fp->unit[i].name, name) == 0) {
            return i;
        }
    }
    return fp->n_unit;
}
