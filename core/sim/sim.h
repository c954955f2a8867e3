/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SIM_H
#define TMX_CORE_SIM_SIM_H

/* The loop: queue -> machine -> activity -> watts -> kelvins -> sensor -> policy -> machine. */

#include "core/serve/serve.h"
#include "core/sim/sim_spec.h"
#include "core/sim/source/job.h"

struct tmx_sim;

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
 * TMX_ESTOPPED (the observer said so) leave the simulation readable. */
TMX_NODISCARD enum tmx_status tmx_sim_run(struct tmx_sim *sim, const struct tmx_observer *observer,
                                          struct tmx_err *err);
/* The same for n_tick ticks at most; 0: until all work is done. */
TMX_NODISCARD enum tmx_status tmx_sim_advance(struct tmx_sim *sim, uint64_t n_tick,
                                              const struct tmx_observer *observer, struct tmx_err *err);

/* Read-only access for writers of results. */
double tmx_sim_share(const struct tmx_sim *sim); /* of the work that is known of, done: 0 to 1 */
/* With events a step never crosses a multiple of so many ticks. */
void tmx_sim_set_row(struct tmx_sim *sim, uint64_t ticks);
uint64_t tmx_sim_span(const struct tmx_sim *sim);  /* ticks of the last step: 1 without events */
uint64_t tmx_sim_steps(const struct tmx_sim *sim); /* steps so far */
double tmx_sim_time_s(const struct tmx_sim *sim);  /* since the end of the warm-up; negative before */
bool tmx_sim_done(const struct tmx_sim *sim);
const struct tmx_machine *tmx_sim_machine(const struct tmx_sim *sim);
const struct tmx_frame *tmx_sim_frame(const struct tmx_sim *sim);
const struct tmx_recorder *tmx_sim_recorder(const struct tmx_sim *sim);
double
tmx_sim_trip_k(const struct tmx_sim *sim); /* where the hardware stops a clock [K]; NAN: it does not say */
const struct tmx_jobs *tmx_sim_jobs(const struct tmx_sim *sim);   /* NULL: no job level */
const struct tmx_serve *tmx_sim_serve(const struct tmx_sim *sim); /* NULL: no language model */
bool tmx_sim_without_heat(
    const struct tmx_sim *s); /* it computes neither dies nor sensors; its tick has no parts */
const struct tmx_cooling *tmx_sim_cooling(const struct tmx_sim *sim); /* NULL: none */
/* What it consists of; its topology is NULL where there is none. */
const struct tmx_cooling_spec *tmx_sim_cooling_spec(const struct tmx_sim *sim);
/* The same of one GPU; false, and nothing written: there is no cooling stage. */
bool tmx_sim_gpu_cooling(const struct tmx_sim *sim, size_t gpu, struct tmx_cooling_gpu *c);
/* Fans and air up to now; all zero when there is no cooling stage. */
struct tmx_feed_sum tmx_sim_feed_sum(const struct tmx_sim *s);
struct tmx_cooling_ledger tmx_sim_cooling_ledger(const struct tmx_sim *sim);
/* Board watts that the run's configuration lets a GPU draw; INFINITY: as many as it wants. */
double tmx_sim_power_cap_w(const struct tmx_sim *sim, size_t gpu);
/* The thermal instance of a GPU as it is now, for the functions of its back-end that read. */
void *tmx_sim_thermal_state(const struct tmx_sim *sim, size_t gpu);
/* What a GPU draws without work; false where the power model cannot say. */
bool tmx_sim_static_power(const struct tmx_sim *sim, size_t gpu, struct tmx_static_power *p);

#endif
