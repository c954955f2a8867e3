/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served: the hardware's own order, nothing intermixed. */
#include "sched/policies.h"

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)state;
    (void)view;
    (void)request; /* a request starts as "no admission, full speed" */
}

const struct tmx_mix_policy tmx_mix_fcfs = {
    .base = {.name = "fcfs",
             .doc = "First come, first served; kernels run one at a time.",
             .source = "paper 003, section 2"},
    .decide = decide,
};
