/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/gap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "limits/budget.h"
#include "limits/serve_bound.h"
#include "run/load/data.h"
#include "run/state.h"

const char *const tmx_gap_columns[TMX_N_GAP_CAUSE] = {
#define TMX_GAP_NAME(l, name) [l] = name,
    TMX_GAP_CAUSES(TMX_GAP_NAME)
#undef TMX_GAP_NAME
};

enum tmx_status tmx_gap_init(struct tmx_gap *j, const struct tmx_run *run, const struct tmx_bound_options *o,
                             struct tmx_err *err)
{
    *j = (struct tmx_gap){.options = *o};
    j->options.uniform = o->uniform || run->bound_options.uniform;
    j->options.one_level = o->one_level || run->bound_options.one_level;
    j->options.sm_leak = fmin(o->sm_leak, run->bound_options.sm_leak);
    j->options.limit_k = o->limit_k > 0 ? o->limit_k : tmx_sim_trip_k(tmx_run_sim(run));
    enum tmx_status st = isfinite(j->options.limit_k)
                             ? TMX_OK
                             : tmx_fail(err, TMX_EUNSUPPORTED,
                                        "no bound here: nothing limits the temperature; --limit C does");
    st = st ? st : tmx_work_init(&j->work, run, err);
    st = st ? st : tmx_plan_chip_init(&j->chip, run, 0, tmx_run_fastest_air(run), err);
    st = st ? st : tmx_bound_init(&j->bound, &j->chip, &j->work, &j->options, err);
    struct tmx_arena *arena = &j->bound.arena; /* which ends with the bound */
    TMX_TAKE(arena, j->averages.sum, j->bound.lp.n_col);
    TMX_TAKE(arena, j->averages.busy, j->bound.n_kernel * j->bound.n_level * j->bound.n_sm);
    return st || !arena->failed ? st : tmx_fail(err, TMX_ENOMEM, "ledger");
}

void tmx_gap_finish(struct tmx_gap *j)
{
    tmx_bound_finish(&j->bound);
    tmx_work_finish(&j->work);
    tmx_plan_chip_finish(&j->chip);
    *j = (struct tmx_gap){0};
}

static void add(size_t n, double ticks, const double *restrict v, double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += ticks * v[i];
    }
}

void tmx_gap_tick(void *gap, const struct tmx_sim *sim)
{
    struct tmx_gap *j = gap;
    const struct tmx_machine *m = sim->machine;
    const struct tmx_bound *b = &j->bound;
    double *sum = j->averages.sum;
    if (!m->counting) {
        return;
    }
    const double ticks = (double)sim->span;
    j->averages.n_tick += sim->span;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        sum[b->y0 + gpu->level] += ticks;
        for (size_t way = 0; way < gpu->n_run; way++) {
            const size_t kernel = tmx_work_row(&j->work, m, gpu->run[way]);
            add(b->n_sm, ticks, &m->busy[tmx_machine_at(m, gpu->sm0, way)],
                &j->averages.busy[(kernel * b->n_level + gpu->level) * b->n_sm]);
        }
    }
}

static double box(const struct tmx_bound *b, const double *x, size_t from, size_t to)
{
    double s = 0;
    for (size_t c = from; c < to; c++) {
        s += b->reduced[c] * ((b->reduced[c] > 0 ? b->lp.hi[c] : b->lp.lo[c]) - x[c]);
    }
    return s;
}

static double rows(const struct tmx_bound *b, const double *x, size_t from, size_t to)
{
    double s = 0;
    for (size_t i = from; i < to; i++) {
        s += b->dual[i] * tmx_lp_slack(&b->lp, i, x);
    }
    return s;
}

