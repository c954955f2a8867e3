/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_H
#define TMX_PLOTS_PLOT_H

/* Figures: a CSV file of what a figure shows, and a gnuplot script of plots/ that draws it. */

#include <stdbool.h>

#include "core/base/table.h"

struct tmx_plot {
    const char *dir;    /* figures go here, their data into <dir>/data */
    const char *format; /* svg, png or pdf */
    bool quiet;
    size_t n_figure; /* drawn so far */
};

/* Finds gnuplot: TMX_EUNSUPPORTED with what to install when it is missing, TMX_ECONFIG for an unknown
 * format. */
TMX_NODISCARD enum tmx_status tmx_plot_begin(struct tmx_plot *p, struct tmx_err *err);

/* Makes <dir>/data, once it is known that there is something to draw. */
TMX_NODISCARD enum tmx_status tmx_plot_folder(const struct tmx_plot *p, struct tmx_err *err);

/* Path of the data of a figure, <dir>/data/<name>.csv. */
void tmx_plot_data_path(const struct tmx_plot *p, const char *name, char *path, size_t size);
TMX_NODISCARD enum tmx_status tmx_plot_data(const struct tmx_plot *p, const char *name,
                                            const struct tmx_table *t, struct tmx_err *err);

/* A text as gnuplot's string constant, in single quotes with those inside doubled and without control
 * characters, cut when it does not fit: names come from files of others and must stay names. Returns buf. */
const char *tmx_plot_quote(const char *text, char *buf, size_t size);

/* TMX_EIO for a path that cannot stand in single quotes of a script. */
TMX_NODISCARD enum tmx_status tmx_plot_path(const char *path, struct tmx_err *err);

/* Draw <dir>/<name>.<format> by plots/<script>.gp; vars are gnuplot assignments
 * ("trip_c=90; y_text='W'"), may be "". */
TMX_NODISCARD enum tmx_status tmx_plot_draw(struct tmx_plot *p, const char *script, const char *name,
                                            const char *vars, struct tmx_err *err);
/* The same to a given file and terminal format. */
TMX_NODISCARD enum tmx_status tmx_plot_script(const char *script, const char *data, const char *out,
                                              const char *format, const char *vars, struct tmx_err *err);

/* All figures that the results allow. */
TMX_NODISCARD enum tmx_status tmx_plot_table(struct tmx_plot *p, const char *csv_path, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_plot_study(struct tmx_plot *p, const char *db_path, struct tmx_err *err);

struct tmx_pareto_point {
    const char *name;
    double slowdown_pct, energy_kj;
};
/* Slowdown against energy; sorts point. */
TMX_NODISCARD enum tmx_status tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n,
                                              bool names, struct tmx_err *err);

/* Draw everything RESULTS holds: a table's or a run's folder, or a results database. */
TMX_NODISCARD enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results, struct tmx_err *err);

#endif
