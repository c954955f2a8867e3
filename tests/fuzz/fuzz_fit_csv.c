/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/calibrate.h"
#include "tests/fuzz/fuzz.h"

/* The fit.csv of a calibration. */
void fuzz_reader(const char *path)
{
    struct tmx_rc m = {0};
    struct tmx_err err = {0};
    if (tmx_calibrated_read(&m, path, &err) == TMX_OK) {
        fuzz_check(m.n_gpu > 0);
        for (size_t g = 0; g < m.n_gpu; g++) {
            fuzz_check(m.gpu[g].upstream < (int)m.n_gpu && m.gpu[g].upstream != (int)g &&
                       m.gpu[g].sink_k_per_w > 0);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_rc_finish(&m);
}
