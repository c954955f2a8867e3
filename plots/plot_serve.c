/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/summary.h"

enum { MAX_BINS = 600, MAX_ROWS = 4 }; /* of more rows those with the highest peaks are drawn */

/* ---- latencies ---- */

/* Points of a curve: `slower_pct` of the requests take longer. Close together where few are left. */
static void put_curve(struct tmx_table *t, const char *what, const char *class_of, double *v, size_t n)
{
    enum { POINTS = 160 };
    size_t last = SIZE_MAX;
    qsort(v, n, sizeof *v, tmx_real_compare);
    for (size_t i = 0; i <= POINTS && n > 0; i++) {
        const double slower = pow((double)n, -(double)i / POINTS); /* 1 down to one request */
        const size_t k = (size_t)fmin((double)n - 1, round((double)n * (1 - slower)));
        if (k != last) {
            tmx_table_row(t, "%s %s %g %g", what, class_of, v[k], 100 * (double)(n - k) / (double)n);
        }
        last = k;
    }
}

static double latency(const struct tmx_csv *csv, size_t r, size_t what)
{
    const double ttft_s = tmx_csv_value_at(csv, r, "ttft_s"), e2e_s = tmx_csv_value_at(csv, r, "e2e_s"),
                 output = tmx_csv_value_at(csv, r, "output_tokens");
    return what == 0 ? ttft_s : what == 1 ? (output > 1 ? (e2e_s - ttft_s) / (output - 1) : NAN) : e2e_s;
}

static void draw_latency(struct tmx_plot *p, const struct tmx_csv *csv)
{
    static const char *const whats[] = {"ttft", "tbt", "e2e"}, *const classes[] = {"high", "low"};
    struct tmx_table *t = tmx_table_of("latency class seconds:4 slower_pct:4");
    double *v = calloc(csv->n_row + 1, sizeof *v);
    const size_t class_of = tmx_csv_column(csv, "class");
    size_t n_class[2] = {0, 0};
    tmx_memory_check(v, p->err);
    for (size_t r = 0; r < csv->n_row; r++) {
        n_class[class_of < csv->n_column && strcmp(tmx_csv_cell(csv, r, class_of), "low") == 0]++;
    }
    for (size_t i = 0; i < 6 && v; i++) {
        const size_t what = i / 2, c = i % 2;
        size_t n = 0;
        for (size_t r = 0; r < csv->n_row && n_class[c] > 0; r++) {
            const double s = latency(csv, r, what);
            const bool low = class_of < csv->n_column && strcmp(tmx_csv_cell(csv, r, class_of), "low") == 0;
            if (low == (c == 1) && isfinite(s) && s > 0) {
                v[n++] = s;
            }
        }
        put_curve(t, whats[what], classes[c], v, n);
    }
    free(v);
    tmx_plot_number(p, "classes", n_class[0] > 0 && n_class[1] > 0 ? 2 : 1);
    tmx_plot_draw(p, "latency", "latency", t);
}

/* ---- temperature by place ---- */

static void draw_places(struct tmx_plot *p, const char *run_dir)
{
    struct tmx_csv csv;
    struct tmx_table *t = tmx_table_of("gpu:d peak_temp_c:2 peak_memory_c:2 mean_inlet_c:2");
    bool there[4] = {false};
    (void)tmx_plot_read(p, run_dir, "gpus.csv", true, &csv);
    for (size_t r = 0; !p->err->code && r < csv.n_row && t; r++) {
        tmx_table_row(t, "%zu", r);
        for (size_t c = 1; c < 4; c++) {
            const double v = tmx_csv_value_at(&csv, r, tmx_table_column(t, c)->name);
            tmx_table_real_or_empty(t, v);
            there[c] = there[c] || isfinite(v);
        }
    }
    if (there[1]) { /* else dies were not computed */
        tmx_plot_number(p, "memory", there[2]);
        tmx_plot_draw(p, "places", "places", t);
    } else {
        tmx_table_destroy(t);
    }
    tmx_csv_finish(&csv);
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
    return tmx_csv_value(&f->csv, r, f->row) == (double)row;
}

/* At most MAX_BINS points: means, and of power and temperatures also the extremes. */
static struct tmx_table *bin_row(const struct rows *f, size_t row)
{
    const size_t n = f->csv.n_row / f->n_row, stride = (n + MAX_BINS - 1) / MAX_BINS;
    double sum[N_OF_ROW] = {0}, least_w = INFINITY, most[N_OF_ROW] = {0};
    struct tmx_table *t = tmx_table_of("time_s:3 mean_w:1 least_w:1 most_w:1 high_mhz:1 low_mhz:1 "
                                       "capped_pct:2 braked:3 hottest_c:2 memory_c:2 inlet_c:2");
    size_t in = 0, seen = 0;
    for (size_t r = 0; r < f->csv.n_row; r++) {
        if (!is_row(f, r, row)) {
            continue;
        }
        for (size_t i = 0; i < N_OF_ROW; i++) {
            const double v = tmx_csv_value(&f->csv, r, f->column[i]);
            sum[i] = (in == 0 ? 0 : sum[i]) + v;
            most[i] = in == 0 ? v : fmax(most[i], v);
        }
        least_w = fmin(in == 0 ? INFINITY : least_w, tmx_csv_value(&f->csv, r, f->column[POWER]));
        in++;
        if (++seen < n && in < stride) {
            continue;
        }
        tmx_table_row(t, "%G %G %G %G", most[TIME], sum[POWER] / (double)in, least_w, most[POWER]);
        for (size_t i = HIGH; i < N_OF_ROW; i++) {
            tmx_table_real_or_empty(t, i < HOTTEST ? sum[i] / (double)in : most[i]);
        }
        in = 0;
    }
    return t;
}

