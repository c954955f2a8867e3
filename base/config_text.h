/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_CONFIG_TEXT_H
#define TMX_BASE_CONFIG_TEXT_H

/* The text of a configuration before it is parsed: @include expanded, comments blanked, every literal
 * checked.
 *
 * libconfig 1.5 keeps the low 32 bits of an integer without L, reads 1e999 as infinity, takes time
 * quadratic in the length of a text and of a group, and recurses as deep as a file nests. So integers get
 * their L here, and what it would read wrongly or endlessly is refused with its line. */

#include <stddef.h>

#include "base/err.h"
#include "base/setting.h"

enum {
    TMX_CONFIG_DEPTH = 32,      /* nesting of { ( [ */
    TMX_CONFIG_INCLUDE = 10,    /* nesting of @include */
    TMX_CONFIG_KEYS = 4096,     /* of one group */
    TMX_CONFIG_NAME = 255,      /* bytes of a key */
    TMX_CONFIG_TEXT = 65535,    /* bytes of a text */
    TMX_CONFIG_SIZE = 16 << 20, /* bytes in all */
};

struct tmx_config_text {
    char *data; /* owned, NUL-terminated */
    struct tmx_config_place {
        const char *file;
        unsigned line;
    } * place; /* [n_line] owned: where each line of data was written */
    size_t n_line;
    /* while it is read: */
    struct tmx_setting *names; /* the tree that keeps the names of files */
    FILE *text, *lines;        /* into data and place */
    size_t size;
    struct tmx_err *err;
    enum tmx_status st;              /* the first error */
    char open[TMX_CONFIG_DEPTH + 1]; /* brackets that are open, over all files */
    int keys[TMX_CONFIG_DEPTH + 1];  /* "=" seen in each */
    int depth;
};

/* path NULL: from text, called name. End *t with tmx_config_text_finish, also after failure. */
TMX_NODISCARD enum tmx_status tmx_config_text_read(struct tmx_config_text *t, struct tmx_setting *names,
                                                   const char *path, const char *text, const char *name,
                                                   struct tmx_err *err);
void tmx_config_text_finish(struct tmx_config_text *t);

/* Where line (1-based) of data was written. */
struct tmx_config_place tmx_config_text_place(const struct tmx_config_text *t, unsigned line);

#endif
