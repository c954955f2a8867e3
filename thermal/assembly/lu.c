/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LU factors in blocks of columns, without exchange of rows.
 *
 * Coolant makes G unsymmetric, but x' G x > 0 for every x: as much flows out of a cell as in, so the
 * symmetric part of what a stream carries is that of a chain of conductances. All pivots of such a matrix are
 * positive in any order of elimination (source 1). The order is therefore chosen for few entries, as for a
 * symmetric matrix, and is known before the values are:
 *
 *      columns of a block
 *          .-------.
 *          | \  U  |  rows of these columns     values of a block: this part, [rows][columns] by columns,
 *          |  L \  |                            then the part of U right of it, transposed, [rows below]
 *          |-------|                            [columns] by columns
 *          |   L   |  rows below
 *          '-------'
 *
 * Blocks are factored from left to right. From each, the blocks before it that have rows among its columns
 * are subtracted first, every one a product of two dense matrices (source 2). UMFPACK, which exchanges rows,
 * takes two to three times as long for a factor and for a solve (50 x 50 cells, seven sheets).
 *
 * Sources: 1. G. H. Golub, C. Van Loan, "Unsymmetric positive definite linear systems", Linear Algebra Appl.
 * 28 (1979) 85. 2. E. G. Ng, B. W. Peyton, "Block sparse Cholesky algorithms on advanced uniprocessor
 * computers", SIAM J. Sci. Comput. 14 (1993) 1034. */
#include "thermal/assembly/lu.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct block {
    size_t first, wide, tall, under; /* columns from first on; rows, of them below the columns */
    const int *row, *row_under;      /* [tall], [under] */
    size_t lower, right;             /* in a factor's values: [tall][wide], [under][wide] */
};

static struct block block(const struct tmx_lu_order *o, size_t k)
{
    const size_t wide = (size_t)(o->first[k + 1] - o->first[k]);
    const size_t tall = (size_t)(o->row_start[k + 1] - o->row_start[k]);
    const int *row = o->row + o->row_start[k];
    return (struct block){.first = (size_t)o->first[k],
                          .wide = wide,
                          .tall = tall,
                          .under = tall - wide,
                          .row = row,
                          .row_under = row + wide,
                          .lower = o->start[k],
                          .right = o->start[k] + tall * wide};
}

static int *copy(const int *from, size_t n)
{
    int *to = malloc((n + 1) * sizeof *to);
    return to ? memcpy(to, from, n * sizeof *to) : NULL;
}

