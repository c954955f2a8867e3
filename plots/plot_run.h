/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_RUN_H
#define TMX_PLOTS_PLOT_RUN_H

#include "plots/figure.h"
#include "plots/history.h"

/* Draw one frame of all GPUs as the figure `name`, side by side in rows of at most four: the hottest block
 * named, the colour scale given. */
TMX_NODISCARD enum tmx_status tmx_plot_frame(struct tmx_plot *p, const char *name,
                                             const struct tmx_history *all, size_t n_gpu, size_t frame,
                                             double low_c, double high_c, struct tmx_err *err);

/* All figures of a run's folder. */
TMX_NODISCARD enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err);

#endif
