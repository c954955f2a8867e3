/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T^ABS across GPUs (paper 003, section 3.2): kernels start one per GPU; when one of them makes its
 * GPU too hot and a kernel of another power density index is on the card, the blocks of both go to
 * all GPUs of the card. Kernels that stay cool, and cards whose kernels are alike, do not pay for
 * remote memory.
 *
 * The paper says only that spreading pays "when the performance gained is greater than the memory
 * overhead"; the rule above is our reading of it. */
#include <math.h>

#include <thermix/policy.h>

#include "sched/policies.h"

struct spread {
    double emergency_c;
    double alike;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(spread, emergency_c, "degC", 0, 300, 88.7,
                 "hottest sensor at or above this is an emergency"),
    TMX_ROW_REAL(spread, alike, "1", 0, 1, 0, "power density indices closer than this fraction are equal"),
    {0},
};

static bool other_kind(const struct spread *s, const struct tmx_job_view *a, const struct tmx_job_view *b)
{
    return a->pdi_valid && b->pdi_valid && fabs(a->pdi_w - b->pdi_w) > s->alike * fmax(a->pdi_w, b->pdi_w);
}

/* An emergency on the GPU of a job that has only one. */
static bool hot(const struct spread *s, const struct tmx_view *view, const struct tmx_job_view *j)
{
    return view->hottest_k[j->home_gpu] >= s->emergency_c + TMX_ZERO_C;
}

/* A kernel on the GPU that is another kind than j, when one of the two is spread already or hot. */
static bool partner_on(const struct spread *s, const struct tmx_view *view, const struct tmx_gpu_view *gpu,
                       const struct tmx_job_view *j)
{
    const struct tmx_node_view *m = view->node;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job_view *other = m->jobs[gpu->run[k]];
        if (other_kind(s, j, other) &&
            (other->n_gpu > 1 || j->n_gpu > 1 || hot(s, view, j) || hot(s, view, other))) {
            return true;
        }
    }
    return false;
}

static void widen(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct spread *s = state;
    const struct tmx_node_view *m = view->node;
    const struct tmx_job_view *j = m->jobs[job];
    const struct tmx_gpu_view *home = m->gpus[j->home_gpu];
    *at = (struct tmx_place){j->home_gpu, j->n_gpu}; /* as it is */
    if (j->n_gpu >= home->n_card || j->state != TMX_JOB_RUNNING ||
        j->home_gpu + j->n_gpu > home->card0 + home->n_card) { /* on another card, too */
        return;
    }
    for (size_t g = home->card0; g < home->card0 + home->n_card; g++) {
        if ((g < j->home_gpu || g >= j->home_gpu + j->n_gpu) && partner_on(s, view, m->gpus[g], j)) {
            *at = (struct tmx_place){home->card0, home->n_card};
            return;
        }
    }
}

const struct tmx_place_policy tmx_place_spread = {
    .base =
        {.name = "spread",
         .doc =
             "One GPU a kernel; in an emergency the blocks of unlike kernels go to all GPUs of their card.",
         .source = "paper 003, section 3.2",
         .opts = opts,
         .state_size = sizeof(struct spread)},
    .place = tmx_place_in_turn,
    .widen = widen,
};