static int compare_int(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The value of row i and column j, i >= j in the order of elimination; mirrored: of row j and column i. */
static size_t find_value(const struct block *b, int i, int j, bool mirrored)
{
    const int *at = bsearch(&i, b->row, b->tall, sizeof i, compare_int);
    tmx_assert(at);
    const size_t r = (size_t)(at - b->row), c = (size_t)j - b->first;
    if (!mirrored) {
        return b->lower + c * b->tall + r;
    }
    return r < b->wide ? b->lower + r * b->tall + c : b->right + c * b->under + r - b->wide;
}

/* And the longest product. */
static enum tmx_status find_values(struct tmx_lu_order *o, const struct tmx_lu_pattern *p)
{
    int *position = calloc(2 * p->n, sizeof *position), *block_of = position + p->n;
    if (!position) {
        return TMX_ENOMEM;
    }
    for (size_t k = 0; k < p->n_block; k++) {
        for (int c = p->first[k]; c < p->first[k + 1]; c++) {
            block_of[c] = (int)k;
            position[p->column[c]] = c;
        }
    }
    for (size_t k = 0; k < p->n_block; k++) {
        const struct block b = block(o, k);
        for (size_t done = 0, end = 0; done < b.under; done = end) {
            while (end < b.under && block_of[b.row_under[end]] == block_of[b.row_under[done]]) {
                end++;
            }
            const size_t product = (end - done) * (b.under - done);
            o->most_product = product > o->most_product ? product : o->most_product;
        }
    }
    for (size_t c = 0; c < p->n; c++) {
        for (int e = p->col_start[c]; e < p->col_start[c + 1]; e++) {
            const int row = position[p->row[e]], col = position[c];
            const int i = row > col ? row : col, j = row > col ? col : row;
            const struct block b = block(o, (size_t)block_of[j]);
            o->to[e] = find_value(&b, i, j, row < col);
            o->to[o->n_entry + (size_t)e] = find_value(&b, i, j, row > col);
        }
    }
    free(position);
    return TMX_OK;
}

enum tmx_status tmx_lu_order_init(struct tmx_lu_order *o, const struct tmx_lu_pattern *p, struct tmx_err *err)
{
    *o = (struct tmx_lu_order){.n = p->n, .n_block = p->n_block, .n_entry = (size_t)p->col_start[p->n]};
    o->column = copy(p->column, p->n);
    o->first = copy(p->first, p->n_block + 1);
    o->row_start = copy(p->row_start, p->n_block + 1);
    o->row = copy(p->block_row, (size_t)p->row_start[p->n_block]);
    o->start = calloc(p->n_block + 1, sizeof *o->start);
    o->to = calloc(2 * o->n_entry, sizeof *o->to);
    if (!o->column || !o->first || !o->row_start || !o->row || !o->start || !o->to) {
        return tmx_fail(err, TMX_ENOMEM, "order of %zu nodes", p->n);
    }
    for (size_t k = 0; k < p->n_block; k++) {
        const struct block b = block(o, k);
        o->start[k + 1] = b.right + b.under * b.wide;
        o->most_row = b.tall > o->most_row ? b.tall : o->most_row;
    }
    return find_values(o, p) ? tmx_fail(err, TMX_ENOMEM, "order of %zu nodes", p->n) : TMX_OK;
}

void tmx_lu_order_finish(struct tmx_lu_order *o)
{
    free(o->column);
    free(o->first);
    free(o->row_start);
    free(o->row);
    free(o->start);
    free(o->to);
    *o = (struct tmx_lu_order){0};
}

/* a[n][n] = L U in its place, column by column. */
static enum tmx_status factor_panel(size_t n, double *a, size_t lda)
{
    for (size_t c = 0; c < n; c++) {
        const double pivot = a[c * lda + c];
        if (!(pivot > 0)) {
            return TMX_ESOLVE;
        }
        for (size_t r = c + 1; r < n; r++) {
            a[c * lda + r] /= pivot;
        }
        for (size_t j = c + 1; j < n; j++) {
            for (size_t r = c + 1; r < n; r++) {
                a[j * lda + r] -= a[c * lda + r] * a[j * lda + c];
            }
        }
    }
    return TMX_OK;
}

/* The same for larger ones. */
static enum tmx_status factor_square(size_t n, double *a, size_t lda)
{
    enum { PANEL = 16 };
    for (size_t from = 0; from < n; from += PANEL) {
        const size_t m = n - from < PANEL ? n - from : PANEL, rest = n - from - m;
        double *d = a + from * lda + from, *under = d + m, *right = d + m * lda;
        if (factor_panel(m, d, lda)) {
            return TMX_ESOLVE;
        }
        if (rest > 0) {
            cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)rest, (int)m,
                        1, d, (int)lda, under, (int)lda);
            cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)m, (int)rest, 1,
                        d, (int)lda, right, (int)lda);
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rest, (int)rest, (int)m, -1, under,
                        (int)lda, right, (int)lda, 1, right + m, (int)lda);
        }
    }
    return TMX_OK;
}

/* Work of a factor. Each block is in the list of the block whose columns have its next row. */
struct work {
    int *place;       /* [n]: of each row in the block at hand */
    int *list, *next; /* [n_block]: first of the blocks to be subtracted from each, the next one; -1: none */
    int *done;        /* [n_block]: rows below that have been subtracted */
    double *product;
};

