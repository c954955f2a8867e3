/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slow loop beside a policy that looks ahead: turn the fan faster while the work it buys is worth more
 * than its watts. What is least is energy x time^weight; with the power P of the GPU and Pf of the fan, speed
 * s and fixed work that is ln(P + Pf) - (1 + weight) ln s. At a step of the fan's speed, ln n:
 *
 *   dR      convection, of the cooler's table                       dPf = 3 Pf (fan law)
 *   limited hottest SM held at its limit:      dP = -P dR / a,      ds = dP (s[v-1] - s[v]) / (p[v-1] - p[v])
 *           a: rise of the SMs by a watt of work, mean. The quotient is computed here, between the level in
 *           force and its faster neighbour; no dual of the bound's programme is read, and it equals their
 *           price only where these two levels share the time (docs/notes/foresight.md)
 *
 *   free    no clock is lowered: cooler SMs leak less,  dP = P dR L' / (1 - a L'),  ds = 0
 *
 * Between the two by how much the clock was lowered of late. memory[0]: that, mean; memory[1]: of the fan's
 * speed, what is wanted. Of the card's GPUs the hottest decides. Without a forecast: full speed. */
#include <math.h>

#include <thermix/policy.h>

#include "core/contract/forecast.h"
#include "sched/mix/ahead.h"
#include "sched/policies.h"

struct price {
    double weight, rate_per_s, window_s, full_pct, start;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(price, weight, "1", 0, 10, 1,
                 "weight of time against energy; 0: least energy, 1: least energy x time"),
    TMX_ROW_REAL(price, rate_per_s, "1/s", 0, 1, 0.01, "change of the fan's speed at most, relative"),
    TMX_ROW_REAL(price, window_s, "s", 0, 1000, 10, "over which the slowdown is averaged"),
    TMX_ROW_REAL(price, full_pct, "1", 0.01, 100, 0.5, "slowdown from which on the GPU counts as limited"),
    TMX_ROW_REAL(price, start, "1", 0, 1, 0.5, "speed to begin with, of full speed"),
    {0},
};

static size_t hottest(const struct tmx_fan_view *v)
{
    size_t g = 0;
    while (g + 1 < v->view->node->n_gpu && v->view->hottest_k[g] - TMX_ZERO_C < v->hottest_c) {
        g++;
    }
    return g;
}

/* R at a speed, and its slope dR / d ln(speed) [K/W]. */
static double convection(const struct tmx_forecast_air *air, double rpm, double *slope)
{
    size_t i = 1;
    while (i + 1 < air->n && air->rpm[i + 1] < rpm) { /* the first level stands still */
        i++;
    }
    const size_t j = i + 1 < air->n ? i + 1 : i;
    if (i == j || air->rpm[i] <= 0) {
        *slope = 0;
        return air->k_per_w[i];
    }
    *slope = (air->k_per_w[j] - air->k_per_w[i]) / log(air->rpm[j] / air->rpm[i]);
    return air->k_per_w[i] + *slope * log(rpm / air->rpm[i]);
}

/* Mean rise of the SMs by a watt spread over all of them, at the modes' convection. */
static double rise(const struct tmx_outlook *look)
{
    const struct tmx_forecast *f = look->forecast;
    const struct tmx_chip *c = look->chip;
    double sum = 0;
    for (size_t j = 0; j < f->modes.n_unit; j++) {
        for (size_t u = 0; c->sm_of_unit[j] != TMX_NO_SM && u < f->modes.n_unit; u++) {
            sum += c->sm_of_unit[u] == TMX_NO_SM
                       ? 0
                       : c->part_share[j] * c->part_share[u] * f->steady[j * f->modes.unit_row + u];
        }
    }
    return sum / (double)(c->n_sm * c->n_sm);
}

/* What is drawn beside dynamic watts at a temperature, and its slope [W/K]. */
static double still_w(const struct tmx_outlook *look, double leak, double temp_k, double *slope)
{
    const double h = 0.5, near_k[] = {temp_k - h, temp_k, temp_k + h};
    double w = 0, factor[3];
    look->still.factors(look->still.table, 3, near_k, factor);
    *slope = 0;
    for (size_t u = 0; u < look->forecast->modes.n_unit; u++) {
        w += look->still.baseline_w[u] + leak * look->still.leak_w[u] * factor[1];
        *slope += leak * look->still.leak_w[u] * (factor[2] - factor[0]) / (2 * h);
    }
    return w;
}

/* Speed that a watt buys at the clock level in force: between it and its faster neighbour. */
static double per_watt(const struct tmx_chip *c, size_t level, double work_w)
{
    const size_t slow = level > 0 ? level : c->n_level > 1 ? 1 : 0;
    if (slow == 0) { /* one level: the GPU rests instead */
        return work_w > 0 ? 1 / work_w : 0;
    }
    const double at = tmx_ahead_power(c, level, 0),
                 dp = tmx_ahead_power(c, slow - 1, 0) - tmx_ahead_power(c, slow, 0);
    return work_w > 0 && dp > 0 ? (tmx_chip_speed(c, slow - 1) - tmx_chip_speed(c, slow)) * at / (dp * work_w)
                                : 0;
}

static double speed(const void *state, const struct tmx_fan_view *v)
{
    const struct price *o = state;
    const size_t g = hottest(v);
    const struct tmx_outlook *look = v->view->outlook ? &v->view->outlook[g] : NULL;
    if (!look || look->forecast->air.n < 3) {
        return 1;
    }
    const struct tmx_forecast_air *air = &look->forecast->air;
    const struct tmx_gpu_view *hw = v->view->node->gpus[g];
    const size_t level = hw->level;
    double slope, leak_slope;
    v->memory[1] = v->memory[1] > 0 ? v->memory[1] : o->start;
    v->memory[0] += -expm1(-v->dt_s / o->window_s) * (1 - tmx_chip_speed(look->chip, level) - v->memory[0]);
    const double n = fmin(1, fmax(v->min_rpm / v->max_rpm, v->memory[1])), rpm = n * air->max_rpm;
    const double all_w = v->view->board_w[g], fan_w = air->full_w * n * n * n;
    const double k_per_w = convection(air, rpm, &slope);
    const double a = rise(look) + k_per_w - air->model_k_per_w;
    const double work_w = all_w - still_w(look, tmx_ahead_leak(look, hw->n_run, hw->run, hw->share),
                                          v->view->hottest_k[g], &leak_slope);
    const double limited = fmin(1, fmax(0, v->memory[0]) * 100 / o->full_pct);
    const double more_w = -slope * all_w / a,
                 less_w = -slope * all_w * leak_slope / fmax(0.1, 1 - a * leak_slope);
    const double gain = limited * (1 + o->weight) * per_watt(look->chip, level, work_w) * more_w /
                        tmx_chip_speed(look->chip, level),
                 cost = (limited * more_w - (1 - limited) * less_w + 3 * fan_w) / (all_w + fan_w);
    const double size =
        fabs(gain) + (limited * more_w + (1 - limited) * less_w + 3 * fan_w) / (all_w + fan_w);
    v->memory[1] = n * exp(size > 0 ? o->rate_per_s * v->dt_s * (gain - cost) / size : 0);
    return fmin(1, v->memory[1]);
}

const struct tmx_fan_policy tmx_fan_price = {
    .base = {.name = "price",
             .doc =
                 "Set fan speed by the value of the work that it allows; for mix policies that look ahead.",
             .source = "docs/notes/foresight.md",
             .opts = opts,
             .state_size = sizeof(struct price)},
    .speed = speed,
};
