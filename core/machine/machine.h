/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_MACHINE_H
#define TMX_CORE_MACHINE_MACHINE_H

/* The simulated hardware of a node: GPUs with kernel queues, resident thread blocks,
 * clocks and clock gates. It never decides: policies fill a tmx_request, apply clamps
 * and applies it, advance lets the resident blocks run for one tick.
 *
 * Blocks live for microseconds, a tick for a millisecond, so blocks advance as a fluid:
 * each SM gives the kernels it hosts shares of its block slots. A running block is never
 * preempted: when an SM's shares change, the slots of the old kernel come free one by one
 * over one block lifetime (block ages are uniform) and are refilled by the new one. */

#include "base/arena.h"
#include "core/floorplan/chip.h"
#include "core/workload/job.h"
#include "core/workload/sync_job.h"

struct tmx_gpu {
    union { /* what policies see of it */
        struct tmx_gpu_view view;
        struct {
            TMX_GPU_VIEW
        };
    };
    const struct tmx_chip *chip; /* not owned */
    size_t unit0;                /* its first unit in the node-wide arrays */
    double power_scale;          /* dynamic power of a kernel on one SM relative to GPU 0's chip */
    double leakage_scale;        /* of its chip's leakage, by the spread between GPUs */
    double speed_scale;          /* work of one SM relative to GPU 0's chip */
    double rest;                 /* share of the time in which no SM works, in force */
    double stall_s;              /* left of a change of level */
    double overhead_s;           /* SM time of system kernels to charge in the next tick */
    double transition_j;         /* energy of changes of level in this tick */
    size_t n_active;             /* SMs allowed to work, */
    size_t *active;              /* [n_sm] by index, */
    size_t *active_hot;          /* [n_sm] and in the chip's hot_order */
    size_t *order;      /* [n_sm] in which blocks are handed out; written by order_blocks of the tick */
    double busy_s;      /* time with work, ledger */
    size_t n_volunteer; /* SMs profiling or about to */
    /* What the last tick found and this one need not find again. Code that changes its inputs
     * resets it. */
    bool dealt;            /* blocks are handed out for what is resident, active and asked */
    bool steady;           /* SMs hold their shares: busy comes out as it is, while they run as long */
    bool same;             /* busy is the last tick's */
    bool any_gated;        /* of its SMs */
    double full;           /* share of the last tick in which SMs ran, */
    double sms[TMX_SLOTS]; /* and how many each kernel slot kept busy */
    struct tmx_job_step step[TMX_SLOTS]; /* of kernels that change, the last step */
};

struct tmx_machine {
    union { /* what policies see of it */
        struct tmx_node_view view;
        struct {
            TMX_NODE_VIEW
        };
    };
    struct tmx_arena arena;
    struct tmx_gpu *gpu;                  /* [n_gpu] */
    struct tmx_job *job;                  /* [n_job] by arrival */
    const struct tmx_gpu_view **gpu_view; /* [n_gpu] backs gpus, */
    const struct tmx_job_view **job_view; /* [n_job] and jobs */
    struct tmx_sync_job *members;         /* the synchronous job of its source; NULL: none */
    size_t n_unit;
    size_t n_done;
    double tick_s;
    double dt_s;              /* of the present step: a tick, or with events the ticks of a span */
    double now_s;             /* begin of the tick, in counted time; written by the loop */
    const double *mix_memory; /* of the mix policy, for its spread; not owned */
    double gain;              /* speed factor of each of two intermixed kernels; 1: no effect */
    double remote_cost;       /* of the link between GPUs: blocks that run away from their job's data live
                                 1 + remote_cost * remote_weight times as long */
    double share_round_off;   /* of shares, and of a job's work; 0 but with events */
    bool ranked;              /* jobs that arrived have different priorities */
    bool counting;            /* work is counted (not during warm-up) */
    double system_kernel_s;   /* paper 003, section 3.3 */
    bool blocks_wait;         /* a kernel ends with its last block, also where that waits on a stopped SM */
    /* [n_sm] */
    bool *gated;     /* clock off */
    double *share;   /* [TMX_SLOTS * n_sm] by kernel slot: wanted shares of the block slots, sum <= 1 */
    double *held;    /* [TMX_SLOTS * n_sm] likewise: shares the resident blocks hold now */
    double *drain_s; /* left until held = share */
    double *busy;    /* [TMX_SLOTS * n_sm] likewise: share of the tick's full-speed time used, this tick */
    double *gated_s; /* clock-gated time, ledger */
    double *volunteer_s;   /* time of this tick spent profiling another kernel */
    bool *volunteer_done;  /* the profile is known; the SM is free from the next tick on */
    size_t *volunteer_job; /* the job an SM profiles, or TMX_NO_JOB */
    double *speed;         /* [n_gpu] clock relative to the nominal level */
    double *volt2;         /* [n_gpu] (V / V nominal)^2 */
    double *volt;          /* [n_gpu] V / V nominal */
};

