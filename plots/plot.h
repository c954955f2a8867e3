/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_H
#define TMX_PLOTS_PLOT_H

#include "plots/figure.h"
#include "plots/history.h"
#include "plots/plot_study.h"
#include "study/explain.h"

/* Draw everything RESULTS holds: the folder of a table or a run, or a database of results. axes: of a study,
 * NULL: all. TMX_EIO when there is nothing to draw, TMX_ECONFIG when p->only is none of its figures. */
TMX_NODISCARD enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results,
                                               const struct tmx_study_axes *axes, struct tmx_err *err);

/* Draw one frame of all GPUs as the figure `name`, side by side in rows of at most four: the hottest block
 * named, the colour scale given. */
TMX_NODISCARD enum tmx_status tmx_plot_frame(struct tmx_plot *p, const char *name,
                                             const struct tmx_history *all, size_t n_gpu, size_t frame,
                                             double low_c, double high_c, struct tmx_err *err);

/* All figures of a run's folder. */
TMX_NODISCARD enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err);

/* What was lost over time and by SM, as `explain`; its data are explain.csv and explain_sm.csv. */
TMX_NODISCARD enum tmx_status tmx_plot_explain(struct tmx_plot *p, const struct tmx_explained *e,
                                               struct tmx_err *err);

#endif