void tmx_gap_losses(struct tmx_gap *j, const struct tmx_run *run, double pct[TMX_N_GAP_CAUSE])
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const struct tmx_bound *b = &j->bound;
    double busy_s = 0, done_sm_s = 0, *x = j->averages.sum;
    for (size_t i = 0; i < TMX_N_GAP_CAUSE; i++) {
        pct[i] = 0;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        busy_s += m->gpu[g].busy_s;
    }
    for (size_t i = 0; i < m->n_job; i++) {
        done_sm_s += m->job[i].done_sm_s;
    }
    if (busy_s <= 0 || j->averages.n_tick == 0) {
        return;
    }
    for (size_t c = 0; c < b->n_kernel * b->n_level; c++) { /* busy shares to the columns of the programme */
        for (size_t s = 0; s < b->n_sm; s++) {
            x[s * b->n_kernel * b->n_level + c] = j->averages.busy[c * b->n_sm + s];
        }
    }
    const struct tmx_recorder *r = tmx_run_sim(run)->recorder;
    for (size_t g = 0; g < m->n_gpu; g++) { /* temperatures and leakage have been summed by the recorder */
        for (size_t u = 0, u0 = m->gpu[g].unit0; u < b->n_unit; u++) {
            x[b->t0 + u] += r->sum_k[u0 + u];
            x[b->l0 + u] += r->leakage_j[u0 + u] / m->tick_s;
        }
    }
    const double gpu_ticks = (double)j->averages.n_tick * (double)m->n_gpu;
    for (size_t c = 0; c < b->speed_col; c++) { /* shares of the busy time; the rest, means over ticks */
        x[c] /= c < b->y0 ? busy_s / m->tick_s : gpu_ticks;
    }
    x[b->speed_col] = done_sm_s / (busy_s * (double)b->n_sm);
    pct[TMX_GAP_BOUND] = 100 * (1 - b->speed);
    pct[TMX_GAP_TOTAL] = 100 * (b->speed - x[b->speed_col]);
    pct[TMX_GAP_IDLE] = 100 * rows(b, x, b->sm_row0, b->clock_row);
    pct[TMX_GAP_LEVEL] = 100 * (rows(b, x, b->clock_row, b->work_row0) + box(b, x, 0, b->t0));
    pct[TMX_GAP_OVERHEAD] = 100 * rows(b, x, b->work_row0, b->heat_row0);
    pct[TMX_GAP_STORED] = 100 * rows(b, x, b->heat_row0, b->leak_row0);
    pct[TMX_GAP_LEAKAGE] =
        100 * (rows(b, x, b->leak_row0, b->leak_row0 + b->n_leak_row) + box(b, x, b->l0, b->speed_col));
    pct[TMX_GAP_HEADROOM] = 100 * (rows(b, x, b->limit_row0, b->lp.n_row) + box(b, x, b->t0, b->l0));
    pct[TMX_GAP_NOT_NEEDED] = 100 * box(b, x, b->speed_col, b->speed_col + 1);
}

/* ---- many runs: a probe beside them ---- */

enum { HEADROOM = TMX_N_GAP_CAUSE, N_COLUMN };

/* Names of the losses, then ours. */
static const char *const columns[N_COLUMN] = {
#define TMX_GAP_NAME(l, name) [l] = name,
    TMX_GAP_CAUSES(TMX_GAP_NAME)
#undef TMX_GAP_NAME
        [HEADROOM] = "headroom_w",
};

struct ledger {
    struct tmx_gap judge;
    bool judged; /* there is a bound */
};

/* Watts of dynamic power that a GPU with all SMs at work could draw for ever at the hardware's limit and the
 * nominal voltage, less what it drew, mean over the counted time and GPUs. NAN: no power is safe, or it is
 * unknown. */
