/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SIM_H
#define TMX_CORE_SIM_SIM_H

/* The loop: queue -> machine -> activity -> watts -> kelvins -> sensor -> policy -> machine. */

#include "core/contract/choice.h"
#include "core/contract/power_model.h"
#include "core/contract/thermal_model.h"
#include "core/machine/decomposition.h"
#include "core/sim/record/recorder.h"
#include "core/sim/stage/cooling.h"
#include "core/sim/stage/cta_stage.h"
#include "core/sim/stage/gate_stage.h"
#include "core/sim/stage/jobs.h"
#include "core/sim/stage/sensor.h"

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
     * and the throttle; job: NULL: jobs reach the place policy as they arrive; dtm: NULL: none; fan with
     * cooling.topology. Levels cta and gate act through the plans below. */
    struct tmx_choice choice[TMX_N_CHOICE];
    struct tmx_jobs_spec job; /* of the job level; sim.c sets its choice */
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
    bool shared_queue;         /* arrivals wait in one queue until the GPU they go to has none waiting */
    struct tmx_sensor_options sensor;
    double dt_s;
    double quantum_s; /* scheduling tick of the operating system */
    double warmup_s;  /* not counted */
    enum tmx_warmup warmup_with;
    double stuck_s; /* simulated time without progress after which the run fails */
    uint64_t seed;
    size_t n_thread; /* that advance GPUs; 0 or 1: the caller's alone. Results do not depend on it */
};

struct tmx_sim;

TMX_NODISCARD enum tmx_status tmx_sim_create(struct tmx_sim **sim, struct tmx_sim_spec *spec,
                                             struct tmx_err *err);
void tmx_sim_destroy(struct tmx_sim *sim);

/* Before the first tick: from now on each of several processes, that have made the same simulation, steps its
 * part of it; all make the same calls. Not for fleets and snapshots. TMX_ECONFIG: more ranks than GPUs. */
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
 * TMX_ESTOPPED (the observer said so) leave the simulation readable. */
TMX_NODISCARD enum tmx_status tmx_sim_run(struct tmx_sim *sim, const struct tmx_observer *observer,
                                          struct tmx_err *err);
/* The same for n_tick ticks at most; 0: until all work is done. */
TMX_NODISCARD enum tmx_status tmx_sim_advance(struct tmx_sim *sim, uint64_t n_tick,
                                              const struct tmx_observer *observer, struct tmx_err *err);

/* Snapshot: everything that changes; continuing from it is bit-equal. */
size_t tmx_sim_image_size(struct tmx_sim *sim);
void tmx_sim_save(struct tmx_sim *sim, void *buf);
void tmx_sim_restore(struct tmx_sim *sim, void *buf);

/* Read-only access for writers of results. */
double tmx_sim_share(const struct tmx_sim *sim);  /* of the work that is known of, done: 0 to 1 */
double tmx_sim_time_s(const struct tmx_sim *sim); /* since the end of the warm-up; negative before */
bool tmx_sim_done(const struct tmx_sim *sim);
const struct tmx_machine *tmx_sim_machine(const struct tmx_sim *sim);
const struct tmx_frame *tmx_sim_frame(const struct tmx_sim *sim);
const struct tmx_recorder *tmx_sim_recorder(const struct tmx_sim *sim);
double
tmx_sim_trip_k(const struct tmx_sim *sim); /* where the hardware stops a clock [K]; NAN: it does not say */
const struct tmx_jobs *tmx_sim_jobs(const struct tmx_sim *sim);       /* NULL: no job level */
const struct tmx_cooling *tmx_sim_cooling(const struct tmx_sim *sim); /* NULL: none */
/* The same of one GPU; false, and nothing written: there is no cooling stage. */
bool tmx_sim_gpu_cooling(const struct tmx_sim *sim, size_t gpu, struct tmx_cooling_gpu *c);
/* Fans and air up to now; all zero when there is no cooling stage. */
struct tmx_cooling_ledger tmx_sim_cooling_ledger(const struct tmx_sim *sim);
/* Board watts that the run's configuration lets a GPU draw; INFINITY: as many as it wants. */
double tmx_sim_power_cap_w(const struct tmx_sim *sim, size_t gpu);
/* The thermal instance of a GPU as it is now, for the functions of its back-end that read. */
const void *tmx_sim_thermal_state(const struct tmx_sim *sim, size_t gpu);
/* What a GPU draws without work; false where the power model cannot say. */
bool tmx_sim_static_power(const struct tmx_sim *sim, size_t gpu, struct tmx_static_power *p);

#endif
