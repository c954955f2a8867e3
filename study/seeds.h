/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_SEEDS_H
#define TMX_STUDY_SEEDS_H

/* One configuration with several seeds: `thermix run --seeds N`. */

#include "core/base/config.h"
#include "core/base/table.h"

struct tmx_seeds {
    const char *path;            /* the configuration's file */
    const struct tmx_sets *sets; /* on it */
    long n;                      /* its seed, and n - 1 after it */
    const char *dir;             /* its runs.sqlite keeps the runs; NULL: nothing does */
    bool quiet;                  /* no progress on standard error */
    bool zeros;                  /* also the metrics that are 0 in every run */
};

/* A row a metric: metric, mean, sd (of the sample), ci95 (half the 95 % interval of the mean, by Student's
 * t), n, min and max. The caller destroys *t. */
TMX_NODISCARD enum tmx_status tmx_seeds_table(struct tmx_table **t, const struct tmx_seeds *s,
                                              struct tmx_err *err);

#endif
