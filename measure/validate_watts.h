/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_WATTS_H
#define TMX_MEASURE_VALIDATE_WATTS_H

#include "core/base/err.h"

#include <stddef.h>

struct tmx_watts_check {
    size_t n_kernel;
    double off_w;    /* our chip watts less AccelWattch's sum, the worst kernel */
    double mape_pct; /* our watts against the board's, mean */
};

/* Run the power model of chip v100 with each of AccelWattch's kernels. */
TMX_NODISCARD enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err);

#endif
