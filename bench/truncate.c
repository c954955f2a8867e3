/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many modes does a millikelvin take? Directions in which the step response of a chip is truncated, by
 * four rules, for the same number of modes: the largest error of a step of all units at 0.5 W/mm2 from 1 ms
 * on, as thermal/reduction/truncate.c measures it. `truncate FLOORPLAN [GRID]`: any floorplan in the
 * package of golden A; no argument: golden A's.
 *
 * Notation of thermal/reduction/truncate.c: xi' = -Lambda xi, xi(0) = bt p, distance of the temperatures from
 * their end ot' xi.
 *
 *   gramian:  what truncate.c does: eigenvectors of P of [bt ot] from 0.15 ms on, which for this symmetric
 *             pair of inputs and outputs is balanced truncation
 *   gramian0: the same from time 0 on
 *   balanced: balanced truncation of (Lambda, bt, ot), inputs and outputs apart, from 0.15 ms on: an oblique
 *             projection
 *   h2:       H2-optimal directions of [bt ot] from 0.15 ms on: iterated rational Krylov (S. Gugercin,
 *             A. Antoulas, C. Beattie, "H2 model reduction for large-scale linear dynamical systems", SIAM J.
 *             Matrix Anal. 30, 2008), begun at gramian's */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/floorplan/floorplan.h"
#include "thermal/reduction/dense.h"
#include "thermal/reduction/truncate.h"

static const double MIN_STEP_S = 1e-3, EARLY_S = 0.15e-3, DENSITY = 0.5e6, TOLERANCE_K = 1e-3;
enum { H2_TURNS = 60 };

struct study {
    struct tmx_floorplan floorplan;
    struct tmx_layer layer[2];
    struct tmx_thermal_spec spec;
    struct tmx_network net;
    struct tmx_basis basis;
    struct tmx_modes modes;
    size_t k, m;       /* modes, units */
    double *power_w;   /* [m] */
    double *bt, *ot;   /* [m][k] */
    double *u, *t;     /* [k][k] directions; the truncated modes */
    double *mu;        /* [k] their rates */
    double *bz, *oz;   /* [m][k] */
    double *p, *small; /* [k][k] work */
};

static void check(enum tmx_status st, const struct tmx_err *err)
{
    if (st) {
        fprintf(stderr, "truncate: %s\n", err->msg);
        exit(1);
    }
}

static double *take(size_t n)
{
    double *p = calloc(n, sizeof *p);
    if (!p) {
        fprintf(stderr, "truncate: out of memory\n");
        exit(1);
    }
    return p;
}

static void open_study(struct study *s, const char *floorplan, size_t grid)
{
    struct tmx_err err = {0};
    check(tmx_flp_read(floorplan, &s->floorplan, &err), &err);
    s->layer[0] = (struct tmx_layer){.floorplan = &s->floorplan,
                                     .lateral = true,
                                     .dissipates = true,
                                     .thickness_m = 1.5e-4,
                                     .k_w_per_mk = 130,
                                     .p_j_per_m3k = 1.63e6};
    s->layer[1] = (struct tmx_layer){.floorplan = &s->floorplan,
                                     .lateral = true,
                                     .thickness_m = 2e-5,
                                     .k_w_per_mk = 4,
                                     .p_j_per_m3k = 4e6};
    s->spec = (struct tmx_thermal_spec){
        .layer = s->layer,
        .n_layer = 2,
        .package = {0.03, 1e-3, 400, 3.55e6, 0.06, 6.9e-3, 400, 3.55e6, 0.25, 140.4},
        .rows = grid,
        .cols = grid,
        .ambient_k = 318.15,
        .init_k = 318.15};
    check(tmx_network_init(&s->net, &s->spec, &err), &err);
    s->m = s->net.n_unit;
    s->power_w = take(s->m);
    for (size_t u = 0; u < s->m; u++) {
        s->power_w[u] = DENSITY * tmx_unit_area_m2(&s->floorplan.unit[u]);
    }
    const double gamma = tmx_network_gamma(&s->net, 0.25);
    const struct tmx_basis_options options = {.tolerance_k = TOLERANCE_K,
                                              .power_w = s->power_w,
                                              .min_step_s = MIN_STEP_S,
                                              .gamma_low = gamma,
                                              .gamma_high = gamma};
    check(tmx_basis_init(&s->basis, &s->net, &options, &err), &err);
    check(tmx_modes_init(&s->modes, &s->basis, gamma, &err), &err);
    const size_t k = s->k = s->modes.n_mode, m = s->m;
    s->bt = take(k * m);
    s->ot = take(k * m);
    s->u = take(k * k);
    s->t = take(k * k);
    s->mu = take(k);
    s->bz = take(k * m);
    s->oz = take(k * m);
    s->p = take(k * k);
    s->small = take(k * k);
    for (size_t i = 0; i < k; i++) {
        for (size_t u = 0; u < m; u++) {
            s->bt[u * k + i] = s->modes.in[u * k + i] / sqrt(s->modes.rate[i]);
            s->ot[u * k + i] = s->modes.out[u * k + i] / sqrt(s->modes.rate[i]);
        }
    }
}

