/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "thermal/files/trace_npy.h"

void fuzz_reader(const char *path)
{
    struct tmx_trace t;
    struct tmx_err err = {0};
    bool npy;
    if (tmx_trace_read_any(path, &t, &npy, &err) == TMX_OK) {
        fuzz_check(t.n_row > 0 && t.n_column > 0);
        fuzz_check(tmx_trace_find(&t, t.name[0]) == 0);
        for (size_t i = 0; i < t.n_row * t.n_column; i++) {
            fuzz_check(isfinite(t.value[i]));
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_trace_finish(&t);
}
