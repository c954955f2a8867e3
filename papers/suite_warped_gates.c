/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 001, Warped Gates: 18 benchmarks under every gating scheme, over several seeds of their instruction
 * streams, in three parts: with the free knobs fitted to ConvPG's means, with the sweeps of Figures 6 and 11;
 * without the empty SM between launches; and programs read off the compiled source of some of the benchmarks,
 * with neither knobs nor gaps. What the paper prints is in the suite file. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/curve.h"
#include "base/opt.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/load/data.h"
#include "run/load/gate_files.h"
#include "sched/sched.h"
#include "study/microbench/microbench.h"

/* ---- what is to run, and its runs ---- */

enum { PARTS = 3 };
static const struct {
    const char *name; /* as `variant` of a value */
    const char *file; /* of its runs with the first seed; those of part 0 are the table */
    bool sweeps;
    double launch_gap; /* factor on the fit's */
    bool code;         /* kernels with compiled code */
} parts[PARTS] = {{"", "", true, 1, false},
                  {"no launch gaps", "no_launch_gaps.csv", false, 0, false},
                  {"compiled code", "compiled_code.csv", false, 1, true}};

struct part {
    struct tmx_gate_chip sm;      /* with its own knobs */
    struct tmx_gate_plan plan;    /* of one fit */
    struct tmx_sm_result *result; /* [n_seed * n_kernel * n_case] of the arena */
};

struct suite {
    int instructions, seed, seeds;
    char chip[64];
    struct tmx_gate_chip sm;
    struct tmx_gate_kernel kernel[TMX_GATE_KERNELS];
    struct tmx_gate_case gate_case[TMX_GATE_CASES]; /* the plain ones, then the sweeps of the first part */
    size_t n_kernel, n_plain, n_case;
    struct tmx_gate_kernel code_name[TMX_GATE_KERNELS]; /* of the kernels with compiled code: names alone */
    struct tmx_stream code[TMX_GATE_KERNELS];           /* theirs, owned */
    size_t n_code;
    struct part part[PARTS];
    struct tmx_arena arena;
};

enum { FIT_CONVPG = 0 };

static const struct tmx_opt root_opts[] = {
    TMX_ROW_INT(suite, instructions, "warp instructions", 1000, 1e9, 300000, "of one run"),
    TMX_ROW_INT(suite, seed, "1", 0, 1e9, NAN, "of the instruction streams, the first"),
    TMX_ROW_INT(suite, seeds, "1", 1, 1000, 1, "so many: the paper's values beside the means"),
    TMX_ROW_TEXT(suite, chip, "gtx480", "whose SM"),
    {0},
};
static const char *const root_also[] = {"name",
                                        "kind",
                                        "doc",
                                        "source",
                                        "base",
                                        "sweep_bet",
                                        "sweep_wakeup",
                                        "sweep_idle_detect",
                                        "sweep_policies",
                                        "sweep_idle_detect_policies",
                                        "kernels",
                                        "compiled",
                                        "values",
                                        NULL};

/* Index of a case among some; their number when none is like it. */
static size_t find_case(const struct tmx_gate_case *gate, size_t n, const struct tmx_gate_case *want)
{
    size_t i = 0;
    while (i < n && (gate[i].policy != want->policy || gate[i].break_even_cycles != want->break_even_cycles ||
                     gate[i].wakeup_cycles != want->wakeup_cycles ||
                     gate[i].idle_detect_cycles != want->idle_detect_cycles)) {
        i++;
    }
    return i;
}

static void add_case(struct suite *s, struct tmx_gate_case add, struct tmx_err *err)
{
    const bool known = find_case(s->gate_case, s->n_case, &add) < s->n_case;
    if (!known && s->n_case == TMX_GATE_CASES) {
        tmx_error(err, TMX_ERANGE, "more than %d combinations of policies and times", TMX_GATE_CASES);
    } else if (!known) {
        s->gate_case[s->n_case++] = add;
    }
}

