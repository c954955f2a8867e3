/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truncation of the step response.
 *
 * With xi = Lambda^1/2 (x_steady - x), a step of power p gives xi(0) = bt p, bt = Lambda^-1/2 b,
 * xi' = -Lambda xi, and the distance of the temperatures from their end is ot' xi, ot =
 * Lambda^-1/2 o. The columns U span the largest directions of
 *   P = integral from t0 of exp(-Lambda t) (bt bt' + ot ot') exp(-Lambda t) dt,
 *   P_ij = (bt bt' + ot ot')_ij exp(-t0 (lambda_i + lambda_j)) / (lambda_i + lambda_j),
 * (wish->octaves: with dt/t in place of dt, as a sum over half octaves of t) and U' Lambda U is diagonalised.
 * The end of every step is kept exact by a direct term. Lambda^1/2 c and Lambda^-1/2 c (c: the uniform field)
 * lie in U whatever P says: with them the heat balance, a change of ambient and a uniform start lose nothing.
 */
#include "thermal/network/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"

/* t0 in units of the shortest step: what has died out before is not worth modes. 0.15 gave the smallest
 * errors at 130 to 150 modes on tests/golden/A_gt200 among 0 to 0.5. By octaves: 0.25 to 0.3 asked for the
 * fewest modes of that chip in the physical network, cut to 33 and 58 units, among 0.1 to 0.5. */
static const double EARLY = 0.15, EARLY_OCTAVES = 0.25;

enum tmx_status tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis, double gamma,
                               struct tmx_err *err)
{
    const size_t k = basis->n_mode, m = basis->n_unit;
    *modes = (struct tmx_modes){.n_mode = k, .n_unit = m, .gamma = gamma};
    modes->rate = calloc(k, sizeof *modes->rate);
    modes->vector = calloc(k * k, sizeof *modes->vector);
    modes->in = calloc(k * m, sizeof *modes->in);
    modes->out = basis->out ? calloc(k * m, sizeof *modes->out) : modes->in;
    modes->one = calloc(k, sizeof *modes->one);
    modes->leave = calloc(k, sizeof *modes->leave);
    if (!modes->rate || !modes->vector || !modes->in || !modes->out || !modes->one || !modes->leave) {
        return tmx_fail(err, TMX_ENOMEM, "%zu modes", k);
    }
    for (size_t i = 0; i < k * k; i++) {
        modes->vector[i] = basis->g[i] + (basis->a ? (gamma - basis->gamma) * basis->a[i] : 0);
    }
    const enum tmx_status st = tmx_dense_eigen(k, modes->vector, modes->rate, err);
    if (st) {
        return st;
    }
    if (!(modes->rate[0] > 0)) {
        return tmx_fail(err, TMX_ESOLVE, "a thermal mode does not decay (rate %g 1/s)", modes->rate[0]);
    }
    tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->in, k, 0, modes->in, k);
    if (basis->out) {
        tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->out, k, 0, modes->out, k);
    }
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->one, k, 0, modes->one, k);
    tmx_dense_tn(k, 1, k, gamma, modes->vector, k, basis->area, k, 0, modes->leave, k);
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->ground, k, 1, modes->leave, k);
    return TMX_OK;
}

void tmx_modes_finish(struct tmx_modes *modes)
{
    free(modes->rate);
    free(modes->vector);
    if (modes->out != modes->in) {
        free(modes->out);
    }
    free(modes->in);
    free(modes->one);
    free(modes->leave);
    *modes = (struct tmx_modes){0};
}

enum tmx_status tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal, struct tmx_err *err)
{
    const size_t k = modes->n_mode, m = modes->n_unit;
    const enum tmx_status st = tmx_modal_init(modal, k, m, false, err);
    if (st) {
        return st;
    }
    for (size_t i = 0; i < k; i++) {
        modal->rate[i] = modes->rate[i];
        modal->stored[i] = modes->one[i];
        modal->leave[i] = modes->leave[i];
        modal->one[i] = modes->one[i];
        for (size_t u = 0; u < m; u++) {
            modal->in[u * modal->mode_row + i] = modes->in[u * k + i];
            modal->out[i * modal->unit_row + u] = modes->out[u * k + i];
        }
    }
    return TMX_OK;
}

