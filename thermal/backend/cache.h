#ifndef TMX_THERMAL_BACKEND_CACHE_H
#define TMX_THERMAL_BACKEND_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/hash.h"

/* Set-up results on disk: one file per key in the user's cache folder ($XDG_CACHE_HOME/thermix
 * or ~/.cache/thermix). Files appear whole or not at all, so any number of programs may write
 * the same one; a file that is damaged, or of another key, counts as absent. */

struct tmx_piece {
    void *data;
    size_t size; /* bytes */
};

/* Read the file of key into the pieces, in order; false when there is none whose contents
 * have exactly these sizes and an intact checksum (the pieces are then unspecified). */
bool tmx_cache_read(const char key[TMX_HASH_HEX], const struct tmx_piece *piece, size_t n_piece);

/* First bytes of the contents, to find out the sizes; unchecked. False when absent. */
bool tmx_cache_peek(const char key[TMX_HASH_HEX], void *data, size_t size);

/* Write (or replace) the file of key. Failure is no error: the cache is a convenience. */
void tmx_cache_write(const char key[TMX_HASH_HEX], const struct tmx_piece *piece, size_t n_piece);

#endif
