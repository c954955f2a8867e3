/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every file named on the command line through the reader; a plain program for a normal test. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

static const char *now = "";

_Noreturn void fuzz_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "%s: %s:%d: %s\n", now, file, line, cond);
    abort();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        now = argv[i];
        fuzz_reader(now);
    }
    printf("%d files\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
