/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/microbench/microbench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cost.h"
#include "base/output.h"
#include "base/text.h"
#include "kernels/stream.h"
#include "sched/sched.h"
#include "study/pool.h"
#include "study/table_out.h"

/* ---- kernels under gating policies ---- */

enum { EXPORT_BLOCKS = 16, DEFAULT_BUDGET = 300000 };

struct pool_context {
    const struct tmx_gate_plan *plan;
    struct tmx_sm_result *result;
};

/* One task: one kernel, all cases. */
static enum tmx_status run_task(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct tmx_gate_plan *p = ((struct pool_context *)ctx)->plan;
    struct tmx_stream made = {0};
    const struct tmx_stream *s = p->trace ? &p->trace[task] : NULL;
    if (!s) {
        (void)!tmx_gate_kernel_stream(&p->kernel[task], &p->chip->fit[p->fit], p->seed, &made, err);
        s = &made;
    }
    for (size_t i = 0; !err->code && i < p->n_case; i++) {
        struct tmx_gate_params gate = p->chip->gate;
        struct tmx_sm_result r;
        gate.break_even_cycles = p->gate[i].break_even_cycles;
        gate.wakeup_cycles = p->gate[i].wakeup_cycles;
        if (p->gate[i].idle_detect_cycles > 0) {
            gate.idle_detect_cycles = p->gate[i].idle_detect_cycles;
        }
        if (!tmx_sm_run(&p->chip->sm, s, p->gate[i].policy, &gate, p->budget, NULL, &r, err)) {
            fwrite(&r, sizeof r, 1, out);
        }
    }
    tmx_stream_finish(&made);
    return err->code;
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    struct pool_context *c = ctx;
    const size_t n = c->plan->n_case;
    if (r->status) {
        *err = r->err;
        return r->status;
    }
    tmx_assert(r->n_byte == n * sizeof *c->result);
    memcpy(&c->result[r->task * n], r->bytes, r->n_byte);
    return TMX_OK;
}

enum tmx_status tmx_gate_run(const struct tmx_gate_plan *plan, struct tmx_sm_result *result,
                             struct tmx_err *err)
{
    struct pool_context c = {plan, result};
    const struct tmx_pool pool = {.n_task = plan->n_kernel,
                                  .n_worker = plan->n_worker,
                                  .noun = plan->quiet ? NULL : "kernels",
                                  .ctx = &c,
                                  .run = run_task,
                                  .collect = collect};
    double n = 0; /* warp instructions of all kernels in one case */
    for (size_t k = 0; k < plan->n_kernel; k++) {
        const struct tmx_stream *s = plan->trace ? &plan->trace[k] : NULL;
        double warp = 0;
        for (size_t i = 0; s && i < s->n_program; i++) {
            warp += (double)s->program[i].count * s->program[i].repetitions / (double)s->n_program;
        }
        const double all = s ? warp * s->warps_per_block * (double)s->n_block : INFINITY;
        n += fmin(all, (double)plan->budget);
    }
    n *= (double)plan->n_case;
    const enum tmx_status st = tmx_cost_check((struct tmx_cost){.seconds = n * TMX_SM_INSTR_S}, err,
                                              "%.3g warp instructions in all", n);
    return st ? st : tmx_pool_run(&pool, err);
}

struct tmx_gate_numbers tmx_gate_numbers(const struct tmx_gate_plan *plan, const struct tmx_sm_result *r,
                                         const struct tmx_sm_result *base, int break_even_cycles)
{
    struct tmx_gate_numbers n = {.slowdown = tmx_gate_slowdown(r->cycles, base->cycles),
                                 .active_warps = (double)r->active_sum / (double)r->cycles,
                                 .ipc = tmx_sm_ipc(r)};
    for (int k = 0; k < 2; k++) {
        const struct tmx_gate_stat *g = &r->type[k];
        const double all = (double)g->clusters * (double)r->cycles;
        n.saved[k] = tmx_gate_saved(g, r->cycles, base->cycles, break_even_cycles);
        n.idle[k] = (double)g->idle_cycles / all;
        n.overhead[k] = break_even_cycles * (double)g->gatings / all;
        n.compensated[k] = ((double)g->paid_cycles - (double)g->unpaid_cycles) / all;
    }
    n.chip_saved = tmx_gate_chip_saved(&plan->chip->leakage, n.saved[0], n.saved[1]);
    if (r->issued_type[TMX_UNIT_FP] == 0) {
        n.saved[1] = NAN; /* the paper leaves kernels without FP out of its FP results (7.3) */
    }
    const uint64_t *periods = r->type[0].idle_periods;
    const double sum = (double)(periods[0] + periods[1] + periods[2]);
    for (int i = 0; i < 3; i++) {
        n.region[i] = sum > 0 ? (double)periods[i] / sum : 0;
    }
    return n;
}

