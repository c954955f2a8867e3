/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_POLICY_H
#define THERMIX_POLICY_H

/* Policies: what a policy is, what it sees, what it may ask for. A level is a question, a policy an answer.
 *
 * A policy is one const table. Its state is plain data: state_size bytes that are zeroed, then filled from
 * the options; snapshots copy them, so a state may hold no pointer. A policy sees the node as views, all
 * const, and writes requests. It is pure but for its state: no clock, no files, no random numbers. The
 * simulation checks every answer: one outside what is written here ends the run with TMX_ESOLVE and the
 * policy's name.
 *
 * Temperatures are kelvins, as the sensors say; options in degC add TMX_ZERO_C. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <thermix/option.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TMX_ZERO_C 273.15 /* K at 0 degC */

struct tmx_plugin {
    const char *name;           /* value used in configuration files */
    const char *doc;            /* one sentence, printed by `thermix list` */
    const char *source;         /* paper and section that defines it */
    const struct tmx_opt *opts; /* {0}-terminated rows of the state; NULL: no options */
    size_t state_size;          /* bytes; the state is zeroed, then opts are read into it */
    unsigned rests;             /* bits of enum tmx_rests; 0: asked at every tick and sample that there is */
};

/* What a run from event to event (tick = "events") may leave out of what a mix, dtm, tb or fan policy is
 * asked. */
enum tmx_rests {
    TMX_RESTS_SAMPLES = 1,    /* it looks at no reading between the ticks at which it decides */
    TMX_RESTS_BELOW_TRIP = 2, /* the same, as long as no sensor reaches its trip_k */
    TMX_RESTS_ALIKE = 4,      /* it answers the same to every reading, at any time */
};

/* The questions. */
enum tmx_level {
    TMX_LEVEL_JOB,   /* which waiting instances become one kernel, and where does it run? */
    TMX_LEVEL_PLACE, /* on which GPUs may a kernel run? */
    TMX_LEVEL_MIX,   /* which kernels share a GPU, how much each, at which clock? */
    TMX_LEVEL_DTM,   /* what happens when it is too hot? */
    TMX_LEVEL_CTA,   /* how many SMs, and blocks on each, work for a kernel? */
    TMX_LEVEL_TB,    /* which SM takes the next block? */
    TMX_LEVEL_GATE,  /* which execution units sleep, and in which order are warps issued? */
    TMX_LEVEL_FAN,   /* how fast do the fans turn? */
    TMX_LEVEL_ROUTE, /* which instance serves the next request? */
    TMX_LEVEL_ROW,   /* which clocks keep a row of servers under its power? */
    TMX_N_LEVEL,
};

/* ---- what policies see ---- */

enum {
    TMX_SLOTS = 8,   /* kernels resident on one GPU at a time, at most; paper 003 mixes two */
    TMX_KQUEUE = 32, /* kernel queue of a GPU, paper 003 section 3.1 */
};
#define TMX_NO_JOB SIZE_MAX

enum tmx_job_state {
    TMX_JOB_FUTURE,  /* not arrived */
    TMX_JOB_WAITING, /* arrived, in the operating system or in a kernel queue */
    TMX_JOB_RUNNING, /* resident on a GPU */
    TMX_JOB_MERGED,  /* runs as part of another job (core/sim/source/job.c) */
    TMX_JOB_DONE,
};

struct tmx_kernel; /* opaque: jobs with the same pointer run the same kernel */

/* The fields of a view are a macro, because the simulation's own structs begin with the same ones:
 * nothing is copied, and nothing private is named. */
#define TMX_JOB_VIEW                                                                                         \
    const struct tmx_kernel *kernel;                                                                         \
    double arrival_s;                                                                                        \
    int priority; /* higher first among equals in the queue */                                               \
    enum tmx_job_state state;                                                                                \
    size_t gpus;          /* it asks for side by side; 0, 1: one. A place for fewer is widened to so many */ \
    double work_sm_s;     /* SM-seconds at the nominal clock, */                                             \
    double done_sm_s;     /* and how many of them are done */                                                \
    double pdi_w;         /* power density index: dynamic W per SM as the volunteer SM measured it, */       \
    bool pdi_valid;       /* once it has */                                                                  \
    size_t width_sms;     /* SMs its blocks can fill */                                                      \
    uint64_t queue_order; /* rank of arrival */                                                              \
    size_t home_gpu;      /* the first GPU it may run on, */                                                 \
    size_t n_gpu;         /* and how many from there; 0: not placed yet */

