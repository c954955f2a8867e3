/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_STUDY_H
#define TMX_STUDY_STUDY_H

/* Carries out a parameter study: which runs are missing, running them, writing them
 * down. What a run is comes from outside. */

#include <stdio.h>

#include "study/results.h"
#include "study/sweep.h"

struct tmx_measures {           /* what one run measured */
    struct tmx_measure *metric; /* [n_metric] owned */
    size_t n_metric;
};

/* Append; the value must be finite, else TMX_ESOLVE. */
TMX_NODISCARD enum tmx_status tmx_measures_add(struct tmx_measures *m, const char *name, double value,
                                               struct tmx_err *err);
void tmx_measures_finish(struct tmx_measures *m);

/* One configuration: a base file and assignments on it ("key=value"), from another file. */
struct tmx_point {
    const char *base, *from;
    const char *const *set; /* [n_set] */
    const unsigned *line;   /* [n_set] of `from` */
    size_t n_set;
};

struct tmx_run;

struct tmx_runner {
    void *ctx;
    /* Write the whole configuration, defaults included: equal text means an equal run. */
    enum tmx_status (*resolve)(void *ctx, const struct tmx_point *p, FILE *out, struct tmx_err *err);
    enum tmx_status (*run)(void *ctx, const struct tmx_point *p, struct tmx_measures *m, struct tmx_err *err);
    /* OPTIONAL: a run of the simulator that is what run would run; several of them go side by side. After its
     * end measure, and resolved as resolve would write it. */
    enum tmx_status (*open)(void *ctx, const struct tmx_point *p, struct tmx_run **run, struct tmx_err *err);
    enum tmx_status (*measure)(const struct tmx_run *run, struct tmx_measures *m, struct tmx_err *err);
    void (*resolved)(const struct tmx_run *run, FILE *out);
};

struct tmx_study_options {
    const char *path; /* of the database; its log is <path>.log */
    unsigned n_worker;
    size_t shard, n_shard; /* run the shard-th (0-based) of n_shard parts; 0, 1: all */
    size_t limit;          /* at most so many runs now; SIZE_MAX: all */
    bool retry_failed;
    bool quiet;
    const char *version;
};

struct tmx_study {
    const struct tmx_sweep *sweep;
    const struct tmx_runner *runner;
    const struct tmx_study_options *options;
    char base[TMX_SWEEP_TEXT];
    char (*id)[TMX_HASH_HEX]; /* [n_point] */
    size_t *todo;             /* [n_todo] points to run now */
    size_t n_todo;
    size_t n_run, n_before, n_done, n_failed; /* distinct runs, there before, finished now */
    struct tmx_results *results;
    FILE *log;
    struct tmx_pool_child *child; /* in a child with several runs */
};

/* Resolve every point, open the database, find what is missing. When no point at all has
 * a valid configuration (an unknown key) nothing is written: TMX_ECONFIG with the first
 * error. */
TMX_NODISCARD enum tmx_status tmx_study_begin(struct tmx_study *s, const struct tmx_sweep *sweep,
                                              const struct tmx_runner *runner,
                                              const struct tmx_study_options *options, struct tmx_err *err);
/* Only what a worker of another process needs: no database. */
void tmx_study_begin_worker(struct tmx_study *s, const struct tmx_sweep *sweep,
                            const struct tmx_runner *runner, const struct tmx_study_options *options);
void tmx_study_end(struct tmx_study *s);

/* Resolve every point; the first that cannot be is the error. */
TMX_NODISCARD enum tmx_status tmx_study_check(const struct tmx_sweep *sweep, const struct tmx_runner *runner,
                                              struct tmx_err *err);

/* Run todo[0..n_todo) on options->n_worker processes. */
TMX_NODISCARD enum tmx_status tmx_study_run_local(struct tmx_study *s, struct tmx_err *err);

/* One run in its own process; what it wrote is handed to collect. */
struct tmx_pool_result;
TMX_NODISCARD enum tmx_status
tmx_study_run_one(struct tmx_study *s, size_t point,
                  enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err),
                  void *ctx, struct tmx_err *err);
/* Write a finished run of a point into the database and the log. */
TMX_NODISCARD enum tmx_status tmx_study_record(struct tmx_study *s, size_t point,
                                               const struct tmx_pool_result *r, struct tmx_err *err);

#endif
