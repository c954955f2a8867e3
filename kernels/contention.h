/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_CONTENTION_H
#define TMX_KERNELS_CONTENTION_H

/* One chip, epoch by epoch: cores that hold blocks of one or more programs, a memory system they
 * share, and a policy that decides how many cores work.
 *
 * Inside an epoch the set of resident warps is constant, so is the solution of kernels/memory.h; a
 * block that ends and is replaced by the next one changes nothing. Where the set changes (a core drains,
 * the grid runs out, the policy acts) the epoch is cut there. So the length of an epoch decides how often
 * a probe sees the chip and phases are looked up, not what happens.
 *
 * A throttled core sends no lines. Where the chip's throttle is gradual its warps go on until each has met a
 * memory instruction, 1 / lines_per_instr instructions in the mean, at the core's rate without memory;
 * the requests that they hold back are sent when the core runs again. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <thermix/policy.h>

#include "base/err.h"
#include "kernels/memory.h"

/* Blocks (CTAs) resident on a core. They share the core equally, so all of them advance by the same
 * number of instructions; a block is known by the mark at which it ends. */
enum { TMX_MAX_CORE = 128, TMX_MAX_RESIDENT = 32 };

struct tmx_core {
    enum tmx_core_state state;
    size_t owner; /* program whose blocks it holds or holds next */
    int n;        /* resident blocks */
    double mark;  /* instructions every resident block has advanced since the core was empty */
    double end[TMX_MAX_RESIDENT]; /* [n] rising: marks at which blocks end */
    double ready_cycle;           /* waking or changing clock until then */
    double coast_cycle;           /* throttled, but some warps have not met a memory instruction until then */
    double owed_lines;            /* of instructions that it ran while throttled */
    double ipc;                   /* warp instructions per cycle now */
    double latency_cycles;        /* of its memory accesses now */
    double stall_share;           /* of cycles now */
    double stall_run_cycles;      /* a stall lasts so long on end; 0: stalls add up */
    double stall_cycles;          /* since the policy's last reset */
    double latency_sum, line_sum; /* likewise; AMAT is their quotient */
};

/* What a chip did, in a form a power model can price: time in each state and counts of events, kept
 * apart by clock setting and number of working cores. */
struct tmx_ledger_bin { /* one clock setting, one number of clocked cores */
    double seconds;
    double core_s[TMX_N_CORE_STATE]; /* core-seconds in each state; GIVEN: lent and taken */
    double instr;                    /* warp instructions */
    double lines;                    /* L2 accesses */
    double dram_lines;               /* of these, missed */
};

enum { TMX_MAX_CLOCK = 4 };

struct tmx_ledger {
    size_t n_clock;
    double core_clock[TMX_MAX_CLOCK], memory_clock[TMX_MAX_CLOCK]; /* relative */
    struct tmx_ledger_bin bin[TMX_MAX_CLOCK][TMX_MAX_CORE + 1];    /* [clock][clocked cores] */
    double gatings, wakeups;                                       /* cores switched off, on */
    double clock_changes;
};

struct tmx_cta_launch { /* one launch, as it went */
    size_t program, kernel;
    double start_s, seconds;
    double cycles;       /* core cycles at the clock of the moment */
    double instr;        /* warp instructions */
    double lines;        /* lines asked for */
    double latency_sum;  /* cycles: latency_sum / lines is the mean */
    double core_seconds; /* of working cores: / seconds is the mean number */
    uint64_t blocks;     /* ended */
    int cores;           /* ACTIVE at the end: what the policy settled for */
};

struct tmx_contention_result {
    double seconds, cycles;
    double instr, thread_instr; /* warp instructions; the same times the share of active threads, times 32 */
    uint64_t blocks;            /* ended */
    double lines_asked;         /* by the blocks that ended: their instructions times q */
    double lines_served;        /* by the L2, integrated over time */
    double dram_lines;          /* likewise */
    double outstanding_core;    /* line-cycles waited for at cores: integral of rate * latency */
    double outstanding_memory;  /* line-cycles inside the memory system: base latency and queue lengths */
    uint64_t epochs;            /* steps computed */
    uint64_t solves;            /* latency solutions computed */
    size_t n_launch;
    struct tmx_cta_launch launch[TMX_MAX_LAUNCH];
    struct tmx_ledger ledger;
};

struct tmx_contention_sample { /* the chip at the end of an epoch */
    double cycle, seconds;     /* since the start of the run */
    size_t n_core;
    const struct tmx_core *core; /* [n_core] */
    const struct tmx_latency *latency;
    size_t launch; /* index in the result, of the policy's program */
};

struct tmx_contention_spec {
    const struct tmx_memory_chip *chip;
    const struct tmx_memory_program *const *program; /* [n_program] in order of priority */
    size_t n_program;
    const struct tmx_cta_policy *policy;
    void *policy_state;
    double epoch_cycles;
    uint64_t seed;
    double max_cycles;                                                    /* gives up beyond; 0: never */
    void (*probe)(void *ctx, const struct tmx_contention_sample *sample); /* may be NULL */
    void *probe_ctx;
};

/* Run all programs to their ends: each program's launches one after another, several programs side by side
 * only where a policy lends cores. *r is written whole. Equal inputs give equal bytes. Errors: TMX_ENOMEM,
 * TMX_EUNFINISHED (a policy that lets nothing run, or max_cycles). */
TMX_NODISCARD enum tmx_status tmx_contention_run(const struct tmx_contention_spec *spec,
                                                 struct tmx_contention_result *r, struct tmx_err *err);

/* Rates without time, for coarser simulations: kernels side by side, kernel k on cores[k] cores filled
 * with its resident blocks. Writes ipc[k] (warp instructions per cycle of one core) and latency_cycles[k].
 * n <= TMX_MAX_CLASS; cores[k] = 0 is allowed. */
struct tmx_share {
    const struct tmx_memory_kernel *kernel;
    double cores;
};
void tmx_contention_rates(const struct tmx_memory_chip *chip, const struct tmx_share *share, size_t n,
                          double core_clock, double memory_clock, double *ipc, double *latency_cycles);

#endif
