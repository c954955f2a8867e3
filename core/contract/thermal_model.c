/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/thermal_model.h"

enum tmx_status tmx_thermal_step_many(const struct tmx_thermal_ops *ops, size_t n, void *const *state,
                                      double dt_s, const double *const *power_w, double *const *temp_k,
                                      size_t *bad)
{
    enum tmx_status st = TMX_OK;
    if (ops->step_many) {
        return ops->step_many(n, state, dt_s, power_w, temp_k, bad);
    }
    for (size_t i = 0; i < n; i++) {
        const enum tmx_status one = ops->step(state[i], dt_s, power_w[i], temp_k[i]);
        if (one && !st) {
            st = one;
            *bad = i;
        }
    }
    return st;
}
