/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_ROWS_H
#define TMX_BASE_ROWS_H

/* Weighted sums of a matrix's rows, several at once, compiled for each kind of processor (rows.c). All give
 * the same bits. */

#include <stddef.h>

enum { TMX_ROWS_PAD = 8 }; /* a row is a multiple of so many doubles long */

struct tmx_rows {
    const double *rows; /* [n_row][stride] */
    size_t n_row, stride;
    size_t length;             /* of the rows' begin that counts; a multiple of TMX_ROWS_PAD */
    size_t n;                  /* sums; each row is read once for two of them */
    const double *const *coef; /* [n][n_row] */
    double *const *sum;        /* [n][length] added to, row after row */
};

typedef void (*tmx_rows_kernel)(const struct tmx_rows *c);
void tmx_rows_any(const struct tmx_rows *c);
void tmx_rows_v3(const struct tmx_rows *c);
void tmx_rows_v4(const struct tmx_rows *c);

#endif
