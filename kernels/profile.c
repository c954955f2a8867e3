/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/profile.h"

#include <math.h>

#include "base/cache.h"
#include "base/cost.h"
#include "base/curve.h"

enum { CORE_WARPS = 3, CORE_RUNS = TMX_GATE_POINTS * CORE_WARPS, FIT_STEPS = 2000 };

/* Latencies of the runs, relative to the kernel's own. */
static const double latency_factor[TMX_GATE_POINTS] = {0.25, 0.5, 0.75, 1, 1.4, 2.5, 6};

/* ---- cache ---- */

/* Raise it when sm_cycle or the profiles change what they mean. */
static const char model_version[] = "sm_cycle 3";

static void hash_rows(struct tmx_hash *h, const struct tmx_opt *opts, const void *obj)
{
    for (const struct tmx_opt *o = opts; o->key; o++) {
        const size_t size = o->type == TMX_OPT_REAL   ? sizeof(double)
                            : o->type == TMX_OPT_BOOL ? sizeof(bool)
                                                      : sizeof(int);
        tmx_hash_add_text(h, o->key);
        tmx_hash_add(h, (const char *)obj + o->offset, size);
    }
}

static void cache_key(const struct tmx_profile_key *key, char hex[TMX_HASH_HEX], struct tmx_err *err)
{
    struct tmx_hash *h = NULL;
    if (tmx_hash_create(&h, err)) {
        return;
    }
    tmx_hash_add_text(h, model_version);
    hash_rows(h, tmx_instr_opts, &key->stats);
    hash_rows(h, tmx_knob_opts, &key->knobs);
    hash_rows(h, tmx_sm_opts, &key->sm);
    hash_rows(h, tmx_gate_opts, &key->gate);
    if (key->policy) {
        const struct tmx_gate_policy *p = key->policy;
        const int choices[] = {(int)p->order, (int)p->wake, p->coordinated, p->adaptive};
        tmx_hash_add(h, choices, sizeof choices); /* not its name: two policies may have one */
    }
    tmx_hash_add(h, &key->seed, sizeof key->seed);
    tmx_hash_add(h, &key->budget, sizeof key->budget);
    tmx_hash_hex(h, hex);
    tmx_hash_destroy(h);
}

/* ---- runs ---- */

static const struct tmx_gate_policy ungated = {
    .base = {.name = "none", .opts = tmx_gate_opts}, .order = TMX_ORDER_ROUND, .wake = TMX_WAKE_NO_GATING};

static void run_at(const struct tmx_profile_key *key, const struct tmx_instr_stats *stats,
                   const struct tmx_sm_params *sm, const struct tmx_gate_policy *policy,
                   struct tmx_sm_result *r, struct tmx_err *err)
{
    struct tmx_stream s;
    if (!err->code && !tmx_stream_generate(&s, stats, &key->knobs, key->seed, err)) {
        (void)!tmx_sm_run(sm, &s, policy, &key->gate, key->budget, NULL, r, err);
        tmx_stream_finish(&s);
    }
}

double tmx_core_fit_ipc(const struct tmx_core_fit *f, double warps, double latency_cycles)
{
    const double per_instr = f->cpi1_cycles + latency_cycles * f->lines_per_instr / f->mlp;
    return pow(pow(f->ipc1, -4) + pow(warps / per_instr, -4), -0.25);
}

struct core_runs {
    double warps[CORE_RUNS], latency_cycles[CORE_RUNS], ipc[CORE_RUNS];
    double lines_per_instr;
};

static struct tmx_core_fit from_logs(const double *x, double lines_per_instr)
{
    return (struct tmx_core_fit){exp(x[0]), exp(x[1]), exp(x[2]), .lines_per_instr = lines_per_instr};
}

static double squared_error(const double *x, void *params)
{
    const struct core_runs *runs = params;
    const struct tmx_core_fit f = from_logs(x, runs->lines_per_instr);
    double sum = 0;
    for (size_t i = 0; i < CORE_RUNS; i++) {
        const double e = log(tmx_core_fit_ipc(&f, runs->warps[i], runs->latency_cycles[i]) / runs->ipc[i]);
        sum += e * e;
    }
    return sum;
}

