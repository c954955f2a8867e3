/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/gate_runs.h"

#include <math.h>
#include <string.h>

#include "study/pool.h"

struct pool_context {
    const struct tmx_gate_plan *plan;
    struct tmx_sm_result *result;
};

static enum tmx_status stream_of(const struct tmx_gate_plan *p, size_t kernel, size_t fit,
                                 struct tmx_stream *s, struct tmx_err *err)
{
    return tmx_stream_generate(s, &p->kernel[kernel].stats, &p->chip->fit[fit], p->seed, err);
}

/* One task: one kernel under one fit, all cases. */
static enum tmx_status run_task(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    const struct tmx_gate_plan *p = ((struct pool_context *)ctx)->plan;
    const size_t fit = p->first_fit + task / p->n_kernel, kernel = task % p->n_kernel;
    struct tmx_stream made = {0};
    const struct tmx_stream *s = p->trace;
    enum tmx_status st = TMX_OK;
    if (!s) {
        st = stream_of(p, kernel, fit, &made, err);
        s = &made;
    }
    for (size_t i = 0; !st && i < p->n_case; i++) {
        struct tmx_gate_params gate = p->chip->gate;
        struct tmx_sm_result r;
        gate.break_even_cycles = p->gate[i].break_even_cycles;
        gate.wakeup_cycles = p->gate[i].wakeup_cycles;
        st = tmx_sm_run(&p->chip->sm, s, p->gate[i].policy, &gate, p->budget, NULL, &r, err);
        if (!st) {
            fwrite(&r, sizeof r, 1, out);
        }
    }
    tmx_stream_finish(&made);
    return st;
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
    const struct tmx_pool pool = {.n_task = plan->n_fit * plan->n_kernel,
                                  .n_worker = plan->n_worker,
                                  .noun = plan->quiet ? NULL : "kernels",
                                  .ctx = &c,
                                  .run = run_task,
                                  .collect = collect};
    return tmx_pool_run(&pool, err);
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

static const struct tmx_column columns[] = {
    {"kernel", TMX_COLUMN_TEXT, 0},
    {"policy", TMX_COLUMN_TEXT, 0},
    {"bet", TMX_COLUMN_INT, 0},
    {"wakeup", TMX_COLUMN_INT, 0},
    {"int_saved_pct", TMX_COLUMN_REAL, 2},
    {"fp_saved_pct", TMX_COLUMN_REAL, 2},
    {"slowdown_pct", TMX_COLUMN_REAL, 2},
    {"idle_wasted_pct", TMX_COLUMN_REAL, 2},
    {"idle_uncompensated_pct", TMX_COLUMN_REAL, 2},
    {"idle_compensated_pct", TMX_COLUMN_REAL, 2},
    {"wakeups", TMX_COLUMN_INT, 0},
    {"critical_wakeups", TMX_COLUMN_INT, 0},
    {"chip_saved_pct", TMX_COLUMN_REAL, 2},
    {"fit", TMX_COLUMN_TEXT, 0},
    {"int_wakeups", TMX_COLUMN_INT, 0},
    {"int_idle_pct", TMX_COLUMN_REAL, 2},
    {"fp_idle_pct", TMX_COLUMN_REAL, 2},
    {"int_compensated_pct", TMX_COLUMN_REAL, 2},
    {"fp_compensated_pct", TMX_COLUMN_REAL, 2},
    {"int_overhead_pct", TMX_COLUMN_REAL, 2},
    {"fp_overhead_pct", TMX_COLUMN_REAL, 2},
    {"active_warps", TMX_COLUMN_REAL, 1},
    {"ipc", TMX_COLUMN_REAL, 3},
    {"int_idle_detect_cycles", TMX_COLUMN_REAL, 2},
    {"fp_idle_detect_cycles", TMX_COLUMN_REAL, 2},
    {"instructions", TMX_COLUMN_INT, 0},
    {"cycles", TMX_COLUMN_INT, 0},
};

static void percent(struct tmx_table *t, double v)
{
    if (isnan(v)) {
        tmx_table_empty(t);
    } else {
        tmx_table_real(t, 100 * v);
    }
}

static void add_row(struct tmx_table *t, const struct tmx_gate_plan *p, const char *kernel, const char *fit,
                    const struct tmx_gate_case *c, const struct tmx_sm_result *r,
                    const struct tmx_sm_result *base)
{
    const struct tmx_gate_numbers n = tmx_gate_numbers(p, r, base, c->break_even_cycles);
    const bool fp = r->issued_type[TMX_UNIT_FP] > 0;
    tmx_table_text(t, kernel);
    tmx_table_text(t, c->policy->base.name);
    tmx_table_int(t, c->break_even_cycles);
    tmx_table_int(t, c->wakeup_cycles);
    percent(t, n.saved[0]);
    percent(t, n.saved[1]);
    percent(t, n.slowdown);
    for (int i = 0; i < 3; i++) {
        percent(t, n.region[i]);
    }
    tmx_table_int(t, (int64_t)(r->type[0].wakeups + r->type[1].wakeups));
    tmx_table_int(t, (int64_t)(r->type[0].critical_wakeups + r->type[1].critical_wakeups));
    percent(t, n.chip_saved);
    tmx_table_text(t, fit);
    tmx_table_int(t, (int64_t)r->type[0].wakeups);
    percent(t, n.idle[0]);
    percent(t, n.idle[1]);
    percent(t, n.compensated[0]);
    percent(t, fp ? n.compensated[1] : NAN);
    percent(t, n.overhead[0]);
    percent(t, fp ? n.overhead[1] : NAN);
    tmx_table_real(t, n.active_warps);
    tmx_table_real(t, n.ipc);
    tmx_table_real(t, r->idle_detect_mean[0]);
    tmx_table_real(t, r->idle_detect_mean[1]);
    tmx_table_int(t, (int64_t)r->issued);
    tmx_table_int(t, (int64_t)r->cycles);
}

enum tmx_status tmx_gate_table(const struct tmx_gate_plan *p, const struct tmx_sm_result *result,
                               struct tmx_table **t, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    if (st) {
        return st;
    }
    for (size_t task = 0; task < p->n_fit * p->n_kernel; task++) {
        const struct tmx_sm_result *r = &result[task * p->n_case];
        for (size_t i = 0; i < p->n_case; i++) {
            add_row(*t, p, p->kernel[task % p->n_kernel].name,
                    p->trace ? "trace" : tmx_gate_fits[p->first_fit + task / p->n_kernel], &p->gate[i], &r[i],
                    r);
        }
    }
    return TMX_OK;
}
