/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/floorplan/floorplan.h"
#include "tests/fuzz/fuzz.h"

enum { SMALL = 200 }; /* the check is quadratic */

void fuzz_reader(const char *path)
{
    struct tmx_floorplan fp, again;
    struct tmx_tiling tiling;
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size = 0;
    if (tmx_flp_read(path, &fp, &err) == TMX_OK && fp.n_unit < SMALL) {
        const enum tmx_status tight = tmx_floorplan_check(&fp, 0, &err),
                              loose = tmx_floorplan_check(&fp, 1, &err);
        fuzz_check(tight != TMX_OK || loose == TMX_OK);
        fuzz_check(tmx_floorplan_tiling(&fp, &tiling, &err) == TMX_OK);
        fuzz_check(isfinite(tiling.die_m2) && tiling.gap_m2 >= 0 && tiling.overlap_m2 >= 0);
        FILE *f = open_memstream(&text, &size);
        fuzz_check(f);
        tmx_flp_print(&fp, "again", f);
        fclose(f);
        fuzz_check(tmx_flp_read(fuzz_file(text, size), &again, &err) == TMX_OK);
        fuzz_check(again.n_unit == fp.n_unit);
        for (size_t i = 0; i < fp.n_unit; i++) {
            fuzz_check(strcmp(fp.unit[i].name, again.unit[i].name) == 0 &&
                       fp.unit[i].w_m == again.unit[i].w_m);
        }
        tmx_floorplan_finish(&again);
        free(text);
    }
    tmx_floorplan_finish(&fp);
}
