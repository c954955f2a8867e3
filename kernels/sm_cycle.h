/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_SM_CYCLE_H
#define TMX_KERNELS_SM_CYCLE_H

/* One streaming multiprocessor, cycle by cycle: warps, two-level scheduler, scoreboard, dual
 * issue, two clusters of INT and FP lanes, one LDST and one SFU port, power gating.
 *
 * One cycle t, in this order:
 *   1 results arrive: warps become ready; warps whose long wait ended enter the active set (cap
 *     `active`, round robin), units whose wake-up time is over can be used
 *   2 GATES: INT and FP swap priority when no active warp wants the high one and some want the low
 *   3 issue: one slot, a second one with chance `dual_issue`. A slot takes the first candidate in
 *     the policy's order, of several the first that `scan` meets. INT and FP leave through the ports of
 *     the two clusters, one each per cycle, cluster 0 first. A candidate whose unit sleeps asks it to
 *     wake, holds the port, and the slot may then issue only LDST or SFU (`waking`: or all but its type);
 *     where blackout forbids to wake, its type is passed over
 *   4 units that have been idle for idle-detect cycles go to sleep from t + 1 (cluster 0 is asked
 *     first, so that cluster 1 sees it asleep); at the end of an epoch idle detect adapts
 * Rules and their reading of the paper: docs/notes/warped-gates.md. */

#include <stdint.h>

#include "kernels/stream.h"
#include <stdbool.h>
#include <thermix/policy.h>

#include "base/opt.h"

/* The power-gating state machine of every unit (WG figure 2c, sections 5 and 5.1), for sm_cycle.
 *
 *   ON --idle for idle-detect cycles--> ASLEEP --request--> WAKING --wakeup cycles--> ON
 *
 * Under blackout the request is refused until the unit has slept for the break-even time. Nothing is
 * counted per cycle: every state holds the cycle at which it began or ends. */

/* The times and thresholds that every gating policy works with; a chip gives them (sm.cfg, group gate). Times
 * are in core clock cycles (700 MHz on a GTX480). */
struct tmx_gate_params {
    int idle_detect_cycles;     /* idle cycles before a unit is gated; the start value where adaptive */
    int break_even_cycles;      /* sleep that pays for one switching of the sleep transistor */
    int wakeup_cycles;          /* from the request until the unit can be used */
    int epoch_cycles;           /* adaptive: length of one observation */
    int critical_limit;         /* adaptive: more critical wake-ups than this in an epoch: idle detect + 1 */
    int relax_epochs;           /* adaptive: this many epochs within the limit: idle detect - 1 */
    int idle_detect_min_cycles; /* adaptive: bounds */
    int idle_detect_max_cycles;
    int switch_limit_cycles; /* GATES: swap INT and FP priority at the latest after this; 0: no limit */
    bool gate_sfu;           /* the SFU sleeps too, always by the conventional rule (WG 3) */
};

extern const struct tmx_opt tmx_gate_opts[]; /* rows of struct tmx_gate_params, {0}-terminated */

enum { /* units that can sleep */
       TMX_SM_INT0,
       TMX_SM_INT1,
       TMX_SM_FP0,
       TMX_SM_FP1,
       TMX_SM_SFU,
       TMX_SM_N_UNIT,
};

enum { TMX_IDLE_WASTED, TMX_IDLE_UNCOMPENSATED, TMX_IDLE_COMPENSATED, TMX_N_IDLE };

/* Counts of one type: the sum over its clusters. An idle period lies between two uses of a cluster.
 * It is *wasted* when the cluster never slept in it, *uncompensated* when a sleep was shorter than the
 * break-even time, else *compensated*. Without gating it is classified by its length: below idle detect,
 * below idle detect + break even, longer. A period that the end of the run cuts is classified as it stands
 * except that a sleep still under way is not called uncompensated. */
struct tmx_gate_stat {
    unsigned clusters;    /* of the type; 0: no such unit */
    uint64_t issued;      /* warp instructions */
    uint64_t idle_cycles; /* cluster cycles without an instruction in the pipeline */
    uint64_t idle_periods[TMX_N_IDLE];
    uint64_t period_cycles[TMX_N_IDLE]; /* their lengths; the sum is idle_cycles */
    uint64_t asleep_cycles;             /* gated; a waking unit leaks and is not counted */
    uint64_t paid_cycles;               /* of these: beyond the break-even time of their sleep */
    uint64_t unpaid_cycles;             /* shortfall of sleeps that ended before the break-even time */
    uint64_t waking_cycles;
    uint64_t gatings; /* times a cluster fell asleep */
    uint64_t wakeups;
    uint64_t critical_wakeups; /* granted in the very cycle the break-even time was reached */
    uint64_t early_wakeups;    /* before the break-even time */
};

