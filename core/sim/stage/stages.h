/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_STAGES_H
#define TMX_CORE_SIM_STAGE_STAGES_H

/* CTA policies in the tick. Before the run the epoch model (kernels/contention) has run every kernel
 * under the policy once and left a plan: how many SMs it settles for, which clocks, what finding that out
 * cost. In the run the stage
 *  - asks for as many SMs as the resident kernels' plans say (two kernels: mean of their plans by their
 *    shares; the larger plan where they take turns), and puts them in order: far apart, or the coldest first;
 *  - lets the kernels that have SMs in this tick share the memory system: one latency solution for
 *    (kernels, SMs each, clock) gives every kernel's speed per SM against itself alone on the whole chip;
 *  - charges a kernel's transient when it becomes resident;
 *  - switches unused SMs off: they leak the gated rest.
 * Without the stage a kernel's speed per SM does not depend on who else runs. */

#include <thermix/policy.h>

#include "base/opt.h"
#include "core/contract/choice.h"
#include "core/contract/power_model.h"
#include "core/machine/machine.h"
#include "kernels/contention.h"
#include "kernels/profile.h"

enum tmx_cta_place {
    TMX_CTA_COLDEST, /* the coldest SMs, by their sensors */
    TMX_CTA_SPREAD,  /* as far apart as possible */
    TMX_CTA_ORDER,   /* the order of the thread-block policy */
};

struct tmx_cta_plan { /* of one kernel under the policy */
    struct tmx_memory_kernel memory;
    double sms;        /* settled for */
    double core_clock; /* asked for, relative to nominal */
    double memory_clock;
    double delay_s;  /* lost until settled, against having known */
    double energy_j; /* likewise */
};

struct tmx_cta_spec {                /* plan NULL: no stage */
    const struct tmx_kernel *kernel; /* [n_kernel], as the jobs point to them */
    size_t n_kernel;
    const struct tmx_cta_plan *plan; /* [n_kernel]; copied */
    struct tmx_memory_chip chip;
    bool turns;         /* the mix policy lets kernels take turns; tmx_sim_create sets it */
    bool lend;          /* freed SMs go to the other resident kernel */
    bool power_gate;    /* unused SMs are power-gated; else they only have no work */
    double gated_share; /* of an unused SM's leakage that is left */
    int place;          /* enum tmx_cta_place */
};

struct tmx_cta_stage;

/* Errors: TMX_ENOMEM. */
/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_cta_stage *tmx_cta_stage_take(struct tmx_arena *a, const struct tmx_cta_spec *spec,
                                         const struct tmx_machine *m);

/* At the scheduling tick: the order [n_sm] of a GPU's SMs; false, and nothing written: group tb says it. */
bool tmx_cta_stage_order(const struct tmx_cta_stage *c, const struct tmx_gpu *gpu, size_t g,
                         const double *sensed_k, size_t *order);
/* After the mix policy: SMs and clock level of every GPU. */
void tmx_cta_stage_limit(const struct tmx_cta_stage *c, const struct tmx_machine *m,
                         struct tmx_request *request);
/* When blocks have been dealt out, before they advance: speeds of the resident kernels, and the cost of
 * kernels that have just become resident. */
void tmx_cta_stage_slow(struct tmx_cta_stage *c, struct tmx_machine *m);
/* [n_job] memory latency of resident kernels against the kernel alone on the whole chip at nominal clocks,
 * in seconds over seconds; 1 where it has no plan. Owned by the stage. */
const double *tmx_cta_stage_latency(const struct tmx_cta_stage *c);
/* After: what unused SMs save of their leakage where they are power-gated, in unpowered [n_unit]. */
void tmx_cta_stage_sleep(const struct tmx_cta_stage *c, const struct tmx_machine *m, double *unpowered);

/* Order n points (x, y) so that each is as far as possible from all before it; the first is the one
 * farthest from the centre. Ties: the lower index. */
void tmx_spread_order(const double *x, const double *y, size_t n, size_t *order);

/* Unit gating in the tick: which share of each floorplan unit's leakage sleeping INT, FP and SFU units
 * save, and how much longer thread blocks live.
 *
 *   asleep(u) = sum over types t of share_t(u) * ( sum over kernels k of busy_k * saved_t(k) + idle )
 *
 * busy_k: share of the tick kernel k keeps the SM busy; idle: the rest, all its units asleep (ticks are
 * thousands of times longer than a break-even time). saved_t(k): fraction of time type t sleeps under
 * kernel k less the switching overhead, from kernels/profile at the latency that memory has, in core
 * cycles, at the present clock, times what a CTA policy makes of it. share_t(u): leakage of type t in that of
 * unit u. A floorplan whose SMs are split takes the parts by name (SM3_FP); else they are spread over the SM.
 */

enum tmx_gate_type { TMX_GATE_INT, TMX_GATE_FP, TMX_GATE_SFU, TMX_N_GATE_TYPE };

