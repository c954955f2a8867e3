/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_CHIP_ENERGY_H
#define TMX_POWER_CHIP_ENERGY_H

/* Price of what kernels/contention counts: cores and memory system, static and dynamic, per core
 * count and clock. Coefficients: group `energy` of a chip's chip.cfg, where each has its source. */

#include "kernels/contention.h"

struct tmx_sets;

/* How the dynamic power of the SMs grows with their number. */
enum tmx_core_scaling {
    TMX_CORE_LINEAR,
    TMX_CORE_LOG, /* N log10(alpha n + beta), alpha = (10 - beta) / N, beta = 1.1 (Hong and Kim, ISCA 2010) */
};

struct tmx_chip_energy {
    int cores;
    double core_static_w;    /* leakage of a powered core */
    double core_gated_w;     /* left of it when power-gated */
    double core_clock_w;     /* clock tree and pipeline of a clocked core at the nominal clock */
    double core_instr_nj;    /* per warp instruction */
    double uncore_static_w;  /* leakage of the rest of the chip */
    double memory_clock_w;   /* interconnect, L2, controllers and DRAM, idle, at the nominal clock */
    double line_nj;          /* per line through interconnect and L2 */
    double dram_line_nj;     /* per line from DRAM, controller included */
    double gate_nj, wake_nj; /* per core switched off, on */
    double clock_change_nj;
    double voltage_exponent; /* V ~ f^x: dynamic power ~ f^(1 + 2 x) */
    int sm_scaling;          /* enum tmx_core_scaling */
};

struct tmx_energy { /* [J] */
    double core_static_j, core_dynamic_j, memory_static_j, memory_dynamic_j, switching_j;
    double total_j;
};

/* Read group `energy` (TMX_ECONFIG when absent); cores comes from group `memory`. */
TMX_NODISCARD enum tmx_status tmx_chip_energy_load(struct tmx_chip_energy *e, const char *path,
                                                   const struct tmx_sets *sets, struct tmx_err *err);

/* Energy of everything in the ledger. Pure. */
struct tmx_energy tmx_chip_energy_of(const struct tmx_chip_energy *e, const struct tmx_ledger *l);

/* Dynamic power of n of N equal SMs over n times that of one in a full chip. */
double tmx_core_scaling_factor(enum tmx_core_scaling scaling, double n_total, double n_active);

extern const struct tmx_keys tmx_chip_energy_keys[]; /* of a chip */

#endif
