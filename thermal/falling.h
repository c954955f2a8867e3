/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FALLING_H
#define TMX_THERMAL_FALLING_H

/* Layers whose conductivity falls with temperature, k(T) = k (T / T0)^-n: the conductivities of each cell at
 * its temperature, which a model is made with and made again for. */

#include "thermal/assembly/spec.h"

/* Largest difference of a cell's conductivity from the one that is meant, in a step. */
extern const double tmx_falling_most;

bool tmx_falling(const struct tmx_thermal_spec *spec); /* is there such a layer? */

/* part [n_layer * rows * cols] of the layers' conductivities at node_k [as tmx_thermal_instance_nodes has
 * it]. */
void tmx_falling_part(const struct tmx_thermal_spec *spec, const double *node_k, double *part);

/* want becomes the mean of both; the largest relative difference of now from it. */
double tmx_falling_between(const struct tmx_thermal_spec *spec, const double *now, const double *begin,
                           const double *end, double *want);

#endif
