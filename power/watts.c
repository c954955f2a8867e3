/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written once, compiled for each width of vector: CMake names each TMX_KERNEL (tmx_kernels in
 * CMakeLists.txt).
 * Every unit by itself, so the width is not seen in the bits. */
#include "power/leakage.h"

static bool in_range(size_t n, const double *restrict temp_k)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= (uint64_t) !(temp_k[i] > TMX_LEAK_MIN_K) | (uint64_t) !(temp_k[i] < TMX_LEAK_MAX_K);
    }
    return bad == 0;
}

/* leakage_w comes as the factor of temperature. */
static void leakage(const struct tmx_watts *w)
{
    const double *restrict ref_w = w->leak_ref_w;
    double *restrict leakage_w = w->leakage_w;
    const double volt = w->volt;
    for (size_t i = 0; i < w->n; i++) {
        leakage_w[i] = ref_w[i] * volt * leakage_w[i];
    }
}

static void save(const struct tmx_watts *w)
{
    const double *restrict asleep = w->asleep, *restrict unpowered = w->unpowered;
    double *restrict leakage_w = w->leakage_w, *restrict saved_w = w->saved_w;
    for (size_t i = 0; i < w->n; i++) {
        const double off = unpowered[i], sleeps = asleep[i], leak_w = leakage_w[i],
                     saved = leak_w * (off > 0 ? off : sleeps);
        saved_w[i] = saved;
        leakage_w[i] = leak_w - saved;
    }
}

static void baseline(const struct tmx_watts *w)
{
    const double *restrict fixed_w = w->fixed_w, *restrict uncore = w->uncore_share;
    double *restrict baseline_w = w->baseline_w;
    const double awake_w = w->awake_w;
    for (size_t i = 0; i < w->n; i++) {
        baseline_w[i] = fixed_w[i] + awake_w * uncore[i];
    }
}

static void gpu_watts(const struct tmx_watts *w)
{
    const double *restrict area = w->area_share, *restrict dynamic_w = w->dynamic_w,
                           *restrict leakage_w = w->leakage_w, *restrict baseline_w = w->baseline_w;
    double *restrict power_w = w->power_w;
    const double transition_w = w->transition_w;
    leakage(w);
    if (w->asleep) {
        save(w);
    }
    if (!w->same_base) {
        baseline(w);
    }
    for (size_t i = 0; i < w->n; i++) {
        power_w[i] = dynamic_w[i] + leakage_w[i] + baseline_w[i];
    }
    for (size_t i = 0; i < w->n && transition_w > 0; i++) {
        power_w[i] += transition_w * area[i];
    }
}

/* Factors of GPUs of one kind in one go: the next exponentials begin while the last ones end. */
bool TMX_KERNEL(const struct tmx_watts *w, size_t n_gpu)
{
    for (size_t g = 0, end, n; g < n_gpu; g = end) {
        for (n = 0, end = g; end < n_gpu && w[end].leakage == w[g].leakage; end++) {
            n += w[end].n;
        }
        if (!in_range(n, w[g].temp_k)) {
            return false;
        }
        tmx_leakage_factors(w[g].leakage, n, w[g].temp_k, w[g].leakage_w);
    }
    for (size_t g = 0; g < n_gpu; g++) {
        gpu_watts(&w[g]);
    }
    return true;
}
