/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_LOAD_GATE_CODE_H
#define TMX_RUN_LOAD_GATE_CODE_H

/* Group `code` of a kernel's file: programs read off its compiled source (core/micro/stream.h), in place of
 * statistics. */

#include "core/micro/stream.h"

enum { TMX_GATE_CODES = 8 }; /* kernels of one benchmark at most */

struct tmx_gate_code {
    char name[64], source[256];
    int warps, warps_per_block;                                       /* resident; of one thread block */
    int blocks;                                                       /* one SM's share of a launch */
    double miss, lines, latency_cycles, latency_variation, bandwidth; /* as struct tmx_memory */
    struct tmx_stream stream; /* owned; its seed is the caller's to set */
};

/* The kernels of the benchmark `kernel` (name or file); *n of them. A file without the group: TMX_ECONFIG.
 * Release each with tmx_gate_code_finish. */
TMX_NODISCARD enum tmx_status tmx_gate_code_load(const char *kernel,
                                                 struct tmx_gate_code code[TMX_GATE_CODES], size_t *n,
                                                 struct tmx_err *err);
void tmx_gate_code_finish(struct tmx_gate_code *c); /* accepts zeroed memory */

#endif
