/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_CODE_H
#define TMX_CORE_MICRO_CODE_H

/* What the warps of a real kernel execute, as text: the class of every instruction, how many instructions ago
 * the results it reads were made, and how often loops run.
 *
 *   i1,3     INT with a result, reading those of 1 and 3 instructions ago (at most three; executed ones
 * count) I2       INT without a result (a branch, a barrier) f s      FP, SFU;  F without a result l m
 * shared, constant memory: load, store g w      global memory: load, store I!       the warp then waits for
 * its thread block 16(...)  a loop of so many turns; loops nest */

#include "core/micro/stream.h"

enum { TMX_CODE_DISTANCE = 253, TMX_CODE_MAX = 1 << 20 }; /* farthest result; instructions of a warp */

/* Append the program that text describes, loops unrolled, to the instructions and programs of s, which begins
 * zeroed; the caller fills in the rest. Errors: TMX_EPARSE, TMX_ENOMEM; s stays fit for tmx_stream_finish. */
TMX_NODISCARD enum tmx_status tmx_code_append(struct tmx_stream *s, const char *text, struct tmx_err *err);

#endif
