/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_GATE_POLICY_H
#define TMX_CORE_CONTRACT_GATE_POLICY_H

/* What every gating policy of policy.h works with; times in core clock cycles (700 MHz on a GTX480). */

#include <thermix/policy.h>

#include "core/base/opt.h"

/* The times and thresholds, the same for every policy; a chip gives them (sm.cfg, group gate). */
struct tmx_gate_params {
    int idle_detect_cycles;     /* idle cycles before a unit is gated; the start value where adaptive */
    int break_even_cycles;      /* sleep that pays for one switching of the sleep transistor */
    int wakeup_cycles;          /* from the request until the unit can be used */
    int epoch_cycles;           /* adaptive: length of one observation */
    int critical_limit;         /* adaptive: more critical wake-ups than this in an epoch: idle detect + 1 */
    int relax_epochs;           /* adaptive: this many epochs within the limit: idle detect - 1 */
    int idle_detect_min_cycles; /* adaptive: bounds */
    int idle_detect_max_cycles;
    int switch_limit_cycles; /* GATES: swap INT and FP priority at the latest after this; 0: no limit */
    bool gate_sfu;           /* the SFU sleeps too, always by the conventional rule (WG 3) */
};

extern const struct tmx_opt tmx_gate_opts[]; /* rows of struct tmx_gate_params, {0}-terminated */

#endif
