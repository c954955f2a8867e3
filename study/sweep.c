/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sweep.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/rng.h"
#include "base/text.h"
#include "run/load/data.h"
#include "study/results.h"

enum { SOBOL_MAX_DIM = 40 };
static const char *const methods[] = {"grid", "random", "latin", "sobol", "indices", NULL};

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

static void sets_of(const void *ctx, size_t point, struct tmx_sets *sets, struct tmx_err *err)
{
    const struct tmx_sweep *s = ctx;
    tmx_sets_join(sets, &s->sets, "", err);
    for (size_t k = 0; k < s->n_key; k++) {
        tmx_sets_put(sets, s->key[k], tmx_sweep_value(s, point, k), s->file, tmx_sweep_line(s, k), err);
    }
}

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    return tmx_sweep_value(ctx, point, key);
}

void tmx_sweep_runs(const struct tmx_sweep *s, struct tmx_runs *runs)
{
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

/* Points under construction, of u[axis] in [0, 1): of listed values the place of one. */
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

/* Does a point meet every constraint? */
static bool kept(struct builder *b, const struct tmx_scalar *value)
{
    const struct tmx_sweep *s = b->s;
    bool keep = true;
    for (size_t i = 0; i < s->n_rule; i++) {
        const struct tmx_rule *r = &s->rule[i];
        double v[2] = {0};
        for (size_t side = 0; side < 2; side++) {
            struct tmx_scalar of = r->side[side];
            for (size_t k = 0; of.kind == TMX_SETTING_TEXT && k < s->n_key; k++) {
                if (strcmp(s->key[k], of.text) == 0) {
                    of = value[k];
                    break;
                }
            }
            if (!tmx_scalar_real(of, &v[side])) {
                tmx_error_at(b->err, TMX_ECONFIG, s->file, r->line,
                             "constraint: \"%s\" is neither a number nor an axis of numbers",
                             r->side[side].text);
            }
        }
        keep = keep && holds(r->relation, v[0], v[1]);
    }
    return keep;
}

static void add(struct builder *b, const double *u)
{
    struct tmx_sweep *s = b->s;
    for (size_t r = 0; r < b->repeat && !b->err->code; r++) {
        if (s->n_point == TMX_SWEEP_MAX_POINTS) {
            tmx_error_at(b->err, TMX_ECONFIG, s->file, s->axis[s->n_axis - 1].line, "more than %d points",
                         TMX_SWEEP_MAX_POINTS);
            return;
        }
        if (s->n_point == b->room) {
            const size_t room = b->room ? 2 * b->room : 64;
            struct tmx_scalar *more = realloc(s->value, room * s->n_key * sizeof *more);
            if (!more) {
                tmx_no_memory(b->err);
                return;
            }
            s->value = more;
            b->room = room;
        }
        struct tmx_scalar *value = s->value + s->n_point * s->n_key;
        size_t n = 0;
        for (size_t i = 0; i < s->n_axis; i++) {
            for (size_t k = 0; k < s->axis[i].n_key; k++) {
                value[n++] = axis_value(&s->axis[i], k, u[i]);
            }
        }
        if (b->has_seed) {
            value[n++] = TMX_INTEGER_VALUE((int64_t)(s->seed + r));
        }
        s->n_point += kept(b, value) && !b->err->code;
    }
}

static void grid(struct builder *b, double *u)
{
    const struct tmx_sweep *s = b->s;
    size_t *index;
    if (!TMX_TAKE(&b->s->arena, index, s->n_axis)) {
        tmx_no_memory(b->err);
    }
    for (bool more = true; more && !b->err->code;) {
        for (size_t i = 0; i < s->n_axis; i++) {
            u[i] = ((double)index[i] + 0.5) / (double)s->axis[i].n_value;
        }
        add(b, u);
        size_t i = s->n_axis;
        while (i > 0 && ++index[i - 1] == s->axis[i - 1].n_value) {
            index[--i] = 0;
        }
        more = i > 0;
    }
}

/* Random, or a Latin hypercube (McKay, Beckman, Conover 1979): a random permutation of the strata on every
 * axis. */
static void random_points(struct builder *b, double *u)
{
    const size_t n = b->s->n_sample, n_axis = b->s->n_axis;
    const bool latin = b->s->method == TMX_SAMPLE_LATIN;
    struct tmx_rng *rng = NULL;
    size_t *stratum; /* [axis][point] */
    if (!TMX_TAKE(&b->s->arena, stratum, latin ? n * n_axis : 0)) {
        tmx_no_memory(b->err);
        return;
    }
    (void)!tmx_rng_create(&rng, b->s->seed, "sweep", b->err);
    for (size_t i = 0; latin && i < n_axis && !b->err->code; i++) {
        size_t *p = stratum + i * n;
        for (size_t k = 0; k < n; k++) {
            const size_t j = (size_t)tmx_rng_below(rng, k + 1);
            p[k] = p[j];
            p[j] = k;
        }
    }
    for (size_t k = 0; k < n && !b->err->code; k++) {
        for (size_t i = 0; i < n_axis; i++) {
            u[i] = tmx_rng_uniform(rng);
            u[i] = latin ? ((double)stratum[i * n + k] + u[i]) / (double)n : u[i];
        }
        add(b, u);
    }
    tmx_rng_destroy(rng);
}

/* Of a Sobol sequence; of indices (Saltelli 2010) A, B, then A with axis i of B for every i. */
static void quasi_random(struct builder *b, double *u)
{
    const bool indices = b->s->method == TMX_SAMPLE_INDICES;
    const size_t n_axis = b->s->n_axis, n_dim = n_axis * (indices ? 2 : 1);
    if (n_dim > SOBOL_MAX_DIM) {
        tmx_error_at(b->err, TMX_ECONFIG, b->s->file, 0, "a Sobol sequence has at most %d axes%s",
                     SOBOL_MAX_DIM, indices ? " (two for each axis here)" : "");
        return;
    }
    gsl_qrng *q = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)n_dim);
    double *v; /* A and B */
    if (!TMX_TAKE(&b->s->arena, v, n_dim) || !q) {
        tmx_no_memory(b->err);
    }
    for (size_t n = 0; n < b->s->n_sample && !b->err->code; n++) {
        gsl_qrng_get(q, v);
        add(b, v);
        if (indices) {
            add(b, v + n_axis);
        }
        for (size_t i = 0; indices && i < n_axis; i++) {
            memcpy(u, v, n_axis * sizeof *u);
            u[i] = v[n_axis + i];
            add(b, u);
        }
    }
    if (q) {
        gsl_qrng_free(q);
    }
}

