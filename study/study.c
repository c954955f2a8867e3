/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a study runs.
 *
 * A study is a list of points. A point is one configuration file with the overrides of that point. Two points
 * may be the same run, so the engine works with runs, which are identified by their content:
 *
 *     points    0 1 2 3 4 5     describe every point, several at a time in child processes
 *               | | | | | |
 *     ids       a b a c b d     id = hash of the program's version, of every key with its value and of
 *               |     |   |     every file that was read (of a suite also the program and what is measured)
 *     database    b             rows of an earlier call, or of one that was killed
 *     todo      0     3   5     the first point of every run that has no result yet
 *
 * The runs of `todo` are handed to a pool of child processes (study/pool.c), or to the ranks of an MPI job
 * (study/study_mpi.c). A child opens the runs of its task and steps them in lockstep (core/sim/lockstep.c),
 * so that runs which share a thermal model share its solves. It then sends back one message a run:
 *
 *     status, error, n_value doubles, the resolved configuration
 *
 * Measures are doubles from the child to the database; no number is printed on the way. A run that crashes
 * takes only its child along: the parent records the failure, and gives what the child had not yet answered
 * to another.
 *
 * Only the parent writes. It compares the id that the child computed with the id that was looked for: if a
 * file has changed in between, the result belongs to another run and is refused. Then it commits the run in
 * one transaction, so a killed study keeps every run that had ended, and the next call resumes with the
 * others. Results are the same at any number of workers, because a run depends on its own configuration
 * alone, and the database is read back in the order of the points.
 *
 * A suite (`thermix table`) is a study of mixes x policies x variants in the same database. It differs in
 * four rules: a point without a valid configuration is an error, runs that failed are run again, another
 * build of the program computes all of them again, and a damaged database is replaced. */
#define _POSIX_C_SOURCE 200809L
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <thermix/version.h>

#include "base/config.h"
#include "base/cost.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "core/sim/sim.h"
#include "run/registry.h"
#include "study/pool.h"

/* What the points of a study are: their runs, their whole configurations, their ids. */

/* The run of a point, opened or only described. */
static enum tmx_status point_open(const struct tmx_runs *runs, size_t point, bool described,
                                  const struct tmx_catalog *catalog, struct tmx_run **run,
                                  struct tmx_err *err)
{
    struct tmx_sets sets = {0};
    const struct tmx_run_how how = {runs->group, &sets, catalog, .described = described};
    runs->sets(runs->ctx, point, &sets, err);
    tmx_run_load(run, runs->base, &how, err);
    tmx_sets_finish(&sets);
    return err->code;
}

/* The whole configuration of a run, the same text in every folder. */
static void put_text(const struct tmx_run *run, FILE *out)
{
    /* the id covers the files that the configuration names */
    for (const char *line = tmx_run_resolved(run); *line == '#'; line = strchr(line, '\n') + 1) {
        fprintf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    fprintf(out, "%s# run %s\n", tmx_run_keys(run), tmx_run_id(run));
}

/* What makes all runs of a suite its own: the program's file, as another build may compute something else,
 * and what is measured. */
static void hash_suite(struct tmx_study *s, struct tmx_err *err)
{
    char block[1 << 14];
    struct tmx_hash *h = NULL;
    if (tmx_hash_create(&h, err)) {
        return;
    }
    FILE *f = fopen("/proc/self/exe", "rb");
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;) {
        tmx_hash_add(h, block, n);
    }
    if (f) {
        fclose(f);
    }
    for (size_t i = 0; i < s->n_value; i++) {
        tmx_hash_add_text(h, s->name[i]);
    }
    tmx_hash_add_text(h, s->runs->also ? s->runs->also : "");
    tmx_hash_hex(h, s->suite);
    tmx_hash_destroy(h);
}

struct identity {
    bool valid;
    char id[TMX_HASH_HEX];
    size_t n_head; /* bytes that follow in what a child sends: the head of a text with warnings */
};

static const char *printed_value(const void *ctx, size_t point, size_t key, char *buf, size_t size)
{
    const struct tmx_runs *runs = ctx;
    char text[TMX_REAL_SIZE];
    snprintf(buf, size, "%s", tmx_scalar_plain(runs->value(runs->ctx, point, key), text));
    return buf;
}

static struct tmx_warned names_of(const struct tmx_runs *runs)
{
    return (struct tmx_warned){runs, runs->n_point, runs->n_key, runs->key, printed_value};
}

