/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/scratch.h"

#include <math.h>
#include <string.h>

#include "base/trace.h"

static enum tmx_status read_any(const char *path, struct tmx_trace *t, struct tmx_err *err)
{
    bool npy;
    const enum tmx_status st = tmx_trace_read_any(path, t, &npy, err);
    assert_true(npy);
    return st;
}

/* A .npy file made by hand: version 1, the head, the data. */
static void write_npy(const char *path, const char *head, const void *data, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    const size_t n = strlen(head);
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fputc((int)(n & 0xff), out);
    fputc((int)(n >> 8), out);
    fwrite(head, 1, n, out);
    fwrite(data, 1, size, out);
    fclose(out);
}

static void binary_traces_are_read_and_written(void **state)
{
    static const double v[6] = {1.5, -2, 3e-300, 4, 5, 0.1};
    static const float narrow[4] = {1.5F, 2, 3, 4};
    static const char *const names[] = {"a", "b", "c"};
    struct tmx_trace t;
    FILE *out = fopen("t.npy", "wb");
    assert_non_null(out);
    tmx_trace_put_names(names, 3, 2, out);
    assert_int_equal(ftell(out) % 64, 0); /* where NumPy wants the data to begin */
    tmx_trace_put_row(v, 3, out);
    tmx_trace_put_row(v + 3, 3, out);
    fclose(out);
    assert_int_equal(read_any("t.npy", &t, NULL), TMX_OK);
    assert_true(t.n_row == 2 && t.n_column == 3);
    assert_string_equal(t.name[2], "c");
    assert_memory_equal(t.value, v, sizeof v);
    assert_int_equal(t.line[1], 2);
    tmx_trace_finish(&t);
    write_npy("u.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }  \n", narrow,
              sizeof narrow);
    scratch_write("u.names", "left\nright\n");
    assert_int_equal(read_any("u.npy", &t, NULL), TMX_OK);
    assert_true(t.n_row == 2 && t.n_column == 2 && t.value[0] == 1.5 && t.value[3] == 4);
    assert_string_equal(t.name[1], "right");
    tmx_trace_finish(&t);
}

static void malformed_binary_traces_say_what_is_wrong(void **state)
{
    static const double v[4] = {1, 2, 3, 4}, not_finite[4] = {1, 2, NAN, 4};
    static const struct {
        const char *head, *names, *message;
        size_t size;
    } rows[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2)}", "a b", "type \"<i8\"", 32},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2)}", "a b", "little-endian", 32},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}", "a b", "Fortran order", 32},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", "a b c", "3 names for the 2 columns",
         32},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", "a b",
         "24 bytes of data, its header gives 2 rows", 24},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", "a b",
         "expected an array (rows,) of named", 32},
        {"{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': False, 'shape': (2, 2)}", "",
         "expected an array", 32},
        {"{'descr': [('a', '<f8'), ('', '<f8')], 'fortran_order': False, 'shape': (2,)}", "",
         "field 2 has no name", 32},
        {"{'descr': [('a', '<f8'", "", "no \")\" where one is needed", 32},
        {"{'descr': '<f8', 'fortran_order': False}", "a", "expected an array", 32},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999, 2)}", "a b", "32 bytes of data",
         32},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2)}", "a b", "no rows", 0},
        {"{'shape': (1,), 'size': 3}", "a b", "\"size\" in its head", 32},
        {"(2, 2)", "a b", "no \"{\"", 32},
    };
    struct tmx_trace t;
    struct tmx_err err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_npy("v.npy", rows[i].head, v, rows[i].size);
        scratch_write("v.names", rows[i].names);
        assert_int_not_equal(read_any("v.npy", &t, &err), TMX_OK);
        if (!strstr(err.msg, rows[i].message)) {
            fail_msg("%s: got \"%s\", expected \"%s\"", rows[i].head, err.msg, rows[i].message);
        }
        tmx_trace_finish(&t);
    }
    write_npy("w.npy", "{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': False, 'shape': (2,), }",
              not_finite, 32);
    assert_int_equal(read_any("w.npy", &t, &err), TMX_EPARSE);
    assert_non_null(strstr(err.msg, "value of \"a\" in this row is no finite number"));
    assert_int_equal(err.line, 2);
    tmx_trace_finish(&t);
    write_npy("n.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", v, 32);
    assert_int_equal(read_any("n.npy", &t, &err), TMX_EPARSE);
    assert_non_null(strstr(err.msg, "names in n.names"));
    tmx_trace_finish(&t);
    scratch_write("x.npy", "\x93NUMPY\x01");
    assert_int_equal(read_any("x.npy", &t, &err), TMX_EPARSE);
    tmx_trace_finish(&t);
}

TMX_TESTS(test_trace_npy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_traces_are_read_and_written),
        cmocka_unit_test(malformed_binary_traces_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
