/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "measure/log/measured.h"
#include "tests/fuzz/fuzz.h"

/* Logs of every format: what is read has rising times and power everywhere. */
void fuzz_reader(const char *path)
{
    struct tmx_measured m = {0};
    struct tmx_err err = {0};
    if (tmx_measured_read(&m, path, NULL, &err) == TMX_OK) {
        fuzz_check(m.n_series > 0);
        for (size_t i = 0; i < m.n_series; i++) {
            const struct tmx_series *s = &m.series[i];
            fuzz_check(s->n >= 4 && s->run < m.n_run && s->gpu < m.n_gpu);
            for (size_t k = 0; k < s->n; k++) {
                fuzz_check(isfinite(s->q[TMX_Q_TIME][k]) && isfinite(s->q[TMX_Q_POWER][k]));
                fuzz_check(k == 0 || s->q[TMX_Q_TIME][k] > s->q[TMX_Q_TIME][k - 1]);
            }
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_measured_finish(&m);
}
