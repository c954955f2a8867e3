/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_WARNINGS_H
#define TMX_STUDY_WARNINGS_H

/* What many runs warn of: each warning once, with the names of the runs that it concerns. A run's warnings
 * are lines of its configuration as it is stored (TMX_RUN_WARNING), so that they are known wherever the run
 * is: while a study begins, in its database, and in a run's folder. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct tmx_warnings {
    struct tmx_warning *list; /* [n] owned */
    size_t n;
    bool more; /* there were others than there is room for */
};

/* Who the runs are: values of the keys of each. */
struct tmx_warned {
    const void *ctx;
    size_t n_run, n_key;
    const char *const *key; /* [n_key] */
    const char *(*value)(const void *ctx, size_t run, size_t key, char *buf, size_t size);
};

/* The warnings among the lines of a configuration. */
TMX_NODISCARD enum tmx_status tmx_warnings_add(struct tmx_warnings *w, size_t run, const char *config,
                                               struct tmx_err *err);
/* A warning (base/plausible.h) for each that has not been one yet. Warnings that differ by their numbers
 * alone are one. */
void tmx_warnings_listen(struct tmx_warnings *w, const struct tmx_warned *who);
/* The first warning of a run with these words in it; NULL when there is none. */
const char *tmx_warnings_of(const struct tmx_warnings *w, size_t run, const char *words);
void tmx_warnings_finish(struct tmx_warnings *w); /* accepts zeroed memory */

/* "mix M1, policy BL": a run by its keys. Returns buf. */
const char *tmx_warned_name(const struct tmx_warned *who, size_t run, char *buf, size_t size);

#endif
