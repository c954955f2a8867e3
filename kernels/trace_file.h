/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_TRACE_FILE_H
#define TMX_KERNELS_TRACE_FILE_H

/* Instruction traces as text. The format (docs/formats.md), one instruction a line:
 *
 *   thermix-trace 1
 *   block_warps 4            warps of one thread block
 *   resident_warps 24        most warps on an SM at once, a multiple of block_warps
 *   # warp type dest sources latency [barrier]
 *   0 INT 5 3,4 alu
 *   0 LDST 6 5 global barrier
 *
 * Warps are numbered from 0, warp / block_warps is the thread block; lines of one warp are in
 * program order, warps may be interleaved. type: INT FP SFU LDST. Registers: 1 to 254, "-" for none,
 * at most three sources. latency: alu sfu shared global store. "barrier": the warp then waits for its
 * thread block. '#' starts a comment. */

#include <stdio.h>

#include "base/err.h"
#include "kernels/stream.h"

/* Read a trace; memory says how global memory answers (a trace has no latencies). Release with
 * tmx_stream_finish. Errors: TMX_EIO, TMX_EPARSE with file:line, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_trace_file_read(struct tmx_stream *s, const char *path,
                                                  const struct tmx_memory *memory, uint64_t seed,
                                                  struct tmx_err *err);

/* Write n_block thread blocks of s, loops unrolled, so that reading it back runs the same work. Write
 * errors stay in out. */
void tmx_trace_file_write(const struct tmx_stream *s, uint64_t n_block, FILE *out);

/* From the kernel traces of Accel-Sim (the trace-driven front end of GPGPU-Sim; files kernel-N.traceg,
 * tracer versions 3 to 5) to our instruction traces.
 *
 * Kept: order, registers, kind of memory, barriers. Dropped: addresses, predicates, active masks (a warp
 * instruction is one, whatever its mask), EXIT and NOP. The zero register is no dependence. Words wider
 * than 32 bit: the registers of one load count as one. */

/* Convert the file at path. resident_warps: most warps on an SM, cut to a multiple of the block's.
 * Errors: TMX_EIO, TMX_EPARSE with file:line. Write errors stay in out. */
TMX_NODISCARD enum tmx_status tmx_trace_from_accelsim(const char *path, unsigned resident_warps, FILE *out,
                                                      struct tmx_err *err);

#endif
