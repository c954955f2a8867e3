/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each kind of task below makes the values of some targets: it executes runs of workloads/runs or a study,
 * means what its GPUs did while they worked, and reduces it as the measurement was reduced. Which tasks there
 * are is in workloads/measured/targets.cfg; what a run needs to know of a measurement (a load's watts, a
 * host) is in its files, with its origin. */
#include "measure/silicon.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/engine.h>
#include <thermix/policy.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/csv.h"
#include "base/opt.h"
#include "measure/log/measured.h"
#include "plots/figure.h"
#include "run/load/data.h"
#include "run/run.h"
#include "study/study.h"

enum { MAX_GPU = 512 };

void tmx_claim(struct tmx_claims *c, const char *id, double ours)
{
    const size_t column = tmx_csv_column(c->targets, "id");
    c->any = true;
    for (size_t i = 0; i < c->targets->n_row && !c->err.code; i++) {
        if (strcmp(tmx_csv_cell(c->targets, i, column), id) == 0) {
            c->value[i] = (struct tmx_claim_value){ours, true};
        }
    }
}

/* ---- workloads/measured/targets.cfg ---- */

static const char *const kinds[] = {"node",   "pulses", "watts", "golden", "run", "population",
                                    "limits", "maxq",   "step",  "lit",    NULL}; /* as enum tmx_claim_kind */
static const char *const statistics[] = {"mean", "slope", "at", "quantile", "points", "curve", NULL};
static const char *const quantities[] = {"mhz", "temp_c", "w", "wall_w", NULL};

static const struct tmx_opt claim_opts[] = {
    TMX_ROW_TEXT(tmx_claim, id, "", "the target; none of points and curves"),
    TMX_ROW_CHOICE(tmx_claim, statistic, statistics, "mean", "of the GPUs: what is taken of them"),
    TMX_ROW_CHOICE(tmx_claim, of, quantities, "temp_c", "a GPU's mean while it works"),
    TMX_ROW_CHOICE(tmx_claim, over, quantities, "temp_c", "what it is taken over"),
    TMX_ROW_REAL(tmx_claim, from, "1", -1e9, 1e9, 0, "of a slope, likewise to; share of a quantile; place"),
    TMX_ROW_REAL(tmx_claim, to, "1", -1e9, 1e9, 0, "end of a slope"),
    TMX_ROW_REAL(tmx_claim, scale, "1", 1e-9, 1e9, 1, "a mean is divided by it"),
    TMX_ROW_INT(tmx_claim, first, "1", 0, MAX_GPU - 1, 0, "the first GPU"),
    TMX_ROW_INT(tmx_claim, every, "1", 1, MAX_GPU, 1, "and every so many"),
    TMX_ROW_TEXT(tmx_claim, figure, "", "of points and curves"),
    TMX_ROW_TEXT(tmx_claim, series, "", "in the figure; of a curve: in the file"),
    TMX_ROW_TEXT(tmx_claim, file, "", "of a curve: measured quantiles"),
    {0},
};
static const struct tmx_keys claims[] = {
    {TMX_KEYS_LIST(tmx_claim_task, "claims", claim, n_claim, claim_opts, 0, 64), .owned = true}, {0}};
