/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each kernel to one GPU, in turn by arrival: the default of today's cards (paper 003, section 3.2). */
#include "sched/policies.h"

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)state;
    *at =
        (struct tmx_place){.home = (size_t)(view->node->jobs[job]->queue_order % view->node->n_gpu), .n = 1};
}

const struct tmx_place_policy tmx_place_own_gpu = {
    .base = {.name = "own_gpu",
             .doc = "The k-th arrival goes to GPU k modulo the number of GPUs.",
             .source = "paper 003, section 3.2"},
    .place = place,
};
