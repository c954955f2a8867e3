/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_STATE_H
#define TMX_RUN_STATE_H

/* What a run owns; private to run/. */

#include "base/arena.h"
#include "base/provenance.h"
#include "core/contract/choice.h"
#include "core/contract/forecast.h"
#include "core/serve/serve.h"
#include "core/topology/topology.h"
#include "core/workload/mix.h"
#include "run/load/data.h"
#include "run/load/job_files.h"
#include "run/options.h"
#include "run/run.h"
#include "thermal/files/stack.h"

/* What policies that look ahead know of the thermal model: group `forecast`. */
struct tmx_run_forecast_options {
    double r_convec_scale; /* what the policy believes of the convection resistance, relative to the truth */
    double tolerance_k;    /* of its model, where it has its own */
};

/* One kind of GPU: a chip in its package under one kind of cooler. */
struct tmx_run_kind {
    char name[TMX_PATH_SIZE]; /* of the chip: of a folder of floorplans/, or its path */
    const char *from;         /* file that names it */
    size_t card;              /* the first card with this cooler */
    struct tmx_chip chip;
    char package_path[2 * TMX_PATH_SIZE], floorplan_path[2 * TMX_PATH_SIZE];
    struct tmx_hotspot_config package;
    struct tmx_stack stack;
    double level_rpm[TMX_MAX_FAN_LEVELS], level_k_per_w[TMX_MAX_FAN_LEVELS],
        level_flow[TMX_MAX_FAN_LEVELS]; /* of the coolant in channels, of what the layers say */
    size_t n_level;                     /* of convection; 0: the package's own, no fan */
    void *model;                        /* thermal, shared by all GPUs of the kind */
    void *believed;                     /* thermal model of a policy that looks ahead; NULL: model serves */
    struct tmx_forecast forecast;
};

struct tmx_run_gate;

struct tmx_run_kernel { /* as named in the mix */
    char name[64];
    const char *from; /* file that names it */
    char path[TMX_PATH_SIZE];
};

#define TMX_UNREPRODUCIBLE "unreproducible-" /* begins the id of a run that cannot be repeated */

struct tmx_run {
    struct tmx_arena arena;            /* what pointers below lead to, unless they say otherwise */
    const struct tmx_setting *root;    /* the configuration, while the run is opened and built */
    struct tmx_err err;                /* likewise: the first error stays (base/err.h) */
    const struct tmx_catalog *catalog; /* of the policies it may choose */
    struct tmx_catalog *own_catalog;   /* with the configuration's modules; NULL: it names none */
    struct tmx_run_options options;
    struct tmx_run_forecast_options forecast_options;
    struct tmx_topology topology; /* n_gpu = 0: none */
    struct tmx_run_kind *kind;    /* [n_kind] */
    size_t n_kind, n_gpu;
    size_t *kind_of_gpu; /* [n_gpu] */
    size_t *card_of_gpu; /* [n_gpu] */
    struct tmx_mix mix;
    char mix_path[TMX_PATH_SIZE];
    struct tmx_kernel *kernel;          /* [n_kernel] */
    struct tmx_run_kernel *kernel_file; /* [n_kernel] */
    size_t n_kernel;
    struct tmx_job *job;               /* [mix.n_entry] */
    struct tmx_sync_job_spec sync_job; /* n_member 0: none */
    struct tmx_run_jobs *jobs;         /* NULL: no job level */
    bool serves;                       /* there is a group serve, */
    struct tmx_run_serve *serve;       /* and what it says; NULL: no language model */
    struct tmx_run_gate *gate;         /* NULL: no unit gating */
    struct {
        const struct tmx_thermal_ops *ops;
        void *options;
    } thermal;
    const struct tmx_chip **chip_of_gpu;         /* [n_gpu] */
    struct tmx_sim_gpu_thermal *thermal_of_gpu;  /* [n_gpu] */
    const struct tmx_forecast **forecast_of_gpu; /* [n_gpu] NULL: the policy does not look ahead */
    const double **level_rpm, **level_k_per_w;   /* [n_card] */
    size_t *n_level;                             /* [n_card] */
    double inlet_c;                              /* room air; NAN: the ambient of each chip's package */
    double inlet_plus_k;                         /* above that */
    double start_plus_k;                         /* above the packages' init_temp */
    double *power_cap_w;                         /* [n_gpu] INFINITY: none; NULL: no GPU has one */
    struct tmx_chip_spread spread;
    struct tmx_chip_draw *spread_of_gpu; /* [n_gpu] NULL: GPUs of a kind are alike */
    struct tmx_inlet_point *inlet;       /* [n_inlet] schedule of the room or the water; n_inlet 0: none */
    size_t n_inlet;
    char inlet_file[TMX_PATH_SIZE];  /* that has them; "": the configuration */
    struct tmx_fan_failure *failure; /* [n_failure] */
    size_t n_failure;
    struct tmx_run_cta *cta;    /* NULL: no CTA policy */
    char *unread[TMX_N_CHOICE]; /* names of policies of modules that are not loaded; NULL: none */
    struct tmx_sim_spec sim_spec;
    struct tmx_sim *sim;
    char warning[4096]; /* lines of warnings (base/plausible.h), "" for none; listeners have seen them */
    char *resolved;     /* text */
    struct tmx_setting *settings; /* the same as a tree */
    char *keys;                   /* the same without paths and comments */
    struct tmx_provenance inputs; /* files that were read, in their order */
    char id[sizeof TMX_UNREPRODUCIBLE + TMX_HASH_HEX];
#define TMX_GROUP(name, policies, opts) struct tmx_run_##name##_options name##_options;
    TMX_RUN_PLAIN_GROUPS(TMX_GROUP)
#undef TMX_GROUP
};

