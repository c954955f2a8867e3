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

#include "core/base/arena.h"
#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/workload/mix.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/load/data.h"
#include "study/analysis/pivot.h"

enum { LIST = 128, COLUMNS = 3 * LIST }; /* mixes, policies, variants or runs beside, at most */

struct choice { /* a column of the suite: a policy, a variant or a run beside the mixes, with the
                 * keys it sets
                 */
    char name[64];
    char policy[32];
    char mix[64];                  /* of a run beside; of a variant: in place of the suite's one mix */
    const struct tmx_setting *set; /* list of "key=value", may be NULL */
};

struct screen;

struct suite {
    const struct tmx_suite_call *call;
    char baseline[64], compare[64], paper[16];
    struct choice policy[LIST], variant[LIST];
    const char *mix[LIST]; /* as the suite names them */
    bool serves;           /* its base has a language model in place of mixes: one, called requests */
    char (*mix_name)[64];  /* [LIST] their own names */
    bool target[LIST];
    bool one_kernel[LIST]; /* all of a mix is of one kernel */
    size_t n_policy, n_variant, n_mix;
    struct choice beside[LIST]; /* single runs in no mean: mix n_mix + i of the table */
    size_t n_beside;
    const char *column[LIST]; /* metrics of the table in place of those of the paper; n_column 0: those */
    size_t n_column;
    int seeds;                  /* runs of everything, from base.seed on */
    bool fitted;                /* of its values: struct tmx_value_source */
    char (*spread_name)[48];    /* [2 * LIST] columns of the spread over them */
    struct tmx_run_values runs; /* [seeds][n_variant * runs_of_variant()] */
    /* group `sets`: sampled constants, a set of them a variant */
    struct tmx_sweep sets; /* n_point 0: none */
    struct screen *screen; /* [n_screen] */
    size_t n_screen;
    size_t set;         /* of which values are asked */
    const size_t *todo; /* the tasks that are the points of a call; NULL: all */
    struct tmx_arena arena;
};

struct screen { /* a set whose number is not between these is not run any further */
    struct tmx_pick pick;
    double from, to;
};

/* ---- what the suite runs: the lists of its file and the overrides of each run ---- */

enum { MAX_SETS = 10000 };

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(suite, baseline, "BL", "policy the improvements are over"),
    TMX_ROW_TEXT(suite, compare, "DVFS", "second policy the improvements are over"),
    TMX_ROW_TEXT(suite, paper, "", "number of the paper whose values are in `values`"),
    TMX_ROW_BOOL(suite, fitted, 0, "its constants were fitted to the values that the list calls watched"),
    TMX_ROW_INT(suite, seeds, "1", 1, 1000, 1, "so many, from base.seed on: the table has means over them"),
    {0},
};
static const char *const root_also[] = {"name",  "kind",     "doc",      "source", "base",
                                        "mixes", "policies", "variants", "values", "beside",
                                        "sets",  "columns",  NULL};

static const struct tmx_opt choice_opts[] = {
    TMX_ROW_TEXT(choice, name, NULL, "name in the table"),
    TMX_ROW_TEXT(choice, policy, "", "preset; default: the name"),
    TMX_ROW_TEXT(choice, mix, "", "of a run beside the mixes; of a variant, in place of the one mix"),
    {0},
};

static const struct choice *variant_at(const struct suite *s, size_t variant)
{
    return &s->variant[s->sets.n_point > 0 ? 0 : variant];
}

static size_t runs_of_variant(const struct suite *s) /* of one variant */
{
    return s->n_mix * s->n_policy + s->n_beside;
}

static size_t runs_of_seed(const struct suite *s)
{
    return s->n_variant * runs_of_variant(s);
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
    return variant_at(s, variant)->mix[0] ? variant_at(s, variant)->mix : s->mix_name[mix];
}

