/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_LP_H
#define TMX_LIMITS_LP_H

/* A linear programme in a finite box:
 *   maximise  cost . x    rows: A x <= rhs or A x = rhs    lo <= x <= hi */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct tmx_lp {
    size_t n_col, n_row, n_entry;
    double *cost, *lo, *hi; /* [n_col] lo and hi finite */
    double *rhs;            /* [n_row] */
    bool *equal;            /* [n_row] */
    size_t *start;          /* [n_row + 1] first entry of a row */
    size_t *col;            /* [n_entry] */
    double *val;            /* [n_entry] */
    struct tmx_arena arena;
};

/* n_col columns with cost 0 in [0, 1]. End with tmx_lp_finish. Errors stay in err (base/err.h), here and
 * below. */
void tmx_lp_init(struct tmx_lp *lp, size_t n_col, struct tmx_err *err);
void tmx_lp_finish(struct tmx_lp *lp); /* accepts zeroed memory */

/* Begin a row, then add its entries. Lack of memory is remembered. Returns the row. */
size_t tmx_lp_row(struct tmx_lp *lp, double rhs, bool equal);
void tmx_lp_add(struct tmx_lp *lp, size_t col, double val);

/* Is this a build with a solver? */
bool tmx_lp_has_solver(void);

/* Optimum: x [n_col], dual [n_row] (price of a row: d optimum / d rhs), its value. x may be NULL.
 * TMX_EUNSUPPORTED in a build without GLPK; TMX_ESOLVE where there is no optimum; TMX_EPROGRAM where the
 * solver failed. */
void tmx_lp_solve(const struct tmx_lp *lp, double *x, double *dual, double *objective, struct tmx_err *err);

/* Weak duality: for any dual [n_row],
 *   rhs . d + sum_j max(r_j lo_j, r_j hi_j),   r = cost - A' d,   d >= 0 in the rows with <=
 * is at least the optimum, however d was computed. Negative prices of rows with <= count as 0.
 * reduced [n_col] receives r; may be NULL. */
double tmx_lp_bound(const struct tmx_lp *lp, const double *dual, double *reduced);

/* What row `row` leaves: rhs - A x. */
double tmx_lp_slack(const struct tmx_lp *lp, size_t row, const double *x);

/* Linear programmes solved before, by content: the runs of one mix have one bound under every policy. */

struct tmx_lp_cache;

/* NULL: no memory, and then nothing is kept. */
struct tmx_lp_cache *tmx_lp_cache_create(void);
void tmx_lp_cache_destroy(void *cache); /* accepts NULL */

/* As tmx_lp_solve, but what s has kept is not solved again; s NULL: nothing is kept. Failures are not. */
void tmx_lp_cache_lp(struct tmx_lp_cache *s, const struct tmx_lp *lp, double *x, double *dual,
                     double *objective, struct tmx_err *err);

/* How many had to be solved. */
size_t tmx_lp_cache_new(const struct tmx_lp_cache *s);

#endif
