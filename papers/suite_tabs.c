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

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "base/text.h"
#include "core/workload/mix.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/load/data.h"
#include "study/analysis/analysis.h"

/* Mixes, policies, variants or runs beside, at most; "key=value" of each. */
enum { LIST = 128, MAX_SETS = 10000 };

struct choice { /* a column of the suite: a policy, a variant or a run beside the mixes, with the
                 * keys it sets
                 */
    char name[64];
    char policy[32];
    char mix[64];                  /* of a run beside; of a variant: in place of the suite's one mix */
    const struct tmx_setting *set; /* list of "key=value", may be NULL */
};

/* Mixes a value is taken over: one, or n_mix + i, the i-th beside them; or those that are in. */
struct group {
    enum take { ONE, MEAN, MAX, MIN_NONZERO } take;
    size_t mix;
    bool in[LIST];
};

struct screen { /* a set whose number is not between these is not run any further */
    struct tmx_pick pick;
    double from, to;
};

struct suite {
    const struct tmx_suite_call *call;
    char baseline[64], compare[64], paper[16];
    struct choice policy[LIST], variant[LIST];
    const char *mix[LIST];   /* as the suite names them */
    bool serves;             /* its base has a language model in place of mixes: one, called requests */
    char mix_name[LIST][64]; /* their own names */
    bool target[LIST];
    bool one_kernel[LIST]; /* all of a mix is of one kernel */
    size_t n_policy, n_variant, n_mix;
    struct choice beside[LIST]; /* single runs in no mean: mix n_mix + i of the table */
    size_t n_beside;
    const char *column[LIST]; /* metrics of the table in place of those of the paper; n_column 0: those */
    size_t n_column;
    int seeds;                /* runs of everything, from base.seed on */
    bool fitted;              /* of its values: struct tmx_value_source */
    struct tmx_column *known; /* [n_known] of a suite of the paper */
    size_t n_known;
    struct tmx_table *table; /* its columns [2, n_plain) are numbers */
    size_t n_plain;
    struct tmx_run_values runs; /* [seeds][n_variant * runs_of_variant()] */
    struct tmx_value_source values;
    /* group `sets`: sampled constants, a set of them a variant */
    struct tmx_sweep sets; /* n_point 0: none */
    struct screen *screen; /* [n_screen] */
    size_t n_screen;
    size_t set;         /* of which values are asked; n_point: of none */
    const size_t *todo; /* the tasks that are the points of a call; NULL: all */
    struct tmx_arena arena;
};

/* ---- what the suite runs: the lists of its file and the overrides of each run ---- */

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

/* Number of the run of a mix (n_mix + i: the i-th beside the mixes) under a policy. */
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

/* What a task runs; the other way round: the mix as the suite names it and the row's name. */
static const struct choice *run_of(const struct suite *s, size_t task, const char **mix, const char **label)
{
    const size_t i = task % runs_of_variant(s), n = s->n_mix * s->n_policy;
    const struct choice *c = i < n ? &s->policy[i % s->n_policy] : &s->beside[i - n],
                        *v = variant_at(s, task / runs_of_variant(s));
    *mix = i >= n ? c->mix : v->mix[0] ? v->mix : s->mix[i / s->n_policy];
    *label = i < n ? label_of(s, task / runs_of_variant(s), i / s->n_policy) : c->name;
    return c;
}

/* key: policies, variants or beside */
static void read_choices(const struct suite *s, const char *key, size_t least, struct choice *c, size_t *n,
                         struct tmx_err *err)
{
    static const char *const also[] = {"set", NULL};
    const bool beside = strcmp(key, "beside") == 0, own = strcmp(key, "variants") == 0 && s->n_mix == 1;
    const struct tmx_setting *list = tmx_setting_list(s->call->root, key, least, LIST, err);
    tmx_setting_unique(list, "name", err);
    for (*n = 0; *n < tmx_setting_length(list) && !err->code; c++, ++*n) {
        const struct tmx_setting *e = tmx_setting_at(list, *n),
                                 *group = NULL; /* written as in a run's file */
        const char *name = tmx_setting_text(e);
        char path[TMX_PATH_SIZE];
        *c = (struct choice){0};
        for (size_t k = 0; !group && tmx_setting_at(e, k); k++) {
            group = tmx_setting_is(tmx_setting_at(e, k), TMX_SETTING_GROUP) ? tmx_setting_at(e, k) : NULL;
        }
        if (name && strlen(name) < sizeof c->name) {
            snprintf(c->name, sizeof c->name, "%s", name);
        } else if (name) {
            tmx_error_setting(err, e, "%s: a name longer than %zu characters", key, sizeof c->name - 1);
        } else if (group) {
            tmx_error_setting(err, group, "%s: an entry of %s changes keys by set = [\"%s.KEY=VALUE\"]",
                              tmx_setting_name(group), key, tmx_setting_name(group));
        } else {
            tmx_opt_read(choice_opts, c, e, also, err);
            c->set = tmx_setting_texts(e, "set", 0, MAX_SETS, err);
        }
        if (!c->policy[0]) {
            snprintf(c->policy, sizeof c->policy, "%.31s", c->name);
        }
        if (beside && !c->mix[0]) {
            tmx_error_setting(err, e, "beside: expected { name; mix; policy; }");
        } else if (!beside && c->mix[0] && !own) {
            tmx_error_setting(err, e, "%s: mix = \"%s\": only a variant of a suite of one mix has its own",
                              key, c->mix);
        } else if (!beside && c->mix[0]) {
            tmx_data_find_for(TMX_DATA_MIX, tmx_setting_member(e, "mix"), c->mix, path, err);
        }
    }
}

