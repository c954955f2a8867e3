/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sweep.h"

#include <gsl/gsl_qrng.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "study/results.h"

enum { LITERAL = 1024, SOBOL_MAX_DIM = 40 };

static void free_list(char **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++) {
        free(list[i]);
    }
    free(list);
}

void tmx_sweep_finish(struct tmx_sweep *s)
{
    for (size_t i = 0; i < s->n_axis; i++) {
        free_list(s->axis[i].value, s->axis[i].n_literal);
        free_list(s->axis[i].key, s->axis[i].n_key);
    }
    free(s->axis);
    free(s->rule);
    free_list(s->set, s->n_set);
    free(s->set_line);
    free_list(s->key, s->n_key);
    free_list(s->value, s->n_point * s->n_key);
    *s = (struct tmx_sweep){0};
}

const char *tmx_sweep_value(const struct tmx_sweep *s, size_t point, size_t key)
{
    tmx_assert(point < s->n_point && key < s->n_key);
    return s->value[point * s->n_key + key];
}

unsigned tmx_sweep_line(const struct tmx_sweep *s, size_t key)
{
    for (size_t a = 0; a < s->n_axis; a++) {
        if (key < s->axis[a].n_key) {
            return s->axis[a].line;
        }
        key -= s->axis[a].n_key;
    }
    return 1;
}

static enum tmx_status sets_of(const void *ctx, size_t point, struct tmx_sets *sets, struct tmx_err *err)
{
    const struct tmx_sweep *s = ctx;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < s->n_set && !st; i++) {
        st = tmx_sets_add(sets, s->file, s->set_line[i], err, "%s", s->set[i]);
    }
    for (size_t k = 0; k < s->n_key && !st; k++) {
        st = tmx_sets_add(sets, s->file, tmx_sweep_line(s, k), err, "%s=%s", s->key[k],
                          tmx_sweep_value(s, point, k));
    }
    return st;
}

static void value_of(const void *ctx, size_t point, size_t key, char text[TMX_PARAMETER_SIZE])
{
    snprintf(text, TMX_PARAMETER_SIZE, "%s", tmx_sweep_value(ctx, point, key));
}

void tmx_sweep_runs(const struct tmx_sweep *s, struct tmx_runs *runs)
{
    static const char *const methods[] = {"grid", "random", "latin", "sobol", "indices"};
    *runs = (struct tmx_runs){.name = s->name,
                              .doc = s->doc,
                              .method = methods[s->method],
                              .file = s->file,
                              .base = s->path,
                              .n_point = s->n_point,
                              .n_key = s->n_key,
                              .key = (const char *const *)s->key,
                              .ctx = s,
                              .sets = sets_of,
                              .value = value_of};
}

/* One point under construction: u[axis] in [0, 1), or the index of a listed value. */
struct builder {
    struct tmx_sweep *s;
    size_t room;
    size_t repeat;
    bool has_seed;
    struct tmx_err *err;
};

static void axis_literal(const struct tmx_axis *a, size_t key, double u, char *buf, size_t size)
{
    if (a->interval) {
        const double v = a->log ? a->from * pow(a->to / a->from, u) : a->from + u * (a->to - a->from);
        snprintf(buf, size, "%.*g", a->whole ? 17 : 12, a->whole ? round(v) : v);
        return;
    }
    size_t i = (size_t)(u * (double)a->n_value);
    i = i < a->n_value ? i : a->n_value - 1;
    snprintf(buf, size, "%s", a->value[i * a->n_key + key]);
}

static bool number(const char *text, double *v)
{
    return tmx_span_real((struct tmx_span){text, text + strlen(text)}, v);
}

/* The value of a constraint's side at a point; false when it is no number. */
static bool side_value(const struct tmx_sweep *s, char *const *value, const char *side, double *v)
{
    for (size_t k = 0; k < s->n_key; k++) {
        if (strcmp(s->key[k], side) == 0) {
            return number(value[k], v);
        }
    }
    return number(side, v);
}

static bool holds(const char *relation, double l, double r)
{
    const bool equal = relation[1] == '=';
    switch (relation[0]) {
    case '<':
        return equal ? l <= r : l < r;
    case '>':
        return equal ? l >= r : l > r;
    case '!':
        return l != r;
    default:
        return l == r;
    }
}

static enum tmx_status kept(const struct tmx_sweep *s, char *const *value, bool *keep, struct tmx_err *err)
{
    *keep = true;
    for (size_t i = 0; i < s->n_rule; i++) {
        const struct tmx_rule *r = &s->rule[i];
        double v[2];
        for (size_t k = 0; k < 2; k++) {
            if (!side_value(s, value, r->side[k], &v[k])) {
                return tmx_fail_at(err, TMX_ECONFIG, s->file, r->line,
                                   "constraint: \"%s\" is neither a number nor an axis of numbers",
                                   r->side[k]);
            }
        }
        *keep = *keep && holds(r->relation, v[0], v[1]);
    }
    return TMX_OK;
}

