/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_H
#define TMX_MEASURE_VALIDATE_H

/* Every stored measurement beside what thermix makes of it: one row a claim. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/base/table.h"

extern const char *const tmx_validate_parts[]; /* ends with NULL */

struct tmx_validate_options {
    const char *const *part; /* [n_part] of tmx_validate_parts; 0: all */
    size_t n_part;
    unsigned n_worker;        /* processes; 0: one a processor */
    bool quiet;               /* no progress line */
    struct tmx_table *points; /* of tmx_silicon_points, for figures; NULL: none */
};

/* A row a claim, with the columns of tmx_claim_put (measure/silicon.h). The logs are found as data files are.
 */
TMX_NODISCARD enum tmx_status tmx_validate(struct tmx_table **t, const struct tmx_validate_options *options,
                                           struct tmx_err *err);

struct tmx_golden_case {
    const char *name, *what, *floorplan;
};
extern const struct tmx_golden_case tmx_golden_cases[]; /* ends with {0} */

struct tmx_golden_check {
    bool found;                   /* the case's files are among the data */
    double steady_k, transient_k; /* largest differences from HotSpot's own files, which have two decimals */
};

/* Repeat what HotSpot was run with, its conventions and its step, and compare with what it wrote. */
TMX_NODISCARD enum tmx_status tmx_validate_golden(const struct tmx_golden_case *golden,
                                                  struct tmx_golden_check *g, struct tmx_err *err);

struct tmx_watts_check {
    size_t n_kernel;
    double off_w;    /* our chip watts less AccelWattch's sum, the worst kernel */
    double mape_pct; /* our watts against the board's, mean */
};

/* Run the power model of chip v100 with each of AccelWattch's kernels. */
TMX_NODISCARD enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err);

#endif