static void measure_core(const struct tmx_profile_key *key, void *to, struct tmx_err *err)
{
    struct tmx_core_fit *fit = to;
    /* begun near the issue limit, with a few dependent cycles an instruction and two lines in flight */
    double x[] = {log(1.2), log(10), log(2)};
    struct core_runs runs = {0};
    struct tmx_sm_params sm = key->sm;
    uint64_t lines = 0, issued = 0;
    sm.mshr = 4096; /* the epoch model has its own limits on lines and bandwidth */
    for (int i = 0; i < CORE_RUNS; i++) {
        struct tmx_instr_stats stats = key->stats;
        struct tmx_sm_result r;
        const int blocks = (stats.warps / stats.warps_per_block) >> (i % CORE_WARPS);
        stats.warps = (blocks > 1 ? blocks : 1) * stats.warps_per_block;
        stats.bandwidth = 0;
        stats.blocks_per_launch = 0;
        stats.latency_cycles *= latency_factor[i / CORE_WARPS];
        run_at(key, &stats, &sm, &ungated, &r, err);
        if (err->code) {
            return;
        }
        runs.warps[i] = stats.warps;
        runs.latency_cycles[i] = stats.latency_cycles * key->knobs.latency;
        runs.ipc[i] = tmx_sm_ipc(&r);
        lines += r.lines;
        issued += r.issued;
    }
    runs.lines_per_instr = (double)lines / (double)issued;
    tmx_minimise(squared_error, &runs, 3, x, 0.5, 1e-7, FIT_STEPS, err);
    *fit = from_logs(x, runs.lines_per_instr);
    for (size_t i = 0; i < CORE_RUNS; i++) {
        const double e = fabs(tmx_core_fit_ipc(fit, runs.warps[i], runs.latency_cycles[i]) / runs.ipc[i] - 1);
        fit->mean_error += e / CORE_RUNS;
        fit->worst_error = fmax(fit->worst_error, e);
    }
}

enum tmx_status tmx_profile_gate_point(const struct tmx_profile_key *key, double latency_cycles,
                                       struct tmx_gate_point *p, struct tmx_err *err)
{
    struct tmx_instr_stats stats = key->stats;
    struct tmx_sm_result base, r;
    stats.latency_cycles = latency_cycles / key->knobs.latency;
    run_at(key, &stats, &key->sm, &ungated, &base, err);
    run_at(key, &stats, &key->sm, key->policy, &r, err);
    if (err->code) {
        return err->code;
    }
    *p = (struct tmx_gate_point){.latency_cycles = latency_cycles,
                                 .slowdown = tmx_gate_slowdown(r.cycles, base.cycles),
                                 .ipc = tmx_sm_ipc(&r)};
    for (int k = 0; k < 3; k++) {
        const double cluster_cycles = (double)r.type[k].clusters * (double)r.cycles;
        p->asleep[k] = (double)r.type[k].asleep_cycles / cluster_cycles;
        p->gatings_per_cycle[k] = (double)r.type[k].gatings / cluster_cycles;
        p->saved[k] = tmx_gate_saved(&r.type[k], r.cycles, base.cycles, key->gate.break_even_cycles);
    }
    return TMX_OK;
}

static void measure_gate(const struct tmx_profile_key *key, void *to, struct tmx_err *err)
{
    struct tmx_gate_profile *p = to;
    *p = (struct tmx_gate_profile){0};
    for (int i = 0; i < TMX_GATE_POINTS && !err->code; i++) {
        const double latency = key->stats.latency_cycles * key->knobs.latency * latency_factor[i];
        (void)!tmx_profile_gate_point(key, latency, &p->point[i], err);
    }
    for (int i = 1; i < TMX_GATE_POINTS - 2 && !err->code;
         i++) { /* fresh runs between those beside its latency */
        const double latency = sqrt(p->point[i].latency_cycles * p->point[i + 1].latency_cycles);
        struct tmx_gate_point fresh = {0}, between_points;
        (void)!tmx_profile_gate_point(key, latency, &fresh, err);
        tmx_gate_profile_at(p, latency, &between_points);
        for (int k = 0; k < 2; k++) {
            p->asleep_error = fmax(p->asleep_error, fabs(fresh.asleep[k] - between_points.asleep[k]));
        }
        p->slowdown_error = fmax(p->slowdown_error, fabs(fresh.slowdown - between_points.slowdown));
    }
}

/* From the cache, else measured and kept there. n_run: of key->budget instructions each. */
static enum tmx_status profile(const struct tmx_profile_key *key, const char *cache_dir, const char *kind,
                               const struct tmx_piece *piece, double n_run, const char *what,
                               void (*measure)(const struct tmx_profile_key *, void *, struct tmx_err *),
                               struct tmx_err *err)
{
    char hex[TMX_HASH_HEX];
    const struct tmx_cache_name name = {cache_dir, kind, hex};
    const double n = n_run * (double)key->budget;
    cache_key(key, hex, err);
    if (err->code || (cache_dir && tmx_cache_read(&name, piece, 1))) {
        return err->code;
    }
    if (!tmx_cost_check((struct tmx_cost){.seconds = n * TMX_SM_INSTR_S}, err, "%s, %.3g warp instructions",
                        what, n)) {
        measure(key, piece->data, err);
    }
    if (!err->code && cache_dir) {
        tmx_cache_write(&name, piece, 1);
    }
    return err->code;
}

enum tmx_status tmx_profile_core(const struct tmx_profile_key *key, const char *cache_dir,
                                 struct tmx_core_fit *fit, struct tmx_err *err)
{
    return profile(key, cache_dir, "core", &(struct tmx_piece){fit, sizeof *fit}, CORE_RUNS,
                   "measuring one kernel's core", measure_core, err);
}

