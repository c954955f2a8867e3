/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_OPT_H
#define TMX_CORE_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <thermix/option.h>
#include <thermix/policy.h>

#include "core/base/err.h"
#include "core/base/setting.h"

struct tmx_writer; /* core/base/config.h */

/* Read every row of opts ({0}-terminated) from group (NULL: all defaults) into obj;
 * absent keys take their default. Rejects what is no group, unknown keys (naming the
 * nearest known one), wrong types, non-finite and out-of-range values. Keys listed in also
 * (NULL-terminated, may be NULL) are left to the caller. A path (rows of files and names) is relative to the
 * file that contains it, else to the current folder; obj gets it as it leads there from the current folder.
 * On failure obj is unspecified and *err names file, line, and key. Returns TMX_OK or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_opt_read(const struct tmx_opt *opts, void *obj,
                                           const struct tmx_setting *group, const char *const *also,
                                           struct tmx_err *err);
/* The same from the group `key` of parent; a required key of an absent group is missing at parent. */
TMX_NODISCARD enum tmx_status tmx_opt_read_group(const struct tmx_opt *opts, void *obj,
                                                 const struct tmx_setting *parent, const char *key,
                                                 const char *const *also, struct tmx_err *err);

/* Set the field of one row from a word, as it stands on a command line or in a
 * `-name value` file: numbers are decimal, BOOL takes 0, 1, true, false, on, off, CHOICE
 * ignores case. file and line (may be NULL, 0) go into the message. TMX_OK or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_opt_set(const struct tmx_opt *o, void *obj, const char *word,
                                          const char *file, unsigned line, struct tmx_err *err);

/* The same from a value; a number is stored as it is. */
TMX_NODISCARD enum tmx_status tmx_opt_put(const struct tmx_opt *o, void *obj, struct tmx_scalar v,
                                          const char *file, unsigned line, struct tmx_err *err);

/* Write obj as rows that tmx_opt_read reads back equal from any folder: paths are absolute. */
void tmx_opt_write(const struct tmx_opt *opts, const void *obj, struct tmx_writer *w);
/* Has every row its default? A row without one has not. */
bool tmx_opt_is_default(const struct tmx_opt *opts, const void *obj);
/* The first of these keys, words, that the group (may be NULL) gives with another value than its default, as
 * obj has it; NULL: none. For keys without an effect: one with its default has none, either, as in a resolved
 * configuration, which has every key. */
const struct tmx_setting *tmx_opt_given(const struct tmx_opt *opts, const void *obj, const char *keys,
                                        const struct tmx_setting *group);
/* The same as tmx_opt_write, as a group. */
void tmx_opt_write_group(const struct tmx_opt *opts, const void *obj, const char *key, struct tmx_writer *w);

/* The rows of one kind of file, for `thermix list keys`: by group as a path, "cards.points"; {0}-terminated.
 */
struct tmx_keys {
    const char *group;
    const struct tmx_opt *opts;
};

/* Print one line of help per row: key, unit, bounds, default, doc. */
void tmx_opt_help(const struct tmx_opt *opts, const char *indent, FILE *out);

/* Allocate a zeroed state and read its options from group (NULL: all defaults).
 * Keys in also are left to the caller. The caller frees *state with free().
 * Returns TMX_OK, TMX_ENOMEM or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                               const char *const *also, void **state, struct tmx_err *err);

#endif
