/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_WATTS_H
#define TMX_POWER_WATTS_H

/* The sums of power model `unit` over the units of one GPU, compiled for each kind of processor (watts.c).
 * All give the same bits. */

#include <stdbool.h>

#include "power/leakage.h"

struct tmx_watts {
    const struct tmx_leakage *leakage;
    size_t n;            /* units */
    double volt;         /* leakage under this voltage and these kernels, relative to leak_ref_w */
    double awake_w;      /* outside the SMs, spread by uncore_share */
    double transition_w; /* spread by area_share */
    bool same_base;      /* baseline_w is of this tick already */
    /* [n], none overlaps another; asleep NULL: nothing sleeps, and saved_w stays as it is */
    const double *temp_k, *dynamic_w, *asleep, *unpowered;
    const double *leak_ref_w, *fixed_w, *uncore_share, *area_share;
    double *leakage_w, *saved_w, *baseline_w, *power_w; /* written */
};

/* Of n_gpu GPUs, whose units follow one another in all arrays. False, and nothing of use written, when a
 * temperature is outside TMX_LEAK_MIN_K..TMX_LEAK_MAX_K. */
typedef bool (*tmx_watts_kernel)(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_any(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_v3(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_v4(const struct tmx_watts *w, size_t n_gpu);

#endif
