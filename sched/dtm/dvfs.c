/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dynamic voltage and frequency scaling: one level a scheduling tick, by two thresholds. The paper
 * names five settings and no thresholds; 88.7 and 86.6 degC are the pair of T^ABS's own rule. */
#include <thermix/policy.h>

#include "sched/policies.h"

struct dvfs {
    double emergency_c;
    double release_c;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(dvfs, emergency_c, "degC", 0, 300, 88.7, "one level slower at or above this"),
    TMX_ROW_REAL(dvfs, release_c, "degC", 0, 300, 86.6, "one level faster below this"),
    {0},
};

static void govern(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const struct dvfs *d = state;
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        const size_t level =
            tmx_level_next(view->node->gpus[g], view->hottest_k[g], d->emergency_c, d->release_c);
        if (level > request->gpu[g].level) {
            request->gpu[g].level = level;
        }
    }
}

const struct tmx_dtm_policy tmx_dtm_dvfs = {
    .base = {.name = "dvfs",
             .doc = "Step through the chip's voltage and frequency settings.",
             .source = "paper 003, section 4.1",
             .opts = opts,
             .state_size = sizeof(struct dvfs),
             .rests = TMX_RESTS_SAMPLES},
    .govern = govern,
};

size_t tmx_level_next(const struct tmx_gpu_view *gpu, double hottest_k, double emergency_c, double release_c)
{
    if (hottest_k >= emergency_c + TMX_ZERO_C) {
        return gpu->level + 1 < gpu->n_level ? gpu->level + 1 : gpu->level;
    }
    return hottest_k < release_c + TMX_ZERO_C && gpu->level > 0 ? gpu->level - 1 : gpu->level;
}
