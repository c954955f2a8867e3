/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T^ABS in space: both kernels run at once. The policies differ in which SMs host the hot one
 * (paper 003, section 3.1). */
#include <math.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"

/* Mixed uniform: each SM hosts one kernel. The hot one has the SMs that were the coldest when it got them, or
 * (places "corners") the first of the corner clusters. */
static void spread_uniform(const void *state, const struct tmx_spread *s, double *share0)
{
    (void)state;
    const double x_hot = s->first_is_hot ? s->share : 1 - s->share;
    const size_t n_hot = (size_t)(x_hot * (double)s->n + 0.5);
    for (size_t i = 0; i < s->n; i++) {
        const size_t sm = s->hot_order[i];
        const bool hot = s->memory ? s->memory[s->sm0 + sm] > 0 : i < n_hot;
        share0[sm] = hot == s->first_is_hot ? 1 : 0;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_uniform = {
    .base = {.name = "mixed_uniform",
             .doc = "T^ABS, spatial: each SM hosts one kernel, hot ones in the corners.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs),
             .rests = TMX_RESTS_SAMPLES},
    .decide = tmx_tabs_decide_places,
    .spread = spread_uniform,
    .memory = tmx_tabs_places,
    .measured_gain_pct = 5.43, /* paper 003, Table 3 */
};

/* Mixed nonuniform: every SM hosts both kernels in its block slots. Slots are few (eight, paper 003
 * section 3.3), so the shares are time averages: the count of slots goes up and down from slice to
 * slice with the remainder carried over. */
enum { SLOTS = 8 };

static void spread_nonuniform(const void *state, const struct tmx_spread *s, double *share0)
{
    const struct tmx_tabs *t = state;
    const double first = tmx_tabs_slice(t, s->begin_s), n = tmx_tabs_slices(t, s), want = s->share * SLOTS;
    const double slots = floor((first + n) * want + 0.5) - floor(first * want + 0.5);
    const double share = fmin(1, fmax(0, slots / (n * SLOTS)));
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = share;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_nonuniform = {
    .base = {.name = "mixed_nonuniform",
             .doc = "T^ABS, spatial: every SM hosts both kernels in its block slots.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs),
             .rests = TMX_RESTS_SAMPLES},
    .decide = tmx_tabs_decide,
    .spread = spread_nonuniform,
    .slice_s = tmx_tabs_slice_s,
    .measured_gain_pct = 2.83, /* paper 003, Table 3 */
};

/* Mixed alternate: as many SMs as mixed uniform run the hot kernel, spread evenly over the SM
 * index, and the pattern moves by one SM every slice: of the slices up to the k-th, floor((i + k) n_hot / n)
 * - floor(i n_hot / n) give SM i to the hot kernel, where i counts from the pattern's place. */
static void spread_alternate(const void *state, const struct tmx_spread *s, double *share0)
{
    const struct tmx_tabs *t = state;
    const double x_hot = s->first_is_hot ? s->share : 1 - s->share, n = tmx_tabs_slices(t, s);
    const size_t n_hot = (size_t)(x_hot * (double)s->n + 0.5), slices = (size_t)n;
    const size_t turn = (size_t)fmod(tmx_tabs_slice(t, s->begin_s), (double)s->n);
    for (size_t i = 0; i < s->n; i++) {
        const size_t hot = (turn + i + slices) * n_hot / s->n - (turn + i) * n_hot / s->n;
        share0[s->by_index[i]] = s->first_is_hot ? (double)hot / n : (n - (double)hot) / n;
    }
}

const struct tmx_mix_policy tmx_mix_mixed_alternate = {
    .base = {.name = "mixed_alternate",
             .doc = "T^ABS, spatio-temporal: SMs host one kernel each and take turns.",
             .source = "paper 003, section 3.1",
             .opts = tmx_tabs_opts,
             .state_size = sizeof(struct tmx_tabs),
             .rests = TMX_RESTS_SAMPLES},
    .decide = tmx_tabs_decide,
    .spread = spread_alternate,
    .slice_s = tmx_tabs_slice_s,
    .measured_gain_pct = 2.87, /* paper 003, Table 3 */
};
