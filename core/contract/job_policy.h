/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_JOB_POLICY_H
#define TMX_CORE_CONTRACT_JOB_POLICY_H

/* Job level: which waiting instances are merged into one kernel, and where does it run?
 * Asked before a kernel reaches any queue; everything below it sees a merged kernel as one job. */

#include "core/base/plugin.h"
#include "core/machine/merge.h"

enum { TMX_LAUNCH_MAX = 256 }; /* instances in one launch */

struct tmx_instance { /* waiting */
    size_t id;        /* of the caller */
    size_t kind;      /* index into the view's kinds */
    double arrival_s;
    double deadline_s; /* must have ended by then; INFINITY: none */
};

struct tmx_waiting_view { /* all const for the policy; temperatures as the sensors say */
    double now_s;
    const struct tmx_node *node;
    const struct tmx_workload *kind; /* [n_kind] */
    size_t n_kind;
    const struct tmx_template *tmpl; /* [n_tmpl] */
    size_t n_tmpl;
    const struct tmx_instance *waiting; /* [n_waiting] by arrival, then id */
    size_t n_waiting;
    const bool *gpu_idle;     /* [n_gpu] can start a kernel now */
    const double *gpu_temp_c; /* [n_gpu] hottest sensor */
    size_t n_gpu;
    bool cpu_idle; /* the CPU may take instances */
};

enum tmx_job_target { TMX_TO_GPU, TMX_TO_CPU };

struct tmx_launch {
    enum tmx_job_target target;
    size_t gpu;                    /* TMX_TO_GPU */
    size_t n_member;               /* 1: the instance runs as it is */
    size_t member[TMX_LAUNCH_MAX]; /* indices into view->waiting, ascending */
    struct tmx_prediction predicted;
};

struct tmx_job_policy {
    struct tmx_plugin base; /* the state is plain data */
    /* REQUIRED. The next launch for this view; false: none now. Asked again, with the members taken
     * out and the GPU no longer idle, until it answers false. Pure: the state is read only. */
    bool (*next)(const void *state, const struct tmx_waiting_view *view, struct tmx_launch *launch);
};

#endif