struct tmx_job_view {
    TMX_JOB_VIEW
};

#define TMX_GPU_VIEW                                                                        \
    size_t sm0, n_sm;      /* its SMs in the node-wide arrays: sm0 .. sm0 + n_sm - 1 */     \
    size_t level, n_level; /* clock level in force, 0 the fastest, of n_level */            \
    size_t run[TMX_SLOTS]; /* resident jobs; run[0] came first */                           \
    size_t n_run;                                                                           \
    size_t queue[TMX_KQUEUE]; /* waiting jobs, by priority, then arrival */                 \
    size_t n_queue;                                                                         \
    double share;           /* of run[0] while two are resident */                          \
    size_t n_part;          /* parts of the GPU in force; 0: one kernel, or two by share */ \
    double part[TMX_SLOTS]; /* [n_part] share of run[k] */                                  \
    double admit_share;     /* share at which the second one was taken in */                \
    size_t card0, n_card;   /* the GPUs of its card: card0 .. card0 + n_card - 1 */         \
    unsigned reasons;       /* why it is slow: bits 1 << enum tmx_reason */

struct tmx_gpu_view {
    TMX_GPU_VIEW
};

struct tmx_sync_job_view { /* a synchronous job: its members compute, wait for the last, communicate, step by
                            * step
                            */
    size_t n_member;
    const size_t *gpu;       /* [n_member] where each runs */
    const double *compute_s; /* [n_member] time it computed in the last whole step, without waiting */
    uint64_t n_step;         /* whole steps so far, the warm-up's too */
};

#define TMX_NODE_VIEW                                                                                  \
    size_t n_gpu, n_sm, n_job;                                                                         \
    size_t n_arrived;                         /* jobs 0 .. n_arrived - 1 have arrived */               \
    size_t first_unfinished;                  /* every job before it is done */                        \
    size_t last_home;                         /* GPU of the job placed last; n_gpu before the first */ \
    const struct tmx_gpu_view *const *gpus;   /* [n_gpu] */                                            \
    const struct tmx_job_view *const *jobs;   /* [n_job] by arrival */                                 \
    const struct tmx_sync_job_view *sync_job; /* NULL: no synchronous job */

struct tmx_node_view {
    TMX_NODE_VIEW
};

struct tmx_outlook; /* opaque here; core/contract/forecast.h */

/* What a GPU's board says of itself; a limit that it does not state is 0. */
struct tmx_board_view {
    double power_w, power_min_w; /* power limit as sold, board watts, and the least it can be set to */
    double target_c, slowdown_c, shutdown_c; /* of the hottest sensor */
    double memory_c;                         /* of the memory's */
    size_t n_level;
    const double *speed, *volt; /* [n_level] of each clock level, relative to the nominal one */
    double nominal_hz;          /* clock of the nominal level */
};

/* Why a GPU runs slower than it could, as NVML names it; bits. */
enum tmx_reason {
    TMX_REASON_GPU_IDLE,            /* nothing to run */
    TMX_REASON_SW_POWER_CAP,        /* the board's power limit */
    TMX_REASON_SW_THERMAL_SLOWDOWN, /* the target temperature, or the memory's */
    TMX_REASON_HW_THERMAL_SLOWDOWN, /* too hot: half the clock or less */
    TMX_REASON_MEMORY_LIMIT,        /* beside SW_THERMAL_SLOWDOWN, where it is the memory's; not of NVML */
    TMX_REASON_SHUTDOWN,            /* far too hot: it stops for good; not of NVML */
    TMX_REASON_HW_POWER_BRAKE,      /* the row's power brake */
    TMX_N_REASON,
};

