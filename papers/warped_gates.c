/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 001, Warped Gates: 18 benchmarks under every gating scheme, the sweeps of Figure 11, twice: with the
 * free knobs fitted to ConvPG's means alone, everything else then a prediction, and fitted to all schemes.
 * Prints the means against the paper's with the error of each; writes every run to table.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "papers/gate_fit.h"
#include "papers/suite.h"
#include "sched/sched.h"
#include "study/alone/gate_runs.h"

enum { MAX_SWEEP = 16, MAX_SETS = 64 };

struct suite {
    int instructions, seed;
    char chip[64];
    struct tmx_gate_chip sm;
    struct tmx_gate_kernel kernel[TMX_GATE_KERNELS];
    struct tmx_gate_case gate_case[TMX_GATE_CASES];
    struct tmx_gate_plan plan;
    struct tmx_sm_result *result;
};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_INT(suite, instructions, "warp instructions", 1000, 1e9, 300000, "of one run"),
    TMX_ROW_INT(suite, seed, "1", 0, 1e9, NAN, "of the instruction streams"),
    TMX_ROW_TEXT(suite, chip, "gtx480", "whose SM"),
    {0},
};
static const char *const root_also[] = {
    "name", "kind", "doc", "source", "base", "sweep_bet", "sweep_wakeup", "sweep_policies", "kernels", NULL};

/* ---- what to run ---- */

static enum tmx_status load_kernels(struct suite *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(call->root, "kernels", 1, TMX_GATE_KERNELS, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_setting_blame(e, tmx_gate_kernel_load(&s->kernel[i], tmx_setting_text(e), err), err);
    }
    s->plan.n_kernel = tmx_setting_length(list);
    return st;
}

static enum tmx_status load_chip(struct suite *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    const char *sets[MAX_SETS];
    size_t n = 0;
    for (size_t i = 0; i < call->n_set && n < MAX_SETS; i++) {
        sets[n++] = call->set[i] + strlen("base."); /* overrides of the SM: --set gate.idle_detect_cycles=8 */
    }
    return tmx_gate_chip_load(&s->sm, s->chip, sets, n, err);
}

static enum tmx_status add_case(struct suite *s, const struct tmx_gate_policy *policy, int bet, int wakeup,
                                struct tmx_err *err)
{
    for (size_t i = 0; i < s->plan.n_case; i++) {
        const struct tmx_gate_case *c = &s->gate_case[i];
        if (c->policy == policy && c->break_even_cycles == bet && c->wakeup_cycles == wakeup) {
            return TMX_OK;
        }
    }
    if (s->plan.n_case == TMX_GATE_CASES) {
        return tmx_fail(err, TMX_ERANGE, "more than %d combinations of policies and times", TMX_GATE_CASES);
    }
    s->gate_case[s->plan.n_case++] = (struct tmx_gate_case){policy, bet, wakeup};
    return TMX_OK;
}

static enum tmx_status add_sweep(struct suite *s, const struct tmx_suite_call *call, const char *key,
                                 bool is_bet, struct tmx_err *err)
{
    const struct tmx_setting *values, *policies = NULL;
    enum tmx_status st = tmx_setting_list(call->root, key, 0, TMX_GATE_CASES, &values, err);
    st = st ? st : tmx_setting_texts(call->root, "sweep_policies", 0, TMX_GATE_CASES, &policies, err);
    for (size_t p = 0; !st && p < tmx_setting_length(policies); p++) {
        const struct tmx_setting *name = tmx_setting_at(policies, p);
        const struct tmx_gate_policy *policy = tmx_gate_find(tmx_setting_text(name));
        if (!policy) {
            return tmx_fail_setting(err, name, "sweep_policies: unknown policy \"%s\"",
                                    tmx_setting_text(name));
        }
        for (size_t i = 0; !st && i < tmx_setting_length(values); i++) {
            const struct tmx_setting *e = tmx_setting_at(values, i);
            const int64_t cycles = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : 0;
            if (cycles < 1 || cycles > 1000) {
                return tmx_fail_setting(err, e, "%s: expected cycles from 1 to 1000", key);
            }
            const int v = (int)cycles;
            st = add_case(s, policy, is_bet ? v : s->sm.gate.break_even_cycles,
                          is_bet ? s->sm.gate.wakeup_cycles : v, err);
        }
    }
    return st;
}

