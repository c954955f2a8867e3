/* SPDX-License-Identifier: GPL-3.0-or-later */
/* precision = "mixed" against double: its bits on every kind of processor, and what it changes against the
 * part of the printed error that allows for it, on random chips: blocks read in every way and cells, any
 * start, fans that change. Arguments: the number of chips, the chip to begin with, the seed, the network
 * (`physical` or `hotspot`). */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "tests/support/golden.h"
#include "tests/support/random_chip.h"
#include "thermal/backend/reduced_model.h"

enum { MODES = 5, MAX_UNIT = 32, MOST = 19 };

static unsigned seed = 20260101;
static enum tmx_network_kind network;
static size_t first, n_chip = 3;

/* ---- bits ---- */
static double *numbers(size_t n, struct tmx_rng *rng)
{
    double *v = calloc(n, sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        v[i] = random_between(rng, -1, 1);
    }
    return v;
}

static void a_step_has_the_same_bits_on_every_processor(void **state)
{
    static const char *const isa[] = {"any", "v3", "v4"};
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, seed, "bits", NULL), TMX_OK);
    for (size_t k = 0; k < 60; k++) { /* every remainder of rows and vectors */
        struct tmx_modal m;
        const size_t n_mode = random_count(rng, 1, 300), n_unit = random_count(rng, 1, 140);
        double *z[3][MOST], *theta[MOST], *before[MOST], *power[MOST];
        float *work[MOST];
        struct tmx_err err = {0};
        tmx_modal_init(&m, n_mode, n_unit, k % 2, false, &err);
        for (size_t i = 0; i < n_unit * m.mode_row; i++) {
            m.in[i] = i % m.mode_row < n_mode ? random_between(rng, -1, 1) : 0;
        }
        for (size_t i = 0; i < n_mode * m.unit_row; i++) {
            m.out[i] = i % m.unit_row < n_unit ? random_between(rng, -1, 1) : 0;
        }
        for (size_t i = 0; i < n_unit * m.unit_row && m.direct; i++) {
            m.direct[i] = i % m.unit_row < n_unit ? random_between(rng, -1, 1) : 0;
        }
        double *decay = numbers(m.mode_row, rng), *gain = numbers(m.mode_row, rng);
        for (size_t i = 0; i < MOST; i++) {
            power[i] = numbers(n_unit, rng);
            z[0][i] = numbers(m.mode_row, rng);
            z[1][i] = numbers(m.mode_row, rng);
            z[2][i] = numbers(m.mode_row, rng);
            theta[i] = numbers(m.unit_row, rng);
            before[i] = numbers(m.unit_row, rng);
            work[i] = calloc(m.mode_row + m.unit_row, sizeof *work[i]);
            assert_non_null(work[i]);
        }
        for (size_t p = 0; p < 3; p++) {
            struct tmx_modal mixed = m;
            const size_t n = 1 + k % MOST;
            assert_int_equal(setenv("THERMIX_ISA", isa[p], 1), 0);
            tmx_modal_mix(&mixed, &err);
            assert_int_equal(err.code, TMX_OK);
            for (size_t i = 0; i < n; i++) { /* alone, then in a gang */
                memcpy(z[1][i], z[0][i], m.mode_row * sizeof **z[0]);
                tmx_modal_step(&mixed, decay, gain, power[i], z[1][i], z[2][i], theta[i], work[i]);
                assert_memory_equal(z[1][i], z[0][i], m.mode_row * sizeof **z[0]);
                if (p > 0) {
                    assert_memory_equal(theta[i], before[i], n_unit * sizeof *theta[i]);
                }
                memcpy(before[i], theta[i], n_unit * sizeof *theta[i]);
            }
            tmx_modal_step_many(&mixed, decay, gain, n, (const double *const *)power, z[1], theta, work);
            for (size_t i = 0; i < n; i++) {
                assert_memory_equal(z[1][i], z[2][i], n_mode * sizeof **z[0]);
                assert_memory_equal(theta[i], before[i], n_unit * sizeof *theta[i]);
            }
            m.arena = mixed.arena; /* which has both */
        }
        for (size_t i = 0; i < MOST; i++) {
            free(power[i]);
            free(z[0][i]);
            free(z[1][i]);
            free(z[2][i]);
            free(theta[i]);
            free(before[i]);
            free(work[i]);
        }
        free(decay);
        free(gain);
        tmx_modal_finish(&m);
    }
    unsetenv("THERMIX_ISA");
    tmx_rng_destroy(rng);
}

