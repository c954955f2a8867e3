/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/bound_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "limits/gap.h"
#include "run/load/data.h"

enum { MAX_SET = 512, N_BEFORE = 6, MAX_MIX = 512 };

/* Where a mix stands alone, it runs on the machine whose bounds the documentation quotes. */
static const char mix_suite[] = "tabs-h";

struct rows {
    const struct tmx_bound_call *call;
    char path[TMX_PATH_SIZE]; /* of the suite */
    struct tmx_table *table;
    size_t n_level;
    double sum[2]; /* bound_pct, feasible_pct */
    size_t n;
};

static enum tmx_status make_table(struct rows *r, size_t n_level, struct tmx_err *err)
{
    struct tmx_column c[N_BEFORE + TMX_MAX_LEVEL + 1] = {
        {"mix", TMX_COLUMN_TEXT, 0},          {"bound_pct", TMX_COLUMN_REAL, 3},
        {"certificate", TMX_COLUMN_REAL, -1}, {"feasible_pct", TMX_COLUMN_REAL, 3},
        {"limit_c", TMX_COLUMN_REAL, 2},      {"steady_peak_c", TMX_COLUMN_REAL, 3}};
    char name[TMX_MAX_LEVEL][24];
    for (size_t v = 0; v < n_level; v++) {
        snprintf(name[v], sizeof name[v], "level%zu_share", v);
        c[N_BEFORE + v] = (struct tmx_column){name[v], TMX_COLUMN_REAL, 3};
    }
    c[N_BEFORE + n_level] = (struct tmx_column){"variant", TMX_COLUMN_TEXT, 0};
    r->n_level = n_level;
    return tmx_table_create(&r->table, c, N_BEFORE + n_level + 1, err);
}

static void add_row(struct rows *r, const struct tmx_run *run, const struct tmx_gap *j,
                    const struct tmx_bound_options *o, double feasible, double peak_k, const char *variant)
{
    const double bound_pct = 100 * (1 - j->bound.speed), feasible_pct = 100 * (1 - feasible);
    tmx_table_text(r->table, tmx_run_mix_name(run));
    tmx_table_real(r->table, bound_pct);
    tmx_table_real(r->table, j->bound.certificate);
    tmx_table_real(r->table, feasible_pct);
    tmx_table_real(r->table, o->limit_k - TMX_ZERO_C);
    isfinite(peak_k) ? tmx_table_real(r->table, peak_k - TMX_ZERO_C) : tmx_table_empty(r->table);
    for (size_t v = 0; v < r->n_level; v++) {
        v < j->bound.n_level ? tmx_table_real(r->table, fmax(0, tmx_bound_level_share(&j->bound, v)))
                             : tmx_table_empty(r->table);
    }
    tmx_table_text(r->table, variant);
    r->sum[0] += bound_pct;
    r->sum[1] += feasible_pct;
    r->n++;
}

/* Of the rows since the last mean. */
static void add_mean(struct rows *r, const char *variant)
{
    if (r->n < 2) {
        r->n = 0;
        return;
    }
    tmx_table_text(r->table, "mean");
    tmx_table_real(r->table, r->sum[0] / (double)r->n);
    tmx_table_empty(r->table);
    tmx_table_real(r->table, r->sum[1] / (double)r->n);
    for (size_t i = 0; i < 2 + r->n_level; i++) {
        tmx_table_empty(r->table);
    }
    tmx_table_text(r->table, variant);
    r->n = 0;
    r->sum[0] = r->sum[1] = 0;
}

static enum tmx_status bound_run(struct rows *r, const struct tmx_run *run, const char *variant,
                                 struct tmx_err *err)
{
    struct tmx_bound_options o = {.limit_k = r->call->has_limit ? r->call->limit_c + TMX_ZERO_C
                                                                : tmx_sim_trip_k(tmx_run_sim_const(run)),
                                  .uniform = r->call->uniform,
                                  .one_level = r->call->one_level,
                                  .sm_leak = r->call->sm_leak > 0 ? r->call->sm_leak : 1};
    struct tmx_gap j;
    double feasible = 1, peak_k = 0;
    enum tmx_status st = tmx_gap_init(&j, run, &o, err);
    o = j.options;
    st = st || r->table ? st : make_table(r, j.bound.n_level, err);
    st = st ? st : tmx_bound_steady_peak(&j.bound, &j.chip, &j.work, &peak_k, err);
    st = st ? st : tmx_bound_feasible(&feasible, &j.chip, &j.work, &o, err);
    if (!st) {
        add_row(r, run, &j, &o, feasible, peak_k, variant);
    }
    tmx_gap_finish(&j);
    return st;
}

