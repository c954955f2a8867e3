/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SOURCE_JOB_H
#define TMX_CORE_SIM_SOURCE_JOB_H

/* The job level of a run: arrived jobs wait here until the job policy launches them, alone or merged.
 * The first member of a launch carries it: the machine sees one kernel with the merged kernel's time,
 * width and power. The others end with it. */

#include <thermix/policy.h>

#include "core/contract/choice.h"
#include "core/machine/machine.h"
#include "kernels/merge.h"

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
TMX_NODISCARD enum tmx_status tmx_jobs_step(struct tmx_jobs *jobs, struct tmx_machine *m,
                                            const struct tmx_view *view, struct tmx_err *err);

const struct tmx_jobs_ledger *tmx_jobs_ledger(const struct tmx_jobs *jobs);

#endif
