/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_SOURCE_H
#define TMX_CORE_CONTRACT_SOURCE_H

/* Where work comes from: when jobs arrive, which GPUs they get, what they draw, when they end. The machine
 * has its jobs from the begin; their source moves them. A simulation has one source. */

#include "core/contract/choice.h"
#include "core/machine/machine.h"

struct tmx_source_view {
    struct tmx_machine *machine;     /* its jobs are the source's to admit, place and end */
    const struct tmx_view *view;     /* what policies see */
    const struct tmx_choice *choice; /* [TMX_N_CHOICE] the policies */
    double *chip_w;                  /* [n_gpu] of the last tick; a source without heat writes them */
    double *scratch;                 /* [n_gpu] within a call */
    uint64_t tick;
    double dt_s, begin_s, end_s; /* the tick, in counted time: negative in the warm-up */
    bool shared_queue;           /* arrivals wait in one queue until the GPU they go to has none waiting */
};

/* In the order of a tick. Each may be NULL; `own` is what `open` has returned. Only `open` allocates. A
 * source with admit, work or meet goes by single ticks, one with meet by all GPUs together; one with anything
 * by fixed ticks. */
struct tmx_source {
    struct tmx_plugin base; /* name: of its group of the configuration; opts: where that is rows alone */
    void *(*open)(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena);
    /* Every tick: jobs that arrive, in their order (tmx_machine_arrive). NULL: each at its arrival_s. */
    void (*admit)(const struct tmx_source_view *v, void *own);
    /* Every scheduling tick: jobs that have arrived get GPUs. NULL: as the place policy says. */
    enum tmx_status (*place)(const struct tmx_source_view *v, void *own, struct tmx_err *err);
    /* Then, when policies have asked: what it asks for beside, such as slower clocks. */
    void (*limit)(const struct tmx_source_view *v, void *own, struct tmx_request *r);
    /* Every tick, before the GPUs go on: what jobs draw in it (tmx_machine_draw). */
    enum tmx_status (*work)(const struct tmx_source_view *v, void *own, struct tmx_err *err);
    /* When all GPUs have run, before watts: what their jobs wait for together. Returns how many jobs ended.
     */
    size_t (*meet)(const struct tmx_source_view *v, void *own);
    void (*end)(const struct tmx_source_view *v, void *own); /* after every tick */
    double (*share)(const void *own);                        /* done, 0 to 1. NULL: of the jobs' work */
    bool (*cold)(const void *options); /* it writes chip_w by itself: neither dies nor sensors */
};

#endif