static void close_study(struct study *s)
{
    double *const own[] = {s->power_w, s->bt, s->ot, s->u, s->t, s->mu, s->bz, s->oz, s->p, s->small};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        free(own[i]);
    }
    tmx_modes_finish(&s->modes);
    tmx_basis_finish(&s->basis);
    tmx_network_finish(&s->net);
    tmx_floorplan_finish(&s->floorplan);
}

/* As sources by their power, as sensors alike. */
static double weight(const struct study *s, size_t u)
{
    double mean = 0;
    for (size_t v = 0; v < s->m; v++) {
        mean += s->power_w[v] / (double)s->m;
    }
    return s->power_w[u] / mean;
}

/* p += integral from t0 of exp(-Lambda t) (w c)(w c)' exp(-Lambda t) dt. */
static void add_gramian(const struct study *s, const double *c, bool weighted, double t0, double *p)
{
    for (size_t j = 0; j < s->k; j++) {
        for (size_t i = 0; i < s->k; i++) {
            const double sum = s->modes.rate[i] + s->modes.rate[j];
            double dot = 0;
            for (size_t u = 0; u < s->m; u++) {
                const double w = weighted ? weight(s, u) : 1;
                dot += w * w * c[u * s->k + i] * c[u * s->k + j];
            }
            p[j * s->k + i] += dot * exp(-t0 * sum) / sum;
        }
    }
}

/* The two fields that truncate.c always keeps go before the columns u[first..first + n) of a matrix, and
 * all become orthonormal, as u[0..*n). */
static void keep_fields(struct study *s, const double *from, size_t *n)
{
    const size_t k = s->k, more = *n + 2 > k ? k - 2 : *n;
    double *tau = take(k);
    for (size_t i = 0; i < k; i++) {
        s->p[i] = sqrt(s->modes.rate[i]) * s->modes.one[i];
        s->p[k + i] = s->modes.one[i] / sqrt(s->modes.rate[i]);
    }
    memcpy(s->p + 2 * k, from, more * k * sizeof *from);
    *n = more + 2;
    LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (int)k, (int)*n, s->p, (int)k, tau);
    LAPACKE_dorgqr(LAPACK_COL_MAJOR, (int)k, (int)*n, (int)*n, s->p, (int)k, tau);
    memcpy(s->u, s->p, *n * k * sizeof *s->u);
    free(tau);
}

/* Galerkin in u[0..n): t, mu, bz, oz. */
static void diagonalise(struct study *s, size_t n)
{
    struct tmx_err err = {0};
    const size_t k = s->k;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < k; i++) {
            s->t[j * k + i] = s->modes.rate[i] * s->u[j * k + i];
        }
    }
    tmx_dense_tn(n, n, k, 1, s->u, k, s->t, k, 0, s->small, n);
    check(tmx_dense_eigen(n, s->small, s->mu, &err), &err);
    tmx_dense_nn(k, n, n, 1, s->u, k, s->small, n, 0, s->t, k);
    tmx_dense_tn(n, s->m, k, 1, s->t, k, s->bt, k, 0, s->bz, k);
    tmx_dense_tn(n, s->m, k, 1, s->t, k, s->ot, k, 0, s->oz, k);
}

