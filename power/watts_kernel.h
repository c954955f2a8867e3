/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written once, compiled for each width of vector: watts_<level>.c defines TMX_KERNEL and includes this.
 * Every unit by itself, so the width is not seen in the bits. No include guard: it is the body of a file. */
#include "power/leakage_vector.h"
#include "power/watts.h"

static bool in_range(size_t n, const double *restrict temp_k)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= temp_k[i] > TMX_LEAK_MIN_K && temp_k[i] < TMX_LEAK_MAX_K ? 0 : 1;
    }
    return bad == 0;
}

/* leakage_w comes as the factor of temperature. */
static void net_leakage(const struct tmx_watts *w)
{
    const double *restrict ref_w = w->leak_ref_w, *restrict asleep = w->asleep,
                           *restrict unpowered = w->unpowered;
    double *restrict leakage_w = w->leakage_w, *restrict saved_w = w->saved_w;
    const double volt = w->volt;
    for (size_t i = 0; i < w->n; i++) {
        const double off = unpowered[i], sleeps = asleep[i], leak_w = ref_w[i] * volt * leakage_w[i],
                     saved = leak_w * (off > 0 ? off : sleeps);
        saved_w[i] = saved;
        leakage_w[i] = leak_w - saved;
    }
}

bool TMX_KERNEL(const struct tmx_watts *w)
{
    const double *restrict fixed_w = w->fixed_w, *restrict uncore = w->uncore_share,
                           *restrict area = w->area_share, *restrict dynamic_w = w->dynamic_w,
                           *restrict leakage_w = w->leakage_w;
    double *restrict baseline_w = w->baseline_w, *restrict power_w = w->power_w;
    const double awake_w = w->awake_w, transition_w = w->transition_w;
    if (!in_range(w->n, w->temp_k)) {
        return false;
    }
    tmx_leakage_vector(w->leakage, w->n, w->temp_k, w->leakage_w);
    net_leakage(w);
    for (size_t i = 0; i < w->n; i++) {
        const double base_w = fixed_w[i] + awake_w * uncore[i];
        baseline_w[i] = base_w;
        power_w[i] = dynamic_w[i] + leakage_w[i] + base_w + transition_w * area[i];
    }
    return true;
}
