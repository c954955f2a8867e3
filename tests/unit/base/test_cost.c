/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cost.h"
#include "base/os.h"

static void what_takes_too_long_is_refused_and_says_what_allows_it(void **state)
{
    struct tmx_err err = {0};
    unsetenv("THERMIX_MAX_MINUTES");
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 599}, &err, "x"), TMX_OK);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 7200}, &err, "a grid of %d", 7), TMX_ERANGE);
    assert_string_equal(
        err.msg, "a grid of 7: needs about 2 h of computing, more than 10 min; --max-minutes 360 allows it");
    setenv("THERMIX_MAX_MINUTES", "360", 1);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 7200}, &err, "x"), TMX_OK);
    setenv("THERMIX_MAX_MINUTES", "0.5", 1);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 31}, &err, "x"), TMX_ERANGE);
    setenv("THERMIX_MAX_MINUTES", "many", 1); /* no number: the usual bound */
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 31}, &err, "x"), TMX_OK);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.seconds = 601}, &err, "x"), TMX_ERANGE);
    unsetenv("THERMIX_MAX_MINUTES");
}

static void what_needs_more_memory_than_there_is_is_refused(void **state)
{
    struct tmx_err err = {0};
    const double all = tmx_os_memory_bytes();
    assert_true(all > 1e8);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.bytes = 0.5 * all}, &err, "x"), TMX_OK);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.bytes = 2 * all}, &err, "x"), TMX_ERANGE);
    assert_non_null(strstr(err.msg, "--max-gb"));
    setenv("THERMIX_MAX_GB", "0.001", 1);
    assert_int_equal(tmx_cost_check((struct tmx_cost){.bytes = 2e6}, &err, "x"), TMX_ERANGE);
    unsetenv("THERMIX_MAX_GB");
    struct rlimit old, new;
    assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
    new = (struct rlimit){(rlim_t)(0.5 * all), old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_DATA, &new), 0);
    check_close(tmx_os_memory_bytes(), (double)new.rlim_cur, 1, 0);
    assert_int_equal(setrlimit(RLIMIT_DATA, &old), 0);
}

static void times_are_said_in_a_unit_that_fits(void **state)
{
    static const struct {
        double s;
        const char *text;
    } rows[] = {{12, "12 s"},    {99, "99 s"},    {150, "2.5 min"},
                {600, "10 min"}, {36000, "10 h"}, {1e6, "12 days"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[40];
        tmx_cost_time(rows[i].s, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

static void a_failure_without_a_line_is_one_of_the_place_that_asked(void **state)
{
    struct tmx_err err = {0};
    assert_int_equal(tmx_fail_at(&err, TMX_EIO, "a.flp", 0, "cannot open"), TMX_EIO);
    assert_int_equal(tmx_fail_from(&err, TMX_EIO, "b.cfg", 7, "floorplan"), TMX_EIO);
    char text[600];
    tmx_err_format(&err, text, sizeof text);
    assert_string_equal(text, "b.cfg:7: floorplan: a.flp: cannot open");
    assert_int_equal(tmx_fail_from(&err, TMX_EIO, "c.cfg", 9, "chip"), TMX_EIO); /* has its line by now */
    assert_string_equal(err.file, "b.cfg");
    assert_int_equal(tmx_fail(&err, TMX_ENOMEM, "no memory"), TMX_ENOMEM); /* nobody's fault */
    assert_int_equal(tmx_fail_from(&err, TMX_ENOMEM, "b.cfg", 7, "floorplan"), TMX_ENOMEM);
    assert_string_equal(err.file, "");
    assert_int_equal(tmx_fail_from(NULL, TMX_EIO, "b.cfg", 7, ""), TMX_EIO);
    assert_int_equal(tmx_fail_from(&err, TMX_OK, "b.cfg", 7, ""), TMX_OK);
}

TMX_TESTS(test_cost)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_too_long_is_refused_and_says_what_allows_it),
        cmocka_unit_test(what_needs_more_memory_than_there_is_is_refused),
        cmocka_unit_test(times_are_said_in_a_unit_that_fits),
        cmocka_unit_test(a_failure_without_a_line_is_one_of_the_place_that_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
