/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coolant in channels of a stack, every kind of channels: heat is conserved, a step is as good as ten,
 * backward Euler goes to the exact step, and what can be computed by hand comes out. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/support/golden.h"
#include "thermal/solver/solver.h"

enum { KINDS = 4, ROWS = 12, CHANNELS = 10, MAX_COLS = 2 * CHANNELS + 1 };
static const double SIDE_M = 2e-3, HIGH_M = 1e-4, PITCH_M = 2e-4, WIDTH_M = 1e-4;

struct chip { /* two dies, channels between them; nothing but coolant cools them */
    struct tmx_floorplan die, plain;
    struct tmx_channels channels;
    struct tmx_layer layer[3];
    double line[MAX_COLS + 1];
    struct tmx_thermal_spec spec;
    double part,
        transit_s; /* of make_any: lengths along x and y over those of make; coolant through the die */
};

static void add(struct tmx_floorplan *fp, const char *name, double x, double y, double w, double h)
{
    char copy[16];
    snprintf(copy, sizeof copy, "%s", name);
    const struct tmx_unit u = {.name = copy,
                               .x_m = x,
                               .y_m = y,
                               .w_m = w,
                               .h_m = h,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN};
    assert_int_equal(tmx_floorplan_add(fp, &u, NULL), TMX_OK);
}

static void make(struct chip *c, enum tmx_channel_kind kind, bool upwind)
{
    const double half = 0.5 * SIDE_M;
    *c = (struct chip){.channels = {.kind = kind,
                                    .width_m = WIDTH_M,
                                    .wall_m = PITCH_M - WIDTH_M,
                                    .first_m = 5e-5,
                                    .last_m = 5e-5,
                                    .flow_m3_per_s = 1e-7,
                                    .inlet_k = 305,
                                    .p_j_per_m3k = 4.17e6,
                                    .h_top = 3e4,
                                    .h_bottom = 4e4,
                                    .h_side = 2e4,
                                    .viscosity_pa_s = 8.9e-4,
                                    .upwind = upwind}};
    add(&c->die, "south", 0, 0, SIDE_M, half);
    add(&c->die, "northwest", 0, half, half, half);
    add(&c->die, "northeast", half, half, half, half);
    add(&c->plain, "all", 0, 0, SIDE_M, SIDE_M);
    const struct tmx_layer silicon = {.floorplan = &c->die,
                                      .lateral = true,
                                      .dissipates = true,
                                      .thickness_m = 5e-5,
                                      .k_w_per_mk = 130,
                                      .p_j_per_m3k = 1.63e6};
    c->layer[0] = c->layer[1] = c->layer[2] = silicon;
    c->layer[1].floorplan = &c->plain;
    c->layer[1].dissipates = false;
    c->layer[1].thickness_m = HIGH_M;
    c->layer[1].channels = &c->channels;
    for (size_t j = 1; j <= MAX_COLS; j++) {
        c->line[j] =
            j == MAX_COLS ? SIDE_M : 5e-5 + (double)(j / 2) * PITCH_M - (j % 2 ? 0 : PITCH_M - WIDTH_M);
    }
    c->spec =
        (struct tmx_thermal_spec){.network = TMX_NETWORK_PHYSICAL,
                                  .layer = c->layer,
                                  .n_layer = 3,
                                  .package = {SIDE_M, 1e-8, 130, 1.63e6, SIDE_M, 1e-8, 130, 1.63e6, 1e9, 0},
                                  .rows = ROWS,
                                  .cols = 16,
                                  .ambient_k = 300,
                                  .init_k = 310};
    if (kind == TMX_CHANNELS_RESOLVED) {
        c->spec.cols = MAX_COLS;
        c->spec.col_line_m = c->line;
    }
}

static void finish(struct chip *c)
{
    tmx_floorplan_finish(&c->die);
    tmx_floorplan_finish(&c->plain);
}

static const double power_w[6] = {0.5, 0.2, 0.3, 0.1, 0.4, 0.25};
static const double TOTAL_W = 1.75;