static void read_mixes(struct suite *s, struct tmx_err *err)
{
    s->serves = tmx_setting_member(tmx_setting_member(s->call->root, "base"), "serve") != NULL;
    if (s->serves && !tmx_setting_member(s->call->root, "mixes")) {
        snprintf(s->mix_name[0], sizeof s->mix_name[0], "requests");
        s->n_mix = 1;
        return;
    }
    const struct tmx_setting *list = tmx_setting_texts(s->call->root, "mixes", 1, LIST, err);
    tmx_setting_unique(list, "", err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        char path[TMX_PATH_SIZE];
        struct tmx_mix mix = {0};
        const struct tmx_setting *e = tmx_setting_at(list, i);
        s->mix[i] = tmx_setting_text(e);
        tmx_data_find_for(TMX_DATA_MIX, e, s->mix[i], path, err);
        (void)(!err->code && tmx_mix_load(&mix, path, 0, err));
        s->target[i] = mix.target;
        s->one_kernel[i] = mix.n_entry > 0;
        for (size_t k = 1; k < mix.n_entry; k++) {
            s->one_kernel[i] = s->one_kernel[i] && mix.entry[k].power_w == mix.entry[0].power_w &&
                               strcmp(mix.entry[k].kernel, mix.entry[0].kernel) == 0;
        }
        snprintf(s->mix_name[i], sizeof s->mix_name[i], "%s", mix.name);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(s->mix_name[k], s->mix_name[i]) == 0) {
                tmx_error_setting(err, e, "mixes: %s and %s are both called \"%s\"", s->mix[k], s->mix[i],
                                  s->mix_name[i]);
            }
        }
        tmx_mix_finish(&mix);
    }
    s->n_mix = tmx_setting_length(list);
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
static void select_policies(struct suite *s, struct tmx_err *err)
{
    const struct tmx_suite_call *call = s->call;
    size_t n = 0;
    for (size_t p = 0; p < s->n_policy && call->n_policy > 0; p++) {
        const char *name = s->policy[p].name;
        if (strcmp(name, s->baseline) == 0 || strcmp(name, s->compare) == 0 ||
            tmx_names_find(name, call->policy, call->n_policy) < call->n_policy) {
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
            tmx_error(err, TMX_ECONFIG, "--policy %s: not the name of a policy", call->policy[i]);
            return;
        }
        *c = (struct choice){0};
        snprintf(c->name, sizeof c->name, "%s", call->policy[i]);
        snprintf(c->policy, sizeof c->policy, "%s", call->policy[i]);
        s->n_policy++;
    }
}

/* Reads the suite of s->call into s. Texts are the call's. TMX_ECONFIG with file:line for lists, names and
 * numbers that are none. */
static void read_suite(struct suite *s, struct tmx_err *err)
{
    static const char *const compared[] = {"baseline", "compare"}; /* misspelt, it would be an empty column */
    const struct tmx_setting *root = s->call->root;
    tmx_opt_read(root_opts, s, root, root_also, err);
    read_mixes(s, err);
    read_choices(s, "policies", 1, s->policy, &s->n_policy, err);
    select_policies(s, err);
    read_choices(s, "variants", 0, s->variant, &s->n_variant, err);
    s->n_variant = s->n_variant ? s->n_variant : 1;
    if (s->call->n_policy == 0) {
        read_choices(s, "beside", 0, s->beside, &s->n_beside, err);
    }
    const struct tmx_setting *metrics = tmx_setting_texts(root, "columns", 0, LIST, err);
    s->n_column = tmx_setting_length(metrics);
    for (size_t i = 0; i < s->n_column; i++) {
        const struct tmx_setting *at = tmx_setting_at(metrics, i);
        s->column[i] = tmx_setting_text(at);
        if (tmx_study_metric(s->column[i]) == tmx_study_metrics()) {
            tmx_error_setting(err, at, "columns: no such metric: \"%s\" (thermix list metrics)",
                              s->column[i]);
        }
    }
    for (size_t i = 0; i < 2 && !err->code; i++) {
        const struct tmx_setting *given = tmx_setting_member(root, compared[i]);
        if (given && policy_of(s, tmx_setting_text(given)) == s->n_policy) {
            tmx_error_setting(err, given, "%s = \"%s\": not among the suite's policies", compared[i],
                              tmx_setting_text(given));
        }
    }
}

/* Is it the value of a key of a policy or run beside? */
static bool policy_names(const struct suite *s, const char *axis)
{
    bool found = false;
    for (size_t i = 0; i < s->n_policy + s->n_beside; i++) {
        const struct tmx_setting *list = i < s->n_policy ? s->policy[i].set : s->beside[i - s->n_policy].set;
        for (size_t k = 0; k < tmx_setting_length(list); k++) {
            const char *value = strchr(tmx_setting_text(tmx_setting_at(list, k)), '=');
            found = found || (value && strcmp(value + 1, axis) == 0);
        }
    }
    return found;
}

