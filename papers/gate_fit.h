/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_GATE_FIT_H
#define TMX_PAPERS_GATE_FIT_H

/* The free knobs of the instruction streams, fitted to the printed means of suite warped-gates. */

#include "study/microbench/gate_runs.h"

/* Fit the knobs by simplex, starting from the chip's fit `fit`, to the mean over n_seed seeds. The targets
 * are the values of suite warped-gates with origin "fitted" (fit 0: without variant, 1: variant "fit all").
 * Prints the group for sm.cfg and what was reached. */
TMX_NODISCARD enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip,
                                            const struct tmx_gate_kernel *kernel, size_t n_kernel, size_t fit,
                                            uint64_t seed, size_t n_seed, FILE *out, struct tmx_err *err);

#endif