/* What a task runs; the other way round. */
static const struct choice *run_of(const struct suite *s, size_t task, const char **mix, const char **label)
{
    const size_t i = task % runs_of_variant(s), n = s->n_mix * s->n_policy;
    const struct choice *c = i < n ? &s->policy[i % s->n_policy] : &s->beside[i - n],
                        *v = variant_at(s, task / runs_of_variant(s));
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
            const struct tmx_setting *group = NULL; /* of a run, written as in a run's file */
            for (size_t k = 0; !group && tmx_setting_at(e, k); k++) {
                group = tmx_setting_is(tmx_setting_at(e, k), TMX_SETTING_GROUP) ? tmx_setting_at(e, k) : NULL;
            }
            if (group) {
                return tmx_fail_setting(err, group,
                                        "%s: an entry of %s changes keys by set = [\"%s.KEY=VALUE\"]",
                                        tmx_setting_name(group), key, tmx_setting_name(group));
            }
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
    s->serves = tmx_setting_member(tmx_setting_member(s->call->root, "base"), "serve") != NULL;
    if (s->serves && !tmx_setting_member(s->call->root, "mixes")) {
        snprintf(s->mix_name[0], sizeof s->mix_name[0], "requests");
        s->n_mix = 1;
        return TMX_OK;
    }
    enum tmx_status st = tmx_setting_texts(s->call->root, "mixes", 1, LIST, &list, err);
    st = st ? st : tmx_setting_unique(list, "", err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        char path[TMX_PATH_SIZE];
        struct tmx_mix mix = {0};
        s->mix[i] = tmx_setting_text(tmx_setting_at(list, i));
        st = tmx_data_find_for(TMX_DATA_MIX, tmx_setting_at(list, i), s->mix[i], path, err);
        st = st ? st : tmx_mix_load(&mix, path, 0, err);
        s->target[i] = mix.target;
        s->one_kernel[i] = mix.n_entry > 0;
        for (size_t k = 1; !st && k < mix.n_entry; k++) {
            s->one_kernel[i] = s->one_kernel[i] && mix.entry[k].power_w == mix.entry[0].power_w &&
                               strcmp(mix.entry[k].kernel, mix.entry[0].kernel) == 0;
        }
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
    const struct tmx_setting *columns;
    st = st ? st : tmx_setting_texts(root, "columns", 0, LIST, &columns, err);
    s->n_column = st ? 0 : tmx_setting_length(columns);
    for (size_t i = 0; i < s->n_column && !st; i++) {
        const struct tmx_setting *at = tmx_setting_at(columns, i);
        s->column[i] = tmx_setting_text(at);
        if (tmx_study_metric(s->column[i]) == tmx_study_metrics()) {
            st = tmx_fail_setting(err, at, "columns: no such metric: \"%s\" (thermix list metrics)",
                                  s->column[i]);
        }
    }
    static const char *const compared[] = {"baseline", "compare"}; /* misspelt, it would be an empty column */
    for (size_t i = 0; i < 2 && !st; i++) {
        const struct tmx_setting *given = tmx_setting_member(root, compared[i]);
        if (given && policy_of(s, tmx_setting_text(given)) == s->n_policy) {
            st = tmx_fail_setting(err, given, "%s = \"%s\": not among the suite's policies", compared[i],
                                  tmx_setting_text(given));
        }
    }
    return st;
}

/* Key number k of a set, under the name of a key of its runs. */
static enum tmx_status put_constant(const struct suite *s, size_t number, size_t k, const char *key,
                                    int n_key, struct tmx_sets *set, struct tmx_err *err)
{
    char name[TMX_PATH_SIZE];
    snprintf(name, sizeof name, "base.%.*s", n_key, key);
    return tmx_sets_put(set, name, tmx_sweep_value(&s->sets, number, k), s->sets.file,
                        tmx_sweep_line(&s->sets, k), err);
}

/* The constants of a set; those whose name begins with $ are for policies to name. */
static enum tmx_status add_constants(const struct suite *s, size_t number, struct tmx_sets *set,
                                     struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t k = 0; k < s->sets.n_key && !st; k++) {
        const char *key = s->sets.key[k];
        st = key[0] == '$' ? TMX_OK : put_constant(s, number, k, key, (int)strlen(key), set, err);
    }
    return st;
}

/* "key=value" of a policy; value $name is that of the set's axis $name. */
static enum tmx_status add_choice(const struct suite *s, size_t number, const struct tmx_setting *list,
                                  struct tmx_sets *set, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; s->sets.n_point > 0 && i < tmx_setting_length(list) && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *text = tmx_setting_text(e), *value = strchr(text, '=');
        size_t k = 0;
        while (value && value[1] == '$' && k < s->sets.n_key && strcmp(s->sets.key[k], value + 1) != 0) {
            k++;
        }
        if (!value || value[1] != '$') {
            st = tmx_sets_add(set, "base.", text, tmx_setting_file(e), tmx_setting_line(e), err);
        } else if (k == s->sets.n_key) {
            st = tmx_fail_setting(err, e, "sets: no axis \"%s\"", value + 1);
        } else {
            st = put_constant(s, number, k, text, (int)(value - text), set, err);
        }
    }
    return s->sets.n_point > 0 ? st : tmx_sets_add_list(set, "base.", list, err);
}

static int64_t seed_of(const struct suite *s, size_t i)
{
    double first = 0;
    (void)tmx_setting_real(tmx_setting_find(s->call->root, "base.seed"), &first);
    return (int64_t)first + (int64_t)i;
}

/* A seed, or how much warmer the chips start. */
static struct tmx_scalar repeat_of(const struct suite *s, size_t i)
{
    return s->call->nudge ? TMX_REAL_VALUE((double)i * TMX_NUDGE_K) : TMX_INTEGER_VALUE(seed_of(s, i));
}

