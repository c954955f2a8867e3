/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU with the least work left, in seconds of the whole GPU; a kernel that several GPUs share
 * counts in equal parts. */
#include "sched/policies.h"

static double left_s(const struct tmx_node_view *m, const struct tmx_gpu_view *gpu)
{
    double sm_s = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job_view *j = m->jobs[gpu->run[k]];
        sm_s += (j->work_sm_s - j->done_sm_s) / (double)j->n_gpu;
    }
    for (size_t q = 0; q < gpu->n_queue; q++) {
        const struct tmx_job_view *j = m->jobs[gpu->queue[q]];
        sm_s += (j->work_sm_s - j->done_sm_s) / (double)j->n_gpu;
    }
    return sm_s / (double)gpu->n_sm;
}

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct tmx_node_view *m = view->node;
    size_t best = 0;
    double least_s = left_s(m, m->gpus[0]);
    (void)state;
    (void)job;
    for (size_t g = 1; g < m->n_gpu; g++) {
        const double s = left_s(m, m->gpus[g]);
        if (s < least_s) {
            best = g;
            least_s = s;
        }
    }
    *at = (struct tmx_place){.home = best, .n = 1};
}

const struct tmx_place_policy tmx_place_least_loaded = {
    .base = {.name = "least_loaded",
             .doc = "The GPU with the least work left.",
             .source = "list scheduling, Graham 1966"},
    .place = place,
};