/* A part of a run: what it reads of the configuration, what it makes of it for the simulation, what it writes
 * into the resolved configuration, where that is not as without it, and what it ends with the run. Each may
 * be NULL. Arrays come from the run's arena; what of it failed is found at the end of open and build. Errors
 * stay in the run; open and build are not called once there is one. */
struct tmx_run_feature {
    void (*open)(struct tmx_run *r);
    void (*build)(struct tmx_run *r);
    void (*write)(const struct tmx_run *r, struct tmx_writer *w);
    void (*close)(struct tmx_run *r); /* also of what was opened in part */
};

#define TMX_DECLARE_FEATURE(name, groups) extern const struct tmx_run_feature tmx_feature_##name;
TMX_RUN_FEATURES(TMX_DECLARE_FEATURE, )

/* For open and build: f(..., err), if there is no error yet; an error at a setting; the place of one that has
 * none; a setting of the root; it ("group.key"), or its group, or the root where these are absent. */
#define tmx_run_try(r, f, ...)   ((r)->err.code = (r)->err.code ? (r)->err.code : f(__VA_ARGS__, &(r)->err))
#define tmx_run_fail(r, at, ...) tmx_error_setting(&(r)->err, (at), __VA_ARGS__)
#define tmx_run_locate(r, at)    ((void)tmx_setting_locate((at), (r)->err.code, &(r)->err))
#define tmx_run_member(r, key)   tmx_setting_member((r)->root, (key))
#define tmx_run_place(r, path)   tmx_setting_nearest((r)->root, (path))

/* Where the work comes from: one source. Options live as long as the run. */
void tmx_run_source(struct tmx_run *r, const struct tmx_source *is, const void *options,
                    const struct tmx_setting *group);

/* Whose power is looked at: sim_spec.group. After the topology is read. */
void tmx_run_power_groups(struct tmx_run *r);

/* A time of the configuration, a whole number of others: an error where it is written; a default that is
 * none, with a place of its own (value NULL: none), becomes the next one. */
void tmx_run_whole(struct tmx_run *r, const char *path, double s, double *value, const char *of,
                   double unit_s);
/* Is a policy of this run in a module that is not loaded? */
bool tmx_run_unread(const struct tmx_run *r);

/* Keys that do nothing beside others: an error where one is given with another value than its default, or
 * with `doubt` a warning, as a study may move what makes it idle. */
struct tmx_run_idle {
    const char *group; /* "": the root */
    const struct tmx_opt *opts;
    const void *values;
    bool idle;
    const char *keys, *why; /* keys: words */
};
void tmx_run_check_idle(struct tmx_run *r, const struct tmx_run_idle *rows, size_t n, bool doubt);

