/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block rational Krylov projection of C theta' + G theta = B p.
 *
 * G and C are symmetric positive definite, so V' G V, V' C V = 1 is a stable, passive model
 * whatever V is, and its error at a real shift s has the closed form
 *   E(s) = B' (G + s C)^-1 B - Br' (Gr + s)^-1 Br = R' (G + s C)^-1 R,
 *   R = B - (G + s C) V (Gr + s)^-1 Br,
 * which shrinks with every vector added, and is bounded by R' (G + sigma C)^-1 R for sigma <= s:
 * a factor that is at hand. s * integral exp(-s t) (error of the step response) dt = E(s), so
 * E(s) p is the error seen around t = 1/s. A single node sees the error (G + s C)^-1 R, for which
 * (G + sigma C)^-1 R stands: an estimate, of first order in R where that of a mean is of second.
 * Source: E. Grimme, "Krylov projection methods for model reduction", PhD thesis, Univ. of
 * Illinois 1997, ch. 3; the bound follows from (G + s C)^-1 <= (G + sigma C)^-1. */
#include "thermal/network/krylov.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"
#include "thermal/network/ladder.h"

static const double FIRST_SHIFT = 0.1;  /* [1/s] after 0: heat sinks have time constants of 10 s and more */
static const double SHIFT_RATIO = 10.0; /* from one shift to the next; halved in the logarithm where needed */
static const double AHEAD = 100;      /* times the rate of the shortest step: shifts to here are made ahead */
static const double LAST_SHIFT = 1e9; /* [1/s] no network of cells above a micrometre is faster */
static const double LEAST_SHIFT =
    1e-6;                              /* [1/s] no sink is slower; above it only where the tests ask for it */
static const double DEPENDENT = 1e-12; /* square of the part of a vector that must be new */
/* Of the tolerance, for the basis at each tested shift. What is seen in time is more than at one shift; of
 * single cells, whose errors are of first order and of one sign, yet more. Fitted to
 * tests/property/test_reduced.c. */
static const double SHARE = 0.25, CELL_SHARE = 0.1;

enum {
    DEPTH = 3,
    MAX_SHIFTS = 60,
    MAX_RUNGS = 12
}; /* halvings between two shifts; beyond, numbers are the limit */

struct builder {
    const struct tmx_network *net;
    const struct tmx_basis_wish *wish;
    struct tmx_basis *basis;
    struct tmx_solver *solver;
    bool several;             /* film coefficients will be used: a is needed */
    size_t room;              /* columns v, g, a have space for */
    size_t n_in;              /* columns of B: the units', and with wish->ambient_k that of the air */
    double *b;                /* [n_in][n_node] B */
    double *e;                /* [n_unit][n_node] E, NULL when E = B */
    double *x, *w;            /* [n_in][n_node] work */
    double *r;                /* [n_unit][n_node] work, NULL when E = B */
    double *in, *out;         /* [room][n_in] B' V, [room][n_unit] E' V; out NULL when E = B */
    double *weight;           /* [n_in] the wished powers, and ambient_k */
    double *small;            /* [room * n_in] work */
    double *eigen, *eigenval; /* [n_in * n_in], [n_in] work */
    double *square;           /* [room * room] work */
    double *miss, *cell_miss; /* [n_in][n_unit], [n_in][wish->cells->n] work */
    double *node;             /* [n_node] work */
};

/* w := diag(d) x for n_col columns. */
static void scale_rows(const struct builder *b, const double *d, size_t n_col, const double *x, double *w)
{
    const size_t n = b->net->n_node;
    for (size_t col = 0; col < n_col; col++) {
        for (size_t r = 0; r < n; r++) {
            w[col * n + r] = d[r] * x[col * n + r];
        }
    }
}

/* Make the n_col columns of x orthonormal to V and among themselves (in C), dropping what
 * is dependent. *kept says how many remain, as the first columns of x. */