static void gather_keys(struct tmx_sweep *s, const char *seed_key, struct tmx_err *err)
{
    size_t n = seed_key != NULL;
    for (size_t i = 0; i < s->n_axis; i++) {
        n += s->axis[i].n_key;
    }
    TMX_TAKE(&s->arena, s->key, n);
    for (size_t i = 0; i < s->n_axis && s->key; i++) {
        for (size_t k = 0; k < s->axis[i].n_key; k++) {
            s->key[s->n_key++] = s->axis[i].key[k];
        }
    }
    if (seed_key && s->key) {
        s->key[s->n_key++] = tmx_arena_text(&s->arena, seed_key);
    }
    if (s->arena.failed) {
        tmx_no_memory(err);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < k; j++) {
            if (strcmp(s->key[j], s->key[k]) == 0) {
                tmx_error_at(err, TMX_ECONFIG, s->file, tmx_sweep_line(s, k), "key %s is on two axes",
                             s->key[k]);
            }
        }
    }
}

/* Key and value from the axes. */
static void expand(struct tmx_sweep *s, size_t repeat, const char *seed_key, struct tmx_err *err)
{
    static void (*const build[])(struct builder *, double *) = {
        [TMX_SAMPLE_GRID] = grid,
        [TMX_SAMPLE_RANDOM] = random_points,
        [TMX_SAMPLE_LATIN] = random_points,
        [TMX_SAMPLE_SOBOL] = quasi_random,
        [TMX_SAMPLE_INDICES] = quasi_random,
    };
    struct builder b = {.s = s, .repeat = repeat, .has_seed = repeat > 1, .err = err};
    double *u;
    if (s->method == TMX_SAMPLE_INDICES && (s->n_rule > 0 || repeat > 1)) {
        tmx_error_at(err, TMX_ECONFIG, s->file, 0,
                     "sample.method = \"indices\" needs its whole design: no constraints, no repeat");
        return;
    }
    gather_keys(s, b.has_seed ? seed_key : NULL, err);
    if (!err->code && TMX_TAKE(&s->arena, u, s->n_axis)) {
        build[s->method](&b, u);
    }
    tmx_arena_check(&s->arena, err);
    if (s->n_point == 0) {
        tmx_error_at(err, TMX_ECONFIG, s->file, s->n_rule ? s->rule[0].line : s->axis[0].line,
                     "the constraints leave no point");
    }
}

