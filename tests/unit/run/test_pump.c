/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Water in channels of a die under a pump: heat in is heat out, what the pump takes, what its policies do,
 * and what is refused. */
#include <string.h>

#include "run/summary.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

#define HERE TMX_SOURCE_DIR "/examples/cooling/pumped/"
#define PACKAGE                                                                                      \
    "grid_layer_file = \"" HERE                                                                      \
    "stack.lcf\"; s_spreader = 0.024; t_spreader = 1e-8; s_sink = 0.024; t_sink = 1e-8; c_convec = " \
    "0.0;"
#define COMMON                                                                          \
    "seed = 1; warmup_s = 1.0; rows = 8; cols = 8; stuck_s = 5000.0; policy = \"BL\"; " \
    "method "                                                                           \
    "= \"grid\"; network = \"physical\"; throttle = { trip_c = 150.0; release_c = 140.0; };\n"
#define CARD(n) "{ name = \"c" n "\"; convection = \"channels\"; }"
#define PUMP(n)                                                                \
    "{ name = \"p" n "\"; card = \"c" n                                        \
    "\"; min_rpm = 600.0; max_rpm = 3000.0; power_w = 0.2; efficiency = 0.4; " \
    "flow_m3_per_s = 1e-5; curve = ( { temp_c = 40.0; speed = 0.2; }, { temp_c = 70.0; speed = 1.0; } ); }"
#define GPU(n) "{ name = \"g" n "\"; chip = \"gtx280\"; card = \"c" n "\"; }"
static const char two[] =
    "name = \"two\"; inlet_c = 30.0; cards = ( " CARD("0") ", " CARD("1") " ); fans = ( " PUMP("0") ", " PUMP(
        "1") " ); gpus = ( " GPU("0") ", " GPU("1") " ); air = ( { from = \"g0\"; to = \"g1\"; fraction = "
                                                    "1.0; } );";

static const char *mix(double power_w)
{
    char text[256];
    snprintf(text, sizeof text,
             "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 1000.0; power_w = %g; count = 2; } );",
             power_w);
    return scratch_write("load.cfg", text);
}

static struct tmx_run *open_two(double tick_s, double power_w, const char *fan, const char *more)
{
    return open_run(COMMON "tick_s = %g; topology = \"%s\"; mix = \"%s\"; package = { " PACKAGE
                           " r_convec = 1e6; }; fan = { %s }; %s",
                    tick_s, scratch_write("two.cfg", two), mix(power_w), fan, more);
}

static double gpu_w(struct tmx_run *run, size_t gpu)
{
    const struct tmx_sim *s = tmx_run_sim(run);
    const struct tmx_gpu *g = &s->machine->gpu[gpu];
    double sum = 0;
    for (size_t u = 0; u < g->chip->floorplan.n_unit; u++) {
        sum += s->frame.power_w[g->unit0 + u];
    }
    return sum;
}

static double hottest_c(struct tmx_run *run, size_t gpu)
{
    const struct tmx_sim *s = tmx_run_sim(run);
    const struct tmx_gpu *g = &s->machine->gpu[gpu];
    double k = 0;
    for (size_t u = 0; u < g->chip->floorplan.n_unit; u++) {
        k = fmax(k, s->frame.temp_k[g->unit0 + u]);
    }
    return k - 273.15;
}

/* Laminar flow in 120 channels of 0.1 x 0.3 mm, 24 mm long, by the friction factor of Shah and London. */
static double drop_w(double flow_m3_per_s)
{
    const double a = 1 / 3.0,
                 f_re = 24 * (1 - 1.3553 * a + 1.9467 * a * a - 1.7012 * a * a * a + 0.9564 * a * a * a * a -
                              0.2537 * a * a * a * a * a),
                 speed = flow_m3_per_s / (120 * 1e-4 * 3e-4);
    return 2 * f_re * 6.5e-4 * speed * 0.024 / (1.5e-4 * 1.5e-4) * flow_m3_per_s;
}