struct tmx_view {
    uint64_t tick;
    double time_s;
    const struct tmx_node_view *node;
    const double *sensed_k;  /* [n_sm, K] */
    const double *hottest_k; /* [n_gpu, K] the hottest sensor of each GPU */
    double quantum_s, dt_s;  /* the scheduling tick, and the simulation's */
    double limit_k;          /* where the hardware stops an SM; infinite: nowhere */
    const struct tmx_outlook
        *outlook; /* [n_gpu] how GPUs answer watts, for a mix policy that foresees; NULL */
    /* [n_gpu], as the board measures them at every sensor sample: */
    const double *board_w;              /* mean power of the board since the last sample */
    const double *inlet_k;              /* air it breathes */
    const double *memory_k;             /* hottest memory stack; NAN: none in the floorplan */
    const struct tmx_board_view *board; /* [n_gpu] */
};

/* ---- what policies may ask for ---- */

struct tmx_gpu_request {
    size_t admit;           /* waiting job to make resident beside the running one; TMX_NO_JOB: none */
    double share;           /* of run[0] while two are resident (after admit) */
    size_t n_part;          /* more than two kernels at a time, or fixed parts: up to n_part are resident, */
    double part[TMX_SLOTS]; /* each on its share of every SM, in all at most 1; 0: by share, as above */
    size_t level;           /* slowest level anyone asks for: policies raise it */
    size_t n_active;        /* SMs that may work */
    double rest;            /* share of the time in which no SM works, 0..1 */
    double late_s; /* the last part of the scheduling tick has a level of its own, in whole ticks; 0: none */
    size_t late_level;  /* unless the dtm policy slows the GPU down */
    double power_cap_w; /* board watts it may draw, a limit beside the board's own; INFINITY: none. Kept by a
                           dtm policy that caps */
    unsigned reasons;   /* written by the dtm policy: bits 1 << enum tmx_reason */
};

struct tmx_request {             /* all that policies may change */
    struct tmx_gpu_request *gpu; /* [n_gpu] */
    bool *gate;                  /* [n_sm] clock off; kept from sample to sample */
    double *memory;              /* of the policy asked, which alone sees it; NULL: it has none */
};

/* ---- place: on which GPUs may a kernel run? ---- */

struct tmx_place { /* GPUs home .. home + n - 1; n = 0: none yet */
    size_t home;
    size_t n;
};

struct tmx_place_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Where the arrived, unplaced job goes; asked in arrival order, at every scheduling tick
     * until a place with room is named. *at is "none yet" before. Pure. */
    void (*place)(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at);
    /* OPTIONAL. Where a placed, unfinished job may run from now on: the GPUs it has, or more around
     * them. Asked at every scheduling tick. *at is "none yet", which changes nothing. Pure. */
    void (*widen)(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at);
};

/* ---- mix: operating system, every 50 ms: which kernels share a GPU, how much each, at which clock level;
 * and how the hardware lays the shares out over SMs and time ---- */

struct tmx_spread {          /* one GPU with two resident kernels, for one tick */
    size_t n;                /* active SMs */
    const size_t *by_index;  /* [n] */
    const size_t *hot_order; /* [n] the same SMs, in the order they take hot blocks */
    double share;            /* of run[0] */
    bool first_is_hot;       /* run[0] has the higher power density index */
    double begin_s, end_s;   /* the tick */
    size_t sm0;              /* the first SM of the GPU in node-wide arrays */
    const double *memory;    /* of the policy; NULL: it has none */
};

