/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/floorplan/floorplan_edit.h"

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

/* Regular chips: SMs in clusters of equal area, placed in one of a few ways, with memory
 * controllers on two sides and uncore or cache in the rest. */

const char *const tmx_sm_layout_names[] = {"edges", "centre", "columns", "checkerboard", "spread", NULL};

struct maker {
    struct tmx_floorplan *fp;
    const struct tmx_regular_chip *chip;
    double left_m, width_m; /* of the region between the memory controllers */
    size_t n_uncore, n_cache;
    struct tmx_err *err;
};

static enum tmx_status add(struct maker *m, const char *kind, size_t number, double x_m, double y_m,
                           double w_m, double h_m)
{
    char name[64];
    if (w_m < 1e-9 || h_m < 1e-9) { /* nothing left there */
        return TMX_OK;
    }
    snprintf(name, sizeof name, "%s%zu", kind, number);
    const struct tmx_unit u = {.name = name,
                               .x_m = x_m,
                               .y_m = y_m,
                               .w_m = w_m,
                               .h_m = h_m,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN};
    return tmx_floorplan_add(m->fp, &u, m->err);
}

static enum tmx_status uncore(struct maker *m, double y_m, double h_m)
{
    return add(m, "UNCORE", m->n_uncore++, m->left_m, y_m, m->width_m, h_m);
}

/* The SMs of one cluster, one above the other. */
static enum tmx_status cluster(struct maker *m, size_t number, double x_m, double y_m, double w_m, double h_m)
{
    const size_t n = m->chip->per_cluster;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n && !st; i++) {
        const double h = h_m / (double)n;
        st = add(m, "SM", number * n + i, x_m, y_m + (double)i * h, w_m, h);
    }
    return st;
}

static double cluster_area_m2(const struct maker *m)
{
    return m->chip->sm_area_m2 * (double)m->chip->per_cluster;
}

/* A row of n clusters over the whole region. */
static enum tmx_status band(struct maker *m, size_t first, size_t n, double y_m, double h_m)
{
    const double w = m->width_m / (double)n;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n && !st; i++) {
        st = cluster(m, first + i, m->left_m + (double)i * w, y_m, w, h_m);
    }
    return st;
}

static enum tmx_status bands(struct maker *m, bool at_the_edges)
{
    const size_t n = m->chip->n_sm / m->chip->per_cluster, n_low = n / 2, n_high = n - n_low;
    const double height = m->chip->height_m;
    const double low = (double)n_low * cluster_area_m2(m) / m->width_m;
    const double high = (double)n_high * cluster_area_m2(m) / m->width_m;
    const double rest = height - low - high;
    const double y_low = at_the_edges ? 0 : rest / 2;
    const double y_high = at_the_edges ? height - high : rest / 2 + low;
    enum tmx_status st = n_low ? band(m, 0, n_low, y_low, low) : TMX_OK;
    st = st ? st : band(m, n_low, n_high, y_high, high);
    if (at_the_edges) {
        return st ? st : uncore(m, low, rest);
    }
    st = st ? st : uncore(m, 0, rest / 2);
    return st ? st : uncore(m, y_high + high, rest / 2);
}

/* Factor of n whose grid of n / rows by rows cells is nearest to square on width x height. */
static size_t rows_for(size_t n, double width_m, double height_m)
{
    size_t best = 1;
    double best_ratio = INFINITY;
    for (size_t rows = 1; rows <= n; rows++) {
        if (n % rows == 0) {
            const size_t columns = n / rows;
            const double w = width_m / (double)columns, h = height_m / (double)rows;
            const double ratio = w > h ? w / h : h / w;
            if (ratio < best_ratio) {
                best_ratio = ratio;
                best = rows;
            }
        }
    }
    return best;
}

static enum tmx_status checkerboard(struct maker *m)
{
    const size_t n = m->chip->n_sm / m->chip->per_cluster;
    const size_t rows = rows_for(n, m->width_m / 2, m->chip->height_m), pairs = n / rows;
    const double h = m->chip->height_m / (double)rows, pair = m->width_m / (double)pairs;
    const double w = cluster_area_m2(m) / h;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n && !st; i++) {
        const size_t row = i / pairs;
        const double x = m->left_m + (double)(i % pairs) * pair, y = (double)row * h;
        const bool cluster_first = i / pairs % 2 == 0;
        st = cluster(m, i, cluster_first ? x : x + pair - w, y, w, h);
        st = st ? st : add(m, "CACHE", m->n_cache++, cluster_first ? x + w : x, y, pair - w, h);
    }
    return st;
}

static enum tmx_status spread(struct maker *m)
{
    const size_t n = m->chip->n_sm, rows = rows_for(n, m->width_m, m->chip->height_m), columns = n / rows;
    const double w = m->width_m / (double)columns, h = m->chip->sm_area_m2 / w;
    const double gap = (m->chip->height_m - h * (double)rows) / (double)(rows + 1);
    enum tmx_status st = TMX_OK;
    for (size_t r = 0; r < rows && !st; r++) {
        const double y = gap + (double)r * (h + gap);
        st = uncore(m, y - gap, gap);
        for (size_t c = 0; c < columns && !st; c++) {
            st = add(m, "SM", r * columns + c, m->left_m + (double)c * w, y, w, h);
        }
    }
    return st ? st : uncore(m, m->chip->height_m - gap, gap);
}

static enum tmx_status check(const struct tmx_regular_chip *c, struct tmx_err *err)
{
    const double room = (c->width_m - 2 * c->margin_m) * c->height_m, need = c->sm_area_m2 * (double)c->n_sm;
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
    return TMX_OK;
}

enum tmx_status tmx_floorplan_generate(struct tmx_floorplan *fp, const struct tmx_regular_chip *c,
                                       struct tmx_err *err)
{
    struct tmx_regular_chip chip = *c;
    const bool turned = c->placement == TMX_PLACE_COLUMNS;
    *fp = (struct tmx_floorplan){0};
    enum tmx_status st = check(c, err);
    if (st) {
        return st;
    }
    if (turned) { /* bands at the edges of the die on its side; margins of the same area */
        chip.width_m = c->height_m;
        chip.height_m = c->width_m;
        chip.margin_m = c->margin_m * c->height_m / c->width_m;
    }
    struct maker m = {.fp = fp,
                      .chip = &chip,
                      .left_m = chip.margin_m,
                      .width_m = chip.width_m - 2 * chip.margin_m,
                      .err = err};
    switch ((enum tmx_sm_layout)c->placement) {
    case TMX_PLACE_EDGES:
    case TMX_PLACE_COLUMNS:
        st = bands(&m, true);
        break;
    case TMX_PLACE_CENTRE:
        st = bands(&m, false);
        break;
    case TMX_PLACE_CHECKERBOARD:
        st = checkerboard(&m);
        break;
    case TMX_PLACE_SPREAD:
        st = spread(&m);
        break;
    }
    st = st ? st : add(&m, "MC", 0, 0, 0, chip.margin_m, chip.height_m);
    st = st ? st : add(&m, "MC", 1, chip.width_m - chip.margin_m, 0, chip.margin_m, chip.height_m);
    if (st) {
        tmx_floorplan_finish(fp);
    } else if (turned) {
        tmx_floorplan_rotate(fp, 1);
    }
    return st;
}
