/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_ANALYSIS_EFFECTS_H
#define TMX_STUDY_ANALYSIS_EFFECTS_H

/* How much each axis of a study moves one metric.
 *   elasticity    e_i of ln y = a + sum e_i ln x_i, by least squares (GSL multifit): percent of y per
 *                 percent of x, where y and x_i are positive numbers; other axes enter as they are.
 *   standardised  b_i of (y - mean)/sd = sum b_i (x_i - mean)/sd, by least squares.
 *   Sobol indices of a study with sample.method = "indices": first order S_i = V_i / V and total T_i,
 *                 estimators of Saltelli et al., Comput. Phys. Commun. 181 (2010), Table 2 (b) and (f);
 *                 their standard error is that of the mean of the n terms.
 * An axis that is a straight line of an earlier one (keys that move together) is left out.
 * Standard errors of the regressions come from the covariance matrix of the fit. */

#include "core/base/table.h"
#include "study/results.h"

/* One row per axis with numbers: axis, elasticity_1, elasticity_se_1, standardised_1,
 * standardised_se_1, first_order_1, first_order_se_1, total_1, total_se_1, r2_1, runs. What the study
 * does not give stays empty. TMX_ECONFIG when no axis varies or too few runs are done. */
TMX_NODISCARD enum tmx_status tmx_effects(const struct tmx_result_set *set, size_t metric,
                                          struct tmx_table **t, struct tmx_err *err);

#endif
