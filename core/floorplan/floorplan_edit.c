/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/floorplan/floorplan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static void add_piece(struct tmx_floorplan *fp, struct tmx_unit u, const char *stem, size_t row,
                      size_t column, struct tmx_err *err)
{
    char name[NAME];
    snprintf(name, sizeof name, "%s_%zu_%zu", stem, row, column);
    u.name = name;
    u.line = 0;
    err->code = err->code ? err->code : tmx_floorplan_add(fp, &u, err);
}

/* The new units in place of the old ones, if all of them are there. */
static enum tmx_status replace(struct tmx_floorplan *fp, struct tmx_floorplan *by, const struct tmx_err *own,
                               struct tmx_err *err)
{
    memcpy(by->source, fp->source, sizeof by->source);
    tmx_floorplan_finish(own->code ? by : fp);
    if (!own->code) {
        *fp = *by;
    }
    return tmx_error_give(err, own);
}

enum tmx_status tmx_floorplan_split(struct tmx_floorplan *fp, size_t unit, size_t n_x, size_t n_y,
                                    struct tmx_err *err)
{
    struct tmx_floorplan out = {0};
    struct tmx_err own = {0};
    tmx_assert(unit < fp->n_unit && n_x > 0 && n_y > 0);
    for (size_t i = 0; i < fp->n_unit && !own.code; i++) {
        const struct tmx_unit *u = &fp->unit[i];
        struct tmx_unit piece = *u;
        if (i != unit) {
            own.code = tmx_floorplan_add(&out, u, &own);
            continue;
        }
        piece.w_m = u->w_m / (double)n_x;
        piece.h_m = u->h_m / (double)n_y;
        for (size_t k = 0; k < n_x * n_y; k++) {
            const size_t row = k / n_x, column = k % n_x;
            piece.x_m = u->x_m + (double)column * piece.w_m;
            piece.y_m = u->y_m + (double)row * piece.h_m;
            add_piece(&out, piece, u->name, row, column, &own);
        }
    }
    return replace(fp, &out, &own, err);
}

enum tmx_status tmx_floorplan_grid(struct tmx_floorplan *fp, size_t n_x, size_t n_y, struct tmx_err *err)
{
    struct tmx_floorplan out = {0};
    struct tmx_err own = {0};
    tmx_assert(n_x > 0 && n_y > 0);
    const double w_m = tmx_floorplan_width_m(fp) / (double)n_x,
                 h_m = tmx_floorplan_height_m(fp) / (double)n_y;
    for (size_t k = 0; k < n_x * n_y; k++) {
        const size_t row = k / n_x, column = k % n_x;
        const double x_m = ((double)column + 0.5) * w_m, y_m = ((double)row + 0.5) * h_m;
        const struct tmx_unit *u = NULL; /* the first that covers its middle */
        for (size_t i = fp->n_unit; i-- > 0;) {
            const struct tmx_unit *at = &fp->unit[i];
            const bool covers =
                x_m >= at->x_m && x_m < at->x_m + at->w_m && y_m >= at->y_m && y_m < at->y_m + at->h_m;
            u = covers ? at : u;
        }
        const struct tmx_unit cell = {.x_m = (double)column * w_m,
                                      .y_m = (double)row * h_m,
                                      .w_m = w_m,
                                      .h_m = h_m,
                                      .heat_capacity_j_per_m3k = u ? u->heat_capacity_j_per_m3k : NAN,
                                      .resistivity_mk_per_w = u ? u->resistivity_mk_per_w : NAN};
        add_piece(&out, cell, u ? u->name : "gap", row, column, &own);
    }
    return replace(fp, &out, &own, err);
}

/* Regular chips: SMs in clusters of equal area, placed in one of a few ways, with memory
 * controllers on two sides and uncore or cache in the rest. */

const char *const tmx_sm_layout_names[] = {"edges", "centre", "columns", "checkerboard", "spread", NULL};

struct maker {
    struct tmx_floorplan *fp;
    struct tmx_regular_chip chip;
    double left_m, width_m, cluster_m2; /* of the region between the memory controllers; area of a cluster */
    size_t n_uncore, n_cache;
    struct tmx_err err;
};

static void add(struct maker *m, const char *kind, size_t number, double x_m, double y_m, double w_m,
                double h_m)
{
    char name[64];
    snprintf(name, sizeof name, "%s%zu", kind, number);
    const struct tmx_unit u = {.name = name,
                               .x_m = x_m,
                               .y_m = y_m,
                               .w_m = w_m,
                               .h_m = h_m,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN};
    if (w_m >= 1e-9 && h_m >= 1e-9 && !m->err.code) { /* else nothing is left there */
        m->err.code = tmx_floorplan_add(m->fp, &u, &m->err);
    }
}

static void uncore(struct maker *m, double y_m, double h_m)
{
    add(m, "UNCORE", m->n_uncore++, m->left_m, y_m, m->width_m, h_m);
}

/* The SMs of one cluster, one above the other. */
static void cluster(struct maker *m, size_t number, double x_m, double y_m, double w_m, double h_m)
{
    const size_t n = m->chip.per_cluster;
    const double h = h_m / (double)n;
    for (size_t i = 0; i < n; i++) {
        add(m, "SM", number * n + i, x_m, y_m + (double)i * h, w_m, h);
    }
}

/* A row of n clusters over the whole region. */
static void band(struct maker *m, size_t first, size_t n, double y_m, double h_m)
{
    const double w = m->width_m / (double)n;
    for (size_t i = 0; i < n; i++) {
        cluster(m, first + i, m->left_m + (double)i * w, y_m, w, h_m);
    }
}

