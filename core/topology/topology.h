/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_TOPOLOGY_TOPOLOGY_H
#define TMX_CORE_TOPOLOGY_TOPOLOGY_H

/* A node: cards carry GPUs and fans, air flows from GPU to GPU, links join the GPUs.
 *
 * Plain data from a file of systems/; core/sim/stage/cooling runs the fans and the air,
 * core/machine/machine the GPUs. Fans blow over all sinks of their card in equal parts, so a
 * sink sees the mean speed of the card's fans. */

#include <stdbool.h>
#include <stddef.h>

#include <thermix/policy.h>

#include "base/arena.h"
#include "base/opt.h"

enum { TMX_MAX_CURVE = 16, TMX_MAX_FAN_POINTS = 64, TMX_MAX_FAN_LEVELS = 64, TMX_NAME = 48 };

struct tmx_link { /* technology that joins GPUs: T1..T5 of paper 003, Figure 6 */
    char name[TMX_NAME];
    double bandwidth_gb_per_s; /* 0: unlimited */
    double latency_us;
};

struct tmx_card {
    char name[TMX_NAME];
    int convection; /* enum tmx_convection */
    double fit_a_k_per_w;
    double fit_b_k_per_w;
    double fit_exponent;             /* of the fan's speed */
    size_t n_point;                  /* points that the three are fitted to; 0: given */
    double fit_error, fit_error_rpm; /* largest share by which the fit is off a point, and which one */
    double still_k_per_w;            /* sink to air with all fans stopped; the upper bound of the above */
    double still_flow_m3_per_s;      /* air past a card with all fans stopped */
    double coolant_j_per_m3k;        /* heat capacity of what flows past: air, or the liquid of a plate */
    int levels;                      /* convection levels between stopped and full speed */
    size_t gpu0, n_gpu;              /* its GPUs stand together */
    size_t fan0, n_fan;              /* and its fans */
};
enum tmx_convection {
    TMX_CONVECTION_FIT,
    TMX_CONVECTION_PACKAGE,
    TMX_CONVECTION_PLATE,
    TMX_CONVECTION_CHANNELS, /* in the layers of the package; fans are pumps, what flows past is their coolant
                              */
};

struct tmx_fan {
    char name[TMX_NAME];
    size_t card;
    double min_rpm, max_rpm; /* slowest turning and full speed */
    double power_w;          /* electrical, at full speed; of pumps without their pressure drop */
    double efficiency;       /* of a pump: pressure drop times flow, of the watts it takes for them */
    double drop_w;           /* those watts at full speed; 0: no pump of channels */
    double
        heat_share; /* of it, into the air that the GPUs of its card breathe; the rest leaves behind them */
    double flow_m3_per_s; /* at full speed */
    double noise_dba;     /* at full speed; 0: unknown */
    bool stand_in;        /* its speed is unknown: it moves the air of a node whose fans were not measured */
    struct tmx_fan_point curve[TMX_MAX_CURVE];
    size_t n_curve; /* 0: none */
};

struct tmx_topology_gpu {
    char name[TMX_NAME]; /* NAME, nodeN.NAME or RACK.nodeN.NAME */
    size_t rack_letters,
        node_letters; /* of the name, up to the end of its rack and its node; 0: it has none */
    char chip[256];   /* folder of floorplans/, or a path */
    size_t card;
    double power_cap_w;   /* of its board; 0: none of its own */
    double inlet_above_k; /* the air in front of it, or what its sensor shows, above inlet_c */
    const char *file;     /* where it was written; lives as long as the topology */
    unsigned line;
};

struct tmx_air { /* a GPU breathes part of another one's outlet air */
    size_t from, to;
    double fraction; /* of from's outlet air */
    double heat_w;   /* what other parts on the way give to it */
};

struct tmx_config;

enum { TMX_MAX_SUPPLY = 16 };

struct tmx_host {    /* of one node: what draws beside GPUs and fans, and the supply of all */
    double idle_w;   /* processors, memory, network, switches */
    double active_w; /* on top while all its GPUs work; by the share of them that do */
    struct tmx_supply_point {
        double load_w, efficiency;
    } supply[TMX_MAX_SUPPLY]; /* ascending, linear between, constant outside */
    size_t n_supply;          /* 0: without losses */
    bool given;
};

