/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_RESULTS_H
#define TMX_STUDY_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/provenance.h"
#include "base/setting.h"

/* Results of many runs in one SQLite database (WAL). Schema, documented in
 * docs/formats.md:
 *   study(key, value)                                      what the database holds
 *   point(n, run)                                          place of every point in the study -> its run
 *   run(id, status, error, seconds, version, config, hash) one row per run; id = hash of config
 *   parameter(run, key, value)                             what is varied, of a run
 *   metric(run, name, n, value)                            what it measured
 * A run is written in one transaction: after a kill it is there whole or not at all. The hash of a run is
 * over its row, its parameters and its metrics; that of the study and its points is the study's line "hash".
 * What does not have its hash is not what was written: it is never read as a result. */

enum { TMX_RESULTS_VERSION = 2, TMX_STUDY_NAME = 64, TMX_PARAMETER_SIZE = 1100 };

#define TMX_SUITE_RESULTS "runs.sqlite" /* in the folder of a suite */

struct tmx_sets;
struct tmx_probe;

/* Many runs: of one configuration file, each with its own overrides. */
struct tmx_runs {
    const char *name, *doc, *method; /* of the study; doc and method may be NULL */
    const char *file;                /* that describes it, for messages */
    const char *base;                /* the configuration's file */
    const char *group;               /* of it; NULL: its root */
    size_t n_point, n_key;
    const char *const *key; /* [n_key] what is varied: the parameters in the database */
    const void *ctx;
    /* The overrides of a point; also in a child. */
    void (*sets)(const void *ctx, size_t point, struct tmx_sets *s, struct tmx_err *err);
    struct tmx_scalar (*value)(const void *ctx, size_t point, size_t key); /* of a point */
    const struct tmx_probe *probe; /* beside every run; NULL: nothing */
    bool alone;                    /* each in its own process: long runs, which side by side end late */
    const char *also;              /* what else decides what a run measures; NULL: nothing */
    /* The runs of one table, whose database saves computing them again and no more: a point without a valid
     * configuration is an error, a run is of one build of this program, runs that failed are run again, and a
     * database that is damaged or of another suite is replaced. */
    bool suite;
};

enum tmx_run_state { TMX_RUN_ABSENT, TMX_RUN_DONE, TMX_RUN_FAILED };

struct tmx_run_row {
    const char *id; /* TMX_HASH_HEX */
    bool done;
    const char *error; /* "" when done */
    double seconds;
    const char *version, *config; /* of the program; the resolved configuration */
    size_t point;                 /* a point of the study with this run: gives the parameters */
    const char *const *name;      /* [n_metric] with their units */
    const double *value;          /* [n_metric] finite, or NAN: not measured */
    size_t n_metric;
};

struct tmx_results;

/* Open for writing, made when absent; path NULL: in memory. The study's name and axes must be those in the
 * database, if it has any; a suite takes the place of another. Runs that are not as they were written are
 * taken out, and standard error says how many. It waits until no other command writes it: the points are one
 * command's at a time. Errors (TMX_EIO): a link, no database, another program's or version's, another
 * study's, locked, read-only, disk full; the message says which. TMX_EPARSE: damaged, and as it was. */
TMX_NODISCARD enum tmx_status tmx_results_open(struct tmx_results **r, const char *path,
                                               const struct tmx_runs *runs, struct tmx_err *err);
void tmx_results_close(struct tmx_results *r); /* accepts NULL */

/* Write which run each point has: ids is [runs->n_point]. */
TMX_NODISCARD enum tmx_status tmx_results_points(struct tmx_results *r, const struct tmx_runs *runs,
                                                 const char (*ids)[TMX_HASH_HEX], struct tmx_err *err);
/* The first point of each distinct run of the points, in order, and what there is of it: *n, at most n_point.
 */
TMX_NODISCARD enum tmx_status tmx_results_runs(struct tmx_results *r, size_t *point,
                                               enum tmx_run_state *state, size_t *n, struct tmx_err *err);
/* Add a run. One that is there already stays, except that a failed one is replaced. */
TMX_NODISCARD enum tmx_status tmx_results_add(struct tmx_results *r, const struct tmx_runs *runs,
                                              const struct tmx_run_row *row, struct tmx_err *err);
/* What the points have: value is [n_point * n_value] in the order in which metrics were added, NAN where
 * there is none; error [n_point] texts of the arena, NULL where a run is done, "" where there is no run. */
