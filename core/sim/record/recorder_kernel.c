/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written once, compiled for each width of vector: CMake names each TMX_KERNEL (tmx_kernels in
 * CMakeLists.txt).
 * The order of every sum is written here, so the width is not seen in the bits. */
#include <math.h>

#include "core/floorplan/chip.h"
#include "core/sim/record/recorder.h"

enum { LANES = 8 };

/* sum += v * scale */
static void add_scaled(size_t n, const double *restrict v, double scale, double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += v[i] * scale;
    }
}

/* Four sums side by side, then those. */
static double sum_of(size_t n, const double *v)
{
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            sum[k] += v[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += v[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct lanes {
    double low[LANES], high[LANES], sm[LANES];
};

static inline __attribute__((always_inline)) void look(size_t n, const double *restrict temp_k,
                                                       const int *restrict sm_of_unit, struct lanes *at)
{
    for (size_t k = 0; k < n; k++) {
        const double t = temp_k[k], of_sm = sm_of_unit[k] != TMX_NO_SM ? t : 0;
        at->low[k] = t < at->low[k] ? t : at->low[k];
        at->high[k] = t > at->high[k] ? t : at->high[k];
        at->sm[k] = of_sm > at->sm[k] ? of_sm : at->sm[k];
    }
}

static void watts(struct tmx_recorder_watts *s)
{
    add_scaled(s->n, s->dynamic_w, s->dt_s, s->dynamic_j);
    add_scaled(s->n, s->leakage_w, s->dt_s, s->leakage_j);
    add_scaled(s->n, s->baseline_w, s->dt_s, s->baseline_j);
    if (s->saved_w) {
        add_scaled(s->n, s->saved_w, s->dt_s, s->saved_j);
    }
    s->now_w = sum_of(s->n, s->power_w);
}

static void kelvins(struct tmx_recorder_kelvins *s)
{
    add_scaled(s->n, s->mean_k, s->n_tick, s->sum_k);
    /* eight lanes; the last eight units may begin among those before, as a unit may be looked at twice */
    struct lanes at;
    for (size_t k = 0; k < LANES; k++) {
        at.low[k] = INFINITY;
        at.high[k] = at.sm[k] = 0;
    }
    for (size_t u = 0; s->n >= LANES && u < s->n; u += LANES) {
        const size_t first = u + LANES <= s->n ? u : s->n - LANES;
        look(LANES, s->temp_k + first, s->sm_of_unit + first, &at);
    }
    if (s->n < LANES) {
        look(s->n, s->temp_k, s->sm_of_unit, &at);
    }
    for (size_t k = 1; k < LANES; k++) {
        at.low[0] = smaller(at.low[k], at.low[0]);
        at.high[0] = larger(at.high[k], at.high[0]);
        at.sm[0] = larger(at.sm[k], at.sm[0]);
    }
    s->low_k = at.low[0];
    s->high_k = at.high[0];
    s->sm_k = at.sm[0];
    double *restrict most = s->hot_k;
    for (size_t i = 0; i < s->n_sm; i++) {
        most[i] = s->sensed_k[i] > most[i] ? s->sensed_k[i] : most[i];
    }
}

const struct tmx_recorder_kernel TMX_KERNEL = {.watts = watts, .kelvins = kelvins};
