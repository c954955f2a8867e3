/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/ledger.h"

#include <math.h>

#include "plan/judge.h"

static void judge_tick(void *ctx, const struct tmx_sim *sim)
{
    tmx_judge_tick(ctx, sim);
}

static enum tmx_status execute(struct tmx_run *run, double *value, struct tmx_err *err)
{
    struct tmx_judge judge = {0};
    struct tmx_err none = {0};
    const struct tmx_bound_options options = {.sm_leak = 1};
    const bool alone = tmx_sim_machine(tmx_run_sim_const(run))->n_gpu == 1;
    const bool judged = alone && tmx_judge_init(&judge, run, &options, &none) == TMX_OK;
    const struct tmx_observer observer = {.ctx = &judge, .tick = judge_tick};
    const enum tmx_status st = tmx_run_execute(run, judged ? &observer : NULL, err);
    for (size_t i = 0; i < TMX_N_LOSS; i++) {
        value[i] = NAN;
    }
    if (!st && judged) {
        tmx_judge_losses(&judge, run, value);
    }
    tmx_judge_finish(&judge);
    return st;
}

const struct tmx_watch tmx_ledger = {.n = TMX_N_LOSS, .column = tmx_loss_columns, .execute = execute};
