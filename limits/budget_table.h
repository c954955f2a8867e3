/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BUDGET_TABLE_H
#define TMX_LIMITS_BUDGET_TABLE_H

/* The tables behind `thermix budget`, how many watts a chip carries, and `thermix place`, how many jobs of a
 * kind a node or hall carries below a temperature. */

#include <stdio.h>

#include "base/table.h"
#include "run/run.h"

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
