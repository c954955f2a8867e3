/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The next GPU after the last one used, past those whose queue is full. */
#include "sched/policies.h"

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
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
    .place = place,
};
