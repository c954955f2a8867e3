/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_gates = {
    .base = {.name = "gates",
             .doc = "Issue by instruction type, with conventional power gating.",
             .source = "Warped Gates, section 4"},
    .order = TMX_ORDER_BY_TYPE,
    .wake = TMX_WAKE_ANY_TIME,
};
