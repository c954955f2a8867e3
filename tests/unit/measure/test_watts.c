/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With AccelWattch's components as input the chip draws AccelWattch's sum; every part of it goes where the
 * chip says. */
#include <math.h>

#include "core/floorplan/chip.h"
#include "measure/measure.h"
#include "tests/support/check.h"

static void components_add_up_to_the_sources_sum(void **state)
{
    struct tmx_watts_check w;
    struct tmx_err err = {0};
    if (tmx_validate_watts(&w, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(w.n_kernel, 26);
    check_close(w.off_w, 0, 0, 1e-3); /* the table's own rounding */
    check_close(w.mape_pct, 9.2, 0, 0.05);
}

/* Fused-off SMs have no number, no kernel and no part of what goes by area. */
static void sms_that_are_off_leave_no_gap_in_the_numbers(void **state)
{
    struct tmx_chip c = {.name = "t", .sm_prefix = "SM", .sms_per_cluster = 2, .sms_off = "1,4-5"};
    struct tmx_floorplan fp = {0};
    struct tmx_err err = {0};
    for (int i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof name, "SM%d", i);
        const struct tmx_unit u = {.name = name,
                                   .x_m = 1e-3 * i,
                                   .w_m = 1e-3,
                                   .h_m = 1e-3,
                                   .heat_capacity_j_per_m3k = NAN,
                                   .resistivity_mk_per_w = NAN};
        assert_int_equal(tmx_floorplan_add(&fp, &u, &err), TMX_OK);
    }
    assert_int_equal(tmx_chip_attach(&c, &fp, &err), TMX_OK);
    assert_int_equal(c.n_sm, 5);
    static const int name[] = {0, 2, 3, 6, 7};
    for (size_t sm = 0; sm < 5; sm++) {
        assert_int_equal(c.sm_name[sm], name[sm]);
        assert_int_equal(c.unit_of_sm[sm], (size_t)name[sm]);
    }
    assert_true(c.is_off[1] && c.is_off[4] && c.is_off[5] && !c.is_off[0]);
    bool taken[5] = {false};
    for (size_t i = 0; i < 5; i++) {
        assert_false(taken[c.hot_order[i]]);
        taken[c.hot_order[i]] = true;
    }
    tmx_chip_finish(&c);
    static const char *const bad[] = {"8", "0-7", "3-2", "1,", "x", "1-", "0-8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tmx_floorplan again = {0};
        for (int k = 0; k < 8; k++) {
            char unit[8];
            snprintf(unit, sizeof unit, "SM%d", k);
            const struct tmx_unit u = {.name = unit,
                                       .x_m = 1e-3 * k,
                                       .w_m = 1e-3,
                                       .h_m = 1e-3,
                                       .heat_capacity_j_per_m3k = NAN,
                                       .resistivity_mk_per_w = NAN};
            assert_int_equal(tmx_floorplan_add(&again, &u, &err), TMX_OK);
        }
        c = (struct tmx_chip){.name = "t", .sm_prefix = "SM", .sms_per_cluster = 2};
        snprintf(c.sms_off, sizeof c.sms_off, "%s", bad[i]);
        assert_int_equal(tmx_chip_attach(&c, &again, &err), TMX_ECONFIG);
        tmx_floorplan_finish(&again);
        tmx_chip_finish(&c);
    }
}

TMX_TESTS(test_watts)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_add_up_to_the_sources_sum),
        cmocka_unit_test(sms_that_are_off_leave_no_gap_in_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
