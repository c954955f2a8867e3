/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Public measurements of chips, cards, servers and halls beside runs of thermix: what
 * workloads/measured/targets.csv lists, with the bands stated there before the models were made to meet them.
 *
 * How ours of the targets are made is in workloads/measured/targets.cfg, whose keys are below: tasks, each in
 * a process of its own, that execute runs of workloads/runs or a study, mean what its GPUs did while they
 * worked, and reduce it as the measurement was reduced. What a run needs to know of a measurement (a load's
 * watts, a host) is in its files, with its origin. A target, or a data set of a kind that is there, needs no
 * code. */
#include "measure/measure.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/engine.h>
#include <thermix/policy.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/csv.h"
#include "base/curve.h"
#include "base/opt.h"
#include "base/text.h"
#include "hotspot/hotspot.h"
#include "measure/calibrate.h"
#include "measure/replay.h"
#include "plots/figure.h"
#include "power/power.h"
#include "run/load/data.h"
#include "run/run.h"
#include "study/pool.h"
#include "study/study.h"

enum { MAX_GPU = 512 };

struct task;
struct claims { /* of one task */
    const struct task *task;
    const struct tmx_csv *targets;
    struct claim_value {
        double ours;
        bool has;
    } * value;          /* [targets->n_row] */
    bool any;           /* false: its data are not installed */
    FILE *points;       /* of the figures, struct point; NULL: not wanted */
    struct tmx_err err; /* of the task: the first stays */
};

struct claim {
    char id[40], figure[24], series[40], file[64];
    enum { MEAN, SLOPE, AT, QUANTILE, POINTS, CURVE } statistic;
    enum { MHZ, TEMP_C, W, WALL_W } of, over;
    double from, to, scale;
    int first, every;
};
struct task { /* makes the values of some targets of a part */
    int kind; /* of kinds */
    char part[24], id[40], run[32], mix[48], file[64], column[24], only[32], figure[24], series[24], chip[32],
        off[64], air[16];
    double from_s, share, step_w;
    int sms;
    bool without, held;
    struct claim *claim; /* [n_claim] owned */
    size_t n_claim;
};
struct series {
    char name[40];
    bool line;
};
struct figure {
    char name[24], title[96], x[48], y[48];
    struct series series[6];
    size_t n_series;
};
struct claim_file {
    struct task *task; /* [n_task] owned */
    size_t n_task;
    struct figure *figure; /* [n_figure] owned */
    size_t n_figure;
};

/* The value of the target of this id; NAN: its data are not installed. Nothing after an error. */
static void give(struct claims *c, const char *id, double ours)
{
    size_t n = 0;
    for (size_t i = 0; i < c->targets->n_row && !c->err.code; i++) {
        if (strcmp(tmx_csv_at(c->targets, i, "id"), id) == 0) {
            c->value[i] = (struct claim_value){ours, true};
            n++;
        }
    }
    if (n != 1 && !c->err.code) {
        tmx_error(&c->err, TMX_EPARSE, "%s: %zu rows have the id \"%s\", expected one", c->targets->source, n,
                  id);
    }
    c->any = true;
}

/* Ours, of data that are installed. */
static void claim(struct claims *c, const char *id, double ours)
{
    if (isnan(ours) && !c->err.code) {
        tmx_error(&c->err, TMX_EPARSE, "target %s: no number comes of %s", id,
                  c->task->file[0] ? c->task->file : c->task->run);
    }
    give(c, id, ours);
}

/* ---- workloads/measured/targets.cfg ---- */

static const char *const kinds[] = {"node",   "pulses", "watts", "golden", "run", "population",
                                    "limits", "maxq",   "step",  "lit",    NULL}; /* as make */
static const char *const statistics[] = {"mean", "slope", "at", "quantile", "points", "curve", NULL};
static const char *const quantities[] = {"mhz", "temp_c", "w", "wall_w", NULL};

static const struct tmx_opt claim_opts[] = {
    TMX_ROW_TEXT(claim, id, "", "the target; none of points and curves"),
    TMX_ROW_CHOICE(claim, statistic, statistics, "mean", "of the GPUs: what is taken of them"),
    TMX_ROW_CHOICE(claim, of, quantities, "temp_c", "a GPU's mean while it works"),
    TMX_ROW_CHOICE(claim, over, quantities, "temp_c", "what it is taken over"),
    TMX_ROW_REAL(claim, from, "1", -1e9, 1e9, 0, "of a slope, likewise to; share of a quantile; place"),
    TMX_ROW_REAL(claim, to, "1", -1e9, 1e9, 0, "end of a slope"),
    TMX_ROW_REAL(claim, scale, "1", 1e-9, 1e9, 1, "a mean is divided by it"),
    TMX_ROW_INT(claim, first, "1", 0, MAX_GPU - 1, 0, "the first GPU"),
    TMX_ROW_INT(claim, every, "1", 1, MAX_GPU, 1, "and every so many"),
    TMX_ROW_TEXT(claim, figure, "", "of points and curves"),
    TMX_ROW_TEXT(claim, series, "", "in the figure; of a curve: in the file"),
    TMX_ROW_TEXT(claim, file, "", "of a curve: measured quantiles"),
    {0},
};
static const struct tmx_keys claims[] = {
    {TMX_KEYS_LIST(task, "claims", claim, n_claim, claim_opts, 0, 64), .owned = true}, {0}};
