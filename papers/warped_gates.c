/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 001, Warped Gates: 18 benchmarks under every gating scheme, over several seeds of their instruction
 * streams, in three parts: with the free knobs fitted to ConvPG's means, with the sweeps of Figures 6 and 11;
 * without the empty SM between launches; and programs read off the compiled source of some of the benchmarks,
 * with neither knobs nor gaps. What the paper prints stands in the suite file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/gate_fit.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "papers/warped_gates_runs.h"
#include "sched/sched.h"

struct at { /* a kernel in a case under a seed */
    const struct tmx_wg_part *part;
    size_t seed, kernel, gate_case;
};

static const struct tmx_sm_result *result_of(const struct at *a, size_t gate_case)
{
    const struct tmx_gate_plan *plan = &a->part->plan;
    return &a->part->result[(a->seed * plan->n_kernel + a->kernel) * plan->n_case + gate_case];
}

static struct tmx_gate_numbers numbers_of(const struct at *a)
{
    const struct tmx_gate_plan *plan = &a->part->plan;
    return tmx_gate_numbers(plan, result_of(a, a->gate_case), result_of(a, 0),
                            plan->gate[a->gate_case].break_even_cycles);
}

static double int_saved(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).saved[0];
}

static double fp_saved(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).saved[1];
}

static double slowdown(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).slowdown;
}

static double wasted(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).region[0];
}

static double uncompensated(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).region[1];
}

static double compensated(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).region[2];
}

static double time_compensated(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return 100 * numbers_of(a).compensated[0];
}

static double idle_ratio(const struct tmx_wg *s, const struct at *a)
{
    const struct at none = {a->part, a->seed, a->kernel, 0};
    (void)s;
    return numbers_of(a).idle[0] / numbers_of(&none).idle[0];
}

static double wakeup_ratio(const struct tmx_wg *s, const struct at *a)
{
    struct tmx_gate_case c = a->part->plan.gate[a->gate_case];
    c.policy = tmx_gate_find("convpg");
    return fmax(1, (double)result_of(a, a->gate_case)->type[0].wakeups) /
           fmax(1, (double)result_of(a, tmx_wg_find_case(&a->part->plan, &c))->type[0].wakeups);
    (void)s;
}

static double few_warps(const struct tmx_wg *s, const struct at *a)
{
    (void)s;
    return numbers_of(a).active_warps < 10;
}

/* Pearson's r of critical wake-ups per cycle and slowdown over the sweep of idle detect above .9? */
static double wakeups_correlate(const struct tmx_wg *s, const struct at *a)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = s->n_plain; i < a->part->plan.n_case; i++) {
        const struct tmx_gate_case *c = &s->gate_case[i];
        const struct at at = {a->part, a->seed, a->kernel, i};
        if (c->policy == s->gate_case[a->gate_case].policy && c->idle_detect_cycles > 0) {
            const struct tmx_sm_result *r = result_of(&at, i);
            const double u =
                (double)(r->type[0].critical_wakeups + r->type[1].critical_wakeups) / (double)r->cycles;
            const double v = numbers_of(&at).slowdown;
            n += 1, x += u, y += v, xx += u * u, yy += v * v, xy += u * v;
        }
    }
    const double spread = (n * xx - x * x) * (n * yy - y * y);
    return n > 1 ? spread > 0 && (n * xy - x * y) / sqrt(spread) > 0.9 : NAN;
}

static double unit_leakage(const struct tmx_wg *s, const struct at *a)
{
    const struct tmx_gate_leakage *l = &s->sm.leakage;
    (void)a;
    return 100 * (l->int_w + l->fp_w) / l->chip_w;
}

static double sfu_leakage(const struct tmx_wg *s, const struct at *a)
{
    const struct tmx_gate_leakage *l = &s->sm.leakage;
    (void)a;
    return 100 * l->sfu_w / (l->int_w + l->fp_w + l->sfu_w);
}

/* Of the chip's power, per percent of the units' static energy saved. */
static double chip_saved(const struct tmx_wg *s, const struct at *a)
{
    (void)a;
    return tmx_gate_chip_saved(&s->sm.leakage, 1, 1);
}

static double chip_saved_half(const struct tmx_wg *s, const struct at *a)
{
    struct tmx_gate_leakage l = s->sm.leakage;
    (void)a;
    l.static_share = 0.5; /* the paper's second case */
    return tmx_gate_chip_saved(&l, 1, 1);
}

