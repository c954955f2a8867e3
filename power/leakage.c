/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/leakage.h"

#include "core/base/units.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Liao, He and Lepak's coefficients for 65 nm. */
static const double liao_A = 1.1432e-12, liao_B = 1.0126e-14, liao_alpha = 466.4029, liao_beta = -1224.74083,
                    liao_gamma = 6.28153, liao_delta = 6.9094;

static double liao(double temp_k, double V)
{
    return liao_A * temp_k * temp_k * exp((liao_alpha * V + liao_beta) / temp_k) +
           liao_B * exp(liao_gamma * V + liao_delta);
}

static double quadratic(const struct tmx_chip_power *p, double temp_c)
{
    const double dT = temp_c - 45;
    return 1 + p->leakage_c1_per_k * dT + p->leakage_c2_per_k2 * dT * dT;
}

double tmx_leakage_factor(const struct tmx_chip_power *p, double temp_k)
{
    const double temp_c = temp_k - TMX_ZERO_C;
    switch (p->leakage_form) {
    case TMX_LEAK_EXPONENTIAL:
        return exp(p->leakage_exp_per_k * (temp_c - p->leakage_ref_c));
    case TMX_LEAK_QUADRATIC:
        return fmax(0, quadratic(p, temp_c) / quadratic(p, p->leakage_ref_c));
    case TMX_LEAK_LIAO:
        return liao(temp_k, 1.0) / liao(p->leakage_ref_c + TMX_ZERO_C, 1.0);
    default:
        return 0;
    }
}

struct tmx_leakage tmx_leakage_init(const struct tmx_chip_power *p)
{
    const double ref_k = p->leakage_ref_c + TMX_ZERO_C, q = quadratic(p, p->leakage_ref_c),
                 at_ref = liao(ref_k, 1.0);
    struct tmx_leakage l = {.form = p->leakage_form, .ref = ref_k};
    switch (p->leakage_form) {
    case TMX_LEAK_EXPONENTIAL:
        l.rate = p->leakage_exp_per_k;
        break;
    case TMX_LEAK_QUADRATIC:
        l.ref = 45 + TMX_ZERO_C;
        l.c0 = 1 / q;
        l.c1 = p->leakage_c1_per_k / q;
        l.c2 = p->leakage_c2_per_k2 / q;
        break;
    case TMX_LEAK_LIAO:
        l.scale = liao_A / at_ref;
        l.over = liao_alpha + liao_beta;
        l.floor = liao_B * exp(liao_gamma + liao_delta) / at_ref;
        break;
    default:
        break;
    }
    return l;
}

/* e^x for |x| <= 700 (a chip's keys allow 75): x = n ln 2 + r, |r| <= ln 2 / 2, and Taylor's polynomial of
 * degree 11 of r, whose remainder is .35^12 / 12! = 6e-15. n is rounded by adding 1.5 * 2^52, which leaves it
 * in the low bits of the sum; ln 2 is in two parts, the first short enough for n times it to be exact. No
 * branch: compilers make vectors of it. */
static inline double exp_of(double x)
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

void tmx_leakage_factors(const struct tmx_leakage *l, size_t n, const double *restrict temp_k,
                         double *restrict factor)
{
    const double rate = l->rate, ref = l->ref, c0 = l->c0, c1 = l->c1, c2 = l->c2;
    switch (l->form) {
    case TMX_LEAK_EXPONENTIAL:
        for (size_t i = 0; i < n; i++) {
            factor[i] = exp_of(rate * (temp_k[i] - ref));
        }
        break;
    case TMX_LEAK_QUADRATIC:
        for (size_t i = 0; i < n; i++) {
            const double dT = temp_k[i] - ref, q = c0 + dT * (c1 + c2 * dT);
            factor[i] = q > 0 ? q : 0;
        }
        break;
    case TMX_LEAK_LIAO:
        for (size_t i = 0; i < n; i++) {
            factor[i] = l->scale * temp_k[i] * temp_k[i] * exp_of(l->over / temp_k[i]) + l->floor;
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            factor[i] = 0;
        }
    }
}
