/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proportional-integral control of the hottest chip's temperature:
 *   speed = P e + I,  I += K_i e dt,  e = T - target,  I kept in 0..1 so that it does not wind up.
 * memory[0] = I. */
#include <math.h>

#include "sched/policies.h"

struct pi {
    double target_c;
    double gain_per_k;
    double integral_per_k_s;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(pi, target_c, "degC", 0, 150, 80, "hottest chip of the card"),
    TMX_ROW_REAL(pi, gain_per_k, "1/K", 0, 10, 0.02, "of full speed per kelvin above the target"),
    TMX_ROW_REAL(pi, integral_per_k_s, "1/(K s)", 0, 10, 0.002, "of full speed per kelvin and second"),
    {0},
};

static double clamp(double v)
{
    return fmin(fmax(v, 0), 1);
}

static double speed(const void *state, const struct tmx_fan_view *v)
{
    const struct pi *p = state;
    const double e = v->hottest_c - p->target_c;
    v->memory[0] = clamp(v->memory[0] + p->integral_per_k_s * e * v->dt_s);
    /* a controller that asks for nothing lets the fan turn at its slowest, not stop */
    return fmax(clamp(p->gain_per_k * e + v->memory[0]), v->min_rpm / v->max_rpm);
}

const struct tmx_fan_policy tmx_fan_pi = {
    .base = {.name = "pi",
             .doc = "Proportional-integral control of the card's hottest chip to a target.",
             .source = "textbook controller",
             .opts = opts,
             .state_size = sizeof(struct pi),
             .rests = TMX_RESTS_SAMPLES},
    .speed = speed,
};
