/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_STORE_CACHE_EVICT_H
#define TMX_CORE_STORE_CACHE_EVICT_H

/* What the cache holds, and how much of it stays. All its files together, one that is being written
 * included, never take more than a bound; what was used longest ago goes first. */

#include <stdint.h>
#include <stdio.h>

#include "core/base/table.h"
#include "core/store/cache.h"

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

/* The cache's files by name; others in its folder are not seen. folder NULL: the user's. free(*file). */
TMX_NODISCARD enum tmx_status tmx_cache_files(const char *folder, struct tmx_cache_file **file, size_t *n,
                                              struct tmx_err *err);

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

/* The right to write a file of `size` bytes under this name, until fclose: everybody else's writes wait, and
 * room has been made. NULL: it does not fit, or others are busy; then it is not kept. */
FILE *tmx_cache_claim(const char *folder, const char *name, uint64_t size);

/* Can files be kept? A small one is written and removed. TMX_EIO or TMX_EFULL with the folder and the reason:
 * it cannot be made or written, is a link, or others may write it. TMX_OK, too, where the bound is 0. */
TMX_NODISCARD enum tmx_status tmx_cache_usable(const char *folder, struct tmx_err *err);

/* The folder itself. */
TMX_NODISCARD enum tmx_status tmx_cache_folder(const char *folder, char *path, size_t size,
                                               struct tmx_err *err);

#endif
