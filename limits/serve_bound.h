/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_SERVE_BOUND_H
#define TMX_LIMITS_SERVE_BOUND_H

/* How many tokens a second can the GPUs of a run serve at most, by any routing and any clocks, if no die, no
 * memory and no row of servers may pass its limit and tokens come no later than asked for? serve_bound.c
 * shows why its optimum bounds every policy. */

#include "run/run.h"

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
    double busy, clock,
        batch;           /* share of time; mean of the fastest while busy; mean of iterations of tokens */
    size_t n_col, n_row; /* of the programme */
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