static void heat_into_the_coolant_is_the_power(void **state)
{
    for (int i = 0; i < 2 * KINDS; i++) {
        struct chip c;
        struct engine e;
        struct tmx_thermal_heat heat;
        double temp_k[6], cell_k[ROWS * MAX_COLS], mean_k = 0;
        make(&c, (enum tmx_channel_kind)(i / 2), i % 2);
        engine_open(&e, "grid", "", &c.spec);
        assert_int_equal(e.ops->steady(e.state, power_w, true, temp_k), TMX_OK);
        e.ops->heat(e.state, &heat);
        check_close(heat.to_ambient_w, TOTAL_W, 1e-9, 0);
        assert_int_equal(e.ops->field(e.state, 1, cell_k), TMX_OK);
        const size_t from = c.channels.kind == TMX_CHANNELS_RESOLVED;
        for (size_t j = from; j < c.spec.cols; j += 1 + from) {
            mean_k += cell_k[j] / (from ? CHANNELS : (double)c.spec.cols);
        }
        check_close(mean_k, 305 + TOTAL_W / (4.17e6 * 1e-7), 1e-9, 0); /* the north edge is the outlet */
        for (size_t u = 0; u < 6; u++) {
            assert_true(temp_k[u] > 305);
        }
        engine_close(&e);
        finish(&c);
    }
}

static void steps_conserve_heat_and_ten_are_as_good_as_one(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct chip c;
        struct engine one, ten, euler[2];
        struct tmx_thermal_heat before, after;
        double a[6], b[6], off[2] = {0, 0};
        make(&c, (enum tmx_channel_kind)kind, false);
        engine_open(&one, "grid", "", &c.spec);
        engine_open(&ten, "grid", "", &c.spec);
        one.ops->heat(one.state, &before);
        assert_int_equal(one.ops->step(one.state, 2e-3, power_w, a), TMX_OK);
        one.ops->heat(one.state, &after);
        check_close(after.stored_j + after.to_ambient_j, before.stored_j + 2e-3 * TOTAL_W, 1e-8, 0);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(ten.ops->step(ten.state, 2e-4, power_w, b), TMX_OK);
        }
        for (int i = 0; i < 2; i++) {
            double t[6];
            const int n = 50 << i;
            engine_open(&euler[i], "grid", "scheme = \"be\";", &c.spec);
            euler[i].ops->heat(euler[i].state, &before);
            for (int k = 0; k < n; k++) {
                assert_int_equal(euler[i].ops->step(euler[i].state, 2e-3 / n, power_w, t), TMX_OK);
            }
            euler[i].ops->heat(euler[i].state, &after);
            check_close(after.stored_j + after.to_ambient_j, before.stored_j + 2e-3 * TOTAL_W, 1e-9, 0);
            for (size_t u = 0; u < 6; u++) {
                off[i] = fmax(off[i], fabs(t[u] - a[u]));
            }
            engine_close(&euler[i]);
        }
        for (size_t u = 0; u < 6; u++) {
            check_close(a[u], b[u], 0, 1e-6);
        }
        assert_true(off[0] < 0.2);
        check_close(off[0] / off[1], 2, 0.1, 0); /* first order */
        engine_close(&one);
        engine_close(&ten);
        finish(&c);
    }
}

/* Cells half as long halve what the upwind face is off, and quarter what the mean of both sides is. */
static double north_k(bool upwind, size_t rows)
{
    struct chip c;
    struct engine e;
    double temp_k[6];
    make(&c, TMX_CHANNELS_MERGED, upwind);
    c.spec.rows = rows;
    engine_open(&e, "grid", "", &c.spec);
    assert_int_equal(e.ops->steady(e.state, power_w, false, temp_k), TMX_OK);
    engine_close(&e);
    finish(&c);
    return temp_k[1];
}

static void upwind_faces_are_of_first_order_and_means_of_second(void **state)
{
    const double fine = north_k(false, 96);
    check_close((north_k(true, 12) - fine) / (north_k(true, 24) - fine), 2, 0.1, 0);
    check_close((north_k(false, 12) - fine) / (north_k(false, 24) - fine), 4, 0.3, 0);
}

static void warmer_coolant_or_air_shifts_what_it_touches(void **state)
{
    struct chip c;
    struct engine cold, warm;
    double a[6], b[6];
    make(&c, TMX_CHANNELS_MERGED, true);
    engine_open(&cold, "grid", "", &c.spec);
    c.channels.inlet_k += 12;
    engine_open(&warm, "grid", "", &c.spec);
    assert_int_equal(cold.ops->steady(cold.state, power_w, false, a), TMX_OK);
    assert_int_equal(warm.ops->steady(warm.state, power_w, false, b), TMX_OK);
    for (size_t u = 0; u < 6; u++) {
        check_close(b[u], a[u] + 12, 0, 1e-6);
    }
    warm.ops->set_ambient(warm.state, 280); /* the chip is insulated from the air */
    assert_int_equal(warm.ops->steady(warm.state, power_w, false, a), TMX_OK);
    for (size_t u = 0; u < 6; u++) {
        check_close(b[u], a[u], 0, 1e-6);
    }
    engine_close(&cold);
    engine_close(&warm);
    finish(&c);
}

