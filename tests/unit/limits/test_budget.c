/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Budgets: a table of known values, every pair and triple tried, and what a budget promises. */
#include "limits/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "tests/support/check.h"

enum { N_SM = 30 };
static const struct tmx_budget_call at_88 = {361.15, 1};
static struct tmx_err none; /* stays: open_chip fails on it */

static struct tmx_run *open_chip(struct tmx_plan_chip *c)
{
    struct tmx_run *run = NULL;
    struct tmx_config *cfg = NULL;
    if (none.code || tmx_config_parse(&cfg, "mix = \"WL1\"; seed = 1;", "test", &none) ||
        tmx_run_create(&run, tmx_config_root(cfg), NULL, &none) ||
        tmx_plan_chip_init(c, run, 0, SIZE_MAX, &none)) {
        fail_msg("%s", none.msg);
    }
    tmx_config_close(cfg);
    return run;
}

static struct tmx_budget_search *open_search(const struct tmx_plan_chip *c)
{
    struct tmx_budget_search *search = tmx_budget_search_create(c, &at_88, NULL, NULL, &none);
    assert_non_null(search);
    return search;
}

static void known_budgets(void **state)
{
    static const struct {
        size_t n;
        double worst_w, best_w;
    } rows[] = {{1, 18.592, 20.476}, {2, 13.849, 16.275}, {3, 11.255, 13.456}, {5, 8.393, 9.967},
                {7, 6.829, 7.838},   {10, 5.344, 5.947},  {15, 3.954, 4.259},  {20, 3.156, 3.281},
                {25, 2.629, 2.673},  {30, 2.254, 2.254}};
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    struct tmx_budget_search *search = open_search(&c);
    bool on[N_SM];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i += TMX_EVERY) {
        const double worst_w = tmx_budget_worst(search, rows[i].n, on);
        const double best_w = tmx_budget_best(search, rows[i].n, on);
        check_close(worst_w, rows[i].worst_w, 0, 0.005);
        assert_true(best_w > rows[i].best_w - 0.005 && best_w >= worst_w - 1e-9);
    }
    check_close(tmx_budget_loop_gain(&c, 1, 361.15), 0.174, 0, 0.001);
    tmx_budget_search_destroy(search);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

