/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SIM_H
#define TMX_CORE_SIM_SIM_H

/* The loop: queue -> machine -> activity -> watts -> kelvins -> sensor -> policy -> machine. What a
 * simulation consists of, what it owns, how it advances. */

#include "core/contract/choice.h"
#include "core/contract/power_model.h"
#include "core/contract/thermal_model.h"
#include "core/machine/decomposition.h"
#include "core/serve/serve.h"
#include "core/sim/record/recorder.h"
#include "core/sim/source/sources.h"
#include "core/sim/stage/cooling.h"
#include "core/sim/stage/sensor.h"
#include "core/sim/stage/stages.h"

struct tmx_sim_gpu_thermal { /* one GPU's temperatures; GPUs of one kind share the model */
    const struct tmx_thermal_ops *ops;
    void *model; /* not owned */
    double ambient_k;
};

enum tmx_warmup {
    TMX_WARMUP_POLICY,   /* work and policies as in the counted time */
    TMX_WARMUP_THROTTLE, /* the queue in order, nothing intermixed, full speed; only the hardware guards */
    TMX_WARMUP_IDLE,     /* work waits */
};

/* Everything a run consists of. */
struct tmx_sim_spec {
    struct tmx_machine_spec machine;
    /* By level, and the hardware's throttle at TMX_SAFETY, that is asked before the dtm policy. States are
     * plain data from malloc; tmx_sim_create takes them over, also when it fails. REQUIRED: place, mix, tb
     * and the throttle; job: with its source; dtm: NULL: none; fan with
     * cooling.topology. Levels cta and gate act through the plans below. */
    struct tmx_choice choice[TMX_N_CHOICE];
    struct {
        const struct tmx_source *is; /* NULL: the jobs of the machine arrive at their times */
        const void *options;
    } source; /* of work */
    struct {
        const struct tmx_power_ops *ops;
        const void *options;
    } power;
    struct tmx_gate_spec gate;                  /* unit gating; kind NULL: none */
    struct tmx_cta_spec cta;                    /* CTA policy; plan NULL: none */
    const struct tmx_sim_gpu_thermal *thermal;  /* [n_gpu] */
    const struct tmx_forecast *const *forecast; /* [n_gpu] for policies that look ahead; NULL: none */
    struct tmx_cooling_spec
        cooling;               /* topology NULL: convection and inlet air stay as the models have them */
    const double *power_cap_w; /* [n_gpu] board watts a GPU may draw, INFINITY: no cap; NULL: none has one */
    const struct tmx_power_group
        *group; /* [n_group] whose power is looked at: all GPUs, then parts of them */
    size_t n_group;
    bool shared_queue; /* arrivals wait in one queue until the GPU they go to has none waiting */
    struct tmx_sensor_options sensor;
    struct tmx_smooth_options smooth; /* not with events */
    struct tmx_store_options store;
    struct tmx_row_stage_options rows; /* of a row policy that asks for no clocks; whole ticks */
    double dt_s;
    /* Steps from event to event (core/sim/events.c); not with a source but the mix, cta and ranks. */
    bool events;
    bool
        samples_skippable; /* no policy but the throttle looks at a reading before the next scheduling tick */
    bool policies_skippable; /* mix, dtm and tb answer the same to every reading */
    bool idle_skippable;     /* likewise while no GPU has a kernel and every clock is at its fastest level */
    double quantum_s;        /* scheduling tick of the operating system */
    double warmup_s;         /* not counted */
    enum tmx_warmup warmup_with;
    double stuck_s; /* simulated time without progress after which the run fails */
    uint64_t seed;
    size_t n_thread; /* that advance GPUs; 0 or 1: the caller's alone. Results do not depend on it */
};

struct tmx_tiles;

/* What it owns. Outside of core/sim it is read. */
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
    struct tmx_err err;                                  /* of the tick */
    uint64_t tick, quantum, sample, warmup, stuck, cool; /* in ticks */
    struct tmx_events *events;                           /* NULL: every tick is a step */
    uint64_t span;                                       /* ticks of the last step */
    uint64_t until;                                      /* tick at which the caller stops */
    uint64_t row; /* with events no step crosses a multiple of so many ticks; 0: none */
    uint64_t n_step;
    uint64_t last_progress; /* tick */
    double last_done_sm_s;
};

