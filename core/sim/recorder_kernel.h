/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written once, compiled for each width of vector: recorder_<level>.c defines TMX_KERNEL and includes this.
 * The order of every sum is written here, so the width is not seen in the bits. No include guard: it is the
 * body of a file. */
#include <math.h>

#include "core/machine/chip.h"
#include "core/sim/recorder_sums.h"

enum { LANES = 8 };

/* sum += v * scale */
static void add_scaled(size_t n, const double *restrict v, double scale, double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += v[i] * scale;
    }
}

static void add(size_t n, const double *restrict v, double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += v[i];
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

static void take_larger(size_t n, const double *restrict v, double *restrict most)
{
    for (size_t i = 0; i < n; i++) {
        most[i] = v[i] > most[i] ? v[i] : most[i];
    }
}

static void take_smaller(size_t n, const double *restrict v, double *restrict least)
{
    for (size_t i = 0; i < n; i++) {
        least[i] = v[i] < least[i] ? v[i] : least[i];
    }
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Lane k takes units k, k + LANES, ... */
static void extremes(struct tmx_recorder_kelvins *s)
{
    const double *restrict temp_k = s->temp_k;
    const int *restrict sm_of_unit = s->sm_of_unit;
    double low[LANES], high[LANES], sm[LANES];
    for (size_t k = 0; k < LANES; k++) {
        low[k] = INFINITY;
        high[k] = sm[k] = 0;
    }
    for (size_t u = 0; u < s->n; u += LANES) {
        const size_t m = s->n - u < LANES ? s->n - u : LANES;
        take_larger(m, temp_k + u, high);
        take_smaller(m, temp_k + u, low);
        for (size_t k = 0; k < m; k++) {
            const double t = sm_of_unit[u + k] != TMX_NO_SM ? temp_k[u + k] : 0;
            sm[k] = t > sm[k] ? t : sm[k];
        }
    }
    for (size_t k = 1; k < LANES; k++) {
        low[0] = smaller(low[k], low[0]);
        high[0] = larger(high[k], high[0]);
        sm[0] = larger(sm[k], sm[0]);
    }
    s->low_k = low[0];
    s->high_k = high[0];
    s->sm_k = sm[0];
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
    add(s->n, s->temp_k, s->sum_k);
    extremes(s);
    take_larger(s->n_sm, s->sensed_k, s->hot_k);
}

const struct tmx_recorder_kernel TMX_KERNEL = {.watts = watts, .kelvins = kelvins};