/* The overrides of one task: the mix and policy, its variant's or set's, its policy's, the user's last. */
static enum tmx_status sets_of(const void *ctx, size_t point, struct tmx_sets *set, struct tmx_err *err)
{
    const struct suite *s = ctx;
    const size_t task = s->todo ? s->todo[point] : point % runs_of_seed(s);
    const char *mix, *label;
    const struct choice *v = variant_at(s, task / runs_of_variant(s)), *p = run_of(s, task, &mix, &label);
    const struct tmx_setting *suite = s->call->root;
    const char *file = tmx_setting_file(suite);
    const unsigned line = tmx_setting_line(suite);
    enum tmx_status st =
        s->serves ? TMX_OK : tmx_sets_put(set, "base.mix", TMX_TEXT_VALUE(mix), file, line, err);
    st = st ? st : tmx_sets_put(set, "base.policy", TMX_TEXT_VALUE(p->policy), file, line, err);
    st = st ? st : tmx_sets_add_list(set, "base.", v->set, err);
    st = st ? st : add_constants(s, task / runs_of_variant(s), set, err);
    st = st ? st : add_choice(s, task / runs_of_variant(s), p->set, set, err);
    st = st ? st : tmx_sets_join(set, s->call->sets, "", err);
    return st || s->todo || point < runs_of_seed(s)
               ? st
               : tmx_sets_put(set, s->call->nudge ? "base.start_plus_k" : "base.seed",
                              repeat_of(s, point / runs_of_seed(s)), file, line, err);
}

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    const struct suite *s = ctx;
    const char *mix, *label;
    const size_t task = s->todo ? s->todo[point] : point % runs_of_seed(s);
    if (s->seeds > 1 && key == (s->n_variant > 1 ? 3 : 2)) {
        return repeat_of(s, point / runs_of_seed(s));
    }
    const struct choice *run = run_of(s, task, &mix, &label);
    const bool beside = task % runs_of_variant(s) >= s->n_mix * s->n_policy;
    if (key == 2 && s->sets.n_point > 0) {
        return TMX_INTEGER_VALUE((int64_t)(task / runs_of_variant(s)));
    }
    return TMX_TEXT_VALUE(key == 0   ? label
                          : key == 1 ? (beside ? run->policy : run->name)
                                     : variant_at(s, task / runs_of_variant(s))->name);
}

