/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suites of mixes x policies (x variants): run all, tabulate slowdown, energy and temperature,
 * and set the paper's printed values beside ours.
 *
 * Averages over mixes are ratios of means, the reading under which paper 003's own numbers agree:
 * improvement of the mean = 1 - mean(slowdown) / mean(slowdown of the baseline). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/suite.h"
#include "papers/tabs_runs.h"
#include "papers/values.h"

static size_t n_watched(const struct tmx_tabs_suite *s)
{
    return s->call->probe ? s->call->probe->n : 0;
}

/* Index of a metric or a watched column among a task's values; their number when there is none of this name.
 */
static size_t value_index(const struct tmx_tabs_suite *s, const char *name)
{
    const size_t n = tmx_study_metrics(), i = tmx_study_metric(name);
    size_t l = 0;
    while (i == n && l < n_watched(s) && strcmp(s->call->probe->column[l], name) != 0) {
        l++;
    }
    return i < n ? i : n + l;
}

/* Groups of mixes a value can be taken over. */
enum group { ONE, MEAN, MEAN_TARGET, MAX, MIN_NONZERO };

/* A metric over a group of mixes for one policy; NAN when a run of the group failed. */
static double group_value(const struct tmx_tabs_suite *s, size_t variant, enum group group, size_t mix,
                          size_t policy, size_t metric)
{
    double sum = 0, n = 0, best = group == MIN_NONZERO ? INFINITY : -INFINITY;
    if (group == ONE) {
        return s->runs.value[tmx_tabs_task(s, variant, mix, policy) * s->runs.n_value + metric];
    }
    for (size_t i = 0; i < s->n_mix; i++) {
        if (group == MEAN_TARGET && !s->target[i]) {
            continue;
        }
        const double v = s->runs.value[tmx_tabs_task(s, variant, i, policy) * s->runs.n_value + metric];
        if (isnan(v)) {
            return NAN;
        }
        sum += v;
        n += 1;
        const bool lower = v > 0.005 && v < best; /* 0.00 at the paper's two decimals is zero */
        if ((group == MIN_NONZERO && lower) || (group == MAX && v > best)) {
            best = v;
        }
    }
    return group == MAX || group == MIN_NONZERO ? best : sum / n;
}

/* 100 (1 - a / b); NAN where b is 0 at the paper's precision. */
static double saved_pct(double a, double b)
{
    return fabs(b) > 0.005 ? 100 * (1 - a / b) : NAN;
}

static double column_value(const struct tmx_tabs_suite *s, size_t variant, enum group group, size_t mix,
                           size_t policy, const char *column)
{
    const size_t slow = tmx_study_metric("slowdown_pct"), energy = tmx_study_metric("energy_j");
    const bool beside = group == ONE && mix >= s->n_mix; /* is compared with nothing */
    const size_t bl = beside ? s->n_policy : tmx_tabs_policy(s, s->baseline),
                 cmp = beside ? s->n_policy : tmx_tabs_policy(s, s->compare);
    if (strcmp(column, "improvement_over_bl_pct") == 0) {
        return bl == s->n_policy ? NAN
                                 : saved_pct(group_value(s, variant, group, mix, policy, slow),
                                             group_value(s, variant, group, mix, bl, slow));
    }
    if (strcmp(column, "improvement_over_dvfs_pct") == 0) {
        return cmp == s->n_policy ? NAN
                                  : saved_pct(group_value(s, variant, group, mix, policy, slow),
                                              group_value(s, variant, group, mix, cmp, slow));
    }
    if (strcmp(column, "energy_saved_vs_bl_pct") == 0 || strcmp(column, "energy_saved_vs_dvfs_pct") == 0) {
        const size_t over = column[16] == 'b' ? bl : cmp;
        return over == s->n_policy ? NAN
                                   : saved_pct(group_value(s, variant, group, mix, policy, energy),
                                               group_value(s, variant, group, mix, over, energy));
    }
    const size_t m = value_index(s, column);
    if (m == s->runs.n_value) { /* a watched one, and nobody watched */
        return NAN;
    }
    return group_value(s, variant, group, mix, policy, m);
}