enum tmx_sm_event_kind { TMX_SM_ISSUE, TMX_SM_SLEEP, TMX_SM_WAKE, TMX_SM_ON };
struct tmx_sm_event {
    uint64_t cycle;
    enum tmx_sm_event_kind kind;
    unsigned unit; /* TMX_SM_*; LDST: TMX_SM_N_UNIT; sleeping and waking: the unit */
    unsigned warp; /* ISSUE: index of the resident warp */
};
/* Hears every event in order; may be NULL. */
struct tmx_sm_probe {
    void (*event)(void *context, const struct tmx_sm_event *e);
    void *context;
};

#define TMX_NEVER UINT32_MAX

enum { TMX_SLEPT_NOT, TMX_SLEPT_LONG, TMX_SLEPT_SHORT }; /* in the current idle period */

struct tmx_gating {
    const struct tmx_gate_params *params;
    const struct tmx_sm_probe *probe;
    enum tmx_gate_wake wake;
    bool coordinated, adaptive;
    unsigned n_unit;             /* units that can sleep are 0 .. n_unit - 1 */
    unsigned on, asleep, waking; /* bit per unit; exactly one of the three is set */
    uint32_t busy_until[TMX_SM_N_UNIT];
    uint32_t idle_since[TMX_SM_N_UNIT]; /* ON: end of busy or of waking, the later */
    uint32_t gate_at[TMX_SM_N_UNIT];    /* ON: idle_since + idle detect; else TMX_NEVER */
    uint32_t asleep_since[TMX_SM_N_UNIT];
    uint32_t on_at[TMX_SM_N_UNIT];     /* WAKING: first cycle of use; else TMX_NEVER */
    uint32_t soonest_gate, soonest_on; /* minima of the two */
    uint8_t slept[TMX_SM_N_UNIT];
    uint32_t idle_detect[3];       /* per type, adaptive */
    uint64_t idle_detect_sum[3];   /* over epochs */
    unsigned critical[3], calm[3]; /* critical wake-ups in this epoch; epochs within the limit in a row */
    uint32_t epoch_end, n_epoch;
    struct tmx_gate_stat stat[3];
};

static inline unsigned tmx_unit_kind(unsigned unit) /* 0 INT, 1 FP, 2 SFU */
{
    return unit >> 1;
}

/* clusters of INT and of FP: 1 or 2 */
void tmx_gating_init(struct tmx_gating *g, int clusters, const struct tmx_gate_policy *policy,
                     const struct tmx_gate_params *params, const struct tmx_sm_probe *probe);
/* Units whose wake-up time is over at t. */
void tmx_gating_arrive(struct tmx_gating *g, uint32_t t);
/* Ask a sleeping unit to wake at t; the caller has checked tmx_gating_may_wake. */
void tmx_gating_request(struct tmx_gating *g, unsigned unit, uint32_t t);
/* End of cycle t: let idle units sleep from t + 1. wanted: bit per type that an active warp waits for. */
void tmx_gating_settle(struct tmx_gating *g, uint32_t t, unsigned wanted);
/* End of an epoch (adaptive). */
void tmx_gating_adapt(struct tmx_gating *g);
/* Close all periods at the end of a run of T cycles. */
void tmx_gating_finish(struct tmx_gating *g, uint32_t T);

/* Static energy saved [1], against the same work without gating in base_cycles:
 * 1 - (clusters * cycles - asleep + break_even * gatings) / (clusters * base_cycles). */
double tmx_gate_saved(const struct tmx_gate_stat *g, uint64_t cycles, uint64_t base_cycles,
                      int break_even_cycles);

static inline bool tmx_gating_may_wake(const struct tmx_gating *g, unsigned unit, uint32_t t)
{
    return g->wake != TMX_WAKE_AFTER_BET || unit == TMX_SM_SFU ||
           t - g->asleep_since[unit] >= (uint32_t)g->params->break_even_cycles;
}

static inline void tmx_gating_period(struct tmx_gating *g, unsigned unit, uint32_t length)
{
    struct tmx_gate_stat *s = &g->stat[tmx_unit_kind(unit)];
    int idle_class = TMX_IDLE_WASTED;
    if (g->wake == TMX_WAKE_NO_GATING) {
        const uint32_t detect = (uint32_t)g->params->idle_detect_cycles;
        const uint32_t gain = detect + (uint32_t)g->params->break_even_cycles;
        idle_class += (length >= detect) + (length >= gain);
    } else if (g->slept[unit] != TMX_SLEPT_NOT) {
        idle_class = g->slept[unit] == TMX_SLEPT_SHORT ? TMX_IDLE_UNCOMPENSATED : TMX_IDLE_COMPENSATED;
    }
    s->idle_cycles += length;
    s->idle_periods[idle_class]++;
    s->period_cycles[idle_class] += length;
}

