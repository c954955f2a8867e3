/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suites of mixes x policies (x variants): run all, tabulate slowdown, energy and temperature,
 * and set the paper's printed values beside ours.
 *
 * Averages over mixes are ratios of means, the reading under which paper 003's own numbers agree:
 * improvement of the mean = 1 - mean(slowdown) / mean(slowdown of the baseline). */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/workload/mix.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/load/data.h"

enum { LIST = 128 }; /* mixes, policies, variants or runs beside, at most */

struct choice { /* a column of the suite: a policy, a variant or a run beside the mixes, with the
                 * keys it sets
                 */
    char name[64];
    char policy[32];
    char mix[64];                  /* of a run beside; of a variant: in place of the suite's one mix */
    const struct tmx_setting *set; /* list of "key=value", may be NULL */
};

struct suite {
    const struct tmx_suite_call *call;
    char baseline[64], compare[64], paper[16];
    struct choice policy[LIST], variant[LIST];
    const char *mix[LIST]; /* as the suite names them */
    char (*mix_name)[64];  /* [LIST] their own names */
    bool target[LIST];
    size_t n_policy, n_variant, n_mix;
    struct choice beside[LIST]; /* single runs in no mean: mix n_mix + i of the table */
    size_t n_beside;
    struct tmx_run_values runs; /* [n_variant * runs_of_variant()] */
};

/* ---- what the suite runs: the lists of its file and the overrides of each run ---- */

enum { MAX_SETS = 10000 };

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(suite, baseline, "BL", "policy the improvements are over"),
    TMX_ROW_TEXT(suite, compare, "DVFS", "second policy the improvements are over"),
    TMX_ROW_TEXT(suite, paper, "", "number of the paper whose values are in `values`"),
    {0},
};
static const char *const root_also[] = {"name",     "kind",     "doc",    "source", "base", "mixes",
                                        "policies", "variants", "values", "beside", NULL};

static const struct tmx_opt choice_opts[] = {
    TMX_ROW_TEXT(choice, name, NULL, "name in the table"),
    TMX_ROW_TEXT(choice, policy, "", "preset; default: the name"),
    TMX_ROW_TEXT(choice, mix, "", "of a run beside the mixes; of a variant, in place of the one mix"),
    {0},
};

/* Runs of one variant. */
static size_t runs_of_variant(const struct suite *s) /* of one variant */
{
    return s->n_mix * s->n_policy + s->n_beside;
}

/* Number of the run of a mix (n_mix + i: the i-th beside the mixes) under a policy; and the other way round,
 * with the mix as the suite names it and the row's name. */
static size_t task_of(const struct suite *s, size_t variant, size_t mix, size_t policy)
{
    const size_t n = s->n_mix * s->n_policy;
    return variant * runs_of_variant(s) + (mix < s->n_mix ? mix * s->n_policy + policy : n + mix - s->n_mix);
}

/* What the row of a mix is called under a variant, which may have its own. */
static const char *label_of(const struct suite *s, size_t variant, size_t mix)
{
    return s->variant[variant].mix[0] ? s->variant[variant].mix : s->mix_name[mix];
}

/* What a task runs; the other way round. */
static const struct choice *run_of(const struct suite *s, size_t task, const char **mix, const char **label)
{
    const size_t i = task % runs_of_variant(s), n = s->n_mix * s->n_policy;
    const struct choice *c = i < n ? &s->policy[i % s->n_policy] : &s->beside[i - n],
                        *v = &s->variant[task / runs_of_variant(s)];
    *mix = i >= n ? c->mix : v->mix[0] ? v->mix : s->mix[i / s->n_policy];
    *label = i < n ? label_of(s, task / runs_of_variant(s), i / s->n_policy) : c->name;
    return c;
}

