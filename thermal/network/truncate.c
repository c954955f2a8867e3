/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truncation of the step response: to the first of the directions U (directions.c, whose letters these are),
 * in which U' Lambda U is diagonalised. The end of every step is kept exact by a direct term.
 *
 * Several film coefficients gamma + d: G_d = G + d A. The directions S = Lambda^-1/2 U of x are shared, so
 * that a state means the same field at each. At each the network is projected onto S in its own
 * energy, S' G_d S y' = -S' G_d^2 S y    (one coefficient: y' = -U' Lambda U y), whose rates are no less than
 * those of x' = -G_d x projected on S: what S has of fast fields dies as fast as it should. With F =
 * Lambda^-1/2 A Lambda^-1/2 both matrices are polynomials in d: S' G_d S = 1 + d U' F U, S' G_d^2 S = U'
 * (Lambda + d (F Lambda + Lambda F) + d^2 F Lambda F) U. The direct term is that of the middle coefficient,
 * or temperatures would jump with the fan; what steady states miss for it is counted as an error.
 */
#include "thermal/network/truncate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/basis_select.h"
#include "thermal/network/dense.h"

struct cut { /* k, m, n_in: of the directions */
    struct tmx_basis_select dir;
    double *t;       /* [k][k] U X: the truncated modes, by columns */
    double *mu;      /* [k] their rates */
    double *small;   /* [k][k] work: X */
    double *bz, *oz; /* [n_in][k] T' bt, [m][k] T' ot */
    double *miss;    /* [n_in][m] largest difference over time */
    double *now;     /* [n_in][m] work */
    /* several film coefficients, else NULL: */
    double *m1;           /* [k][k] U' F U */
    double *k0, *k1, *k2; /* [k][k] coefficients of U' (...) U in d */
    double *mass;         /* [k][k] work */
};

static bool several(const struct cut *c)
{
    return tmx_basis_select_several(&c->dir);
}

static enum tmx_status init_cut(struct cut *c, const struct tmx_basis *basis,
                                const struct tmx_truncation *options, struct tmx_err *err)
{
    const enum tmx_status st = tmx_basis_select_init(&c->dir, basis, options, err);
    if (st) {
        return st;
    }
    const size_t k = c->dir.k, m = c->dir.m, n_in = c->dir.n_in;
    double **const square[] = {&c->t, &c->m1, &c->k0, &c->k1, &c->k2, &c->mass};
    for (size_t i = 0; i < (several(c) ? sizeof square / sizeof square[0] : 1); i++) {
        *square[i] = calloc(k * k, sizeof **square[i]);
        if (!*square[i]) {
            return tmx_no_memory(err);
        }
    }
    c->mu = calloc(k, sizeof *c->mu);
    c->small = calloc(k * (k > n_in ? k : n_in), sizeof *c->small);
    c->bz = calloc(k * n_in, sizeof *c->bz);
    c->oz = calloc(k * m, sizeof *c->oz);
    c->miss = calloc(n_in * m, sizeof *c->miss);
    c->now = calloc(n_in * m, sizeof *c->now);
    return c->mu && c->small && c->bz && c->oz && c->miss && c->now ? TMX_OK : tmx_no_memory(err);
}

static void free_cut(struct cut *c)
{
    double *const own[] = {c->t,   c->mu, c->small, c->bz, c->oz, c->miss,
                           c->now, c->m1, c->k0,    c->k1, c->k2, c->mass};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        free(own[i]);
    }
    tmx_basis_select_finish(&c->dir);
}

/* m1, k0, k1, k2 of all directions: those of the first n are their first n rows and columns. */
static void tabulate(struct cut *c)
{
    const size_t k = c->dir.k;
    const double *rate = c->dir.level_basis[0].modes.rate;
    for (size_t i = 0; i < k * k; i++) {
        c->t[i] = rate[i % k] * c->dir.u[i];
    }
    tmx_dense_tn(k, k, k, 1, c->dir.u, k, c->t, k, 0, c->k0, k);
    tmx_dense_nn(k, k, k, 1, c->dir.f, k, c->dir.u, k, 0, c->small, k);
    tmx_dense_tn(k, k, k, 1, c->dir.u, k, c->small, k, 0, c->m1, k);
    tmx_dense_tn(k, k, k, 1, c->t, k, c->small, k, 0, c->k1, k);
    tmx_dense_tn(k, k, k, 1, c->small, k, c->t, k, 1, c->k1, k);
    for (size_t i = 0; i < k * k; i++) {
        c->t[i] = rate[i % k] * c->small[i];
    }
    tmx_dense_tn(k, k, k, 1, c->small, k, c->t, k, 0, c->k2, k);
}

