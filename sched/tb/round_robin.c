/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks go to SMs in the order of their index. */
#include "sched/policies.h"

static void order(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)state;
    for (size_t i = 0; i < view->node->gpus[gpu]->n_sm; i++) {
        out[i] = i;
    }
}

const struct tmx_tb_policy tmx_tb_round_robin = {
    .base = {.name = "round_robin",
             .doc = "SMs in the order of their index.",
             .source = "paper 004, section IV"},
    .order = order,
};
