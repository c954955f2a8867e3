/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written once, compiled for each width of vector: CMake names each TMX_KERNEL (tmx_kernels in
 * CMakeLists.txt).
 * The order of every sum is written here, so the width is not seen in the bits. */
#include <math.h>
#include <string.h>

#include "core/floorplan/chip.h"
#include "core/sim/record/recorder.h"

enum { LANES = 8 }; /* numbers side by side, as few or many of them as a processor's vectors take */
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));

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
    four sum = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        four next;
        memcpy(&next, v + i, sizeof next);
        sum += next;
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

/* The least and the most of n, LANES at least; the last may begin among those before, as a number may be
 * looked at twice. */
static void extremes(size_t n, const double *v, double *least, double *most)
{
    double l[LANES], h[LANES];
    memcpy(l, v, sizeof l);
    memcpy(h, v, sizeof h);
    for (size_t i = LANES; i < n; i += LANES) {
        const double *next = v + (i + LANES <= n ? i : n - LANES);
        for (size_t k = 0; k < LANES; k++) {
            l[k] = smaller(next[k], l[k]);
            h[k] = larger(next[k], h[k]);
        }
    }
    for (size_t k = 1; k < LANES; k++) {
        l[0] = smaller(l[0], l[k]);
        h[0] = larger(h[0], h[k]);
    }
    *least = l[0];
    *most = h[0];
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
    const bool in_row = s->in_row && s->n_sm >= LANES;
    const size_t from = in_row ? s->first : 0, to = in_row ? from + s->n_sm : 0;
    double low_k = INFINITY, sm_k = 0;
    if (in_row) {
        extremes(s->n_sm, s->temp_k + from, &low_k, &sm_k);
    }
    double high_k = sm_k;
    for (size_t u = from > 0 ? 0 : to; u < s->n; u = u + 1 == from ? to : u + 1) {
        const double t = s->temp_k[u];
        low_k = smaller(t, low_k);
        high_k = larger(t, high_k);
        sm_k = s->sm_of_unit[u] != TMX_NO_SM ? larger(t, sm_k) : sm_k;
    }
    s->low_k = low_k;
    s->high_k = high_k;
    s->sm_k = sm_k;
    double *restrict most = s->hot_k;
    for (size_t i = 0; i < s->n_sm; i++) {
        most[i] = s->sensed_k[i] > most[i] ? s->sensed_k[i] : most[i];
    }
}

const struct tmx_recorder_kernel TMX_KERNEL = {.watts = watts, .kelvins = kelvins};
