/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run step by step: the hottest unit, the clocks and the power every ten simulated seconds.
 *
 *     cc step.c $(pkg-config --cflags --libs thermix) -o step */
#include <stdio.h>
#include <stdlib.h>

#include <thermix/run.h>

static const char text[] = "chip = \"gtx280\"; mix = \"hot_cold\"; policy = \"MU\"; seed = 1;\n"
                           "tick_s = 0.01; warmup_s = 5.0; rows = 16; cols = 16;\n";

static int fail(const struct tmx_err *err)
{
    char message[2048];
    tmx_err_format(err, message, sizeof message);
    fprintf(stderr, "%s\n", message);
    return 1;
}

static void show(const struct tmx_run *run)
{
    size_t n, hot = 0;
    const double *temp_k = tmx_run_look(run, TMX_READ_UNIT_TEMP_K, &n);
    const double *power_w = tmx_run_look(run, TMX_READ_UNIT_POWER_W, &n);
    double time_s = 0, level = 0, all_w = 0;
    for (size_t u = 0; u < n; u++) {
        hot = temp_k[u] > temp_k[hot] ? u : hot;
        all_w += power_w[u];
    }
    if (tmx_run_read(run, TMX_READ_TIME_S, &time_s, 1, NULL) ||
        tmx_run_read(run, TMX_READ_GPU_LEVEL, &level, 1, NULL)) {
        return;
    }
    printf("%7.1f s  %-5s %6.2f degC  %6.1f W  clock level %.0f\n", time_s,
           tmx_run_name(run, TMX_THING_UNIT, hot), temp_k[hot] - 273.15, all_w, level);
}

int main(void)
{
    struct tmx_err err = {0};
    struct tmx_config *config = NULL;
    struct tmx_run *run = NULL;
    bool done = false;
    enum tmx_status st = tmx_config_parse(&config, text, "step.c", &err);
    st = st ? st : tmx_run_open(&run, config, NULL, &err);
    tmx_config_close(config);
    while (!st && !done) {
        st = tmx_run_step(run, 1000, &done, &err);
        if (!st) {
            show(run);
        }
    }
    const size_t n = st ? 0 : tmx_run_count(run, TMX_THING_METRIC);
    double *metric = calloc(n + 1, sizeof *metric);
    st = st || !metric ? st : tmx_run_read(run, TMX_READ_METRIC_VALUE, metric, n, &err);
    for (size_t i = 0; metric && !st && i < n; i++) {
        printf("%-26s %14.3f\n", tmx_run_name(run, TMX_THING_METRIC, i), metric[i]);
    }
    free(metric);
    tmx_run_close(run);
    return st ? fail(&err) : 0;
}
