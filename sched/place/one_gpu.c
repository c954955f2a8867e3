/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each kernel goes to one GPU and stays there. The policies differ in how they choose it. */
#include "sched/policies.h"

/* In turn by arrival: the default of today's cards (paper 003, section 3.2). */
void tmx_place_in_turn(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)state;
    *at =
        (struct tmx_place){.home = (size_t)(view->node->jobs[job]->queue_order % view->node->n_gpu), .n = 1};
}

const struct tmx_place_policy tmx_place_own_gpu = {
    .base = {.name = "own_gpu",
             .doc = "The k-th arrival goes to GPU k modulo the number of GPUs.",
             .source = "paper 003, section 3.2",
             .rests = TMX_RESTS_ALIKE},
    .place = tmx_place_in_turn,
};

/* The next GPU after the last one used, past those whose queue is full. */
static void place_next(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct tmx_node_view *m = view->node;
    (void)state;
    (void)job;
    for (size_t k = 0; k < m->n_gpu; k++) {
        const size_t g = ((m->last_home < m->n_gpu ? m->last_home + 1 : 0) + k) % m->n_gpu;
        if (m->gpus[g]->n_queue < TMX_KQUEUE) {
            *at = (struct tmx_place){.home = g, .n = 1};
            return;
        }
    }
}

const struct tmx_place_policy tmx_place_round_robin = {
    .base = {.name = "round_robin",
             .doc = "The next GPU after the last one used, past full queues.",
             .source = "common practice"},
    .place = place_next,
};

/* The coldest GPU among those with the fewest kernels: at equal load heat decides. */
static void place_coldest(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct tmx_node_view *m = view->node;
    size_t best = 0;
    (void)state;
    (void)job;
    for (size_t g = 1; g < m->n_gpu; g++) {
        const size_t load = m->gpus[g]->n_run + m->gpus[g]->n_queue;
        const size_t least = m->gpus[best]->n_run + m->gpus[best]->n_queue;
        if (load < least || (load == least && view->hottest_k[g] < view->hottest_k[best])) {
            best = g;
        }
    }
    *at = (struct tmx_place){.home = best, .n = 1};
}

const struct tmx_place_policy tmx_place_coldest = {
    .base = {.name = "coldest",
             .doc = "The coldest of the GPUs with the fewest kernels.",
             .source = "coolest-first placement as in Moore et al., USENIX ATC 2005 (recalled)"},
    .place = place_coldest,
};

/* The GPU with the least work left, in seconds of the whole GPU; a kernel that several GPUs share
 * counts in equal parts. */
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

static void place_least(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
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
    .place = place_least,
};