static enum tmx_status open_suite(struct suite *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    enum tmx_status st = tmx_opt_read(root_opts, s, call->root, root_also, err);
    st = st ? st : load_chip(s, call, err);
    st = st ? st : load_kernels(s, call, err);
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; !st && *p; p++) {
        st = add_case(s, *p, s->sm.gate.break_even_cycles, s->sm.gate.wakeup_cycles, err);
    }
    st = st ? st : add_sweep(s, call, "sweep_bet", true, err);
    st = st ? st : add_sweep(s, call, "sweep_wakeup", false, err);
    s->plan.chip = &s->sm;
    s->plan.kernel = s->kernel;
    s->plan.gate = s->gate_case;
    s->plan.n_fit = TMX_GATE_FITS;
    s->plan.seed = (uint64_t)s->seed;
    s->plan.budget = (uint64_t)s->instructions;
    s->plan.n_worker = call->n_worker;
    s->plan.quiet = call->quiet;
    return st;
}

/* ---- results ---- */

static size_t find_case(const struct suite *s, const char *policy, int bet, int wakeup)
{
    size_t i = 0;
    while (i < s->plan.n_case &&
           (strcmp(s->gate_case[i].policy->base.name, policy) != 0 ||
            s->gate_case[i].break_even_cycles != bet || s->gate_case[i].wakeup_cycles != wakeup)) {
        i++;
    }
    return i;
}

static size_t plain_case(const struct suite *s, const char *policy)
{
    return find_case(s, policy, s->sm.gate.break_even_cycles, s->sm.gate.wakeup_cycles);
}

static const struct tmx_sm_result *result_of(const struct suite *s, size_t fit, size_t kernel, size_t c)
{
    return &s->result[(fit * s->plan.n_kernel + kernel) * s->plan.n_case + c];
}

static struct tmx_gate_numbers numbers_of(const struct suite *s, size_t fit, size_t kernel, size_t c)
{
    return tmx_gate_numbers(&s->plan, result_of(s, fit, kernel, c), result_of(s, fit, kernel, 0),
                            s->gate_case[c].break_even_cycles);
}

static size_t find_kernel(const struct suite *s, const char *name)
{
    size_t k = 0;
    while (k < s->plan.n_kernel && strcmp(s->kernel[k].name, name) != 0) {
        k++;
    }
    return k;
}

/* ---- the comparison on the screen ---- */

static const struct tmx_column summary_columns[] = {
    {"fit", TMX_COLUMN_TEXT, 0},
    {"policy", TMX_COLUMN_TEXT, 0},
    {"status", TMX_COLUMN_TEXT, 0},
    {"int_saved_pct", TMX_COLUMN_REAL, 1},
    {"int_paper_pct", TMX_COLUMN_REAL, 1},
    {"int_error_points", TMX_COLUMN_REAL, 1},
    {"fp_saved_pct", TMX_COLUMN_REAL, 1},
    {"fp_paper_pct", TMX_COLUMN_REAL, 1},
    {"fp_error_points", TMX_COLUMN_REAL, 1},
    {"slowdown_pct", TMX_COLUMN_REAL, 1},
    {"slowdown_paper_pct", TMX_COLUMN_REAL, 1},
};

static void summary_mean(struct tmx_table *t, size_t fit, double int_error, double fp_error, double n)
{
    tmx_table_text(t, tmx_gate_fits[fit]);
    tmx_table_text(t, fit == 0 ? "mean |error| of the four predicted" : "mean |error| of the five fitted");
    tmx_table_empty(t);
    tmx_table_empty(t);
    tmx_table_empty(t);
    tmx_table_real(t, int_error / n);
    tmx_table_empty(t);
    tmx_table_empty(t);
    tmx_table_real(t, fp_error / n);
    tmx_table_empty(t);
    tmx_table_empty(t);
}