/* key: policies or variants */
static enum tmx_status read_choices(const struct tmx_setting *root, const char *key, size_t least,
                                    struct choice *c, size_t *n, struct tmx_err *err)
{
    static const char *const also[] = {"set", NULL};
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_list(root, key, least, LIST, &list, err);
    st = st ? st : tmx_setting_unique(list, "name", err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *name = tmx_setting_text(e);
        c[i] = (struct choice){0};
        if (name && strlen(name) < sizeof c[i].name) {
            snprintf(c[i].name, sizeof c[i].name, "%s", name);
        } else if (name) {
            st = tmx_fail_setting(err, e, "%s: a name longer than %zu characters", key, sizeof c[i].name - 1);
        } else {
            st = tmx_opt_read(choice_opts, &c[i], e, also, err);
            st = st ? st : tmx_setting_texts(e, "set", 0, MAX_SETS, &c[i].set, err);
        }
        if (!c[i].policy[0]) {
            snprintf(c[i].policy, sizeof c[i].policy, "%.31s", c[i].name);
        }
    }
    *n = tmx_setting_length(list);
    return st;
}

/* A mix in a policy or a variant: which may have one. */
static enum tmx_status check_own_mix(const struct suite *s, const char *key, const struct choice *c, size_t n,
                                     struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(s->call->root, key);
    const bool may = strcmp(key, "variants") == 0 && s->n_mix == 1;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < n; i++) {
        char path[TMX_PATH_SIZE];
        const struct tmx_setting *e = c[i].mix[0] ? tmx_setting_at(list, i) : NULL;
        if (e && !may) {
            st = tmx_fail_setting(
                err, e, "%s: mix = \"%s\": only a variant of a suite of one mix has its own", key, c[i].mix);
        } else if (e) {
            st = tmx_data_find_for(TMX_DATA_MIX, tmx_setting_member(e, "mix"), c[i].mix, path, err);
        }
    }
    return st;
}

static enum tmx_status read_mixes(struct suite *s, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(s->call->root, "mixes", 1, LIST, &list, err);
    st = st ? st : tmx_setting_unique(list, "", err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        char path[TMX_PATH_SIZE];
        struct tmx_mix mix = {0};
        s->mix[i] = tmx_setting_text(tmx_setting_at(list, i));
        st = tmx_data_find_for(TMX_DATA_MIX, tmx_setting_at(list, i), s->mix[i], path, err);
        st = st ? st : tmx_mix_load(&mix, path, 0, err);
        s->target[i] = mix.target;
        snprintf(s->mix_name[i], sizeof s->mix_name[i], "%s", mix.name);
        for (size_t k = 0; !st && k < i; k++) {
            if (strcmp(s->mix_name[k], s->mix_name[i]) == 0) {
                st = tmx_fail_setting(err, tmx_setting_at(list, i), "mixes: %s and %s are both called \"%s\"",
                                      s->mix[k], s->mix[i], s->mix_name[i]);
            }
        }
        tmx_mix_finish(&mix);
    }
    s->n_mix = tmx_setting_length(list);
    return st;
}

