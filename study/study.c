/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/cost.h"
#include "core/base/names.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "core/sim/fleet.h"
#include "run/input/data.h"
#include "run/run.h"
#include "study/points.h"
#include "study/pool.h"

static const double LEAST_RUN_S = 0.02, POINT_BYTES = 500; /* a small run's start and end, measured */

enum tmx_status tmx_measures_add(struct tmx_measures *m, const char *name, double value, struct tmx_err *err)
{
    if (!isfinite(value)) {
        return tmx_fail(err, TMX_ESOLVE, "%s is not a finite number", name);
    }
    struct tmx_measure *more = realloc(m->metric, (m->n_metric + 1) * sizeof *more);
    if (!more) {
        return tmx_no_memory(err);
    }
    m->metric = more;
    snprintf(more[m->n_metric].name, sizeof more[0].name, "%s", name);
    more[m->n_metric++].value = value;
    return TMX_OK;
}

void tmx_measures_finish(struct tmx_measures *m)
{
    free(m->metric);
    *m = (struct tmx_measures){0};
}

struct numbered {
    const char *id;
    size_t point;
};

static int by_id(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    const int d = strcmp(x->id, y->id);
    return d ? d : (x->point > y->point) - (x->point < y->point);
}

static int by_point(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* todo = the first point of every distinct run, in order. */
static enum tmx_status distinct(struct tmx_study *s, struct tmx_err *err)
{
    const size_t n = s->sweep->n_point;
    struct numbered *list = malloc(n * sizeof *list);
    s->todo = malloc(n * sizeof *s->todo);
    if (!list || !s->todo) {
        free(list);
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        list[i] = (struct numbered){s->id[i], i};
    }
    qsort(list, n, sizeof *list, by_id);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(list[i].id, list[i - 1].id) != 0) {
            s->todo[s->n_run++] = list[i].point;
        }
    }
    free(list);
    qsort(s->todo, s->n_run, sizeof *s->todo, by_point);
    return TMX_OK;
}

static enum tmx_status missing(struct tmx_study *s, struct tmx_err *err)
{
    const struct tmx_study_options *o = s->options;
    for (size_t i = 0; i < s->n_run; i++) {
        enum tmx_run_state state = TMX_RUN_ABSENT;
        const enum tmx_status st = tmx_results_state(s->results, s->id[s->todo[i]], &state, err);
        if (st) {
            return st;
        }
        const bool there = state == TMX_RUN_DONE || (state == TMX_RUN_FAILED && !o->retry_failed);
        s->n_before += there;
        const bool ours = i % o->n_shard == o->shard;
        if (!there && ours && s->n_todo < o->limit) {
            s->todo[s->n_todo++] = s->todo[i];
        }
    }
    return TMX_OK;
}

/* Root may write a file that nobody may; do not. */
static enum tmx_status check_writable(const char *path, struct tmx_err *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
        return tmx_fail_at(err, TMX_EIO, path, 0, "the database is read-only");
    }
    return TMX_OK;
}

void tmx_study_begin_worker(struct tmx_study *s, const struct tmx_sweep *sweep,
                            const struct tmx_runner *runner, const struct tmx_study_options *options)
{
    char named[TMX_PATH_SIZE];
    struct tmx_err ignored; /* what opens the base says that it is not there */
    *s = (struct tmx_study){.sweep = sweep, .runner = runner, .options = options};
    snprintf(s->base, sizeof s->base, "%s", sweep->base);
    if ((tmx_beside(sweep->file, sweep->base, named, sizeof named) ||
         tmx_data_find_from(TMX_DATA_RUN, sweep->file, sweep->base, named, &ignored) == TMX_OK) &&
        strlen(named) < sizeof s->base) { /* a file, or a name of `thermix list runs` */
        snprintf(s->base, sizeof s->base, "%s", named);
    }
}