static void heat_into_the_coolant_is_what_chips_and_pumps_take(void **state)
{
    struct tmx_run *r = open_two(0.05, 150, "speed = 0.8;", "");
    ticks(r, 100);
    const double in_j = metric(r, "energy_j") + metric(r, "fan_energy_j"), out_j = metric(r, "exhaust_j"),
                 pump_j = metric(r, "fan_energy_j");
    ticks(r, 60);
    const double d_in_j = metric(r, "energy_j") + metric(r, "fan_energy_j") - in_j;
    assert_true(d_in_j > 900);
    check_close(metric(r, "exhaust_j") - out_j, d_in_j, 1e-9, 0);
    /* the pump: its motor, and its pressure drop by hand */
    const double full_w = drop_w(1e-5) / 0.4, pump_w = 0.2 * 0.512 + full_w * 0.64;
    check_close((metric(r, "fan_energy_j") - pump_j) / 3, 2 * pump_w, 1e-9, 0);
    /* the second GPU gets the water of the first, with the heat of chip and pump */
    const double flow = 0.8 * 1e-5 + 1e-8, inlet_k = (tmx_run_sim(r)->cooling)->inlet_k[1];
    check_close(inlet_k - 303.15, (gpu_w(r, 0) + pump_w) / (4.15e6 * flow), 1e-7, 0);
    tmx_run_destroy(r);
}

static void the_inlet_shifts_all_temperatures_and_flow_cools(void **state)
{
    double settled_c[4];
    static const char *const fan[4] = {
        "speed = 0.8;", "speed = 0.8;", "speed = 0.4;",
        "policy = \"pi\"; target_c = 60.0; gain_per_k = 0.001; integral_per_k_s = 0.001;"};
    static const char *const more[4] = {"leakage = false;", "leakage = false; inlet_c = 40.0;",
                                        "leakage = false;", "leakage = false; inlet_c = 40.0;"};
    for (size_t i = 0; i < 4; i++) {
        struct tmx_run *r = open_two(0.5, 150, fan[i], more[i]);
        ticks(r, i < 3 ? 40 : 200); /* without leakage the grid is exact at any tick */
        settled_c[i] = hottest_c(r, 0);
        tmx_run_destroy(r);
    }
    check_close(settled_c[1] - settled_c[0], 10, 0, 1e-6);
    assert_true(settled_c[2] > settled_c[0] + 3);
    check_close(settled_c[3], 60, 0, 1.5); /* held within a step of the flow's levels */
}

static void water_that_boils_ends_the_run_with_its_place(void **state)
{
    struct tmx_err err = {0};
    struct tmx_run *r =
        open_two(0.05, 150, "speed = 1.0;", "fan_failures = ( { fan = \"p0\"; at_s = 2.0; } );");
    assert_int_equal(tmx_run_execute(r, NULL, &err), TMX_ESOLVE);
    assert_non_null(strstr(err.msg, "GPU 0"));
    if (!strstr(err.msg, "coolant boils: it reaches 39")) {
        fail_msg("%s", err.msg);
    }
    assert_non_null(strstr(err.msg, "layer 1, about"));
    tmx_run_destroy(r);
}

static void refuses(const char *config, const char *what)
{
    struct tmx_err err = {0};
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    assert_int_equal(tmx_config_parse(&cfg, config, "test", &err), TMX_OK);
    assert_int_not_equal(tmx_run_create(&run, tmx_config_root(cfg), NULL, &err), TMX_OK);
    if (!strstr(err.msg, what)) {
        fail_msg("\"%s\" instead of \"%s\"", err.msg, what);
    }
    tmx_config_close(cfg);
}

static void what_cannot_be_pumped_is_refused(void **state)
{
    static const struct {
        const char *package, *rest, *what;
    } rows[] = {
        {PACKAGE "r_convec = 1e6;", "fan = { speed = 0.0; };", "no coolant flows"},
        {"r_convec = 0.3;", "", "no layer of the package has any"},
        {PACKAGE "r_convec = 1e6; coolant_flow = 1e-6;", "", "the flow is that of the card's pumps"},
        {PACKAGE "r_convec = 1e6; coolant_inlet = 310.0;", "", "the coolant enters at the inlet_c"},
        {PACKAGE "r_convec = 1e6;", "spread = { sink = 0.1; };", "there is no sink in air"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, COMMON "topology = \"%s\"; mix = \"%s\"; package = { %s }; %s",
                 scratch_write("two.cfg", two), mix(150), rows[i].package, rows[i].rest);
        refuses(text, rows[i].what);
    }
}

TMX_TESTS(test_pump)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_into_the_coolant_is_what_chips_and_pumps_take),
        cmocka_unit_test(the_inlet_shifts_all_temperatures_and_flow_cools),
        cmocka_unit_test(water_that_boils_ends_the_run_with_its_place),
        cmocka_unit_test(what_cannot_be_pumped_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
