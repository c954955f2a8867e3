/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_DISPATCH_H
#define TMX_CORE_SIM_DISPATCH_H

#include <thermix/policy.h>

#include "core/machine/machine.h"

/* The hardware thread-block scheduler: lays the shares of the resident kernels over SMs. */

/* Write machine->share of the span for the tick that begins at begin_s. scratch: [largest n_sm]. TMX_ESOLVE:
 * the policy's spread is no share. */
TMX_NODISCARD enum tmx_status tmx_dispatch(struct tmx_machine *m, struct tmx_gpus span,
                                           const struct tmx_mix_policy *mix, const void *mix_state,
                                           double begin_s, double *scratch, struct tmx_err *err);

#endif
