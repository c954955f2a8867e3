/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid map and network against numbers worked out by hand (HotSpot's grid model, golden case
 * B's geometry with r_convec 0.25: docs/models.md). */
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "thermal/assembly/network.h"
#include "thermal/solver/solver.h"

static char name_a[] = "a", name_b[] = "b";

static struct tmx_unit block(char *name, double x, double y, double w, double h)
{
    return (struct tmx_unit){name, x, y, w, h, NAN, NAN, 0};
}

/* A 16 x 16 mm die of two units, the left 5.75 mm wide: its edge cuts cells in two. */
struct chip {
    struct tmx_unit unit[2];
    struct tmx_floorplan floorplan;
    struct tmx_layer layer[2];
    struct tmx_thermal_spec spec;
};

static void make(struct chip *c)
{
    c->unit[0] = block(name_a, 0, 0, 5.75e-3, 16e-3);
    c->unit[1] = block(name_b, 5.75e-3, 0, 10.25e-3, 16e-3);
    c->floorplan = (struct tmx_floorplan){.unit = c->unit, .n_unit = 2, .source = "chip"};
    c->layer[0] = (struct tmx_layer){.floorplan = &c->floorplan,
                                     .lateral = true,
                                     .dissipates = true,
                                     .thickness_m = 150e-6,
                                     .k_w_per_mk = 130,
                                     .p_j_per_m3k = 1.63e6};
    c->layer[1] = (struct tmx_layer){.floorplan = &c->floorplan,
                                     .lateral = true,
                                     .thickness_m = 20e-6,
                                     .k_w_per_mk = 4,
                                     .p_j_per_m3k = 4e6};
    c->spec = (struct tmx_thermal_spec){
        .layer = c->layer,
        .n_layer = 2,
        .package = {0.03, 1e-3, 400, 3.55e6, 0.06, 6.9e-3, 400, 3.55e6, 0.25, 140.4},
        .rows = 32,
        .cols = 32,
        .ambient_k = 300,
        .init_k = 300};
}

static void init(struct tmx_network *net, const struct chip *c)
{
    assert_int_equal(tmx_network_init(net, &c->spec, NULL), TMX_OK);
}

struct wanted {
    size_t a, b;
    double w_k;
};

static void take(void *ctx, enum tmx_link_kind kind, size_t a, size_t b, double w_k)
{
    struct wanted *w = ctx;
    (void)kind;
    w->w_k += a == w->a && b == w->b ? w_k : 0;
}

/* Conductance between two nodes, 0 when they are not linked. */
static double link_w_k(const struct tmx_network *net, size_t a, size_t b)
{
    struct wanted w = {a, b, 0};
    tmx_network_each_link(net, take, &w);
    return w.w_k;
}

static void the_worked_numbers_come_out(void **state)
{
    struct chip c;
    struct tmx_network net;
    make(&c);
    init(&net, &c);
    const size_t cell = (size_t)32 * 32, package = 4 * cell;
    const double want[][3] = {
        {0, 1, 51.2820513}, /* silicon, east and south */
        {0, 32, 51.2820513},
        {0, (double)cell, 4.61538462}, /* downwards from silicon, interface, spreader */
        {(double)cell, (double)(2 * cell), 20},
        {(double)(2 * cell), (double)(3 * cell), 10},
        {(double)(2 * cell), (double)package, 15.6089744},       /* spreader corner cell to SP west */
        {(double)(2 * cell), (double)(package + 2), 15.6089744}, /* and to SP north */
        {(double)(3 * cell), (double)(package + 4), 2.26217020}, /* sink corner cell to SI west */
        {(double)package, (double)(package + 4), 0.0155279503},  /* SP to SI */
        {(double)(package + 4), (double)(package + 8), 0.0478534318 + 0.0724637681}, /* SI to SO */
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        check_close(1 / link_w_k(&net, (size_t)want[i][0], (size_t)want[i][1]), want[i][2], 1e-8, 0);
    }
    check_close(tmx_network_gamma(&net, 0.25), 1090.21532, 1e-8, 0);
    check_close(net.heat_j_k[0], 2.0354625e-5, 1e-8, 0);
    check_close(net.heat_j_k[3 * cell], 5.28595875e-3, 1e-8, 0);
    check_close(net.heat_j_k[package], 0.19032615, 1e-8, 0);
    check_close(net.heat_j_k[package + 4], 3.404157435, 1e-8, 0);
    check_close(net.heat_j_k[package + 8], 14.272088625, 1e-8, 0);
    tmx_network_finish(&net);
}

static void a_uniform_field_feels_the_air_alone(void **state)
{
    struct chip c;
    struct tmx_network net;
    double area = 0;
    make(&c);
    c.spec.detailed_3d = true;
    for (int turn = 0; turn < 2; turn++) {
        init(&net, &c);
        double *one = calloc(2 * net.n_node, sizeof *one), *flow = one + net.n_node;
        assert_non_null(one);
        for (size_t n = 0; n < net.n_node; n++) {
            one[n] = 1;
        }
        tmx_network_apply(&net, 50, 0, one, flow);
        area = 0;
        for (size_t n = 0; n < net.n_node; n++) {
            check_close(flow[n], 50 * net.area_m2[n], 1e-9, 1e-9);
            area += net.area_m2[n];
        }
        check_close(area, 0.06 * 0.06, 1e-12, 0);
        free(one);
        tmx_network_finish(&net);
        c.spec.detailed_3d = false;
    }
}

/* Vertical resistance of each sheet in series, all of its heat, and the air: what a chip without lateral
 * differences comes down to, whatever the grids of its sheets. */
static void the_physical_network_adds_up(void **state)
{
    struct chip c;
    struct tmx_network net;
    make(&c);
    c.spec.network = TMX_NETWORK_PHYSICAL;
    c.spec.rows = 7;
    c.spec.cols = 10;
    for (unsigned refine = 1; refine <= 2; refine++) {
        double heat = 0, area = 0, worst = 0;
        c.spec.refine = refine;
        init(&net, &c);
        double *one = calloc(3 * net.n_node + 2 * net.n_view, sizeof *one), *flow = one + net.n_node;
        double *view = flow + net.n_node, *back = view + net.n_view, *node = back + net.n_view;
        assert_non_null(one);
        for (size_t n = 0; n < net.n_node; n++) {
            one[n] = 1;
            heat += net.heat_j_k[n];
            area += net.area_m2[n];
        }
        tmx_network_apply(&net, 50, 0, one, flow);
        for (size_t n = 0; n < net.n_node; n++) {
            worst = fmax(worst, fabs(flow[n] - 50 * net.area_m2[n]));
        }
        assert_true(worst < 1e-9);
        check_close(area, 0.06 * 0.06, 1e-9, 0);
        check_close(heat,
                    16e-3 * 16e-3 * (150e-6 * 1.63e6 + 20e-6 * 4e6) + 0.03 * 0.03 * 1e-3 * 3.55e6 +
                        0.06 * 0.06 * 6.9e-3 * 3.55e6 + 140.4,
                    1e-9, 0);
        tmx_network_view(&net, one, 0, net.n_view, view);
        for (size_t n = 0; n < net.n_view; n++) { /* means: of ones, one */
            check_close(view[n], 1, 1e-12, 0);
            view[n] = 300 + (double)(n % 13);
        }
        tmx_network_unview(&net, view, node);
        for (size_t n = 0; n < net.n_node; n++) { /* mixes of what was given */
            assert_true(node[n] >= 300 - 1e-9 && node[n] <= 312 + 1e-9);
        }
        tmx_network_view(&net, node, 0, 2 * net.n_cell, back);
        assert_memory_equal(view, back,
                            2 * net.n_cell * sizeof *view); /* the die layers come back as given */
        free(one);
        tmx_network_finish(&net);
    }
    c.spec.package.s_spreader_m = c.spec.package.s_sink_m = 16e-3; /* nothing beyond the die */
    init(&net, &c);
    check_close(tmx_network_gamma(&net, 0) * net.film_base_k, 1, 1e-12, 0);
    tmx_network_finish(&net);
}

/* Under 10 and 30 W, over the air [K]: both units, and a corner cell in the middle of the second layer. */
static void rises(const struct tmx_network *net, double *rise_k)
{
    struct tmx_solver *solver;
    struct tmx_system *system;
    const struct tmx_matrix matrix = {.gamma = tmx_network_gamma(net, 0.25)};
    const struct tmx_accuracy accuracy = {.kelvin = 1e-9};
    const double power_w[2] = {10, 30};
    double *watts = calloc(2 * net->n_node, sizeof *watts), *node_k = watts + net->n_node;
    assert_non_null(watts);
    tmx_network_spread_power(net, power_w, watts);
    struct tmx_err err = {0};
    solver = tmx_solver_create(net, TMX_SOLVER_BY_SIZE, NULL, &err);
    system = tmx_system_create(solver, &matrix, &err);
    assert_int_equal(err.code, TMX_OK);
    assert_int_equal(tmx_solve(solver, system, &accuracy, false, 1, watts, NULL, node_k), TMX_OK);
    tmx_network_read(net, node_k, rise_k);
    tmx_network_view(net, node_k, net->n_cell, 1, rise_k + 2);
    tmx_system_destroy(system);
    tmx_solver_destroy(solver);
    free(watts);
}

/* 6.9 mm of copper on the die: sheets of a third of the length diffused in 1 ms would be 42. */
static void sheets_of_a_thick_layer_grow_away_from_power(void **state)
{
    struct chip c;
    struct tmx_network net;
    size_t n_node[2];
    double coarse[3], fine[3];
    make(&c);
    c.spec.network = TMX_NETWORK_PHYSICAL;
    c.spec.rows = c.spec.cols = 12;
    init(&net, &c);
    n_node[0] = net.n_node;
    tmx_network_finish(&net);
    c.layer[1] = (struct tmx_layer){.floorplan = &c.floorplan,
                                    .lateral = true,
                                    .thickness_m = 6.9e-3,
                                    .k_w_per_mk = 400,
                                    .p_j_per_m3k = 3.55e6};
    init(&net, &c);
    n_node[1] = net.n_node;
    rises(&net, coarse);
    tmx_network_finish(&net);
    const size_t n_more = (n_node[1] - n_node[0]) / (12 * 12); /* sheets, but the one that it had */
    assert_true(n_more >= 4 && n_more <= 9);
    c.spec.refine = 4;
    init(&net, &c);
    rises(&net, fine);
    tmx_network_finish(&net);
    for (size_t u = 0; u < 3; u++) {
        check_close(coarse[u], fine[u], 5e-3, 0); /* 0.0041; 0.0039 with 42 */
    }
    c.layer[1] = c.layer[0]; /* power on both sides: its middle is the deepest */
    c.spec.refine = 1;
    struct tmx_layer three[3] = {c.layer[0], c.layer[0], c.layer[0]};
    three[1].dissipates = false;
    three[1].thickness_m = 4e-3;
    c.spec.layer = three;
    c.spec.n_layer = 3;
    init(&net, &c);
    n_node[0] = net.n_node;
    tmx_network_finish(&net);
    three[2].dissipates = false;
    init(&net, &c);
    assert_true(net.n_node < n_node[0]);
    tmx_network_finish(&net);
}

static void rectangular_cells_conduct_more_along_their_short_side(void **state)
{
    struct chip c;
    struct tmx_network net;
    make(&c);
    c.spec.cols = 16; /* 1 x 0.5 mm */
    for (int as_hotspot = 0; as_hotspot < 2; as_hotspot++) {
        c.spec.hotspot_lateral = as_hotspot;
        init(&net, &c);
        const double east = link_w_k(&net, 0, 1), south = link_w_k(&net, 0, 16), k_t = 130 * 150e-6;
        check_close(as_hotspot ? south : east, 0.5 * k_t, 1e-12, 0);
        check_close(as_hotspot ? east : south, 2 * k_t, 1e-12, 0);
        tmx_network_finish(&net);
    }
}

static void a_layer_without_lateral_flow_has_no_lateral_links(void **state)
{
    struct chip c;
    struct tmx_network net;
    make(&c);
    c.layer[1].lateral = false;
    init(&net, &c);
    assert_true(link_w_k(&net, 1024, 1025) == 0 && link_w_k(&net, 1024, 1056) == 0);
    assert_true(link_w_k(&net, 0, 1) > 0 && link_w_k(&net, 1024, 2048) > 0);
    tmx_network_finish(&net);
}

static void detailed_stacks_use_half_cells_and_unit_materials(void **state)
{
    struct chip c;
    struct tmx_network net;
    make(&c);
    c.unit[0].resistivity_mk_per_w = 0.1;
    c.unit[0].heat_capacity_j_per_m3k = 3e6;
    c.spec.detailed_3d = true;
    init(&net, &c);
    const double t = 150e-6, a = 2.5e-7;
    check_close(1 / link_w_k(&net, 0, 1), 0.1 / t, 1e-9, 0);         /* both of a */
    check_close(1 / link_w_k(&net, 20, 21), 1 / (130 * t), 1e-9, 0); /* both of b */
    check_close(1 / link_w_k(&net, 0, 1024), 0.5 * 0.1 * (t + 20e-6) / a, 1e-9,
                0); /* both layers have unit a */
    check_close(net.heat_j_k[0], 0.333 * 3e6 * t * a, 1e-9, 0);
    const double mixed = 0.5 * 10 + 0.5 * 130; /* column 11 is half a, half b */
    check_close(1 / link_w_k(&net, 11, 11 + 32), 1 / (mixed * t), 1e-9, 0);
    check_close(net.heat_j_k[11], 0.333 * 1.63e6 * t * a, 1e-9, 0);
    tmx_network_finish(&net);
}

/* A filler beside the left unit says what a second unit with a material of its own would. */
static void a_filler_is_what_no_unit_covers(void **state)
{
    static const enum tmx_network_kind kinds[] = {TMX_NETWORK_HOTSPOT, TMX_NETWORK_PHYSICAL};
    for (size_t i = 0; i < 2; i++) {
        struct chip c;
        struct tmx_network tiled, filled;
        struct tmx_floorplan left;
        make(&c);
        left = (struct tmx_floorplan){.unit = c.unit, .n_unit = 1, .source = "left"};
        c.spec.network = kinds[i];
        c.layer[0].filler_k_w_per_mk = 9; /* nowhere yet */
        c.layer[0].filler_p_j_per_m3k = 9;
        c.unit[1].resistivity_mk_per_w = 2;
        c.unit[1].heat_capacity_j_per_m3k = 1.2e6;
        init(&tiled, &c);
        c.layer[0].floorplan = &left;
        c.layer[0].filler_k_w_per_mk = 0.5;
        c.layer[0].filler_p_j_per_m3k = 1.2e6;
        init(&filled, &c);
        assert_int_equal(filled.n_unit, 1);
        check_close(filled.width_m, 16e-3, 1e-15, 0);
        for (size_t n = 0; n < tiled.n_node; n++) {
            check_close(filled.heat_j_k[n], tiled.heat_j_k[n], 0, 1e-9);
        }
        for (size_t n = 0; n < tiled.n_node; n++) {
            check_close(filled.east_w_k[n], tiled.east_w_k[n], 0, 1e-9);
            check_close(filled.south_w_k[n], tiled.south_w_k[n], 0, 1e-9);
            check_close(filled.up_w_k[n], tiled.up_w_k[n], 0, 1e-9);
        }
        assert_int_equal(filled.n_link, tiled.n_link);
        for (size_t e = 0; e < tiled.n_link; e++) {
            check_close(filled.link[e].w_k, tiled.link[e].w_k, 0, 1e-9);
        }
        /* and it conducts: 11.5 cells of silicon, half a cell of both, then moulding */
        check_close(link_w_k(&filled, 20, 21) / link_w_k(&filled, 5, 6), 0.5 / 130, 0, 1e-9);
        tmx_network_finish(&tiled);
        tmx_network_finish(&filled);
        c.layer[0].filler_k_w_per_mk = 0;
        assert_int_equal(tmx_network_init(&filled, &c.spec, NULL), TMX_ERANGE); /* a small layer needs one */
        tmx_network_finish(&filled);
    }
}

static void power_is_spread_whole_and_read_back_by_area(void **state)
{
    struct chip c;
    struct tmx_gridmap map;
    double cell[32 * 32] = {0}, unit[2], sum = 0;
    const double power[2] = {5.75, 20.5}; /* 1 and 2 W per mm of width */
    make(&c);
    assert_int_equal(tmx_gridmap_init(&map, &c.floorplan, 16e-3, 16e-3, 32, 32, NULL, NULL), TMX_OK);
    tmx_gridmap_spread_power(&map, power, cell);
    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++) {
        sum += cell[i];
    }
    check_close(sum, 26.25, 1e-14, 0);
    check_close(cell[0], 0.5 / 32, 1e-12, 0);
    check_close(cell[11], 0.75 / 32, 1e-12, 0);
    check_close(cell[31], 1.0 / 32, 1e-12, 0);
    tmx_gridmap_read(&map, TMX_MAP_AREA, cell, unit);
    check_close(unit[0], (11 * 0.5 + 0.5 * 0.75) / 11.5 / 32, 1e-12, 0);
    tmx_gridmap_read(&map, TMX_MAP_AVG, cell, unit);
    check_close(unit[0], (11 * 0.5 + 0.75) / 12 / 32, 1e-12, 0);
    tmx_gridmap_read(&map, TMX_MAP_MAX, cell, unit);
    check_close(unit[0], 0.75 / 32, 1e-12, 0);
    tmx_gridmap_read(&map, TMX_MAP_MIN, cell, unit);
    check_close(unit[1], 0.75 / 32, 1e-12, 0);
    tmx_gridmap_finish(&map);
}