/* A policy of a suite, whose options a variant may set: a name, or a group. */
static enum tmx_status policy_of(const struct tmx_setting *policy, const char **preset, struct tmx_err *err)
{
    *preset = policy ? tmx_setting_text(policy) : NULL;
    if (!policy || *preset) {
        return TMX_OK;
    }
    const enum tmx_status st = tmx_setting_word(policy, "name", "", preset, err);
    return st ? st : tmx_setting_word(policy, "policy", *preset, preset, err);
}

/* One mix, asked for by a suite or (NULL) on the command line, under one variant of the suite, with its first
 * policy, on which the bound does not depend. */
static enum tmx_status bound_mix(struct rows *r, const char *mix, const struct tmx_setting *asked,
                                 const struct tmx_setting *policy, const struct tmx_setting *variant,
                                 struct tmx_err *err)
{
    const struct tmx_setting *list = NULL;
    const char *name = "", *preset;
    enum tmx_status st = variant ? tmx_setting_texts(variant, "set", 0, MAX_SET, &list, err) : TMX_OK;
    st = st || !variant ? st : tmx_setting_word(variant, "name", "", &name, err);
    st = st ? st : policy_of(policy, &preset, err);
    if (st) {
        return st;
    }
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_sets sets = {0};
    st = tmx_sets_add(&sets, tmx_setting_file(asked), tmx_setting_line(asked), err, "base.mix=%s", mix);
    st = st || !preset ? st
                       : tmx_sets_add(&sets, tmx_setting_file(policy), tmx_setting_line(policy), err,
                                      "base.policy=%s", preset);
    st = st ? st : tmx_sets_add_list(&sets, list, "base.", err);
    for (size_t i = 0; i < r->call->n_set && !st; i++) {
        st = tmx_sets_add(&sets, NULL, 0, err, "%s", r->call->set[i]);
    }
    st = st ? st : tmx_sets_load(&cfg, r->path, &sets, err);
    if (!st) {
        const struct tmx_setting *base = tmx_config_find(cfg, "base");
        st = base ? tmx_run_create(&run, base, err)
                  : tmx_fail_at(err, TMX_ECONFIG, r->path, 0, "missing base = { ... }");
    }
    st = st ? st : bound_run(r, run, name, err);
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_sets_finish(&sets);
    return st;
}

static enum tmx_status all_mixes(struct rows *r, const struct tmx_setting *root,
                                 const struct tmx_setting *variant, struct tmx_err *err)
{
    const struct tmx_setting *mixes = NULL, *policies = NULL;
    enum tmx_status st = tmx_setting_texts(root, "mixes", 0, MAX_MIX, &mixes, err);
    st = st ? st : tmx_setting_list(root, "policies", 0, MAX_MIX, &policies, err);
    if (!st && tmx_setting_length(mixes) == 0) {
        st = tmx_fail_at(err, TMX_ECONFIG, r->path, 0,
                         "no bound for this kind of suite: it has no list mixes");
    }
    for (size_t i = 0; i < tmx_setting_length(mixes) && !st; i++) {
        const struct tmx_setting *mix = tmx_setting_at(mixes, i);
        st = bound_mix(r, tmx_setting_text(mix), mix, tmx_setting_at(policies, 0), variant, err);
    }
    const char *name = "";
    st = st || !variant ? st : tmx_setting_word(variant, "name", "", &name, err);
    if (!st) {
        add_mean(r, name);
    }
    return st;
}

static enum tmx_status whole_suite(struct rows *r, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_config_load(&cfg, r->path, NULL, 0, err);
    if (!st) {
        const struct tmx_setting *root = tmx_config_root(cfg);
        const struct tmx_setting *variants = NULL;
        st = tmx_setting_list(root, "variants", 0, MAX_MIX, &variants, err);
        for (size_t v = 0; (v < tmx_setting_length(variants) || v == 0) && !st; v++) {
            st = all_mixes(r, root, tmx_setting_at(variants, v), err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_bound_table(struct tmx_table **t, const char *what, const struct tmx_bound_call *call,
                                struct tmx_err *err)
{
    struct rows r = {.call = call};
    struct tmx_err none = {0};
    char mix_path[TMX_PATH_SIZE];
    enum tmx_status st;
    if (tmx_data_find(TMX_DATA_SUITE, what, r.path, &none) == TMX_OK) {
        st = whole_suite(&r, err);
    } else if (tmx_data_find(TMX_DATA_MIX, what, mix_path, &none) == TMX_OK) {
        st = tmx_data_find(TMX_DATA_SUITE, mix_suite, r.path, err);
        st = st ? st : bound_mix(&r, what, NULL, NULL, NULL, err);
    } else {
        st = tmx_fail(err, TMX_EIO, "\"%s\" is neither a suite nor a mix; `thermix list` names them", what);
    }
    *t = r.table;
    return st;
}
