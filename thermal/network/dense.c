/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

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

enum tmx_status tmx_dense_tridiagonal(size_t n, double *d, double *e, double *z, double *work)
{
    const lapack_int info = LAPACKE_dstev_work(LAPACK_COL_MAJOR, 'V', (int)n, d, e, z, (int)n, work);
    return info ? TMX_ESOLVE : TMX_OK;
}
