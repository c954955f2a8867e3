/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures from a study's database: each metric against each axis, and slowdown against energy. */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "plots/figure.h"

enum { MAX_NAME = 160, MAX_CURVES = 10 };

static const char *const metrics[] = {"slowdown_pct", "peak_temp_c", "mean_temp_c", "energy_j"};

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* What a key is called in a figure's name: its last part, or all of it where another key ends so. */
static const char *short_name(const struct tmx_result_set *set, const char *key)
{
    size_t n = 0;
    for (size_t k = 0; k < set->n_key; k++) {
        n += strcmp(last_part(set->key[k]), last_part(key)) == 0;
    }
    return n > 1 ? key : last_part(key);
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
    } units[] = {{"_pct", "%"}, {"_c", "°C"}, {"_k", "K"},    {"_s", "s"},
                 {"_j", "J"},   {"_w", "W"},  {"_dba", "dBA"}};
    static const struct {
        const char *key, *words;
    } keys[] = {{"r_convec", "sink to air, r_convec (K/W)"},
                {"ambient", "air, ambient (K)"},
                {"k_interface", "interface, k_interface (W/(m K))"},
                {"speed", "fan speed (share of the fastest)"}};
    const size_t n = strlen(key);
    snprintf(text, size, "%s", key);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(key, keys[i].key) == 0) {
            snprintf(text, size, "%s", keys[i].words);
        }
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t m = strlen(units[i].suffix);
        if (n > m && strcmp(key + n - m, units[i].suffix) == 0) {
            snprintf(text, size, "%.*s (%s)", (int)(n - m), key, units[i].unit);
            for (size_t k = 0; k < n - m && text[k]; k++) {
                text[k] = text[k] == '_' ? ' ' : text[k];
            }
        }
    }
    return text;
}

static bool is_number(const char *v)
{
    double number;
    return tmx_span_real((struct tmx_span){v, v + strlen(v)}, &number);
}

static void set_where(struct tmx_query *q, const struct tmx_study_axes *axes)
{
    const size_t room = sizeof q->where / sizeof q->where[0];
    q->n_where = axes->n_where < room ? axes->n_where : room;
    for (size_t i = 0; i < q->n_where; i++) {
        q->where[i] = axes->where[i];
    }
}

struct values { /* of a key among the wanted runs */
    size_t n;
    bool text; /* one of them at least is no number */
};

static enum tmx_status values_of(const struct tmx_result_set *set, const struct tmx_study_axes *axes,
                                 const char *key, const char *metric, struct values *v, struct tmx_err *err)
{
    struct tmx_query q = {.rows = {key}, .value = {metric}, .aggregate = {TMX_COUNT}};
    struct tmx_table *t = NULL;
    set_where(&q, axes);
    const enum tmx_status st = tmx_pivot(set, &q, &t, err);
    *v = (struct values){.n = st ? 0 : tmx_table_rows(t)};
    for (size_t r = 0; r < v->n; r++) {
        v->text = v->text || !is_number(tmx_table_cell(t, r, 0)->text);
    }
    tmx_table_destroy(t);
    return st;
}

/* The first key of texts that few curves can show. */
static enum tmx_status choose_by(const struct tmx_result_set *set, const struct tmx_study_axes *axes,
                                 const char *x, const char *y, const char **by, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    *by = NULL;
    for (size_t k = 0; k < set->n_key && !st && !*by; k++) {
        struct values v = {0};
        if (strcmp(set->key[k], x) != 0) {
            st = values_of(set, axes, set->key[k], y, &v, err);
        }
        *by = v.text && v.n > 1 && v.n <= MAX_CURVES ? set->key[k] : NULL;
    }
    return st;
}

static const struct tmx_column columns[] = {{"by", TMX_COLUMN_TEXT, 0},   {"x", TMX_COLUMN_TEXT, 0},
                                            {"mean", TMX_COLUMN_REAL, 4}, {"low", TMX_COLUMN_REAL, 4},
                                            {"high", TMX_COLUMN_REAL, 4}, {"place", TMX_COLUMN_INT, 0}};

