/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The back-end that is HotSpot's own library against the grid back-end; built only where there
 * is one. Which of its two steps the library has is not asked: it must meet one of ours. */
#include <stdlib.h>

#include "tests/support/golden.h"

static const char *const cases[] = {"A_gt200", "B_hotblock", "D_package", "E_stack2", "F_rectcell"};
enum { ROWS = 3, GRID = 32 };

static double farthest(size_t n, const double *a, const double *b)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst;
}

struct three { /* the library, and ours with its two schemes */
    struct engine e[3];
    double *power_w, *temp_k[3];
};

static void three_open(struct three *t, struct golden *g, const char *name)
{
    static const char *const backend[] = {"hotspot", "grid", "grid"};
    static const char *const options[] = {"", "scheme = \"be\";", "scheme = \"exact\";"};
    golden_open(g, name);
    g->stack.spec.rows = g->stack.spec.cols = GRID; /* small enough for the library's seconds a step */
    t->power_w = calloc(4 * g->n_unit, sizeof *t->power_w);
    assert_non_null(t->power_w);
    for (size_t i = 0; i < 3; i++) {
        t->temp_k[i] = t->power_w + (1 + i) * g->n_unit;
        engine_open(&t->e[i], backend[i], options[i], &g->stack.spec);
    }
}

static void three_close(struct three *t, struct golden *g)
{
    for (size_t i = 0; i < 3; i++) {
        engine_close(&t->e[i]);
    }
    free(t->power_w);
    golden_close(g);
}

static void steps_and_steady_states_are_ours(void **state)
{
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct golden g;
        struct three t;
        double be_k = 0, exact_k = 0;
        three_open(&t, &g, cases[c]);
        for (size_t row = 0; row < ROWS; row++) {
            golden_power(&g, row, t.power_w);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(t.e[i].ops->step(t.e[i].state, g.cfg.sampling_intvl, t.power_w, t.temp_k[i]),
                                 TMX_OK);
            }
            be_k = fmax(be_k, farthest(g.n_unit, t.temp_k[0], t.temp_k[1]));
            exact_k = fmax(exact_k, farthest(g.n_unit, t.temp_k[0], t.temp_k[2]));
        }
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(t.e[i].ops->steady(t.e[i].state, t.power_w, true, t.temp_k[i]), TMX_OK);
        }
        const double steady_k = farthest(g.n_unit, t.temp_k[0], t.temp_k[1]);
        print_message("%-10s library - backward Euler %.1e K, - exact %.1e K, steady %.1e K\n", cases[c],
                      be_k, exact_k, steady_k);
        assert_true(be_k <= 1e-5 || exact_k <= 0.02);
        assert_true(steady_k <= 0.02); /* its Runge-Kutta build relaxes to about that */
        three_close(&t, &g);
    }
}

static void instances_of_one_model_and_two_models_do_not_mix(void **state)
{
    struct golden g;
    struct three t;
    three_open(&t, &g, cases[0]);
    struct engine *e = &t.e[0], other;
    void *second = NULL, *snapshot = malloc(tmx_image_size(e->ops->image, e->state));
    double *again_k = t.temp_k[1];
    assert_non_null(snapshot);
    assert_int_equal(e->ops->create(e->model, &second, NULL), TMX_OK);
    golden_power(&g, 0, t.power_w);
    tmx_image_save(e->ops->image, e->state, snapshot);
    assert_int_equal(e->ops->step(e->state, 0.01, t.power_w, t.temp_k[0]), TMX_OK);
    /* another instance from the same start, then the first one set back */
    assert_int_equal(e->ops->step(second, 0.01, t.power_w, again_k), TMX_OK);
    assert_memory_equal(t.temp_k[0], again_k, g.n_unit * sizeof *again_k);
    assert_int_equal(e->ops->step(second, 0.01, t.power_w, again_k), TMX_OK);
    tmx_image_restore(e->ops->image, e->state, snapshot);
    e->ops->read(e->state, again_k);
    assert_true(again_k[0] != t.temp_k[0][0]);
    assert_int_equal(e->ops->step(e->state, 0.01, t.power_w, again_k), TMX_OK);
    assert_memory_equal(t.temp_k[0], again_k, g.n_unit * sizeof *again_k);
    /* a later model with its own matrices */
    g.stack.spec.package.r_convec_k_per_w *= 3;
    g.stack.spec.rows = GRID / 2;
    engine_open(&other, "hotspot", "", &g.stack.spec);
    assert_int_equal(other.ops->step(other.state, 0.01, t.power_w, again_k), TMX_OK);
    assert_true(farthest(g.n_unit, t.temp_k[0], again_k) < 1 && again_k[0] != t.temp_k[0][0]);
    engine_close(&other);
    e->ops->destroy(second);
    free(snapshot);
    three_close(&t, &g);
}

static void what_the_library_cannot_do_is_refused(void **state)
{
    static const double levels[] = {0.1, 0.2};
    struct golden g;
    struct engine e = {.ops = tmx_thermal_find("hotspot")};
    golden_open(&g, "F_rectcell");
    g.stack.spec.r_convec_levels = levels;
    g.stack.spec.n_level = 2;
    assert_int_equal(tmx_thermal_model_create(e.ops, NULL, &g.stack.spec, &e.model, NULL), TMX_EUNSUPPORTED);
    g.stack.spec.n_level = 0;
    g.stack.spec.hotspot_lateral = false;
    assert_int_equal(tmx_thermal_model_create(e.ops, NULL, &g.stack.spec, &e.model, NULL), TMX_EUNSUPPORTED);
    golden_close(&g);
}

TMX_TESTS(test_hotspot_lib)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_steady_states_are_ours),
        cmocka_unit_test(instances_of_one_model_and_two_models_do_not_mix),
        cmocka_unit_test(what_the_library_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