/* An error of one run of several has its name. */
static void name_run(const struct tmx_runs *runs, size_t point, struct tmx_err *err)
{
    char name[300];
    const struct tmx_warned who = names_of(runs);
    const size_t n = strlen(err->msg);
    if (runs->n_point > 1 && tmx_warned_name(&who, point, name, sizeof name)[0]) {
        snprintf(err->msg + n, sizeof err->msg - n, " (run: %s)", name);
    }
}

/* Id of a point: hash of its configuration, of what makes it one of its suite, or of its parameters when it
 * has no valid configuration (text NULL). */
static void point_hash(const struct tmx_study *s, size_t point, const char *text, char hex[TMX_HASH_HEX],
                       struct tmx_err *err)
{
    const struct tmx_runs *runs = s->runs;
    struct tmx_hash *h = NULL;
    if (err->code || tmx_hash_create(&h, err)) {
        return;
    }
    if (text) {
        tmx_hash_add(h, text, strlen(text));
    }
    if (s->suite[0]) {
        tmx_hash_add_text(h, s->suite);
    }
    for (size_t k = 0; (!text || s->suite[0]) && k < runs->n_key; k++) {
        char value[TMX_PARAMETER_SIZE];
        (void)tmx_scalar_print(runs->value(runs->ctx, point, k), value, sizeof value);
        tmx_hash_add_text(h, runs->key[k]);
        tmx_hash_add_text(h, value);
    }
    tmx_hash_hex(h, hex);
    tmx_hash_destroy(h);
}

/* The id of a point and its text, which the caller frees (NULL: no valid configuration, and *why says why).
 * Its warnings are in the text. */
static void identify(const struct tmx_study *s, size_t point, struct identity *is, char **text,
                     struct tmx_err *why, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    struct tmx_warn_listener unheard = {.alone = true};
    *text = NULL;
    tmx_warn_begin(&unheard);
    is->valid = !point_open(s->runs, point, true, NULL, &run, why);
    tmx_warn_end(&unheard);
    if (!is->valid && (s->runs->suite || why->code == TMX_ENOMEM)) {
        *err = *why;
        name_run(s->runs, point, err);
        return;
    }
    size_t size = 0;
    FILE *out = is->valid ? open_memstream(text, &size) : NULL;
    if (out) {
        put_text(run, out);
    }
    if (is->valid && (!out || fclose(out) != 0)) {
        tmx_no_memory(err);
    }
    point_hash(s, point, *text, is->id, err);
    tmx_run_destroy(run);
    if (!err->code && *text && strstr(*text, TMX_RUN_WARNING)) {
        while ((*text)[is->n_head] == '#') {
            is->n_head += strcspn(*text + is->n_head, "\n") + 1;
        }
    }
}

/* ---- all of them, some at a time in several processes ---- */

enum { SOME = 64, SERIAL = 2 }; /* points of a task; no more tasks than these: not worth a process */

static size_t end_of(const struct tmx_study *s, size_t task)
{
    const size_t end = (task + 1) * SOME;
    return end < s->runs->n_point ? end : s->runs->n_point;
}

static enum tmx_status identify_some(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    for (size_t i = task * SOME; i < end_of(s, task) && !err->code; i++) {
        struct identity is = {0};
        struct tmx_err why = {0};
        char *text = NULL;
        identify(s, i, &is, &text, &why, err);
        fwrite(&is, sizeof is, 1, out);
        if (is.n_head > 0) {
            fwrite(text, 1, is.n_head, out);
        }
        free(text);
    }
    return err->code;
}

static enum tmx_status take_some(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct tmx_study *s = ctx;
    const size_t first = r->task * SOME, n = end_of(s, r->task) - first;
    if (r->status) {
        *err = r->err;
        return r->status;
    }
    const char *at = r->bytes;
    for (size_t i = 0; i < n && !err->code; i++) {
        struct identity is;
        memcpy(&is, at, sizeof is);
        at += sizeof is;
        memcpy(s->id[first + i], is.id, sizeof is.id);
        s->valid[first + i] = is.valid;
        if (is.n_head > 0) {
            char *head = tmx_span_dup((struct tmx_span){at, at + is.n_head});
            (void)(head ? tmx_warnings_add(&s->warnings, first + i, head, err) : tmx_no_memory(err));
            free(head);
        }
        at += is.n_head;
    }
    tmx_assert(err->code || at == r->bytes + r->n_byte);
    return err->code;
}

