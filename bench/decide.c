/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a decision of the mix policies that look ahead costs: time inside `decide`, of a chip of 30 SMs and of
 * one of 132, two kernels on it, near its limit.
 *   decide [DECISIONS]      default: 4000 a round */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <thermix/catalog.h>

#include "base/config.h"
#include "run/run.h"
#include "sched/policies.h"

enum { ROUNDS = 5, WARM = 400 };

/* The policy that is timed, and how; a bench runs one at a time. */
static const struct tmx_mix_policy *inner;
static double spent_s;
static long n_call;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    const double begin_s = cpu_s();
    inner->decide(state, view, request);
    spent_s += cpu_s() - begin_s;
    n_call++;
}

static enum tmx_status measure(const char *chip, const char *more, long n, struct tmx_err *err)
{
    struct tmx_mix_policy timed = *inner;
    struct tmx_catalog *catalog = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    char text[512];
    double least_s = 1e300;
    timed.base.name = "timed";
    timed.decide = decide;
    snprintf(text, sizeof text,
             "mix = \"WL8\"; chip = \"%s\"; seed = 1; tick_s = 0.01; quantum_s = 0.05; sensor = { period_s = "
             "0.01; }; %s "
             "mix_policy = { policy = \"timed\"; };",
             chip, more);
    enum tmx_status st = tmx_catalog_create(&catalog, err);
    st = st ? st : tmx_catalog_add(catalog, TMX_LEVEL_MIX, &timed.base, err);
    st = st ? st : tmx_config_parse(&cfg, text, "bench", err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.catalog = catalog}, err);
    st = st ? st : tmx_sim_advance(tmx_run_sim(run), 5 * WARM, NULL, err);
    for (int r = 0; r < ROUNDS && !st; r++) { /* the least time counts: the machine may be busy */
        spent_s = 0;
        n_call = 0;
        st = tmx_sim_advance(tmx_run_sim(run), (uint64_t)(5 * n), NULL, err);
        least_s =
            !st && n_call > 0 && spent_s / (double)n_call < least_s ? spent_s / (double)n_call : least_s;
    }
    if (!st) {
        const struct tmx_gpu *gpu = &tmx_run_sim(run)->machine->gpu[0];
        printf("%s, %zu SMs (%s; %s): %.2f us a decision\n", inner->base.name, gpu->chip->n_sm, chip, more,
               1e6 * least_s);
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_catalog_destroy(catalog);
    return st;
}

int main(int argc, char **argv)
{
    static const struct tmx_mix_policy *const policies[] = {&tmx_mix_foresight, &tmx_mix_tsp};
    static const struct {
        const char *chip, *more;
    } chips[] = {
        {"gtx280", "package = { init_temp = 355.0; };"},
        {"h100", "throttle = { trip_c = 60.0; release_c = 55.0; };"},
        {"h100", "throttle = { trip_c = 60.0; release_c = 55.0; }; forecast = { tolerance_k = 0.3; };"}};
    const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 4000;
    struct tmx_err err = {0};
    enum tmx_status st = n > 0 ? TMX_OK : TMX_ECONFIG;
    for (size_t c = 0; c < 3 && !st; c++) {
        for (size_t p = 0; p < 2 && !st; p++) {
            inner = policies[p];
            st = measure(chips[c].chip, chips[c].more, n, &err);
        }
    }
    if (st) {
        char text[1600];
        tmx_err_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return tmx_status_exit_code(st);
}
