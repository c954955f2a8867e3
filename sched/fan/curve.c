/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The card's own curve on its hottest chip (paper 003, section 3.2: "the fan speed rises with the
 * temperature of the hottest GPGPU chip"), with hysteresis and a slew limit.
 *
 * Hysteresis is a play operator: the curve is read at r, which follows the temperature T up at
 * once and down only by what T falls more than h below it. memory[0] = r. */
#include <math.h>

#include "core/topology/topology.h"
#include "sched/policies.h"

struct curve {
    double hysteresis_k;
    double slew_per_s;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(curve, hysteresis_k, "K", 0, 50, 2, "the speed falls only this far below where it rose"),
    TMX_ROW_REAL(curve, slew_per_s, "1/s", 1e-4, 100, 0.1, "largest change of the speed, of full speed"),
    {0},
};

static double speed(const void *state, const struct tmx_fan_view *v)
{
    const struct curve *c = state;
    double *read_c = &v->memory[0];
    if (v->dt_s <= 0) {
        *read_c = v->hottest_c;
        return tmx_fan_curve_speed(v->curve, v->n_curve, *read_c);
    }
    *read_c = fmin(fmax(*read_c, v->hottest_c), v->hottest_c + c->hysteresis_k);
    const double step = c->slew_per_s * v->dt_s;
    return fmin(fmax(tmx_fan_curve_speed(v->curve, v->n_curve, *read_c), v->speed - step), v->speed + step);
}

const struct tmx_fan_policy tmx_fan_curve = {
    .base = {.name = "curve",
             .doc = "The fan's curve on the hottest chip of its card.",
             .source = "paper 003, section 3.2",
             .opts = opts,
             .state_size = sizeof(struct curve),
             .rests = TMX_RESTS_SAMPLES},
    .speed = speed,
    .needs_curve = true,
};
