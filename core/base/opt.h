#ifndef TMX_CORE_BASE_OPT_H
#define TMX_CORE_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"
#include "core/base/setting.h"

/* Declarative configuration: one row per key, read straight into a struct. */

enum tmx_opt_type {
    TMX_OPT_INT,    /* int */
    TMX_OPT_REAL,   /* double; a whole number in the file is accepted */
    TMX_OPT_BOOL,   /* bool */
    TMX_OPT_TEXT,   /* char[max]: max is the array's size */
    TMX_OPT_CHOICE, /* int: index of the word in choices */
};

struct tmx_opt {
    const char *key;
    enum tmx_opt_type type;
    size_t offset;        /* of the field in the owner's struct */
    const char *unit;     /* "K", "W", "s"; "1" for a pure number, text, bool */
    double min, max, def; /* inclusive bounds; def is NAN when the key is required */
    const char *doc;
    const char *def_text;       /* TEXT, CHOICE: default, NULL when the key is required */
    const char *const *choices; /* CHOICE: NULL-terminated words */
    bool is_file;               /* TEXT: names an input file; it must be there, and is noted (inputs.h) */
};

/* Shorthands, so a table reads as one row per key. */
#define TMX_ROW_REAL(s, field, unit_, min_, max_, def_, doc_)                                      \
    {                                                                                              \
        .key = #field, .type = TMX_OPT_REAL, .offset = offsetof(struct s, field), .unit = (unit_), \
        .min = (min_), .max = (max_), .def = (def_), .doc = (doc_)                                 \
    }
#define TMX_ROW_INT(s, field, unit_, min_, max_, def_, doc_)                                      \
    {                                                                                             \
        .key = #field, .type = TMX_OPT_INT, .offset = offsetof(struct s, field), .unit = (unit_), \
        .min = (min_), .max = (max_), .def = (def_), .doc = (doc_)                                \
    }
#define TMX_ROW_BOOL(s, field, def_, doc_)                                                               \
    {                                                                                                    \
        .key = #field, .type = TMX_OPT_BOOL, .offset = offsetof(struct s, field), .unit = "1", .min = 0, \
        .max = 1, .def = (def_), .doc = (doc_)                                                           \
    }
#define TMX_ROW_TEXT(s, field, def_text_, doc_)                                                \
    {                                                                                          \
        .key = #field, .type = TMX_OPT_TEXT, .offset = offsetof(struct s, field), .unit = "1", \
        .max = sizeof(((struct s *)0)->field), .doc = (doc_), .def_text = (def_text_)          \
    }
#define TMX_ROW_FILE(s, field, def_text_, doc_)                                                        \
    {                                                                                                  \
        .key = #field, .type = TMX_OPT_TEXT, .offset = offsetof(struct s, field), .unit = "1",         \
        .max = sizeof(((struct s *)0)->field), .doc = (doc_), .def_text = (def_text_), .is_file = true \
    }
#define TMX_ROW_CHOICE(s, field, choices_, def_text_, doc_)                                      \
    {                                                                                            \
        .key = #field, .type = TMX_OPT_CHOICE, .offset = offsetof(struct s, field), .unit = "1", \
        .doc = (doc_), .def_text = (def_text_), .choices = (choices_)                            \
    }

/* Read every row of opts ({0}-terminated) from group (NULL: all defaults) into obj;
 * absent keys take their default. Rejects what is no group, unknown keys (naming the
 * nearest known one), wrong types, non-finite and out-of-range values. Keys listed in also
 * (NULL-terminated, may be NULL) are left to the caller. On failure obj is
 * unspecified and *err names file, line, and key. Returns TMX_OK or TMX_ECONFIG. */
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

/* Write obj as `key = value;` lines that tmx_opt_read reads back equal. */
void tmx_opt_write(const struct tmx_opt *opts, const void *obj, const char *indent, FILE *out);

/* Print one line of help per row: key, unit, bounds, default, doc. */
void tmx_opt_help(const struct tmx_opt *opts, const char *indent, FILE *out);

#endif
