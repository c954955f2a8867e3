/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unit gating in the loop: what sleeps does not leak, what is slowed takes longer, nothing is lost. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include "base/config.h"
#include "run/run.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

struct outcome {
    double leakage_j, saved_j, dynamic_j, total_j, makespan_s, mean_temp_c, error_points;
};

/* One run without throttling; leakage at 20 W whatever the temperature, so that it can be counted by hand.
 * where: key chip or topology, and more. */
#define LEAK "chip_power = { leakage_w = 20.0; leakage_exp_per_k = 0.0; }"

static struct outcome run(const char *where, const char *policy)
{
    char text[1024];
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    struct tmx_err err = {0};
    snprintf(text, sizeof text,
             "%s; mix = \"micro60\"; policy = \"BL\"; seed = 1; tick_s = 0.05; quantum_s = 0.05; "
             "rows = 8; cols = 8; "
             "throttle = { trip_c = 199.0; release_c = 198.0; }; "
             "gate = { policy = \"%s\"; instructions = 20000; };",
             where, policy);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    if (tmx_run_create(&r, tmx_config_root(cfg), NULL, &err) || tmx_run_execute(r, NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const struct outcome o = {metric(r, "leakage_j"),
                              metric(r, "gating_saved_j"),
                              metric(r, "dynamic_j"),
                              metric(r, "energy_j"),
                              metric(r, "makespan_s"),
                              metric(r, "mean_temp_c"),
                              metric(r, "gate_asleep_error_points")};
    tmx_run_destroy(r);
    tmx_config_close(cfg);
    return o;
}

static void what_sleeps_does_not_leak(void **state)
{
    static const char *const chips[] = {"chip = \"gtx280\"; " LEAK, "chip = \"gtx480_units\"; " LEAK};
    for (size_t i = 0; i < 2; i++) {
        const struct outcome none = run(chips[i], "none"), gated = run(chips[i], "warped_gates");
        assert_true(none.saved_j == 0 && none.error_points == 0);
        /* leakage spent and saved add up to 20 W all the time, gated or not */
        check_close(none.leakage_j / none.makespan_s, 20, 1e-3, 0);
        check_close((gated.leakage_j + gated.saved_j) / gated.makespan_s, 20, 1e-3, 0);
        /* the same work takes longer and costs the same dynamic energy */
        assert_true(gated.makespan_s >= none.makespan_s);
        check_close(gated.dynamic_j, none.dynamic_j, 1e-3, 0);
        /* INT and FP leak 16.4 % of 20 W; a micro-kernel keeps its units busy, so little is saved, but some
         */
        assert_true(gated.saved_j < 0.17 * 20 * gated.makespan_s);
        assert_true(gated.saved_j > -0.02 * 20 * gated.makespan_s);
        assert_true(gated.error_points < 10);
    }
}

#define GPU(name, chip) "{ name = \"" name "\"; chip = \"" chip "\"; card = \"" name "\"; }"
#define FAN(name)                                                           \
    "{ name = \"" name "\"; card = \"" name                                 \
    "\"; min_rpm = 1000.0; max_rpm = 3000.0; power_w = 5.0; flow_m3_per_s " \
    "= 0.01; noise_dba = 40.0; curve = ( { temp_c = 40.0; speed = 1.0; } ); }"
#define CARD(name) "{ name = \"" name "\"; fit_a_k_per_w = 0.05; fit_b_k_per_w = 100.0; }"
#define NODE(chip0, chip1)                                                                       \
    "name = \"mixed\"; inlet_c = 45.0; cards = ( " CARD("a") ", " CARD("b") " ); fans = ( " FAN( \
        "a") ", " FAN("b") " ); "                                                                \
                           "gpus = ( " GPU("a", chip0) ", " GPU("b", chip1) " );"

enum { MAX_UNIT = 512 };

/* What one kernel a GPU lets sleep, [n_unit] of all GPUs one after another; the number of units. */
static size_t asleep(const char *where, const char *mix, int seed, double share[MAX_UNIT],
                     double *error_points)
{
    char text[1024];
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    struct tmx_err err = {0};
    snprintf(text, sizeof text,
             "%s; mix = \"%s\"; policy = \"MG-BL\"; seed = %d; tick_s = 0.05; quantum_s = 0.05; rows = 8; "
             "cols = 8; warmup_s = 0.0; gate = { policy = \"warped_gates\"; instructions = 20000; };",
             where, mix, seed);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    if (tmx_run_create(&r, tmx_config_root(cfg), NULL, &err) || tmx_sim_tick(tmx_run_sim(r), &err) ||
        tmx_sim_tick(tmx_run_sim(r), &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const struct tmx_frame *f = &tmx_run_sim(r)->frame;
    const size_t n = f->n_unit;
    assert_true(n <= MAX_UNIT);
    memcpy(share, f->asleep, n * sizeof *share);
    *error_points = metric(r, "gate_asleep_error_points");
    tmx_run_destroy(r);
    tmx_config_close(cfg);
    return n;
}

/* Each kind of GPU runs its kernels on its own SM: in a mixed node a chip's units sleep as they do alone, and
 * the error reported is the larger of the two chips'. */
static void kinds_have_the_profiles_of_their_chips(void **state)
{
    static double a[MAX_UNIT], b[MAX_UNIT], both[MAX_UNIT];
    double error_a, error_b, error;
    scratch_write("gate_mixed.cfg", NODE("gtx280", "gtx480_units"));
    scratch_write("gate_one.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 5.0; } );");
    scratch_write("gate_two.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 5.0; }, "
                                  "{ kernel = \"SVM\"; work_s = 5.0; } );");
    const size_t n_a = asleep("chip = \"gtx280\"", "gate_one.cfg", 1, a, &error_a),
                 n_b = asleep("chip = \"gtx480_units\"", "gate_one.cfg", 1, b, &error_b);
    assert_int_equal(asleep("topology = \"gate_mixed.cfg\"", "gate_two.cfg", 1, both, &error), n_a + n_b);
    assert_true(error_a != error_b && error == fmax(error_a, error_b));
    for (size_t u = 0; u < n_a; u++) {
        check_close(both[u], a[u], 1e-12, 0);
    }
    double sum = 0;
    for (size_t u = 0; u < n_b; u++) {
        check_close(both[n_a + u], b[u], 1e-12, 0);
        sum += b[u];
    }
    assert_true(sum != 0);
}

/* The mix is the same, so what differs is the streams that the profile ran. */
static void a_seed_is_of_the_streams_too(void **state)
{
    static double one[MAX_UNIT], two[MAX_UNIT], again[MAX_UNIT];
    double error[3];
    scratch_write("gate_seed.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 5.0; } );");
    const size_t n = asleep("chip = \"gtx280\"", "gate_seed.cfg", 1, one, &error[0]);
    asleep("chip = \"gtx280\"", "gate_seed.cfg", 2, two, &error[1]);
    asleep("chip = \"gtx280\"", "gate_seed.cfg", 2, again, &error[2]);
    assert_true(error[0] != error[1] && error[1] == error[2]);
    assert_memory_not_equal(one, two, n * sizeof *one);
    assert_memory_equal(two, again, n * sizeof *two);
}

TMX_TESTS(test_gate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sleeps_does_not_leak),
        cmocka_unit_test(a_seed_is_of_the_streams_too),
        cmocka_unit_test(kinds_have_the_profiles_of_their_chips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
