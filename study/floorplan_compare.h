/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_FLOORPLAN_COMPARE_H
#define TMX_STUDY_FLOORPLAN_COMPARE_H

#include "study/table_out.h"

/* The same work on several floorplans: every mix of a suite (its `base` and `mixes`) under
 * one policy. */
struct tmx_floorplan_compare {
    const char *const *file; /* [n_file] .flp with the SMs of the suite's chip */
    size_t n_file;
    const char *suite, *policy;
    const char *out_dir; /* table.csv and units.csv (for heat maps) go here; NULL: only printed */
    unsigned n_worker;   /* 0: one a processor */
    enum tmx_format format;
};

/* Prints one row a floorplan: the hottest SM and largest difference over all mixes, the mean
 * slowdown and energy. */
TMX_NODISCARD enum tmx_status tmx_floorplan_compare(const struct tmx_floorplan_compare *c,
                                                    struct tmx_err *err);

#endif