enum sweep { BREAK_EVEN, WAKE_UP, IDLE_DETECT, N_SWEEP };
static const struct {
    const char *key, *policies, *name; /* name: of the variant, before the cycles */
} sweeps[] = {{"sweep_bet", "sweep_policies", "break-even "},
              {"sweep_wakeup", "sweep_policies", "wake-up "},
              {"sweep_idle_detect", "sweep_idle_detect_policies", "idle detect "}};

static struct tmx_gate_case case_of(const struct suite *s, const struct tmx_gate_policy *policy,
                                    enum sweep sweep, int cycles)
{
    struct tmx_gate_case c = {policy, s->sm.gate.break_even_cycles, s->sm.gate.wakeup_cycles, 0};
    int *const what[] = {&c.break_even_cycles, &c.wakeup_cycles, &c.idle_detect_cycles};
    *what[sweep] = cycles;
    return c;
}

static void add_sweep(struct suite *s, const struct tmx_suite_call *call, enum sweep sweep,
                      struct tmx_err *err)
{
    const char *key = sweeps[sweep].policies;
    const struct tmx_setting *values =
                                 tmx_setting_list(call->root, sweeps[sweep].key, 0, TMX_GATE_CASES, err),
                             *policies = tmx_setting_texts(call->root, key, 0, TMX_GATE_CASES, err);
    for (size_t p = 0; p < tmx_setting_length(policies) && !err->code; p++) {
        const struct tmx_setting *name = tmx_setting_at(policies, p);
        const struct tmx_gate_policy *policy = tmx_gate_find(tmx_setting_text(name));
        if (!policy) {
            tmx_error_setting(err, name, "%s: unknown policy \"%s\"", key, tmx_setting_text(name));
        }
        for (size_t i = 0; i < tmx_setting_length(values) && !err->code; i++) {
            const struct tmx_setting *e = tmx_setting_at(values, i);
            const int64_t cycles = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : 0;
            if (cycles < 1 || cycles > 1000) {
                tmx_error_setting(err, e, "%s: expected cycles from 1 to 1000", sweeps[sweep].key);
                return;
            }
            add_case(s, case_of(s, policy, sweep, (int)cycles), err);
        }
    }
}

/* Reads the suite of `call` into s (zeroed). TMX_ECONFIG with file:line, TMX_ENOMEM. */
static void open_suite(struct suite *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_sets sets = {0}; /* overrides of the SM: --set gate.idle_detect_cycles=8 */
    tmx_opt_read(root_opts, s, call->root, root_also, err);
    tmx_sets_join(&sets, call->sets, "base.", err);
    if (!err->code) {
        (void)!tmx_gate_chip_load(&s->sm, s->chip, &sets, err);
    }
    tmx_sets_finish(&sets);
    const struct tmx_setting *list = tmx_setting_texts(call->root, "kernels", 1, TMX_GATE_KERNELS, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        (void)tmx_setting_locate(e, tmx_gate_kernel_load(&s->kernel[i], tmx_setting_text(e), err), err);
    }
    s->n_kernel = tmx_setting_length(list);
    list = tmx_setting_texts(call->root, "compiled", 0, TMX_GATE_KERNELS, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) { /* every kernel that has code */
        struct tmx_gate_code code[TMX_GATE_CODES];
        const struct tmx_setting *e = tmx_setting_at(list, i);
        size_t n = 0;
        (void)tmx_setting_locate(e, tmx_gate_code_load(tmx_setting_text(e), code, &n, err), err);
        for (size_t k = 0; k < n; k++) {
            if (s->n_code == TMX_GATE_KERNELS) {
                tmx_gate_code_finish(&code[k]);
                tmx_error_setting(err, e, "compiled: more than %d kernels", TMX_GATE_KERNELS);
                continue;
            }
            snprintf(s->code_name[s->n_code].name, sizeof s->code_name[0].name, "%s", code[k].name);
            s->code[s->n_code++] = code[k].stream;
        }
    }
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        add_case(s, case_of(s, *p, BREAK_EVEN, s->sm.gate.break_even_cycles), err);
    }
    s->n_plain = s->n_case;
    for (int i = 0; i < N_SWEEP; i++) {
        add_sweep(s, call, (enum sweep)i, err);
    }
    for (size_t p = 0; p < PARTS; p++) {
        struct part *part = &s->part[p];
        part->sm = s->sm;
        part->sm.fit[FIT_CONVPG].launch_gap *= parts[p].launch_gap;
        part->plan = (struct tmx_gate_plan){.chip = &part->sm,
                                            .kernel = parts[p].code ? s->code_name : s->kernel,
                                            .n_kernel = parts[p].code ? s->n_code : s->n_kernel,
                                            .trace = parts[p].code ? s->code : NULL,
                                            .gate = s->gate_case,
                                            .n_case = parts[p].sweeps ? s->n_case : s->n_plain,
                                            .fit = FIT_CONVPG,
                                            .budget = (uint64_t)s->instructions,
                                            .n_worker = call->n_worker,
                                            .quiet = call->quiet};
    }
}

