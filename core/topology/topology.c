/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/curve.h"

void tmx_topology_finish(struct tmx_topology *t)
{
    free(t->link);
    tmx_arena_finish(&t->arena);
    tmx_config_close(t->config);
    *t = (struct tmx_topology){0};
}

/* The reference is T3, PCIe 3.0 x16: 12 GB/s usable, 1.2 us in-kernel load latency (assumed within
 * 11-12.5 GB/s and 1-1.5 us), 2 KB payload (PLX bridge brief). */
static double access_us(double bandwidth_gb_per_s, double latency_us)
{
    static const double payload_bytes = 2048;
    return latency_us + (bandwidth_gb_per_s > 0 ? payload_bytes / (bandwidth_gb_per_s * 1e3) : 0);
}

double tmx_link_cost(const struct tmx_link *link)
{
    return access_us(link->bandwidth_gb_per_s, link->latency_us) / access_us(12, 1.2);
}

const struct tmx_link *tmx_topology_link(const struct tmx_topology *t, const char *name)
{
    for (size_t i = 0; i < t->n_link; i++) {
        if (strcmp(t->link[i].name, name) == 0) {
            return &t->link[i];
        }
    }
    return NULL;
}

double tmx_host_wall_w(const struct tmx_host *h, double load_w)
{
    const struct tmx_supply_point *p = h->supply;
    return h->n_supply == 0 ? load_w
                            : load_w / tmx_curve_at(h->n_supply, &p->load_w, &p->efficiency, 2, load_w);
}

double tmx_fan_power_w(const struct tmx_fan *fan, double rpm)
{
    const double x = rpm / fan->max_rpm;
    return (fan->power_w * x + fan->drop_w) * x * x;
}

double tmx_fan_flow_m3_per_s(const struct tmx_fan *fan, double rpm)
{
    return fan->flow_m3_per_s * rpm / fan->max_rpm;
}

double tmx_fan_noise_dba(const struct tmx_fan *fan, double rpm)
{
    return rpm > 0 && fan->noise_dba > 0 ? fan->noise_dba + 60 * log10(rpm / fan->max_rpm) : -INFINITY;
}

double tmx_fan_curve_speed(const struct tmx_fan_point *curve, size_t n, double temp_c)
{
    return tmx_curve_at(n, &curve->temp_c, &curve->speed, 2, temp_c);
}

double tmx_air_flow(const struct tmx_topology *t, const double *room_k, const double *flow_m3_per_s,
                    const double *heat_w, double *outlet_w, double *inlet_k)
{
    double exhaust_w = 0;
    for (size_t k = 0; k < t->n_gpu; k++) {
        const size_t g = t->upstream_first[k];
        double in_w = 0, way_w = 0, offered = 0; /* of others' air, of which its own flow can take a part */
        for (size_t a = t->air0[g]; a < t->air0[g + 1]; a++) {
            offered += t->air[a].fraction * flow_m3_per_s[t->air[a].from];
        }
        const double part = offered > flow_m3_per_s[g] ? flow_m3_per_s[g] / offered : 1;
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

const char *tmx_gpu_label(const char *name, size_t g, char buf[TMX_NAME])
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    const bool number = strncmp(last, "gpu", 3) == 0 && last[3 + strspn(last + 3, "0123456789")] == '\0';
    if (!name[0] || number) {
        snprintf(buf, TMX_NAME, "%zu", g);
    } else {
        snprintf(buf, TMX_NAME, "%s", name);
    }
    return buf;
}
