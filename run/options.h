/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_OPTIONS_H
#define TMX_RUN_OPTIONS_H

/* The root keys of a run's configuration. */

#include <stdbool.h>

#include "core/base/opt.h"

struct tmx_run_options {
    char chip[512];
    char floorplan[512];
    char sms_off[256];
    char topology[512];
    char link[48];
    int queue; /* enum tmx_queue */
    double fan_period_s;
    char mix[512];
    char policy[32];
    int gpus;
    int seed;
    double tick_s;
    double quantum_s;
    double warmup_s;
    int warmup_with; /* enum tmx_warmup */
    double stuck_s;
    char method[32];
    int network; /* enum tmx_network_kind */
    int rows, cols;
    double system_kernel_s;
    int stopped_blocks; /* enum tmx_stopped_blocks */
    bool memory_bound_time;
    bool measured_gains;
    double emergency_below_trip_k, release_below_trip_k; /* negative: not given */
    bool leakage;
    /* not written into resolved configurations: */
    int threads;
    char doc[160];
};
enum tmx_stopped_blocks { TMX_BLOCKS_MOVE, TMX_BLOCKS_WAIT };
enum tmx_queue { TMX_QUEUE_PER_GPU, TMX_QUEUE_SHARED };
extern const struct tmx_opt tmx_run_opts[];

/* What the bound of this run's work may use: group `bound`; the simulation does not read it. */
struct tmx_run_bound_options {
    bool uniform, one_level;
    double sm_leak;
};
extern const struct tmx_opt tmx_run_bound_opts[];

/* Names of the groups beside the root keys. */
extern const char *const tmx_run_groups[];

/* Named compositions of policies, one per level: the policies of a paper's figures. */
struct tmx_preset {
    const char *name;
    const char *place, *mix, *dtm, *tb;
    const char *doc;
};
extern const struct tmx_preset tmx_presets[]; /* {0}-terminated */

const struct tmx_preset *tmx_preset_find(const char *name); /* NULL when there is none */

#endif
