/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tick costs beside the thermal step alone, and the same time from event to event, measured in turn in
 * one process.
 *   bench_run [CONFIG] [TICKS]      default: workloads/runs/wl1.cfg under MU, 200000 ticks a round */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "run/run.h"
#include "thermal/thermal.h"

enum { ROUNDS = 5 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare);
    return v[n / 2];
}

static double time_ticks(struct tmx_sim *sim, long n, struct tmx_err *err)
{
    const double begin_s = tmx_os_cpu_s();
    for (long i = 0; i < n; i++) {
        if (tmx_sim_tick(sim, err)) {
            return -1;
        }
    }
    return (tmx_os_cpu_s() - begin_s) / (double)n;
}

static double time_steps(const struct tmx_sim_gpu_thermal *t, void *state, double dt_s, const double *power_w,
                         double *temp_k, long n)
{
    const double begin_s = tmx_os_cpu_s();
    for (long i = 0; i < n; i++) {
        if (t->ops->step(state, dt_s, power_w, temp_k)) {
            return -1;
        }
    }
    return (tmx_os_cpu_s() - begin_s) / (double)n;
}

/* The same for events, whose steps are of any length; until the run ends at most. */
static double time_events(struct tmx_sim *sim, long n, struct tmx_err *err)
{
    const double begin_s = tmx_os_cpu_s(), from_s = tmx_sim_time_s(sim);
    if (tmx_sim_advance(sim, (uint64_t)n, NULL, err) || tmx_sim_done(sim)) {
        return -1;
    }
    return (tmx_os_cpu_s() - begin_s) / (tmx_sim_time_s(sim) - from_s);
}

static enum tmx_status measure(struct tmx_run *run, struct tmx_run *events, long n, struct tmx_err *err)
{
    struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    const struct tmx_frame *f = &sim->frame;
    const double dt_s = tmx_run_tick_s(run);
    double *temp_k = malloc(f->n_unit * sizeof *temp_k), tick_s[ROUNDS], step_s[ROUNDS], ratio[ROUNDS],
           event_ratio[ROUNDS];
    void *state = NULL;
    enum tmx_status st = temp_k ? t->ops->create(t->model, &state, err) : tmx_fail(err, TMX_ENOMEM, "bench");
    for (int i = 0; i < 1000 && !st; i++) { /* warm */
        st = tmx_sim_tick(sim, err);
    }
    printf("units %zu, SMs %zu, tick %g s, %ld ticks a round\n", f->n_unit, f->n_sm, dt_s, n);
    for (int r = 0; r < ROUNDS && !st; r++) {
        tick_s[r] = time_ticks(sim, n, err);
        step_s[r] = time_steps(t, state, dt_s, f->power_w, temp_k, n);
        ratio[r] = tick_s[r] / step_s[r];
        event_ratio[r] =
            time_events(tmx_run_sim(events), n / 20, err) / (tick_s[r] / dt_s); /* the work lasts */
        printf("round %d: tick %.3f us, thermal step alone %.3f us, ratio %.2f\n", r + 1, 1e6 * tick_s[r],
               1e6 * step_s[r], ratio[r]);
        st = tick_s[r] < 0 || step_s[r] < 0 || event_ratio[r] < 0 ? TMX_ESOLVE : TMX_OK;
    }
    if (!st) {
        printf("median: tick %.3f us, thermal step alone %.3f us\nratio tick_over_thermal %.2f\n",
               1e6 * median(tick_s, ROUNDS), 1e6 * median(step_s, ROUNDS), median(ratio, ROUNDS));
        printf("ratio events_over_ticks %.3f\n", median(event_ratio, ROUNDS));
    }
    t->ops->destroy(state);
    free(temp_k);
    return st;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "workloads/runs/wl1.cfg";
    const long n = argc > 2 ? strtol(argv[2], NULL, 10) : 200000;
    struct tmx_sets sets = {0};
    struct tmx_run *run = NULL, *events = NULL;
    struct tmx_err err = {0};
    const struct tmx_run_how how = {.sets = &sets};
    if (argc <= 1) {
        tmx_sets_put(&sets, "policy", TMX_TEXT_VALUE("MU"), NULL, 0, &err);
    }
    tmx_run_load(&run, path, &how, &err);
    tmx_sets_put(&sets, "tick", TMX_TEXT_VALUE("events"), NULL, 0, &err);
    enum tmx_status st = tmx_run_load(&events, path, &how, &err);
    tmx_sets_finish(&sets);
    st = st ? st : measure(run, events, n, &err);
    if (st) {
        char text[1600];
        tmx_err_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    tmx_run_destroy(run);
    tmx_run_destroy(events);
    return tmx_status_exit_code(st);
}
