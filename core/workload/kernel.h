/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_WORKLOAD_KERNEL_H
#define TMX_CORE_WORKLOAD_KERNEL_H

/* What is known of a kernel: its launch shape and its power. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/setting.h"
#include "core/floorplan/chip.h"

/* Power of a kernel that changes while it runs: steps over its work or over time. Steps over the life of a
 * thread block are not among them: blocks of all ages are resident at once, and what they draw together is
 * the mean. */

enum { TMX_MAX_PHASE = 256 };
enum tmx_phase_axis {
    TMX_PHASE_WORK,   /* share of the kernel's work that is done, 0 .. 1 */
    TMX_PHASE_TIME,   /* seconds since its first block */
    TMX_PHASE_WORK_S, /* seconds that the work done takes on the whole chip at the nominal clock */
};

struct tmx_phases {
    size_t n;                      /* 0: constant */
    int over;                      /* enum tmx_phase_axis */
    bool repeat;                   /* over seconds: begin again after the last; else the last holds */
    double until[TMX_MAX_PHASE];   /* ascending: where a step ends */
    double power_w[TMX_MAX_PHASE]; /* dynamic W of all SMs of the reference chip, as sm_power_w */
    double
        waits[TMX_MAX_PHASE]; /* share of its time that does not follow the clock; negative: as the kernel */
    double mean_w;            /* over the axis */
};

/* Power at a place of the axis. n > 0. */
double tmx_phases_at(const struct tmx_phases *p, double x);
size_t tmx_phases_index(const struct tmx_phases *p, double x); /* of that step */
/* From x to the end of its phase; INFINITY: it has no end. */
double tmx_phases_left(const struct tmx_phases *p, double x);

/* Watts of a kernel by component, as AccelWattch names them (Kandiah et al., MICRO 2021): all but the last
 * three are the SMs'. */
enum tmx_component {
    TMX_COMPONENT_SM_FIRST,
    TMX_COMPONENT_L2 = 21,
    TMX_COMPONENT_DRAM,
    TMX_COMPONENT_STATIC,
    TMX_N_COMPONENT,
};
extern const struct tmx_opt tmx_component_opts[]; /* [TMX_N_COMPONENT + 1], {0}-terminated: the keys */

struct tmx_kernel_launch {
    int thread_blocks; /* of one launch; a mix may ask for more work than one launch */
    int threads_per_block;
    int registers_per_thread;
    int shared_bytes; /* per block */
};

struct tmx_kernel_power {
    double sm_power_w; /* dynamic power of all SMs of the reference chip at its nominal clock; 0: by equation
                          1 */
    double block_lifetime_s;        /* of one thread block at the nominal clock */
    double memory_bound;            /* share of a block's time that does not follow the core clock */
    double remote_weight;           /* extra lifetime of a block on a GPU away from its data, over the
                                       reference link (T3); core/topology/topology.h */
    double access_rate[TMX_N_PART]; /* 0..1, equation 1; all 0 where unknown */
};

struct tmx_kernel {
    double component_w[TMX_N_COMPONENT]; /* all 0 where unknown */
    char name[64];
    char doc[256];
    char source[512];
    struct tmx_kernel_launch launch;
    struct tmx_kernel_power power;
    struct tmx_phases phases; /* of the power; n = 0: constant */
};

/* Read a kernel file; groups of other parts (instructions, memory, job) are left alone.
 * Returns TMX_OK, TMX_EIO or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_kernel_load(struct tmx_kernel *k, const char *path, struct tmx_err *err);

/* Blocks of k that fit on one SM at once; 0 when not even one does. */
int tmx_kernel_occupancy(const struct tmx_kernel *k, const struct tmx_sm_limits *limits);

/* SM power by equation 1 [W], sum over units of max_power_w * access_rate. */
double tmx_kernel_equation1_w(const struct tmx_kernel *k, const double max_power_w[TMX_N_PART]);

extern const struct tmx_keys tmx_kernel_keys[]; /* of a kernel, but for the groups of other models */

#endif
