/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard errors: what leaving out a cluster of rows does, a sensor in whole steps, and jumps of
 * power (fit_jumps.c). */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "measure/fit_problem.h"

/* Solve A x = b in place of b for a symmetric positive matrix; false when it is not one. */
static bool solve_spd(gsl_matrix *A, gsl_vector *b)
{
    return gsl_linalg_cholesky_decomp1(A) == GSL_SUCCESS && gsl_linalg_cholesky_svx(A, b) == GSL_SUCCESS;
}

/* A reading in whole steps is off by one number, even over a step, while it stands still: what that does to
 * each parameter, variance[p]. A: J'J, lower triangle; scale: of its columns. */
static void rounding(const struct tmx_fit_problem *q, const gsl_matrix *J, const gsl_matrix *A,
                     const gsl_vector *scale, double *variance)
{
    const size_t p = J->size2;
    gsl_matrix *B = gsl_matrix_alloc(p, p);
    gsl_vector *g = gsl_vector_alloc(p);
    bool good = B && g;
    for (size_t a = 0; good && a < p; a++) {
        for (size_t c = 0; c <= a; c++) {
            const double v = gsl_matrix_get(A, a, c) * gsl_vector_get(scale, a) * gsl_vector_get(scale, c);
            gsl_matrix_set(B, a, c, v + (a == c ? 1e-12 : 0));
            gsl_matrix_set(B, c, a, v + (a == c ? 1e-12 : 0));
        }
    }
    good = good && gsl_linalg_cholesky_decomp1(B) == GSL_SUCCESS;
    for (size_t i = 0; good && i < q->n_row;) {
        size_t end = i;
        gsl_vector_set_zero(g);
        for (; end < q->n_row && q->cluster[end] == q->cluster[i]; end++) {
            for (size_t a = 0; a < p; a++) {
                *gsl_vector_ptr(g, a) += gsl_matrix_get(J, end, a) * gsl_vector_get(scale, a);
            }
        }
        if (gsl_linalg_cholesky_svx(B, g) == GSL_SUCCESS) {
            for (size_t a = 0; a < p; a++) {
                const double d = gsl_vector_get(g, a) * gsl_vector_get(scale, a) * q->step_k[q->cluster[i]];
                variance[a] += d * d / 12;
            }
        }
        i = end;
    }
    if (good && !tmx_fit_jumps(q, J, B, scale, variance)) {
        for (size_t a = 0; a < p; a++) {
            variance[a] = INFINITY;
        }
    }
    gsl_matrix_free(B);
    gsl_vector_free(g);
}

void tmx_fit_jackknife(const struct tmx_fit_problem *q, const gsl_matrix *J, const gsl_vector *r,
                       double *variance)
{
    const size_t p = J->size2;
    gsl_matrix *A = gsl_matrix_calloc(p, p), *B = gsl_matrix_alloc(p, p);
    gsl_vector *scale = gsl_vector_alloc(p), *b = gsl_vector_alloc(p);
    double *jack = calloc(p, sizeof *jack);
    if (!A || !B || !scale || !b || !jack) {
        for (size_t k = 0; k < p; k++) {
            variance[k] = INFINITY;
        }
        goto out;
    }
    const gsl_matrix_const_view rows = gsl_matrix_const_submatrix(J, 0, 0, q->n_row, p);
    gsl_blas_dsyrk(CblasLower, CblasTrans, 1, &rows.matrix, 0, A);
    for (size_t i = 0; i < p; i++) {
        gsl_vector_set(scale, i, 1 / sqrt(fmax(gsl_matrix_get(A, i, i), 1e-300)));
        variance[i] = 0;
    }
    rounding(q, J, A, scale, variance);
    double n_good = 0;
    for (size_t i = 0; i < q->n_row;) {
        size_t end = i;
        while (end < q->n_row && q->cluster[end] == q->cluster[i]) {
            end++;
        }
        for (size_t a = 0; a < p; a++) {
            for (size_t c = 0; c <= a; c++) {
                double v = gsl_matrix_get(A, a, c);
                for (size_t k = i; k < end; k++) {
                    v -= gsl_matrix_get(J, k, a) * gsl_matrix_get(J, k, c);
                }
                v *= gsl_vector_get(scale, a) * gsl_vector_get(scale, c);
                gsl_matrix_set(B, a, c, v + (a == c ? 1e-12 : 0));
                gsl_matrix_set(B, c, a, v + (a == c ? 1e-12 : 0));
            }
            double v = 0;
            for (size_t k = i; k < end; k++) {
                v += gsl_matrix_get(J, k, a) * gsl_vector_get(r, k);
            }
            gsl_vector_set(b, a, v * gsl_vector_get(scale, a));
        }
        if (solve_spd(B, b)) {
            for (size_t a = 0; a < p; a++) {
                const double d = gsl_vector_get(b, a) * gsl_vector_get(scale, a);
                jack[a] += d * d;
            }
            n_good += 1;
        }
        i = end;
    }
    for (size_t a = 0; a < p; a++) {
        variance[a] += jack[a] * (n_good > 1 ? (n_good - 1) / n_good : 1);
        variance[a] = n_good > (double)p / 2 ? variance[a] : INFINITY;
    }
out:
    gsl_matrix_free(A);
    gsl_matrix_free(B);
    free(jack);
    gsl_vector_free(scale);
    gsl_vector_free(b);
}