/* Key number k of a set, under the name of a key of its runs. */
static void put_constant(const struct suite *s, size_t number, size_t k, const char *key, size_t n_key,
                         struct tmx_sets *set, struct tmx_err *err)
{
    char name[TMX_PATH_SIZE];
    snprintf(name, sizeof name, "base.%.*s", (int)n_key, key);
    tmx_sets_refuse(s->call->sets, name + strlen("base."), "an axis of `sets` gives this key", err);
    tmx_sets_put(set, name, tmx_sweep_value(&s->sets, number, k), s->sets.file, tmx_sweep_line(&s->sets, k),
                 err);
}

/* The constants of a set, but those whose name begins with $: they are for policies to name. Then "key=value"
 * of a policy; value $name is that of the set's axis $name. */
static void add_set(const struct suite *s, size_t number, const struct tmx_setting *list,
                    struct tmx_sets *set, struct tmx_err *err)
{
    for (size_t k = 0; k < s->sets.n_key; k++) {
        const char *key = s->sets.key[k];
        if (key[0] != '$') {
            put_constant(s, number, k, key, strlen(key), set, err);
        }
    }
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *text = tmx_setting_text(e), *value = strchr(text, '=');
        const bool named = value && value[1] == '$';
        size_t k = 0;
        while (named && k < s->sets.n_key && strcmp(s->sets.key[k], value + 1) != 0) {
            k++;
        }
        if (!named) {
            tmx_sets_add(set, "base.", text, tmx_setting_file(e), tmx_setting_line(e), err);
        } else if (k == s->sets.n_key) {
            tmx_error_setting(err, e, "sets: no axis \"%s\"", value + 1);
        } else {
            put_constant(s, number, k, text, (size_t)(value - text), set, err);
        }
    }
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
static void sets_of(const void *ctx, size_t point, struct tmx_sets *set, struct tmx_err *err)
{
    const struct suite *s = ctx;
    const size_t task = s->todo ? s->todo[point] : point % runs_of_seed(s);
    const char *mix, *label, *file = tmx_setting_file(s->call->root);
    const struct choice *v = variant_at(s, task / runs_of_variant(s)), *p = run_of(s, task, &mix, &label);
    const unsigned line = tmx_setting_line(s->call->root);
    if (!s->serves) {
        tmx_sets_put(set, "base.mix", TMX_TEXT_VALUE(mix), file, line, err);
    }
    tmx_sets_put(set, "base.policy", TMX_TEXT_VALUE(p->policy), file, line, err);
    tmx_sets_add_list(set, "base.", v->set, err);
    s->sets.n_point > 0 ? add_set(s, task / runs_of_variant(s), p->set, set, err)
                        : tmx_sets_add_list(set, "base.", p->set, err);
    tmx_sets_join(set, s->call->sets, "", err);
    if (!s->todo && point >= runs_of_seed(s)) {
        tmx_sets_put(set, s->call->nudge ? "base.start_plus_k" : "base.seed",
                     repeat_of(s, point / runs_of_seed(s)), file, line, err);
    }
}

static struct tmx_scalar value_of(const void *ctx, size_t point, size_t key)
{
    const struct suite *s = ctx;
    const char *mix, *label;
    const size_t task = s->todo ? s->todo[point] : point % runs_of_seed(s);
    const struct choice *run = run_of(s, task, &mix, &label);
    const bool beside = task % runs_of_variant(s) >= s->n_mix * s->n_policy;
    return s->seeds > 1 && key == (s->n_variant > 1 ? 3 : 2) ? repeat_of(s, point / runs_of_seed(s))
           : key == 0                                        ? TMX_TEXT_VALUE(label)
           : key == 1            ? TMX_TEXT_VALUE(beside ? run->policy : run->name)
           : s->sets.n_point > 0 ? TMX_INTEGER_VALUE((int64_t)(task / runs_of_variant(s)))
                                 : TMX_TEXT_VALUE(variant_at(s, task / runs_of_variant(s))->name);
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

/* ---- numbers by name ---- */

static size_t n_watched(const struct suite *s)
{
    return s->call->probe ? s->call->probe->n : 0;
}

/* Index of a metric or a watched column among a task's values; their number when there is none of this name.
 */
static size_t value_index(const struct suite *s, const char *name)
{
    const size_t n = tmx_study_metrics(), i = tmx_study_metric(name);
    return i < n ? i : n + tmx_names_find(name, s->call->probe ? s->call->probe->column : NULL, n_watched(s));
}

/* A metric over a group of mixes for one policy; NAN when a run of the group failed. */
static double group_value(const struct suite *s, size_t seed, size_t variant, const struct group *g,
                          size_t policy, size_t metric)
{
    double sum = 0, n = 0, best = g->take == MIN_NONZERO ? INFINITY : -INFINITY;
    for (size_t i = 0; i < s->n_mix + s->n_beside; i++) {
        if (g->take == ONE ? i != g->mix : i >= s->n_mix || !g->in[i]) {
            continue;
        }
        const double v =
            s->runs
                .value[(seed * runs_of_seed(s) + task_of(s, variant, i, policy)) * s->runs.n_value + metric];
        if (isnan(v) || g->take == ONE) {
            return v;
        }
        sum += v;
        n += 1;
        const bool lower = v > 0.005 && v < best; /* 0.00 at the paper's two decimals is zero */
        best = (g->take == MIN_NONZERO && lower) || (g->take == MAX && v > best) ? v : best;
    }
    return g->take == MEAN ? sum / n : best;
}

static double column_value(const struct suite *s, size_t seed, size_t variant, const struct group *g,
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
        const size_t metric = tmx_study_metric(saved[i].metric),
                     over = policy_of(s, saved[i].baseline ? s->baseline : s->compare);
        if (strcmp(column, saved[i].column) != 0) {
            continue;
        }
        if (over == s->n_policy || (g->take == ONE && g->mix >= s->n_mix)) { /* compared with nothing */
            return NAN;
        }
        const double a = group_value(s, seed, variant, g, policy, metric),
                     b = group_value(s, seed, variant, g, over, metric);
        return fabs(b) > 0.005 ? 100 * (1 - a / b) : NAN; /* 0 at the paper's precision */
    }
    const size_t m = value_index(s, column);
    return m == s->runs.n_value ? NAN /* a column of the probe, and there was no probe */
                                : group_value(s, seed, variant, g, policy, m);
}

