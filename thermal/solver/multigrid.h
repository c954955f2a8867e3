/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_SOLVER_MULTIGRID_H
#define TMX_THERMAL_SOLVER_MULTIGRID_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* Multigrid for symmetric networks of cells, in single precision; solver.c makes exact solutions of it. How
 * it works: the head of multigrid.c. */

struct tmx_sheets { /* nz sheets of ny x nx cells one upon another: cell (z, y, x) is number first + (z ny +
                       y) nx + x */
    size_t nx, ny, nz, first;
};

struct tmx_cell_link { /* between any two nodes, a < b */
    size_t a, b;
    double w_k;
};

/* A symmetric network as multigrid sees it: groups of sheets, each with a grid of its own, and single nodes,
 * which have the numbers behind those of all cells. */
struct tmx_cells {
    struct tmx_sheets *group; /* [n_group] */
    size_t n_group, n_cell, n_node;
    double *east_w_k, *south_w_k,
        *up_w_k;                /* [n_cell] to the next cell of the group along x, y, z; 0 at its rim */
    double *ground_w_k;         /* [n_node] */
    struct tmx_cell_link *link; /* [n_link] all others */
    size_t n_link;
    bool beside; /* single nodes are W, E, N, S by turns, beside the edges of the first group; else above or
                    below it */
    struct tmx_arena arena; /* of what tmx_cells_take has taken */
};

struct tmx_multigrid; /* read only once made, so any thread may use it */
struct tmx_cycle;     /* work space of one thread for multigrids of one size */

/* Links of n_cell and n_node, and room for n_link others. */
void tmx_cells_take(struct tmx_cells *c, size_t n_link, struct tmx_err *err);

/* Does it converge? Not where a link between groups holds two cells together as if they were one. */
bool tmx_multigrid_suits(const struct tmx_cells *cells, struct tmx_err *err);

/* NULL where *err has an error, TMX_ENOMEM or TMX_ESOLVE, as of a network that is not positive definite. */
struct tmx_multigrid *tmx_multigrid_create(const struct tmx_cells *cells, struct tmx_err *err);
void tmx_multigrid_destroy(struct tmx_multigrid *mg); /* accepts NULL */

struct tmx_cycle *tmx_cycle_create(const struct tmx_multigrid *mg); /* NULL: no memory */
void tmx_cycle_destroy(struct tmx_cycle *c);                        /* accepts NULL */

/* The right-hand side of the next call := scale times it, and x += scale times its result: the row of cells
 * from (group, z, y, 0) on, and all single nodes. Values should be about 1, as they are in single precision.
 */
void tmx_cycle_put_row(struct tmx_cycle *c, size_t group, size_t z, size_t y, double scale,
                       const double *row);
void tmx_cycle_add_row(const struct tmx_cycle *c, size_t group, size_t z, size_t y, double scale,
                       double *row);
float *tmx_cycle_rhs_single(struct tmx_cycle *c);
const float *tmx_cycle_result_single(const struct tmx_cycle *c);

struct tmx_cycle_end {
    double correction; /* the largest one of the last cycle, which the result has in it */
    double largest;    /* |value| of the result */
    double least; /* eigenvalue of (cycle x matrix) that the iterations saw, 1 at most: the error after the
                     last correction is about that times (1 / least - 1) */
};

/* Conjugate gradients with a cycle as preconditioner, until no correction by a cycle is above limit or part
 * of the largest value, or until the iterations end without; part 1: one cycle alone. The right-hand side is
 * used up. */
struct tmx_cycle_end tmx_cycle_run(const struct tmx_multigrid *mg, const struct tmx_cycle *c, float part,
                                   float limit);

#endif
