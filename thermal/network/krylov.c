/* Block rational Krylov projection of C theta' + G theta = B p.
 *
 * G and C are symmetric positive definite, so V' G V, V' C V = 1 is a stable, passive model
 * whatever V is, and its error at a real shift s has the closed form
 *   E(s) = B' (G + s C)^-1 B - Br' (Gr + s)^-1 Br = R' (G + s C)^-1 R,
 *   R = B - (G + s C) V (Gr + s)^-1 Br,
 * which shrinks with every vector added, and is bounded by R' (G + sigma C)^-1 R for sigma <= s:
 * a factor that is at hand. s * integral exp(-s t) (error of the step response) dt = E(s), so
 * E(s) p is the error seen around t = 1/s.
 * Source: E. Grimme, "Krylov projection methods for model reduction", PhD thesis, Univ. of
 * Illinois 1997, ch. 3; the bound follows from (G + s C)^-1 <= (G + sigma C)^-1. */
#include "thermal/network/krylov.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"
#include "thermal/network/solve.h"

static const double FIRST_SHIFT = 0.1;  /* [1/s] after 0: heat sinks have time constants of 10 s and more */
static const double SHIFT_RATIO = 10.0; /* from one shift to the next; halved in the logarithm where needed */
static const double LAST_SHIFT = 1e9;   /* [1/s] no network of cells above a micrometre is faster */
static const double DEPENDENT = 1e-12;  /* square of the part of a vector that must be new */
static const double SHARE = 0.25;       /* of the tolerance, for the basis at each tested shift */

struct builder {
    const struct tmx_network *net;
    const struct tmx_basis_wish *wish;
    struct tmx_basis *basis;
    struct tmx_solver *solver;
    bool several;             /* film coefficients will be used: a is needed */
    size_t room;              /* columns v, g, a have space for */
    size_t n_in;              /* columns of b: the units, and C theta0 where the start is followed */
    double *b;                /* [n_in][n_node] B and C theta0 */
    double *e;                /* [n_unit][n_node] E, NULL when E = B */
    double *x, *w;            /* [n_in][n_node] work */
    double *r;                /* [n_unit][n_node] work, NULL when E = B */
    double *in, *out;         /* [room][n_in], [room][n_unit] b' V and E' V; out NULL when E = B */
    double *small;            /* [room * n_in] work */
    double *eigen, *eigenval; /* [n_in * n_in], [n_in] work */
    double *square;           /* [room * room] work */
    double *miss;             /* [n_in][n_unit] work */
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
    const size_t room = s->n_mode + n_col + 4 * b->n_in, old = b->room;
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

/* Bound the error at shift s with the factor of a lower shift; *worst_k is that for steps
 * of all the wished powers together, in the worst signs. Leaves the bound in miss. */
static enum tmx_status test_shift(struct builder *b, double s, const struct tmx_factor *lower,
                                  double *worst_k, struct tmx_err *err)
{
    const size_t n = b->net->n_node, m = b->net->n_unit;
    enum tmx_status st = b->e ? residual(b, s, m, b->e, b->out, b->r, err) : TMX_OK;
    st = st ? st : residual(b, s, b->n_in, b->b, b->in, b->w, err);
    if (st) {
        return st;
    }
    st = tmx_solve(b->solver, lower, b->n_in, b->w, b->x);
    if (st) {
        return tmx_fail(err, st, "basis test");
    }
    tmx_dense_tn(m, b->n_in, n, 1, b->e ? b->r : b->w, n, b->x, n, 0, b->miss, m);
    for (size_t u = 0; u < m * (b->n_in - m); u++) {
        b->miss[m * m + u] *= s; /* its response is an impulse's, one derivative above a step's */
    }
    *worst_k = 0;
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < m; v++) {
            sum += fabs(b->miss[v * m + u]) * b->wish->power_w[v];
        }
        sum += b->n_in > m ? fabs(b->miss[m * m + u]) : 0;
        *worst_k = fmax(*worst_k, sum);
    }
    return TMX_OK;
}

static void note_error(struct builder *b)
{
    const size_t m = b->net->n_unit;
    for (size_t i = 0; i < m * m; i++) {
        b->basis->error[i] = fmax(b->basis->error[i], fabs(b->miss[i]));
    }
    for (size_t i = m * m; i < m * b->n_in; i++) {
        b->basis->start_error_k = fmax(b->basis->start_error_k, fabs(b->miss[i]));
    }
}

/* Add one shift beyond `below` (whose factor is *f); test between the two and add the middle
 * where the test asks for it. *f becomes the factor of the new shift. */
