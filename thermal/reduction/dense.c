/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/reduction/dense.h"

#include <complex.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/os.h"
#include "thermal/assembly/vectors.h"

/* ---- Products ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* c[m][n] *= beta */
static void scale(size_t m, size_t n, double beta, double *c, size_t ldc)
{
    for (size_t j = 0; j < n && beta != 1; j++) {
        for (size_t i = 0; i < m; i++) {
            c[j * ldc + i] = beta == 0 ? 0 : beta * c[j * ldc + i];
        }
    }
}

/* Columns of both lie along the sum: tiles of scalar products, with no copy but of the sum's last rows. */
void tmx_dense_tn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc)
{
    enum {
        DOTS = TMX_TILE_DOTS,
        PIECE = 1024
    }; /* rows at a time, of which the columns of b stay in the cache */
    const struct tmx_tile *kernel = TMX_ISA_OF(&tmx_tile_any, &tmx_tile_v3, &tmx_tile_v4);
    double tail[2][DOTS][TMX_CHAINS], sum[DOTS * DOTS];
    scale(m, n, beta, c, ldc);
    for (size_t along = 0; along < k; along += PIECE) {
        const size_t depth = least(PIECE, k - along), whole = depth - depth % TMX_CHAINS;
        for (size_t row = 0; row < m; row += DOTS) {
            for (size_t col = 0; col < n; col += DOTS) {
                const double *left[DOTS], *right[DOTS];
                for (size_t i = 0; i < DOTS; i++) { /* beyond the last column the last one again */
                    left[i] = a + least(row + i, m - 1) * lda + along;
                    right[i] = b + least(col + i, n - 1) * ldb + along;
                }
                kernel->dots(whole, left, right, sum);
                for (size_t j = 0; j < least(DOTS, n - col); j++) {
                    for (size_t i = 0; i < least(DOTS, m - row); i++) {
                        c[(col + j) * ldc + row + i] += alpha * sum[j * DOTS + i];
                    }
                }
                if (whole == depth) {
                    continue;
                }
                for (size_t i = 0; i < DOTS; i++) {
                    for (size_t q = 0; q < TMX_CHAINS; q++) {
                        tail[0][i][q] = whole + q < depth ? left[i][whole + q] : 0;
                        tail[1][i][q] = whole + q < depth ? right[i][whole + q] : 0;
                    }
                    left[i] = tail[0][i];
                    right[i] = tail[1][i];
                }
                kernel->dots(TMX_CHAINS, left, right, sum);
                for (size_t j = 0; j < least(DOTS, n - col); j++) {
                    for (size_t i = 0; i < least(DOTS, m - row); i++) {
                        c[(col + j) * ldc + row + i] += alpha * sum[j * DOTS + i];
                    }
                }
            }
        }
    }
}

/* Tiles of TMX_TILE_ROWS x TMX_TILE_COLS over DEPTH of the sum at a time; panels of WIDE columns of b and
 * TALL rows of a, copied in the order in which the tile reads them, stay in the second-level cache. */
