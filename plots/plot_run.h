/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_RUN_H
#define TMX_PLOTS_PLOT_RUN_H

#include "plots/figure.h"
#include "plots/history.h"

/* CSV of one frame of all GPUs, side by side in rows of at most four, for plots/scripts/heatmap.gp, and its
 * variables: the hottest block named, the colour scale given. */
TMX_NODISCARD enum tmx_status tmx_plot_frame(const struct tmx_history *all, size_t n_gpu, size_t frame,
                                             double low_c, double high_c, const char *csv_path, char *vars,
                                             size_t size, struct tmx_err *err);

/* All figures of a run's folder. */
TMX_NODISCARD enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err);

#endif
