/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tests of a folder: FILE [ARGUMENT...] runs one file's, no argument all. */
#include <stdio.h>
#include <string.h>

#define X(name) int test_##name(int argc, char **argv);
TMX_FILES
#undef X
#define X(name) {#name, test_##name},
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} files[] = {TMX_FILES};

int main(int argc, char **argv)
{
    int failed = 0;
    size_t n = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (argc < 2 || strcmp(argv[1], files[i].name) == 0) {
            failed += files[i].run(argc < 2 ? 1 : argc - 1, argc < 2 ? argv : argv + 1);
            n++;
        }
    }
    if (n == 0) {
        fprintf(stderr, "%s: no file test_%s.c\n", argv[0], argv[1]);
    }
    return n == 0 || failed > 0;
}