/* Runs every part under every seed into its `result`. */
static void run_parts(struct suite *s, struct tmx_err *err)
{
    for (size_t p = 0; p < PARTS && !err->code; p++) {
        struct part *part = &s->part[p];
        const size_t n = part->plan.n_kernel * part->plan.n_case;
        if (n == 0) {
            continue;
        }
        TMX_TAKE(&s->arena, part->result, (size_t)s->seeds * n);
        tmx_arena_check(&s->arena, err);
        for (size_t seed = 0; seed < (size_t)s->seeds && !err->code; seed++) {
            part->plan.seed = (uint64_t)s->seed + seed;
            for (size_t k = 0; k < s->n_code; k++) {
                s->code[k].seed = tmx_mix64(part->plan.seed, k, 3);
            }
            (void)!tmx_gate_run(&part->plan, &part->result[seed * n], err);
        }
        part->plan.seed = (uint64_t)s->seed;
    }
}

/* Part and case of a policy under `variant`: the name of a part, or a time of a sweep such as
 * "break-even 19". False when there is none. */
static bool find_variant(const struct suite *s, const char *variant, const struct tmx_gate_policy *policy,
                         const struct part **part, size_t *gate_case)
{
    struct tmx_gate_case c = case_of(s, policy, BREAK_EVEN, s->sm.gate.break_even_cycles);
    bool known = false;
    *part = &s->part[0];
    for (size_t p = 0; p < PARTS; p++) {
        const bool is = s->part[p].plan.n_kernel > 0 && strcmp(parts[p].name, variant) == 0;
        known = known || is;
        *part = is ? &s->part[p] : *part;
    }
    for (int i = 0; i < N_SWEEP; i++) {
        const size_t n = strlen(sweeps[i].name);
        if (strncmp(variant, sweeps[i].name, n) == 0) {
            known = true;
            c = case_of(s, policy, (enum sweep)i, (int)strtol(variant + n, NULL, 10));
        }
    }
    *gate_case = find_case((*part)->plan.gate, (*part)->plan.n_case, &c);
    return known && *gate_case < (*part)->plan.n_case;
}

/* ---- the numbers that the paper prints ---- */

