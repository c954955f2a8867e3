/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No router and no row policy serves more than the bound: random nodes, schedulers, routers and rows under
 * random loads. A run is bounded at what it reached: its hottest die and memory, its mean watts by row, its
 * mean time between tokens. So the test can fail: at 0.7 of those watts some runs have to be above their
 * bound. Arguments: the number of runs, the one to begin with, how far the next one is. */
#include <math.h>
#include <stdlib.h>

#include "limits/bound.h"
#include "run/state.h"
#include "tests/support/open_run.h"
#include "tests/support/random_chip.h"

enum { SEED = 20261123 };

static struct tmx_run *random_run(struct tmx_rng *rng)
{
    static const char *const
        places[] = {"topology = \"dgx-a100\";", "chip = \"a100\"; gpus = 8;", "chip = \"h100\"; gpus = 16;",
                    "topology = \"hgx-h100\";"},
        *const tps[] = {"2", "4", "8"}, *const schedulers[] = {"mixed", "chunked", "prefill_first", "orca"},
        *const mixes[] = {"joint", "add"}, *const routes[] = {"round_robin", "jsq",   "tokens",   "coldest",
                                                              "weighted",    "tapas", "foresight"},
        *const rows[] = {"none", "polca", "slosh", "foresight"}, *const governors[] = {"none", "boost"},
        *const heats[] = {"true", "true", "false"}, *const laws[] = {"f", "v2f"},
        *const times[] = {"batch", "batch", "flat"};
    const char *place = RANDOM_OF(rng, places), *tp = RANDOM_OF(rng, tps), *heat = RANDOM_OF(rng, heats),
               *governor = heat[0] == 't' ? RANDOM_OF(rng, governors) : "none";
    const char *law = RANDOM_OF(rng, laws), *route = RANDOM_OF(rng, routes), *row = RANDOM_OF(rng, rows),
               *mix = RANDOM_OF(rng, mixes), *time = RANDOM_OF(rng, times),
               *scheduler = RANDOM_OF(rng, schedulers);
    const double inlet_c = random_between(rng, 20, 38), budget_w = random_between(rng, 3300, 9000),
                 rate_per_s = random_between(rng, 2, 100);
    const int budget = (int)random_between(rng, 512, 4096), chunk = (int)random_between(rng, 128, 2048),
              max_batch = (int)random_between(rng, 8, 512), count = (int)random_between(rng, 150, 600);
    const bool chunked = scheduler[0] == 'c', budgeted = scheduler[0] == 'm' || scheduler[0] == 'p';
    char own[64] = "", mixed[32] = ""; /* keys that would do nothing are errors */
    if (chunked || budgeted) {
        snprintf(own, sizeof own, "%s = %d;", chunked ? "chunk" : "budget", chunked ? chunk : budget);
    }
    if (scheduler[0] == 'm' || scheduler[0] == 'o') {
        snprintf(mixed, sizeof mixed, "mix = \"%s\";", mix);
    }
    return open_run(
        "%s seed = 1; tick_s = 0.1; quantum_s = 0.1; rows = 12; cols = 12; method = \"reduced\"; inlet_c = "
        "%.1f; chip_power = { dvfs_power = \"%s\"; }; %s dtm = { policy = \"%s\"; }; sensor = { period_s = "
        "0.1; };"
        "route = { policy = \"%s\"; }; row = { policy = \"%s\"; budget_w = %.0f; telemetry_s = 0.1; %s "
        "};"
        "serve = { model = \"llama2-70b\"; tp = %s; heat = %s; beyond_fit = true; %s token_time = \"%s\";"
        "scheduler = { policy = \"%s\"; %s max_batch = %d; };"
        "requests = { process = \"poisson\"; sizes = \"" TMX_SOURCE_DIR
        "/workloads/requests/azure_conv_2023.csv\"; count = %d; rate_per_s = %.2f; }; };",
        place, inlet_c, law, governor[0] == 'n' ? "throttle = { trip_c = 150.0; release_c = 140.0; };" : "",
        governor, route, row, budget_w, row[0] == 'n' ? "" : "oob_s = 1.0;", tp, heat, mixed, time, scheduler,
        own, max_batch, count, rate_per_s);
}

static double bounded(const struct tmx_run *run, const struct tmx_serve_bound_options *o)
{
    struct tmx_serve_bound b;
    struct tmx_err err = {0};
    const enum tmx_status st = tmx_serve_bound(&b, run, o, &err);
    if (st && st != TMX_ESOLVE) {
        fail_msg("%s", err.msg);
    }
    assert_true(st || b.certificate < 1e-6);
    return st ? 0 : b.requests_per_s;
}

/* The run's requests a second over the bound's, less 1; *wrong: the same at watts that it did not keep. */
static double beats(struct tmx_run *run, double *wrong)
{
    struct tmx_err err = {0};
    if (tmx_run_execute(run, NULL, &err)) {
        fail_msg("%s", err.msg);
    }
    const struct tmx_recorder *rec = tmx_run_sim(run)->recorder;
    const struct tmx_serve *s = tmx_sim_serve(tmx_run_sim(run));
    struct tmx_serve_bound_options o = {.die_k = rec->peak_sm_k, /* a power reading is a tick old: 1 % */
                                        .row_w = 1.01 * tmx_serve_mean_row_w(run),
                                        .tbt_s = tmx_serve_mean_tbt_s(run)};
    for (size_t g = 0; g < run->n_gpu; g++) {
        o.memory_k = fmax(o.memory_k, rec->memory_k[g]);
    }
    const double reached = (double)s->n_request / s->end_s, most = bounded(run, &o);
    o.row_w *= 0.7;
    *wrong = reached / bounded(run, &o) - 1;
    return reached / most - 1;
}

TMX_TESTS(test_serve_bound)
{
    const size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 6;
    const size_t first = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    const size_t step = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 1;
    double sum = 0, nearest = -1;
    int bad = 0, caught = 0;
    if (!tmx_lp_has_solver()) {
        printf("no GLPK: no bounds\n");
        return 0;
    }
    for (size_t i = first; i < first + n * step; i += step) {
        struct tmx_rng *rng = NULL;
        char stream[32];
        double wrong;
        snprintf(stream, sizeof stream, "serve bound %zu", i);
        assert_int_equal(tmx_rng_create(&rng, SEED, stream, NULL), TMX_OK);
        struct tmx_run *run = random_run(rng);
        const double above = beats(run, &wrong);
        if (above > 0) {
            printf("run %zu is %.2f %% above its bound\n%s\n", i, 100 * above, tmx_run_keys(run));
            bad++;
        }
        caught += wrong > 0;
        sum += above;
        nearest = fmax(nearest, above);
        tmx_run_destroy(run);
        tmx_rng_destroy(rng);
    }
    printf("%zu runs, in the mean at %.1f %% of their bounds, the best at %.1f %%; %d above theirs, %d above "
           "one at "
           "0.7 of their watts\n",
           n, 100 * (1 + sum / (double)n), 100 * (1 + nearest), bad, caught);
    return bad > 0 || caught == 0;
}