static enum tmx_status orthonormalise(struct builder *b, size_t n_col, size_t *kept, struct tmx_err *err)
{
    const size_t n = b->net->n_node, k = b->basis->n_mode;
    const double *heat = b->net->heat_j_k;
    scale_rows(b, heat, n_col, b->x, b->w);
    for (size_t col = 0; col < n_col; col++) {
        double *x = b->x + col * n;
        const double size = sqrt(tmx_dense_dot(n, x, b->w + col * n));
        for (size_t r = 0; r < n; r++) {
            x[r] = size > 0 ? x[r] / size : 0;
        }
    }
    for (int pass = 0; pass < 2 && n_col > 0; pass++) {
        scale_rows(b, heat, n_col, b->x, b->w);
        if (k > 0) {
            tmx_dense_tn(k, n_col, n, 1, b->basis->v, n, b->w, n, 0, b->small, k);
            tmx_dense_nn(n, n_col, k, -1, b->basis->v, n, b->small, k, 1, b->x, n);
            scale_rows(b, heat, n_col, b->x, b->w);
        }
        tmx_dense_tn(n_col, n_col, n, 1, b->x, n, b->w, n, 0, b->eigen, n_col);
        const enum tmx_status st = tmx_dense_eigen(n_col, b->eigen, b->eigenval, err);
        if (st) {
            return st;
        }
        size_t drop = 0;
        while (drop < n_col && b->eigenval[drop] < DEPENDENT) {
            drop++;
        }
        for (size_t c = drop; c < n_col; c++) {
            for (size_t r = 0; r < n_col; r++) {
                b->eigen[c * n_col + r] /= sqrt(b->eigenval[c]);
            }
        }
        if (n_col > drop) {
            tmx_dense_nn(n, n_col - drop, n_col, 1, b->x, n, b->eigen + drop * n_col, n_col, 0, b->w, n);
        }
        n_col -= drop;
        memcpy(b->x, b->w, n_col * n * sizeof *b->x);
    }
    *kept = n_col;
    return TMX_OK;
}

static bool enlarge(double **p, size_t count)
{
    double *q = count ? realloc(*p, count * sizeof *q) : NULL;
    *p = q ? q : *p;
    return q != NULL;
}

static enum tmx_status make_room(struct builder *b, size_t n_col, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    if (s->n_mode + n_col <= b->room) {
        return TMX_OK;
    }
    const size_t room = s->n_mode + n_col + 4 * b->net->n_unit, old = b->room;
    if (!enlarge(&s->v, room * b->net->n_node) || !enlarge(&s->g, room * room) ||
        (b->several && !enlarge(&s->a, room * room)) || !enlarge(&b->small, room * (b->n_in + 2)) ||
        !enlarge(&b->in, room * b->n_in) || (b->e && !enlarge(&b->out, room * b->net->n_unit)) ||
        !enlarge(&b->square, room * room)) {
        return tmx_fail(err, TMX_ENOMEM, "basis of %zu vectors for %zu nodes", room, b->net->n_node);
    }
    for (size_t c = s->n_mode; c-- > 0;) { /* g and a have room rows a column */
        memmove(s->g + c * room, s->g + c * old, s->n_mode * sizeof *s->g);
        if (b->several) {
            memmove(s->a + c * room, s->a + c * old, s->n_mode * sizeof *s->a);
        }
    }
    b->room = room;
    return TMX_OK;
}

/* Columns [k, k + n_col) of the projection m of a symmetric matrix, given w = matrix * new
 * vectors, and the rows that mirror them. */
static void project(struct builder *b, double *m, size_t k, size_t n_col)
{
    const size_t n = b->net->n_node, room = b->room;
    tmx_dense_tn(k + n_col, n_col, n, 1, b->basis->v, n, b->w, n, 0, m + k * room, room);
    for (size_t c = k; c < k + n_col; c++) {
        for (size_t r = 0; r < k; r++) {
            m[r * room + c] = m[c * room + r];
        }
    }
}

/* Append the columns of x to the basis. */
static enum tmx_status append(struct builder *b, size_t n_col, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    const size_t n = b->net->n_node, k = s->n_mode;
    enum tmx_status st = make_room(b, n_col, err);
    st = st ? st : orthonormalise(b, n_col, &n_col, err);
    if (st || n_col == 0) {
        return st;
    }
    memcpy(s->v + k * n, b->x, n_col * n * sizeof *s->v);
    for (size_t c = 0; c < n_col; c++) {
        tmx_network_apply(b->net, s->gamma, 0, b->x + c * n, b->w + c * n);
    }
    project(b, s->g, k, n_col);
    if (b->several) {
        scale_rows(b, b->net->area_m2, n_col, b->x, b->w);
        project(b, s->a, k, n_col);
    }
    const size_t m = b->net->n_unit;
    tmx_dense_tn(b->n_in, n_col, n, 1, b->b, n, b->x, n, 0, b->in + k * b->n_in, b->n_in);
    if (b->e) {
        tmx_dense_tn(m, n_col, n, 1, b->e, n, b->x, n, 0, b->out + k * m, m);
    }
    s->n_mode = k + n_col;
    return TMX_OK;
}

