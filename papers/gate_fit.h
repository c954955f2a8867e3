/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_GATE_FIT_H
#define TMX_PAPERS_GATE_FIT_H

/* The free knobs of the instruction streams, fitted to the paper's means, and those means. */

#include "study/alone/gate_runs.h"

struct tmx_gate_mean { /* WG 7.3, 7.4: means over 18 benchmarks, percent; the slowdowns as rounded there */
    const char *policy;
    double int_saved, fp_saved, slowdown;
};
enum { TMX_GATE_MEANS = 5 };
extern const struct tmx_gate_mean tmx_gate_means[]; /* [TMX_GATE_MEANS], ConvPG first */

/* Means of one fit and case over the kernels of a plan, percent; FP over the kernels with FP. */
struct tmx_gate_mean tmx_gate_mean_of(const struct tmx_gate_plan *plan, const struct tmx_sm_result *result,
                                      size_t fit, size_t gate_case);

/* Fit the knobs by simplex, starting from the chip's fit `fit`; fit 0 looks at ConvPG's means
 * alone, fit 1 at all five schemes'. Prints the group for sm.cfg and what was reached. */
TMX_NODISCARD enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip,
                                            const struct tmx_gate_kernel *kernel, size_t n_kernel, size_t fit,
                                            uint64_t seed, FILE *out, struct tmx_err *err);

#endif