static enum tmx_status summarise(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st =
        tmx_table_create(t, summary_columns, sizeof summary_columns / sizeof summary_columns[0], err);
    for (size_t fit = 0; !st && fit < s->plan.n_fit; fit++) {
        double int_error = 0, fp_error = 0, n = 0;
        for (size_t i = 0; i < TMX_GATE_MEANS; i++) {
            const struct tmx_gate_mean *paper = &tmx_gate_means[i];
            const struct tmx_gate_mean m =
                tmx_gate_mean_of(&s->plan, s->result, fit, plain_case(s, paper->policy));
            const bool fitted = fit == 1 || i == 0;
            tmx_table_text(*t, tmx_gate_fits[fit]);
            tmx_table_text(*t, paper->policy);
            tmx_table_text(*t, fitted ? "calibrated" : "prediction");
            tmx_table_real(*t, m.int_saved);
            tmx_table_real(*t, paper->int_saved);
            tmx_table_real(*t, m.int_saved - paper->int_saved);
            tmx_table_real(*t, m.fp_saved);
            tmx_table_real(*t, paper->fp_saved);
            tmx_table_real(*t, m.fp_saved - paper->fp_saved);
            tmx_table_real(*t, m.slowdown);
            tmx_table_real(*t, paper->slowdown);
            if (fit == 1 || !fitted) {
                int_error += fabs(m.int_saved - paper->int_saved);
                fp_error += fabs(m.fp_saved - paper->fp_saved);
                n += 1;
            }
        }
        summary_mean(*t, fit, int_error, fp_error, n);
    }
    return st;
}

/* ---- paper.csv ---- */

struct paper {
    const struct suite *s;
    struct tmx_table *t;
    size_t fit;
};

/* A fitted value that came out within `tolerance` is calibrated, a predicted one a prediction. */
static void add_paper(const struct paper *p, const char *figure, const char *quantity, const char *what,
                      const char *unit, const double *value, double ours, double tolerance, bool fitted)
{
    char condition[128];
    const bool close = !value || fabs(ours - *value) <= tolerance;
    snprintf(condition, sizeof condition, "%s; fit %s", what, tmx_gate_fits[p->fit]);
    tmx_paper_add(p->t, &(struct tmx_paper_row){
                            .paper = "001",
                            .figure = figure,
                            .quantity = quantity,
                            .condition = condition,
                            .unit = unit,
                            .paper_value = value,
                            .ours = ours,
                            .status = !close ? TMX_PAPER_NOT_REPRODUCED
                                             : (fitted ? TMX_PAPER_CALIBRATED : TMX_PAPER_PREDICTION)});
}

/* Points within which a mean counts as reproduced (savings; slowdown). */
static const double saving_points = 3, slowdown_points = 1.5;

static void add_means(const struct paper *p)
{
    for (size_t i = 0; i < TMX_GATE_MEANS; i++) {
        const struct tmx_gate_mean *m = &tmx_gate_means[i];
        const struct tmx_gate_mean ours =
            tmx_gate_mean_of(&p->s->plan, p->s->result, p->fit, plain_case(p->s, m->policy));
        const bool fitted = p->fit == 1 || i == 0;
        add_paper(p, "Figure 9a", "static energy saved, INT, mean", m->policy, "percent", &m->int_saved,
                  ours.int_saved, saving_points, fitted);
        add_paper(p, "Figure 9b", "static energy saved, FP, mean", m->policy, "percent", &m->fp_saved,
                  ours.fp_saved, saving_points, fitted);
        add_paper(p, "Figure 10", "slowdown, mean", m->policy, "percent", &m->slowdown, ours.slowdown,
                  slowdown_points, fitted);
    }
}

