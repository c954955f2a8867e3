/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/reduction/dense.h"

#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tmx_dense_start(void)
{
    openblas_set_num_threads(1);
}

void tmx_dense_tn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a, (int)lda, b,
                (int)ldb, beta, c, (int)ldc);
}

void tmx_dense_nn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a, (int)lda, b,
                (int)ldb, beta, c, (int)ldc);
}

double tmx_dense_dot(size_t n, const double *x, const double *y)
{
    return cblas_ddot((int)n, x, 1, y, 1);
}

void tmx_dense_axpy(size_t n, double alpha, const double *x, double *y)
{
    cblas_daxpy((int)n, alpha, x, 1, y, 1);
}

static enum tmx_status end_eigen(lapack_int info, size_t n, double *a, struct tmx_err *err)
{
    if (info) {
        return tmx_fail(err, info < 0 ? TMX_ENOMEM : TMX_ESOLVE,
                        "eigenvalues of a %zu x %zu matrix: LAPACK info %d", n, n, (int)info);
    }
    for (size_t c = 0; c < n; c++) { /* fix the sign, which LAPACK leaves open */
        double *v = a + c * n, big = 0;
        for (size_t r = 0; r < n; r++) {
            big = fabs(v[r]) > fabs(big) ? v[r] : big;
        }
        for (size_t r = 0; r < n && big < 0; r++) {
            v[r] = -v[r];
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_dense_eigen(size_t n, double *a, double *w, struct tmx_err *err)
{
    return end_eigen(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, a, (int)n, w), n, a, err);
}

enum tmx_status tmx_dense_eigen_pair(size_t n, double *a, double *m, double *w, struct tmx_err *err)
{
    return end_eigen(LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', (int)n, a, (int)n, m, (int)n, w), n, a,
                     err);
}

enum tmx_status tmx_dense_solve(size_t n, size_t n_rhs, double *a, double *b, struct tmx_err *err)
{
    const lapack_int info = LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', (int)n, (int)n_rhs, a, (int)n, b, (int)n);
    return info ? tmx_fail(err, TMX_ESOLVE, "%zu x %zu matrix is not positive definite", n, n) : TMX_OK;
}

enum tmx_status tmx_dense_solve_any(size_t n, size_t n_rhs, bool transposed, double *a, double *b,
                                    struct tmx_err *err)
{
    const int m = (int)n;
    lapack_int *pivot = calloc(n, sizeof *pivot);
    lapack_int info = pivot ? LAPACKE_dgetrf(LAPACK_COL_MAJOR, m, m, a, m, pivot) : -1;
    info = info ? info
                : LAPACKE_dgetrs(LAPACK_COL_MAJOR, transposed ? 'T' : 'N', m, (int)n_rhs, a, m, pivot, b, m);
    free(pivot);
    return info ? tmx_fail(err, info < 0 ? TMX_ENOMEM : TMX_ESOLVE, "%zu x %zu matrix has no inverse", n, n)
                : TMX_OK;
}

enum tmx_status tmx_dense_eigen_any(size_t n, double *a, double *re, double *im, double *t,
                                    struct tmx_err *err)
{
    double *value = calloc(2 * n + n * n, sizeof *value), *imag = value + n, *vector = imag + n;
    const lapack_int info = value ? LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', (int)n, a, (int)n, value, imag,
                                                  NULL, 1, vector, (int)n)
                                  : -1;
    size_t at = 0;
    for (int pairs = 1; pairs >= 0 && !info; pairs--) {
        for (size_t i = 0; i < n; i += imag[i] != 0 ? 2 : 1) {
            const size_t wide = imag[i] != 0 ? 2 : 1;
            for (size_t k = 0; k < wide && (wide == 2) == pairs; k++, at++) {
                re[at] = value[i];
                im[at] = k == 0 ? imag[i] : -imag[i];
                memcpy(t + at * n, vector + (i + k) * n, n * sizeof *t);
            }
        }
    }
    free(value);
    return info ? tmx_fail(err, info < 0 ? TMX_ENOMEM : TMX_ESOLVE,
                           "eigenvalues of a %zu x %zu matrix: LAPACK info %d", n, n, (int)info)
                : TMX_OK;
}

/* Scaling and squaring with the Pade approximant of order 6. Source: C. Moler, C. Van Loan, "Nineteen dubious
 * ways to compute the exponential of a matrix", SIAM Rev. 45 (2003) 3, method 3. */
enum tmx_status tmx_dense_decay(size_t n, const double *a, double dt_s, double *e, double *work,
                                struct tmx_err *err)
{
    enum { ORDER = 6 };
    double *x = work, *power = work + n * n, *down = power + n * n, *next = down + n * n, most = 0, part = 1;
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++) {
            sum += fabs(a[c * n + r]) * dt_s;
        }
        most = fmax(most, sum);
    }
    const int halvings = most > 0.5 ? ilogb(most) + 2 : 0;
    for (size_t i = 0; i < n * n; i++) {
        x[i] = -ldexp(a[i] * dt_s, -halvings);
        power[i] = e[i] = down[i] = i % (n + 1) == 0;
    }
    for (int j = 1; j <= ORDER; j++) {
        tmx_dense_nn(n, n, n, 1, x, n, power, n, 0, next, n);
        memcpy(power, next, n * n * sizeof *next);
        part *= (double)(ORDER - j + 1) / (j * (2 * ORDER - j + 1));
        tmx_dense_axpy(n * n, part, power, e);
        tmx_dense_axpy(n * n, j % 2 ? -part : part, power, down);
    }
    const enum tmx_status st = tmx_dense_solve_any(n, n, false, down, e, err);
    for (int k = 0; k < halvings && !st; k++) {
        tmx_dense_nn(n, n, n, 1, e, n, e, n, 0, next, n);
        memcpy(e, next, n * n * sizeof *next);
    }
    return st;
}