static const struct tmx_column columns[] = {
    {"mix", TMX_COLUMN_TEXT, 0},
    {"policy", TMX_COLUMN_TEXT, 0},
    {"slowdown_pct", TMX_COLUMN_REAL, 2},
    {"improvement_over_bl_pct", TMX_COLUMN_REAL, 1},
    {"improvement_over_dvfs_pct", TMX_COLUMN_REAL, 1},
    {"energy_j", TMX_COLUMN_REAL, 0},
    {"energy_saved_vs_bl_pct", TMX_COLUMN_REAL, 2},
    {"peak_temp_c", TMX_COLUMN_REAL, 2},
    {"mean_temp_c", TMX_COLUMN_REAL, 2},
    {"throttled_s", TMX_COLUMN_REAL, 2},
    {"makespan_s", TMX_COLUMN_REAL, 2},
    {"throughput_blocks_per_s", TMX_COLUMN_REAL, 0},
    {"fairness", TMX_COLUMN_REAL, 3},
    {"dynamic_j", TMX_COLUMN_REAL, 0},
    {"leakage_j", TMX_COLUMN_REAL, 0},
    {"baseline_j", TMX_COLUMN_REAL, 0},
    {"transition_j", TMX_COLUMN_REAL, 1},
    {"gating_saved_j", TMX_COLUMN_REAL, 1},
    {"fan_energy_j", TMX_COLUMN_REAL, 1},
    {"mean_rpm", TMX_COLUMN_REAL, 0},
    {"peak_noise_dba", TMX_COLUMN_REAL, 1},
    {"mean_inlet_c", TMX_COLUMN_REAL, 2},
    {"exhaust_j", TMX_COLUMN_REAL, 0},
    {"remote_cost", TMX_COLUMN_REAL, 2},
    {"gate_asleep_error_points", TMX_COLUMN_REAL, 2},
    {"gate_slowdown_error_points", TMX_COLUMN_REAL, 2},
    {"trips", TMX_COLUMN_REAL, 0},
    {"sms_gated", TMX_COLUMN_REAL, 0},
    {"sms_near_trip", TMX_COLUMN_REAL, 0},
    {"longest_gating_s", TMX_COLUMN_REAL, 2},
    {"gating_period_s", TMX_COLUMN_REAL, 2},
    {"below_trip_k", TMX_COLUMN_REAL, 2},
    {"step_time_s", TMX_COLUMN_REAL, 4},
    {"step_p99_s", TMX_COLUMN_REAL, 4},
    {"wait_pct", TMX_COLUMN_REAL, 2},
    {"bound_pct", TMX_COLUMN_REAL, 3},
    {"gap_pct", TMX_COLUMN_REAL, 3},
    {"headroom_w", TMX_COLUMN_REAL, 2},
    {"variant", TMX_COLUMN_TEXT, 0},
    {"status", TMX_COLUMN_TEXT, 0}, /* done, failed, not run; of a mean: done or partial */
    {"error", TMX_COLUMN_TEXT, 0},
};
enum { N_COLUMN = sizeof columns / sizeof columns[0] };

static void add_row(const struct tmx_tabs_suite *s, struct tmx_table *t, size_t variant, enum group group,
                    size_t mix, size_t policy, const char *label)
{
    tmx_table_text(t, label);
    tmx_table_text(t, mix < s->n_mix ? s->policy[policy].name : s->beside[mix - s->n_mix].policy);
    for (size_t c = 2; c < N_COLUMN - 3; c++) {
        const double v = column_value(s, variant, group, mix, policy, columns[c].name);
        isfinite(v) ? tmx_table_real(t, v) : tmx_table_empty(t);
    }
    tmx_table_text(t, s->variant[variant].name);
    const char *error = group == ONE ? s->runs.error[tmx_tabs_task(s, variant, mix, policy)] : NULL;
    bool whole = true;
    for (size_t i = 0; group != ONE && i < s->n_mix; i++) {
        whole = whole && ((group == MEAN_TARGET && !s->target[i]) ||
                          !s->runs.error[tmx_tabs_task(s, variant, i, policy)]);
    }
    tmx_table_text(t, !whole                              ? "partial"
                      : !error                            ? "done"
                      : strncmp(error, "not run", 7) == 0 ? "not run"
                                                          : "failed");
    tmx_table_text(t, error ? error : "");
}

static enum tmx_status make_table(const struct tmx_tabs_suite *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_create(t, columns, N_COLUMN, err);
    bool has_target = false;
    for (size_t i = 0; i < s->n_mix; i++) {
        has_target = has_target || s->target[i];
    }
    for (size_t v = 0; !st && v < s->n_variant; v++) {
        for (size_t i = 0; i < s->n_mix; i++) {
            for (size_t p = 0; p < s->n_policy; p++) {
                add_row(s, *t, v, ONE, i, p, tmx_tabs_label(s, v, i));
            }
        }
        for (size_t p = 0; p < s->n_policy; p++) {
            add_row(s, *t, v, MEAN, 0, p, "mean");
        }
        for (size_t p = 0; has_target && p < s->n_policy; p++) {
            add_row(s, *t, v, MEAN_TARGET, 0, p, "mean_target");
        }
        for (size_t b = 0; b < s->n_beside; b++) {
            add_row(s, *t, v, ONE, s->n_mix + b, 0, s->beside[b].name);
        }
    }
    return st;
}