void tmx_dense_nn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                  size_t ldb, double beta, double *c, size_t ldc)
{
    enum {
        ROWS = TMX_TILE_ROWS,
        COLS = TMX_TILE_COLS,
        DEPTH = 256,
        WIDE = 8 * COLS,
        TALL = 6 * ROWS,
        AHEAD = 8
    };
    const struct tmx_tile *kernel = TMX_ISA_OF(&tmx_tile_any, &tmx_tile_v3, &tmx_tile_v4);
    double left[TALL * DEPTH], right[WIDE * DEPTH], sum[ROWS * COLS];
    scale(m, n, beta, c, ldc);
    for (size_t along = 0; along < k; along += DEPTH) {
        const size_t depth = least(DEPTH, k - along);
        for (size_t col = 0; col < n; col += WIDE) {
            const size_t wide = least(WIDE, n - col);
            for (size_t j = 0; j < (wide + COLS - 1) / COLS * COLS; j++) { /* beyond the last column 0 */
                for (size_t q = 0; q < depth; q++) {
                    right[j / COLS * COLS * DEPTH + q * COLS + j % COLS] =
                        j < wide ? b[(col + j) * ldb + along + q] : 0;
                }
            }
            for (size_t row = 0; row < m; row += TALL) {
                const size_t tall = least(TALL, m - row);
                const size_t whole = tall - tall % ROWS;
                for (size_t q = 0; q < depth; q++) { /* along a column of a, as it lies in memory */
                    const double *from = a + (along + q) * lda + row;
                    for (size_t i = 0; i < whole; i += ROWS) {
                        __builtin_prefetch(from + AHEAD * lda + i);
                        __builtin_prefetch(from + AHEAD * lda + i + ROWS / 2);
                        memcpy(left + i * DEPTH + q * ROWS, from + i, ROWS * sizeof *from);
                    }
                    for (size_t i = whole; i < whole + ROWS && whole < tall; i++) {
                        left[whole * DEPTH + q * ROWS + i - whole] = i < tall ? from[i] : 0;
                    }
                }
                for (size_t j = 0; j < wide; j += COLS) {
                    for (size_t i = 0; i < tall; i += ROWS) {
                        kernel->tile(depth, left + i * DEPTH, right + j * DEPTH, sum);
                        for (size_t q = 0; q < least(COLS, wide - j); q++) {
                            double *to = c + (col + j + q) * ldc + row + i;
                            for (size_t p = 0; p < least(ROWS, tall - i); p++) {
                                to[p] += alpha * sum[q * ROWS + p];
                            }
                        }
                    }
                }
            }
        }
    }
}

/* ---- Factors and eigenvalues ---- */

/* GSL stores by rows: what it sees is the transposed matrix. */

/* Where the eigenvectors of a tridiagonal matrix lie: in panels of rows, each by columns. */
struct panels {
    double *z;
    size_t n, rows, step; /* panels; rows of one; from one to the next */
};

static void turn_panels(const struct panels *p, size_t n_turn, const struct tmx_turn *turn)
{
    const struct tmx_tile *kernel = TMX_ISA_OF(&tmx_tile_any, &tmx_tile_v3, &tmx_tile_v4);
    for (size_t i = 0; i < p->n; i++) {
        kernel->turn(n_turn, turn, p->rows, p->rows, p->z + i * p->step);
    }
}

/* Implicit QL. Sweeps read no vectors, so these turn after many of them, panel by panel. Source: H. Bowdler,
 * R. S. Martin, C. Reinsch, J. H. Wilkinson, "The QR and QL algorithms for symmetric matrices", Numer. Math.
 * 11 (1968) 293. Beside the diagonal least_e is taken for 0. */
static enum tmx_status ql(size_t n, double *d, double *e, double least_e, const struct panels *p)
{
    enum { MOST = 50, TURNS = 4096 }; /* sweeps an eigenvalue; two are usual */
    struct tmx_turn turn[TURNS];
    size_t n_turn = 0;
    for (size_t l = 0; l < n; l++) {
        for (int sweep = 0;; sweep++) {
            const double none = ldexp(least_e, sweep); /* what stays for long is rounding of larger values */
            size_t m = l;
            while (m + 1 < n && !(fabs(e[m]) <= 0x1p-53 * (fabs(d[m]) + fabs(d[m + 1])) + none)) {
                m++;
            }
            if (m == l) {
                break;
            }
            if (sweep == MOST || !isfinite(d[l])) {
                return TMX_ESOLVE;
            }
            double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, shift = 0;
            g = d[m] - d[l] + e[l] / (g + copysign(r, g));
            size_t i = m;
            while (i-- > l) {
                const double f = s * e[i], b = c * e[i];
                r = hypot(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] -= shift;
                    e[m] = 0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - shift;
                r = (d[i] - g) * s + 2 * c * b;
                shift = s * r;
                d[i + 1] = g + shift;
                g = c * r - b;
                turn[n_turn++] = (struct tmx_turn){i, c, s};
                if (n_turn == TURNS) {
                    turn_panels(p, n_turn, turn);
                    n_turn = 0;
                }
            }
            if (r != 0 || i + 1 == l) {
                d[l] -= shift;
                e[l] = g;
                e[m] = 0;
            }
        }
    }
    turn_panels(p, n_turn, turn);
    return TMX_OK;
}

enum tmx_status tmx_dense_tridiagonal(size_t n, double *d, double *e, double *z)
{
    memset(z, 0, n * n * sizeof *z);
    for (size_t i = 0; i < n; i++) {
        z[i * n + i] = 1;
    }
    return ql(n, d, e, 0, &(struct panels){z, 1, n, 0});
}

