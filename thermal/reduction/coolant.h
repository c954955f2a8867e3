/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_REDUCTION_COOLANT_H
#define TMX_THERMAL_REDUCTION_COOLANT_H

#include "thermal/assembly/network.h"
#include "thermal/reduction/krylov.h"
#include "thermal/reduction/modal.h"

/* The reduced model of a network through which coolant flows: C theta' + (G + gamma A + flow F) theta = B p +
 * flow c theta_inlet, where F is not symmetric. coolant.c says how it is made. */

/* A state z of level l has the field V w, w = vector[l]' z; z = back[l] w. By rows of modes. */
struct tmx_coolant {
    size_t n_mode, n_basis, n_shift;
    double *vector, *back; /* [n_level][n_mode][n_mode] */
    float *map;            /* [n_mode][n_view] V, the caller's to free; NULL without demand->field */
    double *still; /* [n_unit][n_view, K/W] the direct term of the field, at a middle flow; likewise */
    /* an inlet 1 K above ambient, when all has settled: */
    double *inlet_state; /* [n_level][n_mode] */
    double *inlet_unit;  /* [n_level][n_unit] */
    /* does it boil? the nodes of coolant; and a few, one of which is the hottest in every steady state, or
     * within tmx_coolant_slack of its rise */
    size_t n_wet, n_watch;
    size_t *wet;                      /* [n_wet] nodes */
    float *wet_map;                   /* [n_mode][n_wet] */
    float *wet_still;                 /* [n_level][n_unit][n_wet] */
    double *watch;                    /* [n_level][n_mode][n_watch] from z */
    double *watch_direct;             /* [n_level][n_unit][n_watch] */
    struct tmx_arena arena, of_modes; /* of the rest; of vector, back and inlet_state */
};

extern const double tmx_coolant_slack;

/* *c is overwritten; end it with tmx_coolant_finish, also after failure. modal [n_level], zeroed, is filled;
 * each is to be ended with tmx_modal_finish. error [n_unit + 1][n_unit] K/W, the last row K/K: see
 * tmx_reduced_model. net must read units by a linear map. Errors that stay: TMX_ENOMEM or TMX_ESOLVE. */
void tmx_coolant_reduce(struct tmx_coolant *c, const struct tmx_network *net, const struct tmx_demand *demand,
                        struct tmx_modal *modal, double *error, struct tmx_err *err);
void tmx_coolant_finish(struct tmx_coolant *c); /* accepts zeroed memory */

#endif