static void rows_count_from_the_north_and_the_centre_is_hotspots(void **state)
{
    struct tmx_unit units[] = {block(name_a, 0, 0, 4, 1), block(name_b, 0, 1, 4, 3)};
    const struct tmx_floorplan fp = {.unit = units, .n_unit = 2, .source = "chip"};
    struct tmx_gridmap map;
    double cell[16], unit[2], row[16] = {0};
    for (size_t i = 0; i < 16; i++) {
        cell[i] = (double)i;
    }
    assert_int_equal(tmx_gridmap_init(&map, &fp, 4, 4, 4, 4, NULL, NULL), TMX_OK);
    tmx_gridmap_read(&map, TMX_MAP_AREA, cell, unit);
    check_close(unit[0], 13.5, 1e-14, 0); /* the south row is the last */
    tmx_gridmap_read(&map, TMX_MAP_CENTER, cell, unit);
    check_close(unit[0], 13.5, 1e-14, 0); /* rows 3, columns 1 and 2 */
    check_close(unit[1], 5.5, 1e-14, 0);  /* row 1, columns 1 and 2 */
    tmx_gridmap_weights(&map, TMX_MAP_CENTER, 1, row);
    check_close(row[5] + row[6], 1, 1e-14, 0);
    tmx_gridmap_finish(&map);
}

