/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_CTA_H
#define TMX_RUN_CTA_H

/* A benchmark on a chip under a CTA policy: loads, runs the epoch model, prices the ledger. */

#include <thermix/policy.h>

#include "base/table.h"
#include "kernels/contention.h"
#include "power/chip_energy.h"

struct tmx_cta_chip {
    char name[64];
    struct tmx_memory_chip memory;
    struct tmx_chip_energy energy;
};

struct tmx_cta_options {
    double epoch_cycles;
    uint64_t seed;
};

struct tmx_cta_policy_spec { /* a policy and what differs from its defaults */
    const struct tmx_cta_policy *policy;
    char text[256]; /* as given: "tcs(threshold=1.5)" */
    void *options;  /* state as read, copied for every run; owned */
};

struct tmx_cta_outcome {
    struct tmx_contention_result result;
    struct tmx_energy energy;
    double edp_js;
    double latency_cycles; /* mean over all lines */
    double cores;          /* the policy's choice, mean over launches weighted by their time under `all` */
    double ipc;            /* thread instructions per core cycle */
};

/* Of all that follow an error stays (base/err.h), and its code is returned. */
enum tmx_status tmx_cta_chip_load(struct tmx_cta_chip *c, const char *name, const struct tmx_sets *sets,
                                  struct tmx_err *err);

/* "tcs" or "tcs(threshold=1.5,throttling=false)". Release with tmx_cta_policy_finish. */
enum tmx_status tmx_cta_policy_parse(const char *text, struct tmx_cta_policy_spec *p, struct tmx_err *err);
void tmx_cta_policy_finish(struct tmx_cta_policy_spec *p);

/* Run programs (the first has priority) under the policy. The probe may be NULL. */
struct tmx_cta_probe {
    void (*epoch)(void *ctx, const struct tmx_contention_sample *sample);
    void *ctx;
};
enum tmx_status tmx_cta_run(const struct tmx_cta_chip *chip, const struct tmx_memory_program *const *programs,
                            size_t n_program, const struct tmx_cta_policy_spec *p,
                            const struct tmx_cta_options *o, const struct tmx_cta_probe *probe,
                            struct tmx_cta_outcome *out, struct tmx_err *err);
/* The same under a policy as a text; under "static_optimal" every launch has as many cores as give it the
 * smallest EDP, launches weighted by seconds in `all`. */
enum tmx_status tmx_cta_run_as(const struct tmx_cta_chip *chip,
                               const struct tmx_memory_program *const *programs, size_t n_program,
                               const char *policy, const struct tmx_cta_options *o,
                               const struct tmx_cta_probe *probe, struct tmx_cta_outcome *out,
                               struct tmx_err *err);

/* Mean number of chosen cores, launches weighted by the seconds they take in `weights` (the same program
 * under `all`). */
double tmx_cta_mean_cores(const struct tmx_contention_result *r, const struct tmx_contention_result *weights);

/* Per-core parameters of the epoch model (ipc1, cpi1, mlp): as the kernel's group `memory` gives them, or
 * measured by running its `instructions` on the chip's SM cycle by cycle. */

/* Load a kernel's program by name; its per-core parameters come from chip->memory.core; seed: of the streams
 * they are measured with. Launches that are alike are measured once; what was measured is kept in the user's
 * cache folder. compare: NULL, or a table of tmx_cta_core_table that gets a row a group of launches alike,
 * both sources side by side (then it is measured in any case). Errors: TMX_EIO, TMX_ECONFIG (no such kernel,
 * no group `memory`; to measure: no `instructions`, a chip without memory.sm). */
enum tmx_status tmx_cta_program_load(struct tmx_memory_program *program, const char *kernel,
                                     const struct tmx_cta_chip *chip, uint64_t seed,
                                     struct tmx_table *compare, struct tmx_err *err);

/* An empty table with the columns of the comparison. */
struct tmx_table *tmx_cta_core_table(void);

extern const struct tmx_keys tmx_cta_keys[]; /* of a run */

#endif