struct tmx_gate_kind {                      /* of GPU: what its SM makes of the kernels */
    const struct tmx_gate_profile *profile; /* [n_kernel] */
    const double *latency_cycles;           /* [n_kernel] at the nominal clock */
    double break_even_cycles;
    double chip_share[TMX_N_GATE_TYPE]; /* leakage of all units of a type in the chip's */
};

struct tmx_gate_spec {               /* kind NULL: no gating; all is copied */
    const struct tmx_kernel *kernel; /* [n_kernel], as the jobs point to them */
    size_t n_kernel;
    const struct tmx_gate_kind *kind; /* [n_kind] */
    size_t n_kind;
    const size_t *kind_of_gpu; /* [n_gpu] */
};

struct tmx_gate_stage;

/* Errors: TMX_ENOMEM. */
/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_gate_stage *tmx_gate_stage_take(struct tmx_arena *a, const struct tmx_gate_spec *spec,
                                           const struct tmx_machine *m);

/* Before blocks advance: the resident kernels' slowdowns at the present clock. latency_factor [n_job]: memory
 * latency against the kernel alone on the whole chip, as a CTA policy leaves it. NULL: no CTA policy. */
void tmx_gate_stage_slow(struct tmx_gate_stage *g, struct tmx_machine *m, struct tmx_gpus span,
                         const double *latency_factor);
/* After: fill asleep [n_unit]. No allocation. */
void tmx_gate_stage_sleep(const struct tmx_gate_stage *g, const struct tmx_machine *m, struct tmx_gpus span,
                          double *asleep);

/* Power smoothing, as NVML's profiles have it (PERCENT_TMP_FLOOR, RAMP_UP_RATE, RAMP_DOWN_RATE,
 * RAMP_DOWN_HYSTERESIS; Blackwell and later), each GPU by itself, on its board's watts. Vendors do not
 * publish the controller; what is kept here:
 *
 *   up     a GPU rests for the share of each tick that keeps its watts from rising faster than ramp_up. It
 *          knows what its kernels draw at full speed on the SMs that the tick gives them; of a synchronous
 *          job, whose members wait, the largest share of it in the last 10 s (assumed). Phases that draw more
 *          than the last tick's overshoot for a tick
 *   floor  while kernels draw power, for hysteresis_s after, and prime_s before one arrives, dummy work fills
 *          up to the floor; a second, lower floor in watts holds at any time (assumed: NVML says its name and
 *          unit alone)
 *   down   dummy work keeps the watts from falling faster than ramp_down
 *
 * Dummy work runs on the SMs, all alike, and on none whose clock the throttle stops: its watts heat them. */

struct tmx_smooth_options {
    double floor;             /* percent of the board's limit */
    double secondary_floor_w; /* at any time */
    double ramp_up_w_per_s, ramp_down_w_per_s;
    double hysteresis_s, prime_s;
};
extern const struct tmx_opt tmx_smooth_opts[];

struct tmx_smooth_gpu { /* of the last tick; zeroed at first */
    double started, held;
    double board_w, still_w; /* with dummy work; of kernels and dummies nothing */
    double full_w;           /* what kernels could draw at full speed */
    double used, unused_s;   /* share of it that members drew of late, and for how long not */
    double idle_s;           /* since kernels drew power */
    double row_w_per_s;      /* a row policy's share, both ways; 0: none */
};

/* What its kernels could draw above what the board draws. */
double tmx_smooth_rise_w(const struct tmx_smooth_gpu *gpu);
bool tmx_smooth_on(const struct tmx_smooth_options *o);
/* After blocks are placed: rests. Then, with the tick's power: dummy work, into power_w and smooth_w. */
void tmx_smooth_slow(const struct tmx_smooth_options *o, struct tmx_machine *m, struct tmx_gpus span,
                     struct tmx_smooth_gpu *gpu);
void tmx_smooth_fill(const struct tmx_smooth_options *o, const struct tmx_machine *m, struct tmx_gpus span,
                     double time_s, struct tmx_smooth_gpu *gpu, struct tmx_frame *f);

/* The row level of a run that serves no language model: at every telemetry a policy holds back synchronous
 * jobs, or shares ramps of power among boards. What it asks for is in force at once. */

struct tmx_row_stage_options { /* group row, beside the policy's */
    double telemetry_s;
};
extern const struct tmx_opt tmx_row_stage_opts[];

struct tmx_row_stage {
    const struct tmx_choice *choice; /* not owned */
    double telemetry_s;
    uint64_t period; /* ticks; 0: no such policy */
    size_t n;        /* instances */
    struct tmx_instance_view *instance;
    double *asked, *memory;
};

/* n_gpu boards or the machine's synchronous jobs. */
void tmx_row_stage_take(struct tmx_row_stage *r, struct tmx_arena *arena, const struct tmx_choice *choice,
                        double telemetry_s, const struct tmx_machine *m);
/* smooth [n_gpu]: gets the ramps. TMX_ESOLVE: an answer that is no hold or ramp. */
void tmx_row_stage_decide(struct tmx_row_stage *r, const struct tmx_view *view, struct tmx_machine *m,
                          struct tmx_smooth_gpu *smooth, struct tmx_err *err);

#endif
