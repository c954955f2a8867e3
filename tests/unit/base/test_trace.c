/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "base/trace.h"

static const char PATH[] = "trace_test.ptrace";

static void a_trace_may_have_comments_crlf_and_no_last_newline(void **state)
{
    struct tmx_trace t;
    scratch_write(PATH, "# watts\r\n a\tB \r\n\r\n1 2.5\r\n# middle\n-3e0 4");
    assert_int_equal(tmx_trace_read(PATH, &t, NULL), TMX_OK);
    assert_int_equal(t.n_column, 2);
    assert_int_equal(t.n_row, 2);
    assert_string_equal(t.name[1], "B");
    assert_int_equal(tmx_trace_find(&t, "b"), 1);
    assert_int_equal(tmx_trace_find(&t, "c"), 2);
    assert_true(t.value[1] == 2.5 && t.value[2] == -3 && t.value[3] == 4);
    assert_int_equal(t.line[1], 6);
    double mean[2];
    tmx_trace_mean(&t, mean);
    assert_true(mean[0] == -1 && mean[1] == 3.25);
    tmx_trace_finish(&t);
}

static void columns_may_be_between_commas_behind_a_time(void **state)
{
    static const struct {
        const char *text;
        double step_s;
    } rows[] = {{"a,\"B\"\n1,2.5\n-3e0,4\n", 0},
                {"a, B\r\n1, 2.5\r\n-3e0, 4", 0},
                {"time,a,B\n5,1,2.5\n5.5,-3,4\n", 0.5},
                {"Time (ms),a,B\n0,1,2.5\n0.25,-3,4\n", 0.25e-3},
                {"t_us,a,B\n0,1,2.5\n10,-3,4\n", 1e-5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_trace t;
        scratch_write(PATH, rows[i].text);
        assert_int_equal(tmx_trace_read(PATH, &t, NULL), TMX_OK);
        assert_true(t.comma && t.n_column == 2 && t.n_row == 2);
        assert_string_equal(t.name[1], "B");
        assert_true(t.value[0] == 1 && t.value[1] == 2.5 && t.value[2] == -3 && t.value[3] == 4);
        check_close(t.step_s, rows[i].step_s, 1e-12, 0);
        tmx_trace_finish(&t);
    }
}

static void malformed_traces_name_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "trace_test.ptrace:1: empty trace"},
        {"\n# only this\n", "trace_test.ptrace:2: empty trace"},
        {"a b\n", "trace_test.ptrace:1: no rows after the names"},
        {"a b\n1 2\n3\n", "trace_test.ptrace:3: 1 values for 2 names (line 1)"},
        {"a b\n1 2 3\n", "trace_test.ptrace:2: 3 values for 2 names (line 1)"},
        {"a b\n1 nan\n", "trace_test.ptrace:2: value of \"b\": \"nan\" is not a finite number"},
        {"a b\n1 -Inf\n", "trace_test.ptrace:2: value of \"b\": \"-Inf\" is not a finite number"},
        {"a b\n1e999 2\n", "trace_test.ptrace:2: value of \"a\": \"1e999\" is too large for a number"},
        {"a b\n1,5 2\n", "trace_test.ptrace:2: value of \"a\": \"1,5\" has a decimal comma; write a point"},
        {"a b\n1 2W\n", "trace_test.ptrace:2: value of \"b\": \"2W\" is not a number"},
        {"a,b\n1,\n", "trace_test.ptrace:2: value of \"b\": \"\" is not a number"},
        {"a,,b\n1,2,3\n", "trace_test.ptrace:1: column 2 has no name"},
        {"time,a\n0,1\n0,1\n", "trace_test.ptrace:3: time 0 s is not after the row before, 0 s"},
        {"time,a\n0,1\n1,1\n3,1\n", "trace_test.ptrace:4: this row is 2 s after the one before, the first "
                                    "two are 1 s apart: expected equal "
                                    "steps"},
        {"{\"a\": 1}\n",
         "trace_test.ptrace:1: is JSON; expected a trace: a line of block names, then a line of "
         "numbers a row"},
        {"[1]\n",
         "trace_test.ptrace:1: is JSON; expected a trace: a line of block names, then a line of numbers "
         "a row"},
        {"a|b\n1|2\n",
         "trace_test.ptrace:1: is of columns between bars (|); expected a trace: a line of block "
         "names, then a line of numbers a row"},
        {"a;b\n1,5;2\n", "trace_test.ptrace:1: is of columns between semicolons; expected a trace: a line of "
                         "block names, then a line of numbers a row"},
        {"UnitName,Power\nu,1\n", "trace_test.ptrace:1: is a CSV of PACT; expected a trace: a line of block "
                                  "names, then a line of numbers a row"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_trace t;
        struct tmx_err err = {0};
        char message[1600];
        scratch_write(PATH, rows[i].text);
        assert_int_equal(tmx_trace_read(PATH, &t, &err), TMX_EPARSE);
        tmx_err_format(&err, message, sizeof message);
        assert_string_equal(message, rows[i].message);
        tmx_trace_finish(&t);
    }
    struct tmx_trace t;
    assert_int_equal(tmx_trace_read("no/such/file", &t, NULL), TMX_EIO);
    tmx_trace_finish(&t);
}

