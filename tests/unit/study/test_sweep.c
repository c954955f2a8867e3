/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/text.h"
#include "study/results.h"
#include "study/sweep.h"

static enum tmx_status load(struct tmx_sweep *s, const char *text, struct tmx_err *err)
{
    char path[] = "/tmp/tmx-sweep-XXXXXX";
    const int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "name = \"t\"; base = \"b.cfg\";\n%s\n", text);
    fclose(f);
    const enum tmx_status st = tmx_sweep_load(s, path, err);
    unlink(path);
    return st;
}

static double real(const struct tmx_sweep *s, size_t point, size_t key)
{
    const char *v = tmx_sweep_value(s, point, key);
    double x = 0;
    assert_true(tmx_span_real((struct tmx_span){v, v + strlen(v)}, &x));
    return x;
}

static void a_grid_has_every_combination_last_axis_fastest(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(load(&s,
                          "axes = ( { key = \"a.x\"; range = { from = 0.1; to = 0.3; steps = 3; }; },"
                          " { keys = [\"p\", \"q\"]; values = ( (\"BL\", 1), (\"MU\", 2) ); } );",
                          NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, 6);
    assert_int_equal(s.n_key, 3);
    struct tmx_runs runs;
    struct tmx_sets sets = {0};
    tmx_sweep_runs(&s, &runs);
    assert_int_equal(runs.sets(runs.ctx, 5, &sets, NULL), TMX_OK);
    assert_int_equal(sets.n, 3);
    assert_string_equal(sets.set[0].text, "a.x=0.3");
    tmx_sets_finish(&sets);
    assert_int_equal(runs.sets(runs.ctx, 2, &sets, NULL), TMX_OK);
    assert_string_equal(sets.set[1].text, "p=\"BL\"");
    tmx_sets_finish(&sets);
    assert_string_equal(tmx_sweep_value(&s, 1, 2), "2");
    assert_string_equal(tmx_sweep_value(&s, 2, 0), "0.2");
    tmx_sweep_finish(&s);
}

static void listed_values_keep_all_digits(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(
        load(&s, "axes = ( { key = \"x\"; values = [0.12345678901234567, 0.3, 80.0, 1e-30]; } );", NULL),
        TMX_OK);
    assert_true(real(&s, 0, 0) == 0.12345678901234567);
    assert_string_equal(tmx_sweep_value(&s, 1, 0), "0.3");
    assert_string_equal(tmx_sweep_value(&s, 2, 0), "80");
    assert_true(real(&s, 3, 0) == 1e-30);
    tmx_sweep_finish(&s);
}

static void ranges_keep_all_digits(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(
        load(&s,
             "axes = ( { key = \"x\"; range = { from = 0.12345678901234567; to = 1.0; steps = 4; }; }, "
             "{ key = \"y\"; range = { from = 0.1; to = 0.4; steps = 4; }; } );",
             NULL),
        TMX_OK);
    assert_true(real(&s, 0, 0) == 0.12345678901234567);
    assert_true(real(&s, 4, 0) == 0.12345678901234567 + 1.0 / 3 * (1.0 - 0.12345678901234567));
    assert_true(real(&s, 12, 0) == 1.0);
    assert_string_equal(tmx_sweep_value(&s, 2, 1), "0.3");
    tmx_sweep_finish(&s);
}

static void log_axes_have_equal_ratios(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(
        load(&s, "axes = ( { key = \"x\"; log = { from = 1; to = 1000; steps = 4; }; } );", NULL), TMX_OK);
    for (size_t i = 0; i < 4; i++) {
        check_close(real(&s, i, 0), pow(10, (double)i), 1e-11, 0);
    }
    tmx_sweep_finish(&s);
}

static void repetitions_have_their_own_seeds(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(load(&s, "repeat = 3; seed = 7; axes = ( { key = \"x\"; values = [1, 2]; } );", NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, 6);
    assert_string_equal(s.key[1], "seed");
    assert_string_equal(tmx_sweep_value(&s, 5, 1), "9");
    tmx_sweep_finish(&s);
}

static void constraints_drop_points(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(
        load(&s,
             "axes = ( { key = \"x\"; values = [1, 2, 3]; }, { key = \"y\"; values = [1, 2, 3]; } );"
             "constraints = ( (\"x\", \"<=\", \"y\"), (\"y\", \"!=\", 2) );",
             NULL),
        TMX_OK);
    assert_int_equal(s.n_point, 4); /* 1,1 1,3 2,3 3,3 */
    assert_string_equal(tmx_sweep_value(&s, 2, 0), "2");
    tmx_sweep_finish(&s);
}

static void a_latin_hypercube_has_one_point_in_every_stratum(void **state)
{
    (void)state;
    struct tmx_sweep s;
    enum { N = 40 };
    assert_int_equal(load(&s,
                          "sample = { method = \"latin\"; n = 40; }; seed = 3;"
                          "axes = ( { key = \"x\"; range = { from = 0; to = 40; }; },"
                          " { key = \"y\"; range = { from = -40; to = 0; }; } );",
                          NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, N);
    for (size_t k = 0; k < 2; k++) {
        bool hit[N] = {false};
        for (size_t i = 0; i < N; i++) {
            const size_t stratum = (size_t)(real(&s, i, k) + (k ? 40 : 0));
            assert_true(stratum < N && !hit[stratum]);
            hit[stratum] = true;
        }
    }
    tmx_sweep_finish(&s);
}

static void a_sobol_design_changes_one_axis_at_a_time(void **state)
{
    (void)state;
    struct tmx_sweep s;
    assert_int_equal(load(&s,
                          "sample = { method = \"indices\"; n = 8; };"
                          "axes = ( { key = \"x\"; range = { from = 0; to = 1; }; },"
                          " { key = \"y\"; range = { from = 0; to = 1; }; } );",
                          NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, 8 * 4);
    for (size_t b = 0; b < s.n_point; b += 4) {
        assert_string_equal(tmx_sweep_value(&s, b + 2, 0), tmx_sweep_value(&s, b + 1, 0));
        assert_string_equal(tmx_sweep_value(&s, b + 2, 1), tmx_sweep_value(&s, b, 1));
        assert_string_equal(tmx_sweep_value(&s, b + 3, 0), tmx_sweep_value(&s, b, 0));
        assert_string_equal(tmx_sweep_value(&s, b + 3, 1), tmx_sweep_value(&s, b + 1, 1));
    }
    tmx_sweep_finish(&s);
}

static void samples_depend_on_the_seed_alone(void **state)
{
    (void)state;
    static const char text[] = "sample = { method = \"random\"; n = 5; }; seed = %d;"
                               "axes = ( { key = \"x\"; log = { from = 1; to = 8; }; } );";
    struct tmx_sweep a, b, c;
    char buf[256];
    snprintf(buf, sizeof buf, text, 1);
    assert_int_equal(load(&a, buf, NULL), TMX_OK);
    assert_int_equal(load(&b, buf, NULL), TMX_OK);
    snprintf(buf, sizeof buf, text, 2);
    assert_int_equal(load(&c, buf, NULL), TMX_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(tmx_sweep_value(&a, i, 0), tmx_sweep_value(&b, i, 0));
        assert_string_not_equal(tmx_sweep_value(&a, i, 0), tmx_sweep_value(&c, i, 0));
        assert_true(real(&a, i, 0) >= 1 && real(&a, i, 0) <= 8);
    }
    tmx_sweep_finish(&a);
    tmx_sweep_finish(&b);
    tmx_sweep_finish(&c);
}

static void bad_studies_are_refused_with_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"axes = ( { key = \"x\"; values = []; } );", "axis x has no values"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 1; steps = 4; }; } );",
         "axis x: the range is empty (from 1 to 1 in 4 steps)"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 2; }; } );",
         "axis x: the range is empty (from 1 to 2 in 0 steps)"},
        {"axes = ( { key = \"x\"; values = [1]; }, { key = \"x\"; values = [2]; } );",
         "key x is on two axes"},
        {"axes = ( { key = \"x\"; value = [1]; } );", "unknown key \"value\", did you mean \"values\"?"},
        {"axes = ( { values = [1]; } );", "an axis has either key or keys"},
        {"axes = ( { key = \"x\"; } );", "axis x has neither values, range nor log"},
        {"axes = ( { key = \"x\"; log = { from = 0; to = 1; steps = 2; }; } );",
         "a log axis needs from and to above 0"},
        {"axes = ( { keys = [\"a\", \"b\"]; values = ( (1, 2), (3) ); } );",
         "each value of these keys is a list of 2"},
        {"axes = ( { key = \"x\"; values = [1]; } ); constraints = ( (\"x\", \">\", 5) );",
         "the constraints leave no point"},
        {"axes = ( { key = \"x\"; values = [1]; } ); constraints = ( (\"y\", \">\", 5) );",
         "constraint: \"y\" is neither a number nor an axis of numbers"},
        {"axes = ( { key = \"x\"; values = [1]; } ); constraints = ( (\"x\", \"~\", 5) );",
         "a constraint is (left, relation, right) with < <= > >= == !="},
        {"sample = { method = \"latni\"; n = 3; }; axes = ( { key = \"x\"; values = [1]; } );", NULL},
        {"axis = 3;", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tmx_sweep s;
        struct tmx_err err = {0};
        assert_int_equal(load(&s, cases[i].text, &err), TMX_ECONFIG);
        assert_true(err.file[0] != '\0');
        if (cases[i].message) {
            assert_string_equal(err.msg, cases[i].message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_has_every_combination_last_axis_fastest),
        cmocka_unit_test(listed_values_keep_all_digits),
        cmocka_unit_test(ranges_keep_all_digits),
        cmocka_unit_test(log_axes_have_equal_ratios),
        cmocka_unit_test(repetitions_have_their_own_seeds),
        cmocka_unit_test(constraints_drop_points),
        cmocka_unit_test(a_latin_hypercube_has_one_point_in_every_stratum),
        cmocka_unit_test(a_sobol_design_changes_one_axis_at_a_time),
        cmocka_unit_test(samples_depend_on_the_seed_alone),
        cmocka_unit_test(bad_studies_are_refused_with_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
