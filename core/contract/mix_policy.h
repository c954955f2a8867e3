#ifndef TMX_CORE_CONTRACT_MIX_POLICY_H
#define TMX_CORE_CONTRACT_MIX_POLICY_H

/* Operating system, every 50 ms: which kernels share a GPU, how much each, at which
 * clock level; and how the hardware lays the shares out over SMs and time. */

#include "core/base/plugin.h"
#include "core/contract/view.h"

struct tmx_spread {          /* one GPU with two resident kernels, for one tick */
    size_t n;                /* active SMs */
    const size_t *by_index;  /* [n] */
    const size_t *hot_order; /* [n] the same SMs, in the order they take hot blocks */
    double share;            /* of run[0] */
    bool first_is_hot;       /* run[0] has the higher power density index */
    double begin_s, end_s;   /* the tick */
};

struct tmx_mix_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. For each GPU of the view, write request->gpu[]. */
    void (*decide)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL (NULL: every SM hosts both). share0[sm], the mean share of run[0] during the
     * tick on each active SM; index is the SM's index in its GPU. Pure. */
    void (*spread)(const void *state, const struct tmx_spread *s, double *share0);
    /* OPTIONAL. Time slice of the spread [s]; has to be whole ticks. Absent: it does not depend on time. */
    double (*slice_s)(const void *state);
    bool turns; /* kernels take turns on all SMs: a share is a share of time, not of SMs */
    /* Mean speed-up of two intermixed kernels as measured on a card, for runs with measured_gains [%]; 0:
     * none. */
    double measured_gain_pct;
};

#endif
