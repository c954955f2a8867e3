/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_warped_gates = {
    .base = {.name = "warped_gates",
             .doc = "Coordinated Blackout with adaptive idle detect.",
             .source = "Warped Gates, section 5.1"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
    .coordinated = true,
    .adaptive = true,
};
