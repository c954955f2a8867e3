/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which SM gets the next block. A policy of its own file registers in the same way; these two are a line
 * each. */
#include "core/floorplan/chip.h"
#include "sched/policies.h"

/* SMs in the order of their index. */
static void by_index(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)state;
    for (size_t i = 0; i < view->node->gpus[gpu]->n_sm; i++) {
        out[i] = i;
    }
}

const struct tmx_tb_policy tmx_tb_round_robin = {
    .base = {.name = "round_robin",
             .doc = "SMs in the order of their index.",
             .source = "paper 004, section IV",
             .rests = TMX_RESTS_ALIKE},
    .order = by_index,
};

/* The coldest SMs first. */
static void coldest_first(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)state;
    const struct tmx_gpu_view *g = view->node->gpus[gpu];
    tmx_rank_ascending(&view->sensed_k[g->sm0], g->n_sm, out);
}

const struct tmx_tb_policy tmx_tb_coldest_first = {
    .base = {.name = "coldest_first",
             .doc = "The coldest SMs first; matters where a kernel does not fill the chip.",
             .source = "paper 003, section 3.1 (volunteer SM)"},
    .order = coldest_first,
};