/* mass [n][n] = S' G_d S. */
static void fill_mass(struct cut *c, size_t n, double d)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            c->mass[j * n + i] = d * c->m1[j * c->dir.k + i] + (i == j);
        }
    }
}

/* Diagonalise in the first n directions at the basis' film coefficient and d more: small, t, mu, bz, oz. */
static enum tmx_status diagonalise(struct cut *c, size_t n, double d, struct tmx_err *err)
{
    const size_t k = c->dir.k, m = c->dir.m;
    const struct tmx_level_basis *f = &c->dir.level_basis[0];
    enum tmx_status st;
    if (several(c)) {
        fill_mass(c, n, d);
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++) {
                const size_t at = j * k + i;
                c->small[j * n + i] = c->k0[at] + d * (c->k1[at] + d * c->k2[at]);
            }
        }
        st = tmx_dense_eigen_pair(n, c->small, c->mass, c->mu, err);
    } else {
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < k; i++) {
                c->t[j * k + i] = f->modes.rate[i] * c->dir.u[j * k + i];
            }
        }
        tmx_dense_tn(n, n, k, 1, c->dir.u, k, c->t, k, 0, c->small, n);
        st = tmx_dense_eigen(n, c->small, c->mu, err);
    }
    if (st) {
        return st;
    }
    tmx_dense_nn(k, n, n, 1, c->dir.u, k, c->small, n, 0, c->t, k);
    tmx_dense_tn(n, c->dir.n_in, k, 1, c->t, k, f->bt, k, 0, c->bz, k);
    tmx_dense_tn(n, m, k, 1, c->t, k, f->ot, k, 0, c->oz, k);
    for (size_t j = 0; j < n && d != 0 && c->dir.n_in > m; j++) {
        c->bz[m * k + j] += d * tmx_dense_dot(k, c->t + j * k, c->dir.air);
    }
    return TMX_OK;
}

/* Raise miss to the largest difference of a face's step responses over times from min_step_s on. */
static void compare(struct cut *c, const struct tmx_level_basis *f, size_t n)
{
    const size_t k = c->dir.k, m = c->dir.m, n_in = c->dir.n_in;
    double *e = c->small;
    const int n_time = 1 + (int)ceil(log2(5 / (c->dir.options->min_step_s * f->modes.rate[0])));
    for (int time = 0; time < n_time; time++) {
        const double t = ldexp(c->dir.options->min_step_s, time);
        for (size_t i = 0; i < k; i++) {
            const double decay = exp(-f->modes.rate[i] * t);
            for (size_t u = 0; u < n_in; u++) {
                e[u * k + i] = decay * f->bt[u * k + i];
            }
        }
        tmx_dense_tn(m, n_in, k, 1, f->ot, k, e, k, 0, c->now, m);
        for (size_t i = 0; i < n; i++) {
            const double decay = exp(-c->mu[i] * t);
            for (size_t u = 0; u < n_in; u++) {
                e[u * k + i] = decay * c->bz[u * k + i];
            }
        }
        tmx_dense_tn(m, n_in, n, -1, c->oz, k, e, k, 1, c->now, m);
        for (size_t i = 0; i < n_in * m; i++) {
            c->miss[i] = fmax(c->miss[i], fabs(c->now[i]));
        }
    }
}

/* Fill miss. *worst_k is what it makes of steps of all the wished powers, the contributions added as
 * independent ones (root of the sum of squares): their signs alternate, and the worst case is never met. */
static enum tmx_status measure(struct cut *c, size_t n, double *worst_k, struct tmx_err *err)
{
    const size_t m = c->dir.m, n_in = c->dir.n_in;
    memset(c->miss, 0, n_in * m * sizeof *c->miss);
    for (size_t f = 0; f < c->dir.n_level_basis; f++) {
        const struct tmx_level_basis *level_basis = &c->dir.level_basis[f];
        const enum tmx_status st = diagonalise(c, n, level_basis->modes.gamma - c->dir.basis->gamma, err);
        if (st) {
            return st;
        }
        compare(c, level_basis, n);
    }
    *worst_k = 0;
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < n_in; v++) {
            const double part = c->miss[v * m + u] * c->dir.weight[v];
            sum += part * part;
        }
        *worst_k = fmax(*worst_k, sqrt(sum));
    }
    return TMX_OK;
}