static void a_start_field_is_normalised_unless_hotspots_is_wanted(void **state)
{
    struct tmx_unit units[] = {block(name_a, 0, 0, 1.5, 4), block(name_b, 3, 0, 1, 4)}; /* a gap between */
    const struct tmx_floorplan fp = {.unit = units, .n_unit = 2, .source = "chip"};
    const double unit[2] = {300, 400};
    struct tmx_gridmap map;
    double cell[16];
    assert_int_equal(tmx_gridmap_init(&map, &fp, 4, 4, 4, 4, NULL, NULL), TMX_OK);
    assert_int_equal(tmx_gridmap_fill(&map, unit, false, cell, NULL), TMX_OK);
    check_close(cell[1], 300, 1e-14, 0);
    check_close(cell[2], (1.5 * 300 + 400) / 2.5, 1e-14, 0); /* nothing there: the layer's mean */
    assert_int_equal(tmx_gridmap_fill(&map, unit, true, cell, NULL), TMX_OK);
    check_close(cell[1], 150, 1e-14, 0);
    check_close(cell[2], 0, 0, 0);
    tmx_gridmap_finish(&map);
}

static void refuse(struct chip *c, const char *why)
{
    struct tmx_network net;
    struct tmx_err err = {0};
    assert_int_equal(tmx_network_init(&net, &c->spec, &err), TMX_ERANGE);
    if (!strstr(err.msg, why)) {
        fail_msg("got \"%s\", expected \"%s\"", err.msg, why);
    }
    tmx_network_finish(&net);
}

