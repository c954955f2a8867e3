/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PARETO_H
#define TMX_PLOTS_PARETO_H

#include "plots/figure.h"

struct tmx_pareto_point {
    const char *name;
    double slowdown_pct, energy_kj;
};
/* Slowdown against energy, the points that no other beats in both joined; sorts point. names: each point in
 * the colour of its name. */
TMX_NODISCARD enum tmx_status tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n,
                                              bool names, struct tmx_err *err);

#endif
