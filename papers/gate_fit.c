/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/gate_fit.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "papers/values.h"
#include "run/load/data.h"
#include "sched/sched.h"

/* Evaluations of the simplex, warp instructions of a run while fitting, policies at most. */
enum { EVALUATIONS = 90, FIT_BUDGET = 60000, MAX_POLICY = 16, N_TARGET = 3 };

static const size_t knob[] = {
    offsetof(struct tmx_stream_knobs, dependence),     offsetof(struct tmx_stream_knobs, persistence),
    offsetof(struct tmx_stream_knobs, fp_persistence), offsetof(struct tmx_stream_knobs, miss),
    offsetof(struct tmx_stream_knobs, latency),        offsetof(struct tmx_stream_knobs, launch_gap),
};
enum { N_KNOB = sizeof knob / sizeof knob[0] };

static double *knob_at(struct tmx_stream_knobs *k, size_t i)
{
    return (double *)(void *)((char *)k + knob[i]);
}

/* Means of one case over the kernels of a plan of one fit, percent: INT and FP saved, slowdown; FP over the
 * kernels with FP. */
static void mean_of(const struct tmx_gate_plan *plan, const struct tmx_sm_result *result, size_t gate_case,
                    double mean[N_TARGET])
{
    double fp_saved = 0, n_fp = 0;
    mean[0] = mean[2] = 0;
    for (size_t k = 0; k < plan->n_kernel; k++) {
        const struct tmx_sm_result *r = &result[k * plan->n_case];
        const struct tmx_gate_numbers n =
            tmx_gate_numbers(plan, &r[gate_case], r, plan->gate[gate_case].break_even_cycles);
        mean[0] += 100 * n.saved[0] / (double)plan->n_kernel;
        mean[2] += 100 * n.slowdown / (double)plan->n_kernel;
        fp_saved += isnan(n.saved[1]) ? 0 : 100 * n.saved[1];
        n_fp += !isnan(n.saved[1]);
    }
    mean[1] = n_fp > 0 ? fp_saved / n_fp : NAN;
}

struct tuning {
    struct tmx_gate_chip chip;
    struct tmx_gate_plan plan;
    struct tmx_gate_case cases[1 + MAX_POLICY];
    double target[1 + MAX_POLICY][N_TARGET]; /* of every case; NAN: none */
    size_t n_target, fit, n_seed;
    uint64_t seed;
    struct tmx_sm_result *result;
    struct tmx_err *err;
    enum tmx_status status;
    double best;
    struct tmx_stream_knobs best_knobs;
};

/* Sum of squares of what the means over all seeds miss. */
static double from_target(struct tuning *t)
{
    double ours[1 + MAX_POLICY][N_TARGET] = {{0}}, sum = 0;
    for (size_t seed = 0; seed < t->n_seed && !t->status; seed++) {
        t->plan.seed = t->seed + seed;
        t->status = tmx_gate_run(&t->plan, t->result, t->err);
        for (size_t i = 1; i < t->plan.n_case && !t->status; i++) {
            double mean[N_TARGET];
            mean_of(&t->plan, t->result, i, mean);
            for (int k = 0; k < N_TARGET; k++) {
                ours[i][k] += mean[k] / (double)t->n_seed;
            }
        }
    }
    for (size_t i = 1; i < t->plan.n_case; i++) {
        for (int k = 0; k < N_TARGET; k++) {
            const double off = ours[i][k] - t->target[i][k];
            sum += isnan(off) ? 0 : off * off; /* kernels without FP */
        }
    }
    return sum;
}

static double evaluate(const gsl_vector *x, void *params)
{
    struct tuning *t = params;
    for (size_t i = 0; i < N_KNOB; i++) {
        *knob_at(&t->chip.fit[t->fit], i) = fmin(10, exp(gsl_vector_get(x, i)));
    }
    const double e = from_target(t);
    if (t->status) {
        return INFINITY;
    }
    if (e < t->best) {
        t->best = e;
        t->best_knobs = t->chip.fit[t->fit];
    }
    return e;
}