/* Subtract from values [.][ld] at the places of rows [m] and columns [n] a product of two blocks [m][n]. */
static void scatter(const double *product, size_t m, size_t n, const int *row, const int *column,
                    size_t shift, size_t first, const int *place, double *value, size_t ld)
{
    for (size_t c = 0; c < n; c++) {
        double *to = value + ((size_t)column[c] - first) * ld;
        for (size_t r = 0; r < m; r++) {
            to[(size_t)place[row[r]] - shift] -= product[c * m + r];
        }
    }
}

/* Subtract what block d, whose rows from `done` to `end` below are columns of block b, adds to it. */
static void subtract(const struct block *b, const struct block *d, size_t done, size_t end, struct work *w,
                     double *value)
{
    const size_t n = end - done, m = d->under - done, far = d->under - end;
    const double *lower = value + d->lower + d->wide, *right = value + d->right;
    const int *row = d->row_under;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)d->wide, 1, lower + done,
                (int)d->tall, right + done, (int)d->under, 0, w->product, (int)m);
    scatter(w->product, m, n, row + done, row + done, 0, b->first, w->place, value + b->lower, b->tall);
    if (far > 0) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)far, (int)n, (int)d->wide, 1, right + end,
                    (int)d->under, lower + done, (int)d->tall, 0, w->product, (int)far);
        scatter(w->product, far, n, row + end, row + done, b->wide, b->first, w->place, value + b->right,
                b->under);
    }
}

/* Put block k into the list of the block that has its row below number `done`, if one is left. */
static void enlist(const struct tmx_lu_order *o, const int *block_of, struct work *w, size_t k, size_t done)
{
    const struct block b = block(o, k);
    w->done[k] = (int)done;
    if (done < b.under) {
        int *list = w->list + block_of[b.row_under[done]];
        w->next[k] = *list;
        *list = (int)k;
    }
}

static enum tmx_status factor_block(const struct tmx_lu_order *o, const int *block_of, size_t k,
                                    struct work *w, double *value)
{
    const struct block b = block(o, k);
    for (size_t r = 0; r < b.tall; r++) {
        w->place[b.row[r]] = (int)r;
    }
    for (int i = w->list[k], next; i >= 0; i = next) {
        const struct block d = block(o, (size_t)i);
        const size_t done = (size_t)w->done[i];
        size_t end = done;
        while (end < d.under && d.row_under[end] < o->first[k + 1]) {
            end++;
        }
        next = w->next[i];
        subtract(&b, &d, done, end, w, value);
        enlist(o, block_of, w, (size_t)i, end);
    }
    double *square = value + b.lower;
    if (factor_square(b.wide, square, b.tall)) {
        return TMX_ESOLVE;
    }
    if (b.under > 0) {
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)b.under,
                    (int)b.wide, 1, square, (int)b.tall, square + b.wide, (int)b.tall);
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, (int)b.under, (int)b.wide,
                    1, square, (int)b.tall, value + b.right, (int)b.under);
    }
    enlist(o, block_of, w, k, 0);
    return TMX_OK;
}

enum tmx_status tmx_lu_factor(const struct tmx_lu_order *o, const double *lower, const double *upper,
                              double *value)
{
    int *index = malloc((2 * o->n + 3 * o->n_block) * sizeof *index), *block_of = index + o->n;
    struct work w = {.place = index,
                     .list = block_of + o->n,
                     .next = block_of + o->n + o->n_block,
                     .done = block_of + o->n + 2 * o->n_block,
                     .product = malloc((o->most_product + 1) * sizeof *w.product)};
    enum tmx_status st = index && w.product ? TMX_OK : TMX_ENOMEM;
    memset(value, 0, o->start[o->n_block] * sizeof *value);
    for (size_t e = 0; e < o->n_entry; e++) {
        value[o->to[o->n_entry + e]] = upper[e];
        value[o->to[e]] = lower[e]; /* last: a diagonal is its own mirror image */
    }
    for (size_t k = 0; k < o->n_block && !st; k++) {
        w.list[k] = -1;
        for (int c = o->first[k]; c < o->first[k + 1]; c++) {
            block_of[c] = (int)k;
        }
    }
    for (size_t k = 0; k < o->n_block && !st; k++) {
        st = factor_block(o, block_of, k, &w, value);
    }
    free(index);
    free(w.product);
    return st;
}

