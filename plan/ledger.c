/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/ledger.h"

#include <stdlib.h>

#include "plan/judge.h"

static void judge_tick(void *ctx, const struct tmx_sim *sim)
{
    tmx_judge_tick(ctx, sim);
}

static void end(void *state)
{
    if (state) {
        tmx_judge_finish(state);
        free(state);
    }
}

static void *begin(const struct tmx_run *run, struct tmx_observer *observer)
{
    struct tmx_judge *judge = calloc(1, sizeof *judge);
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1};
    const bool alone = tmx_sim_machine(tmx_run_sim_const(run))->n_gpu == 1;
    if (!judge || !alone || tmx_judge_init(judge, run, &options, &none)) {
        end(judge);
        return NULL;
    }
    *observer = (struct tmx_observer){.ctx = judge, .tick = judge_tick};
    return judge;
}

static void read(void *state, const struct tmx_run *run, double *value)
{
    tmx_judge_losses(state, run, value);
}

const struct tmx_watch tmx_ledger = {
    .n = TMX_N_LOSS, .column = tmx_loss_columns, .begin = begin, .read = read, .end = end};
