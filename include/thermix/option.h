/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_OPTION_H
#define THERMIX_OPTION_H

#include <stdbool.h>
#include <stddef.h>

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
    bool is_file;               /* TEXT: names an input file; it must be there, and is noted as read */
    bool is_name;               /* TEXT: a name of shipped data, or a path to a file or folder */
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
#define TMX_ROW_NAME(s, field, def_text_, doc_)                                                        \
    {                                                                                                  \
        .key = #field, .type = TMX_OPT_TEXT, .offset = offsetof(struct s, field), .unit = "1",         \
        .max = sizeof(((struct s *)0)->field), .doc = (doc_), .def_text = (def_text_), .is_name = true \
    }
#define TMX_ROW_CHOICE(s, field, choices_, def_text_, doc_)                                      \
    {                                                                                            \
        .key = #field, .type = TMX_OPT_CHOICE, .offset = offsetof(struct s, field), .unit = "1", \
        .doc = (doc_), .def_text = (def_text_), .choices = (choices_)                            \
    }

#endif
