/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_CTA_STUDIES_H
#define TMX_PAPERS_CTA_STUDIES_H

/* What suite `tcs` shows beside its table, each as one file of the output folder. */

#include "papers/cta_suite.h"

/* sweep.csv: performance, latency, power and energy of every kernel against the number of cores. */
TMX_NODISCARD enum tmx_status tmx_cta_study_sweep(const struct tmx_cta_suite *s, struct tmx_err *err);

/* image.csv: IPC of every core over time for one kernel under the policies (Figure 8). */
TMX_NODISCARD enum tmx_status tmx_cta_study_image(const struct tmx_cta_suite *s, const char *kernel,
                                                  const char *const *policies, struct tmx_err *err);

/* sensitivity.csv: how the means over the first kernels move with threshold, window, block length and
 * the scaling of SM power. */
TMX_NODISCARD enum tmx_status tmx_cta_study_sensitivity(const struct tmx_cta_suite *s, struct tmx_err *err);

/* share.csv: pairs of a memory-bound and another kernel, one after the other with freed cores gated, or
 * side by side with freed cores lent. */
TMX_NODISCARD enum tmx_status tmx_cta_study_share(const struct tmx_cta_suite *s, struct tmx_err *err);

#endif
