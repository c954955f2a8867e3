/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BOUND_H
#define TMX_LIMITS_BOUND_H

/* How much work can a chip do at most, if no SM may ever be hotter than a limit? The optimum of a linear
 * programme over the averages of a schedule, which bounds every policy; bound.c shows why, and why the solver
 * need not be trusted.
 *
 * Several GPUs of one kind are bounded together, by work / (makespan x all SMs). A suite's slowdown counts
 * busy time only, so tables set no bound beside it. */

#include "limits/chip_model.h"
#include "limits/lp.h"
#include "study/study.h"

struct tmx_work { /* pieces of kernels that heat alike are one row: a kernel, or a phase of its work */
    size_t n;
    double *sm_w;   /* [n] W on one SM at level 0 */
    double *waits;  /* [n] share of its time that does not follow the clock */
    double *work_s; /* [n] time on all SMs of all GPUs at level 0 */
    size_t *piece0; /* [n_job] a job's first piece, one a phase */
    size_t *row;    /* of each piece */
    struct tmx_arena arena;
    double sum_s;
    double gain; /* speed of kernels that share an SM, at most */
};

struct tmx_bound_options {
    double limit_k;              /* of every SM sensor */
    bool uniform;                /* all SMs alike: no placement */
    bool one_level;              /* level 0 only: gating */
    double sm_leak;              /* leakage of the SMs times this (unit gating); 1: as it is */
    struct tmx_lp_cache *solved; /* programmes of earlier bounds; NULL: every one is solved */
    const double *tangent_k; /* [n_tangent] where leakage is supported from below; NULL: 12 below the limit */
    size_t n_tangent;
};

struct tmx_bound {
    double speed;       /* at most this; 1 - it is the least slowdown */
    double objective;   /* the solver's own word */
    double certificate; /* speed - objective before clipping: 0 but for round-off, or the prices are poor */
    struct tmx_lp lp;
    double *x;       /* [lp.n_col] an optimum */
    double *dual;    /* [lp.n_row] */
    double *reduced; /* [lp.n_col] */
    struct tmx_arena arena;
    double sm_leak; /* of the options */
    /* where things stand */
    size_t n_sm, n_kernel, n_level, n_unit;
    size_t y0, t0, l0, speed_col; /* first columns; x[s,k,v] = (s n_kernel + k) n_level + v */
    size_t sm_row0, clock_row, work_row0, heat_row0, leak_row0, n_leak_row, limit_row0;
};

/* The jobs of a run, alike kernels merged. End with tmx_work_finish. TMX_EUNSUPPORTED, with the reason,
 * for what the programme does not describe: GPUs of several kinds, the job level, CTA policies, unit gating,
 * later arrivals, heat outside the SMs, power that changes with time and not with the work. */
enum tmx_status tmx_work_init(struct tmx_work *w, const struct tmx_run *run, struct tmx_err *err);
void tmx_work_finish(struct tmx_work *w); /* accepts zeroed memory */
/* The row of what a job does now. */
size_t tmx_work_row(const struct tmx_work *w, const struct tmx_machine *m, size_t job);

/* Overwritten; end with tmx_bound_finish, also after failure. */
enum tmx_status tmx_bound_init(struct tmx_bound *b, const struct tmx_plan_chip *c, const struct tmx_work *w,
                               const struct tmx_bound_options *o, struct tmx_err *err);
void tmx_bound_finish(struct tmx_bound *b); /* accepts zeroed memory */

/* Share of time at a level, in the optimum. */
double tmx_bound_level_share(const struct tmx_bound *b, size_t level);

/* Hottest SM [K] when the optimum's shares run for ever, for this part of the time, under exact leakage:
 * above the limit by what the tangents and the mean voltage give away; INFINITY where the leakage then runs
 * away. */
enum tmx_status tmx_bound_steady_peak(const struct tmx_bound *b, const struct tmx_plan_chip *c,
                                      const struct tmx_work *w, double busy, double *peak_k,
                                      struct tmx_err *err);

