/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_H
#define TMX_PLOTS_PLOT_H

#include "plots/figure.h"
#include "plots/plot_study.h"

/* Draw everything RESULTS holds: the folder of a table or a run, or a database of results. axes: of a study,
 * NULL: all. TMX_EIO when there is nothing to draw, TMX_ECONFIG when p->only is none of its figures. */
TMX_NODISCARD enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results,
                                               const struct tmx_study_axes *axes, struct tmx_err *err);

#endif
