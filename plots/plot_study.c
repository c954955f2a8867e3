/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures from a study's database: each metric against each axis, and slowdown against energy. */
#include "plots/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { MAX_NAME = 160, MAX_CURVES = 10 };

static const char *const metrics[] = {"slowdown_pct", "peak_temp_c", "mean_temp_c", "energy_j"};

/* What a key is called in a figure's name: its last part, or all of it where another key ends so. */
static const char *short_name(const struct tmx_result_set *set, const char *key)
{
    size_t n = 0;
    for (size_t k = 0; k < set->n_key; k++) {
        n += strcmp(tmx_text_behind(set->key[k], '.'), tmx_text_behind(key, '.')) == 0;
    }
    return n > 1 ? key : tmx_text_behind(key, '.');
}

static void figure_name(const struct tmx_result_set *set, const char *y, const char *x, char name[MAX_NAME])
{
    snprintf(name, MAX_NAME, "%s_by_%s", y, short_name(set, x));
    for (char *c = name; *c; c++) {
        *c = *c == '/' ? '_' : *c; /* a database's key is no folder */
    }
}

/* An axis's text: "slowdown_pct" is "slowdown (%)". */
static const char *label(const char *key, char text[], size_t size)
{
    static const struct {
        const char *suffix, *unit;
    } units[] = {{"_pct", "%"}, {"_c", "°C"}, {"_k", "K"},     {"_s", "s"},      {"_j", "J"},
                 {"_w", "W"},   {"_m", "m"},  {"_dba", "dBA"}, {"_rpm", "1/min"}};
    static const struct {
        const char *key, *words;
    } keys[] = {{"r_convec", "sink to air, r_convec (K/W)"},
                {"ambient", "ambient (K)"},
                {"k_interface", "interface, k_interface (W/(m K))"},
                {"speed", "fan speed (share of the fastest)"},
                {"rate_per_s", "requests a second"},
                {"tokens_per_s", "tokens a second"},
                {"throughput_blocks_per_s", "blocks a second"},
                {"j_per_token", "energy a token (J)"},
                {"inlet_plus_k", "air, warmer by (K)"}},
      parts[] = {{"ttft", "first token"}, {"tbt", "between tokens"}, {"e2e", "whole request"}};
    size_t end = strlen(key), used = 0;
    const char *unit = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(key, keys[i].key) == 0) {
            snprintf(text, size, "%s", keys[i].words);
            return text;
        }
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (tmx_text_ends(key, units[i].suffix)) {
            unit = units[i].unit;
            end = strlen(key) - strlen(units[i].suffix);
        }
    }
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t m = strlen(parts[i].key);
        if (end > m && strncmp(key, parts[i].key, m) == 0 && key[m] == '_') {
            used = (size_t)snprintf(text, size, "%s,", parts[i].words);
            key += m, end -= m;
        }
    }
    snprintf(text + used, size - used, unit ? "%.*s (%s)" : "%.*s", (int)end, key, unit);
    for (char *c = text; unit && *c; c++) { /* a key without a unit is spelt as it is typed */
        *c = *c == '_' ? ' ' : *c;
    }
    return text;
}

/* A value as a figure has it: a file's without its folder and ending, where no other value is then called so.
 */
static const char *short_value(const struct tmx_result_set *set, size_t key, const char *value, char buf[80])
{
    const char *from = tmx_text_behind(value, '/'), *dot = strrchr(from, '.');
    double number;
    const bool file = from > value || (dot && (strcmp(dot, ".cfg") == 0 || strcmp(dot, ".flp") == 0));
    if (!file || tmx_text_real(value, &number)) {
        return value;
    }
    const size_t n = dot && dot > from ? (size_t)(dot - from) : strlen(from);
    for (size_t r = 0; r < set->n_run; r++) {
        const char *other = set->run[r].value[key], *cut = tmx_text_behind(other, '/');
        if (strcmp(other, value) != 0 && strncmp(cut, from, n) == 0 && (cut[n] == '.' || !cut[n])) {
            return value;
        }
    }
    snprintf(buf, 80, "%.*s", (int)n, from);
    return buf;
}

static void set_where(struct tmx_query *q, const struct tmx_study_axes *axes)
{
    q->n_where = axes->n_where;
    memcpy(q->where, axes->where, axes->n_where * sizeof *axes->where);
}

