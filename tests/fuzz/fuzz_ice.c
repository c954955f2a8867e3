/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "thermal/files/ice.h"

void fuzz_reader(const char *path)
{
    struct tmx_floorplan fp = {0};
    struct tmx_err err = {0};
    (void)tmx_ice_is(path, false);
    (void)tmx_ice_is(path, true);
    if (tmx_ice_read_flp(path, &fp, NULL, NULL, &err) == TMX_OK) {
        for (size_t i = 0; i < fp.n_unit; i++) {
            fuzz_check(isfinite(fp.unit[i].x_m) && isfinite(fp.unit[i].w_m));
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_floorplan_finish(&fp);
}
