/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced back-end against the full grid on golden A's chip at the default tolerance. The
 * grid's rows and columns are the first argument. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/support/golden.h"

static const double TOLERANCE_K = 1e-3, MAP_K = 0.05;
static const char REDUCED[] = "cache = false;";
enum { MAX_UNIT = 40 };

struct pair {
    struct golden g;
    struct engine reduced, grid;
    double power_w[MAX_UNIT]; /* 5 W an SM, 30 W uncore, 10 W a memory strip */
    struct tmx_rng *rng;
    size_t n_cell;
};

static void open_pair(struct pair *p, size_t grid, const double *start_k)
{
    golden_open(&p->g, "A_gt200");
    struct tmx_thermal_spec *spec = &p->g.stack.spec;
    spec->rows = spec->cols = grid;
    spec->map_mode = TMX_MAP_AREA;
    spec->min_step_s = 0;
    spec->power_density_w_per_m2 = 0; /* all defaults */
    spec->init_node_k = start_k;
    engine_open(&p->reduced, "reduced", REDUCED, spec);
    engine_open(&p->grid, "grid", "", spec);
    assert_int_equal(tmx_rng_create(&p->rng, 7, "powers", NULL), TMX_OK);
    p->n_cell = grid * grid;
    for (size_t u = 0; u < p->g.n_unit; u++) {
        const char *name = spec->layer[0].floorplan->unit[u].name;
        p->power_w[u] = strncmp(name, "SM", 2) == 0 ? 5 : strncmp(name, "MEM", 3) == 0 ? 10 : 30;
    }
}

static void close_pair(struct pair *p)
{
    tmx_rng_destroy(p->rng);
    engine_close(&p->reduced);
    engine_close(&p->grid);
    golden_close(&p->g);
}

static double step_both(struct pair *p, double dt_s, const double *power_w)
{
    double a[MAX_UNIT], b[MAX_UNIT], worst = 0;
    assert_int_equal(p->reduced.ops->step(p->reduced.state, dt_s, power_w, a), TMX_OK);
    assert_int_equal(p->grid.ops->step(p->grid.state, dt_s, power_w, b), TMX_OK);
    for (size_t u = 0; u < p->g.n_unit; u++) {
        worst = fmax(worst, fabs(a[u] - b[u]));
    }
    return worst;
}

static double maps_apart(struct pair *p)
{
    double *a = calloc(2 * p->n_cell, sizeof *a), *b = a + p->n_cell, worst = 0;
    assert_non_null(a);
    for (size_t l = 0; l < 4; l++) {
        assert_int_equal(p->reduced.ops->field(p->reduced.state, l, a), TMX_OK);
        assert_int_equal(p->grid.ops->field(p->grid.state, l, b), TMX_OK);
        for (size_t c = 0; c < p->n_cell; c++) {
            worst = fmax(worst, fabs(a[c] - b[c]));
        }
    }
    free(a);
    return worst;
}

static void report(const char *what, double worst_k, double limit_k)
{
    print_message("  %-40s %.2e K\n", what, worst_k);
    assert_true(worst_k <= limit_k);
}

static void steps_of_power_are_followed_from_a_millisecond_on(void **state)
{
    static const double wait_s[] = {1e-3, 1e-3, 2e-3, 6e-3, 0.01, 0.03, 0.15, 0.8, 9};
    const size_t grid = *(const size_t *)*state;
    double worst = 0, map = 0, at_s = 0;
    for (size_t only = 0; only < 3; only++) { /* all units, then one SM, then the uncore */
        struct pair p;
        double power[MAX_UNIT] = {0};
        open_pair(&p, grid, NULL);
        for (size_t u = 0; u < p.g.n_unit; u++) {
            power[u] = only == 0 || u == (only == 1 ? 10 : 32) ? p.power_w[u] : 0;
        }
        at_s = 0;
        for (size_t k = 0; k < sizeof wait_s / sizeof wait_s[0]; k++) {
            worst = fmax(worst, step_both(&p, wait_s[k], power));
            at_s += wait_s[k];
            if (at_s > 0.00999) {
                map = fmax(map, maps_apart(&p));
            }
        }
        close_pair(&p);
    }
    report("step responses", worst, TOLERANCE_K);
    report("heat maps from 10 ms after a step", map, MAP_K);
}

static void random_and_alternating_traces_are_followed(void **state)
{
    struct pair p;
    double worst[3] = {0};
    open_pair(&p, *(const size_t *)*state, NULL);
    for (size_t k = 0; k < 90; k++) {
        double power[MAX_UNIT];
        const size_t kind = k / 30;
        for (size_t u = 0; u < p.g.n_unit; u++) {
            const double share = kind < 2 ? tmx_rng_uniform(p.rng) : (double)((k / 2 + u) % 2);
            power[u] = p.power_w[u] * share;
        }
        worst[kind] = fmax(worst[kind], step_both(&p, kind == 0 ? 1e-3 : 1e-2, power));
    }
    report("random 1 ms trace", worst[0], TOLERANCE_K);
    report("random 10 ms trace", worst[1], TOLERANCE_K);
    report("hot and cold in turns", worst[2], TOLERANCE_K);
    close_pair(&p);
}

/* A start as an init file makes it: one temperature a block, jumps at their edges. */
static void any_start_field_is_followed(void **state)
{
    const size_t grid = *(const size_t *)*state, n_cell = grid * grid;
    struct pair p;
    double unit[MAX_UNIT], worst = 0, power[MAX_UNIT] = {0};
    double *start = calloc(4 * n_cell + 12, sizeof *start);
    struct tmx_gridmap map;
    struct golden g;
    assert_non_null(start);
    golden_open(&g, "A_gt200");
    const struct tmx_floorplan *fp = g.stack.spec.layer[0].floorplan;
    assert_int_equal(tmx_gridmap_init(&map, fp, 24e-3, 24e-3, grid, grid, NULL, NULL), TMX_OK);
    for (size_t l = 0; l < 4; l++) {
        for (size_t u = 0; u < fp->n_unit; u++) {
            unit[u] = 345 - 3 * (double)l + (double)(u % 5) * (4 - (double)l);
        }
        assert_int_equal(tmx_gridmap_fill(&map, unit, false, start + l * n_cell, NULL), TMX_OK);
    }
    for (size_t e = 0; e < 12; e++) {
        start[4 * n_cell + e] = 335;
    }
    open_pair(&p, grid, start);
    p.reduced.ops->read(p.reduced.state, unit);
    p.grid.ops->read(p.grid.state, power);
    for (size_t u = 0; u < p.g.n_unit; u++) {
        worst = fmax(worst, fabs(unit[u] - power[u]));
    }
    report("a start field, at once", worst, TOLERANCE_K);
    worst = 0;
    for (size_t k = 0; k < 8; k++) {
        worst = fmax(worst, step_both(&p, k < 4 ? 1e-3 : 1e-2, p.power_w));
    }
    report("a start field, from 1 ms on", worst, TOLERANCE_K);
    close_pair(&p);
    tmx_gridmap_finish(&map);
    golden_close(&g);
    free(start);
}

TMX_TESTS(test_reduced_grid)
{
    size_t grid = argc > 1 ? strtoul(argv[1], NULL, 10) : 24;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(steps_of_power_are_followed_from_a_millisecond_on, &grid),
        cmocka_unit_test_prestate(random_and_alternating_traces_are_followed, &grid),
        cmocka_unit_test_prestate(any_start_field_is_followed, &grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