/* Over the seeds; nothing where one of them has no number. */
static struct tmx_moments over_seeds(const struct suite *s, size_t variant, const struct group *g,
                                     size_t policy, const char *column)
{
    struct tmx_moments of = {0};
    for (size_t seed = 0; seed < (size_t)s->seeds; seed++) {
        const double v = column_value(s, seed, variant, g, policy, column);
        if (!isfinite(v)) {
            return (struct tmx_moments){0};
        }
        tmx_moments_add(&of, v);
    }
    return of;
}

/* All mixes; targets: those alone that the paper aims at. */
static struct group all_mixes(const struct suite *s, enum take take, bool targets)
{
    struct group g = {.take = take};
    for (size_t i = 0; i < s->n_mix; i++) {
        g.in[i] = !targets || s->target[i];
    }
    return g;
}

/* A word for a group of mixes, a mix or a run beside them; "WL4,WL5": the mean over these mixes. False: there
 * is none such. */
static bool find_group(const struct suite *s, const char *of, struct group *g)
{
    static const struct {
        const char *word;
        enum take take;
        bool targets;
    } words[] = {{"mean", MEAN, false},
                 {"mean_target", MEAN, true},
                 {"max", MAX, false},
                 {"min_nonzero", MIN_NONZERO, false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, of) == 0) {
            *g = all_mixes(s, words[i].take, words[i].targets);
            return true;
        }
    }
    *g = (struct group){0};
    while (g->mix < s->n_mix + s->n_beside &&
           strcmp(g->mix < s->n_mix ? s->mix_name[g->mix] : s->beside[g->mix - s->n_mix].name, of) != 0) {
        g->mix++;
    }
    bool found = g->mix < s->n_mix + s->n_beside;
    if (found || !strchr(of, ',')) {
        return found;
    }
    g->take = MEAN;
    found = true;
    for (const char *word = of; word && found;
         word = word[strcspn(word, ",")] ? word + strcspn(word, ",") + 1 : NULL) {
        const size_t n = strcspn(word, ",");
        size_t i = 0;
        while (i < s->n_mix && (strncmp(s->mix_name[i], word, n) != 0 || s->mix_name[i][n])) {
            i++;
        }
        found = i < s->n_mix;
        if (found) {
            g->in[i] = true;
        }
    }
    return found;
}

/* ---- the tables ---- */

/* The last three are texts; status: done, failed, not run; of a mean: done or partial. */
static const char columns[] =
    "mix policy slowdown_pct:2 improvement_over_bl_pct:1 improvement_over_dvfs_pct:1 energy_j:0 "
    "energy_saved_vs_bl_pct:2 peak_temp_c:2 mean_temp_c:2 throttled_s:2 makespan_s:2 "
    "throughput_blocks_per_s:0 fairness:3 dynamic_j:0 leakage_j:0 baseline_j:0 transition_j:1 "
    "gating_saved_j:1 fan_energy_j:1 mean_rpm:0 peak_noise_dba:1 mean_inlet_c:2 exhaust_j:0 "
    "remote_cost:2 gate_asleep_error_points:2 gate_slowdown_error_points:2 trips:0 sms_gated:0 "
    "sms_near_trip:0 longest_gating_s:2 latched_sm:0 gating_period_s:2 loop_gain:3 below_trip_k:2 "
    "step_time_s:4 step_p99_s:4 wait_pct:2 bound_pct:3 gap_pct:3 headroom_w:2 variant status error";
enum { N_TEXT = 3 };

/* The columns of a suite; of one that serves: texts as above, between them what `thermix list metrics` calls
 * serving, and energy and heat. Of several seeds their number, and the spread of every number behind it. */
static void make_head(struct suite *s)
{
    static const char *const also[] = {"energy_j", "peak_temp_c", "peak_memory_c", "sw_power_cap_s",
                                       "makespan_s"};
    const bool own = s->n_column > 0, papers = !own && !s->serves, serves = !own && s->serves;
    struct tmx_table *t = s->table = tmx_table_new(s->known, papers ? s->n_known - N_TEXT : 2);
    for (size_t i = 0; i < s->n_column; i++) {
        tmx_table_extend(t, s->column[i], TMX_COLUMN_REAL, 3);
    }
    for (size_t m = 0; serves && m < tmx_study_metrics(); m++) {
        if (tmx_metrics[m].needs & TMX_NEEDS_REQUESTS) {
            tmx_table_extend(t, tmx_metrics[m].name, TMX_COLUMN_REAL, 4);
        }
    }
    for (size_t k = 0; serves && k < sizeof also / sizeof also[0]; k++) {
        tmx_table_extend(t, also[k], TMX_COLUMN_REAL, 2);
    }
    s->n_plain = t ? tmx_table_columns(t) : 0;
    if (s->seeds > 1) {
        tmx_table_extend(t, "seeds", TMX_COLUMN_INT, 0);
    }
    for (size_t i = 2 * 2; i < 2 * s->n_plain && s->seeds > 1; i++) {
        const struct tmx_column *of = tmx_table_column(t, i / 2);
        char name[48];
        snprintf(name, sizeof name, i % 2 ? "%s_ci95" : "%s_sd", of->name);
        tmx_table_extend(t, name, TMX_COLUMN_REAL, of->decimals + 1);
    }
    for (size_t k = s->n_known - N_TEXT; k < s->n_known; k++) {
        tmx_table_extend(t, s->known[k].name, TMX_COLUMN_TEXT, 0);
    }
}

