/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_MICROBENCH_GATE_RUNS_H
#define TMX_STUDY_MICROBENCH_GATE_RUNS_H

/* Kernels x gating policies x times, each with its ungated twin, on several processes; the table. */

#include "run/load/gate_files.h"
#include "study/table_out.h"

struct tmx_gate_case { /* one run of a kernel */
    const struct tmx_gate_policy *policy;
    int break_even_cycles, wakeup_cycles;
    int idle_detect_cycles; /* 0: the chip's */
};

enum { TMX_GATE_CASES = 128 };

struct tmx_gate_plan {
    const struct tmx_gate_chip *chip;
    const struct tmx_gate_kernel *kernel; /* [n_kernel] */
    size_t n_kernel;
    const struct tmx_gate_case *gate; /* [n_case]; [0] has no gating: what the others are compared with */
    size_t n_case;
    size_t fit;                     /* of tmx_gate_fits */
    const struct tmx_stream *trace; /* [n_kernel] instead of the kernels' statistics; NULL: none */
    uint64_t seed, budget;
    unsigned n_worker;
    bool quiet;
};

/* result [n_kernel * n_case], the case running fastest. */
TMX_NODISCARD enum tmx_status tmx_gate_run(const struct tmx_gate_plan *plan, struct tmx_sm_result *result,
                                           struct tmx_err *err);

struct tmx_gate_numbers {                  /* of one result against its twin; fractions, not percent */
    double saved[2], slowdown, chip_saved; /* saved: INT, FP; FP: NAN for a kernel without FP */
    double idle[2], overhead[2], compensated[2];
    double region[3]; /* INT idle periods: wasted, uncompensated, compensated */
    double active_warps, ipc;
};
struct tmx_gate_numbers tmx_gate_numbers(const struct tmx_gate_plan *plan, const struct tmx_sm_result *r,
                                         const struct tmx_sm_result *base, int break_even_cycles);

/* Every run as a row (docs/formats.md), below those of *t where it is not NULL; the caller destroys *t. */
TMX_NODISCARD enum tmx_status tmx_gate_table(const struct tmx_gate_plan *plan,
                                             const struct tmx_sm_result *result, struct tmx_table **t,
                                             struct tmx_err *err);

/* What is asked of some kernels on the SM of a chip. */
struct tmx_gate_question {
    const struct tmx_gate_chip *chip;
    const struct tmx_gate_kernel *kernel; /* [n_kernel] */
    size_t n_kernel;
    const char *const *policy; /* [n_policy]; none: all there are */
    size_t n_policy;
    const int *break_even_cycles, *wakeup_cycles; /* [n_bet], [n_wakeup]; none: the chip's */
    size_t n_bet, n_wakeup;
    size_t fit;        /* of tmx_gate_fits */
    const char *trace; /* file, run in place of kernel[0], which says how memory answers; NULL: none */
    uint64_t seed;
    uint64_t budget; /* warp instructions a run; 0: 300000, and all of a trace */
    unsigned n_worker;
    bool quiet;
};

/* Every kernel under every policy at every pair of times, as tmx_gate_table. TMX_ECONFIG: an unknown policy.
 */
TMX_NODISCARD enum tmx_status tmx_gate_ask(const struct tmx_gate_question *q, struct tmx_table **t,
                                           struct tmx_err *err);

/* Accel-Sim's kernel trace at path (.traceg) as an instruction trace to another ("-": standard output). */
TMX_NODISCARD enum tmx_status tmx_gate_convert(const char *path, const char *to, struct tmx_err *err);

/* Write kernel[0]'s first 16 thread blocks as an instruction trace to path ("-": standard output). */
TMX_NODISCARD enum tmx_status tmx_gate_export(const struct tmx_gate_question *q, const char *path,
                                              struct tmx_err *err);

#endif