static const struct column {
    const char *name;
    double (*number)(const struct tmx_wg *s, const struct at *a);
    bool whole; /* of the chip, no kernel's */
} columns[] = {
    {"int_saved_pct", int_saved, false},
    {"fp_saved_pct", fp_saved, false},
    {"slowdown_pct", slowdown, false},
    {"idle_wasted_pct", wasted, false},
    {"idle_uncompensated_pct", uncompensated, false},
    {"idle_compensated_pct", compensated, false},
    {"int_compensated_pct", time_compensated, false},
    {"idle_ratio", idle_ratio, false},
    {"wakeup_ratio", wakeup_ratio, false},
    {"few_warps", few_warps, false},
    {"wakeups_correlate", wakeups_correlate, false},
    {"unit_leakage_pct", unit_leakage, true},
    {"sfu_leakage_pct", sfu_leakage, true},
    {"chip_saved_per_pct", chip_saved, true},
    {"chip_saved_half_per_pct", chip_saved_half, true},
};
enum { N_COLUMN = sizeof columns / sizeof columns[0] };

enum take { ONE, MEAN, GEOMETRIC, SUM };
static bool find_group(const struct tmx_wg_part *part, const char *of, enum take *take, size_t *kernel)
{
    static const char *const takes[] = {"", "mean", "geometric mean", "sum"};
    for (size_t t = 1; t < sizeof takes / sizeof takes[0]; t++) {
        if (strcmp(of, takes[t]) == 0) {
            *take = (enum take)t;
            return true;
        }
    }
    *take = ONE;
    *kernel = 0;
    while (*kernel < part->plan.n_kernel && strcmp(part->plan.kernel[*kernel].name, of) != 0) {
        ++*kernel;
    }
    return *kernel < part->plan.n_kernel;
}

static const struct column *find_column(const char *name)
{
    size_t c = 0;
    while (c < N_COLUMN && strcmp(columns[c].name, name) != 0) {
        c++;
    }
    return c < N_COLUMN ? &columns[c] : NULL;
}

static enum tmx_status check_pick(void *ctx, const struct tmx_pick *p, const struct tmx_setting *at,
                                  struct tmx_err *err)
{
    const struct tmx_wg *s = ctx;
    const struct tmx_gate_policy *policy = tmx_gate_find(p->policy);
    const struct column *column = find_column(p->column);
    const struct tmx_wg_part *part;
    enum take take;
    size_t i;
    if (!column) {
        return tmx_fail_setting(err, at, "values: no column \"%s\"", p->column);
    }
    if (!policy) {
        return tmx_fail_setting(err, at, "values: unknown policy \"%s\"", p->policy);
    }
    if (!tmx_wg_find_variant(s, p->variant, policy, &part, &i)) {
        return tmx_fail_setting(err, at, "values: no variant \"%s\" with policy %s", p->variant, p->policy);
    }
    return column->whole || find_group(part, p->of, &take, &i)
               ? TMX_OK
               : tmx_fail_setting(
                     err, at, "values: \"%s\" is no kernel of the suite, mean, geometric mean or sum", p->of);
}

static double number(void *ctx, const struct tmx_pick *p, size_t seed)
{
    const struct tmx_wg *s = ctx;
    const struct column *column = find_column(p->column);
    struct at at = {.seed = seed};
    enum take take;
    double sum = 0, n = 0;
    if (!column || !tmx_wg_find_variant(s, p->variant, tmx_gate_find(p->policy), &at.part, &at.gate_case)) {
        return NAN;
    }
    if (column->whole) {
        return column->number(s, &at);
    }
    if (!find_group(at.part, p->of, &take, &at.kernel)) {
        return NAN;
    }
    if (take == ONE) {
        return column->number(s, &at);
    }
    for (at.kernel = 0; at.kernel < at.part->plan.n_kernel; at.kernel++) {
        const double v = column->number(s, &at);
        if (!isnan(v)) { /* kernels without FP are left out of its means, as in the paper */
            sum += take == GEOMETRIC ? log(v) : v;
            n += 1;
        }
    }
    return n == 0 ? NAN : take == SUM ? sum : take == MEAN ? sum / n : exp(sum / n);
}

/* ---- the means on the screen ---- */

static const struct tmx_column summary_columns[] = {
    {"variant", TMX_COLUMN_TEXT, 0},     {"policy", TMX_COLUMN_TEXT, 0},
    {"seeds", TMX_COLUMN_INT, 0},        {"int_saved_pct", TMX_COLUMN_REAL, 1},
    {"int_sd", TMX_COLUMN_REAL, 1},      {"fp_saved_pct", TMX_COLUMN_REAL, 1},
    {"fp_sd", TMX_COLUMN_REAL, 1},       {"slowdown_pct", TMX_COLUMN_REAL, 1},
    {"slowdown_sd", TMX_COLUMN_REAL, 1},
};