/* The suite as many runs. */
static void as_runs(const struct suite *s, struct tmx_runs *runs)
{
    static const char *const keys[][4] = {{"mix", "policy", "variant", "seed"},
                                          {"mix", "policy", "seed"},
                                          {"mix", "policy", "variant", "start_plus_k"},
                                          {"mix", "policy", "start_plus_k"}};
    *runs = tmx_suite_runs(s->call);
    runs->n_point = (size_t)s->seeds * runs_of_seed(s);
    runs->n_key = (s->n_variant > 1 ? 3U : 2U) + (s->seeds > 1);
    runs->key = keys[(s->call->nudge ? 2 : 0) + (s->n_variant > 1 ? 0 : 1)];
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
enum group { ONE, MEAN, MEAN_TARGET, MAX, MIN_NONZERO, SOME }; /* SOME: `mix` is a bit for each */

/* A metric over a group of mixes for one policy; NAN when a run of the group failed. */
static double group_value(const struct suite *s, size_t seed, size_t variant, enum group group, size_t mix,
                          size_t policy, size_t metric)
{
    double sum = 0, n = 0, best = group == MIN_NONZERO ? INFINITY : -INFINITY;
    if (group == ONE) {
        return s->runs
            .value[(seed * runs_of_seed(s) + task_of(s, variant, mix, policy)) * s->runs.n_value + metric];
    }
    for (size_t i = 0; i < s->n_mix; i++) {
        if ((group == MEAN_TARGET && !s->target[i]) || (group == SOME && !(mix >> i & 1))) {
            continue;
        }
        const double v =
            s->runs
                .value[(seed * runs_of_seed(s) + task_of(s, variant, i, policy)) * s->runs.n_value + metric];
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

static double column_value(const struct suite *s, size_t seed, size_t variant, enum group group, size_t mix,
                           size_t policy, const char *column)
{
    static const struct {
        const char *column, *metric;
        bool baseline; /* over it, else over the suite's `compare` */
    } saved[] = {{"improvement_over_bl_pct", "slowdown_pct", true},
                 {"improvement_over_dvfs_pct", "slowdown_pct", false},
                 {"energy_saved_vs_bl_pct", "energy_j", true},
                 {"energy_saved_vs_dvfs_pct", "energy_j", false}};
    for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++) {
        if (strcmp(column, saved[i].column) == 0) {
            const size_t metric = tmx_study_metric(saved[i].metric),
                         over = policy_of(s, saved[i].baseline ? s->baseline : s->compare);
            return over == s->n_policy || (group == ONE && mix >= s->n_mix) /* compared with nothing */
                       ? NAN
                       : saved_pct(group_value(s, seed, variant, group, mix, policy, metric),
                                   group_value(s, seed, variant, group, mix, over, metric));
        }
    }
    const size_t m = value_index(s, column);
    return m == s->runs.n_value ? NAN /* a column of the probe, and there was no probe */
                                : group_value(s, seed, variant, group, mix, policy, m);
}

/* Over the seeds; nothing where one of them has no number. */
static struct tmx_moments over_seeds(const struct suite *s, size_t variant, enum group group, size_t mix,
                                     size_t policy, const char *column)
{
    struct tmx_moments of = {0};
    for (size_t seed = 0; seed < (size_t)s->seeds; seed++) {
        const double v = column_value(s, seed, variant, group, mix, policy, column);
        if (!isfinite(v)) {
            return (struct tmx_moments){0};
        }
        tmx_moments_add(&of, v);
    }
    return of;
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
    {"latched_sm", TMX_COLUMN_REAL, 0},
    {"gating_period_s", TMX_COLUMN_REAL, 2},
    {"loop_gain", TMX_COLUMN_REAL, 3},
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

/* The columns of a suite; of one that serves: texts as above, between them what `thermix list metrics` calls
 * serving, and energy and heat. */
static size_t plain_columns(const struct suite *s, struct tmx_column c[COLUMNS])
{
    static const char *const also[] = {"energy_j", "peak_temp_c", "peak_memory_c", "sw_power_cap_s",
                                       "makespan_s"};
    size_t n = 2;
    if (!s->serves && s->n_column == 0) {
        memcpy(c, columns, sizeof columns);
        return N_COLUMN;
    }
    memcpy(c, columns, 2 * sizeof *c);
    for (size_t i = 0; i < s->n_column; i++) {
        c[n++] = (struct tmx_column){s->column[i], TMX_COLUMN_REAL, 3};
    }
    for (size_t m = 0;
         s->n_column == 0 && m < tmx_study_metrics() && n < LIST - 3 - sizeof also / sizeof also[0]; m++) {
        if (tmx_metrics[m].needs & TMX_NEEDS_REQUESTS) {
            c[n++] = (struct tmx_column){tmx_metrics[m].name, TMX_COLUMN_REAL, 4};
        }
    }
    for (size_t k = 0; s->n_column == 0 && k < sizeof also / sizeof also[0]; k++) {
        c[n++] = (struct tmx_column){also[k], TMX_COLUMN_REAL, 2};
    }
    memcpy(c + n, columns + N_COLUMN - 3, 3 * sizeof *c);
    return n + 3;
}

/* The same, and of several seeds their number, and the spread of every number behind it. */
static size_t columns_of(const struct suite *s, struct tmx_column c[COLUMNS])
{
    const size_t n = plain_columns(s, c);
    size_t more = n - 3;
    if (s->seeds < 2) {
        return n;
    }
    c[more++] = (struct tmx_column){"seeds", TMX_COLUMN_INT, 0};
    for (size_t i = 2; i < n - 3; i++) {
        static const char *const what[] = {"sd", "ci95"};
        for (size_t k = 0; k < 2; k++) {
            char *name = s->spread_name[2 * i + k];
            snprintf(name, sizeof *s->spread_name, "%s_%s", c[i].name, what[k]);
            c[more++] = (struct tmx_column){name, TMX_COLUMN_REAL, c[i].decimals + 1};
        }
    }
    memcpy(c + more, columns + N_COLUMN - 3, 3 * sizeof *c);
    return more + 3;
}

static void add_row(const struct suite *s, struct tmx_table *t, size_t variant, enum group group, size_t mix,
                    size_t policy, const char *label)
{
    tmx_table_row(t, "%s %s", label,
                  mix < s->n_mix ? s->policy[policy].name : s->beside[mix - s->n_mix].policy);
    struct tmx_column plain[COLUMNS];
    const size_t n = plain_columns(s, plain) - 3;
    for (size_t c = 2; c < n; c++) {
        const struct tmx_moments of = over_seeds(s, variant, group, mix, policy, plain[c].name);
        const double v = tmx_moments_mean(&of);
        isfinite(v) && v > -TMX_ZERO_C ? tmx_table_real(t, v) : tmx_table_empty(t); /* no die: 0 K */
    }
    if (s->seeds > 1) {
        tmx_table_int(t, s->seeds);
    }
    for (size_t c = 2; c < n && s->seeds > 1; c++) {
        const struct tmx_moments of = over_seeds(s, variant, group, mix, policy, plain[c].name);
        tmx_table_row(t, "%G %G", tmx_moments_sd(&of), tmx_moments_ci95(&of));
    }
    tmx_table_text(t, s->variant[variant].name);
    const char *error = NULL;
    bool whole = true;
    for (size_t k = 0; k < (size_t)s->seeds; k++) {
        char *const *of = s->runs.error + k * runs_of_seed(s);
        error = error || group != ONE ? error : of[task_of(s, variant, mix, policy)];
        for (size_t i = 0; group != ONE && i < s->n_mix; i++) {
            whole = whole && ((group == MEAN_TARGET && !s->target[i]) || !of[task_of(s, variant, i, policy)]);
        }
    }
    tmx_table_row(t, "%s %s",
                  !whole                              ? "partial"
                  : !error                            ? "done"
                  : strncmp(error, "not run", 7) == 0 ? "not run"
                                                      : "failed",
                  error ? error : "");
}

static enum tmx_status make_table(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_column c[COLUMNS];
    const enum tmx_status st = tmx_table_create(t, c, columns_of(s, c), err);
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
        const bool means = !s->serves && (s->n_column == 0 || s->n_mix > 1);
        for (size_t p = 0; p < s->n_policy && means; p++) {
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
    const bool several = s->seeds > 1;
    if (n + 5 > LIST) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "%zu watched columns, at most %d", n, LIST - 5);
    }
    for (size_t l = 0; l < n; l++) {
        c[3 + l] = (struct tmx_column){s->call->probe->column[l], TMX_COLUMN_REAL, 3};
    }
    c[3 + n] = (struct tmx_column){"variant", TMX_COLUMN_TEXT, 0};
    c[4 + n] = (struct tmx_column){"seed", TMX_COLUMN_INT, 0};
    const enum tmx_status st = tmx_table_create(t, c, 4 + n + several, err);
    for (size_t task = 0; !st && n > 0 && task < (size_t)s->seeds * runs_of_seed(s); task++) {
        const char *mix, *label;
        const struct choice *run = run_of(s, task % runs_of_seed(s), &mix, &label);
        const double *value = &s->runs.value[task * s->runs.n_value];
        if (isnan(value[first])) {
            continue;
        }
        tmx_table_row(*t, "%s %s %g", label, run->name, value[slow]);
        for (size_t l = 0; l < n; l++) {
            isnan(value[first + l]) ? tmx_table_empty(*t) : tmx_table_real(*t, value[first + l]);
        }
        tmx_table_text(*t, s->variant[task % runs_of_seed(s) / runs_of_variant(s)].name);
        if (several) {
            tmx_table_int(*t, seed_of(s, task / runs_of_seed(s)));
        }
    }
    return st;
}

/* For the screen: the slowdown of every mix under every policy, and the least that any policy can have; of
 * two variants the mixes of the first and both means, of more the means only. */
static enum tmx_status make_brief(const struct suite *s, struct tmx_table **t, struct tmx_err *err)
{
    const bool means = s->n_variant > 2;
    const char *what = s->serves ? "e2e_p50_s" : means ? "slowdown_pct, mean" : "slowdown_pct";
    struct tmx_column head[LIST + 2] = {{what, TMX_COLUMN_TEXT, 0}};
    const char *column = s->serves ? what : "slowdown_pct";
    const size_t n_row = (means ? 0 : s->n_mix) + s->n_variant;
    const struct tmx_moments least = over_seeds(s, 0, MEAN, 0, 0, "bound_pct");
    const bool bound = !s->serves && least.n > 0;
    for (size_t p = 0; p < s->n_policy; p++) {
        head[p + 1] = (struct tmx_column){s->policy[p].name, TMX_COLUMN_REAL, 2};
    }
    head[s->n_policy + 1] = (struct tmx_column){"bound", TMX_COLUMN_REAL, 2};
    const enum tmx_status st = tmx_table_create(t, head, s->n_policy + 1 + bound, err);
    for (size_t r = 0; !st && r < n_row; r++) {
        const bool mean = means || r >= s->n_mix;
        const size_t v = means ? r : mean ? r - s->n_mix : 0;
        char name[80];
        snprintf(name, sizeof name, "mean%s%s", s->n_variant == 2 ? ", " : "", s->variant[v].name);
        tmx_table_text(*t, means ? s->variant[v].name : mean ? name : s->mix_name[r]);
        for (size_t half = 0; half < (s->seeds > 1 ? 2 : 1); half++) { /* the mean, the interval */
            if (half) {
                char interval[40];
                snprintf(interval, sizeof interval, "  95 %% of %d %s +-", s->seeds,
                         s->call->nudge ? "starts" : "seeds");
                tmx_table_text(*t, interval);
            }
            for (size_t p = 0; p < s->n_policy; p++) {
                const struct tmx_moments of = over_seeds(s, v, mean ? MEAN : ONE, mean ? 0 : r, p, column);
                tmx_table_real_or_empty(*t, half ? tmx_moments_ci95(&of) : tmx_moments_mean(&of));
            }
            if (bound) {
                const struct tmx_moments of =
                    over_seeds(s, v, mean ? MEAN : ONE, mean ? 0 : r, 0, "bound_pct");
                half ? tmx_table_empty(*t) : tmx_table_real_or_empty(*t, tmx_moments_mean(&of));
            }
        }
    }
    return st;
}

/* ---- the paper's values ---- */

/* "WL4,WL5": the mean over these mixes. */
static enum group some_of(const struct suite *s, const char *of, size_t *mix)
{
    size_t mask = 0;
    for (const char *word = of; word;
         word = word[strcspn(word, ",")] ? word + strcspn(word, ",") + 1 : NULL) {
        size_t i = 0;
        const size_t n = strcspn(word, ",");
        while (i < s->n_mix && (strncmp(s->mix_name[i], word, n) != 0 || s->mix_name[i][n])) {
            i++;
        }
        if (i == s->n_mix || i >= 8 * sizeof mask) {
            *mix = s->n_mix + s->n_beside; /* no such mix */
            return ONE;
        }
        mask |= (size_t)1 << i;
    }
    *mix = mask;
    return SOME;
}

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
    return *mix == s->n_mix + s->n_beside && strchr(of, ',') ? some_of(s, of, mix) : ONE;
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
    const enum group group = group_of(s, p->of, &mix);
    if (group == ONE && mix == s->n_mix + s->n_beside) {
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
    if (s->sets.n_point > 0 && s->set == s->sets.n_point) { /* the printed values alone */
        return NAN;
    }
    return column_value(s, seed, s->sets.n_point > 0 ? s->set : variant_of(s, p->variant), group, mix,
                        policy_of(s, p->policy), p->column);
}

/* ---- sampled sets of constants ---- */

static enum tmx_status read_sets(struct suite *s, struct tmx_err *err)
{
    static const char *const also[] = {"sample", "axes", "constraints", "screen", NULL};
    static const struct tmx_opt opts[] = {
        TMX_ROW_REAL(screen, from, "1", -1e300, 1e300, -1e300, "least number of a set that runs on"),
        TMX_ROW_REAL(screen, to, "1", -1e300, 1e300, 1e300, "largest"),
        {0},
    };
    static const struct tmx_opt pick_opts[] = {
        TMX_ROW_TEXT(tmx_pick, of, NULL, "mix, or a group of them"),
        TMX_ROW_TEXT(tmx_pick, policy, NULL, "policy"),
        TMX_ROW_TEXT(tmx_pick, column, NULL, "what is taken"),
        {0},
    };
    static const char *const pick_also[] = {"from", "to", NULL}, *const range_also[] = {"of", "policy",
                                                                                        "column", NULL};
    const struct tmx_setting *group, *list = NULL;
    enum tmx_status st = tmx_setting_group(s->call->root, "sets", &group, err);
    if (st || !group) {
        return st;
    }
    if (s->n_variant > 1) {
        return tmx_fail_setting(err, group, "sets: expected a suite without variants");
    }
    st = tmx_sweep_read(&s->sets, group, also, err);
    st = st ? st : tmx_setting_list(group, "screen", 0, LIST, &list, err);
    s->n_screen = st ? 0 : tmx_setting_length(list);
    TMX_TAKE(&s->arena, s->screen, s->n_screen);
    st = st || s->screen ? st : tmx_no_memory(err);
    for (size_t i = 0; i < s->n_screen && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_opt_read(opts, &s->screen[i], e, range_also, err);
        st = st ? st : tmx_opt_read(pick_opts, &s->screen[i].pick, e, pick_also, err);
        st = st ? st : check_pick(s, &s->screen[i].pick, e, err);
    }
    s->n_variant = s->sets.n_point;
    return st;
}

/* Run these tasks and take their values. */
static enum tmx_status run_tasks(struct suite *s, const size_t *task, size_t n, struct tmx_err *err)
{
    struct tmx_runs runs;
    struct tmx_run_values part = {0};
    s->todo = task;
    as_runs(s, &runs);
    runs.n_point = n;
    const enum tmx_status st = tmx_suite_values(s->call, &runs, "runs", &part, err);
    for (size_t i = 0; part.value && i < n; i++) {
        memcpy(&s->runs.value[task[i] * s->runs.n_value], &part.value[i * part.n_value],
               part.n_value * sizeof *part.value);
        s->runs.error[task[i]] = part.error[i];
        part.error[i] = NULL;
    }
    tmx_run_values_finish(&part);
    s->todo = NULL;
    return st;
}

/* Does a set pass every screen? */
static bool passes(struct suite *s, size_t set)
{
    bool yes = true;
    s->set = set;
    for (size_t i = 0; i < s->n_screen; i++) {
        const double v = number(s, &s->screen[i].pick, 0);
        yes = yes && v >= s->screen[i].from && v <= s->screen[i].to;
    }
    return yes;
}

/* The runs that the screens read, of every set; then the others of the sets that pass. */
static enum tmx_status run_sets(struct suite *s, struct tmx_err *err)
{
    const size_t each = runs_of_variant(s), n = s->n_variant * each;
    bool *wanted;
    size_t *task, n_task = 0;
    TMX_TAKE(&s->arena, wanted, each);
    TMX_TAKE(&s->arena, task, n);
    s->runs.n_value = tmx_study_metrics() + n_watched(s);
    s->runs.n_point = n;
    s->runs.value = malloc(n * s->runs.n_value * sizeof *s->runs.value);
    s->runs.error = calloc(n, sizeof *s->runs.error);
    enum tmx_status st = !s->arena.failed && s->runs.value && s->runs.error ? TMX_OK : tmx_no_memory(err);
    for (size_t i = 0; i < n * s->runs.n_value && !st; i++) {
        s->runs.value[i] = NAN;
    }
    for (size_t i = 0; i < s->n_screen && !st; i++) {
        size_t mix;
        const enum group group = group_of(s, s->screen[i].pick.of, &mix);
        const size_t policy = policy_of(s, s->screen[i].pick.policy);
        for (size_t k = 0; k < s->n_mix; k++) {
            const bool in = group == ONE ? k == mix : group == SOME ? mix >> k & 1 : true;
            wanted[task_of(s, 0, k, policy)] |= in;
        }
    }
    const size_t first = s->call->check && s->n_variant > 2 ? 2 : s->n_variant; /* a check looks at some */
    for (size_t i = 0; i < first * each && !st; i++) {
        if (wanted[i % each] || s->n_screen == 0) {
            task[n_task++] = i;
        }
    }
    st = st ? st : run_tasks(s, task, n_task, err);
    n_task = 0;
    for (size_t i = 0; i < first * each && !st && s->n_screen > 0; i++) {
        if (!wanted[i % each] && (s->call->check || passes(s, i / each))) {
            task[n_task++] = i;
        }
    }
    st = st || n_task == 0 ? st : run_tasks(s, task, n_task, err);
    return st;
}

/* done; screened: a screen kept it from running; else the error of its first run that has one. */
static const char *set_status(struct suite *s, size_t set)
{
    const size_t each = runs_of_variant(s);
    bool whole = true;
    for (size_t i = 0; i < each; i++) {
        const size_t t = set * each + i;
        if (s->runs.error[t]) {
            return strncmp(s->runs.error[t], "not run", 7) == 0 ? "not run" : "failed";
        }
        whole = whole && !isnan(s->runs.value[t * s->runs.n_value]);
    }
    return whole ? "done" : passes(s, set) ? "not run" : "screened";
}

/* One row a set: its constants and our number of every printed value, v1 being the first of the list. */
static enum tmx_status sets_table(struct suite *s, const struct tmx_value_source *from, struct tmx_table **t,
                                  struct tmx_err *err)
{
    const size_t n = tmx_setting_length(tmx_setting_member(s->call->root, "values"));
    struct tmx_column *c;
    char(*name)[16];
    double *ours;
    TMX_TAKE(&s->arena, c, 2 + s->sets.n_key + n);
    TMX_TAKE(&s->arena, name, n);
    TMX_TAKE(&s->arena, ours, n);
    enum tmx_status st = s->arena.failed ? tmx_no_memory(err) : TMX_OK;
    if (!st) {
        c[0] = (struct tmx_column){"set", TMX_COLUMN_INT, 0};
        c[1] = (struct tmx_column){"status", TMX_COLUMN_TEXT, 0};
        for (size_t k = 0; k < s->sets.n_key; k++) {
            c[2 + k] = (struct tmx_column){s->sets.key[k], TMX_COLUMN_TEXT, TMX_TEXT_TYPED};
        }
        for (size_t i = 0; i < n; i++) {
            snprintf(name[i], sizeof name[i], "v%zu", i + 1);
            c[2 + s->sets.n_key + i] = (struct tmx_column){name[i], TMX_COLUMN_REAL, 3};
        }
        st = tmx_table_create(t, c, 2 + s->sets.n_key + n, err);
    }
    for (size_t v = 0; v < s->sets.n_point && !st; v++) {
        const char *status = set_status(s, v);
        tmx_table_row(*t, "%zu %s", v, status);
        for (size_t k = 0; k < s->sets.n_key; k++) {
            char buf[32];
            tmx_table_text(*t, tmx_scalar_plain(tmx_sweep_value(&s->sets, v, k), buf));
        }
        s->set = v;
        st = tmx_values_ours(s->call->root, from, ours, err);
        for (size_t i = 0; i < n && !st; i++) {
            tmx_table_real_or_empty(*t, ours[i]);
        }
    }
    return st;
}

/* Run the sets and write sets.csv and, as they are printed, values.csv. */
static enum tmx_status do_sets(struct suite *s, const struct tmx_value_source *from, struct tmx_err *err)
{
    struct tmx_table *sets = NULL, *printed = NULL;
    struct tmx_err later = {0};
    enum tmx_status st = run_sets(s, err);
    if (s->call->check || (st && st != TMX_ESTOPPED)) {
        return st;
    }
    enum tmx_status end = sets_table(s, from, &sets, &later);
    s->set = s->sets.n_point;
    end = end ? end : tmx_values_table(s->call->root, from, &printed, NULL, &later);
    end = end ? end : tmx_suite_save(s->call, sets, "sets.csv", &later);
    end = end || !printed ? end : tmx_suite_save(s->call, printed, "values.csv", &later);
    size_t done = 0;
    for (size_t r = 0; !end && r < tmx_table_rows(sets); r++) {
        done += strcmp(tmx_table_cell(sets, r, 1)->text, "done") == 0;
    }
    if (!end && s->call->format == TMX_FORMAT_TEXT) {
        printf("%zu sets, %zu of them run in full", s->sets.n_point, done);
        s->call->out_dir ? printf(": %s/sets.csv; `thermix posterior %s` weighs them\n", s->call->out_dir,
                                  s->call->out_dir)
                         : printf("; -o DIR keeps them\n");
    } else if (!end) {
        end = tmx_table_show(sets, s->call->format, &(struct tmx_screen){0}, &later);
    }
    tmx_table_destroy(sets);
    tmx_table_destroy(printed);
    if (end) {
        *err = later;
    }
    return end ? end : st;
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
    const struct choice *run = run_of(s, first % runs_of_seed(s), &mix, &label);
    return n ? tmx_fail(err, TMX_ESOLVE, "%zu of %zu runs failed, the first (%s, %s): %s", n, n_task, label,
                        run->name, s->runs.error[first])
             : TMX_OK;
}

/* Of a suite of one variant. */
static void facts_of(const void *ctx, const char *mix, const char *policy, char *facts, size_t size)
{
    static const char *const words[] = {"cannot act", "can change nothing", "has no choice",
                                        "this run has one"};
    const struct suite *s = ctx;
    const size_t p = policy_of(s, policy);
    size_t i = 0, n = 0;
    while (i < s->n_mix && strcmp(label_of(s, 0, i), mix) != 0) {
        i++;
    }
    for (size_t w = 0; i < s->n_mix && p < s->n_policy && w < sizeof words / sizeof words[0]; w++) {
        const char *text = tmx_warnings_of(&s->runs.warnings, task_of(s, 0, i, p), words[w]);
        if (text && n < size) {
            n += (size_t)snprintf(facts + n, size - n, "%s%s", n > 0 ? "; " : "", text);
        }
    }
    if (n == 0 && i < s->n_mix && s->one_kernel[i] && strcmp(policy, s->baseline) != 0) {
        snprintf(facts, size, "the mix is of one kernel");
    }
}

static void end_suite(struct suite *s)
{
    tmx_run_values_finish(&s->runs);
    tmx_sweep_finish(&s->sets);
    tmx_arena_finish(&s->arena);
    free(s);
}

enum tmx_status tmx_suite_tabs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite *s = calloc(1, sizeof *s);
    struct tmx_table *table = NULL, *paper = NULL, *ledger = NULL, *brief = NULL, *seeds = NULL;
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "suite");
    }
    s->call = call;
    struct tmx_value_source values = {
        .ctx = s, .paper = s->paper, .policy = "BL", .n_seed = 1, .check = check_pick, .number = number};
    struct tmx_runs runs;
    TMX_TAKE(&s->arena, s->mix_name, LIST);
    TMX_TAKE(&s->arena, s->spread_name, 2 * LIST);
    enum tmx_status st = s->arena.failed ? tmx_no_memory(err) : read_suite(s, err);
    values.n_seed = st ? 1 : (size_t)s->seeds;
    values.fitted = s->fitted;
    const bool compared = call->n_policy == 0; /* else values are printed of policies that do not run */
    st = st || !compared ? st : tmx_values_check(call->root, &values, err);
    st = st ? st : read_sets(s, err);
    if (!st && s->sets.n_point > 0 && s->seeds > 1) {
        st = tmx_fail_setting(err, call->root, "seeds: a suite with `sets` runs each set once");
    }
    if (!st && s->sets.n_point > 0) {
        values.number_rows = true;
        st = do_sets(s, &values, err);
        end_suite(s);
        return st;
    }
    as_runs(s, &runs);
    st = st ? st : tmx_suite_values(call, &runs, "runs", &s->runs, err);
    const bool stopped = st == TMX_ESTOPPED;
    struct tmx_err later = {0};
    if ((!st && !call->check) || stopped) { /* what is finished is written, also after Ctrl-C */
        enum tmx_status end = make_table(s, &table, &later);
        end = end || !compared ? end : tmx_values_table(call->root, &values, &paper, &seeds, &later);
        end = end || !seeds ? end : tmx_suite_save(call, seeds, "seeds.csv", &later);
        end = end ? end : make_ledger(s, &ledger, &later);
        if (!end && tmx_table_rows(ledger) > 0) {
            end = tmx_suite_save(call, ledger, "ledger.csv", &later);
        }
        end = end || s->n_column > 0 ? end : make_brief(s, &brief, &later);
        struct tmx_suite_call own = *call;
        own.facts = facts_of;
        own.facts_ctx = s;
        end = end ? end : tmx_suite_write(&own, table, stopped ? NULL : paper, brief, &later);
        if (!end && !stopped && s->seeds > 1) {
            tmx_study_say_spread(&s->runs, runs_of_seed(s), &runs, call->nudge,
                                 call->format == TMX_FORMAT_TEXT ? stdout : stderr);
        }
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
    tmx_table_destroy(seeds);
    end_suite(s);
    return st;
}

const struct tmx_keys tmx_suite_keys[] = {TMX_KEYS("", root_opts),
                                          TMX_KEYS("policies", choice_opts),
                                          TMX_KEYS("variants", choice_opts),
                                          TMX_KEYS("beside", choice_opts),
                                          {0}};