/* A square duct: f Re = 14.227 (Shah and London), 10 of 1e-4 m, 2 mm long. */
static void pumping_power_is_that_of_laminar_ducts(void **state)
{
    struct chip c;
    make(&c, TMX_CHANNELS_RESOLVED, true);
    const double velocity = 1e-7 / (10 * 1e-8), drop_pa = 2 * 14.227 * 8.9e-4 * velocity * SIDE_M / 1e-8;
    assert_int_equal(tmx_channels_count(&c.channels, SIDE_M), CHANNELS);
    check_close(tmx_channels_pump_w(&c.channels, SIDE_M, SIDE_M, HIGH_M), drop_pa * 1e-7, 1e-3, 0);
    finish(&c);
}

/* Four times the conductivity along x is half the width: lengths along x count by their square over k_x. */
static void a_chip_that_conducts_better_along_x_is_as_a_narrower_one(void **state)
{
    for (int way = 0; way < 2; way++) { /* along x, along y */
        struct chip wide, narrow;
        struct engine a, b;
        double half_w[6], ta[6], tb[6];
        make(&wide, TMX_CHANNELS_MERGED, true);
        make(&narrow, TMX_CHANNELS_MERGED, true);
        for (size_t l = 0; l < 3; l++) {
            wide.layer[l].channels = narrow.layer[l].channels = NULL;
            wide.layer[l].k_part_x = way == 0 ? 4 : 1;
            wide.layer[l].k_part_y = way == 0 ? 1 : 4;
        }
        struct tmx_floorplan *const plan[2] = {&narrow.die, &narrow.plain};
        for (size_t f = 0; f < 2; f++) {
            for (size_t u = 0; u < plan[f]->n_unit; u++) {
                struct tmx_unit *unit = &plan[f]->unit[u];
                *(way == 0 ? &unit->x_m : &unit->y_m) *= 0.5;
                *(way == 0 ? &unit->w_m : &unit->h_m) *= 0.5;
            }
        }
        wide.spec.r_below_k_per_w = 1;
        narrow.spec.r_below_k_per_w = 2;
        for (size_t u = 0; u < 6; u++) {
            half_w[u] = 0.5 * power_w[u];
        }
        engine_open(&a, "grid", "", &wide.spec);
        engine_open(&b, "grid", "", &narrow.spec);
        assert_int_equal(a.ops->steady(a.state, power_w, false, ta), TMX_OK);
        assert_int_equal(b.ops->steady(b.state, half_w, false, tb), TMX_OK);
        for (size_t u = 0; u < 6; u++) {
            check_close(ta[u], tb[u], 0, 2e-5);
        }
        assert_true(fabs(ta[1] - ta[2]) > 1e-4); /* it is not all one temperature */
        engine_close(&a);
        engine_close(&b);
        finish(&wide);
        finish(&narrow);
    }
}

static void stacks_that_cannot_be_modelled_are_refused(void **state)
{
    for (int i = 0; i < 5; i++) {
        struct chip c;
        struct tmx_network net;
        make(&c, TMX_CHANNELS_RESOLVED, true);
        c.spec.network = i == 0 ? TMX_NETWORK_HOTSPOT : c.spec.network;
        c.layer[1].dissipates = i == 1;
        c.layer[2].channels = i == 2 ? &c.channels : NULL;
        c.spec.col_line_m = i == 3 ? NULL : c.spec.col_line_m;
        c.spec.cols = i == 4 ? 20 : c.spec.cols;
        c.spec.package.s_sink_m = i == 0 ? 1 : SIDE_M;
        assert_int_equal(tmx_network_init(&net, &c.spec, NULL), TMX_ERANGE);
        tmx_network_finish(&net);
        finish(&c);
    }
}

/* ---- the reduced model ---- */

static const double flow_levels[] = {0.1, 0.25, 0.5, 0.8, 1.0};
enum { LEVELS = sizeof flow_levels / sizeof flow_levels[0] };

