/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tick = "events": what a step from event to event computes is what ticks come to as they shrink, at a cost
 * that does not depend on them. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/support/allocations.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

/* A leaky chip whose throttle is out of reach, on a grid whose reduced model is as good as exact. */
#define LEAKY                                                                                            \
    "seed = 1; rows = 8; cols = 8; thermal = { tolerance_k = 1e-5; }; chip_power = { leakage_w = 60.0; " \
    "leakage_exp_per_k = 0.03; };"

static struct tmx_run *executed(struct tmx_run *run)
{
    struct tmx_err err = {0};
    if (tmx_run_execute(run, NULL, &err)) {
        fail_msg("%s", err.msg);
    }
    return run;
}

/* After n ticks of tick_s. */
static struct tmx_run *advanced(const char *mix, const char *keys, double tick_s, const char *tick,
                                double end_s)
{
    struct tmx_err err = {0};
    struct tmx_run *run =
        open_run("mix = \"%s\"; %s tick_s = %.17g; tick = \"%s\";", mix, keys, tick_s, tick);
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), (uint64_t)llround(end_s / tick_s), NULL, &err),
                     TMX_OK);
    return run;
}

static double largest_off_k(const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t u = 0; u < n; u++) {
        most = fmax(most, fabs(a[u] - b[u]));
    }
    return most;
}

static const double *temps(const struct tmx_run *run)
{
    return tmx_run_sim(run)->frame.temp_k;
}

/* Twice the finer tick's less the coarser's is right to second order. */
static void leakage_in_a_span_is_what_ticks_come_to_as_they_shrink(void **state)
{
    const char *mix =
        scratch_write("events_one.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = "
                                        "100.0; } );");
    /* a whole wafer under copper: the chip's own die is four times as thin, and two thirds further off */
    const char *keys =
        LEAKY "policy = \"BL\"; throttle = { trip_c = 250.0; release_c = 240.0; }; package = { t_chip "
              "= 0.00078; k_spreader = 400.0; c_convec = 140.4; };";
    static const double ends_s[] = {0.05, 0.4, 3};
    for (size_t i = 0; i < sizeof ends_s / sizeof ends_s[0]; i++) {
        struct tmx_run *coarse = advanced(mix, keys, 1e-3, "fixed", ends_s[i]),
                       *fine = advanced(mix, keys, 5e-4, "fixed", ends_s[i]),
                       *events = advanced(mix, keys, 1e-5, "events", ends_s[i]);
        const size_t n = tmx_run_sim(fine)->frame.n_unit;
        const double halving_k = largest_off_k(temps(coarse), temps(fine), n),
                     off_k = largest_off_k(temps(fine), temps(events), n);
        double beyond_k = 0;
        for (size_t u = 0; u < n; u++) {
            beyond_k = fmax(beyond_k, fabs(2 * temps(fine)[u] - temps(coarse)[u] - temps(events)[u]));
        }
        print_message(
            "%g s: halving the tick moves %.2g K, events are %.2g K from the finer, %.2g K from both "
            "extrapolated, in %llu steps\n",
            ends_s[i], halving_k, off_k, beyond_k, (unsigned long long)tmx_run_sim(events)->n_step);
        assert_true(off_k < halving_k + 1e-3);
        assert_true(beyond_k < 5e-4);
        check_close(metric(events, "board_w"), metric(fine, "board_w"), 1e-3, 0); /* the last step is long */
        tmx_run_destroy(coarse);
        tmx_run_destroy(fine);
        tmx_run_destroy(events);
    }
}

/* Shares and times are rounded; no tick of an idle chip follows the last one with work. */
static void work_that_ends_with_a_tick_leaves_none(void **state)
{
    scratch_write("events_two.cfg",
                  "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 3.0; }, { kernel = "
                  "\"Cmem\"; work_s = 3.0; } );");
    struct tmx_run *run =
        executed(open_run("mix = \"events_two.cfg\"; chip = \"gtx280\"; seed = 1; policy = "
                          "\"foresight\"; warmup_s = 1.0; rows = 8; cols = 8; tick_s = 0.005; "
                          "tick = \"events\";"));
    check_close(metric(run, "makespan_s"), 6, 1e-12, 0);
    assert_true(metric(run, "fall_50ms_w") < 1);
    tmx_run_destroy(run);
}

/* Random chips, mixes and policies. A reading beside a threshold may fall on its other side, and the rest of
 * the run with it. */
