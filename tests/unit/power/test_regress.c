/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "power/regress.h"
#include "tests/support/scratch.h"

static enum tmx_status load(const char *text, struct tmx_training *t, struct tmx_err *err)
{
    return tmx_training_load(t, scratch_write("test_regress_train.csv", text), err);
}

#define HEAD "kernel,compute,memory,power_w\n"
/* power = 10 + 100 compute + 1000 memory, exactly */
#define EXACT "a,0.1,0.01,30\nb,0.2,0.01,40\nc,0.2,0.02,50\nd,0.05,0.03,45\ne,0.3,0.00,40\nf,0.15,0.015,40\n"

static void exact_data_give_exact_coefficients(void **state)
{
    struct tmx_training t;
    struct tmx_power_fit f;
    struct tmx_err err = {0};
    assert_int_equal(load("# comment\n\n" HEAD EXACT, &t, &err), TMX_OK);
    assert_int_equal(t.n_row, 6);
    assert_int_equal(tmx_power_fit(&t, &f, &err), TMX_OK);
    check_close(f.coefficient[0], 10, 1e-10, 0);
    check_close(f.coefficient[1], 100, 1e-10, 0);
    check_close(f.coefficient[2], 1000, 1e-10, 0);
    check_close(f.r_squared, 1, 1e-10, 0);
    check_close(tmx_fit_left_out(&t, &f, 0).worst, 0, 0, 1e-9);
    const double event[] = {0.4, 0.1};
    check_close(tmx_power_fit_predict_w(&f, event), 150, 1e-10, 0);
    tmx_power_fit_finish(&f);
    tmx_training_finish(&t);
}

/* y = 0, 1, 2, 4 over x = 1..4 plus 10: slope 1.3, intercept 8.5; leaving out x = 4 gives the line 9 + x = 13
 */
static void a_line_through_four_points_has_known_errors(void **state)
{
    struct tmx_training t;
    struct tmx_power_fit f;
    struct tmx_err err = {0};
    assert_int_equal(load("kernel,x,power_w\na,1,10\nb,2,11\nc,3,12\nd,4,14\n", &t, &err), TMX_OK);
    assert_int_equal(tmx_power_fit(&t, &f, &err), TMX_OK);
    check_close(f.coefficient[0], 8.5, 1e-12, 0);
    check_close(f.coefficient[1], 1.3, 1e-12, 0);
    check_close(f.rms_w, sqrt(0.3 / 2), 1e-12, 0);
    check_close(f.std_error[1], sqrt(0.15 / 5), 1e-12, 0);
    check_close(f.left_out_w[3], 13, 1e-12, 0);
    const struct tmx_fit_error e = tmx_fit_left_out(&t, &f, 0);
    assert_int_equal(e.worst_row, 3);
    check_close(e.worst, 100.0 / 14, 1e-12, 0);
    tmx_power_fit_finish(&f);
    tmx_training_finish(&t);
}

static void the_order_of_rows_does_not_matter(void **state)
{
    static const char *const text[] = {"kernel,x,power_w\na,1,10\nb,2,11.5\nc,3,12\nd,4,14\ne,6,15\n",
                                       "kernel,x,power_w\ne,6,15\nc,3,12\na,1,10\nd,4,14\nb,2,11.5\n"};
    struct tmx_power_fit f[2];
    struct tmx_fit_error e[2];
    for (int i = 0; i < 2; i++) {
        struct tmx_training t;
        struct tmx_err err = {0};
        assert_int_equal(load(text[i], &t, &err), TMX_OK);
        assert_int_equal(tmx_power_fit(&t, &f[i], &err), TMX_OK);
        e[i] = tmx_fit_left_out(&t, &f[i], 0);
        tmx_training_finish(&t);
    }
    check_close(f[0].coefficient[1], f[1].coefficient[1], 1e-13, 0);
    check_close(e[0].mean, e[1].mean, 1e-12, 0);
    check_close(e[0].worst, e[1].worst, 1e-12, 0);
    tmx_power_fit_finish(&f[0]);
    tmx_power_fit_finish(&f[1]);
}

/* text, line, message */
static const struct {
    const char *text;
    unsigned line;
    const char *msg;
} bad[] = {
    {"", 1, "expected a line of column names"},
    {"name,x,power_w\na,1,10\n", 1, "first column must be \"kernel\""},
    {"kernel,x,watts\na,1,10\n", 1, "last column must be \"power_w\""},
    {"kernel,power_w\na,10\n", 1, "no event column"},
    {HEAD "a,0.1,nan,30\n", 2, "memory: \"nan\" is not a finite number"},
    {HEAD "a,0.1,0.2,30\nb,inf,0.2,30\n", 3, "compute: \"inf\""},
    {HEAD "a,0.1,1e999,30\n", 2, "memory: \"1e999\""},
    {HEAD "a,0.1,,30\n", 2, "memory: \"\""},
    {HEAD "a,0.1,0.2\n", 2, "3 cells; the header has 4 columns"},
    {HEAD "a,0.1,0.2,30,7\n", 2, "5 cells; the header has 4 columns"},
    {HEAD "a,0.1,0.2,-30\n", 2, "is not positive"},
    {HEAD "a,0.1,0.2,30\n#\na,0.2,0.2,30\n", 4, "already on line 2"},
    {HEAD ",0.1,0.2,30\n", 2, "without a name"},
};

static void bad_tables_name_the_line_and_the_column(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tmx_training t;
        struct tmx_err err = {0};
        assert_int_equal(load(bad[i].text, &t, &err), TMX_EPARSE);
        print_message("%s\n", err.msg);
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.msg, bad[i].msg));
        assert_non_null(strstr(err.file, "test_regress_train.csv"));
    }
}