TMX_NODISCARD enum tmx_status tmx_results_values(struct tmx_results *r, size_t n_point, size_t n_value,
                                                 double *value, const char **error, struct tmx_arena *arena,
                                                 struct tmx_err *err);

/* What the runs of the points warn of. */
struct tmx_warnings;
TMX_NODISCARD enum tmx_status tmx_results_warnings(struct tmx_results *r, struct tmx_warnings *w,
                                                   struct tmx_err *err);

/* Copy all runs of the databases from[0..n) into a database at path, made when absent; each may be the
 * folder of a suite.
 * All must hold the same study. A run that two databases hold is taken once. Errors stay (base/err.h). */
enum tmx_status tmx_results_merge(const char *path, const char *const *from, size_t n, struct tmx_err *err);

/* Runs in memory, in the order of their first point. */
struct tmx_result {
    char id[TMX_HASH_HEX];
    bool done;
    const char *error;
    double seconds;
    char **value;   /* [n_key] "" where the run has none */
    double *metric; /* [n_metric] NAN where the run has none */
};

struct tmx_result_set {
    char study[TMX_STUDY_NAME], doc[256], method[16];
    size_t n_point;
    char **key; /* [n_key] in axis order */
    size_t n_key;
    char **metric; /* [n_metric] in the order of the first run */
    size_t n_metric;
    struct tmx_result *run; /* [n_run] */
    size_t n_run;
    size_t n_left_out;             /* runs that no point has, when they were not asked for */
    size_t *run_of_point;          /* [n_point] index into run; n_run when it has not been run */
    struct tmx_warnings *warnings; /* of the points; NULL: none */
    struct tmx_arena arena;        /* of all that is here */
};

/* A study's file or the files it names may change; runs of earlier inputs stay in the database, and no mean
 * may mix them with the present ones. */
enum tmx_results_which {
    TMX_RESULTS_POINTS, /* the runs that the study's points have now */
    TMX_RESULTS_ALL,    /* those of earlier inputs, too, behind them */
};
/* The database of a file, or of a folder that a suite wrote; or the runs.csv of a study in Python. Errors:
 * TMX_EIO, TMX_EPARSE (a damaged database), TMX_ENOMEM; they stay. */
enum tmx_status tmx_results_load(struct tmx_result_set *set, const char *path, enum tmx_results_which which,
                                 struct tmx_err *err);
/* One line about what a table of the set leaves out: runs of earlier inputs, points without a finished run.
 * Nothing when there is neither. What the runs warn of are warnings (base/plausible.h). */
void tmx_results_note(const struct tmx_result_set *set, FILE *out);
/* "" when every point has been run, to its end or not, else "partial: 3 of 4 points". */
const char *tmx_results_partial(const struct tmx_result_set *set, char *buf, size_t size);
void tmx_result_set_finish(struct tmx_result_set *set); /* accepts zeroed memory */

/* Index of a name that equals word, or whose part after the last '.' does, when that is
 * one name alone; n when none. */
size_t tmx_result_find(char *const *names, size_t n, const char *word);

/* What many runs warn of: each warning once, with the names of the runs that it concerns. A run's warnings
 * are lines of its configuration as it is stored (TMX_RUN_WARNING), so that they are known wherever the run
 * is: while a study begins, in its database, and in a run's folder. */

struct tmx_warnings {
    struct tmx_arena arena;
    struct tmx_warning *list; /* [n] */
    size_t n;
    bool more; /* there were others than there is room for */
};

/* Who the runs are: values of the keys of each. */
struct tmx_warned {
    const void *ctx;
    size_t n_run, n_key;
    const char *const *key; /* [n_key] */
    const char *(*value)(const void *ctx, size_t run, size_t key, char *buf, size_t size);
};

/* The warnings among the lines of a configuration. Errors stay. */
enum tmx_status tmx_warnings_add(struct tmx_warnings *w, size_t run, const char *config, struct tmx_err *err);
/* A warning (base/plausible.h) for each that has not been one yet. Warnings that differ by their numbers
 * alone are one. */
void tmx_warnings_listen(struct tmx_warnings *w, const struct tmx_warned *who);
/* The first warning of a run with these words in it; NULL when there is none. */
const char *tmx_warnings_of(const struct tmx_warnings *w, size_t run, const char *words);
void tmx_warnings_finish(struct tmx_warnings *w); /* accepts zeroed memory */

/* "mix M1, policy BL": a run by its keys. Returns buf. */
const char *tmx_warned_name(const struct tmx_warned *who, size_t run, char *buf, size_t size);

#endif