struct values { /* of a key among the wanted runs */
    size_t n;
    bool text; /* one of them at least is no number */
};

static struct values values_of(struct tmx_plot *p, const struct tmx_result_set *set,
                               const struct tmx_study_axes *axes, const char *key, const char *metric)
{
    struct tmx_query q = {.rows = {key}, .value = {metric}, .aggregate = {TMX_COUNT}};
    struct tmx_table *t = NULL;
    set_where(&q, axes);
    tmx_pivot(set, &q, &t, p->err);
    struct values v = {.n = tmx_table_rows(t)};
    double number;
    for (size_t r = 0; r < v.n; r++) {
        v.text = v.text || !tmx_text_real(tmx_table_cell(t, r, 0)->text, &number);
    }
    tmx_table_destroy(t);
    return v;
}

/* The key of the curves: the one that was asked for, or the first of texts that few curves can show. */
static const char *by_of(struct tmx_plot *p, const struct tmx_result_set *set,
                         const struct tmx_study_axes *axes, const char *x, const char *y)
{
    const char *by = axes->by;
    for (size_t k = 0; k < set->n_key && !by && !p->err->code; k++) {
        struct values v = {0};
        if (strcmp(set->key[k], x) != 0) {
            v = values_of(p, set, axes, set->key[k], y);
        }
        by = v.text && v.n > 1 && v.n <= MAX_CURVES ? set->key[k] : NULL;
    }
    return by;
}

static const char columns[] = "by x mean:4 low:4 high:4 place:d";

/* The study's own order of words: that of the first run that has the value. */
static size_t appearance(const struct tmx_result_set *set, size_t key, const char *value)
{
    size_t r = 0;
    while (r < set->n_run && tmx_value_compare(set->run[r].value[key], value) != 0) {
        r++;
    }
    return r;
}

/* order: the values, numbers by size; words have the study's own order. */
static int64_t place_of(const struct tmx_result_set *set, size_t key, const struct tmx_table *order,
                        bool words, const char *value)
{
    const size_t mine = words ? appearance(set, key, value) : 0;
    int64_t before = 0;
    for (size_t r = 0; r < tmx_table_rows(order); r++) {
        const char *other = tmx_table_cell(order, r, 0)->text;
        before += words ? appearance(set, key, other) < mine : tmx_value_compare(other, value) < 0;
    }
    return before;
}

/* What a point is the mean of: its runs, the axes that they differ in, and what its bars are. */
static void put_caption(struct tmx_plot *p, const struct tmx_result_set *set, const bool *pooled,
                        double least, double most, const char *bars)
{
    char text[300];
    snprintf(text, sizeof text, least == most ? "means of n = %g runs" : "means of n = %g to %g runs", least,
             most);
    for (size_t k = 0, n = 0; k < set->n_key; k++) {
        if (pooled[k]) {
            tmx_text_add(text, sizeof text, "%s%s", n++ ? ", " : " over ", short_name(set, set->key[k]));
        }
    }
    tmx_text_add(text, sizeof text, "%s%s", bars[0] ? "; bars: " : "", bars);
    if (most > 1) {
        tmx_plot_label(p, "caption", text);
    }
}

/* NAN: not known. */
static double half_of(const struct tmx_table *effects, const char *axis, const char *value)
{
    for (size_t r = 0; effects && r < tmx_table_rows(effects); r++) {
        const struct tmx_cell *half = tmx_table_cell(effects, r, 3);
        if (!half->empty && strcmp(tmx_table_cell(effects, r, 0)->text, axis) == 0 &&
            strcmp(tmx_table_cell(effects, r, 1)->text, value) == 0) {
            return half->real;
        }
    }
    return NAN;
}

/* Mean of the metric at every x of every curve. low and high are the 95 % interval of the mean where the runs
 * of a point are repetitions with other seeds, else its lowest and highest run. */
