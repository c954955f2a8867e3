/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/workload/mix.h"
#include "tests/fuzz/fuzz.h"

/* The table of a workload that is read from one. */
void fuzz_reader(const char *path)
{
    struct tmx_mix mix = {0};
    struct tmx_err err = {0};
    char text[700], real[512];
    const bool absolute = path[0] == '/';
    snprintf(real, sizeof real, "%.500s", path);
    fuzz_check(absolute); /* the mix that names it stands elsewhere */
    snprintf(text, sizeof text, "name = \"m\"; arrivals = { process = \"trace\"; file = \"%s\"; };", real);
    if (tmx_mix_load(&mix, fuzz_file(text, strlen(text)), 1, &err) == TMX_OK) {
        for (size_t i = 0; i < mix.n_entry; i++) {
            fuzz_check(isfinite(mix.entry[i].arrival_s) && mix.entry[i].work_s >= 0 &&
                       mix.entry[i].kernel[0]);
            fuzz_check(i == 0 || mix.entry[i].arrival_s >= mix.entry[i - 1].arrival_s);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_mix_finish(&mix);
}
