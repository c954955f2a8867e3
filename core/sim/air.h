/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_AIR_H
#define TMX_CORE_SIM_AIR_H

/* Air through a chassis: enthalpy balance of streams that pass GPUs one after another.
 *
 *   H_in(g)  = sum over upstream u of phi(u,g) H_out(u) + w(u,g)   enthalpy above room air [W]
 *   H_out(g) = H_in(g) + q(g)       q: heat given off to the air, w: by other parts on the way [W]
 *   T_in(g)  = T_room(g) + H_in(g) / (rho c V(g))
 * phi is the path's fraction, made smaller where the upstream air is more than the flow V(g) that
 * GPU g moves. What is not breathed again leaves: sum of exhaust = sum of q and w, always. So the preheat
 * of g per watt of u is phi / (rho c V(g)), falling with the flow. */

#include "core/machine/topology.h"

/* Of one GPU's stream, all [n_gpu]: room_k, flow_m3_per_s and heat_w are read, inlet_k is written; outlet_w
 * is scratch and ends as the enthalpy of each outlet. Returns the enthalpy that leaves the chassis [W]. */
double tmx_air_flow(const struct tmx_topology *t, const double *room_k, const double *flow_m3_per_s,
                    const double *heat_w, double *outlet_w, double *inlet_k);

#endif
