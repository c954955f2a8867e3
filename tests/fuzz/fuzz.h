/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_FUZZ_H
#define TMX_TESTS_FUZZ_H

/* One reader each: read the file at path, whatever it holds, and check what must hold of an
 * accepted one. libfuzzer.c feeds it mutated files, replay.c the stored corpus. */
void fuzz_reader(const char *path);

/* Like assert, in every build type. */
#define fuzz_check(cond) ((cond) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #cond))
_Noreturn void fuzz_failed(const char *file, int line, const char *cond);

#endif
