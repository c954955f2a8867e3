/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of `thermix bound` for a language model: the bound of each variant, and what policies reach. */
#include <math.h>

#include "base/config.h"
#include "limits/gap.h"
#include "limits/serve_bound.h"
#include "run/registry.h"
#include "run/state.h"

enum { MAX_SET = 512, MAX_LIST = 512 };

bool tmx_serve_has(const struct tmx_setting *root)
{
    const struct tmx_setting *base = tmx_setting_member(root, "base");
    return tmx_setting_member(root, "serve") || (base && tmx_setting_member(base, "serve"));
}

struct rows {
    const char *path;
    const struct tmx_bound_call *call;
    struct tmx_table *table;
};

static enum tmx_status bound_one(struct rows *r, const struct tmx_sets *sets, const char *base,
                                 const char *variant, const char *policy, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL, *look = NULL;
    struct tmx_serve_bound b;
    struct tmx_serve_bound_options o = {.die_k = !isnan(r->call->limit_c) ? r->call->limit_c + TMX_ZERO_C : 0,
                                        .tbt_s = r->call->tbt_s};
    enum tmx_status st = tmx_config_load(&cfg, r->path, sets, err);
    const struct tmx_setting *root = st ? NULL : base ? tmx_config_find(cfg, base) : tmx_config_root(cfg);
    st = st ? st
            : tmx_run_describe_with(&look, root, &tmx_builtin_check, NULL,
                                    err); /* before its thermal models are made */
    st = st ? st : tmx_serve_bound_check(look, err);
    tmx_run_destroy(look);
    st = st ? st : tmx_run_create(&run, root, err);
    st = st || !r->call->reached ? st : tmx_run_execute(run, NULL, err);
    if (!st && r->call->reached && o.tbt_s <= 0) {
        o.tbt_s = tmx_serve_mean_tbt_s(run);
    }
    st = st ? st : tmx_serve_bound(&b, run, &o, err);
    if (!st) {
        tmx_table_row(r->table, "%s %s %g %g %g %G %G %G %G", variant, policy, b.tokens_per_s,
                      b.requests_per_s, b.certificate, b.die_k - TMX_ZERO_C, b.memory_k - TMX_ZERO_C, b.row_w,
                      b.tbt_s);
        for (int i = 0; i < TMX_N_SERVE_LIMIT; i++) {
            tmx_table_real(r->table, b.gain_pct[i]);
        }
        tmx_table_row(r->table, "%g %g %g", 100 * b.busy, b.clock, b.batch);
    }
    if (!st && r->call->reached) {
        const struct tmx_recorder *rec = tmx_run_sim(run)->recorder;
        const double tokens_per_s = tmx_run_serving(run).tokens_per_s;
        double memory_k = 0;
        for (size_t g = 0; g < run->n_gpu; g++) {
            memory_k = fmax(memory_k, rec->memory_k[g]);
        }
        tmx_table_row(r->table, "%g %g %g %G %G %g", tokens_per_s, 100 * tokens_per_s / b.tokens_per_s,
                      tmx_run_serve_quantile(run, TMX_SERVE_TTFT, -1, 0.99),
                      run->serve->spec.options.heat ? rec->peak_sm_k - TMX_ZERO_C : NAN,
                      memory_k > 0 ? memory_k - TMX_ZERO_C : NAN, tmx_serve_mean_row_w(run));
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    return st;
}

/* A variant under a policy of the suite; NULL: neither. */
static enum tmx_status bound_pair(struct rows *r, const struct tmx_setting *variant,
                                  const struct tmx_setting *policy, struct tmx_err *err)
{
    const struct tmx_setting *const from[2] = {variant, policy};
    const char *name[2] = {"", ""}, *preset = NULL;
    struct tmx_sets sets = {0};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < 2 && !st && from[i]; i++) {
        const struct tmx_setting *list = NULL;
        const char *text = tmx_setting_text(from[i]);
        if (text) { /* a policy by its name alone */
            name[i] = preset = text;
            continue;
        }
        st = tmx_setting_word(from[i], "name", "", &name[i], err);
        st = st || i == 0 ? st : tmx_setting_word(from[i], "policy", name[i], &preset, err);
        st = st ? st : tmx_setting_texts(from[i], "set", 0, MAX_SET, &list, err);
        st = st ? st : tmx_sets_add_list(&sets, "base.", list, err);
    }
    st = st || !preset ? st
                       : tmx_sets_put(&sets, "base.policy", TMX_TEXT_VALUE(preset), tmx_setting_file(policy),
                                      tmx_setting_line(policy), err);
    st = st ? st : tmx_sets_join(&sets, r->call->sets, "", err);
    st = st ? st : bound_one(r, &sets, "base", name[0], r->call->reached ? name[1] : "", err);
    tmx_sets_finish(&sets);
    return st;
}

static enum tmx_status bound_suite(struct rows *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *variants = NULL, *policies = NULL;
    enum tmx_status st = tmx_setting_list(root, "variants", 0, MAX_LIST, &variants, err);
    st = st ? st : tmx_setting_list(root, "policies", 0, MAX_LIST, &policies, err);
    const size_t n_policy =
        r->call->reached && tmx_setting_length(policies) ? tmx_setting_length(policies) : 1;
    const size_t n_variant = tmx_setting_length(variants) ? tmx_setting_length(variants) : 1;
    for (size_t i = 0; i < n_variant * n_policy && !st; i++) {
        st = bound_pair(r, tmx_setting_at(variants, i / n_policy), tmx_setting_at(policies, i % n_policy),
                        err);
        if (r->call->run_done) {
            r->call->run_done(r->call->run_done_to, i + 1, n_variant * n_policy);
        }
    }
    return st;
}

enum tmx_status tmx_serve_table(struct tmx_table **t, const char *path, const struct tmx_bound_call *call,
                                struct tmx_err *err)
{
#define BOUND                                                                                     \
    "variant policy bound_tokens_per_s:1 bound_requests_per_s:4 certificate:-1 die_limit_c:2 "    \
    "memory_limit_c:2 "                                                                           \
    "row_limit_w:0 tbt_limit_s:4 gain_die_pct:2 gain_memory_pct:2 gain_row_pct:2 gain_tbt_pct:2 " \
    "gain_time_pct:2 busy_pct:1 clock:3 batch:1"
    static const char bound[] = BOUND, reached[] = BOUND " tokens_per_s:1 reached_pct:1 ttft_p99_s:3 "
                                                         "peak_temp_c:1 peak_memory_c:1 row_mean_w:0";
    struct rows r = {.path = path, .call = call};
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, err);
    r.table = st ? NULL : tmx_table_of(call->reached ? reached : bound);
    st = st ? st : tmx_table_check(r.table, err);
    if (!st && tmx_setting_member(tmx_config_root(cfg), "base")) {
        st = bound_suite(&r, tmx_config_root(cfg), err);
    } else if (!st) {
        struct tmx_sets sets = {0};
        st = tmx_sets_join(&sets, call->sets, "base.", err);
        st = st ? st : bound_one(&r, &sets, NULL, "", "", err);
        tmx_sets_finish(&sets);
    }
    tmx_config_close(cfg);
    *t = r.table;
    return st;
}
