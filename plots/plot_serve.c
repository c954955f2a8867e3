/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/csv.h"
#include "run/summary.h"

enum { MAX_BINS = 600, MAX_ROWS = 4 }; /* of more rows those with the highest peaks are drawn */

/* A column of numbers; NAN: the cell is none, or the file has no such column. */
static double cell(const struct tmx_csv *csv, size_t row, size_t column)
{
    double v;
    return column < csv->n_column && tmx_csv_real(csv, row, column, &v) ? v : NAN;
}

/* ---- latencies ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Points of a curve: `slower_pct` of the requests take longer. Close together where few are left. */
static void put_curve(struct tmx_table *t, const char *what, const char *class_of, double *v, size_t n)
{
    enum { POINTS = 160 };
    size_t last = SIZE_MAX;
    qsort(v, n, sizeof *v, ascending);
    for (size_t i = 0; i <= POINTS && n > 0; i++) {
        const double slower = pow((double)n, -(double)i / POINTS); /* 1 down to one request */
        const size_t k = (size_t)fmin((double)n - 1, round((double)n * (1 - slower)));
        if (k != last) {
            tmx_table_text(t, what);
            tmx_table_text(t, class_of);
            tmx_table_real(t, v[k]);
            tmx_table_real(t, 100 * (double)(n - k) / (double)n);
        }
        last = k;
    }
}

static double latency(const struct tmx_csv *csv, size_t r, size_t what)
{
    const double ttft_s = cell(csv, r, tmx_csv_column(csv, "ttft_s")),
                 e2e_s = cell(csv, r, tmx_csv_column(csv, "e2e_s")),
                 output = cell(csv, r, tmx_csv_column(csv, "output_tokens"));
    return what == 0 ? ttft_s : what == 1 ? (output > 1 ? (e2e_s - ttft_s) / (output - 1) : NAN) : e2e_s;
}

static enum tmx_status draw_latency(struct tmx_plot *p, const struct tmx_csv *csv, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"latency", TMX_COLUMN_TEXT, 0},
                                                {"class", TMX_COLUMN_TEXT, 0},
                                                {"seconds", TMX_COLUMN_REAL, 4},
                                                {"slower_pct", TMX_COLUMN_REAL, 4}};
    static const char *const whats[] = {"ttft", "tbt", "e2e"}, *const classes[] = {"high", "low"};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 4, err);
    double *v = calloc(csv->n_row + 1, sizeof *v);
    const size_t class_of = tmx_csv_column(csv, "class");
    size_t n_class[2] = {0, 0}, drawn = 0;
    st = st || v ? st : tmx_no_memory(err);
    for (size_t r = 0; !st && r < csv->n_row; r++) {
        n_class[class_of < csv->n_column && strcmp(tmx_csv_cell(csv, r, class_of), "low") == 0]++;
    }
    for (size_t what = 0; what < 3; what++) {
        for (size_t c = 0; !st && c < 2; c++) {
            size_t n = 0;
            for (size_t r = 0; r < csv->n_row && n_class[c] > 0; r++) {
                const double s = latency(csv, r, what);
                const bool low =
                    class_of < csv->n_column && strcmp(tmx_csv_cell(csv, r, class_of), "low") == 0;
                if (low == (c == 1) && isfinite(s) && s > 0) {
                    v[n++] = s;
                }
            }
            put_curve(t, whats[what], classes[c], v, n);
            drawn += n;
        }
    }
    if (!st && drawn > 0) {
        tmx_plot_number(p, "classes", n_class[0] > 0 && n_class[1] > 0 ? 2 : 1);
        st = tmx_plot_data(p, "latency", "", t, err);
        st = st ? st : tmx_plot_draw(p, "latency", "latency", err);
    }
    free(v);
    tmx_table_destroy(t);
    return st;
}

/* ---- temperature by place ---- */

