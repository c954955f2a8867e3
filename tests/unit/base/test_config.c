/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/config_text.h"
#include "base/opt.h"

static void set_replaces_adds_and_types_values(void **state)
{
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    double v = 0;
    assert_int_equal(tmx_config_parse(&c, "a = 1; g = { b = 2.0; };", "t.cfg", &err), TMX_OK);
    assert_int_equal(tmx_config_set(c, "a=7", &err), TMX_OK);
    assert_int_equal(tmx_config_set(c, "g.b=3.5", &err), TMX_OK);
    assert_int_equal(tmx_config_set(c, "h.name=gtx280", &err), TMX_OK);
    assert_int_equal(tmx_config_set(c, "l=[1, 2, 3]", &err), TMX_OK);
    assert_int_equal(tmx_setting_integer(tmx_config_find(c, "a")), 7);
    assert_true(tmx_setting_real(tmx_config_find(c, "g.b"), &v) && v == 3.5);
    assert_string_equal(tmx_setting_text(tmx_config_find(c, "h.name")), "gtx280");
    assert_string_equal(tmx_setting_file(tmx_config_find(c, "h.name")), "--set h.name=gtx280");
    assert_int_equal(tmx_setting_length(tmx_config_find(c, "l")), 3);
    assert_null(tmx_config_find(c, "l.x"));
    tmx_config_close(c);
}

/* assignment, what the message must hold */
static const struct {
    const char *set, *msg;
} bad_sets[] = {
    {"a.b=1", "character 1: \"a\" is not a group (t.cfg:1)"},
    {"novalue", "expected key=value"},
    {"=1", "character 1: expected a key"},
    {"g..b=1", "character 3: expected a key"},
    {"g.2=1", "character 3: expected a key"},
    {"k=\"open", "a quote that is not closed"},
    {"k=1; z = 2", "more than one value"},
    {"k=99999999999999999999", "does not fit in a 64-bit integer"},
    {"k=1e999", "is too large for a number"},
};

static void a_bad_set_says_option_and_position(void **state)
{
    for (size_t i = 0; i < sizeof bad_sets / sizeof bad_sets[0]; i++) {
        struct tmx_config *c = NULL;
        struct tmx_err err = {0};
        assert_int_equal(tmx_config_parse(&c, "a = 1; g = { b = 2.0; };", "t.cfg", &err), TMX_OK);
        assert_int_equal(tmx_config_set(c, bad_sets[i].set, &err), TMX_ECONFIG);
        assert_non_null(strstr(err.file, bad_sets[i].set));
        if (!strstr(err.msg, bad_sets[i].msg)) {
            fail_msg("%s: \"%s\" does not hold \"%s\"", bad_sets[i].set, err.msg, bad_sets[i].msg);
        }
        tmx_config_close(c);
    }
}

/* An override mends a value that is broken in the file. */
static void an_override_mends_a_broken_value(void **state)
{
    struct part {
        double x;
        int n;
    };
    static const struct tmx_opt opts[] = {
        TMX_ROW_REAL(part, x, "1", 0, 1, 0.5, "x"), TMX_ROW_INT(part, n, "1", 0, 9, 1, "n"), {0}};
    static const struct {
        const char *text, *set;
    } rows[] = {{"g = {\n x = \"broken\"; };", "g.x=0.01"},
                {"g = {\n x = 2.0; };", "g.x=0.01"},
                {"g = {\n n = true; };", "g={ x = 0.01; }"},
                {"g = {\n w = 5; x = 0.01; };", "g.w=a"},
                {"g = 5;", "g={ x = 0.01; }"},
                {"g = {\n l = 5; x = 0.01; };", "g.l=[ 1 ]"}};
    static const char *const also[] = {"w", "l", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_config *c = NULL;
        struct part part = {0};
        struct tmx_err err = {0};
        assert_int_equal(tmx_config_parse(&c, rows[i].text, "t.cfg", &err), TMX_OK);
        assert_int_equal(tmx_config_set(c, rows[i].set, &err), TMX_OK);
        const struct tmx_setting *g = tmx_setting_group(tmx_config_root(c), "g", &err);
        assert_int_equal(tmx_opt_read(opts, &part, g, also, &err), TMX_OK);
        assert_non_null(tmx_setting_word(g, "w", "", &err));
        (void)tmx_setting_list(g, "l", 0, 3, &err);
        assert_int_equal(err.code, TMX_OK);
        assert_true(part.x == 0.01);
        tmx_config_close(c);
    }
}

