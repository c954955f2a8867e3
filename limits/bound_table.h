/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_BOUND_TABLE_H
#define TMX_LIMITS_BOUND_TABLE_H

/* The table behind `thermix bound`. */

#include "core/base/table.h"

struct tmx_bound_call {
    bool has_limit;
    double limit_c; /* of every SM, where has_limit; else where the hardware stops an SM */
    bool uniform, one_level;
    double sm_leak;         /* leakage of the SMs times this; 0: as it is */
    const char *const *set; /* [n_set] "base.key=value", after the suite's own */
    size_t n_set;
};

/* One row a variant and mix of a suite, or for one mix alone on the machine of suite tabs-h, and their
 * mean: mix, bound_pct (the least slowdown, certified), certificate (what the certified speed is above the
 * solver's own optimum), feasible_pct (a schedule of finely mixed shares that keeps the limit: the optimum
 * lies between the two), limit_c, steady_peak_c, level<n>_share. The caller destroys *t. */
TMX_NODISCARD enum tmx_status tmx_bound_table(struct tmx_table **t, const char *suite_or_mix,
                                              const struct tmx_bound_call *call, struct tmx_err *err);

#endif
