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
    check_close(tmx_fan_forced_k_per_w(&base), 0.2330, 2e-3, 0);
}

static void more_air_never_cools_less(void **state)
{
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

/* 40 mm copper, channels of 0.5 x 2 mm, water at 40 degC and 0.9 l/min. By hand: N = floor(39.5) = 39, d =
 * 0.8 mm, v = 0.3846 m/s, Re = 467.6, Nu(0.25) = 5.333, H = 4206 W/(m2 K), m h = 0.4102, eta = 0.9474, A
 * = 66.92 cm2. */
static const struct tmx_cold_plate plate = {0.04, 400, 5e-4, 2e-3, 5e-4, 0.631, 4.146e6, 6.58e-7};

static void a_cold_plate_agrees_with_a_calculation_by_hand(void **state)
{
    const double flow = 1.5e-5, film = tmx_cold_plate_film_k_per_w(&plate, flow);
    check_close(film, 0.035526, 1e-4, 0);
    check_close(tmx_cold_plate_k_per_w(&plate, flow) - film, 1 / (2 * 4.146e6 * flow), 1e-12, 0);
    /* laminar: the film does not know the flow; square channels have Nu 3.61, slits 8.235 */
    check_close(tmx_cold_plate_film_k_per_w(&plate, 2 * flow), film, 1e-15, 0);
    struct tmx_cold_plate square = plate;
    square.channel_height_m = square.channel_width_m = 1e-3;
    square.k_w_per_mk = 1e9; /* no fins to speak of: 1 / (H N S 3 w) */
    check_close(1 / (tmx_cold_plate_film_k_per_w(&square, 1e-6) * 26 * 0.04 * 3e-3) * 1e-3 / 0.631, 3.61,
                1e-2, 0);
    /* and more flow never cools less, through the turbulent range */
    double before = film;
    for (double v = flow; v < 1e-3; v *= 1.02) {
        const double r = tmx_cold_plate_film_k_per_w(&plate, v);
        assert_true(r <= before * (1 + 1e-12) && r > 0.9 * before);
        before = r;
    }
    assert_true(before < 0.2 * film);
}

static void a_pump_is_a_fan_of_a_plate(void **state)
{
    struct tmx_fan pump = {.min_rpm = 500, .max_rpm = 3000, .flow_m3_per_s = 3e-5};
    const struct tmx_card card = {.convection = TMX_CONVECTION_PLATE,
                                  .still_k_per_w = 2,
                                  .still_flow_m3_per_s = 2e-7,
                                  .levels = 8,
                                  .n_gpu = 2,
                                  .n_fan = 1};
    struct tmx_fan_sink sink = base;
    double rpm[TMX_MAX_FAN_LEVELS], r[TMX_MAX_FAN_LEVELS], flow_m3_per_s[TMX_MAX_FAN_LEVELS];
    sink.liquid = true;
    sink.plate = plate;
    assert_int_equal(tmx_fan_levels(&card, &pump, &sink, -1, rpm, r, flow_m3_per_s), 8);
    check_close(r[0], 2, 1e-15, 0);
    check_close(r[7], tmx_cold_plate_k_per_w(&plate, 1e-7 + 1.5e-5), 1e-12, 0); /* two GPUs share it */
    for (size_t l = 1; l < 8; l++) {
        assert_true(r[l] < r[l - 1]);
    }
}

TMX_TESTS(test_package)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plate_fins_agree_with_a_calculation_by_hand),
        cmocka_unit_test(more_air_never_cools_less),
        cmocka_unit_test(a_hotter_sink_sheds_heat_better_in_still_air),
        cmocka_unit_test(a_cold_plate_agrees_with_a_calculation_by_hand),
        cmocka_unit_test(a_pump_is_a_fan_of_a_plate),
        cmocka_unit_test(impossible_fins_and_fans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
