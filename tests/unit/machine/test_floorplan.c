/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "core/floorplan/floorplan.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static const char PATH[] = "flp_test.flp";

/* Read text, check it, and compare the message of the first complaint ("" for none). */
static void expect(const char *text, int allow_gaps, const char *message)
{
    struct tmx_floorplan fp;
    struct tmx_err err = {0};
    char got[1600] = "";
    scratch_write(PATH, text);
    enum tmx_status st = tmx_flp_read(PATH, &fp, &err);
    if (!st) {
        st = tmx_floorplan_check(&fp, allow_gaps, &err);
    }
    if (st) {
        tmx_err_format(&err, got, sizeof got);
    }
    if (*message ? !strstr(got, message) : st != TMX_OK) {
        fail_msg("got \"%s\", expected \"%s\"", got, message);
    }
    tmx_floorplan_finish(&fp);
}

static void a_floorplan_is_read_shifted_and_written_back_equal(void **state)
{
    struct tmx_floorplan fp, again;
    scratch_write(
        PATH,
        "# comment\r\nA 2e-3 1e-3 -1e-3 5e-3\r\nwire1 wire2 3\n\n b\t2e-3\t1e-3\t-1e-3\t6e-3 1.6e6 0.01");
    assert_int_equal(tmx_flp_read(PATH, &fp, NULL), TMX_OK);
    assert_int_equal(fp.n_unit, 2);
    assert_true(fp.unit[0].x_m == 0 && fp.unit[0].y_m == 0);
    check_close(fp.unit[1].y_m, 1e-3, 1e-12, 0);
    assert_true(isnan(fp.unit[0].resistivity_mk_per_w));
    assert_true(fp.unit[1].heat_capacity_j_per_m3k == 1.6e6 && fp.unit[1].resistivity_mk_per_w == 0.01);
    assert_int_equal(fp.unit[1].line, 5);
    assert_int_equal(tmx_flp_write(PATH, &fp, "one\ntwo", NULL), TMX_OK);
    assert_int_equal(tmx_flp_read(PATH, &again, NULL), TMX_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_true(fp.unit[i].x_m == again.unit[i].x_m && fp.unit[i].y_m == again.unit[i].y_m);
        assert_true(fp.unit[i].w_m == again.unit[i].w_m && fp.unit[i].h_m == again.unit[i].h_m);
        assert_string_equal(fp.unit[i].name, again.unit[i].name);
    }
    assert_true(again.unit[1].heat_capacity_j_per_m3k == 1.6e6);
    tmx_floorplan_finish(&fp);
    tmx_floorplan_finish(&again);
}

static void malformed_lines_are_named(void **state)
{
    expect("", 0, "flp_test.flp: no blocks");
    expect("A 1e-3 1e-3 0\n", 0, "flp_test.flp:1: 4 fields; a block has 5");
    expect("A 1e-3 1e-3\n", 0, "flp_test.flp:1: 3 fields");
    expect("A 1e-3 1e-3 0 0 1e6\n", 0, "flp_test.flp:1: 6 fields");
    expect("A 1e-3 1e-3 0 0 1e6 1 1\n", 0, "flp_test.flp:1: more than 7 fields");
    expect("A 1e-3 -1e-3 0 0\n", 0, "flp_test.flp:1: height = -0.001 must be above 0");
    expect("A 1e-3 0 0 0\n", 0, "height = 0 must be above 0");
    expect("A 1,5e-3 1e-3 0 0\n", 0, "flp_test.flp:1: width \"1,5e-3\" has a decimal comma");
    expect("A 1e-3 1e-3 nan 0\n", 0, "left-x \"nan\" is not a finite number");
    expect("A 5 5 0 0\n", 0, "floorplans are in metres");
    expect("A 1e-3 1e-3 0 0\na 1e-3 1e-3 1e-3 0\n", 0,
           "flp_test.flp:2: name \"a\" given twice (first at line 1");
}

