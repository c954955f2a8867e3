/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sweep.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "run/load/data.h"
#include "study/results.h"

enum { SOBOL_MAX_DIM = 40 };

void tmx_sweep_finish(struct tmx_sweep *s)
{
    tmx_arena_finish(&s->arena);
    free(s->value);
    tmx_sets_finish(&s->sets);
    tmx_config_close(s->cfg);
    *s = (struct tmx_sweep){0};
}

struct tmx_scalar tmx_sweep_value(const struct tmx_sweep *s, size_t point, size_t key)
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
    enum tmx_status st = tmx_sets_join(sets, &s->sets, "", err);
    for (size_t k = 0; k < s->n_key && !st; k++) {
        st = tmx_sets_put(sets, s->key[k], tmx_sweep_value(s, point, k), s->file, tmx_sweep_line(s, k), err);
    }
    return st;
}

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    return tmx_sweep_value(ctx, point, key);
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

/* A whole number is one that a key of whole numbers takes, too. */
static struct tmx_scalar whole(double v)
{
    return v == floor(v) && fabs(v) < 0x1p53 ? TMX_INTEGER_VALUE((int64_t)v) : TMX_REAL_VALUE(v);
}

static struct tmx_scalar axis_value(const struct tmx_axis *a, size_t key, double u)
{
    if (a->interval) {
        const double v = a->log ? a->from * pow(a->to / a->from, u) : a->from + u * (a->to - a->from);
        return a->whole ? whole(round(v)) : TMX_REAL_VALUE(v);
    }
    const size_t i = (size_t)(u * (double)a->n_value);
    return a->value[(i < a->n_value ? i : a->n_value - 1) * a->n_key + key];
}

