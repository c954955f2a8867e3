/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/hash.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "core/sim/fleet.h"
#include "study/pool.h"

size_t tmx_batch_metric(const char *name)
{
    size_t i = 0;
    while (tmx_metrics[i].name && strcmp(tmx_metrics[i].name, name) != 0) {
        i++;
    }
    return i;
}

size_t tmx_batch_metrics(void)
{
    return tmx_batch_metric("");
}

/* The run of a task, opened or only described. */
static enum tmx_status open_task(const struct tmx_run_batch *b, size_t task, bool describe,
                                 struct tmx_run **run, struct tmx_err *err)
{
    struct tmx_sets s = {0};
    struct tmx_config *cfg = NULL;
    *run = NULL;
    enum tmx_status st = b->sets(b->ctx, task, &s, err);
    st = st ? st : tmx_sets_load(&cfg, b->path, &s, err);
    if (!st) {
        const struct tmx_setting *root = b->group ? tmx_config_find(cfg, b->group) : tmx_config_root(cfg);
        st = root ? (describe ? tmx_run_describe : tmx_run_create)(run, root, err)
                  : tmx_fail_at(err, TMX_ECONFIG, b->path, 0, "missing %s = { ... }", b->group);
    }
    tmx_config_close(cfg);
    tmx_sets_finish(&s);
    return st;
}

enum tmx_status tmx_batch_check(const struct tmx_run_batch *b, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t task = 0; task < b->n_task && !st; task++) {
        struct tmx_run *run = NULL;
        st = open_task(b, task, true, &run, err);
        tmx_run_destroy(run);
    }
    return st;
}

/* Lines "<id> <value> ... .", the last one perhaps cut off. An id is that of the run and of this very
 * program: another build may compute something else. */
enum { JOURNAL_ID = 2 * TMX_HASH_HEX };
struct journal {
    struct tmx_text text;
    char (*id)[JOURNAL_ID]; /* [n_task] */
    FILE *out;
};

struct job { /* what the pool's callbacks see */
    struct tmx_run_batch *b;
    struct journal j;
    bool *there; /* [n_task] */
    /* in a child with several tasks */
    struct tmx_pool_child *child;
    void *kept; /* by the watch */
};

static enum tmx_status run_task(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct job *job = ctx;
    const struct tmx_run_batch *b = job->b;
    struct tmx_run *run = NULL;
    double *value = calloc(b->n_value, sizeof *value);
    enum tmx_status st = value ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "run");
    st = st ? st : open_task(b, task, false, &run, err);
    st = st ? st : b->measure(b->ctx, run, value, err);
    if (!st) {
        fwrite(value, sizeof *value, b->n_value, out);
    }
    tmx_run_destroy(run);
    free(value);
    return st;
}

/* ---- several runs side by side ---- */

struct opened {
    struct tmx_run *run;
    void *watched;
};

static enum tmx_status begin_run(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                                 void **own, struct tmx_err *err)
{
    const struct job *job = ctx;
    const struct tmx_run_batch *b = job->b;
    struct opened *o = calloc(1, sizeof *o);
    *own = o;
    enum tmx_status st = o ? open_task(b, task, false, &o->run, err) : tmx_fail(err, TMX_ENOMEM, "run");
    if (!st) {
        *sim = tmx_run_sim(o->run);
        o->watched = b->watch ? b->watch->begin(job->kept, o->run, observer) : NULL;
    }
    return st;
}

static void fill(const struct tmx_run_batch *b, const struct tmx_run *run, void *watched, double *value)
{
    const size_t n = tmx_batch_metrics();
    for (size_t i = 0; i < b->n_value; i++) {
        value[i] = i < n ? tmx_metrics[i].value(run) : NAN;
    }
    if (watched) {
        b->watch->read(watched, run, value + n);
    }
    for (size_t i = n; i < b->n_value; i++) {
        value[i] = isnan(value[i]) ? TMX_WATCHED_NOT : value[i];
    }
}

static void end_run(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err)
{
    const struct job *job = ctx;
    const struct tmx_run_batch *b = job->b;
    struct opened *o = own;
    struct tmx_err late;
    double *value = calloc(b->n_value + 1, sizeof *value);
    if (!st && !value) {
        st = tmx_fail(&late, TMX_ENOMEM, "run");
        err = &late;
    }
    if (!st) {
        fill(b, o->run, o->watched, value);
    }
    tmx_pool_done(job->child, task, st, err, value, st ? 0 : b->n_value * sizeof *value);
    if (o && o->watched) {
        b->watch->end(o->watched);
    }
    tmx_run_destroy(o ? o->run : NULL);
    free(o);
    free(value);
}