static const struct tmx_opt task_opts[] = {
    TMX_ROW_TEXT(task, part, NULL, "of `thermix validate`"),
    TMX_ROW_CHOICE(task, kind, kinds, "run", "how its values are made"),
    TMX_ROW_TEXT(task, id, "", "of its targets, or what their ids begin with"),
    TMX_ROW_TEXT(task, run, "", "run or study"),
    TMX_ROW_TEXT(task, mix, "", "in place of the run's own"),
    TMX_ROW_REAL(task, from_s, "s", 0, 1e9, 0, "when means begin"),
    TMX_ROW_TEXT(task, file, "", "measurements beside this file"),
    TMX_ROW_TEXT(task, column, "", "of the file, where rows with `only` count"),
    TMX_ROW_TEXT(task, only, "", "text in that column; runs of the log; case of tests/golden"),
    TMX_ROW_BOOL(task, without, 0, "the rows without it instead"),
    TMX_ROW_TEXT(task, figure, "", "its points are drawn there"),
    TMX_ROW_TEXT(task, series, "", "what a figure calls the chip"),
    TMX_ROW_TEXT(task, chip, "", "chip of a step of power"),
    TMX_ROW_REAL(task, share, "1", 0, 1, 1, "of the board's step that the SMs get"),
    TMX_ROW_REAL(task, step_w, "W", 0, 1e5, 0, "the board's step"),
    TMX_ROW_INT(task, sms, "1", 1, 1e6, 1e6, "the first so many of the die"),
    TMX_ROW_TEXT(task, off, "", "of them those that are off"),
    TMX_ROW_TEXT(task, air, "none", "model of the node's air"),
    TMX_ROW_BOOL(task, held, 0,
                 "the ambient is that of the training runs, and not fitted to each judged run"),
    {0},
};
static const struct tmx_opt series_opts[] = {
    TMX_ROW_TEXT(series, name, NULL, "of the points"),
    TMX_ROW_BOOL(series, line, 0, "a line in place of points"),
    {0},
};
static const struct tmx_keys figure_series[] = {
    {TMX_KEYS_LIST(figure, "series", series, n_series, series_opts, 1, 6)}, {0}};
static const struct tmx_opt figure_opts[] = {
    TMX_ROW_TEXT(figure, name, NULL, "of the picture"),
    TMX_ROW_TEXT(figure, title, NULL, "above it"),
    TMX_ROW_TEXT(figure, x, NULL, "below it"),
    TMX_ROW_TEXT(figure, y, NULL, "beside it"),
    {0},
};
static const struct tmx_keys lists[] = {
    {TMX_KEYS_LIST(claim_file, "tasks", task, n_task, task_opts, 1, 1000), .inner = claims, .owned = true},
    {TMX_KEYS_LIST(claim_file, "figures", figure, n_figure, figure_opts, 0, 100), .inner = figure_series,
     .owned = true},
    {0},
};
static const struct tmx_opt no_opts[] = {{0}};
static const struct tmx_keys file_keys[] = {{.group = "", .opts = no_opts, .inner = lists}, {0}};

static enum tmx_status load(struct claim_file *f, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *f = (struct claim_file){0};
    const enum tmx_status st = tmx_data_file("workloads/measured/targets.cfg", path, err);
    return st ? st : tmx_keys_load(file_keys, f, path, NULL, NULL, err);
}

static void finish(struct claim_file *f)
{
    for (size_t i = 0; i < f->n_task; i++) {
        free(f->task[i].claim);
    }
    free(f->task);
    free(f->figure);
}

/* ---- what runs give ---- */

static void point(const struct claims *c, const char *figure, const char *series, double x, double y)
{
    struct tmx_silicon_point p = {.x = x, .y = y};
    snprintf(p.figure, sizeof p.figure, "%s", figure);
    snprintf(p.series, sizeof p.series, "%s", series);
    if (c->points) {
        fwrite(&p, sizeof p, 1, c->points);
    }
}

/* What GPUs do while they work, from a moment of the counted time on. */
struct means {
    double from_s;
    size_t n;
    double tick[MAX_GPU], mhz[MAX_GPU], hottest_c[MAX_GPU], w[MAX_GPU], cap_w[MAX_GPU];
    double wall_w;
};

static void look(void *ctx, const struct tmx_sim *sim)
{
    struct means *m = ctx;
    const struct tmx_machine *machine = sim->machine;
    const struct tmx_frame *f = &sim->frame;
    for (size_t g = 0; g < machine->n_gpu && g < MAX_GPU && tmx_sim_time_s(sim) > m->from_s; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        double w = 0, hottest_k = 0;
        if (gpu->n_run == 0) {
            continue;
        }
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            w += f->power_w[gpu->unit0 + u];
            hottest_k =
                fmax(hottest_k, gpu->chip->sm_of_unit[u] == TMX_NO_SM ? 0 : f->temp_k[gpu->unit0 + u]);
        }
        m->tick[g] += 1;
        m->mhz[g] += gpu->chip->level[gpu->level].freq_hz / 1e6;
        m->hottest_c[g] += hottest_k - TMX_ZERO_C;
        m->w[g] += tmx_chip_board_w(gpu->chip, w);
        m->cap_w[g] = tmx_sim_power_cap_w(sim, g);
    }
}

/* mix: in place of the run's own; "": that. False after an error; m is then empty. */
static bool execute(struct claims *r, struct means *m, const char *name, const char *mix, double from_s)
{
    char path[TMX_PATH_SIZE];
    struct tmx_err *err = &r->err;
    struct tmx_sets sets = {0};
    struct tmx_run *run = NULL;
    const struct tmx_observer observer = {.ctx = m, .tick = look};
    *m = (struct means){.from_s = from_s};
    if (mix[0]) {
        tmx_sets_put(&sets, "mix", TMX_TEXT_VALUE(mix), NULL, 0, err);
    }
    if (!err->code && !tmx_data_find(TMX_DATA_RUN, name, path, err) &&
        !tmx_run_load(&run, path, &(struct tmx_run_how){.sets = &sets}, err) &&
        !tmx_run_execute(run, &observer, err)) {
        m->n = tmx_run_sim(run)->machine->n_gpu;
        m->wall_w = tmx_run_metric(run, &tmx_metrics[tmx_study_metric("wall_w")]);
    }
    if (m->n > MAX_GPU) {
        tmx_error(err, TMX_ECONFIG, "%s: more than %d GPUs", name, MAX_GPU);
    }
    for (size_t g = 0; !err->code && g < m->n; g++) {
        m->mhz[g] /= m->tick[g];
        m->hottest_c[g] /= m->tick[g];
        m->w[g] /= m->tick[g];
    }
    tmx_run_destroy(run);
    tmx_sets_finish(&sets);
    return !err->code;
}

/* Where a measurement lies; false after an error. */
static bool measured(const char *file, char path[TMX_PATH_SIZE], struct tmx_err *err)
{
    char name[128];
    snprintf(name, sizeof name, "workloads/measured/%s", file);
    return !tmx_data_file(name, path, err);
}

