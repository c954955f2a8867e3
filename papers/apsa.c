/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 002: ApSA on its twenty applications, against chips of 60 and of 30 cores without it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "papers/cta_suite.h"

static const char *const policies[] = {"all", "apsa", "apsa(reading=\"pseudocode\")", "apsa(power_gate=true)",
                                       NULL};
static const char *const only_all[] = {"all", NULL};

static const struct tmx_column columns[] = {
    {"kernel", TMX_COLUMN_TEXT, 0},
    {"policy", TMX_COLUMN_TEXT, 0},
    {"cores", TMX_COLUMN_REAL, 1},
    {"performance_vs_all_pct", TMX_COLUMN_REAL, 2},
    {"energy_vs_all_pct", TMX_COLUMN_REAL, 2},
    {"edp_vs_all_pct", TMX_COLUMN_REAL, 2},
    {"latency_ratio", TMX_COLUMN_REAL, 2},
    {"optimal_cores", TMX_COLUMN_REAL, 1},
    {"class", TMX_COLUMN_TEXT, 0},
    {"paper_class", TMX_COLUMN_TEXT, 0},
    {"performance_vs_30_pct", TMX_COLUMN_REAL, 2}, /* wall clock */
    {"ipc_vs_30_pct", TMX_COLUMN_REAL, 2},         /* per core cycle, as the paper */
    {"power_vs_60_pct", TMX_COLUMN_REAL, 2},
    {"power_vs_30_pct", TMX_COLUMN_REAL, 2},
    {"profiling_overhead_pct", TMX_COLUMN_REAL, 2},
    {"ipc_share_pct", TMX_COLUMN_REAL, 1},
    {"bandwidth_pct", TMX_COLUMN_REAL, 1},
    {"time_us", TMX_COLUMN_REAL, 1},
    {"mean_power_w", TMX_COLUMN_REAL, 2},
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

static void add_row(struct tmx_table *t, const struct tmx_cta_suite *s, const struct apsa_row *a,
                    const char *policy, const char *paper_class)
{
    const struct tmx_cta_row *r = a->r;
    const bool apsa = strncmp(policy, "apsa", 4) == 0;
    const double cores = strcmp(policy, "all_30") == 0 ? 30 : a->cores60;
    tmx_table_text(t, r->kernel);
    tmx_table_text(t, policy);
    tmx_table_real(t, r->cores);
    tmx_table_real(t, change_pct(a->r60->seconds, r->seconds));
    tmx_table_real(t, change_pct(r->energy_j, a->r60->energy_j));
    tmx_table_real(t, change_pct(r->energy_j * r->seconds, a->r60->energy_j * a->r60->seconds));
    tmx_table_real(t, r->latency_ratio);
    tmx_table_real(t, r->optimal_cores);
    tmx_table_text(t, apsa ? (is_type1(a) ? "I" : "II") : "");
    tmx_table_text(t, paper_class);
    tmx_table_real(t, change_pct(a->r30->seconds, r->seconds));
    tmx_table_real(t, change_pct(r->ipc, a->r30->ipc));
    tmx_table_real(t, change_pct(r->power_w, a->r60->power_w));
    tmx_table_real(t, change_pct(r->power_w, a->r30->power_w));
    apsa ? tmx_table_real(t, overhead_pct(a)) : tmx_table_empty(t);
    tmx_table_real(t, 100 * r->ipc / (32 * s->chip.memory.peak_ipc * cores));
    tmx_table_real(t, 100 * r->bandwidth_share);
    tmx_table_real(t, 1e6 * r->seconds);
    tmx_table_real(t, r->power_w);
}

static struct apsa_row row_of(const struct tmx_cta_suite *s, const struct tmx_cta_report *half,
                              const char *kernel, const char *policy)
{
    return (struct apsa_row){.r = strcmp(policy, "all_30") == 0
                                      ? tmx_cta_report_find(half, kernel, "all")
                                      : tmx_cta_report_find(&s->report, kernel, policy),
                             .r60 = tmx_cta_report_find(&s->report, kernel, "all"),
                             .r30 = tmx_cta_report_find(half, kernel, "all"),
                             .cores60 = s->chip.memory.cores};
}

/* How near a value must come to the paper's to count as reproduced: gains over 30 cores, changes of power and
 * shares of a peak in points; classes are counted. The overhead must be within half of the paper's. */
static const double gain_points = 8, power_points = 5, share_points = 5, same_class = 0.5;

enum quantity { TIME_30, IPC_30, POWER_60, POWER_30, OVERHEAD, CLASS_AS_TABLE_1 };

static double quantity(const struct tmx_cta_suite *s, const struct tmx_cta_report *half, size_t k,
                       const char *policy, enum quantity q)
{
    const struct apsa_row a = row_of(s, half, s->program[k].name, policy);
    switch (q) {
    case TIME_30:
        return change_pct(a.r30->seconds, a.r->seconds);
    case IPC_30:
        return change_pct(a.r->ipc, a.r30->ipc);
    case POWER_60:
        return change_pct(a.r->power_w, a.r60->power_w);
    case POWER_30:
        return change_pct(a.r->power_w, a.r30->power_w);
    case OVERHEAD:
        return overhead_pct(&a);
    case CLASS_AS_TABLE_1:
        return is_type1(&a) == (k < s->n_first);
    }
    return 0;
}

static double mean(const struct tmx_cta_suite *s, const struct tmx_cta_report *half, size_t first,
                   size_t last, const char *policy, enum quantity q)
{
    double sum = 0;
    for (size_t k = first; k < last; k++) {
        sum += quantity(s, half, k, policy, q);
    }
    return sum / (double)(last - first);
}

static void results(struct tmx_cta_suite *s, const struct tmx_cta_report *half)
{
    const size_t m = s->n_first, n = s->n;
    const enum tmx_paper_status fitted = TMX_PAPER_CALIBRATED, predicted = TMX_PAPER_PREDICTION;
    tmx_cta_suite_paper(s, "Table 1", "applications classified as in Table 1", "text's reading", "1", 20,
                        (double)n * mean(s, half, 0, n, "apsa", CLASS_AS_TABLE_1), same_class, fitted);
    tmx_cta_suite_paper(s, "Table 1", "applications classified as in Table 1", "Algorithm 2's reading", "1",
                        NAN, (double)n * mean(s, half, 0, n, policies[2], CLASS_AS_TABLE_1), 0, predicted);
    tmx_cta_suite_paper(s, "Figure 6", "performance over 30 cores, mean", "type I", "percent", 76,
                        mean(s, half, 0, m, "apsa", TIME_30), gain_points, fitted);
    tmx_cta_suite_paper(s, "Section 5.1", "profiling overhead, mean", "type I", "percent", 1.61,
                        mean(s, half, 0, m, "apsa", OVERHEAD), 1.61 / 2, fitted);
    tmx_cta_suite_paper(s, "Section 5.1", "profiling overhead, mean", "type II", "percent", 1.15,
                        mean(s, half, m, n, "apsa", OVERHEAD), 1.15 / 2, fitted);
    tmx_cta_suite_paper(s, "Figure 6", "IPC over 30 cores, mean", "type II", "percent", 11.04,
                        mean(s, half, m, n, "apsa", IPC_30), gain_points, predicted);
    tmx_cta_suite_paper(s, "Figure 6", "wall-clock performance over 30 cores, mean", "type II", "percent",
                        NAN, mean(s, half, m, n, "apsa", TIME_30), 0, predicted);
    tmx_cta_suite_paper(s, "Figure 7b", "power against 60 cores, mean", "type II", "percent", -20.08,
                        mean(s, half, m, n, "apsa", POWER_60), power_points, fitted);
    tmx_cta_suite_paper(s, "Figure 7b", "power against 30 cores, mean", "type II", "percent", 10.09,
                        mean(s, half, m, n, "apsa", POWER_30), power_points, fitted);
    tmx_cta_suite_paper(s, "Section 5.3", "power against 60 cores, mean", "type II, power-gated cores",
                        "percent", NAN, mean(s, half, m, n, policies[3], POWER_60), 0, predicted);
    tmx_cta_suite_paper(s, "Figure 7a", "power against 60 cores, mean", "type I", "percent", 5.3,
                        mean(s, half, 0, m, "apsa", POWER_60), power_points, predicted);
}

static void single_kernels(struct tmx_cta_suite *s, const struct tmx_cta_report *half)
{
    static const struct {
        const char *kernel;
        double ipc_gain_pct, ipc_share_pct, bandwidth_pct; /* 0: the text prints none */
    } printed[] = {{"MUM", 31, 0, 0},  {"BLK", 33, 51, 0},  {"SP", 0, 46, 0},      {"ASYNC", 0, 41, 0},
                   {"SRAD", 0, 26, 0}, {"ALIGN", 0, 21, 0}, {"BP-II", 0, 63.8, 37}};
    double share = 0;
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) {
        const char *kernel = printed[i].kernel;
        const struct apsa_row a = row_of(s, half, kernel, "apsa");
        if (!a.r) {
            continue;
        }
        const double ours = 100 * a.r30->ipc / (32.0 * 30);
        if (printed[i].ipc_gain_pct > 0) {
            tmx_cta_suite_paper(s, "Section 5.1", "IPC over 30 cores", kernel, "percent",
                                printed[i].ipc_gain_pct, change_pct(a.r->ipc, a.r30->ipc), gain_points,
                                TMX_PAPER_PREDICTION);
            tmx_cta_suite_paper(s, "Section 5.1", "wall-clock performance over 30 cores", kernel, "percent",
                                NAN, change_pct(a.r30->seconds, a.r->seconds), 0, TMX_PAPER_PREDICTION);
        }
        if (printed[i].ipc_share_pct > 0) {
            tmx_cta_suite_paper(s, "Section 2.2", "IPC on 30 cores, share of the peak", kernel, "percent",
                                printed[i].ipc_share_pct, ours, share_points, TMX_PAPER_CALIBRATED);
        }
        if (printed[i].bandwidth_pct > 0) {
            tmx_cta_suite_paper(s, "Section 2.2", "bandwidth on 30 cores", kernel, "percent",
                                printed[i].bandwidth_pct, 100 * a.r30->bandwidth_share, share_points,
                                TMX_PAPER_CALIBRATED);
        }
    }
    for (size_t k = 0; k < s->n_first; k++) {
        share +=
            100 * row_of(s, half, s->program[k].name, "apsa").r30->ipc / (32.0 * 30) / (double)s->n_first;
    }
    tmx_cta_suite_paper(s, "Section 7", "IPC on 30 cores, share of the peak, mean", "type I", "percent",
                        85.31, share, share_points, TMX_PAPER_CALIBRATED);
}

