/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed nonuniform: every SM hosts both kernels in its block slots. Slots are few (eight, paper 003
 * section 3.3), so the shares are time averages: the count of slots goes up and down from slice to
 * slice with the remainder carried over. */
#include <math.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"

enum { SLOTS = 8 };

static void spread(const void *state, const struct tmx_spread *s, double *share0)
{
    const struct tmx_tabs *t = state;
    const double slice = floor(s->begin_s / t->slice_s + 1e-9), want = s->share * SLOTS;
    const double slots = floor((slice + 1) * want + 0.5) - floor(slice * want + 0.5);
    const double share = fmin(1, fmax(0, slots / SLOTS));
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = share;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_nonuniform = {
    .base = {.name = "mixed_nonuniform",
             .doc = "T^ABS, spatial: every SM hosts both kernels in its block slots.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs)},
    .decide = tmx_tabs_decide,
    .spread = spread,
    .slice_s = tmx_tabs_slice_s,
    .measured_gain_pct = 2.83, /* paper 003, Table 3 */
};