static void impossible_geometry_is_refused(void **state)
{
    struct chip c;
    make(&c);
    c.spec.rows = 1;
    refuse(&c, "at least 2 x 2");
    make(&c);
    c.spec.package.s_spreader_m = 16e-3;
    refuse(&c, "not smaller than the spreader");
    make(&c);
    c.spec.package.s_sink_m = 30e-3;
    refuse(&c, "not smaller than the sink");
    make(&c);
    c.layer[0].dissipates = false;
    refuse(&c, "no block dissipates");
    make(&c);
    struct tmx_unit small = block(name_a, 0, 0, 1e-3, 1e-3);
    const struct tmx_floorplan other = {.unit = &small, .n_unit = 1, .source = "other"};
    c.layer[1].floorplan = &other;
    refuse(&c, "layers must be equal");
}

TMX_TESTS(test_network)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_numbers_come_out),
        cmocka_unit_test(a_uniform_field_feels_the_air_alone),
        cmocka_unit_test(the_physical_network_adds_up),
        cmocka_unit_test(sheets_of_a_thick_layer_grow_away_from_power),
        cmocka_unit_test(rectangular_cells_conduct_more_along_their_short_side),
        cmocka_unit_test(a_layer_without_lateral_flow_has_no_lateral_links),
        cmocka_unit_test(detailed_stacks_use_half_cells_and_unit_materials),
        cmocka_unit_test(a_filler_is_what_no_unit_covers),
        cmocka_unit_test(power_is_spread_whole_and_read_back_by_area),
        cmocka_unit_test(rows_count_from_the_north_and_the_centre_is_hotspots),
        cmocka_unit_test(a_start_field_is_normalised_unless_hotspots_is_wanted),
        cmocka_unit_test(impossible_geometry_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
