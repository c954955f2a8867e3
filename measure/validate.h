/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_H
#define TMX_MEASURE_VALIDATE_H

/* Every stored measurement beside what thermix makes of it: one row a claim. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/table.h"

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
