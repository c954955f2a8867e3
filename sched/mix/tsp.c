/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tsp: the fastest clock level whose power would be safe for ever. Every scheduling tick, on each GPU: the
 * powers of the present kernels and shares, leakage at the temperatures they lead to, and the hottest SM of
 * that steady state; mix and placement as foresight has them. It knows the package and the stat table and
 * corrects neither: a planner, no guard. Without an outlook it only mixes. */
#include <math.h>

#include "sched/mix/ahead.h"
#include "sched/policies.h"

struct tsp {
    double below_k, place_gain, power_scale;
    int window;
    bool place;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(tsp, below_k, "K", 0, 100, 0, "steady target below the hardware's limit"),
    TMX_ROW_REAL(tsp, place_gain, "W/K", 0, 1, 0.02, "of the placement"),
    TMX_ROW_REAL(tsp, power_scale, "1", 0, 10, 1,
                 "kernels' powers that the policy assumes, relative to the table's"),
    TMX_ROW_INT(tsp, window, "1", 1, 1024, 32, "fairness window N of arrivals"),
    TMX_ROW_BOOL(tsp, place, 1, "choose SMs for the hot kernel; otherwise both kernels share every SM alike"),
    {0},
};

/* One GPU's memory: dynamic watts, all watts, temperatures [unit_row each], integrator and sensors [n_sm]. */
static size_t size_of(const struct tmx_view *view, size_t gpu)
{
    return 3 * view->outlook[gpu].forecast->modes.unit_row + 2 * view->node->gpus[gpu]->n_sm;
}

static size_t memory(const void *state, const struct tmx_view *view)
{
    size_t n = view->outlook ? view->node->n_sm : 0;
    (void)state;
    for (size_t g = 0; view->outlook && g < view->node->n_gpu; g++) {
        n += size_of(view, g);
    }
    return n;
}

/* Is no SM of the steady state at a level above target_k? Leakage by iteration from the ambient up. */
static bool safe(const struct tmx_outlook *look, double target_k, size_t level, double waits, double leak,
                 const double *dyn_w, double *power_w, double *unit_k, double *sm_k)
{
    enum { ROUNDS = 12 };
    const double work = tmx_ahead_power(look->chip, level, waits), volt = tmx_ahead_volt(look->chip, level);
    double peak_k = 0;
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        unit_k[u] = look->forecast->modes.ambient_k;
    }
    for (int round = 0; round < ROUNDS; round++) {
        peak_k = tmx_ahead_settle(look, work, dyn_w, leak * volt, power_w, unit_k, sm_k);
    }
    return peak_k <= target_k;
}

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct tsp *o = state;
    const struct tmx_ahead ahead = {o->power_scale, o->place_gain, o->window, o->place};
    double *at = request->memory ? request->memory + view->node->n_sm : NULL;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const struct tmx_gpu_view *gpu = view->node->gpus[g];
        struct tmx_gpu_request *r = &request->gpu[g];
        tmx_ahead_mix(&ahead, view, g, r);
        if (!view->outlook || !at) {
            continue;
        }
        const struct tmx_outlook *look = &view->outlook[g];
        const size_t row = look->forecast->modes.unit_row;
        double *dyn_w = at, *power_w = dyn_w + row, *unit_k = power_w + row, *integral = unit_k + row,
               *sm_k = integral + gpu->n_sm;
        at += size_of(view, g);
        double leak, target_k = view->limit_k - o->below_k;
        const double waits = tmx_ahead_work(&ahead, view, g, r, view->sensed_k + gpu->sm0, integral,
                                            request->memory + gpu->sm0, dyn_w, &leak);
        r->level = gpu->level; /* a slower level is cooler: from the one in force it is not far */
        while (r->level + 1 < gpu->n_level &&
               !safe(look, target_k, r->level, waits, leak, dyn_w, power_w, unit_k, sm_k)) {
            r->level++;
        }
        while (r->level > 0 &&
               safe(look, target_k, r->level - 1, waits, leak, dyn_w, power_w, unit_k, sm_k)) {
            r->level--;
        }
    }
}

const struct tmx_mix_policy tmx_mix_tsp = {
    .base = {.name = "tsp",
             .doc = "The fastest clock level whose power is thermally safe for ever; mixes and places.",
             .source = "Pagani et al., TSP, IEEE TC 2017, with leakage; docs/notes/foresight.md",
             .opts = opts,
             .state_size = sizeof(struct tsp)},
    .memory = memory,
    .foresees = true,
    .decide = decide,
    .spread = tmx_ahead_spread,
};