/* Index of a policy by its name; n_policy where there is none. */
static size_t policy_of(const struct suite *s, const char *name)
{
    size_t i = 0;
    while (i < s->n_policy && strcmp(s->policy[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* The call's policies, and those of the suite that it compares with. */
static enum tmx_status select_policies(struct suite *s, struct tmx_err *err)
{
    const struct tmx_suite_call *call = s->call;
    size_t n = 0;
    for (size_t p = 0; p < s->n_policy && call->n_policy > 0; p++) {
        const char *name = s->policy[p].name;
        bool keep = strcmp(name, s->baseline) == 0 || strcmp(name, s->compare) == 0;
        for (size_t i = 0; i < call->n_policy; i++) {
            keep = keep || strcmp(name, call->policy[i]) == 0;
        }
        if (keep) {
            s->policy[n++] = s->policy[p];
        }
    }
    s->n_policy = call->n_policy > 0 ? n : s->n_policy;
    for (size_t i = 0; i < call->n_policy; i++) {
        struct choice *c = &s->policy[s->n_policy];
        if (policy_of(s, call->policy[i]) < s->n_policy) {
            continue;
        }
        if (s->n_policy == LIST || strlen(call->policy[i]) >= sizeof c->policy) {
            return tmx_fail(err, TMX_ECONFIG, "--policy %s: not the name of a policy", call->policy[i]);
        }
        *c = (struct choice){0};
        snprintf(c->name, sizeof c->name, "%s", call->policy[i]);
        snprintf(c->policy, sizeof c->policy, "%s", call->policy[i]);
        s->n_policy++;
    }
    return TMX_OK;
}

/* Before anything runs: a name that is misspelt would be an empty column. */
static enum tmx_status check_names(const struct suite *s, struct tmx_err *err)
{
    static const char *const keys[] = {"baseline", "compare"};
    for (size_t i = 0; i < 2; i++) {
        const struct tmx_setting *given = tmx_setting_member(s->call->root, keys[i]);
        if (given && policy_of(s, tmx_setting_text(given)) == s->n_policy) {
            return tmx_fail_setting(err, given, "%s = \"%s\": not among the suite's policies", keys[i],
                                    tmx_setting_text(given));
        }
    }
    return TMX_OK;
}

/* Reads the suite of s->call into s, whose `mix_name` is the caller's [LIST]. Texts are the call's.
 * TMX_ECONFIG with file:line for lists, names and numbers that are none. */
static enum tmx_status read_suite(struct suite *s, struct tmx_err *err)
{
    const struct tmx_setting *root = s->call->root;
    enum tmx_status st = tmx_opt_read(root_opts, s, root, root_also, err);
    st = st ? st : read_mixes(s, err);
    st = st ? st : read_choices(root, "policies", 1, s->policy, &s->n_policy, err);
    st = st ? st : check_own_mix(s, "policies", s->policy, s->n_policy, err);
    st = st ? st : select_policies(s, err);
    st = st ? st : read_choices(root, "variants", 0, s->variant, &s->n_variant, err);
    st = st ? st : check_own_mix(s, "variants", s->variant, s->n_variant, err);
    s->n_variant = s->n_variant ? s->n_variant : 1;
    if (!st && s->call->n_policy == 0) {
        st = read_choices(root, "beside", 0, s->beside, &s->n_beside, err);
    }
    for (size_t i = 0; !st && i < s->n_beside; i++) {
        if (!s->beside[i].mix[0]) {
            st = tmx_fail_setting(err, tmx_setting_at(tmx_setting_member(root, "beside"), i),
                                  "beside: expected { name; mix; policy; }");
        }
    }
    return st ? st : check_names(s, err);
}

/* The overrides of one task: the mix and policy, its variant's, its policy's, the
 * user's last. */
static enum tmx_status sets_of(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct suite *s = ctx;
    const char *mix, *label;
    const struct choice *v = &s->variant[task / runs_of_variant(s)], *p = run_of(s, task, &mix, &label);
    const struct tmx_setting *suite = s->call->root;
    enum tmx_status st =
        tmx_sets_add(set, tmx_setting_file(suite), tmx_setting_line(suite), err, "base.mix=%s", mix);
    st = st ? st
            : tmx_sets_add(set, tmx_setting_file(suite), tmx_setting_line(suite), err, "base.policy=%s",
                           p->policy);
    st = st ? st : tmx_sets_add_list(set, v->set, "base.", err);
    st = st ? st : tmx_sets_add_list(set, p->set, "base.", err);
    for (size_t i = 0; i < s->call->n_set && !st; i++) {
        st = tmx_sets_add(set, NULL, 0, err, "%s", s->call->set[i]);
    }
    return st;
}

static void value_of(const void *ctx, size_t task, size_t key, char text[TMX_PARAMETER_SIZE])
{
    const struct suite *s = ctx;
    const char *mix, *label;
    const struct choice *run = run_of(s, task, &mix, &label);
    const bool beside = task % runs_of_variant(s) >= s->n_mix * s->n_policy;
    snprintf(text, TMX_PARAMETER_SIZE, "\"%s\"",
             key == 0   ? label
             : key == 1 ? (beside ? run->policy : run->name)
                        : s->variant[task / runs_of_variant(s)].name);
}

/* The suite as many runs. */
static void as_runs(const struct suite *s, struct tmx_runs *runs)
{
    static const char *const keys[] = {"mix", "policy", "variant"};
    *runs = tmx_suite_runs(s->call);
    runs->n_point = s->n_variant * runs_of_variant(s);
    runs->n_key = s->n_variant > 1 ? 3 : 2;
    runs->key = keys;
    runs->ctx = s;
    runs->sets = sets_of;
    runs->value = value_of;
    runs->probe = s->call->probe;
}

/* ---- the tables ---- */

static size_t n_watched(const struct suite *s)
{
    return s->call->probe ? s->call->probe->n : 0;
}

/* Index of a metric or a watched column among a task's values; their number when there is none of this name.
 */
static size_t value_index(const struct suite *s, const char *name)
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
static double group_value(const struct suite *s, size_t variant, enum group group, size_t mix, size_t policy,
                          size_t metric)
{
    double sum = 0, n = 0, best = group == MIN_NONZERO ? INFINITY : -INFINITY;
    if (group == ONE) {
        return s->runs.value[task_of(s, variant, mix, policy) * s->runs.n_value + metric];
    }
    for (size_t i = 0; i < s->n_mix; i++) {
        if (group == MEAN_TARGET && !s->target[i]) {
            continue;
        }
        const double v = s->runs.value[task_of(s, variant, i, policy) * s->runs.n_value + metric];
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

static double column_value(const struct suite *s, size_t variant, enum group group, size_t mix, size_t policy,
                           const char *column)
{
    const size_t slow = tmx_study_metric("slowdown_pct"), energy = tmx_study_metric("energy_j");
    const bool beside = group == ONE && mix >= s->n_mix; /* is compared with nothing */
    const size_t bl = beside ? s->n_policy : policy_of(s, s->baseline),
                 cmp = beside ? s->n_policy : policy_of(s, s->compare);
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
    if (m == s->runs.n_value) { /* a column of the probe, and there was no probe */
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

static void add_row(const struct suite *s, struct tmx_table *t, size_t variant, enum group group, size_t mix,
                    size_t policy, const char *label)
{
    tmx_table_text(t, label);
    tmx_table_text(t, mix < s->n_mix ? s->policy[policy].name : s->beside[mix - s->n_mix].policy);
    for (size_t c = 2; c < N_COLUMN - 3; c++) {
        const double v = column_value(s, variant, group, mix, policy, columns[c].name);
        isfinite(v) ? tmx_table_real(t, v) : tmx_table_empty(t);
    }
    tmx_table_text(t, s->variant[variant].name);
    const char *error = group == ONE ? s->runs.error[task_of(s, variant, mix, policy)] : NULL;
    bool whole = true;
    for (size_t i = 0; group != ONE && i < s->n_mix; i++) {
        whole = whole &&
                ((group == MEAN_TARGET && !s->target[i]) || !s->runs.error[task_of(s, variant, i, policy)]);
    }
    tmx_table_text(t, !whole                              ? "partial"
                      : !error                            ? "done"
                      : strncmp(error, "not run", 7) == 0 ? "not run"
                                                          : "failed");
    tmx_table_text(t, error ? error : "");
}

static enum tmx_status make_table(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_create(t, columns, N_COLUMN, err);
    bool has_target = false;
    for (size_t i = 0; i < s->n_mix; i++) {
        has_target = has_target || s->target[i];
    }
    for (size_t v = 0; !st && v < s->n_variant; v++) {
        for (size_t i = 0; i < s->n_mix; i++) {
            for (size_t p = 0; p < s->n_policy; p++) {
                add_row(s, *t, v, ONE, i, p, label_of(s, v, i));
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
static enum tmx_status make_ledger(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_column c[LIST] = {
        {"mix", TMX_COLUMN_TEXT, 0}, {"policy", TMX_COLUMN_TEXT, 0}, {"slowdown_pct", TMX_COLUMN_REAL, 3}};
    const size_t slow = tmx_study_metric("slowdown_pct"), first = tmx_study_metrics(), n = n_watched(s);
    if (n + 4 > LIST) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "%zu watched columns, at most %d", n, LIST - 4);
    }
    for (size_t l = 0; l < n; l++) {
        c[3 + l] = (struct tmx_column){s->call->probe->column[l], TMX_COLUMN_REAL, 3};
    }
    c[3 + n] = (struct tmx_column){"variant", TMX_COLUMN_TEXT, 0};
    const enum tmx_status st = tmx_table_create(t, c, 4 + n, err);
    for (size_t task = 0; !st && n > 0 && task < s->n_variant * runs_of_variant(s); task++) {
        const char *mix, *label;
        const struct choice *run = run_of(s, task, &mix, &label);
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
        tmx_table_text(*t, s->variant[task / runs_of_variant(s)].name);
    }
    return st;
}

/* For the screen: the slowdown of every mix under every policy; of several variants the means only. */
static enum tmx_status make_brief(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_column head[LIST + 1] = {
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
static enum group group_of(const struct suite *s, const char *of, size_t *mix)
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

static size_t variant_of(const struct suite *s, const char *name)
{
    size_t v = 0;
    while (name[0] && v < s->n_variant && strcmp(s->variant[v].name, name) != 0) {
        v++;
    }
    return v;
}

static bool is_column(const struct suite *s, const char *name)
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
    const struct suite *s = ctx;
    size_t mix;
    (void)group_of(s, p->of, &mix);
    if (mix == s->n_mix + s->n_beside) {
        return tmx_fail_setting(err, at, "values: no such mix: \"%s\"", p->of);
    }
    if (policy_of(s, p->policy) == s->n_policy) {
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
    const struct suite *s = ctx;
    size_t mix;
    const enum group group = group_of(s, p->of, &mix);
    (void)seed;
    return column_value(s, variant_of(s, p->variant), group, mix, policy_of(s, p->policy), p->column);
}

static enum tmx_status first_failure(const struct suite *s, size_t n_task, struct tmx_err *err)
{
    size_t n = 0, first = 0;
    const char *mix, *label;
    for (size_t t = n_task; t-- > 0;) {
        if (s->runs.error[t]) {
            n++;
            first = t;
        }
    }
    const struct choice *run = run_of(s, first, &mix, &label);
    return n ? tmx_fail(err, TMX_ESOLVE, "%zu of %zu runs failed, the first (%s, %s): %s", n, n_task, label,
                        run->name, s->runs.error[first])
             : TMX_OK;
}

enum tmx_status tmx_suite_tabs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite *s = calloc(1, sizeof *s);
    struct tmx_table *table = NULL, *paper = NULL, *ledger = NULL, *brief = NULL;
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    s->call = call;
    const struct tmx_value_source values = {
        .ctx = s, .paper = s->paper, .policy = "BL", .n_seed = 1, .check = check_pick, .number = number};
    struct tmx_runs runs;
    s->mix_name = calloc(LIST, sizeof *s->mix_name);
    enum tmx_status st = s->mix_name ? read_suite(s, err) : tmx_fail(err, TMX_ENOMEM, "suite");
    const bool compared = call->n_policy == 0; /* else values are printed of policies that do not run */
    st = st || !compared ? st : tmx_values_check(call->root, &values, err);
    as_runs(s, &runs);
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
