/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_GAP_H
#define TMX_LIMITS_GAP_H

/* The bound of a run, and after it the ledger: where the time between the two went. */

#include "base/table.h"
#include "limits/bound.h"
#include "study/study.h"

/* Averages of a run over its counted time, in the columns of the bound's programme. */
struct tmx_averages {
    uint64_t n_tick;
    double *sum;  /* [lp.n_col] owned; shares come from busy, temperatures and leakage from the recorder, at
                     the end */
    double *busy; /* [n_kernel * n_level * n_sm] owned; SMs side by side */
};

struct tmx_gap {
    struct tmx_plan_chip chip;
    struct tmx_work work;
    struct tmx_bound_options options; /* in force */
    struct tmx_bound bound;
    struct tmx_averages averages;
};

/* In points of slowdown; those from TMX_GAP_IDLE on sum to the gap. With the bound's prices d and what the
 * run leaves of each row and box, bound - run = d' (rhs - A x) + sum over columns of what it leaves of its
 * box, times the price. */
enum tmx_gap_cause {
    TMX_GAP_BOUND,      /* the least slowdown */
    TMX_GAP_TOTAL,      /* the run's slowdown less the bound */
    TMX_GAP_IDLE,       /* SM rows: SMs that stood idle or gated while the clock ran */
    TMX_GAP_HEADROOM,   /* sensors below the limit */
    TMX_GAP_LEVEL,      /* wrong level or wrong place: shares the optimum would not hold */
    TMX_GAP_LEAKAGE,    /* leakage rows and boxes */
    TMX_GAP_STORED,     /* heat rows: heat stored since the start; of either sign */
    TMX_GAP_OVERHEAD,   /* work rows: running SM time that did no work (system kernels, blocks that drain) */
    TMX_GAP_NOT_NEEDED, /* the box of the speed: the limit was no limit */
    TMX_N_GAP_CAUSE
};

/* Set up for a run that is open. o->limit_k <= 0: the hardware's limit; knobs that the run's group `bound`
 * takes away are away. End with tmx_gap_finish, also
 * after failure. TMX_EUNSUPPORTED: no bound for this run, the message says why. */
enum tmx_status tmx_gap_init(struct tmx_gap *j, const struct tmx_run *run, const struct tmx_bound_options *o,
                             struct tmx_err *err);
void tmx_gap_finish(struct tmx_gap *j); /* accepts zeroed memory */

/* Call after every tick. */
void tmx_gap_tick(void *gap, const struct tmx_sim *sim); /* as an observer's tick */
/* After the run; once, the sums become averages. */
void tmx_gap_losses(struct tmx_gap *j, const struct tmx_run *run, double pct[TMX_N_GAP_CAUSE]);

/* The bound and the losses (limits/gap.h) of many runs, for their tables. */

/* Runs of one GPU that works all the time; others have no bound. */
extern const struct tmx_probe tmx_gap_probe;

/* The table behind `thermix bound`. */

struct tmx_bound_call {
    double limit_c; /* of every SM; NAN: where the hardware stops an SM */
    bool uniform, one_level;
    double sm_leak;              /* leakage of the SMs times this; 0: as it is */
    double tbt_s;                /* serving: mean time between tokens; 0: no limit */
    bool reached;                /* serving: run it, and bound it at the time between tokens it reached */
    const struct tmx_sets *sets; /* of base.KEY, after the suite's own */
    void (*run_done)(void *to, size_t n_done, size_t n_total); /* serving: after each run; NULL: none */
    void *run_done_to;
};

/* Of a run or suite that serves a language model the bounds of limits/serve_bound.h: a row for the run, or
 * for each variant; call->reached: for each variant and policy, which are run. Else one row a variant and mix
 * of a suite, or for a run, or for one mix alone on the machine of suite tabs-knobs, and their mean: mix,
 * bound_pct (the least slowdown, certified), certificate (what the certified speed is above the solver's own
 * optimum), feasible_pct (a schedule of finely mixed shares that keeps the limit: the optimum lies between
 * the two), limit_c, steady_peak_c, level<n>_share. The caller destroys *t. */
enum tmx_status tmx_bound_table(struct tmx_table **t, const char *what, const struct tmx_bound_call *call,
                                struct tmx_err *err);

#endif
