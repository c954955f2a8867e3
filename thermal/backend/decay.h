/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_BACKEND_DECAY_H
#define TMX_THERMAL_BACKEND_DECAY_H

#include "thermal/network/solve.h"

/* How a temperature field dies away without power: exp(-h C^-1 G) v for one step h. */

struct tmx_decay; /* work space of one instance */

TMX_NODISCARD enum tmx_status tmx_decay_create(const struct tmx_network *net, struct tmx_decay **d,
                                               struct tmx_err *err);
void tmx_decay_destroy(struct tmx_decay *d); /* accepts NULL */

/* The shift [1/s] of the factor tmx_decay needs for a step of dt_s. */
double tmx_decay_sigma(double dt_s);

/* Where the caller puts the field v [n_node, K] before tmx_decay. */
double *tmx_decay_start(struct tmx_decay *d);

/* Add what is left of v after dt_s to field_k [n_node]; *mean_w is the time mean of
 * the heat that leaves [W] at film coefficient gamma. factor: at tmx_decay_sigma(dt_s) and gamma.
 * Allocates nothing. Returns TMX_OK, or TMX_ESOLVE when the series does not end. */
TMX_NODISCARD enum tmx_status tmx_decay(struct tmx_decay *d, struct tmx_solver *work,
                                        const struct tmx_factor *factor, double gamma, double dt_s,
                                        double *field_k, double *mean_w);

#endif