static void add_row(const struct suite *s, size_t variant, const struct group *g, size_t policy,
                    const char *label)
{
    const bool beside = g->take == ONE && g->mix >= s->n_mix;
    struct tmx_table *t = s->table;
    tmx_table_row(t, "%s %s", label, beside ? s->beside[g->mix - s->n_mix].policy : s->policy[policy].name);
    for (size_t c = 2; c < s->n_plain; c++) {
        const struct tmx_moments of = over_seeds(s, variant, g, policy, tmx_table_column(t, c)->name);
        const double v = tmx_moments_mean(&of);
        isfinite(v) && v > -TMX_ZERO_C ? tmx_table_real(t, v) : tmx_table_empty(t); /* no die: 0 K */
    }
    if (s->seeds > 1) {
        tmx_table_int(t, s->seeds);
    }
    for (size_t c = 2; c < s->n_plain && s->seeds > 1; c++) {
        const struct tmx_moments of = over_seeds(s, variant, g, policy, tmx_table_column(t, c)->name);
        tmx_table_row(t, "%G %G", tmx_moments_sd(&of), tmx_moments_ci95(&of));
    }
    const char *error = NULL;
    bool whole = true;
    for (size_t k = 0; k < (size_t)s->seeds; k++) {
        const char *const *of = s->runs.error + k * runs_of_seed(s);
        error = error || g->take != ONE ? error : of[task_of(s, variant, g->mix, policy)];
        for (size_t i = 0; g->take != ONE && i < s->n_mix; i++) {
            whole = whole && (!g->in[i] || !of[task_of(s, variant, i, policy)]);
        }
    }
    tmx_table_row(t, "%s %s %s", s->variant[variant].name,
                  !whole                              ? "partial"
                  : !error                            ? "done"
                  : strncmp(error, "not run", 7) == 0 ? "not run"
                                                      : "failed",
                  error ? error : "");
}

/* What was watched of every run, of which it could be. */
static struct tmx_table *make_ledger(const struct suite *s)
{
    struct tmx_table *t = tmx_table_of("mix policy slowdown_pct:3");
    const size_t slow = tmx_study_metric("slowdown_pct"), first = tmx_study_metrics(), n = n_watched(s);
    const bool several = s->seeds > 1;
    for (size_t l = 0; l < n; l++) {
        tmx_table_extend(t, s->call->probe->column[l], TMX_COLUMN_REAL, 3);
    }
    tmx_table_extend(t, "variant", TMX_COLUMN_TEXT, 0);
    if (several) {
        tmx_table_extend(t, "seed", TMX_COLUMN_INT, 0);
    }
    for (size_t task = 0; n > 0 && task < (size_t)s->seeds * runs_of_seed(s); task++) {
        const char *mix, *label;
        const struct choice *run = run_of(s, task % runs_of_seed(s), &mix, &label);
        const double *value = &s->runs.value[task * s->runs.n_value];
        if (isnan(value[first])) {
            continue;
        }
        tmx_table_row(t, "%s %s %g", label, run->name, value[slow]);
        for (size_t l = 0; l < n; l++) {
            isnan(value[first + l]) ? tmx_table_empty(t) : tmx_table_real(t, value[first + l]);
        }
        tmx_table_text(t, s->variant[task % runs_of_seed(s) / runs_of_variant(s)].name);
        if (several) {
            tmx_table_int(t, seed_of(s, task / runs_of_seed(s)));
        }
    }
    return t;
}

/* For the screen: the slowdown of every mix under every policy, and the least that any policy can have; of
 * two variants the mixes of the first and both means, of more the means only. */