enum { REFLECTORS = 32, PANEL = 32 }; /* of a block: the rest is products */

/* The lower triangle of a[n][n] := Q' a Q with diagonal d and off-diagonal e. Q is the product of 1 - tau v
 * v' over the columns c: v = 1 at row c + 1, and from row c + 2 on what column c holds in the end. A column
 * that has no more than least_e there is taken for reduced. work [4 * REFLECTORS][n]. Source: J. J. Dongarra,
 * D. C. Sorensen, S. J. Hammarling, "Block reduction of matrices to condensed forms for eigenvalue
 * computations", J. Comput. Appl. Math. 27 (1989) 215. */
static void reduce(size_t n, double least_e, double *a, double *d, double *e, double *tau, double *work)
{
    const struct tmx_tile *kernel = TMX_ISA_OF(&tmx_tile_any, &tmx_tile_v3, &tmx_tile_v4);
    double *v = work, *w = v + REFLECTORS * n, *both = w + REFLECTORS * n;
    for (size_t first = 0; first < n; first += REFLECTORS) {
        const size_t many = least(REFLECTORS, n - first), end = first + many;
        memset(v, 0, 2 * REFLECTORS * n * sizeof *v);
        for (size_t k = 0; k < many; k++) {
            const size_t c = first + k;
            double *x = a + c * n, *own = v + k * n, *to = w + k * n;
            for (size_t q = 0; q < k; q++) { /* what the block's reflectors make of this column */
                tmx_axpy(n - c, -w[q * n + c], v + q * n + c, x + c);
                tmx_axpy(n - c, -v[q * n + c], w + q * n + c, x + c);
            }
            d[c] = x[c];
            if (c + 1 == n) {
                break;
            }
            const size_t r = c + 1, m = n - r;
            const double rest = tmx_dot(m - 1, x + r + 1, x + r + 1);
            const bool turns = rest > least_e * least_e;
            e[c] = turns ? -copysign(sqrt(x[r] * x[r] + rest), x[r]) : x[r];
            tau[c] = turns ? (e[c] - x[r]) / e[c] : 0;
            for (size_t i = r + 1; i < n; i++) {
                own[i] = x[i] = turns ? x[i] / (x[r] - e[c]) : 0;
            }
            own[r] = 1;
            for (size_t i = r; i < n; i++) { /* to := a v, of the lower triangle */
                to[i] += a[i * n + i] * own[i];
                to[i] += kernel->fold(n - i - 1, own[i], a + i * n + i + 1, own + i + 1, to + i + 1);
            }
            for (size_t q = 0; q < k; q++) {
                const double by_w = tmx_dot(m, w + q * n + r, own + r);
                const double by_v = tmx_dot(m, v + q * n + r, own + r);
                tmx_axpy(m, -by_w, v + q * n + r, to + r);
                tmx_axpy(m, -by_v, w + q * n + r, to + r);
            }
            const double half = -0.5 * tau[c] * tau[c] * tmx_dot(m, to + r, own + r);
            for (size_t i = r; i < n; i++) {
                to[i] = tau[c] * to[i] + half * own[i];
            }
        }
        for (size_t c = end; c < n; c++) { /* a -= v w' + w v', as one product */
            for (size_t k = 0; k < many; k++) {
                both[c * 2 * REFLECTORS + k] = w[k * n + c];
                both[c * 2 * REFLECTORS + REFLECTORS + k] = v[k * n + c];
            }
        }
        for (size_t c = end; c < n; c += 2 * REFLECTORS) {
            tmx_dense_nn(n - c, least(2 * REFLECTORS, n - c), 2 * REFLECTORS, -1, v + c, n,
                         both + c * 2 * REFLECTORS, 2 * REFLECTORS, 1, a + c * n + c, n);
        }
    }
}

