/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_SUITE_H
#define TMX_PLOTS_PLOT_SUITE_H

#include "plots/figure.h"

/* Figures of a folder that a suite of papers 000, 001, 002 or 004, or of a day of users wrote, by scripts
 * that read its tables themselves; none of any other. */
TMX_NODISCARD enum tmx_status tmx_plot_suite(struct tmx_plot *p, const char *folder, struct tmx_err *err);

#endif
