/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_MIX_EQUALISE_H
#define TMX_SCHED_MIX_EQUALISE_H

/* Where the hot kernel of two runs: more on the cool SMs, less on the hot ones, the mean as wanted.
 *   g_s += gain (mean T - T_s) / max(0.05 W, difference of power on an SM),  in [-1, 1]
 *   x_s  = clip(X + g_s + nu, 0, 1),  nu so that mean x = X
 * Feedback on temperatures alone: no model, no oscillation as long as gain is far below what a watt does. */

#include <stddef.h>

/* temp_k, g, x: [n] by SM; x receives the share of the hot kernel. */
void tmx_equalise(size_t n, double share, double gain, double difference_w, const double *temp_k, double *g,
                  double *x);

#endif