enum tmx_status tmx_study_begin(struct tmx_study *s, const struct tmx_sweep *sweep,
                                const struct tmx_runner *runner, const struct tmx_study_options *options,
                                struct tmx_err *err)
{
    char log[TMX_SWEEP_TEXT + 8];
    tmx_study_begin_worker(s, sweep, runner, options);
    const struct tmx_cost cost = {.seconds = LEAST_RUN_S * (double)sweep->n_point / (double)options->n_shard,
                                  .bytes = POINT_BYTES * (double)sweep->n_point};
    const enum tmx_status affordable =
        tmx_cost_check(cost, err, "%s: %zu points, a run each of at least %g ms", sweep->file, sweep->n_point,
                       1e3 * LEAST_RUN_S);
    if (affordable) {
        return affordable;
    }
    s->id = calloc(sweep->n_point, sizeof *s->id);
    enum tmx_status st = s->id ? check_writable(options->path, err) : tmx_no_memory(err);
    st = st ? st : tmx_points_identify(s, err);
    st = st ? st : distinct(s, err);
    st = st ? st : tmx_results_open(&s->results, options->path, sweep, err);
    st = st ? st : tmx_results_points(s->results, sweep, (const char(*)[TMX_HASH_HEX])s->id, err);
    st = st ? st : missing(s, err);
    if (!st) {
        snprintf(log, sizeof log, "%s.log", options->path);
        st = tmx_os_append(&s->log, log, err);
    }
    if (st) {
        tmx_study_end(s);
    }
    return st;
}

void tmx_study_end(struct tmx_study *s)
{
    if (s->log) {
        fclose(s->log);
        s->log = NULL;
    }
    tmx_results_close(s->results);
    s->results = NULL;
    free(s->id);
    free(s->todo);
    s->id = NULL;
    s->todo = NULL;
}

/* A run's bytes: lines "name value", an empty line, the resolved configuration. */
static void write_measures(const struct tmx_measures *m, FILE *out)
{
    for (size_t i = 0; i < m->n_metric; i++) {
        char text[TMX_REAL_SIZE];
        tmx_real_print(text, m->metric[i].value);
        fprintf(out, "%s %s\n", m->metric[i].name, text);
    }
    fputc('\n', out);
}

static enum tmx_status run_point(const struct tmx_study *s, size_t point, FILE *out, struct tmx_err *err)
{
    struct tmx_assignments a;
    struct tmx_measures m = {0};
    enum tmx_status st = tmx_assignments_init(&a, s, point, err);
    if (st) {
        return st;
    }
    st = s->runner->run(s->runner->ctx, &a.point, &m, err);
    if (st) {
        m.n_metric = 0;
    }
    write_measures(&m, out);
    struct tmx_err ignored; /* a configuration that does not resolve failed above with the same words */
    const enum tmx_status resolved = s->runner->resolve(s->runner->ctx, &a.point, out, st ? &ignored : err);
    tmx_measures_finish(&m);
    tmx_assignments_finish(&a);
    return st ? st : resolved;
}

static enum tmx_status begin_run(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                                 void **own, struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    struct tmx_assignments a;
    struct tmx_run *run = NULL;
    (void)observer;
    enum tmx_status st = tmx_assignments_init(&a, s, s->todo[task], err);
    if (!st) {
        st = s->runner->open(s->runner->ctx, &a.point, &run, err);
        tmx_assignments_finish(&a);
    }
    *own = run;
    *sim = run ? tmx_run_sim(run) : NULL;
    return st;
}

/* What there is of the configuration of a run that could not begin. */
static void resolve_ignored(const struct tmx_study *s, size_t point, FILE *out)
{
    struct tmx_assignments a;
    struct tmx_err ignored;
    if (!tmx_assignments_init(&a, s, point, &ignored)) {
        (void)!s->runner->resolve(s->runner->ctx, &a.point, out, &ignored);
        tmx_assignments_finish(&a);
    }
}

static void end_run(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    struct tmx_measures m = {0};
    struct tmx_err late = {0};
    char *bytes = NULL;
    size_t n_byte = 0;
    FILE *out = open_memstream(&bytes, &n_byte);
    struct tmx_run *run = own;
    if (!st) {
        st = out ? s->runner->measure(run, &m, &late) : tmx_no_memory(&late);
        err = &late;
    }
    if (st) {
        m.n_metric = 0;
    }
    if (out) {
        write_measures(&m, out);
        if (run) {
            s->runner->resolved(run, out);
        } else {
            resolve_ignored(s, s->todo[task], out);
        }
        fclose(out);
    }
    tmx_pool_done(s->child, task, st, err, bytes, n_byte);
    tmx_measures_finish(&m);
    tmx_run_destroy(run);
    free(bytes);
}

static void tell(void *ctx, size_t task, double share)
{
    tmx_pool_progress(((const struct tmx_study *)ctx)->child, task, share);
}

static void run_together(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    struct tmx_study *s = ctx;
    s->child = child;
    tmx_fleet_run(&(struct tmx_fleet_tasks){s, begin_run, end_run, tell}, task, n);
}

