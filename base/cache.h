/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_CACHE_H
#define TMX_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/provenance.h"
#include "base/table.h"

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

/* The right to make what the file will hold, until fclose: others that ask for it wait, up to a minute, and
 * then find the file. NULL: others took longer, or the cache keeps nothing; what is absent is made anyway. */
FILE *tmx_cache_make(const struct tmx_cache_name *name);
/* Of this thread, say is called once such a wait has lasted a second, unless it is for a process forked from
 * this one. */
void tmx_cache_on_wait(void (*say)(double at_most_s));
/* Of this thread, say is called when what the cache would hold begins to be made, and when it is done. */
void tmx_cache_on_making(void (*say)(bool done));
void tmx_cache_making(bool done);

/* What the cache holds, and how much of it stays. All its files together, one that is being written
 * included, never take more than a bound; what was used longest ago goes first. */

/* The bound [bytes]: $THERMIX_CACHE_MIB, else 1 GiB; 0 keeps nothing. TMX_ECONFIG where the variable is no
 * whole number of 0..1048576; *limit is the default then. */
TMX_NODISCARD enum tmx_status tmx_cache_limit(uint64_t *limit, struct tmx_err *err);

struct tmx_cache_file {
    char name[80];
    char kind[16];   /* "thermal", ... */
    uint64_t size;   /* bytes on disk */
    double used_s;   /* since 1970: last written or read */
    bool unfinished; /* left by a writer that was killed; goes with the next write */
};

/* The cache's files by name, in the arena; others in its folder are not seen. folder NULL: the user's. */
TMX_NODISCARD enum tmx_status tmx_cache_files(const char *folder, struct tmx_arena *arena,
                                              struct tmx_cache_file **file, size_t *n, struct tmx_err *err);

/* Read a file whole: NULL when a reader would take it, else what is wrong with it. */
const char *tmx_cache_fault(const char *folder, const char *name);

struct tmx_cache_sum {
    size_t n, n_bad; /* files, and those that no reader would take */
    uint64_t size;   /* bytes of all */
};

/* A row a file: name, kind, MiB, when it was used last, and where it is checked, its state. The caller
 * destroys *t. */
TMX_NODISCARD enum tmx_status tmx_cache_table(const char *folder, bool check, struct tmx_table **t,
                                              struct tmx_cache_sum *sum, struct tmx_err *err);

/* Remove what was used longest ago until `limit` bytes are left, and unfinished files; *n_removed files went.
 * TMX_EIO where others keep the cache busy for seconds. */
TMX_NODISCARD enum tmx_status tmx_cache_clean(const char *folder, uint64_t limit, size_t *n_removed,
                                              struct tmx_err *err);

/* Can files be kept? A small one is written and removed. TMX_EIO or TMX_EFULL with the folder and the reason:
 * it cannot be made or written, is a link, or others may write it. TMX_OK, too, where the bound is 0.
 * Processes that are forked later wait for a locked cache together, once. */
TMX_NODISCARD enum tmx_status tmx_cache_usable(const char *folder, struct tmx_err *err);

/* The folder itself. */
TMX_NODISCARD enum tmx_status tmx_cache_folder(const char *folder, char *path, size_t size,
                                               struct tmx_err *err);

#endif
