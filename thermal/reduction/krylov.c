/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The basis of the reduced model: block rational Krylov projection of the network
 *
 *      C theta' + G theta = B p          T = ambient + E' theta
 *
 * The idea. A die answers a step of power on time scales from a fraction of a millisecond (a block) to
 * minutes (the sink). At one time scale t = 1/s the answer is X(s) = (G + s C)^-1 B, one field for each unit:
 * one factorisation and a solve for each column of B. The answers at a few shifts s, a decade apart, span
 * nearly all fields that powers can cause, so some 16 000 equations become a few hundred:
 *
 *      s [1/s]         0        0.1       1        10      100      1e3     ...
 *      t = 1/s      for ever    10 s     1 s     100 ms   10 ms     1 ms    ... below the shortest step
 *      V = span( 1 | X(0)   |  X(0.1) |  X(1)  |  X(10) | X(100) | X(1e3) | ... )
 *                                    ^ tested in between: a gap that is too wide gets its middle shift,
 *                                      and both halves are tested again
 *
 * The mathematics. G and C are symmetric positive definite and V' C V = 1, so Gr = V' G V has positive
 * eigenvalues and the model is stable whatever V is. Where temperatures are read as powers are spread (E = B,
 * grid_map_mode area), the error at a real shift s has a closed form, with Br = V' B:
 *
 *      E(s) = B' (G + s C)^-1 B - Br' (Gr + s)^-1 Br  =  R' (G + s C)^-1 R,
 *      R    = B - (G + s C) V (Gr + s)^-1 Br
 *
 * It shrinks with every vector added. For sigma <= s, (G + s C)^-1 <= (G + sigma C)^-1: so that the errors at
 * shifts beside s are seen as well, a test solves at the lower of the two it lies between: X = (G + sigma
 * C)^-1 R. A rough solution is enough: conjugate gradients, begun at 0, make the diagonal of R' X too small
 * by the square of their error alone. E(s) = s * integral exp(-s t) (error of the step response) dt: it is
 * the error seen around t = 1/s. A test adds the errors of all units' powers, in the worst signs, and
 * compares the sum with a part of the tolerance (SHARE; CENTER_SHARE, CELL_SHARE of single cells).
 *
 * The basis grows by X at sigma = s, which spans with V what (G + s C)^-1 B does: what is missed is small, so
 * few digits of it do, and little of it lies in V already.
 *
 * Where temperatures are read otherwise (avg or center), the error is R' X + (E - B)' X.
 *
 * What is an estimate and no bound:
 *   - the entries beside the diagonal: the effect of one unit's power on another unit;
 *   - (E - B)' X, a difference of weights around a unit's rim, of first order in R and of any sign;
 *   - the error of a single node, (G + s C)^-1 R, for which (G + sigma C)^-1 R is taken. It is of first
 *     order in R, where that of a mean is of second;
 *   - what lies between the tested shifts.
 * reduced_model.c therefore multiplies the errors by factors that were fitted to random chips.
 *
 * The order of work. First the uniform field, which must have no error. Then shift 0 (its solutions are the
 * steady states, kept to check the finished model), and the others from 0.1 on. Two threads share the columns
 * of a solve and the pieces of a product. Each block of solutions is made orthonormal in C, what depends on
 * earlier vectors is dropped, and the projections of G, A, B and E grow by the new columns. Shifts are added
 * downwards from 0.1 only if a test asks for them, and upwards to the rate of the shortest step and on until
 * a test beyond is met. With several convection levels (film coefficients) the basis is built at their
 * geometric mean, and the steady states at the lowest and the highest are added last. Sums are cut into the
 * same pieces at any number of threads, so results do not depend on them.
 *
 * The order below: sets of nodes whose errors are watched one by one, the basis while it grows, the tests and
 * the walk over the shifts.
 *
 * Source: E. Grimme, "Krylov projection methods for model reduction", PhD thesis, Univ. of Illinois 1997,
 * ch. 3. */
#include "thermal/reduction/reduction.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "thermal/reduction/dense.h"
#include "thermal/solver/solver.h"

enum { TILES = 8 }; /* of a layer, each way: errors are local, a few cells around a unit's rim */

static void allocate(struct tmx_regions *r, size_t n, size_t n_entry, struct tmx_err *err)
{
    *r = (struct tmx_regions){.n = n};
    TMX_TAKE(&r->arena, r->start, n + 1);
    TMX_TAKE(&r->arena, r->node, n_entry);
    if (r->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "%zu regions", n);
    }
}

void tmx_regions_units(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err)
{
    size_t n_entry = 0;
    for (size_t l = 0; l < net->n_layer; l++) {
        const bool any = net->first_unit[l + 1] > net->first_unit[l];
        n_entry += any ? net->map[l].start[net->map[l].n_unit] : 0;
    }
    allocate(r, net->n_unit, n_entry, err);
    for (size_t l = 0; l < net->n_layer && !err->code; l++) {
        const struct tmx_gridmap *map = &net->map[l];
        for (size_t unit = net->first_unit[l]; unit < net->first_unit[l + 1]; unit++) {
            const size_t own = unit - net->first_unit[l];
            size_t at = r->start[unit];
            for (size_t e = map->start[own]; e < map->start[own + 1]; e++) {
                r->node[at++] = l * net->n_cell + map->cell[e];
            }
            r->start[unit + 1] = at;
        }
    }
}