static enum tmx_status draw_places(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"gpu", TMX_COLUMN_INT, 0},
                                                {"peak_temp_c", TMX_COLUMN_REAL, 2},
                                                {"peak_memory_c", TMX_COLUMN_REAL, 2},
                                                {"mean_inlet_c", TMX_COLUMN_REAL, 2}};
    struct tmx_csv csv = {0};
    struct tmx_table *t = NULL;
    char path[TMX_PATH_SIZE];
    bool dies = false, memory = false;
    enum tmx_status st = tmx_path_join(path, run_dir, "gpus.csv", err);
    st = st ? st : tmx_csv_read(&csv, path, err);
    st = st ? st : tmx_table_create(&t, columns, 4, err);
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        tmx_table_int(t, (int64_t)r);
        for (size_t c = 1; c < 4; c++) {
            tmx_table_real_or_empty(t, cell(&csv, r, tmx_csv_column(&csv, columns[c].name)));
        }
        dies |= isfinite(cell(&csv, r, tmx_csv_column(&csv, "peak_temp_c")));
        memory |= isfinite(cell(&csv, r, tmx_csv_column(&csv, "peak_memory_c")));
    }
    if (!st && dies) { /* else dies were not computed */
        tmx_plot_number(p, "memory", memory);
        st = tmx_plot_data(p, "places", "", t, err);
        st = st ? st : tmx_plot_draw(p, "places", "places", err);
    }
    tmx_table_destroy(t);
    tmx_csv_finish(&csv);
    return st;
}

/* ---- rows over time ---- */

enum { TIME, POWER, BUDGET, HIGH, LOW, CAPPED, BRAKED, HOTTEST, MEMORY, INLET, N_OF_ROW };
static const char *const of_row[N_OF_ROW] = {"time_s",     "power_w", "budget_w",  "high_mhz", "low_mhz",
                                             "capped_pct", "braked",  "hottest_c", "memory_c", "inlet_c"};

struct rows {
    struct tmx_csv csv;
    size_t column[N_OF_ROW], row, n_row;
};

static bool is_row(const struct rows *f, size_t r, size_t row)
{
    return cell(&f->csv, r, f->row) == (double)row;
}

/* At most MAX_BINS points: means, and of power and temperatures also the extremes. */
static enum tmx_status bin_row(struct tmx_plot *p, const struct rows *f, size_t row, const char *name,
                               struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"time_s", TMX_COLUMN_REAL, 3},     {"mean_w", TMX_COLUMN_REAL, 1},
        {"least_w", TMX_COLUMN_REAL, 1},    {"most_w", TMX_COLUMN_REAL, 1},
        {"high_mhz", TMX_COLUMN_REAL, 1},   {"low_mhz", TMX_COLUMN_REAL, 1},
        {"capped_pct", TMX_COLUMN_REAL, 2}, {"braked", TMX_COLUMN_REAL, 3},
        {"hottest_c", TMX_COLUMN_REAL, 2},  {"memory_c", TMX_COLUMN_REAL, 2},
        {"inlet_c", TMX_COLUMN_REAL, 2}};
    const size_t n = f->csv.n_row / f->n_row, stride = (n + MAX_BINS - 1) / MAX_BINS;
    double sum[N_OF_ROW] = {0}, least_w = INFINITY, most_w = -INFINITY, most_c[N_OF_ROW];
    struct tmx_table *t = NULL;
    size_t in = 0, seen = 0;
    enum tmx_status st = tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; i < N_OF_ROW; i++) {
        most_c[i] = NAN;
    }
    for (size_t r = 0; !st && r < f->csv.n_row; r++) {
        if (!is_row(f, r, row)) {
            continue;
        }
        for (size_t i = 0; i < N_OF_ROW; i++) {
            const double v = cell(&f->csv, r, f->column[i]);
            sum[i] += v;
            most_c[i] = fmax(most_c[i], v);
        }
        least_w = fmin(least_w, cell(&f->csv, r, f->column[POWER]));
        most_w = fmax(most_w, cell(&f->csv, r, f->column[POWER]));
        if (++in < stride && ++seen < n) {
            continue;
        }
        tmx_table_real_or_empty(t, most_c[TIME]);
        tmx_table_real_or_empty(t, sum[POWER] / (double)in);
        tmx_table_real_or_empty(t, least_w);
        tmx_table_real_or_empty(t, most_w);
        for (size_t i = HIGH; i <= BRAKED; i++) {
            tmx_table_real_or_empty(t, sum[i] / (double)in);
        }
        for (size_t i = HOTTEST; i < N_OF_ROW; i++) {
            tmx_table_real_or_empty(t, most_c[i]);
        }
        for (size_t i = 0; i < N_OF_ROW; i++) {
            sum[i] = 0;
            most_c[i] = NAN;
        }
        least_w = INFINITY;
        most_w = -INFINITY;
        in = 0;
    }
    st = st ? st : tmx_plot_data(p, name, "", t, err);
    tmx_table_destroy(t);
    return st;
}

