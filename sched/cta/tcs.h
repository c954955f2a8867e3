/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_CTA_TCS_H
#define TMX_SCHED_CTA_TCS_H

#include <thermix/policy.h>

/* Throttle CTA Scheduling (paper 000, section III), shared by tcs, htcs and tcs_share. */

enum tmx_tcs_phase { TMX_TCS_MONITOR, TMX_TCS_REDUCE, TMX_TCS_SETTLED };

struct tmx_tcs {
    double threshold;      /* thr, in contention-free latencies */
    double stall_share;    /* of the window a core must be stalled */
    double window_cycles;  /* mon_cycle */
    double monitor_cycles; /* MONITOR lasts at least this long */
    bool throttling;       /* THROTTLE cores are also held back in REDUCE */
    /* state */
    bool half;  /* htcs: the first window runs on half the cores */
    bool share; /* tcs_share: finished cores are lent, not gated */
    enum tmx_tcs_phase phase;
    double next_window; /* cycle */
    size_t n_throttle;  /* C_throttle */
};

extern const struct tmx_opt tmx_tcs_opts[];

void tmx_tcs_launch(struct tmx_tcs *t, const struct tmx_cta_view *view, struct tmx_cta_request *request);
void tmx_tcs_observe(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request);

#endif
