/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/growing_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEPENDENT = 1e-12; /* square of the part of a vector that must be new */

enum tmx_status tmx_growing_basis_init(struct tmx_growing_basis *b, struct tmx_basis *basis,
                                       const struct tmx_network *net, size_t n_in, bool several, bool own_out,
                                       struct tmx_err *err)
{
    const size_t n = net->n_node, m = net->n_unit;
    *b = (struct tmx_growing_basis){.net = net, .basis = basis, .several = several, .n_in = n_in};
    b->b = calloc(n_in * n, sizeof *b->b);
    b->e = own_out ? calloc(m * n, sizeof *b->e) : NULL;
    b->x = calloc(n_in * n, sizeof *b->x);
    b->w = calloc(n_in * n, sizeof *b->w);
    b->eigen = calloc(n_in * n_in, sizeof *b->eigen);
    b->eigenval = calloc(n_in, sizeof *b->eigenval);
    if (!b->b || (own_out && !b->e) || !b->x || !b->w || !b->eigen || !b->eigenval) {
        return tmx_fail(err, TMX_ENOMEM, "basis for %zu units on %zu nodes", m, n);
    }
    enum tmx_status st = tmx_thread_pool_create(&b->pool, 2, err);
    if (st == TMX_EIO) { /* the system gives no second thread */
        st = tmx_thread_pool_create(&b->pool, 1, err);
    }
    b->tall = (struct tmx_tall){n, b->pool};
    return st;
}

void tmx_growing_basis_finish(struct tmx_growing_basis *b)
{
    tmx_thread_pool_destroy(b->pool);
    free(b->b);
    free(b->e);
    free(b->x);
    free(b->w);
    free(b->in);
    free(b->out);
    free(b->small);
    free(b->part);
    free(b->eigen);
    free(b->eigenval);
    free(b->square);
}

/* Column col of x := itself over its size in C. */
static void normalise(void *basis_so_far, size_t col)
{
    const struct tmx_growing_basis *b = basis_so_far;
    const size_t n = b->net->n_node;
    double *x = b->x + col * n, *w = b->w + col * n;
    for (size_t r = 0; r < n; r++) {
        w[r] = b->net->heat_j_k[r] * x[r];
    }
    const double size = sqrt(tmx_dense_dot(n, x, w));
    for (size_t r = 0; r < n; r++) {
        x[r] = size > 0 ? x[r] / size : 0;
    }
}

static void exchange(struct tmx_growing_basis *b)
{
    double *const x = b->x;
    b->x = b->w;
    b->w = x;
}

/* Make the n_col columns of x orthonormal to V and among themselves (in C), dropping what
 * is dependent. *kept says how many remain, as the first columns of x. */
static enum tmx_status orthonormalise(struct tmx_growing_basis *b, size_t n_col, size_t *kept,
                                      struct tmx_err *err)
{
    const size_t k = b->basis->n_mode;
    const double *heat = b->net->heat_j_k;
    tmx_thread_pool_run(b->pool, n_col, normalise, b);
    for (int pass = 0; pass < 2 && n_col > 0; pass++) {
        if (k > 0) {
            tmx_tall_tn(&b->tall, k, n_col, b->basis->v, heat, b->x, b->w, b->part, b->small, k);
            tmx_tall_nn(&b->tall, n_col, k, -1, b->basis->v, b->small, 1, b->x);
        }
        tmx_tall_tn(&b->tall, n_col, n_col, b->x, heat, b->x, b->w, b->part, b->eigen, n_col);
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
            tmx_tall_nn(&b->tall, n_col - drop, n_col, 1, b->x, b->eigen + drop * n_col, 0, b->w);
        }
        n_col -= drop;
        exchange(b);
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

static enum tmx_status make_room(struct tmx_growing_basis *b, size_t n_col, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    if (s->n_mode + n_col <= b->room) {
        return TMX_OK;
    }
    const size_t room = s->n_mode + n_col + 4 * b->net->n_unit, old = b->room;
    if (!enlarge(&s->v, room * b->net->n_node) || !enlarge(&s->g, room * room) ||
        (b->several && !enlarge(&s->a, room * room)) || !enlarge(&b->small, room * (b->n_in + 2)) ||
        !enlarge(&b->part, TMX_TALL_PIECES * room * b->n_in) || !enlarge(&b->in, room * b->n_in) ||
        (b->e && !enlarge(&b->out, room * b->net->n_unit)) || !enlarge(&b->square, room * room)) {
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

/* Columns [k, k + n_col) of the projection m of a symmetric matrix, given its product with the new vectors as
 * diag(d) w, and the rows that mirror them. */
static void project(struct tmx_growing_basis *b, double *m, size_t k, size_t n_col, const double *d,
                    double *w)
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
static void adopt(void *basis_so_far, size_t col)
{
    const struct tmx_growing_basis *b = basis_so_far;
    const size_t n = b->net->n_node;
    const double *x = b->x + col * n;
    memcpy(b->basis->v + (b->basis->n_mode + col) * n, x, n * sizeof *x);
    tmx_network_apply(b->net, b->basis->gamma, 0, x, b->w + col * n);
}

enum tmx_status tmx_growing_basis_append(struct tmx_growing_basis *b, size_t n_col, struct tmx_err *err)
{
    struct tmx_basis *s = b->basis;
    const size_t k = s->n_mode, m = b->net->n_unit;
    enum tmx_status st = make_room(b, n_col, err);
    st = st ? st : orthonormalise(b, n_col, &n_col, err);
    if (st || n_col == 0) {
        return st;
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
    return TMX_OK;
}

struct remainder {
    const struct tmx_growing_basis *b;
    double s;
    const double *columns;
    double *r;
};

/* Column col of r := columns - (G + s C) x. */
static void subtract(void *remainder, size_t col)
{
    const struct remainder *m = remainder;
    const struct tmx_growing_basis *b = m->b;
    const size_t n = b->net->n_node;
    const double *from = m->columns + col * n;
    double *r = m->r + col * n;
    tmx_network_apply(b->net, b->basis->gamma, m->s, b->x + col * n, r);
    for (size_t c = 0; c < n; c++) {
        r[c] = from[c] - r[c];
    }
}

enum tmx_status tmx_growing_basis_residual(struct tmx_growing_basis *b, double s, size_t m,
                                           const double *columns, const double *seen, double *r,
                                           struct tmx_err *err)
{
    const size_t k = b->basis->n_mode;
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
    struct remainder rest = {b, s, columns, r};
    tmx_tall_nn(&b->tall, m, k, 1, b->basis->v, b->small, 0, b->x);
    tmx_thread_pool_run(b->pool, m, subtract, &rest);
    return TMX_OK;
}

enum tmx_status tmx_growing_basis_close(struct tmx_growing_basis *b, struct tmx_err *err)
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
    tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->heat_j_k, NULL, b->part, s->one, k);
    tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->area_m2, NULL, b->part, s->area, k);
    if (b->net->ground_w_k) {
        tmx_tall_tn(&b->tall, k, 1, s->v, NULL, b->net->ground_w_k, NULL, b->part, s->ground, k);
    }
    return TMX_OK;
}