/* The place of a text on an axis, in order of first seen by value. */
static int64_t place_of(const struct tmx_table *order, const char *value)
{
    int64_t r = 0;
    while ((size_t)r < tmx_table_rows(order) &&
           tmx_value_compare(tmx_table_cell(order, (size_t)r, 0)->text, value) != 0) {
        r++;
    }
    return r;
}

/* What a point is the mean of: its runs, the axes that they differ in, and what its bars are. */
static void put_caption(struct tmx_plot *p, const struct tmx_result_set *set, const bool *pooled,
                        double least, double most, const char *bars)
{
    char text[300];
    int used = snprintf(text, sizeof text,
                        least == most ? "means of n = %g runs" : "means of n = %g to %g runs", least, most);
    for (size_t k = 0, n = 0; k < set->n_key; k++) {
        if (pooled[k] && used < (int)sizeof text) {
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", n++ ? ", " : " over ",
                             short_name(set, set->key[k]));
        }
    }
    if (used < (int)sizeof text && bars[0]) {
        snprintf(text + used, sizeof text - (size_t)used, "; bars: %s", bars);
    }
    if (most > 1) {
        tmx_plot_label(p, "caption", text);
    }
}

/* Mean of the metric at every x of every curve. low and high are the 95 % interval of the mean where the runs
 * of a point are repetitions with other seeds, else its lowest and highest run. */