void tmx_regions_tiles(struct tmx_regions *r, const struct tmx_network *net, struct tmx_err *err)
{
    const size_t down = net->rows < TILES ? net->rows : TILES, across = net->cols < TILES ? net->cols : TILES;
    const size_t n_layer = net->view_start ? net->n_layer - 2 : net->n_layer; /* that nodes follow in order */
    const size_t cells = n_layer * net->n_cell, n_tile = n_layer * down * across;
    const size_t more = (net->n_node - cells + net->n_cell - 1) / net->n_cell;
    size_t at = 0, region = 0;
    allocate(r, n_tile + more, net->n_node, err);
    for (size_t tile = 0; tile < n_tile && !err->code; tile++) {
        const size_t l = tile / (down * across), i = tile / across % down, j = tile % across;
        for (size_t row = i * net->rows / down; row < (i + 1) * net->rows / down; row++) {
            for (size_t col = j * net->cols / across; col < (j + 1) * net->cols / across; col++) {
                r->node[at++] = l * net->n_cell + row * net->cols + col;
            }
        }
        r->start[++region] = at;
    }
    while (at < net->n_node && !err->code) {
        r->node[at] = at;
        at++;
        if (at == net->n_node || (at - cells) % net->n_cell == 0) {
            r->start[++region] = at;
        }
    }
    tmx_assert(err->code || region == r->n);
}

void tmx_regions_finish(struct tmx_regions *r)
{
    tmx_arena_finish(&r->arena);
    *r = (struct tmx_regions){0};
}

/* Square of the part of a vector that is new, below which it is made orthogonal a second time. */
static const double LITTLE = 0.1;

/* net and *s, which is overwritten, are kept by reference. */
static void grow_init(struct tmx_growing *b, struct tmx_basis *s, const struct tmx_network *net, size_t n_in,
                      bool own_out, double gamma_low, double gamma_high, struct tmx_err *err)
{
    const size_t n = net->n_node, m = net->n_unit;
    const bool several = gamma_low != gamma_high;
    *s = (struct tmx_basis){
        .n_node = n, .n_unit = m, .gamma = several ? sqrt(gamma_low * gamma_high) : gamma_low};
    *b = (struct tmx_growing){
        .net = net, .basis = s, .several = several, .n_in = n_in, .err = err, .tall = {.n = n}};
    double **const tall[] = {&b->b, &b->x, &b->w, &b->e};
    for (size_t i = 0; i < (own_out ? 4 : 3); i++) {
        const size_t n_col = i < 3 ? n_in : m;
        TMX_TAKE(&b->arena, *tall[i], n_col * n);
        tmx_os_large_pages(*tall[i], n_col * n * sizeof **tall[i]);
    }
    TMX_TAKE(&b->arena, b->eigen, n_in * n_in);
    TMX_TAKE(&b->arena, b->eigenval, n_in);
}

/* Column col of x := itself over its size in C. */
static void normalise(void *grown, size_t col)
{
    const struct tmx_growing *b = grown;
    const size_t n = b->net->n_node;
    double *x = b->x + col * n, *w = b->w + col * n;
    for (size_t r = 0; r < n; r++) {
        w[r] = b->net->heat_j_k[r] * x[r];
    }
    const double size = sqrt(tmx_dot(n, x, w));
    for (size_t r = 0; r < n; r++) {
        x[r] = size > 0 ? x[r] / size : 0;
    }
}

size_t tmx_orthonormalise(struct tmx_growing *b, size_t n_col)
{
    const size_t k = b->basis->n_mode;
    const double *heat = b->net->heat_j_k;
    size_t little = n_col; /* of the first columns little is new */
    tmx_thread_pool_run(b->pool, n_col, normalise, b);
    for (int pass = 0; pass < 2 && little > 0; pass++) {
        if (k > 0) {
            tmx_tall_tn(&b->tall, k, little, b->basis->v, heat, b->x, b->w, b->part, b->small, k);
            tmx_tall_nn(&b->tall, little, k, -1, b->basis->v, b->small, 1, b->x);
        }
        tmx_tall_tn(&b->tall, n_col, n_col, b->x, heat, b->x, b->w, b->part, b->eigen, n_col);
        tmx_dense_eigen(n_col, b->eigen, b->eigenval, b->err);
        if (b->err->code) {
            return 0;
        }
        size_t drop = 0;
        while (drop < n_col && b->eigenval[drop] < b->dependent) {
            drop++;
        }
        for (size_t c = drop; c < n_col; c++) {
            for (size_t r = 0; r < n_col; r++) {
                b->eigen[c * n_col + r] /= sqrt(b->eigenval[c]);
            }
        }
        little = 0;
        while (drop + little < n_col && b->eigenval[drop + little] < LITTLE) {
            little++;
        }
        if (n_col > drop) {
            tmx_tall_nn(&b->tall, n_col - drop, n_col, 1, b->x, b->eigen + drop * n_col, 0, b->w);
        }
        n_col -= drop;
        double *const x = b->x;
        b->x = b->w;
        b->w = x;
    }
    return n_col;
}

