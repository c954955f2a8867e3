/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No policy beats its bound: random kernels, some of them in phases or waiting for memory, on random
 * packages, leakages and chips under random policies. A run is bounded at the hottest any of its SMs ever
 * was, and the heat it has stored since the start is set apart: all that remains of its gap has to be a loss.
 * The ledger sums to the gap. The number of runs is the first argument, the run to begin with the second. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "limits/bound.h"
#include "tests/support/check.h"
#include "tests/support/random_chip.h"

enum { SEED = 20260217 };
static const double MOST_POINTS = 0.02, SUM_POINTS = 1e-6;

/* A kernel whose power changes with its work, beside the mix. */
static void write_phases(const char *path, struct tmx_rng *rng)
{
    FILE *f = fopen(path, "w");
    const double first = random_between(rng, 0.1, 0.5), second = random_between(rng, 0.55, 0.95);
    const double waits = tmx_rng_uniform(rng);
    char how[64] = "", some[64] = "";
    double unit = 1;
    assert_non_null(f);
    if (tmx_rng_uniform(rng) < 0.5) { /* turns of 0.3 to 3 s of work */
        unit = random_between(rng, 0.3, 3);
        snprintf(how, sizeof how, "over = \"work_s\"; repeat = true; ");
        snprintf(some, sizeof some, "waits = %.2f; ", waits);
    }
    fprintf(
        f,
        "name = \"phases\"; launch = { thread_blocks = 1000; threads_per_block = 256; "
        "registers_per_thread = 20; "
        "}; power = { block_lifetime_s = 1e-4; memory_bound = %.2f; phases = { %slist = ( { until = %.3f; "
        "power_w = "
        "%.1f; }, { until = %.3f; power_w = %.1f; %s}, { until = %.3f; power_w = %.1f; } ); }; };\n",
        tmx_rng_uniform(rng), how, first * unit, random_between(rng, 20, 120), second * unit,
        random_between(rng, 20, 120), some, unit, random_between(rng, 20, 120));
    fclose(f);
}

static void write_mix(const char *path, const char *phases, struct tmx_rng *rng)
{
    static const char *const kernels[] = {"SVM",  "Bs",    "Conv", "Bino",     "Cmem",
                                          "Mmul", "Sepia", "Dotp", "micro120", "micro60"};
    FILE *f = fopen(path, "w");
    const size_t n = 1 + (size_t)(tmx_rng_uniform(rng) * 4) % 4;
    assert_non_null(f);
    fputs("name = \"random\";\nkernels = (", f);
    for (size_t i = 0; i < n; i++) {
        const bool constant = tmx_rng_uniform(rng) < 0.7;
        fprintf(f, "%s{ kernel = \"%s\"; work_s = %.3f; }", i ? ", " : " ",
                constant ? RANDOM_OF(rng, kernels) : phases, random_between(rng, 4, 9));
    }
    fputs(" );\n", f);
    fclose(f);
}

static void write_run(char *text, size_t size, const char *mix, struct tmx_rng *rng)
{
    static const char *const chips[] = {"gtx280", "gtx280-columns", "c1060", "gtx480"},
                             *const policies[] = {"BL", "DVFS", "A", "MU", "MNU", "MA", "foresight", "tsp"},
                             *const forms[] = {"quadratic", "exponential", "liao"},
                             *const powers[] = {"v2f", "f"};
    snprintf(
        text, size,
        "mix = \"%s\"; seed = 1; tick_s = 0.005; memory_bound_time = %s; warmup_s = 15.0; rows = 12; cols = "
        "12; stuck_s = 40.0; chip "
        "= \"%s\"; "
        "policy = \"%s\"; package = { r_convec = %.3f; ambient = %.2f; init_temp = %.2f; }; "
        "chip_power = { leakage_w = %.2f; leakage_form = \"%s\"; dvfs_power = \"%s\"; dvfs_leakage = %s; };",
        mix, tmx_rng_uniform(rng) < 0.5 ? "true" : "false", RANDOM_OF(rng, chips), RANDOM_OF(rng, policies),
        random_between(rng, 0.15, 0.4), random_between(rng, 300, 322), random_between(rng, 330, 362),
        random_between(rng, 0, 40), RANDOM_OF(rng, forms), RANDOM_OF(rng, powers),
        tmx_rng_uniform(rng) < 0.5 ? "true" : "false");
}

