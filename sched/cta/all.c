/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every core works: what GPUs do. */
#include "sched/policies.h"

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