struct cut { /* work of tmx_modes_truncate; k: modes, m: units, n_in: those and with wish->ambient_k the air
              */
    size_t n_in;
    double *weight; /* [n_in] power_w, ambient_k */
    const struct tmx_modes *modes;
    const struct tmx_truncation *wish;
    double *root;    /* [k] Lambda^1/2 */
    double *bt, *ot; /* [n_in][k], [m][k] */
    double *u;       /* [k][k] candidate directions, best first, by columns */
    double *t;       /* [k][k] U Q: the truncated modes, by columns */
    double *mu;      /* [k] their rates */
    double *small;   /* [k][k] work */
    double *bz, *oz; /* [n_in][k] T' bt, [m][k] T' ot */
    double *miss;    /* [n_in][m] largest difference over time */
    double *now;     /* [n_in][m] work */
};

static void free_cut(struct cut *c)
{
    free(c->weight);
    free(c->root);
    free(c->bt);
    free(c->ot);
    free(c->u);
    free(c->t);
    free(c->mu);
    free(c->small);
    free(c->bz);
    free(c->oz);
    free(c->miss);
    free(c->now);
}

static enum tmx_status init_cut(struct cut *c, struct tmx_err *err)
{
    const size_t k = c->modes->n_mode, m = c->modes->n_unit;
    c->n_in = m + (c->wish->ambient_k > 0);
    c->weight = calloc(c->n_in, sizeof *c->weight);
    c->root = calloc(k, sizeof *c->root);
    c->bt = calloc(k * c->n_in, sizeof *c->bt);
    c->ot = calloc(k * m, sizeof *c->ot);
    c->u = calloc(k * k, sizeof *c->u);
    c->t = calloc(k * k, sizeof *c->t);
    c->mu = calloc(k, sizeof *c->mu);
    c->small = calloc(k * (k > c->n_in ? k : c->n_in), sizeof *c->small);
    c->bz = calloc(k * c->n_in, sizeof *c->bz);
    c->oz = calloc(k * m, sizeof *c->oz);
    c->miss = calloc(c->n_in * m, sizeof *c->miss);
    c->now = calloc(c->n_in * m, sizeof *c->now);
    if (!c->weight || !c->root || !c->bt || !c->ot || !c->u || !c->t || !c->mu || !c->small || !c->bz ||
        !c->oz || !c->miss || !c->now) {
        return tmx_fail(err, TMX_ENOMEM, "truncation of %zu modes", k);
    }
    for (size_t i = 0; i < k; i++) {
        c->root[i] = sqrt(c->modes->rate[i]);
        for (size_t u = 0; u < m; u++) {
            c->bt[u * k + i] = c->modes->in[u * k + i] / c->root[i];
            c->ot[u * k + i] = c->modes->out[u * k + i] / c->root[i];
        }
        if (c->n_in > m) { /* a start of 1 K */
            c->bt[m * k + i] = c->modes->one[i] * c->root[i];
        }
    }
    for (size_t v = 0; v < c->n_in; v++) {
        c->weight[v] = v < m ? c->wish->power_w[v] : c->wish->ambient_k;
    }
    return TMX_OK;
}

/* The fields that U must hold, orthonormal, as its first columns; returns how many. */
static size_t kept_fields(struct cut *c)
{
    const struct tmx_modes *q = c->modes;
    const size_t k = q->n_mode;
    size_t n = 0;
    for (size_t f = 0; f < 2; f++) {
        double *v = c->u + n * k, size = 0, left = 0;
        for (size_t i = 0; i < k; i++) {
            v[i] = f == 0 ? c->root[i] * q->one[i] : q->one[i] / c->root[i];
        }
        size = tmx_dense_dot(k, v, v);
        for (size_t pass = 0; pass < 2; pass++) {
            for (size_t j = 0; j < n; j++) {
                tmx_dense_axpy(k, -tmx_dense_dot(k, c->u + j * k, v), c->u + j * k, v);
            }
        }
        left = tmx_dense_dot(k, v, v);
        if (left > 1e-24 * size) {
            for (size_t i = 0; i < k; i++) {
                v[i] /= sqrt(left);
            }
            n++;
        }
    }
    return n;
}

/* p [k][k] *= what each pair of modes weighs over time. */
static enum tmx_status weigh_times(const struct cut *c, double *p, struct tmx_err *err)
{
    const size_t k = c->modes->n_mode;
    const double *rate = c->modes->rate, t0 = EARLY * c->wish->min_step_s,
                 t1 = EARLY_OCTAVES * c->wish->min_step_s;
    const size_t n_time = c->wish->octaves ? 1 + (size_t)ceil(2 * log2(20 / (t1 * rate[0]))) : 0;
    double *e = calloc(k * (n_time + k) + 1, sizeof *e), *weight = e + k * n_time;
    if (!e) {
        return tmx_fail(err, TMX_ENOMEM, "truncation of %zu modes", k);
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t n = 0; n < n_time; n++) {
            e[i * n_time + n] = exp(-rate[i] * t1 * pow(2, 0.5 * (double)n));
        }
        for (size_t j = 0; j < k && !c->wish->octaves; j++) {
            weight[j * k + i] = exp(-t0 * (rate[i] + rate[j])) / (rate[i] + rate[j]);
        }
    }
    if (c->wish->octaves) {
        tmx_dense_tn(k, k, n_time, 1, e, n_time, e, n_time, 0, weight, k);
    }
    for (size_t i = 0; i < k * k; i++) {
        p[i] *= weight[i];
    }
    free(e);
    return TMX_OK;
}