static double between(struct tmx_rng *rng, double low, double high)
{
    return low * pow(high / low, tmx_rng_uniform(rng));
}

/* All lengths along x and y. */
static void widen(struct chip *c, double part)
{
    struct tmx_floorplan *const plan[] = {&c->die, &c->plain};
    for (size_t f = 0; f < 2; f++) {
        for (size_t u = 0; u < plan[f]->n_unit; u++) {
            struct tmx_unit *unit = &plan[f]->unit[u];
            unit->x_m *= part;
            unit->y_m *= part;
            unit->w_m *= part;
            unit->h_m *= part;
        }
    }
    for (size_t j = 0; j <= MAX_COLS; j++) {
        c->line[j] *= part;
    }
    c->channels.width_m *= part;
    c->channels.wall_m *= part;
    c->channels.first_m *= part;
    c->channels.last_m *= part;
    c->spec.package.s_sink_m *= part;
    c->spec.package.s_spreader_m *= part;
}

/* A stack of any kind of channels, sizes, materials and flows, whose coolant does not boil. */
static void make_any(struct chip *c, struct tmx_rng *rng)
{
    make(c, (enum tmx_channel_kind)tmx_rng_below(rng, KINDS), tmx_rng_uniform(rng) < 0.7);
    struct tmx_channels *w = &c->channels;
    c->part = between(rng, 1, 8);
    widen(c, c->part);
    w->flow_m3_per_s = c->part * c->part * between(rng, 5e-8, 1e-6);
    w->inlet_k = 290 + 30 * tmx_rng_uniform(rng);
    w->h_top = between(rng, 1e4, 1e5);
    w->h_bottom = between(rng, 1e4, 1e5);
    w->h_side = between(rng, 1e4, 1e5);
    for (size_t l = 0; l < 3; l++) {
        c->layer[l].k_w_per_mk *= between(rng, 0.3, 3);
        c->layer[l].thickness_m *= between(rng, 0.5, 4);
    }
    c->spec.rows = 6 + 2 * tmx_rng_below(rng, 5);
    c->spec.map_mode = tmx_rng_uniform(rng) < 0.7 ? TMX_MAP_AREA : TMX_MAP_AVG;
    c->spec.package.r_convec_k_per_w = between(rng, 1, 1e9);
    c->transit_s = 0.5 * pow(SIDE_M * c->part, 2) * c->layer[1].thickness_m / w->flow_m3_per_s;
    c->spec.min_step_s = c->transit_s * between(rng, 0.1, 3);
    c->spec.inlet_at_ambient = tmx_rng_uniform(rng) < 0.5;
    c->spec.no_field = tmx_rng_uniform(rng) < 0.5;
    c->spec.init_k = c->spec.ambient_k + 20 * tmx_rng_uniform(rng);
    if (tmx_rng_uniform(rng) < 0.6) {
        c->spec.flow_levels = flow_levels;
        c->spec.n_level = LEVELS;
    }
}

static size_t n_chip = 4, first_chip;
/* Of the quick run; the answers of the last one to steps are right with fewer modes than its traces. */
static const size_t quick[4] = {0, 2, 7, 36};

/* Levels, ambients and powers at random, on both: the difference in units, and what the model says of itself.
 */
