/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fan that knows its price stands where energy x time is about least: beside fixed speeds, on the kernel
 * whose clock the limit lowers most. */
#include "tests/support/check.h"
#include "tests/support/open_run.h"

enum { TICKS_WARM = 20000, TICKS = 2000 }; /* of 5 ms */

static double done_sm_s(const struct tmx_sim *sim)
{
    const struct tmx_machine *m = sim->machine;
    double s = 0;
    for (size_t j = 0; j < m->n_job; j++) {
        s += m->job[j].done_sm_s;
    }
    return s;
}

/* A run with this fan; tmx_run_destroy. */
static struct tmx_run *open_fan(const char *fan)
{
    return open_run("topology = \"gtx280-fast\"; mix = \"WL7\"; seed = 1; tick_s = 0.005; warmup_s = 0.0; "
                    "rows = 8; cols = 8; "
                    "policy = \"foresight\"; package = { init_temp = 345.0; }; fan = { %s };",
                    fan);
}

/* Energy x time of a piece of work done as in the last ticks, relative: watts over work squared. */
static double energy_time(const char *fan, double *rpm)
{
    struct tmx_err err = {0};
    struct tmx_run *run = open_fan(fan);
    struct tmx_sim *sim = tmx_run_sim(run);
    assert_int_equal(tmx_sim_advance(sim, TICKS_WARM, NULL, &err), TMX_OK);
    double energy_j = -sim->recorder->total_j - tmx_sim_cooling_ledger(sim).fan_j;
    const double before_sm_s = done_sm_s(sim);
    for (int i = 0; i < TICKS; i++) {
        assert_int_equal(tmx_sim_tick(sim, &err), TMX_OK);
    }
    energy_j += sim->recorder->total_j + tmx_sim_cooling_ledger(sim).fan_j;
    const double speed = (done_sm_s(sim) - before_sm_s) / (30 * 0.005 * TICKS);
    *rpm = sim->cooling->rpm[0];
    tmx_run_destroy(run);
    return energy_j / (speed * speed);
}

static void the_fan_stands_where_energy_times_time_is_least(void **state)
{
    static const char *const fixed[] = {
        "policy = \"fixed\"; speed = 0.4;", "policy = \"fixed\"; speed = 0.55;",
        "policy = \"fixed\"; speed = 0.7;", "policy = \"fixed\"; speed = 0.85;",
        "policy = \"fixed\"; speed = 1.0;"};
    double rpm, least = INFINITY, most = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        const double v = energy_time(fixed[i], &rpm);
        least = fmin(least, v);
        most = fmax(most, v);
    }
    const double ours = energy_time("policy = \"price\";", &rpm);
    if (!(ours < 1.01 * least && most > 1.05 * least && rpm > 2000 && rpm < 3900)) {
        fail_msg("%.1f, fixed speeds %.1f to %.1f; %.0f rpm", ours, least, most, rpm);
    }
}

/* Another worth of time, another speed. */
static void time_that_is_worth_more_turns_the_fan_faster(void **state)
{
    double slow_rpm, fast_rpm;
    (void)energy_time("policy = \"price\"; weight = 0.0;", &slow_rpm);
    (void)energy_time("policy = \"price\"; weight = 3.0;", &fast_rpm);
    assert_true(slow_rpm + 300 < fast_rpm);
}

TMX_TESTS(test_price)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fan_stands_where_energy_times_time_is_least),
        cmocka_unit_test(time_that_is_worth_more_turns_the_fan_faster),
    };
    return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}
