/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/points.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "study/pool.h"

enum tmx_status tmx_point_open(const struct tmx_runs *runs, size_t point, enum tmx_point_open how,
                               struct tmx_run **run, struct tmx_err *err)
{
    struct tmx_sets sets = {0};
    struct tmx_config *cfg = NULL;
    *run = NULL;
    enum tmx_status st = runs->sets(runs->ctx, point, &sets, err);
    st = st ? st : tmx_sets_load(&cfg, runs->base, &sets, err);
    if (!st) {
        const struct tmx_setting *root =
            runs->group ? tmx_config_find(cfg, runs->group) : tmx_config_root(cfg);
        st = !root ? tmx_fail_at(err, TMX_ECONFIG, runs->base, 0, "missing %s = { ... }", runs->group)
             : how == TMX_POINT_RUN   ? tmx_run_create(run, root, err)
             : how == TMX_POINT_CHECK ? tmx_run_look_at(run, root, err)
                                      : tmx_run_describe(run, root, err);
    }
    tmx_config_close(cfg);
    tmx_sets_finish(&sets);
    return st;
}

enum tmx_status tmx_point_text(const struct tmx_run *run, char **text, struct tmx_err *err)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (!out) {
        return tmx_no_memory(err);
    }
    /* the id covers the files that the configuration names */
    for (const char *line = tmx_run_resolved(run); *line == '#'; line = strchr(line, '\n') + 1) {
        fprintf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    fprintf(out, "%s# run %s\n", tmx_run_keys(run), tmx_run_id(run));
    return fclose(out) == 0 ? TMX_OK : tmx_no_memory(err);
}

/* Hash of the program's file: another build may compute something else. */
static void hash_program(struct tmx_hash *h)
{
    char block[1 << 14];
    FILE *f = fopen("/proc/self/exe", "rb");
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;) {
        tmx_hash_add(h, block, n);
    }
    if (f) {
        fclose(f);
    }
}

/* What makes all runs of a suite its own: the program, and what is measured. */
static enum tmx_status hash_suite(struct tmx_study *s, struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (!st) {
        hash_program(h);
        for (size_t i = 0; i < s->n_value; i++) {
            tmx_hash_add_text(h, s->name[i]);
        }
        tmx_hash_add_text(h, s->runs->also ? s->runs->also : "");
        tmx_hash_hex(h, s->suite);
        tmx_hash_destroy(h);
    }
    return st;
}

struct identity {
    bool valid;
    char id[TMX_HASH_HEX];
};

struct all {
    struct tmx_study *s;
    bool any; /* is valid */
};

static void hash_parameters(const struct tmx_runs *runs, size_t point, struct tmx_hash *h)
{
    for (size_t k = 0; k < runs->n_key; k++) {
        char text[TMX_PARAMETER_SIZE];
        runs->value(runs->ctx, point, k, text);
        tmx_hash_add_text(h, runs->key[k]);
        tmx_hash_add_text(h, text);
    }
}

enum tmx_status tmx_point_hash(const struct tmx_study *s, size_t point, const char *text,
                               char hex[TMX_HASH_HEX], struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    const enum tmx_status st = tmx_hash_create(&h, err);
    if (!st) {
        if (text) {
            tmx_hash_add(h, text, strlen(text));
        }
        if (s->suite[0]) {
            tmx_hash_add_text(h, s->suite);
        }
        if (!text || s->suite[0]) {
            hash_parameters(s->runs, point, h);
        }
        tmx_hash_hex(h, hex);
        tmx_hash_destroy(h);
    }
    return st;
}

/* The id of a point, and why it has no valid configuration. */
static enum tmx_status identify(const struct tmx_study *s, size_t point, struct identity *is,
                                struct tmx_err *why, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    char *text = NULL;
    const enum tmx_status open = tmx_point_open(s->runs, point, TMX_POINT_DESCRIBE, &run, why);
    is->valid = !open;
    if (open && (s->runs->suite || open == TMX_ENOMEM)) {
        *err = *why;
        return open;
    }
    enum tmx_status st = open ? TMX_OK : tmx_point_text(run, &text, err);
    st = st ? st : tmx_point_hash(s, point, text, is->id, err);
    tmx_run_destroy(run);
    free(text);
    return st;
}

/* All points are bad, for the reason of the first. */
static enum tmx_status blame(const struct tmx_runs *runs, const struct tmx_err *first, struct tmx_err *err)
{
    char text[1600];
    if (first->line > 0) { /* of a file, the axis' line in the study's among them */
        return tmx_fail_at(err, TMX_ECONFIG, first->file, first->line,
                           "%.900s (no point of %.60s has a valid configuration)", first->msg, runs->name);
    }
    tmx_err_format(first, text, sizeof text);
    return tmx_fail_at(err, TMX_ECONFIG, runs->file, 1, "no point has a valid configuration: %.900s", text);
}

/* ---- all of them, some at a time in several processes ---- */

enum { SOME = 64, SERIAL = 2 * SOME }; /* points of a task; no more than these: not worth a process */

static size_t end_of(const struct tmx_study *s, size_t task)
{
    const size_t end = (task + 1) * SOME;
    return end < s->runs->n_point ? end : s->runs->n_point;
}

static enum tmx_status identify_some(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct all *a = ctx;
    enum tmx_status st = TMX_OK;
    for (size_t i = task * SOME; i < end_of(a->s, task) && !st; i++) {
        struct identity is = {0};
        struct tmx_err why;
        st = identify(a->s, i, &is, &why, err);
        fwrite(&is, sizeof is, 1, out);
    }
    return st;
}

static void take(struct all *a, size_t point, const struct identity *is)
{
    memcpy(a->s->id[point], is->id, sizeof is->id);
    a->any = a->any || is->valid;
}

static enum tmx_status take_some(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct all *a = ctx;
    const size_t first = r->task * SOME, n = end_of(a->s, r->task) - first;
    if (r->status) {
        *err = r->err;
        return r->status;
    }
    tmx_assert(r->n_byte == n * sizeof(struct identity));
    for (size_t i = 0; i < n; i++) {
        struct identity is;
        memcpy(&is, r->bytes + i * sizeof is, sizeof is);
        take(a, first + i, &is);
    }
    return TMX_OK;
}

static enum tmx_status identify_all(struct all *a, struct tmx_err *err)
{
    const size_t n = a->s->runs->n_point;
    enum tmx_status st = TMX_OK;
    if (n > SERIAL) {
        const struct tmx_pool pool = {.n_task = (n + SOME - 1) / SOME,
                                      .n_worker = a->s->options->n_worker,
                                      .ctx = a,
                                      .run = identify_some,
                                      .collect = take_some};
        st = tmx_pool_run(&pool, err);
        return st == TMX_ESTOPPED ? tmx_fail(err, st, "stopped by a signal before any run") : st;
    }
    for (size_t i = 0; i < n && !st; i++) {
        struct identity is = {0};
        struct tmx_err why;
        st = identify(a->s, i, &is, &why, err);
        take(a, i, &is);
    }
    return st;
}

enum tmx_status tmx_points_identify(struct tmx_study *s, struct tmx_err *err)
{
    struct all a = {.s = s};
    struct identity is = {0};
    struct tmx_err why = {0};
    enum tmx_status st = s->runs->suite ? hash_suite(s, err) : TMX_OK;
    st = st ? st : identify_all(&a, err);
    if (st || a.any) {
        return st;
    }
    st = identify(s, 0, &is, &why, err); /* all are bad: the first says why */
    return st ? st : blame(s->runs, &why, err);
}
