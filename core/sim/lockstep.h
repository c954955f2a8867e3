/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_LOCKSTEP_H
#define TMX_CORE_SIM_LOCKSTEP_H

/* Simulations that advance tick by tick side by side, so that their GPUs step as batches where their thermal
 * models are the same. Each gets the bytes that it would get alone; one that fails or ends leaves the others
 * as they are. */

#include "core/sim/sim.h"

/* Tasks that are a simulation each, one after another as lanes come free: as many at a time as pay. */
struct tmx_lockstep_tasks {
    void *ctx;
    /* Open the simulation of a task; *observer looks at every tick, *own is handed to end. */
    enum tmx_status (*begin)(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                             void **own, struct tmx_err *err);
    /* It has ended, well or not; own is NULL where begin left it so. What begin has opened is closed here. */
    void (*end)(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err);
    /* OPTIONAL. Now and then: how much of its work a task has done, 0 to 1. */
    void (*progress)(void *ctx, size_t task, double share);
};

/* Every one of the n tasks comes to its end. */
void tmx_lockstep_run(const struct tmx_lockstep_tasks *t, const size_t *task, size_t n);

#endif
