/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 000: TCS and hTCS on its ten benchmarks. What the paper prints is in the suite file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/suite_cta.h"

/* Beside its table the suite writes four studies, each as one file of the output folder. */

/* One run under a policy given as text. */
static enum tmx_status run(const struct tmx_cta_suite *s, const struct tmx_memory_program *const *programs,
                           size_t n, const char *policy, const struct tmx_cta_probe *probe,
                           struct tmx_cta_outcome *out, struct tmx_err *err)
{
    struct tmx_cta_policy_spec p;
    enum tmx_status st = tmx_cta_policy_parse(policy, &p, err);
    st = st ? st : tmx_cta_run(&s->chip[0], programs, n, &p, &s->options, probe, out, err);
    tmx_cta_policy_finish(&p);
    return st;
}

/* Performance, latency, power and energy of every kernel against the number of cores (Figures 3 and 4). */

static const struct tmx_column sweep_columns[] = {TMX_TEXT("kernel"),
                                                  TMX_TEXT("type"),
                                                  TMX_INT("cores"),
                                                  TMX_REAL("performance_vs_one_core", 3),
                                                  TMX_REAL("latency_vs_one_core", 3),
                                                  TMX_REAL("power_w", 2),
                                                  TMX_REAL("energy_mj", 3),
                                                  TMX_REAL("edp_js", 9)};