/* Mean and standard deviation over the seeds of a mean over the kernels. */
static void mean_and_sd(const struct tmx_wg *s, struct tmx_table *t, struct tmx_pick *p, const char *column)
{
    double sum = 0, square = 0;
    snprintf(p->column, sizeof p->column, "%s", column);
    for (size_t i = 0; i < (size_t)s->seeds; i++) {
        sum += number((void *)(uintptr_t)s, p, i) / s->seeds;
    }
    for (size_t i = 0; i < (size_t)s->seeds; i++) {
        square += pow(number((void *)(uintptr_t)s, p, i) - sum, 2);
    }
    isnan(sum) ? tmx_table_empty(t) : tmx_table_real(t, sum);
    s->seeds < 2 || isnan(sum) ? tmx_table_empty(t) : tmx_table_real(t, sqrt(square / (s->seeds - 1)));
}

static enum tmx_status summarise(const struct tmx_wg *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st =
        tmx_table_create(t, summary_columns, sizeof summary_columns / sizeof summary_columns[0], err);
    for (size_t i = 0; !st && i < TMX_WG_PARTS * s->n_plain; i++) {
        const struct tmx_gate_policy *policy = s->gate_case[i % s->n_plain].policy;
        struct tmx_pick p = {.of = "mean"};
        if (policy->wake == TMX_WAKE_NO_GATING || s->part[i / s->n_plain].plan.n_kernel == 0) {
            continue;
        }
        snprintf(p.policy, sizeof p.policy, "%s", policy->base.name);
        snprintf(p.variant, sizeof p.variant, "%s", s->part[i / s->n_plain].name);
        tmx_table_text(*t, p.variant[0] ? p.variant : "fit convpg");
        tmx_table_text(*t, p.policy);
        tmx_table_int(*t, s->seeds);
        mean_and_sd(s, *t, &p, "int_saved_pct");
        mean_and_sd(s, *t, &p, "fp_saved_pct");
        mean_and_sd(s, *t, &p, "slowdown_pct");
    }
    return st;
}

/* The first seed's runs of a part beside the drawn bodies, kernel by kernel: its name as the file's. */
static enum tmx_status save_part(const struct tmx_wg_part *part, const struct tmx_suite_call *call,
                                 struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    char file[64];
    if (part->plan.n_kernel == 0) {
        return TMX_OK;
    }
    snprintf(file, sizeof file, "%s.csv", part->name);
    for (char *c = file; *c; c++) {
        *c = *c == ' ' ? '_' : *c;
    }
    enum tmx_status st = tmx_gate_table(&part->plan, part->result, &t, err);
    st = st ? st : tmx_suite_save(call, t, file, err);
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status report(const struct tmx_wg *s, const struct tmx_suite_call *call,
                              const struct tmx_value_source *values, struct tmx_err *err)
{
    struct tmx_table *runs = NULL, *paper = NULL, *seeds = NULL, *summary = NULL;
    enum tmx_status st = tmx_gate_table(&s->part[0].plan, s->part[0].result, &runs, err);
    st = st ? st : tmx_values_table(call->root, values, &paper, &seeds, err);
    st = st ? st : summarise(s, &summary, err);
    st = st ? st : tmx_suite_save(call, summary, "means.csv", err);
    for (size_t p = 1; !st && p < TMX_WG_PARTS; p++) {
        st = save_part(&s->part[p], call, err);
    }
    st = st || !seeds ? st : tmx_suite_save(call, seeds, "seeds.csv", err);
    st = st ? st : tmx_suite_write(call, runs, paper, summary, err);
    tmx_table_destroy(runs);
    tmx_table_destroy(paper);
    tmx_table_destroy(seeds);
    tmx_table_destroy(summary);
    return st;
}

enum tmx_status tmx_suite_warped_gates(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_wg *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    enum tmx_status st = tmx_wg_open(s, call, err);
    const struct tmx_value_source values = {.ctx = s,
                                            .paper = "001",
                                            .policy = "convpg",
                                            .n_seed = (size_t)s->seeds,
                                            .first_seed = (unsigned)s->seed,
                                            .check = check_pick,
                                            .number = number};
    st = st ? st : tmx_values_check(call->root, &values, err);
    if (!st && !call->check) {
        st = tmx_wg_run(s, err);
        st = st ? st : report(s, call, &values, err);
    }
    tmx_wg_finish(s);
    free(s);
    return st;
}
