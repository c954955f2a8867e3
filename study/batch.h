/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_BATCH_H
#define TMX_STUDY_BATCH_H

/* Many runs of one file, each with overrides of its own, on several processes. What a run measured is kept in
 * a journal as it ends, so that a batch that was stopped goes on where it was. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/config.h"
#include "run/run.h"

/* What watches a run while it runs, and knows more of it afterwards than the metrics do. */
struct tmx_watch {
    size_t n;
    const char *const *column; /* [n] names with their units */
    /* What it keeps over the runs of a process, one after another; NULL: no memory for it. */
    void *(*open)(void);
    void (*close)(void *kept); /* accepts NULL */
    /* Its state for a run that is open, and who looks at every tick; NULL: it cannot watch this run. */
    void *(*begin)(void *kept, const struct tmx_run *run, struct tmx_observer *observer);
    void (*read)(void *state, const struct tmx_run *run,
                 double *value); /* [n] after the run has ended well */
    void (*end)(void *state);    /* accepts NULL */
};
/* Stands for what the watch does not know of a run: a journal keeps finite numbers. */
#define TMX_WATCHED_NOT 1e300

struct tmx_run_batch {
    const char *path;  /* file with the runs' configuration */
    const char *group; /* in this group of it; NULL: at its root */
    size_t n_task;
    unsigned n_worker;   /* 0: one a processor */
    const char *noun;    /* "runs"; NULL: no progress line */
    const char *journal; /* file of results that are there already, appended to; NULL: none */
    void *ctx;
    /* The overrides of a task, in the child. */
    enum tmx_status (*sets)(void *ctx, size_t task, struct tmx_sets *s, struct tmx_err *err);
    /* Run and measure, in the child; NULL: to the end, all of tmx_metrics and what the watch knows, several
     * runs side by side (core/sim/fleet). */
    enum tmx_status (*measure)(void *ctx, struct tmx_run *run, double *value, struct tmx_err *err);
    const struct tmx_watch *watch; /* NULL: none */
    size_t n_value;                /* a task; without measure: tmx_batch_metrics() and the watch's n */
    /* filled by tmx_batch_run; owned: tmx_batch_finish */
    double *value;   /* [n_task * n_value], NAN where the run failed */
    char **error;    /* [n_task] NULL where it ran */
    size_t n_before; /* tasks that the journal had */
};

/* Bad input (exit code 2) of one task stops all, as do signals and lack of memory; any other failure is one
 * task's. */
TMX_NODISCARD enum tmx_status tmx_batch_run(struct tmx_run_batch *b, struct tmx_err *err);
/* Only check every task's configuration, in this process. */
TMX_NODISCARD enum tmx_status tmx_batch_check(const struct tmx_run_batch *b, struct tmx_err *err);
void tmx_batch_finish(struct tmx_run_batch *b);

/* Number of tmx_metrics; the index of one, that number when there is none of this name. */
size_t tmx_batch_metrics(void);
size_t tmx_batch_metric(const char *name);

#endif