static void the_reduced_model_is_as_near_as_it_says_and_conserves_heat(void **state)
{
    static const double unit_w[6] = {1, 0.5, 0.5, 1, 0.5, 0.5}; /* 0.5 W/mm2 */
    double nearest = INFINITY, worst_k = 0;
    for (size_t i = 0; i < n_chip; i++) {
        const size_t chip = first_chip == SIZE_MAX ? quick[i] : first_chip + i;
        struct chip c;
        struct engine grid, reduced;
        struct tmx_rng *rng;
        char name[32];
        double a[6], b[6], p[6], most_w[6], off_k = 0, r[LEVELS];
        snprintf(name, sizeof name, "channels %zu", chip);
        assert_int_equal(tmx_rng_create(&rng, 31, name, NULL), TMX_OK);
        make_any(&c, rng);
        for (size_t u = 0; u < 6; u++) { /* some units have no power: the error is that of the others */
            const bool off = u != chip % 6 && tmx_rng_uniform(rng) < 0.5;
            most_w[u] = off ? 0 : unit_w[u] * c.part * c.part;
        }
        for (size_t l = 0; l < LEVELS; l++) {
            r[l] = c.spec.package.r_convec_k_per_w;
        }
        c.spec.r_convec_levels = c.spec.n_level ? r : NULL;
        engine_open(&grid, "grid", "", &c.spec);
        engine_open(&reduced, "reduced", "cache = false;", &c.spec);
        for (int row = 0; row < 60;
             row++) { /* powers change much faster than coolant flows, as fast, slower */
            static const double part[] = {0.1, 0.3, 1, 3};
            struct tmx_thermal_heat before, after;
            const double dt_s =
                fmax(c.spec.min_step_s, c.transit_s * (row < 48 ? part[row / 12] : between(rng, 1, 1e3)));
            double in_j = 0;
            for (size_t u = 0; u < 6; u++) {
                p[u] = row % 12 == 0 ? most_w[u]
                                     : most_w[u] * tmx_rng_uniform(rng) * (tmx_rng_uniform(rng) < 0.7);
                in_j += p[u] * dt_s;
            }
            if (row % 5 == 4 && c.spec.n_level) {
                const size_t level = tmx_rng_below(rng, LEVELS);
                grid.ops->set_convection(grid.state, level);
                reduced.ops->set_convection(reduced.state, level);
            }
            if (row % 7 == 6) {
                const double ambient_k = 290 + 20 * tmx_rng_uniform(rng);
                grid.ops->set_ambient(grid.state, ambient_k);
                reduced.ops->set_ambient(reduced.state, ambient_k);
            }
            reduced.ops->heat(reduced.state, &before);
            assert_int_equal(grid.ops->step(grid.state, dt_s, p, a), TMX_OK);
            assert_int_equal(reduced.ops->predict(reduced.state, dt_s, p, b), TMX_OK);
            const double ahead_k = b[3];
            assert_int_equal(reduced.ops->step(reduced.state, dt_s, p, b), TMX_OK);
            assert_true(ahead_k == b[3]);
            reduced.ops->heat(reduced.state, &after);
            check_close(after.stored_j + after.to_ambient_j, before.stored_j + before.to_ambient_j + in_j,
                        1e-9, 1e-9 * in_j);
            for (size_t u = 0; u < 6; u++) {
                off_k = fmax(off_k, fabs(a[u] - b[u]));
            }
        }
        struct tmx_thermal_heat heat, on_grid;
        reduced.ops->heat(reduced.state, &heat);
        grid.ops->heat(grid.state, &on_grid);
        check_close(heat.to_ambient_j, on_grid.to_ambient_j, 1e-6, 0);
        assert_int_equal(grid.ops->steady(grid.state, p, true, a), TMX_OK);
        assert_int_equal(reduced.ops->steady(reduced.state, p, true, b), TMX_OK);
        for (size_t u = 0; u < 6; u++) {
            off_k = fmax(off_k, fabs(a[u] - b[u]));
        }
        reduced.ops->heat(reduced.state, &heat);
        check_close(heat.to_ambient_w, p[0] + p[1] + p[2] + p[3] + p[4] + p[5], 1e-9, 1e-9);
        const double said_k = reduced.ops->error_bound(reduced.state, false, most_w);
        if (!(off_k <= said_k) || off_k > 1e-3) {
            fail_msg("stack %zu: %.3g K off, estimated %.3g K", chip, off_k, said_k);
        }
        nearest = fmin(nearest, said_k / fmax(off_k, 1e-7));
        worst_k = fmax(worst_k, off_k);
        tmx_rng_destroy(rng);
        engine_close(&grid);
        engine_close(&reduced);
        finish(&c);
    }
    print_message("%zu stacks: at most %.3g K off, estimate over error at least %.2f\n", n_chip, worst_k,
                  nearest);
}