/* Fill u: the kept fields, then the eigenvectors of P outside them, largest first. */
static enum tmx_status directions(struct cut *c, size_t *n_kept, struct tmx_err *err)
{
    const size_t k = c->modes->n_mode, m = c->modes->n_unit, n_in = c->n_in;
    double *p = c->t, mean = 0;
    for (size_t u = 0; u < m; u++) {
        mean += c->wish->power_w[u] / (double)m;
    }
    for (size_t i = 0; i < k; i++) {        /* dgemm wants transposed factors: P = bt bt' + ot ot' */
        for (size_t u = 0; u < n_in; u++) { /* as sources by their power, as sensors alike */
            c->small[i * n_in + u] = c->bt[u * k + i] * c->weight[u] / mean;
        }
    }
    tmx_dense_tn(k, k, n_in, 1, c->small, n_in, c->small, n_in, 0, p, k);
    for (size_t i = 0; i < k; i++) {
        for (size_t u = 0; u < m; u++) {
            c->small[i * m + u] = c->ot[u * k + i];
        }
    }
    tmx_dense_tn(k, k, m, 1, c->small, m, c->small, m, 1, p, k);
    enum tmx_status st = weigh_times(c, p, err);
    *n_kept = kept_fields(c);
    for (size_t side = 0; side < 2; side++) { /* P := (1 - U U') P (1 - U U'), by symmetry in two turns */
        for (size_t j = 0; j < *n_kept; j++) {
            const double *v = c->u + j * k;
            for (size_t col = 0; col < k; col++) {
                tmx_dense_axpy(k, -tmx_dense_dot(k, v, p + col * k), v, p + col * k);
            }
        }
        for (size_t col = 0; col < k; col++) {
            for (size_t r = 0; r < k; r++) {
                c->small[r * k + col] = p[col * k + r];
            }
        }
        memcpy(p, c->small, k * k * sizeof *p);
    }
    double trace = 0;
    for (size_t i = 0; i < k; i++) {
        trace += p[i * k + i];
    }
    for (size_t j = 0; j < *n_kept;
         j++) { /* the kept fields last of all, apart from what is null in P, too */
        const double *v = c->u + j * k;
        for (size_t col = 0; col < k; col++) {
            tmx_dense_axpy(k, -trace * v[col], v, p + col * k);
        }
    }
    st = st ? st : tmx_dense_eigen(k, p, c->mu, err);
    for (size_t j = *n_kept; j < k && !st; j++) { /* ascending: the last are the largest */
        memcpy(c->u + j * k, p + (k - 1 - (j - *n_kept)) * k, k * sizeof *p);
    }
    return st;
}

/* Diagonalise in the first n directions: t, mu, bz, oz. */
static enum tmx_status diagonalise(struct cut *c, size_t n, struct tmx_err *err)
{
    const size_t k = c->modes->n_mode, m = c->modes->n_unit;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < k; i++) {
            c->t[j * k + i] = c->modes->rate[i] * c->u[j * k + i];
        }
    }
    tmx_dense_tn(n, n, k, 1, c->u, k, c->t, k, 0, c->small, n);
    const enum tmx_status st = tmx_dense_eigen(n, c->small, c->mu, err);
    if (st) {
        return st;
    }
    tmx_dense_nn(k, n, n, 1, c->u, k, c->small, n, 0, c->t, k);
    tmx_dense_tn(n, c->n_in, k, 1, c->t, k, c->bt, k, 0, c->bz, k);
    tmx_dense_tn(n, m, k, 1, c->t, k, c->ot, k, 0, c->oz, k);
    return TMX_OK;
}

/* miss: largest difference of the step responses over times from min_step_s on. Returns it
 * for steps of all the wished powers, the contributions added as independent ones (root of
 * the sum of squares): their signs alternate, and the worst case is never met. */
