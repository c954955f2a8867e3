/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a run's temperatures begin: at init_temp, and not below the air, unless that is asked for. */
#include <string.h>

#include <thermix/policy.h>

#include "run/run.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

/* Racks of two nodes whose air differs; gtx280 starts at 45 degC by its package file. */
static const char *rack(const char *inlet)
{
    char text[1024];
    snprintf(text, sizeof text,
             "name = \"rack\"; inlet_c = %s;"
             "cards = ( { name = \"c\"; fit_a_k_per_w = 0.05; fit_b_k_per_w = 111.0; } );"
             "fans = ( { name = \"f\"; card = \"c\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5;"
             " flow_m3_per_s = 0.009; } );"
             "gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; } );"
             "racks = ( { name = \"r\"; nodes = 2; profile = ( { height = 0.25; inlet_c = %s; },"
             " { height = 0.75; inlet_c = 60.0; } ); } );",
             inlet, inlet);
    return scratch_write("rack.cfg", text);
}

struct scene {
    const char *inlet, *more;
    double start_c[2]; /* of the lower and the upper GPU */
};

static void check_scene(const struct scene *s, const char *method)
{
    struct tmx_run *run =
        open_run("seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = \"WL1\";"
                 "policy = \"MG-BL\"; method = \"%s\"; topology = \"%s\"; %s",
                 method, rack(s->inlet), s->more);
    const struct tmx_sim *sim = tmx_run_sim(run);
    const struct tmx_machine *m = sim->machine;
    for (size_t g = 0; g < 2; g++) {
        for (size_t u = 0; u < m->gpu[g].chip->floorplan.n_unit; u++) {
            const double c = sim->frame.temp_k[m->gpu[g].unit0 + u] - TMX_ZERO_C;
            check_close(c, s->start_c[g], 0, 1e-6);
        }
    }
    tmx_run_destroy(run);
}

static void no_gpu_starts_below_its_air(void **state)
{
    static const char *const methods[] = {"reduced", "grid", "lumped"};
    static const struct scene scenes[] = {
        {"30.0", "", {45, 60}}, /* the upper one's air is warmer than the package's start */
        {"50.0", "", {50, 60}},
        {"50.0", "package = { init_temp = 338.15; };", {65, 65}},
        {"50.0", "package = { init_temp = 308.15; };", {35, 35}}, /* asked for */
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
            check_scene(&scenes[i], methods[k]);
        }
    }
}

/* HotSpot's two options are each their own; that one makes the other cold is said. */
static void a_chip_colder_than_the_given_air_is_told_of(void **state)
{
    static const struct {
        const char *package;
        double start_c;
        bool noted;
    } rows[] = {{"", 45, false},
                {"ambient = 333.15;", 45, true},
                {"ambient = 333.15; init_temp = 320.15;", 47, false},
                {"ambient = 303.15;", 45, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_run *run =
            open_run("seed = 1; tick_s = 0.01; rows = 8; cols = 8; mix = \"WL1\"; chip = \"gtx280\";"
                     "package = { %s };",
                     rows[i].package);
        check_close(tmx_run_sim(run)->frame.temp_k[0] - TMX_ZERO_C, rows[i].start_c, 0, 1e-6);
        assert_true((strstr(tmx_run_resolved(run), "colder than its air") != NULL) == rows[i].noted);
        tmx_run_destroy(run);
    }
}

TMX_TESTS(test_start)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gpu_starts_below_its_air),
        cmocka_unit_test(a_chip_colder_than_the_given_air_is_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
