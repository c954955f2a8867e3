/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORDER_SUMS_H
#define TMX_CORE_SIM_RECORDER_SUMS_H

/* What the recorder adds up over the units and SMs of one GPU, compiled for each kind of processor
 * (recorder_*.c). All give the same bits. */

#include <stddef.h>

struct tmx_recorder_watts {
    size_t n; /* units */
    double dt_s;
    /* [n], none overlaps another; saved_w NULL: nothing sleeps */
    const double *dynamic_w, *leakage_w, *baseline_w, *saved_w, *power_w;
    double *dynamic_j, *leakage_j, *baseline_j, *saved_j; /* added to */
    double now_w;                                         /* written: sum of power_w */
};

struct tmx_recorder_kelvins {
    size_t n, n_sm;
    /* [n] */
    const double *temp_k;
    const int *sm_of_unit;
    double *sum_k; /* added to */
    /* [n_sm] */
    const double *sensed_k;
    double *hot_k;              /* the larger of both */
    double low_k, high_k, sm_k; /* written: coldest and hottest unit, hottest of SMs (0: no SM) */
};

struct tmx_recorder_kernel {
    void (*watts)(struct tmx_recorder_watts *s);
    void (*kelvins)(struct tmx_recorder_kelvins *s);
};
extern const struct tmx_recorder_kernel tmx_recorder_any, tmx_recorder_v3, tmx_recorder_v4;

#endif