static void integers_have_64_bits(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"2147483647", 2147483647},        {"4294967297", 4294967297},  {"99999999999", 99999999999},
                {"-5000000000", -5000000000},      {"0x100000001", 4294967297}, {"5000000000L", 5000000000},
                {"9223372036854775807", INT64_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        struct tmx_config *c = NULL;
        struct tmx_err err = {0};
        snprintf(text, sizeof text, "a = %s;", rows[i].text);
        assert_int_equal(tmx_config_parse(&c, text, "t", &err), TMX_OK);
        assert_true(tmx_setting_integer(tmx_config_find(c, "a")) == rows[i].value);
        snprintf(text, sizeof text, "b=%s", rows[i].text);
        assert_int_equal(tmx_config_set(c, text, &err), TMX_OK);
        assert_true(tmx_setting_integer(tmx_config_find(c, "b")) == rows[i].value);
        tmx_config_close(c);
    }
}

/* text, line of the error, what the message must hold */
static const struct {
    const char *text;
    unsigned line;
    const char *msg;
} bad_texts[] = {
    {"a = 9223372036854775808;", 1, "does not fit in a 64-bit integer"},
    {"a = 1;\nb = 12b;", 2, "\"12b\" is not a number"},
    {"a = .;", 1, "\".\" is not a number"},
    {"a = 1e999;", 1, "is too large"},
    {"a = 1;\n\na = 2;", 3, "duplicate"},
    {"a = {\n b = 1;\n", 3, "missing \"}\""},
    {"a = ( 1, 2 ];", 1, "\"]\" closes nothing; expected \")\""},
    {"a = 1; }", 1, "\"}\" closes nothing"},
    {"a = \"open\nb = 1;", 1, "a quote that is not closed"},
    {"a = \"x\\x00y\";", 1, "\\x00"},
    {"a = \"\x01\";", 1, "control character"},
    {"a = 1; /* open\n\n", 1, "never closed"},
    {"\n\"\xff\" ", 2, "is not UTF-8"},
    {"a = 1;\nb = $;", 2, "unexpected \"$\""},
    {"a = [1, 2.5];", 1, "array"},
    {"a = ((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))));", 1, "nest deeper than 32"},
};

static void a_bad_text_is_refused_with_its_line(void **state)
{
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        struct tmx_config *c = NULL;
        struct tmx_err err = {0};
        if (tmx_config_parse(&c, bad_texts[i].text, "t.cfg", &err) != TMX_ECONFIG ||
            err.line != bad_texts[i].line || !strstr(err.msg, bad_texts[i].msg)) {
            fail_msg("row %zu: %s:%u: %s", i, err.file, err.line, err.msg);
        }
        assert_null(c);
    }
}

static void sizes_are_bounded(void **state)
{
    enum { N = 1 << 20 };
    char *text = malloc(N + 64);
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    assert_non_null(text);
    memset(text, 'x', N);
    strcpy(text + N, " = 1;"); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): room for 64 */
    assert_int_equal(tmx_config_parse(&c, text, "t.cfg", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "a name longer than"));
    memcpy(text, "a = \"", 5);
    strcpy(text + N, "\";"); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy) */
    assert_int_equal(tmx_config_parse(&c, text, "t.cfg", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "a text longer than"));
    for (int i = 0; i <= TMX_CONFIG_KEYS; i++) {
        snprintf(text + 8 * (size_t)i, 9, "k%04d=1;", i);
    }
    assert_int_equal(tmx_config_parse(&c, text, "t.cfg", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "keys in one group"));
    free(text);
}