static void the_reduced_model_reads_fields_and_comes_back_from_the_cache(void **state)
{
    struct chip c;
    struct engine grid, built, read;
    double t[3][6], cell_k[2][ROWS * MAX_COLS];
    make(&c, TMX_CHANNELS_MERGED, true);
    c.spec.flow_levels = flow_levels;
    c.spec.r_convec_levels = (const double[LEVELS]){1e9, 1e9, 1e9, 1e9, 1e9};
    c.spec.n_level = LEVELS;
    engine_open(&grid, "grid", "", &c.spec);
    engine_open(&built, "reduced", "", &c.spec);
    engine_open(&read, "reduced", "", &c.spec);
    for (size_t level = 1; level < LEVELS; level++) {
        struct engine *const all[] = {&grid, &built, &read};
        for (size_t i = 0; i < 3; i++) {
            all[i]->ops->set_convection(all[i]->state, level);
            assert_int_equal(all[i]->ops->step(all[i]->state, 2e-3, power_w, t[i]), TMX_OK);
        }
        assert_memory_equal(t[1], t[2], sizeof t[1]);
        for (size_t layer = 0; layer < 3; layer++) {
            assert_int_equal(grid.ops->field(grid.state, layer, cell_k[0]), TMX_OK);
            assert_int_equal(built.ops->field(built.state, layer, cell_k[1]), TMX_OK);
            for (size_t i = 0; i < c.spec.rows * c.spec.cols; i++) {
                check_close(cell_k[1][i], cell_k[0][i], 0, 0.1);
            }
        }
    }
    engine_close(&grid);
    engine_close(&built);
    engine_close(&read);
    finish(&c);
}

static void coolant_boils_in_the_reduced_model_as_on_the_grid(void **state)
{
    static const double most_w[6] = {1, 0.5, 0.3, 1, 0.5, 0.3};
    struct chip c;
    struct engine e[2];
    char why[2][256];
    int n[2] = {0, 0};
    make(&c, TMX_CHANNELS_RESOLVED, true);
    c.channels.flow_m3_per_s = 1.5e-8;
    c.spec.coolant_limit_k = 345;
    for (int i = 0; i < 2; i++) {
        double t[6];
        engine_open(&e[i], i ? "reduced" : "grid", i ? "cache = false;" : "", &c.spec);
        for (enum tmx_status st = TMX_OK; !st && n[i] < 1000; n[i]++) {
            st = e[i].ops->step(e[i].state, 1e-3, most_w, t);
        }
        e[i].ops->why(e[i].state, why[i], sizeof why[i]);
        engine_close(&e[i]);
    }
    assert_true(n[0] > 5 && n[0] < 1000);
    assert_int_equal(n[0], n[1]);
    assert_string_equal(why[0], why[1]);
    assert_non_null(strstr(why[1], "coolant boils"));
    finish(&c);
}

static void the_reduced_model_refuses_what_it_cannot_read(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct chip c;
        struct tmx_thermal_instance inst;
        struct tmx_err err = {0};
        const char *const mixed[] = {"precision", "mixed", NULL};
        double node_k[5 * ROWS * MAX_COLS + 12] = {0};
        make(&c, TMX_CHANNELS_MERGED, true);
        c.spec.map_mode = i == 0 ? TMX_MAP_MAX : c.spec.map_mode;
        c.spec.accurate_cells = i == 1;
        c.spec.init_node_k = i == 2 ? node_k : NULL;
        assert_int_equal(tmx_thermal_instance_create(&inst, "reduced", i == 3 ? mixed : NULL, &c.spec, &err),
                         TMX_EUNSUPPORTED);
        assert_non_null(strstr(err.msg, "coolant"));
        tmx_thermal_instance_finish(&inst);
        finish(&c);
    }
}

TMX_TESTS(test_channels)
{
    n_chip = argc > 1 ? strtoul(argv[1], NULL, 10) : n_chip;
    first_chip = argc > 2 ? strtoul(argv[2], NULL, 10) : argc > 1 ? 0 : SIZE_MAX;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_into_the_coolant_is_the_power),
        cmocka_unit_test(steps_conserve_heat_and_ten_are_as_good_as_one),
        cmocka_unit_test(upwind_faces_are_of_first_order_and_means_of_second),
        cmocka_unit_test(warmer_coolant_or_air_shifts_what_it_touches),
        cmocka_unit_test(pumping_power_is_that_of_laminar_ducts),
        cmocka_unit_test(a_chip_that_conducts_better_along_x_is_as_a_narrower_one),
        cmocka_unit_test(stacks_that_cannot_be_modelled_are_refused),
        cmocka_unit_test(the_reduced_model_is_as_near_as_it_says_and_conserves_heat),
        cmocka_unit_test(the_reduced_model_reads_fields_and_comes_back_from_the_cache),
        cmocka_unit_test(coolant_boils_in_the_reduced_model_as_on_the_grid),
        cmocka_unit_test(the_reduced_model_refuses_what_it_cannot_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
