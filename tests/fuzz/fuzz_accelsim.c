/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "kernels/stream.h"

void fuzz_reader(const char *path)
{
    struct tmx_err err = {0};
    FILE *out = fopen("/dev/null", "wb");
    fuzz_check(out);
    fuzz_check(tmx_trace_from_accelsim(path, 48, out, &err) == TMX_OK || err.msg[0]);
    fclose(out);
}
