/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_none = {
    .base = {.name = "none",
             .doc = "No unit sleeps; two-level warp scheduler.",
             .source = "Warped Gates, MICRO 2013, section 2.1"},
    .order = TMX_ORDER_ROUND,
    .wake = TMX_WAKE_NO_GATING,
};