/* Take a wider array; what is in n columns of the old one, which stays until the end, goes to its own. */
static void widen(struct tmx_arena *arena, double **p, size_t n, size_t old, size_t column, size_t count)
{
    const double *from = *p;
    TMX_TAKE(arena, *p, count);
    for (size_t c = 0; c < n && *p; c++) {
        memcpy(*p + c * column, from + c * old, old * sizeof **p);
    }
}

static void make_room(struct tmx_growing *b, size_t n_col)
{
    struct tmx_basis *s = b->basis;
    if (s->n_mode + n_col <= b->room) {
        return;
    }
    const size_t k = s->n_mode, m = b->net->n_unit, room = k + n_col + 4 * m, old = b->room;
    double *v = realloc(s->v, room * b->net->n_node * sizeof *v);
    s->v = v ? v : s->v;
    widen(&s->arena, &s->g, k, old, room, room * room); /* g and a have room rows a column */
    if (b->several) {
        widen(&s->arena, &s->a, k, old, room, room * room);
    }
    widen(&b->arena, &b->in, k, b->n_in, b->n_in, room * b->n_in);
    if (b->e) {
        widen(&b->arena, &b->out, k, m, m, room * m);
    }
    TMX_TAKE(&b->arena, b->small, room * (b->n_in + 2));
    TMX_TAKE(&b->arena, b->part, TMX_TALL_PIECES * room * b->n_in);
    TMX_TAKE(&b->arena, b->square, room * room);
    if (!v || b->arena.failed || s->arena.failed) {
        tmx_error(b->err, TMX_ENOMEM, "basis of %zu vectors for %zu nodes", room, b->net->n_node);
        return;
    }
    tmx_os_large_pages(v + k * b->net->n_node, (room - k) * b->net->n_node * sizeof *v);
    b->room = room;
}

/* Columns [k, k + n_col) of the projection m of a symmetric matrix, given its product with the new vectors as
 * diag(d) w, and the rows that mirror them. */
static void project(struct tmx_growing *b, double *m, size_t k, size_t n_col, const double *d, double *w)
{
    const size_t room = b->room;
    tmx_tall_tn(&b->tall, k + n_col, n_col, b->basis->v, d, w, b->w, b->part, m + k * room, room);
    for (size_t c = k; c < k + n_col; c++) {
        for (size_t r = 0; r < k; r++) {
            m[r * room + c] = m[c * room + r];
        }
    }
}

/* Column col of x to the end of the basis, of G x to w. */
static void adopt(void *grown, size_t col)
{
    const struct tmx_growing *b = grown;
    const size_t n = b->net->n_node;
    const double *x = b->x + col * n;
    memcpy(b->basis->v + (b->basis->n_mode + col) * n, x, n * sizeof *x);
    tmx_network_apply(b->net, b->basis->gamma, 0, x, b->w + col * n);
}

/* Append the first n_col columns of x to the basis, without what depends on it. Uses x and w. */
static void grow_append(struct tmx_growing *b, size_t n_col)
{
    struct tmx_basis *s = b->basis;
    const size_t k = s->n_mode, m = b->net->n_unit;
    if (!b->err->code) {
        make_room(b, n_col);
    }
    n_col = b->err->code ? 0 : tmx_orthonormalise(b, n_col);
    if (n_col == 0) {
        return;
    }
    tmx_thread_pool_run(b->pool, n_col, adopt, b);
    project(b, s->g, k, n_col, NULL, b->w);
    if (b->several) {
        project(b, s->a, k, n_col, b->net->area_m2, b->x);
    }
    tmx_tall_tn(&b->tall, b->n_in, n_col, b->b, NULL, b->x, NULL, b->part, b->in + k * b->n_in, b->n_in);
    if (b->e) {
        tmx_tall_tn(&b->tall, m, n_col, b->e, NULL, b->x, NULL, b->part, b->out + k * m, m);
    }
    s->n_mode = k + n_col;
}

struct remainder {
    const struct tmx_growing *b;
    double s;
};

/* Column col of w := that of B - (G + s C) x. */
static void subtract(void *remainder, size_t col)
{
    const struct remainder *r = remainder;
    const struct tmx_growing *b = r->b;
    const size_t n = b->net->n_node;
    const double *from = b->b + col * n;
    double *w = b->w + col * n;
    tmx_network_apply(b->net, b->basis->gamma, r->s, b->x + col * n, w);
    for (size_t c = 0; c < n; c++) {
        w[c] = from[c] - w[c];
    }
}

