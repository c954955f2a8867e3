/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_GANG_H
#define TMX_CORE_MACHINE_GANG_H

/* A synchronous job: the members of a gang, one a GPU, work in steps. In each step a member computes its
 * share at its GPU's speed, then waits; when the last has arrived all communicate for a fixed time, and the
 * next step begins. Steps begin and end inside ticks, at the times that follow from the speeds of the tick.
 *
 *   step time = max over members (weight step_work / speed) + comm
 *
 * Who waits or communicates draws a fixed part of the dynamic power of its kernel. */

#include <stdio.h>

#include <thermix/policy.h>

#include "core/base/opt.h"

struct tmx_machine;

struct tmx_gang_options {
    double step_work_s; /* of weight 1, on a whole idle GPU of GPU 0's kind at the nominal clock */
    double comm_s;
    double wait_power; /* part of the dynamic power */
    int members;       /* the first jobs of the mix; 0: all */
    int steps;
};
extern const struct tmx_opt tmx_gang_opts[];

struct tmx_gang_spec { /* group `gang` of a run */
    struct tmx_gang_options options;
    size_t n_member; /* 0: no gang */
    double *weight;  /* [n_member] owned */
    size_t *gpu;     /* [n_member] owned: where each member runs; no two on one */
};

struct tmx_gang_member {
    double left_s;            /* of this step: time on a whole GPU, as step_work_s */
    double speed;             /* of this tick: step_work_s a second */
    size_t gpu, way;          /* of this tick; gpu SIZE_MAX: not resident */
    double step_s;            /* time computed in this step */
    double compute_s, wait_s; /* in all counted steps, and since */
    uint64_t n_last;          /* steps in which it arrived last; of several the first in the list */
    double done_s;            /* work of whole steps, as step_work_s */
};

struct tmx_gang {
    struct tmx_gang_spec spec;
    struct tmx_gang_member *member; /* [n_member] */
    struct tmx_gang_view view;      /* for policies */
    double *view_compute_s;         /* [n_member] behind the view */
    double *step_s;                 /* [steps] how long each counted step took */
    double *active;                 /* [n_member] scratch: part of the tick it computed */
    size_t n_step;                  /* counted */
    double comm_left_s;             /* 0: the members compute */
    double begun_s;                 /* of this step, on the clock of machine time */
    bool counting;
};

/* Group `gang` of root; absent: n_member = 0. The mix has n_job jobs, of which the first n_at_start are there
 * at time 0. End with tmx_gang_spec_finish, also after failure. TMX_ECONFIG, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_gang_read(struct tmx_gang_spec *s, const struct tmx_setting *root,
                                            size_t n_job, size_t n_at_start, size_t n_gpu,
                                            struct tmx_err *err);
void tmx_gang_spec_finish(struct tmx_gang_spec *s); /* accepts zeroed memory */
void tmx_gang_write(const struct tmx_gang_spec *s, FILE *out);

/* Gives the members of m their work and GPU. The spec has to outlive the gang. */
TMX_NODISCARD enum tmx_status tmx_gang_create(struct tmx_gang **g, const struct tmx_gang_spec *s,
                                              struct tmx_machine *m, struct tmx_err *err);
void tmx_gang_destroy(struct tmx_gang *g); /* accepts NULL */

/* Inside tmx_machine_advance: a member is resident and does so many seconds of work in a second; then,
 * after all GPUs, the tick goes by. */
void tmx_gang_offer(struct tmx_gang *g, size_t member, size_t gpu, size_t way, double speed);
void tmx_gang_advance(struct tmx_gang *g, struct tmx_machine *m, double time_s);

/* Over the counted steps. */
double tmx_gang_step_mean_s(const struct tmx_gang *g);
double tmx_gang_step_quantile_s(const struct tmx_gang *g, double q); /* allocates; NAN where there is none */
/* Work a second of computing, relative to a whole GPU 0 at the nominal clock; 0 before it has computed. */
double tmx_gang_speed(const struct tmx_gang *g, size_t member);
/* Part of its time a member waited for others; communication is no waiting. */
double tmx_gang_wait_share(const struct tmx_gang *g, size_t member);

/* Everything that changes, for snapshots. */
size_t tmx_gang_image_size(struct tmx_gang *g); /* 0 for NULL */
/* NULL: nothing. */
void tmx_gang_save(struct tmx_gang *g, void *buf);
void tmx_gang_restore(struct tmx_gang *g, void *buf);

#endif
