#ifndef TMX_CORE_CONTRACT_CTA_POLICY_H
#define TMX_CORE_CONTRACT_CTA_POLICY_H

/* How many cores (SMs), and blocks per core, may work for a kernel? Asked at the launch of every
 * kernel and whenever something happened that a policy may wait for. Times are cycles of the core
 * clock since the launch. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/plugin.h"

enum tmx_core_state {
    TMX_CORE_ACTIVE,    /* runs its blocks */
    TMX_CORE_THROTTLE,  /* keeps its blocks, sends no memory request, so stands still (paper 000, III.B) */
    TMX_CORE_OFF,       /* power-gated */
    TMX_CORE_CLOCK_OFF, /* clock-gated: leaks, does not switch */
    TMX_CORE_GIVEN,     /* lent to the next kernel waiting; OFF while there is none */
    TMX_N_CORE_STATE,
};

struct tmx_cta_core { /* what a policy sees of one core */
    enum tmx_core_state state;
    int n_block;           /* resident blocks */
    double stall_cycles;   /* stalled by the memory system since the last reset */
    double latency_cycles; /* average memory access time (AMAT) since the last reset; 0: no access yet */
};

struct tmx_cta_view {
    double cycle;
    size_t n_core;
    const struct tmx_cta_core *core; /* [n_core] */
    uint64_t blocks_left;            /* not yet given to a core */
    double first_done_cycle;         /* completion of the kernel's first block; INFINITY before */
    const size_t *drained;           /* [n_drained] cores whose last block ended since the last call */
    size_t n_drained;
    double base_latency_cycles; /* of a contention-free memory access */
    /* Since the launch, while one core works (ApSA's profile): */
    double ipc_share;       /* thread instructions per cycle over the peak of the working cores, 0..1 */
    double bandwidth_share; /* of the busiest DRAM partition's peak, 0..1 */
    double good_to_bad;     /* cycles with at least 25 of 32 lanes busy over all other cycles, at most 1 */
};

struct tmx_cta_request {        /* all a policy may change; kept from call to call */
    enum tmx_core_state *state; /* [n_core] */
    bool *accept;               /* [n_core] the core may be given new blocks */
    int block_limit;            /* most blocks the chip gives out in all; 0: no limit */
    double core_clock;          /* relative to nominal */
    double memory_clock;        /* interconnect, L2, controllers, DRAM; relative to nominal */
    double wake_cycle;          /* be called then at the latest; INFINITY: no wish */
    bool reset_counters;        /* stall_cycles and latency_cycles start again */
    bool watch_blocks;          /* be called at the kernel's first completed block */
};

struct tmx_cta_policy {
    struct tmx_plugin base; /* the state is plain data */
    /* REQUIRED. A kernel is launched: the request says all cores active and accepting, nominal
     * clocks, no wake-up; the policy changes what it wants otherwise. */
    void (*launch)(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request);
    /* OPTIONAL (NULL: the launch's answer stands). Called when wake_cycle is reached, at the first
     * completed block if watched, and when a core has drained. Pure but for its own state. */
    void (*observe)(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request);
    /* OPTIONAL. Static analysis before a run: edp(ctx, launch, n) is the energy-delay product [J s]
     * of launch 0 .. n_launch - 1 of the program on n cores, without a policy. */
    void (*prepare)(void *state, size_t n_launch, size_t n_core,
                    double (*edp)(void *ctx, size_t launch, size_t n), void *ctx);
    /* OPTIONAL (NULL: TMX_CORE_OFF). What the cores do that a settled kernel does not use. */
    enum tmx_core_state (*unused_core)(const void *state);
    bool lends; /* cores that a kernel frees go to the kernel beside it */
};

#endif
