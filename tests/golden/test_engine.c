/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine against tests/golden (each README.txt says what made which file). With an argument, all rows of
 * the exact scheme, too: 34 of 57 parts of the time. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/support/golden.h"

static const char *const cases[] = {"A_gt200", "B_hotblock", "D_package", "E_stack2", "F_rectcell"};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* Run through the power trace and compare with two trace files of the folder. */
struct reference {
    const char *file;
    double tolerance_k;
};

static void run_trace(struct golden *g, struct engine *e, size_t most_rows, const struct reference ref[2],
                      double worst_k[2])
{
    double *power = calloc(2 * g->n_unit, sizeof *power), *temp = power + g->n_unit;
    struct tmx_trace trace[2];
    assert_non_null(power);
    for (size_t f = 0; f < 2; f++) {
        worst_k[f] = 0;
        assert_int_equal(tmx_trace_read(ref[f].file, &trace[f], NULL), TMX_OK);
        assert_int_equal(trace[f].n_column, g->power.n_column);
        assert_int_equal(trace[f].n_row, g->power.n_row);
    }
    for (size_t r = 0; r < g->power.n_row && r < most_rows; r++) {
        golden_power(g, r, power);
        assert_int_equal(e->ops->step(e->state, g->cfg.sampling_intvl, power, temp), TMX_OK);
        for (size_t k = 0; k < 2 * g->power.n_column; k++) {
            const size_t f = k % 2, c = k / 2;
            const double want = trace[f].value[r * g->power.n_column + c];
            worst_k[f] = fmax(worst_k[f], fabs(temp[g->unit_of[c]] - want));
        }
    }
    tmx_trace_finish(&trace[0]);
    tmx_trace_finish(&trace[1]);
    free(power);
}

/* Every case in an engine of its own; then, where it is wanted, the steady state of that engine. */
static void traces_within(const char *backend, const char *options, size_t most_rows,
                          const struct reference ref[2], void (*then)(struct golden *, struct engine *))
{
    for (size_t i = 0; i < N_CASES; i++) {
        struct golden g;
        struct engine e;
        double worst_k[2];
        golden_open(&g, cases[i]);
        engine_open(&e, backend, options, &g.stack.spec);
        run_trace(&g, &e, most_rows, ref, worst_k);
        print_message("%-10s %-7s %-17s %s %.2e K, %s %.2e K\n", cases[i], backend, options, ref[0].file,
                      worst_k[0], ref[1].file, worst_k[1]);
        assert_true(worst_k[0] <= ref[0].tolerance_k && worst_k[1] <= ref[1].tolerance_k);
        then(&g, &e);
        engine_close(&e);
        golden_close(&g);
    }
}

/* Block values of every layer, layer after layer in floorplan order, then the package. */
static double steady_difference(struct golden *g, struct engine *e, const char *file)
{
    const struct tmx_thermal_spec *spec = &g->stack.spec;
    const size_t n_cell = spec->rows * spec->cols;
    double *cell = calloc(n_cell + 12, sizeof *cell), *unit, worst = 0;
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct tmx_span rest, field;
    assert_non_null(cell);
    assert_int_equal(tmx_text_load(&text, file, NULL), TMX_OK);
    for (size_t l = 0; l < spec->n_layer + 3; l++) {
        const struct tmx_floorplan *fp = spec->layer[l < spec->n_layer ? l : spec->n_layer - 1].floorplan;
        size_t n = 12;
        assert_int_equal(e->ops->field(e->state, l, cell), TMX_OK);
        unit = cell;
        if (l < spec->n_layer + 2) {
            struct tmx_gridmap map;
            n = fp->n_unit;
            unit = calloc(n, sizeof *unit);
            assert_non_null(unit);
            assert_int_equal(tmx_gridmap_init(&map, fp, tmx_floorplan_width_m(fp), tmx_floorplan_height_m(fp),
                                              spec->rows, spec->cols, NULL, NULL),
                             TMX_OK);
            tmx_gridmap_read(&map, spec->map_mode, cell, unit);
            tmx_gridmap_finish(&map);
        }
        for (size_t u = 0; u < n; u++) {
            double v = NAN;
            assert_true(tmx_lines_next(&lines, &text));
            rest = lines.line;
            assert_true(tmx_span_field(&rest, &field) && tmx_span_field(&rest, &field));
            assert_true(tmx_span_real(field, &v));
            worst = fmax(worst, fabs(v - unit[u]));
        }
        if (unit != cell) {
            free(unit);
        }
    }
    assert_false(tmx_lines_next(&lines, &text));
    tmx_text_finish(&text);
    free(cell);
    return worst;
}

