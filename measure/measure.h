/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_MEASURE_H
#define TMX_MEASURE_MEASURE_H

/* What is made of measurements that are no log of a GPU. */

#include "base/table.h"
#include "core/serve/llm.h"

/* What AccelWattch (GPGPU-Sim with -power_simulation_enabled 1) writes, as kernels and as a power trace. */

/* Read the file at path, gzip or text, and write to out:
 *   accelwattch_power_report.log    a file out/KERNEL.cfg for each kernel, the mean over its launches;
 *                                   *t has a row for each
 *   gpgpusim_power_trace_report...  the power trace `out` of the units of `chip`, a row for each sample; *t
 *                                   has one row
 * Each component goes where the power model of a run puts it. TMX_EPARSE with the line where labels are
 * missing, a value is no number or the components do not add up to the total. The caller destroys *t.
 * out NULL: the file is checked and nothing is written, for no chip. */
TMX_NODISCARD enum tmx_status tmx_accelwattch_import(const char *path, const char *chip, const char *out,
                                                     struct tmx_table **t, struct tmx_err *err);

/* Phases of a language model (core/serve/llm.h) from measured iterations. */

/* Rows of a CSV with the columns prompt_size, batch_size, token_size, prompt_time, token_time [ms],
 * tensor_parallel, optionally hardware and, as shares of the board's power limit, peak_power and
 * average_power. like has what rows do not say: weights, heads, idle watts. *m gets a phase for each chip and
 * degree; `errors` (the caller's) a row for each and each of prompt and token: cells (medians of repeats),
 * the mean and the largest error of the fit, and those of each cell left out of the fit. TMX_EIO, TMX_EPARSE,
 * TMX_ECONFIG with the line. */
TMX_NODISCARD enum tmx_status tmx_llm_fit(const char *rows, const struct tmx_llm *like, struct tmx_llm *m,
                                          struct tmx_table **errors, struct tmx_err *err);

/* A model's file; path NULL: only check that a run would read it. */
TMX_NODISCARD enum tmx_status tmx_llm_write(const struct tmx_llm *m, const char *path, struct tmx_err *err);

/* Every stored measurement beside what thermix makes of it: one row a claim. */

extern const char *const tmx_validate_parts[]; /* ends with NULL */

struct tmx_silicon_points { /* of figures */
    struct tmx_silicon_point {
        char figure[24], series[40];
        double x, y;
    } * point; /* [n] owned */
    size_t n;
};

struct tmx_validate_options {
    const char *const *part; /* [n_part] of tmx_validate_parts; 0: all */
    size_t n_part;
    unsigned n_worker;                 /* processes; 0: one a processor */
    bool quiet;                        /* no progress line */
    struct tmx_silicon_points *points; /* NULL: not wanted */
};

/* A row a target of workloads/measured/targets.csv, what was unseen first; beside its columns seen ("seen",
 * "unseen", "") and holds ("yes", "no", "not installed"). The logs are found as data files are. */
TMX_NODISCARD enum tmx_status tmx_validate(struct tmx_table **t, const struct tmx_validate_options *options,
                                           struct tmx_err *err);

/* Draw them into a folder, a picture a figure that has points. */
TMX_NODISCARD enum tmx_status tmx_validate_draw(const struct tmx_silicon_points *points, const char *folder,
                                                struct tmx_err *err);

struct tmx_watts_check {
    size_t n_kernel;
    double off_w;    /* our chip watts less AccelWattch's sum, the worst kernel */
    double mape_pct; /* our watts against the board's, mean */
};

/* Run the power model of chip v100 with each of AccelWattch's kernels. */
TMX_NODISCARD enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err);

#endif
