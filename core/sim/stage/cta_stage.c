/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/floorplan/chip.h"

struct solved { /* the last latency solution of a GPU */
    size_t row[TMX_SLOTS];
    double sms[TMX_SLOTS], core_clock;
    bool turns; /* two kernels take turns on the same SMs inside the tick */
    double slowdown[TMX_SLOTS], latency[TMX_SLOTS]; /* against the kernel alone on the whole chip */
};

struct tmx_cta_stage {
    struct tmx_cta_spec spec;
    struct tmx_cta_plan *plan; /* [n_kernel] */
    double *reference_ipc;     /* [n_kernel] alone on the whole chip at nominal clocks */
    double *reference_latency; /* [n_kernel] likewise [cycles] */
    double *latency;           /* [n_job] of resident kernels, against that */
    size_t *row;               /* [n_job] plan of the job's kernel; SIZE_MAX: none */
    struct solved *solved;     /* [n_gpu] */
    size_t **spread;           /* [n_gpu][n_sm] */
    size_t n_gpu;
};

void tmx_spread_order(const double *x, const double *y, size_t n, size_t *order)
{
    double cx = 0, cy = 0;
    for (size_t i = 0; i < n; i++) {
        cx += x[i] / (double)n;
        cy += y[i] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = n;
        double best_m = -1;
        for (size_t i = 0; i < n; i++) {
            double nearest_m = k == 0 ? hypot(x[i] - cx, y[i] - cy) : INFINITY;
            for (size_t j = 0; j < k; j++) {
                nearest_m = order[j] == i ? -INFINITY
                                          : fmin(nearest_m, hypot(x[i] - x[order[j]], y[i] - y[order[j]]));
            }
            if (nearest_m > best_m + 1e-9) {
                best = i;
                best_m = nearest_m;
            }
        }
        order[k] = best;
    }
}

struct tmx_cta_stage *tmx_cta_stage_take(struct tmx_arena *a, const struct tmx_cta_spec *spec,
                                         const struct tmx_machine *m)
{
    size_t widest = 0;
    double *x;
    struct tmx_cta_stage *c = TMX_TAKE(a, c, 1);
    if (!c) {
        return NULL;
    }
    c->spec = *spec;
    c->n_gpu = m->n_gpu;
    TMX_TAKE(a, c->plan, spec->n_kernel);
    TMX_TAKE(a, c->reference_ipc, spec->n_kernel);
    TMX_TAKE(a, c->reference_latency, spec->n_kernel);
    TMX_TAKE(a, c->latency, m->n_job);
    TMX_TAKE(a, c->row, m->n_job);
    TMX_TAKE(a, c->solved, m->n_gpu);
    TMX_TAKE(a, c->spread, m->n_gpu);
    for (size_t g = 0; g < m->n_gpu && c->spread; g++) {
        const size_t n = m->gpu[g].chip->n_sm;
        TMX_TAKE(a, c->spread[g], n);
        widest = n > widest ? n : widest;
    }
    if (!TMX_TAKE(a, x, 2 * widest)) {
        return c;
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_chip *chip = m->gpu[g].chip;
        for (size_t sm = 0; sm < chip->n_sm; sm++) {
            const struct tmx_unit *u = &chip->floorplan.unit[chip->unit_of_sm[sm]];
            x[sm] = u->x_m + u->w_m / 2;
            x[widest + sm] = u->y_m + u->h_m / 2;
        }
        tmx_spread_order(x, x + widest, chip->n_sm, c->spread[g]);
    }
    memcpy(c->plan, spec->plan, spec->n_kernel * sizeof *c->plan);
    c->spec.plan = c->plan;
    for (size_t k = 0; k < spec->n_kernel; k++) {
        const struct tmx_share all = {&c->plan[k].memory, spec->chip.cores};
        tmx_contention_rates(&spec->chip, &all, 1, 1, 1, &c->reference_ipc[k], &c->reference_latency[k]);
    }
    tmx_job_rows(m->job, m->n_job, spec->kernel, spec->n_kernel, c->row);
    for (size_t j = 0; j < m->n_job; j++) {
        c->latency[j] = 1;
    }
    return c;
}

