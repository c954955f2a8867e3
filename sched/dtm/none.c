/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing but the hardware's own throttle. */
#include "sched/policies.h"

const struct tmx_dtm_policy tmx_dtm_none = {
    .base = {.name = "none",
             .doc = "Nothing but the hardware's throttle.",
             .source = "paper 003, baseline BL"},
};
