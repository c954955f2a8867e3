/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 000: TCS and hTCS on its ten benchmarks. What the paper prints stands in the suite file. */
#include <math.h>
#include <string.h>

#include "papers/cta_studies.h"

static const char *const policies[] = {"all",       "tcs", "tcs(throttling=false)", "htcs", "static_optimal",
                                       "tcs_share", NULL};
static const char *const image_policies[] = {"all", "tcs", "tcs(throttling=false)", "htcs", NULL};

/* The same run under TCS. */
static const struct tmx_cta_row *under_tcs(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    struct tmx_cta_at tcs = *at;
    tcs.policy = "tcs";
    return tmx_cta_suite_row(s, &tcs);
}

static double energy_vs_tcs(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at), *tcs = under_tcs(s, at);
    return r && tcs ? 100 * (r->energy_j / tcs->energy_j - 1) : NAN;
}

static double performance_vs_tcs(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at), *tcs = under_tcs(s, at);
    return r && tcs ? 100 * (tcs->seconds / r->seconds - 1) : NAN;
}

/* How far the cores chosen are from the static optimum. */
static double cores_error(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at);
    return r ? 100 * fabs(r->cores / r->optimal_cores - 1) : NAN;
}

/* Relative rise of the L2 hit rate from all cores to those the policy settles for in a launch. */
static double l2_hit_gain(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at);
    const size_t launch = at->launch ? at->launch - 1 : 0;
    if (!r || r->launch_cores[launch] <= 0) {
        return NAN;
    }
    const double share = (double)s->chip[at->chip].memory.cores / r->launch_cores[launch];
    return 100 * (pow(share, s->program[at->kernel].kernel[launch].l2_gain) - 1);
}

static const struct tmx_cta_column columns[] = {
    {"energy_vs_tcs_pct", energy_vs_tcs},
    {"performance_vs_tcs_pct", performance_vs_tcs},
    {"cores_error_pct", cores_error},
    {"l2_hit_gain_pct", l2_hit_gain},
    {0},
};

static const struct tmx_cta_kind kind = {.paper = "000",
                                         .first = "memory_kernels",
                                         .second = "compute_kernels",
                                         .first_name = "memory",
                                         .second_name = "compute",
                                         .policies = policies,
                                         .beside = policies,
                                         .columns = columns};

static double mean(const struct tmx_cta_suite *s, size_t first, size_t last, const char *policy, size_t field)
{
    double sum = 0;
    for (size_t k = first; k < last; k++) {
        double v;
        memcpy(&v, (const char *)tmx_cta_report_find(&s->report[0], s->program[k].name, policy) + field,
               sizeof v);
        sum += v;
    }
    return sum / (double)(last - first);
}

/* Rows of the means of the first seed. */
static void add_means(struct tmx_cta_suite *s)
{
#define FIELD(f) offsetof(struct tmx_cta_row, f)
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
                const double v = mean(s, g == 0 ? 0 : s->n_first, g == 0 ? s->n_first : s->n, *p, field[f]);
                memcpy((char *)&r + field[f], &v, sizeof v);
            }
            tmx_cta_report_add(&s->report[0], &r);
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
    enum tmx_status st = tmx_cta_suite_begin(&s, call, &kind, err);
    if (!st && !call->check) {
        st = tmx_cta_suite_run(&s, err);
        if (!st) {
            add_means(&s);
        }
        st = st ? st : studies(&s, err);
        st = st ? st : tmx_cta_suite_write(&s, NULL, err);
    }
    tmx_cta_suite_end(&s);
    return st;
}
