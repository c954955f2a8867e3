/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what a results database holds, except the seconds: for comparing databases. */
#include <stdio.h>

#include "study/results.h"

int main(int argc, char **argv)
{
    struct tmx_result_set set;
    struct tmx_err err = {0};
    char text[1600];
    if (argc != 2 || tmx_results_load(&set, argv[1], TMX_RESULTS_POINTS, &err)) {
        tmx_err_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return 1;
    }
    printf("study %s points %zu\n", set.study, set.n_point);
    for (size_t i = 0; i < set.n_run; i++) {
        const struct tmx_result *r = &set.run[i];
        printf("run %s %s %s", r->id, r->done ? "done" : "failed", r->error);
        for (size_t k = 0; k < set.n_key; k++) {
            printf(" %s=%s", set.key[k], r->value[k]);
        }
        for (size_t m = 0; m < set.n_metric && r->done; m++) {
            printf(" %s=%.17g", set.metric[m], r->metric[m]);
        }
        putchar('\n');
    }
    for (size_t i = 0; i < set.n_point; i++) {
        printf("point %zu %s\n", i, set.run_of_point[i] < set.n_run ? set.run[set.run_of_point[i]].id : "-");
    }
    tmx_result_set_finish(&set);
    return 0;
}
