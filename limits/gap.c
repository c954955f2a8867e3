/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/gap.h"

#include <math.h>
#include <stdlib.h>

#include "run/state.h"

const char *const tmx_gap_columns[TMX_N_GAP_CAUSE] = {
#define TMX_GAP_NAME(l, name) [l] = name,
    TMX_GAP_CAUSES(TMX_GAP_NAME)
#undef TMX_GAP_NAME
};

enum tmx_status tmx_gap_init(struct tmx_gap *j, const struct tmx_run *run, const struct tmx_bound_options *o,
                             struct tmx_err *err)
{
    struct tmx_bound_options options = *o;
    *j = (struct tmx_gap){0};
    options.uniform = o->uniform || run->bound_options.uniform;
    options.one_level = o->one_level || run->bound_options.one_level;
    options.sm_leak = fmin(o->sm_leak, run->bound_options.sm_leak);
    if (o->limit_k <= 0) {
        options.limit_k = tmx_sim_trip_k(tmx_run_sim_const(run));
    }
    j->options = options;
    enum tmx_status st =
        isfinite(options.limit_k)
            ? TMX_OK
            : tmx_fail(err, TMX_EUNSUPPORTED, "no bound here: nothing limits the temperature");
    st = st ? st : tmx_work_init(&j->work, run, err);
    st = st ? st : tmx_plan_chip_init(&j->chip, run, 0, tmx_run_fastest_air(run), err);
    st = st ? st : tmx_bound_init(&j->bound, &j->chip, &j->work, &j->options, err);
    if (!st) {
        j->averages.sum = calloc(j->bound.lp.n_col, sizeof *j->averages.sum);
        j->averages.busy = calloc(j->bound.n_kernel * j->bound.n_level, j->bound.n_sm * sizeof(double));
        st = j->averages.sum && j->averages.busy ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "ledger");
    }
    return st;
}

void tmx_gap_finish(struct tmx_gap *j)
{
    free(j->averages.sum);
    free(j->averages.busy);
    tmx_bound_finish(&j->bound);
    tmx_work_finish(&j->work);
    tmx_plan_chip_finish(&j->chip);
    *j = (struct tmx_gap){0};
}

static void add(size_t n, const double *restrict v, double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += v[i];
    }
}

void tmx_gap_tick(struct tmx_gap *j, const struct tmx_sim *sim)
{
    const struct tmx_machine *m = tmx_sim_machine(sim);
    const struct tmx_bound *b = &j->bound;
    double *sum = j->averages.sum;
    if (!m->counting) {
        return;
    }
    j->averages.n_tick++;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        sum[b->y0 + gpu->level] += 1;
        for (size_t way = 0; way < gpu->n_run; way++) {
            const size_t kernel = j->work.row_of_job[gpu->run[way]];
            add(b->n_sm, &m->busy[tmx_machine_at(m, gpu->sm0, way)],
                &j->averages.busy[(kernel * b->n_level + gpu->level) * b->n_sm]);
        }
    }
}

/* Busy shares to the columns of the programme. */
static void place_busy(struct tmx_gap *j)
{
    const struct tmx_bound *b = &j->bound;
    for (size_t c = 0; c < b->n_kernel * b->n_level; c++) {
        for (size_t s = 0; s < b->n_sm; s++) {
            j->averages.sum[s * b->n_kernel * b->n_level + c] = j->averages.busy[c * b->n_sm + s];
        }
    }
}

/* Temperatures and leakage have been summed by the recorder. */
static void place_units(struct tmx_gap *j, const struct tmx_sim *sim)
{
    const struct tmx_machine *m = tmx_sim_machine(sim);
    const struct tmx_recorder *r = tmx_sim_recorder(sim);
    const struct tmx_bound *b = &j->bound;
    for (size_t g = 0; g < m->n_gpu; g++) {
        const size_t u0 = m->gpu[g].unit0;
        for (size_t u = 0; u < b->n_unit; u++) {
            j->averages.sum[b->t0 + u] += r->sum_k[u0 + u];
            j->averages.sum[b->l0 + u] += r->leakage_j[u0 + u] / m->dt_s;
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
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
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
    place_busy(j);
    place_units(j, tmx_run_sim_const(run));
    const double gpu_ticks = (double)j->averages.n_tick * (double)m->n_gpu;
    for (size_t c = 0; c < b->speed_col; c++) { /* shares of the busy time; the rest, means over ticks */
        x[c] /= c < b->y0 ? busy_s / m->dt_s : gpu_ticks;
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
