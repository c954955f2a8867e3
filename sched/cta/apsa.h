/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_CTA_APSA_H
#define TMX_SCHED_CTA_APSA_H

#include <thermix/policy.h>

/* ApSA's decision (paper 002, Algorithm 2), apart from the policy so that it can be tested alone. */

enum tmx_apsa_reading { TMX_APSA_TEXT, TMX_APSA_PSEUDOCODE };
enum tmx_apsa_phase { TMX_APSA_PROFILE, TMX_APSA_ACTION };

struct tmx_apsa {
    double ipc_upper, ipc_lower; /* t_u_ipc, t_l_ipc: shares of a core's peak */
    double bandwidth;            /* t_max_bw: share of a partition's peak */
    double good_to_bad;          /* t_GBR */
    double profile_cycles;       /* one block or this long, whichever comes first */
    int reading;                 /* enum tmx_apsa_reading */
    bool power_gate;             /* cores not needed are power-gated, not clock-gated */
    double clock_step;           /* of the frequency calibrator */
    enum tmx_apsa_phase phase;   /* state */
};

/* True: type I, which wants cores; false: type II, which waits for memory or has little parallelism. */
bool tmx_apsa_is_type1(const struct tmx_apsa *a, double ipc_share, double bandwidth_share,
                       double good_to_bad);

#endif
