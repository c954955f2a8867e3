/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alternate: the whole GPU runs the hot kernel for x of each period of two slices, then the other. */
#include <math.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"

/* Time in [0, t) that falls into the first `on_s` of periods of period_s. */
static double time_on(double t, double period_s, double on_s)
{
    const double n = floor(t / period_s + 1e-9), rest = t - n * period_s;
    return n * on_s + fmin(fmax(rest, 0), on_s);
}

static void spread(const void *state, const struct tmx_spread *s, double *share0)
{
    const struct tmx_tabs *t = state;
    const double period_s = 2 * t->slice_s;
    const double x_hot = s->first_is_hot ? s->share : 1 - s->share;
    const double on_s =
        time_on(s->end_s, period_s, x_hot * period_s) - time_on(s->begin_s, period_s, x_hot * period_s);
    const double hot = fmin(1, fmax(0, on_s / (s->end_s - s->begin_s)));
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = s->first_is_hot ? hot : 1 - hot;
    }
}

const struct tmx_mix_policy tmx_mix_alternate = {
    .base = {.name = "alternate",
             .doc = "T^ABS, temporal: kernels take turns on the whole GPU.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs),
             .rests = TMX_RESTS_SAMPLES},
    .decide = tmx_tabs_decide,
    .spread = spread,
    .slice_s = tmx_tabs_slice_s,
    .turns = true,
    .measured_gain_pct = 1.26, /* paper 003, Table 3 */
};