/* What a column has anywhere; NAN: nothing. */
static double most(const struct rows *f, size_t row, int what)
{
    double v = NAN;
    for (size_t r = 0; r < f->csv.n_row; r++) {
        v = is_row(f, r, row) ? fmax(v, tmx_csv_value(&f->csv, r, f->column[what])) : v;
    }
    return v;
}

/* The row policy's thresholds as shares of the budget, by their keys; nothing where it has none. */
static void put_thresholds(struct tmx_plot *p, const char *run_dir, double budget_w)
{
    static const char *const keys[] = {"t1", "t2", "target"};
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    tmx_path_join(path, run_dir, "resolved.cfg", p->err);
    const bool open = !p->err->code && !tmx_config_open(&cfg, path, p->err);
    const struct tmx_setting *row = open ? tmx_config_find(cfg, "row") : NULL;
    for (size_t i = 0; row && budget_w > 0 && i < sizeof keys / sizeof keys[0]; i++) {
        const struct tmx_setting *s = tmx_setting_member(row, keys[i]);
        double share;
        if (s && tmx_setting_real(s, &share)) {
            tmx_plot_label(p, "name", keys[i]);
            tmx_plot_number(p, "threshold_w", share * budget_w);
        }
    }
    tmx_config_close(cfg);
}

static void draw_row(struct tmx_plot *p, const struct rows *f, const char *run_dir, size_t row)
{
    char name[48] = "row_power", title[80] = "The row";
    const double budget_w = most(f, row, BUDGET);
    if (f->n_row > 1) {
        snprintf(name, sizeof name, "row_power_row%zu", row);
        snprintf(title, sizeof title, "Row %zu", row);
    }
    tmx_plot_label(p, "title", title);
    tmx_plot_numbers(p, "budget_w binned slowed braked high low heat memory",
                     (double[]){budget_w, f->csv.n_row / f->n_row > MAX_BINS,
                                most(f, row, CAPPED) > 0 || most(f, row, BRAKED) > 0,
                                most(f, row, BRAKED) > 0, isfinite(most(f, row, HIGH)),
                                isfinite(most(f, row, LOW)), isfinite(most(f, row, HOTTEST)),
                                isfinite(most(f, row, MEMORY))});
    put_thresholds(p, run_dir, budget_w);
    tmx_plot_draw(p, "row_power", name, bin_row(f, row));
}

static void draw_rows(struct tmx_plot *p, const char *run_dir)
{
    struct rows f = {.n_row = 0};
    const bool there = tmx_plot_read(p, run_dir, "rows.csv", false, &f.csv);
    f.row = there ? tmx_csv_column(&f.csv, "row") : 0;
    for (size_t i = 0; i < N_OF_ROW && there; i++) {
        f.column[i] = tmx_csv_column(&f.csv, of_row[i]);
        if (f.column[i] == f.csv.n_column || f.row == f.csv.n_column) {
            tmx_error_at(p->err, TMX_EPARSE, f.csv.source, 1, "no column %s", of_row[i]);
        }
    }
    for (size_t r = 0; !p->err->code && r < f.csv.n_row; r++) {
        f.n_row = (size_t)fmax((double)f.n_row, tmx_csv_value(&f.csv, r, f.row) + 1);
    }
    if (f.n_row > MAX_ROWS && !p->only) {
        tmx_warn(
            "%s: of %zu rows the %d with the highest peaks are drawn; --figure row_power_rowN draws row N",
            f.csv.source, f.n_row, MAX_ROWS);
    }
    double *peak = calloc(f.n_row + 1, sizeof *peak);
    tmx_memory_check(peak, p->err);
    for (size_t k = 0; !p->err->code && k < f.n_row; k++) {
        peak[k] = most(&f, k, POWER);
    }
    for (size_t k = 0; !p->err->code && k < f.n_row; k++) {
        size_t higher = 0;
        for (size_t i = 0; i < f.n_row; i++) {
            higher += peak[i] > peak[k] || (peak[i] == peak[k] && i < k);
        }
        if (p->only || higher < MAX_ROWS) {
            draw_row(p, &f, run_dir, k);
        }
    }
    free(peak);
    tmx_csv_finish(&f.csv);
}

void tmx_plot_serve(struct tmx_plot *p, const char *run_dir)
{
    struct tmx_csv requests;
    bool partial;
    if (tmx_plot_read(p, run_dir, "requests.csv", false, &requests)) {
        (void)!tmx_run_folder_check(run_dir, &partial, p->err);
        tmx_plot_folder(p);
        draw_rows(p, run_dir);
        draw_latency(p, &requests);
        draw_places(p, run_dir);
    }
    tmx_csv_finish(&requests);
}
