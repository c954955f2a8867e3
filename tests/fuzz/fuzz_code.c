/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "kernels/stream.h"

/* A program of group `code`, as the whole file. */
void fuzz_reader(const char *path)
{
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    if (tmx_code_append(&s, t.data, &err) == TMX_OK) {
        fuzz_check(s.n_program == 1 && s.n_instr > 0 && s.program[0].count == s.n_instr);
        for (size_t i = 0; i < s.n_instr; i++) {
            fuzz_check(s.instr[i].dest < s.n_register && s.instr[i].source[0] < s.n_register);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_stream_finish(&s);
    tmx_text_finish(&t);
}
