/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_TABLE_H
#define TMX_PLOTS_PLOT_TABLE_H

#include "plots/figure.h"

/* Figures of a folder with the table of a suite of mixes and policies, or of floorplans; none of any other.
 * paper.csv beside it gives the marks. */
TMX_NODISCARD enum tmx_status tmx_plot_table(struct tmx_plot *p, const char *folder, struct tmx_err *err);

#endif