static const struct tmx_cta_plan *plan_of(const struct tmx_cta_stage *c, const struct tmx_gpu *gpu,
                                          size_t kernel_slot)
{
    const size_t row = kernel_slot < gpu->n_run ? c->row[gpu->run[kernel_slot]] : SIZE_MAX;
    return row == SIZE_MAX ? NULL : &c->plan[row];
}

/* SMs a kernel may have: its plan's, or where it lends the rest, all of them. */
static double wanted(const struct tmx_cta_plan *p, double n_sm)
{
    return p ? p->sms : n_sm;
}

void tmx_cta_stage_limit(const struct tmx_cta_stage *c, const struct tmx_machine *m,
                         struct tmx_request *request)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        struct tmx_gpu_request *r = &request->gpu[g];
        const double n_sm = (double)gpu->chip->n_sm;
        double sms = n_sm, clock = 1;
        for (size_t k = 0; k < gpu->n_run; k++) {
            const struct tmx_cta_plan *p = plan_of(c, gpu, k);
            clock = p ? fmin(clock, p->core_clock) : clock;
        }
        if (gpu->n_run == 1) {
            sms = wanted(plan_of(c, gpu, 0), n_sm);
        } else if (gpu->n_run == 2 && c->spec.turns) {
            sms = c->spec.lend ? n_sm
                               : fmax(wanted(plan_of(c, gpu, 0), n_sm), wanted(plan_of(c, gpu, 1), n_sm));
        } else if (gpu->n_run == 2 && c->spec.lend) { /* the first keeps what its plan says */
            const double w0 = wanted(plan_of(c, gpu, 0), n_sm), w1 = wanted(plan_of(c, gpu, 1), n_sm);
            r->share = w0 < n_sm ? fmin(r->share, w0 / n_sm) : fmax(r->share, 1 - w1 / n_sm);
        } else if (gpu->n_run == 2) {
            sms = r->share * wanted(plan_of(c, gpu, 0), n_sm) +
                  (1 - r->share) * wanted(plan_of(c, gpu, 1), n_sm);
        }
        r->n_active = (size_t)fmax(1, fmin(n_sm, round(sms)));
        while (r->level + 1 < gpu->chip->n_level && tmx_chip_speed(gpu->chip, r->level + 1) > clock - 0.02) {
            r->level++; /* the level nearest to the clock asked for */
        }
    }
}

bool tmx_cta_stage_order(const struct tmx_cta_stage *c, const struct tmx_gpu *gpu, size_t g,
                         const double *sensed_k, size_t *order)
{
    if (c->spec.place == TMX_CTA_COLDEST) {
        tmx_rank_ascending(&sensed_k[gpu->sm0], gpu->chip->n_sm, order);
    } else if (c->spec.place == TMX_CTA_SPREAD) {
        memcpy(order, c->spread[g], gpu->chip->n_sm * sizeof *order);
    }
    return c->spec.place != TMX_CTA_ORDER;
}

/* Time of a block on one SM against the kernel alone on the whole chip, per core cycle; of the kernels in
 * slots first to end - 1 side by side, kernel k on sms[k] SMs. */
