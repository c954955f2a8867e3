/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The truncation of the reduced model: from all modes of the basis to as few as steps of power need.
 *
 * The idea. After a step of power p the temperatures approach their end. Only the distance from that end has
 * to be modelled, because the end itself is known (a direct term keeps it exact). Every direction of the
 * state space is weighed by how much power drives it and how much units see of it, over the times that count,
 * and the directions with little weight are left out:
 *
 *      modes of the basis         directions U, best first           truncated modes
 *      x' = -Lambda x + b p  -->  u1 u2 u3 ... un | ... uk   -->   U' Lambda U = X mu X',  n rates mu
 *      k rates, k columns         kept: n         | left out       the state is n numbers
 *
 * The mathematics. With xi = Lambda^1/2 (x_steady - x), a step of power p from rest gives
 *
 *      xi(0) = bt p,   xi' = -Lambda xi,   distance of the temperatures from their end = ot' xi,
 *      bt = Lambda^-1/2 b,   ot = Lambda^-1/2 o
 *
 * The directions U are the eigenvectors with the largest eigenvalues of
 *
 *      P    = integral from t0 of exp(-Lambda t) (bt bt' + ot ot') exp(-Lambda t) dt
 *      P_ij = (bt bt' + ot ot')_ij exp(-t0 (lambda_i + lambda_j)) / (lambda_i + lambda_j)
 *
 * bt is weighed by the powers. What has died out before t0, a part of the shortest step, is not worth a mode.
 * With demand->octaves (the physical network, a fan) dt/t takes the place of dt, as a sum over half octaves
 * of t: fast and slow answers then count alike. Two kinds of fields are in U whatever P says: Lambda^1/2 c,
 * the uniform field, and Lambda^-1/2 c, from which the heat balance follows (c: the uniform field's
 * coordinates). So the heat balance, a change of ambient and a uniform start lose nothing.
 *
 * The number n is found by tries. For each n the whole and the truncated step response are compared at
 * 1, 2, 4, ... times the shortest step:
 *
 *      miss = max over t of | ot' exp(-Lambda t) bt - oz' exp(-mu t) bz |,   bz = (U X)' bt, oz = (U X)' ot
 *
 * The errors of all units' powers add as independent ones, by squares. n is the least that keeps the sum
 * within the tolerance at every unit, to 2 %. miss itself, unit by unit, goes into the error estimate of
 * reduced_model.c.
 *
 * Several film coefficients gamma + d (a fan): G_d = G + d A. All levels share the directions S =
 * Lambda^-1/2 U of x, so a state means the same field at each. P is the sum of those at the least, the middle
 * and the largest coefficient, and U holds Lambda^1/2 G_d^-1 c of every level. Each level projects the
 * network onto S in its own energy x' G_d x,
 *
 *      S' G_d S y' = -S' G_d^2 S y           (one coefficient: y' = -U' Lambda U y)
 *
 * whose rates are no less than those of x' = -G_d x projected on S: what S has of fast fields dies as fast as
 * it should. With F = Lambda^-1/2 A Lambda^-1/2 both matrices are polynomials in d:
 *
 *      S' G_d S   = 1 + d U' F U
 *      S' G_d^2 S = U' (Lambda + d (F Lambda + Lambda F) + d^2 F Lambda F) U
 *
 * With U' F U = W psi W' the first is diagonal at every d in the directions U W, which take U's place, so a
 * level is one eigenproblem. F = Z phi Z' gives (1 + d F)^-1.
 *
 * The direct term is that of the middle coefficient at every level, or temperatures would jump with the fan.
 * What steady states miss for it is counted as an error.
 *
 * The order below: the choice of directions (select_...), the cut to the first n of them, the modal form
 * before any cut (tmx_modes). */
#include "thermal/reduction/reduction.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/assembly/vectors.h"
#include "thermal/reduction/dense.h"

/* Which directions of a basis to keep: all of them, the most worthy first. */

enum { MAX_LEVEL_BASIS = 3 };
/* Part of the tolerance for one step of power; the rest is for steps whose errors add up.
 * Fitted: random 1 ms traces on tests/golden/A_gt200 stay below the tolerance. */