struct tmx_machine_spec {
    const struct tmx_chip *const *chip; /* [n_gpu] not owned */
    size_t n_gpu;
    const struct tmx_chip_draw *spread; /* [n_gpu] NULL: GPUs of a kind are alike */
    const size_t *card;                 /* [n_gpu] ascending card numbers; NULL: all on one card */
    const struct tmx_job *job;          /* [n_job] copied; by arrival */
    size_t n_job;
    double dt_s; /* a tick */
    double gain;
    double remote_cost;
    double system_kernel_s;
    bool blocks_wait;
};

TMX_NODISCARD enum tmx_status tmx_machine_create(struct tmx_machine **m, const struct tmx_machine_spec *spec,
                                                 struct tmx_err *err);
void tmx_machine_destroy(struct tmx_machine *m);

/* The next job arrives; then those whose time has come by the start of tick. */
void tmx_machine_arrive(struct tmx_machine *m);
void tmx_machine_admit(struct tmx_machine *m, uint64_t tick);

/* What the one job of a GPU draws in the tick, where its source knows watts of the whole GPU: dynamic ones of
 * its SMs and L2 at the nominal clock, which follow the clock in force, and of memory as drawn. */
void tmx_machine_draw(struct tmx_machine *m, size_t job, size_t gpu, double sm_w, double l2_w, double dram_w);

/* Put a placed job (home_gpu, n_gpu set) into the queues of its GPUs; false when one is full. */
bool tmx_machine_enqueue(struct tmx_machine *m, size_t job);

/* Let a placed job also run on the GPUs home .. home + n - 1, which include those it has; false
 * when a queue is full (nothing has changed then). */
bool tmx_machine_widen(struct tmx_machine *m, size_t job, size_t home, size_t n);

/* Speed of the job's blocks on a GPU relative to the GPU that holds its data: 1 there, less elsewhere. */
double tmx_machine_remote_speed(const struct tmx_machine *m, const struct tmx_job *job, size_t gpu);
/* SM-seconds of a second of the whole GPU, counted in SMs of GPU 0 as work is. */
double tmx_machine_second_sm_s(const struct tmx_machine *m, size_t gpu);

/* The same of a kernel slot in the last step, and its kernel's dynamic W per SM at that speed's nominal one:
 * the mean of phases that it passed. */
double tmx_machine_step_speed(const struct tmx_machine *m, size_t g, size_t kernel_slot);
double tmx_machine_step_w(const struct tmx_machine *m, size_t g, size_t kernel_slot);
/* SMs that a kernel slot keeps busy in the step that comes, without rests and volunteers. */
double tmx_machine_sms(const struct tmx_machine *m, size_t g, size_t kernel_slot);

/* GPUs first .. end - 1. Those of different spans may go through the functions below at the same time, as
 * long as no job is in the queues of both and there is no synchronous job. */
/* Kernel slots of the GPU: kernels whose blocks its SMs may hold. */
static inline size_t tmx_machine_kernel_slots(const struct tmx_gpu *gpu)
{
    return gpu->n_part > 2 ? gpu->n_part : 2;
}

/* Index of a kernel slot of an SM in share, held and busy. */
static inline size_t tmx_machine_at(const struct tmx_machine *m, size_t sm, size_t kernel_slot)
{
    return kernel_slot * m->n_sm + sm;
}

struct tmx_gpus {
    size_t first, end;
};
static inline struct tmx_gpus tmx_machine_all(const struct tmx_machine *m)
{
    return (struct tmx_gpus){0, m->n_gpu};
}

/* Clamp and apply the request: gates, levels, admissions, shares; start the queue's head on idle
 * GPUs; choose volunteers among the coldest SMs (sensed_k [n_sm, K]) for unprofiled jobs. */
void tmx_machine_apply_span(struct tmx_machine *m, struct tmx_gpus span, const struct tmx_request *request,
                            const double *sensed_k);

/* Blocks progress and retire for one tick; time_s is its start. Returns how many jobs ended; who has advanced
 * all GPUs ends the tick with their sum. */
size_t tmx_machine_advance_span(struct tmx_machine *m, struct tmx_gpus span, double time_s);
void tmx_machine_end_tick(struct tmx_machine *m, size_t n_done);
/* What the SMs of a kernel slot did in this tick, times `by`. */
void tmx_machine_scale_busy(struct tmx_machine *m, struct tmx_gpu *gpu, size_t kernel_slot, double by);

/* Some job does not end within n ticks, whatever clocks and shares its GPUs get, so that work is left. */
bool tmx_machine_outlasts(const struct tmx_machine *m, uint64_t n);

/* What follows is for steps of several ticks (core/sim/events.c), after apply and dispatch of a span. */
/* Ticks, 1 to most, until GPU g's SMs work at other rates: blocks of old shares end, a change of level or a
 * profile does, a kernel does or its power changes. */
uint64_t tmx_machine_steady_ticks(const struct tmx_machine *m, size_t g, uint64_t most);
/* Nothing of the above is under way: rates and watts stay as they are. */
bool tmx_machine_is_steady(const struct tmx_machine *m, size_t g);
/* Of a GPU that is steady: fill busy as advance will. */
void tmx_machine_rates(struct tmx_machine *m, size_t g);

#endif
