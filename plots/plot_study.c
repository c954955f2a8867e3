/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures from a study's database: each metric against each axis, and slowdown against energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/os.h"
#include "core/base/text.h"
#include "plots/plot.h"
#include "study/pivot.h"

enum { MAX_NAME = 160, MAX_VARS = 8000 };

static const char *const metrics[] = {"slowdown_pct", "peak_temp_c", "mean_temp_c", "energy_j"};

static int by_slowdown(const void *a, const void *b)
{
    const struct tmx_pareto_point *x = a, *y = b;
    return x->slowdown_pct != y->slowdown_pct
               ? (x->slowdown_pct > y->slowdown_pct) - (x->slowdown_pct < y->slowdown_pct)
               : (x->energy_kj > y->energy_kj) - (x->energy_kj < y->energy_kj);
}

enum tmx_status tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n, bool names,
                                struct tmx_err *err)
{
    char path[1200];
    struct tmx_output o;
    double best = INFINITY;
    tmx_plot_data_path(p, "pareto", path, sizeof path);
    const enum tmx_status st = tmx_output_open(&o, path, err);
    if (st) {
        return st;
    }
    qsort(point, n, sizeof *point, by_slowdown);
    fprintf(o.file, "name,slowdown_pct,energy_kj\n");
    for (size_t i = 0; i < n; i++) {
        tmx_csv_text(point[i].name, o.file);
        fprintf(o.file, ",%.10g,%.10g\n", point[i].slowdown_pct, point[i].energy_kj);
    }
    fprintf(o.file, "\n\n"); /* gnuplot: the next block */
    for (size_t i = 0; i < n; i++) {
        if (point[i].energy_kj < best) {
            best = point[i].energy_kj;
            tmx_csv_text(point[i].name, o.file);
            fprintf(o.file, ",%.10g,%.10g\n", point[i].slowdown_pct, point[i].energy_kj);
        }
    }
    char vars[MAX_VARS] = "names='";
    size_t used = strlen(vars);
    for (size_t i = 0; i < n && names && used + 200 < sizeof vars; i++) {
        char quoted[80];
        tmx_plot_quote(point[i].name, quoted, sizeof quoted);
        for (const char *c = quoted + 1; c[1];
             c++) { /* gnuplot's words() ends at a blank; this one it shows */
            used += (size_t)snprintf(vars + used, sizeof vars - used, *c == ' ' ? "\u00a0" : "%c", *c);
        }
        used += (size_t)snprintf(vars + used, sizeof vars - used, " ");
    }
    snprintf(vars + used, sizeof vars - used, "'");
    const enum tmx_status end = tmx_output_commit(&o, err);
    return end ? end : tmx_plot_draw(p, "pareto", "pareto", vars, err);
}

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* The three aggregates of one metric against one key, side by side. */
static enum tmx_status curve(const struct tmx_result_set *set, const char *key, const char *metric,
                             struct tmx_table **out, bool *is_text, struct tmx_err *err)
{
    static const enum tmx_aggregate how[] = {TMX_MEAN, TMX_MIN, TMX_MAX};
    static const struct tmx_column columns[] = {{"value", TMX_COLUMN_TEXT, 0},
                                                {"mean", TMX_COLUMN_REAL, 4},
                                                {"min", TMX_COLUMN_REAL, 4},
                                                {"max", TMX_COLUMN_REAL, 4}};
    struct tmx_table *t[3] = {NULL};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < 3 && !st; i++) {
        const struct tmx_query q = {.rows = {key}, .value = {metric}, .aggregate = how[i]};
        st = tmx_pivot(set, &q, &t[i], err);
    }
    st = st ? st : tmx_table_create(out, columns, 4, err);
    *is_text = false;
    for (size_t r = 0; !st && r < tmx_table_rows(t[0]); r++) {
        const char *v = tmx_table_cell(t[0], r, 0)->text;
        double number;
        *is_text = *is_text || !tmx_span_real((struct tmx_span){v, v + strlen(v)}, &number);
        tmx_table_text(*out, v);
        for (size_t i = 0; i < 3; i++) {
            tmx_table_real(*out, tmx_table_cell(t[i], r, 1)->real);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        tmx_table_destroy(t[i]);
    }
    return st;
}

static enum tmx_status draw_curve(struct tmx_plot *p, const struct tmx_result_set *set, const char *key,
                                  const char *metric, struct tmx_err *err)
{
    char name[MAX_NAME], vars[MAX_VARS];
    struct tmx_table *t = NULL;
    bool is_text = false;
    enum tmx_status st = curve(set, key, metric, &t, &is_text, err);
    snprintf(name, sizeof name, "%s_by_%s", metric, last_part(key));
    if (!st && tmx_table_rows(t) > 1) {
        char x_text[200], y_text[200];
        snprintf(vars, sizeof vars, "x_text=%s; y_text=%s; is_text=%d",
                 tmx_plot_quote(key, x_text, sizeof x_text), tmx_plot_quote(metric, y_text, sizeof y_text),
                 is_text);
        st = tmx_plot_data(p, name, t, err);
        st = st ? st : tmx_plot_draw(p, "sensitivity", name, vars, err);
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
        return tmx_fail(err, TMX_ENOMEM, "out of memory");
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

enum tmx_status tmx_plot_study(struct tmx_plot *p, const char *db_path, struct tmx_err *err)
{
    struct tmx_result_set set;
    enum tmx_status st = tmx_results_load(&set, db_path, TMX_RESULTS_POINTS, err);
    if (st) {
        return st;
    }
    tmx_results_note(&set, stderr);
    st = tmx_plot_folder(p, err);
    for (size_t k = 0; k < set.n_key && !st; k++) {
        for (size_t m = 0; m < sizeof metrics / sizeof metrics[0] && !st; m++) {
            if (tmx_result_find(set.metric, set.n_metric, metrics[m]) < set.n_metric) {
                st = draw_curve(p, &set, set.key[k], metrics[m], err);
            }
        }
    }
    st = st ? st : pareto(p, &set, err);
    tmx_result_set_finish(&set);
    return st;
}
