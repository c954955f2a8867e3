/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/policies.h"

const struct tmx_gate_policy tmx_gate_convpg = {
    .base = {.name = "convpg",
             .doc = "Conventional power gating under the two-level scheduler.",
             .source = "Warped Gates, section 2.2, after Hu et al., ISLPED 2004"},
    .order = TMX_ORDER_ROUND,
    .wake = TMX_WAKE_ANY_TIME,
};
