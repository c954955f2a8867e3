/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_LEAKAGE_H
#define TMX_POWER_LEAKAGE_H

/* Leakage against temperature, relative to the chip's reference temperature. */

#include "core/floorplan/chip.h"

/* One formula, exact. temp_k [K], volt_v relative to nominal enters linearly for every form
 * but Liao's, which has its own. Returns P(T) / P(reference, nominal).
 *   exponential  exp(x (T - Tref)), HotSpot's built-in form; x = 0.036 /K is HotSpot's exponent
 *   quadratic    r(T) / r(Tref), r = 1 + c1 dT + c2 dT^2, dT from 45 degC; fitted to CACTI's 65 nm
 *                off-current table over 45..95 degC (c1 0.01447, c2 6.36e-5)
 *   liao         Liao, He, Lepak, IEEE TCAD July 2005, 65 nm: A T^2 exp((alpha V + beta) / T) +
 *                B exp(gamma V + delta) at V = 1.0 V */
double tmx_leakage_factor(const struct tmx_chip_power *p, double temp_k);

/* The same for the tick: one vector function, of sums and products alone, in one order, so that its bits are
 * the same with every compiler and processor. Relative error at most 1e-12 against the formula (tested). */
enum { TMX_LEAK_MIN_K = 200, TMX_LEAK_MAX_K = 600 }; /* it is for temperatures between these */

struct tmx_leakage {
    int form;                  /* enum tmx_leakage_form */
    double rate, ref;          /* exponential: exp(rate (T - ref)) */
    double c0, c1, c2;         /* quadratic: c0 + dT (c1 + c2 dT), dT from ref */
    double scale, over, floor; /* liao: scale T^2 exp(over / T) + floor */
};
struct tmx_leakage tmx_leakage_init(const struct tmx_chip_power *p);

/* factor[i] = tmx_leakage_factor at temp_k[i], for n of them; the arrays do not overlap. */
void tmx_leakage_factors(const struct tmx_leakage *l, size_t n, const double *temp_k, double *factor);

#endif
