/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static struct tmx_span span(const char *s)
{
    return (struct tmx_span){s, s + strlen(s)};
}

static void lines_count_with_crlf_and_a_missing_last_newline(void **state)
{
    char data[] = "a b\r\n\nlast";
    const struct tmx_text_file t = {.data = data, .size = strlen(data)};
    struct tmx_lines l = {0};
    assert_true(tmx_lines_next(&l, &t));
    assert_int_equal(tmx_span_length(l.line), 3);
    assert_true(tmx_lines_next(&l, &t));
    assert_int_equal(tmx_span_length(l.line), 0);
    assert_true(tmx_lines_next(&l, &t));
    assert_true(tmx_span_is(l.line, "LAST"));
    assert_int_equal(l.number, 3);
    assert_false(tmx_lines_next(&l, &t));
}

static void a_mark_goes_and_lines_of_old_macs_are_lines(void **state)
{
    char data[] = "\xef\xbb\xbf"
                  "a\rb\r",
         mixed[] = "a\rb\n", nul[] = "a\r\0b";
    struct tmx_text_file t = {.data = data, .size = strlen(data)};
    struct tmx_err err = {0};
    assert_int_equal(tmx_text_clean(&t, &err), TMX_OK);
    assert_string_equal(t.data, "a\nb\n");
    t = (struct tmx_text_file){.data = mixed, .size = strlen(mixed)};
    assert_int_equal(tmx_text_clean(&t, &err), TMX_OK);
    assert_string_equal(t.data, "a\rb\n");
    t = (struct tmx_text_file){.data = nul, .size = 4};
    assert_int_equal(tmx_text_clean(&t, &err), TMX_EPARSE);
    assert_int_equal(err.line, 2);
}

static void reals_are_decimal_and_finite_or_refused(void **state)
{
    static const char *const bad[] = {"", "1,5", "nan", "inf", "0x10", "1e999", "1.5W", "--1", "e5", "1 2"};
    double v = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(tmx_span_real(span(bad[i]), &v));
    }
    assert_true(tmx_span_real(span("-1.5e-3"), &v));
    assert_true(v == -1.5e-3);
}

static void printed_reals_read_back_equal(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 318.15, 1e-300, 123456789.123456789, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char buf[TMX_REAL_SIZE];
        double v = 0;
        tmx_real_print(buf, values[i]);
        assert_true(tmx_span_real(span(buf), &v));
        assert_true(v == values[i]);
    }
    char buf[TMX_REAL_SIZE];
    tmx_real_print(buf, 0.1);
    assert_string_equal(buf, "0.1");
}

/* As %g writes it with the fewest digits that read back equal. */
static void check_shortest(double v)
{
    char buf[TMX_REAL_SIZE], want[TMX_REAL_SIZE];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(want, sizeof want, "%.*g", digits, v);
        if (strtod(want, NULL) == v) {
            break;
        }
    }
    tmx_real_print(buf, v);
    assert_string_equal(buf, want);
}

static void printed_reals_are_the_shortest(void **state)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        double power = 1;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        for (int k = 0; k < 9; k++, power *= 10) {
            const double v = (double)(x >> (14 + i % 50)) / power;
            check_shortest(v);
            check_shortest(-v);
            check_shortest(nextafter(v, 0));
            check_shortest(nextafter(v, 1e300));
        }
    }
    static const double edges[] = {0,   -0.0, 1e-4, 9.9e-5, 1e9, 999999999.999999, 999999999.9999999,
                                   0.5, 1e15};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        check_shortest(edges[i]);
    }
}

static void fields_split_at_blanks(void **state)
{
    struct tmx_span rest = span("  a\tbc "), f;
    assert_true(tmx_span_field(&rest, &f) && tmx_span_is(f, "a"));
    assert_true(tmx_span_field(&rest, &f) && tmx_span_is(f, "bc"));
    assert_false(tmx_span_field(&rest, &f));
    assert_true(tmx_word_compare("SM0", "sm0") == 0 && tmx_word_compare("a", "b") < 0);
}

TMX_TESTS(test_text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_count_with_crlf_and_a_missing_last_newline),
        cmocka_unit_test(a_mark_goes_and_lines_of_old_macs_are_lines),
        cmocka_unit_test(reals_are_decimal_and_finite_or_refused),
        cmocka_unit_test(printed_reals_read_back_equal),
        cmocka_unit_test(printed_reals_are_the_shortest),
        cmocka_unit_test(fields_split_at_blanks),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
