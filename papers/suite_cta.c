/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels under policies of the thread-block level: paper 000, TCS and hTCS on ten benchmarks; paper 002,
 * ApSA on twenty applications, against chips of 60 and of 30 cores without it. What the papers print is in
 * the suites' files. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "papers/suite.h"
#include "papers/values.h"
#include "run/cta.h"
#include "run/load/data.h"
#include "study/microbench/microbench.h"

enum { LIST = 32, PROGRAMS = 64, CHIPS = 6, HALF = 1 }; /* HALF: of ApSA's chips the one of half the cores */

struct suite {
    const struct tmx_suite_call *call;
    const struct kind *kind;
    struct tmx_cta_chip chip[CHIPS]; /* [n_chip]; [0] the suite's own */
    char chip_name[CHIPS][64];       /* as `variant` of a value; [0] is "" */
    size_t n_chip, n_seed;
    struct tmx_cta_options options; /* with the first seed */
    struct tmx_value_source values;
    struct tmx_memory_program *program; /* [n_seed][PROGRAMS], n used: the first list, then the second */
    size_t n, n_first;
    struct tmx_cta_report *report; /* [n_seed * n_chip], the chip running fastest */
    struct tmx_table *cores;       /* per-core parameters, both sources; NULL without an output folder */
    struct tmx_arena arena;
};

struct at { /* one launch (0: all) of a kernel under a policy on a chip with a seed */
    size_t seed, chip, kernel, launch;
    const char *policy;
};

static const char *const tcs_policies[] = {
    "all", "tcs", "tcs(throttling=false)", "htcs", "static_optimal", "tcs_share", NULL};
static const char *const apsa_policies[] = {"all", "apsa", "apsa(reading=\"pseudocode\")",
                                            "apsa(power_gate=true)", NULL};
static const char *const apsa_beside[] = {"all", "apsa", NULL};

static const struct kind { /* what tells one suite from the other */
    const char *paper;
    const char *first, *second;                  /* keys of the two lists of kernels */
    const char *first_name, *second_name;        /* of the groups, in `of = "mean ..."` */
    const char *const *policies, *const *beside; /* on the suite's chip, and on its further chips */
} tcs = {"000", "memory_kernels", "compute_kernels", "memory", "compute", tcs_policies, tcs_policies},
  apsa = {"002", "type1_kernels", "type2_kernels", "type I", "type II", apsa_policies, apsa_beside};

/* ---- the suite's file ---- */

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

static void load_list(struct suite *s, const char *key, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_texts(s->call->root, key, 1, PROGRAMS - s->n, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        char name[TMX_PATH_SIZE];
        tmx_data_name_for(TMX_DATA_KERNEL, e, tmx_setting_text(e), name, err);
        for (size_t seed = 0; seed < s->n_seed && !err->code;
             seed++) { /* what is measured is measured with it */
            tmx_cta_program_load(&s->program[seed * PROGRAMS + s->n], name, &s->chip[0],
                                 s->options.seed + seed, seed ? NULL : s->cores, err);
        }
        s->n += !tmx_setting_locate(e, err->code, err);
    }
}

/* A chip with the overrides `key` of a group, such as "memory.mshr=64". */
static void load_chip(struct suite *s, const char *name, const char *chip, const struct tmx_setting *group,
                      const char *key, struct tmx_err *err)
{
    struct tmx_sets sets = {0};
    if (err->code) {
        return;
    }
    snprintf(s->chip_name[s->n_chip], sizeof s->chip_name[0], "%s", name);
    tmx_sets_add_list(&sets, "", tmx_setting_texts(group, key, 0, LIST, err), err);
    tmx_cta_chip_load(&s->chip[s->n_chip], chip, &sets, err);
    tmx_sets_finish(&sets);
    s->n_chip += !tmx_setting_locate(group, err->code, err);
}

/* ---- the numbers of a run ---- */

static const struct tmx_cta_row *row_at(const struct suite *s, const struct at *at)
{
    return tmx_cta_report_find(&s->report[at->seed * s->n_chip + at->chip], s->program[at->kernel].name,
                               at->policy);
}

/* A run and what it is compared with: the same under TCS; of ApSA on its own chip and on half of that
 * without it. */
