/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/micro/launch_profile.h"

#include <math.h>

enum { BODY = TMX_MAX_REGISTER }; /* the longest: the rarer an access, the better it is drawn */

/* Global loads and stores per instruction of the body that these statistics draw. */
static enum tmx_status count_accesses(const struct tmx_profile_key *key, double *loads, double *stores,
                                      struct tmx_err *err)
{
    struct tmx_stream s;
    const enum tmx_status st = tmx_stream_generate(&s, &key->stats, &key->knobs, key->seed, err);
    if (st) {
        return st;
    }
    *loads = *stores = 0;
    for (size_t i = 0; i < s.n_instr; i++) {
        *loads += s.instr[i].latency == TMX_LATENCY_GLOBAL;
        *stores += s.instr[i].latency == TMX_LATENCY_STORE;
    }
    *loads /= (double)s.n_instr;
    *stores /= (double)s.n_instr;
    tmx_stream_finish(&s);
    return TMX_OK;
}

enum tmx_status tmx_launch_profile_key(struct tmx_profile_key *key, const struct tmx_memory_kernel *launch,
                                       const struct tmx_memory_chip *chip, struct tmx_err *err)
{
    struct tmx_instr_stats *s = &key->stats;
    const double q = launch->lines_per_instr;
    double loads, stores;
    const int most = TMX_MAX_WARPS / launch->warps_per_block;
    const int blocks = launch->blocks_per_core < most ? launch->blocks_per_core : most;
    if (blocks == 0) {
        return tmx_fail(err, TMX_ECONFIG, "a block of %d warps: sm_cycle holds at most %d",
                        launch->warps_per_block, TMX_MAX_WARPS);
    }
    s->warps_per_block = launch->warps_per_block;
    s->warps = blocks * launch->warps_per_block;
    s->body = BODY;
    s->latency_cycles = (chip->base_core_cycles + chip->base_memory_cycles) / chip->sm_clocks;
    s->miss = fmin(1, s->miss * key->knobs.miss);
    key->knobs.miss = key->knobs.latency = 1;
    enum tmx_status st = count_accesses(key, &loads, &stores, err);
    if (!st && loads == 0 && q > 0) {
        s->global_share = 1;
        st = count_accesses(key, &loads, &stores, err);
    }
    if (!st && q > stores && loads > 0) {
        s->lines = fmax(1, q / (loads * s->miss + stores));
        s->miss = fmin(1, fmax(0, q / s->lines - stores) / loads);
    } else if (!st) {
        s->store_share = 0; /* fewer lines than stores: loads alone, few of which miss */
        s->lines = 1;
        st = count_accesses(key, &loads, &stores, err);
        s->miss = loads > 0 ? fmin(1, q / loads) : 0;
    }
    return st;
}

void tmx_launch_profile_use(struct tmx_memory_kernel *launch, const struct tmx_memory_chip *chip,
                            const struct tmx_core_fit *fit)
{
    launch->ipc1 = fit->ipc1 / chip->sm_clocks;
    launch->cpi1_cycles = fit->cpi1_cycles * chip->sm_clocks;
    if (fit->lines_per_instr > 0) {
        launch->mlp = fit->mlp * launch->lines_per_instr / fit->lines_per_instr;
    }
}
