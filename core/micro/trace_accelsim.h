/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_TRACE_ACCELSIM_H
#define TMX_CORE_MICRO_TRACE_ACCELSIM_H

/* From the kernel traces of Accel-Sim (the trace-driven front end of GPGPU-Sim; files kernel-N.traceg,
 * tracer versions 3 to 5) to our instruction traces.
 *
 * Kept: order, registers, kind of memory, barriers. Dropped: addresses, predicates, active masks (a warp
 * instruction is one, whatever its mask), EXIT and NOP. The zero register is no dependence. Words wider
 * than 32 bit: the registers of one load count as one. */

#include <stdio.h>

#include "core/base/err.h"

/* Convert the file at path. resident_warps: most warps on an SM, cut to a multiple of the block's.
 * Errors: TMX_EIO, TMX_EPARSE with file:line. Write errors stay in out. */
TMX_NODISCARD enum tmx_status tmx_trace_from_accelsim(const char *path, unsigned resident_warps, FILE *out,
                                                      struct tmx_err *err);

#endif