static enum tmx_status append_shift(struct builder *b, const struct tmx_factor *f, struct tmx_err *err)
{
    const enum tmx_status st = tmx_solve(b->solver, f, b->n_in, b->b, b->x);
    b->basis->n_shift++;
    return st ? tmx_fail(err, st, "basis solve") : append(b, b->n_in, err);
}

/* r := columns - (G + s C) V (Gr + s)^-1 V' columns, for m columns; seen is columns' V. Uses x. */
static enum tmx_status residual(struct builder *b, double s, size_t m, const double *columns,
                                const double *seen, double *r, struct tmx_err *err)
{
    const size_t n = b->net->n_node, k = b->basis->n_mode;
    for (size_t c = 0; c < k; c++) {
        memcpy(b->square + c * k, b->basis->g + c * b->room, k * sizeof *b->square);
        b->square[c * k + c] += s;
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t u = 0; u < m; u++) {
            b->small[u * k + c] = seen[c * m + u];
        }
    }
    const enum tmx_status st = tmx_dense_solve(k, m, b->square, b->small, err);
    if (st) {
        return st;
    }
    tmx_dense_nn(n, m, k, 1, b->basis->v, n, b->small, k, 0, b->x, n);
    for (size_t u = 0; u < m; u++) {
        tmx_network_apply(b->net, b->basis->gamma, s, b->x + u * n, r + u * n);
        for (size_t c = u * n; c < (u + 1) * n; c++) {
            r[c] = columns[c] - r[c];
        }
    }
    return TMX_OK;
}

/* The largest over `regions` of what all weights, in the worst signs, add up to at one node of them; the
 * errors of the columns of x, by region, go to miss. */
static double worst_node(struct builder *b, const struct tmx_regions *regions, double *miss)
{
    const size_t n = b->net->n_node;
    double worst = 0;
    memset(miss, 0, b->n_in * regions->n * sizeof *miss);
    memset(b->node, 0, n * sizeof *b->node);
    for (size_t v = 0; v < b->n_in; v++) {
        tmx_regions_worst(regions, b->x + v * n, miss + v * regions->n);
        for (size_t c = 0; c < n; c++) {
            b->node[c] += fabs(b->x[v * n + c]) * b->weight[v];
        }
    }
    for (size_t e = 0; e < regions->start[regions->n]; e++) {
        worst = fmax(worst, b->node[regions->node[e]]);
    }
    return worst;
}

/* Bound the error at shift s with the factor of a lower shift; *worst_k is that for steps
 * of all the wished powers together, in the worst signs. Leaves the bound in miss and cell_miss. */
static enum tmx_status test_shift(struct builder *b, double s, const struct tmx_factor *lower,
                                  double *worst_k, struct tmx_err *err)
{
    const size_t n = b->net->n_node, m = b->net->n_unit;
    const struct tmx_basis_wish *wish = b->wish;
    enum tmx_status st = b->e ? residual(b, s, m, b->e, b->out, b->r, err) : TMX_OK;
    st = st ? st : residual(b, s, b->n_in, b->b, b->in, b->w, err);
    if (st) {
        return st;
    }
    const bool half = !b->e && !wish->cells && !wish->unit_cells; /* R' (...)^-1 R is a square */
    st = half ? tmx_solve_half(b->solver, lower, b->n_in, b->w, b->x)
              : tmx_solve(b->solver, lower, b->n_in, b->w, b->x);
    if (st) {
        return tmx_fail(err, st, "basis test");
    }
    *worst_k = wish->cells ? worst_node(b, wish->cells, b->cell_miss) : 0;
    if (wish->unit_cells) {
        *worst_k = fmax(*worst_k, worst_node(b, wish->unit_cells, b->miss));
        return TMX_OK;
    }
    tmx_dense_tn(m, b->n_in, n, 1, b->e ? b->r : b->w, n, half ? b->w : b->x, n, 0, b->miss, m);
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < b->n_in; v++) {
            sum += fabs(b->miss[v * m + u]) * b->weight[v];
        }
        *worst_k = fmax(*worst_k, sum);
    }
    return TMX_OK;
}

static void note_error(struct builder *b)
{
    const size_t m = b->net->n_unit;
    for (size_t i = 0; i < b->n_in * m; i++) {
        b->basis->error[i] = fmax(b->basis->error[i], fabs(b->miss[i]));
    }
    for (size_t i = 0; b->wish->cells && i < b->n_in * b->wish->cells->n; i++) {
        b->basis->cell_error[i] = fmax(b->basis->cell_error[i], b->cell_miss[i]);
    }
}