static enum tmx_status study_sweep(const struct tmx_cta_suite *s, struct tmx_cta_outcome *out,
                                   struct tmx_table *t, struct tmx_err *err)
{
    double one_s = 0, one_latency = 0;
    for (size_t i = 0; i < s->n * (size_t)s->chip[0].memory.cores; i++) {
        const size_t kernel = i / (size_t)s->chip[0].memory.cores;
        const int n = 1 + (int)(i % (size_t)s->chip[0].memory.cores);
        const struct tmx_memory_program *list[] = {&s->program[kernel]};
        char policy[64];
        snprintf(policy, sizeof policy, "static_optimal(cores=%d)", n);
        const enum tmx_status st = run(s, list, 1, policy, NULL, out, err);
        if (st) {
            return st;
        }
        one_s = n == 1 ? out->result.seconds : one_s;
        one_latency = n == 1 ? out->latency_cycles : one_latency;
        tmx_table_row(t, "%s %s %d %g %g %g %g %g", list[0]->name, kernel < s->n_first ? "memory" : "compute",
                      n, one_s / out->result.seconds, one_latency > 0 ? out->latency_cycles / one_latency : 1,
                      out->energy.total_j / out->result.seconds, 1e3 * out->energy.total_j, out->edp_js);
    }
    return TMX_OK;
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

static const struct tmx_column image_columns[] = {TMX_TEXT("policy"), TMX_REAL("time_us", 2), TMX_INT("core"),
                                                  TMX_REAL("ipc", 4)};

static enum tmx_status study_image(const struct tmx_cta_suite *s, struct tmx_cta_outcome *out,
                                   struct tmx_table *t, struct tmx_err *err)
{
    static const char *const policies[] = {"all", "tcs", "tcs(throttling=false)", "htcs", NULL};
    struct image im = {.table = t};
    const struct tmx_memory_program *list[] = {NULL};
    for (size_t k = 0; k < s->n; k++) {
        list[0] = strcmp(s->program[k].name, "MUM") == 0 ? &s->program[k] : list[0];
    }
    if (!list[0]) {
        return TMX_OK;
    }
    enum tmx_status st = run(s, list, 1, "all", NULL, out, err);
    im.every_cycles = out->result.cycles / IMAGE_COLUMNS;
    for (const char *const *p = policies; *p && !st; p++) {
        const struct tmx_cta_probe probe = {.epoch = pixels, .ctx = &im};
        im.policy = *p;
        im.next = 0;
        st = run(s, list, 1, *p, &probe, out, err);
    }
    return st;
}

/* How the means over the first kernels move with threshold, window, block length and the scaling of SM
 * power. */

static const struct tmx_column sensitivity_columns[] = {TMX_TEXT("parameter"),
                                                        TMX_TEXT("value"),
                                                        TMX_REAL("energy_mean_pct", 2),
                                                        TMX_REAL("performance_mean_pct", 2),
                                                        TMX_REAL("cores_error_mean_pct", 2),
                                                        TMX_REAL("cores_mean", 2)};

struct setting {
    const char *parameter, *value;
    const char *policy;
    double block_length; /* factor on the length of blocks, their number divided by it */
    const char *scaling; /* linear or log */
    double dram;         /* factor on DRAM throughput */
    const char *core;    /* source of the per-core parameters; NULL: the suite's */
};

static const struct setting settings[] = {
    {"(as documented)", "", "tcs", 1, "linear", 1, NULL},
    {"threshold", "1.1", "tcs(threshold=1.1)", 1, "linear", 1, NULL},
    {"threshold", "1.2", "tcs(threshold=1.2)", 1, "linear", 1, NULL},
    {"threshold", "1.4", "tcs(threshold=1.4)", 1, "linear", 1, NULL},
    {"threshold", "1.6", "tcs(threshold=1.6)", 1, "linear", 1, NULL},
    {"threshold", "2.0", "tcs(threshold=2.0)", 1, "linear", 1, NULL},
    {"stall_share", "0.4", "tcs(stall_share=0.4)", 1, "linear", 1, NULL},
    {"stall_share", "0.7", "tcs(stall_share=0.7)", 1, "linear", 1, NULL},
    {"window_cycles", "2048", "tcs(window_cycles=2048)", 1, "linear", 1, NULL},
    {"window_cycles", "4096", "tcs(window_cycles=4096)", 1, "linear", 1, NULL},
    {"window_cycles", "16384", "tcs(window_cycles=16384)", 1, "linear", 1, NULL},
    {"window_cycles", "32768", "tcs(window_cycles=32768)", 1, "linear", 1, NULL},
    {"block_length", "0.125", "tcs", 0.125, "linear", 1, NULL},
    {"block_length", "0.25", "tcs", 0.25, "linear", 1, NULL},
    {"block_length", "0.5", "tcs", 0.5, "linear", 1, NULL},
    {"block_length", "2", "tcs", 2, "linear", 1, NULL},
    {"sm_scaling", "log", "tcs", 1, "log", 1, NULL},
    {"dram_lines_per_cycle", "x0.8", "tcs", 1, "linear", 0.8, NULL},
    {"dram_lines_per_cycle", "x1.25", "tcs", 1, "linear", 1.25, NULL},
    {"core", "given", "tcs", 1, "linear", 1, "given"},
    {"core", "sm_cycle", "tcs", 1, "linear", 1, "sm_cycle"},
    {"core, hTCS", "given", "htcs", 1, "linear", 1, "given"},
    {"core, hTCS", "sm_cycle", "htcs", 1, "linear", 1, "sm_cycle"},
    {"throttle", "at_once", "tcs", 1, "linear", 1, NULL},
};

static enum tmx_status study_sensitivity(const struct tmx_cta_suite *s, struct tmx_cta_outcome *out,
                                         struct tmx_table *t, struct tmx_err *err)
{
    struct tmx_memory_program *program = calloc(1, sizeof *program);
    const struct tmx_memory_program *list[] = {program};
    enum tmx_status st = program ? TMX_OK : tmx_no_memory(err);
    (void)out;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && !st; i++) {
        const struct setting *set = &settings[i];
        struct tmx_cta_report report;
        struct tmx_cta_policy_spec p = {0};
        struct tmx_cta_chip chip = s->chip[0];
        double energy = 0, performance = 0, error = 0, cores = 0;
        const double n = (double)s->n_first;
        chip.memory.dram_lines_per_cycle *= set->dram;
        chip.memory.throttle =
            strcmp(set->value, "at_once") == 0 ? TMX_THROTTLE_AT_ONCE : chip.memory.throttle;
        chip.memory.core = !set->core                        ? chip.memory.core
                           : strcmp(set->core, "given") == 0 ? TMX_SOURCE_GIVEN
                                                             : TMX_SOURCE_MEASURED;
        chip.energy.sm_scaling = strcmp(set->scaling, "log") == 0 ? TMX_CORE_LOG : chip.energy.sm_scaling;
        st = tmx_cta_report_create(&report, false, err);
        st = st ? st : tmx_cta_policy_parse(set->policy, &p, err);
        for (size_t k = 0; k < s->n_first && !st; k++) {
            *program = s->program[k];
            for (size_t l = 0; l < program->n && !set->core; l++) {
                struct tmx_memory_kernel *kernel = &program->kernel[l];
                const double blocks = fmax(1, round(kernel->blocks / set->block_length));
                kernel->instr_per_warp = fmax(1, kernel->instr_per_warp * kernel->blocks / blocks);
                kernel->blocks = (int)blocks;
            }
            st = set->core
                     ? tmx_cta_program_load(program, s->program[k].name, &chip, s->options.seed, NULL, err)
                     : TMX_OK;
            st = st ? st : tmx_cta_report_kernel(&report, &chip, list, 1, &p, 1, &s->options, err);
            const struct tmx_cta_row *r = st ? NULL : &report.row[report.n_row - 1];
            energy += r ? r->energy_pct / n : 0;
            performance += r ? r->performance_pct / n : 0;
            cores += r ? r->cores / n : 0;
            error += r ? 100 * fabs(r->cores / r->optimal_cores - 1) / n : 0;
        }
        if (!st) {
            tmx_table_row(t, "%s %s %g %g %g %g", set->parameter, set->value, energy, performance, error,
                          cores);
        }
        tmx_cta_policy_finish(&p);
        tmx_cta_report_finish(&report);
    }
    free(program);
    return st;
}

