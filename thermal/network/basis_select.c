/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With xi = Lambda^1/2 (x_steady - x), a step of power p gives xi(0) = bt p, bt = Lambda^-1/2 b,
 * xi' = -Lambda xi, and the distance of the temperatures from their end is ot' xi, ot =
 * Lambda^-1/2 o. The directions U are the largest of
 *   P = integral from t0 of exp(-Lambda t) (bt bt' + ot ot') exp(-Lambda t) dt,
 *   P_ij = (bt bt' + ot ot')_ij exp(-t0 (lambda_i + lambda_j)) / (lambda_i + lambda_j),
 * (wish->octaves: with dt/t in place of dt, as a sum over half octaves of t). Lambda^1/2 c and Lambda^-1/2 c
 * (c: the uniform field) are among them whatever P says: with them the heat balance, a change of ambient and
 * a uniform start lose nothing.
 *
 * Several film coefficients gamma + d: G_d = G + d A. P is the sum of those of the least, the middle and the
 * largest coefficient, U holds Lambda^1/2 G_d^-1 c of every one, by F = Lambda^-1/2 A Lambda^-1/2.
 */
#include "thermal/network/basis_select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/network/dense.h"

/* t0 in units of the shortest step: what has died out before is not worth modes. 0.15 gave the smallest
 * errors at 130 to 150 modes on tests/golden/A_gt200 among 0 to 0.5. By octaves: 0.25 to 0.3 asked for the
 * fewest modes of that chip in the physical network, cut to 33 and 58 units, among 0.1 to 0.5. */
static const double EARLY = 0.15, EARLY_OCTAVES = 0.25;

bool tmx_basis_select_several(const struct tmx_basis_select *c)
{
    return c->options->n_level > 1;
}

static enum tmx_status add_face(struct tmx_basis_select *c, double gamma, struct tmx_err *err)
{
    struct tmx_level_basis *f = &c->level_basis[c->n_level_basis++];
    const size_t k = c->k, m = c->m;
    const enum tmx_status st = tmx_modes_init(&f->modes, c->basis, gamma, err);
    f->bt = calloc(k * c->n_in, sizeof *f->bt);
    f->ot = calloc(k * m, sizeof *f->ot);
    if (st || !f->bt || !f->ot) {
        return st ? st : tmx_no_memory(err);
    }
    for (size_t i = 0; i < k; i++) {
        const double root = sqrt(f->modes.rate[i]);
        for (size_t u = 0; u < m; u++) {
            f->bt[u * k + i] = f->modes.in[u * k + i] / root;
            f->ot[u * k + i] = f->modes.out[u * k + i] / root;
        }
        if (c->n_in > m) { /* a start of 1 K */
            f->bt[m * k + i] = f->modes.one[i] * root;
        }
    }
    return TMX_OK;
}

/* F and air. */
static enum tmx_status init_several(struct tmx_basis_select *c, struct tmx_err *err)
{
    const size_t k = c->k;
    const struct tmx_modes *q = &c->level_basis[0].modes;
    double low = INFINITY, high = 0;
    c->f = calloc(k * k, sizeof *c->f);
    c->mass = calloc(k * k, sizeof *c->mass);
    c->air = calloc(k, sizeof *c->air);
    if (!c->f || !c->mass || !c->air) {
        return tmx_no_memory(err);
    }
    if (c->basis->a) {
        tmx_dense_nn(k, k, k, 1, c->basis->a, k, q->vector, k, 0, c->small, k);
        tmx_dense_tn(k, k, k, 1, q->vector, k, c->small, k, 0, c->f, k);
    }
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) {
            c->f[j * k + i] /= c->root[i] * c->root[j];
            c->air[i] += c->f[j * k + i] * c->root[j] * q->one[j];
        }
    }
    for (size_t l = 0; l < c->options->n_level; l++) {
        low = fmin(low, c->options->gamma[l]);
        high = fmax(high, c->options->gamma[l]);
    }
    enum tmx_status st = low < c->basis->gamma ? add_face(c, low, err) : TMX_OK;
    return st || !(high > c->basis->gamma) ? st : add_face(c, high, err);
}

