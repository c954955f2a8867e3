/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/suite_cta.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/os.h"
#include "run/load/data.h"

struct base {
    char chip[TMX_PATH_SIZE];
    double epoch_cycles;
    int seed, seeds, core;
};
static const char *const cores[] = {"chip", "given", "sm_cycle", NULL}; /* 1 + enum tmx_core_source */
static const struct tmx_opt base_opts[] = {
    TMX_ROW_NAME(base, chip, NULL, "chip"),
    TMX_ROW_CHOICE(base, core, cores, "chip",
                   "per-core parameters of the kernels: given, measured by sm_cycle, or those of the chip"),
    TMX_ROW_REAL(base, epoch_cycles, "cycles", 1, 1e9, 2048, "length of an epoch"),
    TMX_ROW_INT(base, seed, "1", 0, 1e9, 1, "of the block lengths, the first"),
    TMX_ROW_INT(base, seeds, "1", 1, 1000, 1,
                "so many, one after the other: the paper's values beside the means"),
    {0},
};

struct beside { /* an entry of `chips` */
    char name[64], chip[TMX_PATH_SIZE];
};
static const struct tmx_opt beside_opts[] = {
    TMX_ROW_TEXT(beside, name, NULL, "variant of the values on this chip"),
    TMX_ROW_NAME(beside, chip, NULL, "chip"),
    {0},
};

static enum tmx_status load_list(struct tmx_cta_suite *s, const char *key, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(s->call->root, key, 1, TMX_CTA_PROGRAMS - s->n, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        char name[TMX_PATH_SIZE];
        st = tmx_data_name_for(TMX_DATA_KERNEL, e, tmx_setting_text(e), name, err);
        for (size_t seed = 0; !st && seed < s->n_seed; seed++) { /* what is measured is measured with it */
            st = tmx_cta_program_load(&s->program[seed * TMX_CTA_PROGRAMS + s->n], name, &s->chip[0],
                                      s->options.seed + seed, seed ? NULL : s->cores, err);
        }
        st = tmx_setting_blame(e, st, err);
        s->n += !st;
    }
    return st;
}

/* A chip with the overrides `key` of a group, such as "memory.mshr=64". */
static enum tmx_status load_chip(struct tmx_cta_suite *s, const char *name, const char *chip,
                                 const struct tmx_setting *group, const char *key, struct tmx_err *err)
{
    struct tmx_sets sets = {0};
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(group, key, 0, TMX_CTA_LIST, &list, err);
    snprintf(s->chip_name[s->n_chip], sizeof s->chip_name[0], "%s", name);
    st = st ? st : tmx_sets_add_list(&sets, "", list, err);
    st = st ? st : tmx_cta_chip_load(&s->chip[s->n_chip], chip, &sets, err);
    tmx_sets_finish(&sets);
    s->n_chip += !st;
    return st;
}

/* ---- which number a printed value means ---- */

const struct tmx_cta_row *tmx_cta_suite_row(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    return tmx_cta_report_find(&s->report[at->seed * s->n_chip + at->chip], s->program[at->kernel].name,
                               at->policy);
}

#define MEMBER(name, value)                                                             \
    static double name##_of(const struct tmx_cta_suite *s, const struct tmx_cta_at *at) \
    {                                                                                   \
        const struct tmx_cta_row *r = tmx_cta_suite_row(s, at);                         \
        return r ? (value) : NAN;                                                       \
    }
MEMBER(performance_pct, r->performance_pct)
MEMBER(energy_pct, r->energy_pct)
MEMBER(latency_ratio, r->latency_ratio)
MEMBER(optimal_cores, r->optimal_cores)
MEMBER(static_pct, r->static_pct)
MEMBER(bandwidth, 100 * r->bandwidth_share)
MEMBER(cores, at->launch ? r->launch_cores[at->launch - 1] : r->cores)

static double ipc_share_of(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at);
    const struct tmx_memory_chip *m = &s->chip[at->chip].memory;
    return r ? 100 * r->ipc / (32 * m->peak_ipc * m->cores) : NAN;
}

static const struct tmx_cta_column columns[] = {
    {"cores", cores_of},
    {"optimal_cores", optimal_cores_of},
    {"performance_pct", performance_pct_of},
    {"energy_pct", energy_pct_of},
    {"latency_ratio", latency_ratio_of},
    {"static_pct", static_pct_of},
    {"bandwidth_pct", bandwidth_of},
    {"ipc_share_pct", ipc_share_of},
    {0},
};

static const struct tmx_cta_column *find_column(const struct tmx_cta_suite *s, const char *name)
{
    const struct tmx_cta_column *const lists[] = {columns, s->kind->columns};
    for (size_t l = 0; l < 2; l++) {
        for (const struct tmx_cta_column *c = lists[l]; c->name; c++) {
            if (strcmp(c->name, name) == 0) {
                return c;
            }
        }
    }
    return NULL;
}

