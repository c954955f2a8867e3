/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_EXPLAIN_H
#define TMX_STUDY_EXPLAIN_H

/* Why a run was slow: where its busy time went, which SMs and which moments lost most, and what one step of a
 * few knobs would change. */

#include <stdio.h>

#include "core/base/table.h"

struct tmx_explain {
    const char *path;       /* of a run's configuration, or of resolved.cfg in a run's folder */
    const char *const *set; /* [n_set] overrides */
    size_t n_set;
    unsigned n_worker; /* of the runs with one knob turned; 0: one a processor */
    bool steps;        /* do these runs too */
};

/* Runs it (deterministic: the same as before), writes the words to out and the causes to *causes: cause, its
 * share of the busy time of all SMs, sm_s. Causes exclude one another and sum to the slowdown. The caller
 * destroys *causes. */
TMX_NODISCARD enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_table **causes,
                                          struct tmx_err *err);

#endif
