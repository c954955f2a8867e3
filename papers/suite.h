/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_SUITE_H
#define TMX_PAPERS_SUITE_H

/* `thermix table SUITE`: a suite file names its kind; each kind is one file suite_<kind>.c. */

#include <stdbool.h>

#include "base/err.h"
#include "base/opt.h"
#include "run/load/data.h"
#include "study/study.h"
#include "study/table_out.h"

struct tmx_gate_chip;
struct tmx_gate_kernel;
struct tmx_job_batch;
struct tmx_job_data;

struct tmx_suite_call {
    const char *name, *path;        /* the suite's name and file */
    const struct tmx_setting *root; /* the suite file with the --set overrides of its group `base` applied */
    const struct tmx_sets *sets;    /* those overrides, of base.KEY, for reading the file again; NULL: none */
    const char *const
        *policy; /* [n_policy] to run in place of a suite's others than those it compares with */
    size_t n_policy;
    long n_seed;               /* in place of the suite's `seeds`; 0: that */
    bool nudge;                /* so many starts that are TMX_NUDGE_K apart, in place of seeds */
    const char *out_dir;       /* NULL: print only */
    unsigned n_worker;         /* -j; 0: one a processor */
    enum tmx_format format;    /* of what is printed */
    const char *const *column; /* [n_column] columns of the table on the screen; none: the short form */
    size_t n_column;
    const struct tmx_probe *probe; /* beside every run of a suite of mixes; NULL: nothing */
    /* Fills facts with why the policy can do little on a mix, "" where nothing is known: of mixes x policies.
     */
    void (*facts)(const void *ctx, const char *mix, const char *policy, char *facts, size_t size);
    const void *facts_ctx;
    bool quiet;
    bool stopped; /* by a signal: a table of what there is, and no paper.csv */
    bool check;   /* only read the suite and check the configuration of every run */
};

struct tmx_suite_kind {
    const char *kind, *seeds; /* key of --seeds; NULL: nothing in it is random */
    const char *doc;
    void (*run)(const struct tmx_suite_call *call, struct tmx_err *err); /* errors stay (base/err.h) */
};
extern const struct tmx_suite_kind tmx_suite_kinds[]; /* {0}-terminated, in suite.c */

/* One line a kind, X(kind, seeds, doc): a file here defines tmx_suite_KIND. */
#define TMX_SUITE_KINDS(X)                                                            \
    X(tabs, "seeds", "mixes x policies on a chip with thermal feedback (paper 003)")  \
    X(consolidation, NULL, "tables and figures of paper 004")                         \
    X(consolidation_day, "seeds", "a day of users under policies of the job level")   \
    X(warped_gates, "seeds", "unit gating of 18 benchmarks on one SM (paper 001)")    \
    X(tcs, "base.seeds", "tables and figures of paper 000: cores under TCS and hTCS") \
    X(apsa, "base.seeds", "tables and figures of paper 002: cores and clocks under ApSA")
#define TMX_DECLARE_SUITE(kind, seeds, doc) \
    void tmx_suite_##kind(const struct tmx_suite_call *call, struct tmx_err *err);
TMX_SUITE_KINDS(TMX_DECLARE_SUITE)

/* Find call->name, read it (fills path and root) and run it. */
TMX_NODISCARD enum tmx_status tmx_suite_run(struct tmx_suite_call *call, struct tmx_err *err);

/* The runs of a suite of runs of its group `base`; the kind fills in which. */
struct tmx_runs tmx_suite_runs(const struct tmx_suite_call *call);
/* Check them all if call->check is set, else do what DIR/runs.sqlite of call->out_dir does not have. As
 * tmx_study_values, with an error that stays. */
void tmx_suite_values(const struct tmx_suite_call *call, const struct tmx_runs *runs, const char *noun,
                      struct tmx_run_values *v, struct tmx_err *err);

/* Write table.csv and, where values are not NULL, paper.csv and seeds.csv below call->out_dir, and print
 * table in call->format. As a table for people: brief in its place where it is not NULL and no columns are
 * asked for, then the paper's values beside ours, then where the files are. Nothing where call->check is set.
 */
struct tmx_value_source;
void tmx_suite_write(const struct tmx_suite_call *call, const struct tmx_table *table,
                     const struct tmx_value_source *values, const struct tmx_table *brief,
                     struct tmx_err *err);

/* Write a further table below call->out_dir, if there is one. */
void tmx_suite_save(const struct tmx_suite_call *call, const struct tmx_table *table, const char *name,
                    struct tmx_err *err);

/* ---- what commands ask of a paper's models ---- */

/* Paper 001: fit the knobs of the instruction streams by simplex, starting from the chip's fit `fit`, to the
 * mean over n_seed seeds. The targets are the values of suite warped-gates with origin "fitted" (fit 0:
 * without variant, 1: variant "fit all"). Prints the group for sm.cfg and what was reached. */
TMX_NODISCARD enum tmx_status tmx_gate_tune(const struct tmx_gate_chip *chip,
                                            const struct tmx_gate_kernel *kernel, size_t n_kernel, size_t fit,
                                            uint64_t seed, size_t n_seed, FILE *out, struct tmx_err *err);

/* Paper 004, a batch of instances: a row a setup (on the CPU, merged, one after another), measured values
 * beside ours where the batch has them (the caller destroys *t); the decision, its margin and the best
 * grouping, as lines of text. */
TMX_NODISCARD enum tmx_status tmx_merge_table(const struct tmx_job_data *d, const struct tmx_job_batch *b,
                                              double temp_c, struct tmx_table **t, struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_merge_print(const struct tmx_job_data *d, const struct tmx_job_batch *b,
                                              double temp_c, FILE *out, struct tmx_err *err);

extern const struct tmx_keys tmx_suite_keys[]; /* of a suite of kind tabs */

#endif
