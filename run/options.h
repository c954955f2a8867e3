/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_OPTIONS_H
#define TMX_RUN_OPTIONS_H

/* The root keys of a run's configuration. */

#include <stdbool.h>

#include "base/opt.h"

struct tmx_run_options {
    char chip[512];
    char floorplan[512];
    char sms_off[256];
    char topology[512];
    char link[48];
    int queue; /* enum tmx_queue */
    double fan_period_s;
    char mix[512];
    char reference_chip[512];
    char policy[32];
    int gpus;
    int seed;
    double tick_s;
    int tick; /* enum tmx_tick */
    double quantum_s;
    double warmup_s;
    int warmup_with; /* enum tmx_warmup */
    double stuck_s;
    char method[32];
    int network; /* enum tmx_network_kind */
    int rows, cols;
    double system_kernel_s;
    int stopped_blocks; /* enum tmx_stopped_blocks */
    int arrival_order;  /* enum tmx_arrival_order */
    int pdi;            /* enum tmx_pdi */
    double rate_error;
    bool memory_bound_time;
    bool measured_gains;
    double emergency_below_trip_k, release_below_trip_k; /* negative: not given */
    bool leakage;
    /* not written into resolved configurations: */
    int threads;
    char doc[160];
};
enum tmx_tick { TMX_TICK_FIXED, TMX_TICK_EVENTS };
enum tmx_stopped_blocks { TMX_BLOCKS_MOVE, TMX_BLOCKS_WAIT };
enum tmx_arrival_order { TMX_ARRIVE_LISTED, TMX_ARRIVE_REVERSED };
enum tmx_pdi { TMX_PDI_WATTS, TMX_PDI_COUNTERS };
enum tmx_queue { TMX_QUEUE_PER_GPU, TMX_QUEUE_SHARED };
extern const struct tmx_opt tmx_run_opts[];

/* What the bound of this run's work may use: group `bound`; the simulation does not read it. */
struct tmx_run_bound_options {
    bool uniform, one_level;
    double sm_leak;
};
extern const struct tmx_opt
    tmx_run_forecast_opts[]; /* rows of struct tmx_run_forecast_options: run/state.h */

/* Groups that are rows alone, a line each: X(name, NULL, tmx_run_NAME_opts). The rows fill a struct
 * tmx_run_NAME_options, which struct tmx_run holds as NAME_options. Reading, errors, completion and the
 * resolved configuration follow from the line. A group is in the resolved configuration, and so in the run's
 * id, where a value is not its default. */
#define TMX_RUN_PLAIN_GROUPS(X) X(bound, NULL, tmx_run_bound_opts)

#define TMX_ROWS(name, policies, opts) extern const struct tmx_opt opts[];
TMX_RUN_PLAIN_GROUPS(TMX_ROWS)
#undef TMX_ROWS

/* Groups of policies and rows beside the root keys, a line each: X(name, policies that it may choose from,
 * its own rows); NULL: none. The reader's names and the shell's completion follow. */
#define TMX_RUN_GROUPS(X)                     \
    X(cta, tmx_cta_policies, NULL)            \
    X(job, tmx_job_policies, NULL)            \
    X(place, tmx_place_policies, NULL)        \
    X(mix_policy, tmx_mix_policies, NULL)     \
    X(throttle, tmx_dtm_policies, NULL)       \
    X(dtm, tmx_dtm_policies, NULL)            \
    X(tb, tmx_tb_policies, NULL)              \
    TMX_SENSOR_ROWS(X)                        \
    X(smooth, NULL, tmx_smooth_opts)          \
    X(store, NULL, tmx_store_opts)            \
    X(package, NULL, tmx_hotspot_opts)        \
    X(fan, tmx_fan_policies, NULL)            \
    X(gate, tmx_gate_policies, tmx_gate_opts) \
    X(forecast, NULL, tmx_run_forecast_opts)  \
    X(sync_job, NULL, tmx_sync_job_opts)      \
    X(loop, NULL, tmx_loop_opts)              \
    TMX_RUN_PLAIN_GROUPS(X)                   \
    TMX_SOURCE_ROWS(X)                        \
    X(spread, NULL, tmx_spread_opts)          \
    X(route, tmx_route_policies, NULL)        \
    X(row, tmx_row_policies, NULL)

/* The parts of a run, a line each: X(name, G(group) for each group or list of its own), defined in
 * its file as tmx_feature_NAME (struct tmx_run_feature, state.h). They are opened, built, written and closed
 * in this order; where that cannot be one, a part has two lines. */
#define TMX_RUN_FEATURES(X, G)                                                                              \
    X(modules, G(modules))                       /* open.c: shared objects with policies */                 \
    X(policies, )                                /* open.c: place, mix, dtm, throttle, tb, fan */           \
    X(keys, )                                    /* check.c: keys that cannot act, by the policies */       \
    X(sources, )                                 /* workload.c: as workload has read it */                  \
    X(consolidation, )                           /* workload.c: group job */                                \
    X(plain, )                                   /* open.c: groups of rows alone */                         \
    X(node, G(chip_power) G(fan_failures))       /* node.c: topology, spread too */                         \
    X(times, )                                   /* check.c: limits of boards, times in whole ticks */      \
    X(service, G(serve))                         /* serve.c: a language model, in place of a mix */         \
    X(workload, )                                /* workload.c: the mix, its kernels, its jobs */           \
    X(row, )                                     /* swing.c: the row level where no language model is */    \
    X(cores, )                                   /* cta.c: plans of the CTA policy */                       \
    X(levels, )                                  /* open.c: the policies as they were chosen */             \
    X(gating, )                                  /* gate.c: profiles of the gating policy */                \
    X(caps, G(power_caps_w))                     /* node.c: power caps and spread, as node has read them */ \
    X(groups, )                                  /* open.c: groups of rows alone, as read */                \
    X(thermal, G(thermal) G(start_plus_k))       /* package.c: packages and models */                       \
    X(forecast, )                                /* package.c: of a mix policy that looks ahead */          \
    X(routes, )                                  /* serve.c: what routers know of the models */             \
    X(gpus, G(inlet) G(inlet_c) G(inlet_plus_k)) /* node.c: the machine, its cooling */                     \
    X(checks, ) /* check.c: events, smoothing, cost; policies without power */

extern const char *const tmx_run_groups[]; /* names of the groups of both lists, NULL-terminated */

/* Named compositions of policies, one per level: the policies of a paper's figures. */
struct tmx_preset {
    const char *name;
    const char *place, *mix, *dtm, *tb;
    const char *doc;
};
extern const struct tmx_preset tmx_presets[]; /* {0}-terminated */

const struct tmx_preset *tmx_preset_find(const char *name); /* NULL when there is none */

extern const struct tmx_keys tmx_serve_keys[]; /* of a run that serves a language model */

extern const struct tmx_keys
    tmx_run_file_keys[]; /* of a run, but for policies and the groups of other files */

#endif