/* Has a point with this key's value a valid configuration? */
static bool value_valid(const struct tmx_study *s, size_t point, size_t key)
{
    const struct tmx_runs *runs = s->runs;
    const struct tmx_scalar v = runs->value(runs->ctx, point, key);
    for (size_t i = 0; i < runs->n_point; i++) {
        const struct tmx_scalar other = runs->value(runs->ctx, i, key);
        if (s->valid[i] && other.kind == v.kind && strcmp(other.text, v.text) == 0) {
            return true;
        }
    }
    return false;
}

/* Does the error of a point name this text of it? */
static bool names_text(const struct tmx_study *s, size_t point, const char *value)
{
    struct identity is = {0};
    struct tmx_err why = {0}, none = {0};
    char *text = NULL;
    identify(s, point, &is, &text, &why, &none);
    free(text);
    return !none.code && strstr(why.msg, value);
}

/* The first point with a text that no valid point has and that its error names, as a misspelt policy; where
 * no point is valid the first; n_point: there is none. with: " with KEY = TEXT". */
static size_t first_bad(const struct tmx_study *s, char with[200])
{
    const struct tmx_runs *runs = s->runs;
    bool any = false;
    with[0] = '\0';
    for (size_t i = 0; i < runs->n_point; i++) {
        any = any || s->valid[i];
    }
    for (size_t i = 0; any && i < runs->n_point; i++) {
        for (size_t k = 0; !s->valid[i] && k < runs->n_key; k++) {
            const struct tmx_scalar v = runs->value(runs->ctx, i, k);
            if (v.kind == TMX_SETTING_TEXT && !value_valid(s, i, k) && names_text(s, i, v.text)) {
                snprintf(with, 200, " with %.80s = %.80s", runs->key[k], v.text);
                return i;
            }
        }
    }
    return any ? runs->n_point : 0;
}

/* Fill s->id [n_point], many points in options->n_worker processes. TMX_ECONFIG with the first error when no
 * point has a valid configuration, or none with a text of an axis, or a point of a suite has not. */
static void identify_points(struct tmx_study *s, struct tmx_err *err)
{
    struct identity is = {0};
    struct tmx_err why = {0};
    const size_t n_task = (s->runs->n_point + SOME - 1) / SOME;
    const struct tmx_pool pool = {.n_task = n_task,
                                  .n_worker = s->options->n_worker,
                                  .ctx = s,
                                  .run = identify_some,
                                  .collect = take_some};
    if (s->runs->suite) {
        hash_suite(s, err);
    }
    if (!err->code && n_task > SERIAL && tmx_pool_run(&pool, err) == TMX_ESTOPPED) {
        tmx_fail(err, TMX_ESTOPPED, "stopped by a signal before any run");
    }
    for (size_t i = 0; i < n_task && n_task <= SERIAL && !err->code; i++) {
        struct tmx_pool_result r = {.task = i};
        char *bytes = NULL;
        FILE *out = open_memstream(&bytes, &r.n_byte);
        (void)(out && identify_some(s, i, out, err));
        if (!out || fclose(out) != 0) {
            tmx_error(err, TMX_ENOMEM, "out of memory");
        }
        r.bytes = bytes;
        (void)(!err->code && take_some(s, &r, err));
        free(bytes);
    }
    char with[200], words[1600], *text = NULL;
    const size_t bad = err->code ? s->runs->n_point : first_bad(s, with);
    if (bad == s->runs->n_point) {
        const struct tmx_warned who = names_of(s->runs);
        tmx_warnings_listen(&s->warnings, &who);
        return;
    }
    identify(s, bad, &is, &text, &why, err); /* all like it are bad: the first says why */
    free(text);
    tmx_err_format(&why, words, sizeof words);
    if (why.line > 0) { /* of a file, the axis' line in the study's among them */
        tmx_error_at(err, TMX_ECONFIG, why.file, why.line,
                     "%.900s (no point of %.60s%s has a valid configuration)", why.msg, s->runs->name, with);
    } else {
        tmx_error_at(err, TMX_ECONFIG, s->runs->file, 1, "no point%s has a valid configuration: %.900s", with,
                     words);
    }
}

static const double LEAST_RUN_S = 0.02, POINT_BYTES = 500; /* a small run's start and end, measured */