static enum tmx_status curves(struct tmx_plot *p, const struct tmx_result_set *set,
                              const struct tmx_study_axes *a, bool few, struct tmx_table **out,
                              struct tmx_err *err)
{
    struct tmx_query q = {.rows = {a->by ? a->by : a->x, a->by ? a->x : NULL},
                          .value = {a->y},
                          .aggregate = {TMX_MEAN, TMX_MIN, TMX_MAX, TMX_CI95, TMX_COUNT},
                          .n_aggregate = 5,
                          .pooled = calloc(set->n_key + 1, sizeof(bool))},
                     places = {.rows = {a->x}, .value = {a->y}, .aggregate = {TMX_COUNT}};
    struct tmx_table *t = NULL, *order = NULL;
    const size_t x = a->by ? 1 : 0;
    double least = INFINITY, most = 0;
    set_where(&q, a);
    set_where(&places, a);
    enum tmx_status st = q.pooled ? tmx_pivot(set, &q, &t, err) : tmx_no_memory(err);
    st = st ? st : tmx_pivot(set, &places, &order, err);
    st = st ? st : tmx_table_create(out, columns, 6, err);
    const bool repeated = !st && tmx_only_repeated(set, q.pooled);
    for (size_t r = 0; !st && r < tmx_table_rows(t); r++) {
        const char *value = tmx_table_cell(t, r, x)->text;
        const double mean = tmx_table_cell(t, r, x + 1)->real, n = tmx_table_cell(t, r, x + 5)->real;
        const struct tmx_cell *half = tmx_table_cell(t, r, x + 4);
        least = fmin(least, n);
        most = fmax(most, n);
        tmx_table_text(*out, a->by ? tmx_table_cell(t, r, 0)->text : "all");
        tmx_table_text(*out, value);
        tmx_table_real(*out, mean);
        tmx_table_real(*out, !repeated ? tmx_table_cell(t, r, x + 2)->real
                             : n > 1   ? mean - half->real
                                       : mean);
        tmx_table_real(*out, !repeated ? tmx_table_cell(t, r, x + 3)->real
                             : n > 1   ? mean + half->real
                                       : mean);
        tmx_table_int(*out, place_of(order, value));
    }
    if (!st) {
        const char *bars = most < 2        ? ""
                           : repeated      ? "95 % interval of the mean"
                           : few || !a->by ? "lowest to highest run"
                                           : "";
        tmx_plot_label(p, "bars", bars);
        put_caption(p, set, q.pooled, least, most, bars);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(order);
    free(q.pooled);
    return st;
}

/* Every run as a point. */
static enum tmx_status points(const struct tmx_result_set *set, const struct tmx_study_axes *a,
                              struct tmx_table **out, struct tmx_err *err)
{
    size_t x = 0, by = 0, y = 0, where[16];
    enum tmx_status st = tmx_key_index(set, a->x, &x, err);
    st = st || !a->by ? st : tmx_key_index(set, a->by, &by, err);
    st = st ? st : tmx_metric_index(set, a->y, &y, err);
    for (size_t i = 0; i < a->n_where && i < 16 && !st; i++) {
        st = tmx_where_index(set, &a->where[i], &where[i], err);
    }
    st = st ? st : tmx_table_create(out, columns, 6, err);
    for (size_t r = 0; r < set->n_run && !st; r++) {
        const struct tmx_result *run = &set->run[r];
        bool keep = run->done;
        for (size_t i = 0; i < a->n_where && i < 16; i++) {
            keep = keep && tmx_where_run(&a->where[i], set, where[i], run);
        }
        if (!keep) {
            continue;
        }
        tmx_table_text(*out, a->by ? run->value[by] : "all");
        tmx_table_text(*out, run->value[x]);
        for (size_t i = 0; i < 3; i++) {
            tmx_table_real(*out, run->metric[y]);
        }
        tmx_table_int(*out, 0);
    }
    return st;
}

/* The values of `by`, each once. */
static enum tmx_status label_names(struct tmx_plot *p, const struct tmx_table *t, struct tmx_err *err)
{
    const char **names = calloc(tmx_table_rows(t) + 1, sizeof *names);
    size_t n = 0;
    if (!names) {
        return tmx_no_memory(err);
    }
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        const char *name = tmx_table_cell(t, r, 0)->text;
        if (tmx_names_find(name, names, n) == n) {
            names[n++] = name;
        }
    }
    tmx_plot_order(p, names, n);
    for (size_t i = 0; i < n; i++) {
        tmx_plot_label(p, "name", names[i]);
    }
    free(names);
    return TMX_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The numbers of a column in order, each once. */
static enum tmx_status label_numbers(struct tmx_plot *p, const char *key, const struct tmx_table *t,
                                     size_t column, struct tmx_err *err)
{
    const size_t n = tmx_table_rows(t);
    double *v = calloc(n + 1, sizeof *v);
    if (!v) {
        return tmx_no_memory(err);
    }
    for (size_t r = 0; r < n; r++) {
        const char *text = tmx_table_cell(t, r, column)->text;
        (void)tmx_span_real((struct tmx_span){text, text + strlen(text)}, &v[r]);
    }
    qsort(v, n, sizeof *v, by_value);
    for (size_t r = 0; r < n; r++) {
        if (r == 0 || v[r] != v[r - 1]) {
            tmx_plot_number(p, key, v[r]);
        }
    }
    free(v);
    return TMX_OK;
}

static enum tmx_status draw(struct tmx_plot *p, const struct tmx_result_set *set,
                            const struct tmx_study_axes *a, struct tmx_err *err)
{
    char name[MAX_NAME];
    struct tmx_table *t = NULL;
    struct values x = {0}, by = {0};
    const bool sampled = strcmp(set->method, "grid") != 0;
    enum tmx_status st = values_of(set, a, a->x, a->y, &x, err);
    if (!st && a->by) {
        st = values_of(set, a, a->by, a->y, &by, err);
    }
    const bool map = !sampled && !x.text && !by.text && by.n > MAX_CURVES / 2;
    figure_name(set, a->y, a->x, name);
    if (st || x.n < 2 || !tmx_plot_wants(p, name)) {
        return st;
    }
    st = sampled && !x.text ? points(set, a, &t, err) : curves(p, set, a, x.text, &t, err);
    if (!st) {
        char words[100], title[100];
        snprintf(title, sizeof title, "Study %s", set->study);
        st = label_names(p, t, err);
        tmx_plot_label(p, "title", title);
        tmx_plot_label(p, "x", label(short_name(set, a->x), words, sizeof words));
        tmx_plot_label(p, "y", label(a->y, words, sizeof words));
        tmx_plot_label(p, "by", a->by ? label(short_name(set, a->by), words, sizeof words) : "");
        tmx_plot_number(p, "is_text", x.text);
        tmx_plot_label(p, "kind", map ? "map" : sampled && !x.text ? "points" : "curves");
        st = st || !map ? st : label_numbers(p, "at_x", t, 1, err);
        st = st || !map ? st : label_numbers(p, "at_by", t, 0, err);
        st = st ? st : tmx_plot_data(p, name, "", t, err);
        st = st ? st : tmx_plot_draw(p, "study", name, err);
    }
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status pareto(struct tmx_plot *p, const struct tmx_result_set *set, struct tmx_err *err)
{
    const size_t slowdown = tmx_result_find(set->metric, set->n_metric, "slowdown_pct");
    const size_t energy = tmx_result_find(set->metric, set->n_metric, "energy_j");
    if (slowdown == set->n_metric || energy == set->n_metric) {
        return TMX_OK;
    }
    struct tmx_pareto_point *point = malloc((set->n_run + 1) * sizeof *point);
    if (!point) {
        return tmx_no_memory(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < set->n_run; i++) {
        const struct tmx_result *r = &set->run[i];
        if (r->done) {
            point[n++] = (struct tmx_pareto_point){"", r->metric[slowdown], r->metric[energy] / 1000};
        }
    }
    const enum tmx_status st = n > 1 ? tmx_plot_pareto(p, point, n, false, err) : TMX_OK;
    free(point);
    return st;
}

/* One metric against one key, by a key that was asked for or that suits. */
static enum tmx_status draw_one(struct tmx_plot *p, const struct tmx_result_set *set,
                                const struct tmx_study_axes *asked, const char *x, const char *y,
                                struct tmx_err *err)
{
    struct tmx_study_axes a = *asked;
    enum tmx_status st = TMX_OK;
    a.x = x;
    a.y = y;
    if (!a.by) {
        st = choose_by(set, &a, x, y, &a.by, err);
    }
    return st ? st : draw(p, set, &a, err);
}

/* Names as the study has them; TMX_ECONFIG for one it has not. */
static enum tmx_status find_axes(const struct tmx_result_set *set, struct tmx_study_axes *a,
                                 struct tmx_err *err)
{
    size_t i = 0;
    enum tmx_status st = a->x ? tmx_key_index(set, a->x, &i, err) : TMX_OK;
    a->x = a->x && !st ? set->key[i] : a->x;
    st = st || !a->by ? st : tmx_key_index(set, a->by, &i, err);
    a->by = a->by && !st ? set->key[i] : a->by;
    st = st || !a->y ? st : tmx_metric_index(set, a->y, &i, err);
    a->y = a->y && !st ? set->metric[i] : a->y;
    return st;
}

enum tmx_status tmx_plot_study(struct tmx_plot *p, const char *db_path, const struct tmx_study_axes *axes,
                               struct tmx_err *err)
{
    struct tmx_result_set set;
    struct tmx_study_axes a = *axes;
    enum tmx_status st = tmx_results_load(&set, db_path, axes->which, err);
    if (st) {
        return st;
    }
    tmx_results_note(&set, stderr);
    st = find_axes(&set, &a, err);
    const char *only = p->only;
    char one[MAX_NAME];
    if (!st && a.x && a.y) { /* that is one figure, by its keys' own names */
        figure_name(&set, a.y, a.x, one);
        p->only = one;
    }
    st = st ? st : tmx_plot_folder(p, err);
    for (size_t k = 0; k < set.n_key && !st; k++) {
        if (a.x ? strcmp(a.x, set.key[k]) != 0 : set.n_key > 1 && tmx_is_seed(set.key[k])) {
            continue; /* seeds are repetitions, no axis, unless asked for */
        }
        for (size_t m = 0; m < sizeof metrics / sizeof metrics[0] && !st && !a.y; m++) {
            if (tmx_result_find(set.metric, set.n_metric, metrics[m]) < set.n_metric) {
                st = draw_one(p, &set, &a, set.key[k], metrics[m], err);
            }
        }
        if (a.y && !st) {
            st = draw_one(p, &set, &a, set.key[k], a.y, err);
        }
    }
    if (!st && !a.y && !a.x) {
        st = pareto(p, &set, err);
    }
    p->only = only;
    tmx_result_set_finish(&set);
    return st;
}
