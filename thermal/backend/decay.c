/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exponential in a Krylov space of M = (G + sigma C)^-1 sigma C, sigma = POLE/h, which is
 * symmetric in the C inner product: M V = V T + ..., so exp(-h C^-1 G) V e1 = V f(T) e1 with
 * f(tau) = exp(-POLE (1/tau - 1)).
 * Source: J. van den Eshof, M. Hochbruck, "Preconditioning Lanczos approximations to the matrix
 * exponential", SIAM J. Sci. Comput. 27 (2006) 1438. */
#include "thermal/backend/decay.h"

#include <math.h>
#include <stdlib.h>

#include "thermal/network/dense.h"

enum { MAX_KRYLOV = 60 };
static const double POLE = 10.0;      /* near the optimum of the source, figure 3: h sigma of 5 to 20 */
static const double ENOUGH_K = 1e-10; /* size of the last Krylov term at which the series ends */

struct tmx_decay {
    const struct tmx_network *net;
    double *basis; /* [MAX_KRYLOV + 1][n_node] */
    double *rhs;   /* [n_node] */
    /* T = tridiag(b, a, b) and f(T) e1 */
    double a[MAX_KRYLOV], b[MAX_KRYLOV + 1];
    double vector[MAX_KRYLOV * MAX_KRYLOV], value[MAX_KRYLOV], off[MAX_KRYLOV], work[2 * MAX_KRYLOV];
    double end[MAX_KRYLOV], mean[MAX_KRYLOV]; /* weights of the basis in the end and in the time mean */
};

enum tmx_status tmx_decay_create(const struct tmx_network *net, struct tmx_decay **d, struct tmx_err *err)
{
    struct tmx_decay *v = calloc(1, sizeof *v);
    if (v) {
        v->net = net;
        v->basis = calloc((MAX_KRYLOV + 1) * net->n_node, sizeof *v->basis);
        v->rhs = calloc(net->n_node, sizeof *v->rhs);
    }
    if (!v || !v->basis || !v->rhs) {
        tmx_decay_destroy(v);
        return tmx_fail(err, TMX_ENOMEM, "Krylov space of %zu nodes", net->n_node);
    }
    *d = v;
    return TMX_OK;
}

void tmx_decay_destroy(struct tmx_decay *d)
{
    if (d) {
        free(d->basis);
        free(d->rhs);
        free(d);
    }
}

double tmx_decay_sigma(double dt_s)
{
    return POLE / dt_s;
}

double *tmx_decay_start(struct tmx_decay *d)
{
    return d->basis;
}

/* end = f(T) e1 and mean = (integral of f over the step / h) e1 for the leading n x n part. */
static enum tmx_status evaluate(struct tmx_decay *d, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        d->value[r] = d->a[r];
        d->off[r] = d->b[r + 1];
        d->end[r] = d->mean[r] = 0;
    }
    const enum tmx_status st = tmx_dense_tridiagonal(n, d->value, d->off, d->vector, d->work);
    for (size_t i = 0; i < n && !st; i++) {
        const double *v = d->vector + i * n;
        const double decay = POLE * (1.0 / fmax(d->value[i], 1e-300) - 1.0);
        const double end = exp(-decay), mean = fabs(decay) > 1e-12 ? -expm1(-decay) / decay : 1.0;
        for (size_t r = 0; r < n; r++) {
            d->end[r] += v[r] * end * v[0];
            d->mean[r] += v[r] * mean * v[0];
        }
    }
    return st;
}

static double norm(struct tmx_decay *d, const double *v)
{
    const double *heat = d->net->heat_j_k;
    for (size_t c = 0; c < d->net->n_node; c++) {
        d->rhs[c] = heat[c] * v[c];
    }
    return sqrt(tmx_dense_dot(d->net->n_node, d->rhs, v));
}

static double largest(const double *v, size_t n)
{
    double big = 0;
    for (size_t c = 0; c < n; c++) {
        big = fmax(big, fabs(v[c]));
    }
    return big;
}

/* Vector j + 1 = M v_j orthogonalised against the basis; T grows by one. */
static enum tmx_status extend(struct tmx_decay *d, size_t j, double sigma, struct tmx_solver *work,
                              const struct tmx_factor *f)
{
    const double *heat = d->net->heat_j_k;
    const size_t n = d->net->n_node;
    double *v = d->basis + j * n, *w = v + n;
    for (size_t c = 0; c < n; c++) {
        d->rhs[c] = sigma * heat[c] * v[c];
    }
    const enum tmx_status st = tmx_solve(work, f, 1, d->rhs, w);
    if (st) {
        return st;
    }
    for (size_t i = j + 1; i-- > 0;) { /* against all: the space is small, and short recurrences drift */
        for (size_t c = 0; c < n; c++) {
            d->rhs[c] = heat[c] * w[c];
        }
        const double h = tmx_dense_dot(n, d->basis + i * n, d->rhs);
        tmx_dense_axpy(n, -h, d->basis + i * n, w);
        d->a[j] = i == j ? h : d->a[j];
    }
    d->b[j + 1] = norm(d, w);
    for (size_t c = 0; c < n && d->b[j + 1] > 0; c++) {
        w[c] /= d->b[j + 1];
    }
    return TMX_OK;
}

enum tmx_status tmx_decay(struct tmx_decay *d, struct tmx_solver *work, const struct tmx_factor *factor,
                          double gamma, double dt_s, double *field_k, double *mean_w)
{
    const size_t n = d->net->n_node;
    const double sigma = tmx_decay_sigma(dt_s), size = norm(d, d->basis);
    for (size_t c = 0; c < n; c++) {
        d->basis[c] = size > 0 ? d->basis[c] / size : 0;
    }
    *mean_w = 0;
    size_t m = 0;
    int small = 0;
    while (size > 0 && m < MAX_KRYLOV && small < 2) { /* one small term may be chance */
        enum tmx_status st = extend(d, m, sigma, work, factor);
        m++;
        st = st ? st : evaluate(d, m);
        if (st) {
            return st;
        }
        const double term = size * fabs(d->end[m - 1]) * largest(d->basis + (m - 1) * n, n);
        small = term < ENOUGH_K ? small + 1 : 0;
        if (!(d->b[m] > 0)) {
            break; /* the space is invariant: the result is exact */
        }
    }
    for (size_t j = 0; j < m; j++) {
        tmx_dense_axpy(n, size * d->end[j], d->basis + j * n, field_k);
        *mean_w += size * d->mean[j] * tmx_network_leaving(d->net, gamma, d->basis + j * n);
    }
    return small < 2 && m == MAX_KRYLOV ? TMX_ESOLVE : TMX_OK;
}
