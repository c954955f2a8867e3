/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/suite_cta.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/opt.h"
#include "base/os.h"
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
        st = tmx_setting_locate(e, st, err);
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
    const struct tmx_cta_column *c = columns;
    while (c->name && strcmp(c->name, name) != 0) {
        c++;
    }
    for (c = c->name ? c : s->kind->columns; c->name && strcmp(c->name, name) != 0; c++) {
    }
    return c->name ? c : NULL;
}

double tmx_cta_suite_number(const struct tmx_cta_suite *s, const char *column, const struct tmx_cta_at *at)
{
    return find_column(s, column)->number(s, at);
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

static double number(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    const struct tmx_cta_suite *s = ctx;
    const struct tmx_cta_column *column = find_column(s, p->column);
    struct tmx_cta_at at = {.seed = seed, .policy = p->policy};
    struct group g;
    double least = INFINITY, most = -INFINITY, sum = 0;
    while (at.chip < s->n_chip && strcmp(s->chip_name[at.chip], p->variant) != 0) {
        at.chip++;
    }
    const char *const *policy = at.chip == 0 ? s->kind->policies : s->kind->beside;
    while (*policy && strcmp(*policy, p->policy) != 0) {
        policy++;
    }
    if (at.chip == s->n_chip) {
        snprintf(why, TMX_WHY, "no variant \"%s\" among the names of `chips`", p->variant);
    } else if (!find_group(s, p->of, &g)) {
        snprintf(why, TMX_WHY, "no kernel or group \"%s\"; groups are mean, min, max or sum of all, %s, %s",
                 p->of, s->kind->first_name, s->kind->second_name);
    } else if (!*policy) {
        snprintf(why, TMX_WHY, "policy \"%s\" is not run there", p->policy);
    } else if (!column) {
        snprintf(why, TMX_WHY, "no column \"%s\"", p->column);
    } else if (seed != TMX_NAMES_ALONE) {
        at.launch = g.launch;
        for (at.kernel = g.first; at.kernel < g.last; at.kernel++) {
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
    return NAN;
}

/* ---- the suite ---- */

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
    st = st ? st : tmx_setting_locate(base, load_chip(s, "", b.chip, base, "chip_set", err), err);
    const struct tmx_setting *list = NULL;
    st = st ? st : tmx_setting_list(call->root, "chips", 0, TMX_CTA_CHIPS - 1, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        static const char *const set[] = {"set", NULL};
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct beside more;
        st = tmx_opt_read(beside_opts, &more, e, set, err);
        st = st ? st : tmx_setting_locate(e, load_chip(s, more.name, more.chip, e, "set", err), err);
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
    s->values = (struct tmx_value_source){.ctx = s,
                                          .paper = kind->paper,
                                          .policy = "all",
                                          .n_seed = s->n_seed,
                                          .first_seed = (unsigned)s->options.seed,
                                          .number = number};
    st = st ? st : tmx_values_read(&s->values, call->root, err);
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
    tmx_values_finish(&s->values);
    tmx_arena_finish(&s->arena);
    tmx_table_destroy(s->cores);
}

enum tmx_status tmx_cta_suite_run(const struct tmx_cta_suite *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < s->n_seed * s->n_chip && !st; i++) {
        const size_t seed = i / s->n_chip, chip = i % s->n_chip;
        const char *const *policies = chip == 0 ? s->kind->policies : s->kind->beside;
        struct tmx_cta_policy_spec p[TMX_CTA_LIST] = {{0}};
        struct tmx_cta_options o = s->options;
        size_t n = 0;
        o.seed += seed;
        while (policies[n] && !st) {
            tmx_assert(n < TMX_CTA_LIST);
            st = tmx_cta_policy_parse(policies[n], &p[n], err);
            n++;
        }
        for (size_t k = 0; k < s->n && !st; k++) {
            const struct tmx_memory_program *list[] = {&s->program[seed * TMX_CTA_PROGRAMS + k]};
            st = tmx_cta_report_kernel(&s->report[i], &s->chip[chip], list, 1, p, n, &o, err);
        }
        for (size_t k = 0; k < n; k++) {
            tmx_cta_policy_finish(&p[k]);
        }
    }
    return st;
}

enum tmx_status tmx_cta_suite_write(const struct tmx_cta_suite *s, const struct tmx_table *table,
                                    struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (s->call->out_dir) {
        st = tmx_cta_report_save(&s->report[0], s->call->out_dir, err);
        st = st ? st : tmx_suite_save(s->call, s->cores, "core.csv", err);
    }
    return st ? st : tmx_suite_write(s->call, table ? table : s->report[0].table, &s->values, NULL, err);
}
