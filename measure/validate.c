/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate.h"
#include "measure/replay.h"
#include "measure/validate_golden.h"
#include "measure/validate_watts.h"
#include "run/load/data.h"

static const char NODE[] = "b200_hgx8.csv.gz, MIT, hsucs2712/gpuburntool";
static const char PULSES[] = "MIT, JimZeyuYang/GPU_Power_Benchmark";

struct node_case {
    const char *what, *train, *test, *air;
    double bar_k;
};

/* The pairs of runs were chosen: docs/measure.md says among how many. */
static const struct node_case node_cases[] = {
    {"8 x B200, full fans", "0107_full_400w_fp64,0107_full_600w_tc", "*full*", "none", 0.8},
    {"8 x B200, automatic fans", "0108_auto_400w,0108_auto_1000w_tc", "0108_auto*", "auto", 1.2},
};

struct pulse_case {
    const char *what, *file;
    double bar_k;
};
static const struct pulse_case pulse_cases[] = {
    {"A100, square waves", "workloads/measured/pulses_A100.csv.gz", 0.6},
    {"RTX 3090, square waves", "workloads/measured/pulses_3090.csv.gz", 0.6},
};

struct claim {
    const char *what, *train, *source, *quantity;
    double ours, bar;
    const char *unit;
};

static void put(struct tmx_table *t, size_t *missed, const struct claim *c)
{
    const bool holds = c->ours <= c->bar;
    tmx_table_text(t, c->what);
    tmx_table_text(t, c->train);
    tmx_table_text(t, c->source);
    tmx_table_text(t, c->quantity);
    tmx_table_real(t, c->ours);
    tmx_table_real(t, c->bar);
    tmx_table_text(t, c->unit);
    tmx_table_text(t, holds ? "yes" : "no");
    *missed += !holds;
}

static enum tmx_status open_log(struct tmx_measured *m, const char *file, const char *runs,
                                struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_data_file(file, path, err);
    st = st ? st : tmx_measured_read(m, path, NULL, err);
    return st ? st : tmx_measured_select(m, runs, NULL, err);
}

/* GPUs 1, 2, 5 and 6 of the B200 node are the warmer ones. */
static bool rear(const char *gpu)
{
    return strchr("1256", gpu[0]) && !gpu[1];
}

/* Largest relative error of the difference between the rows over the runs, under load. */
static double row_difference_error(const struct tmx_replay *r, const struct tmx_measured *log)
{
    double worst = 0;
    for (size_t first = 0; first < r->n_row;) {
        double measured[2] = {0}, predicted[2] = {0}, n[2] = {0};
        size_t k = first;
        for (; k < r->n_row && r->row[k].run == r->row[first].run; k++) {
            const struct tmx_series *s = &log->series[r->series[k]];
            const size_t row = rear(log->gpu[s->gpu]);
            const double end = s->q[TMX_Q_TIME][s->n - 1];
            for (size_t i = 0; i < s->n; i++) {
                const double t = s->q[TMX_Q_TIME][i];
                if (t > 0.45 * end && t < 0.9 * end && !isnan(s->q[TMX_Q_TEMP][i])) {
                    measured[row] += s->q[TMX_Q_TEMP][i];
                    predicted[row] += r->temp_c[r->series[k]][i];
                    n[row] += 1;
                }
            }
        }
        const double is = measured[1] / n[1] - measured[0] / n[0],
                     ours = predicted[1] / n[1] - predicted[0] / n[0];
        worst = fmax(worst, fabs(ours / is - 1));
        first = k;
    }
    return worst;
}

static enum tmx_status node(struct tmx_table *t, size_t *missed, const struct node_case *c,
                            struct tmx_err *err)
{
    struct tmx_measured train = {0}, test = {0};
    struct tmx_calibration fit = {0};
    struct tmx_replay r = {0};
    const struct tmx_calibrate_options o = {.air = c->air, .ambient = TMX_AMBIENT_FIT, .split = 1};
    const struct tmx_replay_options how = {.ambient = TMX_AMBIENT_FIT};
    enum tmx_status st = open_log(&train, "workloads/measured/b200_hgx8.csv.gz", c->train, err);
    st = st ? st : open_log(&test, "workloads/measured/b200_hgx8.csv.gz", c->test, err);
    st = st ? st : tmx_calibrate(&fit, &train, &o, NULL, err);
    st = st ? st : tmx_replay(&r, &fit.model, &test, &how, NULL, err);
    if (!st) {
        double worst = 0;
        for (size_t k = 0; k < r.n_row; k++) {
            worst = fmax(worst, r.row[k].rmse_k);
        }
        const struct claim rms = {c->what, c->train, NODE, "rms of the worst run and GPU",
                                  worst,   c->bar_k, "K"};
        const struct claim rows = {
            c->what, c->train, NODE, "rear less front row, worst run", 100 * row_difference_error(&r, &test),
            16,      "percent"};
        put(t, missed, &rms);
        put(t, missed, &rows);
    }
    tmx_replay_finish(&r);
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&train);
    tmx_measured_finish(&test);
    return st;
}