/* ---- rounding ---- */
struct pair { /* one chip in double and in mixed precision */
    struct engine exact, mixed;
    double error, cell_error;
};

static void step_pair(struct pair *p, const struct random_chip *chip, double dt_s, const double *power_w)
{
    double t[2][MAX_UNIT];
    const size_t n_cell = chip->spec.rows * chip->spec.cols;
    assert_int_equal(p->exact.ops->step(p->exact.state, dt_s, power_w, t[0]), TMX_OK);
    assert_int_equal(p->mixed.ops->step(p->mixed.state, dt_s, power_w, t[1]), TMX_OK);
    for (size_t u = 0; u < chip->n_unit; u++) {
        p->error = fmax(p->error, fabs(t[0][u] - t[1][u]));
    }
    if (chip->spec.accurate_cells) {
        double *cell = calloc(2 * n_cell, sizeof *cell);
        assert_non_null(cell);
        assert_int_equal(p->exact.ops->field(p->exact.state, 0, cell), TMX_OK);
        assert_int_equal(p->mixed.ops->field(p->mixed.state, 0, cell + n_cell), TMX_OK);
        for (size_t c = 0; c < n_cell; c++) {
            p->cell_error = fmax(p->cell_error, fabs(cell[c] - cell[n_cell + c]));
        }
        free(cell);
    }
}

/* Steps from microseconds to beyond the slowest mode, at full power and at random ones. */
static void drive(struct pair *p, const struct random_chip *chip, size_t n_level, struct tmx_rng *rng)
{
    double power[MAX_UNIT];
    for (size_t k = 0; k < 60; k++) {
        const double dt_s = k < 8 ? 1e-3 * pow(8, (double)k) : random_scale(rng, 1e-4, 1);
        for (size_t u = 0; u < chip->n_unit; u++) {
            power[u] = chip->power_w[u] * (k < 8        ? 1
                                           : k % 2 != 0 ? tmx_rng_uniform(rng)
                                                        : (double)(tmx_rng_uniform(rng) < 0.5));
        }
        if (n_level > 0) {
            const size_t level = random_count(rng, 0, n_level - 1);
            p->exact.ops->set_convection(p->exact.state, level);
            p->mixed.ops->set_convection(p->mixed.state, level);
        }
        step_pair(p, chip, dt_s, power);
    }
}

static void open_pair(struct pair *p, const struct tmx_thermal_spec *spec)
{
    *p = (struct pair){.error = 0};
    engine_open(&p->exact, "reduced", "", spec); /* the second one has the first one's model from the cache */
    engine_open(&p->mixed, "reduced", "precision = \"mixed\";", spec);
}

static void close_pair(struct pair *p)
{
    engine_close(&p->exact);
    engine_close(&p->mixed);
}

static double rounding(const struct pair *p, bool cells, const double *power_w)
{
    return tmx_reduced_model_rounding(p->mixed.model, cells, power_w); /* what is shared comes first */
}

