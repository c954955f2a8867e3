/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_SERVE_H
#define TMX_PLOTS_PLOT_SERVE_H

#include "plots/figure.h"

/* Figures of a run that served a language model, from its folder: latencies (requests.csv), temperature by
 * place (gpus.csv, where dies were computed), and the power of each row of servers over time (rows.csv, where
 * a trace was written). Nothing where the folder has no requests.csv. */
TMX_NODISCARD enum tmx_status tmx_plot_serve(struct tmx_plot *p, const char *run_dir, struct tmx_err *err);

/* Figures of a suite that serves, from its table.csv: latencies over the load or by variant, energy a token
 * over the first token, hottest dies and memories. Nothing for other tables. */
TMX_NODISCARD enum tmx_status tmx_plot_serve_suite(struct tmx_plot *p, const char *folder,
                                                   struct tmx_err *err);

#endif