static double limit_k(const struct builder *b)
{
    return (b->wish->cells || b->wish->unit_cells ? CELL_SHARE : SHARE) * b->wish->tolerance_k;
}

/* Test between the shifts low (whose factor is at hand) and high, both in the basis; where the test
 * asks for it, add the middle and look at both halves. */
static enum tmx_status refine(struct builder *b, double low, const struct tmx_factor *f, double high,
                              int depth, struct tmx_err *err)
{
    struct tmx_factor *middle = NULL;
    const double s = sqrt(low * high);
    double worst_k = 0;
    enum tmx_status st = test_shift(b, s, f, &worst_k, err);
    if (!st && (worst_k <= limit_k(b) || depth == 0 || b->basis->n_shift >= MAX_SHIFTS)) {
        note_error(b);
        return TMX_OK;
    }
    st = st ? st : tmx_factor_create(b->solver, b->basis->gamma, s, &middle, err);
    st = st ? st : append_shift(b, middle, err);
    st = st ? st : refine(b, low, f, s, depth - 1, err);
    st = st ? st : refine(b, s, middle, high, depth - 1, err);
    tmx_factor_destroy(b->solver, middle);
    return st;
}

/* Below the first shift: still is the factor of shift 0. */
static enum tmx_status descend(struct builder *b, const struct tmx_factor *still, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (double high = FIRST_SHIFT; !st; high /= SHIFT_RATIO) {
        struct tmx_factor *f = NULL;
        double worst_k = 0;
        st = test_shift(b, high / sqrt(SHIFT_RATIO), still, &worst_k, err);
        if (!st && (worst_k <= limit_k(b) || high <= LEAST_SHIFT)) {
            note_error(b);
            return TMX_OK;
        }
        st = st ? st : tmx_factor_create(b->solver, b->basis->gamma, high / SHIFT_RATIO, &f, err);
        st = st ? st : append_shift(b, f, err);
        st = st ? st : refine(b, high / SHIFT_RATIO, f, high, DEPTH, err);
        tmx_factor_destroy(b->solver, f);
    }
    return st;
}

/* The i-th of the shifts after 0 that are taken whatever the tests between them say. */
static double rung(size_t i)
{
    return FIRST_SHIFT * pow(SHIFT_RATIO, (double)i);
}

/* The next of them, made ahead by the ladder. */
static enum tmx_status append_rung(struct builder *b, struct tmx_ladder *ladder, struct tmx_factor **f,
                                   struct tmx_err *err)
{
    const enum tmx_status st = tmx_ladder_take(ladder, f, &b->x, err);
    b->basis->n_shift++;
    return st ? st : append(b, b->n_in, err);
}

/* Shift 0, while the ladder makes the next: the direct solution of every steady state. */
static enum tmx_status collect_steady(struct builder *b, struct tmx_factor **f, struct tmx_err *err)
{
    const size_t n = b->net->n_node, m = b->net->n_unit;
    enum tmx_status st = tmx_factor_create(b->solver, b->basis->gamma, 0, f, err);
    if (st) {
        return st;
    }
    st = tmx_solve(b->solver, *f, b->n_in, b->b, b->x);
    if (st) {
        return tmx_fail(err, st, "basis solve");
    }
    tmx_dense_tn(m, m, n, 1, b->e ? b->e : b->b, n, b->x, n, 0, b->basis->steady, m);
    b->basis->n_shift++;
    return append(b, b->n_in, err);
}

/* The shifts from 0 upwards, a SHIFT_RATIO apart, with what the tests ask for in between: those of the ladder
 * in any case, then on until no more is asked for. */