/* No rows after an error, which a file without these columns is. */
static struct tmx_csv read_measured(const char *file, const char *columns, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv csv = {0};
    if (measured(file, path, err) && !tmx_csv_read(&csv, path, err) && tmx_csv_need(&csv, columns, err)) {
        tmx_csv_finish(&csv);
    }
    return csv;
}

/* Empty after an error. runs: patterns; NULL: all; each has n_gpu GPUs. */
static struct tmx_measured read_log(struct claims *c, const char *file, const char *runs, size_t n_gpu)
{
    char path[TMX_PATH_SIZE];
    struct tmx_measured m = {0};
    if (measured(file, path, &c->err) && !tmx_measured_read(&m, path, NULL, &c->err)) {
        (void)!tmx_measured_select(&m, runs, NULL, &c->err);
    }
    for (size_t i = 0; i < m.n_series && !c->err.code; i++) {
        if (m.series[i].gpu != i % n_gpu || m.n_series % n_gpu != 0) {
            tmx_error(&c->err, TMX_EPARSE, "%s: expected %zu GPUs in each run", path, n_gpu);
        }
    }
    return m;
}

/* Slope of y over x where x is in [from, to]. */
static double slope(size_t n, const double *x, const double *y, double from, double to)
{
    double a[MAX_GPU], b[MAX_GPU], c0, c1, cov[3], chi2;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] >= from && x[i] <= to) {
            a[k] = x[i];
            b[k++] = y[i];
        }
    }
    gsl_fit_linear(a, 1, b, 1, k, &c0, &c1, &cov[0], &cov[1], &cov[2], &chi2);
    return c1;
}

static void residuals(size_t n, const double *x, const double *y, double *out)
{
    double c0, c1, cov[3], chi2;
    gsl_fit_linear(x, 1, y, 1, n, &c0, &c1, &cov[0], &cov[1], &cov[2], &chi2);
    for (size_t i = 0; i < n; i++) {
        out[i] = y[i] - c0 - c1 * x[i];
    }
}

static double quantile(size_t n, const double *v, double share)
{
    double sorted[MAX_GPU];
    memcpy(sorted, v, n * sizeof *v);
    gsl_sort(sorted, 1, n);
    return gsl_stats_quantile_from_sorted_data(sorted, 1, n, share);
}

/* Statistics of what the GPUs of one run did. */
static void run_task(struct claims *r, const struct task *t)
{
    struct means m;
    if (!execute(r, &m, t->run, t->mix, t->from_s)) {
        return;
    }
    const double *const quantity[] = {m.mhz, m.hottest_c, m.w, &m.wall_w};
    for (const struct claim *c = t->claim; c < t->claim + t->n_claim; c++) {
        double x[MAX_GPU], y[MAX_GPU], v = NAN;
        size_t n = 0;
        for (size_t g = (size_t)c->first; g < (c->of == WALL_W ? 1 : m.n); g += (size_t)c->every) {
            x[n] = quantity[c->over][g];
            y[n++] = quantity[c->of][g];
        }
        if (c->statistic == MEAN) {
            v = 0;
            for (size_t i = 0; i < n; i++) {
                v += y[i] / c->scale / (double)n;
            }
        } else if (c->statistic == SLOPE) {
            v = slope(n, x, y, c->from, c->to);
        } else if (c->statistic == AT) {
            v = tmx_curve_at(n, x, y, 1, c->from);
        } else if (c->statistic == QUANTILE) {
            v = quantile(n, y, c->from);
        } else if (c->statistic == POINTS) {
            for (size_t i = 0; i < n; i++) {
                point(r, c->figure, c->series, x[i], y[i]);
            }
        } else { /* quantiles beside those of a file */
            struct tmx_csv csv = read_measured(c->file, "series quantile_pct value", &r->err);
            for (size_t i = 0; i < csv.n_row; i++) {
                if (strcmp(tmx_csv_at(&csv, i, "series"), c->series) == 0) {
                    const double pct = tmx_csv_value_at(&csv, i, "quantile_pct");
                    point(r, c->figure, "measured", tmx_csv_value_at(&csv, i, "value"), pct);
                    point(r, c->figure, "ours", quantile(n, y, pct / 100), pct);
                }
            }
            tmx_csv_finish(&csv);
        }
        if (c->id[0]) {
            claim(r, c->id, v);
        }
    }
}

/* 388 V100 at their cap (t->run), and at a fixed clock (its mix). */
static void population_task(struct claims *r, const struct task *t)
{
    struct means sgemm, pagerank;
    double clock[MAX_GPU], watts[MAX_GPU], time[MAX_GPU], c1, cov, chi2;
    if (!execute(r, &sgemm, t->run, "", t->from_s) || !execute(r, &pagerank, t->run, t->mix, t->from_s)) {
        return;
    }
    struct tmx_csv csv = read_measured(t->file, "power_w temp_c sm_mhz", &r->err);
    const size_t n = sgemm.n;
    residuals(n, sgemm.hottest_c, sgemm.mhz, clock);
    residuals(n, pagerank.hottest_c, pagerank.w, watts);
    gsl_fit_mul(watts, 1, clock, 1, n, &c1, &cov, &chi2);
    for (size_t g = 0; g < n; g++) {
        time[g] = pow(sgemm.mhz[g], -0.952); /* measured: d ln time / d ln clock */
        point(r, "v100_clock", "388 simulated", sgemm.hottest_c[g], sgemm.mhz[g]);
    }
    for (size_t i = 0; i < csv.n_row; i++) {
        if (tmx_csv_value_at(&csv, i, "power_w") > 285) {
            point(r, "v100_clock", "388 measured", tmx_csv_value_at(&csv, i, "temp_c"),
                  tmx_csv_value_at(&csv, i, "sm_mhz"));
        }
    }
    claim(r, "v100_w_per_k_population", slope(n, pagerank.hottest_c, pagerank.w, 0, 100));
    claim(r, "v100_clock_sd", gsl_stats_sd(sgemm.mhz, 1, n));
    claim(r, "v100_time_p99_p1", quantile(n, time, 0.99) / quantile(n, time, 0.01));
    claim(r, "v100_mhz_per_w", c1);
    tmx_csv_finish(&csv);
}

