/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SIM_STATE_H
#define TMX_CORE_SIM_SIM_STATE_H

/* Private to core/sim: what a simulation owns. */

#include "core/machine/decomposition.h"
#include "core/machine/machine.h"
#include "core/sim/sim_spec.h"
#include "core/sim/stage/row_stage.h"
#include "core/sim/stage/sensor.h"

struct tmx_observer;
struct tmx_sim;
struct tmx_tiles;

/* The same as tmx_sim_tick for as many ticks, `most` at most, as the GPUs go on each by itself; with events
 * as many as go by before something happens. */
TMX_NODISCARD enum tmx_status tmx_sim_step(struct tmx_sim *s, uint64_t most, struct tmx_err *err);
/* A tick in two parts, for those who step the GPUs' temperatures between them (lockstep.c). */
TMX_NODISCARD enum tmx_status tmx_sim_tick_to_watts(struct tmx_sim *s, struct tmx_err *err);
void tmx_sim_tick_end(struct tmx_sim *s);
/* What tmx_sim_advance does after a tick: the observer looks, and is there progress? */
TMX_NODISCARD enum tmx_status tmx_sim_look(struct tmx_sim *s, const struct tmx_observer *observer,
                                           struct tmx_err *err);

/* After a tick, on every rank (ranks.c): what all need of it, or the failure that is the first of all.
 * own_err: of this rank's own; read where own.st says that it failed. */
struct tmx_rank_status {
    uint64_t st, order; /* enum tmx_status; the least order is the first */
};
TMX_NODISCARD enum tmx_status tmx_sim_share_tick(struct tmx_sim *s, struct tmx_rank_status own,
                                                 const struct tmx_err *own_err, struct tmx_err *err);
/* At the end of a run: what only one rank has. */
TMX_NODISCARD enum tmx_status tmx_sim_share_all(struct tmx_sim *s, struct tmx_err *err);
/* Does any rank say so? */
TMX_NODISCARD enum tmx_status tmx_sim_share_any(struct tmx_sim *s, bool *said, struct tmx_err *err);

struct tmx_sim {
    struct tmx_sim_spec spec;
    struct tmx_machine *machine;
    struct tmx_sensor *sensor;
    struct tmx_recorder *recorder;
    const struct tmx_source *source;
    void *work;                       /* the source's own */
    struct tmx_source_view work_view; /* of this tick */
    bool single, cold;                /* it goes by single ticks; without heat */
    void *power;
    struct tmx_gate_stage *gate;     /* NULL: no unit sleeps */
    struct tmx_cta_stage *cta;       /* NULL: none */
    struct tmx_cooled *thermal;      /* [n_gpu] */
    struct tmx_cooling *cooling;     /* NULL: none */
    struct tmx_tiles *tiles;         /* and threads */
    struct tmx_decomposition *share; /* with other processes; NULL: all of it is here */
    struct tmx_rank_status *outcome; /* [size] of each rank, in an exchange */
    struct tmx_frame frame;
    struct tmx_request request;
    struct tmx_view view;
    struct tmx_outlook *outlook; /* [n_gpu] for policies that look ahead */
    double *waits;               /* [n_job] likewise */
    size_t *asked;               /* [n_gpu] level that the mix policy wants; within a tick */
    struct tmx_meter *meter;
    double *mix_memory, *dtm_memory; /* what the policies keep; NULL: nothing */
    struct tmx_arena arena;
    struct tmx_feed feed;                                /* its arrays are in arena */
    struct tmx_row_stage rows;                           /* likewise */
    struct tmx_smooth_gpu *smooth;                       /* [n_gpu] NULL: off */
    double *hottest_k;                                   /* [n_gpu] */
    double *scratch;                                     /* [largest n_sm] */
    size_t *order;                                       /* likewise */
    uint64_t tick, quantum, sample, warmup, stuck, cool; /* in ticks */
    struct tmx_events *events;                           /* NULL: every tick is a step */
    uint64_t span;                                       /* ticks of the last step */
    uint64_t until;                                      /* tick at which the caller stops */
    uint64_t row;                                        /* ticks between rows of a trace; 0: none */
    uint64_t n_step;
    uint64_t last_progress; /* tick */
    double last_done_sm_s;
};

#endif
