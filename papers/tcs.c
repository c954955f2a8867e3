/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 000: TCS and hTCS on its ten benchmarks. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "papers/cta_studies.h"

#define FIELD(f)    offsetof(struct tmx_cta_row, f)
#define NO_THROTTLE "tcs(throttling=false)"

/* How near a value must come to the paper's to count as reproduced: changes of energy (a mean, the best
 * kernel) and of performance and shares in points, ratios of latency, and cores, which are whole. */
static const double mean_points = 4, best_points = 6, performance_points = 1, share_points = 5;
static const double latency_times = 1, same_core = 0.5;

static const char *const policies[] = {"all",       "tcs", NO_THROTTLE, "htcs", "static_optimal",
                                       "tcs_share", NULL};
static const char *const image_policies[] = {"all", "tcs", NO_THROTTLE, "htcs", NULL};

/* Change of energy or time of a policy against TCS, per kernel: mean, largest or smallest. */
struct against_tcs {
    double energy_mean, energy_least, energy_most, performance_least;
};

static struct against_tcs against_tcs(const struct tmx_cta_suite *s, const char *policy)
{
    struct against_tcs a = {
        .energy_least = INFINITY, .energy_most = -INFINITY, .performance_least = INFINITY};
    for (size_t k = 0; k < s->n_first; k++) {
        const struct tmx_cta_row *tcs = tmx_cta_report_find(&s->report, s->program[k].name, "tcs");
        const struct tmx_cta_row *r = tmx_cta_report_find(&s->report, s->program[k].name, policy);
        const double energy = 100 * (r->energy_j / tcs->energy_j - 1);
        a.energy_mean += energy / (double)s->n_first;
        a.energy_least = fmin(a.energy_least, energy);
        a.energy_most = fmax(a.energy_most, energy);
        a.performance_least = fmin(a.performance_least, 100 * (tcs->seconds / r->seconds - 1));
    }
    return a;
}

static double cores_error_pct(const struct tmx_cta_suite *s, size_t first, size_t last)
{
    double sum = 0;
    for (size_t k = first; k < last; k++) {
        const struct tmx_cta_row *r = tmx_cta_report_find(&s->report, s->program[k].name, "tcs");
        sum += 100 * fabs(r->cores / r->optimal_cores - 1);
    }
    return sum / (double)(last - first);
}

static const struct tmx_cta_row *row(const struct tmx_cta_suite *s, const char *kernel, const char *policy)
{
    const struct tmx_cta_row *r = tmx_cta_report_find(&s->report, kernel, policy);
    static const struct tmx_cta_row none;
    return r ? r : &none;
}

/* Relative rise of the L2 hit rate from all cores to those TCS settles for. */
static double hit_gain_pct(const struct tmx_cta_suite *s, const char *kernel, size_t launch)
{
    const struct tmx_cta_row *r = row(s, kernel, "tcs");
    for (size_t k = 0; k < s->n; k++) {
        if (strcmp(s->program[k].name, kernel) == 0 && r->launch_cores[launch] > 0) {
            return 100 * (pow((double)s->chip.memory.cores / r->launch_cores[launch],
                              s->program[k].kernel[launch].l2_gain) -
                          1);
        }
    }
    return 0;
}

