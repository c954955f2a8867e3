/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/run.h"
#include "study/analysis/analysis.h"
#include "study/results.h"
#include "study/sweep.h"

static enum tmx_status load(struct tmx_sweep *s, const char *body, struct tmx_err *err)
{
    char path[] = "/tmp/tmx-sweep-XXXXXX";
    const int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "name = \"t\"; base = \"b.cfg\";\n%s\n", body);
    fclose(f);
    const enum tmx_status st = tmx_sweep_load(s, path, err);
    unlink(path);
    return st;
}

static double real(const struct tmx_sweep *s, size_t point, size_t key)
{
    double x = 0;
    assert_true(tmx_scalar_real(tmx_sweep_value(s, point, key), &x));
    return x;
}

static const char *text(const struct tmx_sweep *s, size_t point, size_t key)
{
    static char buf[TMX_REAL_SIZE];
    return tmx_scalar_plain(tmx_sweep_value(s, point, key), buf);
}

static void a_pivot_of_many_values_takes_no_square_of_their_time(void **state)
{
    enum { N = 30000 };
    char key[] = "seed", metric[] = "energy_j", *keys[] = {key}, *metrics[] = {metric};
    struct tmx_result *run = calloc(N, sizeof *run);
    char(*number)[8] = calloc(N, sizeof *number), **value = calloc(N, sizeof *value);
    double *energy_j = calloc(N, sizeof *energy_j);
    for (unsigned i = 0; i < N; i++) {
        snprintf(number[i], sizeof number[i], "%u", i * 7919U % N);
        value[i] = number[i];
        energy_j[i] = i * 7919U % N;
        run[i] = (struct tmx_result){.done = true, .value = &value[i], .metric = &energy_j[i]};
    }
    const struct tmx_result_set set = {
        .key = keys, .n_key = 1, .metric = metrics, .n_metric = 1, .run = run, .n_run = N};
    const struct tmx_query q = {.pivot = "seed", .value = {"energy_j"}};
    struct tmx_table *t = NULL;
    struct tmx_err err = {0};
    const clock_t begin = clock();
    assert_int_equal(tmx_pivot(&set, &q, &t, &err), TMX_OK);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    assert_int_equal(tmx_table_rows(t), 1);
    assert_int_equal(tmx_table_columns(t), N);
    for (size_t c = 0; c < N; c += 997) {
        assert_true(tmx_table_cell(t, 0, c)->real == (double)c);
    }
    tmx_table_destroy(t);
    free(energy_j);
    free(value);
    free(number);
    free(run);
}

static void a_grid_has_every_combination_last_axis_fastest(void **state)
{
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
    struct tmx_err err = {0};
    tmx_sweep_runs(&s, &runs);
    runs.sets(runs.ctx, 5, &sets, &err);
    assert_int_equal(sets.n, 3);
    assert_string_equal(sets.set[0].key, "a.x");
    double x = 0;
    assert_true(tmx_setting_real(sets.set[0].value, &x) && x == 0.3);
    tmx_sets_finish(&sets);
    runs.sets(runs.ctx, 2, &sets, &err);
    assert_int_equal(err.code, TMX_OK);
    assert_string_equal(sets.set[1].key, "p");
    assert_string_equal(tmx_setting_text(sets.set[1].value), "BL");
    tmx_sets_finish(&sets);
    assert_string_equal(text(&s, 1, 2), "2");
    assert_string_equal(text(&s, 2, 0), "0.2");
    tmx_sweep_finish(&s);
}

static void listed_values_keep_all_digits(void **state)
{
    struct tmx_sweep s;
    assert_int_equal(
        load(&s, "axes = ( { key = \"x\"; values = [0.12345678901234567, 0.3, 80.0, 1e-30]; } );", NULL),
        TMX_OK);
    assert_true(real(&s, 0, 0) == 0.12345678901234567);
    assert_string_equal(text(&s, 1, 0), "0.3");
    assert_string_equal(text(&s, 2, 0), "80");
    assert_true(real(&s, 3, 0) == 1e-30);
    tmx_sweep_finish(&s);
}