static void tiling_faults_name_units_and_place(void **state)
{
    expect(
        "A 1e-3 1e-3 0 0\nB 1e-3 1e-3 0.9e-3 0\n", 0,
        "flp_test.flp:2: \"B\" overlaps \"A\" by 100.000 x 1000.000 um at x = 0.900000 mm, y = 0.000000 mm");
    /* a 5 um gap, cut into thin strips by other blocks' edges, is still one gap */
    expect("A 1e-3 1e-3 0 0\nB 1e-3 1e-3 1.005e-3 0\nC 1.001e-3 1e-3 0 1e-3\nD 1.004e-3 1e-3 1.001e-3 1e-3\n",
           0, "gap of 5.000 x 1000.000 um in the die at x = 1.002500 mm");
    expect("A 1e-3 1e-3 0 0\nB 1e-3 1e-3 1.005e-3 0\nC 2.005e-3 1e-3 0 1e-3\n", 1, "");
    expect("A 1e-3 1e-3 0 0\nB 1e-3 0.99e-3 1e-3 0\n", 0, "gap of 1000.000 x 10.000 um");
    expect("A 1e-3 1e-3 0 0\nB 1e-3 1e-3 1e-3 0\nC 1e-3 1e-3 9e-3 0\n", 0, "\"C\" at x = 9.000000 mm");
    /* rounding: 1 um on a 2 mm die; 1e-4 of the side on a 20 mm die is 2 um as well */
    expect("A 1e-3 1e-3 0 0\nB 1e-3 1e-3 1.001e-3 0\n", 0, "");
    expect("A 1e-3 1e-3 0 0\nB 1e-3 1e-3 0.999e-3 0\n", 0, "");
    expect("A 2e-2 1e-3 0 0\nB 2e-2 1e-3 2.00039e-2 0\n", 0, "");
    expect("A 2e-2 1e-3 0 0\nB 2e-2 1e-3 2.00050e-2 0\n", 0, "gap of 5.000");
}

static void uncovered_and_doubly_covered_area_is_measured(void **state)
{
    struct tmx_floorplan fp;
    struct tmx_tiling tiling;
    scratch_write(PATH, "A 1e-3 1e-3 0 0\nB 1e-3 1e-3 1e-3 0\nC 1e-3 1e-3 0 1e-3\nD 1e-3 1e-3 0.5e-3 0\n");
    assert_int_equal(tmx_flp_read(PATH, &fp, NULL), TMX_OK);
    assert_int_equal(tmx_floorplan_tiling(&fp, &tiling, NULL), TMX_OK);
    check_close(tiling.die_m2, 4e-6, 1e-12, 0);
    check_close(tiling.gap_m2, 1e-6, 1e-9, 0);
    check_close(tiling.overlap_m2, 1e-6, 1e-9, 0);
    tmx_floorplan_finish(&fp);
}

static const struct tmx_regular_chip gt200 = {.width_m = 0.024,
                                              .height_m = 0.024,
                                              .n_sm = 30,
                                              .per_cluster = 3,
                                              .sm_area_m2 = 10e-6,
                                              .margin_m = 0.002};

static struct tmx_floorplan made(int placement)
{
    struct tmx_floorplan fp;
    struct tmx_regular_chip c = gt200;
    c.placement = placement;
    assert_int_equal(tmx_floorplan_generate(&fp, &c, NULL), TMX_OK);
    return fp;
}

static void every_placement_tiles_the_die_with_equal_sms(void **state)
{
    for (int p = 0; tmx_sm_layout_names[p]; p++) {
        struct tmx_floorplan fp = made(p);
        struct tmx_err err = {0};
        double sm_m2 = 0, mc_m2 = 0;
        size_t n_sm = 0;
        if (tmx_floorplan_check(&fp, 0, &err)) {
            print_error("%s: %s\n", tmx_sm_layout_names[p], err.msg);
            fail();
        }
        for (size_t i = 0; i < fp.n_unit; i++) {
            const double area = tmx_unit_area_m2(&fp.unit[i]);
            if (strncmp(fp.unit[i].name, "SM", 2) == 0) {
                check_close(area, 10e-6, 1e-9, 0);
                sm_m2 += area;
                n_sm++;
            }
            mc_m2 += strncmp(fp.unit[i].name, "MC", 2) == 0 ? area : 0;
        }
        assert_int_equal(n_sm, 30);
        check_close(sm_m2, 300e-6, 1e-9, 0);
        check_close(mc_m2, 96e-6, 1e-9, 0);
        check_close(tmx_floorplan_width_m(&fp), 0.024, 1e-9, 0);
        tmx_floorplan_finish(&fp);
    }
}

