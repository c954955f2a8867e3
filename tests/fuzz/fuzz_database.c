/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "study/results.h"
#include "tests/fuzz/fuzz.h"

/* Databases of studies, whoever wrote them. */
void fuzz_reader(const char *path)
{
    for (int which = TMX_RESULTS_POINTS; which <= TMX_RESULTS_ALL; which++) {
        struct tmx_result_set set = {0};
        struct tmx_err err = {0};
        if (tmx_results_load(&set, path, (enum tmx_results_which)which, &err) == TMX_OK) {
            for (size_t p = 0; p < set.n_point; p++) {
                fuzz_check(set.run_of_point[p] <= set.n_run);
            }
        } else {
            fuzz_check(err.msg[0]);
        }
        tmx_result_set_finish(&set);
    }
}
