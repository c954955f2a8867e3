/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_STORE_CACHE_H
#define TMX_CORE_STORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/hash.h"

/* Results of set-ups on disk: one file per kind and key in the user's cache folder
 * ($XDG_CACHE_HOME/thermix or ~/.cache/thermix). Files appear whole or not at all, so any number of
 * programs may write the same one. A file that is damaged, of another key or kind, a link, of another
 * owner or writable by others counts as absent; nothing is written through a link. */

struct tmx_cache_name {
    const char *folder; /* NULL: the user's */
    const char *kind;   /* end of the file's name: "thermal", "core", "gate" */
    const char *key;    /* TMX_HASH_HEX */
};

struct tmx_piece {
    void *data;
    size_t size; /* bytes */
};

/* Read a file into the pieces, in order; false when there is none whose contents
 * have exactly these sizes and an intact checksum (the pieces are then unspecified). */
bool tmx_cache_read(const struct tmx_cache_name *name, const struct tmx_piece *piece, size_t n_piece);

/* First bytes of the contents, to find out the sizes; unchecked. False when absent. */
bool tmx_cache_peek(const struct tmx_cache_name *name, void *data, size_t size);

/* Write (or replace) a file. Failure is no error: the cache is a convenience. */
void tmx_cache_write(const struct tmx_cache_name *name, const struct tmx_piece *piece, size_t n_piece);

#endif