struct tmx_table *tmx_sweep_table(const struct tmx_sweep *s)
{
    struct tmx_table *t = tmx_table_of("point:d");
    for (size_t k = 0; k < s->n_key; k++) {
        tmx_table_extend(t, s->key[k], TMX_COLUMN_TEXT, 0);
    }
    for (size_t i = 0; i < s->n_point; i++) {
        tmx_table_int(t, (int64_t)i);
        for (size_t k = 0; k < s->n_key; k++) {
            char text[TMX_REAL_SIZE];
            tmx_table_text(t, tmx_scalar_plain(tmx_sweep_value(s, i, k), text));
        }
    }
    return t;
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
    TMX_ROW_INT(sample, n, "1", 0, 1e7, 0, "number of (base) points; a grid has none"),
    {0},
};
static const struct tmx_opt scale_opts[] = {
    TMX_ROW_REAL(scale, from, "1", -1e300, 1e300, NAN, "first value"),
    TMX_ROW_REAL(scale, to, "1", -1e300, 1e300, NAN, "last value"),
    TMX_ROW_INT(scale, steps, "1", 0, MAX_STEPS, 0, "number of values; a sampled study has none"),
    TMX_ROW_BOOL(scale, whole, 0, "round to whole numbers"),
    {0},
};

/* inlet_c over "+0", "+8" is inlet_plus_k over 0, 8; "45C" is 45. */
static void plain_temperatures(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *axis,
                               struct tmx_err *err)
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
                tmx_error_setting(err, axis,
                                  "axis %s: expected temperatures such as 45.0 or \"45C\", or all of "
                                  "them above the given one, such as \"+8\"",
                                  a->key[k]);
                return;
            }
            n_plus += plus;
            *v = TMX_REAL_VALUE(real);
        }
        if (n_plus > 0 && n_plus < a->n_value) {
            tmx_error_setting(err, axis, "axis %s has both temperatures and differences (\"+8\")", a->key[k]);
            return;
        }
        char *key = a->key[k];
        if (!TMX_TAKE(&s->arena, a->key[k], n + sizeof "_plus_k")) {
            tmx_no_memory(err);
            return;
        }
        snprintf(a->key[k], n + sizeof "_plus_k", "%.*s%s", (int)(n_plus ? n - 2 : n), key,
                 n_plus ? "_plus_k" : "");
    }
}