static void solve(struct tmx_cta_stage *c, const double *sms, size_t first, size_t end, struct solved *now)
{
    struct tmx_share share[TMX_SLOTS];
    double ipc[TMX_SLOTS], latency[TMX_SLOTS], memory_clock = 1;
    size_t n = 0, kernel_slot[TMX_SLOTS];
    for (size_t k = first; k < end; k++) {
        now->slowdown[k] = now->latency[k] = 1;
        if (now->row[k] != SIZE_MAX) {
            const struct tmx_cta_plan *p = &c->plan[now->row[k]];
            share[n] = (struct tmx_share){&p->memory, sms[k]};
            memory_clock = fmax(memory_clock, p->memory_clock);
            kernel_slot[n++] = k;
        }
    }
    if (n == 0) {
        return;
    }
    tmx_contention_rates(&c->spec.chip, share, n, now->core_clock, memory_clock, ipc, latency);
    for (size_t i = 0; i < n; i++) {
        const size_t row = now->row[kernel_slot[i]];
        now->slowdown[kernel_slot[i]] = c->reference_ipc[row] / ipc[i];
        now->latency[kernel_slot[i]] = latency[i] / now->core_clock / c->reference_latency[row];
    }
}

static bool same(const struct solved *a, const struct solved *b)
{
    for (size_t k = 0; k < TMX_SLOTS; k++) {
        if (a->row[k] != b->row[k] || a->sms[k] != b->sms[k]) {
            return false;
        }
    }
    return a->core_clock == b->core_clock && a->turns == b->turns;
}

void tmx_cta_stage_slow(struct tmx_cta_stage *c, struct tmx_machine *m)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        struct tmx_gpu *gpu = &m->gpu[g];
        struct solved now = {.core_clock = m->speed[g]};
        for (size_t k = 0; k < TMX_SLOTS; k++) {
            now.row[k] = k < gpu->n_run ? c->row[gpu->run[k]] : SIZE_MAX;
            for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm && k < gpu->n_run; sm++) {
                now.sms[k] += m->share[tmx_machine_at(m, sm, k)];
            }
        }
        for (size_t sm = gpu->sm0; c->spec.turns && gpu->n_run == 2 && sm < gpu->sm0 + gpu->chip->n_sm;
             sm++) {
            now.turns = now.turns ||
                        (m->share[tmx_machine_at(m, sm, 0)] > 0 && m->share[tmx_machine_at(m, sm, 1)] > 0);
        }
        if (same(&now, &c->solved[g])) {
            now = c->solved[g];
        } else { /* kernels that take turns inside a tick have all SMs of both, and no company */
            const double all[2] = {now.sms[0] + now.sms[1], now.sms[0] + now.sms[1]};
            for (size_t k = 0; k < 2 && now.turns; k++) {
                solve(c, all, k, k + 1, &now);
            }
            if (!now.turns) {
                solve(c, now.sms, 0, gpu->n_run, &now);
            }
            c->solved[g] = now;
        }
        for (size_t k = 0; k < gpu->n_run; k++) {
            struct tmx_job *j = &m->job[gpu->run[k]];
            const struct tmx_cta_plan *p = plan_of(c, gpu, k);
            j->memory_slowdown = now.slowdown[k];
            c->latency[gpu->run[k]] = now.latency[k];
            if (p && m->counting && !j->transient_charged) {
                gpu->overhead_s += p->delay_s * (double)gpu->n_active;
                gpu->transition_j += p->energy_j;
                j->transient_charged = true;
            }
        }
    }
}

const double *tmx_cta_stage_latency(const struct tmx_cta_stage *c)
{
    return c->latency;
}

void tmx_cta_stage_sleep(const struct tmx_cta_stage *c, const struct tmx_machine *m, double *unpowered)
{
    for (size_t g = 0; g < m->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            const int sm = gpu->chip->sm_of_unit[u];
            if (sm == TMX_NO_SM) {
                continue;
            }
            const size_t i = gpu->sm0 + (size_t)sm;
            const double *busy = &m->busy[i], *share = &m->share[i];
            const bool unused = gpu->n_active < gpu->chip->n_sm && share[0] + share[m->n_sm] == 0 &&
                                busy[0] + busy[m->n_sm] == 0 && m->volunteer_s[i] == 0;
            unpowered[gpu->unit0 + u] = unused && c->spec.power_gate ? 1 - c->spec.gated_share : 0;
        }
    }
}