/* What was watched of every run, of which it could be. */
static enum tmx_status make_ledger(const struct tmx_tabs_suite *s, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_column c[TMX_TABS_LIST] = {
        {"mix", TMX_COLUMN_TEXT, 0}, {"policy", TMX_COLUMN_TEXT, 0}, {"slowdown_pct", TMX_COLUMN_REAL, 3}};
    const size_t slow = tmx_study_metric("slowdown_pct"), first = tmx_study_metrics(), n = n_watched(s);
    if (n + 4 > TMX_TABS_LIST) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "%zu watched columns, at most %d", n, TMX_TABS_LIST - 4);
    }
    for (size_t l = 0; l < n; l++) {
        c[3 + l] = (struct tmx_column){s->call->probe->column[l], TMX_COLUMN_REAL, 3};
    }
    c[3 + n] = (struct tmx_column){"variant", TMX_COLUMN_TEXT, 0};
    const enum tmx_status st = tmx_table_create(t, c, 4 + n, err);
    for (size_t task = 0; !st && n > 0 && task < s->n_variant * tmx_tabs_runs(s); task++) {
        const char *mix, *label;
        const struct tmx_tabs_choice *run = tmx_tabs_run(s, task, &mix, &label);
        const double *value = &s->runs.value[task * s->runs.n_value];
        if (isnan(value[first])) {
            continue;
        }
        tmx_table_text(*t, label);
        tmx_table_text(*t, run->name);
        tmx_table_real(*t, value[slow]);
        for (size_t l = 0; l < n; l++) {
            isnan(value[first + l]) ? tmx_table_empty(*t) : tmx_table_real(*t, value[first + l]);
        }
        tmx_table_text(*t, s->variant[task / tmx_tabs_runs(s)].name);
    }
    return st;
}

/* For the screen: the slowdown of every mix under every policy; of several variants the means only. */
static enum tmx_status make_brief(const struct tmx_tabs_suite *s, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_column head[TMX_TABS_LIST + 1] = {
        {s->n_variant > 1 ? "slowdown_pct, mean" : "slowdown_pct", TMX_COLUMN_TEXT, 0}};
    const size_t slow = tmx_study_metric("slowdown_pct"),
                 n_row = s->n_variant > 1 ? s->n_variant : s->n_mix + 1;
    for (size_t p = 0; p < s->n_policy; p++) {
        head[p + 1] = (struct tmx_column){s->policy[p].name, TMX_COLUMN_REAL, 2};
    }
    const enum tmx_status st = tmx_table_create(t, head, s->n_policy + 1, err);
    for (size_t r = 0; !st && r < n_row; r++) {
        const bool variants = s->n_variant > 1, mean = variants || r == s->n_mix;
        tmx_table_text(*t, variants ? s->variant[r].name : mean ? "mean" : s->mix_name[r]);
        for (size_t p = 0; p < s->n_policy; p++) {
            const double v = group_value(s, variants ? r : 0, mean ? MEAN : ONE, mean ? 0 : r, p, slow);
            isfinite(v) ? tmx_table_real(*t, v) : tmx_table_empty(*t);
        }
    }
    return st;
}

/* ---- the paper's values ---- */

/* What `of` says: a group of mixes, else a mix or a run beside them. */
static enum group group_of(const struct tmx_tabs_suite *s, const char *of, size_t *mix)
{
    static const char *const groups[] = {"", "mean", "mean_target", "max", "min_nonzero"};
    *mix = 0;
    for (size_t g = 1; g < sizeof groups / sizeof groups[0]; g++) {
        if (strcmp(groups[g], of) == 0) {
            return (enum group)g;
        }
    }
    while (*mix < s->n_mix + s->n_beside &&
           strcmp(*mix < s->n_mix ? s->mix_name[*mix] : s->beside[*mix - s->n_mix].name, of) != 0) {
        ++*mix;
    }
    return ONE;
}

static size_t variant_of(const struct tmx_tabs_suite *s, const char *name)
{
    size_t v = 0;
    while (name[0] && v < s->n_variant && strcmp(s->variant[v].name, name) != 0) {
        v++;
    }
    return v;
}

