/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_FRAME_H
#define TMX_CORE_CONTRACT_FRAME_H

/* The arrays that go round the ring in one tick. Each has one writer. */

#include <stdbool.h>
#include <stddef.h>

struct tmx_frame {
    size_t n_gpu, n_sm, n_unit;
    bool sleeps; /* units may sleep or be without power; else asleep, unpowered and saved_w stay 0 */
    /* [n_unit], units of all GPUs one after another */
    double *asleep;     /* share of the leakage that sleeping units save; written by the gate stage */
    double *unpowered;  /* the same of units without power, 0 elsewhere: goes before; by the CTA stage */
    double *dynamic_w;  /* written by the power model */
    double *leakage_w;  /* likewise, net of asleep */
    double *saved_w;    /* leakage that sleeping units save, for the ledger */
    double *baseline_w; /* likewise */
    double *power_w;    /* sum, with transitions; read by the thermal back-end */
    double *temp_k;     /* written by the thermal back-end */
    /* [n_sm] */
    double *sensed_k;     /* written by the sensor */
    double *way_w;        /* [TMX_WAYS * n_gpu] way by way: dynamic power of each resident kernel; written by
                             the power model */
    double *transition_w; /* [n_gpu] changes of clock level */
};

#endif
