/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_EVENTS_H
#define TMX_CORE_SIM_EVENTS_H

/* With tick = "events": how many ticks a step may take, and the temperatures of such a step. Private to
 * core/sim. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct tmx_machine;
struct tmx_sim;

struct tmx_events {
    bool *grows;     /* [n_gpu] the last piece could have been longer */
    bool foreseen;   /* the span's end is computed for all GPUs (foresee) */
    uint64_t *piece; /* [n_gpu] h that the control wants next */
    /* [n_unit] */
    double *rate_w, *rate_k; /* rise of leakage and temperature in a tick of the last piece; state */
    double *start_w, *start_leak_w, *start_saved_w, *start_k, *middle_w;
    double *sum_w, *sum_leak_w, *sum_saved_w, *sum_k; /* over ticks of the span */
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
