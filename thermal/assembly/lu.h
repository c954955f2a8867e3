/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_LU_H
#define TMX_THERMAL_ASSEMBLY_LU_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

/* P A P' = L U for a matrix A with a symmetric pattern and other values, as coolant makes it. */

/* Where the entries of L and U are, for any values. Neighbouring columns with the same rows form a block. */
struct tmx_lu_order {
    size_t n, n_block;
    int *column;    /* [n] owned: of A, in the order of elimination */
    int *first;     /* [n_block + 1] owned: first column of each block */
    int *row_start; /* [n_block + 1] owned */
    int *row;       /* [row_start[n_block]] owned: of each block, ascending, its own columns first */
    size_t *start;  /* [n_block + 1] owned: values of each block in a factor */
    size_t *to; /* [2][n_entry] owned: value of each entry of A's lower triangle, and of its mirror image */
    size_t n_entry;
    size_t most_row;     /* of a block */
    size_t most_product; /* values of the product of two blocks */
};

/* A's lower triangle by columns, with every diagonal, and the blocks that a supernodal analysis finds. */
struct tmx_lu_pattern {
    size_t n, n_block;
    const int *col_start, *row;
    const int *column, *first, *row_start, *block_row;
};

/* Returns TMX_OK or TMX_ENOMEM. *o is overwritten; end it with tmx_lu_order_finish, also after failure. */
TMX_NODISCARD enum tmx_status tmx_lu_order_init(struct tmx_lu_order *o, const struct tmx_lu_pattern *p,
                                                struct tmx_err *err);
void tmx_lu_order_finish(struct tmx_lu_order *o); /* accepts zeroed memory */

/* value [start[n_block]] from the entries of the lower triangle and their mirror images [n_entry] (a diagonal
 * is read from lower). Returns TMX_OK, TMX_ENOMEM, or TMX_ESOLVE where a pivot is not positive. */
TMX_NODISCARD enum tmx_status tmx_lu_factor(const struct tmx_lu_order *o, const double *lower,
                                            const double *upper, double *value);

/* x = A^-1 b, or A'^-1 b, [n_rhs][n]; b and x may be the same. work [n_rhs][n + most_row]. */
void tmx_lu_solve(const struct tmx_lu_order *o, const double *value, bool transposed, size_t n_rhs,
                  const double *b, double *x, double *work);

#endif
