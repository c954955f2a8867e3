/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct rate {   /* of a resident kernel in this tick */
    size_t row; /* of profile */
    double latency_cycles;
    double saved[TMX_N_GATE_TYPE]; /* per unit of time; below 0 where switching costs more than it saves */
    double slowdown;               /* block lifetimes times this */
};

struct tmx_gate_stage {
    struct tmx_gate_profile *profile; /* [n_kind * n_kernel] */
    double *latency_cycles;           /* [n_kind * n_kernel] */
    double *break_even_cycles;        /* [n_gpu] */
    size_t *row0;                     /* [n_gpu] first row of its kind in profile */
    size_t *row;                      /* [n_job] kernel of the job; SIZE_MAX: no profile */
    double *share;                    /* [n_unit * TMX_N_GATE_TYPE] */
    struct rate *rate;                /* [n_gpu * TMX_SLOTS] */
};

static const char *const part_names[] = {"INT", "FP", "SFU"};

struct tmx_gate_stage *tmx_gate_stage_take(struct tmx_arena *a, const struct tmx_gate_spec *spec,
                                           const struct tmx_machine *m)
{
    struct tmx_gate_stage *g = TMX_TAKE(a, g, 1);
    const size_t n = spec->n_kernel, n_row = spec->n_kind * n;
    if (g) {
        TMX_TAKE(a, g->profile, n_row + 1);
        TMX_TAKE(a, g->latency_cycles, n_row + 1);
        TMX_TAKE(a, g->break_even_cycles, m->n_gpu + 1);
        TMX_TAKE(a, g->row0, m->n_gpu + 1);
        TMX_TAKE(a, g->rate, m->n_gpu * TMX_SLOTS + 1);
        TMX_TAKE(a, g->row, m->n_job + 1);
        TMX_TAKE(a, g->share, m->n_unit * TMX_N_GATE_TYPE + 1);
    }
    if (a->failed) {
        return g;
    }
    for (size_t k = 0; k < spec->n_kind; k++) {
        memcpy(&g->profile[k * n], spec->kind[k].profile, n * sizeof *g->profile);
        memcpy(&g->latency_cycles[k * n], spec->kind[k].latency_cycles, n * sizeof *g->latency_cycles);
    }
    tmx_job_rows(m->job, m->n_job, spec->kernel, n, g->row);
    for (size_t i = 0; i < m->n_gpu; i++) {
        const struct tmx_gate_kind *kind = &spec->kind[spec->kind_of_gpu[i]];
        g->break_even_cycles[i] = kind->break_even_cycles;
        g->row0[i] = spec->kind_of_gpu[i] * n;
        const struct tmx_chip *c = m->gpu[i].chip; /* shares of its units, and of types in them */
        double sm_area = 0, die_area = 0;
        for (size_t u = 0; u < c->floorplan.n_unit; u++) {
            const double area_m2 = tmx_unit_area_m2(&c->floorplan.unit[u]);
            die_area += area_m2;
            sm_area += c->sm_of_unit[u] == TMX_NO_SM ? 0 : area_m2;
        }
        for (size_t u = 0; u < c->floorplan.n_unit; u++) {
            const double area_m2 = tmx_unit_area_m2(&c->floorplan.unit[u]); /* by which leakage is spread */
            const double leak_share = c->power.leakage_sm_share < 0
                                          ? area_m2 / die_area
                                          : c->power.leakage_sm_share * area_m2 / sm_area;
            const char *part = strchr(c->floorplan.unit[u].name, '_');
            for (size_t t = 0; t < TMX_N_GATE_TYPE && c->sm_of_unit[u] != TMX_NO_SM; t++) {
                /* leakage of this type in the unit's, at most all of it */
                const double share = kind->chip_share[t] / (double)c->n_sm / leak_share;
                const bool has = !part || tmx_word_compare(part + 1, part_names[t]) == 0;
                g->share[(m->gpu[i].unit0 + u) * TMX_N_GATE_TYPE + t] = !has ? 0 : share < 1 ? share : 1;
            }
        }
    }
    return g;
}

void tmx_gate_stage_slow(struct tmx_gate_stage *g, struct tmx_machine *m, struct tmx_gpus span,
                         const double *latency_factor)
{
    for (size_t i = span.first; i < span.end; i++) {
        const struct tmx_gpu *gpu = &m->gpu[i];
        for (size_t k = 0; k < gpu->n_run; k++) {
            const size_t job = gpu->run[k], kernel = g->row[job], row = g->row0[i] + kernel;
            struct rate *r = &g->rate[i * TMX_SLOTS + k];
            if (kernel == SIZE_MAX) {
                continue;
            }
            const double own = g->latency_cycles[row] * tmx_chip_speed(gpu->chip, gpu->level),
                         latency_cycles = latency_factor ? own * latency_factor[job] : own;
            if (r->row != row || r->latency_cycles != latency_cycles) { /* else it is known */
                struct tmx_gate_point at;
                tmx_gate_profile_at(&g->profile[row], latency_cycles, &at);
                *r = (struct rate){.row = row, .latency_cycles = latency_cycles, .slowdown = 1 + at.slowdown};
                for (int t = 0; t < TMX_N_GATE_TYPE; t++) {
                    r->saved[t] = at.asleep[t] - g->break_even_cycles[i] * at.gatings_per_cycle[t];
                }
            }
            m->job[job].gate_slowdown = r->slowdown;
        }
    }
}

static double unit_asleep(const struct tmx_gate_stage *g, const struct tmx_gpu *gpu, const struct rate *rate,
                          const double *busy, size_t stride, const double *share)
{
    double idle = 1, saved[TMX_N_GATE_TYPE] = {0}, sum = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const size_t row = g->row[gpu->run[k]];
        idle -= busy[k * stride];
        for (int t = 0; t < TMX_N_GATE_TYPE && row != SIZE_MAX; t++) {
            saved[t] += busy[k * stride] * rate[k].saved[t];
        }
    }
    for (int t = 0; t < TMX_N_GATE_TYPE; t++) {
        sum += share[t] * (saved[t] + (idle > 0 ? idle : 0));
    }
    return sum;
}

void tmx_gate_stage_sleep(const struct tmx_gate_stage *g, const struct tmx_machine *m, struct tmx_gpus span,
                          double *asleep)
{
    for (size_t i = span.first; i < span.end; i++) {
        const struct tmx_gpu *gpu = &m->gpu[i];
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            const int sm = gpu->chip->sm_of_unit[u];
            if (sm != TMX_NO_SM) {
                asleep[gpu->unit0 + u] =
                    unit_asleep(g, gpu, &g->rate[i * TMX_SLOTS], &m->busy[gpu->sm0 + (size_t)sm], m->n_sm,
                                &g->share[(gpu->unit0 + u) * TMX_N_GATE_TYPE]);
            }
        }
    }
}
