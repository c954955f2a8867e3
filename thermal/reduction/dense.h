/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_DENSE_H
#define TMX_THERMAL_REDUCTION_DENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/thread_pool.h"

/* The dense linear algebra of set-up, on one thread but for what a thread pool shares: the same bits on any
 * processor. Products, symmetric eigenvalues and LL' are our own (dense_kernel.c has what
 * takes the time), LU and the eigenvalues of other matrices GSL's. Matrices
 * are stored by columns. The stepping loops do not use it. */

/* c[m][n] = alpha a^T b + beta c with a [k][m] (leading dimension lda), b [k][n], c (ldc). */
void tmx_dense_tn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc);
/* c[m][n] = alpha a b + beta c with a [m][k], b [k][n]. */
void tmx_dense_nn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc);

/* Eigenvalues w[n], ascending, and orthonormal eigenvectors, which replace the symmetric
 * a[n][n] (each with its largest component positive). Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
void tmx_dense_eigen(size_t n, double *a, double *w, struct tmx_err *err);

/* b[n][n_rhs] := a^-1 b for a symmetric positive definite a[n][n], which is destroyed. */
void tmx_dense_solve(size_t n, size_t n_rhs, double *a, double *b, struct tmx_err *err);

/* b[n][n_rhs] := a^-1 b, or a'^-1 b where transposed, for any a[n][n], which is destroyed. */
void tmx_dense_solve_any(size_t n, size_t n_rhs, bool transposed, double *a, double *b, struct tmx_err *err);

/* a[n][n] t = t block for any matrix a, which is destroyed: a block is an eigenvalue re[i], im[i] = 0, or two
 * neighbours 2j and 2j + 1 with re[i] and im[i] = im, -im: [re im; -im re]. Pairs come first; the two columns
 * of t [n][n] are the parts of an eigenvector of norm 1. */
void tmx_dense_eigen_any(size_t n, double *a, double *re, double *im, double *t, struct tmx_err *err);

/* e[n][n] = exp(-a dt_s) for any a[n][n] whose eigenvalues have positive real parts. work [4][n][n]. */
void tmx_dense_decay(size_t n, const double *a, double dt_s, double *e, double *work, struct tmx_err *err);

/* Eigenvalues and vectors of a symmetric tridiagonal matrix: d[n] its diagonal, replaced by the eigenvalues,
 * in any order; e[n] its off-diagonal, destroyed; z[n][n] the vectors. Allocates nothing. */
enum tmx_status tmx_dense_tridiagonal(size_t n, double *d, double *e, double *z);

/* end[n] = exp(X) e1 and mean[n] = (the integral of exp(t X) over t from 0 to 1) e1 for X = pole (1 - h^-1),
 * h[n][n] (leading dimension ldh) any matrix with eigenvalues of a positive real part. */
#define TMX_DENSE_EXPONENTIAL(n) (3 * (n) * (n) + 3 * (n)) /* doubles of work */
enum tmx_status tmx_dense_exponential(size_t n, const double *h, size_t ldh, double pole, double *end,
                                      double *mean, double *work);

/* Products of matrices with a row for each node and few columns, stored by columns. They are done in pieces
 * by rows, which depend on the number of rows alone, so that a helper thread can take its part and sums have
 * one order. */

enum { TMX_TALL_PIECES = 8 };

struct tmx_tall {
    size_t n; /* rows */
    struct tmx_thread_pool *pool;
};

/* c[m][n_col] = a' diag(d) b (leading dimension ldc); d NULL: 1. work is [n_col][n], which may be b, or not
 * used where d is NULL; part [TMX_TALL_PIECES][m * n_col]. */
void tmx_tall_tn(const struct tmx_tall *t, size_t m, size_t n_col, const double *a, const double *d,
                 const double *b, double *work, double *part, double *c, size_t ldc);
/* c[n][n_col] = alpha a b + beta c with a [n][k], b [k][n_col] (leading dimension k). */
void tmx_tall_nn(const struct tmx_tall *t, size_t n_col, size_t k, double alpha, const double *a,
                 const double *b, double beta, double *c);

/* Private to dense.c: the tiles of products for each width of vector (dense_kernel.c). */
enum { TMX_TILE_ROWS = 16, TMX_TILE_COLS = 6, TMX_TILE_DOTS = 4, TMX_CHAINS = 8 };
struct tmx_turn { /* of columns at and at + 1, by an angle's cosine and sine */
    size_t at;
    double c, s;
};
struct tmx_tile {
    void (*tile)(size_t n_k, const double *a, const double *b, double *c);
    void (*dots)(size_t n_k, const double *const *a, const double *const *b, double *c);
    double (*fold)(size_t n, double part, const double *a, const double *v, double *y);
    void (*turn)(size_t n_turn, const struct tmx_turn *t, size_t n_row, size_t ldz, double *z);
};
extern const struct tmx_tile tmx_tile_any, tmx_tile_v3, tmx_tile_v4;

#endif
