/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_ANALYSIS_EFFECTS_H
#define TMX_STUDY_ANALYSIS_EFFECTS_H

/* How much each axis of a study moves one metric.
 *   effect        of a model of main effects by least squares, y = a + sum over the axes: what a value of an
 * axis adds to the mean over its values; of an axis of numbers that has many values a straight line, and what
 * it adds from its lowest to its highest. ci95: half its 95 % interval, Student's t on what the model leaves
 * of the means over seeds. share         of the metric's variance over the runs, which the model would lose
 * without the axis. In a whole grid the shares and what is left, interactions and seeds, are 100 %. change of
 * the metric in percent for one percent of an axis of positive numbers, from ln y = a + sum e_i ln x_i;
 * kelvins have no percent: of a temperature the axis' step is 1 K and the metric's change is in K, of a
 * percentage in points. elasticity is the change where both are percents. standardised  b_i of (y - mean)/sd
 * = sum b_i (x_i - mean)/sd, by least squares. Sobol indices of a study with sample.method = "indices": first
 * order S_i = V_i / V and total T_i, estimators of Saltelli et al., Comput. Phys. Commun. 181 (2010), Table 2
 * (b) and (f); their standard error is that of the mean of the n terms. Of keys that move together the first
 * stands for all. Seeds are repetitions, no axis. */

#include "base/table.h"
#include "study/results.h"

/* A row for each axis, for each value of one whose values have effects of their own, and for what is left;
 * what does not apply is empty. TMX_ECONFIG when no axis varies or too few runs are done. */
TMX_NODISCARD enum tmx_status tmx_effects(const struct tmx_result_set *set, size_t metric,
                                          struct tmx_table **t, struct tmx_err *err);

#endif
