/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "limits/budget.h"
#include "run/load/data.h"
#include "run/registry.h"
#include "run/state.h"

enum tmx_status tmx_gap_init(struct tmx_gap *j, const struct tmx_run *run, const struct tmx_bound_options *o,
                             struct tmx_err *err)
{
    *j = (struct tmx_gap){.options = *o};
    j->options.uniform = o->uniform || run->bound_options.uniform;
    j->options.one_level = o->one_level || run->bound_options.one_level;
    j->options.sm_leak = fmin(o->sm_leak, run->bound_options.sm_leak);
    j->options.limit_k = o->limit_k > 0 ? o->limit_k : tmx_sim_trip_k(tmx_run_sim(run));
    if (!isfinite(j->options.limit_k)) {
        tmx_error(err, TMX_EUNSUPPORTED, "no bound here: nothing limits the temperature; --limit C does");
    }
    (void)(err->code || tmx_work_init(&j->work, run, err) ||
           tmx_plan_chip_init(&j->chip, run, 0, tmx_run_fastest_air(run, 0), err) ||
           tmx_bound_init(&j->bound, &j->chip, &j->work, &j->options, err));
    struct tmx_arena *arena = &j->bound.arena; /* which ends with the bound */
    TMX_TAKE(arena, j->averages.sum, j->bound.lp.n_col);
    TMX_TAKE(arena, j->averages.busy, j->bound.n_kernel * j->bound.n_level * j->bound.n_sm);
    tmx_arena_check(arena, err);
    return err->code;
}

void tmx_gap_finish(struct tmx_gap *j)
{
    tmx_bound_finish(&j->bound);
    tmx_work_finish(&j->work);
    tmx_plan_chip_finish(&j->chip);
    *j = (struct tmx_gap){0};
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
            const double *restrict busy = &m->busy[tmx_machine_at(m, gpu->sm0, way)];
            double *restrict to = &j->averages.busy[(kernel * b->n_level + gpu->level) * b->n_sm];
            for (size_t i = 0; i < b->n_sm; i++) {
                to[i] += ticks * busy[i];
            }
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

static const char *const columns[N_COLUMN] = {
    [TMX_GAP_BOUND] = "bound_pct",
    [TMX_GAP_TOTAL] = "gap_pct",
    [TMX_GAP_IDLE] = "lost_idle_pct",
    [TMX_GAP_HEADROOM] = "lost_headroom_pct",
    [TMX_GAP_LEVEL] = "lost_level_pct",
    [TMX_GAP_LEAKAGE] = "lost_leakage_pct",
    [TMX_GAP_STORED] = "lost_stored_pct",
    [TMX_GAP_OVERHEAD] = "lost_overhead_pct",
    [TMX_GAP_NOT_NEEDED] = "lost_not_needed_pct",
    [HEADROOM] = "headroom_w",
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
    if (!tmx_plan_chip_init(&c, run, 0, tmx_run_fastest_air(run, 0), &none)) {
        watt = (double)c.n_sm * tmx_budget_of(&c, &call, NULL, NULL, &none) - drawn_w;
    }
    tmx_plan_chip_finish(&c);
    return watt;
}

static void end(void *state)
{
    if (state) {
        tmx_gap_finish(state);
        free(state);
    }
}

static void *open_solved(void *ctx)
{
    (void)ctx;
    return tmx_lp_cache_create();
}

static void *begin(void *kept, const struct tmx_run *run, struct tmx_observer *observer)
{
    struct tmx_gap *gap = calloc(1, sizeof *gap);
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1, .solved = kept};
    if (gap && tmx_run_sim(run)->machine->n_gpu == 1 && !tmx_gap_init(gap, run, &options, &none)) {
        *observer = (struct tmx_observer){.ctx = gap, .tick = tmx_gap_tick};
    } else if (gap) {
        tmx_gap_finish(gap); /* zeroed: there is no bound */
    }
    return gap;
}

static void read(void *state, const struct tmx_run *run, double *value)
{
    const struct tmx_gap *gap = state;
    if (gap->bound.n_sm > 0) {
        tmx_gap_losses(state, run, value);
    }
    value[HEADROOM] = headroom_w(run);
}

