/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_POOL_H
#define TMX_STUDY_POOL_H

/* Independent tasks on several processes. Every task runs in its own forked child,
 * so tasks share nothing, and one that crashes costs only itself. What a task
 * returns is the bytes it writes to `out`; the parent alone collects them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct tmx_pool_result {
    size_t task;
    enum tmx_status status; /* of run; TMX_ESOLVE with a message when the child crashed */
    struct tmx_err err;     /* filled when status is not TMX_OK */
    const char *bytes;      /* [n_byte] and a NUL, valid during collect */
    size_t n_byte;
    double wall_s, cpu_s; /* of run alone; 0 when it crashed */
};

struct tmx_pool_child; /* the way to the parent */
void tmx_pool_done(struct tmx_pool_child *child, size_t task, enum tmx_status st, const struct tmx_err *err,
                   const void *bytes, size_t n_byte);

/* How much of a task is done, 0 to 1, for the time left. */
void tmx_pool_progress(struct tmx_pool_child *child, size_t task, double share);

enum { TMX_POOL_TOGETHER = 64 }; /* n_together at most */

struct tmx_pool {
    size_t n_task;
    unsigned n_worker; /* 0: one a processor */
    bool as_completed; /* collect in order of completion instead of task order */
    const char *noun;  /* "runs", for the progress line; NULL: no progress line */
    void *ctx;
    /* In the child. Write the result to out; it is handed over whole, also on failure. */
    enum tmx_status (*run)(void *ctx, size_t task, FILE *out, struct tmx_err *err);
    /* OPTIONAL, and then in place of run, with as_completed: in the child, up to n_together tasks of those
     * that are next (first one, then more while that takes less than a minute), each answered by
     * tmx_pool_done as it ends. A child that crashes costs nothing but time: the tasks it has not answered
     * are run again, each in a child of its own. */
    size_t n_together;
    void (*run_together)(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child);
    /* In the parent, once a task. Any other answer than TMX_OK stops the pool. A task's
     * own failure does not: collect decides. NULL: the first failed task stops it. */
    enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err);
};

/* Runs all tasks. Progress (done, rate, time left, failures) goes to standard error
 * when that is a terminal. Ctrl-C and SIGTERM end the running children, whose tasks
 * then count as not done, and return TMX_ESTOPPED saying how many were collected.
 * Returns collect's status, TMX_EIO when no child can be started. Errors stay (base/err.h). */
enum tmx_status tmx_pool_run(const struct tmx_pool *p, struct tmx_err *err);

/* One line on standard error, redrawn in place; silent when that is not a terminal. */
struct tmx_progress {
    bool shown;
    const char *noun;
    size_t n_total, n_done, n_failed;
    double part; /* of those that are not done: 2.5 for five that are half done */
    double begin_s, last_s;
};

/* noun "runs" is borrowed; NULL: silent. */
void tmx_progress_begin(struct tmx_progress *p, const char *noun, size_t n_total);
void tmx_progress_add(struct tmx_progress *p, bool failed); /* one more is done */
void tmx_progress_show(struct tmx_progress *p);             /* redraws at most a few times a second */
void tmx_progress_end(struct tmx_progress *p);              /* last state and a new line */
/* All of these, as the callback of long work; progress: a struct tmx_progress that has its noun alone. */
void tmx_progress_at(void *progress, size_t n_done, size_t n_total);

/* "1h02m", "3m20s", "7s". */
void tmx_progress_time(char *buf, size_t size, double s);

#endif