/* The member `values` of an axis. */
static void read_values(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *axis,
                        struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_list(axis, "values", 0, MAX_STEPS, err);
    const size_t n = tmx_setting_length(list);
    if (n == 0) {
        tmx_error_setting(err, list, "axis %s has no values", a->key[0]);
    }
    TMX_TAKE(&s->arena, a->value, n * a->n_key);
    tmx_arena_check(&s->arena, err);
    for (size_t i = 0; i < n && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        if (a->n_key > 1 && (!tmx_setting_is_list(e) || tmx_setting_length(e) != a->n_key)) {
            tmx_error_setting(err, e, "each value of these keys is a list of %zu", a->n_key);
            return;
        }
        for (size_t k = 0; k < a->n_key; k++) {
            const struct tmx_setting *one = a->n_key > 1 ? tmx_setting_at(e, k) : e;
            struct tmx_scalar *v = &a->value[i * a->n_key + k];
            char text[TMX_PARAMETER_SIZE];
            if (tmx_setting_kind(one) < TMX_SETTING_INTEGER) {
                tmx_error_setting(err, one, "a value of an axis is a number, true, false or \"text\"");
                return;
            }
            *v = tmx_setting_scalar(one);
            if (!tmx_scalar_print(*v, text, sizeof text)) {
                tmx_error_setting(err, one, "a value of an axis is at most %zu bytes", sizeof text - 4);
            }
        }
    }
    a->n_value = n;
    if (!err->code) {
        plain_temperatures(s, a, axis, err);
    }
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

static void read_scale(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *group, bool log,
                       struct tmx_err *err)
{
    struct scale r;
    const bool grid = s->method == TMX_SAMPLE_GRID;
    if (tmx_opt_read(scale_opts, &r, group, NULL, err)) {
        return;
    }
    if (a->n_key > 1) {
        tmx_error_setting(err, group, "keys that move together need values, not a range");
    }
    if (log && (r.from <= 0 || r.to <= 0)) {
        tmx_error_setting(err, group, "a log axis needs from and to above 0");
    }
    if (grid && (r.steps < 1 || (r.steps > 1) == (r.from == r.to))) {
        tmx_error_setting(err, group, "axis %s: the range is %s (from %g to %g in %d step%s)", a->key[0],
                          r.steps == 1 ? "its begin alone" : "empty", r.from, r.to, r.steps,
                          tmx_plural((size_t)r.steps));
    }
    if (!grid && r.steps > 0) {
        tmx_error_setting(err, group, "axis %s: steps does nothing: sample.n is the number of points",
                          a->key[0]);
    }
    if (!grid) {
        a->interval = true;
        a->log = log;
        a->whole = r.whole;
        a->from = r.from;
        a->to = r.to;
        return;
    }
    a->n_value = err->code ? 0 : (size_t)r.steps;
    TMX_TAKE(&s->arena, a->value, a->n_value);
    tmx_arena_check(&s->arena, err);
    for (int i = 0; i < r.steps && !err->code; i++) {
        a->value[i] = step(&r, log, i);
    }
}

struct hashed { /* a value of an axis, of all its keys */
    XXH64_hash_t hash;
    size_t at;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->at > y->at) - (x->at < y->at);
}

/* A value that is there twice would weigh twice in every mean. */
static void check_distinct(struct tmx_sweep *s, const struct tmx_axis *a, const struct tmx_setting *axis,
                           struct tmx_err *err)
{
    char text[32];
    double v;
    struct hashed *h;
    if (err->code || !TMX_TAKE(&s->arena, h, a->n_value)) {
        return;
    }
    for (size_t i = 0; i < a->n_value; i++) {
        h[i].at = i;
        for (size_t k = 0; k < a->n_key; k++) {
            const struct tmx_scalar value = a->value[i * a->n_key + k];
            const char *word = tmx_scalar_real(value, &v) ? NULL : tmx_scalar_plain(value, text);
            h[i].hash = XXH3_64bits_withSeed(word ? (const void *)word : &v, word ? strlen(word) : sizeof v,
                                             h[i].hash);
        }
    }
    qsort(h, a->n_value, sizeof *h, by_hash);
    for (size_t i = 1; i < a->n_value; i++) {
        if (h[i].hash == h[i - 1].hash) {
            tmx_error_setting(err, axis, "axis %s: values %zu and %zu, %s, are equal", a->key[0],
                              h[i - 1].at + 1, h[i].at + 1,
                              tmx_scalar_plain(a->value[h[i].at * a->n_key], text));
        }
    }
}