/* One right-hand side: calls of BLAS take longer than what they do in a block of so few columns. */
enum { NARROW = 8 };

/* x := L^-1 x for the columns of a block, subtracted from the rows below. */
static void go_down_narrow(const struct block *b, const double *value, double *x)
{
    const double *square = value + b->lower, *under = square + b->wide;
    const size_t ld = b->tall;
    double *own = x + b->first;
    for (size_t c = 0; c + 1 < b->wide; c++) {
        for (size_t r = c + 1; r < b->wide; r++) {
            own[r] -= square[c * ld + r] * own[c];
        }
    }
    size_t c = 0;
    for (; c + 4 <= b->wide; c += 4) {
        const double *p = under + c * ld, *q = p + ld, *u = q + ld, *v = u + ld;
        const double a0 = own[c], a1 = own[c + 1], a2 = own[c + 2], a3 = own[c + 3];
        for (size_t i = 0; i < b->under; i++) {
            x[b->row_under[i]] -= (p[i] * a0 + q[i] * a1) + (u[i] * a2 + v[i] * a3);
        }
    }
    for (; c + 2 <= b->wide; c += 2) {
        const double *p = under + c * ld, *q = p + ld;
        const double a0 = own[c], a1 = own[c + 1];
        for (size_t i = 0; i < b->under; i++) {
            x[b->row_under[i]] -= p[i] * a0 + q[i] * a1;
        }
    }
    for (; c < b->wide; c++) {
        for (size_t i = 0; i < b->under; i++) {
            x[b->row_under[i]] -= under[c * ld + i] * own[c];
        }
    }
}

/* x := U^-1 x for the columns of a block. */
static void go_up_narrow(const struct block *b, const double *value, double *x)
{
    const double *square = value + b->lower, *right = value + b->right;
    const size_t ld = b->under;
    double *own = x + b->first;
    size_t c = 0;
    for (; c + 4 <= b->wide; c += 4) {
        const double *p = right + c * ld, *q = p + ld, *u = q + ld, *v = u + ld;
        double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
        for (size_t i = 0; i < b->under; i++) {
            const double y = x[b->row_under[i]];
            a0 += p[i] * y, a1 += q[i] * y, a2 += u[i] * y, a3 += v[i] * y;
        }
        own[c] -= a0, own[c + 1] -= a1, own[c + 2] -= a2, own[c + 3] -= a3;
    }
    for (; c < b->wide; c++) {
        double a0 = 0, a1 = 0;
        size_t i = 0;
        for (; i + 2 <= b->under; i += 2) {
            a0 += right[c * ld + i] * x[b->row_under[i]],
                a1 += right[c * ld + i + 1] * x[b->row_under[i + 1]];
        }
        a0 += i < b->under ? right[c * ld + i] * x[b->row_under[i]] : 0;
        own[c] -= a0 + a1;
    }
    for (c = b->wide; c-- > 0;) {
        own[c] /= square[c * b->tall + c];
        for (size_t r = 0; r < c; r++) {
            own[r] -= square[c * b->tall + r] * own[c];
        }
    }
}