static const struct {
    const char *text;
    unsigned line;
    const char *msg;
} unfit[] = {
    {HEAD "a,0.1,0.01,30\nb,0.2,0.01,40\nc,0.2,0.02,50\nd,0.05,0.03,45\n", 0,
     "4 rows are too few for 3 coefficients: at least 5"},
    {HEAD "a,0.1,0.5,30\nb,0.2,0.5,40\nc,0.3,0.5,50\nd,0.4,0.5,45\ne,0.7,0.5,45\n", 0,
     "column memory is the same in all rows"},
    {HEAD "a,0.1,0.3,30\nb,0.2,0.5,40\nc,0.3,0.7,50\nd,0.4,0.9,45\ne,0.7,1.5,45\n", 0,
     "column memory is a linear combination"},
    {HEAD "a,0.1,0.5,30\nb,0.2,0.5,40\nc,0.3,0.5,50\nd,0.4,0.5,45\ne,0.7,0.9,45\n", 6,
     "without kernel \"e\", column memory is the same"},
};

static void unfit_data_say_which_column_is_at_fault(void **state)
{
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        struct tmx_training t;
        struct tmx_power_fit f;
        struct tmx_err err = {0};
        assert_int_equal(load(unfit[i].text, &t, &err), TMX_OK);
        assert_int_equal(tmx_power_fit(&t, &f, &err), TMX_EPARSE);
        print_message("%s\n", err.msg);
        assert_int_equal(err.line, unfit[i].line);
        assert_non_null(strstr(err.msg, unfit[i].msg));
        tmx_training_finish(&t);
    }
}

static void the_shipped_table_meets_the_papers_error(void **state)
{
    struct tmx_training t;
    struct tmx_power_fit f;
    struct tmx_err err = {0};
    assert_int_equal(tmx_training_load(&t, TMX_SOURCE_DIR "/workloads/training/rodinia_c1060.csv", &err),
                     TMX_OK);
    assert_int_equal(t.n_row, 10);
    assert_int_equal(tmx_power_fit(&t, &f, &err), TMX_OK);
    const struct tmx_fit_error e = tmx_fit_left_out(&t, &f, 0);
    assert_true(e.worst <= 10 && e.mean <= 6.4);
    tmx_power_fit_finish(&f);
    tmx_training_finish(&t);
}

static double value(const struct tmx_csv *csv, size_t row, const char *column)
{
    double v = 0;
    assert_true(tmx_csv_real(csv, row, tmx_csv_column(csv, column), &v));
    return v;
}

/* Events of one SM per cycle and the power that the shipped training table states: warps limited by
 * occupancy, one warp instruction per 4 cycles, 24 cycles between dependent instructions, 500 per global
 * load, 102.4 GB/s for 30 SMs at 1.3 GHz; then Hong and Kim's components, each busy 4 cycles an access,
 * 30 log10(alpha 30 + 1.1) = 30 SMs, 52 W of memory at full bandwidth (recalled values: assumed). */
static void the_shipped_table_follows_from_its_mixes(void **state)
{
    struct tmx_training t;
    struct tmx_csv mix;
    struct tmx_err err = {0};
    assert_int_equal(tmx_training_load(&t, TMX_SOURCE_DIR "/workloads/training/rodinia_c1060.csv", &err),
                     TMX_OK);
    assert_int_equal(tmx_csv_read(&mix, TMX_SOURCE_DIR "/workloads/training/rodinia_mixes.csv", &err),
                     TMX_OK);
    assert_int_equal(mix.n_row, t.n_row);
    for (size_t i = 0; i < mix.n_row; i++) {
        const double threads = value(&mix, i, "threads_per_block"), g = value(&mix, i, "ld_global");
        const double shared = value(&mix, i, "shared_bytes");
        double blocks = fmin(8, floor(1024 / threads));
        blocks = fmin(blocks, floor(16384 / (threads * value(&mix, i, "registers_per_thread"))));
        blocks = fmax(1, shared > 0 ? fmin(blocks, floor(16384 / shared)) : blocks);
        const double full = 102.4e9 / (30 * 128 * 1.3e9); /* loads per cycle of one SM */
        double rate = fmin(0.25, floor(blocks * threads / 32) / (24 + 500 * g));
        rate = g > 0 ? fmin(rate, full / g) : rate;
        const double parts = 0.2 * value(&mix, i, "fp") + 0.25 * value(&mix, i, "int") +
                             0.5 * value(&mix, i, "sfu") + 0.2 + 0.3 + 0.5 +
                             1.0 * value(&mix, i, "ld_shared") + 0.4 * value(&mix, i, "ld_constant");
        const double power_w = 30 * (4 * rate * parts + 0.813) + 52 * fmin(1, rate * g / full);
        assert_string_equal(tmx_csv_cell(&mix, i, 0), t.kernel[i]);
        check_close(t.event[2 * i], rate * (1 - g), 0, 1e-6);
        check_close(t.event[2 * i + 1], rate * g, 0, 1e-6);
        check_close(t.power_w[i], power_w, 0, 0.006);
    }
    tmx_csv_finish(&mix);
    tmx_training_finish(&t);
}

TMX_TESTS(test_regress)
{
    gsl_set_error_handler_off();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_data_give_exact_coefficients),
        cmocka_unit_test(a_line_through_four_points_has_known_errors),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(bad_tables_name_the_line_and_the_column),
        cmocka_unit_test(unfit_data_say_which_column_is_at_fault),
        cmocka_unit_test(the_shipped_table_meets_the_papers_error),
        cmocka_unit_test(the_shipped_table_follows_from_its_mixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