static void an_included_file_keeps_its_lines(void **state)
{
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    scratch_write("config_inner.cfg", "# one\ninner = 5000000000;\n");
    scratch_write("config_outer.cfg",
                  "a = 1;\n/* two\n*/ b = 2;\n@include \"config_inner.cfg\"\nlast = 3;\n");
    assert_int_equal(tmx_config_open(&c, "config_outer.cfg", &err), TMX_OK);
    const struct tmx_setting *inner = tmx_config_find(c, "inner"), *last = tmx_config_find(c, "last");
    assert_true(tmx_setting_integer(inner) == 5000000000);
    assert_string_equal(tmx_setting_file(inner), "config_inner.cfg");
    assert_int_equal(tmx_setting_line(inner), 2);
    assert_string_equal(tmx_setting_file(last), "config_outer.cfg");
    assert_int_equal(tmx_setting_line(last), 5);
    assert_int_equal(tmx_setting_line(tmx_config_find(c, "b")), 3);
    tmx_config_close(c);
    scratch_write("config_inner.cfg", "ok = 1;\n@include \"config_outer.cfg\"\n");
    assert_int_equal(tmx_config_open(&c, "config_outer.cfg", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "a loop?"));
    err = (struct tmx_err){0};
    scratch_write("config_inner.cfg", "ok = 1;\n@include \"no_such.cfg\"\n");
    assert_int_equal(tmx_config_open(&c, "config_outer.cfg", &err), TMX_ECONFIG);
    assert_string_equal(err.file, "config_inner.cfg");
    assert_int_equal(err.line, 2);
}

/* With this message; the record is empty then. */
static void assert_failed(struct tmx_err *err, const char *msg)
{
    assert_int_equal(err->code, TMX_ECONFIG);
    assert_string_equal(err->msg, msg);
    *err = (struct tmx_err){0};
}

static void a_kind_that_is_not_wanted_is_named(void **state)
{
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_config_parse(&c, "g = 5;\nl = { };\nt = (\"a\",\n 2);\nw = 1;", "t.cfg", &err),
                     TMX_OK);
    const struct tmx_setting *root = tmx_config_root(c);
    assert_null(tmx_setting_group(root, "g", &err));
    assert_failed(&err, "g: expected a group { key = value; }, found an integer");
    assert_null(tmx_setting_list(root, "l", 0, 9, &err));
    assert_int_equal(err.line, 2);
    assert_failed(&err, "l: expected a list ( ... ), found a group { key = value; }");
    assert_null(tmx_setting_texts(root, "t", 0, 9, &err));
    assert_int_equal(err.line, 4);
    assert_failed(&err, "t: entry 2: expected a \"text\", found an integer");
    assert_null(tmx_setting_list(root, "t", 3, 9, &err));
    assert_null(tmx_setting_group(root, "g", &err)); /* the first error stays */
    assert_failed(&err, "t: expected a list of 3 to 9 entries, found 2");
    assert_null(tmx_setting_list(root, "absent", 1, 9, &err));
    assert_failed(&err, "missing key \"absent\": a list of 1 to 9 entries");
    assert_string_equal(tmx_setting_word(root, "w", "x", &err), "x");
    assert_failed(&err, "w: expected a \"text\", found an integer");
    assert_string_equal(tmx_setting_word(root, "absent", "x", &err), "x");
    assert_int_equal(err.code, TMX_OK);
    tmx_config_close(c);
}

static void quoted_text_reads_back(void **state)
{
    static const char odd[] = "a \"quoted\" \\ path\twith $(x) `y` <b>";
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    FILE *f = fopen("config_quoted.cfg", "w");
    assert_non_null(f);
    fputs("a = ", f);
    tmx_config_quote(odd, f);
    fputs(";\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(tmx_config_open(&c, "config_quoted.cfg", &err), TMX_OK);
    assert_string_equal(tmx_setting_text(tmx_config_find(c, "a")), odd);
    tmx_config_close(c);
}

static void a_missing_file_is_named(void **state)
{
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_config_open(&c, "/no/such.cfg", &err), TMX_EIO);
    assert_string_equal(err.file, "/no/such.cfg");
    assert_null(c);
}

TMX_TESTS(test_config)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_replaces_adds_and_types_values),
        cmocka_unit_test(an_override_mends_a_broken_value),
        cmocka_unit_test(a_bad_set_says_option_and_position),
        cmocka_unit_test(integers_have_64_bits),
        cmocka_unit_test(a_bad_text_is_refused_with_its_line),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(an_included_file_keeps_its_lines),
        cmocka_unit_test(a_kind_that_is_not_wanted_is_named),
        cmocka_unit_test(quoted_text_reads_back),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