static bool is_column(const struct tmx_tabs_suite *s, const char *name)
{
    if (strcmp(name, "energy_saved_vs_dvfs_pct") == 0) { /* no column of the table, see column_value */
        return true;
    }
    for (size_t c = 0; c < N_COLUMN; c++) {
        if (columns[c].type == TMX_COLUMN_REAL && strcmp(columns[c].name, name) == 0) {
            return true;
        }
    }
    return value_index(s, name) < tmx_study_metrics() + n_watched(s);
}

static enum tmx_status check_pick(void *ctx, const struct tmx_pick *p, const struct tmx_setting *at,
                                  struct tmx_err *err)
{
    const struct tmx_tabs_suite *s = ctx;
    size_t mix;
    (void)group_of(s, p->of, &mix);
    if (mix == s->n_mix + s->n_beside) {
        return tmx_fail_setting(err, at, "values: no such mix: \"%s\"", p->of);
    }
    if (tmx_tabs_policy(s, p->policy) == s->n_policy) {
        return tmx_fail_setting(err, at, "values: no such policy: \"%s\"", p->policy);
    }
    if (variant_of(s, p->variant) == s->n_variant) {
        return tmx_fail_setting(err, at, "values: no such variant: \"%s\"", p->variant);
    }
    return is_column(s, p->column) ? TMX_OK
                                   : tmx_fail_setting(err, at, "values: no such column: \"%s\"", p->column);
}

static double number(void *ctx, const struct tmx_pick *p, size_t seed)
{
    const struct tmx_tabs_suite *s = ctx;
    size_t mix;
    const enum group group = group_of(s, p->of, &mix);
    (void)seed;
    return column_value(s, variant_of(s, p->variant), group, mix, tmx_tabs_policy(s, p->policy), p->column);
}

static enum tmx_status first_failure(const struct tmx_tabs_suite *s, size_t n_task, struct tmx_err *err)
{
    size_t n = 0, first = 0;
    const char *mix, *label;
    for (size_t t = n_task; t-- > 0;) {
        if (s->runs.error[t]) {
            n++;
            first = t;
        }
    }
    const struct tmx_tabs_choice *run = tmx_tabs_run(s, first, &mix, &label);
    return n ? tmx_fail(err, TMX_ESOLVE, "%zu of %zu runs failed, the first (%s, %s): %s", n, n_task, label,
                        run->name, s->runs.error[first])
             : TMX_OK;
}

enum tmx_status tmx_suite_tabs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_tabs_suite *s = calloc(1, sizeof *s);
    struct tmx_table *table = NULL, *paper = NULL, *ledger = NULL, *brief = NULL;
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    s->call = call;
    const struct tmx_value_source values = {
        .ctx = s, .paper = s->paper, .policy = "BL", .n_seed = 1, .check = check_pick, .number = number};
    struct tmx_runs runs;
    s->mix_name = calloc(TMX_TABS_LIST, sizeof *s->mix_name);
    enum tmx_status st = s->mix_name ? tmx_tabs_read(s, err) : tmx_fail(err, TMX_ENOMEM, "suite");
    const bool compared = call->n_policy == 0; /* else values are printed of policies that do not run */
    st = st || !compared ? st : tmx_values_check(call->root, &values, err);
    tmx_tabs_as_runs(s, &runs);
    st = st ? st : tmx_suite_values(call, &runs, "runs", &s->runs, err);
    const bool stopped = st == TMX_ESTOPPED;
    struct tmx_err later = {0};
    if ((!st && !call->check) || stopped) { /* what is finished is written, also after Ctrl-C */
        enum tmx_status end = make_table(s, &table, &later);
        end = end || !compared ? end : tmx_values_table(call->root, &values, &paper, NULL, &later);
        end = end ? end : make_ledger(s, &ledger, &later);
        if (!end && tmx_table_rows(ledger) > 0) {
            end = tmx_suite_save(call, ledger, "ledger.csv", &later);
        }
        end = end ? end : make_brief(s, &brief, &later);
        end = end ? end : tmx_suite_write(call, table, stopped ? NULL : paper, brief, &later);
        if (end) {
            st = end;
            *err = later;
        }
    }
    st = st || call->check ? st : first_failure(s, runs.n_point, err);
    tmx_table_destroy(table);
    tmx_table_destroy(paper);
    tmx_table_destroy(ledger);
    tmx_table_destroy(brief);
    tmx_run_values_finish(&s->runs);
    free(s->mix_name);
    free(s);
    return st;
}