static enum tmx_status simplex(struct tuning *t, struct tmx_err *err)
{
    gsl_multimin_function f = {.f = evaluate, .n = N_KNOB, .params = t};
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, N_KNOB);
    gsl_vector *x = gsl_vector_alloc(N_KNOB), *step = gsl_vector_alloc(N_KNOB);
    if (m && x && step) {
        for (size_t i = 0; i < N_KNOB; i++) {
            gsl_vector_set(x, i, log(fmax(1e-3, *knob_at(&t->chip.fit[t->fit], i))));
        }
        gsl_vector_set_all(step, 0.25);
        gsl_multimin_fminimizer_set(m, &f, x, step);
        for (int i = 0; i < EVALUATIONS && !t->status && gsl_multimin_fminimizer_size(m) > 0.01; i++) {
            if (gsl_multimin_fminimizer_iterate(m) != 0) {
                break;
            }
        }
    } else {
        t->status = tmx_fail(err, TMX_ENOMEM, "fit");
    }
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(x);
    gsl_vector_free(step);
    return t->status;
}

/* The policies whose printed means are fitted to, and those means. */
static enum tmx_status read_targets(struct tuning *t, struct tmx_err *err)
{
    static const char *const column[N_TARGET] = {"int_saved_pct", "fp_saved_pct", "slowdown_pct"};
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const struct tmx_gate_params *gate = &t->chip.gate;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, "warped-gates", path, err);
    st = st ? st : tmx_config_load(&cfg, path, NULL, err);
    t->cases[0] =
        (struct tmx_gate_case){tmx_gate_find("none"), gate->break_even_cycles, gate->wakeup_cycles, 0};
    const struct tmx_setting *root = st ? NULL : tmx_config_root(cfg);
    size_t n = 1;
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; !st && *p && n <= MAX_POLICY; p++) {
        struct tmx_pick pick = {.of = "mean"};
        snprintf(pick.policy, sizeof pick.policy, "%s", (*p)->base.name);
        size_t found = 0;
        for (int k = 0; k < N_TARGET; k++) {
            snprintf(pick.column, sizeof pick.column, "%s", column[k]);
            t->target[n][k] = NAN;
            found += tmx_values_find(root, &pick, TMX_FITTED, &t->target[n][k]) ||
                     (t->fit > 0 && tmx_values_find(root, &pick, TMX_DERIVED, &t->target[n][k]));
        }
        t->n_target += found;
        t->cases[n] = (struct tmx_gate_case){*p, gate->break_even_cycles, gate->wakeup_cycles, 0};
        n += found > 0;
    }
    t->plan.n_case = n;
    st = st || t->n_target ? st : tmx_fail_at(err, TMX_ECONFIG, path, 0, "values: none is fitted to");
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip, const struct tmx_gate_kernel *kernel,
                              size_t n_kernel, size_t fit, uint64_t seed, size_t n_seed, FILE *out,
                              struct tmx_err *err)
{
    struct tuning t = {
        .chip = *chip, .fit = fit, .err = err, .best = INFINITY, .seed = seed, .n_seed = n_seed};
    enum tmx_status st = read_targets(&t, err);
    if (st) {
        return st;
    }
    const size_t n_case = t.plan.n_case;
    t.plan = (struct tmx_gate_plan){.chip = &t.chip,
                                    .kernel = kernel,
                                    .n_kernel = n_kernel,
                                    .gate = t.cases,
                                    .n_case = n_case,
                                    .fit = fit,
                                    .budget = FIT_BUDGET,
                                    .quiet = true};
    t.result = calloc(n_kernel * n_case, sizeof *t.result);
    if (!t.result) {
        return tmx_fail(err, TMX_ENOMEM, "fit");
    }
    st = simplex(&t, err);
    if (!st) {
        fprintf(out, "# root mean square error %.2f points over %zu kernels, %zu values, %zu seeds\n",
                sqrt(t.best / (double)t.n_target), n_kernel, t.n_target, n_seed);
        struct tmx_writer w = {.full = out};
        char group[32];
        snprintf(group, sizeof group, "fit_%s", tmx_gate_fits[fit]);
        tmx_opt_write_group(tmx_knob_opts, &t.best_knobs, group, &w);
        st = tmx_writer_finish(&w, NULL, err);
    }
    free(t.result);
    return st;
}
