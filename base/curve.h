/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_CURVE_H
#define TMX_BASE_CURVE_H

/* Numbers read from few others: curves by their points, quantiles of a sample, the least value of a function.
 */

#include <stddef.h>

#include "base/err.h"

/* y at x = at of n > 0 points whose x rises, point i at x[i * step], y[i * step]: between two of them linear,
 * y_a + w (y_b - y_a) with w = (at - x_a) / (x_b - x_a), and constant outside. */
double tmx_curve_at(size_t n, const double *x, const double *y, size_t step, double at);

/* The smallest of n values that this share of them does not exceed; NAN of none. Changes their order. */
double tmx_quantile(size_t n, double *v, double share);

/* Moves x [n] to where f is least nearby: a downhill simplex, whose sides are `step` at first, until they are
 * `size` or after so many rounds. It also ends where f is not finite. An error stays (base/err.h). */
void tmx_minimise(double (*f)(const double *x, void *ctx), void *ctx, size_t n, double *x, double step,
                  double size, int rounds, struct tmx_err *err);

#endif
