/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sched/place/warmest.c: the hottest of the GPUs with room, to see what it costs. */
#include "sched/policies.h"

struct warmest {
    double spare_k; /* GPUs this near to the hottest count as equally hot; the first of them is taken */
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(warmest, spare_k, "K", 0, 100, 0, "GPUs this near to the hottest count as equally hot"),
    {0},
};

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct warmest *w = state;
    double best_k = 0;
    (void)job;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const double k = view->hottest_k[g];
        if (view->node->gpus[g]->n_queue < TMX_KQUEUE && (at->n == 0 || k > best_k + w->spare_k)) {
            *at = (struct tmx_place){.home = g, .n = 1};
            best_k = k;
        }
    }
}

const struct tmx_place_policy tmx_place_warmest = {
    .base = {.name = "warmest",
             .doc = "The hottest GPU with room.",
             .source = "none: an example",
             .opts = opts,
             .state_size = sizeof(struct warmest)},
    .place = place,
};
