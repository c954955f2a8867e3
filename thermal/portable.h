/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_PORTABLE_H
#define TMX_THERMAL_PORTABLE_H

/* The reduced model as plain arrays, for programs that step it by themselves (the page of `thermix report`).
 *
 *   theta = T - ambient of the units = out q + direct p, one vector q for all convection levels; over a step
 * dt under constant power p, at level l with V = vector[l]: z = back[l] q,  e = V (in^T p),  z_i <-
 * exp(-rate_i dt) z_i + (1 - exp(-rate_i dt)) e_i,  q = V^T z e is the equilibrium. An ambient that rises by
 * d: q <- q - d one. A uniform start: q = one (T - ambient). The step is exact, as in docs/models.md, Reduced
 * model. */

#include "thermal/network/spec.h"

struct tmx_portable {
    size_t n_mode, n_unit, n_level;
    double *in, *out;      /* [n_unit][n_mode] owned */
    double *direct;        /* [n_unit][n_unit] owned, by rows of sources */
    double *one;           /* [n_mode] owned */
    double *rate;          /* [n_level][n_mode, 1/s] owned */
    double *vector, *back; /* [n_level][n_mode][n_mode] owned, by rows of modes */
    double error_k;        /* estimate for a change of every unit's power by swing_w */
};

/* The spec must have two convection levels or more and read units by a linear map (TMX_EUNSUPPORTED for min
 * and max). swing_w is [n_unit, W]. *p is overwritten; end it with tmx_portable_finish, also after failure.
 */
TMX_NODISCARD enum tmx_status tmx_portable_init(struct tmx_portable *p, const struct tmx_thermal_spec *spec,
                                                double tolerance_k, const double *swing_w,
                                                struct tmx_err *err);
void tmx_portable_finish(struct tmx_portable *p); /* accepts zeroed memory */

#endif
