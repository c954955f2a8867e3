/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_FUZZ_H
#define TMX_TESTS_FUZZ_H

/* One reader each: read the file at path, whatever it holds, and check what must hold of an
 * accepted one. libfuzzer.c feeds it mutated files, which are in memory only, corpus.c the stored corpus. */

#include <stddef.h>

#include "base/text.h"

void fuzz_reader(const char *path);

/* A text as a file: its path, until the next call. */
const char *fuzz_file(const char *data, size_t size);

/* Like assert, in every build type. */
#define fuzz_check(cond) ((cond) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #cond))
_Noreturn void fuzz_failed(const char *file, int line, const char *cond);

/* Only under libFuzzer: the bytes behind a path that is one of the above; NULL for a file on disk. */
const char *fuzz_bytes(const char *path, size_t *size);

#endif
