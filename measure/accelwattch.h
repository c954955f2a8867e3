/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_ACCELWATTCH_H
#define TMX_MEASURE_ACCELWATTCH_H

/* What AccelWattch (GPGPU-Sim with -power_simulation_enabled 1) writes, as kernels and as a power trace. */

#include "base/table.h"

/* Read the file at path, gzip or text, and write to out:
 *   accelwattch_power_report.log    a file out/KERNEL.cfg for each kernel, the mean over its launches;
 *                                   *t has a row for each
 *   gpgpusim_power_trace_report...  the power trace `out` of the units of `chip`, a row for each sample; *t
 *                                   has one row
 * Each component goes where the power model of a run puts it. TMX_EPARSE with the line where labels are
 * missing, a value is no number or the components do not add up to the total. The caller destroys *t.
 * out NULL: the file is checked and nothing is written, for no chip. */
TMX_NODISCARD enum tmx_status tmx_accelwattch_import(const char *path, const char *chip, const char *out,
                                                     struct tmx_table **t, struct tmx_err *err);

#endif
