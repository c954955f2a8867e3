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
 * later arrivals, power that changes with time and not with the work. */
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

#endif
