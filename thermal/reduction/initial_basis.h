/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_INITIAL_BASIS_H
#define TMX_THERMAL_REDUCTION_INITIAL_BASIS_H

#include "thermal/reduction/krylov.h"

/* How one start field dies away: a small basis of its own, beside that of the powers. The
 * network is linear, so both go on side by side and add up, and what was set up for the powers
 * serves every start. */

struct tmx_initial_basis_options {
    const double *theta_k; /* [n_node] above ambient */
    double tolerance_k;    /* at every unit, from min_step_s on */
    double min_step_s;
    double gamma_low, gamma_high;
    const struct tmx_regions *cells; /* the nodes that must be as accurate, too; NULL: none */
};

/* Fill *basis (overwritten; end it with tmx_basis_finish, also after failure) with no input and
 * the field as V' C theta in theta [n_mode], which is the basis'. Returns an estimate [K] of what it misses.
 * Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
double tmx_initial_basis(struct tmx_basis *basis, const struct tmx_network *net,
                         const struct tmx_initial_basis_options *options, const double **theta,
                         struct tmx_err *err);

#endif
