/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_MICROBENCH_CTA_TABLE_H
#define TMX_STUDY_MICROBENCH_CTA_TABLE_H

/* Tables of CTA runs: one row a kernel and policy, compared with every core at work. */

#include "base/table.h"
#include "run/cta.h"

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

TMX_NODISCARD enum tmx_status tmx_cta_report_create(struct tmx_cta_report *r, bool timeline,
                                                    struct tmx_err *err);
void tmx_cta_report_finish(struct tmx_cta_report *r);

/* Run the program (or several side by side) under every policy and add the rows. */
TMX_NODISCARD enum tmx_status tmx_cta_report_kernel(struct tmx_cta_report *r, const struct tmx_cta_chip *chip,
                                                    const struct tmx_memory_program *const *programs,
                                                    size_t n_program,
                                                    const struct tmx_cta_policy_spec *policy, size_t n_policy,
                                                    const struct tmx_cta_options *o, struct tmx_err *err);

/* The row of a kernel and policy; NULL when there is none. */
const struct tmx_cta_row *tmx_cta_report_find(const struct tmx_cta_report *r, const char *kernel,
                                              const char *policy);

/* Append a row to the table alone (means). */
void tmx_cta_report_add(struct tmx_cta_report *r, const struct tmx_cta_row *row);

/* table.csv, launches.csv, timeline.csv and core.csv below dir, those there are. */
TMX_NODISCARD enum tmx_status tmx_cta_report_save(const struct tmx_cta_report *r, const char *dir,
                                                  struct tmx_err *err);

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
TMX_NODISCARD enum tmx_status tmx_cta_ask(const struct tmx_cta_question *q, struct tmx_cta_report *r,
                                          struct tmx_err *err);

#endif
