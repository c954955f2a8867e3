/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_H
#define TMX_MEASURE_VALIDATE_H

/* Every stored measurement beside what thermix makes of it: one row a claim. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/base/table.h"

/* what, trained_on, source, quantity, measured (0: ours is an error), ours, bar, unit, origin of ours, holds
 * ("yes", "no", "not installed"). *missed: rows that do not hold. points: of tmx_silicon_points, for figures;
 * NULL: none. The logs are found as data files are. */
TMX_NODISCARD enum tmx_status tmx_validate(struct tmx_table **t, size_t *missed, struct tmx_table *points,
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
