/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_WORKLOAD_SYNC_JOB_H
#define TMX_CORE_WORKLOAD_SYNC_JOB_H

/* A synchronous job: the members of a synchronous job, one a GPU, work in steps. In each step a member
 * computes its share at its GPU's speed, then waits; when the last has arrived all communicate for a fixed
 * time, and the next step begins. Steps begin and end inside ticks, at the times that follow from the speeds
 * of the tick.
 *
 *   step time = max over members (weight step_work / speed) + comm (+ checkpoint, every so many steps)
 *
 * Who waits or communicates draws a fixed part of the dynamic power of its kernel; who writes a checkpoint,
 * another one. The members may be several jobs, equal parts of the list, each in step with itself; a job that
 * has done its steps goes on, uncounted, until the last has. */

#include <stdio.h>

#include <thermix/policy.h>

#include "base/arena.h"
#include "base/opt.h"

struct tmx_sync_job_options {
    double step_work_s; /* of weight 1, on a whole idle GPU of GPU 0's kind at the nominal clock */
    double comm_s;
    double wait_power;                     /* part of the dynamic power */
    double checkpoint_s, checkpoint_power; /* likewise, while one is written */
    int checkpoint_steps;                  /* between two checkpoints; 0: none */
    int jobs;                              /* equal parts of the members */
    int members;                           /* the first jobs of the mix; 0: all */
    int steps;
};
extern const struct tmx_opt tmx_sync_job_opts[];

struct tmx_sync_job_spec { /* group `sync_job` of a run */
    struct tmx_sync_job_options options;
    size_t n_member; /* 0: no synchronous job */
    double *weight;  /* [n_member] */
    size_t *gpu;     /* [n_member] where each member runs; no two on one */
};

struct tmx_sync_job_member {
    double left_s;            /* of this step: time on a whole GPU, as step_work_s */
    double speed;             /* of this tick: step_work_s a second */
    size_t gpu, kernel_slot;  /* of this tick; gpu SIZE_MAX: not resident */
    double step_s;            /* time computed in this step */
    double compute_s, wait_s; /* in all counted steps, and since */
    uint64_t n_last;          /* steps in which it arrived last; of several the first in the list */
    double done_s;            /* work of whole steps, as step_work_s */
};

struct tmx_sync_part { /* of the members, a job of its own */
    size_t first, end;
    double rest_s, begun_s; /* left of what is no computing; when the step began, on the machine's clock */
    double hold_s, held_s;  /* so long the next step waits to begin, as a policy wants; and this one did */
    double period_s;        /* of the last whole step without hold and checkpoint; 0: none yet */
    double steps_s;         /* all its steps since counting began */
    size_t n_step, n_all;   /* counted, and with the warm-up's */
    int doing;              /* enum tmx_sync_doing */
    bool counting, begun;
};
enum tmx_sync_doing { TMX_SYNC_COMPUTES, TMX_SYNC_COMMUNICATES, TMX_SYNC_WRITES, TMX_SYNC_HOLDS };

struct tmx_sync_job {
    struct tmx_sync_job_spec spec;
    struct tmx_sync_part *part;         /* [jobs] */
    struct tmx_sync_job_member *member; /* [n_member] */
    struct tmx_sync_job_view view;      /* for policies */
    double *view_compute_s;             /* [n_member] behind the view */
    double *step_s;                     /* [steps * jobs] how long each counted step took */
    double *active;                     /* [n_member] scratch: part of the tick it computed, */
    double *writes;                     /* and part in which it wrote a checkpoint */
    size_t n_step;                      /* counted, of all jobs */
};

/* Group `sync_job` of root; absent: n_member = 0. The mix has n_job jobs, of which the first n_at_start are
 * there at time 0. Arrays are the arena's. TMX_ECONFIG, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_sync_job_read(struct tmx_sync_job_spec *s, struct tmx_arena *a,
                                                const struct tmx_setting *root, size_t n_job,
                                                size_t n_at_start, size_t n_gpu, struct tmx_err *err);
struct tmx_writer;
void tmx_sync_job_write(const struct tmx_sync_job_spec *s, struct tmx_writer *w);

/* In the arena of a simulation; NULL: no memory. The spec has to live as long. */
struct tmx_sync_job *tmx_sync_job_take(struct tmx_arena *arena, const struct tmx_sync_job_spec *s);

/* In a tick of the machine: each member that is resident and does so many seconds of work in a second; then,
 * after all GPUs, dt_s go by for each job; then all members are withdrawn. advance: true when the last
 * counted step of all jobs ended, end_s into the tick (else *end_s is dt_s). */
void tmx_sync_job_offer(struct tmx_sync_job *g, size_t member, size_t gpu, size_t kernel_slot, double speed);
bool tmx_sync_job_advance(struct tmx_sync_job *g, size_t job, double dt_s, double time_s, bool counting,
                          double *end_s);
void tmx_sync_job_withdraw(struct tmx_sync_job *g);

/* Over the counted steps. */
double tmx_sync_job_step_mean_s(const struct tmx_sync_job *g);
double tmx_sync_job_step_quantile_s(const struct tmx_sync_job *g,
                                    double q); /* allocates; NAN where there is none */
/* Work a second of computing, relative to a whole GPU 0 at the nominal clock; 0 before it has computed. */
double tmx_sync_job_speed(const struct tmx_sync_job *g, size_t member);
/* Part of its time a member waited for others; communication is no waiting. */
double tmx_sync_job_wait_share(const struct tmx_sync_job *g, size_t member);

#endif
