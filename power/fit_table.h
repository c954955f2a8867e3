/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_FIT_TABLE_H
#define TMX_POWER_FIT_TABLE_H

/* A fit of the power model as tables: coefficients, the kernels it was fitted to, kernels it was not. The
 * caller destroys *t. Errors in percent are of the power plus idle_w, that of the rest of the system. */

#include "core/base/table.h"
#include "power/regress.h"

TMX_NODISCARD enum tmx_status tmx_fit_coefficients(const struct tmx_training *train,
                                                   const struct tmx_power_fit *fit, struct tmx_table **t,
                                                   struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_fit_rows(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                           double idle_w, struct tmx_table **t, struct tmx_err *err);

struct tmx_fit_error { /* percent */
    double mean, worst;
    size_t worst_row;
};
/* Every kernel predicted by a fit to the others. */
struct tmx_fit_error tmx_fit_left_out(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                      double idle_w);

/* Predict the kernels of another table. TMX_EPARSE when its columns are not the fit's. */
TMX_NODISCARD enum tmx_status tmx_fit_test(const struct tmx_training *train, const struct tmx_power_fit *fit,
                                           const struct tmx_training *test, double idle_w,
                                           struct tmx_table **t, struct tmx_fit_error *e,
                                           struct tmx_err *err);

#endif