/* Pairs of a memory-bound and another kernel, one after the other with freed cores gated, or side by side
 * with freed cores lent. */

static const struct tmx_column share_columns[] = {TMX_TEXT("first"),
                                                  TMX_TEXT("second"),
                                                  TMX_REAL("gated_time_us", 1),
                                                  TMX_REAL("lent_time_us", 1),
                                                  TMX_REAL("lent_time_vs_gated_pct", 2),
                                                  TMX_REAL("lent_energy_vs_gated_pct", 2),
                                                  TMX_REAL("lent_edp_vs_gated_pct", 2),
                                                  TMX_REAL("lent_energy_vs_all_pct", 2),
                                                  TMX_REAL("lent_time_vs_all_pct", 2)};

static enum tmx_status study_share(const struct tmx_cta_suite *s, struct tmx_cta_outcome *out,
                                   struct tmx_table *t, struct tmx_err *err)
{
    static const char *const policies[] = {"all", "tcs", "tcs_share"};
    for (size_t i = 0; i < s->n_first * s->n; i++) {
        const struct tmx_memory_program *list[] = {&s->program[i / s->n], &s->program[i % s->n]};
        double seconds[3] = {0}, energy_j[3] = {0};
        for (int p = 0; p < 3 && list[0] != list[1]; p++) {
            const enum tmx_status st = run(s, list, 2, policies[p], NULL, out, err);
            if (st) {
                return st;
            }
            seconds[p] = out->result.seconds;
            energy_j[p] = out->energy.total_j;
        }
        if (list[0] != list[1]) {
            tmx_table_row(t, "%s %s %g %g %g %g %g %g %g", list[0]->name, list[1]->name, 1e6 * seconds[1],
                          1e6 * seconds[2], 100 * (seconds[2] / seconds[1] - 1),
                          100 * (energy_j[2] / energy_j[1] - 1),
                          100 * (seconds[2] * energy_j[2] / (seconds[1] * energy_j[1]) - 1),
                          100 * (energy_j[2] / energy_j[0] - 1), 100 * (seconds[2] / seconds[0] - 1));
        }
    }
    return TMX_OK;
}

/* ---- the table ---- */

static const char *const policies[] = {"all",       "tcs", "tcs(throttling=false)", "htcs", "static_optimal",
                                       "tcs_share", NULL};

/* Of a run, and the same one under TCS. */
#define COLUMN(name, value)                                                                          \
    static double name(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)                   \
    {                                                                                                \
        const struct tmx_cta_at under = {at->seed, at->chip, at->kernel, at->launch, "tcs"};         \
        const struct tmx_cta_row *r = tmx_cta_suite_row(s, at), *tcs = tmx_cta_suite_row(s, &under); \
        return r && tcs ? (value) : NAN;                                                             \
    }
COLUMN(energy_vs_tcs, 100 * (r->energy_j / tcs->energy_j - 1))
COLUMN(performance_vs_tcs, 100 * (tcs->seconds / r->seconds - 1))
COLUMN(cores_error, 100 * fabs(r->cores / r->optimal_cores - 1)) /* from the static optimum */