static double headroom_w(const struct tmx_run *run)
{
    const struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_machine *m = sim->machine;
    const struct tmx_budget_call call = {tmx_sim_trip_k(sim), 1};
    const double time_s = tmx_sim_time_s(sim);
    struct tmx_plan_chip c = {0};
    struct tmx_err none = {0};
    double watt = NAN;
    if (!isfinite(call.limit_k) || !(time_s > 0)) {
        return NAN;
    }
    double drawn_w = 0;
    for (size_t u = 0; u < sim->recorder->n_unit; u++) {
        drawn_w += sim->recorder->dynamic_j[u] / (time_s * (double)m->n_gpu);
    }
    for (size_t g = 1; g < m->n_gpu; g++) {
        if (m->gpu[g].chip != m->gpu[0].chip) {
            return NAN;
        }
    }
    enum tmx_status st = tmx_plan_chip_init(&c, run, 0, tmx_run_fastest_air(run), &none);
    bool *on = st ? NULL : malloc(c.n_sm * sizeof *on);
    if (on) {
        memset(on, 1, c.n_sm * sizeof *on);
        st = tmx_budget_of(&c, &call, on, &watt, NULL, &none);
        watt = st ? NAN : (double)c.n_sm * watt - drawn_w;
    }
    free(on);
    tmx_plan_chip_finish(&c);
    return watt;
}

static void end(void *state)
{
    struct ledger *l = state;
    if (l) {
        tmx_gap_finish(&l->judge);
        free(l);
    }
}

static void *open_solved(void *ctx)
{
    (void)ctx;
    struct tmx_lp_cache *s = NULL;
    struct tmx_err none = {0};
    return tmx_lp_cache_create(&s, &none) ? NULL : s;
}

static void close_solved(void *kept)
{
    tmx_lp_cache_destroy(kept);
}

static void *begin(void *kept, const struct tmx_run *run, struct tmx_observer *observer)
{
    struct ledger *l = calloc(1, sizeof *l);
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1, .solved = kept};
    if (l && tmx_run_sim(run)->machine->n_gpu == 1 &&
        tmx_gap_init(&l->judge, run, &options, &none) == TMX_OK) {
        l->judged = true;
        *observer = (struct tmx_observer){.ctx = &l->judge, .tick = tmx_gap_tick};
    }
    return l;
}

static void read(void *state, const struct tmx_run *run, double *value)
{
    struct ledger *l = state;
    if (l->judged) {
        tmx_gap_losses(&l->judge, run, value);
    }
    value[HEADROOM] = headroom_w(run);
}

const struct tmx_probe tmx_gap_probe = {.n = N_COLUMN,
                                        .column = columns,
                                        .open = open_solved,
                                        .close = close_solved,
                                        .begin = begin,
                                        .read = read,
                                        .end = end};

/* ---- the table of `thermix bound` ---- */

enum { MAX_SET = 512, MAX_MIX = 512 };

/* Where a mix stands alone, it runs on the machine whose bounds the documentation quotes. */
static const char mix_suite[] = "tabs-knobs";

struct bound_rows {
    const struct tmx_bound_call *call;
    char path[TMX_PATH_SIZE]; /* of the suite */
    struct tmx_table *table;
    size_t n_level;
    double sum[2]; /* bound_pct, feasible_pct */
    size_t n;
    struct tmx_err *err; /* of the first failure */
};

