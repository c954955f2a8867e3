/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/mix/equalise.h"

#include <math.h>

static double clip(double v, double low, double high)
{
    return fmin(high, fmax(low, v));
}

static double mean_share(size_t n, double centre, const double *g, double *x)
{
    double sum = 0;
    for (size_t s = 0; s < n; s++) {
        x[s] = clip(centre + g[s], 0, 1);
        sum += x[s];
    }
    return sum / (double)n;
}

void tmx_equalise(size_t n, double share, double gain, double difference_w, const double *temp_k, double *g,
                  double *x)
{
    enum { HALVINGS = 24 };
    double mean_k = 0, low = share - 2, high = share + 2; /* there every x is 0, or 1 */
    for (size_t s = 0; s < n; s++) {
        mean_k += temp_k[s];
    }
    mean_k /= (double)n;
    for (size_t s = 0; s < n; s++) {
        g[s] = clip(g[s] + gain * (mean_k - temp_k[s]) / fmax(0.05, difference_w), -1, 1);
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (mean_share(n, middle, g, x) < share) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (void)mean_share(n, (low + high) / 2, g, x);
}