/* Time slice of a mix policy as ticks see it [s]; tick_s where it has none, or where a tick averages whole
 * pairs of slices. It has to be whole ticks. */
double tmx_slice_s(const struct tmx_choice *mix, double tick_s);

TMX_NODISCARD enum tmx_status tmx_sim_create(struct tmx_sim **sim, struct tmx_sim_spec *spec,
                                             struct tmx_err *err);
void tmx_sim_destroy(struct tmx_sim *sim);

/* Before the first tick: from now on each of several processes, that have made the same simulation, steps its
 * part of it; all make the same calls. Not for fleets. TMX_ECONFIG: more ranks than GPUs. */
TMX_NODISCARD enum tmx_status tmx_sim_on_ranks(struct tmx_sim *sim, const struct tmx_ranks *ranks,
                                               struct tmx_err *err);

/* Advance one tick: decide, apply, run, power, heat. No allocation. */
TMX_NODISCARD enum tmx_status tmx_sim_tick(struct tmx_sim *sim, struct tmx_err *err);

struct tmx_observer { /* may be NULL or have NULL functions */
    void *ctx;
    void (*tick)(void *ctx, const struct tmx_sim *sim); /* after every tick */
    bool (*stop)(void *ctx);                            /* asked once a quantum: true ends the run */
};

/* Tick until all work is done. TMX_ERUNAWAY, TMX_EUNFINISHED (no progress for stuck_s),
 * TMX_ESTOPPED (the observer said so) leave the simulation readable. n_tick: so many ticks at most; 0: any
 * number. */
TMX_NODISCARD enum tmx_status tmx_sim_advance(struct tmx_sim *sim, uint64_t n_tick,
                                              const struct tmx_observer *observer, struct tmx_err *err);

/* Read-only access for writers of results. */
double tmx_sim_share(const struct tmx_sim *sim);  /* of the work that is known of, done: 0 to 1 */
double tmx_sim_time_s(const struct tmx_sim *sim); /* since the end of the warm-up; negative before */
bool tmx_sim_done(const struct tmx_sim *sim);
double
tmx_sim_trip_k(const struct tmx_sim *sim); /* where the hardware stops a clock [K]; NAN: it does not say */
const struct tmx_jobs *tmx_sim_jobs(const struct tmx_sim *sim);   /* NULL: no job level */
const struct tmx_serve *tmx_sim_serve(const struct tmx_sim *sim); /* NULL: no language model */
/* The same of one GPU; false, and nothing written: there is no cooling stage. */
bool tmx_sim_gpu_cooling(const struct tmx_sim *sim, size_t gpu, struct tmx_cooling_gpu *c);
/* Fans and air up to now; all zero when there is no cooling stage. */
struct tmx_cooling_ledger tmx_sim_cooling_ledger(const struct tmx_sim *sim);
/* Board watts that the run's configuration lets a GPU draw; INFINITY: as many as it wants. */
double tmx_sim_power_cap_w(const struct tmx_sim *sim, size_t gpu);
/* What a GPU draws without work; false where the power model cannot say. */
bool tmx_sim_static_power(const struct tmx_sim *sim, size_t gpu, struct tmx_static_power *p);

/* ---- for core/sim ---- */

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
 * own: of this rank; NULL: none. order: its place among those of a tick. */
struct tmx_rank_status {
    uint64_t st, order; /* enum tmx_status; the least order is the first */
};
void tmx_sim_share_tick(struct tmx_sim *s, const struct tmx_err *own, uint64_t order);
/* At the end of a run: what only one rank has. */
void tmx_sim_share_all(struct tmx_sim *s, struct tmx_err *err);
/* Does any rank say so? */
void tmx_sim_share_any(struct tmx_sim *s, bool *said);

/* Simulations that advance tick by tick side by side, so that their GPUs step as batches where their thermal
 * models are the same. Each gets the bytes that it would get alone; one that fails or ends leaves the others
 * as they are. */

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
