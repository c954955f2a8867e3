/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hot with cold: idle GPUs first, the coldest of them; else, among the GPUs with the fewest kernels,
 * a kernel hotter than the node's mean power density index goes where the least of it is, a colder
 * one where the most is. A kernel that no SM has profiled takes the index of an earlier one of the
 * same name (paper 003, section 3.1: power profiles can be reused above the node), or counts as
 * cold. */
#include "sched/policies.h"

/* Power density index as far as it is known; 0: unknown. */
static double known_w(const struct tmx_node_view *m, size_t job)
{
    if (m->jobs[job]->pdi_valid) {
        return m->jobs[job]->pdi_w;
    }
    for (size_t j = 0; j < m->n_arrived; j++) {
        if (m->jobs[j]->pdi_valid && m->jobs[j]->kernel == m->jobs[job]->kernel) {
            return m->jobs[j]->pdi_w;
        }
    }
    return 0;
}

static double sum_on(const struct tmx_node_view *m, const struct tmx_gpu_view *gpu)
{
    double sum = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        sum += known_w(m, gpu->run[k]);
    }
    for (size_t q = 0; q < gpu->n_queue; q++) {
        sum += known_w(m, gpu->queue[q]);
    }
    return sum;
}

static size_t load(const struct tmx_gpu_view *gpu)
{
    return gpu->n_run + gpu->n_queue;
}

static bool better(const struct tmx_view *view, size_t g, size_t best, bool is_hot)
{
    const struct tmx_node_view *m = view->node;
    const size_t a = load(m->gpus[g]), b = load(m->gpus[best]);
    if (a != b) {
        return a < b;
    }
    if (a == 0) {
        return view->hottest_k[g] < view->hottest_k[best];
    }
    const double wa = sum_on(m, m->gpus[g]), wb = sum_on(m, m->gpus[best]);
    return is_hot ? wa < wb : wa > wb;
}

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct tmx_node_view *m = view->node;
    double sum_w = 0, n = 0; /* of all that have arrived and not ended */
    size_t best = 0;
    (void)state;
    for (size_t j = m->first_unfinished; j < m->n_arrived; j++) {
        if (m->jobs[j]->state != TMX_JOB_DONE) {
            sum_w += known_w(m, j);
            n += 1;
        }
    }
    const bool is_hot = known_w(m, job) > (n > 0 ? sum_w / n : 0);
    for (size_t g = 1; g < m->n_gpu; g++) {
        if (better(view, g, best, is_hot)) {
            best = g;
        }
    }
    *at = (struct tmx_place){.home = best, .n = 1};
}

const struct tmx_place_policy tmx_place_pair_hot_cold = {
    .base = {.name = "pair_hot_cold",
             .doc = "Pairs hot with cold kernels by power density index across all GPUs.",
             .source = "after paper 003, sections 3.1 and 3.2"},
    .place = place,
};
