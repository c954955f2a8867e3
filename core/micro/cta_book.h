/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_CTA_BOOK_H
#define TMX_CORE_MICRO_CTA_BOOK_H

/* Blocks (CTAs) resident on a core. They share the core equally, so all of them advance by the same
 * number of instructions; a block is known by the mark at which it ends. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <thermix/policy.h>

#include "core/base/err.h"
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
    double stall_run_cycles;      /* a stall lasts so long on end; 0: stalls add up */
    double stall_cycles;          /* since the policy's last reset */
    double latency_sum, line_sum; /* likewise; AMAT is their quotient */
};

/* Warp instructions of block `block` of a launch: instr_per_warp * warps, spread by `variation`; the same
 * for every policy. */
double tmx_block_length(const struct tmx_memory_kernel *k, uint64_t seed, uint64_t block);

/* The rest is inline: every block end of a run comes through here. */

/* The block started `surplus` instructions before the core's present mark. */
static inline void tmx_core_add_block(struct tmx_core *c, double length, double surplus)
{
    tmx_assert(c->n < TMX_MAX_RESIDENT);
    if (c->n == 0) {
        c->mark = surplus;
    }
    int i = c->n++;
    const double end = c->mark - surplus + length;
    for (; i > 0 && c->end[i - 1] > end; i--) {
        c->end[i] = c->end[i - 1];
    }
    c->end[i] = end;
}

/* Cycles until the core's next block ends; INFINITY when it stands still. */
static inline double tmx_core_next_end_cycles(const struct tmx_core *c)
{
    if (c->n == 0 || c->ipc <= 0) {
        return INFINITY;
    }
    const double left = c->end[0] - c->mark;
    return left > 0 ? left * c->n / c->ipc : 0;
}

/* True only if the next end lies beyond `cycles`, surely: a test without a division. */
static inline bool tmx_core_ends_after(const struct tmx_core *c, double cycles)
{
    return c->n == 0 || (c->end[0] - c->mark) * c->n > c->ipc * cycles * (1 + 1e-9);
}

/* Advance by cycles; blocks whose end is reached stay until tmx_core_retire. */
static inline void tmx_core_advance(struct tmx_core *c, double cycles)
{
    if (c->n > 0) {
        c->mark += c->ipc * cycles / c->n;
    }
}

/* Remove the first block if its end is reached, or so near that rounding of mark + rate * time explains
 * the difference; *surplus is how far the core is beyond it. */
static inline bool tmx_core_retire(struct tmx_core *c, double *surplus)
{
    static const double same = 1e-12;
    if (c->n == 0 || c->end[0] > c->mark * (1 + same)) {
        return false;
    }
    const double beyond = c->mark - c->end[0];
    *surplus = beyond > 0 ? beyond : 0;
    c->n--;
    for (int i = 0; i < c->n; i++) {
        c->end[i] = c->end[i + 1];
    }
    return true;
}

#endif