/* As compare() of truncate.c: the worst unit's error, steps of all powers added as independent [K]. */
static double error_k(const struct study *s, size_t n)
{
    const size_t k = s->k, m = s->m;
    double *miss = take(m * m), worst = 0;
    const int n_time = 1 + (int)ceil(log2(5 / (MIN_STEP_S * s->modes.rate[0])));
    for (int time = 0; time < n_time; time++) {
        const double at_s = ldexp(MIN_STEP_S, time);
        for (size_t v = 0; v < m; v++) {
            for (size_t u = 0; u < m; u++) {
                double whole = 0, cut = 0;
                for (size_t i = 0; i < k; i++) {
                    whole += exp(-s->modes.rate[i] * at_s) * s->bt[v * k + i] * s->ot[u * k + i];
                }
                for (size_t i = 0; i < n; i++) {
                    cut += exp(-s->mu[i] * at_s) * s->bz[v * k + i] * s->oz[u * k + i];
                }
                miss[v * m + u] = fmax(miss[v * m + u], fabs(whole - cut));
            }
        }
    }
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < m; v++) {
            sum += pow(miss[v * m + u] * s->power_w[v], 2);
        }
        worst = fmax(worst, sqrt(sum));
    }
    free(miss);
    return worst;
}

static double of_gramian(struct study *s, size_t n, double t0)
{
    struct tmx_err err = {0};
    const size_t k = s->k;
    double *p = take(k * k), *w = take(k), *best = take(k * k);
    add_gramian(s, s->bt, true, t0, p);
    add_gramian(s, s->ot, false, t0, p);
    check(tmx_dense_eigen(k, p, w, &err), &err);
    for (size_t j = 0; j < k; j++) { /* the largest first */
        memcpy(best + j * k, p + (k - 1 - j) * k, k * sizeof *p);
    }
    size_t got = n - 2;
    keep_fields(s, best, &got);
    diagonalise(s, got);
    free(p);
    free(w);
    free(best);
    return error_k(s, got);
}

/* Square roots of a Gramian: l[k][k] with l l' = p, by its eigenvectors. */
static void root_of(struct study *s, double *p)
{
    struct tmx_err err = {0};
    const size_t k = s->k;
    check(tmx_dense_eigen(k, p, s->mu, &err), &err);
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) {
            p[j * k + i] *= sqrt(fmax(s->mu[j], 0));
        }
    }
}

/* Oblique: V = Lc X S^-1/2, W = Lo Y S^-1/2 with Lo' Lc = Y S X'. NAN where a rate is complex or does not
 * decay. */
static double of_balance(struct study *s, size_t n)
{
    const size_t k = s->k, m = s->m;
    double *lc = take(k * k), *lo = take(k * k), *h = take(k * k), *y = take(k * k), *xt = take(k * k),
           *sv = take(k), *v = take(k * n), *w = take(k * n), *a = take(n * n), *re = take(n), *im = take(n),
           *vl = take(n * n), *vr = take(n * n), worst = NAN;
    add_gramian(s, s->bt, true, EARLY_S, lc);
    add_gramian(s, s->ot, false, EARLY_S, lo);
    root_of(s, lc);
    root_of(s, lo);
    tmx_dense_tn(k, k, k, 1, lo, k, lc, k, 0, h, k);
    bool ok =
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', (int)k, (int)k, h, (int)k, sv, y, (int)k, xt, (int)k) == 0;
    for (size_t j = 0; j < n; j++) { /* columns of X are rows of xt */
        for (size_t i = 0; i < k; i++) {
            s->t[j * k + i] = xt[i * k + j] / sqrt(sv[j]);
            s->p[j * k + i] = y[j * k + i] / sqrt(sv[j]);
        }
    }
    tmx_dense_nn(k, n, k, 1, lc, k, s->t, k, 0, v, k);
    tmx_dense_nn(k, n, k, 1, lo, k, s->p, k, 0, w, k);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < k; i++) {
            s->t[j * k + i] = s->modes.rate[i] * v[j * k + i];
        }
    }
    tmx_dense_tn(n, n, k, 1, w, k, s->t, k, 0, a, n);
    ok = ok &&
         LAPACKE_dgeev(LAPACK_COL_MAJOR, 'V', 'V', (int)n, a, (int)n, re, im, vl, (int)n, vr, (int)n) == 0;
    for (size_t j = 0; j < n; j++) {
        ok = ok && im[j] == 0 && re[j] > 0;
        const double scale = tmx_dense_dot(n, vl + j * n, vr + j * n);
        for (size_t i = 0; i < n; i++) {
            vl[j * n + i] /= scale;
        }
    }
    if (ok) {
        memcpy(s->mu, re, n * sizeof *re);
        tmx_dense_nn(k, n, n, 1, w, k, vl, n, 0, s->t, k); /* sees the inputs */
        tmx_dense_tn(n, m, k, 1, s->t, k, s->bt, k, 0, s->bz, k);
        tmx_dense_nn(k, n, n, 1, v, k, vr, n, 0, s->t, k); /* makes the outputs */
        tmx_dense_tn(n, m, k, 1, s->t, k, s->ot, k, 0, s->oz, k);
        worst = error_k(s, n);
    }
    double *const own[] = {lc, lo, h, y, xt, sv, v, w, a, re, im, vl, vr};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        free(own[i]);
    }
    return worst;
}