struct at { /* a kernel in a case under a seed */
    const struct part *part;
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

#define COLUMN(name, value)                                       \
    static double name(const struct suite *s, const struct at *a) \
    {                                                             \
        const struct tmx_gate_leakage *l = &s->sm.leakage;        \
        (void)l, (void)a;                                         \
        return (value);                                           \
    }
COLUMN(idle_ratio, numbers_of(a).idle[0] / numbers_of(&(struct at){a->part, a->seed, a->kernel, 0}).idle[0])
COLUMN(few_warps, numbers_of(a).active_warps < 10)
COLUMN(unit_leakage, 100 * (l->int_w + l->fp_w) / l->chip_w)
COLUMN(sfu_leakage, 100 * l->sfu_w / (l->int_w + l->fp_w + l->sfu_w))
/* Of the chip's power, per percent of the units' static energy saved; with the paper's second case. */
COLUMN(chip_saved, tmx_gate_chip_saved(l, 1, 1))

static double chip_saved_half(const struct suite *s, const struct at *a)
{
    struct tmx_gate_leakage l = s->sm.leakage;
    (void)a;
    l.static_share = 0.5;
    return tmx_gate_chip_saved(&l, 1, 1);
}

static double wakeup_ratio(const struct suite *s, const struct at *a)
{
    struct tmx_gate_case c = a->part->plan.gate[a->gate_case];
    c.policy = tmx_gate_find("convpg");
    return fmax(1, (double)result_of(a, a->gate_case)->type[0].wakeups) /
           fmax(1, (double)result_of(a, find_case(a->part->plan.gate, a->part->plan.n_case, &c))
                       ->type[0]
                       .wakeups);
    (void)s;
}

/* Is Pearson's r of critical wake-ups per cycle and slowdown over the sweep of idle detect above .9? */
static double wakeups_correlate(const struct suite *s, const struct at *a)
{
    double rate[TMX_GATE_CASES], slowdown[TMX_GATE_CASES];
    size_t n = 0;
    for (size_t i = s->n_plain; i < a->part->plan.n_case; i++) {
        const struct tmx_gate_case *c = &s->gate_case[i];
        const struct at at = {a->part, a->seed, a->kernel, i};
        if (c->policy == s->gate_case[a->gate_case].policy && c->idle_detect_cycles > 0) {
            const struct tmx_sm_result *r = result_of(&at, i);
            rate[n] = (double)(r->type[0].critical_wakeups + r->type[1].critical_wakeups) / (double)r->cycles;
            slowdown[n++] = numbers_of(&at).slowdown;
        }
    }
    return n > 1 ? gsl_stats_correlation(rate, 1, slowdown, 1, n) > 0.9 : NAN;
}

#define PERCENT_OF(member) NULL, offsetof(struct tmx_gate_numbers, member), false
static const struct column {
    const char *name;
    double (*number)(const struct suite *s, const struct at *a);
    size_t share; /* without a function: of the kernel's numbers, in percent */
    bool whole;   /* of the chip, no kernel's */
} columns[] = {
    {"int_saved_pct", PERCENT_OF(saved[0])},
    {"fp_saved_pct", PERCENT_OF(saved[1])},
    {"slowdown_pct", PERCENT_OF(slowdown)},
    {"idle_wasted_pct", PERCENT_OF(region[0])},
    {"idle_uncompensated_pct", PERCENT_OF(region[1])},
    {"idle_compensated_pct", PERCENT_OF(region[2])},
    {"int_compensated_pct", PERCENT_OF(compensated[0])},
    {"idle_ratio", idle_ratio, 0, false},
    {"wakeup_ratio", wakeup_ratio, 0, false},
    {"few_warps", few_warps, 0, false},
    {"wakeups_correlate", wakeups_correlate, 0, false},
    {"unit_leakage_pct", unit_leakage, 0, true},
    {"sfu_leakage_pct", sfu_leakage, 0, true},
    {"chip_saved_per_pct", chip_saved, 0, true},
    {"chip_saved_half_per_pct", chip_saved_half, 0, true},
};
enum { N_COLUMN = sizeof columns / sizeof columns[0] };

static double column_number(const struct column *c, const struct suite *s, const struct at *a)
{
    if (c->number) {
        return c->number(s, a);
    }
    const struct tmx_gate_numbers n = numbers_of(a);
    double share;
    memcpy(&share, (const char *)&n + c->share, sizeof share);
    return 100 * share;
}

enum take { ONE, MEAN, GEOMETRIC, SUM };
static bool find_group(const struct part *part, const char *of, enum take *take, size_t *kernel)
{
    static const char *const takes[] = {"", "mean", "geometric mean", "sum"};
    *take = SUM;
    while (*take > ONE && strcmp(of, takes[*take]) != 0) {
        --*take;
    }
    *kernel = 0;
    while (*take == ONE && *kernel < part->plan.n_kernel &&
           strcmp(part->plan.kernel[*kernel].name, of) != 0) {
        ++*kernel;
    }
    return *kernel < part->plan.n_kernel;
}

static double number(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    const struct suite *s = ctx;
    const struct tmx_gate_policy *policy = tmx_gate_find(p->policy);
    struct at at = {.seed = seed};
    enum take take = ONE;
    double sum = 0, n = 0;
    size_t c = 0;
    while (c < N_COLUMN && strcmp(columns[c].name, p->column) != 0) {
        c++;
    }
    if (c == N_COLUMN) {
        snprintf(why, TMX_WHY, "no column \"%s\"", p->column);
    } else if (!policy) {
        snprintf(why, TMX_WHY, "unknown policy \"%s\"", p->policy);
    } else if (!find_variant(s, p->variant, policy, &at.part, &at.gate_case)) {
        snprintf(why, TMX_WHY, "no variant \"%s\" with policy %s", p->variant, p->policy);
    } else if (!columns[c].whole && !find_group(at.part, p->of, &take, &at.kernel)) {
        snprintf(why, TMX_WHY, "\"%s\" is no kernel of the suite, mean, geometric mean or sum", p->of);
    } else if (seed != TMX_NAMES_ALONE && take == ONE) {
        return column_number(&columns[c], s, &at);
    } else if (seed != TMX_NAMES_ALONE) {
        for (at.kernel = 0; at.kernel < at.part->plan.n_kernel; at.kernel++) {
            const double v = column_number(&columns[c], s, &at);
            if (!isnan(v)) { /* kernels without FP are left out of its means, as in the paper */
                sum += take == GEOMETRIC ? log(v) : v;
                n += 1;
            }
        }
        return n == 0 ? NAN : take == SUM ? sum : take == MEAN ? sum / n : exp(sum / n);
    }
    return NAN;
}

/* ---- the means on the screen ---- */

/* Mean and standard deviation over the seeds of means over the kernels. */
static struct tmx_table *summarise(struct suite *s)
{
    static const char *const of[] = {"int_saved_pct", "fp_saved_pct", "slowdown_pct"};
    struct tmx_table *t =
        tmx_table_of("variant policy seeds:d int_saved_pct:1 int_sd:1 fp_saved_pct:1 fp_sd:1 slowdown_pct:1 "
                     "slowdown_sd:1");
    for (size_t i = 0; i < PARTS * s->n_plain; i++) {
        const struct tmx_gate_policy *policy = s->gate_case[i % s->n_plain].policy;
        struct tmx_pick p = {.of = "mean"};
        char why[TMX_WHY];
        if (policy->wake == TMX_WAKE_NO_GATING || s->part[i / s->n_plain].plan.n_kernel == 0) {
            continue;
        }
        snprintf(p.policy, sizeof p.policy, "%s", policy->base.name);
        snprintf(p.variant, sizeof p.variant, "%s", parts[i / s->n_plain].name);
        tmx_table_row(t, "%s %s %d", p.variant[0] ? p.variant : "fit convpg", p.policy, s->seeds);
        for (size_t c = 0; c < sizeof of / sizeof of[0]; c++) {
            double mean = 0, square = 0;
            snprintf(p.column, sizeof p.column, "%s", of[c]);
            for (size_t k = 0; k < (size_t)s->seeds; k++) {
                mean += number(s, &p, k, why) / s->seeds;
            }
            for (size_t k = 0; k < (size_t)s->seeds; k++) {
                square += pow(number(s, &p, k, why) - mean, 2);
            }
            tmx_table_row(t, "%G %G", mean, s->seeds < 2 ? NAN : sqrt(square / (s->seeds - 1)));
        }
    }
    return t;
}

void tmx_suite_warped_gates(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite *s = calloc(1, sizeof *s);
    struct tmx_table *runs = NULL, *summary = NULL;
    if (!s) {
        tmx_no_memory(err);
        return;
    }
    open_suite(s, call, err);
    struct tmx_value_source values = {.ctx = s,
                                      .paper = "001",
                                      .policy = "convpg",
                                      .n_seed = (size_t)s->seeds,
                                      .first_seed = (unsigned)s->seed,
                                      .number = number};
    tmx_values_read(&values, call->root, err);
    if (!err->code && !call->check) {
        run_parts(s, err);
    }
    if (!err->code && !call->check) {
        runs = tmx_gate_table(&s->part[0].plan, s->part[0].result);
        summary = summarise(s);
        tmx_table_check(summary, err);
        tmx_suite_save(call, summary, "means.csv", err);
        for (size_t p = 1; p < PARTS; p++) { /* with the first seed, in a file of the part's name */
            if (s->part[p].plan.n_kernel > 0) {
                struct tmx_table *t = tmx_gate_table(&s->part[p].plan, s->part[p].result);
                tmx_suite_save(call, t, parts[p].file, err);
                tmx_table_destroy(t);
            }
        }
    }
    tmx_suite_write(call, runs, &values, summary, err);
    tmx_table_destroy(runs);
    tmx_table_destroy(summary);
    for (size_t k = 0; k < s->n_code; k++) {
        tmx_stream_finish(&s->code[k]);
    }
    tmx_values_finish(&values);
    tmx_arena_finish(&s->arena);
    free(s);
}

/* ---- the free knobs of the instruction streams, fitted to the printed means ---- */

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
    struct tmx_err *err; /* stays (base/err.h) */
    double best;
    struct tmx_stream_knobs best_knobs;
};

