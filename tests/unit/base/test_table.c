/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static const struct tmx_column columns[] = {
    {"name", TMX_COLUMN_TEXT, 0}, {"runs", TMX_COLUMN_INT, 0}, {"peak_c", TMX_COLUMN_REAL, 2}};

static struct tmx_table *small(void)
{
    struct tmx_table *t;
    assert_non_null(t = tmx_table_new(columns, 3));
    tmx_table_text(t, "a,\"b\"");
    tmx_table_int(t, 12);
    tmx_table_real(t, 0.1);
    tmx_table_text(t, "x|y");
    tmx_table_empty(t);
    tmx_table_real(t, 90.456);
    return t;
}

static void check_written(enum tmx_status (*write)(const struct tmx_table *, FILE *, struct tmx_err *),
                          const char *expected)
{
    struct tmx_table *t = small();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(write(t, out, NULL), TMX_OK);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    tmx_table_destroy(t);
}

static void csv_is_lossless_and_quotes_where_needed(void **state)
{
    check_written(tmx_table_write_csv, "name,runs,peak_c\n\"a,\"\"b\"\"\",12,0.1\nx|y,,90.456\n");
}

static void columns_in_words_are_columns(void **state)
{
    struct tmx_table *t = tmx_table_of("name runs:d peak_c:2 small:-1 value:t");
    const struct tmx_column expected[] = {columns[0],
                                          columns[1],
                                          columns[2],
                                          {"small", TMX_COLUMN_REAL, -1},
                                          {"value", TMX_COLUMN_TEXT, TMX_TEXT_TYPED}};
    (void)state;
    assert_int_equal(tmx_table_columns(t), 5);
    for (size_t c = 0; c < 5; c++) {
        const struct tmx_column *is = tmx_table_column(t, c);
        assert_string_equal(is->name, expected[c].name);
        assert_int_equal(is->type, expected[c].type);
        assert_int_equal(is->decimals, expected[c].decimals);
    }
    tmx_table_destroy(t);
}

static void a_table_may_have_no_columns(void **state)
{
    struct tmx_table *t = tmx_table_of(""); /* the runs of a study before the first has ended */
    struct tmx_err err = {0};
    (void)state;
    assert_int_equal(tmx_table_check(t, &err), TMX_OK);
    assert_int_equal(tmx_table_rows(t), 0);
    assert_int_equal(tmx_table_write_screen(t, &(struct tmx_screen){.width = 80}, stderr, &err), TMX_OK);
    tmx_table_destroy(t);
}

static void text_is_aligned(void **state)
{
    check_written(tmx_table_write_text, "name   runs  peak_c\na,\"b\"    12    0.10\nx|y       -   90.46\n");
}

static void a_row_in_one_call(void **state)
{
    struct tmx_table *t;
    char *text = NULL;
    size_t size;
    (void)state;
    assert_non_null(t = tmx_table_new(columns, 3));
    tmx_table_row(t, "%s - %G", "c", NAN);
    tmx_table_row(t, "%s %zu %g", "d", (size_t)8, 0.5);
    tmx_table_row(t, "- %d %G", -7, 0.5);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tmx_table_write_csv(t, out, NULL), TMX_OK);
    fclose(out);
    assert_string_equal(text, "name,runs,peak_c\nc,,\nd,8,0.5\n,-7,0.5\n");
    free(text);
    tmx_table_destroy(t);
}

