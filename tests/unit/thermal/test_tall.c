/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of tall matrices, which a set-up shares between two threads, and its eigenvalues. */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "thermal/reduction/dense.h"

/* Rows that are no multiple of anything, more and fewer than the pieces have room for. */
static void tall_products_are_those_of_the_whole_matrices(void **state)
{
    static const size_t rows[] = {1, 47, 48, 385, 1000, 4108};
    enum { K = 5, M = 3, MOST = 4108 };
    static double a[K * MOST], b[M * MOST], d[MOST], w[M * MOST], y[M * MOST];
    double part[TMX_TALL_PIECES * K * M], c[(K + 1) * M];
    struct tmx_thread_pool *pool;
    assert_int_equal(tmx_thread_pool_create(&pool, 2, NULL), TMX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tmx_tall tall = {rows[i], pool};
        const size_t n = rows[i];
        for (size_t r = 0; r < K * n; r++) {
            a[r] = sin((double)r);
            d[r % n] = 1 + (double)(r % 7);
            b[r % (M * n)] = cos((double)(r % (M * n)));
        }
        for (int weighted = 0; weighted < 2; weighted++) {
            tmx_tall_tn(&tall, K, M, a, weighted ? d : NULL, b, w, part, c, K + 1);
            for (size_t k = 0; k < K; k++) {
                for (size_t m = 0; m < M; m++) {
                    double sum = 0;
                    for (size_t r = 0; r < n; r++) {
                        sum += a[k * n + r] * (weighted ? d[r] : 1) * b[m * n + r];
                    }
                    check_close(c[m * (K + 1) + k], sum, 0, 1e-10);
                }
            }
        }
        for (size_t k = 0; k < K * M; k++) {
            c[k] = (double)k;
        }
        memcpy(y, b, M * n * sizeof *y);
        tmx_tall_nn(&tall, M, K, 2, a, c, 3, y);
        for (size_t r = 0; r < M * n; r++) {
            double sum = 3 * b[r];
            for (size_t k = 0; k < K; k++) {
                sum += 2 * a[k * n + r % n] * c[r / n * K + k];
            }
            check_close(y[r], sum, 0, 1e-10);
        }
    }
    tmx_thread_pool_destroy(pool);
}

/* Blocks and panels that are whole, cut off or alone; rates over ten decades, values that repeat, and those
 * that fall to nothing. */
static void eigenvectors_diagonalise(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 32, 33, 65, 150};
    enum { MOST = 150 };
    static double a[MOST * MOST], x[MOST * MOST], ax[MOST * MOST], is[MOST * MOST];
    double w[MOST];
    (void)state;
    for (size_t i = 0; i < 4 * sizeof sizes / sizeof sizes[0]; i++) {
        const size_t n = sizes[i / 4], kind = i % 4;
        struct tmx_err err = {0};
        for (size_t c = 0; c < n; c++) {
            for (size_t r = 0; r <= c; r++) {
                const double decades = kind == 1 ? 10 : kind == 3 ? -80 : 0;
                const double size = pow(10, decades * (double)(c + r) / (double)(2 * n));
                const double own = kind == 2 ? 1 + (double)(c / 8) : kind == 3 ? 0 : 2 * size;
                a[c * n + r] = a[r * n + c] = r == c ? own : (kind != 2) * size * sin((double)(n * r + c));
            }
        }
        memcpy(x, a, n * n * sizeof *x);
        tmx_dense_eigen(n, x, w, &err);
        assert_int_equal(err.code, TMX_OK);
        tmx_dense_nn(n, n, n, 1, a, n, x, n, 0, ax, n);
        tmx_dense_tn(n, n, n, 1, x, n, x, n, 0, is, n);
        for (size_t c = 0; c < n; c++) {
            assert_true(c == 0 || w[c] >= w[c - 1]);
            for (size_t r = 0; r < n; r++) {
                check_close(is[c * n + r], r == c, 0, 1e-13);
                check_close(ax[c * n + r], w[c] * x[c * n + r], 0, 1e-14 * fmax(fabs(w[n - 1]), 1) * 10);
            }
        }
    }
}

TMX_TESTS(test_tall)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tall_products_are_those_of_the_whole_matrices),
        cmocka_unit_test(eigenvectors_diagonalise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