enum take { ONE, MEAN, MIN, MAX, SUM };
struct group { /* kernels first .. last - 1 and what is taken of them */
    enum take take;
    size_t first, last, launch;
};

/* "mean GROUP", "min ...", "max ...", "sum ..."; "KERNEL" or "KERNEL kernel 15". */
static bool find_group(const struct tmx_cta_suite *s, const char *of, struct group *g)
{
    static const char *const takes[] = {"", "mean ", "min ", "max ", "sum "};
    for (size_t t = 1; t < sizeof takes / sizeof takes[0]; t++) {
        const size_t n = strlen(takes[t]);
        const char *rest = of + n;
        if (strncmp(of, takes[t], n) == 0) {
            *g = (struct group){.take = (enum take)t, .last = s->n};
            g->last = strcmp(rest, s->kind->first_name) == 0 ? s->n_first : s->n;
            g->first = strcmp(rest, s->kind->second_name) == 0 ? s->n_first : 0;
            return g->first > 0 || g->last < s->n || strcmp(rest, "all") == 0;
        }
    }
    for (size_t k = 0; k < s->n; k++) {
        const size_t n = strlen(s->program[k].name);
        if (strncmp(of, s->program[k].name, n) == 0 &&
            (!of[n] || strncmp(of + n, " kernel ", strlen(" kernel ")) == 0)) {
            const long launch = of[n] ? strtol(of + n + strlen(" kernel "), NULL, 10) : 0;
            *g = (struct group){ONE, k, k + 1, launch > 0 ? (size_t)launch : 0};
            return !of[n] || (launch > 0 && (size_t)launch <= s->program[k].n);
        }
    }
    return false;
}

static size_t find_chip(const struct tmx_cta_suite *s, const char *name)
{
    size_t c = 0;
    while (c < s->n_chip && strcmp(s->chip_name[c], name) != 0) {
        c++;
    }
    return c;
}

static enum tmx_status check_pick(void *ctx, const struct tmx_pick *p, const struct tmx_setting *at,
                                  struct tmx_err *err)
{
    const struct tmx_cta_suite *s = ctx;
    const size_t chip = find_chip(s, p->variant);
    struct group g;
    if (chip == s->n_chip) {
        return tmx_fail_setting(err, at, "values: no variant \"%s\" among the names of `chips`", p->variant);
    }
    if (!find_group(s, p->of, &g)) {
        return tmx_fail_setting(err, at,
                                "values: no kernel or group \"%s\"; groups are mean, min, max or sum of all, "
                                "%s, %s",
                                p->of, s->kind->first_name, s->kind->second_name);
    }
    const char *const *policy = chip == 0 ? s->kind->policies : s->kind->beside;
    while (*policy && strcmp(*policy, p->policy) != 0) {
        policy++;
    }
    if (!*policy) {
        return tmx_fail_setting(err, at, "values: policy \"%s\" is not run there", p->policy);
    }
    return find_column(s, p->column) ? TMX_OK
                                     : tmx_fail_setting(err, at, "values: no column \"%s\"", p->column);
}

double tmx_cta_suite_number(const struct tmx_cta_suite *s, const char *column, const struct tmx_cta_at *at)
{
    return find_column(s, column)->number(s, at);
}

static double number(void *ctx, const struct tmx_pick *p, size_t seed)
{
    const struct tmx_cta_suite *s = ctx;
    const struct tmx_cta_column *column = find_column(s, p->column);
    struct group g = {0};
    double least = INFINITY, most = -INFINITY, sum = 0;
    if (!column || !find_group(s, p->of, &g)) {
        return NAN;
    }
    for (size_t k = g.first; k < g.last; k++) {
        const struct tmx_cta_at at = {seed, find_chip(s, p->variant), k, g.launch, p->policy};
        const double v = column->number(s, &at);
        if (isnan(v)) {
            return NAN;
        }
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v;
    }
    return g.take == MEAN  ? sum / (double)(g.last - g.first)
           : g.take == MIN ? least
           : g.take == MAX ? most
                           : sum;
}

/* ---- the suite ---- */

static struct tmx_value_source values_of(const struct tmx_cta_suite *s)
{
    return (struct tmx_value_source){.ctx = (void *)(uintptr_t)s,
                                     .paper = s->kind->paper,
                                     .policy = "all",
                                     .n_seed = s->n_seed,
                                     .first_seed = (unsigned)s->options.seed,
                                     .check = check_pick,
                                     .number = number};
}