static const struct tmx_opt task_opts[] = {
    TMX_ROW_TEXT(tmx_claim_task, part, NULL, "of `thermix validate`"),
    TMX_ROW_CHOICE(tmx_claim_task, kind, kinds, "run", "how its values are made"),
    TMX_ROW_TEXT(tmx_claim_task, id, "", "of its targets, or what their ids begin with"),
    TMX_ROW_TEXT(tmx_claim_task, run, "", "run or study"),
    TMX_ROW_TEXT(tmx_claim_task, mix, "", "in place of the run's own"),
    TMX_ROW_REAL(tmx_claim_task, from_s, "s", 0, 1e9, 0, "when means begin"),
    TMX_ROW_TEXT(tmx_claim_task, file, "", "measurements beside this file"),
    TMX_ROW_TEXT(tmx_claim_task, column, "", "of the file, where rows with `only` count"),
    TMX_ROW_TEXT(tmx_claim_task, only, "", "text in that column; runs of the log; case of tests/golden"),
    TMX_ROW_BOOL(tmx_claim_task, without, 0, "the rows without it instead"),
    TMX_ROW_TEXT(tmx_claim_task, figure, "", "its points are drawn there"),
    TMX_ROW_TEXT(tmx_claim_task, series, "", "what a figure calls the chip"),
    TMX_ROW_TEXT(tmx_claim_task, chip, "", "chip of a step of power"),
    TMX_ROW_REAL(tmx_claim_task, share, "1", 0, 1, 1, "of the board's step that the SMs get"),
    TMX_ROW_REAL(tmx_claim_task, step_w, "W", 0, 1e5, 0, "the board's step"),
    TMX_ROW_INT(tmx_claim_task, sms, "1", 1, 1e6, 1e6, "the first so many of the die"),
    TMX_ROW_TEXT(tmx_claim_task, off, "", "of them those that are off"),
    TMX_ROW_TEXT(tmx_claim_task, air, "none", "model of the node's air"),
    TMX_ROW_BOOL(tmx_claim_task, held, 0,
                 "the ambient is that of the training runs, and not fitted to each judged run"),
    {0},
};
static const struct tmx_opt series_opts[] = {
    TMX_ROW_TEXT(tmx_claim_series, name, NULL, "of the points"),
    TMX_ROW_BOOL(tmx_claim_series, line, 0, "a line in place of points"),
    {0},
};
static const struct tmx_keys figure_series[] = {
    {TMX_KEYS_LIST(tmx_claim_figure, "series", series, n_series, series_opts, 1, 6)}, {0}};
static const struct tmx_opt figure_opts[] = {
    TMX_ROW_TEXT(tmx_claim_figure, name, NULL, "of the picture"),
    TMX_ROW_TEXT(tmx_claim_figure, title, NULL, "above it"),
    TMX_ROW_TEXT(tmx_claim_figure, x, NULL, "below it"),
    TMX_ROW_TEXT(tmx_claim_figure, y, NULL, "beside it"),
    {0},
};
static const struct tmx_keys lists[] = {
    {TMX_KEYS_LIST(tmx_claim_file, "tasks", task, n_task, task_opts, 1, 1000), .inner = claims,
     .owned = true},
    {TMX_KEYS_LIST(tmx_claim_file, "figures", figure, n_figure, figure_opts, 0, 100), .inner = figure_series,
     .owned = true},
    {0},
};
static const struct tmx_opt no_opts[] = {{0}};
static const struct tmx_keys file_keys[] = {{.group = "", .opts = no_opts, .inner = lists}, {0}};

enum tmx_status tmx_claim_load(struct tmx_claim_file *f, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    *f = (struct tmx_claim_file){0};
    const enum tmx_status st = tmx_data_file("workloads/measured/targets.cfg", path, err);
    return st ? st : tmx_keys_load(file_keys, f, path, NULL, NULL, err);
}

void tmx_claim_finish(struct tmx_claim_file *f)
{
    for (size_t i = 0; i < f->n_task; i++) {
        free(f->task[i].claim);
    }
    free(f->task);
    free(f->figure);
}

/* ---- what runs give ---- */