/* w := R = B - (G + s C) V (Gr + s)^-1 V' B. Uses x. */
static void grow_residual(struct tmx_growing *b, double s)
{
    const size_t k = b->basis->n_mode, m = b->n_in;
    for (size_t c = 0; c < k; c++) {
        memcpy(b->square + c * k, b->basis->g + c * b->room, k * sizeof *b->square);
        b->square[c * k + c] += s;
        for (size_t u = 0; u < m; u++) {
            b->small[u * k + c] = b->in[c * m + u];
        }
    }
    tmx_dense_solve(k, m, b->square, b->small, b->err);
    if (!b->err->code) {
        tmx_tall_nn(&b->tall, m, k, 1, b->basis->v, b->small, 0, b->x);
        tmx_thread_pool_run(b->pool, m, subtract, &(struct remainder){b, s});
    }
}

/* The basis has all its vectors: drop the spare room of g and a, and project what is left. */
static void grow_close(struct tmx_growing *b)
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
    double **const of_modes[] = {&s->one, &s->area, &s->ground};
    for (size_t i = 0; i < 3; i++) {
        TMX_TAKE(&s->arena, *of_modes[i], k);
    }
    TMX_TAKE(&s->arena, s->in, k * m);
    if (b->e) {
        TMX_TAKE(&s->arena, s->out, k * m);
    }
    if (s->arena.failed) {
        tmx_error(b->err, TMX_ENOMEM, "basis of %zu vectors", k);
        return;
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t u = 0; u < m; u++) {
            s->in[u * k + c] = u < b->n_in ? b->in[c * b->n_in + u] : 0;
            if (s->out) {
                s->out[u * k + c] = b->out[c * m + u];
            }
        }
    }
    tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->heat_j_k, NULL, b->part, s->one, k);
    tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->area_m2, NULL, b->part, s->area, k);
    if (b->net->ground_w_k) {
        tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->ground_w_k, NULL, b->part, s->ground, k);
    }
}

static const double FIRST_SHIFT = 0.1;  /* [1/s] after 0: heat sinks have time constants of 10 s and more */
static const double SHIFT_RATIO = 10.0; /* from one shift to the next; halved in the logarithm where needed */
static const double LAST_SHIFT = 1e9;   /* [1/s] no network of cells above a micrometre is faster */
static const double LEAST_SHIFT =
    1e-6; /* [1/s] no sink is slower; above it only where the tests ask for it */
/* Of the tolerance, for the basis at each tested shift. What is seen in time is more than at one shift; of
 * single cells, whose errors are of first order and of one sign, yet more, and of units that are read at
 * their centers half as much. Fitted to tests/property/test_reduced.c. */
static const double SHARE = 0.25, CENTER_SHARE = 0.12, CELL_SHARE = 0.1;

enum {
    DEPTH = 3,      /* halvings between two shifts; beyond, numbers are the limit */
    MAX_SHIFTS = 60 /* of a basis */
};
/* Of solutions: steady states are exact, as the finished model is checked against them; a test adds up
 * errors (with 0.5, of one cycle, and directions to 0.003 two of 60 chips were off by 1.4 mK for 1).
 * Directions are what is missed, to DIRECTION_PART of it, and what is new of a vector is a NEW_PART a kelvin
 * of the tolerance: chosen as about the largest with which tests/property/test_reduced.c holds on its quick
 * chips. Errors of single cells are of first order in what the vectors miss, and need FIRST_ORDER of that:
 * without it cells of the physical network were off by 2 mK. Units that are read otherwise than their power
 * is spread are of first order at their rims alone: RIM_ORDER. Where they are read at their centers, less of
 * what is new is dropped: CENTER_ORDER. Both were chosen with chips 4, 22 and 41 of the test. */
static const struct tmx_accuracy STEADY = {.part = 1e-10}, TESTED = {.part = 0.1};
static const double DIRECTION_PART = 0.001, NEW_PART = 0.1, FIRST_ORDER = 0.01, CENTER_ORDER = 0.2,
                    RIM_ORDER = 0.003;

struct builder {
    struct tmx_growing grown;
    const struct tmx_demand *demand;
    struct tmx_solver *solver;
    struct tmx_regions unit; /* cells of each unit; empty when E = B */
    size_t n_held;  /* inputs whose fields join the basis: without the air where nothing is promised of it */
    double *weight; /* [n_in] the powers of the demand, and ambient_k */
    double *miss, *cell_miss; /* [n_in][n_unit], [n_in][demand->cells.n] work */
    double *node;             /* [n_node] work */
};

/* The fields of a shift at film coefficient gamma for n_rhs right-hand sides, to x. */
static void solve_shift(struct builder *b, double gamma, double shift, const struct tmx_accuracy *accuracy,
                        size_t n_rhs, const double *rhs)
{
    const struct tmx_matrix matrix = {.gamma = gamma, .sigma = shift, .flow = 1};
    struct tmx_system *system = tmx_system_create(b->solver, &matrix, b->grown.err);
    const enum tmx_status st =
        system ? tmx_solve(b->solver, system, accuracy, false, n_rhs, rhs, NULL, b->grown.x) : TMX_OK;
    if (st) {
        tmx_error(b->grown.err, st, "basis solve");
    }
    tmx_system_destroy(system);
}

