/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_H
#define TMX_PLOTS_PLOT_H

#include "plots/figure.h"
#include "plots/history.h"
#include "study/analysis/analysis.h"
#include "study/study.h"

struct tmx_study_axes {            /* what against what */
    const char *x, *y, *by;        /* key, metric, key of the curves; NULL: chosen, all of them */
    const struct tmx_where *where; /* [n_where] */
    size_t n_where;
    enum tmx_results_which which; /* runs of earlier inputs, too? */
};

/* Is the file in the folder? Its path. */
bool tmx_plot_holds(const char *folder, const char *file, char path[TMX_PATH_SIZE]);
/* Draw everything RESULTS holds: the folder of a table or a run, or a database of results. axes: of a study.
 * TMX_EIO when there is nothing to draw, TMX_ECONFIG when p->only is none of its figures. */
TMX_NODISCARD enum tmx_status tmx_plot_results(struct tmx_plot *p, const char *results,
                                               const struct tmx_study_axes *axes);

struct tmx_thermal_map {   /* temperatures that `thermix thermal` or HotSpot wrote */
    const char *config;    /* the package that computed them, a .config; NULL: none */
    const char *floorplan; /* of the layer, or of the package where its config names none; NULL: none */
    long layer;            /* -1: the first */
    bool all;              /* every layer, each in a figure of its own */
    long rows, cols;       /* of a grid file without a package; 0 rows: as many as columns */
    bool own_scale;        /* for each layer; else one for all that are drawn */
    double low_c, high_c;  /* ends of the scale, where the first is below the second */
};
/* Draw the file as the figure `map`, or the layers as `map_layerN`: a .steady or .init file's blocks, the
 * hottest row of a .ttrace, or a grid file's cells on the layer's outline under its blocks; without a
 * floorplan a .ttrace as `curves`. TMX_EPARSE with file:line for what is none of them, TMX_ECONFIG where a
 * block has no temperature, or the cells are not those of the package or of this floorplan. */
TMX_NODISCARD enum tmx_status tmx_plot_thermal(struct tmx_plot *p, const char *file,
                                               const struct tmx_thermal_map *m);

/* Draw one frame of all GPUs as the figure `name`, side by side in rows of at most four: the hottest block
 * named, the colour scale given. */
void tmx_plot_frame(struct tmx_plot *p, const char *name, const struct tmx_history *all, size_t n_gpu,
                    size_t frame, double low_c, double high_c);

/* What was lost over time and by SM, as `explain`; its data are explain.csv and explain_sm.csv. Takes those
 * tables over. */
TMX_NODISCARD enum tmx_status tmx_plot_explain(struct tmx_plot *p, struct tmx_explained *e);

/* Figures of a folder with the table of a suite of mixes and policies, or of floorplans; none of any other.
 * paper.csv beside it gives the marks. Of a suite that serves: latencies over the load or by variant, energy
 * a token over the first token, hottest dies and memories. */
void tmx_plot_table(struct tmx_plot *p, const char *folder);

/* Figures of a folder that a suite of papers 000, 001, 002 or 004, or of a day of users wrote, by scripts
 * that read its tables themselves; none of any other. */
void tmx_plot_suite(struct tmx_plot *p, const char *folder);

/* Figures of a run that served a language model, from its folder: latencies (requests.csv), temperature by
 * place (gpus.csv, where dies were computed), and the power of each row of servers over time (rows.csv, where
 * a trace was written). Nothing where the folder has no requests.csv. */
void tmx_plot_serve(struct tmx_plot *p, const char *run_dir);

/* Figures of a study's database. Of a grid: one curve a value of `by`, means over the other axes; a map where
 * `by` has more numbers than curves can show. Of a sampled study: a point a run. Where x is a metric, too,
 * and without y of slowdown and energy: means over seeds as points, those that no other beats in both joined.
 */
void tmx_plot_study(struct tmx_plot *p, const char *db_path, const struct tmx_study_axes *axes);

/* One self-contained HTML file of a set of results. */

struct tmx_report {
    /* [n_result] folders of tables, runs, calibrations and figures, databases of studies, CSV files */
    const char *const *results;
    size_t n_result;
    const char *out;
    const char *title;
    size_t max_frame; /* of a run's heat map */
    bool what_if;     /* with the thermal models of the runs, which the page steps */
    bool explain;     /* what limited the runs, and what would help: each is simulated again, several times */
    bool all;         /* of studies also the runs of earlier inputs */
};

/* Needs gnuplot for the figures. Writes beside out a folder <out>.figures with the figures
 * and their data. */
TMX_NODISCARD enum tmx_status tmx_report_write(const struct tmx_report *r, struct tmx_err *err);

#endif
