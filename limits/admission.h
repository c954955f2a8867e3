/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_ADMISSION_H
#define TMX_LIMITS_ADMISSION_H

/* The table behind `thermix place`: how many jobs of a kind a node or hall carries below a temperature. */

#include <stdio.h>

#include "core/base/config.h"
#include "core/base/table.h"

struct tmx_admission_call {
    const char *system; /* of systems/, or a path */
    const char *kernel; /* NULL: a constant load of power_w */
    double power_w;     /* dynamic watts of a job; NAN: the kernel's, or without kernel the board's limit */
    bool has_limit;
    double limit_c;              /* of every SM, where has_limit; else where the hardware stops an SM */
    double check_s;              /* length of the run that checks the forecast; 0: none */
    bool by_job;                 /* a row a job in place of a row a node */
    const struct tmx_sets *sets; /* of the run's configuration */
    FILE *say;                   /* the answer in sentences; NULL: not printed */
};

/* A row a node, or a row a job in the order in which a node takes them, up to the first that does not fit:
 * node, inlet_c, gpus, jobs, gpu (those that work, or the one that this job goes to), forecast_c (hottest SM
 * of the node in the long run), next_c (with one job more; empty: no GPU is left) and run_c (hottest SM at
 * the end of the run; empty: not run). The caller destroys *t, NULL after a failure. TMX_EUNSUPPORTED: a
 * governor moves clocks, fans follow what is no curve, or the thermal back-end is not linear. */
TMX_NODISCARD enum tmx_status tmx_admission_table(struct tmx_table **t, const struct tmx_admission_call *call,
                                                  struct tmx_err *err);

#endif
