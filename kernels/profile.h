/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_PROFILE_H
#define TMX_KERNELS_PROFILE_H

/* What sm_cycle says about a kernel, in the two forms that coarser models read:
 *  - three numbers for the epoch model (kernels/contention): ipc1, cpi1, mlp;
 *  - for a gating policy, asleep fraction, gatings and slowdown at a few memory latencies,
 *    interpolated between them.
 * Both are pure functions of (kernel, SM, policy, seed, budget) and cached on disk under the hash
 * of exactly these. */

#include "kernels/memory.h"
#include "kernels/sm_cycle.h"

/* IPC of a core with `warps` warps at memory latency L, no bandwidth limit:
 *   smooth minimum of ipc1 and warps * B / (B * cpi1 + L),  B = mlp / q  instructions between waits,
 *   q = lines per instruction; (a^-4 + b^-4)^(-1/4). */
struct tmx_core_fit {
    double ipc1;                    /* issue limit [instructions / cycle] */
    double cpi1_cycles;             /* of one warp alone, memory aside [cycles / instruction] */
    double mlp;                     /* lines in flight per warp when it waits */
    double lines_per_instr;         /* q, counted */
    double mean_error, worst_error; /* relative, against the runs fitted */
};
double tmx_core_fit_ipc(const struct tmx_core_fit *f, double warps, double latency_cycles);

enum { TMX_GATE_POINTS = 7 };

struct tmx_gate_point { /* one run of sm_cycle at one latency, with its ungated twin */
    double latency_cycles;
    double asleep[3];            /* INT, FP, SFU: fraction of cluster time gated, 0 .. 1 */
    double gatings_per_cycle[3]; /* per cluster */
    double saved[3];             /* static energy saved, net of switching, 1 - E / E_ungated */
    double slowdown;             /* cycles / cycles ungated - 1 */
    double ipc;                  /* gated */
};

struct tmx_gate_profile {
    struct tmx_gate_point point[TMX_GATE_POINTS]; /* rising latency */
    /* largest |interpolated - fresh run| half-way (in log latency) between the points nearest to the
     * kernel's own latency: fraction of time INT or FP is asleep, and slowdown */
    double asleep_error, slowdown_error;
};

struct tmx_profile_key { /* what a profile depends on */
    struct tmx_instr_stats stats;
    struct tmx_stream_knobs knobs;
    struct tmx_sm_params sm;
    const struct tmx_gate_policy *policy; /* NULL for tmx_profile_core */
    struct tmx_gate_params gate;
    uint64_t seed, budget; /* warp instructions per run */
};

/* Fit three numbers to 21 runs: seven latencies, three warp counts. cache_dir: NULL: no cache. Errors stay in
 * err (base/err.h), here and below. */
TMX_NODISCARD enum tmx_status tmx_profile_core(const struct tmx_profile_key *key, const char *cache_dir,
                                               struct tmx_core_fit *fit, struct tmx_err *err);

/* One fresh pair of runs, with and without gating, at this latency; what a profile interpolates. */
TMX_NODISCARD enum tmx_status tmx_profile_gate_point(const struct tmx_profile_key *key, double latency_cycles,
                                                     struct tmx_gate_point *p, struct tmx_err *err);

/* Runs at TMX_GATE_POINTS latencies from a quarter to six times the kernel's own. */
TMX_NODISCARD enum tmx_status tmx_profile_gate(const struct tmx_profile_key *key, const char *cache_dir,
                                               struct tmx_gate_profile *p, struct tmx_err *err);

/* Linear in log(latency) between the points, constant beyond them. Pure, no allocation. */
void tmx_gate_profile_at(const struct tmx_gate_profile *p, double latency_cycles, struct tmx_gate_point *at);

/* From the instructions of a kernel to the per-core parameters of one of its launches: the link between
 * sm_cycle, which knows instructions, and the epoch model, which knows ipc1, cpi1 and mlp. What a core
 * executes comes from group `instructions`; how many warps are resident and how many lines they send to the
 * L2 comes from the launch. */

/* Statistics of the launch: those of the kernel with the launch's resident blocks and, at the chip's
 * contention-free latency, exactly its lines per instruction. Traffic is matched in this order: lines per
 * access (at least one), share of loads that miss, share of stores; a body without a global load, but with
 * traffic, sends all its loads and stores to global memory. key->stats is replaced; its knobs, SM and seed
 * are read. Errors: TMX_ECONFIG (statistics that no stream can be made of), TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_launch_profile_key(struct tmx_profile_key *key,
                                                     const struct tmx_memory_kernel *launch,
                                                     const struct tmx_memory_chip *chip, struct tmx_err *err);

/* Put what sm_cycle has measured in place of the given parameters. The distance between two waits of a
 * warp, B = mlp / q, is what was measured: where the stream's q differs from the launch's, mlp follows. */
void tmx_launch_profile_use(struct tmx_memory_kernel *launch, const struct tmx_memory_chip *chip,
                            const struct tmx_core_fit *fit);

#endif
