/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/floorplan_edit.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 600 };

void tmx_floorplan_scale(struct tmx_floorplan *fp, double factor_x, double factor_y)
{
    tmx_assert(factor_x > 0 && factor_y > 0);
    for (size_t i = 0; i < fp->n_unit; i++) {
        struct tmx_unit *u = &fp->unit[i];
        u->x_m *= factor_x;
        u->w_m *= factor_x;
        u->y_m *= factor_y;
        u->h_m *= factor_y;
    }
}

void tmx_floorplan_rotate(struct tmx_floorplan *fp, int quarter_turns)
{
    for (int turns = ((quarter_turns % 4) + 4) % 4; turns > 0; turns--) {
        const double height_m = tmx_floorplan_height_m(fp);
        for (size_t i = 0; i < fp->n_unit; i++) {
            struct tmx_unit *u = &fp->unit[i];
            const struct tmx_unit old = *u;
            u->x_m = height_m - (old.y_m + old.h_m);
            u->y_m = old.x_m;
            u->w_m = old.h_m;
            u->h_m = old.w_m;
        }
    }
}

void tmx_floorplan_mirror(struct tmx_floorplan *fp)
{
    const double width_m = tmx_floorplan_width_m(fp);
    for (size_t i = 0; i < fp->n_unit; i++) {
        fp->unit[i].x_m = width_m - (fp->unit[i].x_m + fp->unit[i].w_m);
    }
}

void tmx_floorplan_move(struct tmx_floorplan *fp, size_t unit, double dx_m, double dy_m)
{
    for (size_t i = 0; i < fp->n_unit; i++) {
        if (unit == fp->n_unit || i == unit) {
            fp->unit[i].x_m += dx_m;
            fp->unit[i].y_m += dy_m;
        }
    }
}

void tmx_floorplan_swap(struct tmx_floorplan *fp, size_t a, size_t b)
{
    tmx_assert(a < fp->n_unit && b < fp->n_unit);
    const struct tmx_unit old = fp->unit[a];
    struct tmx_unit *u = &fp->unit[a], *v = &fp->unit[b];
    u->x_m = v->x_m, u->y_m = v->y_m, u->w_m = v->w_m, u->h_m = v->h_m;
    v->x_m = old.x_m, v->y_m = old.y_m, v->w_m = old.w_m, v->h_m = old.h_m;
}

static enum tmx_status add_piece(struct tmx_floorplan *fp, const struct tmx_unit *like, const char *stem,
                                 size_t row, size_t column, struct tmx_err *err)
{
    char name[NAME];
    struct tmx_unit u = *like;
    snprintf(name, sizeof name, "%s_%zu_%zu", stem, row, column);
    u.name = name;
    u.line = 0;
    return tmx_floorplan_add(fp, &u, err);
}

enum tmx_status tmx_floorplan_split(struct tmx_floorplan *fp, size_t unit, size_t n_x, size_t n_y,
                                    struct tmx_err *err)
{
    struct tmx_floorplan out = {0};
    enum tmx_status st = TMX_OK;
    tmx_assert(unit < fp->n_unit && n_x > 0 && n_y > 0);
    snprintf(out.source, sizeof out.source, "%s", fp->source);
    for (size_t i = 0; i < fp->n_unit && !st; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        if (i != unit) {
            st = tmx_floorplan_add(&out, u, err);
            continue;
        }
        for (size_t k = 0; k < n_x * n_y && !st; k++) {
            struct tmx_unit piece = *u;
            piece.w_m = u->w_m / (double)n_x;
            piece.h_m = u->h_m / (double)n_y;
            piece.x_m = u->x_m + (double)(k % n_x) * piece.w_m;
            const size_t row = k / n_x;
            piece.y_m = u->y_m + (double)row * piece.h_m;
            st = add_piece(&out, &piece, u->name, k / n_x, k % n_x, err);
        }
    }
    if (st) {
        tmx_floorplan_finish(&out);
        return st;
    }
    tmx_floorplan_finish(fp);
    *fp = out;
    return TMX_OK;
}

static const struct tmx_unit *covering(const struct tmx_floorplan *fp, double x_m, double y_m)
{
    for (size_t i = 0; i < fp->n_unit; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        if (x_m >= u->x_m && x_m < u->x_m + u->w_m && y_m >= u->y_m && y_m < u->y_m + u->h_m) {
            return u;
        }
    }
    return NULL;
}

enum tmx_status tmx_floorplan_grid(struct tmx_floorplan *fp, size_t n_x, size_t n_y, struct tmx_err *err)
{
    struct tmx_floorplan out = {0};
    enum tmx_status st = TMX_OK;
    tmx_assert(n_x > 0 && n_y > 0);
    const double w_m = tmx_floorplan_width_m(fp) / (double)n_x,
                 h_m = tmx_floorplan_height_m(fp) / (double)n_y;
    snprintf(out.source, sizeof out.source, "%s", fp->source);
    for (size_t k = 0; k < n_x * n_y && !st; k++) {
        const size_t row = k / n_x, column = k % n_x;
        const struct tmx_unit *u = covering(fp, ((double)column + 0.5) * w_m, ((double)row + 0.5) * h_m);
        const struct tmx_unit cell = {.x_m = (double)column * w_m,
                                      .y_m = (double)row * h_m,
                                      .w_m = w_m,
                                      .h_m = h_m,
                                      .heat_capacity_j_per_m3k = u ? u->heat_capacity_j_per_m3k : NAN,
                                      .resistivity_mk_per_w = u ? u->resistivity_mk_per_w : NAN};
        st = add_piece(&out, &cell, u ? u->name : "gap", row, column, err);
    }
    if (st) {
        tmx_floorplan_finish(&out);
        return st;
    }
    tmx_floorplan_finish(fp);
    *fp = out;
    return TMX_OK;
}