/* 1, but where the errors of single cells count, too. */
static double order(const struct builder *b)
{
    return b->demand->cells.n || b->demand->unit_cells.n ? FIRST_ORDER
           : b->grown.net->mode == TMX_MAP_CENTER        ? CENTER_ORDER
                                                         : 1;
}

static double limit_k(const struct builder *b)
{
    return (b->demand->cells.n || b->demand->unit_cells.n ? CELL_SHARE
            : b->grown.net->mode == TMX_MAP_CENTER        ? CENTER_SHARE
                                                          : SHARE) *
           b->demand->tolerance_k;
}

/* The largest over `regions` of what all weights, in the worst signs, add up to at one node of them; the
 * errors of the columns of x, by region, go to miss. */
static double worst_node(struct builder *b, const struct tmx_regions *regions, double *miss)
{
    const size_t n = b->grown.net->n_node;
    double worst = 0;
    memset(miss, 0, b->grown.n_in * regions->n * sizeof *miss);
    memset(b->node, 0, n * sizeof *b->node);
    for (size_t v = 0; v < b->grown.n_in; v++) {
        const double *x = b->grown.x + v * n;
        for (size_t k = 0; k < regions->n; k++) {
            double *most = &miss[v * regions->n + k];
            for (size_t e = regions->start[k]; e < regions->start[k + 1]; e++) {
                *most = fmax(*most, fabs(x[regions->node[e]]));
            }
        }
        for (size_t c = 0; c < n; c++) {
            b->node[c] += fabs(x[c]) * b->weight[v];
        }
    }
    for (size_t e = 0; e < regions->start[regions->n]; e++) {
        worst = fmax(worst, b->node[regions->node[e]]);
    }
    return worst;
}

/* What unit u is off for the field of column v, where R' X is what it would be off if it were read as its
 * power is spread: (E - B)' X more. Signs that cancel at this shift do not at the next, so it is at least the
 * root of the squares of what its cells bring. */
static double off(const struct builder *b, size_t u, size_t v, double spread)
{
    const double *e = b->grown.e, *x = b->grown.x + v * b->grown.net->n_node;
    const size_t row = u * b->grown.net->n_node;
    double sum = spread, square = 0;
    for (size_t i = e ? b->unit.start[u] : 0; e && i < b->unit.start[u + 1]; i++) {
        const size_t c = b->unit.node[i];
        const double part = (e[row + c] - b->grown.b[row + c]) * x[c];
        sum += part;
        square += part * part;
    }
    return fmax(fabs(sum), sqrt(square));
}

/* Estimate the error at shift s with solutions at a lower one; returns that for steps of all the powers of
 * the demand together, in the worst signs. Leaves the estimate in miss and cell_miss. */
static double test_shift(struct builder *b, double s, double lower)
{
    const struct tmx_growing *grown = &b->grown;
    const size_t m = grown->net->n_unit;
    const struct tmx_demand *demand = b->demand;
    double worst_k = 0;
    grow_residual(&b->grown, s);
    solve_shift(b, grown->basis->gamma, lower, &TESTED, grown->n_in, grown->w);
    if (grown->err->code) {
        return 0;
    }
    if (demand->cells.n) {
        worst_k = worst_node(b, &demand->cells, b->cell_miss);
    }
    if (demand->unit_cells.n) {
        return fmax(worst_k, worst_node(b, &demand->unit_cells, b->miss));
    }
    tmx_tall_tn(&grown->tall, m, grown->n_in, grown->w, NULL, grown->x, NULL, grown->part, b->miss, m);
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < grown->n_in; v++) {
            double *miss = &b->miss[v * m + u];
            *miss = off(b, u, v, *miss);
            sum += *miss * b->weight[v];
        }
        worst_k = fmax(worst_k, sum);
    }
    return worst_k;
}

static void note_error(struct builder *b)
{
    for (size_t i = 0; i < b->grown.n_in * b->grown.net->n_unit; i++) {
        b->grown.basis->error[i] = fmax(b->grown.basis->error[i], b->miss[i]);
    }
    for (size_t i = 0; i < b->grown.n_in * b->demand->cells.n; i++) {
        b->grown.basis->cell_error[i] = fmax(b->grown.basis->cell_error[i], b->cell_miss[i]);
    }
}

/* What is missed at shift s, R of which is in w, becomes a part of the basis, but for columns of which nearly
 * nothing is missed. */
