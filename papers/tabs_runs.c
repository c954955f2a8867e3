/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a suite of mixes x policies (x variants) runs: its lists as its file gives them, and the overrides of
 * each of its runs. */
#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/machine/mix.h"
#include "papers/tabs_runs.h"
#include "run/load/data.h"

enum { MAX_SETS = 10000 };

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_tabs_suite, baseline, "BL", "policy the improvements are over"),
    TMX_ROW_TEXT(tmx_tabs_suite, compare, "DVFS", "second policy the improvements are over"),
    TMX_ROW_TEXT(tmx_tabs_suite, paper, "", "number of the paper whose values are in `values`"),
    {0},
};
static const char *const root_also[] = {"name",     "kind",     "doc",    "source", "base", "mixes",
                                        "policies", "variants", "values", "beside", NULL};

static const struct tmx_opt choice_opts[] = {
    TMX_ROW_TEXT(tmx_tabs_choice, name, NULL, "name in the table"),
    TMX_ROW_TEXT(tmx_tabs_choice, policy, "", "preset; default: the name"),
    TMX_ROW_TEXT(tmx_tabs_choice, mix, "",
                 "of a run beside the mixes; of a variant, in place of the one mix"),
    {0},
};

size_t tmx_tabs_runs(const struct tmx_tabs_suite *s) /* of one variant */
{
    return s->n_mix * s->n_policy + s->n_beside;
}

size_t tmx_tabs_task(const struct tmx_tabs_suite *s, size_t variant, size_t mix, size_t policy)
{
    const size_t n = s->n_mix * s->n_policy;
    return variant * tmx_tabs_runs(s) + (mix < s->n_mix ? mix * s->n_policy + policy : n + mix - s->n_mix);
}

const char *tmx_tabs_label(const struct tmx_tabs_suite *s, size_t variant, size_t mix)
{
    return s->variant[variant].mix[0] ? s->variant[variant].mix : s->mix_name[mix];
}

/* What a task runs; the other way round. */
const struct tmx_tabs_choice *tmx_tabs_run(const struct tmx_tabs_suite *s, size_t task, const char **mix,
                                           const char **label)
{
    const size_t i = task % tmx_tabs_runs(s), n = s->n_mix * s->n_policy;
    const struct tmx_tabs_choice *c = i < n ? &s->policy[i % s->n_policy] : &s->beside[i - n],
                                 *v = &s->variant[task / tmx_tabs_runs(s)];
    *mix = i >= n ? c->mix : v->mix[0] ? v->mix : s->mix[i / s->n_policy];
    *label = i < n ? tmx_tabs_label(s, task / tmx_tabs_runs(s), i / s->n_policy) : c->name;
    return c;
}

/* key: policies or variants */
static enum tmx_status read_choices(const struct tmx_setting *root, const char *key, size_t least,
                                    struct tmx_tabs_choice *c, size_t *n, struct tmx_err *err)
{
    static const char *const also[] = {"set", NULL};
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_list(root, key, least, TMX_TABS_LIST, &list, err);
    st = st ? st : tmx_setting_unique(list, "name", err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *name = tmx_setting_text(e);
        c[i] = (struct tmx_tabs_choice){0};
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
static enum tmx_status check_own_mix(const struct tmx_tabs_suite *s, const char *key,
                                     const struct tmx_tabs_choice *c, size_t n, struct tmx_err *err)
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

static enum tmx_status read_mixes(struct tmx_tabs_suite *s, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(s->call->root, "mixes", 1, TMX_TABS_LIST, &list, err);
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

size_t tmx_tabs_policy(const struct tmx_tabs_suite *s, const char *name)
{
    size_t i = 0;
    while (i < s->n_policy && strcmp(s->policy[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* The call's policies, and those of the suite that it compares with. */
static enum tmx_status select_policies(struct tmx_tabs_suite *s, struct tmx_err *err)
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
        struct tmx_tabs_choice *c = &s->policy[s->n_policy];
        if (tmx_tabs_policy(s, call->policy[i]) < s->n_policy) {
            continue;
        }
        if (s->n_policy == TMX_TABS_LIST || strlen(call->policy[i]) >= sizeof c->policy) {
            return tmx_fail(err, TMX_ECONFIG, "--policy %s: not the name of a policy", call->policy[i]);
        }
        *c = (struct tmx_tabs_choice){0};
        snprintf(c->name, sizeof c->name, "%s", call->policy[i]);
        snprintf(c->policy, sizeof c->policy, "%s", call->policy[i]);
        s->n_policy++;
    }
    return TMX_OK;
}

/* Before anything runs: a name that is misspelt would be an empty column. */
static enum tmx_status check_names(const struct tmx_tabs_suite *s, struct tmx_err *err)
{
    static const char *const keys[] = {"baseline", "compare"};
    for (size_t i = 0; i < 2; i++) {
        const struct tmx_setting *given = tmx_setting_member(s->call->root, keys[i]);
        if (given && tmx_tabs_policy(s, tmx_setting_text(given)) == s->n_policy) {
            return tmx_fail_setting(err, given, "%s = \"%s\": not among the suite's policies", keys[i],
                                    tmx_setting_text(given));
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_tabs_read(struct tmx_tabs_suite *s, struct tmx_err *err)
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

/* The overrides of one task: the mix and policy, its variant's, its policy's, the user's last. */
static enum tmx_status sets_of(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct tmx_tabs_suite *s = ctx;
    const char *mix, *label;
    const struct tmx_tabs_choice *v = &s->variant[task / tmx_tabs_runs(s)],
                                 *p = tmx_tabs_run(s, task, &mix, &label);
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
    const struct tmx_tabs_suite *s = ctx;
    const char *mix, *label;
    const struct tmx_tabs_choice *run = tmx_tabs_run(s, task, &mix, &label);
    const bool beside = task % tmx_tabs_runs(s) >= s->n_mix * s->n_policy;
    snprintf(text, TMX_PARAMETER_SIZE, "\"%s\"",
             key == 0   ? label
             : key == 1 ? (beside ? run->policy : run->name)
                        : s->variant[task / tmx_tabs_runs(s)].name);
}

void tmx_tabs_as_runs(const struct tmx_tabs_suite *s, struct tmx_runs *runs)
{
    static const char *const keys[] = {"mix", "policy", "variant"};
    *runs = tmx_suite_runs(s->call);
    runs->n_point = s->n_variant * tmx_tabs_runs(s);
    runs->n_key = s->n_variant > 1 ? 3 : 2;
    runs->key = keys;
    runs->ctx = s;
    runs->sets = sets_of;
    runs->value = value_of;
    runs->probe = s->call->probe;
}
