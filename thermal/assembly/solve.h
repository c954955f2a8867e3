/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_SOLVE_H
#define TMX_THERMAL_ASSEMBLY_SOLVE_H

#include "thermal/assembly/network.h"

/* Direct solves with G_net + gamma A + sigma C. The only file that knows CHOLMOD: LL', fill-reducing order
 * found once; and, for networks through which coolant flows, whose G_net is not symmetric, LU in the
 * blocks that it finds (lu.h).
 * tmx_solver_create_copy, tmx_solve_half and tmx_factor_entries are for symmetric networks alone. */

struct tmx_solver; /* order and work space; used by one thread at a time */
struct tmx_factor; /* one factored matrix; read only once made, so any thread may use it */

enum tmx_factoring {
    TMX_FACTOR_COLUMNS, /* simplicial: one right-hand side at a time is fastest, as a step has */
    TMX_FACTOR_BLOCKS,  /* supernodal: half the time for dozens at a time, as a basis has */
};

/* What serves one right-hand side at a time: columns in HotSpot's network, whose factors are sparse; blocks
 * in the physical one, made in a tenth of the time and solved as fast (3.7 and 0.28 s, 14 and 13 ms, 64 x
 * 64). */
enum tmx_factoring tmx_factoring_for_steps(const struct tmx_network *net);

/* order [n_node]: the nodes of net in the order in which a factor has few entries, by nested dissection. */
TMX_NODISCARD enum tmx_status tmx_order_by_place(const struct tmx_network *net, int *order,
                                                 struct tmx_err *err);

/* net is kept by reference and must outlive the solver. */
TMX_NODISCARD enum tmx_status tmx_solver_create(const struct tmx_network *net, enum tmx_factoring factoring,
                                                struct tmx_solver **s, struct tmx_err *err);
/* Another solver of the same network, for another thread: the order is not looked for again. */
TMX_NODISCARD enum tmx_status tmx_solver_create_copy(const struct tmx_solver *s, struct tmx_solver **copy,
                                                     struct tmx_err *err);
/* A second work space for another thread: it solves with the factors of any solver of
 * net, but makes none. */
TMX_NODISCARD enum tmx_status tmx_solver_create_workspace(const struct tmx_network *net,
                                                          struct tmx_solver **s, struct tmx_err *err);
void tmx_solver_destroy(struct tmx_solver *s);

/* Coolant of the factors made from now on, of the network's own flow; 1 to begin with. */
void tmx_solver_set_flow(struct tmx_solver *s, double flow);

/* Factor at film coefficient gamma [W/(m2 K)] and shift sigma [1/s]. The caller ends
 * *f with tmx_factor_destroy before the solver that made it. */
TMX_NODISCARD enum tmx_status tmx_factor_create(struct tmx_solver *s, double gamma, double sigma,
                                                struct tmx_factor **f, struct tmx_err *err);
/* The same in the memory of a factor, made by any solver with that order, which is no longer needed. What is
 * in it after a failure is unspecified. */
TMX_NODISCARD enum tmx_status tmx_factor_renew(struct tmx_solver *s, double gamma, double sigma,
                                               struct tmx_factor *f, struct tmx_err *err);
void tmx_factor_destroy(struct tmx_solver *s, struct tmx_factor *f);
size_t tmx_solver_entries(const struct tmx_solver *s); /* that its factors will have; 0 where coolant flows */
size_t tmx_factor_entries(const struct tmx_factor *f); /* non-zeros of L */

/* x = M^-1 b for n_rhs right-hand sides, [n_rhs][n_node] each. b and x may not overlap.
 * Allocates only when n_rhs grows. Returns TMX_OK, TMX_ENOMEM or TMX_ESOLVE. */
TMX_NODISCARD enum tmx_status tmx_solve(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs,
                                        const double *b, double *x);
/* x = M'^-1 b, where coolant flows. */
TMX_NODISCARD enum tmx_status tmx_solve_transposed(struct tmx_solver *s, const struct tmx_factor *f,
                                                   size_t n_rhs, const double *b, double *x);
/* b := L^-1 P b for M = P' L L' P: a' M^-1 b is the product of two such halves, for half the work of a solve.
 * work [n_rhs][n_node] is overwritten. Otherwise as tmx_solve. */
TMX_NODISCARD enum tmx_status tmx_solve_half(struct tmx_solver *s, const struct tmx_factor *f, size_t n_rhs,
                                             double *b, double *work);

#endif
