/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced back-end's printed error bounds against its true errors, on random chips: blocks read in
 * every way and all cells, from a uniform start and from a start field, rows of 0.05 ms and up; with a
 * fan that changes; and with leakage that follows the temperatures that are read. Arguments: the number of
 * chips, the chip to begin with, the seed, the network (`physical` or `hotspot`), the precision. */
#include <stdlib.h>
#include <string.h>

#include "hotspot/hotspot.h"
#include "tests/support/golden.h"
#include "tests/support/random_chip.h"

enum { MODES = 5, MAX_UNIT = 32 };
static const double TOLERANCE_K = 1e-3;

static const char *const mode_names[MODES] = {"area", "avg", "min", "max", "center"};

/* One chip on the full grid, and on reduced models that are read in every way; `fine` also promises
 * its cells. */
struct lot {
    struct random_chip chip;
    struct engine grid, reduced[MODES], fine;
    struct tmx_gridmap map;
    double *node[2]; /* [n_node] of grid and fine */
    size_t n_node;
    double error[MODES], cell_error; /* the largest so far */
};

static unsigned seed = 20260101;
static enum tmx_network_kind network;
static const char *options = "cache = false;"; /* of the reduced model */

static bool coarse; /* a third of the cells: enough for a few chips */

static void make_chip(struct random_chip *chip, struct tmx_rng *rng)
{
    random_chip_make(chip, rng);
    if (coarse) {
        chip->spec.rows = chip->spec.rows / 4 + 5;
        chip->spec.cols = chip->spec.cols / 4 + 5;
    }
}

static void open_lot(struct lot *l, struct tmx_rng *rng, double min_step_s)
{
    struct tmx_thermal_spec *spec;
    *l = (struct lot){.cell_error = 0};
    make_chip(&l->chip, rng);
    spec = &l->chip.spec;
    const size_t n_cell = spec->rows * spec->cols;
    double density = 0;
    for (size_t u = 0; u < l->chip.n_unit; u++) {
        density = fmax(density, l->chip.power_w[u] / tmx_unit_area_m2(&l->chip.floorplan.unit[u]));
    }
    spec->power_density_w_per_m2 = density;
    spec->min_step_s = min_step_s;
    spec->network = network;
    l->n_node = (spec->n_layer + 2) * n_cell + 12;
    l->node[0] = calloc(l->n_node, sizeof **l->node);
    l->node[1] = calloc(l->n_node, sizeof **l->node);
    assert_true(l->node[0] && l->node[1]);
    double *start = random_chip_start(spec, rng);
    engine_open(&l->grid, "grid", "", spec);
    for (size_t k = 0; k < MODES; k++) {
        spec->map_mode = (enum tmx_map_mode)k;
        engine_open(&l->reduced[k], "reduced", options, spec);
    }
    spec->map_mode = (enum tmx_map_mode)random_count(rng, 0, MODES - 1);
    spec->accurate_cells = true;
    engine_open(&l->fine, "reduced", options, spec);
    spec->accurate_cells = false;
    assert_int_equal(tmx_gridmap_init(&l->map, &l->chip.floorplan, tmx_floorplan_width_m(&l->chip.floorplan),
                                      tmx_floorplan_height_m(&l->chip.floorplan), spec->rows, spec->cols,
                                      NULL, NULL),
                     TMX_OK);
    free(start);
    spec->init_node_k = NULL;
}

static void close_lot(struct lot *l)
{
    engine_close(&l->grid);
    engine_close(&l->fine);
    for (size_t k = 0; k < MODES; k++) {
        engine_close(&l->reduced[k]);
    }
    tmx_gridmap_finish(&l->map);
    free(l->node[0]);
    free(l->node[1]);
    random_chip_finish(&l->chip);
}

static void read_nodes(const struct engine *e, const struct tmx_thermal_spec *spec, double *node)
{
    for (size_t layer = 0; layer <= spec->n_layer + 2; layer++) {
        assert_int_equal(e->ops->field(e->state, layer, node + layer * spec->rows * spec->cols), TMX_OK);
    }
}