size_t tmx_study_metric(const char *name)
{
    size_t i = 0;
    while (tmx_metrics[i].name && strcmp(tmx_metrics[i].name, name) != 0) {
        i++;
    }
    return i;
}

size_t tmx_study_metrics(void)
{
    return tmx_study_metric("");
}

enum tmx_status tmx_study_begin_worker(struct tmx_study *s, const struct tmx_runs *runs,
                                       const struct tmx_study_options *options, struct tmx_err *err)
{
    const size_t n = tmx_study_metrics(), n_watched = runs->probe ? runs->probe->n : 0;
    *s = (struct tmx_study){.runs = runs, .options = options, .n_value = n + n_watched};
    TMX_TAKE(&s->arena, s->name, s->n_value + 1);
    for (size_t i = 0; s->name && i < s->n_value; i++) {
        s->name[i] = i < n ? tmx_metrics[i].name : runs->probe->column[i - n];
    }
    tmx_arena_check(&s->arena, err);
    return err->code;
}

enum tmx_status tmx_study_begin(struct tmx_study *s, const struct tmx_runs *runs,
                                const struct tmx_study_options *options, struct tmx_err *err)
{
    const struct tmx_cost cost = {.seconds = LEAST_RUN_S * (double)runs->n_point / (double)options->n_shard,
                                  .bytes = POINT_BYTES * (double)runs->n_point};
    enum tmx_run_state *state = NULL;
    struct stat info;
    if (!tmx_study_begin_worker(s, runs, options, err) &&
        !tmx_cost_check(cost, err, "%s: %zu points, a run each of at least %g ms", runs->file, runs->n_point,
                        1e3 * LEAST_RUN_S)) {
        TMX_TAKE(&s->arena, s->id, runs->n_point);
        TMX_TAKE(&s->arena, s->valid, runs->n_point);
        TMX_TAKE(&s->arena, s->todo, runs->n_point);
        TMX_TAKE(&s->arena, state, runs->n_point);
        tmx_arena_check(&s->arena, err);
    }
    if (!err->code && options->path && stat(options->path, &info) == 0 &&
        (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) { /* root may write it, but was not meant to */
        tmx_error_at(err, TMX_EIO, options->path, 0, "the database is read-only");
    } else if (!err->code && options->path) {
        identify_points(s, err);
    }
    for (size_t i = 0; i < runs->n_point && !options->path && !err->code; i++) { /* nothing is there before */
        snprintf(s->id[i], sizeof s->id[i], "%zu", i);
    }
    (void)(!err->code && (tmx_results_open(&s->results, options->path, runs, err) ||
                          tmx_results_points(s->results, runs, (const char(*)[TMX_HASH_HEX])s->id, err) ||
                          tmx_results_runs(s->results, s->todo, state, &s->n_run, err)));
    for (size_t i = 0; i < s->n_run && !err->code; i++) { /* todo: the first point of every run missing */
        const bool failed = state[i] == TMX_RUN_FAILED,
                   there = state[i] == TMX_RUN_DONE || (failed && !options->retry_failed && !runs->suite);
        s->n_before += there;
        s->n_failed_before += there && failed;
        if (!there && i % options->n_shard == options->shard && s->n_todo < options->limit) {
            s->todo[s->n_todo++] = s->todo[i];
        }
    }
    if (!err->code && !runs->suite && options->path) {
        char log[TMX_SWEEP_TEXT + 8];
        snprintf(log, sizeof log, "%s.log", options->path);
        (void)!tmx_os_append(&s->log, log, err);
    }
    if (err->code) {
        tmx_study_end(s);
    }
    return err->code;
}

void tmx_study_end(struct tmx_study *s)
{
    if (s->log) {
        fclose(s->log);
        s->log = NULL;
    }
    tmx_results_close(s->results);
    s->results = NULL;
    tmx_warnings_finish(&s->warnings);
    tmx_arena_finish(&s->arena);
}

/* ---- in a child: a run's bytes are its n_value doubles, unless it failed, its configuration, and behind the
 * NUL the lines of what its result warns of, which are not part of its identity ---- */

struct opened {
    struct tmx_run *run;
    void *watched;
};

static enum tmx_status begin_run(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                                 void **own, struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    const struct tmx_probe *w = s->runs->probe;
    struct opened *o = calloc(1, sizeof *o);
    *own = o;
    enum tmx_status st =
        o ? point_open(s->runs, s->todo[task], false, NULL, &o->run, err) : tmx_no_memory(err);
    if (!st) {
        *sim = tmx_run_sim(o->run);
        o->watched = !w ? NULL : w->begin ? w->begin(s->kept, o->run, observer) : s->kept;
    }
    return st;
}

static void measure(const struct tmx_study *s, const struct opened *o, double *value, struct tmx_err *err)
{
    const size_t n = tmx_study_metrics(), tokens = tmx_study_metric("tokens_per_s");
    /* without a language model those of serving are 0, a column of version 1.0 */
    const bool serves = tokens < n && tmx_run_has_metric(o->run, &tmx_metrics[tokens]);
    for (size_t i = 0; i < s->n_value; i++) {
        const bool has = i < n && (!serves || tmx_run_has_metric(o->run, &tmx_metrics[i]));
        value[i] = has ? tmx_run_metric(o->run, &tmx_metrics[i]) : NAN;
        if (has && !isfinite(value[i]) && !(isnan(value[i]) && tmx_metrics[i].may_lack)) {
            tmx_error(err, TMX_ESOLVE, "%s is not a finite number", s->name[i]);
        }
    }
    if (o->watched) {
        s->runs->probe->read(o->watched, o->run, value + n);
    }
}

/* A line of a warning behind the text. */
static void put_warning(void *to, const char *line)
{
    fprintf(to, TMX_RUN_WARNING "%s\n", line);
}

static void end_run(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    struct opened none = {0}, *o = own ? own : &none;
    struct tmx_err first = {0}, ignored = {0};
    const bool done = !st || (st == TMX_ESTOPPED && o->watched);
    char *bytes = NULL;
    size_t n_byte = 0;
    double *value = malloc((s->n_value + 1) * sizeof *value);
    FILE *out = open_memstream(&bytes, &n_byte);
    if (!done) {
        first = *err;
        first.code = st;
    } else if (value && out) {
        measure(s, o, value, &first);
    } else {
        tmx_no_memory(&first);
    }
    if (out && !first.code) {
        fwrite(value, sizeof *value, s->n_value, out);
    }
    /* the configuration that the run had, or would have had if it could have begun */
    const bool described = o->run || !point_open(s->runs, s->todo[task], true, NULL, &o->run, &ignored);
    if (out && described) {
        put_text(o->run, out);
    }
    if (out && done) {
        struct tmx_warn_listener listener = {.line = put_warning, .to = out, .alone = true};
        fputc('\0', out);
        tmx_warn_begin(&listener);
        tmx_run_warn_of_result(o->run);
        tmx_warn_end(&listener);
    }
    if (out && fclose(out) != 0 && !first.code) {
        tmx_no_memory(&first);
        n_byte = 0;
    }
    tmx_pool_done(s->child, task, first.code, &first, bytes, n_byte);
    if (o->watched && s->runs->probe->end) {
        s->runs->probe->end(o->watched);
    }
    tmx_run_destroy(o->run);
    free(own);
    free(value);
    free(bytes);
}

static void tell(void *ctx, size_t task, double share)
{
    tmx_pool_progress(((const struct tmx_study *)ctx)->child, task, share);
}

static void run_together(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    struct tmx_study *s = ctx;
    const struct tmx_probe *w = s->runs->probe;
    struct tmx_warn_listener unheard = {.alone = true}; /* warnings go with the texts */
    tmx_warn_begin(&unheard);
    s->child = child;
    s->kept = !w ? NULL : w->open ? w->open(w->ctx) : w->ctx;
    tmx_lockstep_run(&(struct tmx_lockstep_tasks){s, begin_run, end_run, tell}, task, n);
    if (w && w->close) {
        w->close(s->kept);
    }
    tmx_warn_end(&unheard);
}

/* ---- in the parent ---- */

enum tmx_status tmx_study_record(struct tmx_study *s, size_t point, const struct tmx_pool_result *r,
                                 struct tmx_err *err)
{
    char error[1600] = "", hex[TMX_HASH_HEX];
    const size_t n = r->status ? 0 : s->n_value;
    struct tmx_arena arena = {0};
    double *value;
    TMX_TAKE(&arena, value, n + 1);
    tmx_arena_check(&arena, err);
    tmx_assert(r->n_byte >= n * sizeof *value);
    const char *config = r->bytes + n * sizeof *value;
    if (r->status) {
        tmx_err_format(&r->err, error, sizeof error);
    } else { /* the run is the one that was looked for: no file of it has changed in between */
        point_hash(s, point, config, hex, err);
        if (!err->code && s->options->path && strcmp(hex, s->id[point]) != 0) {
            tmx_error(err, TMX_EIO,
                      "point %zu: its files have changed since the command began; the same command does the "
                      "rest",
                      point);
        }
    }
    if (!err->code) {
        memcpy(value, r->bytes, n * sizeof *value);
        const char *late = config + strlen(config) + 1;
        if (late < r->bytes + r->n_byte) { /* with what the result warns of */
            const size_t size = strlen(config) + strlen(late) + 1;
            char *whole = tmx_arena_take(&arena, size, 1);
            (void)(whole && snprintf(whole, size, "%s%s", config, late));
            tmx_arena_check(&arena, err);
            config = whole;
        }
        const struct tmx_run_row row = {.id = s->id[point],
                                        .done = !r->status,
                                        .error = error,
                                        .seconds = r->wall_s,
                                        .version = tmx_version().text,
                                        .config = config,
                                        .point = point,
                                        .name = s->name,
                                        .value = value,
                                        .n_metric = n};
        (void)(!err->code && tmx_results_add(s->results, s->runs, &row, err));
    }
    tmx_arena_finish(&arena);
    if (err->code) {
        return err->code;
    }
    s->n_done += r->status == TMX_OK;
    s->n_failed += r->status != TMX_OK;
    if (s->log) {
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
    if (s->runs->suite && tmx_status_exit_code(r->status) == 2) { /* bad input: the same for every run */
        *err = r->err;
        name_run(s->runs, point, err);
    }
    return err->code;
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
                                  .noun = s->options->noun,
                                  .ctx = s,
                                  .n_together = s->runs->alone ? 1 : TMX_POOL_TOGETHER,
                                  .run_together = run_together,
                                  .collect = pool_collect};
    return tmx_pool_run(&pool, err);
}

enum tmx_status tmx_study_run_one(struct tmx_study *s, size_t point,
                                  enum tmx_status (*collect)(void *ctx, const struct tmx_pool_result *r,
                                                             struct tmx_err *err),
                                  struct tmx_err *err)
{
    const struct tmx_pool pool = {.n_task = 1,
                                  .n_worker = 1,
                                  .as_completed = true,
                                  .ctx = s,
                                  .n_together = 1,
                                  .run_together = run_together,
                                  .collect = collect};
    size_t *const todo = s->todo;
    s->todo = &point;
    const enum tmx_status st = tmx_pool_run(&pool, err);
    s->todo = todo;
    return st;
}

/* Lowest and highest of a value over the repetitions of a run; false where one of them has none. */
static bool range_of(const struct tmx_run_values *v, size_t n_each, size_t run, size_t value, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = run; i < v->n_point; i += n_each) {
        const double x = v->value[i * v->n_value + value];
        if (!isfinite(x)) {
            return false;
        }
        range[0] = fmin(range[0], x);
        range[1] = fmax(range[1], x);
    }
    return true;
}

