#ifndef TMX_CORE_MICRO_CTA_BOOK_H
#define TMX_CORE_MICRO_CTA_BOOK_H

/* Blocks (CTAs) resident on a core. They share the core equally, so all of them advance by the same
 * number of instructions; a block is known by the mark at which it ends. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contract/cta_policy.h"
#include "core/micro/memory.h"

enum { TMX_MAX_CORE = 128, TMX_MAX_RESIDENT = 32 };

struct tmx_core {
    enum tmx_core_state state;
    size_t owner; /* program whose blocks it holds or holds next */
    int n;        /* resident blocks */
    double mark;  /* instructions every resident block has advanced since the core was empty */
    double end[TMX_MAX_RESIDENT]; /* [n] rising: marks at which blocks end */
    double ready_cycle;           /* waking or changing clock until then */
    double ipc;                   /* warp instructions per cycle now */
    double latency_cycles;        /* of its memory accesses now */
    double stall_share;           /* of cycles now */
    double stall_cycles;          /* since the policy's last reset */
    double latency_sum, line_sum; /* likewise; AMAT is their quotient */
};

/* Warp instructions of block `block` of a launch: instr_per_warp * warps, spread by `variation`; the same
 * for every policy. */
double tmx_block_length(const struct tmx_memory_kernel *k, uint64_t seed, uint64_t block);

/* The block started `surplus` instructions before the core's present mark. */
void tmx_core_add_block(struct tmx_core *c, double length, double surplus);
/* Cycles until the core's next block ends; INFINITY when it stands still. */
double tmx_core_next_end_cycles(const struct tmx_core *c);
/* Advance by cycles; blocks whose end is reached stay until tmx_core_retire. */
void tmx_core_advance(struct tmx_core *c, double cycles);
/* Remove the first block if its end is reached; *surplus is how far the core is beyond it. */
bool tmx_core_retire(struct tmx_core *c, double *surplus);

#endif
