/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed uniform: each SM hosts one kernel; the hot one takes fixed SMs, corner clusters first. */
#include <math.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"

static void spread(const void *state, const struct tmx_spread *s, double *share0)
{
    (void)state;
    const double x_hot = s->first_is_hot ? s->share : 1 - s->share;
    const size_t n_hot = (size_t)(x_hot * (double)s->n + 0.5);
    for (size_t i = 0; i < s->n; i++) {
        share0[s->hot_order[i]] = (i < n_hot) == s->first_is_hot ? 1 : 0;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_uniform = {
    .base = {.name = "mixed_uniform",
             .doc = "T^ABS, spatial: each SM hosts one kernel, hot ones in the corners.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs)},
    .decide = tmx_tabs_decide,
    .spread = spread,
    .measured_gain_pct = 5.43, /* paper 003, Table 3 */
};
