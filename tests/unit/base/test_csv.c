/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/output.h"
#include "tests/support/check.h"

static enum tmx_status read_text(const char *text, struct tmx_csv *csv, struct tmx_err *err)
{
    const char *path = "test_csv.csv";
    struct tmx_output o;
    assert_int_equal(tmx_output_open(&o, path, NULL), TMX_OK);
    fputs(text, o.file);
    assert_int_equal(tmx_output_commit(&o, NULL), TMX_OK);
    const enum tmx_status st = tmx_csv_read(csv, path, err);
    remove(path);
    return st;
}

static void cells_quotes_and_crlf_are_read(void **state)
{
    struct tmx_csv csv;
    double v = 0;
    assert_int_equal(read_text("a,b\r\n1.5,\"x, \"\"y\"\"\n z\"\n,last", &csv, NULL), TMX_OK);
    assert_int_equal(csv.n_column, 2);
    assert_int_equal(csv.n_row, 2);
    assert_string_equal(tmx_csv_cell(&csv, 0, 1), "x, \"y\"\n z");
    assert_true(tmx_csv_real(&csv, 0, 0, &v) && v == 1.5);
    assert_false(tmx_csv_real(&csv, 1, 0, &v));
    assert_string_equal(tmx_csv_cell(&csv, 1, 1), "last");
    assert_int_equal(csv.line[1], 4);
    assert_int_equal(tmx_csv_column(&csv, "b"), 1);
    assert_int_equal(tmx_csv_column(&csv, "c"), 2);
    tmx_csv_finish(&csv);
}

static void ragged_rows_and_open_quotes_name_the_line(void **state)
{
    static const struct {
        const char *text, *msg;
        unsigned line;
    } rows[] = {{"a,b\n1\n", "1 cells; the header has 2", 2},
                {"a,b\n1,2\n1,2,3\n", "3 cells", 3},
                {"a\n\"open\n", "never closes", 3},
                {"", "empty", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_csv csv;
        struct tmx_err err = {0};
        assert_int_equal(read_text(rows[i].text, &csv, &err), TMX_EPARSE);
        assert_non_null(strstr(err.msg, rows[i].msg));
        assert_int_equal(err.line, rows[i].line);
    }
}

static void a_formula_with_a_comma_is_one_cell_that_no_spreadsheet_runs(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct tmx_csv csv;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    fputs("name,b\n", f);
    tmx_csv_text("=SUM(A1,\"B2\")", f);
    fputs(",1\n", f);
    fclose(f);
    assert_int_equal(read_text(text, &csv, NULL), TMX_OK);
    assert_string_equal(tmx_csv_cell(&csv, 0, 0), "'=SUM(A1,\"B2\")");
    assert_string_equal(tmx_csv_cell(&csv, 0, 1), "1");
    tmx_csv_finish(&csv);
    free(text);
}

TMX_TESTS(test_csv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_quotes_and_crlf_are_read),
        cmocka_unit_test(a_formula_with_a_comma_is_one_cell_that_no_spreadsheet_runs),
        cmocka_unit_test(ragged_rows_and_open_quotes_name_the_line),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
