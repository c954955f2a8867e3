/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <string.h>

#include "core/floorplan/floorplan.h"

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

TMX_TESTS(test_floorplan_edit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_placement_tiles_the_die_with_equal_sms),
        cmocka_unit_test(turns_and_mirrors_come_back),
        cmocka_unit_test(pieces_keep_the_area),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