/* Symmetric: one direction a mode, (Lambda + mu_i)^-1 C c_i with C = exp(-Lambda t0) [w bt, ot], c_i what
 * mode i sees of C. */
static double of_h2(struct study *s, size_t n)
{
    const size_t k = s->k, m = s->m;
    double *next = take(k * k);
    (void)of_gramian(s, n, EARLY_S);
    for (int turn = 0; turn < H2_TURNS; turn++) {
        for (size_t j = 0; j + 2 < n; j++) { /* the slowest and the fastest give way to the kept fields */
            const double late = exp(-s->mu[j] * EARLY_S);
            for (size_t i = 0; i < k; i++) {
                double c = 0;
                for (size_t u = 0; u < m; u++) {
                    const double w = weight(s, u);
                    c += w * w * s->bt[u * k + i] * s->bz[u * k + j] + s->ot[u * k + i] * s->oz[u * k + j];
                }
                next[j * k + i] = c * late * exp(-s->modes.rate[i] * EARLY_S) / (s->modes.rate[i] + s->mu[j]);
            }
            const double size = sqrt(tmx_dense_dot(k, next + j * k, next + j * k));
            for (size_t i = 0; i < k; i++) {
                next[j * k + i] /= size;
            }
        }
        size_t got = n - 2;
        keep_fields(s, next, &got);
        diagonalise(s, got);
    }
    const double end = error_k(s, n);
    free(next);
    return end;
}

int main(int argc, char **argv)
{
    struct study s = {0};
    const char *floorplan = argc > 1 ? argv[1] : TMX_SOURCE_DIR "/tests/golden/A_gt200/chip.flp";
    const long grid = argc > 2 ? strtol(argv[2], NULL, 10) : 64;
    if (grid < 4 || grid > 512) {
        fprintf(stderr, "usage: truncate [FLOORPLAN [GRID]]\n");
        return 2;
    }
    open_study(&s, floorplan, (size_t)grid);
    printf("%zu units, %ld x %ld, %zu modes in the basis; error [mK] of n modes\n%6s %10s %10s %10s %10s\n",
           s.m, grid, grid, s.k, "n", "gramian", "gramian0", "balanced", "h2");
    for (size_t n = 60; n < s.k && n <= 200; n += 20) {
        printf("%6zu %10.4f %10.4f", n, 1e3 * of_gramian(&s, n, EARLY_S), 1e3 * of_gramian(&s, n, 0));
        const double balanced = of_balance(&s, n);
        if (isnan(balanced)) {
            printf(" %10s", "none");
        } else {
            printf(" %10.4f", 1e3 * balanced);
        }
        printf(" %10.4f\n", 1e3 * of_h2(&s, n));
        fflush(stdout);
    }
    close_study(&s);
    return 0;
}
