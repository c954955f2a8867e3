/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_COOLING_H
#define TMX_CORE_SIM_STAGE_COOLING_H

/* Fans and chassis air of a node, a stage of the simulation: fans turn as their policy says, sinks
 * get the convection of their card's fans, GPUs breathe what their upstream neighbours let out.
 * Runs every period_s, slower than the chips' own physics and faster than the sink's. */

#include "core/contract/choice.h"
#include "core/contract/thermal_model.h"

struct tmx_fan_failure {
    size_t fan;
    double at_s; /* after the end of the warm-up; the fan stands still from then on */
};

struct tmx_inlet_point { /* from the end of the warm-up on, straight between, constant outside */
    double time_s, inlet_c;
};

/* A CDU that cools the water of all GPUs' plates with the water that the run's inlet is:
 *
 *   supply of a branch = inlet + heat of all / ua_w_per_k
 *   water of a plate   = supply + half of what its branch's heat adds to its part of the flow
 *
 * Branches are alike, GPUs side by side; the plates of one are in parallel. Heat is that of the last update.
 */
struct tmx_loop_options {
    double ua_w_per_k; /* 0: no loop */
    double flow;       /* m3/s, of all branches; 0: so much that branches are as warm as their supply */
    int branches;
};
extern const struct tmx_opt tmx_loop_opts[];

struct tmx_cooling_spec {
    const struct tmx_topology *topology;   /* not owned */
    const struct tmx_choice *choice;       /* of the fans; not owned */
    const double *const *level_rpm;        /* [n_card][n_level] ascending: mean fan speed of the card at each
                                              convection level of its GPUs' thermal models; not owned */
    const double *const *level_k_per_w;    /* [n_card][n_level] sink to air there; not owned */
    const size_t *n_level;                 /* [n_card] */
    const struct tmx_chip_draw *spread;    /* [n_gpu] of the sinks; NULL: those of a card are alike */
    const struct tmx_fan_failure *failure; /* [n_failure] not owned */
    size_t n_failure;
    const struct tmx_inlet_point *inlet; /* [n_inlet] not owned; 0: the air of the room stays as it is */
    size_t n_inlet;
    struct tmx_loop_options loop;
    double period_s;
    double room_k;   /* the topology's inlet_above_k comes on top */
    bool cold_start; /* GPUs may start below the air that they breathe */
};

/* Does the air before the GPUs change in time, or with their heat? */
bool tmx_cooling_room_changes(const struct tmx_cooling_spec *s);

enum { TMX_COOLING_LABEL = 48 };
/* What people call a GPU: tmx_gpu_label of its name in the topology, if there is one. Returns buf. */
const char *tmx_cooling_label(const struct tmx_cooling_spec *spec, size_t gpu, char buf[TMX_COOLING_LABEL]);

struct tmx_cooling_ledger { /* since the end of the warm-up */
    double fan_j;           /* electrical energy of all fans */
    double exhaust_j;       /* enthalpy that left the chassis above room air */
    double mean_rpm;        /* over fans and time */
    double mean_inlet_k;    /* over GPUs and time */
    double peak_noise_dba;  /* loudest moment of all fans together */
};

struct tmx_thread_pool;
struct tmx_decomposition;

struct tmx_cooled { /* one GPU's thermal instance */
    const struct tmx_thermal_ops *ops;
    void *state;
};

struct tmx_cooling {
    struct tmx_cooling_spec spec;
    uint64_t warmup; /* tick */
    double warmup_s;
    struct tmx_cooling_sum { /* over time */
        double since_s;      /* the last update */
        double from_s;       /* counted from */
        double fan_j, exhaust_j, rpm_s, inlet_k_s, peak_noise_dba;
        double updates; /* since create */
    } sum;
    double *rpm;                       /* [n_fan] */
    double *memory;                    /* [n_fan * TMX_FAN_MEMORY] */
    double *level;                     /* [n_card] whole numbers */
    double *inlet_k;                   /* [n_gpu] */
    double *room_k;                    /* [n_gpu] air of the room before each */
    double *out_j;                     /* [n_gpu] heat given off up to the last update */
    double *flow, *heat_w, *outlet_w;  /* [n_gpu] of the update */
    double *fan_w;                     /* [n_gpu] of its part of its card's fans */
    double *loop_k;                    /* [n_gpu] what a loop adds to its supply */
    double *sink_k;                    /* [n_gpu] what the spread of sinks adds to the air */
    double *gpu_rpm_s, *gpu_inlet_k_s; /* [n_gpu] integrals since counting began, up to the last update */
    double *now_j;                     /* [n_gpu] scratch: heat given off by now */
    bool *changed;                     /* [n_card] scratch: its level has */
    const struct tmx_cooled *gpu;      /* during an update, of which */
    struct tmx_gpus own;               /* those that this process steps */
    size_t *order;                     /* [n_gpu] by level, then index; follows from level, as */
    size_t n_level;                    /* how many different levels there are */
    bool has_heat;
};

/* The caller keeps spec's arrays alive; warmup in ticks of dt_s. Errors: TMX_EUNSUPPORTED where air flows
 * between GPUs whose thermal back-end cannot move its ambient or tell its heat. */
TMX_NODISCARD enum tmx_status tmx_cooling_take(struct tmx_cooling **c, struct tmx_arena *arena,
                                               const struct tmx_cooling_spec *spec,
                                               const struct tmx_cooled *gpu, uint64_t warmup, double dt_s,
                                               struct tmx_err *err);

/* One update at view->time_s: account for the time since the last one, then set fans, convection
 * and inlet air; at the warm-up's last tick counting starts anew. gpu: [n_gpu], advanced by the thread pool
 * (NULL: none), of which a share is this process's (NULL: all). No allocation. TMX_ESOLVE: the policy wants a
 * speed that is no number. */
void tmx_cooling_update(struct tmx_cooling *c, const struct tmx_view *view, const struct tmx_cooled *gpu,
                        struct tmx_decomposition *share, struct tmx_thread_pool *pool, struct tmx_err *err);

/* The ledger up to now_s (of the simulation, warm-up included). */
struct tmx_cooling_ledger tmx_cooling_read(const struct tmx_cooling *c, double now_s,
                                           const struct tmx_cooled *gpu);

/* What a GPU's coolers do: mean speed of its card's fans and inlet air, now and over the time of the ledger.
 */
struct tmx_cooling_gpu {
    double rpm, inlet_k; /* rpm, mean_rpm: NAN where a fan of the card is a stand-in */
    double mean_rpm, mean_inlet_k;
};
struct tmx_cooling_gpu tmx_cooling_of_gpu(const struct tmx_cooling *c, double now_s, size_t gpu);
#endif