static enum tmx_status init(struct tmx_basis_select *c, struct tmx_err *err)
{
    const size_t k = c->k = c->basis->n_mode, m = c->m = c->basis->n_unit;
    c->n_in = m + (c->options->ambient_k > 0);
    c->weight = calloc(c->n_in, sizeof *c->weight);
    c->root = calloc(k, sizeof *c->root);
    c->u = calloc(k * k, sizeof *c->u);
    c->small = calloc(k * (k > c->n_in ? k : c->n_in), sizeof *c->small);
    if (!c->weight || !c->root || !c->u || !c->small) {
        return tmx_no_memory(err);
    }
    enum tmx_status st = add_face(c, c->basis->gamma, err);
    for (size_t i = 0; i < k && !st; i++) {
        c->root[i] = sqrt(c->level_basis[0].modes.rate[i]);
    }
    for (size_t v = 0; v < c->n_in; v++) {
        c->weight[v] = v < m ? c->options->power_w[v] : c->options->ambient_k;
    }
    return st || !tmx_basis_select_several(c) ? st : init_several(c, err);
}

enum tmx_status tmx_basis_select_at_level(struct tmx_basis_select *c, double d, size_t n, double *v,
                                          struct tmx_err *err)
{
    const size_t k = c->k;
    for (size_t i = 0; i < k * k; i++) {
        c->mass[i] = d * c->f[i] + (i % (k + 1) == 0);
    }
    return tmx_dense_solve(k, n, c->mass, v, err);
}

/* Make column n of u orthonormal to those before it; false when nothing new is left of it. */
static bool orthonormal(struct tmx_basis_select *c, size_t n)
{
    const size_t k = c->k;
    double *v = c->u + n * k;
    const double size = tmx_dense_dot(k, v, v);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < n; j++) {
            tmx_dense_axpy(k, -tmx_dense_dot(k, c->u + j * k, v), c->u + j * k, v);
        }
    }
    const double left = tmx_dense_dot(k, v, v);
    if (!(left > 1e-24 * size)) {
        return false;
    }
    for (size_t i = 0; i < k; i++) {
        v[i] /= sqrt(left);
    }
    return true;
}

/* The fields that U must hold, orthonormal, as its first columns; *n: how many. */
static enum tmx_status kept_fields(struct tmx_basis_select *c, size_t *n, struct tmx_err *err)
{
    const struct tmx_modes *q = &c->level_basis[0].modes;
    const size_t k = c->k;
    *n = 0;
    for (size_t f = 0; f < 1 + c->options->n_level && *n < k; f++) {
        double *v = c->u + *n * k;
        for (size_t i = 0; i < k; i++) {
            v[i] = f == 0 ? c->root[i] * q->one[i] : q->one[i] / c->root[i];
        }
        if (f > 0 && tmx_basis_select_several(c)) {
            const enum tmx_status st =
                tmx_basis_select_at_level(c, c->options->gamma[f - 1] - q->gamma, 1, v, err);
            if (st) {
                return st;
            }
        }
        *n += orthonormal(c, *n);
    }
    return TMX_OK;
}

/* p [k][k] *= what each pair of a face's modes weighs over time. */
static enum tmx_status weigh_times(const struct tmx_basis_select *c, const struct tmx_level_basis *f,
                                   double *p, struct tmx_err *err)
{
    const size_t k = c->k;
    const double *rate = f->modes.rate, t0 = EARLY * c->options->min_step_s,
                 t1 = EARLY_OCTAVES * c->options->min_step_s;
    const size_t n_time = c->options->octaves ? 1 + (size_t)ceil(2 * log2(20 / (t1 * rate[0]))) : 0;
    double *e = calloc(k * (n_time + k) + 1, sizeof *e), *weight = e + k * n_time;
    if (!e) {
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t n = 0; n < n_time; n++) {
            e[i * n_time + n] = exp(-rate[i] * t1 * pow(2, 0.5 * (double)n));
        }
        for (size_t j = 0; j < k && !c->options->octaves; j++) {
            weight[j * k + i] = exp(-t0 * (rate[i] + rate[j])) / (rate[i] + rate[j]);
        }
    }
    if (c->options->octaves) {
        tmx_dense_tn(k, k, n_time, 1, e, n_time, e, n_time, 0, weight, k);
    }
    for (size_t i = 0; i < k * k; i++) {
        p[i] *= weight[i];
    }
    free(e);
    return TMX_OK;
}