/* z[n][n] := Q z. work [3 * REFLECTORS][n]. */
static void reflect(size_t n, const double *a, const double *tau, double *z, double *work)
{
    double *v = work, *small = v + REFLECTORS * n, *turned = small + REFLECTORS * n;
    for (size_t first = (n - 1) / REFLECTORS * REFLECTORS; n > 1; first -= REFLECTORS) {
        const size_t many = least(REFLECTORS, n - 1 - first), rows = n - first - 1;
        double t[REFLECTORS * REFLECTORS] = {0}, dots[REFLECTORS * REFLECTORS];
        for (size_t k = 0; k < many; k++) {
            memset(v + k * rows, 0, k * sizeof *v);
            v[k * rows + k] = 1;
            memcpy(v + k * rows + k + 1, a + (first + k) * n + first + k + 2, (rows - k - 1) * sizeof *v);
        }
        tmx_dense_tn(many, many, rows, 1, v, rows, v, rows, 0, dots, many);
        for (size_t k = 0; k < many; k++) { /* the block is 1 - v t v' */
            t[k * many + k] = tau[first + k];
            for (size_t i = 0; i < k; i++) {
                double sum = 0;
                for (size_t q = i; q < k; q++) {
                    sum += t[q * many + i] * dots[k * many + q];
                }
                t[k * many + i] = -tau[first + k] * sum;
            }
        }
        tmx_dense_tn(many, n, rows, 1, v, rows, z + first + 1, n, 0, small, many);
        tmx_dense_nn(many, n, many, 1, t, many, small, many, 0, turned, many);
        tmx_dense_nn(rows, n, many, -1, v, rows, turned, many, 1, z + first + 1, n);
        if (first == 0) {
            break;
        }
    }
}

static const double SMALL = 0x1p-66; /* of the largest entry: less is lost in its rounding */

struct value {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value ? 1 : x->at < y->at ? -1 : 1;
}

void tmx_dense_eigen(size_t n, double *a, double *w, struct tmx_err *err)
{
    const size_t n_panel = (n + PANEL - 1) / PANEL, step = n * PANEL;
    struct tmx_arena arena = {0};
    struct value *value;
    double *z;
    TMX_TAKE(&arena, value, n);
    TMX_TAKE(&arena, z, n_panel * step + (4 * REFLECTORS + 3) * n + n * n);
    tmx_arena_check(&arena, err);
    if (!err->code) {
        double *work = z + n_panel * step, *d = work + 4 * REFLECTORS * n, *e = d + n, *tau = e + n,
               *turned = tau + n;
        /* From the end that is larger, so that small eigenvalues keep their digits. */
        const bool backwards = fabs(a[0]) <= fabs(a[n * n - 1]);
        double most = 0;
        for (size_t i = 0; i < n * n; i++) {
            turned[i] = a[backwards ? n * n - 1 - i : i];
            most = fmax(most, fabs(a[i]));
        }
        reduce(n, SMALL * most, turned, d, e, tau, work);
        for (size_t i = 0; i < n; i++) {
            w[i] = d[n - 1 - i];
            a[i] = i + 1 < n ? e[n - 2 - i] : 0;
            z[i / PANEL * step + i * PANEL + i % PANEL] = 1;
        }
        if (ql(n, w, a, SMALL * most, &(struct panels){z, n_panel, PANEL, step})) {
            tmx_error(err, TMX_ESOLVE, "eigenvalues of a %zu x %zu matrix", n, n);
        }
        for (size_t i = 0; i < n; i++) {
            value[i] = (struct value){w[i], i};
        }
        qsort(value, n, sizeof *value, by_value);
        for (size_t c = 0; c < n; c++) {
            w[c] = value[c].value;
            for (size_t r = 0; r < n; r++) {
                a[c * n + n - 1 - r] = z[r / PANEL * step + value[c].at * PANEL + r % PANEL];
            }
        }
        reflect(n, turned, tau, a, work);
        for (size_t c = 0; c < n; c++) {
            double *x = a + c * n, big = 0;
            for (size_t r = 0; r < n / 2 && backwards; r++) {
                const double other = x[r];
                x[r] = x[n - 1 - r];
                x[n - 1 - r] = other;
            }
            for (size_t r = 0; r < n; r++) { /* a sign that is open: the largest component is positive */
                big = fabs(x[r]) > fabs(big) ? x[r] : big;
            }
            for (size_t r = 0; r < n; r++) {
                x[r] *= big < 0 ? -1 : 1;
            }
        }
    }
    tmx_arena_finish(&arena);
}

enum { COLUMNS = 48 }; /* of a block: the rest is products */