static void bound_run(struct bound_rows *r, const struct tmx_run *run, const char *variant)
{
    struct tmx_bound_options o = {.limit_k = !isnan(r->call->limit_c) ? r->call->limit_c + TMX_ZERO_C
                                                                      : tmx_sim_trip_k(tmx_run_sim(run)),
                                  .uniform = r->call->uniform,
                                  .one_level = r->call->one_level,
                                  .sm_leak = r->call->sm_leak > 0 ? r->call->sm_leak : 1};
    struct tmx_gap j;
    struct tmx_err why = {0};
    double feasible = 1, peak_k = 0;
    if (!tmx_gap_init(&j, run, &o, &why) &&
        !tmx_bound_steady_peak(&j.bound, &j.chip, &j.work, 1, &peak_k, &why) &&
        !tmx_bound_feasible(&feasible, &j.chip, &j.work, &j.options, &why)) {
        const double bound_pct = 100 * (1 - j.bound.speed), feasible_pct = 100 * (1 - feasible);
        if (!r->table) {
            r->n_level = j.bound.n_level;
            r->table =
                tmx_table_of("mix bound_pct:3 certificate:-1 feasible_pct:3 limit_c:2 steady_peak_c:3");
            for (size_t v = 0; v < j.bound.n_level; v++) {
                char name[24];
                snprintf(name, sizeof name, "level%zu_share", v);
                tmx_table_extend(r->table, name, TMX_COLUMN_REAL, 3);
            }
            tmx_table_extend(r->table, "variant", TMX_COLUMN_TEXT, 0);
        }
        tmx_table_row(r->table, "%s %g %g %g %g %G", tmx_run_mix_name(run), bound_pct, j.bound.certificate,
                      feasible_pct, j.options.limit_k - TMX_ZERO_C, peak_k - TMX_ZERO_C);
        for (size_t v = 0; v < r->n_level; v++) {
            tmx_table_real_or_empty(r->table,
                                    v < j.bound.n_level ? fmax(0, tmx_bound_level_share(&j.bound, v)) : NAN);
        }
        tmx_table_text(r->table, variant);
        r->sum[0] += bound_pct;
        r->sum[1] += feasible_pct;
        r->n++;
    } else if (why.code == TMX_EUNSUPPORTED) { /* whose bound there is not */
        tmx_error(r->err, why.code, "%s%s%s: %s", tmx_run_mix_name(run), variant[0] ? ", " : "", variant,
                  why.msg);
    }
    if (!r->err->code) {
        tmx_error_give(r->err, &why);
    }
    tmx_gap_finish(&j);
}