const struct tmx_probe tmx_gap_probe = {.n = N_COLUMN,
                                        .column = columns,
                                        .open = open_solved,
                                        .close = tmx_lp_cache_destroy,
                                        .begin = begin,
                                        .read = read,
                                        .end = end};

/* ---- the table ---- */

/* The table of `thermix bound`: a row for a run. Of a suite a row for each variant and mix, and the variant's
 * mean; where it serves a language model, for each variant and, with --reached, each policy. A bound does not
 * depend on the policy: without --reached the suite's first stands for all. */
enum { MOST = 512 }; /* entries of a suite's list, keys that one of them sets */

/* Where a mix stands alone, it runs on the machine whose bounds the documentation quotes. */
static const char mix_suite[] = "tabs-knobs";

struct bounds {
    const struct tmx_bound_call *call;
    char path[TMX_PATH_SIZE]; /* of the run or suite */
    bool serves;              /* a language model */
    struct tmx_table *table;
    size_t n_level; /* columns of shares */
    double sum[2];  /* bound_pct, feasible_pct of the n rows since the last mean */
    size_t n;
    struct tmx_err *err; /* of the first failure */
};

static void add_work(struct bounds *r, const struct tmx_run *run, const char *variant)
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

static void add_served(struct bounds *r, struct tmx_run *run, const char *variant, const char *policy)
{
    struct tmx_serve_bound b;
    struct tmx_serve_bound_options o = {.die_k = !isnan(r->call->limit_c) ? r->call->limit_c + TMX_ZERO_C : 0,
                                        .tbt_s = r->call->tbt_s};
    const bool reached = r->call->reached, heat = run->serve->spec.options.heat;
    if (!heat && !isnan(r->call->limit_c)) {
        tmx_error(r->err, TMX_ECONFIG, "--limit: serve.heat = false computes no temperatures");
        return;
    }
    if (reached && tmx_run_execute(run, NULL, r->err)) {
        return;
    }
    o.tbt_s = reached && o.tbt_s <= 0 ? tmx_serve_mean_tbt_s(run) : o.tbt_s;
    if (tmx_serve_bound(&b, run, &o, r->err)) {
        return;
    }
    tmx_table_row(r->table, "%s %s %g %g %g %G %G %G %G", variant, reached ? policy : "", b.tokens_per_s,
                  b.requests_per_s, b.certificate, heat ? b.die_k - TMX_ZERO_C : NAN,
                  heat ? b.memory_k - TMX_ZERO_C : NAN, b.row_w, b.tbt_s);
    for (int i = 0; i < TMX_N_SERVE_LIMIT; i++) {
        tmx_table_real(r->table, b.gain_pct[i]);
    }
    tmx_table_row(r->table, "%g %g %G", 100 * b.busy, b.clock, b.batch);
    if (reached) {
        const struct tmx_recorder *rec = tmx_run_sim(run)->recorder;
        const double tokens_per_s = tmx_run_serving(run).tokens_per_s;
        double memory_k = 0;
        for (size_t g = 0; g < run->n_gpu; g++) {
            memory_k = fmax(memory_k, rec->memory_k[g]);
        }
        tmx_table_row(r->table, "%g %g %g %G %G %g", tokens_per_s, 100 * tokens_per_s / b.tokens_per_s,
                      tmx_run_serve_quantile(run, TMX_SERVE_TTFT, -1, 0.99),
                      heat ? rec->peak_sm_k - TMX_ZERO_C : NAN, memory_k > 0 ? memory_k - TMX_ZERO_C : NAN,
                      tmx_serve_mean_row_w(run));
    }
}

/* A policy that is asked for where nothing depends on it. */
static void refuse_policy(const struct bounds *r, const struct tmx_run *run)
{
    if (!r->err->code && !r->call->reached && !run->options.measured_gains) {
        tmx_sets_refuse(r->call->sets, "policy place mix_policy dtm tb route row.policy",
                        "a bound holds for every policy and depends on none", r->err);
    }
}

