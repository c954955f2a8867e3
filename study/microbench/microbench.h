/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_MICROBENCH_MICROBENCH_H
#define TMX_STUDY_MICROBENCH_MICROBENCH_H

#include "base/table.h"
#include "run/cta.h"
#include "run/load/gate_files.h"

/* Kernels x gating policies x times, each with its ungated twin, on several processes; the table. */

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
    uint64_t seed, budget;          /* budget: warp instructions a run */
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

/* Every run as a row (docs/formats.md). */
struct tmx_table *tmx_gate_table(const struct tmx_gate_plan *plan, const struct tmx_sm_result *result);

/* What is asked of some kernels on the SM of a chip. */
struct tmx_gate_question {
    struct tmx_gate_plan plan; /* without cases and streams; budget 0: 300000, and all of a trace */
    const char *const *policy; /* [n_policy]; none: all there are */
    size_t n_policy;
    const int *break_even_cycles, *wakeup_cycles; /* [n_bet], [n_wakeup]; none: the chip's */
    size_t n_bet, n_wakeup;
    const char *trace; /* file, run in place of kernel[0], which says how memory answers; NULL: none */
};

/* Errors of what follows stay (base/err.h). Every kernel under every policy at every pair of times, as
 * tmx_gate_table; NULL after an error. TMX_ECONFIG: an unknown policy. */
struct tmx_table *tmx_gate_ask(const struct tmx_gate_question *q, struct tmx_err *err);

/* Accel-Sim's kernel trace at path (.traceg) as an instruction trace to another ("-": standard output). */
enum tmx_status tmx_gate_convert(const char *path, const char *to, struct tmx_err *err);

/* Write kernel[0]'s first 16 thread blocks as an instruction trace to path ("-": standard output). */
enum tmx_status tmx_gate_export(const struct tmx_gate_plan *p, const char *path, struct tmx_err *err);

/* Tables of CTA runs: one row a kernel and policy, compared with every core at work. */

enum { TMX_MAX_CTA_ROW = 512, TMX_CTA_KERNELS = 64 };

struct tmx_cta_row { /* one kernel under one policy; percentages are changes against every core at work */
    char kernel[64], policy[64];
    double cores, optimal_cores; /* launches weighted by their time under `all` */
    double performance_pct, ipc_pct, energy_pct, edp_pct;
    double latency_cycles, latency_ratio; /* over one core */
    double seconds, energy_j, power_w, working_cores, static_pct;
    double ipc;             /* thread instructions per core cycle */
    double bandwidth_share; /* of the DRAM's peak, mean */
    double nominal_s;       /* at nominal clocks */
    double cycles;
    int launch_cores[TMX_MAX_LAUNCH]; /* chosen for each launch of the first program */
};

/* What every table of kernels under CTA policies begins with; tmx_cta_cells writes the cells of a row. */
#define TMX_CTA_COLUMNS                                                                    \
    "kernel policy cores:1 performance_vs_all_pct:2 energy_vs_all_pct:2 edp_vs_all_pct:2 " \
    "latency_ratio:2 optimal_cores:1"
void tmx_cta_cells(struct tmx_table *t, const struct tmx_cta_row *r);

struct tmx_cta_report {
    struct tmx_cta_row *row; /* [n_row] owned */
    size_t n_row;
    struct tmx_table *table;    /* kernel, policy, cores, performance, energy, latency, ... */
    struct tmx_table *launches; /* one row a launch */
    struct tmx_table *timeline; /* one row a sample; NULL: not kept */
    struct tmx_table *cores;    /* per-core parameters, given and measured; NULL: not asked for */
};

/* Errors stay (base/err.h). */
void tmx_cta_report_create(struct tmx_cta_report *r, bool timeline, struct tmx_err *err);
void tmx_cta_report_finish(struct tmx_cta_report *r);

/* Run the program (or several side by side) under every policy and add the rows. */
void tmx_cta_report_kernel(struct tmx_cta_report *r, const struct tmx_cta_chip *chip,
                           const struct tmx_memory_program *const *programs, size_t n_program,
                           const struct tmx_cta_policy_spec *policy, size_t n_policy,
                           const struct tmx_cta_options *o, struct tmx_err *err);

/* The row of a kernel and policy; NULL when there is none. */
const struct tmx_cta_row *tmx_cta_report_find(const struct tmx_cta_report *r, const char *kernel,
                                              const char *policy);

/* Append a row to the table alone (means). */
void tmx_cta_report_add(struct tmx_cta_report *r, const struct tmx_cta_row *row);

/* table.csv, launches.csv, timeline.csv and core.csv below dir, those there are. */
void tmx_cta_report_save(const struct tmx_cta_report *r, const char *dir, struct tmx_err *err);

struct tmx_cta_question {
    const struct tmx_cta_chip *chip;
    const char *const *kernel; /* [n_kernel] names or files */
    size_t n_kernel;
    const char *const *policy; /* [n_policy] as tmx_cta_policy_parse takes them */
    size_t n_policy;
    struct tmx_cta_options options;
    bool together; /* the kernels wait side by side, the first has priority */
    bool timeline, compare_cores;
};

/* The report of it; release with tmx_cta_report_finish, also when it fails. Errors: TMX_EIO, TMX_ECONFIG
 * (kernels, policies), TMX_ERANGE (more rows than a report has). */
void tmx_cta_ask(const struct tmx_cta_question *q, struct tmx_cta_report *r, struct tmx_err *err);

#endif