static double map_difference(struct golden *g, struct engine *e)
{
    const struct tmx_thermal_spec *spec = &g->stack.spec;
    const size_t n_cell = spec->rows * spec->cols;
    double *cell = calloc(n_cell + 12, sizeof *cell), worst = 0;
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    assert_non_null(cell);
    assert_int_equal(tmx_text_load(&text, "out.grid_steady", NULL), TMX_OK);
    for (size_t l = 0; l < spec->n_layer + 2; l++) {
        assert_int_equal(e->ops->field(e->state, l, cell), TMX_OK);
        assert_true(tmx_lines_next(&lines, &text)); /* Layer n: */
        for (size_t c = 0; c < n_cell; c++) {
            struct tmx_span rest, field;
            double v = NAN;
            assert_true(tmx_lines_next(&lines, &text));
            rest = lines.line;
            assert_true(tmx_span_field(&rest, &field) && tmx_span_field(&rest, &field));
            assert_true(tmx_span_real(field, &v));
            worst = fmax(worst, fabs(v - cell[c]));
        }
    }
    tmx_text_finish(&text);
    free(cell);
    return worst;
}

static void steady_state_matches(struct golden *g, struct engine *e)
{
    double *power = calloc(2 * g->n_unit, sizeof *power);
    assert_non_null(power);
    tmx_trace_mean(&g->power, power + g->n_unit);
    for (size_t c = 0; c < g->power.n_column; c++) {
        power[g->unit_of[c]] = power[g->n_unit + c];
    }
    assert_int_equal(e->ops->steady(e->state, power, true, power + g->n_unit), TMX_OK);
    const double reference = steady_difference(g, e, "ref.steady");
    const double hotspot = steady_difference(g, e, "out.steady");
    const double map = map_difference(g, e);
    print_message("           steady %.2e K, HotSpot %.2e K, HotSpot's map %.2e K\n", reference, hotspot,
                  map);
    assert_true(reference <= 1e-5 && hotspot <= 0.006 && map <= 0.006);
    free(power);
}

static void no_more(struct golden *g, struct engine *e)
{
    (void)g;
    (void)e;
}

static void backward_euler_repeats_hotspots_own_step_and_steady_state(void **state)
{
    traces_within("grid", "scheme = \"be\";", SIZE_MAX,
                  (struct reference[]){{"ref_be.ttrace", 1e-5}, {"out.ttrace", 0.006}}, steady_state_matches);
}

static void the_exact_scheme_has_no_time_error(void **state)
{
    traces_within("grid", "scheme = \"exact\";", *(const size_t *)*state,
                  (struct reference[]){{"ref_exact.ttrace", 1e-5}, {"rk4.ttrace", 0.02}}, no_more);
}

static void the_default_is_within_a_millikelvin_of_the_exact_trace_and_exact_when_steady(void **state)
{
    traces_within("reduced", "cache = false;", SIZE_MAX,
                  (struct reference[]){{"ref_exact.ttrace", 1e-3}, {"rk4.ttrace", 0.02}},
                  steady_state_matches);
}

TMX_TESTS(test_engine)
{
    size_t most_rows = argc > 1 ? SIZE_MAX : 25;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_euler_repeats_hotspots_own_step_and_steady_state),
        cmocka_unit_test(the_default_is_within_a_millikelvin_of_the_exact_trace_and_exact_when_steady),
        cmocka_unit_test_prestate(the_exact_scheme_has_no_time_error, &most_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
