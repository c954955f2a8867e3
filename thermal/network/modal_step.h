/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_NETWORK_MODAL_STEP_H
#define TMX_THERMAL_NETWORK_MODAL_STEP_H

#include "thermal/network/modal.h"

/* The step of modal.h for several instances at once, compiled for each kind of processor. All give the same
 * bits. */

struct tmx_modal_call {
    const struct tmx_modal *m;
    const double *decay, *gain;   /* [mode_row]; decay NULL: only theta_k is computed, from next */
    size_t n;                     /* instances */
    const double *const *power_w; /* [n][n_unit, W] */
    const double *const *z;       /* [n][mode_row] */
    double *const *next;          /* [n][mode_row] written; may be z */
    double *const *theta_k;       /* [n][unit_row, K] written */
};

void tmx_modal_kernel_any(const struct tmx_modal_call *c);
void tmx_modal_kernel_v3(const struct tmx_modal_call *c); /* x86-64-v3: AVX2 and FMA */
void tmx_modal_kernel_v4(const struct tmx_modal_call *c); /* x86-64-v4: AVX-512F */

#endif