/* p [k][k]: P of a face in its own xi. */
static enum tmx_status gramian(struct tmx_basis_select *c, const struct tmx_level_basis *f, double *p,
                               struct tmx_err *err)
{
    const size_t k = c->k, m = c->m, n_in = c->n_in;
    double mean = 0;
    for (size_t u = 0; u < m; u++) {
        mean += c->options->power_w[u] / (double)m;
    }
    for (size_t i = 0; i < k; i++) {        /* dgemm wants transposed factors: P = bt bt' + ot ot' */
        for (size_t u = 0; u < n_in; u++) { /* as sources by their power, as sensors alike */
            c->small[i * n_in + u] = f->bt[u * k + i] * c->weight[u] / mean;
        }
    }
    tmx_dense_tn(k, k, n_in, 1, c->small, n_in, c->small, n_in, 0, p, k);
    for (size_t i = 0; i < k; i++) {
        for (size_t u = 0; u < m; u++) {
            c->small[i * m + u] = f->ot[u * k + i];
        }
    }
    tmx_dense_tn(k, k, m, 1, c->small, m, c->small, m, 1, p, k);
    return weigh_times(c, f, p, err);
}

/* to += T p T', T the way from xi of a face to xi of the first. Uses p, small, mass. */
static void add_turned(struct tmx_basis_select *c, const struct tmx_level_basis *f, double *p, double *to)
{
    const size_t k = c->k;
    tmx_dense_tn(k, k, k, 1, f->modes.vector, k, c->level_basis[0].modes.vector, k, 0, c->mass, k);
    for (size_t j = 0; j < k; j++) { /* T', by columns */
        for (size_t i = 0; i < k; i++) {
            c->mass[j * k + i] *= c->root[j] / sqrt(f->modes.rate[i]);
        }
    }
    tmx_dense_nn(k, k, k, 1, p, k, c->mass, k, 0, c->small, k);
    tmx_dense_tn(k, k, k, 1, c->mass, k, c->small, k, 1, to, k);
}

/* P of all faces in xi of the first. */
static enum tmx_status gramians(struct tmx_basis_select *c, double *p, struct tmx_err *err)
{
    enum tmx_status st = gramian(c, &c->level_basis[0], p, err);
    double *own = c->n_level_basis > 1 ? calloc(c->k * c->k, sizeof *own) : NULL;
    if (c->n_level_basis > 1 && !own) {
        return tmx_no_memory(err);
    }
    for (size_t f = 1; f < c->n_level_basis && !st; f++) {
        st = gramian(c, &c->level_basis[f], own, err);
        if (!st) {
            add_turned(c, &c->level_basis[f], own, p);
        }
    }
    free(own);
    return st;
}

/* Fill u: the kept fields, then the eigenvectors of P outside them, largest first. */
static enum tmx_status fill(struct tmx_basis_select *c, double *p, double *value, struct tmx_err *err)
{
    const size_t k = c->k;
    enum tmx_status st = gramians(c, p, err);
    st = st ? st : kept_fields(c, &c->n_kept, err);
    if (st) {
        return st;
    }
    for (size_t side = 0; side < 2; side++) { /* P := (1 - U U') P (1 - U U'), by symmetry in two turns */
        for (size_t j = 0; j < c->n_kept; j++) {
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
    for (size_t j = 0; j < c->n_kept;
         j++) { /* the kept fields last of all, apart from what is null in P, too */
        const double *v = c->u + j * k;
        for (size_t col = 0; col < k; col++) {
            tmx_dense_axpy(k, -trace * v[col], v, p + col * k);
        }
    }
    st = tmx_dense_eigen(k, p, value, err);
    for (size_t j = c->n_kept; j < k && !st; j++) { /* ascending: the last are the largest */
        memcpy(c->u + j * k, p + (k - 1 - (j - c->n_kept)) * k, k * sizeof *p);
    }
    return st;
}

enum tmx_status tmx_basis_select_init(struct tmx_basis_select *c, const struct tmx_basis *basis,
                                      const struct tmx_truncation *options, struct tmx_err *err)
{
    *c = (struct tmx_basis_select){.basis = basis, .options = options};
    enum tmx_status st = init(c, err);
    double *work = st ? NULL : calloc(c->k * (c->k + 1), sizeof *work);
    st = st || work ? st : tmx_no_memory(err);
    st = st ? st : fill(c, work, work + c->k * c->k, err);
    free(work);
    return st;
}

void tmx_basis_select_finish(struct tmx_basis_select *c)
{
    double *const own[] = {c->weight, c->root, c->u, c->small, c->f, c->air, c->mass};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        free(own[i]);
    }
    for (size_t f = 0; f < TMX_MAX_LEVEL_BASIS; f++) {
        tmx_modes_finish(&c->level_basis[f].modes);
        free(c->level_basis[f].bt);
        free(c->level_basis[f].ot);
    }
}