/* A card under limits: the run's GPU n_cap i + j has load i and limit j. A cell's only input is what it drew
 * at the highest limit; for a share LOW of the time it waits for its input and draws half of that. LOW is
 * fitted to the V100's cells of resnet50, bert on squad and ncf, and taken over by the others. */
enum { MAX_CAP = 9, N_LOAD = 10 };
static const double LOW = 0.13;

static void limits_task(struct claims *r, const struct task *t)
{
    struct means m;
    char id[64];
    double speed_off = 0, watts_off = 0, n = 0;
    (void)execute(r, &m, t->run, "", t->from_s);
    const size_t n_cap = m.n / N_LOAD;
    if (n_cap > MAX_CAP) {
        tmx_error(&r->err, TMX_ECONFIG, "%s: more than %d limits", t->run, MAX_CAP);
    }
    struct tmx_csv csv =
        read_measured(t->file, "dataset network power_limit average_power time_per_epoch", &r->err);
    for (size_t row = 0; row + n_cap <= csv.n_row; row++) {
        /* Rows from one on: a cell that some limit slows, under all limits? */
        const double top_w = tmx_csv_value_at(&csv, row + n_cap - 1, "average_power"), low_w = top_w / 2;
        bool slowed =
            top_w >= 110 && (strstr(tmx_csv_at(&csv, row, t->column), t->only) == NULL) == t->without;
        for (size_t j = 0; j < n_cap; j++) {
            slowed = slowed && tmx_csv_value_at(&csv, row + j, "power_limit") == m.cap_w[j];
        }
        if (!slowed) {
            continue;
        }
        double at_top_w[N_LOAD], mhz[MAX_CAP], w[MAX_CAP], load_w[N_LOAD];
        for (size_t i = 0; i < N_LOAD; i++) {
            at_top_w[i] = m.w[n_cap * i + n_cap - 1];
            load_w[i] = (double)i;
        }
        const double load = tmx_curve_at(N_LOAD, at_top_w, load_w, 1, (top_w - LOW * low_w) / (1 - LOW));
        for (size_t j = 0; j < n_cap; j++) {
            double by_mhz[N_LOAD], by_w[N_LOAD];
            for (size_t i = 0; i < N_LOAD; i++) {
                by_mhz[i] = m.mhz[n_cap * i + j];
                by_w[i] = m.w[n_cap * i + j];
            }
            mhz[j] = tmx_curve_at(N_LOAD, load_w, by_mhz, 1, load);
            w[j] = tmx_curve_at(N_LOAD, load_w, by_w, 1, load);
        }
        for (size_t j = 0; j < n_cap; j++) {
            const double slower = mhz[n_cap - 1] / mhz[j], time = (1 - LOW) * slower + LOW;
            const double drawn_w = ((1 - LOW) * slower * w[j] + LOW * low_w) / time,
                         is = tmx_csv_value_at(&csv, row + n_cap - 1, "time_per_epoch") /
                              tmx_csv_value_at(&csv, row + j, "time_per_epoch"),
                         is_w = tmx_csv_value_at(&csv, row + j, "average_power");
            if (t->figure[0]) {
                point(r, t->figure, "measured", m.cap_w[j], is);
                point(r, t->figure, "ours", m.cap_w[j], 1 / time);
            }
            if (j + 1 < n_cap) {
                speed_off += 100 * fabs(1 / time - is);
                watts_off += fabs(drawn_w - is_w);
                n += 1;
            }
        }
    }
    snprintf(id, sizeof id, "%s_speed", t->id);
    claim(r, id, n > 0 ? speed_off / n : NAN);
    snprintf(id, sizeof id, "%s_watts", t->id);
    claim(r, id, n > 0 ? watts_off / n : NAN);
    tmx_csv_finish(&csv);
}

/* Cards at MaxQ's limits: rate over that at the full limit, which GPU 0 has. */
static void maxq_task(struct claims *r, const struct task *t)
{
    static const struct {
        const char *gpu, *run;
    } cases[] = {{"A100", "maxq-a100"}, {"H100", "maxq-h100"}};
    struct means m;
    struct tmx_csv csv = read_measured(t->file, "gpu benchmark scenario cap_w ratio", &r->err);
    double sum = 0, worst = 0, n = 0;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] && execute(r, &m, cases[c].run, "", t->from_s);
         c++) {
        for (size_t i = 0; i < csv.n_row; i++) {
            size_t g = 0;
            while (g < m.n && m.cap_w[g] != tmx_csv_value_at(&csv, i, "cap_w")) {
                g++;
            }
            if (g < m.n && strcmp(tmx_csv_at(&csv, i, "gpu"), cases[c].gpu) == 0 &&
                strcmp(tmx_csv_at(&csv, i, "scenario"), "Offline") == 0 &&
                strncmp(tmx_csv_at(&csv, i, "benchmark"), "dlrm", 4) != 0) {
                const double off = 100 * fabs(m.mhz[g] / m.mhz[0] - tmx_csv_value_at(&csv, i, "ratio"));
                sum += off;
                worst = fmax(worst, off);
                n += 1;
            }
        }
    }
    claim(r, "maxq_mean", sum / n);
    claim(r, "maxq_worst", worst);
    tmx_csv_finish(&csv);
}

/* A step of board watts, of which a share goes into the SMs that are there; rises of the hottest SM behind a
 * sensor of SENSOR_S. */
static const double SENSOR_S = 0.15, DT_S = 0.01;