static void add_sweeps(const struct paper *p)
{
    static const struct {
        const char *policy, *what;
        int bet, wakeup;
        double int_saved, fp_saved, slowdown; /* NAN: the text does not print it */
    } rows[] = {
        {"convpg", "convpg, break-even 19", 19, 3, 17, NAN, NAN},
        {"warped_gates", "warped_gates, break-even 19", 19, 3, 33, NAN, NAN},
        {"convpg", "convpg, wake-up 9", 14, 9, 6, 10, 10},
        {"warped_gates", "warped_gates, wake-up 9", 14, 9, 33, 48, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t c = find_case(p->s, rows[i].policy, rows[i].bet, rows[i].wakeup);
        if (c == p->s->plan.n_case) {
            continue;
        }
        const struct tmx_gate_mean ours = tmx_gate_mean_of(&p->s->plan, p->s->result, p->fit, c);
        add_paper(p, "Figure 11", "static energy saved, INT, mean", rows[i].what, "percent",
                  &rows[i].int_saved, ours.int_saved, saving_points, false);
        if (!isnan(rows[i].fp_saved)) {
            add_paper(p, "Figure 11", "static energy saved, FP, mean", rows[i].what, "percent",
                      &rows[i].fp_saved, ours.fp_saved, saving_points, false);
            add_paper(p, "Figure 11", "slowdown, mean", rows[i].what, "percent", &rows[i].slowdown,
                      ours.slowdown, slowdown_points, false);
        }
    }
}

static void add_idle_periods(const struct paper *p)
{
    static const struct {
        const char *policy, *what;
        double region[3]; /* NAN: not printed */
    } rows[] = {
        {"convpg", "hotspot, convpg", {83.4, 10.1, 6.5}},
        {"gates", "hotspot, gates", {59.0, 22.1, 18.9}},
        {"naive_blackout", "hotspot, naive_blackout", {NAN, NAN, 45.7}},
    };
    static const char *const region[] = {"idle periods, wasted", "idle periods, uncompensated",
                                         "idle periods, compensated"};
    const size_t hotspot = find_kernel(p->s, "hotspot");
    for (size_t i = 0; hotspot < p->s->plan.n_kernel && i < sizeof rows / sizeof rows[0]; i++) {
        const struct tmx_gate_numbers n = numbers_of(p->s, p->fit, hotspot, plain_case(p->s, rows[i].policy));
        for (int k = 0; k < 3; k++) {
            add_paper(p, "Figure 3", region[k], rows[i].what, "percent",
                      isnan(rows[i].region[k]) ? NULL : &rows[i].region[k], 100 * n.region[k], 5, false);
        }
    }
}

/* Means over the kernels, relative to ConvPG or to the two-level scheduler (Figure 8). */
static void add_opportunities(const struct paper *p)
{
    static const struct {
        const char *policy;
        double idle, compensated, wakeups; /* NAN: not printed */
    } rows[] = {
        {"convpg", NAN, 20.9, NAN},
        {"gates", 1.03, 22.6, NAN},
        {"coordinated_blackout", 1.10, NAN, 0.74},
        {"warped_gates", NAN, 33.5, 0.54},
    };
    const struct suite *s = p->s;
    const double n = (double)s->plan.n_kernel;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double idle = 0, compensated = 0, log_wakeups = 0;
        for (size_t k = 0; k < s->plan.n_kernel; k++) {
            const size_t c = plain_case(s, rows[i].policy), conv = plain_case(s, "convpg");
            const struct tmx_gate_numbers v = numbers_of(s, p->fit, k, c);
            idle += v.idle[0] / numbers_of(s, p->fit, k, 0).idle[0] / n;
            compensated += 100 * v.compensated[0] / n;
            log_wakeups += log(fmax(1, (double)result_of(s, p->fit, k, c)->type[0].wakeups) /
                               fmax(1, (double)result_of(s, p->fit, k, conv)->type[0].wakeups)) /
                           n;
        }
        if (!isnan(rows[i].idle)) {
            add_paper(p, "Figure 8a", "idle cycles, INT, relative to the two-level scheduler", rows[i].policy,
                      "1", &rows[i].idle, idle, 0.05, false);
        }
        if (!isnan(rows[i].compensated)) {
            add_paper(p, "Figure 8b", "time compensated less uncompensated, INT, mean", rows[i].policy,
                      "percent", &rows[i].compensated, compensated, saving_points, false);
        }
        if (!isnan(rows[i].wakeups)) {
            add_paper(p, "Figure 8c", "wake-ups, INT, relative to convpg", rows[i].policy, "1",
                      &rows[i].wakeups, exp(log_wakeups), 0.1, false);
        }
    }
}

