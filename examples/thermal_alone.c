/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temperatures of a chip whose powers come from somewhere else: one SM of a GTX280 works at a
 * time, a tenth of a second each.
 *
 *     cc thermal_alone.c $(pkg-config --cflags --libs thermix) -o thermal_alone */
#include <stdio.h>
#include <stdlib.h>

#include <thermix/engine.h>

static int fail(const struct tmx_err *err)
{
    char text[2048];
    tmx_err_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}

int main(void)
{
    const char *const options[] = {"chip=gtx280", "grid_rows=16", "grid_cols=16", NULL};
    const double dt_s = 0.01;
    struct tmx_err err = {0};
    struct tmx_engine *engine = NULL;
    if (tmx_engine_open(&engine, options, &err)) {
        return fail(&err);
    }
    const size_t n = tmx_engine_units(engine);
    double *power_w = calloc(n, sizeof *power_w), *temp_k = calloc(n, sizeof *temp_k);
    int bad = !power_w || !temp_k;
    for (size_t tick = 0; !bad && tick < 300; tick++) {
        for (size_t u = 0; u < n; u++) {
            power_w[u] = u == tick / 10 % n ? 30 : 2;
        }
        bad = tmx_engine_step(engine, dt_s, power_w, temp_k, &err) ? fail(&err) : 0;
        if (!bad && tick % 30 == 29) {
            size_t hot = 0;
            for (size_t u = 1; u < n; u++) {
                hot = temp_k[u] > temp_k[hot] ? u : hot;
            }
            printf("%5.2f s: %-8s %6.2f degC\n", (double)(tick + 1) * dt_s, tmx_engine_unit(engine, hot),
                   temp_k[hot] - 273.15);
        }
    }
    free(power_w);
    free(temp_k);
    tmx_engine_close(engine);
    return bad;
}