static void bands(struct maker *m, bool at_the_edges)
{
    const size_t n = m->chip.n_sm / m->chip.per_cluster, n_low = n / 2, n_high = n - n_low;
    const double height = m->chip.height_m;
    const double low = (double)n_low * m->cluster_m2 / m->width_m;
    const double high = (double)n_high * m->cluster_m2 / m->width_m;
    const double rest = height - low - high;
    const double y_low = at_the_edges ? 0 : rest / 2;
    const double y_high = at_the_edges ? height - high : rest / 2 + low;
    band(m, 0, n_low, y_low, low);
    band(m, n_low, n_high, y_high, high);
    if (at_the_edges) {
        uncore(m, low, rest);
    } else {
        uncore(m, 0, rest / 2);
        uncore(m, y_high + high, rest / 2);
    }
}

/* Factor of n whose grid of n / rows by rows cells is nearest to square on width x height. */
static size_t rows_for(size_t n, double width_m, double height_m)
{
    size_t best = 1;
    double best_ratio = INFINITY;
    for (size_t rows = 1; rows <= n; rows++) {
        const double w = width_m / (double)(n / rows), h = height_m / (double)rows;
        const double ratio = w > h ? w / h : h / w;
        if (n % rows == 0 && ratio < best_ratio) {
            best_ratio = ratio;
            best = rows;
        }
    }
    return best;
}

static void checkerboard(struct maker *m)
{
    const size_t n = m->chip.n_sm / m->chip.per_cluster;
    const size_t rows = rows_for(n, m->width_m / 2, m->chip.height_m), pairs = n / rows;
    const double h = m->chip.height_m / (double)rows, pair = m->width_m / (double)pairs;
    const double w = m->cluster_m2 / h;
    for (size_t i = 0; i < n; i++) {
        const double x = m->left_m + (double)(i % pairs) * pair, y = (double)(i / pairs) * h;
        const bool cluster_first = i / pairs % 2 == 0;
        cluster(m, i, cluster_first ? x : x + pair - w, y, w, h);
        add(m, "CACHE", m->n_cache++, cluster_first ? x + w : x, y, pair - w, h);
    }
}

static void spread(struct maker *m)
{
    const size_t n = m->chip.n_sm, rows = rows_for(n, m->width_m, m->chip.height_m), columns = n / rows;
    const double w = m->width_m / (double)columns, h = m->chip.sm_area_m2 / w;
    const double gap = (m->chip.height_m - h * (double)rows) / (double)(rows + 1);
    for (size_t r = 0; r < rows; r++) {
        const double y = gap + (double)r * (h + gap);
        uncore(m, y - gap, gap);
        for (size_t c = 0; c < columns; c++) {
            add(m, "SM", r * columns + c, m->left_m + (double)c * w, y, w, h);
        }
    }
    uncore(m, m->chip.height_m - gap, gap);
}

enum tmx_status tmx_floorplan_generate(struct tmx_floorplan *fp, const struct tmx_regular_chip *c,
                                       struct tmx_err *err)
{
    struct maker m = {.fp = fp, .chip = *c};
    const double room = (c->width_m - 2 * c->margin_m) * c->height_m, need = c->sm_area_m2 * (double)c->n_sm;
    const bool turned = c->placement == TMX_PLACE_COLUMNS;
    *fp = (struct tmx_floorplan){0};
    if (!(c->width_m > 0 && c->height_m > 0 && c->sm_area_m2 > 0 && c->margin_m >= 0) || c->n_sm == 0) {
        return tmx_fail(err, TMX_ECONFIG, "a chip has sides, SMs and an SM area above 0");
    }
    if (c->per_cluster == 0 || c->n_sm % c->per_cluster != 0) {
        return tmx_fail(err, TMX_ECONFIG, "%zu SMs are no whole number of clusters of %zu", c->n_sm,
                        c->per_cluster);
    }
    if (need > room * (1 + 1e-9)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "%zu SMs of %.4g mm2 need %.4g mm2; between the margins are %.4g mm2", c->n_sm,
                        1e6 * c->sm_area_m2, 1e6 * need, 1e6 * room);
    }
    if (turned) { /* bands at the edges of the die on its side; margins of the same area */
        m.chip.width_m = c->height_m;
        m.chip.height_m = c->width_m;
        m.chip.margin_m = c->margin_m * c->height_m / c->width_m;
    }
    m.left_m = m.chip.margin_m;
    m.width_m = m.chip.width_m - 2 * m.chip.margin_m;
    m.cluster_m2 = c->sm_area_m2 * (double)c->per_cluster;
    switch ((enum tmx_sm_layout)c->placement) {
    case TMX_PLACE_EDGES:
    case TMX_PLACE_COLUMNS:
        bands(&m, true);
        break;
    case TMX_PLACE_CENTRE:
        bands(&m, false);
        break;
    case TMX_PLACE_CHECKERBOARD:
        checkerboard(&m);
        break;
    case TMX_PLACE_SPREAD:
        spread(&m);
        break;
    }
    add(&m, "MC", 0, 0, 0, m.chip.margin_m, m.chip.height_m);
    add(&m, "MC", 1, m.chip.width_m - m.chip.margin_m, 0, m.chip.margin_m, m.chip.height_m);
    if (m.err.code) {
        tmx_floorplan_finish(fp);
    } else if (turned) {
        tmx_floorplan_rotate(fp, 1);
    }
    return tmx_error_give(err, &m.err);
}