void tmx_study_say_spread(const struct tmx_run_values *v, size_t n_each, const struct tmx_runs *runs,
                          bool nudged, FILE *out)
{
    static const double NUDGED = 1e-6; /* what is moved by more is no longer continuous */
    const size_t n = v->n_point / n_each, main_metric = tmx_study_metric("slowdown_pct");
    double most = 0, at[2] = {0}, range[2];
    size_t run = 0, metric = 0;
    for (size_t i = 0; i < v->n_point; i++) {
        if (v->error[i]) {
            return;
        }
    }
    for (size_t r = 0; r < n_each; r++) {
        for (size_t m = 0; m < tmx_study_metrics(); m++) {
            /* of numbers below 1 the difference itself */
            const double by =
                range_of(v, n_each, r, m, range) ? (range[1] - range[0]) / (1 + fabs(range[1])) : 0;
            const bool main = m == main_metric, over = metric == main_metric && most > NUDGED && !main;
            if (!over && (by > most || (main && by > NUDGED && metric != m))) {
                most = by;
                run = r;
                metric = m;
                memcpy(at, range, sizeof at);
            }
        }
    }
    if (n < 2 || (!nudged && most > 0)) {
        return;
    }
    if (!nudged) {
        fprintf(out,
                "The same numbers with %zu seeds: nothing here is random (sensor.noise_k or a random arrival "
                "is); "
                "--nudge shows what rounding moves.\n",
                n);
        return;
    }
    char name[300] = "";
    struct tmx_warned who = names_of(runs);
    if (n_each > 1) {
        who.n_key--; /* the last is of the repetitions */
        (void)tmx_warned_name(&who, run, name, sizeof name);
    }
    fprintf(out, "Starts up to %g K warmer: ", (double)(n - 1) * TMX_NUDGE_K);
    most > NUDGED ? fprintf(out, "%s moves, %.8g to %.8g%s%s%s.\n", tmx_metrics[metric].name, at[0], at[1],
                            name[0] ? " (" : "", name, name[0] ? ")" : "")
                  : fprintf(out, "no number moves by more than 1e-06 of itself.\n");
}

