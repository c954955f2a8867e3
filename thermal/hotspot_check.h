/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TMX_TRACE_HOTSPOT_CHECK_H
#define TMX_TMX_TRACE_HOTSPOT_CHECK_H

#include "thermal/trace_run.h"

/* Run the HotSpot program of args->verify_with on the run's files, in a temporary folder for
 * its outputs, and compare: the largest absolute difference [K] of every column of the power
 * trace over the rows of the transient (r->trace_k; without it transient_k stays as it is) and in the
 * steady state (r->temps).
 *   transient_k, steady_k  [r->power.n_column, K] written
 * Errors: the program fails or writes something else than its formats (TMX_EIO, TMX_EPARSE). */
TMX_NODISCARD enum tmx_status tmx_hotspot_check(struct tmx_trace_run *r, double *transient_k,
                                                double *steady_k, struct tmx_err *err);

#endif