static void append_missed(struct builder *b, double s)
{
    struct tmx_growing *grown = &b->grown;
    const size_t n = grown->net->n_node, k = grown->basis->n_mode;
    size_t n_new = 0;
    solve_shift(b, grown->basis->gamma, s,
                &(struct tmx_accuracy){.part = (grown->e ? RIM_ORDER : order(b)) * DIRECTION_PART}, b->n_held,
                grown->w);
    grown->basis->n_shift++;
    for (size_t v = 0; v < b->n_held && !grown->err->code; v++) {
        const double *y = grown->small + v * k, *x = grown->x + v * n;
        double size = 0;
        for (size_t c = 0; c < n; c++) {
            size += grown->net->heat_j_k[c] * x[c] * x[c];
        }
        if (size > grown->dependent * tmx_dot(k, y, y)) {
            memmove(grown->x + n_new++ * n, x, n * sizeof *x);
        }
    }
    grow_append(grown, n_new);
}

static void append_shift(struct builder *b, double s)
{
    grow_residual(&b->grown, s);
    append_missed(b, s);
}

/* Test between the shifts low and high, both in the basis; where the test asks for it, add the middle and
 * look at both halves. */
static void refine(struct builder *b, double low, double high, int depth)
{
    const double s = sqrt(low * high);
    if (test_shift(b, s, low) <= limit_k(b) || depth == 0 || b->grown.basis->n_shift >= MAX_SHIFTS) {
        note_error(b);
        return;
    }
    append_missed(b, s);
    refine(b, low, s, depth - 1);
    refine(b, s, high, depth - 1);
}

/* First the field that must be represented without error, the uniform one, and shift 0: the steady states of
 * all units. Then the shifts upwards, a SHIFT_RATIO apart, with what the tests ask for in between: to the
 * rate of the shortest step in any case, then on until the test beyond is met. At last the equilibria at the
 * other film coefficients that will be used. */
static void collect(struct builder *b)
{
    struct tmx_growing *grown = &b->grown;
    const size_t m = grown->net->n_unit;
    const double gamma = grown->basis->gamma, other[2] = {b->demand->gamma_low, b->demand->gamma_high};
    double beyond_k = INFINITY, below = FIRST_SHIFT;
    for (size_t c = 0; c < grown->net->n_node; c++) {
        grown->x[c] = 1;
    }
    grow_append(grown, 1);
    solve_shift(b, gamma, 0, &STEADY, b->n_held, grown->b);
    if (!grown->err->code) {
        tmx_tall_tn(&grown->tall, m, m, grown->e ? grown->e : grown->b, NULL, grown->x, NULL, grown->part,
                    grown->basis->steady, m);
    }
    grown->basis->n_shift++;
    grow_append(grown, b->n_held);
    append_shift(b, FIRST_SHIFT);
    double high = FIRST_SHIFT; /* and what is below it */
    while (test_shift(b, high / sqrt(SHIFT_RATIO), 0) > limit_k(b) && high > LEAST_SHIFT) {
        append_shift(b, high / SHIFT_RATIO);
        refine(b, high / SHIFT_RATIO, high, DEPTH);
        high /= SHIFT_RATIO;
    }
    note_error(b);
    for (int i = 1; !grown->err->code && below < LAST_SHIFT && beyond_k > limit_k(b); i++) {
        const double s = FIRST_SHIFT * pow(SHIFT_RATIO, i);
        append_shift(b, s);
        refine(b, below, s, DEPTH);
        if (s >= 1.0 / b->demand->min_step_s) { /* far enough: is it enough? */
            beyond_k = test_shift(b, s * sqrt(SHIFT_RATIO), s);
        }
        below = s;
    }
    note_error(b);
    for (size_t i = 0; i < 2; i++) {
        if (other[i] != gamma) {
            solve_shift(b, other[i], 0, &STEADY, b->n_held, grown->b);
            grown->basis->n_shift++;
            grow_append(grown, b->n_held);
        }
    }
}

