/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_LOAD_JOB_FILES_H
#define TMX_RUN_LOAD_JOB_FILES_H

/* Files of the job level: nodes, kernels' `job` groups, batches. */

#include "base/err.h"
#include "base/opt.h"
#include "kernels/merge.h"

struct tmx_sets;

enum { TMX_TEMPLATE_MAX = 32 };

struct tmx_node_events { /* equations 10-12 by event rates */
    double active_w, compute_w, memory_w;
};

struct tmx_job_data {
    char name[64], doc[256], source[512];
    struct tmx_node node;
    struct tmx_node_events events;
    struct tmx_template tmpl[TMX_TEMPLATE_MAX];
    size_t n_tmpl;
    struct tmx_workload kind[TMX_KIND_MAX]; /* in the order they were asked for */
    double measured_w[TMX_KIND_MAX];        /* mean system power of one instance alone, 0: not printed */
    double event[TMX_KIND_MAX][2];          /* compute and memory events per cycle of one block on its SM */
    size_t n_kind;
    struct tmx_job_cpu *cpu; /* [n_cpu] owned */
    size_t n_cpu;
};

struct tmx_job_measured { /* by the paper, 0: not printed */
    double cpu_time_s, cpu_energy_j, manual_time_s, manual_energy_j;
    double dynamic_time_s, dynamic_energy_j, serial_time_s, serial_energy_j;
};

struct tmx_job_batch {
    char name[64], doc[256], source[512];
    char time_table[16], energy_table[16]; /* where the paper prints it */
    bool calibrated;                       /* the node's fitted numbers were fitted to it */
    int decision;                          /* what the paper decides: none, merge, serial */
    size_t count[TMX_KIND_MAX];
    struct tmx_job_measured measured;
};

/* Read a node by name (workloads/nodes/NAME.cfg) or path; sets are "a.b=c" overrides. Release with
 * tmx_job_data_finish. Errors: TMX_EIO, TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_job_data_load(struct tmx_job_data *d, const char *node,
                                                const struct tmx_sets *sets, struct tmx_err *err);
void tmx_job_data_finish(struct tmx_job_data *d); /* accepts zeroed memory */

/* Index of the kind "kernel:variant" (of the file `from`, NULL: none), read from the kernel's file when new.
 * Its dynamic power comes from the kernel's variant with a measured energy, else from its event rates. */
TMX_NODISCARD enum tmx_status tmx_job_data_kind(struct tmx_job_data *d, const char *from, const char *name,
                                                size_t *kind, struct tmx_err *err);

/* Is group `job` of a kernel's file in order? */
TMX_NODISCARD enum tmx_status tmx_job_kernel_check(const char *path, struct tmx_err *err);

/* Read a batch by name (workloads/batches/NAME.cfg) or path, adding its kinds to d. */
TMX_NODISCARD enum tmx_status tmx_job_batch_load(struct tmx_job_data *d, const char *name,
                                                 struct tmx_job_batch *b, struct tmx_err *err);

extern const struct tmx_keys tmx_node_keys[]; /* of a node of jobs */

extern const struct tmx_keys tmx_batch_keys[]; /* of a batch */

extern const struct tmx_keys tmx_job_kernel_keys[]; /* of a kernel */

#endif
