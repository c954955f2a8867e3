/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_PLOT_H
#define TMX_PLOTS_PLOT_H

#include "core/floorplan/chip.h"
#include "core/topology/topology.h"
#include "plots/figure.h"
#include "study/analysis/analysis.h"
#include "study/study.h"

/* What a run left in its folder (folder.cfg, floorplan_gpuN.flp, resolved.cfg, trace.csv, temps.ttrace,
 * power.ptrace), for figures, films and reports. Long traces are thinned: every stride-th row is kept. */

enum { TMX_HISTORY_KERNELS = 16 };

struct tmx_history { /* of one GPU */
    size_t gpu;
    char label[TMX_NAME]; /* what people call it */
    char mix[64], policy[64];
    double trip_c, release_c; /* of the throttle; NAN: it has none */
    double target_c;          /* of the governor; NAN: it has none */
    char floorplan_file[64];  /* in the folder */
    struct tmx_floorplan floorplan;
    /* from trace.csv */
    size_t n_time, n_sm, time_stride;
    double *time_s, *freq_mhz, *power_w, *hottest_c, *mean_c; /* [n_time] */
    double *inlet_c, *fan_rpm;                                /* [n_time] NAN: none */
    /* [n_time] since the row before: the least of the coolest SM, least and most of the hottest, the mean of
     * all, the share that was stopped. Of a trace without these columns those of the row's moment. */
    double *coolest_min_c, *hottest_min_c, *hottest_max_c, *sample_mean_c, *stopped_1;
    double *reason; /* [n_time] why the GPU is slow: the number of a text, from 1; 0: it is not */
    char reason_text[TMX_HISTORY_KERNELS][128];
    size_t n_reason;
    double *sm_temp_c, *sm_power_w, *sm_kernel, *sm_stopped; /* [n_time * n_sm] */
    /* Kernels in the order in which they came. sm_kernel is the number, from 1, of the one that has all of
     * the SM, n_kernel + 1 where two share it, 0 where none runs. Beyond the most: as the last. */
    char kernel[TMX_HISTORY_KERNELS][64];
    size_t n_kernel;
    /* from temps.ttrace and power.ptrace (temps_gpu0.ttrace, ... of several GPUs), empty when the run
     * wrote none */
    size_t n_frame, frame_stride;
    double *frame_s;              /* [n_frame] */
    double *unit_temp_c, *unit_w; /* [n_frame * floorplan.n_unit]; powers are means over the row's period */
    struct tmx_arena arena;       /* of all these */
};

/* Read the parts that are there (at least one must be), at most max rows of each: one history a GPU,
 * *all owned by the caller. Errors: TMX_EIO with how to make the files, TMX_EPARSE; they stay. */
enum tmx_status tmx_history_load(struct tmx_history **all, size_t *n_gpu, const char *dir, size_t max,
                                 struct tmx_err *err);
void tmx_history_free(struct tmx_history *all, size_t n_gpu); /* accepts NULL */

/* Does the folder hold what heat maps are made of? */
bool tmx_history_has_frames(const char *dir);
/* Both over the measured time; of a run that ended in its warm-up, over that. */
/* Where and when the hottest unit of all was. */
struct tmx_hottest {
    size_t gpu, frame, unit;
};
struct tmx_hottest tmx_history_hottest(const struct tmx_history *all, size_t n_gpu);
/* The frame nearest to at_s, an error outside the record; NAN: the one of that moment. */
size_t tmx_history_frame(const struct tmx_history *all, size_t n_gpu, double at_s, struct tmx_err *err);
/* Lowest and highest unit temperature over all GPUs and frames [degC]. */
void tmx_history_range(const struct tmx_history *all, size_t n_gpu, double *low_c, double *high_c);

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

/* A run or a chip as one file for other programs.
 *
 * A run's folder as a file of other viewers: X.json, a trace of events that Perfetto and Chrome
 * (chrome://tracing) open; X.vtk, the units at one moment, for ParaView. */

struct tmx_export {
    const char *run, *out;
    double at_s; /* VTK: the recorded moment next to this; NAN: when the hottest unit was hottest */
    long gpu;    /* -1: all */
};

/* TMX_ECONFIG for another ending, a GPU that the run has not, or a run without what the file needs. */
TMX_NODISCARD enum tmx_status tmx_export(const struct tmx_export *e, struct tmx_err *err);

/* ---- a film ---- */

struct tmx_animation {
    const char *run, *out; /* folder of a run with temps.ttrace; name of the film, .mp4 or .gif */
    size_t n_frame, per_s; /* at most so many pictures; a second */
    bool keep;             /* the pictures */
};

/* Draws the pictures into <out>.frames, several at a time, joins them and removes them; says on `said` what
 * was made. Needs gnuplot and ffmpeg: TMX_EUNSUPPORTED without them. */
TMX_NODISCARD enum tmx_status tmx_animation(const struct tmx_animation *a, FILE *said, struct tmx_err *err);

/* ---- drawings of a chip ---- */

/* A drawing of the units with their names, a colour a kind and a millimetre scale: X.svg, or by gnuplot X.png
 * or X.pdf. */
TMX_NODISCARD enum tmx_status tmx_floorplan_draw(const struct tmx_floorplan *fp, const char *path,
                                                 struct tmx_err *err);

/* The maps of a table of `thermix budget --map`: a small die for each row with the SMs that work, over their
 * number and what each may draw (column `watts`). */
TMX_NODISCARD enum tmx_status tmx_budget_save_svg(const struct tmx_chip *c, const struct tmx_table *t,
                                                  const char *watts, const char *path, struct tmx_err *err);

#endif