/* A schedule that keeps the limit exactly: the bound of a limit lowered until the steady peak is the
 * limit; where leakage runs away, the optimum's shares for a part of the time. Between it and the bound lies
 * the optimum. */
enum tmx_status tmx_bound_feasible(double *speed, const struct tmx_plan_chip *c, const struct tmx_work *w,
                                   const struct tmx_bound_options *o, struct tmx_err *err);

/* The bound of a run, and after it the ledger: where the time between the two went. */

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

/* The bound and the losses of many runs, for their tables. */

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

/* Of a run or suite that serves a language model the bounds below: a row for the run, or
 * for each variant; call->reached: for each variant and policy, which are run. Else one row a variant and mix
 * of a suite, or for a run, or for one mix alone on the machine of suite tabs-knobs, and their mean: mix,
 * bound_pct (the least slowdown, certified), certificate (what the certified speed is above the solver's own
 * optimum), feasible_pct (a schedule of finely mixed shares that keeps the limit: the optimum lies between
 * the two), limit_c, steady_peak_c, level<n>_share. The caller destroys *t. */
enum tmx_status tmx_bound_table(struct tmx_table **t, const char *what, const struct tmx_bound_call *call,
                                struct tmx_err *err);

/* How many tokens a second can the GPUs of a run serve at most, by any routing and any clocks, if no die, no
 * memory and no row of servers may pass its limit and tokens come no later than asked for? serve_bound.c
 * shows why its optimum bounds every policy. */

enum tmx_serve_limit { /* what a gain is of */
                       TMX_SERVE_LIMIT_DIE,
                       TMX_SERVE_LIMIT_MEMORY,
                       TMX_SERVE_LIMIT_ROW,
                       TMX_SERVE_LIMIT_TBT,
                       TMX_SERVE_LIMIT_TIME, /* instances that are busy all the time */
                       TMX_N_SERVE_LIMIT
};

struct tmx_serve_bound_options {
    double die_k, memory_k; /* 0: the board's, else where the throttle acts; memory INFINITY: none */
    double row_w;           /* of each row; 0: the run's budget, INFINITY: none */
    double tbt_s;           /* between tokens, mean over all of them; 0: no limit */
};

struct tmx_serve_bound {
    double requests_per_s, tokens_per_s;  /* at most */
    double certificate;                   /* share by which the bound is above the solver's own optimum */
    double die_k, memory_k, row_w, tbt_s; /* limits in force; INFINITY: none */
    /* % of the bound for a limit that is looser: by 1 K, 1 K, 1 % of the watts, 1 % of the time, 1 % more
     * instances; 0: it does not bind */
    double gain_pct[TMX_N_SERVE_LIMIT];
    /* of the optimum */
    double busy, clock, batch; /* share of time; mean of the fastest while busy; mean of iterations of tokens
                                  alone; NAN: none */
    size_t n_col, n_row;       /* of the programme */
};

/* Before or after the run; every request of it counts. TMX_EUNSUPPORTED: nothing is served, or GPUs differ by
 * spread; TMX_ESOLVE: the limits leave no room for idle GPUs. */
enum tmx_status tmx_serve_bound(struct tmx_serve_bound *b, const struct tmx_run *run,
                                const struct tmx_serve_bound_options *o, struct tmx_err *err);

/* Would the programme of a run that is only described take too long? TMX_ERANGE
 * (base/cost.h), with all of the lines that it may have. */
enum tmx_status tmx_serve_bound_check(const struct tmx_run *run, struct tmx_err *err);

/* What a run that has ended reached: its mean time between tokens, over all tokens; its watts by row, the
 * largest mean. */
double tmx_serve_mean_tbt_s(const struct tmx_run *run);
double tmx_serve_mean_row_w(const struct tmx_run *run);

#endif