static void ranges_keep_all_digits(void **state)
{
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
    assert_string_equal(text(&s, 2, 1), "0.3");
    tmx_sweep_finish(&s);
}

/* The same formula here: not one bit is lost between the sampler and the run. */
static void samples_keep_all_digits(void **state)
{
    struct tmx_sweep s;
    struct tmx_runs runs;
    struct tmx_sets sets = {0};
    struct tmx_err err = {0};
    assert_int_equal(load(&s,
                          "sample = { method = \"sobol\"; n = 4; };"
                          "axes = ( { key = \"x\"; range = { from = 0.1; to = 0.7; }; } );",
                          NULL),
                     TMX_OK);
    tmx_sweep_runs(&s, &runs);
    for (size_t i = 0; i < 4; i++) {
        static const double sobol[] = {0.5, 0.75, 0.25, 0.375};
        double x = 0;
        runs.sets(runs.ctx, i, &sets, &err);
        assert_int_equal(err.code, TMX_OK);
        assert_true(tmx_setting_real(sets.set[0].value, &x) && x == 0.1 + sobol[i] * (0.7 - 0.1));
        tmx_sets_finish(&sets);
    }
    tmx_sweep_finish(&s);
}

/* All digits reach the run, and the value written into the run's file is the same run. */
static void an_axis_and_a_file_give_one_id(void **state)
{
    static const char root[] = "mix = \"WL1\"; seed = 1; chip = \"gtx280\"; method = \"reduced\"; %s\n";
    static const char *const axes[] = {
        "axes = ( { key = \"package.r_convec\"; values = [0.12345678901234567]; } );",
        "sample = { method = \"random\"; n = 1; };"
        "axes = ( { key = \"package.r_convec\"; range = { from = 0.1; to = 0.2; "
        "}; } );"};
    for (size_t i = 0; i < 2; i++) {
        struct tmx_sweep s;
        struct tmx_runs runs;
        struct tmx_sets sets = {0};
        struct tmx_config *cfg = NULL;
        struct tmx_run *a = NULL, *b = NULL;
        struct tmx_err err = {0};
        double x = 0;
        char text[300], package[80];
        assert_int_equal(load(&s, axes[i], &err), TMX_OK);
        tmx_sweep_runs(&s, &runs);
        snprintf(text, sizeof text, root, "");
        assert_int_equal(tmx_config_parse(&cfg, text, "a", &err), TMX_OK);
        runs.sets(runs.ctx, 0, &sets, &err);
        tmx_config_apply(cfg, &sets, &err);
        assert_int_equal(
            tmx_run_create(&a, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err), TMX_OK);
        tmx_config_close(cfg);
        assert_true(tmx_setting_real(tmx_setting_find(tmx_run_settings(a), "package.r_convec"), &x));
        assert_true(x == real(&s, 0, 0));
        snprintf(package, sizeof package, "package = { r_convec = %.17g; };", x);
        snprintf(text, sizeof text, root, package);
        assert_int_equal(tmx_config_parse(&cfg, text, "b", &err), TMX_OK);
        assert_int_equal(
            tmx_run_create(&b, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err), TMX_OK);
        assert_string_equal(tmx_run_id(a), tmx_run_id(b));
        tmx_config_close(cfg);
        tmx_run_destroy(a);
        tmx_run_destroy(b);
        tmx_sets_finish(&sets);
        tmx_sweep_finish(&s);
    }
}

