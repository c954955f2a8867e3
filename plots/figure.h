/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_FIGURE_H
#define TMX_PLOTS_FIGURE_H

/* A figure: CSV files of what it shows, and a gnuplot script of plots/scripts/ that draws it. Numbers and
 * names reach the script only as files: NAME.csv, NAME_labels.csv (what the script looks up: words and
 * numbers) and other parts, NAME_paper.csv for example. gnuplot runs in a private folder where they are
 * data.csv, data_labels.csv, data_paper.csv; the picture is checked to be whole and then gets its name. */

#include <stdbool.h>
#include <stddef.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/table.h"

enum { TMX_PLOT_LABELS = 16384, TMX_PLOT_PARTS = 16, TMX_PLOT_PART = 24 };

struct tmx_plot {
    const char *dir;                       /* figures go here, their data into <dir>/data */
    const char *format;                    /* svg, png or pdf */
    const char *only;                      /* this figure alone; NULL: all */
    const char *size;                      /* small, default or large; NULL: default */
    const char *file;                      /* where it goes in place of <dir>/<name>.<format>; NULL: there */
    const char *title, *x_label, *y_label; /* in place of the figure's own; NULL: those */
    const char *const *rename;             /* [n_rename] "OLD=NEW", of names in the figure */
    const char *const *order;              /* [n_order] names that come first, in this order */
    size_t n_rename, n_order;
    bool *found; /* [n_rename + n_order] has a figure the name? */
    bool at;     /* the heat map that comes is of at_s; else of its hottest moment */
    double at_s;
    bool said_title, said_x, said_y; /* the next figure has such a word */
    bool quiet;
    size_t n_figure;     /* drawn so far */
    struct tmx_err *err; /* the first stays (base/err.h) */
    /* Of the next figure: */
    char part[TMX_PLOT_PARTS][TMX_PLOT_PART]; /* written so far */
    size_t n_part;
    char labels[TMX_PLOT_LABELS]; /* not yet written: lines of the file */
    size_t n_label;               /* bytes; more than there is room for: some are missing */
};

extern const char *const tmx_plot_sizes[]; /* small, default, large; NULL-terminated */

/* Finds gnuplot: TMX_EPROGRAM with what to install when it is missing, TMX_ECONFIG for an unknown
 * format. Errors of p's figures go to err from here on. */
TMX_NODISCARD enum tmx_status tmx_plot_begin(struct tmx_plot *p, struct tmx_err *err);

/* Fill dir, format and file from what was asked for: a folder, or with `only` a file x.svg, x.png or x.pdf,
 * whose data goes to x.figure (written to dir[size]). format may be NULL: the file's, or svg. */
TMX_NODISCARD enum tmx_status tmx_plot_target(struct tmx_plot *p, const char *to, const char *format,
                                              char *dir, size_t size, struct tmx_err *err);

/* Is it the name of one figure, x.svg, x.png or x.pdf? */
bool tmx_plot_is_file(const char *to);

/* Is the figure asked for? */
bool tmx_plot_wants(const struct tmx_plot *p, const char *name);

/* The calls below draw a figure: its data, what its script looks up, the picture. An error stays in p:
 * those that follow it do nothing, and who began looks at p->err. */

/* Makes <dir>/data, once it is known that there is something to draw. */
void tmx_plot_folder(struct tmx_plot *p);
/* Read FOLDER/FILE; false where it is not there, which is an error if it must be, or an error came before. */
bool tmx_plot_read(struct tmx_plot *p, const char *folder, const char *file, bool must, struct tmx_csv *csv);
/* Write a part of a wanted figure's data, <dir>/data/<name><part>.csv; part "" is the main one. Takes the
 * table over. gnuplot's CSV reader cuts texts at a comma, quote or backslash: these become letters that look
 * alike. */
void tmx_plot_data(struct tmx_plot *p, const char *name, const char *part, struct tmx_table *t);
/* What the script looks up: a word (key "name" may come again and again) or a number. */
void tmx_plot_label(struct tmx_plot *p, const char *key, const char *text);
void tmx_plot_number(struct tmx_plot *p, const char *key, double v);
void tmx_plot_numbers(struct tmx_plot *p, const char *keys, const double *v); /* one for each word of keys */
/* The labels title, x and y, which the user may replace; NULL: none. */
void tmx_plot_words(struct tmx_plot *p, const char *title, const char *x, const char *y);
void tmx_plot_names(struct tmx_plot *p, const char *const *names, size_t n); /* labels "name" */
/* The names in the order that was asked for; others stay behind, as they are. */
void tmx_plot_order(const struct tmx_plot *p, const char **names, size_t n);
/* Write the labels collected so far as those of a part; those of the main one are written by tmx_plot_draw.
 */
void tmx_plot_labels(struct tmx_plot *p, const char *name, const char *part);
/* Draw <dir>/<name>.<format> by plots/scripts/<script>.gp from the main part, which it takes over (without a
 * row nothing is drawn), the others and the labels. TMX_EFULL: the disk was full and nothing is left. */
void tmx_plot_draw(struct tmx_plot *p, const char *script, const char *name, struct tmx_table *t);
/* Forget what was collected for a figure that is not drawn. */
void tmx_plot_drop(struct tmx_plot *p);

/* Copy the picture or film NAME.svg, .png, .pdf, .gif or .mp4 of the private folder to `out` if it is whole.
 */
TMX_NODISCARD enum tmx_status tmx_plot_take(const struct tmx_os_private *d, const char *name, const char *out,
                                            struct tmx_err *err);

struct tmx_pareto_point {
    const char *name;
    double x, y; /* less is better */
};
/* Sorts the points by x; *front [n] are those that no other beats in both. Returns how many. */
int tmx_pareto_order(const void *a, const void *b); /* of struct tmx_pareto_point: by x, then y */
size_t tmx_pareto_front(struct tmx_pareto_point *point, size_t n, size_t *front);
/* One number against another, each point in the colour of its name, those that no other beats joined. The
 * labels title, x and y are the caller's. */
void tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n);

/* Columns of a unit's outline, and its cells of a row. */
#define TMX_OUTLINE_COLUMNS "unit left_mm:3 right_mm:3 bottom_mm:3 top_mm:3"
struct tmx_unit;
void tmx_plot_outline(struct tmx_table *t, const struct tmx_unit *unit, double x_m, double y_m);

/* The last part of a path; without its ending where that is ENDING or, NULL, whatever it is. */
const char *tmx_plot_stem(const char *path, const char *ending, char buf[80]);

#endif