static enum tmx_status reserve(struct builder *b)
{
    struct tmx_sweep *s = b->s;
    if (s->n_point == TMX_SWEEP_MAX_POINTS) {
        return tmx_fail_at(b->err, TMX_ECONFIG, s->file, s->axis[s->n_axis - 1].line, "more than %d points",
                           TMX_SWEEP_MAX_POINTS);
    }
    if (s->n_point == b->room) {
        const size_t room = b->room ? 2 * b->room : 64;
        char **more = realloc(s->value, room * s->n_key * sizeof *more);
        if (!more) {
            return tmx_no_memory(b->err);
        }
        s->value = more;
        b->room = room;
    }
    return TMX_OK;
}

static enum tmx_status add_repetition(struct builder *b, const double *u, size_t repetition)
{
    struct tmx_sweep *s = b->s;
    enum tmx_status st = reserve(b);
    if (st) {
        return st;
    }
    char **value = s->value + s->n_point * s->n_key;
    char buf[LITERAL];
    size_t n = 0;
    for (size_t i = 0; i < s->n_axis; i++) {
        for (size_t k = 0; k < s->axis[i].n_key; k++) {
            axis_literal(&s->axis[i], k, u[i], buf, sizeof buf);
            value[n++] = tmx_text_dup(buf);
        }
    }
    if (b->has_seed) {
        snprintf(buf, sizeof buf, "%" PRIu64, s->seed + repetition);
        value[n++] = tmx_text_dup(buf);
    }
    bool keep = true;
    for (size_t k = 0; k < n; k++) {
        keep = keep && value[k];
    }
    st = keep ? kept(s, value, &keep, b->err) : tmx_no_memory(b->err);
    for (size_t k = 0; k < n && (st || !keep); k++) {
        free(value[k]);
    }
    s->n_point += !st && keep;
    return st;
}

static enum tmx_status add(struct builder *b, const double *u)
{
    enum tmx_status st = TMX_OK;
    for (size_t r = 0; r < b->repeat && !st; r++) {
        st = add_repetition(b, u, r);
    }
    return st;
}

static enum tmx_status grid(struct builder *b, double *u)
{
    const struct tmx_sweep *s = b->s;
    size_t *index = calloc(s->n_axis, sizeof *index);
    enum tmx_status st = index ? TMX_OK : tmx_no_memory(b->err);
    bool more = true;
    while (more && !st && index) {
        for (size_t i = 0; i < s->n_axis; i++) {
            u[i] = ((double)index[i] + 0.5) / (double)s->axis[i].n_value;
        }
        st = add(b, u);
        size_t i = s->n_axis;
        while (i > 0 && ++index[i - 1] == s->axis[i - 1].n_value) {
            index[--i] = 0;
        }
        more = i > 0;
    }
    free(index);
    return st;
}

static enum tmx_status uniform(struct builder *b, double *u)
{
    struct tmx_rng *rng = NULL;
    enum tmx_status st = tmx_rng_create(&rng, b->s->seed, "sweep", b->err);
    for (size_t n = 0; n < b->s->n_sample && !st; n++) {
        for (size_t i = 0; i < b->s->n_axis; i++) {
            u[i] = tmx_rng_uniform(rng);
        }
        st = add(b, u);
    }
    tmx_rng_destroy(rng);
    return st;
}

/* McKay, Beckman, Conover 1979: a random permutation of the strata on every axis. */
static enum tmx_status latin(struct builder *b, double *u)
{
    const size_t n = b->s->n_sample, n_axis = b->s->n_axis;
    struct tmx_rng *rng = NULL;
    enum tmx_status st = tmx_rng_create(&rng, b->s->seed, "sweep", b->err);
    size_t *stratum = malloc(n * n_axis * sizeof *stratum); /* [axis][point] */
    if (!st && !stratum) {
        st = tmx_no_memory(b->err);
    }
    for (size_t i = 0; i < n_axis && !st; i++) {
        size_t *p = stratum + i * n;
        for (size_t k = 0; k < n; k++) {
            const size_t j = (size_t)tmx_rng_below(rng, k + 1);
            p[k] = p[j];
            p[j] = k;
        }
    }
    for (size_t k = 0; k < n && !st; k++) {
        for (size_t i = 0; i < n_axis; i++) {
            u[i] = ((double)stratum[i * n + k] + tmx_rng_uniform(rng)) / (double)n;
        }
        st = add(b, u);
    }
    free(stratum);
    tmx_rng_destroy(rng);
    return st;
}

/* Saltelli 2010: A, B, then A with axis i of B for every i. v holds A and B. */
static enum tmx_status indices_block(struct builder *b, double *u, const double *v)
{
    const size_t n_axis = b->s->n_axis;
    enum tmx_status st = add(b, v);
    if (!st) {
        st = add(b, v + n_axis);
    }
    for (size_t i = 0; i < n_axis && !st; i++) {
        memcpy(u, v, n_axis * sizeof *u);
        u[i] = v[n_axis + i];
        st = add(b, u);
    }
    return st;
}

