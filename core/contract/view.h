#ifndef TMX_CORE_CONTRACT_VIEW_H
#define TMX_CORE_CONTRACT_VIEW_H

/* What a policy may see: the hardware's state and the sensors, all const. */

#include "core/machine/machine.h"

struct tmx_view {
    uint64_t tick;
    double time_s;
    const struct tmx_machine *machine;
    const double *sensed_k;  /* [n_sm, K] */
    const double *hottest_k; /* [n_gpu, K] the hottest sensor of each GPU */
};

#endif