static void random_runs_are_as_near_to_tiny_ticks_as_fixed_ones_or_nearer(void **state)
{
    static const char *const policies[] = {"BL", "DVFS", "A", "MU", "MNU", "MA", "foresight"};
    static const char *const kernels[] = {"SVM", "Cmem", "Mmul", "Dotp"};
    static const char *const compared[] = {"energy_j", "leakage_j", "mean_temp_c", "makespan_s"};
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 7, "events", NULL), TMX_OK);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i += TMX_EVERY) {
        char mix[512], keys[1024];
        snprintf(mix, sizeof mix,
                 "name = \"m\"; kernels = ( { kernel = \"%s\"; work_s = %.4f; }, { kernel = \"%s\"; work_s = "
                 "%.4f; arrival_s = %.4f; } );",
                 kernels[i % 2 * 2], 0.2 + 0.5 * tmx_rng_uniform(rng), kernels[1 + i % 2 * 2],
                 0.2 + 0.5 * tmx_rng_uniform(rng), 0.1 * tmx_rng_uniform(rng));
        snprintf(keys, sizeof keys,
                 LEAKY "policy = \"%s\"; package = { init_temp = %.3f; r_convec = %.3f; }; %s sensor = { "
                       "period_s = 0.004; };",
                 policies[i], 350 + 8 * tmx_rng_uniform(rng), 0.2 + 0.1 * tmx_rng_uniform(rng),
                 i >= 2 && i < 6 ? "mix_policy = { slice_s = 0.05; };" : "");
        scratch_write("events_random.cfg", mix);
        struct tmx_run *run[3] = {
            executed(open_run("mix = \"events_random.cfg\"; %s tick_s = 0.002;", keys)),
            executed(open_run("mix = \"events_random.cfg\"; %s tick_s = 0.0002;", keys)),
            executed(open_run("mix = \"events_random.cfg\"; %s tick_s = 0.001; tick = \"events\";", keys))};
        for (size_t c = 0; c < sizeof compared / sizeof compared[0]; c++) {
            const double coarse = metric(run[0], compared[c]), fine = metric(run[1], compared[c]),
                         events = metric(run[2], compared[c]);
            print_message("%s %s: %.8g at 2 ms, %.8g at 0.2 ms, %.8g\n", policies[i], compared[c], coarse,
                          fine, events);
            check_close(events, fine, 5e-4, fabs(coarse - fine));
        }
        for (size_t k = 0; k < 3; k++) {
            tmx_run_destroy(run[k]);
        }
    }
    tmx_rng_destroy(rng);
}

static uint64_t steps_of(const char *mix, const char *keys)
{
    struct tmx_run *run =
        executed(open_run("mix = \"%s\"; seed = 1; rows = 8; cols = 8; tick = \"events\"; %s", mix, keys));
    const uint64_t n = tmx_run_sim(run)->n_step;
    tmx_run_destroy(run);
    return n;
}

static void the_cost_does_not_grow_as_the_tick_shrinks(void **state)
{
    const char *mix =
        scratch_write("events_two.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 2.0; }, { "
                                        "kernel = \"Cmem\"; work_s = 1.0; } );");
    static const char *const policies[] = {"BL", "DVFS", "A", "MU", "MA"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        char keys[256];
        const char *turns =
            i == 2 || i == 4 ? "mix_policy = { slice_s = 0.01; };" : ""; /* each turn is an event */
        snprintf(keys, sizeof keys, "policy = \"%s\"; %s tick_s = 1e-3;", policies[i], turns);
        const uint64_t coarse = steps_of(mix, keys);
        snprintf(keys, sizeof keys, "policy = \"%s\"; %s tick_s = 1e-6;", policies[i], turns);
        const uint64_t fine = steps_of(mix, keys);
        print_message("%s: %llu steps with ticks of 1 ms, %llu of 1 us\n", policies[i],
                      (unsigned long long)coarse, (unsigned long long)fine);
        assert_true((double)fine < 1.3 * (double)coarse + 30);
    }
}

static void a_chip_that_idles_for_an_hour_takes_few_steps(void **state)
{
    const char *mix =
        scratch_write("events_idle.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 0.1; }, { "
                                         "kernel = \"SVM\"; work_s = 0.1; arrival_s = 3600.0; } );");
    const uint64_t n = steps_of(mix, "policy = \"BL\"; tick_s = 1e-6;"),
                   mixed = steps_of(mix, "policy = \"MU\"; tick_s = 1e-6;");
    print_message("%llu and %llu steps\n", (unsigned long long)n, (unsigned long long)mixed);
    assert_in_range(n, 1, 400); /* of 3.6e9 ticks */
    assert_in_range(mixed, 1, 400);
}

/* A trip is a matter of one sample: the throttle stops the clock as often, and as long, as with fixed ticks.
 */