struct tmx_table *tmx_gate_table(const struct tmx_gate_plan *p, const struct tmx_sm_result *result)
{
    struct tmx_table *t = tmx_table_of(
        "kernel policy bet:d wakeup:d int_saved_pct:2 fp_saved_pct:2 slowdown_pct:2 idle_wasted_pct:2 "
        "idle_uncompensated_pct:2 idle_compensated_pct:2 wakeups:d critical_wakeups:d chip_saved_pct:2 fit "
        "int_wakeups:d int_idle_pct:2 fp_idle_pct:2 int_compensated_pct:2 fp_compensated_pct:2 "
        "int_overhead_pct:2 fp_overhead_pct:2 active_warps:1 ipc:3 int_idle_detect_cycles:2 "
        "fp_idle_detect_cycles:2 instructions:d cycles:d");
    for (size_t task = 0; task < p->n_kernel; task++) {
        const struct tmx_sm_result *r = &result[task * p->n_case];
        for (size_t i = 0; i < p->n_case; i++) {
            const struct tmx_gate_case *c = &p->gate[i];
            const struct tmx_gate_stat *type = r[i].type;
            const struct tmx_gate_numbers n = tmx_gate_numbers(p, &r[i], r, c->break_even_cycles);
            const double fp = r[i].issued_type[TMX_UNIT_FP] > 0 ? 100 : NAN;
            tmx_table_row(t, "%s %s %d %d %G %G %G %G %G %G %zu %zu %G", p->kernel[task].name,
                          c->policy->base.name, c->break_even_cycles, c->wakeup_cycles, 100 * n.saved[0],
                          100 * n.saved[1], 100 * n.slowdown, 100 * n.region[0], 100 * n.region[1],
                          100 * n.region[2], (size_t)(type[0].wakeups + type[1].wakeups),
                          (size_t)(type[0].critical_wakeups + type[1].critical_wakeups), 100 * n.chip_saved);
            tmx_table_row(
                t, "%s %zu %G %G %G %G %G %G %g %g %g %g %zu %zu", p->trace ? "trace" : tmx_gate_fits[p->fit],
                (size_t)type[0].wakeups, 100 * n.idle[0], 100 * n.idle[1], 100 * n.compensated[0],
                fp * n.compensated[1], 100 * n.overhead[0], fp * n.overhead[1], n.active_warps, n.ipc,
                r[i].idle_detect_mean[0], r[i].idle_detect_mean[1], (size_t)r[i].issued, (size_t)r[i].cycles);
        }
    }
    return t;
}

/* Policy "none" at the first times, then what is asked for at every pair of times. */
static size_t make_cases(const struct tmx_gate_question *q, struct tmx_gate_case *c, struct tmx_err *err)
{
    const struct tmx_gate_params *own = &q->plan.chip->gate;
    const int *bet = q->n_bet ? q->break_even_cycles : &own->break_even_cycles,
              *wakeup = q->n_wakeup ? q->wakeup_cycles : &own->wakeup_cycles;
    const size_t n_bet = q->n_bet ? q->n_bet : 1, n_wakeup = q->n_wakeup ? q->n_wakeup : 1;
    c[0] = (struct tmx_gate_case){tmx_gate_find("none"), bet[0], wakeup[0], 0};
    size_t n = 1;
    for (size_t i = 0; q->n_policy > 0 ? i < q->n_policy : tmx_gate_policies[i] != NULL; i++) {
        const struct tmx_gate_policy *p =
            q->n_policy > 0 ? tmx_gate_find(q->policy[i]) : tmx_gate_policies[i];
        if (!p) {
            tmx_error(err, TMX_ECONFIG, "--policy: unknown policy \"%s\"; `thermix list policies` names them",
                      q->policy[i]);
            break;
        }
        for (size_t k = 0; p->wake != TMX_WAKE_NO_GATING && k < n_bet * n_wakeup; k++) {
            if (n == TMX_GATE_CASES) {
                tmx_error(err, TMX_ERANGE, "more than %d combinations of policies and times", TMX_GATE_CASES);
                return n;
            }
            c[n++] = (struct tmx_gate_case){p, bet[k / n_wakeup], wakeup[k % n_wakeup], 0};
        }
    }
    return n;
}

struct tmx_table *tmx_gate_ask(const struct tmx_gate_question *q, struct tmx_err *err)
{
    struct tmx_gate_case cases[TMX_GATE_CASES];
    struct tmx_stream trace = {0};
    struct tmx_sm_result *result;
    struct tmx_arena arena = {0};
    struct tmx_gate_plan plan = q->plan;
    if (err->code) {
        return NULL;
    }
    plan.gate = cases;
    plan.trace = q->trace ? &trace : NULL;
    plan.budget = plan.budget > 0 ? plan.budget : q->trace ? UINT64_MAX : DEFAULT_BUDGET;
    plan.n_case = make_cases(q, cases, err);
    if (!err->code && q->trace) {
        const struct tmx_instr_stats *k = &plan.kernel->stats;
        const struct tmx_memory memory = {k->miss, k->latency_cycles, k->latency_variation, k->bandwidth,
                                          k->lines};
        (void)!tmx_trace_file_read(&trace, q->trace, &memory, plan.seed, err);
    }
    TMX_TAKE(&arena, result, plan.n_kernel * plan.n_case);
    tmx_arena_check(&arena, err);
    struct tmx_table *t =
        err->code || tmx_gate_run(&plan, result, err) ? NULL : tmx_gate_table(&plan, result);
    tmx_arena_finish(&arena);
    tmx_stream_finish(&trace);
    return t;
}

enum tmx_status tmx_gate_export(const struct tmx_gate_plan *p, const char *path, struct tmx_err *err)
{
    struct tmx_output out = {0};
    struct tmx_stream s = {0};
    if (!err->code && !tmx_gate_kernel_stream(p->kernel, &p->chip->fit[p->fit], p->seed, &s, err) &&
        !tmx_output_open(&out, path, err)) {
        tmx_trace_file_write(&s, EXPORT_BLOCKS, out.file);
    }
    tmx_stream_finish(&s);
    return tmx_output_end(&out, err);
}

enum tmx_status tmx_gate_convert(const char *path, const char *to, struct tmx_err *err)
{
    struct tmx_output out;
    (void)(tmx_output_open(&out, to, err) || tmx_trace_from_accelsim(path, TMX_MAX_WARPS, out.file, err));
    return tmx_output_end(&out, err);
}

/* ---- kernels under CTA policies ---- */

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
