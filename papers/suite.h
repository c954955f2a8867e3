/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_SUITE_H
#define TMX_PAPERS_SUITE_H

/* `thermix table SUITE`: a suite file names its kind; each kind is one file suite_<kind>.c. */

#include <stdbool.h>

#include "core/base/err.h"
#include "run/load/data.h"
#include "study/study.h"
#include "study/table_out.h"

struct tmx_suite_call {
    const char *name, *path;        /* the suite's name and file */
    const struct tmx_setting *root; /* the suite file with the --set overrides of its group `base` applied */
    const char *const *set; /* [n_set] those overrides, "base.key=value", for reading the file again */
    size_t n_set;
    const char *const
        *policy; /* [n_policy] to run in place of a suite's others than those it compares with */
    size_t n_policy;
    const char *out_dir;       /* NULL: print only */
    unsigned n_worker;         /* -j; 0: one a processor */
    enum tmx_format format;    /* of what is printed */
    const char *const *column; /* [n_column] columns of the table on the screen; none: the short form */
    size_t n_column;
    const struct tmx_probe *probe; /* beside every run of a suite of mixes; NULL: nothing */
    bool quiet;
    bool check; /* only read the suite and check the configuration of every run */
};

struct tmx_suite_kind {
    const char *kind;
    const char *doc;
    enum tmx_status (*run)(const struct tmx_suite_call *call, struct tmx_err *err);
};
extern const struct tmx_suite_kind tmx_suite_kinds[]; /* {0}-terminated, in suite.c */

/* Find call->name, read it (fills path and root) and run it. */
TMX_NODISCARD enum tmx_status tmx_suite_run(struct tmx_suite_call *call, struct tmx_err *err);

/* The runs of a suite of runs of its group `base`; the kind fills in which. */
struct tmx_runs tmx_suite_runs(const struct tmx_suite_call *call);
/* Check them all if call->check is set, else do what DIR/runs.sqlite of call->out_dir does not have. As
 * tmx_study_values. */
TMX_NODISCARD enum tmx_status tmx_suite_values(const struct tmx_suite_call *call, const struct tmx_runs *runs,
                                               const char *noun, struct tmx_run_values *v,
                                               struct tmx_err *err);

/* Write table.csv and, where paper is not NULL, paper.csv below call->out_dir, and print table in
 * call->format. As a table for people: brief in its place where it is not NULL and no columns are asked for,
 * then the paper's values beside ours, then where the files are. */
TMX_NODISCARD enum tmx_status tmx_suite_write(const struct tmx_suite_call *call,
                                              const struct tmx_table *table, const struct tmx_table *paper,
                                              const struct tmx_table *brief, struct tmx_err *err);

/* Write a further table below call->out_dir, if there is one. */
TMX_NODISCARD enum tmx_status tmx_suite_save(const struct tmx_suite_call *call, const struct tmx_table *table,
                                             const char *name, struct tmx_err *err);

/* Private to the table in suite.c: one line a kind. */
enum tmx_status tmx_suite_apsa(const struct tmx_suite_call *call, struct tmx_err *err);
enum tmx_status tmx_suite_consolidation_day(const struct tmx_suite_call *call, struct tmx_err *err);
enum tmx_status tmx_suite_consolidation(const struct tmx_suite_call *call, struct tmx_err *err);
enum tmx_status tmx_suite_tabs(const struct tmx_suite_call *call, struct tmx_err *err);
enum tmx_status tmx_suite_warped_gates(const struct tmx_suite_call *call, struct tmx_err *err);
enum tmx_status tmx_suite_tcs(const struct tmx_suite_call *call, struct tmx_err *err);

#endif