/* What a column has anywhere; NAN: nothing. */
static double most(const struct rows *f, size_t row, int what)
{
    double v = NAN;
    for (size_t r = 0; r < f->csv.n_row; r++) {
        v = is_row(f, r, row) ? fmax(v, cell(&f->csv, r, f->column[what])) : v;
    }
    return v;
}

/* The row policy's thresholds as shares of the budget, by their keys; nothing where it has none. */
static enum tmx_status put_thresholds(struct tmx_plot *p, const char *run_dir, double budget_w,
                                      struct tmx_err *err)
{
    static const char *const keys[] = {"t1", "t2", "target"};
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_path_join(path, run_dir, "resolved.cfg", err);
    st = st ? st : tmx_config_open(&cfg, path, err);
    const struct tmx_setting *row = st ? NULL : tmx_config_find(cfg, "row");
    for (size_t i = 0; row && budget_w > 0 && i < sizeof keys / sizeof keys[0]; i++) {
        const struct tmx_setting *s = tmx_setting_member(row, keys[i]);
        double share;
        if (s && tmx_setting_real(s, &share)) {
            tmx_plot_label(p, "name", keys[i]);
            tmx_plot_number(p, "threshold_w", share * budget_w);
        }
    }
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status draw_row(struct tmx_plot *p, const struct rows *f, const char *run_dir, size_t row,
                                struct tmx_err *err)
{
    char name[48] = "row_power", title[80] = "The row";
    const double budget_w = most(f, row, BUDGET);
    if (f->n_row > 1) {
        snprintf(name, sizeof name, "row_power_row%zu", row);
        snprintf(title, sizeof title, "Row %zu", row);
    }
    enum tmx_status st = bin_row(p, f, row, name, err);
    tmx_plot_label(p, "title", title);
    tmx_plot_number(p, "budget_w", budget_w);
    tmx_plot_number(p, "binned", f->csv.n_row / f->n_row > MAX_BINS);
    tmx_plot_number(p, "slowed", most(f, row, CAPPED) > 0 || most(f, row, BRAKED) > 0);
    tmx_plot_number(p, "braked", most(f, row, BRAKED) > 0);
    tmx_plot_number(p, "high", isfinite(most(f, row, HIGH)));
    tmx_plot_number(p, "low", isfinite(most(f, row, LOW)));
    tmx_plot_number(p, "heat", isfinite(most(f, row, HOTTEST)));
    tmx_plot_number(p, "memory", isfinite(most(f, row, MEMORY)));
    st = st ? st : put_thresholds(p, run_dir, budget_w, err);
    return st ? st : tmx_plot_draw(p, "row_power", name, err);
}

static enum tmx_status draw_rows(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    struct rows f = {.n_row = 0};
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_path_join(path, run_dir, "rows.csv", err);
    if (st || !tmx_os_exists(path)) {
        return st;
    }
    st = tmx_csv_read(&f.csv, path, err);
    if (!st) {
        f.row = tmx_csv_column(&f.csv, "row");
        for (size_t i = 0; i < N_OF_ROW && !st; i++) {
            f.column[i] = tmx_csv_column(&f.csv, of_row[i]);
            st = f.column[i] < f.csv.n_column && f.row < f.csv.n_column
                     ? TMX_OK
                     : tmx_fail_at(err, TMX_EPARSE, path, 1, "no column %s", of_row[i]);
        }
        for (size_t r = 0; r < f.csv.n_row; r++) {
            f.n_row = (size_t)fmax((double)f.n_row, cell(&f.csv, r, f.row) + 1);
        }
    }
    double *peak = calloc(f.n_row + 1, sizeof *peak);
    st = st || peak ? st : tmx_no_memory(err);
    for (size_t k = 0; !st && k < f.n_row; k++) {
        peak[k] = most(&f, k, POWER);
    }
    for (size_t k = 0; !st && k < f.n_row; k++) {
        size_t higher = 0;
        for (size_t i = 0; i < f.n_row; i++) {
            higher += peak[i] > peak[k] || (peak[i] == peak[k] && i < k);
        }
        if (p->only || higher < MAX_ROWS) {
            st = draw_row(p, &f, run_dir, k, err);
        }
    }
    free(peak);
    tmx_csv_finish(&f.csv);
    return st;
}

enum tmx_status tmx_plot_serve(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    struct tmx_csv requests = {0};
    char path[TMX_PATH_SIZE];
    bool partial;
    enum tmx_status st = tmx_path_join(path, run_dir, "requests.csv", err);
    if (st || !tmx_os_exists(path)) {
        return st;
    }
    st = tmx_run_folder_check(run_dir, &partial, err);
    st = st ? st : tmx_csv_read(&requests, path, err);
    st = st ? st : tmx_plot_folder(p, err);
    st = st ? st : draw_rows(p, run_dir, err);
    st = st ? st : draw_latency(p, &requests, err);
    st = st ? st : draw_places(p, run_dir, err);
    tmx_csv_finish(&requests);
    return st;
}

/* ---- the table of a suite that serves ---- */

enum { MAX_NAMES = 32 };

struct suite {
    struct tmx_csv csv;
    size_t policy, variant;
    const char *name[2][MAX_NAMES]; /* of policies and of variants, in the table's order */
    size_t n[2];
    bool numbers; /* variants begin with a number, and its words are the same: a load */
};

static void add_name(struct suite *s, int what, const char *name)
{
    size_t i = 0;
    while (i < s->n[what] && strcmp(s->name[what][i], name) != 0) {
        i++;
    }
    if (i == s->n[what] && i < MAX_NAMES) {
        s->name[what][s->n[what]++] = name;
    }
}

/* "+30 %, a week" is 30 and " %, a week"; false: there is no number in front. */
static bool number_of(const char *name, double *v, const char **words)
{
    char *end;
    *v = strtod(name + (name[0] == '\''), &end); /* in front of a formula there is a ' */
    *words = end;
    return end > name && isfinite(*v);
}

static enum tmx_status read_suite(struct suite *s, const char *folder, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_path_join(path, folder, "table.csv", err);
    st = st ? st : tmx_csv_read(&s->csv, path, err);
    if (st) {
        return st;
    }
    s->policy = tmx_csv_column(&s->csv, "policy");
    s->variant = tmx_csv_column(&s->csv, "variant");
    if (tmx_csv_column(&s->csv, "ttft_p99_s") == s->csv.n_column || s->policy == s->csv.n_column ||
        s->variant == s->csv.n_column) {
        return TMX_OK; /* of something else */
    }
    for (size_t r = 0; r < s->csv.n_row; r++) {
        add_name(s, 0, tmx_csv_cell(&s->csv, r, s->policy));
        add_name(s, 1, tmx_csv_cell(&s->csv, r, s->variant));
    }
    s->numbers = s->n[1] > 1;
    for (size_t v = 0; v < s->n[1]; v++) {
        double x;
        const char *words;
        s->numbers = s->numbers && number_of(s->name[1][v], &x, &words);
    }
    return TMX_OK;
}

static double at(const struct suite *s, size_t variant, size_t policy, const char *column)
{
    for (size_t r = 0; r < s->csv.n_row; r++) {
        if (strcmp(tmx_csv_cell(&s->csv, r, s->policy), s->name[0][policy]) == 0 &&
            strcmp(tmx_csv_cell(&s->csv, r, s->variant), s->name[1][variant]) == 0) {
            const double v = cell(&s->csv, r, tmx_csv_column(&s->csv, column));
            return strncmp(column, "peak_", 5) == 0 && v <= 0 ? NAN : v; /* no dies, no memory */
        }
    }
    return NAN;
}

/* A row a variant, a column a policy for each of these metrics. */
static enum tmx_status put_variants(struct tmx_plot *p, const struct suite *s, const char *figure,
                                    const char *const *metric, size_t n_metric, bool *any,
                                    struct tmx_err *err)
{
    struct tmx_column columns[4 * MAX_NAMES + 1] = {
        {"variant", s->numbers ? TMX_COLUMN_REAL : TMX_COLUMN_TEXT, 2}};
    char name[4 * MAX_NAMES][160];
    struct tmx_table *t = NULL;
    const size_t n = s->n[0] * n_metric;
    tmx_assert(n_metric <= 4);
    for (size_t c = 0; c < n; c++) {
        snprintf(name[c], sizeof name[c], "%.80s%s%s", s->name[0][c / n_metric], n_metric > 1 ? "." : "",
                 n_metric > 1 ? metric[c % n_metric] : "");
        columns[c + 1] = (struct tmx_column){name[c], TMX_COLUMN_REAL, 4};
    }
    enum tmx_status st = tmx_table_create(&t, columns, n + 1, err);
    for (size_t v = 0; !st && v < s->n[1]; v++) {
        double x = 0;
        const char *words = "";
        if (s->numbers && number_of(s->name[1][v], &x, &words)) {
            tmx_table_real(t, x);
        } else {
            tmx_table_text(t, s->n[1] > 1 ? s->name[1][v] : "");
        }
        if (v == 0) {
            char unit[40];
            words += strspn(words, " ");
            snprintf(unit, sizeof unit, "%.*s", (int)strcspn(words, ","), words);
            tmx_plot_label(p, "unit", unit);
        }
        for (size_t c = 0; c < n; c++) {
            const double y = at(s, v, c / n_metric, metric[c % n_metric]);
            *any |= isfinite(y);
            tmx_table_real_or_empty(t, y);
        }
    }
    for (size_t i = 0; i < s->n[0]; i++) {
        tmx_plot_label(p, "name", s->name[0][i]);
    }
    tmx_plot_number(p, "n_group", (double)s->n[1]);
    st = st ? st : tmx_plot_data(p, figure, "", t, err);
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status draw_load(struct tmx_plot *p, const struct suite *s, struct tmx_err *err)
{
    static const char *const metrics[] = {"ttft_p50_s", "ttft_p99_s", "tbt_p50_s", "tbt_p99_s"};
    bool any = false;
    const enum tmx_status st = put_variants(p, s, "latency_load", metrics, 4, &any, err);
    return st || !any ? st : tmx_plot_draw(p, "serve_load", "latency_load", err);
}

/* One metric as bars: a group a variant. */
static enum tmx_status draw_bars(struct tmx_plot *p, const struct suite *s, const char *metric,
                                 const char *title, const char *y, struct tmx_err *err)
{
    bool any = false;
    const enum tmx_status st = put_variants(p, s, metric, &metric, 1, &any, err);
    if (st || !any) {
        tmx_plot_drop(p);
        return st;
    }
    tmx_plot_label(p, "title", title);
    tmx_plot_label(p, "y", y);
    return tmx_plot_draw(p, "quantity", metric, err);
}

struct served {
    size_t policy, variant;
    double ttft_s, j_per_token;
};

static int by_ttft(const void *a, const void *b)
{
    const struct served *x = a, *y = b;
    return x->ttft_s != y->ttft_s ? (x->ttft_s > y->ttft_s) - (x->ttft_s < y->ttft_s)
                                  : (x->j_per_token > y->j_per_token) - (x->j_per_token < y->j_per_token);
}

/* Joules a token over the first token. Where the variants are a load, what no other beats in both is joined.
 */
static enum tmx_status draw_pareto(struct tmx_plot *p, const struct suite *s, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"policy", TMX_COLUMN_TEXT, 0},       {"variant", TMX_COLUMN_TEXT, 0},
        {"policy_number", TMX_COLUMN_INT, 0}, {"variant_number", TMX_COLUMN_INT, 0},
        {"ttft_p99_s", TMX_COLUMN_REAL, 4},   {"j_per_token", TMX_COLUMN_REAL, 3}};
    struct tmx_table *t[2] = {NULL, NULL};
    struct served *point = calloc(s->n[0] * s->n[1] + 1, sizeof *point);
    size_t n = 0;
    double best = INFINITY;
    enum tmx_status st = point ? tmx_table_create(&t[0], columns, 6, err) : tmx_no_memory(err);
    st = st ? st : tmx_table_create(&t[1], columns, 6, err);
    for (size_t i = 0; !st && i < s->n[0] * s->n[1]; i++) {
        struct served q = {i / s->n[1], i % s->n[1], 0, 0};
        q.ttft_s = at(s, q.variant, q.policy, "ttft_p99_s");
        q.j_per_token = at(s, q.variant, q.policy, "j_per_token");
        if (q.ttft_s > 0 && q.j_per_token > 0) {
            point[n++] = q;
        }
    }
    qsort(point, n, sizeof *point, by_ttft);
    for (size_t i = 0; !st && i < n; i++) {
        const struct served *q = &point[i];
        const bool front = s->numbers && q->j_per_token < best;
        best = fmin(best, q->j_per_token);
        for (size_t k = 0; k < (front ? 2 : 1); k++) {
            tmx_table_text(t[k], s->name[0][q->policy]);
            tmx_table_text(t[k], s->name[1][q->variant]);
            tmx_table_int(t[k], (int64_t)q->policy + 1);
            tmx_table_int(t[k], (int64_t)q->variant + 1);
            tmx_table_real(t[k], q->ttft_s);
            tmx_table_real(t[k], q->j_per_token);
        }
    }
    for (size_t i = 0; i < s->n[0]; i++) {
        tmx_plot_label(p, "name", s->name[0][i]);
    }
    for (size_t v = 0; v < s->n[1] && s->n[1] > 1 && !s->numbers; v++) {
        tmx_plot_label(p, "variant", s->name[1][v]);
    }
    tmx_plot_number(p, "n_variant", s->n[1] > 1 && !s->numbers ? (double)s->n[1] : 0);
    tmx_plot_number(p, "n_front", st ? 0 : (double)tmx_table_rows(t[1]));
    if (!st && n > 0) {
        st = tmx_plot_data(p, "pareto", "", t[0], err);
        st = st ? st : tmx_plot_data(p, "pareto", "_front", t[1], err);
        st = st ? st : tmx_plot_draw(p, "serve_pareto", "pareto", err);
    } else {
        tmx_plot_drop(p);
    }
    tmx_table_destroy(t[0]);
    tmx_table_destroy(t[1]);
    free(point);
    return st;
}

enum tmx_status tmx_plot_serve_suite(struct tmx_plot *p, const char *folder, struct tmx_err *err)
{
    static const struct {
        const char *metric, *title, *y;
        bool load; /* also where latencies are drawn over the load */
    } bars[] = {{"ttft_p99_s", "First token, slowest hundredth", "time (s)", false},
                {"e2e_p50_s", "Whole request, median", "time (s)", false},
                {"peak_temp_c", "Hottest die", "peak temperature (°C)", true},
                {"peak_memory_c", "Hottest memory", "peak temperature (°C)", true}};
    struct suite s = {.numbers = false};
    enum tmx_status st = read_suite(&s, folder, err);
    if (!st && s.n[0] > 0) {
        st = tmx_plot_folder(p, err);
        st = st || !s.numbers ? st : draw_load(p, &s, err);
        for (size_t i = 0; i < sizeof bars / sizeof bars[0] && !st; i++) {
            st = s.numbers && !bars[i].load ? TMX_OK
                                            : draw_bars(p, &s, bars[i].metric, bars[i].title, bars[i].y, err);
        }
        st = st ? st : draw_pareto(p, &s, err);
    }
    tmx_csv_finish(&s.csv);
    return st;
}