struct runs {
    const struct tmx_cta_row *r, *tcs, *r60, *r30;
    double cores60;
};

static struct runs runs_at(const struct suite *s, const struct at *at)
{
    const size_t own = s->kind == &apsa && at->chip == HALF ? 0 : at->chip;
    struct runs x = {.r = row_at(s, at), .cores60 = s->chip[own].memory.cores};
    if (s->kind == &tcs) {
        x.tcs = row_at(s, &(struct at){at->seed, at->chip, at->kernel, at->launch, "tcs"});
    } else {
        x.r60 = row_at(s, &(struct at){at->seed, own, at->kernel, 0, "all"});
        x.r30 = row_at(s, &(struct at){at->seed, HALF, at->kernel, 0, "all"});
    }
    return x;
}

static double change_pct(double ours, double base)
{
    return 100 * (ours / base - 1);
}

/* Type by what ApSA settled for: I all cores, II half of them. A benchmark of several kernels is of the type
 * of most of its time. */
static bool is_type1(const struct runs *x)
{
    return x->r->cores > 0.75 * x->cores60;
}

/* Time lost by looking at one block first. Type I: against all cores without a profile. Type II: what
 * passes at nominal clocks, before the decision. */
static double overhead_pct(const struct runs *x)
{
    return is_type1(x) ? change_pct(x->r->seconds, x->r60->seconds)
                       : 100 * x->r->nominal_s / (x->r->seconds - x->r->nominal_s);
}

/* Relative rise of the L2 hit rate from all cores to those the policy settles for in a launch. */
static double l2_hit_gain(const struct suite *s, const struct at *at, const struct tmx_cta_row *r)
{
    const size_t launch = at->launch ? at->launch - 1 : 0;
    const double share = (double)s->chip[at->chip].memory.cores / r->launch_cores[launch];
    return r->launch_cores[launch] > 0 ? 100 * (pow(share, s->program[at->kernel].kernel[launch].l2_gain) - 1)
                                       : NAN;
}

/* What a printed value may name as its column: of which suite (NULL: of both), and its value. The error of
 * the cores is from the static optimum; divergence: share of instructions with fewer than 25 of 32 threads,
 * of the kernel's file. */
#define COLUMNS(X)                                                                              \
    X(cores, NULL, at->launch ? r->launch_cores[at->launch - 1] : r->cores)                     \
    X(optimal_cores, NULL, r->optimal_cores)                                                    \
    X(performance_pct, NULL, r->performance_pct)                                                \
    X(energy_pct, NULL, r->energy_pct)                                                          \
    X(latency_ratio, NULL, r->latency_ratio)                                                    \
    X(static_pct, NULL, r->static_pct)                                                          \
    X(bandwidth_pct, NULL, 100 * r->bandwidth_share)                                            \
    X(ipc_share_pct, NULL,                                                                      \
      100 * r->ipc / (32 * s->chip[at->chip].memory.peak_ipc * s->chip[at->chip].memory.cores)) \
    X(energy_vs_tcs_pct, &tcs, 100 * (r->energy_j / x->tcs->energy_j - 1))                      \
    X(performance_vs_tcs_pct, &tcs, 100 * (x->tcs->seconds / r->seconds - 1))                   \
    X(cores_error_pct, &tcs, 100 * fabs(r->cores / r->optimal_cores - 1))                       \
    X(l2_hit_gain_pct, &tcs, l2_hit_gain(s, at, r))                                             \
    X(performance_vs_30_pct, &apsa, change_pct(x->r30->seconds, r->seconds))                    \
    X(ipc_vs_30_pct, &apsa, change_pct(r->ipc, x->r30->ipc))                                    \
    X(power_vs_60_pct, &apsa, change_pct(r->power_w, x->r60->power_w))                          \
    X(power_vs_30_pct, &apsa, change_pct(r->power_w, x->r30->power_w))                          \
    X(profiling_overhead_pct, &apsa, overhead_pct(x))                                           \
    X(type, &apsa, is_type1(x) ? 1 : 2)                                                         \
    X(as_table_1, &apsa, is_type1(x) == (at->kernel < s->n_first))                              \
    X(divergence_pct, &apsa, 100 * (1 - s->program[at->kernel].kernel[0].full_warps))
