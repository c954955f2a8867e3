/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORDER_SUMS_H
#define TMX_CORE_SIM_RECORDER_SUMS_H

/* What the recorder adds up over the units of one GPU, compiled for each kind of processor (recorder_*.c).
 * All give the same bits. */

#include <stddef.h>

struct tmx_recorder_sums {
    size_t n; /* units */
    double dt_s;
    /* [n], none overlaps another */
    const double *dynamic_w, *leakage_w, *baseline_w, *saved_w, *power_w, *temp_k;
    const int *sm_of_unit;
    double *dynamic_j, *leakage_j, *baseline_j, *saved_j, *sum_k; /* added to */
    double now_w;                                                 /* written: sum of power_w */
    double low_k, high_k, sm_k; /* written: coldest and hottest unit, hottest of SMs (0: no SM) */
};

typedef void (*tmx_recorder_kernel)(struct tmx_recorder_sums *s);
void tmx_recorder_any(struct tmx_recorder_sums *s);
void tmx_recorder_v3(struct tmx_recorder_sums *s);
void tmx_recorder_v4(struct tmx_recorder_sums *s);

#endif