/* The run of a file, or of a group of it under entries of the suite's lists; NULL: none. */
static void bound_run(struct bounds *r, const char *group, const char *mix, const struct tmx_setting *asked,
                      const struct tmx_setting *variant, const struct tmx_setting *policy)
{
    const struct tmx_setting *const entry[] = {variant, policy};
    const struct tmx_setting *list[] = {NULL, NULL};
    const char *name[] = {"", ""}, *preset = policy ? tmx_setting_text(policy) : NULL; /* its name alone */
    struct tmx_sets sets = {0};
    const struct tmx_run_how how = {.group = group, .sets = &sets},
                             only_look = {group, &sets, &tmx_builtin_check, .described = true};
    struct tmx_run *look = NULL, *run = NULL;
    if (mix) {
        tmx_sets_put(&sets, "base.mix", TMX_TEXT_VALUE(mix), tmx_setting_file(asked), tmx_setting_line(asked),
                     r->err);
    }
    name[1] = preset ? preset : "";
    for (size_t i = 0; i < 2; i++) {
        if (entry[i] && !tmx_setting_text(entry[i])) {
            name[i] = tmx_setting_word(entry[i], "name", "", r->err);
            preset = i == 0 ? preset : tmx_setting_word(policy, "policy", name[1], r->err);
            list[i] = tmx_setting_texts(entry[i], "set", 0, MOST, r->err);
        }
    }
    if (preset) {
        tmx_sets_put(&sets, "base.policy", TMX_TEXT_VALUE(preset), tmx_setting_file(policy),
                     tmx_setting_line(policy), r->err);
    }
    tmx_sets_add_list(&sets, "base.", list[0], r->err);
    tmx_sets_add_list(&sets, "base.", list[1], r->err);
    tmx_sets_join(&sets, r->call->sets, group ? "" : "base.", r->err);
    if (r->serves) { /* before its thermal models are made */
        tmx_run_load(&look, r->path, &only_look, r->err);
        refuse_policy(r, look);
        (void)(!r->err->code && tmx_serve_bound_check(look, r->err));
        tmx_run_destroy(look);
    }
    tmx_run_load(&run, r->path, &how, r->err);
    if (!r->serves) {
        refuse_policy(r, run);
    }
    if (!r->err->code) {
        r->serves ? add_served(r, run, name[0], name[1]) : add_work(r, run, name[0]);
    }
    tmx_run_destroy(run);
    tmx_sets_finish(&sets);
}

static void bound_suite(struct bounds *r, const struct tmx_setting *root)
{
    const struct tmx_setting *variants = tmx_setting_list(root, "variants", 0, MOST, r->err),
                             *mixes = r->serves ? NULL : tmx_setting_texts(root, "mixes", 0, MOST, r->err),
                             *policies = tmx_setting_list(root, "policies", 0, MOST, r->err);
    if (!r->serves && tmx_setting_length(mixes) == 0) {
        tmx_error_at(r->err, TMX_ECONFIG, r->path, 0,
                     "no bound for this kind of suite: it has no list mixes");
    }
    const size_t n_variant = tmx_setting_length(variants) ? tmx_setting_length(variants) : 1,
                 n_policy =
                     r->call->reached && tmx_setting_length(policies) ? tmx_setting_length(policies) : 1,
                 n = r->serves ? n_policy : tmx_setting_length(mixes); /* of a variant */
    for (size_t i = 0; i < n_variant * n && !r->err->code; i++) {
        const struct tmx_setting *variant = tmx_setting_at(variants, i / n);
        const struct tmx_setting *mix = tmx_setting_at(mixes, i % n);
        bound_run(r, "base", tmx_setting_text(mix), mix, variant,
                  tmx_setting_at(policies, r->serves ? i % n : 0));
        if (r->call->run_done && r->serves) {
            r->call->run_done(r->call->run_done_to, i + 1, n_variant * n);
        }
        if (r->serves || i % n < n - 1) {
            continue;
        }
        const char *name = tmx_setting_word(variant, "name", "", r->err);
        if (r->n >= 2 && !r->err->code) { /* the variant's mean */
            tmx_table_row(r->table, "%s %g - %g", "mean", r->sum[0] / (double)r->n, r->sum[1] / (double)r->n);
            for (size_t k = 0; k < 2 + r->n_level; k++) {
                tmx_table_empty(r->table);
            }
            tmx_table_text(r->table, name);
        }
        r->sum[0] = r->sum[1] = 0;
        r->n = 0;
    }
}

