/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/bound.h"

#include <math.h>
#include <stdlib.h>

#include "limits/budget.h"
#include "run/state.h"

enum tmx_status tmx_gap_init(struct tmx_gap *j, const struct tmx_run *run, const struct tmx_bound_options *o,
                             struct tmx_err *err)
{
    *j = (struct tmx_gap){.options = *o};
    j->options.uniform = o->uniform || run->bound_options.uniform;
    j->options.one_level = o->one_level || run->bound_options.one_level;
    j->options.sm_leak = fmin(o->sm_leak, run->bound_options.sm_leak);
    j->options.limit_k = o->limit_k > 0 ? o->limit_k : tmx_sim_trip_k(tmx_run_sim(run));
    enum tmx_status st = isfinite(j->options.limit_k)
                             ? TMX_OK
                             : tmx_fail(err, TMX_EUNSUPPORTED,
                                        "no bound here: nothing limits the temperature; --limit C does");
    st = st ? st : tmx_work_init(&j->work, run, err);
    st = st ? st : tmx_plan_chip_init(&j->chip, run, 0, tmx_run_fastest_air(run, 0), err);
    st = st ? st : tmx_bound_init(&j->bound, &j->chip, &j->work, &j->options, err);
    struct tmx_arena *arena = &j->bound.arena; /* which ends with the bound */
    TMX_TAKE(arena, j->averages.sum, j->bound.lp.n_col);
    TMX_TAKE(arena, j->averages.busy, j->bound.n_kernel * j->bound.n_level * j->bound.n_sm);
    return st || !arena->failed ? st : tmx_fail(err, TMX_ENOMEM, "ledger");
}

void tmx_gap_finish(struct tmx_gap *j)
{
    tmx_bound_finish(&j->bound);
    tmx_work_finish(&j->work);
    tmx_plan_chip_finish(&j->chip);
    *j = (struct tmx_gap){0};
}

void tmx_gap_tick(void *gap, const struct tmx_sim *sim)
{
    struct tmx_gap *j = gap;
    const struct tmx_machine *m = sim->machine;
    const struct tmx_bound *b = &j->bound;
    double *sum = j->averages.sum;
    if (!m->counting) {
        return;
    }
    const double ticks = (double)sim->span;
    j->averages.n_tick += sim->span;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        sum[b->y0 + gpu->level] += ticks;
        for (size_t way = 0; way < gpu->n_run; way++) {
            const size_t kernel = tmx_work_row(&j->work, m, gpu->run[way]);
            const double *restrict busy = &m->busy[tmx_machine_at(m, gpu->sm0, way)];
            double *restrict to = &j->averages.busy[(kernel * b->n_level + gpu->level) * b->n_sm];
            for (size_t i = 0; i < b->n_sm; i++) {
                to[i] += ticks * busy[i];
            }
        }
    }
}

static double box(const struct tmx_bound *b, const double *x, size_t from, size_t to)
{
    double s = 0;
    for (size_t c = from; c < to; c++) {
        s += b->reduced[c] * ((b->reduced[c] > 0 ? b->lp.hi[c] : b->lp.lo[c]) - x[c]);
    }
    return s;
}

static double rows(const struct tmx_bound *b, const double *x, size_t from, size_t to)
{
    double s = 0;
    for (size_t i = from; i < to; i++) {
        s += b->dual[i] * tmx_lp_slack(&b->lp, i, x);
    }
    return s;
}

void tmx_gap_losses(struct tmx_gap *j, const struct tmx_run *run, double pct[TMX_N_GAP_CAUSE])
{
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const struct tmx_bound *b = &j->bound;
    double busy_s = 0, done_sm_s = 0, *x = j->averages.sum;
    for (size_t i = 0; i < TMX_N_GAP_CAUSE; i++) {
        pct[i] = 0;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        busy_s += m->gpu[g].busy_s;
    }
    for (size_t i = 0; i < m->n_job; i++) {
        done_sm_s += m->job[i].done_sm_s;
    }
    if (busy_s <= 0 || j->averages.n_tick == 0) {
        return;
    }
    for (size_t c = 0; c < b->n_kernel * b->n_level; c++) { /* busy shares to the columns of the programme */
        for (size_t s = 0; s < b->n_sm; s++) {
            x[s * b->n_kernel * b->n_level + c] = j->averages.busy[c * b->n_sm + s];
        }
    }
    const struct tmx_recorder *r = tmx_run_sim(run)->recorder;
    for (size_t g = 0; g < m->n_gpu; g++) { /* temperatures and leakage have been summed by the recorder */
        for (size_t u = 0, u0 = m->gpu[g].unit0; u < b->n_unit; u++) {
            x[b->t0 + u] += r->sum_k[u0 + u];
            x[b->l0 + u] += r->leakage_j[u0 + u] / m->tick_s;
        }
    }
    const double gpu_ticks = (double)j->averages.n_tick * (double)m->n_gpu;
    for (size_t c = 0; c < b->speed_col; c++) { /* shares of the busy time; the rest, means over ticks */
        x[c] /= c < b->y0 ? busy_s / m->tick_s : gpu_ticks;
    }
    x[b->speed_col] = done_sm_s / (busy_s * (double)b->n_sm);
    pct[TMX_GAP_BOUND] = 100 * (1 - b->speed);
    pct[TMX_GAP_TOTAL] = 100 * (b->speed - x[b->speed_col]);
    pct[TMX_GAP_IDLE] = 100 * rows(b, x, b->sm_row0, b->clock_row);
    pct[TMX_GAP_LEVEL] = 100 * (rows(b, x, b->clock_row, b->work_row0) + box(b, x, 0, b->t0));
    pct[TMX_GAP_OVERHEAD] = 100 * rows(b, x, b->work_row0, b->heat_row0);
    pct[TMX_GAP_STORED] = 100 * rows(b, x, b->heat_row0, b->leak_row0);
    pct[TMX_GAP_LEAKAGE] =
        100 * (rows(b, x, b->leak_row0, b->leak_row0 + b->n_leak_row) + box(b, x, b->l0, b->speed_col));
    pct[TMX_GAP_HEADROOM] = 100 * (rows(b, x, b->limit_row0, b->lp.n_row) + box(b, x, b->t0, b->l0));
    pct[TMX_GAP_NOT_NEEDED] = 100 * box(b, x, b->speed_col, b->speed_col + 1);
}

