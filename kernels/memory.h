/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_MEMORY_H
#define TMX_KERNELS_MEMORY_H

/* What the epoch model knows of a chip's memory system and of a kernel's use of it: group `memory` of
 * a chip's chip.cfg and of a kernel file. */

#include <stddef.h>
#include <stdint.h>

#include "core/workload/kernel.h"

struct tmx_sets;

/* Where ipc1, cpi1_cycles and mlp of a launch come from: group `memory` of the kernel, or a run of its
 * `instructions` on the chip's SM cycle by cycle (kernels/profile.h). */
enum tmx_core_source { TMX_SOURCE_GIVEN, TMX_SOURCE_MEASURED };
extern const char *const tmx_core_sources[]; /* "given", "sm_cycle", NULL */

/* How long a core is "stalled by the memory unit", which TCS counts: the share of its work that memory costs
 * it; the share of time in which all its MSHRs are taken; or the longest time on end in which they are, about
 * a latency over the MSHRs. */
enum tmx_stall { TMX_STALL_LOST, TMX_STALL_MSHR, TMX_STALL_CONSECUTIVE };

/* A throttled core sends no requests: its warps go on until each has met one, or stand still at once. */
enum tmx_throttle { TMX_THROTTLE_GRADUAL, TMX_THROTTLE_AT_ONCE };

/* The memory system of one chip. Cycles are of the core's nominal clock. A line is 128 bytes. */
struct tmx_memory_chip {
    char profile[32]; /* which variant of a kernel's memory group applies ("tcs", "apsa", ...) */
    int core;         /* enum tmx_core_source */
    char sm[32];      /* chip whose sm.cfg describes a core to sm_cycle; empty: none */
    double sm_clocks; /* core cycles in one cycle of that description */
    int cores;
    int reference_cores; /* at work where a kernel's l2_hit and row_loss hold; 0: all cores */
    double core_hz;
    int mshr;                    /* outstanding lines per core */
    int stall;                   /* enum tmx_stall */
    int throttle;                /* enum tmx_throttle */
    double peak_ipc;             /* warp instructions per cycle that count as 100 % */
    double base_core_cycles;     /* part of the contention-free latency that follows the core's clock */
    double base_memory_cycles;   /* and the part that follows the memory system's clock */
    int partitions;              /* L2 slices, each with its memory controller */
    double l2_lines_per_cycle;   /* all slices and the interconnect to them */
    double dram_lines_per_cycle; /* all controllers, every row hit */
    double l2_hit_max;           /* a shrinking set of cores cannot raise the hit rate above this */
    double wake_cycles;          /* from power-gated to running */
    double clock_change_cycles;  /* all cores stand still while a clock changes */
    struct tmx_sm_limits limits; /* group `limits` of chip.cfg */
};

/* One launch of a kernel. */
struct tmx_memory_kernel {
    int blocks;
    int warps_per_block;
    int blocks_per_core;    /* resident at most */
    double instr_per_warp;  /* warp instructions */
    double ipc1;            /* issue limit of a core [warp instructions / cycle] */
    double cpi1_cycles;     /* of one warp alone, memory aside */
    double mlp;             /* lines in flight per warp when it waits */
    double lines_per_instr; /* q: lines sent to the L2 per warp instruction */
    double l2_hit;          /* hit rate with reference_cores active */
    double l2_gain;         /* exponent: hit rate * (reference / active)^gain */
    double row_loss;        /* share of DRAM throughput lost to row misses there; grows with active cores */
    double simd;            /* mean active threads of a warp, 0..1 */
    double full_warps;      /* share of warp instructions with at least 25 of 32 threads */
    double variation;       /* block lengths vary by this share, uniform */
    double parallel_warps;  /* warps of the whole launch that can run at once; 0: no limit */
};

enum { TMX_MAX_LAUNCH = 128 };

/* A benchmark: its launches in sequence. */
struct tmx_memory_program {
    char name[64];
    size_t n;
    struct tmx_memory_kernel kernel[TMX_MAX_LAUNCH];
};

/* Read the groups `memory` and `limits` of a chip.cfg. Errors: TMX_EIO, TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_memory_chip_load(struct tmx_memory_chip *c, const char *path,
                                                   const struct tmx_sets *sets, struct tmx_err *err);

/* Read group `memory` of a kernel file: the variant named by the chip's profile, else `any`. Launch
 * shape not given there is taken from group `launch` and the chip's limits. What variants of other chips hold
 * is checked, too; chip NULL: that alone, p->n is 0. Errors: TMX_EIO, TMX_ECONFIG (also when the file has no
 * such group). */
TMX_NODISCARD enum tmx_status tmx_memory_program_load(struct tmx_memory_program *p, const char *path,
                                                      const struct tmx_memory_chip *chip,
                                                      struct tmx_err *err);

/* Memory latency of a closed network: cores that wait for lines they asked for, and a memory system that gets
 * slower the more is asked for. The solution is a pure function; memory.c has the equations. */

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

extern const struct tmx_keys tmx_memory_chip_keys[]; /* of a chip */

extern const struct tmx_keys tmx_memory_kernel_keys[]; /* of a kernel, for each kind of chip */

#endif
