/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_STUDY_H
#define TMX_STUDY_STUDY_H

/* Carries out many runs of the simulator (struct tmx_runs): which are missing in the database, running them
 * in several processes and side by side (core/sim/lockstep), writing each down as it ends. */

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "run/run.h"
#include "study/results.h"
#include "study/sweep.h"
#include "study/warnings.h"

/* What watches a run while it runs, and knows more of it afterwards than the metrics do. */
struct tmx_probe {
    void *ctx;
    size_t n;
    const char *const *column; /* [n] names with their units */
    /* What it keeps over the runs of a process, one after another; NULL: no memory for it. Without open it is
     * ctx. */
    void *(*open)(void *ctx);
    void (*close)(void *kept); /* accepts NULL */
    /* Its state for a run that is open, and who looks at every tick; NULL: it cannot watch this run. An
     * observer that stops the run ends it well. Without begin the state is what is kept. */
    void *(*begin)(void *kept, const struct tmx_run *run, struct tmx_observer *observer);
    /* After the run has ended well. What it does not know stays NAN. */
    void (*read)(void *state, const struct tmx_run *run, double *value);
    void (*end)(void *state); /* accepts NULL */
};

struct tmx_study_options {
    const char *path; /* of the database; NULL: in memory, and every point is run */
    unsigned n_worker;
    size_t shard, n_shard; /* run the shard-th (0-based) of n_shard parts; 0, 1: all */
    size_t limit;          /* at most so many runs now; SIZE_MAX: all */
    bool retry_failed;
    const char *noun; /* "runs", for the progress line; NULL: none */
};

#define TMX_STUDY_WHOLE .n_shard = 1, .limit = SIZE_MAX

struct tmx_study {
    const struct tmx_runs *runs;
    const struct tmx_study_options *options;
    char (*id)[TMX_HASH_HEX]; /* [n_point] */
    char suite[TMX_HASH_HEX]; /* part of every id of a suite; "": no suite */
    size_t *todo;             /* [n_todo] points to run now */
    size_t n_todo;
    size_t n_failed_before;                   /* of those n_before */
    size_t n_run, n_before, n_done, n_failed; /* distinct runs, there before, finished now */
    const char **name;                        /* [n_value] what is measured: tmx_metrics, then the watch's */
    size_t n_value;
    struct tmx_results *results;
    struct tmx_warnings warnings; /* of the points that are described or read back so far */
    FILE *log;                    /* <path>.log, but of a suite */
    struct tmx_arena arena;       /* of id, todo and name */
    /* in a child with several runs */
    struct tmx_pool_child *child;
    void *kept; /* by the watch */
};

/* Resolve every point, open the database, find what is missing. When no point at all has
 * a valid configuration (an unknown key) nothing is written: TMX_ECONFIG with the first
 * error. */
TMX_NODISCARD enum tmx_status tmx_study_begin(struct tmx_study *s, const struct tmx_runs *runs,
                                              const struct tmx_study_options *options, struct tmx_err *err);
/* Only what a worker of another process needs: no database. */
TMX_NODISCARD enum tmx_status tmx_study_begin_worker(struct tmx_study *s, const struct tmx_runs *runs,
                                                     const struct tmx_study_options *options,
                                                     struct tmx_err *err);
void tmx_study_end(struct tmx_study *s);

/* Resolve every point; the first that cannot be is the error, with the name of its run. Doubts what the runs
 * warn of. */
TMX_NODISCARD enum tmx_status tmx_study_check(const struct tmx_runs *runs, struct tmx_err *err);

/* Run todo[0..n_todo) on options->n_worker processes. */
TMX_NODISCARD enum tmx_status tmx_study_run_local(struct tmx_study *s, struct tmx_err *err);

/* One run in its own process; what it sends is handed to collect, whose ctx is s, with the point as its todo.
 */
struct tmx_pool_result;
TMX_NODISCARD enum tmx_status
tmx_study_run_one(struct tmx_study *s, size_t point,
                  enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err),
                  struct tmx_err *err);
/* Warn of what the runs in the database warn of, once. */
TMX_NODISCARD enum tmx_status tmx_study_warn(struct tmx_study *s, struct tmx_err *err);
/* Write a finished run of a point into the database and the log. */
TMX_NODISCARD enum tmx_status tmx_study_record(struct tmx_study *s, size_t point,
                                               const struct tmx_pool_result *r, struct tmx_err *err);

/* The points of a suite, run and read back. */
struct tmx_run_values {
    size_t n_point, n_value;
    double *value; /* [n_point * n_value] tmx_metrics and what the watch knows; NAN where there is none */
    char **error;  /* [n_point] NULL where it ran */
    struct tmx_warnings warnings;
};
/* Run what is missing of a suite and read all. Standard error says what was there before, if options has a
 * noun. TMX_ESTOPPED, and *v has what there is: the error of a point that was not reached begins with "not
 * run". The caller ends it with tmx_run_values_finish, also after failure. */
TMX_NODISCARD enum tmx_status tmx_study_values(struct tmx_run_values *v, const struct tmx_runs *runs,
                                               const struct tmx_study_options *options, struct tmx_err *err);
void tmx_run_values_finish(struct tmx_run_values *v); /* accepts zeroed memory */

/* Of points that are the same n_each runs again and again, with other seeds, or with start temperatures that
 * are TMX_NUDGE_K apart: a line to out when no seed changes a number, or what a nudge moves most. */
#define TMX_NUDGE_K 1e-6
void tmx_study_say_spread(const struct tmx_run_values *v, size_t n_each, const struct tmx_runs *runs,
                          bool nudged, FILE *out);

/* Number of tmx_metrics; the index of one, that number when there is none of this name. */
size_t tmx_study_metrics(void);
size_t tmx_study_metric(const char *name);

#endif