/* Why a root key or group does nothing in this run; NULL when it may do something. */
const char *tmx_run_key_unused(const struct tmx_run *r, const char *key);

/* The choices of a run: groups such as `dtm = { policy = "dvfs"; emergency_c = 88.5; }`. */

/* Read the group of one place of r->sim_spec.choice: the policy by name (absent: def), its options into its
 * state, and the rows of `own` (NULL: none) that the level itself has in the group into obj. */
void tmx_run_choose(struct tmx_run *r, size_t place, const char *def, const struct tmx_opt *own, void *obj);

/* The group as tmx_run_choose reads it back, then what more (NULL: nothing) adds to it; nothing at all when
 * no policy is chosen. */
void tmx_run_choice_write(const struct tmx_run *r, size_t place, const struct tmx_opt *own, const void *obj,
                          void (*more)(const struct tmx_run *, struct tmx_writer *), struct tmx_writer *w);

/* Largest errors of the interpolation against fresh cycle-level runs, over the mix's kernels [%]; 0 without
 * gating. */
/* what: 0 asleep, 1 slowdown. */
double tmx_run_gate_points(const struct tmx_run *r, const struct tmx_metric *m);
/* Of a card whose GPUs are of kind k, cooled by channels: the watts of its pumps, what flows past them when
 * they stand still, and the heat capacity of that. */
void tmx_run_pumps(struct tmx_topology *t, size_t card, const struct tmx_run_kind *k);

/* The job level of a run: group `job` of the configuration. Its mix names kinds of instances,
 * "kernel:variant", instead of kernels. */

struct tmx_run_jobs {
    char node[256];
    int depth;         /* kernels a GPU holds at a time */
    double deadline_s; /* after arrival; 0: none */
    struct tmx_job_data data;
    struct tmx_jobs_spec spec; /* of the source */
    size_t *kind_of;           /* [n_job] owned */
    double *deadline;          /* [n_job] owned, NULL: none */
};

/* A language model in a run: group `serve`, in place of a mix (serve.c). */

struct tmx_serve_limits { /* group serve.limits: what goodput counts */
    double ttft_s, tbt_s, e2e_s;
    char alone_on[64];
};

struct tmx_run_serve {
    struct tmx_serve_spec spec; /* first: the rows of its options fit */
    struct tmx_llm llm;
    struct tmx_request_options requests;
    struct tmx_request_list list; /* the simulation writes into its requests */
    double output_tokens;         /* of all */
    bool kept_batch;              /* batches would be larger, but for the model's fit */
    struct tmx_serve_gpu *gpu;    /* [n_gpu] owned */
    struct tmx_serve_limits limits;
    const struct tmx_llm_phase *alone; /* of slowdowns; NULL: the model has none there */
};

void tmx_run_serve_warn(const struct tmx_run *r); /* after the run: requests beyond the model's fit */

enum tmx_serve_latency {
    TMX_SERVE_TTFT,
    TMX_SERVE_TBT,
    TMX_SERVE_E2E,
    TMX_SERVE_SLOW_TTFT, /* relative to the request alone */
    TMX_SERVE_SLOW_TBT,
    TMX_SERVE_SLOW_E2E,
};
/* Of the requests that have ended; class_of negative: of all. 0: none, or nothing is served. */
double tmx_run_serve_quantile(const struct tmx_run *r, enum tmx_serve_latency what, int class_of,
                              double share);

struct tmx_run_serving { /* metrics by their names; all 0: nothing is served */
    double requests_done, tokens_per_s, j_per_token, node_j_per_token;
    double prompt_pct, serving_pct, active_few_pct, active_one_pct;
    double row_peak_w, row_mean_w, row_rise_2s_w, row_rise_40s_w;
    double capped_high_s, capped_low_s, brakes, brake_s;
    double beyond_fit, beyond_prompt_x, beyond_batch_x;
};
struct tmx_run_serving tmx_run_serving(const struct tmx_run *r);
double tmx_run_limits_ratio(const struct tmx_run *r);
double tmx_run_goodput_pct(const struct tmx_run *r);

#endif
