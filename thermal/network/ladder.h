/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_LADDER_H
#define TMX_THERMAL_NETWORK_LADDER_H

#include "thermal/network/solve.h"

/* Factors of a network at rising shifts and the solutions (G_net + gamma A + s C)^-1 B with them, one rung
 * made ahead by a thread of its own while the caller works on the one before. Each is the same whether a
 * thread makes it or, where none can be had, the caller itself. */

struct tmx_ladder_wish {
    double gamma;
    const double *shift; /* [n_shift, 1/s] */
    size_t n_shift;
    const double *b; /* [n_rhs][n_node] */
    size_t n_rhs, n_node;
};

struct tmx_ladder;

/* The network of solver and what the wish points to are kept by reference and must outlive the ladder. */
TMX_NODISCARD enum tmx_status tmx_ladder_create(const struct tmx_solver *solver,
                                                const struct tmx_ladder_wish *wish,
                                                struct tmx_ladder **ladder, struct tmx_err *err);
/* The next rung, waited for: its factor, which is the caller's (tmx_factor_destroy by any solver of net), and
 * x [n_rhs][n_node] owned, put in place of the caller's block of that size. At most n_shift times. */
TMX_NODISCARD enum tmx_status tmx_ladder_take(struct tmx_ladder *ladder, struct tmx_factor **factor,
                                              double **x, struct tmx_err *err);
/* Waits for a rung that is being made. NULL is fine. */
void tmx_ladder_destroy(struct tmx_ladder *ladder);

#endif
