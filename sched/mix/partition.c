/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several kernels at a time, each on its part of every SM: as NVIDIA's MPS (what is resident shares all) or,
 * with fixed, MIG (a part without a kernel stays free). Kernels come in the order of the queue. */
#include "sched/policies.h"

struct partition {
    int slots;
    bool fixed;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_INT(partition, slots, "1", 1, TMX_SLOTS, 4, "kernels resident on a GPU at once"),
    TMX_ROW_BOOL(partition, fixed, 0,
                 "each kernel gets 1 / slots of every SM; otherwise the resident kernels share all of it"),
    {0},
};

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct partition *p = state;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const struct tmx_gpu_view *gpu = view->node->gpus[g];
        struct tmx_gpu_request *r = &request->gpu[g];
        const size_t slots = (size_t)p->slots;
        const bool room = gpu->n_run > 0 && gpu->n_run < slots && gpu->n_queue > 0;
        const size_t waits = gpu->n_run == 0 && gpu->n_queue > 0; /* the hardware starts it */
        const size_t n = gpu->n_run + (room ? 1 : 0) + waits;
        r->n_part = slots;
        r->admit = room ? gpu->queue[0] : TMX_NO_JOB;
        for (size_t k = 0; k < slots; k++) {
            r->part[k] = p->fixed ? 1.0 / (double)slots : k < n ? 1.0 / (double)n : 0;
        }
    }
}

const struct tmx_mix_policy tmx_mix_partition = {
    .base = {.name = "partition",
             .doc = "Several kernels at a time, each on its share of every SM.",
             .source = "NVIDIA's MPS and MIG, as a fluid of thread blocks",
             .opts = opts,
             .state_size = sizeof(struct partition),
             .rests = TMX_RESTS_SAMPLES},
    .decide = decide,
};
