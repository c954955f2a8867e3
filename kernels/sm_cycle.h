/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_SM_CYCLE_H
#define TMX_KERNELS_SM_CYCLE_H

/* One streaming multiprocessor, cycle by cycle: warps, two-level scheduler, scoreboard, dual
 * issue, two clusters of INT and FP lanes, one LDST and one SFU port, power gating.
 *
 * One cycle t, in this order:
 *   1 results arrive: warps become ready; warps whose long wait ended enter the active set (cap
 *     `active`, round robin), units whose wake-up time is over can be used
 *   2 GATES: INT and FP swap priority when no active warp wants the high one and some want the low
 *   3 issue: one slot, a second one with chance `dual_issue`. A slot takes the first candidate in
 *     the policy's order, of several the first that `scan` meets. INT and FP leave through the ports of
 *     the two clusters, one each per cycle, cluster 0 first. A candidate whose unit sleeps asks it to
 *     wake, holds the port, and the slot may then issue only LDST or SFU (`waking`: or all but its type);
 *     where blackout forbids to wake, its type is passed over
 *   4 units that have been idle for idle-detect cycles go to sleep from t + 1 (cluster 0 is asked
 *     first, so that cluster 1 sees it asleep); at the end of an epoch idle detect adapts
 * Rules and their reading of the paper: docs/notes/warped-gates.md. */

#include <stdint.h>

#include "kernels/sm_gating.h"
#include "kernels/stream.h"

enum tmx_cluster_choice { TMX_CLUSTER_FIRST, TMX_CLUSTER_RESTED };
enum tmx_scan { TMX_SCAN_ROUND, TMX_SCAN_SLOT, TMX_SCAN_ENTRY };
enum tmx_waking { TMX_WAKING_PORT, TMX_WAKING_TYPE };

#define TMX_SM_INSTR_S 1e-7 /* a warp instruction's cost, measured on a 2.8 GHz Xeon */

struct tmx_sm_params {    /* the SM itself; defaults: GTX480 */
    int active;           /* most warps in the active set */
    double dual_issue;    /* chance that the second issue slot is usable in a cycle */
    int issue_gap_cycles; /* from one issue of a warp to its next, at least */
    int alu_cycles;       /* from issue until a dependent instruction may issue */
    int sfu_cycles, shared_cycles, hit_cycles;
    int busy_cycles;         /* a lane cluster is busy this long per warp instruction */
    int sfu_interval_cycles; /* from one SFU issue to the next */
    int ldst_interval_cycles;
    int mshr;           /* outstanding global lines */
    int launch_cycles;  /* from the end of a block to the first issue of the next */
    int barrier_cycles; /* from the last arrival to the first issue after it */
    int clusters;       /* 1 or 2 */
    int cluster_choice; /* enum tmx_cluster_choice */
    int slots;          /* issue slots: 1 or 2 */
    int scan;           /* enum tmx_scan: which of several ready warps is taken */
    int waking;         /* enum tmx_waking: what a waking unit holds up */
};
extern const struct tmx_opt tmx_sm_opts[];

struct tmx_sm_result {
    uint64_t cycles, issued; /* issued: warp instructions of all types */
    uint64_t issued_type[TMX_N_UNIT_TYPE];
    uint64_t blocks;       /* thread blocks completed */
    uint64_t block_cycles; /* sum of their lives, first issue slot to last issue */
    uint64_t active_sum;   /* sum over cycles of the warps in the active set */
    unsigned active_max;
    uint64_t lines;                      /* global lines that left the SM */
    uint64_t latency_sum_cycles, misses; /* of loads that left, with queueing */
    struct tmx_gate_stat type[3];        /* INT, FP, SFU */
    double idle_detect_mean[2];          /* INT, FP: over the epochs */
};

/* Run s under policy until `budget` warp instructions have been issued or every block has ended.
 * Equal inputs give equal results on every machine. Errors: TMX_ENOMEM,
 * TMX_ERANGE (a run beyond 2^30 cycles). */
TMX_NODISCARD enum tmx_status tmx_sm_run(const struct tmx_sm_params *sm, const struct tmx_stream *s,
                                         const struct tmx_gate_policy *policy,
                                         const struct tmx_gate_params *gate, uint64_t budget,
                                         const struct tmx_sm_probe *probe, struct tmx_sm_result *r,
                                         struct tmx_err *err);

double tmx_sm_ipc(const struct tmx_sm_result *r);
/* cycles / base_cycles - 1 */
double tmx_gate_slowdown(uint64_t cycles, uint64_t base_cycles);

#endif
