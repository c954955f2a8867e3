/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/microbench/microbench.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "study/table_out.h"

enum { TIMELINE_ROWS = 400 }; /* about, per run */

void tmx_cta_report_create(struct tmx_cta_report *r, bool timeline, struct tmx_err *err)
{
    *r = (struct tmx_cta_report){0};
    r->row = calloc(TMX_MAX_CTA_ROW, sizeof *r->row);
    if (!r->row) {
        tmx_error(err, TMX_ENOMEM, "report of CTA runs");
    }
    r->table =
        tmx_table_of(TMX_CTA_COLUMNS
                     " "
                     "latency_cycles:1 ipc_vs_all_pct:2 time_us:1 energy_mj:3 mean_power_w:2 working_cores:2 "
                     "static_share_pct:1");
    r->launches =
        tmx_table_of("kernel policy program:d launch:d blocks:d cores:d working_cores:2 start_us:2 time_us:2 "
                     "latency_cycles:1");
    r->timeline =
        timeline
            ? tmx_table_of("kernel policy time_us:3 cycle:0 active_cores:d throttled_cores:d off_cores:d "
                           "latency_cycles:1 ipc:3 dram_load:3")
            : NULL;
    tmx_table_check(r->table, err);
    tmx_table_check(r->launches, err);
}

void tmx_cta_report_finish(struct tmx_cta_report *r)
{
    free(r->row);
    tmx_table_destroy(r->table);
    tmx_table_destroy(r->launches);
    tmx_table_destroy(r->timeline);
    tmx_table_destroy(r->cores);
    *r = (struct tmx_cta_report){0};
}

struct timeline {
    struct tmx_table *table;
    const char *kernel, *policy;
    double every_cycles, next;
};

static void sample(void *ctx, const struct tmx_contention_sample *s)
{
    struct timeline *t = ctx;
    int count[TMX_N_CORE_STATE] = {0};
    double ipc = 0;
    if (s->cycle < t->next) {
        return;
    }
    t->next = s->cycle + t->every_cycles;
    for (size_t i = 0; i < s->n_core; i++) {
        count[s->core[i].state]++;
        ipc += s->core[i].ipc;
    }
    tmx_table_row(t->table, "%s %s %g %g %d %d %d %g %g %g", t->kernel, t->policy, 1e6 * s->seconds, s->cycle,
                  count[TMX_CORE_ACTIVE] + count[TMX_CORE_GIVEN], count[TMX_CORE_THROTTLE],
                  count[TMX_CORE_OFF] + count[TMX_CORE_CLOCK_OFF],
                  s->latency->lines_per_cycle > 0 ? s->latency->cycles[0] : 0, ipc, s->latency->dram_load);
}

/* What a kernel does on a chip without any policy: the yardsticks of every row. */
struct baseline {
    struct tmx_cta_outcome all;
    double latency_one_core; /* cycles */
    double optimal_cores;
};

static void run_baseline(const struct tmx_cta_chip *chip, const struct tmx_memory_program *const *programs,
                         size_t n_program, const struct tmx_cta_options *o, struct baseline *b,
                         struct tmx_cta_outcome *scratch, struct tmx_err *err)
{
    tmx_cta_run_as(chip, programs, n_program, "all", o, NULL, &b->all, err);
    tmx_cta_run_as(chip, programs, n_program, "static_optimal(cores=1)", o, NULL, scratch, err);
    b->latency_one_core = scratch->latency_cycles;
    tmx_cta_run_as(chip, programs, n_program, "static_optimal", o, NULL, scratch, err);
    b->optimal_cores = tmx_cta_mean_cores(&scratch->result, &b->all.result);
}

static double change_pct(double ours, double base)
{
    return base > 0 ? 100 * (ours / base - 1) : 0;
}

static struct tmx_cta_row row_of(const struct tmx_cta_chip *chip, const char *kernel, const char *policy,
                                 const struct tmx_cta_outcome *o, const struct baseline *b)
{
    const struct tmx_energy *e = &o->energy;
    struct tmx_cta_row r = {
        .cores = tmx_cta_mean_cores(&o->result, &b->all.result),
        .optimal_cores = b->optimal_cores,
        .performance_pct = change_pct(b->all.result.seconds, o->result.seconds),
        .ipc_pct = change_pct(o->ipc, b->all.ipc),
        .energy_pct = change_pct(e->total_j, b->all.energy.total_j),
        .edp_pct = change_pct(o->edp_js, b->all.edp_js),
        .latency_cycles = o->latency_cycles,
        .latency_ratio = b->latency_one_core > 0 ? o->latency_cycles / b->latency_one_core : 1,
        .seconds = o->result.seconds,
        .energy_j = e->total_j,
        .power_w = e->total_j / o->result.seconds,
        .ipc = o->ipc,
        .bandwidth_share = o->result.dram_lines / o->result.cycles / chip->memory.dram_lines_per_cycle,
        .cycles = o->result.cycles,
        .static_pct = 100 * (e->core_static_j + e->memory_static_j) / e->total_j,
    };
    snprintf(r.kernel, sizeof r.kernel, "%.63s", kernel);
    snprintf(r.policy, sizeof r.policy, "%.63s", policy);
    for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
        r.nominal_s += o->result.ledger.bin[0][n].seconds;
    }
    for (size_t l = 0; l < o->result.n_launch; l++) {
        const struct tmx_cta_launch *launch = &o->result.launch[l];
        r.working_cores += launch->core_seconds / o->result.seconds;
        if (launch->program == 0) {
            r.launch_cores[launch->kernel] = launch->cores;
        }
    }
    return r;
}

