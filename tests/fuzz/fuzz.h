/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_FUZZ_H
#define TMX_TESTS_FUZZ_H

/* Readers, fuzz_csv and the like, which FUZZ_READERS lists as X(csv) ...: each reads the file at path,
 * whatever it holds, and checks what must hold of an accepted one. libfuzzer.c feeds one of them mutated
 * files, which are in memory only, corpus.c each its stored corpus. */

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define X(name) void fuzz_##name(const char *path);
FUZZ_READERS
#undef X

/* A text as a file: its path, until the next call. */
const char *fuzz_file(const char *data, size_t size);

/* Like assert, in every build type. */
#define fuzz_check(cond) ((cond) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #cond))
_Noreturn void fuzz_failed(const char *file, int line, const char *cond);

/* Has a reader accepted what it was given? What it refuses, it says why. */
static inline bool fuzz_reads(enum tmx_status st, const struct tmx_err *err)
{
    fuzz_check(st == TMX_OK || err->msg[0]);
    return st == TMX_OK;
}

/* Only under libFuzzer: the bytes behind a path that is one of the above; NULL for a file on disk. */
const char *fuzz_bytes(const char *path, size_t *size);

#endif