/* Idling alone passes the limit: nothing is safe, and the search ends. */
static void a_limit_below_the_idle_chip_leaves_nothing(void **state)
{
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    const struct tmx_budget_call low = {c.ambient_k + 0.5, 1};
    bool on[N_SM];
    struct tmx_budget_search *search = tmx_budget_search_create(&c, &low, NULL, NULL, &none);
    assert_non_null(search);
    for (size_t n = 1; n <= N_SM; n++) {
        check_close(tmx_budget_worst(search, n, on), 0, 0, 0);
        check_close(tmx_budget_best(search, n, on), 0, 0, 0);
    }
    tmx_budget_search_destroy(search);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

static void every_pair_tried(void **state)
{
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    struct tmx_budget_search *search = open_search(&c);
    double low = INFINITY, high = 0;
    bool on[N_SM] = {false};
    for (size_t i = 0; i < N_SM; i++) {
        for (size_t j = i + 1; j < N_SM; j++) {
            on[i] = on[j] = true;
            const double w = tmx_budget_of(&c, &at_88, on, NULL, &none);
            on[i] = on[j] = false;
            low = fmin(low, w);
            high = fmax(high, w);
        }
    }
    check_close(tmx_budget_worst(search, 2, on), low, 1e-9, 0);
    assert_true(tmx_budget_best(search, 2, on) >= 0.999 * high);
    tmx_budget_search_destroy(search);
    check_close(low, 13.84918, 0, 0.002);
    check_close(high, 16.27470, 0, 0.002);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

/* Powers held on the run's own back-end, leakage followed to the steady state: the hottest SM. */
static double hottest_c(const struct tmx_plan_chip *c, const struct tmx_run *run, const bool *on, double watt)
{
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    double power_w[64], temp_k[64], peak_k = 0;
    void *model = NULL;
    assert_int_equal(t->ops->create(t->model, &model, NULL), TMX_OK);
    for (size_t u = 0; u < c->n_unit; u++) {
        temp_k[u] = c->ambient_k;
    }
    for (int round = 0; round < 100; round++) {
        for (size_t u = 0; u < c->n_unit; u++) {
            const int s = c->chip->sm_of_unit[u];
            power_w[u] = c->baseline_w[u] + tmx_plan_leak_w(c, u, temp_k[u]) + (s >= 0 && on[s] ? watt : 0);
        }
        assert_int_equal(t->ops->steady(model, power_w, false, temp_k), TMX_OK);
    }
    for (size_t s = 0; s < c->n_sm; s++) {
        peak_k = fmax(peak_k, temp_k[c->chip->unit_of_sm[s]]);
    }
    t->ops->destroy(model);
    return peak_k - 273.15;
}

static void a_budget_reaches_the_limit_and_more_passes_it(void **state)
{
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    struct tmx_budget_search *search = open_search(&c);
    bool on[N_SM];
    const double w = tmx_budget_worst(search, 15, on);
    tmx_budget_search_destroy(search);
    check_close(hottest_c(&c, run, on, w), 88, 0, 0.01);
    assert_true(hottest_c(&c, run, on, 1.01 * w) > 88.05);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

static void budgets_for_a_while(void **state)
{
    static const struct {
        double horizon_s, chip_w;
    } rows[] = {{0.01, 548.64}, {0.1, 472.15}, {1, 303.79}, {10, 99.72}, {60, 67.09}, {300, 67.09}};
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    struct tmx_modes_view modes;
    bool on[N_SM];
    memset(on, 1, sizeof on);
    tmx_run_gpu_thermal(run, 0)->ops->modes(tmx_run_gpu_thermal(run, 0)->model, 0, &modes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_budget_path path;
        tmx_budget_path_idle(&path, &c, &modes, &at_88, rows[i].horizon_s, &none);
        const double w = tmx_budget_for(&c, &modes, &at_88, on, &path, &none);
        check_close(N_SM * w, rows[i].chip_w, 0.001, 0.05);
        tmx_budget_path_finish(&path);
    }
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

/* Along a path, every pair tried. */
static void check_pairs(const struct tmx_plan_chip *c, const struct tmx_modes_view *modes,
                        const struct tmx_budget_path *path)
{
    double low = INFINITY, high = 0, w;
    bool on[N_SM] = {false};
    for (size_t i = 0; i < N_SM; i++) {
        for (size_t j = i + 1; j < N_SM; j++) {
            on[i] = on[j] = true;
            w = tmx_budget_for(c, modes, &at_88, on, path, &none);
            on[i] = on[j] = false;
            low = fmin(low, w);
            high = fmax(high, w);
        }
    }
    struct tmx_budget_search *search = tmx_budget_search_create(c, &at_88, modes, path, &none);
    check_close(tmx_budget_worst(search, 2, on), low, 1e-9, 0);
    w = tmx_budget_for(c, modes, &at_88, on, path, &none);
    check_close(w, low, 1e-9, 0);
    assert_true(tmx_budget_best(search, 2, on) >= 0.999 * high);
    tmx_budget_search_destroy(search);
}

/* From where a run is: held for the horizon on the run's own back-end, the hottest SM comes to the limit and
 * not beyond; leakage at the limit gives away a little. */
static void a_budget_from_a_state_is_kept(void **state)
{
    static const double horizon_s[] = {0.1, 1, 10};
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    const struct tmx_sim_gpu_thermal *t = tmx_run_gpu_thermal(run, 0);
    struct tmx_modes_view modes;
    double power_w[64], temp_k[64];
    bool on[N_SM];
    memset(on, 1, sizeof on);
    t->ops->modes(t->model, 0, &modes);
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 20000, NULL, NULL), TMX_OK); /* of 1 ms: warm */
    void *now = tmx_run_sim(run)->thermal[0].state;
    void *image = malloc(tmx_image_size(t->ops->image, now)), *copy = NULL;
    tmx_image_save(t->ops->image, now, image);
    assert_int_equal(t->ops->create(t->model, &copy, NULL), TMX_OK);
    for (size_t i = 0; i < sizeof horizon_s / sizeof horizon_s[0]; i++) {
        struct tmx_budget_path path;
        double peak_k = 0;
        tmx_budget_path_run(&path, &c, run, &at_88, horizon_s[i], &none);
        const double w = tmx_budget_for(&c, &modes, &at_88, on, &path, &none);
        check_pairs(&c, &modes, &path);
        tmx_budget_path_finish(&path);
        tmx_image_restore(t->ops->image, copy, image);
        t->ops->read(copy, temp_k);
        for (int k = 0; k < (int)(1000 * horizon_s[i] + 0.5); k++) {
            for (size_t u = 0; u < c.n_unit; u++) {
                power_w[u] = c.baseline_w[u] + tmx_plan_leak_w(&c, u, temp_k[u]) +
                             (c.chip->sm_of_unit[u] >= 0 ? w : 0);
            }
            assert_int_equal(t->ops->step(copy, 1e-3, power_w, temp_k), TMX_OK);
            for (size_t s = 0; s < c.n_sm; s++) {
                peak_k = fmax(peak_k, temp_k[c.chip->unit_of_sm[s]]);
            }
        }
        assert_true(peak_k <= at_88.limit_k + 1e-6);
        assert_true(peak_k >= at_88.limit_k - (horizon_s[i] > 1 ? 3 : 1));
    }
    t->ops->destroy(copy);
    free(image);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

static void leakage_that_runs_away_leaves_no_budget(void **state)
{
    struct tmx_plan_chip c;
    struct tmx_run *run = open_chip(&c);
    struct tmx_err err = {0};
    bool on[N_SM] = {true};
    for (size_t u = 0; u < c.n_unit; u++) {
        c.leak_w[u] *= 6;
    }
    assert_true(tmx_budget_loop_gain(&c, 1, 361.15) > 1);
    assert_true(isnan(tmx_budget_of(&c, &at_88, on, NULL, &err)));
    assert_int_equal(err.code, TMX_ERUNAWAY);
    assert_non_null(strstr(err.msg, "no power holds 88 degC"));
    err.code = TMX_OK;
    assert_null(tmx_budget_search_create(&c, &at_88, NULL, NULL, &err));
    assert_int_equal(err.code, TMX_ERUNAWAY);
    tmx_plan_chip_finish(&c);
    tmx_run_destroy(run);
}

TMX_TESTS(test_budget)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_budgets),
        cmocka_unit_test(a_limit_below_the_idle_chip_leaves_nothing),
        cmocka_unit_test(every_pair_tried),
        cmocka_unit_test(a_budget_reaches_the_limit_and_more_passes_it),
        cmocka_unit_test(budgets_for_a_while),
        cmocka_unit_test(a_budget_from_a_state_is_kept),
        cmocka_unit_test(leakage_that_runs_away_leaves_no_budget),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
