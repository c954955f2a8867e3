/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topology files: what is wrong with one is said with its line; fan laws; who breathes whose air. */
#include <string.h>

#include "core/topology/topology.h"
#include "tests/support/scratch.h"

#define CARDS "cards = ( { name = \"c0\"; }, { name = \"c1\"; } );\n"
#define FANS                                                                                    \
    "fans = (\n"                                                                                \
    " { name = \"f0\"; card = \"c0\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "       \
    "flow_m3_per_s = 0.009; curve = ( { temp_c = 40.0; speed = 0.4; }, { temp_c = 90.0; speed " \
    "= 1.0; } ); },\n"                                                                          \
    " { name = \"f1\"; card = \"c1\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; "       \
    "flow_m3_per_s = 0.009; } );\n"
#define GPUS                                                           \
    "gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; },\n" \
    "         { name = \"g1\"; chip = \"gtx280\"; card = \"c1\"; } );\n"
#define FAN(rest)                                                                                         \
    "fans = ( { name = \"f0\"; card = \"c0\"; min_rpm = 1.0; max_rpm = 2.0; power_w = 1.0; flow_m3_per_s" \
    " = 0.01; " rest " } );\n"

static void bad_topologies_name_their_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } rows[] = {
        {"name = \"t\";\n" CARDS FANS GPUS "air = ( { from = \"g0\"; to = \"g9\"; fraction = 0.5; } );\n", 8,
         "no GPU \"g9\""},
        {"name = \"t\";\n" CARDS FANS GPUS "air = (\n { from = \"g0\"; to = \"g1\"; fraction = 0.5; },\n"
         " { from = \"g1\"; to = \"g0\"; fraction = 0.5; } );\n",
         9, "loop"},
        {"name = \"t\";\n" CARDS FANS GPUS "air = ( { from = \"g0\"; to = \"g0\"; fraction = 0.5; } );\n", 8,
         "loop"},
        {"name = \"t\";\n" CARDS FANS GPUS "air = ( { from = \"g0\"; to = \"g1\"; fraction = 0.7; },\n"
         " { from = \"g0\"; to = \"g1\"; fraction = 0.7; } );\n",
         9, "more than all"},
        {"name = \"t\";\n" CARDS FANS GPUS "air = ( { from = \"g0\"; to = \"g1\"; fraction = 0.3; },\n"
         " { from = \"g0\"; to = \"g1\"; fraction = 0.3; } );\n",
         9, "the path from GPU g0 to g1 again"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; convection = \"package\"; fit_b_k_per_w = 9.0; } "
         ");\n" GPUS FAN(""),
         2, "fit_b_k_per_w belongs to convection"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; } );\n"
         "gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; } );\n" FAN("efficiency = 0.5;"),
         4, "efficiency is of a pump of channels"},
        {"name = \"t\";\n" CARDS GPUS
         "fans = (\n { name = \"f0\"; card = \"c7\"; min_rpm = 1.0; max_rpm = 2.0; power_w = 1.0; "
         "flow_m3_per_s = 0.01; } );\n",
         6, "fan f0 without a card"},
        {"name = \"t\";\n" CARDS GPUS "fans = (\n { name = \"f0\"; min_rpm = 1.0; max_rpm = 2.0; power_w = "
         "1.0; flow_m3_per_s = 0.01; } );\n",
         6, "card"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; } );\n"
         "gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; } );\n" FAN(
             "curve = (\n { temp_c = 40.0; speed = 0.9; },\n { temp_c = 90.0; speed = 0.5; } );"),
         6, "not monotone"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; } );\n"
         "gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; } );\n" FAN(
             "curve = (\n { temp_c = 40.0; speed = 0.5; },\n { temp_c = 40.0; speed = 0.9; } );"),
         6, "curve: temp_c = 40 after 40"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; points = (\n { rpm = 1.0; k_per_w = 0.2; },\n { rpm = "
         "2.0; "
         "k_per_w = 0.3; } ); } );\n" GPUS FAN(""),
         4, "the resistance fall"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; fit_b_k_per_w = 1.0; points = (\n { rpm = 1.0; k_per_w = "
         "0.2; "
         "},\n { rpm = 2.0; k_per_w = 0.1; } ); } );\n" GPUS FAN(""),
         2, "fit_b_k_per_w follows from the points"},
        {"name = \"t\";\ncards = ( { name = \"c0\"; points = ( { rpm = 1000.0; k_per_w = 1.0; },\n { rpm = "
         "2000.0; "
         "k_per_w = 0.99; }, { rpm = 3000.0; k_per_w = 0.3; } ); } );\n" GPUS FAN(""),
         2, "do not follow"},
        {"name = \"t\";\n" CARDS FANS "gpus = ( { name = \"g0\"; chip = \"gtx280\"; card = \"c0\"; } );\n", 2,
         "card c1 has no GPU"},
        {"name = \"t\";\n" CARDS GPUS FAN(""), 2, "card c1 has no fan"},
        {"name = \"t\";\n" CARDS FANS "gpus = (\n { name = \"g0\"; chip = \"a\"; card = \"c0\"; },\n { name "
         "= \"g0\"; chip = \"a\"; card = "
         "\"c1\"; } );\n",
         8, "two GPUs"},
        {"name = \"t\";\n" CARDS FANS GPUS
         "air = ( { from = \"g0\"; to = \"g1\"; fraction = 0.5; count = 2; } );\n",
         8, "beyond the last GPU"},
        {"name = \"t\";\ncards = (\n { name = \"c1\"; }, { name = \"c\"; count = 2; } );\n" GPUS FANS, 3,
         "two cards are called \"c1\""},
        {"name = \"t\";\ncards = (\n { name = \"c\"; count = 5000; } );\n" GPUS FANS, 3, "count"},
        {"name = \"t\";\nnodes = 2;\n" CARDS FANS GPUS "racks = ( { name = \"r\"; } );\n", 2,
         "nodes and racks"},
        {"name = \"t\";\n" CARDS FANS GPUS "racks = (\n { name = \"r\"; count = 4096; nodes = 9; } );\n", 9,
         "at most 65536 GPUs"},
        {"name = \"t\";\n" CARDS FANS GPUS "racks = ( { name = \"r\"; }, \n { name = \"r\"; } );\n", 9,
         "racks: \"r\" is given twice"},
        {"name = \"t\";\n" CARDS FANS GPUS
         "racks = ( { name = \"r\"; \n profile = ( { height = 0.5; inlet_c = 20.0; } ); } );\n",
         9, "give inlet_c"},
        {"name = \"t\"; inlet_c = 20.0;\n" CARDS FANS GPUS
         "racks = ( { name = \"r\"; profile = ( { height = 0.5; inlet_c = 20.0; },\n { height = 0.5; inlet_c "
         "= "
         "21.0; } ); } );\n",
         9, "height = 0.5 after 0.5"},
        {"name = \"t\";\nlink = \"T9\";\n" CARDS FANS GPUS, 2, "not one of links"},
        {"name = \"t\";\n" CARDS FANS GPUS "speed = 3;\n", 8, "speed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_topology t;
        struct tmx_err err = {0};
        const enum tmx_status st =
            tmx_topology_load(&t, scratch_write("bad_topology.cfg", rows[i].text), &err);
        if (st != TMX_ECONFIG || err.line != rows[i].line || !strstr(err.msg, rows[i].says) ||
            !strstr(err.file, "bad_topology.cfg")) {
            fail_msg("row %zu: status %d, %s:%u: %s", i, st, err.file, err.line, err.msg);
        }
        tmx_topology_finish(&t);
    }
}

static void shipped_topologies_read(void **state)
{
    static const struct {
        const char *file;
        size_t n_gpu, n_card, n_air;
    } rows[] = {{"gtx280", 1, 1, 0},    {"gtx280x2", 2, 1, 0},        {"gtx690", 2, 1, 0},
                {"node-8gpu", 8, 8, 4}, {"node-8gpu-apart", 8, 8, 0}, {"hall", 256, 256, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[512];
        struct tmx_topology t;
        struct tmx_err err = {0};
        snprintf(path, sizeof path, "%s/systems/%s.cfg", TMX_SOURCE_DIR, rows[i].file);
        if (tmx_topology_load(&t, path, &err)) {
            fail_msg("%s:%u: %s", err.file, err.line, err.msg);
        }
        assert_int_equal(t.n_gpu, rows[i].n_gpu);
        assert_int_equal(t.n_card, rows[i].n_card);
        assert_int_equal(t.n_air, rows[i].n_air);
        tmx_topology_finish(&t);
    }
}

static void fan_power_follows_the_cube_of_speed_and_flow_the_speed(void **state)
{
    const struct tmx_fan fan = {.max_rpm = 3000, .power_w = 5.5, .flow_m3_per_s = 0.01, .noise_dba = 45};
    check_close(tmx_fan_power_w(&fan, 3000), 5.5, 1e-15, 0);
    check_close(tmx_fan_power_w(&fan, 1500), 5.5 / 8, 1e-15, 0);
    check_close(tmx_fan_power_w(&fan, 1000) / tmx_fan_power_w(&fan, 500), 8, 1e-14, 0);
    check_close(tmx_fan_flow_m3_per_s(&fan, 1500), 0.005, 1e-15, 0);
    check_close(tmx_fan_noise_dba(&fan, 3000) - tmx_fan_noise_dba(&fan, 1500), 60 * log10(2), 1e-14, 0);
}

static void a_curve_is_linear_between_its_points_and_flat_outside(void **state)
{
    struct tmx_topology t;
    assert_int_equal(
        tmx_topology_load(&t, scratch_write("curve.cfg", "name = \"t\";\n" CARDS FANS GPUS), NULL), TMX_OK);
    check_close(tmx_fan_curve_speed(t.fan[0].curve, t.fan[0].n_curve, 20), 0.4, 0, 0);
    check_close(tmx_fan_curve_speed(t.fan[0].curve, t.fan[0].n_curve, 40), 0.4, 0, 0);
    check_close(tmx_fan_curve_speed(t.fan[0].curve, t.fan[0].n_curve, 65), 0.7, 1e-15, 0);
    check_close(tmx_fan_curve_speed(t.fan[0].curve, t.fan[0].n_curve, 120), 1.0, 0, 0);
    tmx_topology_finish(&t);
}

static void link_cost_is_relative_to_T3(void **state)
{
    static const double want[] = {2, 1.5, 1, 0.5, 0};
    struct tmx_topology t;
    char path[512];
    snprintf(path, sizeof path, "%s/systems/gtx280x2.cfg", TMX_SOURCE_DIR);
    assert_int_equal(tmx_topology_load(&t, path, NULL), TMX_OK);
    assert_int_equal(t.n_link, 5);
    for (size_t i = 0; i < 5; i++) {
        check_close(tmx_link_cost(&t.link[i]), want[i], 1e-14, 0);
    }
    tmx_topology_finish(&t);
}

static void nodes_are_copies_with_their_own_air(void **state)
{
    struct tmx_topology t;
    assert_int_equal(
        tmx_topology_load(&t,
                          scratch_write("nodes.cfg",
                                        "name = \"t\"; nodes = 3;\n" CARDS FANS GPUS
                                        "air = ( { from = \"g1\"; to = \"g0\"; fraction = 0.5; } );\n"),
                          NULL),
        TMX_OK);
    assert_int_equal(t.n_gpu, 6);
    assert_int_equal(t.n_fan, 6);
    for (size_t node = 0; node < 3; node++) {
        assert_int_equal(t.air[node].from, 2 * node + 1);
        assert_int_equal(t.air[node].to, 2 * node);
        assert_int_equal(t.card[2 * node + 1].gpu0, 2 * node + 1);
        assert_int_equal(t.fan[2 * node + 1].card, 2 * node + 1);
        assert_int_equal(t.upstream_first[2 * node], 2 * node + 1);
    }
    tmx_topology_finish(&t);
}

/* A file with count is the file that says each: GPUs and fans of a card follow each other in the written
 * order. */
static void a_count_stands_for_as_many_alike(void **state)
{
    static const char numbers[] = "min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5; flow_m3_per_s = 0.009;";
    struct tmx_topology t;
    char text[1000];
    snprintf(
        text, sizeof text,
        "name = \"t\";\ncards = ( { name = \"c\"; count = 3; still_k_per_w = 0.5; }, { name = \"d\"; } );\n"
        "gpus = ( { name = \"a\"; chip = \"x\"; card = \"c\"; }, { name = \"b\"; chip = \"y\"; card = \"c\"; "
        "count = 2; }, { name = \"g\"; chip = \"z\"; card = \"d\"; } );\n"
        "fans = ( { name = \"e\"; card = \"d\"; %s }, { name = \"f\"; card = \"c\"; %s } );\n"
        "air = ( { from = \"a0\"; to = \"b0\"; count = 2; fraction = 0.5; } );\n",
        numbers, numbers);
    assert_int_equal(tmx_topology_load(&t, scratch_write("count.cfg", text), NULL), TMX_OK);
    static const char *const name[] = {"a0", "b0", "b1", "a1", "b2", "b3", "a2", "b4", "b5", "g"};
    assert_int_equal(t.n_card, 4);
    assert_int_equal(t.n_gpu, 10);
    assert_int_equal(t.n_fan, 4);
    for (size_t g = 0; g < t.n_gpu; g++) {
        assert_string_equal(t.gpu[g].name, name[g]);
        assert_int_equal(t.gpu[g].card, g / 3);
        assert_string_equal(t.gpu[g].chip, name[g][0] == 'a' ? "x" : name[g][0] == 'b' ? "y" : "z");
    }
    assert_string_equal(t.card[2].name, "c2");
    check_close(t.card[2].still_k_per_w, 0.5, 0, 0);
    assert_string_equal(t.fan[0].name, "e");
    assert_string_equal(t.fan[3].name, "f2");
    assert_int_equal(t.fan[3].card, 2);
    assert_int_equal(t.n_air, 2);
    assert_int_equal(t.air0[2], 1); /* a0 to b0, and b0 to b1 */
    assert_int_equal(t.air[1].from, 1);
    assert_int_equal(t.air[1].to, 2);
    tmx_topology_finish(&t);
}

static void racks_repeat_the_node_in_the_air_of_its_height(void **state)
{
    struct tmx_topology t;
    assert_int_equal(
        tmx_topology_load(&t,
                          scratch_write("racks.cfg",
                                        "name = \"t\"; inlet_c = 20.0;\n" CARDS FANS GPUS
                                        "air = ( { from = \"g0\"; to = \"g1\"; fraction = 0.5; } );\n"
                                        "racks = ( { name = \"r\"; count = 2; nodes = 4; profile = ( { "
                                        "height = 0.25; inlet_c = 20.0; "
                                        "}, { height = 0.75; inlet_c = 30.0; } ); }, { name = \"s\"; } );\n"),
                          NULL),
        TMX_OK);
    static const double above_k[] = {0, 2.5, 7.5, 10, 0, 2.5, 7.5, 10, 0}; /* at 1/8, 3/8, 5/8, 7/8 */
    assert_int_equal(t.nodes, 9);
    assert_int_equal(t.n_rack, 3);
    assert_int_equal(t.n_gpu, 18);
    for (size_t g = 0; g < t.n_gpu; g++) {
        check_close(t.inlet_above_k[g], above_k[g / 2], 1e-14, 1e-14);
        assert_int_equal(t.air0[g], g / 2);
    }
    assert_string_equal(t.gpu[11].name, "r1.node1.g1");
    assert_string_equal(t.fan[16].name, "s.node0.f0");
    tmx_topology_finish(&t);
}

/* What a GPU has above the air is its own; people call it by its name where it has one. */
static void a_gpu_has_its_own_air_and_name(void **state)
{
    struct tmx_topology t;
    char label[TMX_NAME];
    assert_int_equal(
        tmx_topology_load(
            &t,
            scratch_write(
                "above.cfg",
                "name = \"t\"; inlet_c = 20.0; nodes = 2;\n" CARDS FANS
                "gpus = ( { name = \"5\"; chip = \"gtx280\"; card = \"c0\"; inlet_above_k = 1.5; },\n"
                "  { name = \"gpu1\"; chip = \"gtx280\"; card = \"c1\"; } );\n"),
            NULL),
        TMX_OK);
    assert_int_equal(t.n_gpu, 4);
    check_close(t.inlet_above_k[0], 1.5, 0, 0);
    check_close(t.inlet_above_k[1], 0, 0, 0);
    check_close(t.inlet_above_k[2], 1.5, 0, 0);
    assert_string_equal(tmx_gpu_label("5", 0, label), "5");
    assert_string_equal(tmx_gpu_label("node1/0", 3, label), "node1/0");
    assert_string_equal(tmx_gpu_label("gpu7", 3, label), "3");
    assert_string_equal(tmx_gpu_label("rack0.node1.gpu1", 3, label), "3");
    assert_string_equal(tmx_gpu_label("", 3, label), "3");
    tmx_topology_finish(&t);
}

/* Inlet of a GPU behind another, by hand: phi q / (rho c V); all heat leaves in the end. */
static void preheat_falls_with_the_flow_and_no_heat_is_lost(void **state)
{
    const double rho_c = 1.059 * 1007;
    struct tmx_topology t;
    double outlet_w[2], inlet_k[2];
    const double heat_w[] = {100, 60}, room_k[] = {300, 300};
    assert_int_equal(
        tmx_topology_load(&t,
                          scratch_write("air.cfg",
                                        "name = \"t\";\n" CARDS FANS GPUS
                                        "air = ( { from = \"g0\"; to = \"g1\"; fraction = 0.5; } );\n"),
                          NULL),
        TMX_OK);
    const double slow[] = {0.004, 0.004}, fast[] = {0.008, 0.008}, thin[] = {0.008, 0.001};
    check_close(tmx_air_flow(&t, room_k, slow, heat_w, outlet_w, inlet_k), 160, 1e-14, 0);
    check_close(inlet_k[0], 300, 0, 0);
    check_close(inlet_k[1], 300 + 50 / (rho_c * 0.004), 1e-14, 0);
    check_close(outlet_w[1], 110, 1e-14, 0);
    check_close(tmx_air_flow(&t, room_k, fast, heat_w, outlet_w, inlet_k), 160, 1e-14, 0);
    check_close(inlet_k[1], 300 + 50 / (rho_c * 0.008), 1e-14, 0);
    /* the second GPU moves a quarter of what it is offered: it breathes outlet air only, no hotter than that
     */
    check_close(tmx_air_flow(&t, room_k, thin, heat_w, outlet_w, inlet_k), 160, 1e-14, 0);
    check_close(inlet_k[1], 300 + 100 / (rho_c * 0.008), 1e-14, 0);
    /* other parts on the way warm it by 30 W, which leave too, whatever flows */
    t.air[0].heat_w = 30;
    check_close(tmx_air_flow(&t, room_k, slow, heat_w, outlet_w, inlet_k), 190, 1e-14, 0);
    check_close(inlet_k[1], 300 + 80 / (rho_c * 0.004), 1e-14, 0);
    check_close(tmx_air_flow(&t, room_k, thin, heat_w, outlet_w, inlet_k), 190, 1e-14, 0);
    tmx_topology_finish(&t);
}

/* A data sheet's points give back the law that they are of, and how far off it they are. */
static void points_of_a_fan_are_fitted(void **state)
{
    const struct {
        const char *cards; /* of one card */
        double a, b, exponent, error, error_rpm;
    } rows[] = {
        {"points = ( { rpm = 1000.0; k_per_w = 0.06; }, { rpm = 2000.0; k_per_w = 0.055; } ); fit_exponent = "
         "1.0;",
         0.05, 10, 1, 0, 0}, /* by hand: 0.05 + 10 / rpm */
        {"points = ( { rpm = 1000.0; k_per_w = 0.15; }, { rpm = 2000.0; k_per_w = 0.1; }, { rpm = 4000.0; "
         "k_per_w = "
         "0.075; }, { rpm = 5000.0; k_per_w = 0.07; } );",
         0.05, 100, 1, 0, 0}, /* 0.05 + 100 / rpm: the exponent is found */
        {"points = ( { rpm = 1000.0; k_per_w = 0.15; }, { rpm = 2000.0; k_per_w = 0.105; }, { rpm = 4000.0; "
         "k_per_w "
         "= 0.075; }, { rpm = 5000.0; k_per_w = 0.07; } );",
         0.03027, 14.74, 0.696, 0.0129,
         4000}, /* one point 5 % higher; by a search over the exponent in Python */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_topology t;
        struct tmx_err err = {0};
        char text[2000];
        snprintf(text, sizeof text,
                 "name = \"t\";\ncards = ( { name = \"c0\"; %s } );\ngpus = ( { name = \"g0\"; chip = "
                 "\"gtx280\"; card = "
                 "\"c0\"; } );\n" FAN(""),
                 rows[i].cards);
        if (tmx_topology_load(&t, scratch_write("fan.cfg", text), &err)) {
            fail_msg("row %zu: %s", i, err.msg);
        }
        const struct tmx_card *c = t.card;
        const double rel = rows[i].error > 0 ? 0.02 : 1e-4;
        check_close(c->fit_a_k_per_w, rows[i].a, rel, 0);
        check_close(c->fit_b_k_per_w, rows[i].b, rel, 0);
        check_close(c->fit_exponent, rows[i].exponent, rel, 0);
        check_close(fabs(c->fit_error), rows[i].error, rel, 1e-8);
        check_close(rows[i].error > 0 ? c->fit_error_rpm : 0, rows[i].error_rpm, 1e-14, 0);
        tmx_topology_finish(&t);
    }
}

TMX_TESTS(test_topology)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_topologies_name_their_line),
        cmocka_unit_test(shipped_topologies_read),
        cmocka_unit_test(fan_power_follows_the_cube_of_speed_and_flow_the_speed),
        cmocka_unit_test(a_curve_is_linear_between_its_points_and_flat_outside),
        cmocka_unit_test(link_cost_is_relative_to_T3),
        cmocka_unit_test(nodes_are_copies_with_their_own_air),
        cmocka_unit_test(a_count_stands_for_as_many_alike),
        cmocka_unit_test(racks_repeat_the_node_in_the_air_of_its_height),
        cmocka_unit_test(a_gpu_has_its_own_air_and_name),
        cmocka_unit_test(points_of_a_fan_are_fitted),
        cmocka_unit_test(preheat_falls_with_the_flow_and_no_heat_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
