/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BUDGET_H
#define TMX_LIMITS_BUDGET_H

/* Thermal safe power: how many watts may each of n working SMs draw, for ever or for a while, so that no SM
 * passes the limit? Leakage is solved with the temperatures, not frozen at the limit.
 *   T = ambient + A (baseline + P on the SMs of a set S + V L(T)),   largest P with max over SMs T <= limit
 * Source: Pagani et al., TSP, IEEE TC 2017 (the idea; leakage solved and mappings searched here). */

#include <stdio.h>

#include "base/table.h"
#include "core/contract/forecast.h"
#include "limits/chip_model.h"

struct tmx_budget_call {
    double limit_k;
    double volt; /* relative to level 0, of the clock level */
};

/* Gain of the loop leakage -> temperature -> leakage with every unit at temp_k: spectral radius of
 * A diag(V L'). From 1 on no power is safe. */
double tmx_budget_loop_gain(const struct tmx_plan_chip *c, double volt, double temp_k);

/* W on each SM of the set (on[n_sm]; NULL: all); 0 where even idling passes the limit. temp_k [n_unit]
 * receives the temperatures at the budget; may be NULL. TMX_ERUNAWAY where the loop gain at the limit is 1 or
 * more. Errors stay in err (base/err.h), here and below; the value is then NAN. */
double tmx_budget_of(const struct tmx_plan_chip *c, const struct tmx_budget_call *call, const bool *on,
                     double *temp_k, struct tmx_err *err);

struct tmx_budget_path;

/* For one chip and limit: which sets may draw least and most, for ever (modes and path NULL) or all along a
 * path, whose end compares them. TMX_ERUNAWAY as above, and NULL. Chip, modes and path have to outlive it. */
struct tmx_budget_search;
struct tmx_budget_search *tmx_budget_search_create(const struct tmx_plan_chip *c,
                                                   const struct tmx_budget_call *call,
                                                   const struct tmx_modes_view *modes,
                                                   const struct tmx_budget_path *path, struct tmx_err *err);
void tmx_budget_search_destroy(struct tmx_budget_search *l); /* accepts NULL */

/* W on each of the n SMs (1 to n_sm) that may draw least: exact for linear leakage. Those that may draw most,
 * as found by greedy growth from many SMs, shrinking of the whole chip, and exchanges. on [n_sm] receives the
 * set. */
double tmx_budget_worst(struct tmx_budget_search *l, size_t n, bool *on);
double tmx_budget_best(struct tmx_budget_search *l, size_t n, bool *on);

/* Temperatures of the chip that has been idle for long [n_unit, K]. TMX_ERUNAWAY: there are none. */
void tmx_budget_idle(const struct tmx_plan_chip *c, double volt, double *temp_k, struct tmx_err *err);

/* How the chip goes on without work from a state, leakage as at the limit (it never is above). */
struct tmx_budget_path {
    size_t n;
    double *time_s; /* [n] rising */
    double *sm_k;   /* [n][n_sm] what the sensors would read */
    struct tmx_arena arena;
};

/* From the steady state of an idle chip, in modes. End with tmx_budget_path_finish, also after failure. */
void tmx_budget_path_idle(struct tmx_budget_path *p, const struct tmx_plan_chip *c,
                          const struct tmx_modes_view *modes, const struct tmx_budget_call *call,
                          double horizon_s, struct tmx_err *err);
/* From where a simulation is: its GPU 0, stepped on a copy. The horizon is one tick of the run at least.
 * TMX_EUNSUPPORTED where fans move: the way would depend on them. */
void tmx_budget_path_run(struct tmx_budget_path *p, const struct tmx_plan_chip *c, const struct tmx_run *run,
                         const struct tmx_budget_call *call, double horizon_s, struct tmx_err *err);
void tmx_budget_path_finish(struct tmx_budget_path *p); /* accepts zeroed memory */