static const double SHARE = 0.5;

struct level_basis { /* the whole basis at one film coefficient */
    struct tmx_modes modes;
    double *bt, *ot; /* [n_in][k], [m][k] */
};

struct cut { /* k: modes of the basis, m: units, n_in: those and with demand->ambient_k the air */
    const struct tmx_basis *basis;
    const struct tmx_demand *demand;
    size_t k, m, n_in, n_level_basis;
    struct level_basis level_basis[MAX_LEVEL_BASIS]; /* the first is that of the basis' own coefficient, in
                                                        whose xi directions are */
    double *weight;                                  /* [n_in] power_w, ambient_k */
    double *root;                                    /* [k] Lambda^1/2 */
    double *u;                                       /* [k][k] directions, best first, by columns */
    size_t n_kept;                                   /* of them must be kept */
    double *small;                                   /* [k][k] work; in the end X */
    double *mu;                                      /* [k] rates of the truncated modes */
    double *ub, *uo;                                 /* [n_in][k] U' bt, [m][k] U' ot */
    double *bz, *oz;                                 /* [n_in][k] X' U' bt, [m][k] X' U' ot */
    double *miss;                                    /* [n_in][m] largest difference over time */
    double *now;                                     /* [n_in][m] work */
    double *work;                                    /* [n_in][k] work */
    double *k0, *r0; /* [k][k] U' Lambda U; of the first n directions, turned by W */
    double *turned;  /* [k][k] U W: what the directions are after turn_directions; else u */
    /* several film coefficients, else NULL: */
    double *z, *phi;      /* [k][k], [k] eigenvectors and eigenvalues of F */
    double *zb, *zo;      /* [m][k] z' bt, z' ot */
    double *air, *ua;     /* [k] F Lambda^1/2 c, and U' of it */
    double *m1, *k1, *k2; /* [k][k] U' F U, and the coefficients of U' (...) U in d */
    double *r1, *r2;      /* [k][k] those of the first n directions, turned by W */
    double *w, *psi;      /* [k][k], [k] eigenvectors and eigenvalues of the first n of m1 */
    struct tmx_arena arena;
    struct tmx_err *err;
};

/* t0 in units of the shortest step: what has died out before is not worth modes. 0.15 gave the smallest
 * errors at 130 to 150 modes on tests/golden/A_gt200 among 0 to 0.5. By octaves: 0.25 to 0.3 asked for the
 * fewest modes of that chip in the physical network, cut to 33 and 58 units, among 0.1 to 0.5. */
static const double EARLY = 0.15, EARLY_OCTAVES = 0.25;

/* Is there more than one film coefficient? */
static bool several(const struct cut *c)
{
    return c->demand->n_level > 1;
}

static void add_face(struct cut *c, double gamma)
{
    struct level_basis *f = &c->level_basis[c->n_level_basis++];
    const size_t k = c->k, m = c->m;
    tmx_modes_init(&f->modes, c->basis, gamma, c->err);
    TMX_TAKE(&c->arena, f->bt, k * c->n_in);
    TMX_TAKE(&c->arena, f->ot, k * m);
    tmx_arena_check(&c->arena, c->err);
    for (size_t i = 0; i < k && !c->err->code; i++) {
        const double root = sqrt(f->modes.rate[i]);
        for (size_t u = 0; u < m; u++) {
            f->bt[u * k + i] = f->modes.in[u * k + i] / root;
            f->ot[u * k + i] = f->modes.out[u * k + i] / root;
        }
        if (c->n_in > m) { /* a start of 1 K */
            f->bt[m * k + i] = f->modes.one[i] * root;
        }
    }
}