static void point(const struct tmx_claims *c, const char *figure, const char *series, double x, double y)
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
    const struct tmx_machine *machine = tmx_sim_machine(sim);
    const struct tmx_frame *f = tmx_sim_frame(sim);
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
static bool execute(struct tmx_claims *r, struct means *m, const char *name, const char *mix, double from_s)
{
    char path[TMX_PATH_SIZE];
    struct tmx_err *err = &r->err;
    struct tmx_sets sets = {0};
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    const struct tmx_observer observer = {.ctx = m, .tick = look};
    *m = (struct means){.from_s = from_s};
    if (!err->code && !tmx_data_find(TMX_DATA_RUN, name, path, err) &&
        !(mix[0] && tmx_sets_put(&sets, "mix", TMX_TEXT_VALUE(mix), NULL, 0, err)) &&
        !tmx_config_load(&cfg, path, &sets, err) && !tmx_run_create(&run, tmx_config_root(cfg), err) &&
        !tmx_run_execute(run, &observer, err)) {
        m->n = tmx_sim_machine(tmx_run_sim(run))->n_gpu;
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
    tmx_config_close(cfg);
    tmx_sets_finish(&sets);
    return !err->code;
}

/* No rows after an error. */
static struct tmx_csv read_measured(struct tmx_claims *r, const char *name)
{
    char file[128], path[TMX_PATH_SIZE];
    struct tmx_csv csv = {0};
    snprintf(file, sizeof file, "workloads/measured/%s", name);
    if (!r->err.code && !tmx_data_file(file, path, &r->err)) {
        (void)!tmx_csv_read(&csv, path, &r->err);
    }
    return csv;
}

static double cell(const struct tmx_csv *csv, size_t row, const char *column)
{
    double v = NAN;
    tmx_csv_real(csv, row, tmx_csv_column(csv, column), &v);
    return v;
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

/* y at x, linear between points whose x rises, constant outside. */
static double between(size_t n, const double *x, const double *y, double at)
{
    size_t i = 0;
    while (i < n && x[i] < at) {
        i++;
    }
    return i == 0 || i == n ? y[i ? i - 1 : 0]
                            : y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
}

/* Statistics of what the GPUs of one run did. */
void tmx_silicon_run(struct tmx_claims *r, const struct tmx_claim_task *t)
{
    struct means m;
    if (!execute(r, &m, t->run, t->mix, t->from_s)) {
        return;
    }
    const double *const quantity[] = {m.mhz, m.hottest_c, m.w, &m.wall_w};
    for (const struct tmx_claim *c = t->claim; c < t->claim + t->n_claim; c++) {
        double x[MAX_GPU], y[MAX_GPU], v = NAN;
        size_t n = 0;
        for (size_t g = (size_t)c->first; g < (c->of == TMX_CLAIM_WALL_W ? 1 : m.n); g += (size_t)c->every) {
            x[n] = quantity[c->over][g];
            y[n++] = quantity[c->of][g];
        }
        if (c->statistic == TMX_CLAIM_MEAN) {
            v = 0;
            for (size_t i = 0; i < n; i++) {
                v += y[i] / c->scale / (double)n;
            }
        } else if (c->statistic == TMX_CLAIM_SLOPE) {
            v = slope(n, x, y, c->from, c->to);
        } else if (c->statistic == TMX_CLAIM_AT) {
            v = between(n, x, y, c->from);
        } else if (c->statistic == TMX_CLAIM_QUANTILE) {
            v = quantile(n, y, c->from);
        } else if (c->statistic == TMX_CLAIM_POINTS) {
            for (size_t i = 0; i < n; i++) {
                point(r, c->figure, c->series, x[i], y[i]);
            }
        } else { /* quantiles beside those of a file */
            struct tmx_csv csv = read_measured(r, c->file);
            for (size_t i = 0; i < csv.n_row; i++) {
                if (strcmp(tmx_csv_at(&csv, i, "series"), c->series) == 0) {
                    const double pct = cell(&csv, i, "quantile_pct");
                    point(r, c->figure, "measured", cell(&csv, i, "value"), pct);
                    point(r, c->figure, "ours", quantile(n, y, pct / 100), pct);
                }
            }
            tmx_csv_finish(&csv);
        }
        if (c->id[0]) {
            tmx_claim(r, c->id, v);
        }
    }
}

/* 388 V100 at their cap (t->run), and at a fixed clock (its mix). */
void tmx_silicon_population(struct tmx_claims *r, const struct tmx_claim_task *t)
{
    struct means sgemm, pagerank;
    double clock[MAX_GPU], watts[MAX_GPU], time[MAX_GPU], c1, cov, chi2;
    if (!execute(r, &sgemm, t->run, "", t->from_s) || !execute(r, &pagerank, t->run, t->mix, t->from_s)) {
        return;
    }
    struct tmx_csv csv = read_measured(r, t->file);
    const size_t n = sgemm.n;
    residuals(n, sgemm.hottest_c, sgemm.mhz, clock);
    residuals(n, pagerank.hottest_c, pagerank.w, watts);
    gsl_fit_mul(watts, 1, clock, 1, n, &c1, &cov, &chi2);
    for (size_t g = 0; g < n; g++) {
        time[g] = pow(sgemm.mhz[g], -0.952); /* measured: d ln time / d ln clock */
        point(r, "v100_clock", "388 simulated", sgemm.hottest_c[g], sgemm.mhz[g]);
    }
    for (size_t i = 0; i < csv.n_row; i++) {
        if (cell(&csv, i, "power_w") > 285) {
            point(r, "v100_clock", "388 measured", cell(&csv, i, "temp_c"), cell(&csv, i, "sm_mhz"));
        }
    }
    tmx_claim(r, "v100_w_per_k_population", slope(n, pagerank.hottest_c, pagerank.w, 0, 100));
    tmx_claim(r, "v100_clock_sd", gsl_stats_sd(sgemm.mhz, 1, n));
    tmx_claim(r, "v100_time_p99_p1", quantile(n, time, 0.99) / quantile(n, time, 0.01));
    tmx_claim(r, "v100_mhz_per_w", c1);
    tmx_csv_finish(&csv);
}

/* A card under limits: the run's GPU n_cap i + j has load i and limit j. A cell's only input is what it drew
 * at the highest limit; for a share LOW of the time it waits for its input and draws half of that. LOW is
 * fitted to the V100's cells of resnet50, bert on squad and ncf, and taken over by the others. */
enum { MAX_CAP = 9, N_LOAD = 10 };
static const double LOW = 0.13;

/* Rows from one on: a cell that some limit slows, under all limits. */
static bool is_cell(const struct tmx_claim_task *t, const struct tmx_csv *csv, size_t row,
                    const double *cap_w, size_t n_cap)
{
    bool all = true;
    for (size_t j = 0; j < n_cap; j++) {
        all = all && cell(csv, row + j, "power_limit") == cap_w[j];
    }
    return all && cell(csv, row + n_cap - 1, "average_power") >= 110 &&
           (strstr(tmx_csv_at(csv, row, t->column), t->only) == NULL) == t->without;
}

void tmx_silicon_limits(struct tmx_claims *r, const struct tmx_claim_task *t)
{
    struct means m;
    char id[64];
    double speed_off = 0, watts_off = 0, n = 0;
    (void)execute(r, &m, t->run, "", t->from_s);
    const size_t n_cap = m.n / N_LOAD;
    if (n_cap > MAX_CAP) {
        tmx_error(&r->err, TMX_ECONFIG, "%s: more than %d limits", t->run, MAX_CAP);
    }
    struct tmx_csv csv = read_measured(r, t->file);
    for (size_t row = 0; row + n_cap <= csv.n_row; row++) {
        if (!is_cell(t, &csv, row, m.cap_w, n_cap)) {
            continue;
        }
        const double top_w = cell(&csv, row + n_cap - 1, "average_power"), low_w = top_w / 2;
        double at_top_w[N_LOAD], mhz[MAX_CAP], w[MAX_CAP], load_w[N_LOAD];
        for (size_t i = 0; i < N_LOAD; i++) {
            at_top_w[i] = m.w[n_cap * i + n_cap - 1];
            load_w[i] = (double)i;
        }
        const double load = between(N_LOAD, at_top_w, load_w, (top_w - LOW * low_w) / (1 - LOW));
        for (size_t j = 0; j < n_cap; j++) {
            double by_mhz[N_LOAD], by_w[N_LOAD];
            for (size_t i = 0; i < N_LOAD; i++) {
                by_mhz[i] = m.mhz[n_cap * i + j];
                by_w[i] = m.w[n_cap * i + j];
            }
            mhz[j] = between(N_LOAD, load_w, by_mhz, load);
            w[j] = between(N_LOAD, load_w, by_w, load);
        }
        for (size_t j = 0; j < n_cap; j++) {
            const double slower = mhz[n_cap - 1] / mhz[j], time = (1 - LOW) * slower + LOW;
            const double drawn_w = ((1 - LOW) * slower * w[j] + LOW * low_w) / time,
                         is = cell(&csv, row + n_cap - 1, "time_per_epoch") /
                              cell(&csv, row + j, "time_per_epoch"),
                         is_w = cell(&csv, row + j, "average_power");
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
    tmx_claim(r, id, n > 0 ? speed_off / n : NAN);
    snprintf(id, sizeof id, "%s_watts", t->id);
    tmx_claim(r, id, n > 0 ? watts_off / n : NAN);
    tmx_csv_finish(&csv);
}

/* Cards at MaxQ's limits: rate over that at the full limit, which GPU 0 has. */
void tmx_silicon_maxq(struct tmx_claims *r, const struct tmx_claim_task *t)
{
    static const struct {
        const char *gpu, *run;
    } cases[] = {{"A100", "maxq-a100"}, {"H100", "maxq-h100"}};
    struct means m;
    struct tmx_csv csv = read_measured(r, t->file);
    double sum = 0, worst = 0, n = 0;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] && execute(r, &m, cases[c].run, "", t->from_s);
         c++) {
        for (size_t i = 0; i < csv.n_row; i++) {
            size_t g = 0;
            while (g < m.n && m.cap_w[g] != cell(&csv, i, "cap_w")) {
                g++;
            }
            if (g < m.n && strcmp(tmx_csv_at(&csv, i, "gpu"), cases[c].gpu) == 0 &&
                strcmp(tmx_csv_at(&csv, i, "scenario"), "Offline") == 0 &&
                strncmp(tmx_csv_at(&csv, i, "benchmark"), "dlrm", 4) != 0) {
                const double off = 100 * fabs(m.mhz[g] / m.mhz[0] - cell(&csv, i, "ratio"));
                sum += off;
                worst = fmax(worst, off);
                n += 1;
            }
        }
    }
    tmx_claim(r, "maxq_mean", sum / n);
    tmx_claim(r, "maxq_worst", worst);
    tmx_csv_finish(&csv);
}

/* A step of board watts, of which a share goes into the SMs that are there; rises of the hottest SM behind a
 * sensor of SENSOR_S. */
static const double SENSOR_S = 0.15, DT_S = 0.01;

/* Behind ours the log's rise from the row at which its watts have half risen. */
void tmx_silicon_step(struct tmx_claims *r, const struct tmx_claim_task *t)
{
    char chip[64], label[64], file[128], path[TMX_PATH_SIZE];
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
            tmx_claim(r, t->claim[k++].id, sensor_k);
        }
    }
    tmx_arena_finish(&arena);
    tmx_engine_close(e);
    struct tmx_measured log = {0};
    snprintf(file, sizeof file, "workloads/measured/%s", t->file);
    snprintf(label, sizeof label, "%s measured", t->series);
    const bool read = !r->err.code && r->points && !tmx_data_file(file, path, &r->err) &&
                      !tmx_measured_read(&log, path, NULL, &r->err);
    const struct tmx_series *s = read ? &log.series[0] : NULL;
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
void tmx_silicon_lit(struct tmx_claims *r, const struct tmx_claim_task *t)
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
    (void)!tmx_study_values(&v, &runs, &o, &r->err);
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
        tmx_claim(r, way[i].power, power);
        tmx_claim(r, way[i].throughput, throughput);
    }
    tmx_run_values_finish(&v);
    tmx_sweep_finish(&sweep);
    if (r->points) { /* Table III as printed: rows power, throughput of each way, measured and by its model */
        csv = read_measured(r, t->file);
    }
    for (size_t i = 0; i + 1 < csv.n_row; i++) {
        if (strncmp(tmx_csv_at(&csv, i, "quantity"), "power", 5) == 0 &&
            strcmp(tmx_csv_at(&csv, i, "where"), "Table III") == 0) {
            point(r, "lit_silicon", tmx_csv_at(&csv, i, "kind"), cell(&csv, i, "value"),
                  cell(&csv, i + 1, "value"));
        }
    }
    tmx_csv_finish(&csv);
}