static void tell(void *ctx, size_t task, double share)
{
    tmx_pool_progress(((const struct job *)ctx)->child, task, share);
}

static void run_together(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    struct job *job = ctx;
    const struct tmx_watch *watch = job->b->watch;
    job->child = child;
    job->kept = watch ? watch->open() : NULL;
    tmx_fleet_run(&(struct tmx_fleet_tasks){job, begin_run, end_run, tell}, task, n);
    if (watch) {
        watch->close(job->kept);
    }
}

static enum tmx_status keep(struct job *job, size_t task, struct tmx_err *err)
{
    if (!job->j.out || !job->j.id[task][0]) {
        return TMX_OK;
    }
    fputs(job->j.id[task], job->j.out);
    for (size_t i = 0; i < job->b->n_value; i++) {
        char real[TMX_REAL_SIZE];
        tmx_real_print(real, job->b->value[task * job->b->n_value + i]);
        fprintf(job->j.out, " %s", real);
    }
    fputs(" .\n", job->j.out);
    return fflush(job->j.out) == 0
               ? TMX_OK
               : tmx_fail_at(err, TMX_EFULL, job->b->journal, 0, "cannot write: disk full?");
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct job *job = ctx;
    struct tmx_run_batch *b = job->b;
    if (r->status) {
        char text[1100];
        tmx_err_format(&r->err, text, sizeof text);
        b->error[r->task] = malloc(strlen(text) + 1);
        if (b->error[r->task]) {
            memcpy(b->error[r->task], text, strlen(text) + 1);
        }
        if (!b->error[r->task] ||
            tmx_status_exit_code(r->status) == 2) { /* bad input: the same for every run */
            *err = r->err;
            return r->status;
        }
        return TMX_OK;
    }
    tmx_assert(r->n_byte == b->n_value * sizeof *b->value);
    memcpy(&b->value[r->task * b->n_value], r->bytes, r->n_byte);
    return keep(job, r->task, err);
}

static bool wanted(void *ctx, size_t task)
{
    return !((const struct job *)ctx)->there[task];
}

/* A line of the journal into the tasks with its id. */
static void take_line(struct job *job, struct tmx_span line, double *value)
{
    struct tmx_span rest = line, id, field;
    size_t n = 0;
    if (!tmx_span_field(&rest, &id)) {
        return;
    }
    while (n < job->b->n_value && tmx_span_field(&rest, &field) && tmx_span_real(field, &value[n])) {
        n++;
    }
    if (n < job->b->n_value || !tmx_span_field(&rest, &field) || !tmx_span_is(field, ".")) {
        return; /* cut off, or of another version */
    }
    for (size_t task = 0; task < job->b->n_task; task++) {
        if (!job->there[task] && tmx_span_is(id, job->j.id[task])) {
            memcpy(&job->b->value[task * n], value, n * sizeof *value);
            job->there[task] = true;
            job->b->n_before++;
        }
    }
}

/* Hash of the program's file; "unknown" where the system does not tell. */
static enum tmx_status hash_program(char hex[TMX_HASH_HEX], struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    char block[1 << 14];
    FILE *f = fopen("/proc/self/exe", "rb");
    snprintf(hex, TMX_HASH_HEX, "unknown");
    const enum tmx_status st = f ? tmx_hash_create(&h, err) : TMX_OK;
    if (h) {
        for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) {
            tmx_hash_add(h, block, n);
        }
        tmx_hash_hex(h, hex);
        tmx_hash_destroy(h);
    }
    if (f) {
        fclose(f);
    }
    return st;
}

/* Its folder is made when all runs are known to be in order. */
static enum tmx_status append_to_journal(struct job *job, struct tmx_err *err)
{
    const enum tmx_status st = tmx_os_mkdirs_for(job->b->journal, err);
    return st ? st : tmx_os_append(&job->j.out, job->b->journal, err);
}