static void judge_tick(void *ctx, const struct tmx_sim *sim)
{
    tmx_gap_tick(ctx, sim);
}

/* Points that the run is better than its bound; *sum_error: how far its losses are from its gap. NAN: no
 * bound for it. */
static double beats(struct tmx_run *run, const char *what, double *sum_error)
{
    struct tmx_gap seen = {0}, at_peak = {0};
    struct tmx_bound_options o = {.sm_leak = 1};
    struct tmx_err err = {0};
    double pct[TMX_N_GAP_CAUSE], sum = 0;
    if (tmx_gap_init(&seen, run, &o, &err)) {
        fail_msg("%s: %s", what, err.msg);
    }
    const struct tmx_observer observer = {.ctx = &seen, .tick = judge_tick};
    const enum tmx_status st = tmx_run_execute(run, &observer, &err);
    if (st) { /* too hot to go on: its leakage runs away, or it never cools */
        tmx_gap_finish(&seen);
        return NAN;
    }
    o.limit_k = tmx_run_sim(run)->recorder->peak_sm_k;
    if (tmx_gap_init(&at_peak, run, &o, &err)) {
        fail_msg("%s: %s", what, err.msg);
    }
    const struct tmx_averages none = at_peak.averages;
    at_peak.averages = seen.averages;
    seen.averages = none;
    tmx_gap_losses(&at_peak, run, pct);
    for (size_t l = TMX_GAP_IDLE; l < TMX_N_GAP_CAUSE; l++) {
        sum += pct[l];
    }
    *sum_error = fabs(sum - pct[TMX_GAP_TOTAL]);
    tmx_gap_finish(&seen);
    tmx_gap_finish(&at_peak);
    return pct[TMX_GAP_STORED] - pct[TMX_GAP_TOTAL];
}

static int check_one(size_t i, size_t *judged, double *gap)
{
    struct tmx_rng *rng = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    struct tmx_err err = {0};
    char mix[600], phases[600], text[1500], stream[32];
    double sum_error = 0;
    snprintf(stream, sizeof stream, "bound %zu", i);
    snprintf(mix, sizeof mix, "./property_bound_%zu.cfg", i);
    snprintf(phases, sizeof phases, "./property_bound_phases_%zu.cfg", i);
    assert_int_equal(tmx_rng_create(&rng, SEED, stream, NULL), TMX_OK);
    write_phases(phases, rng);
    write_mix(mix, phases, rng);
    write_run(text, sizeof text, mix, rng);
    if (tmx_config_parse(&cfg, text, "random", &err) ||
        tmx_run_create(&run, tmx_config_root(cfg), NULL, &err)) {
        fail_msg("run %zu: %s\n%s", i, err.msg, text);
    }
    const double better = beats(run, text, &sum_error);
    const bool bad = better > MOST_POINTS || sum_error > SUM_POINTS;
    if (bad) {
        printf("run %zu beats its bound by %.4f points, its losses miss its gap by %.2g\n%s\n", i, better,
               sum_error, text);
    }
    *judged += isnan(better) ? 0 : 1;
    *gap += isnan(better) ? 0 : -better;
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_rng_destroy(rng);
    remove(mix);
    remove(phases);
    return bad;
}

TMX_TESTS(test_bound)
{
    const size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 6 / TMX_EVERY;
    const size_t first = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    size_t judged = 0;
    double gap = 0;
    int bad = 0;
    if (!tmx_lp_has_solver()) {
        printf("no GLPK: no bounds\n");
        return 0;
    }
    for (size_t i = first; i < first + n; i++) {
        bad += check_one(i, &judged, &gap);
    }
    printf("%zu of %zu runs judged, %.2f points from their bounds in the mean, %d better than theirs\n",
           judged, n, gap / (double)judged, bad);
    return bad > 0 || judged < n / 2;
}
