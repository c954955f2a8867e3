/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The coldest GPU among those with the fewest kernels: at equal load heat decides. */
#include "sched/policies.h"

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
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
    .place = place,
};
