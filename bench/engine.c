/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of the public engine: one by one, and in blocks. The second line is for scripts.
 *   engine [STEPS]      default: 100000 steps of gtx280 at 64x64 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <thermix/engine.h>

enum { BLOCK = 1000, ROUNDS = 5 };

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const struct tmx_err *err)
{
    char text[2048];
    tmx_err_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const options[] = {"chip=gtx280", "grid_rows=64", "grid_cols=64", NULL};
    const size_t n_step = argc > 1 ? strtoul(argv[1], NULL, 10) / BLOCK * BLOCK : 100000;
    struct tmx_engine *e = NULL;
    struct tmx_err err = {0};
    if (tmx_engine_open(&e, options, &err)) {
        return fail(&err);
    }
    const size_t n = tmx_engine_units(e);
    double *power_w = calloc(BLOCK * n, sizeof *power_w), *temp_k = calloc(BLOCK * n, sizeof *temp_k);
    double best_s[2] = {1e300, 1e300};
    for (size_t i = 0; power_w && i < BLOCK * n; i++) {
        power_w[i] = (double)(i * 7919 % 97) / 20;
    }
    int bad = !power_w || !temp_k || n_step == 0;
    for (size_t round = 0; !bad && round < ROUNDS;
         round++) { /* the least time counts: the machine may be busy */
        for (size_t way = 0; !bad && way < 2; way++) {
            const double begin_s = cpu_s();
            for (size_t i = 0; !bad && i < n_step; i += way ? BLOCK : 1) {
                const size_t row = i % BLOCK * n;
                bad = way ? tmx_engine_step_many(e, 1e-3, BLOCK, power_w, temp_k, &err)
                          : tmx_engine_step(e, 1e-3, power_w + row, temp_k + row, &err);
            }
            const double s = cpu_s() - begin_s;
            best_s[way] = s < best_s[way] ? s : best_s[way];
        }
    }
    if (!bad) {
        printf("%zu units, %zu steps: %.3f us a step one by one, %.3f us in blocks of %d\n", n, n_step,
               1e6 * best_s[0] / (double)n_step, 1e6 * best_s[1] / (double)n_step, BLOCK);
        printf("us_per_step %.6f\n", 1e6 * best_s[0] / (double)n_step);
        printf("ratio engine_step_over_block %.3f\n", best_s[0] / best_s[1]);
    }
    free(power_w);
    free(temp_k);
    tmx_engine_close(e);
    return bad ? fail(&err) : 0;
}