/* p [k][k]: P of a level basis in its own xi. */
static void gramian(struct cut *c, const struct level_basis *f, double *p)
{
    const size_t k = c->k, m = c->m, n_in = c->n_in;
    const double *rate = f->modes.rate, t0 = EARLY * c->demand->min_step_s,
                 t1 = EARLY_OCTAVES * c->demand->min_step_s;
    const size_t n_time = c->demand->octaves ? 1 + (size_t)ceil(2 * log2(20 / (t1 * rate[0]))) : 0;
    double *e = calloc(k * (n_time + k) + 1, sizeof *e), *weight = e + k * n_time, mean = 0;
    if (!e) {
        tmx_error(c->err, TMX_ENOMEM, "out of memory");
        return;
    }
    for (size_t u = 0; u < m; u++) {
        mean += c->demand->power_w[u] / (double)m;
    }
    for (size_t i = 0; i < k * n_in;
         i++) { /* as sources by their power, as sensors alike; tmx_dense_tn wants */
        c->small[i] = f->bt[i % n_in * k + i / n_in] * c->weight[i % n_in] / mean; /* transposed factors */
    }
    tmx_dense_tn(k, k, n_in, 1, c->small, n_in, c->small, n_in, 0, p, k);
    for (size_t i = 0; i < k * m; i++) {
        c->small[i] = f->ot[i % m * k + i / m];
    }
    tmx_dense_tn(k, k, m, 1, c->small, m, c->small, m, 1, p, k);
    for (size_t i = 0; i < k; i++) { /* what each pair of modes weighs over time */
        for (size_t n = 0; n < n_time; n++) {
            e[i * n_time + n] = exp(-rate[i] * t1 * pow(2, 0.5 * (double)n));
        }
        for (size_t j = 0; j < k && !c->demand->octaves; j++) {
            weight[j * k + i] = exp(-t0 * (rate[i] + rate[j])) / (rate[i] + rate[j]);
        }
    }
    if (c->demand->octaves) {
        tmx_dense_tn(k, k, n_time, 1, e, n_time, e, n_time, 0, weight, k);
    }
    for (size_t i = 0; i < k * k; i++) {
        p[i] *= weight[i];
    }
    free(e);
}

/* Fill u: the kept fields, then the eigenvectors of P of all level bases outside them, largest first. p, own
 * [k][k] and value [k] are work. */
