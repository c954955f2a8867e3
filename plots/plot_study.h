/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_STUDY_H
#define TMX_PLOTS_PLOT_STUDY_H

#include "plots/figure.h"
#include "study/analysis/pivot.h"

struct tmx_study_axes {            /* what against what */
    const char *x, *y, *by;        /* key, metric, key of the curves; NULL: chosen, all of them */
    const struct tmx_where *where; /* [n_where] */
    size_t n_where;
    enum tmx_results_which which; /* runs of earlier inputs, too? */
};

/* Figures of a study's database. Of a grid: one curve a value of `by`, means over the other axes; a map where
 * `by` has more numbers than curves can show. Of a sampled study: a point a run. Without y also slowdown
 * against energy. */
TMX_NODISCARD enum tmx_status tmx_plot_study(struct tmx_plot *p, const char *db_path,
                                             const struct tmx_study_axes *axes, struct tmx_err *err);

#endif