static void log_axes_have_equal_ratios(void **state)
{
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
    struct tmx_sweep s;
    assert_int_equal(load(&s, "repeat = 3; seed = 7; axes = ( { key = \"x\"; values = [1, 2]; } );", NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, 6);
    assert_string_equal(s.key[1], "seed");
    assert_string_equal(text(&s, 5, 1), "9");
    tmx_sweep_finish(&s);
}

static void constraints_drop_points(void **state)
{
    struct tmx_sweep s;
    assert_int_equal(
        load(&s,
             "axes = ( { key = \"x\"; values = [1, 2, 3]; }, { key = \"y\"; values = [1, 2, 3]; } );"
             "constraints = ( (\"x\", \"<=\", \"y\"), (\"y\", \"!=\", 2) );",
             NULL),
        TMX_OK);
    assert_int_equal(s.n_point, 4); /* 1,1 1,3 2,3 3,3 */
    assert_string_equal(text(&s, 2, 0), "2");
    tmx_sweep_finish(&s);
}

static void a_latin_hypercube_has_one_point_in_every_stratum(void **state)
{
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
    struct tmx_sweep s;
    assert_int_equal(load(&s,
                          "sample = { method = \"indices\"; n = 8; };"
                          "axes = ( { key = \"x\"; range = { from = 0; to = 1; }; },"
                          " { key = \"y\"; range = { from = 0; to = 1; }; } );",
                          NULL),
                     TMX_OK);
    assert_int_equal(s.n_point, 8 * 4);
    for (size_t b = 0; b < s.n_point; b += 4) {
        assert_true(real(&s, b + 2, 0) == real(&s, b + 1, 0));
        assert_true(real(&s, b + 2, 1) == real(&s, b, 1));
        assert_true(real(&s, b + 3, 0) == real(&s, b, 0));
        assert_true(real(&s, b + 3, 1) == real(&s, b + 1, 1));
    }
    tmx_sweep_finish(&s);
}

static void samples_depend_on_the_seed_alone(void **state)
{
    static const char random[] = "sample = { method = \"random\"; n = 5; }; seed = %d;"
                                 "axes = ( { key = \"x\"; log = { from = 1; to = 8; }; } );";
    struct tmx_sweep a, b, c;
    char buf[256];
    snprintf(buf, sizeof buf, random, 1);
    assert_int_equal(load(&a, buf, NULL), TMX_OK);
    assert_int_equal(load(&b, buf, NULL), TMX_OK);
    snprintf(buf, sizeof buf, random, 2);
    assert_int_equal(load(&c, buf, NULL), TMX_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_true(real(&a, i, 0) == real(&b, i, 0));
        assert_true(real(&a, i, 0) != real(&c, i, 0));
        assert_true(real(&a, i, 0) >= 1 && real(&a, i, 0) <= 8);
    }
    tmx_sweep_finish(&a);
    tmx_sweep_finish(&b);
    tmx_sweep_finish(&c);
}

static void bad_studies_are_refused_with_the_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"axes = ( { key = \"x\"; values = []; } );", "axis x has no values"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 1; steps = 4; }; } );",
         "axis x: the range is empty (from 1 to 1 in 4 steps)"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 2; }; } );",
         "axis x: the range is empty (from 1 to 2 in 0 steps)"},
        {"sample = { method = \"latin\"; n = 4; }; axes = ( { key = \"x\"; range = { from = 1; to = 2; steps "
         "= 3; }; } );",
         "axis x: steps does nothing: sample.n is the number of points"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 2; steps = 1; }; } );",
         "axis x: the range is its begin alone (from 1 to 2 in 1 step)"},
        {"axes = ( { key = \"x\"; values = (\"a\", 1, 2, 1.0); } );", "axis x: values 2 and 4, 1, are equal"},
        {"axes = ( { key = \"x\"; range = { from = 1; to = 3; steps = 4; whole = true; }; } );",
         "axis x: values 2 and 3, 2, are equal"},
        {"set = [\"y=2\", \"x=2\"]; axes = ( { key = \"x\"; values = [1]; } );", "set: x is on an axis"},
        {"set = [\"y=2\", \"z=1\", \"y=3\"]; axes = ( { key = \"x\"; values = [1]; } );",
         "set: y is given twice"},
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
        {"sample = { n = 3; }; axes = ( { key = \"x\"; values = [1]; } );",
         "sample: n is the number of points of a method other than \"grid\""},
        {"sample = { method = \"sobol\"; }; axes = ( { key = \"x\"; values = [1]; } );",
         "sample: n is the number of points of a method other than \"grid\""},
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

