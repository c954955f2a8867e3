#ifndef TMX_CORE_SIM_DISPATCH_H
#define TMX_CORE_SIM_DISPATCH_H

/* The hardware thread-block scheduler: lays the shares of the resident kernels over SMs. */

#include "core/contract/mix_policy.h"

/* Write machine->share for the tick that begins at begin_s. scratch: [largest n_sm]. */
void tmx_dispatch(struct tmx_machine *m, const struct tmx_mix_policy *mix, const void *mix_state,
                  double begin_s, double *scratch);

#endif