static struct tmx_table *make_brief(const struct suite *s)
{
    const bool means = s->n_variant > 2;
    const char *what = s->serves ? "e2e_p50_s" : means ? "slowdown_pct, mean" : "slowdown_pct";
    struct tmx_table *t = tmx_table_of("");
    const char *column = s->serves ? what : "slowdown_pct";
    const size_t n_row = (means ? 0 : s->n_mix) + s->n_variant;
    const struct group all = all_mixes(s, MEAN, false);
    const struct tmx_moments least = over_seeds(s, 0, &all, 0, "bound_pct");
    const bool bound = !s->serves && least.n > 0;
    tmx_table_extend(t, what, TMX_COLUMN_TEXT, 0);
    for (size_t p = 0; p < s->n_policy; p++) {
        tmx_table_extend(t, s->policy[p].name, TMX_COLUMN_REAL, 2);
    }
    if (bound) {
        tmx_table_extend(t, "bound", TMX_COLUMN_REAL, 2);
    }
    for (size_t r = 0; r < n_row; r++) {
        const bool mean = means || r >= s->n_mix;
        const size_t v = means ? r : mean ? r - s->n_mix : 0;
        const struct group one = {.mix = r}, *g = mean ? &all : &one;
        char name[80];
        snprintf(name, sizeof name, "mean%s%s", s->n_variant == 2 ? ", " : "", s->variant[v].name);
        tmx_table_text(t, means ? s->variant[v].name : mean ? name : s->mix_name[r]);
        for (size_t half = 0; half < (s->seeds > 1 ? 2 : 1); half++) { /* the mean, the interval */
            if (half) {
                snprintf(name, sizeof name, "  95 %% of %d %s +-", s->seeds,
                         s->call->nudge ? "starts" : "seeds");
                tmx_table_text(t, name);
            }
            for (size_t p = 0; p < s->n_policy; p++) {
                const struct tmx_moments of = over_seeds(s, v, g, p, column);
                tmx_table_real_or_empty(t, half ? tmx_moments_ci95(&of) : tmx_moments_mean(&of));
            }
            if (bound) {
                const struct tmx_moments of = over_seeds(s, v, g, 0, "bound_pct");
                tmx_table_real_or_empty(t, half ? NAN : tmx_moments_mean(&of));
            }
        }
    }
    return t;
}

/* Of struct tmx_value_source. */
static double number(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    const struct suite *s = ctx;
    const size_t policy = policy_of(s, p->policy);
    struct group g;
    size_t v = 0, c = 0;
    while (p->variant[0] && v < s->n_variant && strcmp(s->variant[v].name, p->variant) != 0) {
        v++;
    }
    while (c < s->n_known &&
           (s->known[c].type == TMX_COLUMN_TEXT || strcmp(s->known[c].name, p->column) != 0)) {
        c++;
    }
    if (!find_group(s, p->of, &g)) {
        snprintf(why, TMX_WHY, "no such mix: \"%s\"", p->of);
    } else if (policy == s->n_policy) {
        snprintf(why, TMX_WHY, "no such policy: \"%s\"", p->policy);
    } else if (v == s->n_variant) {
        snprintf(why, TMX_WHY, "no such variant: \"%s\"", p->variant);
    } else if (c == s->n_known && strcmp(p->column, "energy_saved_vs_dvfs_pct") != 0 &&
               value_index(s, p->column) == tmx_study_metrics() + n_watched(s)) {
        snprintf(why, TMX_WHY, "no such column: \"%s\"", p->column);
    } else if (seed != TMX_NAMES_ALONE && (s->sets.n_point == 0 || s->set < s->sets.n_point)) {
        return column_value(s, seed, s->sets.n_point > 0 ? s->set : v, &g, policy, p->column);
    }
    return NAN;
}

/* ---- sampled sets of constants ---- */

static void read_sets(struct suite *s, struct tmx_err *err)
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
    const struct tmx_setting *group = tmx_setting_group(s->call->root, "sets", err);
    if (group && s->n_variant > 1) {
        tmx_error_setting(err, group, "sets: expected a suite without variants");
    }
    if (!group || err->code || tmx_sweep_read(&s->sets, group, also, err)) {
        return;
    }
    for (size_t k = 0; k < s->sets.n_key; k++) {
        if (s->sets.key[k][0] == '$' && s->call->n_policy == 0 && !policy_names(s, s->sets.key[k])) {
            tmx_error_at(err, TMX_ECONFIG, s->sets.file, tmx_sweep_line(&s->sets, k),
                         "axis %s: no policy names it", s->sets.key[k]);
        }
    }
    const struct tmx_setting *list = tmx_setting_list(group, "screen", 0, LIST, err);
    s->n_screen = tmx_setting_length(list);
    TMX_TAKE(&s->arena, s->screen, s->n_screen);
    tmx_arena_check(&s->arena, err);
    for (size_t i = 0; i < s->n_screen && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        tmx_opt_read(opts, &s->screen[i], e, range_also, err);
        tmx_opt_read(pick_opts, &s->screen[i].pick, e, pick_also, err);
        tmx_pick_check(&s->values, &s->screen[i].pick, e, err);
    }
    s->n_variant = s->sets.n_point;
    if (s->seeds > 1) {
        tmx_error_setting(err, s->call->root, "seeds: a suite with `sets` runs each set once");
    }
}

/* Does a set pass every screen? */
static bool passes(struct suite *s, size_t set)
{
    bool yes = true;
    char why[TMX_WHY];
    s->set = set;
    for (size_t i = 0; i < s->n_screen; i++) {
        const double v = number(s, &s->screen[i].pick, 0, why);
        yes = yes && v >= s->screen[i].from && v <= s->screen[i].to;
    }
    return yes;
}