static enum tmx_status climb(struct builder *b, struct tmx_ladder *ladder, size_t n_rung, struct tmx_err *err)
{
    struct tmx_factor *f = NULL, *next = NULL;
    double beyond_k = INFINITY, below = FIRST_SHIFT;
    enum tmx_status st = collect_steady(b, &f, err);
    st = st ? st : append_rung(b, ladder, &next, err);
    st = st ? st : descend(b, f, err);
    for (size_t i = 1; !st && below < LAST_SHIFT && beyond_k > limit_k(b); i++) {
        const double s = rung(i);
        tmx_factor_destroy(b->solver, f);
        f = next;
        next = NULL;
        if (i < n_rung) {
            st = append_rung(b, ladder, &next, err);
        } else {
            st = tmx_factor_create(b->solver, b->basis->gamma, s, &next, err);
            st = st ? st : append_shift(b, next, err);
        }
        st = st ? st : refine(b, below, f, s, DEPTH, err);
        if (!st && s >= 1.0 / b->wish->min_step_s) { /* far enough: is it enough? */
            st = test_shift(b, s * sqrt(SHIFT_RATIO), next, &beyond_k, err);
        }
        below = s;
    }
    if (!st) {
        note_error(b);
    }
    tmx_factor_destroy(b->solver, f);
    tmx_factor_destroy(b->solver, next);
    return st;
}

static enum tmx_status collect(struct builder *b, struct tmx_err *err)
{
    double shift[MAX_RUNGS];
    struct tmx_ladder_wish wish = {
        .gamma = b->basis->gamma, .shift = shift, .b = b->b, .n_rhs = b->n_in, .n_node = b->net->n_node};
    struct tmx_ladder *ladder;
    do {
        tmx_assert(wish.n_shift < MAX_RUNGS);
        shift[wish.n_shift] = rung(wish.n_shift);
    } while (shift[wish.n_shift++] < fmin(LAST_SHIFT, AHEAD / b->wish->min_step_s));
    enum tmx_status st = tmx_ladder_create(b->solver, &wish, &ladder, err);
    st = st ? st : climb(b, ladder, wish.n_shift, err);
    tmx_ladder_destroy(ladder);
    return st;
}

/* The equilibria at the other film coefficients that will be used. */
static enum tmx_status collect_levels(struct builder *b, struct tmx_err *err)
{
    const double other[2] = {b->wish->gamma_low, b->wish->gamma_high};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < 2 && !st; i++) {
        struct tmx_factor *f = NULL;
        if (other[i] == b->basis->gamma) {
            continue;
        }
        st = tmx_factor_create(b->solver, other[i], 0, &f, err);
        st = st ? st : append_shift(b, f, err);
        tmx_factor_destroy(b->solver, f);
    }
    return st;
}

/* The field that must be represented without error: the uniform one. */
static enum tmx_status collect_uniform(struct builder *b, struct tmx_err *err)
{
    const size_t n = b->net->n_node;
    for (size_t c = 0; c < n; c++) {
        b->x[c] = 1;
    }
    return append(b, 1, err);
}

static void fill_maps(struct builder *b)
{
    const struct tmx_network *net = b->net;
    for (size_t l = 0; l < net->n_layer; l++) {
        const struct tmx_gridmap *map = &net->map[l];
        for (size_t u = net->first_unit[l]; u < net->first_unit[l + 1]; u++) {
            const size_t at = u * net->n_node + l * net->n_cell, unit = u - net->first_unit[l];
            tmx_gridmap_weights(map, TMX_MAP_AREA, unit, b->b + at);
            if (b->e) {
                tmx_gridmap_weights(map, net->mode, unit, b->e + at);
            }
        }
    }
    for (size_t u = 0; u < net->n_unit; u++) {
        b->weight[u] = b->wish->power_w[u];
    }
    if (b->n_in > net->n_unit) { /* 1 K of the air: where it stands against each node */
        double *air = b->b + net->n_unit * net->n_node;
        for (size_t c = 0; c < net->n_node; c++) {
            air[c] = b->basis->gamma * net->area_m2[c] + (net->ground_w_k ? net->ground_w_k[c] : 0);
        }
        b->weight[net->n_unit] = b->wish->ambient_k;
    }
}

