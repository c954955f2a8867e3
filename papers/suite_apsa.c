/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 002: ApSA on its twenty applications, against chips of 60 and of 30 cores without it. What the paper
 * prints is in the suite file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/suite_cta.h"

static const char *const policies[] = {"all", "apsa", "apsa(reading=\"pseudocode\")", "apsa(power_gate=true)",
                                       NULL};
static const char *const beside[] = {"all", "apsa", NULL};
enum { HALF = 1 }; /* the first of `chips`: what 60 cores are compared with */

static const struct tmx_column table_columns[] = {
    TMX_CTA_COLUMNS,
    TMX_TEXT("class"),
    TMX_TEXT("paper_class"),
    TMX_REAL("performance_vs_30_pct", 2), /* wall clock */
    TMX_REAL("ipc_vs_30_pct", 2),         /* per core cycle, as the paper */
    TMX_REAL("power_vs_60_pct", 2),
    TMX_REAL("power_vs_30_pct", 2),
    TMX_REAL("profiling_overhead_pct", 2),
    TMX_REAL("ipc_share_pct", 1),
    TMX_REAL("bandwidth_pct", 1),
    TMX_REAL("time_us", 1),
    TMX_REAL("mean_power_w", 2),
};

struct apsa_row {
    const struct tmx_cta_row *r, *r60, *r30;
    double cores60;
};

static double change_pct(double ours, double base)
{
    return 100 * (ours / base - 1);
}

/* Type by what the policy settled for: I all cores, II half of them. A benchmark of several kernels is
 * of the type of most of its time. */
static bool is_type1(const struct apsa_row *a)
{
    return a->r->cores > 0.75 * a->cores60;
}

/* Time lost by looking at one block first. Type I: against all cores without a profile. Type II: what
 * passes at nominal clocks, before the decision. */
static double overhead_pct(const struct apsa_row *a)
{
    return is_type1(a) ? change_pct(a->r->seconds, a->r60->seconds)
                       : 100 * a->r->nominal_s / (a->r->seconds - a->r->nominal_s);
}

static struct apsa_row row_of(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_at own = {at->seed, at->chip == HALF ? 0 : at->chip, at->kernel, 0, "all"},
                            half = {at->seed, HALF, at->kernel, 0, "all"};
    return (struct apsa_row){.r = tmx_cta_suite_row(s, at),
                             .r60 = tmx_cta_suite_row(s, &own),
                             .r30 = tmx_cta_suite_row(s, &half),
                             .cores60 = s->chip[own.chip].memory.cores};
}

/* ---- columns of printed values ---- */

#define COLUMN(name, value)                                                        \
    static double name(const struct tmx_cta_suite *s, const struct tmx_cta_at *at) \
    {                                                                              \
        const struct apsa_row a = row_of(s, at);                                   \
        return a.r ? (value) : NAN;                                                \
    }
COLUMN(time_30, change_pct(a.r30->seconds, a.r->seconds))
COLUMN(ipc_30, change_pct(a.r->ipc, a.r30->ipc))
COLUMN(power_60, change_pct(a.r->power_w, a.r60->power_w))
COLUMN(power_30, change_pct(a.r->power_w, a.r30->power_w))
COLUMN(overhead, overhead_pct(&a))
COLUMN(type, is_type1(&a) ? 1 : 2)

static double as_table_1(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const double t = type(s, at);
    return isnan(t) ? NAN : (t < 1.5) == (at->kernel < s->n_first);
}

/* Share of instructions with fewer than 25 of 32 threads: of the kernel's file. */
static double divergence(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    return 100 * (1 - s->program[at->kernel].kernel[0].full_warps);
}

static const struct tmx_cta_column columns[] = {
    {"performance_vs_30_pct", time_30},
    {"ipc_vs_30_pct", ipc_30},
    {"power_vs_60_pct", power_60},
    {"power_vs_30_pct", power_30},
    {"profiling_overhead_pct", overhead},
    {"type", type},
    {"as_table_1", as_table_1},
    {"divergence_pct", divergence},
    {0},
};

static const struct tmx_cta_kind kind = {.paper = "002",
                                         .first = "type1_kernels",
                                         .second = "type2_kernels",
                                         .first_name = "type I",
                                         .second_name = "type II",
                                         .policies = policies,
                                         .beside = beside,
                                         .columns = columns};

static struct tmx_table *make_table(const struct tmx_cta_suite *s)
{
    static const char *const numbers[] = {
        "performance_vs_30_pct",  "ipc_vs_30_pct", "power_vs_60_pct", "power_vs_30_pct",
        "profiling_overhead_pct", "ipc_share_pct", "bandwidth_pct"};
    struct tmx_table *t = tmx_table_new(table_columns, sizeof table_columns / sizeof table_columns[0]);
    for (size_t i = 0; i < 5 * s->n; i++) {
        const size_t k = i / 5, p = i % 5;
        const struct tmx_cta_at at = {
            .chip = p < 4 ? 0 : HALF, .kernel = k, .policy = p < 4 ? policies[p] : "all"};
        const struct apsa_row a = row_of(s, &at);
        struct tmx_cta_row r = *a.r; /* against 60 cores */
        snprintf(r.policy, sizeof r.policy, "%s", p < 4 ? policies[p] : "all_30");
        const bool apsa = strncmp(r.policy, "apsa", 4) == 0;
        r.performance_pct = change_pct(a.r60->seconds, r.seconds);
        r.energy_pct = change_pct(r.energy_j, a.r60->energy_j);
        r.edp_pct = change_pct(r.energy_j * r.seconds, a.r60->energy_j * a.r60->seconds);
        tmx_cta_cells(t, &r);
        tmx_table_row(t, "%s %s", !apsa ? "" : is_type1(&a) ? "I" : "II", k < s->n_first ? "I" : "II");
        for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++) {
            strcmp(numbers[c], "profiling_overhead_pct") == 0 && !apsa
                ? tmx_table_empty(t)
                : tmx_table_real(t, tmx_cta_suite_number(s, numbers[c], &at));
        }
        tmx_table_row(t, "%g %g", 1e6 * r.seconds, r.power_w);
    }
    return t;
}

enum tmx_status tmx_suite_apsa(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_cta_suite s;
    struct tmx_table *table = NULL;
    enum tmx_status st = tmx_cta_suite_begin(&s, call, &kind, err);
    if (!st && s.n_chip <= HALF) {
        st = tmx_fail_at(err, TMX_ECONFIG, call->path, 0, "chips: expected the chip of half the cores first");
    }
    st = st || call->check ? st : tmx_cta_suite_run(&s, err);
    if (!st && !call->check) {
        table = make_table(&s);
        st = table ? tmx_cta_suite_write(&s, table, err) : tmx_no_memory(err);
    }
    tmx_table_destroy(table);
    tmx_cta_suite_end(&s);
    return st;
}