/* The value of a constraint's side at a point; false when it is no number. */
static bool side_value(const struct tmx_sweep *s, const struct tmx_scalar *value, struct tmx_scalar side,
                       double *v)
{
    for (size_t k = 0; side.kind == TMX_SETTING_TEXT && k < s->n_key; k++) {
        if (strcmp(s->key[k], side.text) == 0) {
            side = value[k];
            break;
        }
    }
    return tmx_scalar_real(side, v);
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

static enum tmx_status kept(const struct tmx_sweep *s, const struct tmx_scalar *value, bool *keep,
                            struct tmx_err *err)
{
    *keep = true;
    for (size_t i = 0; i < s->n_rule; i++) {
        const struct tmx_rule *r = &s->rule[i];
        double v[2];
        for (size_t k = 0; k < 2; k++) {
            if (!side_value(s, value, r->side[k], &v[k])) {
                return tmx_fail_at(err, TMX_ECONFIG, s->file, r->line,
                                   "constraint: \"%s\" is neither a number nor an axis of numbers",
                                   r->side[k].text);
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
        struct tmx_scalar *more = realloc(s->value, room * s->n_key * sizeof *more);
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
    struct tmx_scalar *value = s->value + s->n_point * s->n_key;
    size_t n = 0;
    for (size_t i = 0; i < s->n_axis; i++) {
        for (size_t k = 0; k < s->axis[i].n_key; k++) {
            value[n++] = axis_value(&s->axis[i], k, u[i]);
        }
    }
    if (b->has_seed) {
        value[n++] = TMX_INTEGER_VALUE((int64_t)(s->seed + repetition));
    }
    bool keep = true;
    st = kept(s, value, &keep, b->err);
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
    size_t *index;
    TMX_TAKE(&b->s->arena, index, s->n_axis);
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
    size_t *stratum; /* [axis][point] */
    TMX_TAKE(&b->s->arena, stratum, n * n_axis);
    st = st || stratum ? st : tmx_no_memory(b->err);
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
    double *v;
    TMX_TAKE(&b->s->arena, v, n_dim);
    enum tmx_status st = q && v ? TMX_OK : tmx_no_memory(b->err);
    for (size_t n = 0; n < b->s->n_sample && !st; n++) {
        gsl_qrng_get(q, v);
        st = indices ? indices_block(b, u, v) : add(b, v);
    }
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
    TMX_TAKE(&s->arena, s->key, n);
    if (!s->key) {
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < s->n_axis; i++) {
        for (size_t k = 0; k < s->axis[i].n_key; k++) {
            s->key[s->n_key++] = s->axis[i].key[k];
        }
    }
    if (seed_key) {
        s->key[s->n_key++] = tmx_arena_text(&s->arena, seed_key);
    }
    for (size_t k = 0; k < n && !s->arena.failed; k++) {
        for (size_t j = 0; j < k; j++) {
            if (strcmp(s->key[j], s->key[k]) == 0) {
                return tmx_fail_at(err, TMX_ECONFIG, s->file, tmx_sweep_line(s, k), "key %s is on two axes",
                                   s->key[k]);
            }
        }
    }
    return s->arena.failed ? tmx_no_memory(err) : TMX_OK;
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
    double *u;
    TMX_TAKE(&s->arena, u, s->n_axis);
    st = st || u ? st : tmx_no_memory(err);
    st = st ? st : build[s->method](&b, u);
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
            char text[TMX_REAL_SIZE];
            tmx_table_text(t, tmx_scalar_plain(tmx_sweep_value(s, i, k), text));
        }
    }
    *out = t;
    return st;
}

/* Reading of a study's file into axes and rules; sweep.c makes the points. */

enum { MAX_STEPS = 1000000, MAX_AXES = 256, MAX_KEYS = 256, MAX_RULES = 4096 };

struct head {
    char name[64], doc[256], base[TMX_SWEEP_TEXT], seed_key[64];
    int repeat, seed;
};

struct sample {
    int method, n;
};

struct scale { /* range and log */
    double from, to;
    int steps;
    bool whole;
};

static const char *const methods[] = {"grid", "random", "latin", "sobol", "indices", NULL};

static const struct tmx_opt head_opts[] = {
    TMX_ROW_TEXT(head, name, NULL, "name of the study"),
    TMX_ROW_TEXT(head, doc, "", "what it asks"),
    TMX_ROW_TEXT(head, base, NULL,
                 "run configuration that every point changes, relative to this file, or a name of `thermix "
                 "list runs`"),
    TMX_ROW_INT(head, repeat, "1", 1, 1e6, 1, "runs of every point, with seeds seed, seed + 1, ..."),
    TMX_ROW_INT(head, seed, "1", 0, 2147483647, 1, "seed of samples and of the first repetition"),
    TMX_ROW_TEXT(head, seed_key, "seed", "key that the repetitions set"),
    {0},
};
static const struct tmx_opt sample_opts[] = {
    TMX_ROW_CHOICE(sample, method, methods, "grid", "how points are taken from the axes"),
    TMX_ROW_INT(sample, n, "1", 1, 1e7, NAN, "number of (base) points"),
    {0},
};
static const struct tmx_opt scale_opts[] = {
    TMX_ROW_REAL(scale, from, "1", -1e300, 1e300, NAN, "first value"),
    TMX_ROW_REAL(scale, to, "1", -1e300, 1e300, NAN, "last value"),
    TMX_ROW_INT(scale, steps, "1", 0, MAX_STEPS, 0, "number of values; only a sampled study needs none"),
    TMX_ROW_BOOL(scale, whole, 0, "round to whole numbers"),
    {0},
};

static enum tmx_status add_value(struct tmx_axis *a, size_t at, const struct tmx_setting *s,
                                 struct tmx_err *err)
{
    char text[TMX_PARAMETER_SIZE];
    if (tmx_setting_kind(s) < TMX_SETTING_INTEGER) {
        return tmx_fail_setting(err, s, "a value of an axis is a number, true, false or \"text\"");
    }
    a->value[at] = tmx_setting_scalar(s);
    return tmx_scalar_print(a->value[at], text, sizeof text)
               ? TMX_OK
               : tmx_fail_setting(err, s, "a value of an axis is at most %zu bytes", sizeof text - 4);
}

/* inlet_c over "+0", "+8" is inlet_plus_k over 0, 8; "45C" is 45. */
static enum tmx_status plain_temperatures(struct tmx_sweep *s, struct tmx_axis *a,
                                          const struct tmx_setting *axis, struct tmx_err *err)
{
    for (size_t k = 0; k < a->n_key; k++) {
        const size_t n = strlen(a->key[k]);
        size_t n_plus = 0;
        if (n < 3 || strcmp(a->key[k] + n - 2, "_c") != 0) {
            continue;
        }
        for (size_t i = k; i < a->n_value * a->n_key; i += a->n_key) {
            struct tmx_scalar *v = &a->value[i];
            double real = 0;
            if (v->kind != TMX_SETTING_TEXT) {
                continue;
            }
            const char *end = v->text + strlen(v->text);
            const bool plus = v->text[0] == '+';
            end -= plus && end[-1] == 'K';
            if (plus ? !tmx_span_real((struct tmx_span){v->text + 1, end}, &real)
                     : !tmx_celsius_read(v->text, &real)) {
                return tmx_fail_setting(err, axis,
                                        "axis %s: expected temperatures such as 45.0 or \"45C\", or all of "
                                        "them above the given one, such as \"+8\"",
                                        a->key[k]);
            }
            n_plus += plus;
            *v = TMX_REAL_VALUE(real);
        }
        if (n_plus > 0 && n_plus < a->n_value) {
            return tmx_fail_setting(err, axis, "axis %s has both temperatures and differences (\"+8\")",
                                    a->key[k]);
        }
        char *key = a->key[k];
        TMX_TAKE(&s->arena, a->key[k], n + sizeof "_plus_k");
        if (!a->key[k]) {
            return tmx_no_memory(err);
        }
        snprintf(a->key[k], n + sizeof "_plus_k", "%.*s%s", (int)(n_plus ? n - 2 : n), key,
                 n_plus ? "_plus_k" : "");
    }
    return TMX_OK;
}

/* The member `values` of an axis. */
static enum tmx_status read_values(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *axis,
                                   struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_list(axis, "values", 0, MAX_STEPS, &list, err);
    const size_t n = tmx_setting_length(list);
    if (!st && n == 0) {
        st = tmx_fail_setting(err, list, "axis %s has no values", a->key[0]);
    }
    TMX_TAKE(&s->arena, a->value, n * a->n_key);
    st = st || a->value ? st : tmx_no_memory(err);
    for (size_t i = 0; i < n && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        if (a->n_key == 1) {
            st = add_value(a, i, e, err);
            continue;
        }
        if (!tmx_setting_is_list(e) || tmx_setting_length(e) != a->n_key) {
            return tmx_fail_setting(err, e, "each value of these keys is a list of %zu", a->n_key);
        }
        for (size_t k = 0; k < a->n_key && !st; k++) {
            st = add_value(a, i * a->n_key + k, tmx_setting_at(e, k), err);
        }
    }
    a->n_value = n;
    return st ? st : plain_temperatures(s, a, axis, err);
}

/* Value i of a range; what is within rounding of a decimal of twelve digits is that decimal: 0.1 + 2 * 0.1 is
 * 0.3, as in a run's file. */
static struct tmx_scalar step(const struct scale *r, bool log, int i)
{
    const double f = r->steps > 1 ? (double)i / (r->steps - 1) : 0;
    const double v = i == 0              ? r->from
                     : i == r->steps - 1 ? r->to
                     : log               ? r->from * pow(r->to / r->from, f)
                                         : r->from + f * (r->to - r->from);
    const double near = tmx_real_round(v, 12);
    return r->whole ? whole(round(v)) : whole(fabs(v - near) <= 1e-15 * fabs(v) ? near : v);
}

static enum tmx_status read_scale(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *group,
                                  bool log, struct tmx_err *err)
{
    struct scale r;
    enum tmx_status st = tmx_opt_read(scale_opts, &r, group, NULL, err);
    if (st) {
        return st;
    }
    if (a->n_key > 1) {
        return tmx_fail_setting(err, group, "keys that move together need values, not a range");
    }
    if (log && (r.from <= 0 || r.to <= 0)) {
        return tmx_fail_setting(err, group, "a log axis needs from and to above 0");
    }
    if (s->method == TMX_SAMPLE_GRID && (r.steps < 1 || (r.steps > 1 && r.from == r.to))) {
        return tmx_fail_setting(err, group, "axis %s: the range is empty (from %g to %g in %d steps)",
                                a->key[0], r.from, r.to, r.steps);
    }
    if (s->method != TMX_SAMPLE_GRID) {
        a->interval = true;
        a->log = log;
        a->whole = r.whole;
        a->from = r.from;
        a->to = r.to;
        return TMX_OK;
    }
    a->n_value = (size_t)r.steps;
    TMX_TAKE(&s->arena, a->value, a->n_value);
    for (int i = 0; a->value && i < r.steps; i++) {
        a->value[i] = step(&r, log, i);
    }
    return a->value ? TMX_OK : tmx_no_memory(err);
}

static enum tmx_status add_key(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *e,
                               struct tmx_err *err)
{
    const char *key = tmx_setting_text(e);
    if (!key || !key[0]) {
        return tmx_fail_setting(err, e, "a key is a text like \"chip.power.baseline_w\"");
    }
    for (const struct tmx_axis *o = s->axis; o <= a; o++) {
        for (size_t k = 0; k < o->n_key; k++) {
            if (strcmp(o->key[k], key) == 0) {
                return tmx_fail_setting(err, e, "key %s is on two axes", key);
            }
        }
    }
    a->key[a->n_key++] = tmx_arena_text(&s->arena, key);
    return s->arena.failed ? tmx_no_memory(err) : TMX_OK;
}

static enum tmx_status read_keys(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *group,
                                 struct tmx_err *err)
{
    const struct tmx_setting *one = tmx_setting_member(group, "key");
    const struct tmx_setting *many = tmx_setting_member(group, "keys");
    if (!one == !many) {
        return tmx_fail_setting(err, group, "an axis has either key or keys");
    }
    enum tmx_status st = one ? TMX_OK : tmx_setting_texts(group, "keys", 1, MAX_KEYS, &many, err);
    TMX_TAKE(&s->arena, a->key, one || st ? 1 : tmx_setting_length(many));
    st = st || a->key ? st : tmx_no_memory(err);
    st = st || !one ? st : add_key(s, a, one, err);
    for (size_t i = 0; i < tmx_setting_length(many) && !st; i++) {
        st = add_key(s, a, tmx_setting_at(many, i), err);
    }
    return st;
}

static enum tmx_status read_axis(struct tmx_sweep *s, const struct tmx_setting *group, struct tmx_err *err)
{
    static const char *const forms[] = {"values", "range", "log"};
    static const char *const also[] = {"key", "keys", "values", "range", "log", NULL};
    static const struct tmx_opt none[] = {{0}};
    struct tmx_axis *a = &s->axis[s->n_axis++];
    char unused = 0;
    *a = (struct tmx_axis){.line = tmx_setting_line(group)};
    enum tmx_status st = tmx_opt_read(none, &unused, group, also, err);
    if (!st) {
        st = read_keys(s, a, group, err);
    }
    if (st) {
        return st;
    }
    tmx_assert(a->key && a->n_key > 0);
    const struct tmx_setting *how = NULL;
    int form = -1;
    for (int f = 0; f < 3; f++) {
        const struct tmx_setting *m = tmx_setting_member(group, forms[f]);
        if (m && how) {
            return tmx_fail_setting(err, m, "axis %s has both %s and %s", a->key[0], forms[form], forms[f]);
        }
        if (m) {
            how = m;
            form = f;
        }
    }
    if (!how) {
        return tmx_fail_setting(err, group, "axis %s has neither values, range nor log", a->key[0]);
    }
    return form == 0 ? read_values(s, a, group, err) : read_scale(s, a, how, form == 2, err);
}

static enum tmx_status read_rule(struct tmx_sweep *s, const struct tmx_setting *group, struct tmx_err *err)
{
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "!="};
    struct tmx_rule *r = &s->rule[s->n_rule++];
    const struct tmx_setting *left = tmx_setting_at(group, 0), *right = tmx_setting_at(group, 2);
    const char *relation = tmx_setting_text(tmx_setting_at(group, 1));
    double v;
    *r = (struct tmx_rule){.line = tmx_setting_line(group)};
    for (size_t i = 0; relation && i < sizeof relations / sizeof relations[0]; i++) {
        r->relation = strcmp(relations[i], relation) == 0 ? relations[i] : r->relation;
    }
    if (!tmx_setting_is_list(group) || tmx_setting_length(group) != 3 || !r->relation ||
        !(tmx_setting_text(left) || tmx_setting_real(left, &v)) ||
        !(tmx_setting_text(right) || tmx_setting_real(right, &v))) {
        return tmx_fail_setting(err, group, "a constraint is (left, relation, right) with < <= > >= == !=");
    }
    r->side[0] = tmx_setting_scalar(left);
    r->side[1] = tmx_setting_scalar(right);
    return TMX_OK;
}

/* Members `axes`, `constraints` and `sample` of a study, or of the sets of a suite. */
static enum tmx_status read_axes(struct tmx_sweep *s, const struct tmx_setting *root, struct tmx_err *err)
{
    struct sample sample = {.method = TMX_SAMPLE_GRID};
    const struct tmx_setting *axes, *rules = NULL, *group = NULL;
    enum tmx_status st = tmx_setting_list(root, "axes", 1, MAX_AXES, &axes, err);
    st = st ? st : tmx_setting_list(root, "constraints", 0, MAX_RULES, &rules, err);
    st = st ? st : tmx_setting_group(root, "sample", &group, err);
    if (!st && group) {
        st = tmx_opt_read(sample_opts, &sample, group, NULL, err);
    }
    if (st) {
        return st;
    }
    s->method = sample.method;
    s->n_sample = s->method == TMX_SAMPLE_GRID ? 0 : (size_t)sample.n;
    TMX_TAKE(&s->arena, s->axis, tmx_setting_length(axes));
    TMX_TAKE(&s->arena, s->rule, tmx_setting_length(rules));
    if (s->arena.failed) {
        return tmx_no_memory(err);
    }
    for (size_t i = 0; i < tmx_setting_length(axes) && !st; i++) {
        st = read_axis(s, tmx_setting_at(axes, i), err);
    }
    for (size_t i = 0; i < tmx_setting_length(rules) && !st; i++) {
        st = read_rule(s, tmx_setting_at(rules, i), err);
    }
    return st;
}

static enum tmx_status read_all(struct tmx_sweep *s, const struct tmx_setting *root, struct head *h,
                                struct tmx_err *err)
{
    static const char *const also[] = {"axes", "sample", "constraints", "set", NULL};
    const struct tmx_setting *set = NULL;
    enum tmx_status st = tmx_opt_read(head_opts, h, root, also, err);
    st = st ? st : read_axes(s, root, err);
    st = st ? st : tmx_setting_texts(root, "set", 0, MAX_RULES, &set, err);
    if (st) {
        return st;
    }
    s->seed = (uint64_t)h->seed;
    snprintf(s->name, sizeof s->name, "%s", h->name);
    snprintf(s->doc, sizeof s->doc, "%s", h->doc);
    snprintf(s->base, sizeof s->base, "%s", h->base);
    return tmx_sets_add_list(&s->sets, "", set, err);
}

enum tmx_status tmx_sweep_read(struct tmx_sweep *s, const struct tmx_setting *group, const char *const *also,
                               struct tmx_err *err)
{
    static const struct tmx_opt opts[] = {
        TMX_ROW_INT(head, seed, "1", 0, 2147483647, 1, "seed of the samples"),
        {0},
    };
    struct head h;
    *s = (struct tmx_sweep){0};
    snprintf(s->file, sizeof s->file, "%s", tmx_setting_file(group));
    enum tmx_status st = tmx_opt_read(opts, &h, group, also, err);
    s->seed = st ? 0 : (uint64_t)h.seed;
    st = st ? st : read_axes(s, group, err);
    st = st ? st : tmx_sweep_expand(s, 1, NULL, err);
    if (st) {
        tmx_sweep_finish(s);
    }
    return st;
}

enum tmx_status tmx_sweep_load(struct tmx_sweep *s, const char *path, struct tmx_err *err)
{
    struct head h;
    *s = (struct tmx_sweep){0};
    snprintf(s->file, sizeof s->file, "%s", path);
    enum tmx_status st = tmx_config_load(&s->cfg, path, NULL, err);
    if (!st) {
        st = read_all(s, tmx_config_root(s->cfg), &h, err);
    }
    if (!st) {
        /* a file beside the study, or a name of `thermix list runs`; what opens it says that it is not there
         */
        char named[TMX_PATH_SIZE];
        struct tmx_err ignored = {0};
        const bool found = tmx_beside(s->file, s->base, named, sizeof named) ||
                           tmx_data_find_from(TMX_DATA_RUN, s->file, s->base, named, &ignored) == TMX_OK;
        snprintf(s->path, sizeof s->path, "%s", found ? named : s->base);
        st = tmx_sweep_expand(s, (size_t)h.repeat, h.seed_key, err);
    }
    if (st) {
        tmx_sweep_finish(s);
    }
    return st;
}

const struct tmx_keys tmx_study_keys[] = {TMX_KEYS("", head_opts),
                                          TMX_KEYS("sample", sample_opts),
                                          TMX_KEYS("axes.range", scale_opts),
                                          TMX_KEYS("axes.log", scale_opts),
                                          {0}};
