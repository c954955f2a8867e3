/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_OPT_H
#define TMX_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <thermix/option.h>
#include <thermix/policy.h>

#include "base/err.h"
#include "base/setting.h"

struct tmx_writer; /* base/config.h */
struct tmx_sets;
struct tmx_config;

/* Read every row of opts ({0}-terminated) from group (NULL: all defaults) into obj;
 * absent keys take their default. Rejects what is no group, unknown keys (naming the
 * nearest known one), wrong types, non-finite and out-of-range values. Keys listed in also
 * (NULL-terminated, may be NULL) are left to the caller. A path (rows of files and names) is relative to the
 * file that contains it, else to the current folder; obj gets it as it leads there from the current folder.
 * On failure obj is unspecified and *err names file, line, and key. Errors stay (base/err.h): nothing is read
 * where *err (may be NULL) has one. Returns its code. */
enum tmx_status tmx_opt_read(const struct tmx_opt *opts, void *obj, const struct tmx_setting *group,
                             const char *const *also, struct tmx_err *err);
/* The same from the group `key` of parent; a required key of an absent group is missing at parent. */
enum tmx_status tmx_opt_read_group(const struct tmx_opt *opts, void *obj, const struct tmx_setting *parent,
                                   const char *key, const char *const *also, struct tmx_err *err);

/* What a file or a group may have: rows, and groups and lists inside. An array of them ends with {0}.
 * `thermix list keys` prints them. */
struct tmx_keys {
    const char *group; /* its name; "" of a file; a path, "cards.points", of what other readers do by hand */
    const struct tmx_opt *opts;   /* NULL: another reader's, left alone */
    const struct tmx_keys *inner; /* NULL: none */
    size_t offset;      /* of its object; of a list: of the array, or with `owned` of a pointer to one */
    size_t size, count; /* of a list: of an element; offset of the size_t that gets the length. 0: a group */
    size_t least, most; /* elements */
    bool owned;         /* the array is allocated here, with one element of zeros behind the last, and the
                           caller frees it, also after failure */
    bool optional;      /* an absent list is well, whatever `least` is */
    const char *rises;  /* key of numbers that rise from element to element */
    const char *name;   /* key of a text that is in one element only */
};
/* Of a group of rows; of a member; of a list, with further members behind it. */
#define TMX_KEYS(key, opts_)            \
    {                                   \
        .group = (key), .opts = (opts_) \
    }
#define TMX_KEYS_GROUP(s, field, opts_)                                       \
    {                                                                         \
        .group = #field, .opts = (opts_), .offset = offsetof(struct s, field) \
    }
#define TMX_KEYS_LIST(s, key, field, n_field, opts_, least_, most_)                                     \
    .group = (key), .opts = (opts_), .offset = offsetof(struct s, field),                               \
    .size = sizeof(((struct s *)0)->field[0]), .count = offsetof(struct s, n_field), .least = (least_), \
    .most = (most_)

/* Rows as tmx_opt_read does, and what is inside, with the length and order of lists checked. */
enum tmx_status tmx_keys_read(const struct tmx_keys *keys, void *obj, const struct tmx_setting *group,
                              struct tmx_err *err);
/* A file with these overrides (NULL: none). *keep gets the configuration, for what other readers read; keep
 * may be NULL. */
enum tmx_status tmx_keys_load(const struct tmx_keys *file, void *obj, const char *path,
                              const struct tmx_sets *sets, struct tmx_config **keep, struct tmx_err *err);

/* Set the field of one row from a word, as it stands on a command line or in a
 * `-name value` file: numbers are decimal, BOOL takes 0, 1, true, false, on, off, CHOICE
 * ignores case. file and line (may be NULL, 0) go into the message. TMX_OK or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_opt_set(const struct tmx_opt *o, void *obj, const char *word,
                                          const char *file, unsigned line, struct tmx_err *err);

/* The same from a value; a number is stored as it is. */
TMX_NODISCARD enum tmx_status tmx_opt_put(const struct tmx_opt *o, void *obj, struct tmx_scalar v,
                                          const char *file, unsigned line, struct tmx_err *err);

bool tmx_opt_has_default(const struct tmx_opt *o);
struct tmx_csv;
/* A table's line as an object: a cell a row of opts, in the column of its key. An absent column or an empty
 * cell is the row's default; a row without one has a cell. TMX_EPARSE with the line. */
TMX_NODISCARD enum tmx_status tmx_opt_cells(const struct tmx_opt *opts, void *obj, const struct tmx_csv *csv,
                                            size_t row, struct tmx_err *err);
/* The columns that a table needs for that are there; a warning about those that are no row's. */
TMX_NODISCARD enum tmx_status tmx_opt_columns(const struct tmx_opt *opts, const struct tmx_csv *csv,
                                              struct tmx_err *err);
/* What the object has for a row. */
struct tmx_scalar tmx_opt_value(const struct tmx_opt *o, const void *obj);
/* Do two objects have the same for a row? */
bool tmx_opt_same(const struct tmx_opt *o, const void *a, const void *b);
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

/* Print one line of help per row: key, unit, bounds, default, doc. */
void tmx_opt_help(const struct tmx_opt *opts, const char *indent, FILE *out);

/* Allocate a zeroed state and read its options from group (NULL: all defaults).
 * Keys in also are left to the caller. The caller frees *state with free().
 * Returns TMX_OK, TMX_ENOMEM or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                               const char *const *also, void **state, struct tmx_err *err);

#endif