/* Columns without anything in them are named, not shown. */
static void brief_leaves_out_what_says_nothing(void **state)
{
    static const struct tmx_column wide[] = {
        {"mix", TMX_COLUMN_TEXT, 0},  {"lost_pct", TMX_COLUMN_REAL, 1}, {"fan_energy_j", TMX_COLUMN_REAL, 1},
        {"n_fan", TMX_COLUMN_INT, 0}, {"runs", TMX_COLUMN_INT, 0},      {"error", TMX_COLUMN_TEXT, 0}};
    struct tmx_table *t;
    char *text = NULL;
    size_t size;
    assert_non_null(t = tmx_table_new(wide, 6));
    for (int row = 0; row < 2; row++) {
        tmx_table_text(t, row ? "WL2" : "WL1");
        tmx_table_real(t, row ? 0 : 2.25);
        row ? tmx_table_empty(t) : tmx_table_real(t, 0);
        tmx_table_int(t, 0);
        tmx_table_int(t, row);
        tmx_table_text(t, "");
    }
    static const char *const asked[] = {"mix", "error", "n_fan", "runs"} /* in this order */, *const wrong[] =
                                                                                                  {"mixx"};
    static const char *const prefer[] = {"runs"};
    static const struct {
        struct tmx_screen o;
        const char *text;
    } rows[] = {
        {{.width = 0},
         "mix  lost_pct  runs\nWL1       2.2     0\nWL2       0.0     1\n"
         "Empty or zero in every row: fan_energy_j, n_fan, error\n"},
        {{.width = 13},
         "mix  lost_pct\nWL1       2.2\nWL2       0.0\nEmpty or zero in every row:\n  fan_energy_j,\n  "
         "n_fan,\n"
         "  error\n"
         "Further columns:\n  runs\n"},
        {{.width = 13, .prefer = prefer, .n_prefer = 1},
         "mix  runs\nWL1     0\nWL2     1\nEmpty or zero in every row:\n  fan_energy_j,\n  n_fan,\n  error\n"
         "Further columns:\n  lost_pct\n"},
        {{.most_rows = 1},
         "mix  lost_pct  runs\nWL1       2.2     0\n1 of 2 rows; all: --columns all\n"
         "Empty or zero in every row: fan_energy_j, n_fan, error\n"},
        {{.width = 11, .column = asked, .n_column = 4, .most_rows = 1},
         "mix  error\nWL1  \nWL2  \n\nmix  n_fan\nWL1      0\nWL2      0\n\nmix  runs\nWL1     0\nWL2     "
         "1\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(tmx_table_write_screen(t, &rows[i].o, out, NULL), TMX_OK);
        fclose(out);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
    struct tmx_err err = {0};
    const struct tmx_screen bad = {.column = wrong, .n_column = 1};
    assert_int_equal(tmx_table_write_screen(t, &bad, stdout, &err), TMX_ECONFIG);
    assert_string_equal(err.msg,
                        "no column \"mixx\"; there are mix, lost_pct, fan_energy_j, n_fan, runs, error");
    tmx_table_destroy(t);
}

static void markdown_escapes_bars(void **state)
{
    check_written(tmx_table_write_markdown, "| name | runs | peak_c |\n| --- | ---: | ---: |\n"
                                            "| a,\"b\" | 12 | 0.10 |\n| x\\|y | - | 90.46 |\n");
}

static void latex_escapes_what_tex_reads(void **state)
{
    static const struct tmx_column two[] = {{"a_b%", TMX_COLUMN_TEXT, 0}, {"t_c", TMX_COLUMN_REAL, 1}};
    struct tmx_table *t;
    char *text;
    size_t size;
    assert_non_null(t = tmx_table_new(two, 2));
    tmx_table_text(t, "\\ ~ ^ < > | & % $ # _ { }\n.");
    tmx_table_real(t, 1.25);
    tmx_table_text(t, "x");
    tmx_table_empty(t);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tmx_table_write_latex(t, out, NULL), TMX_OK);
    fclose(out);
    assert_string_equal(text, "\\begin{tabular}{lr}\n\\toprule\na\\_b\\% & t\\_c \\\\\n\\midrule\n"
                              "\\textbackslash{} \\textasciitilde{} \\textasciicircum{} \\textless{} "
                              "\\textgreater{} \\textbar{} \\& \\% \\$ \\# \\_ \\{ \\} . & 1.2 \\\\\n"
                              "x & - \\\\\n\\bottomrule\n\\end{tabular}\n");
    free(text);
    tmx_table_destroy(t);
}

static void latex_prints_a_spread_behind_its_value(void **state)
{
    static const struct tmx_column five[] = {{"BL", TMX_COLUMN_REAL, 4},
                                             {"BL sd", TMX_COLUMN_REAL, 4},
                                             {"x", TMX_COLUMN_REAL, 4},
                                             {"x_ci95", TMX_COLUMN_REAL, 4},
                                             {"y_sd", TMX_COLUMN_REAL, 1}};
    static const double rows[][5] = {{12.34567, 0.41, -1.5, 0.0123, 2}, {1234.5, 40, 7, 1e-17, 2}};
    struct tmx_table *t;
    char *text;
    size_t size;
    assert_non_null(t = tmx_table_new(five, 5));
    for (size_t i = 0; i < 10; i++) {
        tmx_table_real(t, rows[i / 5][i % 5]);
    }
    tmx_table_empty(t);
    tmx_table_empty(t);
    tmx_table_real(t, 3);
    tmx_table_empty(t);
    tmx_table_real(t, 2);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tmx_table_write_latex(t, out, NULL), TMX_OK);
    fclose(out);
    assert_string_equal(
        text, "% behind \\pm: sd, ci95\n\\begin{tabular}{rrr}\n\\toprule\nBL & x & y\\_sd \\\\\n\\midrule\n"
              "$12.3 \\pm 0.4$ & $-1.500 \\pm 0.012$ & 2.0 \\\\\n"
              "$1234 \\pm 40$ & $7.0000 \\pm 0.0000$ & 2.0 \\\\\n"
              "- & $3.0000$ & 2.0 \\\\\n\\bottomrule\n\\end{tabular}\n");
    free(text);
    tmx_table_destroy(t);
}

static void a_number_that_went_wrong_is_an_error(void **state)
{
    struct tmx_table *t = small();
    struct tmx_err err = {0};
    tmx_table_text(t, "z");
    tmx_table_int(t, 1);
    tmx_table_real(t, NAN);
    assert_int_equal(tmx_table_write_csv(t, stderr, &err), TMX_ESOLVE);
    assert_string_equal(err.msg, "column peak_c, row 3: not a finite number");
    tmx_table_destroy(t);
}

TMX_TESTS(test_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_lossless_and_quotes_where_needed),
        cmocka_unit_test(columns_in_words_are_columns),
        cmocka_unit_test(a_table_may_have_no_columns),
        cmocka_unit_test(text_is_aligned),
        cmocka_unit_test(a_row_in_one_call),
        cmocka_unit_test(brief_leaves_out_what_says_nothing),
        cmocka_unit_test(markdown_escapes_bars),
        cmocka_unit_test(latex_escapes_what_tex_reads),
        cmocka_unit_test(latex_prints_a_spread_behind_its_value),
        cmocka_unit_test(a_number_that_went_wrong_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
