/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The default of each policy level that leaves the hardware alone. */
#include "sched/policies.h"

/* No consolidation: every idle GPU takes the oldest waiting instance. */
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

/* First come, first served: the hardware's own order, nothing intermixed. */
static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)state;
    (void)view;
    (void)request; /* a request starts as "no admission, full speed" */
}

const struct tmx_mix_policy tmx_mix_fcfs = {
    .base = {.name = "fcfs",
             .doc = "First come, first served; kernels run one at a time.",
             .source = "paper 003, section 2",
             .rests = TMX_RESTS_SAMPLES | TMX_RESTS_ALIKE},
    .decide = decide,
};

/* Nothing but the hardware's own throttle. */
const struct tmx_dtm_policy tmx_dtm_none = {
    .base = {.name = "none",
             .doc = "Nothing but the hardware's throttle.",
             .source = "paper 003, baseline BL",
             .rests = TMX_RESTS_SAMPLES | TMX_RESTS_ALIKE},
};

/* Every core works: what GPUs do. */
static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    (void)state;
    (void)view;
    (void)request; /* comes with all cores active */
}

static enum tmx_core_state unused_core(const void *state)
{
    (void)state;
    return TMX_CORE_ACTIVE; /* there is none */
}

const struct tmx_cta_policy tmx_cta_all = {
    .base = {.name = "all", .doc = "Every core works.", .source = "baseline of papers 000 and 002"},
    .launch = launch,
    .unused_core = unused_core,
};

/* Every server at its own clock; the power brake alone. */
static void leave(const void *state, const struct tmx_row_view *view, double *clock_hz)
{
    (void)state;
    (void)view;
    (void)clock_hz;
}

const struct tmx_row_policy tmx_row_none = {
    .base = {.name = "none", .doc = "No clock is limited; the power brake alone.", .source = "baseline"},
    .decide = leave,
};
