/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MICRO_CHIP_STATE_H
#define TMX_CORE_MICRO_CHIP_STATE_H

/* Private to core/micro: the state of a contention run, shared by its three parts: rates (who runs
 * how fast), blocks (who runs what), contention (events and the policy). */

#include "core/micro/contention.h"

struct tmx_program_run {
    size_t kernel;       /* current launch */
    uint64_t next_block; /* not yet given to a core */
    uint64_t done;       /* blocks ended of the current launch */
    uint64_t grid;       /* blocks of the current launch */
    size_t launch;       /* its index in the result */
    bool ended;          /* all launches are */
    double instr;        /* of the current launch, done */
    /* rates now, sums over its cores, per cycle */
    double instr_rate, line_rate, latency_rate, cores;
};

struct tmx_chip_state {
    const struct tmx_contention_spec *spec;
    struct tmx_contention_result *r;
    struct tmx_program_run *program; /* [n_program] */
    struct tmx_core *core;           /* [n_core] */
    struct tmx_cta_core *seen;       /* [n_core] the policy's view */
    size_t *drained;                 /* [n_core] */
    size_t order[TMX_MAX_CORE];      /* [n_core] cores by their last block's end: a hint for sorting */
    size_t n_core, n_drained, primary, clock;
    struct tmx_cta_view view;
    struct tmx_cta_request request;
    enum tmx_status answer; /* TMX_ESOLVE: the policy asked for what cannot be */
    struct tmx_latency latency;
    double cycle;                     /* since the start of the run */
    double launch_cycle;              /* when the policy learned of its kernel */
    double epoch_end;                 /* cycle */
    double launch_instr, launch_dram; /* since then: profile of one kernel */
    double core_clock, memory_clock;  /* in force */
    double count[TMX_N_CORE_STATE];   /* cores in each state, as the ledger counts them */
    double thread_rate;               /* thread instructions per cycle */
    uint64_t first_done;              /* blocks ended at launch_cycle */
    bool stale;                       /* rates must be solved again */
    size_t running, clocked;          /* cores with work that run; cores that are clocked */
};

const struct tmx_memory_kernel *tmx_chip_kernel(const struct tmx_chip_state *s, size_t program);
/* Program that takes lent cores; SIZE_MAX: none. */
size_t tmx_chip_taker(const struct tmx_chip_state *s);
/* The core runs or could: clocked and not waiting to wake. */
bool tmx_chip_runs(const struct tmx_chip_state *s, const struct tmx_core *c);

void tmx_chip_solve(struct tmx_chip_state *s);                  /* rates of all cores */
void tmx_chip_account(struct tmx_chip_state *s, double cycles); /* counters and ledger over a step */

void tmx_chip_fill(struct tmx_chip_state *s); /* give waiting blocks to cores */
double tmx_chip_next_cut_cycles(const struct tmx_chip_state *s, double cycles); /* ends that change the set */
void tmx_chip_advance_blocks(struct tmx_chip_state *s, double cycles);
#endif
