/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SOURCE_SOURCES_H
#define TMX_CORE_SIM_SOURCE_SOURCES_H

/* One line a source, defined in core/sim/source/ as tmx_source_NAME: X(Y, name), whose group of the
 * configuration another file of run/ reads, or G(Y, name), whose group has the rows tmx_source_NAME_opts
 * alone. */

#include "core/contract/choice.h"
#include "core/machine/machine.h"
#include <thermix/policy.h>

#include "kernels/merge.h"

/* Where work comes from: when jobs arrive, which GPUs they get, what they draw, when they end. The machine
 * has its jobs from the begin; their source moves them. A simulation has one source. */

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
 * by fixed ticks. Errors stay (base/err.h). */
struct tmx_source {
    struct tmx_plugin base; /* name: of its group of the configuration; opts: where that is rows alone */
    void *(*open)(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena);
    /* Every tick: jobs that arrive, in their order (tmx_machine_arrive). NULL: each at its arrival_s. */
    void (*admit)(const struct tmx_source_view *v, void *own);
    /* Every scheduling tick: jobs that have arrived get GPUs. NULL: as the place policy says. */
    void (*place)(const struct tmx_source_view *v, void *own, struct tmx_err *err);
    /* Then, when policies have asked: what it asks for beside, such as slower clocks. */
    void (*limit)(const struct tmx_source_view *v, void *own, struct tmx_request *r);
    /* Every tick, before the GPUs go on: what jobs draw in it (tmx_machine_draw). */
    void (*work)(const struct tmx_source_view *v, void *own, struct tmx_err *err);
    /* When all GPUs have run, before watts: what their jobs wait for together. Returns how many jobs ended.
     */
    size_t (*meet)(const struct tmx_source_view *v, void *own);
    void (*end)(const struct tmx_source_view *v, void *own); /* after every tick */
    double (*share)(const void *own);                        /* done, 0 to 1. NULL: of the jobs' work */
    bool (*cold)(const void *options); /* it writes chip_w by itself: neither dies nor sensors */
};

#define TMX_SOURCE_LIST(X, G, Y) \
    X(Y, mix)                    \
    X(Y, job)                    \
    X(Y, sync_job)               \
    X(Y, serve)

#define TMX_DECLARE_SOURCE(Y, name) extern const struct tmx_source tmx_source_##name;
#define TMX_DECLARE_SOURCE_ROWS(Y, name)              \
    extern const struct tmx_source tmx_source_##name; \
    extern const struct tmx_opt tmx_source_##name##_opts[];
TMX_SOURCE_LIST(TMX_DECLARE_SOURCE, TMX_DECLARE_SOURCE_ROWS, )

/* Those groups, X(group, policies, rows). */
#define TMX_SOURCE_NO_ROWS(X, name)
#define TMX_SOURCE_ROWS_OF(X, name) X(name, NULL, tmx_source_##name##_opts)
#define TMX_SOURCE_ROWS(X)          TMX_SOURCE_LIST(TMX_SOURCE_NO_ROWS, TMX_SOURCE_ROWS_OF, X)

/* mix.c: jobs that have arrived get their GPUs from the place policy. TMX_ESOLVE: its answer cannot be. */
void tmx_source_place(const struct tmx_source_view *v, struct tmx_err *err);
/* Placed jobs may get more. */
void tmx_source_widen(const struct tmx_source_view *v, struct tmx_err *err);

/* The job level of a run: arrived jobs wait here until the job policy launches them, alone or merged.
 * The first member of a launch carries it: the machine sees one kernel with the merged kernel's time,
 * width and power. The others end with it. */

struct tmx_jobs_spec {
    const struct tmx_choice
        *choice; /* of the job level, set by its source; like all that follows not owned */
    const struct tmx_node *node;
    const struct tmx_workload *kind; /* [n_kind] */
    size_t n_kind;
    const struct tmx_template *tmpl; /* [n_tmpl] */
    size_t n_tmpl;
    const size_t *kind_of;    /* [n_job] */
    const double *deadline_s; /* [n_job] in simulated time; NULL: none has one */
    size_t depth;             /* kernels a GPU holds at a time; more wait here. At least 1 */
};

struct tmx_jobs_ledger {
    size_t n_launch, n_merged; /* launches, and those with more than one member */
    size_t n_member;           /* instances launched */
    size_t largest;            /* most members of one launch */
    double off_die_j;          /* energy of the launches on the boards, outside the dies: predicted */
};

struct tmx_jobs;

/* m must have its jobs; *spec is copied. In the arena of a simulation, whose `failed` says whether there was
 * memory. */
struct tmx_jobs *tmx_jobs_take(struct tmx_arena *arena, const struct tmx_jobs_spec *spec,
                               const struct tmx_machine *m);

/* Once a quantum: members of finished launches end, arrived jobs join the waiting, the policy launches
 * on GPUs that hold fewer than depth kernels. No allocation. TMX_ESOLVE: a launch that cannot be. */
void tmx_jobs_step(struct tmx_jobs *jobs, struct tmx_machine *m, const struct tmx_view *view,
                   struct tmx_err *err);

const struct tmx_jobs_ledger *tmx_jobs_ledger(const struct tmx_jobs *jobs);

#endif
