/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_JOBS_H
#define TMX_RUN_JOBS_H

/* The job level of a run: group `job` of the configuration. Its mix names kinds of instances,
 * "kernel:variant", instead of kernels. */

#include "core/machine/mix.h"
#include "run/load/job_files.h"
#include "run/state.h"

struct tmx_run_jobs {
    char node[256];
    int depth;         /* kernels a GPU holds at a time */
    double deadline_s; /* after arrival; 0: none */
    struct tmx_job_data data;
    size_t *kind_of;  /* [n_job] owned */
    double *deadline; /* [n_job] owned, NULL: none */
};

/* Read the group `job` and choose the policy; r->jobs stays NULL when there is none. */
TMX_NODISCARD enum tmx_status tmx_run_jobs_open(struct tmx_run *r, const struct tmx_setting *root,
                                                struct tmx_err *err);
void tmx_run_jobs_close(struct tmx_run_jobs *jobs); /* accepts NULL */

/* Jobs of the mix: r->job, r->kernel (one a kind) and the spec of the job level are filled. */
TMX_NODISCARD enum tmx_status tmx_run_jobs_make(struct tmx_run *r, struct tmx_err *err);

/* `key = value;` lines of the group. */
void tmx_run_jobs_write(const struct tmx_run *r, enum tmx_resolved what, FILE *out);

#endif