void tmx_study_check(const struct tmx_runs *runs, struct tmx_err *err)
{
    struct tmx_warnings warnings = {0};
    struct tmx_warn_listener unheard = {.alone = true};
    const struct tmx_warned who = names_of(runs);
    tmx_warn_begin(&unheard);
    for (size_t i = 0; i < runs->n_point && !err->code; i++) {
        struct tmx_run *run = NULL;
        if (point_open(runs, i, true, &tmx_builtin_check, &run, err)) {
            name_run(runs, i, err);
        } else {
            tmx_warnings_add(&warnings, i, tmx_run_resolved(run), err);
        }
        tmx_run_destroy(run);
    }
    tmx_warn_end(&unheard);
    tmx_warnings_listen(&warnings, &who);
    tmx_warnings_finish(&warnings);
}

enum tmx_status tmx_study_warn(struct tmx_study *s, struct tmx_err *err)
{
    const struct tmx_warned who = names_of(s->runs);
    const enum tmx_status st = tmx_results_warnings(s->results, &s->warnings, err);
    tmx_warnings_listen(&s->warnings, &who);
    return st;
}

/* ---- suites ---- */

/* A suite that was stopped: what is kept of it, and where. */
static void stopped(const struct tmx_study *s, struct tmx_err *err)
{
    const size_t n = s->n_before + s->n_done, all = s->n_run;
    if (n == 0) {
        tmx_fail(err, TMX_ESTOPPED, "stopped by a signal: no run had ended, nothing is kept");
    } else if (s->options->path) {
        tmx_fail(err, TMX_ESTOPPED,
                 "stopped by a signal: %zu of %zu runs %s kept in %s; the same command does the other %zu", n,
                 all, n == 1 ? "is" : "are", s->options->path, all - n);
    } else {
        tmx_fail(err, TMX_ESTOPPED,
                 "stopped by a signal: %zu of %zu runs had ended; they are kept with -o DIR alone", n, all);
    }
}