static void fill(struct cut *c, double *p, double *own, double *value)
{
    const size_t k = c->k;
    gramian(c, &c->level_basis[0], p);
    for (size_t f = 1; f < c->n_level_basis && !c->err->code; f++) {
        const struct tmx_modes *q =
            &c->level_basis[f].modes; /* p += T own T', T the way to xi of the first */
        gramian(c, &c->level_basis[f], own);
        tmx_dense_tn(k, k, k, 1, q->vector, k, c->level_basis[0].modes.vector, k, 0, c->w, k);
        for (size_t i = 0; i < k * k; i++) { /* T', by columns */
            c->w[i] *= c->root[i / k] / sqrt(q->rate[i % k]);
        }
        tmx_dense_nn(k, k, k, 1, own, k, c->w, k, 0, c->small, k);
        tmx_dense_tn(k, k, k, 1, c->w, k, c->small, k, 1, p, k);
    }
    /* The fields that U must hold, orthonormal, as its first columns. */
    const struct tmx_modes *q = &c->level_basis[0].modes;
    for (size_t f = 0; f < 1 + c->demand->n_level && c->n_kept < k && !c->err->code; f++) {
        double *v = c->u + c->n_kept * k;
        for (size_t i = 0; i < k; i++) {
            v[i] = f == 0 ? c->root[i] * q->one[i] : q->one[i] / c->root[i];
        }
        if (f > 0 && several(c)) { /* (1 + d F)^-1 v */
            tmx_dense_tn(k, 1, k, 1, c->z, k, v, k, 0, c->small, k);
            for (size_t i = 0; i < k; i++) {
                c->small[i] /= 1 + (c->demand->gamma[f - 1] - q->gamma) * c->phi[i];
            }
            tmx_dense_nn(k, 1, k, 1, c->z, k, c->small, k, 0, v, k);
        }
        const double size = tmx_dot(k, v, v);
        for (size_t j = 0; j < 2 * c->n_kept; j++) { /* twice */
            const double *before = c->u + j % c->n_kept * k;
            tmx_axpy(k, -tmx_dot(k, before, v), before, v);
        }
        const double left = tmx_dot(k, v, v);
        const bool is_new = left > 1e-24 * size;
        for (size_t i = 0; i < k && is_new; i++) {
            v[i] /= sqrt(left);
        }
        c->n_kept += is_new;
    }
    if (c->err->code) {
        return;
    }
    for (size_t side = 0; side < 2; side++) { /* P := (1 - U U') P (1 - U U'), by symmetry in two turns */
        for (size_t j = 0; j < c->n_kept; j++) {
            const double *v = c->u + j * k;
            for (size_t col = 0; col < k; col++) {
                tmx_axpy(k, -tmx_dot(k, v, p + col * k), v, p + col * k);
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
    for (size_t i = 0; i < c->n_kept * k;
         i++) { /* the kept fields last of all, apart from what is null in P */
        tmx_axpy(k, -trace * c->u[i], c->u + i / k * k, p + i % k * k);
    }
    tmx_dense_eigen(k, p, value, c->err);
    for (size_t j = c->n_kept; j < k; j++) { /* ascending: the last are the largest */
        memcpy(c->u + j * k, p + (k - 1 - (j - c->n_kept)) * k, k * sizeof *p);
    }
}

static void init(struct cut *c)
{
    const size_t k = c->k, m = c->m, n_in = c->n_in;
    TMX_TAKE(&c->arena, c->weight, n_in);
    TMX_TAKE(&c->arena, c->root, k);
    TMX_TAKE(&c->arena, c->u, k * k);
    TMX_TAKE(&c->arena, c->small, k * (k > n_in ? k : n_in));
    add_face(c, c->basis->gamma);
    for (size_t i = 0; i < k && !c->err->code; i++) {
        c->root[i] = sqrt(c->level_basis[0].modes.rate[i]);
    }
    for (size_t v = 0; v < n_in && c->weight; v++) {
        c->weight[v] = v < m ? c->demand->power_w[v] : c->demand->ambient_k;
    }
    if (several(c) && !c->err->code) {
        /* F, air, and the bases at the least and the largest coefficient. F lies in m1 until tabulate. */
        const struct tmx_modes *q = &c->level_basis[0].modes;
        double low = INFINITY, high = 0;
        TMX_TAKE_REALS(&c->arena, k * k, &c->z, &c->m1, &c->k1, &c->k2, &c->r1, &c->r2, &c->w, &c->turned);
        TMX_TAKE_REALS(&c->arena, k, &c->air, &c->ua, &c->phi, &c->psi);
        TMX_TAKE_REALS(&c->arena, k * m, &c->zb, &c->zo);
        tmx_arena_check(&c->arena, c->err);
        if (c->err->code) {
            return;
        }
        if (c->basis->a) {
            tmx_dense_nn(k, k, k, 1, c->basis->a, k, q->vector, k, 0, c->small, k);
            tmx_dense_tn(k, k, k, 1, q->vector, k, c->small, k, 0, c->m1, k);
        }
        for (size_t j = 0; j < k; j++) {
            for (size_t i = 0; i < k; i++) {
                c->m1[j * k + i] /= c->root[i] * c->root[j];
                c->air[i] += c->m1[j * k + i] * c->root[j] * q->one[j];
            }
        }
        memcpy(c->z, c->m1, k * k * sizeof *c->z);
        tmx_dense_eigen(k, c->z, c->phi, c->err);
        tmx_dense_tn(k, m, k, 1, c->z, k, c->level_basis[0].bt, k, 0, c->zb, k);
        tmx_dense_tn(k, m, k, 1, c->z, k, c->level_basis[0].ot, k, 0, c->zo, k);
        for (size_t l = 0; l < c->demand->n_level; l++) {
            low = fmin(low, c->demand->gamma[l]);
            high = fmax(high, c->demand->gamma[l]);
        }
        if (low < c->basis->gamma) {
            add_face(c, low);
        }
        if (high > c->basis->gamma) {
            add_face(c, high);
        }
    }
    double *work = c->err->code ? NULL : calloc(k * (2 * k + 1), sizeof *work); /* gone before the rest */
    if (work) {
        fill(c, work, work + k * k, work + 2 * k * k);
    }
    c->arena.failed = c->arena.failed || !work;
    free(work);
    TMX_TAKE_REALS(&c->arena, k * k, &c->k0, &c->r0);
    TMX_TAKE_REALS(&c->arena, k, &c->mu);
    TMX_TAKE_REALS(&c->arena, k * n_in, &c->ub, &c->bz);
    TMX_TAKE_REALS(&c->arena, k * m, &c->uo, &c->oz);
    TMX_TAKE_REALS(&c->arena, n_in * m, &c->miss, &c->now);
    TMX_TAKE_REALS(&c->arena, (n_in + 1) * k, &c->work);
    tmx_arena_check(&c->arena, c->err);
}

/* The cut: the first n directions, diagonalised, and what they miss. */

/* k0, m1, k1, k2 of all directions: those of the first n are their first n rows and columns. */
static void tabulate(struct cut *c)
{
    const size_t k = c->k;
    const double *rate = c->level_basis[0].modes.rate;
    for (size_t i = 0; i < k * k; i++) {
        c->r0[i] = rate[i % k] * c->u[i];
    }
    tmx_dense_tn(k, k, k, 1, c->u, k, c->r0, k, 0, c->k0, k);
    if (!several(c)) {
        c->turned = c->u;
        return;
    }
    tmx_dense_nn(k, k, k, 1, c->m1, k, c->u, k, 0, c->small, k);
    tmx_dense_tn(k, k, k, 1, c->u, k, c->small, k, 0, c->m1, k);
    tmx_dense_tn(k, k, k, 1, c->r0, k, c->small, k, 0, c->k1, k);
    tmx_dense_tn(k, k, k, 1, c->small, k, c->r0, k, 1, c->k1, k);
    for (size_t i = 0; i < k * k; i++) {
        c->r0[i] = rate[i % k] * c->small[i];
    }
    tmx_dense_tn(k, k, k, 1, c->small, k, c->r0, k, 0, c->k2, k);
}

/* Fit for the first n directions: several coefficients turn them by W. */
static void turn_directions(struct cut *c, size_t n)
{
    const size_t k = c->k;
    const struct level_basis *f = &c->level_basis[0];
    double *const from[] = {c->k0, c->k1, c->k2}, *const to[] = {c->r0, c->r1, c->r2};
    for (size_t j = 0; j < n; j++) {
        memcpy((several(c) ? c->w : c->r0) + j * n, (several(c) ? c->m1 : c->k0) + j * k, n * sizeof *c->r0);
    }
    if (several(c)) {
        tmx_dense_eigen(n, c->w, c->psi, c->err);
        for (size_t i = 0; i < 3; i++) {
            tmx_dense_nn(n, n, n, 1, from[i], k, c->w, n, 0, c->small, n);
            tmx_dense_tn(n, n, n, 1, c->w, n, c->small, n, 0, to[i], n);
        }
        tmx_dense_nn(k, n, n, 1, c->u, k, c->w, n, 0, c->turned, k);
        tmx_dense_tn(n, 1, k, 1, c->turned, k, c->air, k, 0, c->ua, k);
    }
    tmx_dense_tn(n, c->n_in, k, 1, c->turned, k, f->bt, k, 0, c->ub, k);
    tmx_dense_tn(n, c->m, k, 1, c->turned, k, f->ot, k, 0, c->uo, k);
}

/* What direction i's mass at d more than the basis' film coefficient is. */
static double mass(const struct cut *c, size_t i, double d)
{
    return d == 0 ? 1 : 1 + d * c->psi[i];
}

/* Diagonalise in the n turned directions at the basis' film coefficient and d more: small, mu, bz, oz. */
static void diagonalise(struct cut *c, size_t n, double d)
{
    const size_t k = c->k, m = c->m;
    for (size_t i = 0; i < n * n; i++) {
        const double more = d == 0 ? 0 : d * (c->r1[i] + d * c->r2[i]);
        c->small[i] = (c->r0[i] + more) / sqrt(mass(c, i % n, d) * mass(c, i / n, d));
    }
    tmx_dense_eigen(n, c->small, c->mu, c->err);
    for (size_t i = 0; i < n * n; i++) {
        c->small[i] /= sqrt(mass(c, i % n, d));
    }
    tmx_dense_tn(n, c->n_in, n, 1, c->small, n, c->ub, k, 0, c->bz, k);
    tmx_dense_tn(n, m, n, 1, c->small, n, c->uo, k, 0, c->oz, k);
    if (d != 0 && c->n_in > m) {
        tmx_dense_tn(n, 1, n, d, c->small, n, c->ua, k, 1, c->bz + m * k, k);
    }
}

/* Raise miss to the largest difference of a level basis' step responses over times from min_step_s on. */
static void compare(struct cut *c, const struct level_basis *f, size_t n)
{
    const size_t k = c->k, m = c->m, n_in = c->n_in;
    double *e = c->work;
    const int n_time = 1 + (int)ceil(log2(5 / (c->demand->min_step_s * f->modes.rate[0])));
    for (int time = 0; time < n_time; time++) {
        const double t = ldexp(c->demand->min_step_s, time);
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

/* Fill miss. Returns what it makes of steps of all the powers of the demand, the contributions added as
 * independent ones (root of the sum of squares): their signs alternate, and the worst case is never met. */
static double measure(struct cut *c, size_t n)
{
    const size_t m = c->m, n_in = c->n_in;
    double worst_k = 0;
    memset(c->miss, 0, n_in * m * sizeof *c->miss);
    turn_directions(c, n);
    for (size_t f = 0; f < c->n_level_basis && !c->err->code; f++) {
        const struct level_basis *level_basis = &c->level_basis[f];
        diagonalise(c, n, level_basis->modes.gamma - c->basis->gamma);
        compare(c, level_basis, n);
    }
    for (size_t u = 0; u < m; u++) {
        double sum = 0;
        for (size_t v = 0; v < n_in; v++) {
            const double part = c->miss[v * m + u] * c->weight[v];
            sum += part * part;
        }
        worst_k = fmax(worst_k, sqrt(sum));
    }
    return worst_k;
}

/* map, rest and the direct term (to now), from the diagonal form at the basis' own film coefficient. */
static void map_out(struct cut *c, size_t n, struct tmx_truncated *cut)
{
    const struct tmx_modes *q = &c->level_basis[0].modes;
    const struct level_basis *f = &c->level_basis[0];
    const size_t k = c->k, m = c->m;
    double *work;
    TMX_TAKE(&c->arena, work, k * (n > m ? n : m));
    TMX_TAKE(&cut->arena, cut->map, n * k);
    TMX_TAKE(&cut->arena, cut->rest, m * k);
    if (c->arena.failed || cut->arena.failed) {
        tmx_error(c->err, TMX_ENOMEM, "out of memory");
        return;
    }
    if (several(c)) {
        memcpy(work, c->turned, n * k * sizeof *work);
    } else {
        tmx_dense_nn(k, n, n, 1, c->turned, k, c->small, n, 0, work, k);
    }
    for (size_t i = 0; i < n * k; i++) {
        work[i] /= c->root[i % k];
    }
    tmx_dense_nn(k, n, k, 1, q->vector, k, work, k, 0, cut->map, k);
    memcpy(work, f->bt, k * m * sizeof *work);
    if (several(c)) { /* what S cannot represent of the steady states */
        tmx_dense_nn(n, m, n, 1, c->small, n, c->bz, k, 0, c->work, k);
        tmx_dense_nn(k, m, n, -1, c->turned, k, c->work, k, 1, work, k);
    }
    for (size_t i = 0; i < k * m; i++) {
        work[i] /= c->root[i % k];
    }
    tmx_dense_nn(k, m, k, 1, q->vector, k, work, k, 0, cut->rest, k);
    tmx_dense_tn(m, m, k, 1, f->ot, k, f->bt, k, 0, c->now, m);
    tmx_dense_tn(m, m, n, -1, c->oz, k, c->bz, k, 1, c->now, m);
}

/* to[n] := X' U' of work[k]. */
static void onto_modes(struct cut *c, size_t n, double *to)
{
    tmx_dense_tn(n, 1, c->k, 1, c->turned, c->k, c->work, c->k, 0, c->work + c->k, n);
    tmx_dense_tn(n, 1, n, 1, c->small, n, c->work + c->k, n, 0, to, n);
}

/* The diagonal form at d, ready to step. */
static void layout(struct cut *c, size_t n, double d, struct tmx_modal *modal)
{
    const struct tmx_modes *q = &c->level_basis[0].modes;
    const size_t k = c->k, m = c->m;
    tmx_modal_init(modal, n, m, true, false, c->err);
    if (c->err->code) {
        return;
    }
    for (size_t i = 0; i < k; i++) {
        c->work[i] = q->one[i] / c->root[i];
    }
    onto_modes(c, n, modal->stored);
    tmx_dense_tn(k, 1, k, d, q->vector, k, c->basis->area, k, 0, c->work, k);
    for (size_t i = 0; i < k; i++) {
        c->work[i] = (q->leave[i] + c->work[i]) / c->root[i];
    }
    onto_modes(c, n, modal->leave);
    for (size_t i = 0; i < k; i++) {
        c->work[i] = q->one[i] * c->root[i] + (d != 0 ? d * c->air[i] : 0);
    }
    onto_modes(c, n, modal->one);
    memcpy(modal->rate, c->mu, n * sizeof *c->mu);
    for (size_t u = 0; u < m; u++) {
        for (size_t j = 0; j < n; j++) {
            modal->in[u * modal->mode_row + j] = c->mu[j] * c->bz[u * k + j];
            modal->out[j * modal->unit_row + u] = c->oz[u * k + j];
        }
        memcpy(modal->direct + u * modal->unit_row, c->now + u * m, m * sizeof *c->now);
    }
}

/* The levels' diagonal forms, vector and back; what their steady states miss goes to error. */
static void levels(struct cut *c, size_t n, struct tmx_truncated *cut, struct tmx_modal *modal, double *error)
{
    const size_t k = c->k, m = c->m;
    double *worst, *end = c->work, *miss = c->miss;
    TMX_TAKE(&c->arena, worst, m * m);
    if (several(c)) {
        TMX_TAKE_REALS(cut->vectors, c->demand->n_level * n * n, &cut->vector, &cut->back);
    }
    tmx_memory_check(!c->arena.failed && !cut->vectors->failed, c->err);
    for (size_t l = 0; l < c->demand->n_level && !c->err->code; l++) {
        const double d = several(c) ? c->demand->gamma[l] - c->basis->gamma : 0;
        if (several(c)) { /* of one level it is at hand */
            diagonalise(c, n, d);
        }
        layout(c, n, d, &modal[l]);
        if (!several(c) || c->err->code) {
            continue;
        }
        memcpy(cut->vector + l * n * n, c->small, n * n * sizeof *cut->vector);
        for (size_t i = 0; i < n * n; i++) {
            cut->back[l * n * n + i] = mass(c, i % n, d) * c->small[i];
        }
        for (size_t i = 0; i < k * m; i++) {
            end[i] = c->zb[i] / (1 + d * c->phi[i % k]);
        }
        memcpy(miss, c->now, m * m * sizeof *miss);
        tmx_dense_tn(m, m, n, 1, c->oz, k, c->bz, k, 1, miss, m);
        tmx_dense_tn(m, m, k, -1, c->zo, k, end, k, 1, miss, m);
        for (size_t i = 0; i < m * m; i++) {
            worst[i] = fmax(worst[i], fabs(miss[i]));
        }
    }
    for (size_t i = 0; i < m * m && !c->err->code; i++) {
        error[i] += worst[i];
    }
}

void tmx_truncate(struct tmx_truncated *cut, const struct tmx_basis *basis, const struct tmx_demand *demand,
                  struct tmx_modal *modal, double *error, struct tmx_err *err)
{
    struct cut c = {.basis = basis,
                    .demand = demand,
                    .k = basis->n_mode,
                    .m = basis->n_unit,
                    .n_in = basis->n_unit + (demand->ambient_k > 0),
                    .err = err};
    *cut = (struct tmx_truncated){.n_mode = demand->n_mode, .vectors = cut->vectors};
    if (err->code) {
        return;
    }
    init(&c);
    if (!err->code) {
        tabulate(&c);
    }
    /* The least number of directions that meets the tolerance, to within 2 %: what is missed falls about
     * exponentially, so a straight line through the logarithms of the last two tries leads to the next. */
    const size_t close = cut->n_mode == 0 && !err->code ? 1 + c.k / 64 : c.k;
    size_t low = c.n_kept, high = c.k, tried = low + (high - low) / 2; /* low fails, high meets it */
    double last_n = NAN, last = NAN;
    while (high - low > close) {
        const double excess = log(measure(&c, tried) / (SHARE * demand->tolerance_k)), at = (double)tried;
        const double next = at - excess * (at - last_n) / (excess - last) + 0.5 * (double)close;
        last_n = at;
        last = excess;
        *(excess <= 0 ? &high : &low) = tried;
        tried = low + (high - low) / 2;
        if (isfinite(next)) {
            tried = (size_t)fmax((double)(low + close), fmin((double)(high - close), next));
        }
    }
    cut->n_mode = cut->n_mode == 0 ? high : cut->n_mode;
    const size_t least = cut->n_mode > c.n_kept ? cut->n_mode : c.n_kept, n = least < c.k ? least : c.k;
    cut->n_mode = n;
    if (!err->code) {
        (void)measure(&c, n);
        for (size_t i = 0; i < c.n_in * c.m; i++) {
            error[i] += c.miss[i];
        }
        if (c.n_level_basis > 1) { /* else measure has done it */
            diagonalise(&c, n, 0);
        }
        map_out(&c, n, cut);
        levels(&c, n, cut, modal, error);
    }
    for (size_t f = 0; f < c.n_level_basis; f++) {
        tmx_modes_finish(&c.level_basis[f].modes);
    }
    tmx_arena_finish(&c.arena);
}

void tmx_truncated_finish(struct tmx_truncated *cut)
{
    tmx_arena_finish(&cut->arena);
    *cut = (struct tmx_truncated){0};
}

void tmx_modes_init(struct tmx_modes *modes, const struct tmx_basis *basis, double gamma, struct tmx_err *err)
{
    const size_t k = basis->n_mode, m = basis->n_unit;
    *modes = (struct tmx_modes){.n_mode = k, .n_unit = m, .gamma = gamma};
    TMX_TAKE_REALS(&modes->arena, k, &modes->rate, &modes->one, &modes->leave);
    TMX_TAKE(&modes->arena, modes->vector, k * k);
    TMX_TAKE(&modes->arena, modes->in, k * m);
    TMX_TAKE(&modes->arena, modes->out, basis->out ? k * m : 0);
    if (modes->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "%zu modes", k);
    }
    if (err->code) {
        return;
    }
    modes->out = basis->out ? modes->out : modes->in;
    for (size_t i = 0; i < k * k; i++) {
        modes->vector[i] = basis->g[i] + (basis->a ? (gamma - basis->gamma) * basis->a[i] : 0);
    }
    tmx_dense_eigen(k, modes->vector, modes->rate, err);
    if (!(modes->rate[0] > 0)) {
        tmx_error(err, TMX_ESOLVE, "a thermal mode does not decay (rate %g 1/s)", modes->rate[0]);
    }
    tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->in, k, 0, modes->in, k);
    if (basis->out) {
        tmx_dense_tn(k, m, k, 1, modes->vector, k, basis->out, k, 0, modes->out, k);
    }
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->one, k, 0, modes->one, k);
    tmx_dense_tn(k, 1, k, gamma, modes->vector, k, basis->area, k, 0, modes->leave, k);
    tmx_dense_tn(k, 1, k, 1, modes->vector, k, basis->ground, k, 1, modes->leave, k);
}

void tmx_modes_finish(struct tmx_modes *modes)
{
    tmx_arena_finish(&modes->arena);
    *modes = (struct tmx_modes){0};
}

void tmx_modes_layout(const struct tmx_modes *modes, struct tmx_modal *modal, struct tmx_err *err)
{
    const size_t k = modes->n_mode, m = modes->n_unit;
    if (err->code) {
        return;
    }
    tmx_modal_init(modal, k, m, false, false, err);
    if (err->code) {
        return;
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
}
