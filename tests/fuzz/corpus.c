/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every file named on the command line through the reader; a plain program for a normal test. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
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

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        now = argv[i];
        fuzz_reader(now);
    }
    if (beside[0]) {
        remove(beside);
    }
    printf("%d files\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
