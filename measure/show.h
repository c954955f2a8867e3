/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_SHOW_H
#define TMX_MEASURE_SHOW_H

/* What was understood of a log, for people: a table of series, and figures. */

#include <stdio.h>

#include "measure/calibrate.h"
#include "plots/plot.h"

/* A row a run and GPU: rows, seconds, step, ranges, steps of load. */
TMX_NODISCARD enum tmx_status tmx_measured_table(const struct tmx_measured *m, struct tmx_table **t,
                                                 struct tmx_err *err);
/* Columns, unused columns, notes; the first run as a line of blocks a GPU. */
void tmx_measured_describe(const struct tmx_measured *m, FILE *out);
void tmx_measured_sketch(const struct tmx_measured *m, FILE *out);

/* What would have been: drawn beside the prediction with its 95 % interval. */
struct tmx_what_if {
    const char *words;      /* "inlet_c=+8" */
    double *const *temp_c;  /* [n_series]; NULL: not known */
    double *const *error_k; /* [n_series] half of the interval of each row; NULL: not known */
};

/* A figure a run (at most 16 runs): power and temperature of its GPUs; predicted (NULL: none) as lines, with
 * the residual below. predicted[n_series][n of the series], NULL where there is none. */
TMX_NODISCARD enum tmx_status tmx_measured_figures(struct tmx_plot *p, const struct tmx_measured *m,
                                                   double *const *predicted, const struct tmx_what_if *if_so);

#endif