/* The runs that the screens read, of every set; then the others of the sets that pass. */
static void run_sets(struct suite *s, struct tmx_err *err)
{
    const size_t each = runs_of_variant(s), n = s->n_variant * each;
    bool *wanted;
    size_t *task;
    TMX_TAKE(&s->arena, wanted, each);
    TMX_TAKE(&s->arena, task, n);
    s->runs.n_value = tmx_study_metrics() + n_watched(s);
    s->runs.n_point = n;
    TMX_TAKE(&s->arena, s->runs.value, n * s->runs.n_value);
    TMX_TAKE(&s->arena, s->runs.error, n);
    tmx_arena_check(&s->arena, err);
    for (size_t i = 0; i < n * s->runs.n_value && !err->code; i++) {
        s->runs.value[i] = NAN;
    }
    for (size_t i = 0; i < s->n_screen && !err->code; i++) {
        const struct tmx_pick *pick = &s->screen[i].pick;
        const bool compares = value_index(s, pick->column) == s->runs.n_value; /* improvement_over_bl_pct */
        const char *const policy[] = {pick->policy, s->baseline, s->compare};
        struct group g;
        (void)find_group(s, pick->of, &g);
        for (size_t k = 0; k < (compares ? 3 : 1) * (s->n_mix + s->n_beside); k++) {
            const size_t mix = k % (s->n_mix + s->n_beside),
                         p = policy_of(s, policy[k / (s->n_mix + s->n_beside)]);
            if (p < s->n_policy && (g.take == ONE ? mix == g.mix : mix < s->n_mix && g.in[mix])) {
                wanted[task_of(s, 0, mix, p)] = true;
            }
        }
    }
    const size_t first = s->call->check && s->n_variant > 2 ? 2 : s->n_variant; /* a check looks at some */
    for (size_t pass = 0; pass < (s->n_screen > 0 ? 2 : 1) && !err->code; pass++) {
        struct tmx_runs runs;
        struct tmx_run_values part = {0};
        size_t n_task = 0;
        for (size_t i = 0; i < first * each; i++) {
            const bool early = wanted[i % each] || s->n_screen == 0;
            if (pass == 0 ? early : !early && (s->call->check || passes(s, i / each))) {
                task[n_task++] = i;
            }
        }
        as_runs(s, &runs);
        runs.n_point = n_task;
        s->todo = task;
        if (pass == 0 || n_task > 0) {
            tmx_suite_values(s->call, &runs, "runs", &part, err);
        }
        s->todo = NULL;
        for (size_t i = 0; part.value && i < n_task; i++) {
            memcpy(&s->runs.value[task[i] * s->runs.n_value], &part.value[i * part.n_value],
                   part.n_value * sizeof *part.value);
            s->runs.error[task[i]] = part.error[i] ? tmx_arena_text(&s->arena, part.error[i]) : NULL;
        }
        tmx_arena_check(&s->arena, err);
        tmx_run_values_finish(&part);
    }
}

/* done; screened: a screen kept it from running; else the error of its first run that has one. */
static const char *set_status(struct suite *s, size_t set)
{
    const size_t each = runs_of_variant(s);
    bool whole = true;
    for (size_t t = set * each; t < (set + 1) * each; t++) {
        if (s->runs.error[t]) {
            return strncmp(s->runs.error[t], "not run", 7) == 0 ? "not run" : "failed";
        }
        whole = whole && !isnan(s->runs.value[t * s->runs.n_value]);
    }
    return whole ? "done" : passes(s, set) ? "not run" : "screened";
}

/* Write sets.csv, one row a set: its constants and our number of every printed value, v1 being the first of
 * the list; and, as they are printed, values.csv. */