/* Behind ours the log's rise from the row at which its watts have half risen. */
static void step_task(struct claims *r, const struct task *t)
{
    char chip[64], label[64];
    const char *const options[] = {chip, "network=physical", "ambient=300", "init_temp=300", NULL};
    struct tmx_engine *e = NULL;
    struct tmx_arena arena = {0};
    double *w, *temp_k, sms = 0, sensor_k = 0;
    snprintf(chip, sizeof chip, "chip=%s", t->chip);
    if (tmx_engine_open(&e, options, &r->err)) {
        return;
    }
    const size_t n = tmx_engine_units(e);
    TMX_TAKE(&arena, w, n);
    if (!TMX_TAKE(&arena, temp_k, n)) {
        tmx_error(&r->err, TMX_ENOMEM, "%zu units", n);
    }
    for (size_t u = 0; !r->err.code && u < n; u++) {
        /* Is it the name of an SM that the chip has: of the first t->sms of the die, and not one of t->off?
         */
        const char *unit = tmx_engine_unit(e, u);
        const long sm = strtol(unit + 2, NULL, 10);
        bool on = strncmp(unit, "SM", 2) == 0 && sm < t->sms;
        for (const char *at = t->off; *at && on; at += strspn(at, " ")) {
            char *end;
            on = strtol(at, &end, 10) != sm;
            at = end;
        }
        w[u] = on;
        sms += w[u];
    }
    for (size_t u = 0; !r->err.code && u < n; u++) { /* SMs of a chip are alike */
        w[u] *= t->share * t->step_w / sms;
    }
    snprintf(label, sizeof label, "%s ours", t->series);
    for (size_t i = 1, k = 0; k < t->n_claim && !r->err.code && !tmx_engine_step(e, DT_S, w, temp_k, &r->err);
         i++) {
        double hottest_k = 0;
        for (size_t u = 0; u < n; u++) {
            hottest_k = fmax(hottest_k, w[u] > 0 ? temp_k[u] - 300 : 0);
        }
        sensor_k += (hottest_k - sensor_k) * -expm1(-DT_S / SENSOR_S);
        point(r, "steps", label, (double)i * DT_S, sensor_k);
        if (fabs((double)i * DT_S - t->claim[k].from) < DT_S / 2) {
            claim(r, t->claim[k++].id, sensor_k);
        }
    }
    tmx_arena_finish(&arena);
    tmx_engine_close(e);
    struct tmx_measured log = {0};
    if (r->points) {
        log = read_log(r, t->file, NULL, 1);
    }
    const struct tmx_series *s = r->err.code || log.n_series == 0 ? NULL : &log.series[0];
    snprintf(label, sizeof label, "%s measured", t->series);
    size_t from = 0;
    while (s && from + 1 < s->n && s->q[TMX_Q_POWER][from] < s->q[TMX_Q_POWER][0] + t->step_w / 2) {
        from++;
    }
    for (size_t i = from; s && i < s->n && s->q[TMX_Q_TIME][i] < s->q[TMX_Q_TIME][from] + 5.9; i += 5) {
        point(r, "steps", label, s->q[TMX_Q_TIME][i] - s->q[TMX_Q_TIME][from],
              s->q[TMX_Q_TEMP][i] - s->q[TMX_Q_TEMP][0]);
    }
    tmx_measured_finish(&log);
}

/* The study lit-silicon: its first axis are nodes, its second what is done, and first of that caps of 750 W,
 * of 700 W, Red, Realloc, Slosh. Means over nodes of ratios as the paper's Table III has them. */
static void lit_task(struct claims *r, const struct task *t)
{
    enum { EQUAL_750, EQUAL_700, RED, REALLOC, SLOSH, N_WAY };
    static const struct {
        const char *power, *throughput, *label;
        int before;
    } way[N_WAY] = {[RED] = {"lit_red_power", "lit_red_throughput", "Red", EQUAL_750},
                    [REALLOC] = {"lit_realloc_power", "lit_realloc_throughput", "Realloc", EQUAL_700},
                    [SLOSH] = {"lit_slosh_power", "lit_slosh_throughput", "Slosh", EQUAL_700}};
    char path[TMX_PATH_SIZE];
    struct tmx_sweep sweep = {0};
    struct tmx_runs runs;
    struct tmx_run_values v = {0};
    struct tmx_csv csv = {0};
    const struct tmx_study_options o = {.n_worker = 1, TMX_STUDY_WHOLE};
    const size_t step_s = tmx_study_metric("step_time_s"), energy_j = tmx_study_metric("energy_j"),
                 time_s = tmx_study_metric("makespan_s");
    struct tmx_err absent = {0};
    if (tmx_data_find(TMX_DATA_SUITE, t->run, path, &absent) || tmx_sweep_load(&sweep, path, &r->err)) {
        return;
    }
    const size_t n_way = sweep.axis[1].n_value;
    tmx_sweep_runs(&sweep, &runs);
    tmx_study_values(&v, &runs, &o, &r->err);
    for (size_t p = 0; p < v.n_point; p++) {
        if (v.error[p]) {
            tmx_error(&r->err, TMX_ESOLVE, "lit-silicon, point %zu: %s", p, v.error[p]);
        }
    }
    for (size_t i = RED; !r->err.code && i < N_WAY; i++) {
        double power = 0, throughput = 0;
        const size_t n = v.n_point / n_way;
        for (size_t k = 0; k < n; k++) {
            const double *before = &v.value[(n_way * k + (size_t)way[i].before) * v.n_value],
                         *after = &v.value[(n_way * k + i) * v.n_value];
            const double p = before[energy_j] / before[time_s] / (after[energy_j] / after[time_s]),
                         more = before[step_s] / after[step_s];
            power += p / (double)n;
            throughput += more / (double)n;
            point(r, "lit_silicon", way[i].label, p, more);
        }
        claim(r, way[i].power, power);
        claim(r, way[i].throughput, throughput);
    }
    tmx_run_values_finish(&v);
    tmx_sweep_finish(&sweep);
    if (r->points) { /* Table III as printed: rows power, throughput of each way, measured and by its model */
        csv = read_measured(t->file, "where quantity value kind", &r->err);
    }
    for (size_t i = 0; i + 1 < csv.n_row; i++) {
        if (strncmp(tmx_csv_at(&csv, i, "quantity"), "power", 5) == 0 &&
            strcmp(tmx_csv_at(&csv, i, "where"), "Table III") == 0) {
            point(r, "lit_silicon", tmx_csv_at(&csv, i, "kind"), tmx_csv_value_at(&csv, i, "value"),
                  tmx_csv_value_at(&csv, i + 1, "value"));
        }
    }
    tmx_csv_finish(&csv);
}

enum { B200_GPUS = 8 };

