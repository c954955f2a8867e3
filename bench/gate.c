/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the cycle-level SM, beside the literal model of the tests; both run the same work.
 *
 *   gate [KERNEL...]     kernels by name (default: three busy ones and one that waits for memory) */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "run/load/gate_files.h"
#include "sched/sched.h"
#include "tests/oracle/slow_sm.h"

enum { FAST_BUDGET = 1000000, SLOW_BUDGET = 20000, REPEATS = 3 };

typedef enum tmx_status (*run_fn)(const struct tmx_sm_params *, const struct tmx_stream *,
                                  const struct tmx_gate_policy *, const struct tmx_gate_params *, uint64_t,
                                  const struct tmx_sm_probe *, struct tmx_sm_result *, struct tmx_err *);

/* Best of a few repeats [warp instructions / s of CPU time]. */
static enum tmx_status rate(run_fn run, const struct tmx_gate_chip *chip, const struct tmx_stream *s,
                            const struct tmx_gate_policy *policy, uint64_t budget, double *per_s,
                            struct tmx_sm_result *r, struct tmx_err *err)
{
    *per_s = 0;
    for (int i = 0; i < REPEATS; i++) {
        const double begin = tmx_os_cpu_s();
        const enum tmx_status st = run(&chip->sm, s, policy, &chip->gate, budget, NULL, r, err);
        const double took = tmx_os_cpu_s() - begin;
        if (st) {
            return st;
        }
        *per_s = (double)r->issued / took > *per_s ? (double)r->issued / took : *per_s;
    }
    return TMX_OK;
}

/* The tests compare every field; this only tells a wrong comparison of speeds. */
static bool same_work(const struct tmx_sm_result *a, const struct tmx_sm_result *b)
{
    return a->cycles == b->cycles && a->issued == b->issued && a->blocks == b->blocks &&
           a->block_cycles == b->block_cycles && a->lines == b->lines && a->misses == b->misses;
}

static enum tmx_status bench_kernel(const struct tmx_gate_chip *chip, const char *name, double *log_sum,
                                    size_t *n, struct tmx_err *err)
{
    struct tmx_gate_kernel kernel;
    struct tmx_stream s = {0};
    enum tmx_status st = tmx_gate_kernel_load(&kernel, name, err);
    st = st ? st : tmx_stream_generate(&s, &kernel.stats, &chip->fit[1], 1, err);
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; !st && *p; p++) {
        struct tmx_sm_result fast, slow, same;
        double fast_per_s, slow_per_s;
        st = rate(tmx_sm_run, chip, &s, *p, FAST_BUDGET, &fast_per_s, &fast, err);
        st = st ? st : rate(slow_sm_run, chip, &s, *p, SLOW_BUDGET, &slow_per_s, &slow, err);
        st = st ? st : tmx_sm_run(&chip->sm, &s, *p, &chip->gate, SLOW_BUDGET, NULL, &same, err);
        if (!st) {
            printf("%-10s %-21s %5.2f %8.1f %8.1f %8.2f %7.1f   %s\n", name, (*p)->base.name,
                   tmx_sm_ipc(&fast), 1e-6 * fast_per_s, 1e-6 * fast_per_s / tmx_sm_ipc(&fast),
                   1e-6 * slow_per_s, fast_per_s / slow_per_s,
                   same_work(&slow, &same) ? "equal" : "DIFFERENT");
            *log_sum += log(slow_per_s / fast_per_s);
            ++*n;
        }
    }
    tmx_stream_finish(&s);
    return st;
}

int main(int argc, char **argv)
{
    static const char *const standard[] = {"cutcp", "hotspot", "lavaMD", "MUM"};
    struct tmx_gate_chip chip;
    struct tmx_err err = {0};
    double log_sum = 0;
    size_t n = 0;
    enum tmx_status st = tmx_gate_chip_load(&chip, "gtx480", NULL, &err);
    printf("%-10s %-21s %5s %8s %8s %8s %7s\n", "kernel", "policy", "ipc", "Minstr/s", "Mcycle/s", "literal",
           "ratio");
    for (int i = 0; !st && i < (argc > 1 ? argc - 1 : 4); i++) {
        st = bench_kernel(&chip, argc > 1 ? argv[i + 1] : standard[i], &log_sum, &n, &err);
    }
    if (n > 0) {
        printf("ratio gate_over_literal %.4f\n", exp(log_sum / (double)n));
    }
    if (st) {
        char text[2048];
        tmx_err_format(&err, text, sizeof text);
        fprintf(stderr, "gate: %s\n", text);
    }
    return tmx_status_exit_code(st);
}