/* Sum of squares of what the means over all seeds miss with these knobs. */
static double evaluate(const double *x, void *params)
{
    struct tuning *t = params;
    double ours[1 + MAX_POLICY][N_TARGET] = {{0}}, sum = 0;
    for (size_t i = 0; i < N_KNOB; i++) {
        *knob_at(&t->chip.fit[t->fit], i) = fmin(10, exp(x[i]));
    }
    for (size_t seed = 0; seed < t->n_seed && !t->err->code; seed++) {
        t->plan.seed = t->seed + seed;
        (void)!tmx_gate_run(&t->plan, t->result, t->err);
        for (size_t i = 1; i < t->plan.n_case && !t->err->code; i++) {
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
    if (!t->err->code && sum < t->best) {
        t->best = sum;
        t->best_knobs = t->chip.fit[t->fit];
    }
    return t->err->code ? INFINITY : sum;
}

/* The policies whose printed means are fitted to, and those means. */
static void read_targets(struct tuning *t)
{
    static const char *const column[N_TARGET] = {"int_saved_pct", "fp_saved_pct", "slowdown_pct"};
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const struct tmx_gate_params *gate = &t->chip.gate;
    if (tmx_data_find(TMX_DATA_SUITE, "warped-gates", path, t->err) ||
        tmx_config_load(&cfg, path, NULL, t->err)) {
        return;
    }
    t->cases[0] =
        (struct tmx_gate_case){tmx_gate_find("none"), gate->break_even_cycles, gate->wakeup_cycles, 0};
    const struct tmx_setting *root = tmx_config_root(cfg);
    size_t n = 1;
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p && n <= MAX_POLICY; p++) {
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
    if (t->n_target == 0) {
        tmx_error_at(t->err, TMX_ECONFIG, path, 0, "values: none is fitted to");
    }
    tmx_config_close(cfg);
}

enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip, const struct tmx_gate_kernel *kernel,
                              size_t n_kernel, size_t fit, uint64_t seed, size_t n_seed, FILE *out,
                              struct tmx_err *err)
{
    struct tuning t = {
        .chip = *chip, .fit = fit, .err = err, .best = INFINITY, .seed = seed, .n_seed = n_seed};
    read_targets(&t);
    if (err->code) {
        return err->code;
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
    double x[N_KNOB];
    for (size_t i = 0; i < N_KNOB; i++) {
        x[i] = log(fmax(1e-3, *knob_at(&t.chip.fit[fit], i)));
    }
    tmx_minimise(evaluate, &t, N_KNOB, x, 0.25, 0.01, EVALUATIONS, err);
    if (!err->code) {
        fprintf(out, "# root mean square error %.2f points over %zu kernels, %zu values, %zu seeds\n",
                sqrt(t.best / (double)t.n_target), n_kernel, t.n_target, n_seed);
        struct tmx_writer w = {.full = out};
        char group[32];
        snprintf(group, sizeof group, "fit_%s", tmx_gate_fits[fit]);
        tmx_opt_write_group(tmx_knob_opts, &t.best_knobs, group, &w);
        (void)!tmx_writer_finish(&w, NULL, err);
    }
    free(t.result);
    return err->code;
}
