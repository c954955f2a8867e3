/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_coordinated_blackout = {
    .base = {.name = "coordinated_blackout",
             .doc = "Blackout that keeps one of two clusters awake for waiting warps.",
             .source = "Warped Gates, section 5"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
    .coordinated = true,
};