/* The least number of directions that meets the tolerance, to within 2 %. */
static enum tmx_status choose(struct cut *c, size_t n_kept, size_t *n_mode, struct tmx_err *err)
{
    const size_t k = c->dir.k;
    size_t low = n_kept, high = k; /* low fails, high meets it */
    while (high - low > 1 + k / 64) {
        const size_t n = low + (high - low) / 2;
        double worst_k;
        const enum tmx_status st = measure(c, n, &worst_k, err);
        if (st) {
            return st;
        }
        if (worst_k <= c->dir.options->tolerance_k) {
            high = n;
        } else {
            low = n;
        }
    }
    *n_mode = high;
    return TMX_OK;
}

/* map, rest and the direct term (to now), from the diagonal form at the basis' own film coefficient. */
static enum tmx_status map_out(struct cut *c, size_t n, struct tmx_truncated *cut, struct tmx_err *err)
{
    const struct tmx_modes *q = &c->dir.level_basis[0].modes;
    const size_t k = c->dir.k, m = c->dir.m;
    const double *along = several(c) ? c->dir.u : c->t;
    double *work = calloc(k * (n > m ? n : m), sizeof *work);
    cut->map = calloc(n * k, sizeof *cut->map);
    cut->rest = calloc(m * k, sizeof *cut->rest);
    if (!work || !cut->map || !cut->rest) {
        free(work);
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < n * k; i++) {
        work[i] = along[i] / c->dir.root[i % k];
    }
    tmx_dense_nn(k, n, k, 1, q->vector, k, work, k, 0, cut->map, k);
    if (several(c)) { /* what S cannot tell of the steady states */
        memcpy(work, c->dir.level_basis[0].bt, k * m * sizeof *work);
        tmx_dense_nn(k, m, n, -1, c->t, k, c->bz, k, 1, work, k);
    }
    for (size_t i = 0; i < k * m; i++) {
        work[i] = several(c) ? work[i] / c->dir.root[i % k] : q->in[i] / q->rate[i % k];
    }
    tmx_dense_nn(k, m, k, 1, q->vector, k, work, k, 0, cut->rest, k);
    tmx_dense_tn(m, m, k, 1, c->dir.level_basis[0].ot, k, c->dir.level_basis[0].bt, k, 0, c->now, m);
    tmx_dense_tn(m, m, n, -1, c->oz, k, c->bz, k, 1, c->now, m);
    free(work);
    return TMX_OK;
}

/* The diagonal form at d, ready to step. */
static enum tmx_status layout(struct cut *c, size_t n, double d, struct tmx_modal *modal, struct tmx_err *err)
{
    const struct tmx_modes *q = &c->dir.level_basis[0].modes;
    const size_t k = c->dir.k, m = c->dir.m;
    const enum tmx_status st = tmx_modal_init(modal, n, m, true, err);
    double *area = calloc(k, sizeof *area);
    if (st || !area) {
        free(area);
        return st ? st : tmx_no_memory(err);
    }
    tmx_dense_tn(k, 1, k, d, q->vector, k, c->dir.basis->area, k, 0, area, k);
    for (size_t j = 0; j < n; j++) {
        const double *t = c->t + j * k;
        modal->rate[j] = c->mu[j];
        for (size_t i = 0; i < k; i++) {
            const double down = t[i] / c->dir.root[i], up = t[i] * c->dir.root[i];
            modal->stored[j] += down * q->one[i];
            modal->leave[j] += down * (q->leave[i] + area[i]);
            modal->one[j] += up * q->one[i];
        }
        if (d != 0) {
            modal->one[j] += d * tmx_dense_dot(k, t, c->dir.air);
        }
        for (size_t u = 0; u < m; u++) {
            modal->in[u * modal->mode_row + j] = c->mu[j] * c->bz[u * k + j];
            modal->out[j * modal->unit_row + u] = c->oz[u * k + j];
        }
    }
    for (size_t v = 0; v < m; v++) {
        memcpy(modal->direct + v * modal->unit_row, c->now + v * m, m * sizeof *c->now);
    }
    free(area);
    return TMX_OK;
}

