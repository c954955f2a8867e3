/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_STUDY_H
#define TMX_STUDY_STUDY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/table.h"
#include "core/machine/decomposition.h"
#include "run/run.h"
#include "study/results.h"
#include "study/sweep.h"
#include "study/table_out.h"

/* Carries out many runs of the simulator (struct tmx_runs): which are missing in the database, running them
 * in several processes and side by side (core/sim/lockstep), writing each down as it ends. */

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
    bool *valid; /* [n_point] has the point a valid configuration? */
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
 * warn of. Errors stay (base/err.h). */
void tmx_study_check(const struct tmx_runs *runs, struct tmx_err *err);

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
    const char **error; /* [n_point] NULL where it ran */
    struct tmx_warnings warnings;
    struct tmx_arena arena; /* of value and error */
};
/* Run what is missing of a suite and read all. Standard error says what was there before, if options has a
 * noun. TMX_ESTOPPED, and *v has what there is: the error of a point that was not reached begins with "not
 * run"; without a value where it stopped before all. Errors stay (base/err.h). The caller ends *v with
 * tmx_run_values_finish, also after failure. */
void tmx_study_values(struct tmx_run_values *v, const struct tmx_runs *runs,
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

/* What uses the ranks of an MPI job. A study: rank 0 hands out one run at a time and is the only writer;
 * every other rank runs what it is given. One run: each rank steps its share of the GPUs, rank 0 writes.
 * Without MPI at build time these functions say so. */

struct tmx_mpi {
    int rank, size; /* 0, 1 when not started by an MPI launcher */
};

/* Joins the job when a launcher (mpirun, srun --mpi) started this program. A launched
 * program that was built without MPI: TMX_EUNSUPPORTED, as every rank would do all runs. */
TMX_NODISCARD enum tmx_status tmx_mpi_begin(struct tmx_mpi *m, int *argc, char ***argv, struct tmx_err *err);
void tmx_mpi_end(void);

/* For one run on all ranks. Only rank 0 speaks: the others' standard output and error lead nowhere from here
 * on. */
void tmx_mpi_silence(const struct tmx_mpi *m);
/* Called by all: the error of the first rank that has one becomes that of all. A rank that continued alone
 * would wait for ever. */
enum tmx_status tmx_mpi_agree(const struct tmx_mpi *m, struct tmx_err *err);
/* How the ranks of a simulation reach one another; watched: core/machine/decomposition.h. */
struct tmx_ranks tmx_mpi_ranks(const struct tmx_mpi *m, bool watched);

/* "I/N", I from 1 to N, into o->shard and o->n_shard. */
TMX_NODISCARD enum tmx_status tmx_study_read_shard(const char *text, struct tmx_study_options *o,
                                                   struct tmx_err *err);

/* Run what is missing. On rank 0 says on standard output what was done, unless the study could not begin. */
enum tmx_status tmx_study_on_ranks(const struct tmx_mpi *mpi, const struct tmx_runs *runs,
                                   const struct tmx_study_options *o, struct tmx_err *err);

/* Why a run was slow: where its busy time went, which SMs and which moments lost most, and what one step of a
 * few knobs would change. */

struct tmx_explain {
    const char *path;    /* of a run's configuration, or of resolved.cfg in a run's folder */
    const char *first;   /* lines printed before the others; NULL: none */
    const char *folder;  /* this run's; NULL: none. It must be of the run that path is now, */
    bool accept_changed; /* unless this: then a note goes to stderr */
    const struct tmx_sets *sets;
    unsigned n_worker; /* of the runs with one knob turned; 0: one a processor */
    bool steps;        /* do these runs, too */
    bool brief;        /* only words that no table, trace or other result of the run has: a line each */
    bool zeros;        /* causes that took nothing are rows, too */
};

struct tmx_explained { /* tables of what was lost (explain.c); of a language model causes alone,
                          run/summary.h's of limits */
    struct tmx_table *causes, *over_time, *by_sm;
    struct tmx_table *steps; /* step, set, slowdown_pct: what helps most first; NULL: none was tried */
    double trip_c;           /* of the throttle; NAN: it has none */
};

/* Runs it (deterministic: the same as before), writes the words to out and fills *e, which the caller ends
 * with tmx_explained_finish, also after failure. Causes exclude one another and sum to the slowdown. */
TMX_NODISCARD enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_explained *e,
                                          struct tmx_err *err);
void tmx_explained_finish(struct tmx_explained *e);

struct tmx_run_alone {                 /* one run by itself: its folder, its screen, its interruption */
    const char *dir;                   /* tables, resolved.cfg and traces go there; NULL: nowhere */
    double trace_s, hotspot_s;         /* between rows of trace.csv, and of HotSpot's files; NAN: none */
    const volatile sig_atomic_t *stop; /* not 0: the run ends; NULL: it does not */
    enum tmx_format format;            /* of what is printed */
    const char *const *column;         /* [n_column] of the table; 0: what fits, the first rows */
    size_t n_column;
    bool quiet;                /* print no progress, and no table for people */
    const struct tmx_mpi *mpi; /* the ranks it is on, which all make this call; rank 0 writes. NULL: none */
};

/* Run, then write and print what there is, also when the run failed; the run's own failure comes first. */
enum tmx_status tmx_run_alone(struct tmx_run *run, const struct tmx_run_alone *a, struct tmx_err *err);

/* With seed, seed + 1, ... in place of the configuration's own, or (nudge) with its own and start
 * temperatures TMX_NUDGE_K apart: n runs, kept in dir's runs.sqlite; prints and writes (seeds.csv) a row a
 * metric: metric, mean, sd (of the sample), ci95 (half the 95 % interval of the mean, by Student's t), n,
 * min, max. Of *a it reads dir, format and quiet. */
enum tmx_status tmx_run_seeds(const char *config, const struct tmx_sets *sets, size_t n, bool nudge,
                              const struct tmx_run_alone *a, struct tmx_err *err);

#endif