static enum tmx_status climb(struct builder *b, double below, double shift, struct tmx_factor **f,
                             double *beyond_k, struct tmx_err *err)
{
    const double limit = SHARE * b->wish->tolerance_k;
    struct tmx_factor *next = NULL, *middle = NULL;
    double worst_k = 0;
    enum tmx_status st = tmx_factor_create(b->solver, b->basis->gamma, shift, &next, err);
    st = st ? st : append_shift(b, next, err);
    if (!st && below > 0) {
        st = test_shift(b, sqrt(below * shift), *f, &worst_k, err);
    }
    if (!st && worst_k > limit) {
        st = tmx_factor_create(b->solver, b->basis->gamma, sqrt(below * shift), &middle, err);
        st = st ? st : append_shift(b, middle, err);
        st = st ? st : test_shift(b, pow(below, 0.25) * pow(shift, 0.75), middle, &worst_k, err);
        b->basis->n_shift++;
        tmx_factor_destroy(b->solver, middle);
    }
    if (!st) {
        note_error(b);
    }
    if (!st && shift >= 1.0 / b->wish->min_step_s) { /* far enough: is it enough? */
        st = test_shift(b, shift * sqrt(SHIFT_RATIO), next, beyond_k, err);
    }
    tmx_factor_destroy(b->solver, *f);
    *f = next;
    b->basis->n_shift++;
    return st;
}

static enum tmx_status collect(struct builder *b, struct tmx_err *err)
{
    struct tmx_factor *f = NULL;
    double beyond_k = INFINITY;
    enum tmx_status st = tmx_factor_create(b->solver, b->basis->gamma, 0, &f, err);
    st = st ? st : append_shift(b, f, err);
    b->basis->n_shift = 1;
    double below = 0;
    for (int i = 0; !st && below < LAST_SHIFT; i++) {
        const double s = FIRST_SHIFT * pow(SHIFT_RATIO, i);
        st = climb(b, below, s, &f, &beyond_k, err);
        below = s;
        if (beyond_k <= SHARE * b->wish->tolerance_k) {
            break;
        }
    }
    if (!st) {
        note_error(b);
    }
    tmx_factor_destroy(b->solver, f);
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
        b->basis->n_shift++;
    }
    return st;
}

/* Fields that must be represented without error: the uniform one, and the start. */
static enum tmx_status collect_fields(struct builder *b, struct tmx_err *err)
{
    const size_t n = b->net->n_node;
    for (size_t c = 0; c < n; c++) {
        b->x[c] = 1;
    }
    enum tmx_status st = append(b, 1, err);
    memcpy(b->x, b->wish->start_k, n * sizeof *b->x);
    return st ? st : append(b, 1, err);
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
}

static enum tmx_status start_builder(struct builder *b, struct tmx_err *err)
{
    const size_t n = b->net->n_node, m = b->net->n_unit;
    b->n_in = m + b->wish->follow_start;
    const size_t block = b->n_in * n;
    struct tmx_basis *s = b->basis;
    const bool own_out = b->net->mode == TMX_MAP_AVG || b->net->mode == TMX_MAP_CENTER;
    s->n_node = n;
    s->n_unit = m;
    b->several = b->wish->gamma_low != b->wish->gamma_high;
    s->gamma = b->several ? sqrt(b->wish->gamma_low * b->wish->gamma_high) : b->wish->gamma_low;
    b->b = calloc(block, sizeof *b->b);
    b->e = own_out ? calloc(block, sizeof *b->e) : NULL;
    b->r = own_out ? calloc(block, sizeof *b->r) : NULL;
    b->x = calloc(block, sizeof *b->x);
    b->w = calloc(block, sizeof *b->w);
    b->eigen = calloc(b->n_in * b->n_in, sizeof *b->eigen);
    b->eigenval = calloc(b->n_in, sizeof *b->eigenval);
    b->miss = calloc(b->n_in * m, sizeof *b->miss);
    s->error = calloc(m * m, sizeof *s->error);
    if (!b->b || (own_out && (!b->e || !b->r)) || !b->x || !b->w || !b->eigen || !b->eigenval || !b->miss ||
        !s->error) {
        return tmx_fail(err, TMX_ENOMEM, "basis for %zu units on %zu nodes", m, n);
    }
    fill_maps(b);
    if (b->wish->follow_start) {
        scale_rows(b, b->net->heat_j_k, 1, b->wish->start_k, b->b + m * n);
    }
    return tmx_solver_create(b->net, TMX_FACTOR_BLOCKS, &b->solver, err);
}

/* Drop the spare room of g and a, and project what is left. */
static enum tmx_status finish_builder(struct builder *b, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    const size_t n = s->n_node, k = s->n_mode, m = s->n_unit;
    tmx_assert(k > 0 && m > 0);
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
    s->start = calloc(k, sizeof *s->start);
    if (!s->in || (b->e && !s->out) || !s->one || !s->area || !s->start) {
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
    scale_rows(b, b->net->heat_j_k, 1, b->wish->start_k, b->w);
    tmx_dense_tn(k, 1, n, 1, s->v, n, b->w, n, 0, s->start, k);
    return TMX_OK;
}

enum tmx_status tmx_basis_init(struct tmx_basis *basis, const struct tmx_network *net,
                               const struct tmx_basis_wish *wish, struct tmx_err *err)
{
    struct builder b = {.net = net, .wish = wish, .basis = basis};
    *basis = (struct tmx_basis){0};
    tmx_dense_start();
    enum tmx_status st = start_builder(&b, err);
    st = st ? st : collect_fields(&b, err);
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
    free(b.small);
    free(b.eigen);
    free(b.eigenval);
    free(b.square);
    free(b.miss);
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
    free(basis->start);
    free(basis->error);
    *basis = (struct tmx_basis){0};
}