static void write_sets(struct suite *s, struct tmx_err *err)
{
    const size_t n = s->values.n_value, n_key = s->sets.n_key;
    size_t n_done = 0;
    struct tmx_table *t = tmx_table_of("set:d status"), *printed = NULL;
    for (size_t k = 0; k < n_key; k++) {
        tmx_table_extend(t, s->sets.key[k], TMX_COLUMN_TEXT, TMX_TEXT_TYPED);
    }
    for (size_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%zu", i + 1);
        tmx_table_extend(t, name, TMX_COLUMN_REAL, 3);
    }
    for (size_t v = 0; v < s->sets.n_point; v++) {
        const char *status = set_status(s, v);
        n_done += strcmp(status, "done") == 0;
        tmx_table_row(t, "%zu %s", v, status);
        for (size_t k = 0; k < n_key; k++) {
            char buf[32];
            tmx_table_text(t, tmx_scalar_plain(tmx_sweep_value(&s->sets, v, k), buf));
        }
        s->set = v;
        for (size_t i = 0; i < n; i++) {
            tmx_table_real_or_empty(t, tmx_values_ours(&s->values, i, 0));
        }
    }
    s->set = s->sets.n_point;
    s->values.number_rows = true;
    tmx_table_check(t, err);
    tmx_suite_save(s->call, t, "sets.csv", err);
    if (s->values.any) {
        printed = tmx_values_table(&s->values, NULL);
        tmx_suite_save(s->call, printed, "values.csv", err);
    }
    if (!err->code && s->call->format == TMX_FORMAT_TEXT) {
        printf("%zu sets, %zu of them run in full", s->sets.n_point, n_done);
        s->call->out_dir ? printf(": %s/sets.csv; `thermix posterior %s` weighs them\n", s->call->out_dir,
                                  s->call->out_dir)
                         : printf("; -o DIR keeps them\n");
    } else {
        tmx_table_show(t, s->call->format, &(struct tmx_screen){0}, err);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(printed);
}

/* ---- the whole ---- */

/* Of a suite of one variant. */
static void facts_of(const void *ctx, const char *mix, const char *policy, char *facts, size_t size)
{
    static const char *const words[] = {"cannot act", "can change nothing", "has no choice",
                                        "this run has one"};
    const struct suite *s = ctx;
    const size_t p = policy_of(s, policy);
    size_t i = 0;
    while (i < s->n_mix && strcmp(label_of(s, 0, i), mix) != 0) {
        i++;
    }
    facts[0] = '\0';
    for (size_t w = 0; i < s->n_mix && p < s->n_policy && w < sizeof words / sizeof words[0]; w++) {
        const char *text = tmx_warnings_of(&s->runs.warnings, task_of(s, 0, i, p), words[w]);
        if (text) {
            tmx_text_add(facts, size, "%s%s", facts[0] ? "; " : "", text);
        }
    }
    if (!facts[0] && i < s->n_mix && s->one_kernel[i] && strcmp(policy, s->baseline) != 0) {
        snprintf(facts, size, "the mix is of one kernel");
    }
}

/* What is finished is written, also after Ctrl-C; then what failed is an error. */
static void write_suite(struct suite *s, const struct tmx_runs *runs, bool stopped, struct tmx_err *err)
{
    struct tmx_suite_call own = *s->call;
    const struct group mean = all_mixes(s, MEAN, false), target = all_mixes(s, MEAN, true);
    for (size_t v = 0; v < s->n_variant; v++) {
        for (size_t i = 0; i < s->n_mix * s->n_policy; i++) {
            add_row(s, v, &(struct group){.mix = i / s->n_policy}, i % s->n_policy,
                    label_of(s, v, i / s->n_policy));
        }
        const bool means = !s->serves && (s->n_column == 0 || s->n_mix > 1);
        for (size_t p = 0; p < s->n_policy && means; p++) {
            add_row(s, v, &mean, p, "mean");
        }
        for (size_t p = 0; p < s->n_policy && memchr(target.in, true, s->n_mix); p++) {
            add_row(s, v, &target, p, "mean_target");
        }
        for (size_t b = 0; b < s->n_beside; b++) {
            add_row(s, v, &(struct group){.mix = s->n_mix + b}, 0, s->beside[b].name);
        }
    }
    struct tmx_table *ledger = make_ledger(s), *brief = s->n_column > 0 ? NULL : make_brief(s);
    own.facts = facts_of;
    own.facts_ctx = s;
    own.stopped = stopped;
    if (s->n_column == 0) {
        tmx_table_check(brief, err);
    }
    if (!tmx_table_check(ledger, err) && tmx_table_rows(ledger) > 0) {
        tmx_suite_save(s->call, ledger, "ledger.csv", err);
    }
    tmx_suite_write(&own, s->table, &s->values, brief, err);
    if (!err->code && !stopped && s->seeds > 1) {
        tmx_study_say_spread(&s->runs, runs_of_seed(s), runs, s->call->nudge,
                             s->call->format == TMX_FORMAT_TEXT ? stdout : stderr);
    }
    size_t n_failed = 0, first = 0;
    for (size_t t = s->runs.n_point; t-- > 0;) {
        n_failed += s->runs.error[t] != NULL;
        first = s->runs.error[t] ? t : first;
    }
    if (n_failed > 0 && !stopped) {
        const char *mix, *label;
        const struct choice *run = run_of(s, first % runs_of_seed(s), &mix, &label);
        tmx_error(err, TMX_ESOLVE, "%zu of %zu runs failed, the first (%s, %s): %s", n_failed,
                  s->runs.n_point, label, run->name, s->runs.error[first]);
    }
    tmx_table_destroy(ledger);
    tmx_table_destroy(brief);
}

void tmx_suite_tabs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite *s = calloc(1, sizeof *s);
    struct tmx_err later = {0};
    struct tmx_runs runs;
    if (!s) {
        tmx_no_memory(err);
        return;
    }
    s->call = call;
    s->values =
        (struct tmx_value_source){.ctx = s, .paper = s->paper, .policy = "BL", .n_seed = 1, .number = number};
    s->n_known = tmx_columns_of(&s->arena, columns, &s->known);
    tmx_arena_check(&s->arena, err);
    read_suite(s, err);
    if (!err->code) {
        s->values.n_seed = (size_t)s->seeds;
        s->values.fitted = s->fitted;
        make_head(s);
        tmx_table_check(s->table, err);
    } /* with policies of the call, values are printed of policies that do not run */
    if (call->n_policy == 0 || tmx_setting_member(call->root, "sets")) {
        tmx_values_read(&s->values, call->root, err);
    }
    read_sets(s, err);
    const bool sets = s->sets.n_point > 0;
    as_runs(s, &runs);
    sets && !err->code ? run_sets(s, err) : tmx_suite_values(call, &runs, "runs", &s->runs, err);
    const bool stopped = err->code == TMX_ESTOPPED && s->runs.value;
    if (!call->check && (!err->code || stopped)) {
        sets ? write_sets(s, &later) : write_suite(s, &runs, stopped, &later);
        (void)tmx_error_give(err, &later);
    }
    tmx_table_destroy(s->table);
    tmx_run_values_finish(&s->runs);
    tmx_values_finish(&s->values);
    tmx_sweep_finish(&s->sets);
    tmx_arena_finish(&s->arena);
    free(s);
}

const struct tmx_keys tmx_suite_keys[] = {TMX_KEYS("", root_opts),
                                          TMX_KEYS("policies", choice_opts),
                                          TMX_KEYS("variants", choice_opts),
                                          TMX_KEYS("beside", choice_opts),
                                          {0}};
