/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "power/regress.h"
#include "tests/fuzz/fuzz.h"

/* The table of `thermix power fit`, and the fit of a small one. */
void fuzz_reader(const char *path)
{
    enum { SMALL = 12 };
    struct tmx_training t = {0};
    struct tmx_power_fit fit = {0};
    struct tmx_err err = {0};
    if (tmx_training_load(&t, path, &err) == TMX_OK) {
        fuzz_check(t.n_row > 0 && t.n_feature > 0);
        if (t.n_row <= SMALL && tmx_power_fit(&t, &fit, &err) == TMX_OK) {
            for (size_t i = 0; i < fit.n_coefficient; i++) {
                fuzz_check(isfinite(fit.coefficient[i]));
            }
        }
    }
    fuzz_check(err.code == TMX_OK || err.msg[0]);
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&t);
}