enum tmx_status tmx_profile_gate(const struct tmx_profile_key *key, const char *cache_dir,
                                 struct tmx_gate_profile *p, struct tmx_err *err)
{
    return profile(key, cache_dir, "gate", &(struct tmx_piece){p, sizeof *p},
                   2.0 * (TMX_GATE_POINTS + 2), /* each with its ungated twin */
                   "gating of one kernel", measure_gate, err);
}

static double between(double a, double b, double x)
{
    return a + (b - a) * x;
}

void tmx_gate_profile_at(const struct tmx_gate_profile *p, double latency_cycles, struct tmx_gate_point *at)
{
    const struct tmx_gate_point *lo = &p->point[0], *hi = &p->point[TMX_GATE_POINTS - 1];
    if (latency_cycles <= lo->latency_cycles || latency_cycles >= hi->latency_cycles) {
        *at = latency_cycles <= lo->latency_cycles ? *lo : *hi;
        at->latency_cycles = latency_cycles;
        return;
    }
    while (latency_cycles > lo[1].latency_cycles) {
        lo++;
    }
    hi = lo + 1;
    const double x = log(latency_cycles / lo->latency_cycles) / log(hi->latency_cycles / lo->latency_cycles);
    at->latency_cycles = latency_cycles;
    for (int k = 0; k < 3; k++) {
        at->asleep[k] = between(lo->asleep[k], hi->asleep[k], x);
        at->gatings_per_cycle[k] = between(lo->gatings_per_cycle[k], hi->gatings_per_cycle[k], x);
        at->saved[k] = between(lo->saved[k], hi->saved[k], x);
    }
    at->slowdown = between(lo->slowdown, hi->slowdown, x);
    at->ipc = between(lo->ipc, hi->ipc, x);
}

enum { BODY = TMX_MAX_REGISTER }; /* the longest: the rarer an access, the better it is drawn */

/* Global loads and stores per instruction of the body that these statistics draw. */
static void count_accesses(const struct tmx_profile_key *key, double *loads, double *stores,
                           struct tmx_err *err)
{
    struct tmx_stream s;
    *loads = *stores = 0;
    if (err->code || tmx_stream_generate(&s, &key->stats, &key->knobs, key->seed, err)) {
        return;
    }
    for (size_t i = 0; i < s.n_instr; i++) {
        *loads += s.instr[i].latency == TMX_LATENCY_GLOBAL;
        *stores += s.instr[i].latency == TMX_LATENCY_STORE;
    }
    *loads /= (double)s.n_instr;
    *stores /= (double)s.n_instr;
    tmx_stream_finish(&s);
}

enum tmx_status tmx_launch_profile_key(struct tmx_profile_key *key, const struct tmx_memory_kernel *launch,
                                       const struct tmx_memory_chip *chip, struct tmx_err *err)
{
    struct tmx_instr_stats *s = &key->stats;
    const double q = launch->lines_per_instr;
    double loads, stores;
    const int most = TMX_MAX_WARPS / launch->warps_per_block;
    const int blocks = launch->blocks_per_core < most ? launch->blocks_per_core : most;
    if (blocks == 0) {
        tmx_error(err, TMX_ECONFIG, "a block of %d warps: sm_cycle holds at most %d", launch->warps_per_block,
                  TMX_MAX_WARPS);
        return err->code;
    }
    s->warps_per_block = launch->warps_per_block;
    s->warps = blocks * launch->warps_per_block;
    s->body = BODY;
    s->latency_cycles = (chip->base_core_cycles + chip->base_memory_cycles) / chip->sm_clocks;
    s->miss = fmin(1, s->miss * key->knobs.miss);
    key->knobs.miss = key->knobs.latency = 1;
    count_accesses(key, &loads, &stores, err);
    if (loads == 0 && q > 0) {
        s->global_share = 1;
        count_accesses(key, &loads, &stores, err);
    }
    if (q > stores && loads > 0) {
        s->lines = fmax(1, q / (loads * s->miss + stores));
        s->miss = fmin(1, fmax(0, q / s->lines - stores) / loads);
    } else {
        s->store_share = 0; /* fewer lines than stores: loads alone, few of which miss */
        s->lines = 1;
        count_accesses(key, &loads, &stores, err);
        s->miss = loads > 0 ? fmin(1, q / loads) : 0;
    }
    return err->code;
}

void tmx_launch_profile_use(struct tmx_memory_kernel *launch, const struct tmx_memory_chip *chip,
                            const struct tmx_core_fit *fit)
{
    launch->ipc1 = fit->ipc1 / chip->sm_clocks;
    launch->cpi1_cycles = fit->cpi1_cycles * chip->sm_clocks;
    if (fit->lines_per_instr > 0) {
        launch->mlp = fit->mlp * launch->lines_per_instr / fit->lines_per_instr;
    }
}