static void equal(const struct tmx_floorplan *a, const struct tmx_floorplan *b)
{
    assert_int_equal(a->n_unit, b->n_unit);
    for (size_t i = 0; i < a->n_unit; i++) {
        assert_string_equal(a->unit[i].name, b->unit[i].name);
        check_close(a->unit[i].x_m, b->unit[i].x_m, 0, 1e-15);
        check_close(a->unit[i].y_m, b->unit[i].y_m, 0, 1e-15);
        check_close(a->unit[i].w_m, b->unit[i].w_m, 0, 1e-15);
        check_close(a->unit[i].h_m, b->unit[i].h_m, 0, 1e-15);
    }
}

static void turns_and_mirrors_come_back(void **state)
{
    struct tmx_floorplan a = made(TMX_PLACE_EDGES), b = made(TMX_PLACE_EDGES);
    tmx_floorplan_rotate(&a, 1);
    const size_t sm = tmx_floorplan_find(&a, "SM0"); /* was bottom left beside MC0 */
    check_close(a.unit[sm].y_m, 0.002, 1e-12, 0);
    check_close(a.unit[sm].x_m + a.unit[sm].w_m, 0.024, 1e-12, 0);
    assert_int_equal(tmx_floorplan_check(&a, 0, NULL), TMX_OK);
    tmx_floorplan_rotate(&a, 3);
    equal(&a, &b);
    tmx_floorplan_mirror(&a);
    assert_int_equal(tmx_floorplan_check(&a, 0, NULL), TMX_OK);
    check_close(a.unit[sm].x_m + a.unit[sm].w_m, 0.022, 1e-12, 0);
    tmx_floorplan_mirror(&a);
    equal(&a, &b);
    tmx_floorplan_rotate(&b, -5);
    tmx_floorplan_rotate(&b, 5);
    equal(&a, &b);
    tmx_floorplan_finish(&a);
    tmx_floorplan_finish(&b);
}

static void pieces_keep_the_area(void **state)
{
    struct tmx_floorplan fp = made(TMX_PLACE_CHECKERBOARD);
    const size_t n = fp.n_unit, sm = tmx_floorplan_find(&fp, "SM4");
    assert_int_equal(tmx_floorplan_split(&fp, sm, 2, 3, NULL), TMX_OK);
    assert_int_equal(fp.n_unit, n + 5);
    assert_int_equal(tmx_floorplan_find(&fp, "SM4"), fp.n_unit);
    check_close(tmx_unit_area_m2(&fp.unit[tmx_floorplan_find(&fp, "SM4_2_1")]), 10e-6 / 6, 1e-9, 0);
    assert_int_equal(tmx_floorplan_check(&fp, 0, NULL), TMX_OK);
    assert_int_equal(tmx_floorplan_grid(&fp, 12, 12, NULL), TMX_OK);
    assert_int_equal(fp.n_unit, 144);
    assert_int_equal(tmx_floorplan_check(&fp, 0, NULL), TMX_OK);
    assert_string_equal(fp.unit[0].name, "MC0_0_0");
    tmx_floorplan_scale(&fp, 0.5, 2);
    check_close(tmx_floorplan_width_m(&fp), 0.012, 1e-12, 0);
    check_close(tmx_floorplan_height_m(&fp), 0.048, 1e-12, 0);
    tmx_floorplan_finish(&fp);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct tmx_floorplan fp;
    struct tmx_err err = {0};
    struct tmx_regular_chip c = gt200;
    c.sm_area_m2 = 20e-6;
    assert_int_equal(tmx_floorplan_generate(&fp, &c, &err), TMX_ECONFIG);
    assert_string_equal(err.msg, "30 SMs of 20 mm2 need 600 mm2; between the margins are 480 mm2");
    c = gt200;
    c.per_cluster = 4;
    assert_int_equal(tmx_floorplan_generate(&fp, &c, &err), TMX_ECONFIG);
    assert_string_equal(err.msg, "30 SMs are no whole number of clusters of 4");
}

TMX_TESTS(test_floorplan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_floorplan_is_read_shifted_and_written_back_equal),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(tiling_faults_name_units_and_place),
        cmocka_unit_test(uncovered_and_doubly_covered_area_is_measured),
        cmocka_unit_test(every_placement_tiles_the_die_with_equal_sms),
        cmocka_unit_test(turns_and_mirrors_come_back),
        cmocka_unit_test(pieces_keep_the_area),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
