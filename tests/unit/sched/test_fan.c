/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fan policies as scenarios: temperature in, speed out. */
#include <stdlib.h>
#include <string.h>

#include "core/topology/topology.h"
#include "sched/sched.h"
#include "tests/support/check.h"

static const struct tmx_fan_policy *policy(const char *name, void **state)
{
    for (size_t i = 0; tmx_fan_policies[i]; i++) {
        if (strcmp(tmx_fan_policies[i]->base.name, name) == 0) {
            assert_int_equal(tmx_plugin_state(&tmx_fan_policies[i]->base, NULL, NULL, state, NULL), TMX_OK);
            return tmx_fan_policies[i];
        }
    }
    fail_msg("no policy %s", name);
    return NULL;
}

static const struct tmx_fan fan = {
    .min_rpm = 500, .max_rpm = 2500, .curve = {{40, 0.3}, {60, 0.5}, {90, 1.0}}, .n_curve = 3};

struct rig {
    const struct tmx_fan_policy *p;
    void *state;
    double speed, memory[TMX_FAN_MEMORY];
    bool first;
};

static double step(struct rig *r, double hottest_c, double dt_s)
{
    const struct tmx_fan_view v = {.min_rpm = fan.min_rpm,
                                   .max_rpm = fan.max_rpm,
                                   .curve = fan.curve,
                                   .n_curve = fan.n_curve,
                                   .hottest_c = hottest_c,
                                   .speed = r->speed,
                                   .dt_s = r->first ? 0 : dt_s,
                                   .memory = r->memory};
    r->first = false;
    r->speed = fmin(fmax(r->p->speed(r->state, &v), 0), 1);
    return r->speed;
}

static void the_curve_is_followed_up_at_once_and_down_after_the_hysteresis(void **state)
{
    struct rig r = {.first = true};
    r.p = policy("curve", &r.state);
    check_close(step(&r, 50, 1), 0.4, 1e-12, 0);
    check_close(step(&r, 54, 1), 0.44, 1e-12, 0);
    check_close(step(&r, 52.5, 1), 0.44, 1e-12, 0); /* within 2 K */
    check_close(step(&r, 50, 1), 0.42, 1e-12, 0);   /* 2 K above 50 */
    check_close(step(&r, 51, 1), 0.42, 1e-12, 0);
    free(r.state);
}

static void the_slew_limit_holds(void **state)
{
    struct rig r = {.first = true};
    r.p = policy("curve", &r.state);
    step(&r, 40, 1);
    for (int i = 1; i <= 10; i++) {
        check_close(step(&r, 95, 0.5), fmin(0.3 + 0.05 * i, 1), 1e-12, 0);
    }
    free(r.state);
}

static void the_slew_limit_holds_downwards_too(void **state)
{
    struct rig r = {.first = true};
    r.p = policy("curve", &r.state);
    check_close(step(&r, 95, 0.5), 1, 0, 0); /* the first speed is the curve's, whatever the slew */
    for (int i = 1; i <= 10; i++) {
        check_close(step(&r, 20, 0.5), fmax(1 - 0.05 * i, 0.3), 1e-12, 0);
    }
    free(r.state);
}

/* The defaults: 80 degC, 0.02 of full speed a kelvin, 0.002 a kelvin and second. The slowest is 500 of
 * 2500 rpm. */
static void pi_adds_its_two_parts(void **state)
{
    static const struct {
        double temp_c, dt_s, want;
    } rows[] = {
        {95, 0, 0.30},  /* 15 K above: no time has passed, no integral */
        {95, 1, 0.33},  /* 0.002 x 15 */
        {95, 2, 0.39},  /* 0.06 more */
        {85, 1, 0.20},  /* 0.1 + 0.1 */
        {79, 1, 0.20},  /* would be 0.078: the fan's slowest */
        {130, 1, 1},    /* 1.0 + 0.198 */
        {60, 10, 0.20}, /* the integral is empty */
        {81, 1, 0.20},  /* and stays at 0.002, not below 0 */
        {95, 1, 0.332}, /* 0.3 + 0.002 + 0.03 */
    };
    struct rig r = {.first = true};
    r.p = policy("pi", &r.state);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_close(step(&r, rows[i].temp_c, rows[i].dt_s), rows[i].want, 1e-12, 0);
    }
    free(r.state);
}

/* A chip whose temperature falls linearly with the speed: the controller reaches the target. */
static void pi_reaches_its_target_and_does_not_wind_up(void **state)
{
    struct rig r = {.first = true};
    double temp_c = 90;
    r.p = policy("pi", &r.state);
    for (int i = 0; i < 2000; i++) { /* far too hot for long: the integral stays in bounds */
        step(&r, 120, 0.5);
    }
    check_close(r.speed, 1, 0, 0);
    for (int i = 0; i < 4000; i++) {
        const double v = step(&r, temp_c, 0.5);
        temp_c += 0.1 * (100 - 40 * v - temp_c); /* 80 degC at half speed */
    }
    check_close(temp_c, 80, 0, 0.01);
    check_close(r.speed, 0.5, 0, 0.001);
    free(r.state);
}

static void fixed_never_moves_and_says_so(void **state)
{
    struct rig r = {.first = true};
    r.p = policy("fixed", &r.state);
    check_close(step(&r, 20, 1), 1, 0, 0);
    check_close(step(&r, 200, 1), 1, 0, 0);
    assert_non_null(r.p->constant);
    check_close(r.p->constant(r.state), 1, 0, 0);
    free(r.state);
}

TMX_TESTS(test_fan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_is_followed_up_at_once_and_down_after_the_hysteresis),
        cmocka_unit_test(the_slew_limit_holds),
        cmocka_unit_test(the_slew_limit_holds_downwards_too),
        cmocka_unit_test(pi_adds_its_two_parts),
        cmocka_unit_test(pi_reaches_its_target_and_does_not_wind_up),
        cmocka_unit_test(fixed_never_moves_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