static void rounding_stays_in_its_bound(void **state)
{
    static const char *const kind[] = {"area", "avg", "min", "max", "center", "cells", "fan"};
    enum { KINDS = sizeof kind / sizeof kind[0] };
    double worst[KINDS] = {0}, bound_of[KINDS] = {0}, closest[KINDS];
    size_t n_bad = 0;
    for (size_t k = 0; k < KINDS; k++) {
        closest[k] = INFINITY;
    }
    for (size_t i = first; i < first + n_chip; i++) {
        struct random_chip chip;
        struct tmx_rng *rng = NULL;
        char stream[32];
        double level_k_per_w[3];
        snprintf(stream, sizeof stream, "mixed %zu", i);
        assert_int_equal(tmx_rng_create(&rng, seed, stream, NULL), TMX_OK);
        random_chip_make(&chip, rng);
        assert_true(chip.n_unit <= MAX_UNIT);
        if (n_chip < 10) { /* a third of the cells: enough for a few chips */
            chip.spec.rows = chip.spec.rows / 4 + 5;
            chip.spec.cols = chip.spec.cols / 4 + 5;
        }
        chip.spec.network = network;
        double *start = random_chip_start(&chip.spec, rng);
        for (size_t l = 0; l < 3; l++) {
            level_k_per_w[l] = chip.spec.package.r_convec_k_per_w * random_scale(rng, 0.5, 4);
        }
        for (size_t k = 0; k < KINDS; k++) {
            struct pair p;
            chip.spec.map_mode = k < MODES ? (enum tmx_map_mode)k : TMX_MAP_AREA;
            chip.spec.accurate_cells = k == 5;
            chip.spec.r_convec_levels = k == 6 ? level_k_per_w : NULL;
            chip.spec.n_level = k == 6 ? 3 : 0;
            open_pair(&p, &chip.spec);
            drive(&p, &chip, chip.spec.n_level, rng);
            const double bound = rounding(&p, k == 5, chip.power_w), error = k == 5 ? p.cell_error : p.error;
            assert_true(p.mixed.ops->error_bound(p.mixed.state, k == 5, chip.power_w) >=
                        p.exact.ops->error_bound(p.exact.state, k == 5, chip.power_w) + 0.999 * bound);
            if (!(error > 0 && error <= bound)) {
                print_message("seed %u, chip %zu, %s: %.3g K from double, bound %.3g K\n", seed, i, kind[k],
                              error, bound);
                n_bad++;
            }
            worst[k] = fmax(worst[k], error);
            bound_of[k] = fmax(bound_of[k], bound);
            closest[k] = fmin(closest[k], bound / fmax(error, 1e-12));
            close_pair(&p);
        }
        free(start);
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
    for (size_t k = 0; k < KINDS; k++) {
        print_message("%-6s %zu chips: largest %.2e K, largest bound %.2e K, bound / error at least %.1f\n",
                      kind[k], n_chip, worst[k], bound_of[k], closest[k]);
    }
    assert_int_equal(n_bad, 0);
}

/* The check above can fail: one number of either matrix that is off by 1 % is noticed. */
static void a_wrong_number_is_noticed(void **state)
{
    for (size_t which = 0; which < 2; which++) {
        struct random_chip chip;
        struct tmx_rng *rng = NULL;
        struct pair p;
        assert_int_equal(tmx_rng_create(&rng, seed, "mixed 0", NULL), TMX_OK);
        random_chip_make(&chip, rng);
        open_pair(&p, &chip.spec);
        struct tmx_reduced_model *m = p.mixed.model;
        float *slow = which ? m->modal[0].out_single : m->modal[0].in_single; /* first unit, slowest mode */
        *slow *= 1.01F;
        drive(&p, &chip, 0, rng);
        close_pair(&p);
        random_chip_finish(&chip);
        tmx_rng_destroy(rng);
    }
}

TMX_TESTS(test_mixed)
{
    n_chip = argc > 1 ? strtoul(argv[1], NULL, 10) : n_chip;
    first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : seed;
    network = argc > 4 && strcmp(argv[4], "physical") == 0 ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT;
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_has_the_same_bits_on_every_processor),
                                       cmocka_unit_test(rounding_stays_in_its_bound),
                                       cmocka_unit_test(a_wrong_number_is_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
