/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_EXPLAIN_H
#define TMX_PLOTS_PLOT_EXPLAIN_H

#include "plots/figure.h"
#include "study/explain.h"

/* What was lost over time and by SM, as `explain`; its data are explain.csv and explain_sm.csv. */
TMX_NODISCARD enum tmx_status tmx_plot_explain(struct tmx_plot *p, const struct tmx_explained *e,
                                               struct tmx_err *err);

#endif
