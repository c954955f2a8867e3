/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_CONFIG_H
#define TMX_CORE_BASE_CONFIG_H

#include <thermix/config.h>

#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"
#include "core/base/setting.h"

/* Configuration files with overrides from the command line: what the inside needs beside the public
 * functions. The syntax is libconfig's, whose types stay in config.c; numbers are read at 64 bits however
 * they are written. */

/* tmx_config_open, then sets[0..n_set) as tmx_config_set does. */
TMX_NODISCARD enum tmx_status tmx_config_load(struct tmx_config **c, const char *path,
                                              const char *const *sets, size_t n_set, struct tmx_err *err);
/* tmx_config_set of an assignment at file:line; its messages and paths refer to that place. */
TMX_NODISCARD enum tmx_status tmx_config_assign(struct tmx_config *c, const char *assignment,
                                                const char *file, unsigned line, struct tmx_err *err);
struct tmx_sets { /* overrides "key=value", any number of any length; zero it first */
    struct tmx_set {
        char *text;       /* owned */
        const char *file; /* where it is written; NULL: on the command line */
        unsigned line;
    } * set; /* [n] owned */
    size_t n;
};
/* printf into the next one, which is written at a line of a file (paths in it are relative to that file,
 * whose name is borrowed); file NULL: on the command line. */
TMX_NODISCARD enum tmx_status tmx_sets_add(struct tmx_sets *s, const char *file, unsigned line,
                                           struct tmx_err *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Each text of a list ["key=value", ...] of a configuration (NULL: none), with prefix before it. */
TMX_NODISCARD enum tmx_status tmx_sets_add_list(struct tmx_sets *s, const struct tmx_setting *list,
                                                const char *prefix, struct tmx_err *err);
/* A configuration file with these overrides. */
TMX_NODISCARD enum tmx_status tmx_sets_load(struct tmx_config **c, const char *path, const struct tmx_sets *s,
                                            struct tmx_err *err);
void tmx_sets_finish(struct tmx_sets *s);

/* Write text in quotes, so that it reads back equal. */
void tmx_config_quote(const char *text, FILE *out);

const struct tmx_setting *tmx_config_root(const struct tmx_config *c);
const struct tmx_setting *tmx_config_find(const struct tmx_config *c,
                                          const char *path); /* "a.b.c"; NULL: absent */

#endif
