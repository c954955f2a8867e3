/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "core/workload/kernel.h"

void fuzz_reader(const char *path)
{
    struct tmx_kernel kernel;
    struct tmx_err err = {0};
    fuzz_check(tmx_kernel_load(&kernel, path, &err) == TMX_OK || err.msg[0]);
}