static struct tmx_table *curves(struct tmx_plot *p, const struct tmx_result_set *set,
                                const struct tmx_study_axes *a, bool few)
{
    struct tmx_query q = {.rows = {a->by ? a->by : a->x, a->by ? a->x : NULL},
                          .value = {a->y},
                          .aggregate = {TMX_MEAN, TMX_MIN, TMX_MAX, TMX_CI95, TMX_COUNT},
                          .n_aggregate = 5,
                          .pooled = calloc(set->n_key + 1, sizeof(bool))},
                     places = {.rows = {a->x}, .value = {a->y}, .aggregate = {TMX_COUNT}};
    struct tmx_table *t = NULL, *order = NULL, *out = tmx_table_of(columns);
    const size_t x = a->by ? 1 : 0, x_key = tmx_result_find(set->key, set->n_key, a->x),
                 by_key = a->by ? tmx_result_find(set->key, set->n_key, a->by) : 0;
    double least = INFINITY, most = 0;
    set_where(&q, a);
    set_where(&places, a);
    tmx_memory_check(q.pooled, p->err);
    tmx_pivot(set, &q, &t, p->err);
    tmx_pivot(set, &places, &order, p->err);
    const bool repeated = !p->err->code && tmx_only_repeated(set, q.pooled);
    /* Half the 95 % interval of what each word of the axis adds to the mean (study/analysis/analysis.h). */
    struct tmx_table *effects = NULL;
    struct tmx_err ignored = {0};
    size_t metric;
    if (!p->err->code && few && !repeated && a->n_where == 0 && !a->by &&
        !tmx_metric_index(set, a->y, &metric, &ignored)) {
        tmx_effects(set, metric, &effects, &ignored);
    }
    for (size_t r = 0; !p->err->code && r < tmx_table_rows(t); r++) {
        const char *value = tmx_table_cell(t, r, x)->text;
        const double mean = tmx_table_cell(t, r, x + 1)->real, n = tmx_table_cell(t, r, x + 5)->real;
        const double half = effects    ? half_of(effects, a->x, value)
                            : repeated ? (n > 1 ? tmx_table_cell(t, r, x + 4)->real : 0)
                                       : NAN;
        char shorter[2][80];
        least = fmin(least, n);
        most = fmax(most, n);
        tmx_table_row(out, "%s %s %g %g %g %" PRId64,
                      a->by ? short_value(set, by_key, tmx_table_cell(t, r, 0)->text, shorter[0]) : "all",
                      short_value(set, x_key, value, shorter[1]), mean,
                      isnan(half) ? tmx_table_cell(t, r, x + 2)->real : mean - half,
                      isnan(half) ? tmx_table_cell(t, r, x + 3)->real : mean + half,
                      place_of(set, x_key, order, few, value));
    }
    if (!p->err->code) {
        const char *bars = most < 2   ? ""
                           : repeated ? "95 % interval of the mean"
                           : effects  ? "95 % interval of the main effect"
                           : !a->by   ? "lowest to highest run"
                                      : "";
        tmx_plot_label(p, "bars", bars);
        put_caption(p, set, q.pooled, least, most, bars);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(order);
    tmx_table_destroy(effects);
    free(q.pooled);
    return out;
}

/* The runs that a->where keeps. NULL after an error; the caller frees it. */
static struct tmx_run_of *kept_runs(struct tmx_plot *p, const struct tmx_result_set *set,
                                    const struct tmx_study_axes *a, size_t *n)
{
    size_t where[sizeof((struct tmx_query *)0)->where / sizeof(struct tmx_where)];
    struct tmx_run_of *g = p->err->code ? NULL : malloc((set->n_run + 1) * sizeof *g);
    *n = 0;
    tmx_memory_check(g, p->err);
    for (size_t i = 0; i < a->n_where; i++) {
        tmx_where_index(set, &a->where[i], &where[i], p->err);
    }
    for (size_t r = 0; r < set->n_run && !p->err->code; r++) {
        bool keep = set->run[r].done;
        for (size_t i = 0; i < a->n_where; i++) {
            keep = keep && tmx_where_run(&a->where[i], set, where[i], &set->run[r]);
        }
        if (keep) {
            g[(*n)++] = (struct tmx_run_of){set, &set->run[r]};
        }
    }
    return g;
}

/* Every run as a point. */
static struct tmx_table *points(struct tmx_plot *p, const struct tmx_result_set *set,
                                const struct tmx_study_axes *a)
{
    size_t x = 0, by = 0, y = 0, n = 0;
    struct tmx_table *out = tmx_table_of(columns);
    tmx_key_index(set, a->x, &x, p->err);
    (void)(a->by && tmx_key_index(set, a->by, &by, p->err));
    tmx_metric_index(set, a->y, &y, p->err);
    struct tmx_run_of *g = kept_runs(p, set, a, &n);
    for (size_t r = 0; r < n; r++) {
        const double v = g[r].run->metric[y];
        char shorter[80];
        tmx_table_row(out, "%s %s %G %G %G %d",
                      a->by ? short_value(set, by, g[r].run->value[by], shorter) : "all", g[r].run->value[x],
                      v, v, v, 0);
    }
    free(g);
    return out;
}

/* The values of `by`, each once; words in the study's order. */
static void label_names(struct tmx_plot *p, const struct tmx_result_set *set, const char *by,
                        const struct tmx_table *t)
{
    const size_t key = by ? tmx_result_find(set->key, set->n_key, by) : set->n_key;
    const char **names = calloc(tmx_table_rows(t) + 1, sizeof *names);
    size_t n = 0, at = 0;
    double number;
    tmx_memory_check(names, p->err);
    for (size_t r = 0; !p->err->code && r < tmx_table_rows(t); r++) {
        const char *name = tmx_table_cell(t, r, 0)->text;
        if (tmx_names_find(name, names, n) == n) {
            names[n++] = name;
        }
    }
    for (size_t r = 0; key < set->n_key && n > 0 && !tmx_text_real(names[0], &number) && r < set->n_run;
         r++) {
        char shorter[80];
        const size_t i =
            tmx_names_find(short_value(set, key, set->run[r].value[key], shorter), names + at, n - at) + at;
        if (i < n) {
            const char *name = names[i];
            memmove(names + at + 1, names + at, (i - at) * sizeof *names);
            names[at++] = name;
        }
    }
    tmx_plot_order(p, names, n);
    tmx_plot_names(p, names, n);
    free(names);
}

static void put_axes(struct tmx_plot *p, const struct tmx_result_set *set, const struct tmx_study_axes *a,
                     const char *title, const char *x, bool is_text, const char *kind)
{
    char of_x[100], of_y[100], of_by[100];
    tmx_plot_words(p, title, label(x, of_x, sizeof of_x), label(a->y, of_y, sizeof of_y));
    tmx_plot_label(p, "by", a->by ? label(short_name(set, a->by), of_by, sizeof of_by) : "");
    tmx_plot_number(p, "is_text", is_text);
    tmx_plot_label(p, "kind", kind);
}

/* ---- two metrics against one another ---- */

/* Is more of it better? Of all others less is. */
static bool more_is_better(const char *metric)
{
    static const char *const words[] = {"throughput_blocks_per_s",
                                        "fairness",
                                        "below_trip_k",
                                        "gating_saved_j",
                                        "goodput_pct",
                                        "tokens_per_s",
                                        "headroom_w"};
    return tmx_names_find(metric, words, sizeof words / sizeof words[0]) < sizeof words / sizeof words[0];
}

/* The values of the axes that vary, but for `by` and seeds: who a point is. */
static void name_point(const struct tmx_result_set *set, const struct tmx_result *run, const char *by,
                       const struct tmx_run_of *g, size_t n, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t k = 0; k < set->n_key; k++) {
        bool varies = false;
        char shorter[80];
        for (size_t r = 1; r < n && !varies; r++) {
            varies = tmx_value_compare(g[r].run->value[k], g[0].run->value[k]) != 0;
        }
        if (varies && !tmx_is_seed(set->key[k]) && !(by && strcmp(set->key[k], by) == 0)) {
            tmx_text_add(buf, size, "%s%s", buf[0] ? " " : "", short_value(set, k, run->value[k], shorter));
        }
    }
}