static void step_all(struct lot *l, double dt_s, const double *power_w)
{
    double t[2][MAX_UNIT];
    assert_int_equal(l->grid.ops->step(l->grid.state, dt_s, power_w, t[0]), TMX_OK);
    assert_int_equal(l->fine.ops->step(l->fine.state, dt_s, power_w, t[1]), TMX_OK);
    read_nodes(&l->grid, &l->chip.spec, l->node[0]);
    read_nodes(&l->fine, &l->chip.spec, l->node[1]);
    for (size_t c = 0; c < l->n_node; c++) {
        l->cell_error = fmax(l->cell_error, fabs(l->node[0][c] - l->node[1][c]));
    }
    for (size_t k = 0; k < MODES; k++) {
        assert_int_equal(l->reduced[k].ops->step(l->reduced[k].state, dt_s, power_w, t[1]), TMX_OK);
        tmx_gridmap_read(&l->map, (enum tmx_map_mode)k, l->node[0], t[0]);
        for (size_t u = 0; u < l->chip.n_unit; u++) {
            l->error[k] = fmax(l->error[k], fabs(t[0][u] - t[1][u]));
        }
    }
}

/* A step of all powers followed from the shortest row on, then a random trace with rows of that and of
 * ten times that length that turns each unit on and off. */
