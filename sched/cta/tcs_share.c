/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TCS whose freed cores are lent to the next kernel waiting instead of being gated: the question that
 * paper 000 leaves open (section VI). Without a taker they are gated as in TCS. */
#include "sched/cta/tcs.h"
#include "sched/policies.h"

static void launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct tmx_tcs *t = state;
    t->share = true;
    tmx_tcs_launch(t, view, request);
}

const struct tmx_cta_policy tmx_cta_tcs_share = {
    .base = {.name = "tcs_share",
             .doc = "TCS that gives freed cores to the next kernel.",
             .source = "paper 000 (Song et al.), section VI (future work)",
             .opts = tmx_tcs_opts,
             .state_size = sizeof(struct tmx_tcs)},
    .launch = launch,
    .observe = tmx_tcs_observe,
    .lends = true,
};