enum tmx_status tmx_cta_suite_begin(struct tmx_cta_suite *s, const struct tmx_suite_call *call,
                                    const struct tmx_cta_kind *kind, struct tmx_err *err)
{
    static const char *const also[] = {"chip_set", NULL};
    static const struct tmx_opt none[] = {{0}};
    const char *const root_keys[] = {"name",  "kind",   "doc",       "source",     "base",
                                     "chips", "values", kind->first, kind->second, NULL};
    const struct tmx_setting *base = tmx_setting_member(call->root, "base");
    struct base b = {0};
    *s = (struct tmx_cta_suite){.call = call, .kind = kind, .n_seed = 1};
    enum tmx_status st = tmx_opt_read(none, NULL, call->root, root_keys, err);
    st = st ? st : tmx_opt_read(base_opts, &b, base, also, err);
    st = st ? st : tmx_setting_blame(base, load_chip(s, "", b.chip, base, "chip_set", err), err);
    const struct tmx_setting *list = NULL;
    st = st ? st : tmx_setting_list(call->root, "chips", 0, TMX_CTA_CHIPS - 1, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        static const char *const set[] = {"set", NULL};
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct beside more;
        st = tmx_opt_read(beside_opts, &more, e, set, err);
        st = st ? st : tmx_setting_blame(e, load_chip(s, more.name, more.chip, e, "set", err), err);
    }
    if (!st) {
        s->options = (struct tmx_cta_options){.epoch_cycles = b.epoch_cycles, .seed = (uint64_t)b.seed};
        s->n_seed = call->check ? 1 : (size_t)b.seeds; /* a check measures nothing twice */
        s->chip[0].memory.core = b.core > 0 ? b.core - 1 : s->chip[0].memory.core;
        TMX_TAKE(&s->arena, s->report, s->n_seed * s->n_chip);
        TMX_TAKE(&s->arena, s->program, s->n_seed * TMX_CTA_PROGRAMS);
        st = s->arena.failed ? tmx_no_memory(err) : TMX_OK;
    }
    st = st || !call->out_dir ? st : tmx_cta_core_table(&s->cores, err);
    st = st ? st : load_list(s, kind->first, err);
    s->n_first = s->n;
    st = st ? st : load_list(s, kind->second, err);
    const struct tmx_value_source values = values_of(s);
    st = st ? st : tmx_values_check(call->root, &values, err);
    for (size_t i = 0; i < s->n_seed * s->n_chip && !st; i++) {
        st = tmx_cta_report_create(&s->report[i], i == 0 && call->out_dir != NULL, err);
    }
    return st;
}

void tmx_cta_suite_end(struct tmx_cta_suite *s)
{
    for (size_t i = 0; s->report && i < s->n_seed * s->n_chip; i++) {
        tmx_cta_report_finish(&s->report[i]);
    }
    tmx_arena_finish(&s->arena);
    tmx_table_destroy(s->cores);
}

static enum tmx_status run_chip(const struct tmx_cta_suite *s, size_t seed, size_t chip, struct tmx_err *err)
{
    const char *const *policies = chip == 0 ? s->kind->policies : s->kind->beside;
    struct tmx_cta_policy_spec p[TMX_CTA_LIST] = {{0}};
    struct tmx_cta_options o = s->options;
    enum tmx_status st = TMX_OK;
    size_t n = 0;
    o.seed += seed;
    while (policies[n] && !st) {
        tmx_assert(n < TMX_CTA_LIST);
        st = tmx_cta_policy_parse(policies[n], &p[n], err);
        n++;
    }
    for (size_t k = 0; k < s->n && !st; k++) {
        const struct tmx_memory_program *list[] = {&s->program[seed * TMX_CTA_PROGRAMS + k]};
        st = tmx_cta_report_kernel(&s->report[seed * s->n_chip + chip], &s->chip[chip], list, 1, p, n, &o,
                                   err);
    }
    for (size_t i = 0; i < n; i++) {
        tmx_cta_policy_finish(&p[i]);
    }
    return st;
}

enum tmx_status tmx_cta_suite_run(const struct tmx_cta_suite *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < s->n_seed * s->n_chip && !st; i++) {
        st = run_chip(s, i / s->n_chip, i % s->n_chip, err);
    }
    return st;
}

enum tmx_status tmx_cta_suite_write(const struct tmx_cta_suite *s, const struct tmx_table *table,
                                    struct tmx_err *err)
{
    const struct tmx_value_source values = values_of(s);
    struct tmx_table *paper = NULL, *seeds = NULL;
    enum tmx_status st = tmx_values_table(s->call->root, &values, &paper, &seeds, err);
    if (s->call->out_dir) {
        st = st ? st : tmx_cta_report_save(&s->report[0], s->call->out_dir, err);
        st = st ? st : tmx_suite_save(s->call, s->cores, "core.csv", err);
    }
    st = st || !seeds ? st : tmx_suite_save(s->call, seeds, "seeds.csv", err);
    st = st ? st : tmx_suite_write(s->call, table ? table : s->report[0].table, paper, NULL, err);
    tmx_table_destroy(paper);
    tmx_table_destroy(seeds);
    return st;
}
