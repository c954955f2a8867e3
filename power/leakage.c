/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/leakage.h"

#include <thermix/policy.h>

#include <math.h>

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
