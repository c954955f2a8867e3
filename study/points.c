/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/points.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "study/pool.h"

enum { ASSIGNMENT = 1600 };

void tmx_assignments_finish(struct tmx_assignments *a)
{
    free(a->set);
    free(a->line);
    free(a->text);
}

enum tmx_status tmx_assignments_init(struct tmx_assignments *a, const struct tmx_study *s, size_t point,
                                     struct tmx_err *err)
{
    const struct tmx_sweep *sw = s->sweep;
    const size_t n = sw->n_set + sw->n_key;
    *a = (struct tmx_assignments){.set = calloc(n, sizeof *a->set),
                                  .line = calloc(n, sizeof *a->line),
                                  .text = calloc(sw->n_key, ASSIGNMENT)};
    if (!a->set || !a->line || !a->text) {
        tmx_assignments_finish(a);
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < sw->n_set; i++) {
        a->set[i] = sw->set[i];
        a->line[i] = sw->set_line[i];
    }
    for (size_t k = 0; k < sw->n_key; k++) {
        char *text = a->text + k * ASSIGNMENT;
        tmx_sweep_assignment(sw, point, k, text, ASSIGNMENT);
        a->set[sw->n_set + k] = text;
        a->line[sw->n_set + k] = tmx_sweep_line(sw, k);
    }
    a->point =
        (struct tmx_point){.base = s->base, .from = sw->file, .set = a->set, .line = a->line, .n_set = n};
    return TMX_OK;
}

enum tmx_status tmx_point_load(struct tmx_config **c, const struct tmx_point *p, struct tmx_err *err)
{
    enum tmx_status st = tmx_config_open(c, p->base, err);
    for (size_t i = 0; i < p->n_set && !st; i++) {
        st = tmx_config_assign(*c, p->set[i], p->from, p->line[i], err);
    }
    if (st) {
        tmx_config_close(*c);
        *c = NULL;
    }
    return st;
}

enum tmx_status tmx_point_resolve(const struct tmx_study *s, size_t point, FILE *out, struct tmx_err *err)
{
    struct tmx_assignments a;
    enum tmx_status st = tmx_assignments_init(&a, s, point, err);
    if (!st) {
        st = s->runner->resolve(s->runner->ctx, &a.point, out, err);
        tmx_assignments_finish(&a);
    }
    return st;
}

struct identity {
    bool valid;
    char id[TMX_HASH_HEX];
};

/* Id of a point: hash of its resolved configuration, or of its assignments when it has
 * no valid one, and why. */
static enum tmx_status identify(const struct tmx_study *s, size_t point, struct identity *is,
                                struct tmx_err *why, struct tmx_err *err)
{
    struct tmx_hash *hash = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return tmx_no_memory(err);
    }
    is->valid = tmx_point_resolve(s, point, out, why) == TMX_OK;
    fclose(out);
    const enum tmx_status st = tmx_hash_create(&hash, err);
    if (!st) {
        if (is->valid) {
            tmx_hash_add(hash, text, size);
        }
        for (size_t k = 0; k < s->sweep->n_key && !is->valid; k++) {
            tmx_hash_add_text(hash, s->sweep->key[k]);
            tmx_hash_add_text(hash, tmx_sweep_value(s->sweep, point, k));
        }
        tmx_hash_hex(hash, is->id);
        tmx_hash_destroy(hash);
    }
    free(text);
    return st;
}

/* All points are bad, for the reason of the first. */
static enum tmx_status blame(const struct tmx_study *s, const struct tmx_err *first, struct tmx_err *err)
{
    const struct tmx_sweep *sw = s->sweep;
    char text[1600];
    if (first->line > 0) { /* of a file, the axis' line in the study's among them */
        return tmx_fail_at(err, TMX_ECONFIG, first->file, first->line,
                           "%.900s (no point of %.60s has a valid configuration)", first->msg, sw->name);
    }
    tmx_err_format(first, text, sizeof text);
    return tmx_fail_at(err, TMX_ECONFIG, sw->file, 1, "no point has a valid configuration: %.900s", text);
}

/* ---- all of them, some at a time in several processes ---- */

enum { SOME = 64, SERIAL = 2 * SOME }; /* points of a task; no more than these: not worth a process */

struct all {
    struct tmx_study *s;
    bool any; /* is valid */
};

static size_t end_of(const struct tmx_study *s, size_t task)
{
    const size_t end = (task + 1) * SOME;
    return end < s->sweep->n_point ? end : s->sweep->n_point;
}

static enum tmx_status identify_some(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct tmx_study *s = ((const struct all *)ctx)->s;
    enum tmx_status st = TMX_OK;
    for (size_t i = task * SOME; i < end_of(s, task) && !st; i++) {
        struct identity is = {0};
        struct tmx_err why;
        st = identify(s, i, &is, &why, err);
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
    const struct tmx_study *s = a->s;
    const size_t n = s->sweep->n_point;
    enum tmx_status st = TMX_OK;
    if (n > SERIAL) {
        const struct tmx_pool pool = {.n_task = (n + SOME - 1) / SOME,
                                      .n_worker = s->options->n_worker,
                                      .ctx = a,
                                      .run = identify_some,
                                      .collect = take_some};
        st = tmx_pool_run(&pool, err);
        return st == TMX_ESTOPPED ? tmx_fail(err, st, "stopped by a signal before any run") : st;
    }
    for (size_t i = 0; i < n && !st; i++) {
        struct identity is = {0};
        struct tmx_err why;
        st = identify(s, i, &is, &why, err);
        take(a, i, &is);
    }
    return st;
}

enum tmx_status tmx_points_identify(struct tmx_study *s, struct tmx_err *err)
{
    struct all a = {.s = s};
    struct identity is = {0};
    struct tmx_err why = {0};
    enum tmx_status st = identify_all(&a, err);
    if (st || a.any) {
        return st;
    }
    st = identify(s, 0, &is, &why, err); /* all are bad: the first says why */
    return st ? st : blame(s, &why, err);
}
