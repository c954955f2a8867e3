/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card from rows of limit, speed and watts: rows that the law makes give its constants back, what they give
 * under a limit can be computed by hand, and mistakes are named. */
#include "power/limits.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/tiny.h"

static const double truth[TMX_N_LIMIT] = {
    [TMX_LIMIT_FLOOR] = 60, [TMX_LIMIT_KNEE] = 0.7, [TMX_LIMIT_VOLT] = 0.75, [TMX_LIMIT_WAIT] = 0.2};

/* At the knee volts are 0.75: 60 (0.6 + 0.4 x 0.75) = 54 W and D 0.75^2 0.7; without a limit all of D. */
static void a_limit_is_met_at_the_clock_that_draws_it(void **state)
{
    const struct tmx_limit_load load = {.speed = 1, .dynamic_w = 200, .waits = 0};
    const double at_knee_w = 54 + 200 * 0.5625 * 0.7;
    struct tmx_limit_point at = tmx_limit_at(truth, &load, at_knee_w);
    check_close(at.speed, 0.7, 1e-9, 0);
    check_close(at.power_w, at_knee_w, 1e-9, 0);
    at = tmx_limit_at(truth, &load,
                      54 + 200 * 0.5625 * 0.35); /* half of that clock: half of the watts above the floor */
    check_close(at.speed, 0.35, 1e-9, 0);
    at = tmx_limit_at(truth, &load, 300);
    check_close(at.speed, 1, 0, 0);
    check_close(at.power_w, 260, 1e-12, 0);
    /* a fifth of the time at the top clock waits and draws 60 + 0.2 x 200 */
    const struct tmx_limit_load waiting = {.speed = 1, .dynamic_w = 200, .waits = 0.2};
    at = tmx_limit_at(truth, &waiting, at_knee_w);
    const double time = 0.8 / 0.7 + 0.2;
    check_close(at.speed, 1 / time, 1e-9, 0);
    check_close(at.power_w, (0.8 / 0.7 * at_knee_w + 0.2 * 100) / time, 1e-9, 0);
}

static const char *made(void)
{
    static const struct tmx_limit_load loads[] = {
        {3, 220, 0.1}, {40, 150, 0.3}, {0.5, 260, 0.02}, {7, 30, 0.5}};
    static char text[4096];
    size_t n =
        (size_t)snprintf(text, sizeof text, "network,batch,power_limit,time_per_epoch,average_power\n");
    for (size_t i = 0; i < 4; i++) {
        for (int limit_w = 100; limit_w <= 300; limit_w += 25) {
            const struct tmx_limit_point at = tmx_limit_at(truth, &loads[i], limit_w);
            n += (size_t)snprintf(text + n, sizeof text - n, "net,%zu,%d,%.12g,%.12g\n", i, limit_w,
                                  1 / (loads[i].speed * at.speed), at.power_w);
        }
    }
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "net,4,100,1,120\nnet,4,125,1,140\n"); /* limits that are not kept */
    return text;
}

static void rows_of_the_law_give_it_back(void **state)
{
    struct tmx_limit_rows r;
    struct tmx_limit_fit fit;
    struct tmx_err err = {0};
    if (tmx_limit_rows_load(&r, scratch_write("limits.csv", made()), NULL, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(r.n_load, 4);
    assert_int_equal(r.n_row, 36);
    assert_int_equal(r.n_left_out, 2);
    assert_string_equal(r.load[1], "net 1");
    if (tmx_limit_fit(&r, &fit, &err)) {
        fail_msg("%s", err.msg);
    }
    for (size_t i = 0; i < TMX_N_LIMIT; i++) {
        check_close(fit.card[i], truth[i], 1e-3, 0);
        assert_true(fit.error[i] < 0.02 * truth[i]);
    }
    check_close(fit.load[2].dynamic_w, 260, 1e-2, 0);
    check_close(fit.load[1].waits, 0.3, 1e-2, 0);
    check_close(fit.load[1].speed, 40, 1e-3, 0);
    tmx_limit_fit_finish(&fit);
    tmx_limit_rows_finish(&r);
    assert_int_equal(tmx_limit_rows_load(&r, scratch_write("limits.csv", made()), "net 1", &err), TMX_OK);
    assert_int_equal(r.n_load, 1);
    assert_int_equal(tmx_limit_fit(&r, &fit, &err), TMX_EPARSE); /* one load */
    tmx_limit_fit_finish(&fit);
    tmx_limit_rows_finish(&r);
    err = (struct tmx_err){0};
    char text[4096] = "load,limit_w,speed,power_w\n"; /* two that differ in their last letter */
    for (int i = 0; i < 6; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%0400d,%d,1,90\n", i / 3, 100 + i % 3);
    }
    assert_int_equal(tmx_limit_rows_load(&r, scratch_write("limits.csv", text), NULL, &err), TMX_OK);
    assert_int_equal(r.n_load, 2);
    tmx_limit_rows_finish(&r);
}

static void mistakes_are_named(void **state)
{
    static const char *const bad[][2] = {
        {"load,limit_w,power_w\na,100,90\n", "either speed or time_s"},
        {"load,limit_w,speed,time_s,power_w\na,100,1,1,90\n", "either speed or time_s"},
        {"load,limit_w,speed,power_w\na,100,1,90\na,100,-1,90\n", "all positive"},
        {"load,limit_w,speed,power_w\na,100,fast,90\n", "all positive"},
        {"load,limit_w,time_s,power_w\na,100,0,90\n", "all positive"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tmx_limit_rows r;
        struct tmx_err err = {0};
        assert_int_equal(tmx_limit_rows_load(&r, scratch_write("limits.csv", bad[i][0]), NULL, &err),
                         TMX_EPARSE);
        if (!strstr(err.msg, bad[i][1]) || err.line == 0) {
            fail_msg("\"%s\" at line %u", err.msg, err.line);
        }
        tmx_limit_rows_finish(&r);
    }
}

TMX_TESTS(test_limits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_met_at_the_clock_that_draws_it),
        cmocka_unit_test(rows_of_the_law_give_it_back),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
