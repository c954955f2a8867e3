/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vectors.h, compiled for each width of vector (CMake names TMX_KERNEL). */
#include "thermal/assembly/vectors.h"

#include <math.h>

enum { CHAINS = 8 };

static double dot(size_t n, const double *a, const double *b)
{
    double part[CHAINS] = {0}, sum = 0;
    for (size_t i = 0; i < n - n % CHAINS; i += CHAINS) {
        for (size_t k = 0; k < CHAINS; k++) {
            part[k] += a[i + k] * b[i + k];
        }
    }
    for (size_t i = n - n % CHAINS; i < n; i++) {
        part[i % CHAINS] += a[i] * b[i];
    }
    for (size_t k = 0; k < CHAINS; k++) {
        sum += part[k];
    }
    return sum;
}

static void axpy(size_t n, double alpha, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += alpha * x[i];
    }
}

static double larger(double most, double x)
{
    return fabs(x) <= most || isnan(most) ? most : fabs(x);
}

static double largest(size_t n, const double *x)
{
    double part[CHAINS] = {0}, most = 0;
    for (size_t i = 0; i < n - n % CHAINS; i += CHAINS) {
        for (size_t k = 0; k < CHAINS; k++) {
            part[k] = larger(part[k], x[i + k]);
        }
    }
    for (size_t i = n - n % CHAINS; i < n; i++) {
        part[i % CHAINS] = larger(part[i % CHAINS], x[i]);
    }
    for (size_t k = 0; k < CHAINS; k++) {
        most = larger(most, part[k]);
    }
    return most;
}

static void gain(size_t n, const double *restrict g, const double *restrict x, const double *restrict z,
                 double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += g[i] * (x[i] - z[i]);
    }
}

const struct tmx_vectors TMX_KERNEL = {dot, axpy, largest, gain};
