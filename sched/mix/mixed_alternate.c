/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed alternate: as many SMs as mixed uniform run the hot kernel, spread evenly over the SM index,
 * and the pattern moves by one SM every slice. */
#include <math.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"

static void spread(const void *state, const struct tmx_spread *s, double *share0)
{
    const struct tmx_tabs *t = state;
    const double x_hot = s->first_is_hot ? s->share : 1 - s->share;
    const size_t n_hot = (size_t)(x_hot * (double)s->n + 0.5);
    const size_t turn = (size_t)fmod(floor(s->begin_s / t->slice_s + 1e-9), (double)s->n);
    size_t acc = turn * n_hot % s->n; /* position in an even distribution of n_hot over n */
    for (size_t i = 0; i < s->n; i++) {
        acc += n_hot;
        const bool hot = acc >= s->n;
        acc -= hot ? s->n : 0;
        share0[s->by_index[i]] = hot == s->first_is_hot ? 1 : 0;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_alternate = {
    .base = {.name = "mixed_alternate",
             .doc = "T^ABS, spatio-temporal: SMs host one kernel each and take turns.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs)},
    .decide = tmx_tabs_decide,
    .spread = spread,
    .slice_s = tmx_tabs_slice_s,
    .measured_gain_pct = 2.87, /* paper 003, Table 3 */
};
