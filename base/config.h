/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_CONFIG_H
#define TMX_BASE_CONFIG_H

#include <thermix/config.h>

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/setting.h"

/* Configuration files with overrides from the command line: what the inside needs beside the public
 * functions. The syntax is libconfig's, whose types stay in config.c; numbers are read at 64 bits however
 * they are written. */

/* Overrides, any number of any length, each of one key with its value; zero it first. Errors stay
 * (base/err.h). */
struct tmx_sets {
    struct tmx_set {
        const char *key;                 /* "a.b.c" */
        const struct tmx_setting *value; /* of any kind */
        const char *file; /* where it is given, for messages and relative paths; "--set KEY=VALUE" */
        unsigned line;
    } * set; /* [n] owned */
    size_t n;
    struct tmx_setting *values; /* owned: what set points at */
};

/* The next one from a text "key=value", given at a line of a file (NULL: on the command line). `below`, such
 * as "base.", is put before the text. */
void tmx_sets_add(struct tmx_sets *s, const char *below, const char *text, const char *file, unsigned line,
                  struct tmx_err *err);
/* The next one from a value. */
void tmx_sets_put(struct tmx_sets *s, const char *key, struct tmx_scalar v, const char *file, unsigned line,
                  struct tmx_err *err);
/* Each text of a list ["key=value", ...] of a configuration (NULL: none), of which none has another's key. */
void tmx_sets_add_list(struct tmx_sets *s, const char *below, const struct tmx_setting *list,
                       struct tmx_err *err);
/* Copies of others (NULL: none), whose keys lose `less` at their beginning. */
void tmx_sets_join(struct tmx_sets *s, const struct tmx_sets *others, const char *less, struct tmx_err *err);
/* TMX_ECONFIG where one of them (NULL: there is none) is of these keys or groups: "it: why". */
void tmx_sets_refuse(const struct tmx_sets *s, const char *words, const char *why, struct tmx_err *err);
void tmx_sets_finish(struct tmx_sets *s);

/* Replace these keys; an error leaves some of them replaced, and stays. */
void tmx_config_apply(struct tmx_config *c, const struct tmx_sets *s, struct tmx_err *err);
/* A configuration file with these overrides (NULL: none): the way to every one that is read. An error stays
 * and is returned; *c is NULL then. */
enum tmx_status tmx_config_load(struct tmx_config **c, const char *path, const struct tmx_sets *s,
                                struct tmx_err *err);

/* Write text in quotes, so that it reads back equal. */
void tmx_config_quote(const char *text, FILE *out);

/* A configuration that is made: as text and as the tree that reading the text would give, at the same time.
 * Begin it with the outputs alone, {.full = f}; end it with tmx_writer_finish. */
struct tmx_writer {
    FILE *full, *keys;         /* keys: without the paths of files; may be NULL */
    struct tmx_setting *root;  /* owned; made by the first value */
    struct tmx_setting *group; /* the open one; NULL: the root */
    bool failed;               /* out of memory */
};
/* A group, or a list. key NULL: an element of the open list. */
void tmx_writer_open(struct tmx_writer *w, const char *key, enum tmx_setting_kind kind);
void tmx_writer_close(struct tmx_writer *w);
/* path: of a file, whose content identifies it */
void tmx_writer_value(struct tmx_writer *w, const char *key, struct tmx_scalar v, bool path);
/* A line that readers skip. */
void tmx_writer_comment(struct tmx_writer *w, const char *fmt, ...) TMX_PRINTF(2, 3);
/* The tree for the caller, who may not want it (NULL). TMX_ENOMEM when something of it is missing. */
TMX_NODISCARD enum tmx_status tmx_writer_finish(struct tmx_writer *w, struct tmx_setting **tree,
                                                struct tmx_err *err);

const struct tmx_setting *tmx_config_root(const struct tmx_config *c);                   /* NULL: of NULL */
const struct tmx_setting *tmx_config_find(const struct tmx_config *c, const char *path); /* of its root */

#endif
