/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rational Krylov space of one vector: the uniform field (for the heat balance), theta, and for each of a
 * few poles sigma, two decades apart from the slowest sink to ten times the rate of the shortest step,
 * q := (G + sigma C)^-1 C q again and again, q being the pole's newest vector. A vector costs one solve, so
 * this takes a fraction of the basis for the powers. What is new of a solution is down to a millionth of it:
 * solved to less than rounding, vectors would be noise and the error would stay where it is.
 * Stops when at test shifts s between and at the poles what is missed, s (G + s C)^-1 (C theta -
 * (G + s C) V (Gr + s)^-1 V' C theta), is below a part of the tolerance. That is the error seen
 * around t = 1/s; for (G + s C)^-1 stands the factor of the pole below. */
#include "thermal/reduction/initial_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/reduction/dense.h"
#include "thermal/solver/solver.h"

static const double FIRST_POLE = 0.1;  /* [1/s] */
static const double POLE_RATIO = 100;  /* at most, from one pole to the next */
static const double LAST_POLE = 10;    /* in units of the rate of the shortest step */
static const double SHARE = 0.02;      /* of the tolerance at each tested shift */
static const double DEPENDENT = 1e-20; /* square of the part of a vector that must be new */
static const struct tmx_accuracy FIELD = {.part = 1e-11}, TESTED = {.part = 0.01};
enum { MAX_POLE = 8, MAX_VECTOR = 160, CHUNK = 16 };

struct builder {
    const struct tmx_network *net;
    const struct tmx_initial_basis_options *options;
    struct tmx_basis *basis;
    struct tmx_solver *solver;
    struct tmx_system *system[MAX_POLE];
    double pole[MAX_POLE];
    size_t n_pole;
    bool several;
    double *heat_theta; /* [n_node] C theta */
    double *x, *w;      /* [n_node] work */
    double *inner;      /* [MAX_VECTOR] V' C theta */
    double *square;     /* [MAX_VECTOR^2] work */
    double *small;      /* [MAX_VECTOR] work */
    double *unit;       /* [n_unit] work */
    struct tmx_arena arena;
    struct tmx_err *err;
};

static void heat_times(const struct builder *b, const double *x, double *w)
{
    for (size_t c = 0; c < b->net->n_node; c++) {
        w[c] = b->net->heat_j_k[c] * x[c];
    }
}

/* The row and column of the newest vector in the projection of a symmetric matrix; w = matrix times it. */
static void project(const struct builder *b, double *m)
{
    const size_t k = b->basis->n_mode - 1, n = b->net->n_node;
    for (size_t i = 0; i <= k; i++) {
        m[k * MAX_VECTOR + i] = m[i * MAX_VECTOR + k] = tmx_dense_dot(n, b->basis->v + i * n, b->w);
    }
}

/* Append x, made orthonormal to what is there; false where nothing was left of it. */
static bool append(struct builder *b)
{
    struct tmx_basis *s = b->basis;
    const size_t n = b->net->n_node;
    if (s->n_mode % CHUNK == 0) {
        double *grown = realloc(s->v, (s->n_mode + CHUNK) * n * sizeof *grown);
        if (!grown) {
            tmx_error(b->err, TMX_ENOMEM, "start field on %zu nodes", n);
            return false;
        }
        s->v = grown;
    }
    heat_times(b, b->x, b->w);
    const double size = tmx_dense_dot(n, b->x, b->w);
    double left = size;
    for (size_t pass = 0; pass < 2; pass++) {
        heat_times(b, b->x, b->w);
        for (size_t i = 0; i < s->n_mode; i++) {
            tmx_dense_axpy(n, -tmx_dense_dot(n, s->v + i * n, b->w), s->v + i * n, b->x);
        }
        heat_times(b, b->x, b->w);
        left = tmx_dense_dot(n, b->x, b->w);
    }
    if (!(left > DEPENDENT * size)) {
        return false;
    }
    for (size_t c = 0; c < n; c++) {
        s->v[s->n_mode * n + c] = b->x[c] / sqrt(left);
    }
    const double *q = s->v + s->n_mode * n;
    s->n_mode++;
    b->inner[s->n_mode - 1] = tmx_dense_dot(n, q, b->heat_theta);
    tmx_network_apply(b->net, s->gamma, 0, q, b->w);
    project(b, s->g);
    for (size_t c = 0; b->several && c < n; c++) {
        b->w[c] = b->net->area_m2[c] * q[c];
    }
    if (b->several) {
        project(b, s->a);
    }
    return true;
}

/* x := the solution of a pole for w */
static void solve(struct builder *b, size_t pole, const struct tmx_accuracy *accuracy)
{
    const enum tmx_status st =
        b->err->code ? TMX_OK : tmx_solve(b->solver, b->system[pole], accuracy, 1, b->w, NULL, b->x);
    if (st) {
        tmx_error(b->err, st, "start field");
    }
}

/* What is missed at shift s, in kelvin, by the factor of a pole; see the head of this file. */
static double test_shift(struct builder *b, double s, size_t pole)
{
    const size_t n = b->net->n_node, k = b->basis->n_mode;
    for (size_t c = 0; c < k; c++) {
        memcpy(b->square + c * k, b->basis->g + c * MAX_VECTOR, k * sizeof *b->square);
        b->square[c * k + c] += s;
        b->small[c] = b->inner[c];
    }
    tmx_dense_solve(k, 1, b->square, b->small, b->err);
    tmx_dense_nn(n, 1, k, 1, b->basis->v, n, b->small, k, 0, b->x, n);
    tmx_network_apply(b->net, b->basis->gamma, s, b->x, b->w);
    for (size_t c = 0; c < n; c++) {
        b->w[c] = b->heat_theta[c] - b->w[c];
    }
    solve(b, pole, &TESTED);
    double worst = 0;
    if (b->options->cells) {
        for (size_t e = 0; e < b->options->cells->start[b->options->cells->n]; e++) {
            worst = fmax(worst, fabs(b->x[b->options->cells->node[e]]));
        }
    } else {
        tmx_network_read(b->net, b->x, b->unit);
        for (size_t u = 0; u < b->net->n_unit; u++) {
            worst = fmax(worst, fabs(b->unit[u]));
        }
    }
    return s * fmax(1, b->pole[pole] / s) * worst; /* (G+sC)^-1 <= pole/s (G+pole C)^-1 */
}

static double test(struct builder *b)
{
    double miss_k = test_shift(b, b->pole[0] / 3, 0);
    for (size_t p = 0; p + 1 < b->n_pole; p++) { /* the last pole is faster than any step */
        miss_k = fmax(miss_k, test_shift(b, b->pole[p], p));
        miss_k = fmax(miss_k, test_shift(b, sqrt(b->pole[p] * b->pole[p + 1]), p));
    }
    return miss_k;
}

/* One more vector of every pole in turn, until the tests are content; returns what they find. */
static double collect(struct builder *b)
{
    const size_t n = b->net->n_node;
    const double limit = SHARE * b->options->tolerance_k;
    double error_k = INFINITY;
    for (size_t c = 0; c < n; c++) {
        b->x[c] = 1;
    }
    append(b);
    memcpy(b->x, b->options->theta_k, n * sizeof *b->x);
    if (!append(b)) { /* uniform */
        return 0;
    }
    size_t own[MAX_POLE]; /* the newest vector of each pole: what it is applied to next */
    for (size_t p = 0; p < MAX_POLE; p++) {
        own[p] = b->basis->n_mode - 1;
    }
    bool is_new = true;
    while (error_k > limit && is_new && b->basis->n_mode + 2 * b->n_pole <= MAX_VECTOR) {
        for (size_t i = 0; i < 2 * b->n_pole && is_new; i++) {
            const size_t p = i % b->n_pole;
            heat_times(b, b->basis->v + own[p] * n, b->w);
            solve(b, p, &FIELD);
            is_new = !b->err->code && append(b);
            own[p] = b->basis->n_mode - 1;
        }
        error_k = b->err->code ? 0 : test(b);
    }
    return error_k;
}

static void start_builder(struct builder *b)
{
    const size_t n = b->net->n_node;
    struct tmx_basis *s = b->basis;
    s->n_node = n;
    s->n_unit = b->net->n_unit;
    b->several = b->options->gamma_low != b->options->gamma_high;
    s->gamma = b->several ? sqrt(b->options->gamma_low * b->options->gamma_high) : b->options->gamma_low;
    TMX_TAKE(&s->arena, s->g, (size_t)MAX_VECTOR * MAX_VECTOR);
    if (b->several) {
        TMX_TAKE(&s->arena, s->a, (size_t)MAX_VECTOR * MAX_VECTOR);
    }
    TMX_TAKE(&s->arena, b->inner, MAX_VECTOR);
    TMX_TAKE(&b->arena, b->heat_theta, n);
    TMX_TAKE(&b->arena, b->x, n);
    TMX_TAKE(&b->arena, b->w, n);
    TMX_TAKE(&b->arena, b->square, (size_t)MAX_VECTOR * MAX_VECTOR);
    TMX_TAKE(&b->arena, b->small, MAX_VECTOR);
    TMX_TAKE(&b->arena, b->unit, s->n_unit);
    if (s->arena.failed || b->arena.failed) {
        tmx_error(b->err, TMX_ENOMEM, "start field on %zu nodes", n);
        return;
    }
    heat_times(b, b->options->theta_k, b->heat_theta);
    const double last = fmax(LAST_POLE / b->options->min_step_s, FIRST_POLE * POLE_RATIO);
    const double decades = log(last / FIRST_POLE) / log(POLE_RATIO);
    b->n_pole = 1 + (size_t)fmin(ceil(decades - 1e-9), MAX_POLE - 1);
    b->solver = tmx_solver_create(b->net, TMX_SOLVER_BY_SIZE, NULL, b->err);
    for (size_t p = 0; p < b->n_pole; p++) {
        b->pole[p] = FIRST_POLE * pow(last / FIRST_POLE, (double)p / (double)(b->n_pole - 1));
        b->system[p] = tmx_system_create(
            b->solver, &(struct tmx_matrix){.gamma = s->gamma, .sigma = b->pole[p]}, b->err);
    }
    s->n_shift = b->n_pole;
}

/* Drop the spare room of g and a, and project what is left. */
static void finish_builder(struct builder *b)
{
    struct tmx_basis *s = b->basis;
    const size_t n = s->n_node, k = s->n_mode, m = s->n_unit;
    for (size_t c = 0; c < k; c++) {
        memmove(s->g + c * k, s->g + c * MAX_VECTOR, k * sizeof *s->g);
        if (b->several) {
            memmove(s->a + c * k, s->a + c * MAX_VECTOR, k * sizeof *s->a);
        }
    }
    tmx_basis_take(s, true);
    if (s->arena.failed) {
        tmx_error(b->err, TMX_ENOMEM, "start field of %zu vectors", k);
        return;
    }
    const bool linear = b->net->mode != TMX_MAP_MIN && b->net->mode != TMX_MAP_MAX;
    for (size_t c = 0; c < k && linear; c++) { /* MIN and MAX are read from the cells */
        tmx_network_read(b->net, s->v + c * n, b->unit);
        for (size_t u = 0; u < m; u++) {
            s->out[u * k + c] = b->unit[u];
        }
    }
    tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->heat_j_k, n, 0, s->one, k);
    tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->area_m2, n, 0, s->area, k);
    if (b->net->ground_w_k) {
        tmx_dense_tn(k, 1, n, 1, s->v, n, b->net->ground_w_k, n, 0, s->ground, k);
    }
}

double tmx_initial_basis(struct tmx_basis *basis, const struct tmx_network *net,
                         const struct tmx_initial_basis_options *options, const double **theta,
                         struct tmx_err *err)
{
    struct builder b = {.net = net, .options = options, .basis = basis, .err = err};
    double error_k = 0;
    *basis = (struct tmx_basis){0};
    if (!err->code) {
        start_builder(&b);
    }
    if (!err->code) {
        error_k = collect(&b);
    }
    if (!err->code) {
        finish_builder(&b);
    }
    for (size_t p = 0; p < b.n_pole; p++) {
        tmx_system_destroy(b.system[p]);
    }
    tmx_solver_destroy(b.solver);
    tmx_arena_finish(&b.arena);
    *theta = b.inner;
    return error_k;
}
