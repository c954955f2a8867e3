/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_PROFILE_H
#define TMX_CORE_MICRO_PROFILE_H

/* What sm_cycle says about a kernel, in the two forms that coarser models read:
 *  - three numbers for the epoch model (core/micro/contention): ipc1, cpi1, mlp;
 *  - for a gating policy, asleep fraction, gatings and slowdown at a few memory latencies,
 *    interpolated between them.
 * Both are pure functions of (kernel, SM, policy, seed, budget) and cached on disk under the hash
 * of exactly these. */

#include "core/micro/sm_cycle.h"

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

/* Fit three numbers to 21 runs: seven latencies, three warp counts. cache_dir: NULL: no cache. */
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

#endif
