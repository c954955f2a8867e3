/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sweep.h"
#include "tests/fuzz/fuzz.h"

/* Studies: every point has a value for every key. */
void fuzz_reader(const char *path)
{
    struct tmx_sweep s = {0};
    struct tmx_err err = {0};
    if (tmx_sweep_load(&s, path, &err) == TMX_OK) {
        for (size_t p = 0; p < s.n_point; p++) {
            for (size_t k = 0; k < s.n_key; k++) {
                char text[TMX_REAL_SIZE];
                fuzz_check(tmx_scalar_plain(tmx_sweep_value(&s, p, k), text) != NULL);
            }
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_sweep_finish(&s);
}
