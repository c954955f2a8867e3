/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_EXPLAIN_H
#define TMX_STUDY_EXPLAIN_H

/* Why a run was slow: where its busy time went, which SMs and which moments lost most, and what one step of a
 * few knobs would change. */

#include <stdbool.h>
#include <stdio.h>

#include "base/table.h"

struct tmx_explain {
    const char *path;
    const char *first; /* lines printed before the others; NULL: none */ /* of a run's configuration, or of
                                                                            resolved.cfg in a run's folder */
    const char *folder;  /* this run's; NULL: none. It must be of the run that path is now, */
    bool accept_changed; /* unless this: then a note goes to stderr */
    const struct tmx_sets *sets;
    unsigned n_worker; /* of the runs with one knob turned; 0: one a processor */
    bool steps;        /* do these runs, too */
    bool
        brief; /* of the words those alone that no table, trace or other result of the run has: a line each */
    bool zeros; /* causes that took nothing are rows, too */
};

struct tmx_explained { /* tables of core/sim/losses.h; of a language model causes alone, run/summary.h's of
                          limits */
    struct tmx_table *causes, *over_time, *by_sm;
    struct tmx_table *steps; /* step, set, slowdown_pct: what helps most first; NULL: none was tried */
    double trip_c;           /* of the throttle; NAN: it has none */
};

/* Runs it (deterministic: the same as before), writes the words to out and fills *e, which the caller ends
 * with tmx_explained_finish, also after failure. Causes exclude one another and sum to the slowdown. */
TMX_NODISCARD enum tmx_status tmx_explain(const struct tmx_explain *x, FILE *out, struct tmx_explained *e,
                                          struct tmx_err *err);
void tmx_explained_finish(struct tmx_explained *e);

#endif
