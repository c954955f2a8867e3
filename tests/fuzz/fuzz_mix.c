/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "core/workload/mix.h"
#include "tests/fuzz/fuzz.h"

/* Workloads, listed or drawn: in the order in which they arrive. */
void fuzz_reader(const char *path)
{
    struct tmx_mix mix = {0};
    struct tmx_err err = {0};
    if (tmx_mix_load(&mix, path, 1, &err) == TMX_OK) {
        for (size_t i = 0; i < mix.n_entry; i++) {
            fuzz_check(isfinite(mix.entry[i].arrival_s) && mix.entry[i].work_s >= 0);
            fuzz_check(i == 0 || mix.entry[i].arrival_s >= mix.entry[i - 1].arrival_s);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_mix_finish(&mix);
}