/* x := L^-1 x, or (U')^-1 x. */
static void go_down(const struct tmx_lu_order *o, const double *value, bool transposed, size_t n_rhs,
                    double *x, double *work)
{
    const enum CBLAS_UPLO part = transposed ? CblasUpper : CblasLower;
    const enum CBLAS_TRANSPOSE turn = transposed ? CblasTrans : CblasNoTrans;
    const enum CBLAS_DIAG diagonal = transposed ? CblasNonUnit : CblasUnit;
    const int n = (int)o->n;
    for (size_t k = 0; k < o->n_block; k++) {
        const struct block b = block(o, k);
        if (n_rhs == 1 && !transposed && b.wide <= NARROW) {
            go_down_narrow(&b, value, x);
            continue;
        }
        const double *square = value + b.lower;
        const double *under = transposed ? value + b.right : square + b.wide;
        const int ld = (int)b.tall, ld_under = (int)(transposed ? b.under : b.tall);
        const int wide = (int)b.wide, m = (int)b.under;
        double *own = x + b.first;
        if (n_rhs == 1) {
            cblas_dtrsv(CblasColMajor, part, turn, diagonal, wide, square, ld, own, 1);
            if (m > 0) {
                cblas_dgemv(CblasColMajor, CblasNoTrans, m, wide, 1, under, ld_under, own, 1, 0, work, 1);
            }
        } else {
            cblas_dtrsm(CblasColMajor, CblasLeft, part, turn, diagonal, wide, (int)n_rhs, 1, square, ld, own,
                        n);
            if (m > 0) {
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, (int)n_rhs, wide, 1, under,
                            ld_under, own, n, 0, work, m);
            }
        }
        for (size_t r = 0; r < n_rhs; r++) {
            for (size_t i = 0; i < b.under; i++) {
                x[r * o->n + (size_t)b.row_under[i]] -= work[r * b.under + i];
            }
        }
    }
}

/* x := U^-1 x, or (L')^-1 x. */
static void go_up(const struct tmx_lu_order *o, const double *value, bool transposed, size_t n_rhs, double *x,
                  double *work)
{
    const enum CBLAS_UPLO part = transposed ? CblasLower : CblasUpper;
    const enum CBLAS_TRANSPOSE turn = transposed ? CblasTrans : CblasNoTrans;
    const enum CBLAS_DIAG diagonal = transposed ? CblasUnit : CblasNonUnit;
    const int n = (int)o->n;
    for (size_t k = o->n_block; k-- > 0;) {
        const struct block b = block(o, k);
        if (n_rhs == 1 && !transposed && b.wide <= NARROW) {
            go_up_narrow(&b, value, x);
            continue;
        }
        const double *square = value + b.lower;
        const double *under = transposed ? square + b.wide : value + b.right;
        const int ld = (int)b.tall, ld_under = (int)(transposed ? b.tall : b.under);
        const int wide = (int)b.wide, m = (int)b.under;
        double *own = x + b.first;
        for (size_t r = 0; r < n_rhs; r++) {
            for (size_t i = 0; i < b.under; i++) {
                work[r * b.under + i] = x[r * o->n + (size_t)b.row_under[i]];
            }
        }
        if (n_rhs == 1) {
            if (m > 0) {
                cblas_dgemv(CblasColMajor, CblasTrans, m, wide, -1, under, ld_under, work, 1, 1, own, 1);
            }
            cblas_dtrsv(CblasColMajor, part, turn, diagonal, wide, square, ld, own, 1);
        } else {
            if (m > 0) {
                cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, wide, (int)n_rhs, m, -1, under, ld_under,
                            work, m, 1, own, n);
            }
            cblas_dtrsm(CblasColMajor, CblasLeft, part, turn, diagonal, wide, (int)n_rhs, 1, square, ld, own,
                        n);
        }
    }
}

void tmx_lu_solve(const struct tmx_lu_order *o, const double *value, bool transposed, size_t n_rhs,
                  const double *b, double *x, double *work)
{
    double *y = work, *product = work + n_rhs * o->n;
    for (size_t r = 0; r < n_rhs; r++) {
        for (size_t c = 0; c < o->n; c++) {
            y[r * o->n + c] = b[r * o->n + (size_t)o->column[c]];
        }
    }
    go_down(o, value, transposed, n_rhs, y, product);
    go_up(o, value, transposed, n_rhs, y, product);
    for (size_t r = 0; r < n_rhs; r++) {
        for (size_t c = 0; c < o->n; c++) {
            x[r * o->n + (size_t)o->column[c]] = y[r * o->n + c];
        }
    }
}
