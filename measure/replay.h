/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_REPLAY_H
#define TMX_MEASURE_REPLAY_H

/* Measured power in, predicted temperature out: how far a calibrated model is from a log, and what the log
 * would have been otherwise. */

#include "base/arena.h"
#include "base/table.h"
#include "measure/calibrate.h"
#include "plots/figure.h"

enum { TMX_MAX_WHAT_IF = 16 };

struct tmx_replay_options {
    enum tmx_ambient ambient; /* AUTO: as in the calibration; where that had the inlet column, fitted for runs
                                 without one */
    double ambient_c;         /* GIVEN */
    double rpm;               /* of runs without a fan column; 0: the calibration's own speed */
    double from; /* rows after this share of a run's time are judged, those before it set the start; 0: all */
    const char *what_if[TMX_MAX_WHAT_IF]; /* "power_cap_w=500": NULL ends; see TMX_WHAT_IF_HELP */
    const struct tmx_fit_errors *errors;  /* of the calibration; NULL: not known */
};

struct tmx_replay_row {
    size_t run, gpu, rows;
    double rmse_k, bias_k, max_abs_k; /* predicted - measured */
    double peak_c, mean_c;            /* predicted as logged */
    double peak_if_c, mean_if_c;      /* predicted with the what-ifs */
    double error_k; /* half of the 95 % interval of peak_if_c: of what the what-ifs change, by the
                       calibration's covariance, and of what it misses in this log; NAN: not known */
};

struct tmx_replay {
    struct tmx_arena arena;     /* of all these */
    struct tmx_replay_row *row; /* [n_row] one a series */
    size_t n_row;
    double **temp_c, **if_c; /* [n_series][n of the series]; NULL where the GPU is not calibrated */
    double **error_k;        /* the same: half of the 95 % interval of if_c */
    double *ambient_c;       /* [n_run] fitted or given; NAN: the inlet column */
    size_t *series;          /* [n_row] */
    bool what_if;
    bool fans_held;  /* the what-ifs keep the fans of the log */
    bool covariance; /* the calibration has one */
};

/* Errors: TMX_ECONFIG where no GPU of the log is in the model, and for a what-if that makes no sense. */
TMX_NODISCARD enum tmx_status tmx_replay(struct tmx_replay *r, const struct tmx_rc *model,
                                         const struct tmx_measured *log,
                                         const struct tmx_replay_options *options, const struct tmx_log *say,
                                         struct tmx_err *err);
void tmx_replay_finish(struct tmx_replay *r);

/* NULL: no memory. run,gpu,rows,rmse_k,bias_k,max_abs_k; with what-ifs run,gpu,rows,peak_c,peak_if_c,mean_c,
 * mean_if_c,rmse_k,error_k. */
struct tmx_table *tmx_replay_table(const struct tmx_replay *r, const struct tmx_measured *log);
/* All rows together, and the worst run and GPU; or the hottest GPU of the what-ifs, with its error. */
void tmx_replay_summary(const struct tmx_replay *r, const struct tmx_measured *log, FILE *out);
/* NULL: no memory. run,gpu,time_s,power_w,measured_c,predicted_c[,what_if_c]; stamps: times as the log has
 * them */
struct tmx_table *tmx_replay_trace(const struct tmx_replay *r, const struct tmx_measured *log, bool stamps);

#define TMX_WHAT_IF_HELP                                                             \
    "  inlet_c=30            inlet air in degC, not the log's or the fitted value\n" \
    "  fan_rpm=8000          all fans at this speed\n"                               \
    "  fan_curve=30:3000,60:9000   degC:rpm, of the hottest GPU of the run;\n"       \
    "                        straight between, constant outside\n"                   \
    "  power_cap_w=500       no GPU draws more\n"                                    \
    "  power_scale=1.1       multiply all power by this\n"                           \
    "  swap=0:3              GPUs 0 and 3 exchange their work (their power)\n"

/* What was understood of a log, for people: a table of series, and figures. */

/* A row a run and GPU: rows, seconds, step, ranges, steps of load. */
TMX_NODISCARD enum tmx_status tmx_measured_table(const struct tmx_measured *m, struct tmx_table **t,
                                                 struct tmx_err *err);
/* Columns, unused columns, notes; the first run as a line of blocks a GPU. */
void tmx_measured_describe(const struct tmx_measured *m, FILE *out);
void tmx_measured_sketch(const struct tmx_measured *m, FILE *out);

/* What would have been: drawn beside the prediction with its 95 % interval. */
struct tmx_what_if {
    const char *words;      /* "inlet_c=+8" */
    double *const *temp_c;  /* [n_series]; NULL: not known */
    double *const *error_k; /* [n_series] half of the interval of each row; NULL: not known */
};

/* A figure a run (at most 16 runs): power and temperature of its GPUs; predicted (NULL: none) as lines, with
 * the residual below. predicted[n_series][n of the series], NULL where there is none. */
TMX_NODISCARD enum tmx_status tmx_measured_figures(struct tmx_plot *p, const struct tmx_measured *m,
                                                   double *const *predicted, const struct tmx_what_if *if_so);

#endif