#define DEFINE(name, of, value)                                                               \
    static double name##_of(const struct suite *s, const struct at *at, const struct runs *x) \
    {                                                                                         \
        const struct tmx_cta_row *r = x->r;                                                   \
        (void)s, (void)at, (void)r;                                                           \
        return (value);                                                                       \
    }
COLUMNS(DEFINE)

#define ROW(name, of, value) {#name, name##_of, of},
static const struct column {
    const char *name;
    double (*number)(const struct suite *s, const struct at *at, const struct runs *x);
    const struct kind *of;
} columns[] = {COLUMNS(ROW)};

static const struct column *find_column(const struct suite *s, const char *name)
{
    for (const struct column *c = columns; c < columns + sizeof columns / sizeof columns[0]; c++) {
        if ((!c->of || c->of == s->kind) && strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

static double number_at(const struct suite *s, const struct column *c, const struct at *at)
{
    const struct runs x = runs_at(s, at);
    return x.r ? c->number(s, at, &x) : NAN;
}

enum take { ONE, MEAN, MIN, MAX, SUM };
struct group { /* kernels first .. last - 1 and what is taken of them */
    enum take take;
    size_t first, last, launch;
};

/* "mean GROUP", "min ...", "max ...", "sum ..."; "KERNEL" or "KERNEL kernel 15". */
static bool find_group(const struct suite *s, const char *of, struct group *g)
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

/* For `values`. */
static double number(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    const struct suite *s = ctx;
    const struct column *column = find_column(s, p->column);
    struct at at = {.seed = seed, .policy = p->policy};
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
            const double v = number_at(s, column, &at);
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

/* ---- what paper 000 has beside its table: four studies, each a file of the output folder ---- */

/* Performance, latency, power and energy of every kernel against the number of cores (Figures 3 and 4). */

static struct tmx_table *study_sweep(const struct suite *s, struct tmx_cta_outcome *out, struct tmx_err *err)
{
    struct tmx_table *t =
        tmx_table_of("kernel type cores:d performance_vs_one_core:3 latency_vs_one_core:3 power_w:2 "
                     "energy_mj:3 edp_js:9");
    const size_t most = (size_t)s->chip[0].memory.cores;
    double one_s = 0, one_latency = 0;
    for (size_t i = 0; i < s->n * most && !err->code; i++) {
        const struct tmx_memory_program *program = &s->program[i / most];
        const int n = 1 + (int)(i % most);
        char policy[64];
        snprintf(policy, sizeof policy, "static_optimal(cores=%d)", n);
        if (tmx_cta_run_as(&s->chip[0], &program, 1, policy, &s->options, NULL, out, err)) {
            break;
        }
        one_s = n == 1 ? out->result.seconds : one_s;
        one_latency = n == 1 ? out->latency_cycles : one_latency;
        tmx_table_row(t, "%s %s %d %g %g %g %g %g", program->name,
                      i / most < s->n_first ? "memory" : "compute", n, one_s / out->result.seconds,
                      one_latency > 0 ? out->latency_cycles / one_latency : 1,
                      out->energy.total_j / out->result.seconds, 1e3 * out->energy.total_j, out->edp_js);
    }
    return t;
}

/* IPC of every core over time for one kernel under the policies (Figure 8). */

enum { IMAGE_COLUMNS = 200 };

struct image {
    struct tmx_table *table;
    const char *policy;
    double every_cycles, next;
};

static void pixels(void *ctx, const struct tmx_contention_sample *sample)
{
    struct image *im = ctx;
    if (sample->cycle < im->next) {
        return;
    }
    im->next = sample->cycle + im->every_cycles;
    for (size_t i = 0; i < sample->n_core; i++) {
        tmx_table_row(im->table, "%s %g %zu %g", im->policy, 1e6 * sample->seconds, i, sample->core[i].ipc);
    }
}

static struct tmx_table *study_image(const struct suite *s, struct tmx_cta_outcome *out, struct tmx_err *err)
{
    struct image im = {.table = tmx_table_of("policy time_us:2 core:d ipc:4")};
    const struct tmx_cta_probe probe = {.epoch = pixels, .ctx = &im};
    const struct tmx_memory_program *mum = NULL;
    for (size_t k = 0; k < s->n; k++) {
        mum = strcmp(s->program[k].name, "MUM") == 0 ? &s->program[k] : mum;
    }
    if (mum) {
        tmx_cta_run_as(&s->chip[0], &mum, 1, "all", &s->options, NULL, out, err);
        im.every_cycles = out->result.cycles / IMAGE_COLUMNS;
    }
    for (size_t p = 0; mum && p < 4; p++) { /* all, TCS without and with throttling, hTCS */
        im.policy = tcs_policies[p];
        im.next = 0;
        tmx_cta_run_as(&s->chip[0], &mum, 1, im.policy, &s->options, &probe, out, err);
    }
    return im.table;
}

/* How the means over the first kernels move with threshold, window, block length and the scaling of SM
 * power. */

static const struct setting {
    const char *parameter, *value;
    const char *policy;
    double block_length; /* factor on the length of blocks, their number divided by it */
    double dram;         /* factor on DRAM throughput */
} settings[] = {
    {"(as documented)", "", "tcs", 1, 1},
    {"threshold", "1.1", "tcs(threshold=1.1)", 1, 1},
    {"threshold", "1.2", "tcs(threshold=1.2)", 1, 1},
    {"threshold", "1.4", "tcs(threshold=1.4)", 1, 1},
    {"threshold", "1.6", "tcs(threshold=1.6)", 1, 1},
    {"threshold", "2.0", "tcs(threshold=2.0)", 1, 1},
    {"stall_share", "0.4", "tcs(stall_share=0.4)", 1, 1},
    {"stall_share", "0.7", "tcs(stall_share=0.7)", 1, 1},
    {"window_cycles", "2048", "tcs(window_cycles=2048)", 1, 1},
    {"window_cycles", "4096", "tcs(window_cycles=4096)", 1, 1},
    {"window_cycles", "16384", "tcs(window_cycles=16384)", 1, 1},
    {"window_cycles", "32768", "tcs(window_cycles=32768)", 1, 1},
    {"block_length", "0.125", "tcs", 0.125, 1},
    {"block_length", "0.25", "tcs", 0.25, 1},
    {"block_length", "0.5", "tcs", 0.5, 1},
    {"block_length", "2", "tcs", 2, 1},
    {"sm_scaling", "log", "tcs", 1, 1},
    {"dram_lines_per_cycle", "x0.8", "tcs", 1, 0.8},
    {"dram_lines_per_cycle", "x1.25", "tcs", 1, 1.25},
    {"core", "given", "tcs", 1, 1},
    {"core", "sm_cycle", "tcs", 1, 1},
    {"core, hTCS", "given", "htcs", 1, 1},
    {"core, hTCS", "sm_cycle", "htcs", 1, 1},
    {"throttle", "at_once", "tcs", 1, 1},
};

static struct tmx_table *study_sensitivity(const struct suite *s, struct tmx_cta_outcome *out,
                                           struct tmx_err *err)
{
    struct tmx_table *t = tmx_table_of("parameter value energy_mean_pct:2 performance_mean_pct:2 "
                                       "cores_error_mean_pct:2 cores_mean:2");
    struct tmx_memory_program *program = calloc(1, sizeof *program);
    const struct tmx_memory_program *list[] = {program};
    (void)out;
    if (!program) {
        tmx_no_memory(err);
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && !err->code; i++) {
        const struct setting *set = &settings[i];
        struct tmx_cta_report report;
        struct tmx_cta_policy_spec p = {0};
        struct tmx_cta_chip chip = s->chip[0];
        double energy = 0, performance = 0, error = 0, cores_mean = 0;
        const double n = (double)s->n_first;
        const bool core = strncmp(set->parameter, "core", 4) == 0; /* source of the per-core parameters */
        chip.memory.dram_lines_per_cycle *= set->dram;
        chip.memory.throttle =
            strcmp(set->value, "at_once") == 0 ? TMX_THROTTLE_AT_ONCE : chip.memory.throttle;
        chip.memory.core = !core                              ? chip.memory.core
                           : strcmp(set->value, "given") == 0 ? TMX_SOURCE_GIVEN
                                                              : TMX_SOURCE_MEASURED;
        chip.energy.sm_scaling = strcmp(set->value, "log") == 0 ? TMX_CORE_LOG : chip.energy.sm_scaling;
        tmx_cta_report_create(&report, false, err);
        tmx_cta_policy_parse(set->policy, &p, err);
        for (size_t k = 0; k < s->n_first && !err->code; k++) {
            *program = s->program[k];
            for (size_t l = 0; l < program->n && !core; l++) {
                struct tmx_memory_kernel *kernel = &program->kernel[l];
                const double blocks = fmax(1, round(kernel->blocks / set->block_length));
                kernel->instr_per_warp = fmax(1, kernel->instr_per_warp * kernel->blocks / blocks);
                kernel->blocks = (int)blocks;
            }
            if (core) {
                tmx_cta_program_load(program, s->program[k].name, &chip, s->options.seed, NULL, err);
            }
            tmx_cta_report_kernel(&report, &chip, list, 1, &p, 1, &s->options, err);
            if (err->code) {
                break;
            }
            const struct tmx_cta_row *r = &report.row[report.n_row - 1];
            energy += r->energy_pct / n;
            performance += r->performance_pct / n;
            cores_mean += r->cores / n;
            error += 100 * fabs(r->cores / r->optimal_cores - 1) / n;
        }
        if (!err->code) {
            tmx_table_row(t, "%s %s %g %g %g %g", set->parameter, set->value, energy, performance, error,
                          cores_mean);
        }
        tmx_cta_policy_finish(&p);
        tmx_cta_report_finish(&report);
    }
    free(program);
    return t;
}

/* Pairs of a memory-bound and another kernel, one after the other with freed cores gated, or side by side
 * with freed cores lent. */

static struct tmx_table *study_share(const struct suite *s, struct tmx_cta_outcome *out, struct tmx_err *err)
{
    struct tmx_table *t = tmx_table_of(
        "first second gated_time_us:1 lent_time_us:1 lent_time_vs_gated_pct:2 lent_energy_vs_gated_pct:2 "
        "lent_edp_vs_gated_pct:2 lent_energy_vs_all_pct:2 lent_time_vs_all_pct:2");
    static const char *const policies[] = {"all", "tcs", "tcs_share"};
    for (size_t i = 0; i < s->n_first * s->n && !err->code; i++) {
        const struct tmx_memory_program *list[] = {&s->program[i / s->n], &s->program[i % s->n]};
        double seconds[3] = {0}, energy_j[3] = {0};
        for (int p = 0; p < 3 && list[0] != list[1]; p++) {
            tmx_cta_run_as(&s->chip[0], list, 2, policies[p], &s->options, NULL, out, err);
            seconds[p] = out->result.seconds;
            energy_j[p] = out->energy.total_j;
        }
        if (list[0] != list[1] && !err->code) {
            tmx_table_row(t, "%s %s %g %g %g %g %g %g %g", list[0]->name, list[1]->name, 1e6 * seconds[1],
                          1e6 * seconds[2], 100 * (seconds[2] / seconds[1] - 1),
                          100 * (energy_j[2] / energy_j[1] - 1),
                          100 * (seconds[2] * energy_j[2] / (seconds[1] * energy_j[1]) - 1),
                          100 * (energy_j[2] / energy_j[0] - 1), 100 * (seconds[2] / seconds[0] - 1));
        }
    }
    return t;
}

static void studies(const struct suite *s, struct tmx_err *err)
{
    static const struct {
        const char *file;
        struct tmx_table *(*make)(const struct suite *s, struct tmx_cta_outcome *out, struct tmx_err *err);
    } list[] = {{"sweep.csv", study_sweep},
                {"image.csv", study_image},
                {"sensitivity.csv", study_sensitivity},
                {"share.csv", study_share}};
    struct tmx_cta_outcome *out = calloc(1, sizeof *out);
    if (!out) {
        tmx_no_memory(err);
    }
    for (size_t i = 0; s->call->out_dir && i < sizeof list / sizeof list[0] && !err->code; i++) {
        struct tmx_table *t = list[i].make(s, out, err);
        tmx_suite_save(s->call, t, list[i].file, err);
        tmx_table_destroy(t);
    }
    free(out);
}

/* Rows of the means of the first seed: of all numbers from the cores to the static share. */
static void add_means(struct suite *s)
{
    for (size_t g = 0; g < 2; g++) {
        const size_t first = g == 0 ? 0 : s->n_first, last = g == 0 ? s->n_first : s->n;
        for (const char *const *p = tcs_policies; *p; p++) {
            struct tmx_cta_row r = {0};
            snprintf(r.kernel, sizeof r.kernel, "mean_%s", g == 0 ? "memory" : "compute");
            snprintf(r.policy, sizeof r.policy, "%s", *p);
            for (size_t at = offsetof(struct tmx_cta_row, cores);
                 at <= offsetof(struct tmx_cta_row, static_pct); at += sizeof(double)) {
                double sum = 0, v;
                for (size_t k = first; k < last; k++) {
                    memcpy(&v, (const char *)tmx_cta_report_find(&s->report[0], s->program[k].name, *p) + at,
                           sizeof v);
                    sum += v;
                }
                sum /= (double)(last - first);
                memcpy((char *)&r + at, &sum, sizeof sum);
            }
            tmx_cta_report_add(&s->report[0], &r);
        }
    }
}

/* ---- paper 002's table ---- */

static struct tmx_table *apsa_table(const struct suite *s)
{
    /* performance is of the wall clock, IPC per core cycle, as the paper */
    enum { FIRST = 10, LAST = 16 }; /* of those that are columns of values, too */
    struct tmx_table *t =
        tmx_table_of(TMX_CTA_COLUMNS
                     " "
                     "class paper_class performance_vs_30_pct:2 ipc_vs_30_pct:2 power_vs_60_pct:2 "
                     "power_vs_30_pct:2 profiling_overhead_pct:2 ipc_share_pct:1 bandwidth_pct:1 time_us:1 "
                     "mean_power_w:2");
    for (size_t i = 0; t && i < 5 * s->n; i++) {
        const size_t k = i / 5, p = i % 5;
        const struct at at = {
            .chip = p < 4 ? 0 : HALF, .kernel = k, .policy = p < 4 ? apsa_policies[p] : "all"};
        const struct runs x = runs_at(s, &at);
        struct tmx_cta_row r = *x.r; /* against 60 cores */
        snprintf(r.policy, sizeof r.policy, "%s", p < 4 ? apsa_policies[p] : "all_30");
        const bool is_apsa = strncmp(r.policy, "apsa", 4) == 0;
        r.performance_pct = change_pct(x.r60->seconds, r.seconds);
        r.energy_pct = change_pct(r.energy_j, x.r60->energy_j);
        r.edp_pct = change_pct(r.energy_j * r.seconds, x.r60->energy_j * x.r60->seconds);
        tmx_cta_cells(t, &r);
        tmx_table_row(t, "%s %s", !is_apsa ? "" : is_type1(&x) ? "I" : "II", k < s->n_first ? "I" : "II");
        for (size_t c = FIRST; c <= LAST; c++) {
            const struct column *column = find_column(s, tmx_table_column(t, c)->name);
            column->number == profiling_overhead_pct_of && !is_apsa
                ? tmx_table_empty(t)
                : tmx_table_real(t, number_at(s, column, &at));
        }
        tmx_table_row(t, "%g %g", 1e6 * r.seconds, r.power_w);
    }
    return t;
}

/* ---- the whole ---- */

/* Read the suite, its chips and all kernels, and check its `values`. */
static void read_suite(struct suite *s, struct tmx_err *err)
{
    static const char *const also[] = {"chip_set", NULL}, *const set[] = {"set", NULL};
    static const struct tmx_opt none[] = {{0}};
    const struct tmx_setting *root = s->call->root, *base = tmx_setting_member(root, "base");
    const char *const root_keys[] = {"name",  "kind",   "doc",          "source",        "base",
                                     "chips", "values", s->kind->first, s->kind->second, NULL};
    struct base b = {0};
    tmx_opt_read(none, NULL, root, root_keys, err);
    tmx_opt_read(base_opts, &b, base, also, err);
    load_chip(s, "", b.chip, base, "chip_set", err);
    const struct tmx_setting *list = tmx_setting_list(root, "chips", 0, CHIPS - 1, err);
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct beside more;
        tmx_opt_read(beside_opts, &more, e, set, err);
        load_chip(s, more.name, more.chip, e, "set", err);
    }
    s->options = (struct tmx_cta_options){.epoch_cycles = b.epoch_cycles, .seed = (uint64_t)b.seed};
    s->n_seed = s->call->check ? 1 : (size_t)b.seeds; /* a check measures nothing twice */
    s->chip[0].memory.core = b.core > 0 ? b.core - 1 : s->chip[0].memory.core;
    TMX_TAKE(&s->arena, s->report, s->n_seed * s->n_chip);
    TMX_TAKE(&s->arena, s->program, s->n_seed * PROGRAMS);
    tmx_arena_check(&s->arena, err);
    s->cores = s->call->out_dir ? tmx_cta_core_table() : NULL;
    load_list(s, s->kind->first, err);
    s->n_first = s->n;
    load_list(s, s->kind->second, err);
    s->values = (struct tmx_value_source){.ctx = s,
                                          .paper = s->kind->paper,
                                          .policy = "all",
                                          .n_seed = s->n_seed,
                                          .first_seed = (unsigned)s->options.seed,
                                          .number = number};
    tmx_values_read(&s->values, root, err);
}

/* Every kernel under the kind's policies on every chip with every seed. */
static void run_all(const struct suite *s, struct tmx_err *err)
{
    for (size_t i = 0; i < s->n_seed * s->n_chip && !err->code; i++) {
        const size_t seed = i / s->n_chip, chip = i % s->n_chip;
        const char *const *policies = chip == 0 ? s->kind->policies : s->kind->beside;
        struct tmx_cta_policy_spec p[LIST] = {{0}};
        struct tmx_cta_options o = s->options;
        size_t n = 0;
        o.seed += seed;
        tmx_cta_report_create(&s->report[i], i == 0 && s->call->out_dir, err);
        for (; policies[n] && !err->code; n++) {
            tmx_cta_policy_parse(policies[n], &p[n], err);
        }
        for (size_t k = 0; k < s->n && !err->code; k++) {
            const struct tmx_memory_program *program = &s->program[seed * PROGRAMS + k];
            tmx_cta_report_kernel(&s->report[i], &s->chip[chip], &program, 1, p, n, &o, err);
        }
        for (size_t k = 0; k < n; k++) {
            tmx_cta_policy_finish(&p[k]);
        }
    }
}

static void suite(const struct kind *kind, const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct suite s = {.call = call, .kind = kind, .n_seed = 1};
    struct tmx_table *own = NULL;
    read_suite(&s, err);
    if (kind == &apsa && s.n_chip <= HALF) {
        tmx_error_at(err, TMX_ECONFIG, call->path, 0, "chips: expected the chip of half the cores first");
    }
    if (!err->code && !call->check) {
        run_all(&s, err);
        if (!err->code && kind == &tcs) {
            add_means(&s);
            studies(&s, err);
        } else if (!err->code) {
            own = apsa_table(&s);
            tmx_table_check(own, err);
        }
        if (call->out_dir) {
            tmx_cta_report_save(&s.report[0], call->out_dir, err);
        }
        if (s.cores) {
            tmx_suite_save(call, s.cores, "core.csv", err);
        }
        tmx_suite_write(call, own ? own : s.report[0].table, &s.values, NULL, err);
    }
    tmx_table_destroy(own);
    for (size_t i = 0; s.report && i < s.n_seed * s.n_chip; i++) {
        tmx_cta_report_finish(&s.report[i]);
    }
    tmx_values_finish(&s.values);
    tmx_arena_finish(&s.arena);
    tmx_table_destroy(s.cores);
}

void tmx_suite_tcs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    suite(&tcs, call, err);
}

void tmx_suite_apsa(const struct tmx_suite_call *call, struct tmx_err *err)
{
    suite(&apsa, call, err);
}
