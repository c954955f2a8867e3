/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_CALIBRATE_H
#define TMX_MEASURE_CALIBRATE_H

#include "base/err.h"
#include "base/table.h"
#include "core/floorplan/chip.h"
#include "core/topology/topology.h"
#include "measure/fit.h"

/* From measured series to a node's parameters: which of them the log can tell, and their values. */

enum tmx_ambient { TMX_AMBIENT_AUTO, TMX_AMBIENT_INLET, TMX_AMBIENT_FIT, TMX_AMBIENT_GIVEN };

/* What a row's watts are: of its moment, the mean since the row before, or whichever fits better. */
enum tmx_power_is { TMX_POWER_AUTO, TMX_POWER_INSTANT, TMX_POWER_MEAN };

struct tmx_calibrate_options {
    enum tmx_ambient ambient; /* AUTO: fitted, one number a run */
    double ambient_c;         /* GIVEN */
    const char *air;          /* "auto", "none", or "0>1,3>2": GPU 1 breathes GPU 0's air */
    double split;             /* fit to this share of each run's time, judge on the rest; 1: all */
    double rpm;               /* fan speed of series without a fan column; 0: not known */
    enum tmx_power_is power_is;
    double power_window_s; /* > 0: the watts are a mean over this time before their row, whatever power_is
                              says */
    const char *same_work; /* runs that do the same, as tmx_leak_slope takes them; NULL */
    bool alike;            /* all sinks are equal: GPUs differ by their air and their junctions alone */
    bool leave_one_out;
    const struct tmx_chip *levels; /* whose clock levels the node's GPUs have; NULL: one level */
};

struct tmx_left_out { /* a parameter the log does not tell */
    char name[48];
    char why[160];
};

struct tmx_run_error {
    size_t run;
    double rms_k; /* of the run, predicted by a fit to the others */
};

/* How much more a GPU draws for the same work when it is warmer: d ln P / dT.
 *
 * Equal work is one stretch of load in which the fan's speed changes, or runs that the user declares equal
 * (--same-work). ln P = a(GPU, work) + leak T by least squares over the rows of the settled part; the
 * standard error is the jackknife over eighths of each stretch or over stretches, whichever is more, and the
 * rounding of the sensor. Where the work is not equal power moves temperature, not the reverse: P that
 * wanders by more than 1.5 % at one temperature, or rises by more than 0.8 %/K, gives no slope. A power limit
 * holds P whatever T is: the slope is then 0 within its error, and not reported. */
struct tmx_leak {
    double per_k, error; /* NAN: no equal work at temperatures set apart */
    double low_c, high_c, mean_w;
    size_t n_stretch, n_row;
    bool identified;
    char why[160]; /* when it is not identified: what would show it */
};

/* same_work: "RUNS;RUNS": the runs of a group (patterns, with commas between) do the same work; NULL: none
 * said. TMX_ECONFIG where a group matches fewer than two runs, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_leak_slope(struct tmx_leak *leak, const struct tmx_measured *log,
                                             const char *same_work, struct tmx_err *err);

struct tmx_calibration {
    struct tmx_rc model;
    struct tmx_fit fit;     /* its parameters, ambients and residual */
    struct tmx_arena arena; /* of all but the model */
    struct tmx_fit_parameter *parameter;
    double *ambient_c;  /* [n_run] */
    double *covariance; /* [fit.n_parameter^2] of logarithms where positive */
    double **predicted; /* [n_series][n] degC, by the model */
    struct tmx_left_out left_out[16];
    size_t n_left_out;
    struct tmx_run_error *leave_one_out; /* [n_leave_one_out] */
    size_t n_leave_one_out;
    struct tmx_leak leak;
    double rest_rms_k;          /* on the rest of the runs' time; NAN without split */
    bool fan_varies;            /* more than a tenth */
    char air[512];              /* paths as --air takes them, or "none" */
    bool power_instant;         /* by the name of its column a row's power is of its own moment */
    bool air_found;             /* by the calibration, not given */
    enum tmx_power_is power_is; /* as given; AUTO: the model's was found */
    double power_window_s;
};

/* log is kept by reference until tmx_calibration_finish. Errors: TMX_ERANGE where the power does not vary,
 * TMX_ECONFIG for bad options, TMX_ESOLVE, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_calibrate(struct tmx_calibration *c, const struct tmx_measured *log,
                                            const struct tmx_calibrate_options *options,
                                            const struct tmx_log *say, struct tmx_err *err);
void tmx_calibration_finish(struct tmx_calibration *c);

/* What a calibration leaves on disk, and reading it again.
 *
 *   fit.csv          one row a parameter: name, GPU, run, value, unit, standard error, 95 % interval, status;
 *                    `thermix replay` needs nothing else
 *   covariance.csv   of the fitted parameters, a row and a column each, of logarithms where positive: how far
 *                    what is computed from them may be off
 *   residuals.csv    run, gpu, time_s, power_w, measured_c, predicted_c, residual_k
 *   chips/<gpu>/     a chip of one unit and its package for `thermix run`
 *   node.cfg         the topology of these chips
 *   how.txt          runs, GPUs and options it was made with, to repeat it */

/* The table, the errors and the air, for people. */
TMX_NODISCARD enum tmx_status tmx_calibrated_print(const struct tmx_calibration *c,
                                                   const struct tmx_measured *log, FILE *out,
                                                   struct tmx_err *err);
/* Everything of the above but figures. The folder is made; files in it are replaced. */
TMX_NODISCARD enum tmx_status tmx_calibrated_write(const struct tmx_calibration *c,
                                                   const struct tmx_measured *log,
                                                   const struct tmx_calibrate_options *options,
                                                   const char *dir, struct tmx_err *err);

/* The model of DIR/fit.csv (or of the file itself). TMX_EIO, TMX_EPARSE with file:line. */
TMX_NODISCARD enum tmx_status tmx_calibrated_read(struct tmx_rc *model, const char *path,
                                                  struct tmx_err *err);

/* How far the model of DIR/fit.csv may be off, from covariance.csv beside it; n is 0 where there is none.
 * TMX_EPARSE with file:line. tmx_fit_errors_finish also after failure. */
TMX_NODISCARD enum tmx_status tmx_calibrated_errors(struct tmx_fit_errors *e, const struct tmx_rc *model,
                                                    const char *path, struct tmx_err *err);

/* What node.cfg calls a GPU: its name, its begin, its end and its place where that is longer than a topology
 * takes. Returns buf. */
const char *tmx_calibrated_name(const struct tmx_rc *model, size_t gpu, char buf[TMX_NAME]);

#endif