/* Means over seeds as points, in the colours of `by`; those that no other beats are joined and, if few
 * and of a grid, named: a sample has values of all digits. */
static void scatter(struct tmx_plot *p, const struct tmx_result_set *set, const struct tmx_study_axes *a,
                    const char *name)
{
    enum { MOST_NAMES = 8, NAME = 100 };
    size_t x = 0, y = 0, by = set->n_key, n = 0, n_point = 0, *front;
    struct tmx_pareto_point *point;
    char(*who)[NAME];
    struct tmx_arena arena = {0};
    struct tmx_table *t = tmx_table_of(columns), *best = tmx_table_of("x:4 y:4 name");
    tmx_metric_index(set, a->x, &x, p->err);
    tmx_metric_index(set, a->y, &y, p->err);
    (void)(a->by && tmx_key_index(set, a->by, &by, p->err));
    struct tmx_run_of *g = kept_runs(p, set, a, &n);
    TMX_TAKE(&arena, point, n + 1);
    TMX_TAKE(&arena, who, n + 1);
    TMX_TAKE(&arena, front, n + 1);
    tmx_arena_check(&arena, p->err);
    const bool more_x = more_is_better(a->x), more_y = more_is_better(a->y);
    if (!p->err->code) {
        qsort(g, n, sizeof *g, tmx_run_order);
    }
    for (size_t first = 0, next; first < n && !p->err->code; first = next) {
        struct tmx_moments of[2] = {{0}};
        char text[TMX_REAL_SIZE], shorter[80];
        for (next = first; next < n && tmx_run_axes(&g[first], &g[next]) == 0; next++) {
            tmx_moments_add(&of[0], g[next].run->metric[x]);
            tmx_moments_add(&of[1], g[next].run->metric[y]);
        }
        if (isnan(of[0].mean) || isnan(of[1].mean)) {
            continue;
        }
        tmx_real_print(text, of[0].mean);
        tmx_table_row(t, "%s %s %g %g %g %d",
                      by < set->n_key ? short_value(set, by, g[first].run->value[by], shorter) : "all", text,
                      of[1].mean, of[1].mean, of[1].mean, 0);
        name_point(set, g[first].run, a->by, g, n, who[n_point], NAME);
        point[n_point] = (struct tmx_pareto_point){who[n_point], more_x ? -of[0].mean : of[0].mean,
                                                   more_y ? -of[1].mean : of[1].mean};
        n_point++;
    }
    const size_t n_front = p->err->code ? 0 : tmx_pareto_front(point, n_point, front);
    for (size_t i = 0; i < n_front; i++) {
        const struct tmx_pareto_point *at = &point[front[i]];
        tmx_table_row(best, "%g %g %s", more_x ? -at->x : at->x, more_y ? -at->y : at->y,
                      n_front <= MOST_NAMES && strcmp(set->method, "grid") == 0 ? at->name : "");
    }
    if (!p->err->code && n_point > 1 && tmx_plot_wants(p, name)) {
        char title[200];
        snprintf(title, sizeof title, "Study %s; %s and %s is better", set->study, more_x ? "right" : "left",
                 more_y ? "above" : "below");
        label_names(p, set, a->by, t);
        put_axes(p, set, a, title, a->x, false, "points");
        tmx_plot_number(p, "front", (double)n_front);
        tmx_plot_data(p, name, "_front", best);
        tmx_plot_draw(p, "study", name, t);
    } else {
        tmx_table_destroy(t);
        tmx_table_destroy(best);
    }
    tmx_arena_finish(&arena);
    free(g);
}