static void add_key(struct tmx_sweep *s, struct tmx_axis *a, const struct tmx_setting *e, struct tmx_err *err)
{
    const char *key = tmx_setting_text(e);
    if (!key || !key[0]) {
        tmx_error_setting(err, e, "a key is a text like \"chip.power.baseline_w\"");
        return;
    }
    for (const struct tmx_axis *o = s->axis; o <= a; o++) {
        for (size_t k = 0; k < o->n_key; k++) {
            if (strcmp(o->key[k], key) == 0) {
                tmx_error_setting(err, e, "key %s is on two axes", key);
            }
        }
    }
    a->key[a->n_key++] = tmx_arena_text(&s->arena, key);
    tmx_arena_check(&s->arena, err);
}

static void read_axis(struct tmx_sweep *s, const struct tmx_setting *group, struct tmx_err *err)
{
    static const char *const forms[] = {"values", "range", "log"};
    static const char *const also[] = {"key", "keys", "values", "range", "log", NULL};
    static const struct tmx_opt none[] = {{0}};
    const struct tmx_setting *one = tmx_setting_member(group, "key"),
                             *many = tmx_setting_member(group, "keys"), *how = NULL;
    struct tmx_axis *a = &s->axis[s->n_axis++];
    int form = -1;
    char unused = 0;
    *a = (struct tmx_axis){.line = tmx_setting_line(group)};
    if (tmx_opt_read(none, &unused, group, also, err)) {
        return;
    }
    if (!one == !many) {
        tmx_error_setting(err, group, "an axis has either key or keys");
        return;
    }
    if (many) {
        many = tmx_setting_texts(group, "keys", 1, MAX_KEYS, err);
    }
    TMX_TAKE(&s->arena, a->key, one ? 1 : tmx_setting_length(many));
    tmx_arena_check(&s->arena, err);
    for (size_t i = 0; i < (one ? 1 : tmx_setting_length(many)) && !err->code; i++) {
        add_key(s, a, one ? one : tmx_setting_at(many, i), err);
    }
    for (int f = 0; f < 3 && !err->code; f++) {
        const struct tmx_setting *m = tmx_setting_member(group, forms[f]);
        if (m && how) {
            tmx_error_setting(err, m, "axis %s has both %s and %s", a->key[0], forms[form], forms[f]);
        }
        how = m ? m : how;
        form = m ? f : form;
    }
    if (!how && !err->code) {
        tmx_error_setting(err, group, "axis %s has neither values, range nor log", a->key[0]);
    }
    if (!err->code && form == 0) {
        read_values(s, a, group, err);
    } else if (!err->code) {
        read_scale(s, a, how, form == 2, err);
    }
    check_distinct(s, a, group, err);
}

static void read_rule(struct tmx_sweep *s, const struct tmx_setting *group, struct tmx_err *err)
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
        tmx_error_setting(err, group, "a constraint is (left, relation, right) with < <= > >= == !=");
        return;
    }
    r->side[0] = tmx_setting_scalar(left);
    r->side[1] = tmx_setting_scalar(right);
}

/* Members `axes`, `constraints` and `sample` of a study, or of the sets of a suite. */
static void read_axes(struct tmx_sweep *s, const struct tmx_setting *root, struct tmx_err *err)
{
    struct sample sample = {.method = TMX_SAMPLE_GRID};
    const struct tmx_setting *axes = tmx_setting_list(root, "axes", 1, MAX_AXES, err),
                             *rules = tmx_setting_list(root, "constraints", 0, MAX_RULES, err),
                             *group = tmx_setting_group(root, "sample", err);
    if (group) {
        tmx_opt_read(sample_opts, &sample, group, NULL, err);
    }
    s->method = sample.method;
    s->n_sample = (size_t)sample.n;
    if ((s->n_sample > 0) == (s->method == TMX_SAMPLE_GRID)) {
        tmx_error_setting(err, group, "sample: n is the number of points of a method other than \"grid\"");
    }
    TMX_TAKE(&s->arena, s->axis, tmx_setting_length(axes));
    TMX_TAKE(&s->arena, s->rule, tmx_setting_length(rules));
    tmx_arena_check(&s->arena, err);
    for (size_t i = 0; i < tmx_setting_length(axes) && !err->code; i++) {
        read_axis(s, tmx_setting_at(axes, i), err);
    }
    for (size_t i = 0; i < tmx_setting_length(rules) && !err->code; i++) {
        read_rule(s, tmx_setting_at(rules, i), err);
    }
}