/* The run of the path, or the base of its suite, with these settings, which end here. */
static void bound_file(struct bound_rows *r, struct tmx_sets *sets, bool suite, const char *variant)
{
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    if (!r->err->code && !tmx_sets_join(sets, r->call->sets, suite ? "" : "base.", r->err) &&
        !tmx_config_load(&cfg, r->path, sets, r->err)) {
        const struct tmx_setting *base = suite ? tmx_config_find(cfg, "base") : tmx_config_root(cfg);
        if (!base) {
            tmx_error_at(r->err, TMX_ECONFIG, r->path, 0, "missing base = { ... }");
        } else if (!tmx_run_create(&run, base, r->err)) {
            bound_run(r, run, variant);
        }
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_sets_finish(sets);
}

/* One mix, asked for by a suite or (NULL) on the command line, under one variant of the suite, with its first
 * policy, a name or a group, on which the bound does not depend. */
static void bound_mix(struct bound_rows *r, const char *mix, const struct tmx_setting *asked,
                      const struct tmx_setting *policy, const struct tmx_setting *variant)
{
    const struct tmx_setting *list = NULL;
    const char *name = "", *preset = policy ? tmx_setting_text(policy) : NULL;
    struct tmx_sets sets = {0};
    enum tmx_status st = variant ? tmx_setting_texts(variant, "set", 0, MAX_SET, &list, r->err) : TMX_OK;
    st = st || !variant ? st : tmx_setting_word(variant, "name", "", &name, r->err);
    if (policy && !preset) { /* whose options a variant may set */
        st = st ? st : tmx_setting_word(policy, "name", "", &preset, r->err);
        st = st ? st : tmx_setting_word(policy, "policy", preset, &preset, r->err);
    }
    st = st ? st
            : tmx_sets_put(&sets, "base.mix", TMX_TEXT_VALUE(mix), tmx_setting_file(asked),
                           tmx_setting_line(asked), r->err);
    st = st || !preset ? st
                       : tmx_sets_put(&sets, "base.policy", TMX_TEXT_VALUE(preset), tmx_setting_file(policy),
                                      tmx_setting_line(policy), r->err);
    st = st ? st : tmx_sets_add_list(&sets, "base.", list, r->err);
    if (st) {
        tmx_sets_finish(&sets);
        return;
    }
    bound_file(r, &sets, true, name);
}

static void whole_suite(struct bound_rows *r)
{
    const struct tmx_setting *variants = NULL, *mixes = NULL, *policies = NULL;
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_config_load(&cfg, r->path, NULL, r->err);
    const struct tmx_setting *root = st ? NULL : tmx_config_root(cfg);
    st = st ? st : tmx_setting_list(root, "variants", 0, MAX_MIX, &variants, r->err);
    st = st ? st : tmx_setting_texts(root, "mixes", 0, MAX_MIX, &mixes, r->err);
    st = st ? st : tmx_setting_list(root, "policies", 0, MAX_MIX, &policies, r->err);
    if (!st && tmx_setting_length(mixes) == 0) {
        tmx_error_at(r->err, TMX_ECONFIG, r->path, 0,
                     "no bound for this kind of suite: it has no list mixes");
    }
    for (size_t v = 0; (v < tmx_setting_length(variants) || v == 0) && !r->err->code; v++) {
        const struct tmx_setting *variant = tmx_setting_at(variants, v);
        const char *name = "";
        for (size_t i = 0; i < tmx_setting_length(mixes) && !r->err->code; i++) {
            const struct tmx_setting *mix = tmx_setting_at(mixes, i);
            bound_mix(r, tmx_setting_text(mix), mix, tmx_setting_at(policies, 0), variant);
        }
        if (!r->err->code && (!variant || !tmx_setting_word(variant, "name", "", &name, r->err))) {
            if (r->n >= 2) { /* of the rows since the last mean */
                tmx_table_row(r->table, "%s %g - %g", "mean", r->sum[0] / (double)r->n,
                              r->sum[1] / (double)r->n);
                for (size_t i = 0; i < 2 + r->n_level; i++) {
                    tmx_table_empty(r->table);
                }
                tmx_table_text(r->table, name);
                r->sum[0] = r->sum[1] = 0;
            }
            r->n = 0;
        }
    }
    tmx_config_close(cfg);
}

/* The file of a run or suite that serves a language model. */
static bool serves(const char *what, char path[TMX_PATH_SIZE])
{
    static const enum tmx_data kinds[] = {TMX_DATA_SUITE, TMX_DATA_RUN};
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        struct tmx_config *cfg = NULL;
        struct tmx_err none = {0};
        found = tmx_data_find(kinds[i], what, path, &none) == TMX_OK &&
                tmx_config_load(&cfg, path, NULL, &none) == TMX_OK && tmx_serve_has(tmx_config_root(cfg));
        tmx_config_close(cfg);
    }
    return found;
}

enum tmx_status tmx_bound_table(struct tmx_table **t, const char *what, const struct tmx_bound_call *call,
                                struct tmx_err *err)
{
    struct tmx_err own = {0}, none = {0};
    struct bound_rows r = {.call = call, .err = &own};
    char path[TMX_PATH_SIZE];
    if (serves(what, path)) {
        return tmx_serve_table(t, path, call, err);
    }
    if (call->reached || call->tbt_s > 0) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "--reached and --tbt are for runs and suites that serve a language model; %s does not", what);
    }
    struct tmx_sets sets = {0};
    const bool suite = !tmx_data_find(TMX_DATA_SUITE, what, r.path, &none),
               mix = !tmx_data_find(TMX_DATA_MIX, what, path, &none),
               run = !suite && (!mix || !tmx_data_is_path(TMX_DATA_RUN, what)) &&
                     !tmx_data_find(TMX_DATA_RUN, what, r.path, &none); /* also where a mix has its name */
    if (suite) {
        whole_suite(&r);
    } else if (run) {
        bound_file(&r, &sets, false, "");
    } else if (!mix) {
        tmx_error(&own, TMX_EIO, "\"%s\" is neither a suite nor a mix nor a run; `thermix list` names them",
                  what);
    } else if (!tmx_data_find(TMX_DATA_SUITE, mix_suite, r.path, &own)) {
        bound_mix(&r, what, NULL, NULL, NULL);
    }
    *t = r.table;
    return tmx_error_give(err, &own);
}
