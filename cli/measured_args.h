/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_MEASURED_ARGS_H
#define TMX_CLI_MEASURED_ARGS_H

/* What log, calibrate and replay have in common: logs in, some of their runs and GPUs, ambient and fan. */

#include "base/err.h"
#include "cli/args.h"
#include "measure/calibrate.h"

struct tmx_measured_args {
    const char *runs, *gpus, *ambient;
    struct tmx_texts column;
    double step_s, rpm;
    bool quiet, described; /* described: warnings are printed with the log's description */
    const char *columns_are;
    const char *command; /* for notes */
};

/* Rows for a struct s with a field `struct tmx_measured_args log`. */
#define TMX_MEASURED_LOG_ROWS(s)                                                                             \
    TMX_ARG(s, log.runs, TEXT, "runs", 0, .value = "NAMES",                                                  \
            .doc = "only these runs: names with * and ?, separated by commas"),                              \
        TMX_ARG(s, log.gpus, TEXT, "gpus", 0, .value = "NAMES", .doc = "only these GPUs"),                   \
        TMX_ARG(s, log.column, TEXTS, "column", 0, .value = "Q=NAME",                                        \
                .doc = "take column NAME for Q: time_s, power_w, temp_c, gpu, host, run, fan_rpm, inlet_c, " \
                       "hbm_c, ...; may be repeated"),                                                       \
        TMX_ARG(s, log.columns_are, TEXT, "columns-are", 0, .value = "NAME,...",                             \
                .doc = "names of the columns of a table without a line of names, in order: "                 \
                       "timestamp,index,power.draw,temperature.gpu"),                                        \
        TMX_ARG(s, log.step_s, REAL, "step", 0, .value = "S", .min = 1e-6, .max = 1e5,                       \
                .doc = "seconds between the rows of a log without time stamps (default 1, with a warning)"), \
        TMX_ARG(s, log.quiet, FLAG, "quiet", 'q', .doc = "print no notes on standard error")
#define TMX_MEASURED_MODEL_ROWS(s)                                                                \
    TMX_ARG(s, log.ambient, TEXT, "ambient", 0, .value = "T", .def = "auto",                      \
            .doc = "air temperature [degC] of all runs; inlet: the log's column; fit: one value " \
                   "fitted for each run; auto: fit, or in a replay as in the calibration"),       \
        TMX_ARG(s, log.rpm, REAL, "rpm", 0, .value = "N", .min = 1, .max = 60000,                 \
                .doc = "fan speed of runs whose log has none")

/* --ambient and --rpm, read. Errors of this and what follows stay (base/err.h). */
void tmx_measured_ambient(const struct tmx_measured_args *a, enum tmx_ambient *how, double *ambient_c,
                          struct tmx_err *err);
/* --power-is: a word, or seconds. */
void tmx_measured_power_is(const char *text, enum tmx_power_is *is, double *window_s, struct tmx_err *err);
double tmx_measured_rpm(const struct tmx_measured_args *a);

void tmx_measured_say(void *to, enum tmx_log_level level,
                      const char *text); /* to: struct tmx_measured_args */

/* Read all logs and select; notes go to standard error unless quiet. */
void tmx_measured_open(const struct tmx_measured_args *a, const struct tmx_texts *path,
                       struct tmx_measured *m, struct tmx_err *err);

#endif