static void written_rows_read_back(void **state)
{
    static const char *const names[] = {"x", "Y"};
    const double row[] = {1.0 / 3, 318.15};
    FILE *f = fopen(PATH, "wb");
    assert_non_null(f);
    tmx_trace_print_names(names, 2, f);
    tmx_trace_print_row(row, 2, TMX_TRACE_LOSSLESS, f);
    tmx_trace_print_row(row, 2, 2, f);
    fclose(f);
    struct tmx_trace t;
    assert_int_equal(tmx_trace_read(PATH, &t, NULL), TMX_OK);
    assert_true(t.value[0] == row[0] && t.value[1] == row[1]);
    assert_true(t.value[2] == 0.33);
    tmx_trace_finish(&t);
}

/* The quick ways in and out against printf and strtod: the same bytes and bits, ties and long numbers too. */
static void numbers_are_written_and_read_as_the_library_does(void **state)
{
    static const double special[] = {0,       -0.0,    0.005, 0.015, 0.125,  -0.001, 0.995,
                                     1.005,   2.675,   1e15,  1e16,  -1e300, 1e-300, 318.145,
                                     318.155, 999.995, 0.5,   1.5,   -2.5,   NAN};
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 1, "numbers", NULL), TMX_OK);
    for (size_t i = 0; i < 40000; i++) {
        const size_t n_special = sizeof special / sizeof special[0];
        const int decimals = (int)(i % 12);
        double v = (tmx_rng_uniform(rng) - 0.3) * pow(10, 12 * tmx_rng_uniform(rng) - 4), back = 0;
        char want[400], got[400] = "";
        v = i < 12 * n_special ? special[i / 12] : i % 3 == 0 ? nearbyint(v * 1000) / 1000 : v;
        FILE *out = fmemopen(got, sizeof got, "w");
        tmx_trace_print_row(&v, 1, decimals, out);
        fclose(out);
        snprintf(want, sizeof want, "%.*f\n", decimals, v);
        assert_string_equal(got, want);
        got[strlen(got) - 1] = '\0';
        if (isfinite(v) && tmx_span_real((struct tmx_span){got, got + strlen(got)}, &back)) {
            const double truth = strtod(got, NULL);
            assert_memory_equal(&back, &truth, sizeof back);
        }
    }
    tmx_rng_destroy(rng);
}

TMX_TESTS(test_trace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_may_have_comments_crlf_and_no_last_newline),
        cmocka_unit_test(columns_may_be_between_commas_behind_a_time),
        cmocka_unit_test(malformed_traces_name_their_line),
        cmocka_unit_test(written_rows_read_back),
        cmocka_unit_test(numbers_are_written_and_read_as_the_library_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