void tmx_cta_cells(struct tmx_table *t, const struct tmx_cta_row *r)
{
    tmx_table_row(t, "%s %s %g %g %g %g %g %g", r->kernel, r->policy, r->cores, r->performance_pct,
                  r->energy_pct, r->edp_pct, r->latency_ratio, r->optimal_cores);
}

void tmx_cta_report_add(struct tmx_cta_report *report, const struct tmx_cta_row *r)
{
    tmx_cta_cells(report->table, r);
    tmx_table_row(report->table, "%g %g %g %g %g %g %g", r->latency_cycles, r->ipc_pct, 1e6 * r->seconds,
                  1e3 * r->energy_j, r->power_w, r->working_cores, r->static_pct);
}

const struct tmx_cta_row *tmx_cta_report_find(const struct tmx_cta_report *r, const char *kernel,
                                              const char *policy)
{
    for (size_t i = 0; i < r->n_row; i++) {
        if (strcmp(r->row[i].kernel, kernel) == 0 && strcmp(r->row[i].policy, policy) == 0) {
            return &r->row[i];
        }
    }
    return NULL;
}

void tmx_cta_report_kernel(struct tmx_cta_report *r, const struct tmx_cta_chip *chip,
                           const struct tmx_memory_program *const *programs, size_t n_program,
                           const struct tmx_cta_policy_spec *policy, size_t n_policy,
                           const struct tmx_cta_options *o, struct tmx_err *err)
{
    struct baseline *b = calloc(1, sizeof *b);
    struct tmx_cta_outcome *out = calloc(1, sizeof *out);
    char name[256] = "";
    if (b && out) {
        run_baseline(chip, programs, n_program, o, b, out, err);
    } else {
        tmx_error(err, TMX_ENOMEM, "runs of %s", programs[0]->name);
    }
    for (size_t i = 0; i < n_program; i++) {
        tmx_text_add(name, sizeof name, "%s%s", i > 0 ? "+" : "", programs[i]->name);
    }
    for (size_t p = 0; p < n_policy && !err->code; p++) {
        struct timeline t = {.table = r->timeline,
                             .kernel = name,
                             .policy = policy[p].text,
                             .every_cycles = b->all.result.cycles / TIMELINE_ROWS};
        const struct tmx_cta_probe probe = {.epoch = sample, .ctx = &t};
        if (!tmx_cta_run(chip, programs, n_program, &policy[p], o, r->timeline ? &probe : NULL, out, err)) {
            tmx_assert(r->n_row < TMX_MAX_CTA_ROW);
            r->row[r->n_row] = row_of(chip, name, policy[p].text, out, b);
            tmx_cta_report_add(r, &r->row[r->n_row++]);
            for (size_t i = 0; i < out->result.n_launch; i++) {
                const struct tmx_cta_launch *l = &out->result.launch[i];
                tmx_table_row(r->launches, "%s %s %zu %zu %zu %d %g %g %g %g", name, policy[p].text,
                              l->program, l->kernel + 1, (size_t)l->blocks, l->cores,
                              l->seconds > 0 ? l->core_seconds / l->seconds : 0, 1e6 * l->start_s,
                              1e6 * l->seconds, l->lines > 0 ? l->latency_sum / l->lines : 0);
            }
        }
    }
    free(b);
    free(out);
}

void tmx_cta_report_save(const struct tmx_cta_report *r, const char *dir, struct tmx_err *err)
{
    tmx_table_save_in(r->table, dir, "table.csv", err);
    tmx_table_save_in(r->launches, dir, "launches.csv", err);
    if (r->timeline) {
        tmx_table_save_in(r->timeline, dir, "timeline.csv", err);
    }
    if (r->cores) {
        tmx_table_save_in(r->cores, dir, "core.csv", err);
    }
}

void tmx_cta_ask(const struct tmx_cta_question *q, struct tmx_cta_report *r, struct tmx_err *err)
{
    struct tmx_arena arena = {0};
    struct tmx_memory_program *program;
    struct tmx_cta_policy_spec *policy;
    TMX_TAKE(&arena, program, q->n_kernel);
    TMX_TAKE(&arena, policy, q->n_policy);
    tmx_cta_report_create(r, q->timeline, err);
    tmx_arena_check(&arena, err);
    if (q->n_kernel > TMX_CTA_KERNELS || q->n_kernel * q->n_policy > TMX_MAX_CTA_ROW) {
        tmx_error(err, TMX_ERANGE, "%zu kernels under %zu policies: at most %d kernels and %d rows",
                  q->n_kernel, q->n_policy, TMX_CTA_KERNELS, TMX_MAX_CTA_ROW);
    }
    r->cores = q->compare_cores ? tmx_cta_core_table() : NULL;
    for (size_t k = 0; k < q->n_kernel && !err->code; k++) {
        if (!q->together && tmx_names_find(q->kernel[k], q->kernel, k) < k) {
            tmx_error(err, TMX_ECONFIG, "%s is given twice", q->kernel[k]);
        }
        tmx_cta_program_load(&program[k], q->kernel[k], q->chip, q->options.seed, r->cores, err);
    }
    for (size_t i = 0; i < q->n_policy && !err->code; i++) {
        tmx_cta_policy_parse(q->policy[i], &policy[i], err);
    }
    for (size_t k = 0; k < (q->together ? 1 : q->n_kernel) && !err->code; k++) {
        const struct tmx_memory_program *list[TMX_CTA_KERNELS];
        const size_t n_list = q->together ? q->n_kernel : 1;
        for (size_t i = 0; i < n_list; i++) {
            list[i] = &program[k + i];
        }
        tmx_cta_report_kernel(r, q->chip, list, n_list, policy, q->n_policy, &q->options, err);
    }
    for (size_t i = 0; policy && i < q->n_policy; i++) {
        tmx_cta_policy_finish(&policy[i]);
    }
    tmx_arena_finish(&arena);
}
