/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_MEASURED_H
#define TMX_MEASURE_MEASURED_H

/* Measured logs of GPUs: power, temperature and what goes with them over time, from the files that
 * nvidia-smi, DCGM, GPU-Z, amd-smi and people's own scripts write.
 *
 * A *run* is a stretch of time without holes; a *series* is one GPU during one run. Everything a
 * reader had to decide (rows dropped, clocks that jump, columns not used) becomes a note. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum tmx_log_quantity {
    TMX_Q_TIME,     /* s */
    TMX_Q_POWER,    /* W */
    TMX_Q_TEMP,     /* degC, the GPU's own number */
    TMX_Q_RPM,      /* fan, rpm */
    TMX_Q_FAN_PCT,  /* fan, percent of full */
    TMX_Q_INLET,    /* degC, air that enters */
    TMX_Q_CLOCK,    /* MHz, of the SMs */
    TMX_Q_UTIL,     /* percent */
    TMX_Q_MEM_TEMP, /* degC */
    TMX_Q_HOT_SPOT, /* degC */
    TMX_Q_VOLT,     /* V */
    TMX_N_LOG_QUANTITY
};

struct tmx_series {
    size_t run, gpu, n;
    double *q[TMX_N_LOG_QUANTITY]; /* [n] each; NULL when the log has none; NAN where one is missing.
                                  TIME rises strictly from the run's begin; POWER has no gaps */
    unsigned *line;                /* [n] */
    double step_s;                 /* median */
    double begin_s;                /* of its run: the log's own time of time 0 */
};

struct tmx_gpu_id { /* who a GPU is; "" where the log does not say */
    char *host, *label, *uuid;
};

struct tmx_log_column { /* what a quantity was read from */
    enum tmx_log_quantity quantity;
    bool instant; /* watts of the row's own moment, by its name: power.draw.instant */
    char *name;   /* its header */
};

struct tmx_measured {
    struct tmx_series *series;     /* [n_series] by run, then GPU */
    char **run;                    /* names */
    char **gpu;                    /* names: the log's own; with its host in front where there are several */
    struct tmx_gpu_id *id;         /* [n_id] in the order of the log's numbers; n_gpu once they are named */
    char **note;                   /* what was decided while reading, one sentence each */
    char **warning;                /* what was assumed: printed also where notes are not */
    struct tmx_log_column *column; /* [n_column] of all logs, in the order in which they were read */
    char **unused;                 /* columns of the log that have no use here */
    size_t n_series, n_run, n_gpu, n_note, n_warning, n_column, n_unused, n_id;
    const char *format;     /* name of the last file's format */
    struct tmx_arena arena; /* of all these */
};

enum { TMX_MAX_WANTED = 16 };
struct tmx_read_options {
    double step_s;                          /* of logs without time stamps; 0: 1 s, with a warning */
    const char *column[TMX_MAX_WANTED + 1]; /* "inlet_c=hgx_inlet_C": take this column; NULL ends */
    const char *columns_are; /* "timestamp,index,...": the names of a table without a line of names; NULL */
};

/* Add the log at path ("-": standard input; gzip and UTF-16 are recognised) to *m, which starts zeroed.
 * Errors: TMX_EIO, TMX_ENOMEM, TMX_EPARSE with file:line. Finish also after failure. */
TMX_NODISCARD enum tmx_status tmx_measured_read(struct tmx_measured *m, const char *path,
                                                const struct tmx_read_options *options, struct tmx_err *err);
void tmx_measured_finish(struct tmx_measured *m);

/* Keep the series whose run matches one of the comma-separated patterns (* and ?) of runs and whose
 * GPU is listed in gpus; NULL keeps all. TMX_ECONFIG when a pattern matches nothing. */
TMX_NODISCARD enum tmx_status tmx_measured_select(struct tmx_measured *m, const char *runs, const char *gpus,
                                                  struct tmx_err *err);

/* Does text match one of the comma-separated patterns? */
bool tmx_pattern_match(const char *patterns, const char *text);

/* "power_w" and so on: the names of the plain CSV. */
const char *tmx_log_quantity_name(enum tmx_log_quantity q);

/* The column that a quantity was read from, the first log's; NULL when there is none. */
const struct tmx_log_column *tmx_measured_source(const struct tmx_measured *m, enum tmx_log_quantity q);

struct tmx_range {
    double low, high; /* INFINITY, -INFINITY of no value */
    size_t at_low, at_high;
};
/* Of values that are not NAN; v may be NULL. */
struct tmx_range tmx_range_of(const double *v, size_t n);
/* Low and high of a quantity over the runs of a GPU, or of all GPUs (-1). */
struct tmx_range tmx_measured_range(const struct tmx_measured *m, enum tmx_log_quantity q, int gpu);

/* The row of a series at this time, or the last before it; its first of a time before all. */
size_t tmx_series_at(const struct tmx_series *s, double time_s);
/* Where a row is in the series' own time, 0 to 1. */
double tmx_series_share(const struct tmx_series *s, size_t row);

/* The series of a run and a GPU; NULL when there is none. */
const struct tmx_series *tmx_measured_find(const struct tmx_measured *m, size_t run, size_t gpu);

#endif