void tmx_dense_solve(size_t n, size_t n_rhs, double *a, double *b, struct tmx_err *err)
{
    /* The lower triangle of a := that of L, for a = L L'. */
    double *row = err->code ? NULL : malloc(n * COLUMNS * sizeof *row);
    tmx_memory_check(row, err);
    for (size_t j = 0; j < n && !err->code; j += COLUMNS) {
        const size_t many = least(COLUMNS, n - j);
        for (size_t i = 0; i < j * many; i++) {
            row[i] = a[i % j * n + j + i / j];
        }
        tmx_dense_nn(n - j, many, j, -1, a + j, n, row, j, 1, a + j * n + j, n);
        for (size_t c = j; c < j + many && !err->code; c++) {
            double *own = a + c * n;
            for (size_t q = j; q < c; q++) {
                tmx_axpy(n - c, -a[q * n + c], a + q * n + c, own + c);
            }
            if (!(own[c] > 0)) {
                tmx_error(err, TMX_ESOLVE, "%zu x %zu matrix is not positive definite", n, n);
            }
            const double root = sqrt(own[c]);
            for (size_t r = c; r < n; r++) {
                own[r] /= root;
            }
        }
    }
    free(row);
    for (size_t j = 0; j < n && !err->code; j += COLUMNS) { /* b := L^-1 b */
        const size_t many = least(COLUMNS, n - j);
        tmx_dense_nn(many, n_rhs, j, -1, a + j, n, b, n, 1, b + j, n);
        for (size_t col = 0; col < n_rhs; col++) {
            double *x = b + col * n;
            for (size_t c = j; c < j + many; c++) {
                x[c] /= a[c * n + c];
                tmx_axpy(j + many - c - 1, -x[c], a + c * n + c + 1, x + c + 1);
            }
        }
    }
    for (size_t end = n, j; end > 0 && !err->code; end = j) { /* b := L'^-1 b */
        j = (end - 1) / COLUMNS * COLUMNS;
        tmx_dense_tn(end - j, n_rhs, n - end, -1, a + j * n + end, n, b + end, n, 1, b + j, n);
        for (size_t col = 0; col < n_rhs; col++) {
            double *x = b + col * n;
            for (size_t c = end; c-- > j;) {
                x[c] = (x[c] - tmx_dot(end - c - 1, a + c * n + c + 1, x + c + 1)) / a[c * n + c];
            }
        }
    }
}

