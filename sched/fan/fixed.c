/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One speed, whatever the temperature: the fan of paper 003, section 4.1. */
#include "sched/policies.h"

struct fixed {
    double speed;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(fixed, speed, "1", 0, 1, 1, "of full speed, not below min_rpm; 0: natural convection"),
    {0},
};

static double constant(const void *state)
{
    return ((const struct fixed *)state)->speed;
}

static double speed(const void *state, const struct tmx_fan_view *view)
{
    (void)view;
    return constant(state);
}

const struct tmx_fan_policy tmx_fan_fixed = {
    .base = {.name = "fixed",
             .doc = "All fans at one speed.",
             .source = "paper 003, section 4.1",
             .opts = opts,
             .state_size = sizeof(struct fixed),
             .rests = TMX_RESTS_SAMPLES | TMX_RESTS_ALIKE},
    .speed = speed,
    .constant = constant,
};
