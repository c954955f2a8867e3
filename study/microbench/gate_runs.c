/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/microbench/microbench.h"

#include <math.h>
#include <string.h>

#include "base/cost.h"
#include "base/output.h"
#include "kernels/stream.h"
#include "sched/sched.h"
#include "study/pool.h"

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
    return tmx_output_end(&out, err->code, err);
}

enum tmx_status tmx_gate_convert(const char *path, const char *to, struct tmx_err *err)
{
    struct tmx_output out = {0};
    (void)(err->code || tmx_output_open(&out, to, err) ||
           tmx_trace_from_accelsim(path, TMX_MAX_WARPS, out.file, err));
    return tmx_output_end(&out, err->code, err);
}