struct tmx_mix_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. For each GPU of the view, write request->gpu[]. */
    void (*decide)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL (NULL: every SM hosts both). share0[sm], the mean share of run[0] during the
     * tick on each active SM; index is the SM's index in its GPU. Pure. */
    void (*spread)(const void *state, const struct tmx_spread *s, double *share0);
    /* OPTIONAL. Time slice of the spread [s]: whole ticks, or so short that a tick is whole pairs of slices
     * (share0 is then the mean over them). Absent: it does not depend on time, and is asked only
     * at scheduling ticks and when kernels or their shares have changed. */
    double (*slice_s)(const void *state);
    bool turns; /* kernels take turns on all SMs: a share is a share of time, not of SMs */
    /* Mean speed-up of two intermixed kernels as measured on a card, for runs with measured_gains [%]; 0:
     * none. */
    double measured_gain_pct;
    /* OPTIONAL. Numbers the policy keeps from tick to tick, where their count depends on the node:
     * request->memory, zero at first, copied by a snapshot. */
    size_t (*memory)(const void *state, const struct tmx_view *view);
    bool foresees; /* view->outlook is made for it */
};

/* ---- dtm: what happens when it is too hot? May only lower clocks ---- */

struct tmx_dtm_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* OPTIONAL. Hardware, at every sensor sample: clock gates in request->gate, slower levels. */
    void (*guard)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL. Firmware, every scheduling tick: raise request->gpu[].level. */
    void (*govern)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL. The temperature at which guard stops a clock [K], for reports. */
    double (*trip_k)(const void *state);
    /* OPTIONAL. Numbers it keeps, where their count depends on the node: as a mix policy's. */
    size_t (*memory)(const void *state, const struct tmx_view *view);
    bool caps; /* keeps power_cap_w of the requests, and the limits of the boards */
};

/* ---- tb: hardware: which SM takes the next block? It matters where a kernel does not fill the chip ---- */

struct tmx_tb_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Write the GPU's n_sm SM indices to order, the first to take blocks first. */
    void (*order)(const void *state, const struct tmx_view *view, size_t gpu, size_t *order);
};

/* ---- fan: how fast do the fans turn? Asked for one fan at a time; the simulation clamps the answer to the
 * fan's range, stops it at 0, and knows which fans have failed ---- */

enum { TMX_FAN_MEMORY = 2 };

struct tmx_fan_point {
    double temp_c;
    double speed; /* of max_rpm, 0..1 */
};

struct tmx_fan_view {
    const struct tmx_view *view;
    double min_rpm, max_rpm; /* slowest turning and full speed */
    const struct tmx_fan_point
        *curve;       /* [n_curve] the fan's own, by rising temperature; straight between points */
    size_t n_curve;   /* 0: it has none */
    double hottest_c; /* sensor of the hottest GPU on the fan's card */
    double speed;     /* now, of max_rpm */
    double dt_s;      /* since the last call; 0 at the first */
    double *memory;   /* [TMX_FAN_MEMORY] this fan's own, zero at the first call */
};

struct tmx_fan_policy {
    struct tmx_plugin base; /* the state is constant */
    /* REQUIRED. Wanted speed, 0 (off) to 1 (max_rpm). */
    double (*speed)(const void *state, const struct tmx_fan_view *view);
    /* OPTIONAL. The one speed it ever asks for; absent: it varies. */
    double (*constant)(const void *state);
    bool needs_curve; /* every fan must have a curve */
};

/* ---- cta: how many cores (SMs), and blocks on each, may work for a kernel? Asked at the launch of every
 * kernel and whenever something happened that a policy may wait for. Times are cycles of the core clock since
 * the launch ---- */

enum tmx_core_state {
    TMX_CORE_ACTIVE,    /* runs its blocks */
    TMX_CORE_THROTTLE,  /* keeps its blocks, sends no memory request, so stands still (paper 000, III.B) */
    TMX_CORE_OFF,       /* power-gated */
    TMX_CORE_CLOCK_OFF, /* clock-gated: leaks, does not switch */
    TMX_CORE_GIVEN,     /* lent to the next kernel waiting; OFF while there is none */
    TMX_N_CORE_STATE,
};

struct tmx_cta_core { /* what a policy sees of one core */
    enum tmx_core_state state;
    int n_block;           /* resident blocks */
    double stall_cycles;   /* stalled by the memory system since the last reset */
    double latency_cycles; /* average memory access time (AMAT) since the last reset; 0: no access yet */
};

