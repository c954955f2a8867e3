/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_LEAKAGE_H
#define TMX_POWER_LEAKAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/floorplan/chip.h"

/* Leakage against temperature, relative to the chip's reference temperature. */

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

/* e^x for |x| <= 700 (a chip's keys allow 75): x = n ln 2 + r, |r| <= ln 2 / 2, and Taylor's polynomial of
 * degree 11 of r, whose remainder is 0.35^12 / 12! = 6e-15. n is rounded by adding 1.5 * 2^52, which leaves
 * it in the low bits of the sum; ln 2 is in two parts, the first short enough for n times it to be exact. No
 * branch: compilers make vectors of it. */
static inline double tmx_leakage_exp(double x)
{
    static const double shift = 0x1.8p52, log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1,
                        ln2_low = 0x1.a39ef35793c76p-33;
    const double sum = x * log2_e + shift, n = sum - shift;
    const double r = (x - n * ln2_high) - n * ln2_low;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits;
    double power;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits + 1023) << 52; /* 2^n */
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* Eight at a time, so that compilers need no remainder: the last eight may begin among those before. */
static inline void tmx_leakage_exp_line(size_t n, double rate, double ref, const double *restrict x,
                                        double *restrict y)
{
    enum { LANES = 8 };
    size_t i = 0;
    for (; n >= LANES && i < n; i += LANES) {
        const size_t at = i + LANES <= n ? i : n - LANES;
        for (size_t k = 0; k < LANES; k++) {
            y[at + k] = tmx_leakage_exp(rate * (x[at + k] - ref));
        }
    }
    for (; i < n; i++) {
        y[i] = tmx_leakage_exp(rate * (x[i] - ref));
    }
}

/* factor[i] = tmx_leakage_factor at temp_k[i], for n of them; the arrays do not overlap. Inline: watts.c is
 * compiled for several processors. */
static inline void tmx_leakage_factors(const struct tmx_leakage *l, size_t n, const double *restrict temp_k,
                                       double *restrict factor)
{
    const double rate = l->rate, ref = l->ref, c0 = l->c0, c1 = l->c1, c2 = l->c2;
    switch (l->form) {
    case TMX_LEAK_EXPONENTIAL:
        tmx_leakage_exp_line(n, rate, ref, temp_k, factor);
        break;
    case TMX_LEAK_QUADRATIC:
        for (size_t i = 0; i < n; i++) {
            const double dT = temp_k[i] - ref, q = c0 + dT * (c1 + c2 * dT);
            factor[i] = q > 0 ? q : 0;
        }
        break;
    case TMX_LEAK_LIAO:
        for (size_t i = 0; i < n; i++) {
            factor[i] = l->scale * temp_k[i] * temp_k[i] * tmx_leakage_exp(l->over / temp_k[i]) + l->floor;
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            factor[i] = 0;
        }
    }
}

/* The sums of power model `unit` over the units of one GPU, compiled for each kind of processor (watts.c).
 * All give the same bits. */

struct tmx_watts {
    const struct tmx_leakage *leakage;
    size_t n;            /* units */
    double volt;         /* leakage under this voltage and these kernels, relative to leak_ref_w */
    double awake_w;      /* outside the SMs, spread by uncore_share */
    double transition_w; /* spread by area_share */
    bool same_base;      /* baseline_w is of this tick already */
    /* [n], none overlaps another; asleep NULL: nothing sleeps, and saved_w stays as it is */
    const double *temp_k, *dynamic_w, *asleep, *unpowered;
    const double *leak_ref_w, *fixed_w, *uncore_share, *area_share;
    double *leakage_w, *saved_w, *baseline_w, *power_w; /* written */
};

/* Of n_gpu GPUs, whose units follow one another in all arrays. False, and nothing of use written, when a
 * temperature is outside TMX_LEAK_MIN_K..TMX_LEAK_MAX_K. */
typedef bool (*tmx_watts_kernel)(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_any(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_v3(const struct tmx_watts *w, size_t n_gpu);
bool tmx_watts_v4(const struct tmx_watts *w, size_t n_gpu);

#endif
