/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "kernels/memory.h"
#include "run/load/gate_files.h"
#include "tests/fuzz/fuzz.h"

/* What a kernel's file says for an SM's and a chip's cycles: groups instructions, code and memory. */
void fuzz_reader(const char *path)
{
    static const struct tmx_memory_chip chip = {.profile = "any"};
    static struct tmx_memory_program program;
    struct tmx_gate_kernel kernel;
    struct tmx_gate_code code[TMX_GATE_CODES];
    size_t n = 0;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    fuzz_check(tmx_gate_kernel_load(&kernel, path, &err) == TMX_OK || err.msg[0]);
    fuzz_check(tmx_gate_code_load(path, code, &n, &err) == TMX_OK || err.msg[0]);
    while (n > 0) {
        tmx_gate_code_finish(&code[--n]);
    }
    if (tmx_memory_program_load(&program, path, &chip, &err) == TMX_OK) {
        fuzz_check(program.n > 0 && program.n <= TMX_MAX_LAUNCH);
    } else {
        fuzz_check(err.msg[0]);
    }
}