void tmx_dense_solve_any(size_t n, size_t n_rhs, bool transposed, double *a, double *b, struct tmx_err *err)
{
    if (err->code) {
        return;
    }
    gsl_matrix_view square = gsl_matrix_view_array(a, n, n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    int sign, status = order ? 0 : GSL_ENOMEM;
    if (!status && !transposed) { /* by rows it is a' */
        gsl_matrix_transpose(&square.matrix);
    }
    status = status ? status : gsl_linalg_LU_decomp(&square.matrix, order, &sign);
    for (size_t c = 0; c < n_rhs && !status; c++) {
        gsl_vector_view x = gsl_vector_view_array(b + c * n, n);
        status = gsl_linalg_LU_svx(&square.matrix, order, &x.vector);
    }
    gsl_permutation_free(order);
    if (status) {
        tmx_error(err, status == GSL_ENOMEM ? TMX_ENOMEM : TMX_ESOLVE, "inverse of a %zu x %zu matrix: %s", n,
                  n, gsl_strerror(status));
    }
}

void tmx_dense_eigen_any(size_t n, double *a, double *re, double *im, double *t, struct tmx_err *err)
{
    if (err->code) {
        return;
    }
    gsl_matrix_view square = gsl_matrix_view_array(a, n, n);
    gsl_vector_complex *value = gsl_vector_complex_alloc(n);
    gsl_matrix_complex *vector = gsl_matrix_complex_alloc(n, n);
    gsl_eigen_nonsymmv_workspace *work = gsl_eigen_nonsymmv_alloc(n);
    int status = value && vector && work ? gsl_matrix_transpose(&square.matrix) : GSL_ENOMEM;
    status = status ? status : gsl_eigen_nonsymmv(&square.matrix, value, vector, work);
    size_t at = 0;
    for (int pairs = 1; pairs >= 0 && !status; pairs--) {
        for (size_t i = 0; i < n; i++) {
            const gsl_complex v = gsl_vector_complex_get(value, i);
            if ((GSL_IMAG(v) != 0) != (pairs == 1) || GSL_IMAG(v) < 0) {
                continue; /* of a pair the one that turns forwards */
            }
            for (int k = 0; k < 1 + pairs; k++, at++) {
                re[at] = GSL_REAL(v);
                im[at] = k == 0 ? GSL_IMAG(v) : -GSL_IMAG(v);
                for (size_t r = 0; r < n; r++) {
                    const gsl_complex x = gsl_matrix_complex_get(vector, r, i);
                    t[at * n + r] = k == 0 ? GSL_REAL(x) : GSL_IMAG(x);
                }
            }
        }
    }
    gsl_vector_complex_free(value);
    gsl_matrix_complex_free(vector);
    gsl_eigen_nonsymmv_free(work);
    status = status || at == n ? status : GSL_EFAILED;
    if (status) {
        tmx_error(err, status == GSL_ENOMEM ? TMX_ENOMEM : TMX_ESOLVE,
                  "eigenvalues of a %zu x %zu matrix: %s", n, n, gsl_strerror(status));
    }
}

/* Scaling and squaring with the Pade approximant of order 6. Source: C. Moler, C. Van Loan, "Nineteen dubious
 * ways to compute the exponential of a matrix", SIAM Rev. 45 (2003) 3, method 3. */
void tmx_dense_decay(size_t n, const double *a, double dt_s, double *e, double *work, struct tmx_err *err)
{
    if (err->code) {
        return;
    }
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
        tmx_axpy(n * n, part, power, e);
        tmx_axpy(n * n, j % 2 ? -part : part, power, down);
    }
    tmx_dense_solve_any(n, n, false, down, e, err);
    for (int k = 0; k < halvings; k++) {
        tmx_dense_nn(n, n, n, 1, e, n, e, n, 0, next, n);
        memcpy(e, next, n * n * sizeof *next);
    }
}

/* CMPLX, which clang lacks in C17. */
static double complex rectangular(double re, double im)
{
    return re + im * I;
}

/* By eigenvectors: h^-1 of a stiff network would have lost its slow modes in its round-off. */
enum tmx_status tmx_dense_exponential(size_t n, const double *h, size_t ldh, double pole, double *end,
                                      double *mean, double *work)
{
    double *a = work, *re = a + n * n, *im = re + n, *t = im + n, *square = t + n * n,
           *weight = square + n * n;
    for (size_t col = 0; col < n; col++) {
        memcpy(a + col * n, h + col * ldh, n * sizeof *a);
        weight[col] = col == 0;
    }
    struct tmx_err err = {0};
    tmx_dense_eigen_any(n, a, re, im, t, &err);
    memcpy(square, t, n * n * sizeof *t);
    tmx_dense_solve_any(n, 1, false, square, weight, &err); /* e1 in the parts of the eigenvectors */
    if (err.code) {
        return TMX_ESOLVE;
    }
    memset(end, 0, n * sizeof *end);
    memset(mean, 0, n * sizeof *mean);
    for (size_t i = 0; i < n; i++) {
        const bool pair = im[i] != 0; /* x + i y and its conjugate, with weights (u - i v) / 2 and its own */
        const double complex value = rectangular(re[i], im[i]);
        const double complex own =
            pair ? rectangular(0.5 * weight[i], -0.5 * weight[i + 1]) : rectangular(weight[i], 0);
        const double complex rate = pole * (1 - 1 / value);
        const double complex x = rectangular(fmin(creal(rate), 0), cimag(rate)),
                             e = cexp(x); /* nothing grows */
        const double complex part = cabs(x) < 1e-5 ? 1 + x / 2 + x * x / 6 : (e - 1) / x;
        const double complex to_end = (pair ? 2 : 1) * own * e, to_mean = (pair ? 2 : 1) * own * part;
        for (size_t r = 0; r < n; r++) {
            const double complex v = rectangular(t[i * n + r], pair ? t[(i + 1) * n + r] : 0);
            end[r] += creal(to_end * v);
            mean[r] += creal(to_mean * v);
        }
        i += pair;
    }
    return TMX_OK;
}

/* ---- Tall products ---- */

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