static void the_throttle_trips_at_the_samples_at_which_it_tripped(void **state)
{
    const char *mix = scratch_write("events_hot.cfg",
                                    "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 4.0004; } );");
    /* without leakage both are exact; the work ends inside a tick, not at a tick's end, which round-off could
     * move */
    const char *keys =
        "seed = 1; rows = 8; cols = 8; leakage = false; policy = \"BL\"; package = { init_temp = 358.15; }; "
        "throttle = { trip_c = 86.0; release_c = 85.0; }; sensor = { period_s = 0.005; }; tick_s = 0.001;";
    struct tmx_run *fixed = executed(open_run("mix = \"%s\"; %s", mix, keys)),
                   *events = executed(open_run("mix = \"%s\"; %s tick = \"events\";", mix, keys));
    const struct tmx_recorder *a = tmx_run_sim(fixed)->recorder, *b = tmx_run_sim(events)->recorder;
    print_message("%g and %g trips, %llu and %llu steps\n", a->trips[0], b->trips[0],
                  (unsigned long long)tmx_run_sim(fixed)->n_step,
                  (unsigned long long)tmx_run_sim(events)->n_step);
    assert_true(a->trips[0] > 2);
    for (size_t sm = 0; sm < a->n_sm; sm++) {
        check_close(b->trips[sm], a->trips[sm], 0, 0);
        check_close(b->first_s[sm], a->first_s[sm], 0, 1e-9);
        check_close(b->last_s[sm], a->last_s[sm], 0, 1e-9);
        check_close(b->longest_s[sm], a->longest_s[sm], 0, 1e-9);
    }
    assert_true(tmx_run_sim(events)->n_step < tmx_run_sim(fixed)->n_step / 4);
    check_close(metric(events, "makespan_s"), metric(fixed, "makespan_s"), 1e-9, 0);
    check_close(metric(events, "energy_j"), metric(fixed, "energy_j"), 1e-9, 0);
    check_close(metric(events, "mean_temp_c"), metric(fixed, "mean_temp_c"), 0, 1e-3); /* half a tick later */
    check_close(metric(fixed, "loop_gain"), 0, 0, 0);                                  /* nothing leaks */
    tmx_run_destroy(fixed);
    tmx_run_destroy(events);
}

static void bytes_depend_neither_on_threads_nor_on_a_snapshot(void **state)
{
    const char *mix =
        scratch_write("events_many.cfg",
                      "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 1.0; }, { kernel = \"Cmem\"; "
                      "work_s = 0.7; }, { kernel = \"Mmul\"; work_s = 0.5; arrival_s = 0.2; }, { kernel = "
                      "\"SVM\"; work_s = 0.8; } );");
    const char *keys =
        "seed = 1; rows = 8; cols = 8; gpus = 4; policy = \"MG-COLD\"; tick = \"events\"; tick_s = 1e-4;";
    struct tmx_run *one = open_run("mix = \"%s\"; %s", mix, keys),
                   *two = open_run("mix = \"%s\"; %s threads = 3;", mix, keys);
    struct tmx_err err = {0};
    assert_int_equal(tmx_sim_advance(tmx_run_sim(one), 5000, NULL, &err), TMX_OK);
    assert_int_equal(tmx_sim_advance(tmx_run_sim(two), 5000, NULL, &err), TMX_OK);
    executed(one);
    executed(two);
    for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
        const double a = tmx_run_metric(one, m), b = tmx_run_metric(two, m);
        if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b))) {
            fail_msg("%s: %.17g and %.17g", m->name, a, b);
        }
    }
    tmx_run_destroy(one);
    tmx_run_destroy(two);
}

static void no_step_takes_memory(void **state)
{
    const char *mix =
        scratch_write("events_memory.cfg",
                      "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 0.3; }, { kernel = \"Cmem\"; "
                      "work_s = 0.2; arrival_s = 0.1; } );");
    static const char *const policies[] = {"BL", "DVFS", "MA"};
    for (size_t i = 0; i < 2 * sizeof policies / sizeof policies[0]; i++) {
        struct tmx_run *run = open_run("mix = \"%s\"; seed = 1; rows = 8; cols = 8; policy = \"%s\"; "
                                       "package = { init_temp = 358.15; }; throttle = { trip_c = 86.0; "
                                       "release_c = 85.0; }; tick_s = 1e-3; tick = \"%s\";",
                                       mix, policies[i / 2], i % 2 ? "events" : "fixed");
        struct tmx_err err = {0};
        const size_t before = allocations;
        assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 1000, NULL, &err), TMX_OK);
        assert_int_equal(allocations, before);
        tmx_run_destroy(run);
    }
}

TMX_TESTS(test_events)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leakage_in_a_span_is_what_ticks_come_to_as_they_shrink),
        cmocka_unit_test(work_that_ends_with_a_tick_leaves_none),
        cmocka_unit_test(random_runs_are_as_near_to_tiny_ticks_as_fixed_ones_or_nearer),
        cmocka_unit_test(the_cost_does_not_grow_as_the_tick_shrinks),
        cmocka_unit_test(a_chip_that_idles_for_an_hour_takes_few_steps),
        cmocka_unit_test(the_throttle_trips_at_the_samples_at_which_it_tripped),
        cmocka_unit_test(bytes_depend_neither_on_threads_nor_on_a_snapshot),
        cmocka_unit_test(no_step_takes_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