void tmx_study_values(struct tmx_run_values *v, const struct tmx_runs *runs,
                      const struct tmx_study_options *options, struct tmx_err *err)
{
    struct tmx_study s;
    struct tmx_err late = {0};
    *v = (struct tmx_run_values){0};
    if (err->code || tmx_study_begin(&s, runs, options, err)) {
        return;
    }
    if (options->noun && s.n_before > 0) {
        tmx_print_visible(stderr, "%zu of %zu %s are there from before (%s), %zu to do\n", s.n_before,
                          s.n_run, options->noun, options->path, s.n_todo);
    }
    if (tmx_study_run_local(&s, err) == TMX_ESTOPPED) {
        stopped(&s, err);
    }
    if (!err->code || err->code == TMX_ESTOPPED) {
        v->n_value = s.n_value;
        v->n_point = s.runs->n_point;
        TMX_TAKE(&v->arena, v->value, v->n_point * v->n_value);
        TMX_TAKE(&v->arena, v->error, v->n_point);
        tmx_arena_check(&v->arena, &late);
        (void)(late.code ||
               tmx_results_values(s.results, v->n_point, v->n_value, v->value, v->error, &v->arena, &late) ||
               tmx_study_warn(&s, &late));
        v->warnings = s.warnings;
        s.warnings = (struct tmx_warnings){0};
        for (size_t i = 0; i < v->n_point && !late.code; i++) {
            if (v->error[i] && !v->error[i][0]) {
                v->error[i] = "not run: stopped before";
            }
        }
        (void)tmx_error_give(err, &late);
    }
    tmx_study_end(&s);
}

void tmx_run_values_finish(struct tmx_run_values *v)
{
    tmx_arena_finish(&v->arena);
    tmx_warnings_finish(&v->warnings);
    *v = (struct tmx_run_values){0};
}
