/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_LEAKAGE_H
#define TMX_POWER_LEAKAGE_H

/* Leakage against temperature, relative to the chip's reference temperature. */

#include "core/machine/chip.h"

/* One formula, exact. temp_k [K], volt_v relative to nominal enters linearly for every form
 * but Liao's, which has its own. Returns P(T) / P(reference, nominal).
 *   exponential  exp(x (T - Tref)), HotSpot's built-in form; x = 0.036 /K is HotSpot's exponent
 *   quadratic    r(T) / r(Tref), r = 1 + c1 dT + c2 dT^2, dT from 45 degC; fitted to CACTI's 65 nm
 *                off-current table over 45..95 degC (c1 0.01447, c2 6.36e-5)
 *   liao         Liao, He, Lepak, IEEE TCAD July 2005, 65 nm: A T^2 exp((alpha V + beta) / T) +
 *                B exp(gamma V + delta) at V = 1.0 V */
double tmx_leakage_factor(const struct tmx_chip_power *p, double temp_k);

/* The same tabulated for the tick: nodes every 1/16 K over [TMX_LEAK_MIN_K, TMX_LEAK_MAX_K],
 * second-order Taylor from the nearest node; relative error below 1e-8 (tested). */
enum { TMX_LEAK_MIN_K = 200, TMX_LEAK_MAX_K = 600, TMX_LEAK_PER_K = 16 };

struct tmx_leakage_table {
    double (*node)[3]; /* value, slope, half curvature per step; owned */
};
TMX_NODISCARD enum tmx_status tmx_leakage_table_init(struct tmx_leakage_table *t,
                                                     const struct tmx_chip_power *p, struct tmx_err *err);
void tmx_leakage_table_finish(struct tmx_leakage_table *t);

/* temp_k must lie inside the table. */
static inline double tmx_leakage_look_up(const struct tmx_leakage_table *t, double temp_k)
{
    const double at = (temp_k - TMX_LEAK_MIN_K) * TMX_LEAK_PER_K;
    const int i = (int)(at + 0.5);
    const double d = at - i, *n = t->node[i];
    return n[0] + d * (n[1] + d * n[2]);
}

#endif
