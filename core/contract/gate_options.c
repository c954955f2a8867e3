/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/gate_policy.h"

/* Defaults: WG 2.2 (break-even 14 of 9, 14, 19, 24; wake-up 3), 5.1 (epoch 1000, limit 5, four
 * epochs, bounds 5 to 10), 7.1 (idle detect 5). */
const struct tmx_opt tmx_gate_opts[] = {
    TMX_ROW_INT(tmx_gate_params, idle_detect_cycles, "cycles", 1, 1000, 5, "idle time before gating"),
    TMX_ROW_INT(tmx_gate_params, break_even_cycles, "cycles", 1, 1000, 14,
                "sleep that pays for one switching"),
    TMX_ROW_INT(tmx_gate_params, wakeup_cycles, "cycles", 1, 1000, 3, "delay from request to use"),
    TMX_ROW_INT(tmx_gate_params, epoch_cycles, "cycles", 10, 1000000, 1000,
                "adaptive: length of one observation"),
    TMX_ROW_INT(tmx_gate_params, critical_limit, "wake-ups", 0, 100000, 5,
                "adaptive: more critical wake-ups per epoch lengthen idle detect"),
    TMX_ROW_INT(tmx_gate_params, relax_epochs, "epochs", 1, 1000, 4,
                "adaptive: epochs within the limit that shorten idle detect"),
    TMX_ROW_INT(tmx_gate_params, idle_detect_min_cycles, "cycles", 1, 1000, 5, "adaptive: lower bound"),
    TMX_ROW_INT(tmx_gate_params, idle_detect_max_cycles, "cycles", 1, 1000, 10, "adaptive: upper bound"),
    TMX_ROW_INT(tmx_gate_params, switch_limit_cycles, "cycles", 0, 1000000, 0,
                "GATES: longest time one type keeps priority; 0: no limit"),
    TMX_ROW_BOOL(tmx_gate_params, gate_sfu, 0, "gate the SFU too, by the conventional rule"),
    {0},
};