struct tmx_cta_view {
    double cycle;
    size_t n_core;
    const struct tmx_cta_core *core; /* [n_core] */
    uint64_t blocks_left;            /* not yet given to a core */
    double first_done_cycle;         /* completion of the kernel's first block; INFINITY before */
    const size_t *drained;           /* [n_drained] cores whose last block ended since the last call */
    size_t n_drained;
    double base_latency_cycles; /* of a contention-free memory access */
    /* Since the launch, while one core works (ApSA's profile): */
    double ipc_share;       /* thread instructions per cycle over the peak of the working cores, 0..1 */
    double bandwidth_share; /* of the busiest DRAM partition's peak, 0..1 */
    double good_to_bad;     /* cycles with at least 25 of 32 lanes busy over all other cycles, at most 1 */
};

struct tmx_cta_request {        /* all a policy may change; kept from call to call */
    enum tmx_core_state *state; /* [n_core] */
    bool *accept;               /* [n_core] the core may be given new blocks */
    int block_limit;            /* most blocks the chip gives out in all; 0: no limit */
    double core_clock;          /* relative to nominal */
    double memory_clock;        /* interconnect, L2, controllers, DRAM; relative to nominal */
    double wake_cycle;          /* be called then at the latest; INFINITY: not needed */
    bool reset_counters;        /* stall_cycles and latency_cycles start again */
    bool watch_blocks;          /* be called at the kernel's first completed block */
};

struct tmx_cta_policy {
    struct tmx_plugin base; /* the state is plain data */
    /* REQUIRED. A kernel is launched: the request says all cores active and accepting, nominal
     * clocks, no wake-up; the policy changes what it wants otherwise. */
    void (*launch)(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request);
    /* OPTIONAL (NULL: the launch's answer stands). Called when wake_cycle is reached, at the first
     * completed block if watched, and when a core has drained. Pure but for its own state. */
    void (*observe)(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request);
    /* OPTIONAL. Static analysis before a run: edp(ctx, launch, n) is the energy-delay product [J s]
     * of launch 0 .. n_launch - 1 of the program on n cores, without a policy. */
    void (*prepare)(void *state, size_t n_launch, size_t n_core,
                    double (*edp)(void *ctx, size_t launch, size_t n), void *ctx);
    /* OPTIONAL (NULL: TMX_CORE_OFF). What the cores do that a settled kernel does not use. */
    enum tmx_core_state (*unused_core)(const void *state);
    bool lends; /* cores that a kernel frees go to the kernel beside it */
};

/* ---- gate: which execution units sleep, and in which order are warps issued? A policy is pure data: it
 * chooses among mechanisms that the simulation has once. Source of all of them: Abdel-Majeed, Wong &
 * Annavaram, "Warped Gates", MICRO 2013 (below "WG"), sections 2 to 6 ---- */

enum tmx_gate_order {                    /* in which order the arbiter looks at ready warps */
                      TMX_ORDER_ROUND,   /* two-level scheduler: round robin over all active warps */
                      TMX_ORDER_BY_TYPE, /* GATES: INT|FP first, LDST, SFU, the other of FP|INT last (WG 4.1)
                                          */
};

enum tmx_gate_wake {                     /* when a sleeping unit may be woken */
                     TMX_WAKE_NO_GATING, /* it never sleeps */
                     TMX_WAKE_ANY_TIME,  /* conventional power gating (WG figure 2c) */
                     TMX_WAKE_AFTER_BET, /* blackout: not before the break-even time (WG 5) */
};

struct tmx_gate_policy {
    struct tmx_plugin base; /* no options, no state */
    enum tmx_gate_order order;
    enum tmx_gate_wake wake;
    bool coordinated; /* the second cluster of a type sleeps only when no active warp wants the type */
    bool adaptive;    /* idle detect follows the count of critical wake-ups */
};

/* ---- route: which instance of a language model serves the next request? Asked at each arrival, in order of
 * time. What an iteration has done is visible when it ends ---- */

