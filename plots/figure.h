/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_FIGURE_H
#define TMX_PLOTS_FIGURE_H

/* A figure: a CSV file of what it shows, and a gnuplot script of plots/scripts/ that draws it. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/table.h"

struct tmx_plot {
    const char *dir;    /* figures go here, their data into <dir>/data */
    const char *format; /* svg, png or pdf */
    const char *only;   /* this figure alone; NULL: all */
    const char *size;   /* small, default or large; NULL: default */
    const char *file;   /* where it goes in place of <dir>/<name>.<format>; NULL: there */
    bool quiet;
    size_t n_figure; /* drawn so far */
};

extern const char *const tmx_plot_sizes[]; /* small, default, large; NULL-terminated */

/* Finds gnuplot: TMX_EUNSUPPORTED with what to install when it is missing, TMX_ECONFIG for an unknown
 * format. */
TMX_NODISCARD enum tmx_status tmx_plot_begin(struct tmx_plot *p, struct tmx_err *err);

/* Fill dir, format and file from what was asked for: a folder, or with `only` a file x.svg, x.png or x.pdf,
 * whose data goes to x.figure (written to dir[size]). format may be NULL: the file's, or svg. */
TMX_NODISCARD enum tmx_status tmx_plot_target(struct tmx_plot *p, const char *to, const char *format,
                                              char *dir, size_t size, struct tmx_err *err);

/* Is the figure asked for? */
bool tmx_plot_wants(const struct tmx_plot *p, const char *name);

/* Makes <dir>/data, once it is known that there is something to draw. */
TMX_NODISCARD enum tmx_status tmx_plot_folder(const struct tmx_plot *p, struct tmx_err *err);

/* Path of the data of a figure, <dir>/data/<name>.csv. */
void tmx_plot_data_path(const struct tmx_plot *p, const char *name, char *path, size_t size);
TMX_NODISCARD enum tmx_status tmx_plot_data(const struct tmx_plot *p, const char *name,
                                            const struct tmx_table *t, struct tmx_err *err);

/* A text as gnuplot's string constant, in single quotes with those inside doubled and without control
 * characters, cut when it does not fit: names come from files of others and must stay names. Returns buf. */
const char *tmx_plot_quote(const char *text, char *buf, size_t size);

/* TMX_EIO for a path that single quotes of a script cannot hold. */
TMX_NODISCARD enum tmx_status tmx_plot_path(const char *path, struct tmx_err *err);

/* Draw <dir>/<name>.<format> by plots/scripts/<script>.gp; vars are gnuplot assignments
 * ("trip_c=90; y_text='W'"), may be "". */
TMX_NODISCARD enum tmx_status tmx_plot_draw(struct tmx_plot *p, const char *script, const char *name,
                                            const char *vars, struct tmx_err *err);
/* The same to a given file and terminal format. */
TMX_NODISCARD enum tmx_status tmx_plot_script(const char *script, const char *data, const char *out,
                                              const char *format, const char *vars, struct tmx_err *err);

#endif
