/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_TILES_H
#define TMX_CORE_SIM_TILES_H

/* What a tick does to each GPU, tile by tile: neighbouring GPUs go through all stages while they are
 * in the cache, on any of the simulation's threads. Policies, fans, air and arrivals come before, where all
 * GPUs are still; sums over GPUs come after, in their order. So results do not depend on tiles or threads.
 *
 * GPUs that have a job in common are in one tile; under a batch or a CTA policy all are. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct tmx_machine;
struct tmx_sim;
struct tmx_tiles;

TMX_NODISCARD enum tmx_status tmx_tiles_create(struct tmx_tiles **tiles, struct tmx_sim *sim,
                                               struct tmx_err *err);
void tmx_tiles_destroy(struct tmx_tiles *tiles);

/* What fails below is left in the simulation's err. */

/* After placement, levels of convection or a snapshot have changed who belongs together. */
void tmx_tiles_plan(struct tmx_tiles *tiles);

/* The sensors of all GPUs are read, and the boards' meters. */
void tmx_tiles_sense(struct tmx_tiles *tiles);

/* The request is applied, blocks advance, watts, kelvins, the record. As many ticks, `most` at most, as no
 * GPU has to do with another and policies need not be asked; sets the simulation's span. After a failure in
 * the n-th of them the simulation's tick is that one. */
void tmx_tiles_tick(struct tmx_tiles *tiles, uint64_t most);

/* The same for as many ticks as go by before something happens (events.c); sets the simulation's span. */
void tmx_tiles_span(struct tmx_tiles *tiles);

/* The same in parts, for those who step temperatures of several simulations together (lockstep.c): up to the
 * watts; the record, when all kelvins are there. */
void tmx_tiles_to_watts(struct tmx_tiles *tiles);
void tmx_tiles_end(struct tmx_tiles *tiles);

/* What tmx_thermal_step_many takes: arrays of one entry a GPU, those of one level of convection side by side.
 */
struct tmx_step_view {
    void **state;
    const double **power_w;
    double **temp_k;
};
void tmx_tiles_batch(const struct tmx_tiles *tiles, const struct tmx_step_view *view);
size_t tmx_tiles_gpu(const struct tmx_tiles *tiles, size_t k); /* whose entry k is */
/* The step of entry k in a tick has failed: st, with the words. */
void tmx_tiles_heat_failed(const struct tmx_tiles *tiles, size_t k, uint64_t tick, enum tmx_status st,
                           struct tmx_err *err);

/* For other loops over many GPUs; NULL: one thread. */
struct tmx_thread_pool *tmx_tiles_pool(const struct tmx_tiles *tiles);

/* With tick = "events" (events.c): how many ticks a step may take, and the temperatures of such a step. */

struct tmx_events {
    bool *grows;     /* [n_gpu] the last piece could have been longer */
    bool foreseen;   /* the span's end is computed for all GPUs (foresee) */
    uint64_t *piece; /* [n_gpu] h that the control wants next */
    /* [n_unit] */
    double *rate_w, *rate_k; /* rise of leakage and temperature in a tick of the last piece; state */
    double *start_w, *start_leak_w, *start_saved_w, *start_k, *middle_w;
    double *sum_w, *sum_leak_w, *sum_saved_w, *sum_k, *mean_k; /* over ticks of the span */
};

/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_events *tmx_events_take(struct tmx_arena *arena, const struct tmx_machine *m);

/* Ticks, 1 at least, until something of the node happens. */
uint64_t tmx_events_most(const struct tmx_sim *s);

/* Of the ticks until the next event of the node or a GPU, most, those up to the first sample that matters.
 * After apply and dispatch; the frame's watts are overwritten. */
uint64_t tmx_events_span(struct tmx_sim *s, uint64_t most);

/* Temperatures of GPU g over the span, whose watts at the begin are in the frame; afterwards the frame has
 * the means of its watts. TMX_ERUNAWAY, TMX_ESOLVE. */
TMX_NODISCARD enum tmx_status tmx_events_heat(struct tmx_sim *s, size_t g);

#endif