/* W on each SM of the set (NULL: all), all along a path. */
double tmx_budget_for(const struct tmx_plan_chip *c, const struct tmx_modes_view *modes,
                      const struct tmx_budget_call *call, const bool *on, const struct tmx_budget_path *path,
                      struct tmx_err *err);

/* The tables behind `thermix budget`, how many watts a chip carries, and `thermix place`, how many jobs of a
 * kind a node or hall carries below a temperature. */

struct tmx_budget_table_call {
    double limit_c;              /* of every SM; NAN: where the hardware stops an SM */
    double horizon_s;            /* 0: for ever */
    const char *state;           /* NULL: from the idle chip; a run, from where it is at at_s */
    double at_s;                 /* since the end of its warm-up */
    size_t level;                /* clock */
    const char *map;             /* NULL, "best", "worst", or a file of SM numbers */
    const struct tmx_sets *sets; /* of the run's configuration */
    double boost; /* how long may all SMs draw so many times what they may for ever? 0: not asked */
    FILE *say;    /* the answer with all SMs, in a sentence; NULL: not printed */
};

/* One row a number n of working SMs: worst_w and best_w on each of them, their ratio, chip_w = n best_w, the
 * loop gain of the leakage at the limit; with a map its SMs, and the picture. A map from a file is one row.
 * With boost: one row of boost, work_w of all SMs, and time_s that it holds at least.
 * The caller destroys *t, and *run, on whose GPU 0 the chip is; both NULL after a failure. */
enum tmx_status tmx_budget_table(struct tmx_table **t, struct tmx_run **run, const char *chip,
                                 const struct tmx_budget_table_call *call, struct tmx_err *err);

/* Why a run is hot: the hottest kernel's watts beside what the chip carries below the throttle's trip point,
 * a sentence into out. Of runs of one GPU without fans that change, without a language model; else nothing.
 */
enum tmx_status tmx_budget_why(const char *path, const struct tmx_sets *sets, FILE *out, struct tmx_err *err);

struct tmx_topology;

struct tmx_admission_call {
    const char *system; /* of systems/, or a path */
    const char *kernel; /* NULL: a constant load of power_w */
    double power_w;     /* dynamic watts of a job; NAN: the kernel's, or without kernel the board's limit */
    double limit_c;     /* of every SM; NAN: where the hardware stops an SM */
    double check_s;     /* length of the run that checks the forecast; 0: none */
    bool by_job;        /* a row a job in place of a row a node */
    const struct tmx_sets *sets; /* of the run's configuration */
    FILE *say;                   /* the answer in sentences; NULL: not printed */
    void (*second_done)(void *to, size_t n_done, size_t n_total); /* of the check's seconds; NULL: nothing */
    void *second_done_to;
    /* Standard error of the forecast of a GPU, in K, when the GPUs of its node draw power_w and their fans
     * turn at rpm [n_gpu], first being the node's first of the topology; NAN: not known. NULL: errors are not
     * asked for. */
    double (*error_k)(void *to, const struct tmx_topology *t, size_t first, size_t n_gpu, size_t gpu,
                      const double *power_w, const double *rpm);
    void *error_to;
};

/* A row a node, or a row a job in the order in which a node takes them, up to the first that does not fit:
 * node, inlet_c, gpus, jobs, gpu (those that work, or the one that this job goes to), forecast_c (hottest SM
 * of the node in the long run), next_c (with one job more; empty: no GPU is left), run_c (hottest SM at
 * the end of the run; empty: not run) and, where errors are asked for, error_k (half of the 95 % interval of
 * forecast_c; empty: not known). The caller destroys *t, NULL after a failure. TMX_EUNSUPPORTED: a
 * governor moves clocks, fans follow what is no curve, or the thermal back-end is not linear. */
enum tmx_status tmx_admission_table(struct tmx_table **t, const struct tmx_admission_call *call,
                                    struct tmx_err *err);

#endif
