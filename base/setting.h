/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_SETTING_H
#define TMX_BASE_SETTING_H

/* The settings of a configuration file as a tree. Every node knows where it was written. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum tmx_setting_kind {
    TMX_SETTING_GROUP,   /* { key = value; ... } */
    TMX_SETTING_LIST,    /* ( ... ), of any kinds */
    TMX_SETTING_ARRAY,   /* [ ... ], of one kind of scalar */
    TMX_SETTING_INTEGER, /* 64 bits */
    TMX_SETTING_REAL,    /* finite */
    TMX_SETTING_BOOL,
    TMX_SETTING_TEXT,
};

/* A value of one of the last four kinds. */
struct tmx_scalar {
    enum tmx_setting_kind kind;
    union {
        int64_t integer; /* INTEGER, and BOOL as 0 or 1 */
        double real;
        const char *text;
    };
};
#define TMX_INTEGER_VALUE(v) ((struct tmx_scalar){TMX_SETTING_INTEGER, {.integer = (v)}})
#define TMX_REAL_VALUE(v)    ((struct tmx_scalar){TMX_SETTING_REAL, {.real = (v)}})
#define TMX_TEXT_VALUE(v)    ((struct tmx_scalar){TMX_SETTING_TEXT, {.text = (v)}})

/* As a configuration file has it, with all digits of a number and quotes around a text; false when buf is too
 * small, which then has the beginning. */
bool tmx_scalar_print(struct tmx_scalar v, char *buf, size_t size);
/* The same without quotes; a text is returned as it is, in place of buf. */
const char *tmx_scalar_plain(struct tmx_scalar v, char buf[32]);
bool tmx_scalar_real(struct tmx_scalar v, double *real); /* false when it is no number */

struct tmx_setting;

/* A NULL node is one that is absent: it has no elements, no members and no place. */
enum tmx_setting_kind tmx_setting_kind(const struct tmx_setting *n); /* of a node that is there */
bool tmx_setting_is(const struct tmx_setting *n, enum tmx_setting_kind kind);
bool tmx_setting_is_list(const struct tmx_setting *n);                     /* a list or an array */
const struct tmx_setting *tmx_setting_parent(const struct tmx_setting *n); /* NULL: of the root */
const char *tmx_setting_name(const struct tmx_setting *n); /* "" for the root and for elements of a list */
const char *tmx_setting_file(const struct tmx_setting *n);
unsigned tmx_setting_line(const struct tmx_setting *n);
size_t tmx_setting_length(const struct tmx_setting *n); /* members or elements; 0 for a scalar */
const struct tmx_setting *tmx_setting_at(const struct tmx_setting *n, size_t i); /* NULL beyond the end */
const struct tmx_setting *tmx_setting_member(const struct tmx_setting *group,
                                             const char *key); /* NULL: absent */
const struct tmx_setting *tmx_setting_find(const struct tmx_setting *group,
                                           const char *path); /* "a.b.c"; NULL: absent */
/* The same as far as it is there, for messages about what may be absent: a.b, a, or the group itself. */
const struct tmx_setting *tmx_setting_nearest(const struct tmx_setting *group, const char *path);
const char *tmx_setting_text(const struct tmx_setting *n);         /* NULL when it is no text */
bool tmx_setting_real(const struct tmx_setting *n, double *v);     /* false when it is no number */
int64_t tmx_setting_integer(const struct tmx_setting *n);          /* of an INTEGER */
bool tmx_setting_bool(const struct tmx_setting *n);                /* of a BOOL */
struct tmx_scalar tmx_setting_scalar(const struct tmx_setting *n); /* of a node that is there and a scalar */

/* The kinds that a reader wants, checked with words and place in this one file; errors stay (base/err.h). */

/* A group; NULL when the key is absent, and after an error, as below. */
const struct tmx_setting *tmx_setting_group(const struct tmx_setting *parent, const char *key,
                                            struct tmx_err *err);
/* A list or an array of least to most elements; NULL when the key is absent and least is 0. */
const struct tmx_setting *tmx_setting_list(const struct tmx_setting *parent, const char *key, size_t least,
                                           size_t most, struct tmx_err *err);
/* The same of texts: tmx_setting_text of each element is not NULL. */
const struct tmx_setting *tmx_setting_texts(const struct tmx_setting *parent, const char *key, size_t least,
                                            size_t most, struct tmx_err *err);
/* A text, or fallback when the key is absent and after an error. */
const char *tmx_setting_word(const struct tmx_setting *parent, const char *key, const char *fallback,
                             struct tmx_err *err);
/* A setting that is present must be of this kind; LIST allows an array too. */
void tmx_setting_check(const struct tmx_setting *n, enum tmx_setting_kind kind, struct tmx_err *err);

/* The elements of a list are texts, or groups with a text `key`: no name is empty, none is given twice.
 * list may be NULL; an element without a name is left to its reader. */
void tmx_setting_unique(const struct tmx_setting *list, const char *key, struct tmx_err *err);

/* Fail at the place of a node. */
#define tmx_fail_setting(err, n, ...) \
    tmx_fail_at((err), TMX_ECONFIG, tmx_setting_file(n), tmx_setting_line(n), __VA_ARGS__)

/* The same for errors that stay (base/err.h). */
#define tmx_error_setting(err, n, ...) \
    tmx_error_at((err), TMX_ECONFIG, tmx_setting_file(n), tmx_setting_line(n), __VA_ARGS__)

/* A failure without a line of its own is one of this node (tmx_fail_from). Returns st. */
enum tmx_status tmx_setting_locate(const struct tmx_setting *n, enum tmx_status st, struct tmx_err *err);

/* Making of trees, for config.c; a tree is one arena. file is kept, not copied. NULL and false: out of
 * memory. */
struct tmx_setting *tmx_setting_add(struct tmx_setting *parent, const char *name, enum tmx_setting_kind kind,
                                    const char *file, unsigned line); /* parent NULL: a root */
const char *tmx_setting_keep(struct tmx_setting *n,
                             const char *text); /* a copy that lives as long as the tree */
void tmx_setting_place(struct tmx_setting *n, const char *file, unsigned line); /* of the node alone */
bool tmx_setting_set(struct tmx_setting *n, struct tmx_scalar v);  /* a text is copied; v is of n's kind */
struct tmx_setting *tmx_setting_parent_mut(struct tmx_setting *n); /* NULL: of the root */
struct tmx_setting *tmx_setting_member_mut(struct tmx_setting *group, const char *key);
/* A copy of a setting of any tree below parent, all of it from this place. */
struct tmx_setting *tmx_setting_copy(struct tmx_setting *parent, const char *name,
                                     const struct tmx_setting *from, const char *file, unsigned line);
/* The same, over the member `name` that may be there. */
bool tmx_setting_override(struct tmx_setting *group, const char *name, const struct tmx_setting *from,
                          const char *file, unsigned line);
void tmx_setting_destroy(struct tmx_setting *root); /* accepts NULL */

#endif
