/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/gate_fit.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "sched/sched.h"

const struct tmx_gate_mean tmx_gate_means[] = {
    {"convpg", 20.1, 31.4, 1},         {"gates", 21.5, 35.2, 1},
    {"naive_blackout", 27.8, 41.1, 5}, {"coordinated_blackout", 31.5, 45.6, 2},
    {"warped_gates", 31.6, 46.5, 1},
};

/* Evaluations of the simplex, warp instructions of a run while fitting. */
enum { EVALUATIONS = 160, FIT_BUDGET = 100000 };

static const size_t knob[] = {
    offsetof(struct tmx_stream_knobs, dependence), offsetof(struct tmx_stream_knobs, persistence),
    offsetof(struct tmx_stream_knobs, miss),       offsetof(struct tmx_stream_knobs, latency),
    offsetof(struct tmx_stream_knobs, launch_gap),
};
enum { N_KNOB = sizeof knob / sizeof knob[0] };

static double *knob_at(struct tmx_stream_knobs *k, size_t i)
{
    return (double *)(void *)((char *)k + knob[i]);
}

struct tmx_gate_mean tmx_gate_mean_of(const struct tmx_gate_plan *plan, const struct tmx_sm_result *result,
                                      size_t fit, size_t gate_case)
{
    struct tmx_gate_mean m = {.policy = plan->gate[gate_case].policy->base.name};
    double n_fp = 0;
    for (size_t k = 0; k < plan->n_kernel; k++) {
        const struct tmx_sm_result *r = &result[(fit * plan->n_kernel + k) * plan->n_case];
        const struct tmx_gate_numbers n =
            tmx_gate_numbers(plan, &r[gate_case], r, plan->gate[gate_case].break_even_cycles);
        m.int_saved += 100 * n.saved[0] / (double)plan->n_kernel;
        m.slowdown += 100 * n.slowdown / (double)plan->n_kernel;
        if (!isnan(n.saved[1])) {
            m.fp_saved += 100 * n.saved[1];
            n_fp += 1;
        }
    }
    m.fp_saved = n_fp > 0 ? m.fp_saved / n_fp : NAN;
    return m;
}

struct tuning {
    struct tmx_gate_chip chip;
    struct tmx_gate_plan plan;
    struct tmx_gate_case cases[1 + TMX_GATE_MEANS];
    size_t fit;
    struct tmx_sm_result *result;
    struct tmx_err *err;
    enum tmx_status status;
    double best;
    struct tmx_stream_knobs best_knobs;
};

static double from_target(const struct tuning *t)
{
    double sum = 0;
    for (size_t i = 1; i < t->plan.n_case; i++) {
        const struct tmx_gate_mean m = tmx_gate_mean_of(&t->plan, t->result, 0, i),
                                   *paper = &tmx_gate_means[i - 1];
        sum += pow(m.int_saved - paper->int_saved, 2) + pow(m.slowdown - paper->slowdown, 2);
        sum += isnan(m.fp_saved) ? 0 : pow(m.fp_saved - paper->fp_saved, 2);
    }
    return sum;
}

static double evaluate(const gsl_vector *x, void *params)
{
    struct tuning *t = params;
    for (size_t i = 0; i < N_KNOB; i++) {
        *knob_at(&t->chip.fit[t->fit], i) = fmin(10, exp(gsl_vector_get(x, i)));
    }
    t->status = t->status ? t->status : tmx_gate_run(&t->plan, t->result, t->err);
    if (t->status) {
        return INFINITY;
    }
    const double e = from_target(t);
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

enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip, const struct tmx_gate_kernel *kernel,
                              size_t n_kernel, size_t fit, uint64_t seed, FILE *out, struct tmx_err *err)
{
    struct tuning t = {.chip = *chip, .fit = fit, .err = err, .best = INFINITY};
    const size_t n_policy = fit == 0 ? 1 : TMX_GATE_MEANS;
    for (size_t i = 0; i <= n_policy; i++) {
        t.cases[i] = (struct tmx_gate_case){tmx_gate_find(i ? tmx_gate_means[i - 1].policy : "none"),
                                            chip->gate.break_even_cycles, chip->gate.wakeup_cycles};
    }
    t.plan = (struct tmx_gate_plan){.chip = &t.chip,
                                    .kernel = kernel,
                                    .n_kernel = n_kernel,
                                    .gate = t.cases,
                                    .n_case = n_policy + 1,
                                    .first_fit = fit,
                                    .n_fit = 1,
                                    .seed = seed,
                                    .budget = FIT_BUDGET,
                                    .quiet = true};
    t.result = calloc(n_kernel * t.plan.n_case, sizeof *t.result);
    if (!t.result) {
        return tmx_fail(err, TMX_ENOMEM, "fit");
    }
    const enum tmx_status st = simplex(&t, err);
    if (!st) {
        fprintf(out, "# root mean square error %.2f points over %zu kernels, %zu schemes\nfit_%s = {\n",
                sqrt(t.best / (3 * (double)n_policy)), n_kernel, n_policy, tmx_gate_fits[fit]);
        tmx_opt_write(tmx_knob_opts, &t.best_knobs, "    ", out);
        fprintf(out, "};\n");
    }
    free(t.result);
    return st;
}