/* The numbers of a column in order, each once. */
static void label_numbers(struct tmx_plot *p, const char *key, const struct tmx_table *t, size_t column)
{
    const size_t n = tmx_table_rows(t);
    double *v = calloc(n + 1, sizeof *v);
    tmx_memory_check(v, p->err);
    for (size_t r = 0; !p->err->code && r < n; r++) {
        (void)tmx_text_real(tmx_table_cell(t, r, column)->text, &v[r]);
    }
    if (!p->err->code) {
        qsort(v, n, sizeof *v, tmx_real_compare);
    }
    for (size_t r = 0; !p->err->code && r < n; r++) {
        if (r == 0 || v[r] != v[r - 1]) {
            tmx_plot_number(p, key, v[r]);
        }
    }
    free(v);
}

static void draw(struct tmx_plot *p, const struct tmx_result_set *set, const struct tmx_study_axes *a)
{
    char name[MAX_NAME], title[100];
    const bool sampled = strcmp(set->method, "grid") != 0;
    const struct values x = values_of(p, set, a, a->x, a->y),
                        by = a->by ? values_of(p, set, a, a->by, a->y) : (struct values){0};
    const bool map = !sampled && !x.text && !by.text && by.n > MAX_CURVES / 2;
    figure_name(set, a->y, a->x, name);
    if (p->err->code || x.n < 2 || !tmx_plot_wants(p, name)) {
        return;
    }
    double longest = 0;
    struct tmx_table *t = sampled && !x.text ? points(p, set, a) : curves(p, set, a, x.text);
    snprintf(title, sizeof title, "Study %s", set->study);
    label_names(p, set, a->by, t);
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        longest = fmax(longest, (double)strlen(tmx_table_cell(t, r, 1)->text));
    }
    tmx_plot_numbers(p, "longest n_x", (double[]){longest, (double)x.n});
    put_axes(p, set, a, title, short_name(set, a->x), x.text,
             map                  ? "map"
             : sampled && !x.text ? "points"
                                  : "curves");
    if (map) {
        label_numbers(p, "at_x", t, 1);
        label_numbers(p, "at_by", t, 0);
    }
    tmx_plot_draw(p, "study", name, t);
}

