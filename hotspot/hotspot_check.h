/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TMX_TRACE_HOTSPOT_CHECK_H
#define TMX_TMX_TRACE_HOTSPOT_CHECK_H

#include "base/table.h"
#include "hotspot/trace_run.h"

/* Run the HotSpot program of args->verify_with on the run's files, in a temporary folder for
 * its outputs, and compare: a row a column of the power trace and one of the largest, with the largest
 * absolute difference [K] over the rows of the transient (r->trace_k; without it the cell is empty) and in
 * the steady state (r->temps). The caller destroys *t. Errors: the program fails or writes something else
 * than its formats (TMX_EIO, TMX_EPARSE). */
enum tmx_status tmx_hotspot_check(struct tmx_trace_run *r, struct tmx_table **t, struct tmx_err *err);

#endif
