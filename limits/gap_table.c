/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "limits/gap_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "limits/budget.h"
#include "limits/gap.h"

enum { HEADROOM = TMX_N_GAP_CAUSE, N_COLUMN };

/* Names of the losses, then ours. */
static const char *const columns[N_COLUMN] = {
#define TMX_LEDGER_LOSS(l, name) [l] = name,
    TMX_GAP_CAUSES(TMX_LEDGER_LOSS)
#undef TMX_LEDGER_LOSS
        [HEADROOM] = "headroom_w",
};

struct ledger {
    struct tmx_gap judge;
    bool judged; /* there is a bound */
};

static void judge_tick(void *ctx, const struct tmx_sim *sim)
{
    tmx_gap_tick(ctx, sim);
}

/* Watts of dynamic power that a GPU with all SMs at work could draw for ever at the hardware's limit and the
 * nominal voltage, less what it drew, mean over the counted time and GPUs. NAN: no power is safe, or nobody
 * can tell. */
static double headroom_w(const struct tmx_run *run)
{
    const struct tmx_sim *sim = tmx_run_sim_const(run);
    const struct tmx_machine *m = tmx_sim_machine(sim);
    const struct tmx_budget_call call = {tmx_sim_trip_k(sim), 1};
    const double time_s = tmx_sim_time_s(sim);
    struct tmx_plan_chip c = {0};
    struct tmx_err none = {0};
    double watt = NAN;
    if (!isfinite(call.limit_k) || !(time_s > 0)) {
        return NAN;
    }
    double drawn_w = 0;
    for (size_t u = 0; u < tmx_sim_recorder(sim)->n_unit; u++) {
        drawn_w += tmx_sim_recorder(sim)->dynamic_j[u] / (time_s * (double)m->n_gpu);
    }
    for (size_t g = 1; g < m->n_gpu; g++) {
        if (m->gpu[g].chip != m->gpu[0].chip) {
            return NAN;
        }
    }
    enum tmx_status st = tmx_plan_chip_init(&c, run, 0, tmx_run_fastest_air(run), &none);
    bool *on = st ? NULL : malloc(c.n_sm * sizeof *on);
    if (on) {
        memset(on, 1, c.n_sm * sizeof *on);
        st = tmx_budget_of(&c, &call, on, &watt, NULL, &none);
        watt = st ? NAN : (double)c.n_sm * watt - drawn_w;
    }
    free(on);
    tmx_plan_chip_finish(&c);
    return watt;
}

static void end(void *state)
{
    struct ledger *l = state;
    if (l) {
        tmx_gap_finish(&l->judge);
        free(l);
    }
}

static void *open_solved(void *ctx)
{
    (void)ctx;
    struct tmx_lp_cache *s = NULL;
    struct tmx_err none = {0};
    return tmx_lp_cache_create(&s, &none) ? NULL : s;
}

static void close_solved(void *kept)
{
    tmx_lp_cache_destroy(kept);
}

static void *begin(void *kept, const struct tmx_run *run, struct tmx_observer *observer)
{
    struct ledger *l = calloc(1, sizeof *l);
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1, .solved = kept};
    const bool alone = tmx_sim_machine(tmx_run_sim_const(run))->n_gpu == 1;
    if (l && alone) {
        l->judged = tmx_gap_init(&l->judge, run, &options, &none) == TMX_OK;
    }
    if (l && l->judged) {
        *observer = (struct tmx_observer){.ctx = &l->judge, .tick = judge_tick};
    }
    return l;
}

static void read(void *state, const struct tmx_run *run, double *value)
{
    struct ledger *l = state;
    if (l->judged) {
        tmx_gap_losses(&l->judge, run, value);
    }
    value[HEADROOM] = headroom_w(run);
}

const struct tmx_probe tmx_gap_probe = {.n = N_COLUMN,
                                        .column = columns,
                                        .open = open_solved,
                                        .close = close_solved,
                                        .begin = begin,
                                        .read = read,
                                        .end = end};
