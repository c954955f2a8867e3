/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/curve.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

double tmx_curve_at(size_t n, const double *x, const double *y, size_t step, double at)
{
    size_t i = 0;
    while (i < n && x[i * step] < at) {
        i++;
    }
    const size_t b = i * step, a = i ? b - step : 0;
    if (i == 0 || i == n) {
        return y[a];
    }
    const double w = (at - x[a]) / (x[b] - x[a]);
    return y[a] + w * (y[b] - y[a]);
}

double tmx_quantile(size_t n, double *v, double share)
{
    const size_t rank = (size_t)ceil(share * (double)n);
    return n > 0 ? gsl_stats_select(v, 1, n, rank > 0 ? rank - 1 : 0) : NAN;
}