/* "backprop, cutcp, lavaMD, and NN experience negative or no energy savings" (7.3): no number printed. */
static void add_losers(const struct paper *p)
{
    static const char *const loser[] = {"backprop", "cutcp", "lavaMD", "NN"};
    const size_t c = plain_case(p->s, "convpg");
    for (size_t i = 0; i < sizeof loser / sizeof loser[0]; i++) {
        const size_t k = find_kernel(p->s, loser[i]);
        if (k == p->s->plan.n_kernel) {
            continue;
        }
        const struct tmx_gate_numbers n = numbers_of(p->s, p->fit, k, c);
        char what[96];
        snprintf(what, sizeof what, "%s, convpg: negative or none; fit %s", loser[i], tmx_gate_fits[p->fit]);
        tmx_paper_add(p->t, &(struct tmx_paper_row){.paper = "001",
                                                    .figure = "Figure 9a",
                                                    .quantity = "static energy saved, INT",
                                                    .condition = what,
                                                    .unit = "percent",
                                                    .ours = 100 * n.saved[0],
                                                    .status = n.saved[0] < 0.01 ? TMX_PAPER_PREDICTION
                                                                                : TMX_PAPER_NOT_REPRODUCED});
    }
}

static void add_others(const struct paper *p)
{
    const struct tmx_gate_leakage *l = &p->s->sm.leakage;
    const double few = 5;
    double n = 0;
    for (size_t k = 0; k < p->s->plan.n_kernel; k++) {
        n += numbers_of(p->s, p->fit, k, 0).active_warps < 10;
    }
    add_paper(p, "Figure 5b", "benchmarks with fewer than ten active warps", "mean of the run", "1", &few, n,
              1, false);
    if (p->fit == 0) {
        static const double share = 16.38, low = 1.62, high = 2.43;
        const struct tmx_paper_row rows[] = {
            {"001", "Section 7.3", "leakage of INT and FP units in the chip's", "GPUWattch", "percent",
             &share, 100 * (l->int_w + l->fp_w) / l->chip_w, TMX_PAPER_INPUT, 0},
            {"001", "Section 7.3", "on-chip power saved", "30 % of the units' static energy", "percent", &low,
             100 * tmx_gate_chip_saved(l, 0.30, 0.30), TMX_PAPER_PREDICTION, 0},
            {"001", "Section 7.3", "on-chip power saved", "45 % of the units' static energy", "percent",
             &high, 100 * tmx_gate_chip_saved(l, 0.45, 0.45), TMX_PAPER_PREDICTION, 0},
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            tmx_paper_add(p->t, &rows[i]);
        }
    }
}

static enum tmx_status compare(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_paper_create(t, err);
    for (size_t fit = 0; !st && fit < s->plan.n_fit; fit++) {
        const struct paper p = {s, *t, fit};
        add_means(&p);
        add_sweeps(&p);
        add_idle_periods(&p);
        add_opportunities(&p);
        add_losers(&p);
        add_others(&p);
    }
    return st;
}

static enum tmx_status save(const struct tmx_table *t, const char *dir, const char *name, struct tmx_err *err)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}

static enum tmx_status report(const struct suite *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_table *runs = NULL, *paper = NULL, *summary = NULL;
    enum tmx_status st = tmx_gate_table(&s->plan, s->result, &runs, err);
    st = st ? st : compare(s, &paper, err);
    st = st ? st : summarise(s, &summary, err);
    if (!st && call->out_dir) {
        st = tmx_os_mkdirs(call->out_dir, err);
        st = st ? st : save(runs, call->out_dir, "table.csv", err);
        st = st ? st : save(paper, call->out_dir, "paper.csv", err);
        st = st ? st : save(summary, call->out_dir, "means.csv", err);
    }
    st = st ? st : tmx_table_save(summary, call->format, "-", err);
    tmx_table_destroy(runs);
    tmx_table_destroy(paper);
    tmx_table_destroy(summary);
    return st;
}

enum tmx_status tmx_suite_warped_gates(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    enum tmx_status st = open_suite(s, call, err);
    if (st || call->check) {
        free(s);
        return st;
    }
    s->result = calloc(s->plan.n_fit * s->plan.n_kernel * s->plan.n_case, sizeof *s->result);
    st = s->result ? tmx_gate_run(&s->plan, s->result, err) : tmx_fail(err, TMX_ENOMEM, "results");
    st = st ? st : report(s, call, err);
    free(s->result);
    free(s);
    return st;
}
