/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "core/micro/code.h"

enum { MAX_TEXT = 1 << 16 };

/* A program of group `code`, as the whole file. */
void fuzz_reader(const char *path)
{
    static char text[MAX_TEXT];
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    FILE *f = fopen(path, "rb");
    fuzz_check(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    if (tmx_code_append(&s, text, &err) == TMX_OK) {
        fuzz_check(s.n_program == 1 && s.n_instr > 0 && s.program[0].count == s.n_instr);
        for (size_t i = 0; i < s.n_instr; i++) {
            fuzz_check(s.instr[i].dest < s.n_register && s.instr[i].source[0] < s.n_register);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_stream_finish(&s);
}