static double compare(struct cut *c, size_t n)
{
    const size_t k = c->modes->n_mode, m = c->modes->n_unit, n_in = c->n_in;
    memset(c->miss, 0, n_in * m * sizeof *c->miss);
    const int n_time = 1 + (int)ceil(log2(5 / (c->wish->min_step_s * c->modes->rate[0])));
    for (int time = 0; time < n_time; time++) {
        const double t = ldexp(c->wish->min_step_s, time);
        for (size_t i = 0; i < k; i++) {
            const double e = exp(-c->modes->rate[i] * t);
            for (size_t u = 0; u < n_in; u++) {
                c->small[u * k + i] = e * c->bt[u * k + i];
            }
        }
        tmx_dense_tn(m, n_in, k, 1, c->ot, k, c->small, k, 0, c->now, m);
        for (size_t i = 0; i < n; i++) {
            const double e = exp(-c->mu[i] * t);
            for (size_t u = 0; u < n_in; u++) {
                c->small[u * k + i] = e * c->bz[u * k + i];
            }
        }
        tmx_dense_tn(m, n_in, n, -1, c->oz, k, c->small, k, 1, c->now, m);
        for (size_t i = 0; i < n_in * m; i++) {
            c->miss[i] = fmax(c->miss[i], fabs(c->now[i]));
        }
    }
    double worst = 0;
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < n_in; v++) {
            const double part = c->miss[v * m + u] * c->weight[v];
            sum += part * part;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

/* The least number of directions that meets the tolerance, to within 2 %. */
static enum tmx_status choose(struct cut *c, size_t n_kept, size_t *n_mode, struct tmx_err *err)
{
    const size_t k = c->modes->n_mode;
    size_t low = n_kept, high = k; /* low fails, high meets it */
    while (high - low > 1 + k / 64) {
        const size_t n = low + (high - low) / 2;
        const enum tmx_status st = diagonalise(c, n, err);
        if (st) {
            return st;
        }
        if (compare(c, n) <= c->wish->tolerance_k) {
            high = n;
        } else {
            low = n;
        }
    }
    *n_mode = high;
    return TMX_OK;
}

static enum tmx_status layout(const struct cut *c, size_t n, struct tmx_modal *modal, double **lift,
                              struct tmx_err *err)
{
    const struct tmx_modes *q = c->modes;
    const size_t k = q->n_mode, m = q->n_unit;
    const enum tmx_status st = tmx_modal_init(modal, n, m, true, err);
    *lift = calloc(n * k, sizeof **lift);
    if (st || !*lift) {
        return st ? st : tmx_fail(err, TMX_ENOMEM, "truncated model");
    }
    for (size_t j = 0; j < n; j++) {
        const double *t = c->t + j * k;
        modal->rate[j] = c->mu[j];
        for (size_t i = 0; i < k; i++) {
            const double down = t[i] / c->root[i], up = t[i] * c->root[i];
            (*lift)[j * k + i] = down;
            modal->stored[j] += down * q->one[i];
            modal->leave[j] += down * q->leave[i];
            modal->one[j] += up * q->one[i];
        }
        for (size_t u = 0; u < m; u++) {
            modal->in[u * modal->mode_row + j] = c->mu[j] * c->bz[u * k + j];
            modal->out[j * modal->unit_row + u] = c->oz[u * k + j];
        }
    }
    tmx_dense_tn(m, m, k, 1, c->ot, k, c->bt, k, 0, c->now, m);
    tmx_dense_tn(m, m, n, -1, c->oz, k, c->bz, k, 1, c->now, m);
    for (size_t v = 0; v < m; v++) {
        memcpy(modal->direct + v * modal->unit_row, c->now + v * m, m * sizeof *c->now);
    }
    return TMX_OK;
}

enum tmx_status tmx_modes_truncate(const struct tmx_modes *modes, const struct tmx_truncation *wish,
                                   struct tmx_modal *modal, double **lift, double *error, struct tmx_err *err)
{
    struct cut c = {.modes = modes, .wish = wish};
    size_t n_kept = 0, n = wish->n_mode;
    *lift = NULL;
    *modal = (struct tmx_modal){0};
    enum tmx_status st = init_cut(&c, err);
    st = st ? st : directions(&c, &n_kept, err);
    if (!st && n == 0) {
        st = choose(&c, n_kept, &n, err);
    }
    n = n < n_kept ? n_kept : n > modes->n_mode ? modes->n_mode : n;
    st = st ? st : diagonalise(&c, n, err);
    if (!st) {
        compare(&c, n);
        for (size_t i = 0; i < c.n_in * modes->n_unit; i++) {
            error[i] += c.miss[i];
        }
        st = layout(&c, n, modal, lift, err);
    }
    free_cut(&c);
    return st;
}