static void start_builder(struct builder *b, struct tmx_basis *s, const struct tmx_network *net,
                          struct tmx_err *err)
{
    const size_t n = net->n_node, m = net->n_unit, n_region = b->demand->cells.n;
    const size_t n_in = m + 1;
    const bool own_out = net->mode == TMX_MAP_AVG || net->mode == TMX_MAP_CENTER;
    struct tmx_growing *grown = &b->grown;
    struct tmx_arena *scratch = &grown->arena;
    tmx_assert(!tmx_map_by_cell(net->mode) || b->demand->unit_cells.n);
    grow_init(grown, s, net, n_in, own_out, b->demand->gamma_low, b->demand->gamma_high, err);
    b->n_held = m + (b->demand->ambient_k > 0);
    grown->dependent = pow(fmin(1e-3, order(b) * NEW_PART * b->demand->tolerance_k), 2);
    TMX_TAKE(scratch, b->weight, n_in);
    TMX_TAKE(scratch, b->miss, n_in * m);
    TMX_TAKE(scratch, b->cell_miss, n_in * n_region);
    TMX_TAKE(scratch, b->node, n);
    TMX_TAKE(&s->arena, s->error, (m + 1) * m);
    TMX_TAKE(&s->arena, s->steady, m * m);
    if (n_region) {
        TMX_TAKE(&s->arena, s->cell_error, (m + 1) * n_region);
    }
    if (scratch->failed || s->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "basis for %zu units on %zu nodes", m, n);
        return;
    }
    for (size_t l = 0; l < net->n_layer; l++) {
        for (size_t u = net->first_unit[l]; u < net->first_unit[l + 1]; u++) {
            const size_t at = u * n + l * net->n_cell, unit = u - net->first_unit[l];
            tmx_gridmap_weights(&net->map[l], TMX_MAP_AREA, unit, grown->b + at);
            if (grown->e) {
                tmx_gridmap_weights(&net->map[l], net->mode, unit, grown->e + at);
            }
        }
    }
    memcpy(b->weight, b->demand->power_w, m * sizeof *b->weight);
    double *air = grown->b + m * n; /* 1 K of it: where it stands against each node */
    for (size_t c = 0; c < n; c++) {
        air[c] = s->gamma * net->area_m2[c] + (net->ground_w_k ? net->ground_w_k[c] : 0);
    }
    b->weight[m] = b->demand->ambient_k;
    if (own_out) {
        tmx_regions_units(&b->unit, net, err);
    }
    if (tmx_thread_pool_create(&grown->pool, 2, err) == TMX_EIO) {
        *err = (struct tmx_err){0}; /* the system gives no second thread */
    }
    grown->tall.pool = grown->pool;
    b->solver = tmx_solver_create(net, TMX_SOLVER_BY_SIZE, grown->pool, err);
}

void tmx_basis_init(struct tmx_basis *basis, const struct tmx_network *net, const struct tmx_demand *demand,
                    struct tmx_err *err)
{
    struct builder b = {.demand = demand};
    *basis = (struct tmx_basis){0};
    if (err->code) {
        return;
    }
    start_builder(&b, basis, net, err);
    if (!err->code) {
        collect(&b);
    }
    if (!err->code) {
        grow_close(&b.grown);
    }
    tmx_regions_finish(&b.unit);
    tmx_solver_destroy(b.solver);
    tmx_thread_pool_destroy(b.grown.pool);
    tmx_arena_finish(&b.grown.arena);
}

void tmx_basis_finish(struct tmx_basis *basis)
{
    free(basis->v);
    tmx_arena_finish(&basis->arena);
    *basis = (struct tmx_basis){0};
}

/* ---- A start field ---- */

/* The rational Krylov space of one vector: the uniform field (for the heat balance), theta, and for each of a
 * few poles sigma, two decades apart from the slowest sink to ten times the rate of the shortest step,
 * q := (G + sigma C)^-1 C q again and again, q being the pole's newest vector. A vector costs one solve, so
 * this takes a fraction of the basis for the powers. What is new of a solution is down to a millionth of it:
 * solved to less than rounding, vectors would be noise and the error would stay where it is.
 * It ends when at test shifts s between and at the poles what is missed, s (G + s C)^-1 (C theta -
 * (G + s C) V (Gr + s)^-1 V' C theta), is below a part of the tolerance. That is the error seen around t =
 * 1/s; for (G + s C)^-1 stands the system of the pole below. */
static const double POLE_RATIO = 100;   /* at most, from one pole to the next; FIRST_SHIFT is the first */
static const double LAST_POLE = 10;     /* in units of the rate of the shortest step */
static const double START_SHARE = 0.02; /* of the tolerance at each tested shift */
static const double START_DEPENDENT = 1e-20; /* square of the part of a vector that must be new */
static const struct tmx_accuracy FIELD = {.part = 1e-11}, START_TESTED = {.part = 0.01};
enum { MAX_POLE = 8, MAX_VECTOR = 160 };

struct start {
    struct tmx_growing grown; /* b: C theta */
    const struct tmx_demand *demand;
    const struct tmx_regions *cells; /* nodes that must be accurate, too; n 0: none */
    struct tmx_solver *solver;
    struct tmx_system *system[MAX_POLE];
    double pole[MAX_POLE];
    size_t n_pole;
    double *unit; /* [n_unit] work */
};

static void heat_times(const struct start *b, const double *x, double *w)
{
    for (size_t c = 0; c < b->grown.net->n_node; c++) {
        w[c] = b->grown.net->heat_j_k[c] * x[c];
    }
}

/* x := the solution of a pole for w */
static void solve_pole(struct start *b, size_t pole, const struct tmx_accuracy *accuracy)
{
    const enum tmx_status st = b->grown.err->code ? TMX_OK
                                                  : tmx_solve(b->solver, b->system[pole], accuracy, false, 1,
                                                              b->grown.w, NULL, b->grown.x);
    if (st) {
        tmx_error(b->grown.err, st, "start field");
    }
}

