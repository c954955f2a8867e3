/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_HTML_REPORT_H
#define TMX_PLOTS_HTML_REPORT_H

/* One self-contained HTML file of a set of results. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct tmx_report {
    /* [n_result] folders of tables, runs, calibrations and figures, databases of studies, CSV files */
    const char *const *results;
    size_t n_result;
    const char *out;
    const char *title;
    size_t max_frame; /* of a run's heat map */
    bool what_if;     /* with the thermal models of the runs, which the page steps */
    bool explain;     /* what limited the runs, and what would help: each is simulated again, several times */
    bool all;         /* of studies also the runs of earlier inputs */
};

/* Needs gnuplot for the figures. Writes beside out a folder <out>.figures with the figures
 * and their data. */
TMX_NODISCARD enum tmx_status tmx_report_write(const struct tmx_report *r, struct tmx_err *err);

#endif