/* Largest relative error of the difference between the rows over the runs, under load. */
static double row_difference_error(const struct tmx_replay *r, const struct tmx_measured *log)
{
    double worst = 0;
    for (size_t first = 0; first < r->n_row;) {
        double measured[2] = {0}, predicted[2] = {0}, n[2] = {0};
        size_t k = first;
        for (; k < r->n_row && r->row[k].run == r->row[first].run; k++) {
            const struct tmx_series *s = &log->series[r->series[k]];
            const char *gpu = log->gpu[s->gpu]; /* 1, 2, 5 and 6 of the B200 node are the warmer ones */
            const size_t row = strchr("1256", gpu[0]) && !gpu[1];
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
        worst = isnan(ours / is) ? NAN : worst < fabs(ours / is - 1) ? fabs(ours / is - 1) : worst;
        first = k;
    }
    return worst;
}

/* Trained on some runs of a node's log, judged on t->only. */
static void node(struct claims *c, const struct task *t)
{
    char rms[64], rows[64];
    const char *trained_on = "";
    struct tmx_calibration fit = {0};
    struct tmx_replay r = {0};
    const struct tmx_calibrate_options o = {.air = t->air, .ambient = TMX_AMBIENT_FIT, .split = 1};
    struct tmx_replay_options how = {.ambient = t->held ? TMX_AMBIENT_GIVEN : TMX_AMBIENT_FIT};
    double worst = 0;
    snprintf(rms, sizeof rms, "%s_rms", t->id);
    snprintf(rows, sizeof rows, "%s_rows", t->id);
    for (size_t i = 0; i < c->targets->n_row; i++) {
        trained_on = strcmp(tmx_csv_at(c->targets, i, "id"), rms) == 0
                         ? tmx_csv_at(c->targets, i, "trained_on")
                         : trained_on;
    }
    struct tmx_measured train = read_log(c, t->file, trained_on, B200_GPUS),
                        test = read_log(c, t->file, t->only, B200_GPUS);
    if (!c->err.code && !tmx_calibrate(&fit, &train, &o, NULL, &c->err)) {
        for (size_t i = 0; i < train.n_series; i += B200_GPUS) { /* each run that was fitted */
            how.ambient_c += fit.ambient_c[train.series[i].run] * B200_GPUS / (double)train.n_series;
        }
        if (!tmx_replay(&r, &fit.model, &test, &how, NULL, &c->err)) {
            for (size_t k = 0; k < r.n_row; k++) {
                worst = fmax(worst, r.row[k].rmse_k);
            }
            claim(c, rms, worst);
            claim(c, rows, 100 * row_difference_error(&r, &test));
        }
    }
    tmx_replay_finish(&r);
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&train);
    tmx_measured_finish(&test);
}

static void pulses(struct claims *c, const struct task *t)
{
    struct tmx_calibration fit = {0};
    const struct tmx_calibrate_options o = {.air = "none", .ambient = TMX_AMBIENT_FIT, .split = 0.5};
    struct tmx_measured log = read_log(c, t->file, NULL, 1);
    if (!c->err.code && !tmx_calibrate(&fit, &log, &o, NULL, &c->err)) {
        claim(c, t->id, fit.rest_rms_k);
    }
    tmx_calibration_finish(&fit);
    tmx_measured_finish(&log);
}

static void watts(struct claims *c, const struct task *t)
{
    struct tmx_watts_check w;
    if (!tmx_validate_watts(&w, &c->err)) {
        claim(c, t->id, w.off_w);
    }
}

/* Repeat what HotSpot was run with, its conventions and its step, and compare with what it wrote. t->only:
 * the folder of tests/golden, whose README.txt says how its files were made. */
static void golden(struct claims *c, const struct task *t)
{
    static const char *const files[] = {"case.config", "power.ptrace", "out.ttrace", "out.steady"};
    char path[5][TMX_PATH_SIZE], name[256];
    bool found = true;
    const bool stack = strcmp(t->only, "E_stack2") == 0;
    for (size_t i = 0; i < 5; i++) {
        struct tmx_err absent = {0};
        snprintf(name, sizeof name, "tests/golden/%s/%s", t->only,
                 i < 4   ? files[i]
                 : stack ? "stack.lcf"
                         : "chip.flp");
        found = found && !tmx_data_file(name, path[i], &absent);
    }
    if (!found) {
        give(c, t->id, NAN);
        return;
    }
    struct tmx_err *err = &c->err;
    struct tmx_trace_run run = {0};
    struct tmx_trace_options o = {.method = &tmx_thermal_grid,
                                  .scheme = TMX_TRACE_BE,
                                  .no_cache = true,
                                  .hotspot_compat = true,
                                  .keep_rows = true};
    tmx_hotspot_config_init(&o.cfg);
    if (!tmx_hotspot_config_set(&o.cfg, stack ? "grid_layer_file" : "f", path[4], TMX_HOTSPOT_COMMAND_LINE, 0,
                                err) &&
        !tmx_hotspot_config_set(&o.cfg, "p", path[1], TMX_HOTSPOT_COMMAND_LINE, 0, err) &&
        !tmx_hotspot_config_read(&o.cfg, path[0], TMX_HOTSPOT_CONFIG, err) &&
        !tmx_trace_run_read(&run, &o, NULL, err) && !tmx_trace_run_transient(&run, NULL, NULL, err) &&
        !tmx_trace_run_steady(&run, err)) {
        claim(c, t->id, tmx_hotspot_compare(&run, path[2], path[3], NULL, err));
    }
    tmx_trace_run_finish(&run);
}

/* AccelWattch's kernels on our V100: chip watts of the power model beside the source's sum and the board's.
 */