enum tmx_status tmx_sweep_read(struct tmx_sweep *s, const struct tmx_setting *group, const char *const *also,
                               struct tmx_err *err)
{
    static const struct tmx_opt opts[] = {
        TMX_ROW_INT(head, seed, "1", 0, 2147483647, 1, "seed of the samples"),
        {0},
    };
    struct tmx_err failed = {0};
    struct head h;
    *s = (struct tmx_sweep){0};
    snprintf(s->file, sizeof s->file, "%s", tmx_setting_file(group));
    tmx_opt_read(opts, &h, group, also, &failed);
    read_axes(s, group, &failed);
    if (!failed.code) {
        s->seed = (uint64_t)h.seed;
        expand(s, 1, NULL, &failed);
    }
    if (failed.code) {
        tmx_sweep_finish(s);
    }
    return tmx_error_give(err, &failed);
}

enum tmx_status tmx_sweep_load(struct tmx_sweep *s, const char *path, struct tmx_err *err)
{
    static const char *const also[] = {"axes", "sample", "constraints", "set", NULL};
    struct tmx_err failed = {0}, ignored = {0};
    struct head h;
    *s = (struct tmx_sweep){0};
    snprintf(s->file, sizeof s->file, "%s", path);
    tmx_config_load(&s->cfg, path, NULL, &failed);
    const struct tmx_setting *root = tmx_config_root(s->cfg);
    tmx_opt_read(head_opts, &h, root, also, &failed);
    read_axes(s, root, &failed);
    const struct tmx_setting *set = tmx_setting_texts(root, "set", 0, MAX_RULES, &failed);
    tmx_sets_add_list(&s->sets, "", set, &failed);
    if (!failed.code) {
        s->seed = (uint64_t)h.seed;
        snprintf(s->name, sizeof s->name, "%s", h.name);
        snprintf(s->doc, sizeof s->doc, "%s", h.doc);
        snprintf(s->base, sizeof s->base, "%s", h.base);
        /* a file beside the study, or a name of `thermix list runs`; what opens it says that it is not there
         */
        char named[TMX_PATH_SIZE];
        const bool found = tmx_beside(s->file, s->base, named, sizeof named) ||
                           tmx_data_find_from(TMX_DATA_RUN, s->file, s->base, named, &ignored) == TMX_OK;
        snprintf(s->path, sizeof s->path, "%s", found ? named : s->base);
        expand(s, (size_t)h.repeat, h.seed_key, &failed);
        for (size_t i = 0; i < tmx_setting_length(set); i++) {
            const char *text = tmx_setting_text(tmx_setting_at(set, i));
            const size_t n = strcspn(text, "=");
            for (size_t k = 0; k < s->n_key && !failed.code; k++) {
                if (strlen(s->key[k]) == n && strncmp(s->key[k], text, n) == 0) {
                    tmx_error_setting(&failed, tmx_setting_at(set, i), "set: %s is on an axis", s->key[k]);
                }
            }
        }
    }
    if (failed.code) {
        tmx_sweep_finish(s);
    }
    return tmx_error_give(err, &failed);
}

const struct tmx_keys tmx_study_keys[] = {TMX_KEYS("", head_opts),
                                          TMX_KEYS("sample", sample_opts),
                                          TMX_KEYS("axes.range", scale_opts),
                                          TMX_KEYS("axes.log", scale_opts),
                                          {0}};