static enum tmx_status make_table(const struct tmx_cta_suite *s, const struct tmx_cta_report *half,
                                  struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t k = 0; k < s->n && !st; k++) {
        for (size_t p = 0; p < 5; p++) {
            const char *policy = p < 4 ? policies[p] : "all_30";
            const struct apsa_row a = row_of(s, half, s->program[k].name, policy);
            add_row(*t, s, &a, policy, k < s->n_first ? "I" : "II");
        }
    }
    return st;
}

enum tmx_status tmx_suite_apsa(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_cta_suite s;
    struct tmx_cta_report half = {0};
    struct tmx_table *table = NULL;
    struct tmx_cta_chip chip;
    enum tmx_status st = tmx_cta_suite_begin(&s, call, "002", "type1_kernels", "type2_kernels", err);
    st = st ? st
            : tmx_setting_blame(tmx_setting_member(call->root, "base"),
                                tmx_cta_chip_load(&chip, s.half_chip, NULL, 0, err), err);
    if (st || call->check) {
        tmx_cta_suite_end(&s);
        return st;
    }
    st = tmx_cta_report_create(&half, false, err);
    st = st ? st : tmx_cta_suite_run(&s, &s.chip, policies, &s.report, err);
    st = st ? st : tmx_cta_suite_run(&s, &chip, only_all, &half, err);
    st = st ? st : make_table(&s, &half, &table, err);
    if (!st) {
        results(&s, &half);
        single_kernels(&s, &half);
        tmx_table_destroy(s.report.table); /* the suite's own table takes its place */
        s.report.table = table;
    }
    st = st ? st : tmx_cta_suite_write(&s, err);
    tmx_cta_report_finish(&half);
    tmx_cta_suite_end(&s);
    return st;
}
