/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_KERNELS_STREAM_H
#define TMX_KERNELS_STREAM_H

/* What the warps of one SM execute: instruction sequences, and how memory answers.
 *
 * Two sources fill the same structure: statistics of a kernel (the group `instructions`
 * of workloads/kernels) and a real trace (below). The work depends on neither
 * the gating policy nor the order of issue: the latency of a load is a hash of
 * (seed, warp, number of the load in that warp). */

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include <stdio.h>

#include "base/err.h"

enum tmx_unit_type {
    TMX_UNIT_INT,
    TMX_UNIT_FP,
    TMX_UNIT_SFU,
    TMX_UNIT_LDST,
    TMX_N_UNIT_TYPE,
};

/* When the destination register may be read. */
enum tmx_latency_class {
    TMX_LATENCY_ALU,    /* after the arithmetic pipeline */
    TMX_LATENCY_SFU,    /* after the SFU pipeline */
    TMX_LATENCY_SHARED, /* shared, constant or local memory that hits */
    TMX_LATENCY_GLOBAL, /* global memory: a warp that needs it leaves the active set */
    TMX_LATENCY_STORE,  /* global memory, nothing comes back; takes bandwidth */
    TMX_N_LATENCY_CLASS,
};

enum { TMX_INSTR_SOURCES = 3, TMX_MAX_REGISTER = 254, TMX_MAX_WARPS = 48 };

struct tmx_instr {
    uint8_t type;                      /* enum tmx_unit_type */
    uint8_t latency;                   /* enum tmx_latency_class */
    uint8_t dest;                      /* register 1 .. TMX_MAX_REGISTER; 0: none */
    uint8_t source[TMX_INSTR_SOURCES]; /* likewise */
    bool barrier;                      /* the warp then waits for all warps of its block */
};

/* The statistics of a kernel: group `instructions`. Each file names the sources of its numbers. */
struct tmx_instr_stats {
    double mix_int, mix_fp, mix_sfu, mix_ldst; /* shares of warp instructions; sum 1 */
    double persistence; /* chance that the next instruction repeats the type, beyond the mix */
    int warps;          /* resident on an SM */
    int warps_per_block;
    double dependence;        /* share of instructions that read a recent result */
    double distance;          /* mean distance to that result [instructions], >= 1 */
    double load_distance;     /* mean distance from a load to its first use [instructions], >= 1 */
    double global_share;      /* of LDST: global memory */
    double store_share;       /* of global: stores */
    double miss;              /* share of global loads that leave the SM */
    double latency_cycles;    /* mean latency of a miss, without queueing */
    double latency_variation; /* half width of its uniform distribution, relative */
    double bandwidth;         /* [lines of 128 B / cycle / SM] */
    double lines;             /* lines per global access that leaves the SM (1: fully coalesced) */
    int body;                 /* length of the loop body [instructions] */
    int repetitions;          /* loops per thread block */
    int barriers;             /* per body */
    int blocks_per_launch;    /* an SM's share of a grid: when they have ended, the SM stays empty */
    int launch_gap_cycles;    /* this long, then the next grid starts; 0 blocks: one endless grid */
};
extern const struct tmx_opt tmx_instr_opts[];

/* Global knobs on top of the statistics: what the kernels' own numbers leave open. */
struct tmx_stream_knobs {
    double dependence; /* factors on the field of that name; probabilities are cut at 1 */
    double persistence;
    double fp_persistence; /* a further one on that of FP: its instructions come in longer runs */
    double miss;
    double latency;
    double launch_gap; /* on launch_gap_cycles */
    double bodies;     /* whole, >= 1: so many bodies are drawn, and walked one after another */
};
extern const struct tmx_opt tmx_knob_opts[];

struct tmx_program {     /* what one warp executes */
    size_t first, count; /* range in struct tmx_stream's instr */
    unsigned repetitions;
};

struct tmx_memory {
    double miss, latency_cycles, latency_variation, bandwidth, lines; /* as above */
};

struct tmx_stream {
    struct tmx_instr *instr; /* [n_instr] owned */
    size_t n_instr;
    struct tmx_program *program; /* [n_program] owned; warp i of block b: (b * warps_per_block + i) % n */
    size_t n_program;
    unsigned n_register; /* highest register used + 1 */
    unsigned warps;      /* resident, a multiple of warps_per_block */
    unsigned warps_per_block;
    uint64_t n_block;           /* blocks to run; UINT64_MAX: until the instruction budget ends */
    bool stagger;               /* the first blocks start at different places of their programs */
    unsigned blocks_per_launch; /* of one grid on this SM; 0: no limit */
    unsigned launch_gap_cycles;
    struct tmx_memory memory;
    uint64_t seed;
};

/* Do the numbers of a kernel fit together? TMX_ECONFIG: a mix that does not sum to 1, warps that are no
 * multiple of the block, more barriers than instructions. */
TMX_NODISCARD enum tmx_status tmx_instr_check(const struct tmx_instr_stats *stats, struct tmx_err *err);

/* Draw loop bodies, each with exactly the mix of stats (largest remainders) and the warps' set-up.
 * Release with tmx_stream_finish. Errors: those of tmx_instr_check, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_stream_generate(struct tmx_stream *s, const struct tmx_instr_stats *stats,
                                                  const struct tmx_stream_knobs *knobs, uint64_t seed,
                                                  struct tmx_err *err);
void tmx_stream_finish(struct tmx_stream *s); /* accepts zeroed memory */

/* A well mixed 64-bit value of (seed, a, b): the counter-based random numbers of this part. */
static inline uint64_t tmx_mix64(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t z = seed + a * 0x9e3779b97f4a7c15u + b * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u; /* finaliser of splitmix64 (Steele et al. 2014) */
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* What the warps of a real kernel execute, as text: the class of every instruction, how many instructions ago
 * the results it reads were made, and how often loops run.
 *
 *   i1,3     INT with a result, reading those of 1 and 3 instructions ago (at most three, of those executed)
 *   I2       INT without a result (a branch, a barrier)
 *   f s      FP, SFU;  F without a result
 *   l m      shared, constant memory: load, store
 *   g w      global memory: load, store
 *   I!       the warp then waits for its thread block
 *   16(...)  a loop of so many turns; loops nest */

enum { TMX_CODE_DISTANCE = 253, TMX_CODE_MAX = 1 << 20 }; /* farthest result; instructions of a warp */

/* Append the program that text describes, loops unrolled, to the instructions and programs of s, which begins
 * zeroed; the caller fills in the rest. Errors: TMX_EPARSE, TMX_ENOMEM; s stays fit for tmx_stream_finish. */
TMX_NODISCARD enum tmx_status tmx_code_append(struct tmx_stream *s, const char *text, struct tmx_err *err);

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