static void performance_and_energy(struct tmx_cta_suite *s)
{
    const size_t m = s->n_first, n = s->n;
    const struct against_tcs htcs = against_tcs(s, "htcs"), plain = against_tcs(s, NO_THROTTLE);
    tmx_cta_suite_paper(s, "Figure 6b", "energy, change against all cores, mean", "memory-intensive, tcs",
                        "percent", -38, tmx_cta_suite_mean(s, "tcs", 0, m, FIELD(energy_pct)), mean_points,
                        TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(s, "Figure 6b", "energy, change against all cores, best", "memory-intensive, tcs",
                        "percent", -48, tmx_cta_suite_extreme(s, "tcs", 0, m, FIELD(energy_pct), -1),
                        best_points, TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(
        s, "Figure 6a", "performance, change against all cores, mean", "memory-intensive, tcs", "percent", -6,
        tmx_cta_suite_mean(s, "tcs", 0, m, FIELD(performance_pct)), performance_points, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 6a", "performance, change against all cores", "LBM, tcs", "percent", 6,
                        row(s, "LBM", "tcs")->performance_pct, performance_points, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 6a", "performance, change against all cores", "BFS, tcs", "percent", 5,
                        row(s, "BFS", "tcs")->performance_pct, performance_points, TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(s, "Section IV", "L2 hit rate, relative rise", "LBM, tcs", "percent", 35,
                        hit_gain_pct(s, "LBM", 0), 0, TMX_PAPER_INPUT);
    tmx_cta_suite_paper(s, "Section IV", "L2 hit rate, relative rise", "BFS kernel 15, tcs", "percent", 7,
                        hit_gain_pct(s, "BFS", 14), 0, TMX_PAPER_INPUT);
    tmx_cta_suite_paper(s, "Figure 6c", "performance, change against all cores, mean",
                        "compute-intensive, tcs", "percent", NAN,
                        tmx_cta_suite_mean(s, "tcs", m, n, FIELD(performance_pct)), 0, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 6b", "energy, further change against TCS, mean", "memory-intensive, htcs",
                        "percent", -6, htcs.energy_mean, mean_points, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 6b", "energy, further change against TCS, best", "memory-intensive, htcs",
                        "percent", -18, htcs.energy_least, best_points, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 6c", "performance, change against all cores, mean",
                        "compute-intensive, htcs", "percent", -1.5,
                        tmx_cta_suite_mean(s, "htcs", m, n, FIELD(performance_pct)), performance_points,
                        TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(s, "Figure 6c", "performance, change against all cores", "BLK, htcs", "percent", -5,
                        row(s, "BLK", "htcs")->performance_pct, performance_points, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Section IV", "energy without throttling, change against TCS, worst",
                        "memory-intensive", "percent", 15, plain.energy_most, best_points,
                        TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Section IV", "performance without throttling, change against TCS, worst",
                        "memory-intensive", "percent", -2, plain.performance_least, performance_points,
                        TMX_PAPER_PREDICTION);
}

static void cores_and_latency(struct tmx_cta_suite *s)
{
    static const struct {
        size_t launch;
        double cores;
    } bfs[] = {{15, 8}, {17, 9}, {19, 17}};
    const size_t m = s->n_first, n = s->n;
    tmx_cta_suite_paper(s, "Figure 7", "cores against the static optimum, mean error", "memory-intensive",
                        "percent", 6, cores_error_pct(s, 0, m), 2, TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(s, "Figure 7", "cores against the static optimum, mean error", "compute-intensive",
                        "percent", NAN, cores_error_pct(s, m, n), 0, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Section V", "cores that TCS settles for", "MUM", "cores", 6,
                        row(s, "MUM", "tcs")->cores, same_core, TMX_PAPER_PREDICTION);
    for (size_t i = 0; i < sizeof bfs / sizeof bfs[0]; i++) {
        char condition[32];
        snprintf(condition, sizeof condition, "BFS, kernel %zu", bfs[i].launch);
        tmx_cta_suite_paper(s, "Figure 9", "cores that TCS settles for", condition, "cores", bfs[i].cores,
                            row(s, "BFS", "tcs")->launch_cores[bfs[i].launch - 1], same_core,
                            TMX_PAPER_CALIBRATED);
    }
    tmx_cta_suite_paper(s, "Figure 3d", "memory latency, all cores over one core, mean", "memory-intensive",
                        "1", 4, tmx_cta_suite_mean(s, "all", 0, m, FIELD(latency_ratio)), latency_times,
                        TMX_PAPER_CALIBRATED);
    tmx_cta_suite_paper(
        s, "Figure 3d", "memory latency, all cores over one core, largest", "memory-intensive", "1", 7.5,
        tmx_cta_suite_extreme(s, "all", 0, m, FIELD(latency_ratio), 1), latency_times, TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 3b", "memory latency, all cores over one core, largest",
                        "compute-intensive", "1", 1.5,
                        tmx_cta_suite_extreme(s, "all", m, n, FIELD(latency_ratio), 1), latency_times / 2,
                        TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 2", "static share of power, mean", "all ten kernels", "percent", 40,
                        tmx_cta_suite_mean(s, "all", 0, n, FIELD(static_pct)), share_points,
                        TMX_PAPER_PREDICTION);
    tmx_cta_suite_paper(s, "Figure 2", "static share of power, largest", "all ten kernels", "percent", 60,
                        tmx_cta_suite_extreme(s, "all", 0, n, FIELD(static_pct), 1), share_points,
                        TMX_PAPER_PREDICTION);
}

static void add_means(struct tmx_cta_suite *s)
{
    static const size_t field[] = {
        FIELD(cores),   FIELD(optimal_cores), FIELD(performance_pct), FIELD(ipc_pct), FIELD(energy_pct),
        FIELD(edp_pct), FIELD(latency_ratio), FIELD(latency_cycles),  FIELD(seconds), FIELD(energy_j),
        FIELD(power_w), FIELD(working_cores), FIELD(static_pct)};
    for (int g = 0; g < 2; g++) {
        for (const char *const *p = policies; *p; p++) {
            struct tmx_cta_row r = {0};
            snprintf(r.kernel, sizeof r.kernel, "%s", g == 0 ? "mean_memory" : "mean_compute");
            snprintf(r.policy, sizeof r.policy, "%s", *p);
            for (size_t f = 0; f < sizeof field / sizeof field[0]; f++) {
                const double v =
                    tmx_cta_suite_mean(s, *p, g == 0 ? 0 : s->n_first, g == 0 ? s->n_first : s->n, field[f]);
                memcpy((char *)&r + field[f], &v, sizeof v);
            }
            tmx_cta_report_add(&s->report, &r);
        }
    }
}

static enum tmx_status studies(struct tmx_cta_suite *s, struct tmx_err *err)
{
    if (!s->call->out_dir) {
        return TMX_OK;
    }
    enum tmx_status st = tmx_cta_study_sweep(s, err);
    st = st ? st : tmx_cta_study_image(s, "MUM", image_policies, err);
    st = st ? st : tmx_cta_study_sensitivity(s, err);
    return st ? st : tmx_cta_study_share(s, err);
}

enum tmx_status tmx_suite_tcs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_cta_suite s;
    enum tmx_status st = tmx_cta_suite_begin(&s, call, "000", "memory_kernels", "compute_kernels", err);
    if (st || call->check) {
        tmx_cta_suite_end(&s);
        return st;
    }
    st = tmx_cta_suite_run(&s, &s.chip, policies, &s.report, err);
    if (!st) {
        performance_and_energy(&s);
        cores_and_latency(&s);
        add_means(&s);
    }
    st = st ? st : studies(&s, err);
    st = st ? st : tmx_cta_suite_write(&s, err);
    tmx_cta_suite_end(&s);
    return st;
}