static void drive(struct lot *l, double row_s, struct tmx_rng *rng, size_t n_row)
{
    static const double wait[] = {1, 1, 2, 6, 20, 70, 400, 1500, 8000};
    double power[MAX_UNIT];
    assert_true(l->chip.n_unit <= MAX_UNIT);
    for (size_t k = 0; k < sizeof wait / sizeof wait[0]; k++) {
        step_all(l, wait[k] * row_s, l->chip.power_w);
    }
    for (size_t k = 0; k < n_row; k++) {
        for (size_t u = 0; u < l->chip.n_unit; u++) {
            power[u] =
                l->chip.power_w[u] * (k % 2 ? tmx_rng_uniform(rng) : (double)(tmx_rng_uniform(rng) < 0.5));
        }
        step_all(l, k < 2 * n_row / 3 ? row_s : 10 * row_s, power);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t first; /* chip */
static size_t n_bad; /* cases that broke a promise */

static void check_one(const char *chip, const char *what, double error, double bound, double *over)
{
    if (!(bound >= error)) {
        print_message("seed %u, %s, %s: error %.3g K, bound %.3g K\n", seed, chip, what, error, bound);
        n_bad++;
    }
    if (error > TOLERANCE_K) {
        print_message("seed %u, %s, %s: error %.3g K, tolerance %g K (bound %.3g K)\n", seed, chip, what,
                      error, TOLERANCE_K, bound);
        n_bad++;
    }
    *over = bound / fmax(error, 1e-9);
}

static void the_bounds_hold_and_are_not_wild(void **state)
{
    const size_t n = *(const size_t *)*state;
    assert_true(first < n);
    double *over = calloc(n * (MODES + 1), sizeof *over), worst = 0, worst_cell = 0;
    assert_non_null(over);
    for (size_t i = first; i < n; i++) {
        struct lot l;
        struct tmx_rng *rng = NULL;
        char stream[32];
        const double row_s = i % 4 == 3 ? 5e-5 : 1e-3;
        snprintf(stream, sizeof stream, "chip %zu", i);
        assert_int_equal(tmx_rng_create(&rng, seed, stream, NULL), TMX_OK);
        open_lot(&l, rng, row_s);
        drive(&l, row_s, rng, n > 20 ? 50 : 12);
        for (size_t k = 0; k < MODES; k++) {
            const struct engine *e = &l.reduced[k];
            const double bound = e->ops->error_bound(e->state, false, l.chip.power_w);
            check_one(stream, mode_names[k], l.error[k], bound, &over[k * n + i]);
            worst = fmax(worst, l.error[k]);
        }
        const double bound = l.fine.ops->error_bound(l.fine.state, true, l.chip.power_w);
        check_one(stream, "cells", l.cell_error, bound, &over[MODES * n + i]);
        worst_cell = fmax(worst_cell, l.cell_error);
        close_lot(&l);
        tmx_rng_destroy(rng);
    }
    print_message("%zu chips: largest error %.2e K at a block, %.2e K at a cell\n", n - first, worst,
                  worst_cell);
    for (size_t k = 0; k <= MODES; k++) {
        double *row = over + k * n + first;
        const size_t n_ran = n - first;
        qsort(row, n_ran, sizeof *row, by_size);
        print_message("%-7s bound / error: least %.2f, median %.2f, most %.2f\n",
                      k < MODES ? mode_names[k] : "cells", row[0], row[n_ran / 2], row[n_ran - 1]);
        assert_true(n_ran < 20 || row[n_ran / 2] <= 20);
    }
    free(over);
    assert_int_equal(n_bad, 0);
}

/* What a package or a board answers to a start away from the air is in none of the powers' fields; a start of
 * patches asks for many vectors. */
static void starts_are_followed(void **state)
{
    enum { UNIFORM, PATCHES, BOARD, HOTSPOT, KINDS, LAYERS = 5 };
    static const char *const name[KINDS] = {"uniform start", "patches", "board", "HotSpot's"};
    static const struct tmx_board board = {.s_sub_m = 60e-3,
                                           .s_solder_m = 60e-3,
                                           .s_pcb_m = 100e-3,
                                           .r_convec_k_per_w = 30,
                                           .c_convec_j_per_k = 40};
    static const double step_s[] = {1e-3, 1e-3, 8e-3, 0.02, 0.07, 0.4};
    static const double no_power[MAX_UNIT];
    (void)state;
    for (int kind = 0; kind < KINDS; kind += TMX_EVERY) {
        struct random_chip chip;
        struct tmx_layer layer[LAYERS];
        struct engine e[2];
        struct tmx_rng *rng = NULL;
        double t[2][MAX_UNIT], error = 0, *start = NULL, over;
        assert_int_equal(tmx_rng_create(&rng, seed, "chip 4", NULL), TMX_OK);
        make_chip(&chip, rng);
        chip.spec.rows = chip.spec.cols = coarse ? 4 : 8;
        chip.spec.map_mode = kind == HOTSPOT ? TMX_MAP_AREA : TMX_MAP_MIN;
        chip.spec.init_k = chip.spec.ambient_k + 30;
        for (size_t l = 0; l < LAYERS; l++) { /* board, solder and substrate below the die */
            layer[l] = chip.layer[l < 3 ? 1 : l - 3];
            layer[l].k_w_per_mk *= l < 3 ? 0.1 : 1;
        }
        if (kind == BOARD) {
            chip.spec.layer = layer;
            chip.spec.n_layer = LAYERS;
            chip.spec.board = &board;
        } else if (kind != HOTSPOT) {
            chip.spec.network = TMX_NETWORK_PHYSICAL;
        }
        while (kind == PATCHES && !start) {
            start = random_chip_start(&chip.spec, rng);
        }
        engine_open(&e[0], "grid", "", &chip.spec);
        engine_open(&e[1], "reduced", options, &chip.spec);
        for (size_t k = 0; k < sizeof step_s / sizeof step_s[0]; k++) {
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(e[i].ops->step(e[i].state, step_s[k], no_power, t[i]), TMX_OK);
            }
            for (size_t u = 0; u < chip.n_unit; u++) {
                error = fmax(error, fabs(t[0][u] - t[1][u]));
            }
        }
        check_one(name[kind], kind == HOTSPOT ? "area" : "min", error,
                  e[1].ops->error_bound(e[1].state, false, no_power), &over);
        engine_close(&e[0]);
        engine_close(&e[1]);
        free(start);
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
    assert_int_equal(n_bad, 0);
}

/* One model for all speeds of a fan, which changes while powers do. */
static void a_changing_fan_is_followed(void **state)
{
    const size_t n = *(const size_t *)*state;
    double *over = calloc(n, sizeof *over), worst = 0;
    assert_non_null(over);
    for (size_t i = first; i < n; i++) {
        struct random_chip chip;
        struct engine e[2];
        struct tmx_rng *rng = NULL;
        char stream[32];
        double t[2][MAX_UNIT], power[MAX_UNIT], level_k_per_w[4], density = 0, error = 0;
        snprintf(stream, sizeof stream, "fan %zu", i);
        assert_int_equal(tmx_rng_create(&rng, seed, stream, NULL), TMX_OK);
        make_chip(&chip, rng);
        for (size_t u = 0; u < chip.n_unit; u++) {
            density = fmax(density, chip.power_w[u] / tmx_unit_area_m2(&chip.floorplan.unit[u]));
        }
        for (size_t l = 0; l < 4; l++) {
            level_k_per_w[l] = chip.spec.package.r_convec_k_per_w * random_scale(rng, 0.5, 4);
        }
        chip.spec.power_density_w_per_m2 = density;
        chip.spec.network = network;
        chip.spec.map_mode = i % 2 ? TMX_MAP_AVG : TMX_MAP_AREA;
        chip.spec.r_convec_levels = level_k_per_w;
        chip.spec.n_level = 4;
        chip.spec.init_k = chip.spec.ambient_k + random_between(rng, 0, 30);
        engine_open(&e[0], "grid", "", &chip.spec);
        engine_open(&e[1], "reduced", options, &chip.spec);
        for (size_t k = 0; k < 60; k++) {
            const double dt_s = k < 25 ? 1e-3 : k < 45 ? 1e-2 : 1;
            const size_t level = random_count(rng, 0, 3);
            for (size_t u = 0; u < chip.n_unit; u++) {
                power[u] =
                    chip.power_w[u] * (k % 2 ? tmx_rng_uniform(rng) : (double)(tmx_rng_uniform(rng) < 0.5));
            }
            for (size_t j = 0; j < 2; j++) {
                e[j].ops->set_convection(e[j].state, level);
                assert_int_equal(e[j].ops->step(e[j].state, dt_s, power, t[j]), TMX_OK);
            }
            for (size_t u = 0; u < chip.n_unit; u++) {
                error = fmax(error, fabs(t[0][u] - t[1][u]));
            }
        }
        check_one(stream, "fan", error, e[1].ops->error_bound(e[1].state, false, chip.power_w), &over[i]);
        worst = fmax(worst, error);
        engine_close(&e[0]);
        engine_close(&e[1]);
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
    qsort(over + first, n - first, sizeof *over, by_size);
    print_message(
        "%zu chips with a fan: largest error %.2e K, bound / error: least %.2f, median %.2f, most %.2f\n",
        n - first, worst, over[first], over[first + (n - first) / 2], over[n - 1]);
    free(over);
    assert_int_equal(n_bad, 0);
}

/* One basis for all sinks of a range: at its ends, its middle and between them. */
static void sinks_of_a_range_are_followed(void **state)
{
    const size_t n = network == TMX_NETWORK_HOTSPOT ? *(const size_t *)*state : first; /* refused elsewhere */
    double worst = 0, least = INFINITY;
    for (size_t i = first; i < n; i++) {
        struct random_chip chip;
        struct tmx_rng *rng = NULL;
        char stream[32], range[200];
        double density = 0;
        snprintf(stream, sizeof stream, "range %zu", i);
        assert_int_equal(tmx_rng_create(&rng, seed, stream, NULL), TMX_OK);
        make_chip(&chip, rng);
        for (size_t u = 0; u < chip.n_unit; u++) {
            density = fmax(density, chip.power_w[u] / tmx_unit_area_m2(&chip.floorplan.unit[u]));
        }
        const double r = chip.spec.package.r_convec_k_per_w;
        chip.spec.power_density_w_per_m2 = density;
        chip.spec.network = network;
        chip.spec.map_mode = i % 3 == 2 ? TMX_MAP_CENTER : i % 3 ? TMX_MAP_AVG : TMX_MAP_AREA;
        chip.spec.init_k = chip.spec.ambient_k + random_between(rng, 0, 30);
        snprintf(range, sizeof range, "%s r_convec_low = %.17g; r_convec_high = %.17g;", options, 0.25 * r,
                 4 * r);
        if (i % 2) { /* its own bands */
            snprintf(range, sizeof range, "%s share_sinks = true;", options);
        }
        for (size_t k = 0; k < 4; k++) {
            struct engine e[2];
            double t[2][MAX_UNIT], power[MAX_UNIT], error = 0, over;
            chip.spec.package.r_convec_k_per_w = k == 3 ? 4 * r : random_scale(rng, 0.25, 4) * r;
            engine_open(&e[0], "grid", "", &chip.spec);
            engine_open(&e[1], "reduced", range, &chip.spec);
            for (size_t s = 0; s < 40; s++) {
                const double dt_s = s < 15 ? 1e-3 : s < 25 ? 1e-2 : s < 35 ? 1 : 100;
                for (size_t u = 0; u < chip.n_unit; u++) {
                    power[u] = chip.power_w[u] *
                               (s % 2 ? tmx_rng_uniform(rng) : (double)(tmx_rng_uniform(rng) < 0.5));
                }
                for (size_t j = 0; j < 2; j++) {
                    assert_int_equal(e[j].ops->step(e[j].state, dt_s, power, t[j]), TMX_OK);
                }
                for (size_t u = 0; u < chip.n_unit; u++) {
                    error = fmax(error, fabs(t[0][u] - t[1][u]));
                }
            }
            check_one(stream, "range", error, e[1].ops->error_bound(e[1].state, false, chip.power_w), &over);
            worst = fmax(worst, error);
            least = fmin(least, over);
            engine_close(&e[0]);
            engine_close(&e[1]);
        }
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
    print_message("%zu chips with a range of sinks: largest error %.2e K, bound / error: least %.2f\n",
                  n - first, worst, least);
    assert_int_equal(n_bad, 0);
}

/* The leakage of the first row is that of the start as it is read: in every way of reading, from every start.
 */
static void leakage_maps_and_starts_are_followed_together(void **state)
{
    const size_t n = *(const size_t *)*state > 1 ? *(const size_t *)*state + MODES : 1;
    double worst = 0;
    for (size_t i = first; i < n; i++) {
        struct random_chip chip;
        struct engine e[2];
        struct tmx_rng *rng = NULL;
        char stream[32];
        double power[MAX_UNIT], t[2][MAX_UNIT], mean[MAX_UNIT], density = 0, error = 0, over;
        snprintf(stream, sizeof stream, "leakage %zu", i);
        assert_int_equal(tmx_rng_create(&rng, seed, stream, NULL), TMX_OK);
        make_chip(&chip, rng);
        for (size_t u = 0; u < chip.n_unit; u++) {
            density = fmax(density, chip.power_w[u] / tmx_unit_area_m2(&chip.floorplan.unit[u]));
        }
        chip.spec.power_density_w_per_m2 = density;
        chip.spec.network = network;
        chip.spec.map_mode = (enum tmx_map_mode)(i % MODES);
        double *start = random_chip_start(&chip.spec, rng);
        const double row_s = random_scale(rng, 1e-3, 0.05);
        engine_open(&e[0], "grid", "", &chip.spec);
        engine_open(&e[1], "reduced", options, &chip.spec);
        for (size_t row = 0; row < 20; row++) {
            const double share = row < 3 ? 1 : tmx_rng_uniform(rng);
            for (size_t j = 0; j < 2; j++) {
                const struct tmx_thermal_instance chip_j = {
                    .ops = e[j].ops, .spec = &chip.spec, .state = e[j].state};
                void *snapshot = malloc(tmx_image_size(e[j].ops->image, e[j].state));
                assert_non_null(snapshot);
                for (size_t u = 0; u < chip.n_unit; u++) {
                    power[u] = share * chip.power_w[u];
                }
                assert_int_equal(tmx_settle_step(&chip_j, row_s, power, t[j], snapshot, mean), TMX_OK);
                free(snapshot);
            }
            for (size_t u = 0; u < chip.n_unit; u++) {
                error = fmax(error, fabs(t[0][u] - t[1][u]));
            }
        }
        check_one(stream, mode_names[i % MODES], error,
                  e[1].ops->error_bound(e[1].state, false, chip.power_w), &over);
        worst = fmax(worst, error);
        engine_close(&e[0]);
        engine_close(&e[1]);
        free(start);
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
    print_message("%zu chips with leakage: largest error %.2e K\n", n - first, worst);
    assert_int_equal(n_bad, 0);
}

TMX_TESTS(test_reduced)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
    first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : seed;
    options = argc > 5 && strcmp(argv[5], "mixed") == 0 ? "cache = false; precision = \"mixed\";" : options;
    network = argc > 4 && strcmp(argv[4], "physical") == 0 ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT;
    coarse = n < 10;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_followed), cmocka_unit_test_prestate(a_changing_fan_is_followed, &n),
        cmocka_unit_test_prestate(sinks_of_a_range_are_followed, &n),
        cmocka_unit_test_prestate(leakage_maps_and_starts_are_followed_together, &n),
        cmocka_unit_test_prestate(the_bounds_hold_and_are_not_wild, &n)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
