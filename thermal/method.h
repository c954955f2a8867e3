/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_METHOD_H
#define TMX_THERMAL_METHOD_H

/* What a trace would cost on the full grid and on the reduced model, so that the cheaper one can
 * be taken: the one has little set-up and dear rows, the other dear set-up and rows for nothing. */

#include "thermal/thermal.h"

struct tmx_method_work {
    size_t n_row;       /* steps of spec->min_step_s */
    bool twice;         /* every row is stepped twice (leakage) */
    bool fields;        /* the field is read after every row */
    bool cache;         /* set-up may come from the cache */
    double tolerance_k; /* of the reduced model */
};

struct tmx_method_cost {
    double seconds, megabytes; /* one thread of a 3 GHz core; a guide, right within a factor of two */
};

struct tmx_method_estimate {
    struct tmx_method_cost grid, reduced;
    bool cached; /* the reduced model lies in the cache */
};

/* Costs of the transient alone. Errors: TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_method_estimate(const struct tmx_thermal_spec *spec,
                                                  const struct tmx_method_work *work,
                                                  struct tmx_method_estimate *e, struct tmx_err *err);

#endif
