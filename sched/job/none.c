/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No consolidation: every idle GPU takes the oldest waiting instance. */
#include "sched/policies.h"

static bool next(const void *state, const struct tmx_waiting_view *view, struct tmx_launch *launch)
{
    (void)state;
    for (size_t g = 0; g < view->n_gpu && view->n_waiting > 0; g++) {
        if (view->gpu_idle[g]) {
            size_t count[TMX_KIND_MAX] = {0};
            const struct tmx_batch one = {view->node, view->kind, view->n_kind, count};
            count[view->waiting[0].kind] = 1;
            launch->target = TMX_TO_GPU;
            launch->gpu = g;
            launch->n_member = 1;
            launch->member[0] = 0;
            tmx_serial_predict(&one, view->gpu_temp_c[g], &launch->predicted);
            return true;
        }
    }
    return false;
}

const struct tmx_job_policy tmx_job_none = {
    .base = {.name = "none",
             .doc = "One instance after another, oldest first.",
             .source = "paper 004, section VIII (\"serial\")"},
    .next = next,
};