static const char *letter(const void *ctx, size_t run, size_t key, char *buf, size_t size)
{
    static const char *const values[][3] = {
        {"a", "1", "0.1"}, {"a", "2", "0.7"}, {"b", "1", "0.3"}, {"b", "2", "0.9"}}; /* the last is sampled */
    (void)ctx;
    snprintf(buf, size, "%s", values[run][key]);
    return buf;
}

static void keep(void *to, const char *text)
{
    char *all = to;
    snprintf(all + strlen(all), 1000 - strlen(all), "%s\n", text);
}

static void a_warning_is_said_once_with_the_runs_it_concerns(void **state)
{
    static const char *const keys[] = {"group.letter", "number", "sample"},
                             *const of[4] = {"# x\n# warning: 5 K here\n# warning: all\nkey = 1;\n",
                                             "# warning: all\n# warning: odd\n",
                                             "# warning: all\n# warning: 7.5 K here\n# warning: odd\n",
                                             "# warning: all"};
    const struct tmx_warned who = {NULL, 4, 2, keys, letter}, sampled = {NULL, 4, 3, keys, letter};
    struct tmx_warnings w = {0}, again = {0};
    struct tmx_err err = {0};
    char text[1000] = "";
    struct tmx_warn_listener listener = {.line = keep, .to = text, .alone = true};
    for (size_t twice = 0; twice < 2; twice++) {
        for (size_t i = 4; i-- > 0;) {
            assert_int_equal(tmx_warnings_add(&w, i, of[i], &err), TMX_OK);
        }
        tmx_warn_begin(&listener);
        tmx_warnings_listen(&w, &who);
        tmx_warn_end(&listener);
    }
    assert_string_equal(text, "all\n7.5 K here (2 of 4 runs: number 1; in some with other numbers)\n"
                              "odd (2 of 4 runs, the first letter a, number 2)\n");
    text[0] = '\0';
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tmx_warnings_add(&again, i, of[i], &err), TMX_OK);
    }
    tmx_warn_begin(&listener);
    tmx_warnings_listen(&again, &sampled);
    tmx_warn_end(&listener);
    assert_string_equal(text, "5 K here (2 of 4 runs: number 1; in some with other numbers)\nall\n"
                              "odd (2 of 4 runs: sample 0.7, 0.3)\n");
    tmx_warnings_finish(&again);
    assert_string_equal(tmx_warnings_of(&w, 1, "od"), "odd");
    assert_null(tmx_warnings_of(&w, 0, "od"));
    tmx_warnings_finish(&w);
}

TMX_TESTS(test_sweep)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pivot_of_many_values_takes_no_square_of_their_time),
        cmocka_unit_test(a_grid_has_every_combination_last_axis_fastest),
        cmocka_unit_test(listed_values_keep_all_digits),
        cmocka_unit_test(ranges_keep_all_digits),
        cmocka_unit_test(samples_keep_all_digits),
        cmocka_unit_test(an_axis_and_a_file_give_one_id),
        cmocka_unit_test(log_axes_have_equal_ratios),
        cmocka_unit_test(repetitions_have_their_own_seeds),
        cmocka_unit_test(constraints_drop_points),
        cmocka_unit_test(a_latin_hypercube_has_one_point_in_every_stratum),
        cmocka_unit_test(a_sobol_design_changes_one_axis_at_a_time),
        cmocka_unit_test(samples_depend_on_the_seed_alone),
        cmocka_unit_test(bad_studies_are_refused_with_the_line),
        cmocka_unit_test(a_warning_is_said_once_with_the_runs_it_concerns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
