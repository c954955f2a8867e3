/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_naive_blackout = {
    .base = {.name = "naive_blackout",
             .doc = "GATES; a sleeping unit sleeps for the break-even time at least.",
             .source = "Warped Gates, section 5"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_AFTER_BET,
};
