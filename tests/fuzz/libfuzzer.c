/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn void fuzz_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, cond);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/thermix-fuzz-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f) {
        return 0;
    }
    fwrite(data, 1, size, f);
    fclose(f);
    fuzz_reader(path);
    remove(path);
    return 0;
}
