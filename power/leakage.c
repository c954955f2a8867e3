/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/leakage.h"

#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>

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

enum tmx_status tmx_leakage_table_init(struct tmx_leakage_table *t, const struct tmx_chip_power *p,
                                       struct tmx_err *err)
{
    const size_t n = (size_t)(TMX_LEAK_MAX_K - TMX_LEAK_MIN_K) * TMX_LEAK_PER_K + 1;
    const double h = 1.0 / TMX_LEAK_PER_K;
    t->node = malloc(n * sizeof *t->node);
    if (!t->node) {
        return tmx_fail(err, TMX_ENOMEM, "leakage table");
    }
    for (size_t i = 0; i < n; i++) {
        const double T = TMX_LEAK_MIN_K + (double)i * h;
        const double lo = tmx_leakage_factor(p, T - h), mid = tmx_leakage_factor(p, T),
                     hi = tmx_leakage_factor(p, T + h);
        t->node[i][0] = mid;
        t->node[i][1] = (hi - lo) / 2;
        t->node[i][2] = (hi - 2 * mid + lo) / 2;
    }
    return TMX_OK;
}

void tmx_leakage_table_finish(struct tmx_leakage_table *t)
{
    free(t->node);
    t->node = NULL;
}
