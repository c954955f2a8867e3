/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched/mix/equalise.h"

#include <math.h>
#include <stddef.h>

static double clip(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* *n_free: how many would follow the centre. */
static double mean_share(size_t n, double centre, const double *g, double *x, size_t *n_free)
{
    double sum = 0;
    *n_free = 0;
    for (size_t s = 0; s < n; s++) {
        const double wanted = centre + g[s];
        x[s] = clip(wanted, 0, 1);
        *n_free += x[s] == wanted ? 1 : 0;
        sum += x[s];
    }
    return sum / (double)n;
}

void tmx_equalise(size_t n, double share, double gain, double difference_w, const double *temp_k, double *g,
                  double *x)
{
    enum { TRIES = 40 };
    const double near = 1e-9;
    double mean_k = 0, low = share - 2, high = share + 2, centre = share; /* there every x is 0, or 1 */
    for (size_t s = 0; s < n; s++) {
        mean_k += temp_k[s];
    }
    mean_k /= (double)n;
    for (size_t s = 0; s < n; s++) {
        g[s] = clip(g[s] + gain * (mean_k - temp_k[s]) / fmax(0.05, difference_w), -1, 1);
    }
    for (int i = 0; i < TRIES; i++) { /* the mean is straight between the centres where an x meets 0 or 1 */
        size_t n_free;
        const double off = mean_share(n, centre, g, x, &n_free) - share;
        if (fabs(off) <= near) {
            break;
        }
        low = off < 0 ? centre : low;
        high = off < 0 ? high : centre;
        const double next = n_free > 0 ? centre - off * (double)n / (double)n_free : low;
        centre = next > low && next < high ? next : (low + high) / 2;
    }
}
