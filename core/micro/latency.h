/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_LATENCY_H
#define TMX_CORE_MICRO_LATENCY_H

/* Memory latency of a closed network: cores that wait for lines they asked for, and a memory system
 * that gets slower the more is asked for. Pure; equations in latency.c. */

#include <stddef.h>

struct tmx_core_class { /* cores that are alike */
    double cores;
    double warps;       /* resident and able to run, per core */
    double ipc1;        /* issue limit */
    double cpi1_cycles; /* of one warp, memory aside */
    double mlp;
    double lines_per_instr; /* q */
    double mshr;
    double l2_hit;
    double dram_service; /* cycles of all controllers per line: 1 / throughput with these cores active */
};

struct tmx_memory_system {
    double base_cycles;        /* contention-free latency */
    double l2_lines_per_cycle; /* of all partitions */
    double partitions;
};

enum { TMX_MAX_CLASS = 64 };

struct tmx_latency {
    double l2_wait_cycles, dram_wait_cycles;
    double l2_load, dram_load;           /* utilisation, 0..1 */
    double lines_per_cycle;              /* all cores to the L2 */
    double dram_lines_per_cycle;         /* of these, missing in the L2 */
    double cycles[TMX_MAX_CLASS];        /* latency each class sees */
    double ipc[TMX_MAX_CLASS];           /* warp instructions per cycle of one core */
    double ipc_no_memory[TMX_MAX_CLASS]; /* the same if memory answered at once */
};

/* Smooth minimum of the three limits of a core at memory latency latency_cycles. */
double tmx_core_class_ipc(const struct tmx_core_class *c, double latency_cycles);

/* Share of time in which all MSHRs of such a core are taken. */
double tmx_core_class_mshr_full(const struct tmx_core_class *c, double latency_cycles);

/* Solve for the one latency at which demand and service agree. n <= TMX_MAX_CLASS; entries of the arrays of
 * *out beyond n stay as they are. */
void tmx_latency_solve(const struct tmx_memory_system *m, const struct tmx_core_class *c, size_t n,
                       struct tmx_latency *out);

#endif
