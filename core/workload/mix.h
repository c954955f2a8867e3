/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_WORKLOAD_MIX_H
#define TMX_CORE_WORKLOAD_MIX_H

/* A workload: which kernels arrive when, with how much work. */

#include <stdint.h>

#include "base/opt.h"
#include "core/workload/job.h"

struct tmx_mix_entry {
    char kernel[64];
    double work_s;  /* time the whole reference GPU needs at its nominal clock; 0: one launch of the kernel */
    double power_w; /* of its SMs, in place of the kernel's sm_power_w; 0: that */
    double arrival_s;
    int priority;
    int gpus;         /* side by side from the beginning; work_s: time that all of them need */
    size_t order;     /* in which it was written */
    uint64_t id, row; /* of a cluster's log, hashes: the job's, that of all columns; 0: none */
    const char *file; /* where it was written; lives as long as the mix */
    unsigned line;
    const char *kernel_from; /* where its kernel was; NULL: in file */
};

static inline const char *tmx_mix_kernel_from(const struct tmx_mix_entry *e)
{
    return e->kernel_from ? e->kernel_from : e->file;
}

struct tmx_config;

struct tmx_mix {
    char name[64];
    char doc[256];
    char source[512];
    struct tmx_mix_entry *entry; /* [n_entry] owned, by arrival, then as written */
    size_t n_entry;
    struct tmx_config *config; /* owned: names of the files that entries were written in */
    char *arrivals;            /* owned: the CSV, NULL: none */
    bool target;               /* counts among the target mixes of its paper */
};

/* Read a mix: `kernels = ( {kernel; work_s; arrival_s; priority; gpus; count;}, ... )`, or `arrivals`
 * with process = "poisson" (seeded by seed) or "trace" (a CSV of
 * arrival_s,kernel,work_s[,priority][,gpus], or jobs of a cluster: SWF, sacct, Acme). Errors: TMX_EIO,
 * TMX_ECONFIG, TMX_EPARSE. */
TMX_NODISCARD enum tmx_status tmx_mix_load(struct tmx_mix *mix, const char *path, uint64_t seed,
                                           struct tmx_err *err);
void tmx_mix_finish(struct tmx_mix *mix);

extern const struct tmx_keys tmx_mix_keys[]; /* of a mix */

#endif
