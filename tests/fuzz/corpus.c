/* SPDX-License-Identifier: GPL-3.0-or-later */
/* READER FILE...: each file through the reader; a plain program for a normal test. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static const char *now = "";
static char beside[64];

_Noreturn void fuzz_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "%s: %s:%d: %s\n", now, file, line, cond);
    abort();
}

const char *fuzz_file(const char *data, size_t size)
{
    snprintf(beside, sizeof beside, "/tmp/thermix-replay-%ld", (long)getpid());
    FILE *f = fopen(beside, "wb");
    fuzz_check(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    return beside;
}

#define X(name) {#name, fuzz_##name},
static const struct {
    const char *name;
    void (*read)(const char *path);
} readers[] = {FUZZ_READERS};

int main(int argc, char **argv)
{
    for (size_t k = 0; argc > 2 && k < sizeof readers / sizeof readers[0]; k++) {
        if (strcmp(argv[1], readers[k].name) == 0) {
            for (int i = 2; i < argc; i++) {
                now = argv[i];
                readers[k].read(now);
            }
            if (beside[0]) {
                remove(beside);
            }
            printf("%d files\n", argc - 2);
            return 0;
        }
    }
    return 1;
}
