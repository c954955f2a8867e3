/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include "thermal/files/package.h"

/* HotSpot's defaults on a 60 mm copper sink. */
static const struct tmx_fan_sink base = {.s_sink_m = 0.06,
                                         .k_sink = 400,
                                         .fin_height_m = 0.03,
                                         .fin_width_m = 0.001,
                                         .channel_width_m = 0.002,
                                         .pin_height_m = 0.02,
                                         .pin_diam_m = 0.002,
                                         .pin_dist_m = 0.005,
                                         .fan_radius_m = 0.03,
                                         .motor_radius_m = 0.01,
                                         .rpm = 1000};

/* By hand: N_f = ceil(19.667 - 0.5) = 20, delta = sqrt(8e-4), rbar = 0.038284, A_fan = 2.5133e-3,
 * V' = A_fan sqrt(0.7854 * 5.611e-5 * 105 / 2.5133e-3) = 3.410e-3 m3/s, v = V' / (19 * 0.002 * 0.03)
 * = 2.991 m/s, Re* = 1.059 v 4e-6 / (2e-5 * 0.06) = 10.56, developed 3.854, developing 2.834,
 * Nu = 2.511, hc = 35.15, m S = 0.7955, eta = 0.8313, R = 1 / (hc (0.002 + 0.09976) 20 * 0.06). */
static void plate_fins_agree_with_a_calculation_by_hand(void **state)
{
    (void)state;
    check_close(tmx_fan_forced_k_per_w(&base), 0.2330, 2e-3, 0);
}

static void more_air_never_cools_less(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct tmx_fan_sink fs = base;
        fs.pins = kind & 1;
        fs.impinging = kind & 2;
        assert_null(tmx_fan_sink_fault(&fs));
        double last = INFINITY;
        for (int rpm = 200; rpm < 3000; rpm += 100) { /* laminar throughout */
            fs.rpm = rpm;
            const double r = tmx_fan_forced_k_per_w(&fs);
            assert_true(r > 0 && r < last);
            last = r;
        }
    }
}

static void a_hotter_sink_sheds_heat_better_in_still_air(void **state)
{
    (void)state;
    struct tmx_fan_sink fs = base;
    fs.natural = true;
    for (int pins = 0; pins < 2; pins++) {
        double last = INFINITY;
        fs.pins = pins;
        for (int k = 0; k < 14; k++) {
            const double rise = ldexp(0.01, k), r = tmx_fan_natural_k_per_w(&fs, 318.15 + rise, 318.15);
            assert_true(isfinite(r) && r > 0 && r < last);
            last = r;
        }
    }
    /* next to no rise: radiation alone, h = 4 * 0.95 sigma T^3 = 6.94 W/(m2 K) on A = 0.0756 m2 */
    fs.pins = false;
    check_close(tmx_fan_natural_k_per_w(&fs, 318.16, 318.15), 1 / (6.938 * 0.0756), 1e-2, 0);
}

static void impossible_fins_and_fans_are_refused(void **state)
{
    (void)state;
    struct tmx_fan_sink fs = base;
    fs.motor_radius_m = 0.03;
    assert_non_null(tmx_fan_sink_fault(&fs));
    fs = base;
    fs.fin_width_m = 0.06;
    assert_non_null(tmx_fan_sink_fault(&fs));
    fs = base;
    fs.channel_width_m = 0.05;
    assert_non_null(tmx_fan_sink_fault(&fs));
    fs = base;
    fs.pins = true;
    fs.pin_dist_m = 0.05;
    assert_non_null(tmx_fan_sink_fault(&fs));
    fs = base;
    fs.impinging = true;
    fs.pin_diam_m = 0.004;
    fs.pin_dist_m = 1e-5;
    assert_null(tmx_fan_sink_fault(&fs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plate_fins_agree_with_a_calculation_by_hand),
        cmocka_unit_test(more_air_never_cools_less),
        cmocka_unit_test(a_hotter_sink_sheds_heat_better_in_still_air),
        cmocka_unit_test(impossible_fins_and_fans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