/* What is missed at shift s, in kelvin, by the system of a pole. */
static double test_start(struct start *b, double s, size_t pole)
{
    struct tmx_growing *grown = &b->grown;
    const struct tmx_regions *cells = b->cells;
    double worst = 0;
    grow_residual(grown, s);
    solve_pole(b, pole, &START_TESTED);
    for (size_t e = 0; cells->n && e < cells->start[cells->n]; e++) {
        worst = fmax(worst, fabs(grown->x[cells->node[e]]));
    }
    if (!cells->n) {
        tmx_network_read(grown->net, grown->x, b->unit);
    }
    for (size_t u = 0; u < grown->net->n_unit && !cells->n; u++) {
        worst = fmax(worst, fabs(b->unit[u]));
    }
    return s * fmax(1, b->pole[pole] / s) * worst; /* (G+sC)^-1 <= pole/s (G+pole C)^-1 */
}

/* Two more vectors of every pole in turn, until the tests are content; returns what they find. */
static double collect_start(struct start *b, const double *theta_k)
{
    struct tmx_growing *grown = &b->grown;
    const size_t n = grown->net->n_node, *n_mode = &grown->basis->n_mode;
    size_t own[MAX_POLE], before = 1; /* own: the newest vector of each pole: what it is applied to next */
    double error_k = INFINITY;
    for (size_t c = 0; c < n; c++) {
        grown->x[c] = 1;
    }
    grow_append(grown, 1);
    memcpy(grown->x, theta_k, n * sizeof *grown->x);
    grow_append(grown, 1);
    for (size_t p = 0; p < MAX_POLE; p++) {
        own[p] = *n_mode - 1;
    }
    if (*n_mode == before) { /* uniform */
        return 0;
    }
    while (error_k > START_SHARE * b->demand->tolerance_k && *n_mode > before &&
           *n_mode + 2 * b->n_pole <= MAX_VECTOR) {
        for (size_t i = 0; i<2 * b->n_pole && * n_mode> before; i++) {
            const size_t p = i % b->n_pole;
            before = *n_mode;
            heat_times(b, grown->basis->v + own[p] * n, grown->w);
            solve_pole(b, p, &FIELD);
            grow_append(grown, 1);
            own[p] = *n_mode - 1;
        }
        error_k = test_start(b, b->pole[0] / 3, 0);
        for (size_t p = 0; p + 1 < b->n_pole; p++) { /* the last pole is faster than any step */
            error_k = fmax(error_k, test_start(b, b->pole[p], p));
            error_k = fmax(error_k, test_start(b, sqrt(b->pole[p] * b->pole[p + 1]), p));
        }
    }
    return error_k;
}

double tmx_initial_basis(struct tmx_basis *s, const struct tmx_network *net, const struct tmx_demand *demand,
                         const double *theta_k, const double **theta, struct tmx_err *err)
{
    struct start b = {.demand = demand, .cells = demand->cells.n ? &demand->cells : &demand->unit_cells};
    struct tmx_growing *grown = &b.grown;
    const double last = fmax(LAST_POLE / demand->min_step_s, FIRST_SHIFT * POLE_RATIO);
    const double decades = log(last / FIRST_SHIFT) / log(POLE_RATIO);
    double error_k = 0;
    grow_init(grown, s, net, 1, false, demand->gamma_low, demand->gamma_high, err);
    grown->dependent = START_DEPENDENT;
    TMX_TAKE(&grown->arena, b.unit, net->n_unit);
    tmx_arena_check(&grown->arena, err);
    s->n_shift = b.n_pole = 1 + (size_t)fmin(ceil(decades - 1e-9), MAX_POLE - 1);
    b.solver = tmx_solver_create(net, TMX_SOLVER_BY_SIZE, NULL, err);
    for (size_t p = 0; p < b.n_pole; p++) {
        b.pole[p] = FIRST_SHIFT * pow(last / FIRST_SHIFT, (double)p / (double)(b.n_pole - 1));
        const struct tmx_matrix matrix = {.gamma = s->gamma, .sigma = b.pole[p]};
        b.system[p] = tmx_system_create(b.solver, &matrix, err);
    }
    if (!err->code) {
        heat_times(&b, theta_k, grown->b);
        error_k = collect_start(&b, theta_k);
    }
    if (!err->code) {
        grow_close(grown);
    }
    double *at;
    const size_t k = s->n_mode, m = net->n_unit;
    TMX_TAKE(&s->arena, at, k);
    TMX_TAKE(&s->arena, s->out, k * m);
    tmx_arena_check(&s->arena, err);
    for (size_t c = 0; c < k && !err->code;
         c++) { /* theta is no input; MIN and MAX are read from the cells */
        at[c] = s->in[c];
        s->in[c] = 0;
        tmx_network_read(net, s->v + c * s->n_node, b.unit);
        for (size_t u = 0; u < m && !tmx_map_by_cell(net->mode); u++) {
            s->out[u * k + c] = b.unit[u];
        }
    }
    *theta = at;
    for (size_t p = 0; p < b.n_pole; p++) {
        tmx_system_destroy(b.system[p]);
    }
    tmx_solver_destroy(b.solver);
    tmx_arena_finish(&grown->arena);
    return error_k;
}
