/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ramp of a row, shared among its boards: a part of it evenly, for what falls; the rest by what their
 * kernels could draw above what they draw. The shares add up to the row's ramp. */
#include "sched/policies.h"

struct smooth_row {
    double ramp_w_per_s, even;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(smooth_row, ramp_w_per_s, "W/s", 1e-3, 1e9, 1000,
                 "the row's power rises and falls no faster"),
    TMX_ROW_REAL(smooth_row, even, "1", 0.01, 1, 0.5, "share of it that is split evenly (assumed)"),
    {0},
};

static void decide(const void *state, const struct tmx_row_view *v, double *asked_w_per_s)
{
    const struct smooth_row *s = state;
    const double n = (double)v->n_instance;
    double rise_w = 0;
    for (size_t i = 0; i < v->n_instance; i++) {
        rise_w += v->instance[i].rise_w;
    }
    for (size_t i = 0; i < v->n_instance; i++) {
        const double need = rise_w > 0 ? v->instance[i].rise_w / rise_w : 1 / n;
        asked_w_per_s[i] = s->ramp_w_per_s * (s->even / n + (1 - s->even) * need);
    }
}

const struct tmx_row_policy tmx_row_smooth_row = {
    .base = {.name = "smooth_row",
             .doc = "Shares a row's ramp of power among its boards, by what they lack.",
             .source = "own",
             .opts = opts,
             .state_size = sizeof(struct smooth_row)},
    .decide = decide,
    .asks = TMX_ROW_RAMPS,
};