enum tmx_status tmx_bound_table(struct tmx_table **t, const char *what, const struct tmx_bound_call *call,
                                struct tmx_err *err)
{
#define BOUND                                                                                     \
    "variant policy bound_tokens_per_s:1 bound_requests_per_s:4 certificate:-1 die_limit_c:2 "    \
    "memory_limit_c:2 "                                                                           \
    "row_limit_w:0 tbt_limit_s:4 gain_die_pct:2 gain_memory_pct:2 gain_row_pct:2 gain_tbt_pct:2 " \
    "gain_time_pct:2 busy_pct:1 clock:3 batch:1"
    static const char bound[] = BOUND, reached[] = BOUND " tokens_per_s:1 reached_pct:1 ttft_p99_s:3 "
                                                         "peak_temp_c:1 peak_memory_c:1 row_mean_w:0";
    static const enum tmx_data kinds[] = {TMX_DATA_SUITE, TMX_DATA_RUN};
    struct tmx_err own = {0};
    struct bounds r = {.call = call, .err = &own};
    struct tmx_config *cfg = NULL;
    char path[TMX_PATH_SIZE];
    bool suite = false, of_mix = false, of_run = false; /* what the file of a path holds */
    for (size_t i = 0; i < 2 && !r.serves; i++) {
        struct tmx_err none = {0};
        if (!tmx_data_find(kinds[i], what, r.path, &none) && !tmx_config_load(&cfg, r.path, NULL, &none)) {
            const struct tmx_setting *root = tmx_config_root(cfg), *base = tmx_setting_member(root, "base");
            r.serves = tmx_setting_member(base ? base : root, "serve") != NULL;
            suite = r.serves && base;
            of_mix = tmx_data_is_path(kinds[i], what) &&
                     (tmx_setting_member(root, "kernels") || tmx_setting_member(root, "arrivals"));
            of_run = tmx_data_is_path(kinds[i], what) && tmx_setting_member(root, "mix");
        }
        tmx_config_close(cfg);
        cfg = NULL;
    }
    if (r.serves && (call->uniform || call->one_level || call->sm_leak > 0)) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "--uniform, --one-level and --sm-leak do nothing for %s, which serves a language model", what);
    }
    if (r.serves) {
        r.table = tmx_table_of(call->reached ? reached : bound);
    } else if (call->reached || call->tbt_s > 0) {
        return tmx_fail(
            err, TMX_ECONFIG,
            "--reached and --tbt are for runs and suites that serve a language model; %s does not", what);
    }
    suite = suite || (!r.serves && !of_mix && !of_run && !tmx_data_find(TMX_DATA_SUITE, what, r.path, NULL));
    const bool mix = !r.serves && !suite && !of_run && !tmx_data_find(TMX_DATA_MIX, what, path, NULL),
               run =
                   r.serves || (!suite && (!mix || !tmx_data_is_path(TMX_DATA_RUN, what)) &&
                                !tmx_data_find(TMX_DATA_RUN, what, r.path, NULL)); /* also of a mix's name */
    if (suite && !tmx_config_load(&cfg, r.path, NULL, &own)) {
        bound_suite(&r, tmx_config_root(cfg));
    } else if (!suite && run) {
        bound_run(&r, NULL, NULL, NULL, NULL, NULL);
    } else if (!suite && !mix) {
        tmx_error(&own, TMX_EIO, "\"%s\" is neither a suite nor a mix nor a run; `thermix list` names them",
                  what);
    } else if (!suite && !tmx_data_find(TMX_DATA_SUITE, mix_suite, r.path, &own)) {
        bound_run(&r, "base", what, NULL, NULL, NULL);
    }
    tmx_config_close(cfg);
    *t = r.table;
    return tmx_error_give(err, &own);
}