static enum tmx_status pulses(struct tmx_table *t, size_t *missed, const struct pulse_case *c,
                              struct tmx_err *err)
{
    struct tmx_measured log = {0};
    struct tmx_calibration fit = {0};
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 0.5};
    enum tmx_status st = open_log(&log, c->file, NULL, err);
    st = st ? st : tmx_calibrate(&fit, &log, &o, NULL, err);
    if (!st) {
        const struct claim rms = {c->what,        "first half", PULSES, "rms of the second half",
                                  fit.rest_rms_k, c->bar_k,     "K"};
        put(t, missed, &rms);
    }
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&log);
    return st;
}

static enum tmx_status watts(struct tmx_table *t, size_t *missed, struct tmx_err *err)
{
    static const char source[] = "BSD-2, Accel-Sim's AccelWattch (Kandiah et al., MICRO 2021)";
    struct tmx_watts_check w;
    const enum tmx_status st = tmx_validate_watts(&w, err);
    if (!st) {
        const struct claim sum = {
            "V100, 26 aw kernels", "", source, "our chip watts less its sum, worst", w.off_w, 0.01, "W"};
        const struct claim error = {"V100, 26 aw kernels",
                                    "",
                                    source,
                                    "our watts against measured ones, mean",
                                    w.mape_pct,
                                    9.25,
                                    "percent"};
        put(t, missed, &sum);
        put(t, missed, &error);
    }
    return st;
}

static enum tmx_status golden(struct tmx_table *t, size_t *missed, const struct tmx_golden_case *c,
                              struct tmx_err *err)
{
    static const char source[] = "HotSpot 7.0, outputs stored in tests/golden";
    struct tmx_golden_check g;
    char what[128];
    const enum tmx_status st = tmx_validate_golden(c, &g, err);
    snprintf(what, sizeof what, "HotSpot %s, %s", c->name, c->what);
    if (!st && !g.found) {
        const char *const cells[] = {what, "", source, "stored outputs"};
        for (size_t i = 0; i < 4; i++) {
            tmx_table_text(t, cells[i]);
        }
        tmx_table_empty(t);
        tmx_table_empty(t);
        tmx_table_text(t, "K");
        tmx_table_text(t, "not installed");
    } else if (!st) { /* its files have two decimals */
        const struct claim claim = {
            what,  "", source, "blocks, steady and every row, worst", fmax(g.steady_k, g.transient_k),
            0.006, "K"};
        put(t, missed, &claim);
    }
    return st;
}

enum tmx_status tmx_validate(struct tmx_table **t, size_t *missed, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"what", TMX_COLUMN_TEXT, 0},     {"trained_on", TMX_COLUMN_TEXT, 0}, {"source", TMX_COLUMN_TEXT, 0},
        {"quantity", TMX_COLUMN_TEXT, 0}, {"ours", TMX_COLUMN_REAL, 4},       {"bar", TMX_COLUMN_REAL, 3},
        {"unit", TMX_COLUMN_TEXT, 0},     {"holds", TMX_COLUMN_TEXT, 0},
    };
    *missed = 0;
    enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; !st && i < sizeof node_cases / sizeof node_cases[0]; i++) {
        st = node(*t, missed, &node_cases[i], err);
    }
    for (size_t i = 0; !st && i < sizeof pulse_cases / sizeof pulse_cases[0]; i++) {
        st = pulses(*t, missed, &pulse_cases[i], err);
    }
    st = st ? st : watts(*t, missed, err);
    for (size_t i = 0; !st && tmx_golden_cases[i].name; i++) {
        st = golden(*t, missed, &tmx_golden_cases[i], err);
    }
    return st;
}