struct tmx_topology {
    char name[TMX_NAME];
    char doc[256];
    char source[512];
    char link_name[TMX_NAME];  /* the link of this node, one of link[] */
    double inlet_c;            /* room air; below -273.15: the package file's ambient */
    double inlet_rise_k_per_s; /* room air warms by this from the end of the warm-up on */
    struct tmx_host host;
    int nodes;                    /* this many equal, independent nodes */
    size_t n_rack;                /* racks of those nodes; 0: no racks */
    struct tmx_card *card;        /* [n_card] */
    struct tmx_fan *fan;          /* [n_fan] by card */
    struct tmx_topology_gpu *gpu; /* [n_gpu] by card */
    struct tmx_air *air;          /* [n_air] by to */
    size_t *air0;                 /* [n_gpu + 1] air[air0[g]] .. air[air0[g + 1] - 1] flow to GPU g */
    struct tmx_link *link;        /* [n_link] */
    double *inlet_above_k;        /* [n_gpu] the air that comes from the room, above inlet_c: of racks and of
                                     GPUs; NULL: 0 */
    size_t *upstream_first;       /* [n_gpu] GPUs in an order in which air flows forward only */
    size_t n_card, n_fan, n_gpu, n_air, n_link;
    struct tmx_config *config; /* owned: names of the files that GPUs were written in */
    struct tmx_arena arena;    /* of all arrays but link */
};

/* Read a topology. Errors: TMX_EIO, and TMX_ECONFIG with file:line for a GPU, fan or air path
 * that names what is not there, a card without GPU or fan, a fan curve that falls, outlet air
 * handed out more than once, and air that flows in a loop. tmx_topology_finish also after failure. */
TMX_NODISCARD enum tmx_status tmx_topology_load(struct tmx_topology *t, const char *path,
                                                struct tmx_err *err);
void tmx_topology_finish(struct tmx_topology *t);

/* Extra time of an access over this link relative to the reference link, whose cost the kernels'
 * remote_weight states: (latency + payload / bandwidth) / the same of the reference. */
double tmx_link_cost(const struct tmx_link *link);

/* What people call GPU g of this name: its number where the name is none of its own (gpu3, rack0.node1.gpu3,
 * "" without a topology), else the name. Returns buf. */
const char *tmx_gpu_label(const char *name, size_t g, char buf[TMX_NAME]);

/* NULL when there is no link of this name. */
const struct tmx_link *tmx_topology_link(const struct tmx_topology *t, const char *name);

/* Fan laws: flow ~ speed, electrical power ~ speed^3, acoustic power ~ speed^6. The drop of laminar channels
 * grows with the flow, so drop_w ~ speed^2. */
double tmx_fan_power_w(const struct tmx_fan *fan, double rpm);
double tmx_fan_flow_m3_per_s(const struct tmx_fan *fan, double rpm);
double tmx_fan_noise_dba(const struct tmx_fan *fan,
                         double rpm); /* -INFINITY when it stands still or is unknown */

/* What a node draws from the wall whose parts draw load_w behind its supply. */
double tmx_host_wall_w(const struct tmx_host *host, double load_w);

/* The curve at temp_c, linear between its points and constant outside. Needs n_curve > 0. */
double tmx_fan_curve_speed(const struct tmx_fan_point *curve, size_t n, double temp_c);

/* Air through a chassis: enthalpy balance of streams that pass GPUs one after another.
 *
 *   H_in(g)  = sum over upstream u of phi(u,g) H_out(u) + w(u,g)   enthalpy above room air [W]
 *   H_out(g) = H_in(g) + q(g)       q: heat given off to the air, w: by other parts on the way [W]
 *   T_in(g)  = T_room(g) + H_in(g) / (rho c V(g))
 * phi is the path's fraction, made smaller where the upstream air is more than the flow V(g) that
 * GPU g moves. What is not breathed again leaves: sum of exhaust = sum of q and w, always. So the preheat
 * of g per watt of u is phi / (rho c V(g)), falling with the flow. */

/* Of one GPU's stream, all [n_gpu]: room_k, flow_m3_per_s and heat_w are read, inlet_k is written; outlet_w
 * is scratch and ends as the enthalpy of each outlet. Returns the enthalpy that leaves the chassis [W]. */
double tmx_air_flow(const struct tmx_topology *t, const double *room_k, const double *flow_m3_per_s,
                    const double *heat_w, double *outlet_w, double *inlet_k);

extern const struct tmx_keys tmx_topology_keys[]; /* of a topology */

#endif