enum tmx_status tmx_silicon_draw(const struct tmx_silicon_point *points, size_t n, const char *folder,
                                 struct tmx_err *err)
{
    static const struct tmx_column columns[] = {TMX_INT("series"), TMX_REAL("x", 4), TMX_REAL("y", 4)};
    struct tmx_plot p = {.dir = folder, .format = "svg", .quiet = true};
    struct tmx_claim_file file;
    enum tmx_status st = tmx_claim_load(&file, err);
    st = st ? st : tmx_plot_begin(&p, err);
    if (!st) {
        tmx_plot_folder(&p);
    }
    for (const struct tmx_claim_figure *f = file.figure; !st && f < file.figure + file.n_figure; f++) {
        size_t k = 0;
        while (k < n && strcmp(points[k].figure, f->name) != 0) {
            k++;
        }
        if (k == n) {
            continue;
        }
        struct tmx_table *t = tmx_table_new(columns, 3);
        tmx_plot_words(&p, f->title, f->x, f->y);
        for (size_t s = 0; s < f->n_series; s++) {
            const char *name = f->series[s].name;
            tmx_plot_label(&p, "name", name);
            tmx_plot_label(&p, "line", f->series[s].line ? "1" : "0");
            for (size_t i = 0; i < n; i++) {
                if (strcmp(points[i].figure, f->name) == 0 && strcmp(points[i].series, name) == 0) {
                    tmx_table_row(t, "%zu %g %g", s + 1, points[i].x, points[i].y);
                }
            }
        }
        tmx_plot_data(&p, f->name, "", t);
        tmx_plot_draw(&p, "silicon", f->name);
    }
    tmx_claim_finish(&file);
    return st ? st : p.st;
}