/* Relative rise of the L2 hit rate from all cores to those the policy settles for in a launch. */
static double l2_hit_gain(const struct tmx_cta_suite *s, const struct tmx_cta_at *at)
{
    const struct tmx_cta_row *r = tmx_cta_suite_row(s, at);
    const size_t launch = at->launch ? at->launch - 1 : 0;
    if (!r || r->launch_cores[launch] <= 0) {
        return NAN;
    }
    const double share = (double)s->chip[at->chip].memory.cores / r->launch_cores[launch];
    return 100 * (pow(share, s->program[at->kernel].kernel[launch].l2_gain) - 1);
}

static const struct tmx_cta_column columns[] = {
    {"energy_vs_tcs_pct", energy_vs_tcs},
    {"performance_vs_tcs_pct", performance_vs_tcs},
    {"cores_error_pct", cores_error},
    {"l2_hit_gain_pct", l2_hit_gain},
    {0},
};

static const struct tmx_cta_kind kind = {.paper = "000",
                                         .first = "memory_kernels",
                                         .second = "compute_kernels",
                                         .first_name = "memory",
                                         .second_name = "compute",
                                         .policies = policies,
                                         .beside = policies,
                                         .columns = columns};

/* Rows of the means of the first seed. */
static void add_means(struct tmx_cta_suite *s)
{
#define FIELD(f) offsetof(struct tmx_cta_row, f)
    static const size_t field[] = {
        FIELD(cores),   FIELD(optimal_cores), FIELD(performance_pct), FIELD(ipc_pct), FIELD(energy_pct),
        FIELD(edp_pct), FIELD(latency_ratio), FIELD(latency_cycles),  FIELD(seconds), FIELD(energy_j),
        FIELD(power_w), FIELD(working_cores), FIELD(static_pct)};
    for (size_t g = 0; g < 2; g++) {
        const size_t first = g == 0 ? 0 : s->n_first, last = g == 0 ? s->n_first : s->n;
        for (const char *const *p = policies; *p; p++) {
            struct tmx_cta_row r = {0};
            snprintf(r.kernel, sizeof r.kernel, "%s", g == 0 ? "mean_memory" : "mean_compute");
            snprintf(r.policy, sizeof r.policy, "%s", *p);
            for (size_t f = 0; f < sizeof field / sizeof field[0]; f++) {
                double sum = 0, v;
                for (size_t k = first; k < last; k++) {
                    const struct tmx_cta_row *of = tmx_cta_report_find(&s->report[0], s->program[k].name, *p);
                    memcpy(&v, (const char *)of + field[f], sizeof v);
                    sum += v;
                }
                sum /= (double)(last - first);
                memcpy((char *)&r + field[f], &sum, sizeof sum);
            }
            tmx_cta_report_add(&s->report[0], &r);
        }
    }
}

static enum tmx_status studies(const struct tmx_cta_suite *s, struct tmx_err *err)
{
#define COLUMNS(c) (c), sizeof(c) / sizeof((c)[0])
    static const struct {
        const char *file;
        const struct tmx_column *column;
        size_t n_column;
        enum tmx_status (*fill)(const struct tmx_cta_suite *s, struct tmx_cta_outcome *out,
                                struct tmx_table *t, struct tmx_err *err);
    } list[] = {{"sweep.csv", COLUMNS(sweep_columns), study_sweep},
                {"image.csv", COLUMNS(image_columns), study_image},
                {"sensitivity.csv", COLUMNS(sensitivity_columns), study_sensitivity},
                {"share.csv", COLUMNS(share_columns), study_share}};
    struct tmx_cta_outcome *out = calloc(1, sizeof *out);
    enum tmx_status st = out ? TMX_OK : tmx_no_memory(err);
    for (size_t i = 0; s->call->out_dir && i < sizeof list / sizeof list[0] && !st; i++) {
        struct tmx_table *t = tmx_table_new(list[i].column, list[i].n_column);
        st = list[i].fill(s, out, t, err);
        st = st ? st : tmx_suite_save(s->call, t, list[i].file, err);
        tmx_table_destroy(t);
    }
    free(out);
    return st;
}

enum tmx_status tmx_suite_tcs(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_cta_suite s;
    enum tmx_status st = tmx_cta_suite_begin(&s, call, &kind, err);
    if (!st && !call->check) {
        st = tmx_cta_suite_run(&s, err);
        if (!st) {
            add_means(&s);
        }
        st = st ? st : studies(&s, err);
        st = st ? st : tmx_cta_suite_write(&s, NULL, err);
    }
    tmx_cta_suite_end(&s);
    return st;
}