enum tmx_status tmx_dense_tridiagonal(size_t n, double *d, double *e, double *z, double *work)
{
    const lapack_int info = LAPACKE_dstev_work(LAPACK_COL_MAJOR, 'V', (int)n, d, e, z, (int)n, work);
    return info ? TMX_ESOLVE : TMX_OK;
}

/* By eigenvectors: h^-1 of a stiff network would have lost its slow modes in its round-off. */
enum tmx_status tmx_dense_exponential(size_t n, const double *h, size_t ldh, double pole, double *end,
                                      double *mean, double *work)
{
    lapack_complex_double *a = (lapack_complex_double *)work, *vector = a + n * n, *value = vector + n * n,
                          *weight = value + n, *room = weight + n;
    lapack_int pivot[128];
    const int m = (int)n;
    tmx_assert(n <= 128);
    for (size_t col = 0; col < n; col++) {
        for (size_t r = 0; r < n; r++) {
            a[col * n + r] = h[col * ldh + r];
        }
        weight[col] = col == 0;
    }
    if (LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', 'V', m, a, m, value, NULL, 1, vector, m, room, 4 * m,
                           (double *)(room + 4 * n))) {
        return TMX_ESOLVE;
    }
    memcpy(a, vector, n * n * sizeof *a);
    if (LAPACKE_zgesv_work(LAPACK_COL_MAJOR, m, 1, a, m, pivot, weight, m)) {
        return TMX_ESOLVE;
    }
    memset(end, 0, n * sizeof *end);
    memset(mean, 0, n * sizeof *mean);
    for (size_t i = 0; i < n; i++) {
        const lapack_complex_double rate = pole * (1 - 1 / value[i]);
        const lapack_complex_double x = fmin(creal(rate), 0) + I * cimag(rate),
                                    e = cexp(x); /* nothing grows */
        const lapack_complex_double part = cabs(x) < 1e-5 ? 1 + x / 2 + x * x / 6 : (e - 1) / x;
        for (size_t r = 0; r < n; r++) {
            end[r] += creal(weight[i] * e * vector[i * n + r]);
            mean[r] += creal(weight[i] * part * vector[i * n + r]);
        }
    }
    return TMX_OK;
}

/* Rows of a piece are a multiple of this: BLAS computes what is left over of its blocks (of 4 to 24 rows)
 * otherwise. */
enum { BLOCK = 48 };

struct product {
    const struct tmx_tall *tall;
    size_t m, n_col;
    double alpha, beta;
    const double *a, *d, *b;
    double *work, *c;
};

/* The rows [*from, *from + count) of a piece; few, or none, in the last ones. */
static size_t rows(const struct tmx_tall *t, size_t piece, size_t *from)
{
    const size_t blocks = (t->n + BLOCK - 1) / BLOCK;
    const size_t size = (blocks + TMX_TALL_PIECES - 1) / TMX_TALL_PIECES * BLOCK;
    *from = piece * size;
    return *from >= t->n ? 0 : t->n - *from < size ? t->n - *from : size;
}

static void tn_piece(void *ctx, size_t piece)
{
    const struct product *p = ctx;
    const size_t n = p->tall->n;
    const double *b = p->b;
    double *c = p->c + piece * p->m * p->n_col;
    size_t from;
    const size_t count = rows(p->tall, piece, &from);
    for (size_t col = 0; col < p->n_col && p->d; col++) {
        for (size_t r = from; r < from + count; r++) {
            p->work[col * n + r] = p->d[r] * b[col * n + r];
        }
    }
    b = p->d ? p->work : b;
    if (count > 0) {
        tmx_dense_tn(p->m, p->n_col, count, 1, p->a + from, n, b + from, n, 0, c, p->m);
    }
}

void tmx_tall_tn(const struct tmx_tall *t, size_t m, size_t n_col, const double *a, const double *d,
                 const double *b, double *work, double *part, double *c, size_t ldc)
{
    struct product p = {.tall = t, .m = m, .n_col = n_col, .a = a, .d = d, .b = b, .work = work, .c = part};
    size_t n_piece = TMX_TALL_PIECES, from;
    while (n_piece > 1 && rows(t, n_piece - 1, &from) == 0) {
        n_piece--;
    }
    tmx_thread_pool_run(t->pool, n_piece, tn_piece, &p);
    for (size_t col = 0; col < n_col; col++) {
        for (size_t r = 0; r < m; r++) {
            double sum = 0;
            for (size_t i = 0; i < n_piece; i++) {
                sum += part[(i * n_col + col) * m + r];
            }
            c[col * ldc + r] = sum;
        }
    }
}

static void nn_piece(void *ctx, size_t piece)
{
    const struct product *p = ctx;
    size_t from;
    const size_t n = p->tall->n, count = rows(p->tall, piece, &from);
    if (count > 0) {
        tmx_dense_nn(count, p->n_col, p->m, p->alpha, p->a + from, n, p->b, p->m, p->beta, p->c + from, n);
    }
}

void tmx_tall_nn(const struct tmx_tall *t, size_t n_col, size_t k, double alpha, const double *a,
                 const double *b, double beta, double *c)
{
    struct product p = {
        .tall = t, .m = k, .n_col = n_col, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
    tmx_thread_pool_run(t->pool, TMX_TALL_PIECES, nn_piece, &p);
}