static enum tmx_status parse(struct tmx_measures *m, const char **config, const char *bytes,
                             struct tmx_err *err)
{
    const char *line = bytes;
    enum tmx_status st = TMX_OK;
    while (!st && *line && *line != '\n') {
        const char *end = line + strcspn(line, "\n");
        const char *space = memchr(line, ' ', (size_t)(end - line));
        char name[TMX_MEASURE_NAME];
        double v;
        tmx_assert(space && (size_t)(space - line) < sizeof name);
        tmx_assert(tmx_span_copy((struct tmx_span){line, space}, name, sizeof name));
        tmx_assert(tmx_span_real((struct tmx_span){space + 1, end}, &v));
        st = tmx_measures_add(m, name, v, err);
        line = *end ? end + 1 : end;
    }
    *config = *line ? line + 1 : line;
    return st;
}

static void log_line(struct tmx_study *s, size_t point, const struct tmx_pool_result *r, const char *error)
{
    char when[32];
    struct tm utc;
    const time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fprintf(s->log, "%s point=%zu run=%s status=%s seconds=%.3f done=%zu of=%zu%s%s\n", when, point,
            s->id[point], r->status ? "failed" : "done", r->wall_s, s->n_done + s->n_failed, s->n_todo,
            error[0] ? " error=" : "", error);
    fflush(s->log);
}

enum tmx_status tmx_study_record(struct tmx_study *s, size_t point, const struct tmx_pool_result *r,
                                 struct tmx_err *err)
{
    char error[1600] = "";
    struct tmx_measures m = {0};
    const char *config = "";
    enum tmx_status st = TMX_OK;
    if (r->status) {
        tmx_err_format(&r->err, error, sizeof error);
        const char *blank = strstr(r->bytes, "\n");
        config = blank ? blank + 1 : "";
    } else {
        st = parse(&m, &config, r->bytes, err);
    }
    if (!st) {
        const struct tmx_run_row row = {.id = s->id[point],
                                        .done = !r->status,
                                        .error = error,
                                        .seconds = r->wall_s,
                                        .version = s->options->version,
                                        .config = config,
                                        .point = point,
                                        .metric = m.metric,
                                        .n_metric = m.n_metric};
        st = tmx_results_add(s->results, s->sweep, &row, err);
    }
    tmx_measures_finish(&m);
    if (!st) {
        s->n_done += r->status == TMX_OK;
        s->n_failed += r->status != TMX_OK;
        log_line(s, point, r, error);
    }
    return st;
}

static enum tmx_status pool_run(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    return run_point(s, s->todo[task], out, err);
}

static enum tmx_status pool_collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct tmx_study *s = ctx;
    return tmx_study_record(s, s->todo[r->task], r, err);
}

enum tmx_status tmx_study_run_local(struct tmx_study *s, struct tmx_err *err)
{
    const struct tmx_pool pool = {.n_task = s->n_todo,
                                  .n_worker = s->options->n_worker,
                                  .as_completed = true, /* so that a kill loses only what is running */
                                  .noun = s->options->quiet ? NULL : "runs",
                                  .ctx = s,
                                  .run = pool_run,
                                  .n_together = TMX_POOL_TOGETHER,
                                  .run_together = s->runner->open ? run_together : NULL,
                                  .collect = pool_collect};
    return tmx_pool_run(&pool, err);
}

struct single {
    struct tmx_study *s;
    size_t point;
    enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err);
    void *ctx;
};

static enum tmx_status single_run(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct single *one = ctx;
    (void)task;
    return run_point(one->s, one->point, out, err);
}

static enum tmx_status single_collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    const struct single *one = ctx;
    return one->collect(one->ctx, r, err);
}

enum tmx_status tmx_study_run_one(struct tmx_study *s, size_t point,
                                  enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r,
                                                             struct tmx_err *err),
                                  void *ctx, struct tmx_err *err)
{
    struct single one = {s, point, collect, ctx};
    const struct tmx_pool pool = {
        .n_task = 1, .n_worker = 1, .ctx = &one, .run = single_run, .collect = single_collect};
    return tmx_pool_run(&pool, err);
}

enum tmx_status tmx_study_check(const struct tmx_sweep *sweep, const struct tmx_runner *runner,
                                struct tmx_err *err)
{
    static const struct tmx_study_options none = {0};
    struct tmx_study s;
    enum tmx_status st = TMX_OK;
    tmx_study_begin_worker(&s, sweep, runner, &none);
    for (size_t i = 0; i < sweep->n_point && !st; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        st = out ? tmx_point_resolve(&s, i, out, err) : tmx_no_memory(err);
        if (out) {
            fclose(out);
        }
        free(text);
    }
    return st;
}