/* ---- many runs: a probe beside them ---- */

enum { HEADROOM = TMX_N_GAP_CAUSE, N_COLUMN };

static const char *const columns[N_COLUMN] = {
    [TMX_GAP_BOUND] = "bound_pct",
    [TMX_GAP_TOTAL] = "gap_pct",
    [TMX_GAP_IDLE] = "lost_idle_pct",
    [TMX_GAP_HEADROOM] = "lost_headroom_pct",
    [TMX_GAP_LEVEL] = "lost_level_pct",
    [TMX_GAP_LEAKAGE] = "lost_leakage_pct",
    [TMX_GAP_STORED] = "lost_stored_pct",
    [TMX_GAP_OVERHEAD] = "lost_overhead_pct",
    [TMX_GAP_NOT_NEEDED] = "lost_not_needed_pct",
    [HEADROOM] = "headroom_w",
};

/* Watts of dynamic power that a GPU with all SMs at work could draw for ever at the hardware's limit and the
 * nominal voltage, less what it drew, mean over the counted time and GPUs. NAN: no power is safe, or it is
 * unknown. */
static double headroom_w(const struct tmx_run *run)
{
    const struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_machine *m = sim->machine;
    const struct tmx_budget_call call = {tmx_sim_trip_k(sim), 1};
    const double time_s = tmx_sim_time_s(sim);
    struct tmx_plan_chip c = {0};
    struct tmx_err none = {0};
    double watt = NAN;
    if (!isfinite(call.limit_k) || !(time_s > 0)) {
        return NAN;
    }
    double drawn_w = 0;
    for (size_t u = 0; u < sim->recorder->n_unit; u++) {
        drawn_w += sim->recorder->dynamic_j[u] / (time_s * (double)m->n_gpu);
    }
    for (size_t g = 1; g < m->n_gpu; g++) {
        if (m->gpu[g].chip != m->gpu[0].chip) {
            return NAN;
        }
    }
    const bool known = !tmx_plan_chip_init(&c, run, 0, tmx_run_fastest_air(run, 0), &none) &&
                       !tmx_budget_of(&c, &call, NULL, &watt, NULL, &none);
    watt = known ? (double)c.n_sm * watt - drawn_w : NAN;
    tmx_plan_chip_finish(&c);
    return watt;
}

static void end(void *state)
{
    if (state) {
        tmx_gap_finish(state);
        free(state);
    }
}

static void *open_solved(void *ctx)
{
    (void)ctx;
    return tmx_lp_cache_create();
}

static void *begin(void *kept, const struct tmx_run *run, struct tmx_observer *observer)
{
    struct tmx_gap *gap = calloc(1, sizeof *gap);
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1, .solved = kept};
    if (gap && tmx_run_sim(run)->machine->n_gpu == 1 && !tmx_gap_init(gap, run, &options, &none)) {
        *observer = (struct tmx_observer){.ctx = gap, .tick = tmx_gap_tick};
    } else if (gap) {
        tmx_gap_finish(gap); /* zeroed: there is no bound */
    }
    return gap;
}

static void read(void *state, const struct tmx_run *run, double *value)
{
    const struct tmx_gap *gap = state;
    if (gap->bound.n_sm > 0) {
        tmx_gap_losses(state, run, value);
    }
    value[HEADROOM] = headroom_w(run);
}

const struct tmx_probe tmx_gap_probe = {.n = N_COLUMN,
                                        .column = columns,
                                        .open = open_solved,
                                        .close = tmx_lp_cache_destroy,
                                        .begin = begin,
                                        .read = read,
                                        .end = end};
