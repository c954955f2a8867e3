/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power gating of the units of an SM (Warped Gates, MICRO 2013): which warp issues next and how long a unit
 * sleeps. */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_none = {
    .base = {.name = "none",
             .doc = "No unit sleeps; two-level warp scheduler.",
             .source = "Warped Gates, MICRO 2013, section 2.1"},
    .order = TMX_ORDER_ROUND,
    .wake = TMX_WAKE_NO_GATING,
};

const struct tmx_gate_policy tmx_gate_convpg = {
    .base = {.name = "convpg",
             .doc = "Conventional power gating under the two-level scheduler.",
             .source = "Warped Gates, section 2.2, after Hu et al., ISLPED 2004"},
    .order = TMX_ORDER_ROUND,
    .wake = TMX_WAKE_ANY_TIME,
};

const struct tmx_gate_policy tmx_gate_gates = {
    .base = {.name = "gates",
             .doc = "Issue by instruction type, with conventional power gating.",
             .source = "Warped Gates, section 4"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_ANY_TIME,
};

const struct tmx_gate_policy tmx_gate_naive_blackout = {
    .base = {.name = "naive_blackout",
             .doc = "GATES; a sleeping unit sleeps for the break-even time at least.",
             .source = "Warped Gates, section 5"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
};

const struct tmx_gate_policy tmx_gate_coordinated_blackout = {
    .base = {.name = "coordinated_blackout",
             .doc = "Blackout that keeps one of two clusters awake for waiting warps.",
             .source = "Warped Gates, section 5"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
    .coordinated = true,
};

const struct tmx_gate_policy tmx_gate_warped_gates = {
    .base = {.name = "warped_gates",
             .doc = "Coordinated Blackout with adaptive idle detect.",
             .source = "Warped Gates, section 5.1"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
    .coordinated = true,
    .adaptive = true,
};