/* Watts of all units while the kernel fills the chip, at the nominal clock and the leakage's temperature. */
static double chip_w(const struct tmx_chip *c, const char *kernel, struct tmx_err *err)
{
    const struct tmx_power_ops *ops = tmx_power_models[0];
    const bool leakage = true;
    const size_t n = c->floorplan.n_unit;
    char path[TMX_PATH_SIZE];
    struct tmx_kernel k;
    struct tmx_job job;
    struct tmx_machine *m = NULL;
    void *model = NULL;
    struct tmx_arena arena = {0};
    struct tmx_frame f = {.n_gpu = 1, .n_sm = c->n_sm, .n_unit = n};
    double watts = 0;
    TMX_TAKE_REALS(&arena, n, &f.asleep, &f.unpowered, &f.dynamic_w, &f.leakage_w, &f.saved_w, &f.baseline_w,
                   &f.power_w, &f.temp_k);
    TMX_TAKE_REALS(&arena, TMX_SLOTS, &f.slot_w, &f.transition_w);
    enum tmx_status st =
        arena.failed ? tmx_no_memory(err) : tmx_data_find(TMX_DATA_KERNEL, kernel, path, err);
    st = st ? st : tmx_kernel_load(&k, path, err);
    st = st ? st : tmx_job_init(&job, &k, c, 1, err);
    const struct tmx_machine_spec spec = {
        .chip = &c, .n_gpu = 1, .job = &job, .n_job = 1, .dt_s = 1e-3, .gain = 1};
    st = st ? st : tmx_machine_create(&m, &spec, err);
    st = st ? st : ops->create(&leakage, m, &model, err);
    if (!st) {
        for (size_t u = 0; u < n; u++) {
            f.temp_k[u] = c->power.leakage_ref_c + TMX_ZERO_C;
        }
        m->gpu[0].run[0] = 0;
        m->gpu[0].n_run = 1;
        m->job[0].state = TMX_JOB_RUNNING;
        m->speed[0] = m->volt[0] = m->volt2[0] = 1; /* the nominal level */
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            m->busy[sm] = 1;
        }
        if (ops->eval(model, m, tmx_machine_all(m), &f)) {
            tmx_error(err, TMX_ESOLVE, "the power of %s", kernel);
        }
        for (size_t u = 0; u < n; u++) {
            watts += f.power_w[u];
        }
    }
    if (model) {
        ops->destroy(model);
    }
    tmx_machine_destroy(m);
    tmx_arena_finish(&arena);
    return tmx_chip_board_w(c, watts);
}

enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err)
{
    /* a row "backprop-rodinia-3.1_k1" is the file aw_backprop_k1: without the suite's name and signs */
    static const char *const drop[] = {"-rodinia-3.1", "parboil-", "+", "-"};
    char path[TMX_PATH_SIZE], name[64];
    struct tmx_chip chip = {0};
    struct tmx_err failed = {0};
    struct tmx_csv csv =
        read_measured("accelwattch_volta_kernels.csv", "kernel sim_total_W measured_W", &failed);
    *w = (struct tmx_watts_check){0};
    if (csv.n_row == 0) {
        tmx_error_at(&failed, TMX_EPARSE, csv.source, 1, "no rows");
    }
    if (!failed.code && !tmx_data_find(TMX_DATA_CHIP, "v100", path, &failed)) {
        (void)!tmx_chip_open(&chip, path, &failed);
    }
    for (size_t r = 0; !failed.code && r < csv.n_row; r++) {
        const double all = tmx_csv_value_at(&csv, r, "sim_total_W"),
                     is = tmx_csv_value_at(&csv, r, "measured_W");
        if (isnan(all) || isnan(is)) {
            tmx_error_at(&failed, TMX_EPARSE, csv.source, csv.line[r], "a total without a value");
        }
        snprintf(name, sizeof name, "aw_%s", tmx_csv_at(&csv, r, "kernel"));
        for (size_t i = 0; i < sizeof drop / sizeof drop[0]; i++) {
            for (char *at; (at = strstr(name, drop[i])) != NULL;) {
                memmove(at, at + strlen(drop[i]), strlen(at + strlen(drop[i])) + 1);
            }
        }
        const double ours = chip_w(&chip, name, &failed);
        w->off_w = fmax(w->off_w, fabs(ours - all));
        w->mape_pct += 100 * fabs(ours / is - 1) / (double)csv.n_row;
        w->n_kernel++;
    }
    tmx_chip_finish(&chip);
    tmx_csv_finish(&csv);
    return tmx_error_give(err, &failed);
}

/* Every part is one or more tasks, each in a process of its own (study/pool.h), in the order of the rows. */

const char *const tmx_validate_parts[] = {"b200", "pulses", "accelwattch", "hotspot", "longhorn",    "zeus",
                                          "maxq", "wall",   "steps",       "kalos",   "lit-silicon", NULL};

static void (*const make[])(struct claims *c, const struct task *t) = {
    node,        pulses,    watts,     golden,  run_task, population_task,
    limits_task, maxq_task, step_task, lit_task}; /* as kinds */

struct tasks {
    struct claim_file file;
    const struct tmx_validate_options *options;
    struct tmx_csv targets;
    struct claim_value *value; /* [n_task][targets.n_row] */
    struct tmx_arena arena;
};

/* A child sends the points of figures, then a value a target: of a task whose data are not installed, all of
 * its part. */
static enum tmx_status compute(void *ctx, size_t i, FILE *out, struct tmx_err *err)
{
    const struct tasks *s = ctx;
    const struct task *task = &s->file.task[i];
    struct claims c = {.task = task,
                       .targets = &s->targets,
                       .value = s->value + i * s->targets.n_row,
                       .points = s->options->points ? out : NULL};
    make[task->kind](&c, task);
    for (size_t k = 0; k < s->targets.n_row; k++) {
        c.value[k].ours = c.any ? c.value[k].ours : NAN;
        c.value[k].has =
            (c.value[k].has || !c.any) && strcmp(tmx_csv_at(&s->targets, k, "part"), task->part) == 0;
    }
    fwrite(c.value, sizeof *c.value, s->targets.n_row, out);
    return tmx_error_give(err, &c.err);
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct tasks *s = ctx;
    const size_t n = s->targets.n_row * sizeof *s->value;
    struct tmx_silicon_points *p = s->options->points;
    if (r->status) {
        *err = r->err;
        return r->status;
    }
    memcpy(s->value + r->task * s->targets.n_row, r->bytes + r->n_byte - n, n);
    if (p && r->n_byte > n) {
        struct tmx_silicon_point *more = realloc(p->point, p->n * sizeof *more + r->n_byte - n);
        if (!more) {
            return tmx_no_memory(err);
        }
        memcpy(more + p->n, r->bytes, r->n_byte - n);
        p->n += (r->n_byte - n) / sizeof *more;
        p->point = more;
    }
    return TMX_OK;
}