struct tmx_instance_view { /* a tensor-parallel group: consecutive GPUs in lockstep */
    size_t gpu0, n_gpu;    /* its GPUs */
    size_t row;            /* its row of servers */
    size_t class_of;       /* requests it is for, where servers have a class; else 0 */
    bool prompt, token;    /* its pool: computes prompts, tokens, or both */
    bool open;             /* may take this request: its pool, class and memory allow it */
    double
        pending_tokens;   /* of requests that are here: input until the prompt is done, and 1 until the end */
    double prompt_tokens; /* input that waits or is being computed */
    double reserved_tokens;     /* of the cache, */
    double capacity_tokens;     /* and how many there are */
    size_t n_request;           /* that are here, */
    size_t n_sequence;          /* and those of them that make tokens */
    double hottest_k, memory_k; /* of its GPUs' sensors; NAN: none */
    double inlet_k;             /* the warmest air they breathe; NAN: unknown */
    double power_w;             /* of its GPUs and its share of the node, mean since the last telemetry */
    double prompt_w;            /* that a GPU of it draws in a long prompt */
    double k_per_w;             /* how much a GPU of it warms up in a second for each watt more; 0: unknown */
    double limit_k;             /* above which its GPUs are slowed; INFINITY: none */
    double gpu_w;               /* that a GPU of it draws, mean of the last tick */
    double memory_k_per_w, memory_limit_k; /* as above, of the memory's sensor */
    /* of a row policy that asks for other than clocks: */
    double period_s,
        begun_s;   /* of a synchronous job: its last step, and when the running one began; 0: none */
    double rise_w; /* what a board could draw for its kernels above what it draws now */
};

struct tmx_route_view {
    double time_s;
    size_t n_instance, n_row;
    const struct tmx_instance_view *instance; /* [n_instance] */
    const double *row_w;                      /* [n_row] mean since the last telemetry */
    double budget_w;                          /* of a row; 0: none */
    double input_tokens;                      /* of the request; its output is not known */
    size_t class_of;                          /* 0: high priority, 1: low */
};

struct tmx_route { /* instances by number; token: the same where phases are not split */
    size_t prompt, token;
};

struct tmx_route_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Write *to; it comes as SIZE_MAX. token left at SIZE_MAX is prompt. */
    void (*route)(void *state, const struct tmx_route_view *view, struct tmx_route *to);
};

/* ---- row: which clocks keep a row of servers under its power? Asked at every telemetry; what it asks for
 * comes into force after the latency of the channel (oob_s). The power brake is the hardware's. Or: when do
 * synchronous jobs begin their steps, how fast may the boards' power change? In force at once ---- */

enum { TMX_ROW_MEMORY = 8 };

enum tmx_row_asks {
    TMX_ROW_CLOCKS, /* of the instances of a language model: the fastest [Hz]; INFINITY: no limit */
    TMX_ROW_HOLDS,  /* of synchronous jobs, instances of some GPUs: how long the next step waits to begin [s]
                     */
    TMX_ROW_RAMPS,  /* of boards, instances of a GPU: how fast power may rise and fall [W/s] */
};

struct tmx_row_view {
    double time_s;
    double telemetry_s;                       /* between two calls */
    size_t row, n_row;                        /* asked for row by row */
    double power_w, budget_w;                 /* mean since the last telemetry; what it may draw */
    bool braked;                              /* the power brake is on */
    size_t n_instance;                        /* of all rows */
    const struct tmx_instance_view *instance; /* [n_instance] */
    const double *clock_hz; /* [n_instance] in force; INFINITY: not limited; NULL: no clocks */
    double *memory;         /* [TMX_ROW_MEMORY] of this row, zero at first */
};

struct tmx_row_policy {
    struct tmx_plugin base; /* the state is constant */
    /* REQUIRED. Write the fastest clock [Hz], or what it asks for, of the row's instances. Comes as it was
     * asked for last; holds as 0. */
    void (*decide)(const void *state, const struct tmx_row_view *view, double *asked);
    enum tmx_row_asks asks;
};

#ifdef __cplusplus
}
#endif
#endif
