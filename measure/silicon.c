/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each function below makes the values of some targets: it executes runs of workloads/runs or a study, means
 * what its GPUs did while they worked, and reduces it as the measurement was reduced. What a run needs to
 * know of a measurement (a load's watts, a host) is in its files, with its origin. */
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

/* False after an error; m is then empty. */
static bool execute(struct tmx_claims *r, struct means *m, const char *name, const char *set, double from_s)
{
    char path[TMX_PATH_SIZE];
    struct tmx_err *err = &r->err;
    struct tmx_sets sets = {0};
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    const struct tmx_observer observer = {.ctx = m, .tick = look};
    *m = (struct means){.from_s = from_s};
    if (!err->code && !tmx_data_find(TMX_DATA_RUN, name, path, err) &&
        !(set && tmx_sets_add(&sets, "", set, NULL, 0, err)) && !tmx_config_load(&cfg, path, &sets, err) &&
        !tmx_run_create(&run, tmx_config_root(cfg), err) && !tmx_run_execute(run, &observer, err)) {
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

/* GPUs 3 i, 3 i + 1, 3 i + 2 in the same air: sgemm at the cap, pagerank, next to nothing. */
static void one_v100(struct tmx_claims *r, const void *which)
{
    struct means m;
    double t[3][8], y[3][8], drawn = 0;
    (void)which;
    if (!execute(r, &m, "v100-air", NULL, 20)) {
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 3; k++) {
            t[k][i] = m.hottest_c[3 * i + k];
            y[k][i] = k == 0 ? m.mhz[3 * i] : m.w[3 * i + k];
        }
        drawn += m.w[3 * i] / 300 / 8;
        point(r, "v100_clock", "one chip in other air", t[0][i], y[0][i]);
    }
    tmx_claim(r, "v100_mhz_per_k", slope(8, t[0], y[0], 49, 81));
    tmx_claim(r, "v100_w_per_k", slope(8, t[1], y[1], 24, 46));
    tmx_claim(r, "v100_floor_w", between(8, t[2], y[2], 31));
    tmx_claim(r, "v100_drawn", drawn);
}

static void many_v100(struct tmx_claims *r, const void *which)
{
    struct means sgemm, pagerank;
    double clock[MAX_GPU], watts[MAX_GPU], time[MAX_GPU], c1, cov, chi2;
    (void)which;
    if (!execute(r, &sgemm, "longhorn", NULL, 10) ||
        !execute(r, &pagerank, "longhorn", "mix=\"v100_pagerank-388\"", 10)) {
        return;
    }
    struct tmx_csv csv = read_measured(r, "longhorn_v100_sgemm_by_gpu.csv");
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
struct limit_case {
    const char *run, *file, *column, *only, *speed, *watts;
    bool without; /* rows without `only` in the column */
    size_t n_cap;
    double cap_w[MAX_CAP];
};
#define V100_CAPS                         \
    7,                                    \
    {                                     \
        100, 125, 150, 175, 200, 225, 250 \
    }
static const struct limit_case limit_cases[] = {
    {"zeus-v100", "zeus_v100_open.csv", "dataset", "sentiment140", "zeus_v100_speed", "zeus_v100_watts", true,
     V100_CAPS},
    {"zeus-v100", "zeus_v100_open.csv", "dataset", "sentiment140", "zeus_v100_new_speed",
     "zeus_v100_new_watts", false, V100_CAPS},
    {"zeus-a40",
     "zeus_a40_open.csv",
     "network",
     "bert",
     "zeus_a40_speed",
     "zeus_a40_watts",
     false,
     9,
     {100, 125, 150, 175, 200, 225, 250, 275, 300}},
    {"zeus-rtx6000",
     "zeus_rtx6000_open.csv",
     "network",
     "bert",
     "zeus_rtx6000_speed",
     "zeus_rtx6000_watts",
     false,
     8,
     {100, 125, 150, 175, 200, 225, 250, 260}},
};

/* Rows from one on: a cell that some limit slows, under all limits. */
static bool is_cell(const struct limit_case *c, const struct tmx_csv *csv, size_t row)
{
    bool all = true;
    for (size_t j = 0; j < c->n_cap; j++) {
        all = all && cell(csv, row + j, "power_limit") == c->cap_w[j];
    }
    return all && cell(csv, row + c->n_cap - 1, "average_power") >= 110 &&
           (strstr(tmx_csv_at(csv, row, c->column), c->only) == NULL) == c->without;
}

static void zeus(struct tmx_claims *r, const void *which)
{
    const struct limit_case *c = which;
    const size_t n_cap = c->n_cap;
    const bool drawn = c == &limit_cases[0];
    struct means m;
    double speed_off = 0, watts_off = 0, n = 0;
    (void)execute(r, &m, c->run, NULL, 20);
    struct tmx_csv csv = read_measured(r, c->file);
    for (size_t row = 0; row + n_cap <= csv.n_row; row++) {
        if (!is_cell(c, &csv, row)) {
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
            if (drawn) {
                point(r, "zeus_speed", "measured", c->cap_w[j], is);
                point(r, "zeus_speed", "ours", c->cap_w[j], 1 / time);
            }
            if (j + 1 < n_cap) {
                speed_off += 100 * fabs(1 / time - is);
                watts_off += fabs(drawn_w - is_w);
                n += 1;
            }
        }
    }
    tmx_claim(r, c->speed, n > 0 ? speed_off / n : NAN);
    tmx_claim(r, c->watts, n > 0 ? watts_off / n : NAN);
    tmx_csv_finish(&csv);
}

/* Cards at MaxQ's limits: rate over that at the full limit, which GPU 0 has. */
static void maxq(struct tmx_claims *r, const void *which)
{
    static const struct {
        const char *gpu, *run;
    } cases[] = {{"A100", "maxq-a100"}, {"H100", "maxq-h100"}};
    struct means m;
    struct tmx_csv csv = read_measured(r, "mlperf_v30_maxq.csv");
    double sum = 0, worst = 0, n = 0;
    (void)which;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] && execute(r, &m, cases[c].run, NULL, 15); c++) {
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

struct wall_case {
    const char *run, *load, *idle; /* the targets' ids; NULL: none */
    double limits_w;
};
static const struct wall_case wall_cases[] = {{"wall-a100", "wall_a100", "wall_idle_pcie", 2400},
                                              {"wall-h100", "wall_h100", NULL, 2800},
                                              {"wall-b200-air", "wall_b200", "wall_idle_b200_air", 8000},
                                              {"wall-b200-water", NULL, "wall_idle_b200_water", 8000},
                                              {"wall-dgx-a100", "wall_dgx_a100", "wall_idle_dgx_a100", 3200}};

static void wall(struct tmx_claims *r, const void *which)
{
    const struct wall_case *c = which;
    struct means m;
    if (c->load && execute(r, &m, c->run, NULL, 0)) {
        tmx_claim(r, c->load, m.wall_w / c->limits_w);
    }
    if (c->idle && execute(r, &m, c->run, "mix=\"rest8\"", 0)) {
        tmx_claim(r, c->idle, m.wall_w / 1000);
    }
}

/* A step of board watts, of which a share goes into the SMs that are there; rises of the hottest SM behind a
 * sensor of SENSOR_S. */
static const double SENSOR_S = 0.15, DT_S = 0.01;

struct step_case {
    const char *chip, *engine, *log, *id[7];
    double share, step_w;
    bool (*is_off)(long sm);
};

static bool a100_off(long sm)
{
    return sm == 46 || sm == 47 || sm == 78 || sm == 79 || sm >= 112;
}
static bool rtx3090_off(long sm)
{
    return sm >= 82;
}
static bool a5000_off(long sm)
{
    return sm >= 64;
}

/* Behind ours the log's rise from the row at which its watts have half risen. */
static void step(struct tmx_claims *r, const void *which)
{
    const struct step_case *c = which;
    static const double at_s[7] = {0.1, 0.25, 0.5, 1, 2, 4, 5.9};
    const char *const options[] = {c->engine, "network=physical", "ambient=300", "init_temp=300", NULL};
    struct tmx_engine *e = NULL;
    struct tmx_arena arena = {0};
    char label[64], file[128], path[TMX_PATH_SIZE];
    double *w, *temp_k, sms = 0, sensor_k = 0;
    if (tmx_engine_open(&e, options, &r->err)) {
        return;
    }
    const size_t n = tmx_engine_units(e);
    TMX_TAKE(&arena, w, n);
    if (!TMX_TAKE(&arena, temp_k, n)) {
        tmx_error(&r->err, TMX_ENOMEM, "%zu units", n);
    }
    for (size_t u = 0; !r->err.code && u < n; u++) {
        const char *name = tmx_engine_unit(e, u);
        w[u] = strncmp(name, "SM", 2) == 0 && !c->is_off(strtol(name + 2, NULL, 10));
        sms += w[u];
    }
    for (size_t u = 0; !r->err.code && u < n; u++) { /* SMs of a chip are alike */
        w[u] *= c->share * c->step_w / sms;
    }
    snprintf(label, sizeof label, "%s ours", c->chip);
    for (size_t i = 1, k = 0; k < 7 && !r->err.code && !tmx_engine_step(e, DT_S, w, temp_k, &r->err); i++) {
        double hottest_k = 0;
        for (size_t u = 0; u < n; u++) {
            hottest_k = fmax(hottest_k, w[u] > 0 ? temp_k[u] - 300 : 0);
        }
        sensor_k += (hottest_k - sensor_k) * -expm1(-DT_S / SENSOR_S);
        point(r, "steps", label, (double)i * DT_S, sensor_k);
        if (fabs((double)i * DT_S - at_s[k]) < DT_S / 2) {
            if (c->id[k]) {
                tmx_claim(r, c->id[k], sensor_k);
            }
            k++;
        }
    }
    tmx_arena_finish(&arena);
    tmx_engine_close(e);
    struct tmx_measured log = {0};
    snprintf(file, sizeof file, "workloads/measured/%s", c->log);
    snprintf(label, sizeof label, "%s measured", c->chip);
    const bool read = !r->err.code && r->points && !tmx_data_file(file, path, &r->err) &&
                      !tmx_measured_read(&log, path, NULL, &r->err);
    const struct tmx_series *s = read ? &log.series[0] : NULL;
    size_t from = 0;
    while (s && from + 1 < s->n && s->q[TMX_Q_POWER][from] < s->q[TMX_Q_POWER][0] + c->step_w / 2) {
        from++;
    }
    for (size_t i = from; s && i < s->n && s->q[TMX_Q_TIME][i] < s->q[TMX_Q_TIME][from] + 5.9; i += 5) {
        point(r, "steps", label, s->q[TMX_Q_TIME][i] - s->q[TMX_Q_TIME][from],
              s->q[TMX_Q_TEMP][i] - s->q[TMX_Q_TEMP][0]);
    }
    tmx_measured_finish(&log);
}

static const struct step_case step_cases[] = {
    {"A100",
     "chip=a100",
     "a100_step.csv.gz",
     {"step_a100_0.1", "step_a100_0.25", "step_a100_0.5", "step_a100_1", "step_a100_2", "step_a100_4",
      "step_a100_5.9"},
     1,
     135.9,
     a100_off},
    {"RTX 3090",
     "chip=rtx3090",
     "rtx3090_step.csv.gz",
     {NULL, NULL, "step_rtx3090_0.5", "step_rtx3090_1", "step_rtx3090_2", "step_rtx3090_4",
      "step_rtx3090_5.9"},
     0.6,
     306.3,
     rtx3090_off},
    {"RTX A5000",
     "chip=rtx-a5000",
     NULL,
     {NULL, NULL, "step_a5000_0.5", "step_a5000_1", "step_a5000_2", "step_a5000_4", "step_a5000_5.9"},
     0.6,
     138,
     a5000_off}};

static const struct hall_case {
    const char *run, *id[5];
} hall_cases[] = {{"kalos", {"kalos_p25", "kalos_p50", "kalos_p75", "kalos_p90", "kalos_p99"}},
                  {"seren", {"seren_p25", "seren_p50", "seren_p75", "seren_p90", "seren_p99"}}};

/* A hall at the quantiles of a cluster's watts: quantiles of its temperatures. */
static void hall(struct tmx_claims *r, const void *which)
{
    static const double share[] = {0.25, 0.5, 0.75, 0.9, 0.99};
    const struct hall_case *c = which;
    struct means m;
    if (!execute(r, &m, c->run, NULL, 5)) {
        return;
    }
    for (size_t i = 0; i < sizeof share / sizeof share[0]; i++) {
        tmx_claim(r, c->id[i], quantile(m.n, m.hottest_c, share[i]));
    }
    struct tmx_csv csv = {0};
    if (c == &hall_cases[0]) {
        csv = read_measured(r, "acme_kalos_quantiles.csv");
    }
    for (size_t i = 0; i < csv.n_row; i++) {
        if (strcmp(tmx_csv_at(&csv, i, "series"), "gpu_temp_c_kalos") == 0) {
            const double pct = cell(&csv, i, "quantile_pct");
            point(r, "kalos", "measured", cell(&csv, i, "value"), pct);
            point(r, "kalos", "ours", quantile(m.n, m.hottest_c, pct / 100), pct);
        }
    }
    tmx_csv_finish(&csv);
}

/* The study lit-silicon: its first axis are nodes, its second what is done, and first of that caps of 750 W,
 * of 700 W, Red, Realloc, Slosh. Means over nodes of ratios as the paper's Table III has them. */
static void lit_silicon(struct tmx_claims *r, const void *which)
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
    (void)which;
    if (tmx_data_find(TMX_DATA_SUITE, "lit-silicon", path, &absent) ||
        tmx_sweep_load(&sweep, path, &r->err)) {
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
                         t = before[step_s] / after[step_s];
            power += p / (double)n;
            throughput += t / (double)n;
            point(r, "lit_silicon", way[i].label, p, t);
        }
        tmx_claim(r, way[i].power, power);
        tmx_claim(r, way[i].throughput, throughput);
    }
    tmx_run_values_finish(&v);
    tmx_sweep_finish(&sweep);
    if (r->points) { /* Table III as printed: rows power, throughput of each way, measured and by its model */
        csv = read_measured(r, "lit_silicon.csv");
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

/* What runs longest is begun first. */
const struct tmx_claim_task tmx_silicon_tasks[] = {
    {"longhorn", one_v100, NULL},
    {"longhorn", many_v100, NULL},
    {"zeus", zeus, &limit_cases[0]},
    {"zeus", zeus, &limit_cases[1]},
    {"zeus", zeus, &limit_cases[2]},
    {"zeus", zeus, &limit_cases[3]},
    {"maxq", maxq, NULL},
    {"wall", wall, &wall_cases[0]},
    {"wall", wall, &wall_cases[1]},
    {"wall", wall, &wall_cases[2]},
    {"wall", wall, &wall_cases[3]},
    {"wall", wall, &wall_cases[4]},
    {"steps", step, &step_cases[0]},
    {"steps", step, &step_cases[1]},
    {"steps", step, &step_cases[2]},
    {"kalos", hall, &hall_cases[0]},
    {"kalos", hall, &hall_cases[1]},
    {"lit-silicon", lit_silicon, NULL},
    {0},
};

/* One figure of a script: its words, and which of its series are lines. */
struct figure {
    const char *name, *title, *x, *y, *series[6], *line[3];
};
static const struct figure figures[] = {
    {"v100_clock",
     "388 V100 under a cap of 300 W: clock over temperature",
     "temperature (degC)",
     "clock (MHz)",
     {"388 measured", "388 simulated", "one chip in other air"},
     {"one chip in other air"}},
    {"zeus_speed",
     "A V100 card under power limits: 15 training loads",
     "power limit (W)",
     "speed relative to 250 W",
     {"measured", "ours"},
     {NULL}},
    {"steps",
     "A step of board power: rise of the chip's sensor",
     "time (s)",
     "rise (K)",
     {"A100 measured", "A100 ours", "RTX 3090 measured", "RTX 3090 ours", "RTX A5000 measured",
      "RTX A5000 ours"},
     {"A100 ours", "RTX 3090 ours", "RTX A5000 ours"}},
    {"kalos",
     "A cluster of A100: distribution of GPU temperatures",
     "temperature (degC)",
     "share of GPUs below (%)",
     {"measured", "ours"},
     {"measured", "ours"}},
    {"lit_silicon",
     "Eight MI300X: power and throughput of 20 nodes, and as printed",
     "power before / after",
     "throughput after / before",
     {"Red", "Realloc", "Slosh", "measured", "paper's model"},
     {NULL}},
};

enum tmx_status tmx_silicon_draw(const struct tmx_silicon_point *points, size_t n, const char *folder,
                                 struct tmx_err *err)
{
    static const struct tmx_column columns[] = {TMX_INT("series"), TMX_REAL("x", 4), TMX_REAL("y", 4)};
    struct tmx_plot p = {.dir = folder, .format = "svg", .quiet = true};
    const enum tmx_status st = tmx_plot_begin(&p, err);
    if (st) {
        return st;
    }
    tmx_plot_folder(&p);
    for (const struct figure *f = figures; f < figures + sizeof figures / sizeof figures[0]; f++) {
        size_t k = 0;
        while (k < n && strcmp(points[k].figure, f->name) != 0) {
            k++;
        }
        if (k == n) {
            continue;
        }
        struct tmx_table *t = tmx_table_new(columns, 3);
        tmx_plot_words(&p, f->title, f->x, f->y);
        for (size_t s = 0; s < 6 && f->series[s]; s++) {
            bool line = false;
            for (size_t l = 0; l < 3; l++) {
                line = line || (f->line[l] && strcmp(f->line[l], f->series[s]) == 0);
            }
            tmx_plot_label(&p, "name", f->series[s]);
            tmx_plot_label(&p, "line", line ? "1" : "0");
            for (size_t i = 0; i < n; i++) {
                if (strcmp(points[i].figure, f->name) == 0 && strcmp(points[i].series, f->series[s]) == 0) {
                    tmx_table_row(t, "%zu %g %g", s + 1, points[i].x, points[i].y);
                }
            }
        }
        tmx_plot_data(&p, f->name, "", t);
        tmx_plot_draw(&p, "silicon", f->name);
    }
    return p.st;
}