static bool is_wanted(const struct tmx_validate_options *o, const char *part)
{
    return o->n_part == 0 || tmx_names_find(part, o->part, o->n_part) < o->n_part;
}

enum tmx_status tmx_validate(struct tmx_table **t, const struct tmx_validate_options *options,
                             struct tmx_err *err)
{
    struct tasks s = {.options = options};
    struct tmx_csv *of = &s.targets;
    struct tmx_err failed = {0};
    size_t n_task = 0;
    (void)!load(&s.file, &failed);
    for (size_t i = 0; i < s.file.n_task; i++) { /* of the parts that are asked for */
        struct task *task = &s.file.task[i];
        if (is_wanted(options, task->part)) {
            s.file.task[n_task++] = *task;
        } else {
            free(task->claim);
        }
    }
    s.file.n_task = n_task;
    const struct tmx_pool pool = {.n_task = n_task,
                                  .n_worker = options->n_worker,
                                  .noun = options->quiet ? NULL : "tasks",
                                  .ctx = &s,
                                  .run = compute,
                                  .collect = collect};
    *of = read_measured("targets.csv",
                        "part id what unit measured band origin known source quantity trained_on protocol",
                        &failed);
    for (size_t k = 0; k < of->n_row; k++) {
        if (isnan(tmx_csv_value_at(of, k, "measured")) || !(tmx_csv_value_at(of, k, "band") >= 0)) {
            tmx_error_at(&failed, TMX_EPARSE, of->source, of->line[k],
                         "measured \"%s\", band \"%s\": expected two numbers, the second 0 or more",
                         tmx_csv_at(of, k, "measured"), tmx_csv_at(of, k, "band"));
        }
    }
    TMX_TAKE(&s.arena, s.value, n_task * s.targets.n_row);
    tmx_arena_check(&s.arena, &failed);
    tmx_pool_run(&pool, &failed);
    for (size_t k = 0; !failed.code && k < s.targets.n_row; k++) {
        size_t i = 0;
        while (i < n_task && !s.value[i * s.targets.n_row + k].has) {
            i++;
        }
        if (i == n_task && is_wanted(options, tmx_csv_at(&s.targets, k, "part"))) {
            tmx_error_at(&failed, TMX_EPARSE, s.targets.source, s.targets.line[k],
                         "no task of targets.cfg makes \"%s\" of part \"%s\"",
                         tmx_csv_at(&s.targets, k, "id"), tmx_csv_at(&s.targets, k, "part"));
        }
    }
    *t = failed.code
             ? NULL
             : tmx_table_of(
                   "part what trained_on source quantity measured:3 ours:4 bar:3 unit origin seen protocol "
                   "holds known");
    for (size_t i = 0; *t && i < 2 * n_task * s.targets.n_row; i++) { /* what was unseen comes first */
        const size_t k = i % s.targets.n_row, at = i % (n_task * s.targets.n_row);
        const bool unseen = strcmp(tmx_csv_at(&s.targets, k, "origin"), "unseen") == 0;
        if (!s.value[at].has || unseen != (i < n_task * s.targets.n_row)) {
            continue;
        }
        const char *origin = tmx_csv_at(of, k, "origin"), *quantity = tmx_csv_at(of, k, "quantity");
        const double is = tmx_csv_value_at(of, k, "measured"), band = tmx_csv_value_at(of, k, "band"),
                     ours = s.value[at].ours;
        const bool is_there = !isnan(ours), holds = fabs(ours - is) <= band;
        tmx_table_row(*t, "%s %s %s %s %s %G %G %G %s %s %s %s %s %s", tmx_csv_at(of, k, "part"),
                      tmx_csv_at(of, k, "what"), tmx_csv_at(of, k, "trained_on"), tmx_csv_at(of, k, "source"),
                      quantity[0] ? quantity : tmx_csv_at(of, k, "id"), is, ours, is_there ? band : NAN,
                      tmx_csv_at(of, k, "unit"), origin,
                      strcmp(origin, "identity") == 0 ? ""
                      : unseen                        ? "unseen"
                                                      : "seen",
                      tmx_csv_at(of, k, "protocol"),
                      !is_there ? "not installed"
                      : holds   ? "yes"
                                : "no",
                      is_there && !holds ? tmx_csv_at(of, k, "known") : "");
    }
    finish(&s.file);
    tmx_csv_finish(&s.targets);
    tmx_arena_finish(&s.arena);
    return *t || failed.code ? tmx_error_give(err, &failed) : tmx_no_memory(err);
}

enum tmx_status tmx_validate_draw(const struct tmx_silicon_points *of, const char *folder,
                                  struct tmx_err *err)
{
    struct tmx_plot p = {.dir = folder, .format = "svg", .quiet = true};
    struct claim_file file;
    enum tmx_status st = load(&file, err);
    st = st ? st : tmx_plot_begin(&p, err);
    if (!st) {
        tmx_plot_folder(&p);
    }
    for (const struct figure *f = file.figure; !st && f < file.figure + file.n_figure; f++) {
        size_t k = 0;
        while (k < of->n && strcmp(of->point[k].figure, f->name) != 0) {
            k++;
        }
        if (k == of->n) {
            continue;
        }
        struct tmx_table *t = tmx_table_of("series:d x:4 y:4");
        tmx_plot_words(&p, f->title, f->x, f->y);
        for (size_t s = 0; s < f->n_series; s++) {
            const char *name = f->series[s].name;
            tmx_plot_label(&p, "name", name);
            tmx_plot_label(&p, "line", f->series[s].line ? "1" : "0");
            for (size_t i = 0; i < of->n; i++) {
                if (strcmp(of->point[i].figure, f->name) == 0 && strcmp(of->point[i].series, name) == 0) {
                    tmx_table_row(t, "%zu %g %g", s + 1, of->point[i].x, of->point[i].y);
                }
            }
        }
        tmx_plot_draw(&p, "silicon", f->name, t);
    }
    finish(&file);
    return st ? st : err->code;
}
