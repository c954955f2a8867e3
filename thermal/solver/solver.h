/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_SOLVER_SOLVER_H
#define TMX_THERMAL_SOLVER_SOLVER_H

#include "base/thread_pool.h"
#include "thermal/assembly/network.h"

/* Solutions of (G_net + gamma A + sigma C) x = b, with what coolant carries at a flow. How: the head of
 * solver.c. The same bits on any processor. */

struct tmx_solver; /* what is known of a network, and work space: used by one thread at a time */
struct tmx_system; /* one matrix of it, ready to be solved with: read only, so any thread may use it */

struct tmx_matrix {
    double gamma; /* film coefficient [W/(m2 K)] */
    double sigma; /* shift [1/s] */
    double flow;  /* of all coolant, of the network's own */
};

/* The error that is allowed of every node: the larger of both, and 1e-11 of the largest |x|. Without coolant
 * it is estimated from the last correction and the least eigenvalue that the iterations saw; of a network
 * that is solved directly the error is that of rounding. */
struct tmx_accuracy {
    double kelvin;
    double part; /* of the largest |x| */
};

enum tmx_solver_method {
    TMX_SOLVER_BY_SIZE, /* whichever of the others suits the network */
    TMX_SOLVER_DIRECT,  /* a factor of the whole matrix: small networks, and those without sheets */
    TMX_SOLVER_MULTIGRID,
};

/* What is created is NULL, with an error, where it cannot be, and without another where there is one.
 *
 * net is kept by reference and must outlive the solver; pool, too, whose threads share several right-hand
 * sides; NULL: none does. */
struct tmx_solver *tmx_solver_create(const struct tmx_network *net, enum tmx_solver_method method,
                                     struct tmx_thread_pool *pool, struct tmx_err *err);
/* Work space of its own for what `of`, which must outlive it, knows of its network. */
struct tmx_solver *tmx_solver_share(const struct tmx_solver *of, struct tmx_err *err);
void tmx_solver_destroy(struct tmx_solver *s); /* accepts NULL */
/* Did multigrid fail for a matrix, which was then factored as a whole? */
bool tmx_solver_gave_up(const struct tmx_solver *s);

/* Any solver of net solves with it. */
struct tmx_system *tmx_system_create(const struct tmx_solver *s, const struct tmx_matrix *matrix,
                                     struct tmx_err *err);
void tmx_system_destroy(struct tmx_system *system); /* accepts NULL */

/* x [n_rhs][n_node]: the solutions of b, likewise, or with transposed those of the transposed matrix, which
 * is another one where coolant flows; from: where iterations begin [n_rhs][n_node], NULL: at 0. It may be x;
 * b may not. Allocates in the first call, and in the first for several right-hand sides. TMX_OK, TMX_ENOMEM
 * or TMX_ESOLVE. */
TMX_NODISCARD enum tmx_status tmx_solve(struct tmx_solver *s, const struct tmx_system *system,
                                        const struct tmx_accuracy *accuracy, bool transposed, size_t n_rhs,
                                        const double *b, const double *from, double *x);

#endif
