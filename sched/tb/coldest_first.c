/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks go to the coldest SMs first. */
#include "core/machine/rank.h"
#include "sched/policies.h"

static void order(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)state;
    const struct tmx_gpu_view *g = view->node->gpus[gpu];
    tmx_rank_ascending(&view->sensed_k[g->sm0], g->n_sm, out);
}

const struct tmx_tb_policy tmx_tb_coldest_first = {
    .base = {.name = "coldest_first",
             .doc = "The coldest SMs first; matters where a kernel does not fill the chip.",
             .source = "paper 003, section 3.1 (volunteer SM)"},
    .order = order,
};