static enum tmx_status open_journal(struct job *job, struct tmx_err *err)
{
    struct tmx_run_batch *b = job->b;
    enum tmx_status st = TMX_OK;
    job->j.id = calloc(b->n_task, sizeof *job->j.id);
    double *value = calloc(b->n_value, sizeof *value);
    char program[TMX_HASH_HEX];
    st = job->j.id && value ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu runs", b->n_task);
    st = st ? st : hash_program(program, err);
    for (size_t task = 0; task < b->n_task && !st; task++) {
        struct tmx_run *run = NULL;
        st = open_task(b, task, true, &run, err);
        if (!st) {
            snprintf(job->j.id[task], sizeof job->j.id[task], "%s-%s", tmx_run_id(run), program);
        }
        tmx_run_destroy(run);
    }
    if (!st && tmx_os_exists(b->journal)) {
        struct tmx_lines lines = {0};
        st = tmx_text_load(&job->j.text, b->journal, err);
        while (!st && tmx_lines_next(&lines, &job->j.text)) {
            take_line(job, lines.line, value);
        }
    }
    if (!st) {
        st = append_to_journal(job, err);
        const size_t n = job->j.text.size;
        if (job->j.out && n > 0 && job->j.text.data[n - 1] != '\n') {
            fputc('\n', job->j.out); /* after a line that was cut off */
        }
    }
    free(value);
    return st;
}

/* What is there already, before the rest runs. */
static void say_kept(const struct tmx_run_batch *b)
{
    if (b->noun && b->n_before > 0) {
        fprintf(stderr, "%zu of %zu %s are there from before (%s), %zu to do\n", b->n_before, b->n_task,
                b->noun, b->journal, b->n_task - b->n_before);
    }
}

/* A batch that was stopped: what is kept of it, and where. */
static enum tmx_status stopped(const struct tmx_run_batch *b, struct tmx_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n_task; i++) {
        n += b->n_value > 0 && !isnan(b->value[i * b->n_value]);
    }
    return b->journal && n == 0
               ? tmx_fail(err, TMX_ESTOPPED,
                          "stopped by a signal: no run had ended, nothing is kept (runs that "
                          "go side by side end together)")
           : b->journal
               ? tmx_fail(err, TMX_ESTOPPED,
                          "stopped by a signal: %zu of %zu runs are kept in %s; the same command "
                          "does the other %zu",
                          n, b->n_task, b->journal, b->n_task - n)
               : tmx_fail(err, TMX_ESTOPPED,
                          "stopped by a signal: %zu of %zu runs had ended; they are kept with -o DIR "
                          "alone",
                          n, b->n_task);
}

enum tmx_status tmx_batch_run(struct tmx_run_batch *b, struct tmx_err *err)
{
    struct job job = {.b = b};
    b->value = calloc(b->n_task * b->n_value + 1, sizeof *b->value);
    b->error = calloc(b->n_task + 1, sizeof *b->error);
    job.there = calloc(b->n_task + 1, sizeof *job.there);
    b->n_before = 0;
    enum tmx_status st =
        b->value && b->error && job.there ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu runs", b->n_task);
    for (size_t i = 0; !st && i < b->n_task * b->n_value; i++) {
        b->value[i] = NAN;
    }
    st = st || !b->journal ? st : open_journal(&job, err);
    const struct tmx_pool pool = {.n_task = b->n_task,
                                  .n_worker = b->n_worker,
                                  .as_completed = true,
                                  .noun = b->noun,
                                  .ctx = &job,
                                  .run = run_task,
                                  .n_together = TMX_POOL_TOGETHER,
                                  .run_together = b->measure ? NULL : run_together,
                                  .collect = collect,
                                  .wanted = wanted};
    if (!st) {
        say_kept(b);
        st = tmx_pool_run(&pool, err);
        st = st == TMX_ESTOPPED ? stopped(b, err) : st;
    }
    for (size_t i = 0; st == TMX_ESTOPPED && i < b->n_task; i++) {
        if (b->n_value > 0 && isnan(b->value[i * b->n_value]) && !b->error[i]) {
            static const char words[] = "not run: stopped before";
            b->error[i] = malloc(sizeof words);
            if (b->error[i]) {
                memcpy(b->error[i], words, sizeof words);
            }
        }
    }
    if (job.j.out) {
        fclose(job.j.out);
    }
    tmx_text_finish(&job.j.text);
    free(job.j.id);
    free(job.there);
    return st;
}

void tmx_batch_finish(struct tmx_run_batch *b)
{
    for (size_t i = 0; b->error && i < b->n_task; i++) {
        free(b->error[i]);
    }
    free(b->error);
    free(b->value);
    b->error = NULL;
    b->value = NULL;
}