static enum tmx_status start_builder(struct builder *b, struct tmx_err *err)
{
    const size_t n = b->net->n_node, m = b->net->n_unit, n_region = b->wish->cells ? b->wish->cells->n : 0;
    struct tmx_basis *s = b->basis;
    const bool own_out = b->net->mode == TMX_MAP_AVG || b->net->mode == TMX_MAP_CENTER;
    const bool cells = b->net->mode == TMX_MAP_MIN || b->net->mode == TMX_MAP_MAX;
    tmx_assert(!cells || b->wish->unit_cells);
    s->n_node = n;
    s->n_unit = m;
    b->several = b->wish->gamma_low != b->wish->gamma_high;
    s->gamma = b->several ? sqrt(b->wish->gamma_low * b->wish->gamma_high) : b->wish->gamma_low;
    b->n_in = m + (b->wish->ambient_k > 0);
    b->b = calloc(b->n_in * n, sizeof *b->b);
    b->weight = calloc(b->n_in, sizeof *b->weight);
    b->e = own_out ? calloc(m * n, sizeof *b->e) : NULL;
    b->r = own_out ? calloc(m * n, sizeof *b->r) : NULL;
    b->x = calloc(b->n_in * n, sizeof *b->x);
    b->w = calloc(b->n_in * n, sizeof *b->w);
    b->eigen = calloc(b->n_in * b->n_in, sizeof *b->eigen);
    b->eigenval = calloc(b->n_in, sizeof *b->eigenval);
    b->miss = calloc(b->n_in * m, sizeof *b->miss);
    b->cell_miss = calloc(b->n_in * n_region + 1, sizeof *b->cell_miss);
    b->node = calloc(n, sizeof *b->node);
    s->error = calloc((m + 1) * m, sizeof *s->error);
    s->cell_error = n_region ? calloc((m + 1) * n_region, sizeof *s->cell_error) : NULL;
    s->steady = calloc(m * m, sizeof *s->steady);
    if (!b->b || !b->weight || (own_out && (!b->e || !b->r)) || !b->x || !b->w || !b->eigen || !b->eigenval ||
        !b->miss || !b->cell_miss || !b->node || !s->error || (n_region && !s->cell_error) || !s->steady) {
        return tmx_fail(err, TMX_ENOMEM, "basis for %zu units on %zu nodes", m, n);
    }
    fill_maps(b);
    return tmx_solver_create(b->net, TMX_FACTOR_BLOCKS, &b->solver, err);
}

/* Drop the spare room of g and a, and project what is left. */
static enum tmx_status finish_builder(struct builder *b, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    const size_t n = s->n_node, k = s->n_mode, m = s->n_unit;
    tmx_assert(k > 0 && m > 0);
    double *exact = realloc(s->v, k * n * sizeof *exact);
    s->v = exact ? exact : s->v;
    for (size_t c = 0; c < k; c++) {
        memmove(s->g + c * k, s->g + c * b->room, k * sizeof *s->g);
        if (b->several) {
            memmove(s->a + c * k, s->a + c * b->room, k * sizeof *s->a);
        }
    }
    s->in = calloc(k * m, sizeof *s->in);
    s->out = b->e ? calloc(k * m, sizeof *s->out) : NULL;
    s->one = calloc(k, sizeof *s->one);
    s->area = calloc(k, sizeof *s->area);
    s->ground = calloc(k, sizeof *s->ground);
    if (!s->in || (b->e && !s->out) || !s->one || !s->area || !s->ground) {
        return tmx_fail(err, TMX_ENOMEM, "basis of %zu vectors", k);
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t u = 0; u < m; u++) {
            s->in[u * k + c] = b->in[c * b->n_in + u];
            if (s->out) {
                s->out[u * k + c] = b->out[c * m + u];
            }
        }
    }
    tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->heat_j_k, n, 0, s->one, k);
    tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->area_m2, n, 0, s->area, k);
    if (b->net->ground_w_k) {
        tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->ground_w_k, n, 0, s->ground, k);
    }
    return TMX_OK;
}

enum tmx_status tmx_basis_init(struct tmx_basis *basis, const struct tmx_network *net,
                               const struct tmx_basis_wish *wish, struct tmx_err *err)
{
    struct builder b = {.net = net, .wish = wish, .basis = basis};
    *basis = (struct tmx_basis){0};
    tmx_dense_start();
    enum tmx_status st = start_builder(&b, err);
    st = st ? st : collect_uniform(&b, err);
    st = st ? st : collect(&b, err);
    st = st ? st : collect_levels(&b, err);
    st = st ? st : finish_builder(&b, err);
    tmx_solver_destroy(b.solver);
    free(b.b);
    free(b.e);
    free(b.r);
    free(b.x);
    free(b.w);
    free(b.in);
    free(b.out);
    free(b.weight);
    free(b.small);
    free(b.eigen);
    free(b.eigenval);
    free(b.square);
    free(b.miss);
    free(b.cell_miss);
    free(b.node);
    return st;
}

void tmx_basis_finish(struct tmx_basis *basis)
{
    free(basis->v);
    free(basis->g);
    free(basis->a);
    free(basis->in);
    free(basis->out);
    free(basis->one);
    free(basis->area);
    free(basis->ground);
    free(basis->error);
    free(basis->cell_error);
    free(basis->steady);
    *basis = (struct tmx_basis){0};
}
