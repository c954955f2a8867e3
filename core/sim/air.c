/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/air.h"

/* Share of what GPU g is offered to breathe of others that its own flow can take. */
static double taken(const struct tmx_topology *t, size_t g, const double *flow_m3_per_s)
{
    double offered = 0;
    for (size_t a = t->air0[g]; a < t->air0[g + 1]; a++) {
        offered += t->air[a].fraction * flow_m3_per_s[t->air[a].from];
    }
    return offered > flow_m3_per_s[g] ? flow_m3_per_s[g] / offered : 1;
}

double tmx_air_flow(const struct tmx_topology *t, const double *room_k, const double *flow_m3_per_s,
                    const double *heat_w, double *outlet_w, double *inlet_k)
{
    double exhaust_w = 0;
    for (size_t k = 0; k < t->n_gpu; k++) {
        const size_t g = t->upstream_first[k];
        const double part = taken(t, g, flow_m3_per_s);
        double in_w = 0, way_w = 0;
        for (size_t a = t->air0[g]; a < t->air0[g + 1]; a++) {
            in_w += part * (t->air[a].fraction * outlet_w[t->air[a].from] + t->air[a].heat_w);
            way_w += t->air[a].heat_w;
        }
        outlet_w[g] = in_w + heat_w[g];
        inlet_k[g] = room_k[g] + in_w / (t->card[t->gpu[g].card].coolant_j_per_m3k * flow_m3_per_s[g]);
        exhaust_w += outlet_w[g] - in_w + way_w; /* what leaves g, less what was taken from others' outlets */
    }
    return exhaust_w;
}
