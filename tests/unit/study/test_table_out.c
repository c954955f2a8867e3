/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/table_out.h"

static const struct tmx_column columns[] = {{"axis \"x\"", TMX_COLUMN_TEXT, TMX_TEXT_TYPED},
                                            {"name", TMX_COLUMN_TEXT, 0},
                                            {"runs", TMX_COLUMN_INT, 0},
                                            {"peak_c", TMX_COLUMN_REAL, 2}};

static char *written(const struct tmx_table *t, enum tmx_format f)
{
    char *text = NULL;
    size_t size;
    struct tmx_err err = {0};
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tmx_table_write(t, f, out, &err), TMX_OK);
    fclose(out);
    return text;
}

static void add(struct tmx_table *t, const char *axis, const char *name, int64_t runs, double peak)
{
    tmx_table_text(t, axis);
    tmx_table_text(t, name);
    tmx_table_int(t, runs);
    tmx_table_real(t, peak);
}

static void json_has_types_and_escapes(void **state)
{
    struct tmx_table *t;
    assert_non_null(t = tmx_table_new(columns, 4));
    char *text = written(t, TMX_FORMAT_JSON);
    assert_string_equal(text, "[]\n");
    free(text);
    add(t, "0.20", "a\"b\\\n\x01", -3, 85);
    add(t, "true", "\xc3\xa9/", INT64_MIN, 1e300);
    add(t, "7", "7", 0, 0.1 + 0.2);
    add(t, "cold", "", 1, -0.0);
    tmx_table_text(t, "1e3");
    tmx_table_empty(t);
    tmx_table_empty(t);
    tmx_table_empty(t);
    text = written(t, TMX_FORMAT_JSON);
    assert_string_equal(
        text,
        "[\n {\n  \"axis \\\"x\\\"\": 0.2,\n  \"name\": \"a\\\"b\\\\\\n\\u0001\",\n  \"runs\": -3,\n"
        "  \"peak_c\": 85.0\n },\n {\n  \"axis \\\"x\\\"\": true,\n  \"name\": \"\xc3\xa9/\",\n"
        "  \"runs\": -9223372036854775808,\n  \"peak_c\": 1e+300\n },\n {\n  \"axis \\\"x\\\"\": 7,\n"
        "  \"name\": \"7\",\n  \"runs\": 0,\n  \"peak_c\": 0.30000000000000004\n },\n {\n"
        "  \"axis \\\"x\\\"\": \"cold\",\n  \"name\": \"\",\n  \"runs\": 1,\n  \"peak_c\": -0.0\n },\n"
        " {\n  \"axis \\\"x\\\"\": 1000.0,\n  \"name\": null,\n  \"runs\": null,\n  \"peak_c\": null\n }\n"
        "]\n");
    free(text);
    tmx_table_destroy(t);
}

/* Every real is the shortest text that reads back the same, and the same text in JSON and in CSV. */
static void json_reals_are_those_of_csv(void **state)
{
    static const double reals[] = {
        0.2, 0.1, 1.0 / 3, 2.5e-7, 5e-324, 1.7976931348623157e308, 90.456, 0.1 + 0.7, 123456789.123456789};
    static const struct tmx_column real = {"v", TMX_COLUMN_REAL, 2};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        struct tmx_table *t;
        assert_non_null(t = tmx_table_new(&real, 1));
        tmx_table_real(t, reals[i]);
        char *json = written(t, TMX_FORMAT_JSON), *csv = written(t, TMX_FORMAT_CSV), expected[100];
        const int digits = (int)strlen(csv) - 3; /* "v", a line, and the end of the next */
        snprintf(expected, sizeof expected, "[\n {\n  \"v\": %.*s\n }\n]\n", digits, csv + 2);
        assert_string_equal(json, expected);
        assert_true(strtod(csv + 2, NULL) == reals[i]);
        free(json);
        free(csv);
        tmx_table_destroy(t);
    }
}

static void json_refuses_what_is_not_utf8(void **state)
{
    struct tmx_table *t;
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(t = tmx_table_new(columns, 4));
    add(t, "1", "\xff", 0, 0);
    assert_int_equal(tmx_table_write(t, TMX_FORMAT_JSON, out, &err), TMX_ECONFIG);
    fclose(out);
    assert_int_equal(size, 0);
    assert_string_equal(err.msg, "byte 0xff is not UTF-8");
    free(text);
    tmx_table_destroy(t);
}

/* Names have letters, digits and _; values are whole however long. */
static void labels_are_readable(void **state)
{
    struct tmx_table *t = tmx_table_of("a b.k c v:d");
    char value[901], expected[3000];
    memset(value, '"', 900);
    value[900] = '\0';
    (void)state;
    tmx_table_row(t, "%s %s %s %d", "x", value, "y", 3);
    char *text = written(t, TMX_FORMAT_OPENMETRICS);
    size_t n =
        (size_t)snprintf(expected, sizeof expected, "# TYPE thermix_v gauge\nthermix_v{a=\"x\",b_k=\"");
    for (size_t i = 0; i < 900; i++, n += 2) {
        memcpy(expected + n, "\\\"", 3);
    }
    snprintf(expected + n, sizeof expected - n, "\",c=\"y\"} 3\n# EOF\n");
    assert_string_equal(text, expected);
    free(text);
    tmx_table_destroy(t);
}

TMX_TESTS(test_table_out)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_types_and_escapes),
        cmocka_unit_test(json_reals_are_those_of_csv),
        cmocka_unit_test(json_refuses_what_is_not_utf8),
        cmocka_unit_test(labels_are_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