/* Names as the study has them; TMX_ECONFIG for one it has not. Is x a metric? */
static bool find_axes(const struct tmx_result_set *set, struct tmx_study_axes *a, struct tmx_err *err)
{
    size_t x = 0, by = 0, y = 0;
    const bool metric = a->x && tmx_result_find(set->key, set->n_key, a->x) == set->n_key &&
                        tmx_result_find(set->metric, set->n_metric, a->x) < set->n_metric;
    if (metric && !a->y) {
        tmx_error(err, TMX_ECONFIG, "--x %s is a metric: give --y METRIC to draw against it", a->x);
    }
    (void)(a->x && (metric ? tmx_metric_index : tmx_key_index)(set, a->x, &x, err));
    (void)(a->by && tmx_key_index(set, a->by, &by, err));
    (void)(a->y && tmx_metric_index(set, a->y, &y, err));
    if (!err->code) {
        a->x = a->x ? (metric ? set->metric : set->key)[x] : NULL;
        a->by = a->by ? set->key[by] : NULL;
        a->y = a->y ? set->metric[y] : NULL;
    }
    return metric;
}

void tmx_plot_study(struct tmx_plot *p, const char *db_path, const struct tmx_study_axes *axes)
{
    struct tmx_result_set set;
    struct tmx_study_axes a = *axes;
    const char *only = p->only;
    char one[MAX_NAME];
    if (tmx_results_load(&set, db_path, axes->which, p->err)) {
        return;
    }
    tmx_results_note(&set, stderr);
    const bool of_metrics = find_axes(&set, &a, p->err);
    if (!p->err->code && a.x && a.y) { /* that is one figure, by its keys' own names */
        figure_name(&set, a.y, a.x, one);
        p->only = one;
    }
    tmx_plot_folder(p);
    if (!p->err->code && of_metrics) {
        a.by = by_of(p, &set, &a, "", a.y);
        scatter(p, &set, &a, one);
    }
    for (size_t k = 0; k < set.n_key && !p->err->code && !of_metrics; k++) {
        if (a.x ? strcmp(a.x, set.key[k]) != 0 : set.n_key > 1 && tmx_is_seed(set.key[k])) {
            continue; /* seeds are repetitions, no axis, unless asked for */
        }
        for (size_t m = 0; m < (a.y ? 1 : sizeof metrics / sizeof metrics[0]) && !p->err->code; m++) {
            const char *y = a.y ? a.y : metrics[m];
            if (tmx_result_find(set.metric, set.n_metric, y) < set.n_metric) {
                struct tmx_study_axes these = a; /* by a key that was asked for or that suits */
                these.x = set.key[k];
                these.y = y;
                these.by = by_of(p, &set, &these, these.x, y);
                draw(p, &set, &these);
            }
        }
    }
    if (!p->err->code && !a.y && !a.x) { /* energy against slowdown, where the study has both */
        a.x = "slowdown_pct";
        a.y = "energy_j";
        if (tmx_result_find(set.metric, set.n_metric, a.x) < set.n_metric &&
            tmx_result_find(set.metric, set.n_metric, a.y) < set.n_metric) {
            a.by = by_of(p, &set, &a, "", a.y);
            scatter(p, &set, &a, "pareto");
        }
    }
    p->only = only;
    tmx_result_set_finish(&set);
}