static inline void tmx_gating_soonest(struct tmx_gating *g)
{
    uint32_t soonest = TMX_NEVER;
    for (unsigned u = 0; u < g->n_unit; u++) {
        soonest = g->gate_at[u] < soonest ? g->gate_at[u] : soonest;
    }
    g->soonest_gate = soonest;
}

/* The unit takes an instruction at t and is busy for `busy` cycles. */
static inline void tmx_gating_use(struct tmx_gating *g, unsigned unit, uint32_t t, uint32_t busy)
{
    const unsigned kind = tmx_unit_kind(unit);
    g->stat[kind].issued++;
    if (t > g->busy_until[unit]) {
        tmx_gating_period(g, unit, t - g->busy_until[unit]);
        g->slept[unit] = TMX_SLEPT_NOT;
    }
    g->busy_until[unit] = t + busy;
    g->idle_since[unit] = t + busy;
    if (unit < g->n_unit) {
        const bool was_soonest = g->gate_at[unit] == g->soonest_gate;
        g->gate_at[unit] = t + busy + g->idle_detect[kind];
        if (was_soonest) {
            tmx_gating_soonest(g);
        }
    }
}

enum tmx_cluster_choice { TMX_CLUSTER_FIRST, TMX_CLUSTER_RESTED };
enum tmx_scan { TMX_SCAN_ROUND, TMX_SCAN_SLOT, TMX_SCAN_ENTRY };
enum tmx_waking { TMX_WAKING_PORT, TMX_WAKING_TYPE };

#define TMX_SM_INSTR_S 1e-7 /* a warp instruction's cost, measured on a 2.8 GHz Xeon */

struct tmx_sm_params {    /* the SM itself; defaults: GTX480 */
    int active;           /* most warps in the active set */
    double dual_issue;    /* chance that the second issue slot is usable in a cycle */
    int issue_gap_cycles; /* from one issue of a warp to its next, at least */
    int alu_cycles;       /* from issue until a dependent instruction may issue */
    int sfu_cycles, shared_cycles, hit_cycles;
    int busy_cycles;         /* a lane cluster is busy this long per warp instruction */
    int sfu_interval_cycles; /* from one SFU issue to the next */
    int ldst_interval_cycles;
    int mshr;           /* outstanding global lines */
    int launch_cycles;  /* from the end of a block to the first issue of the next */
    int barrier_cycles; /* from the last arrival to the first issue after it */
    int clusters;       /* 1 or 2 */
    int cluster_choice; /* enum tmx_cluster_choice */
    int slots;          /* issue slots: 1 or 2 */
    int scan;           /* enum tmx_scan: which of several ready warps is taken */
    int waking;         /* enum tmx_waking: what a waking unit holds up */
};
extern const struct tmx_opt tmx_sm_opts[];

struct tmx_sm_result {
    uint64_t cycles, issued; /* issued: warp instructions of all types */
    uint64_t issued_type[TMX_N_UNIT_TYPE];
    uint64_t blocks;       /* thread blocks completed */
    uint64_t block_cycles; /* sum of their lives, first issue slot to last issue */
    uint64_t active_sum;   /* sum over cycles of the warps in the active set */
    unsigned active_max;
    uint64_t lines;                      /* global lines that left the SM */
    uint64_t latency_sum_cycles, misses; /* of loads that left, with queueing */
    struct tmx_gate_stat type[3];        /* INT, FP, SFU */
    double idle_detect_mean[2];          /* INT, FP: over the epochs */
};

/* Run s under policy until `budget` warp instructions have been issued or every block has ended.
 * Equal inputs give equal results on every machine. Errors: TMX_ENOMEM,
 * TMX_ERANGE (a run beyond 2^30 cycles). */
TMX_NODISCARD enum tmx_status tmx_sm_run(const struct tmx_sm_params *sm, const struct tmx_stream *s,
                                         const struct tmx_gate_policy *policy,
                                         const struct tmx_gate_params *gate, uint64_t budget,
                                         const struct tmx_sm_probe *probe, struct tmx_sm_result *r,
                                         struct tmx_err *err);

double tmx_sm_ipc(const struct tmx_sm_result *r);
/* cycles / base_cycles - 1 */
double tmx_gate_slowdown(uint64_t cycles, uint64_t base_cycles);

#endif