static enum tmx_status quasi_random(struct builder *b, double *u)
{
    const bool indices = b->s->method == TMX_SAMPLE_INDICES;
    const size_t n_dim = b->s->n_axis * (indices ? 2 : 1);
    if (n_dim > SOBOL_MAX_DIM) {
        return tmx_fail_at(b->err, TMX_ECONFIG, b->s->file, 0, "a Sobol sequence has at most %d axes%s",
                           SOBOL_MAX_DIM, indices ? " (two for each axis here)" : "");
    }
    gsl_qrng *q = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)n_dim);
    double *v = calloc(n_dim, sizeof *v);
    enum tmx_status st = q && v ? TMX_OK : tmx_no_memory(b->err);
    for (size_t n = 0; n < b->s->n_sample && !st; n++) {
        gsl_qrng_get(q, v);
        st = indices ? indices_block(b, u, v) : add(b, v);
    }
    free(v);
    if (q) {
        gsl_qrng_free(q);
    }
    return st;
}

static enum tmx_status gather_keys(struct tmx_sweep *s, const char *seed_key, struct tmx_err *err)
{
    size_t n = seed_key != NULL;
    for (size_t i = 0; i < s->n_axis; i++) {
        n += s->axis[i].n_key;
    }
    s->key = calloc(n + 1, sizeof *s->key);
    if (!s->key) {
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < s->n_axis; i++) {
        for (size_t k = 0; k < s->axis[i].n_key; k++) {
            s->key[s->n_key++] = tmx_text_dup(s->axis[i].key[k]);
        }
    }
    if (seed_key) {
        s->key[s->n_key++] = tmx_text_dup(seed_key);
    }
    bool ok = true;
    for (size_t k = 0; k < n; k++) {
        ok = ok && s->key[k];
        for (size_t j = 0; ok && j < k; j++) {
            if (strcmp(s->key[j], s->key[k]) == 0) {
                return tmx_fail_at(err, TMX_ECONFIG, s->file, tmx_sweep_line(s, k), "key %s is on two axes",
                                   s->key[k]);
            }
        }
    }
    return ok ? TMX_OK : tmx_no_memory(err);
}

enum tmx_status tmx_sweep_expand(struct tmx_sweep *s, size_t repeat, const char *seed_key,
                                 struct tmx_err *err)
{
    static enum tmx_status (*const build[])(struct builder *, double *) = {
        [TMX_SAMPLE_GRID] = grid,          [TMX_SAMPLE_RANDOM] = uniform,       [TMX_SAMPLE_LATIN] = latin,
        [TMX_SAMPLE_SOBOL] = quasi_random, [TMX_SAMPLE_INDICES] = quasi_random,
    };
    struct builder b = {.s = s, .repeat = repeat, .has_seed = repeat > 1, .err = err};
    if (s->method == TMX_SAMPLE_INDICES && (s->n_rule > 0 || repeat > 1)) {
        return tmx_fail_at(err, TMX_ECONFIG, s->file, 0,
                           "sample.method = \"indices\" needs its whole design: no constraints, no repeat");
    }
    enum tmx_status st = gather_keys(s, b.has_seed ? seed_key : NULL, err);
    double *u = st ? NULL : calloc(s->n_axis, sizeof *u);
    if (!st && !u) {
        st = tmx_no_memory(err);
    }
    if (!st) {
        st = build[s->method](&b, u);
    }
    free(u);
    if (!st && s->n_point == 0) {
        st = tmx_fail_at(err, TMX_ECONFIG, s->file, s->n_rule ? s->rule[0].line : s->axis[0].line,
                         "the constraints leave no point");
    }
    return st;
}

enum tmx_status tmx_sweep_table(const struct tmx_sweep *s, struct tmx_table **out, struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    struct tmx_column *columns = calloc(s->n_key + 1, sizeof *columns);
    if (!columns) {
        return tmx_no_memory(err);
    }
    columns[0] = (struct tmx_column){"point", TMX_COLUMN_INT, 0};
    for (size_t k = 0; k < s->n_key; k++) {
        columns[k + 1] = (struct tmx_column){s->key[k], TMX_COLUMN_TEXT, 0};
    }
    const enum tmx_status st = tmx_table_create(&t, columns, s->n_key + 1, err);
    free(columns);
    for (size_t i = 0; i < s->n_point && !st; i++) {
        tmx_table_int(t, (int64_t)i);
        for (size_t k = 0; k < s->n_key; k++) {
            const char *v = tmx_sweep_value(s, i, k);
            char plain[TMX_SWEEP_TEXT];
            const size_t quoted = v[0] == '"';
            snprintf(plain, sizeof plain, "%.*s", (int)(strlen(v) - 2 * quoted), v + quoted);
            tmx_table_text(t, plain);
        }
    }
    *out = t;
    return st;
}
