/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Half TCS: the first window runs on half the cores; if they are not memory-bound, all are used, else the
 * rest stays off and TCS goes on from there (paper 000, section III.C). */
#include "sched/cta/tcs.h"
#include "sched/policies.h"

static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    t->half = true;
    tmx_tcs_launch(t, view, request);
}

const struct tmx_cta_policy tmx_cta_htcs = {
    .base = {.name = "htcs",
             .doc = "TCS that starts each kernel on half the cores.",
             .source = "paper 000 (Song et al.), section III.C",
             .opts = tmx_tcs_opts,
             .state_size = sizeof(struct tmx_tcs)},
    .launch = launch,
    .observe = tmx_tcs_observe,
};