/* vector and back of a level; what its steady states miss goes to worst [m][m]. */
static enum tmx_status couple(struct cut *c, size_t n, size_t level, struct tmx_truncated *cut, double *worst,
                              struct tmx_err *err)
{
    const size_t k = c->dir.k, m = c->dir.m;
    const double d = c->dir.options->gamma[level] - c->dir.basis->gamma;
    double *end = calloc(k * m + m * m, sizeof *end), *miss = end + k * m;
    if (!end) {
        return tmx_no_memory(err);
    }
    memcpy(cut->vector + level * n * n, c->small, n * n * sizeof *cut->vector);
    fill_mass(c, n, d);
    tmx_dense_nn(n, n, n, 1, c->mass, n, c->small, n, 0, cut->back + level * n * n, n);
    memcpy(end, c->dir.level_basis[0].bt, k * m * sizeof *end);
    const enum tmx_status st = tmx_basis_select_at_level(&c->dir, d, m, end, err);
    if (!st) {
        memcpy(miss, c->now, m * m * sizeof *miss);
        tmx_dense_tn(m, m, n, 1, c->oz, k, c->bz, k, 1, miss, m);
        tmx_dense_tn(m, m, k, -1, c->dir.level_basis[0].ot, k, end, k, 1, miss, m);
    }
    for (size_t i = 0; i < m * m && !st; i++) {
        worst[i] = fmax(worst[i], fabs(miss[i]));
    }
    free(end);
    return st;
}

static enum tmx_status levels(struct cut *c, size_t n, struct tmx_truncated *cut, struct tmx_modal *modal,
                              double *error, struct tmx_err *err)
{
    double *worst = calloc(c->dir.m * c->dir.m, sizeof *worst);
    enum tmx_status st = worst ? TMX_OK : tmx_no_memory(err);
    if (!st && several(c)) {
        cut->vector = calloc(c->dir.options->n_level * n * n, sizeof *cut->vector);
        cut->back = calloc(c->dir.options->n_level * n * n, sizeof *cut->back);
        st = cut->vector && cut->back ? TMX_OK : tmx_no_memory(err);
    }
    for (size_t l = 0; l < c->dir.options->n_level && !st; l++) {
        const double d = several(c) ? c->dir.options->gamma[l] - c->dir.basis->gamma : 0;
        st = several(c) ? diagonalise(c, n, d, err) : TMX_OK; /* one level: it is at hand */
        st = st ? st : layout(c, n, d, &modal[l], err);
        st = st || !several(c) ? st : couple(c, n, l, cut, worst, err);
    }
    for (size_t i = 0; i < c->dir.m * c->dir.m && !st; i++) {
        error[i] += worst[i];
    }
    free(worst);
    return st;
}

enum tmx_status tmx_truncate(struct tmx_truncated *cut, const struct tmx_basis *basis,
                             const struct tmx_truncation *options, struct tmx_modal *modal, double *error,
                             struct tmx_err *err)
{
    struct cut c = {0};
    size_t n = options->n_mode;
    double worst_k;
    *cut = (struct tmx_truncated){0};
    enum tmx_status st = init_cut(&c, basis, options, err);
    const size_t n_kept = c.dir.n_kept;
    if (!st && several(&c)) {
        tabulate(&c);
    }
    if (!st && n == 0) {
        st = choose(&c, n_kept, &n, err);
    }
    n = n < n_kept ? n_kept : n > basis->n_mode ? basis->n_mode : n;
    st = st ? st : measure(&c, n, &worst_k, err);
    for (size_t i = 0; i < c.dir.n_in * basis->n_unit && !st; i++) {
        error[i] += c.miss[i];
    }
    st = st ? st : diagonalise(&c, n, 0, err);
    st = st ? st : map_out(&c, n, cut, err);
    st = st ? st : levels(&c, n, cut, modal, error, err);
    cut->n_mode = n;
    free_cut(&c);
    return st;
}

void tmx_truncated_finish(struct tmx_truncated *cut)
{
    free(cut->map);
    free(cut->rest);
    free(cut->vector);
    free(cut->back);
    *cut = (struct tmx_truncated){0};
}
