/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_GOLDEN_H
#define TMX_MEASURE_VALIDATE_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

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

#endif
