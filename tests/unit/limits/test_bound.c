/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bound: known optima, prices that anybody can check, and what it must be monotone in. */
#include "limits/bound.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/open_run.h"

static struct tmx_err none; /* stays */

static struct tmx_run *open_mix(const char *mix, const char *more)
{
    /* the chip's own machine; the long warm-up and work do not matter for a bound */
    return open_run("mix = \"%s\"; seed = 1; tick_s = 0.005; %s", mix, more);
}

static struct tmx_gap judge(const struct tmx_run *run, struct tmx_bound_options o)
{
    struct tmx_gap j;
    struct tmx_err err = {0};
    o.sm_leak = o.sm_leak > 0 ? o.sm_leak : 1;
    if (tmx_gap_init(&j, run, &o, &err)) {
        fail_msg("%s", err.msg);
    }
    return j;
}

static double slowdown_pct(const struct tmx_run *run, struct tmx_bound_options o)
{
    struct tmx_gap j = judge(run, o);
    const double s = 100 * (1 - j.bound.speed);
    tmx_gap_finish(&j);
    return s;
}

static void bounds_of_the_main_table(void **state)
{
    static const struct {
        const char *mix;
        double both, uniform, one_level, feasible, peak_c;
    } rows[] = {{"WL3", 0, 0.427, 0, 0, 90.00},
                {"WL7", 11.827, 12.493, 15.128, 11.865, 90.013},
                {"WL8", 5.220, 5.982, 8.275, 5.244, 90.010},
                {"WL9", 0.774, 0.809, 0.965, 0.777, 90.001}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_run *run = open_mix(rows[i].mix, "");
        struct tmx_gap j = judge(run, (struct tmx_bound_options){0});
        struct tmx_bound_options o = {.limit_k = 363.15, .sm_leak = 1};
        double feasible, peak_k;
        check_close(100 * (1 - j.bound.speed), rows[i].both, 0, 0.005);
        assert_true(j.bound.certificate >= 0 && j.bound.certificate <= 1e-9);
        check_close(slowdown_pct(run, (struct tmx_bound_options){.uniform = true}), rows[i].uniform, 0, 0.01);
        check_close(slowdown_pct(run, (struct tmx_bound_options){.one_level = true}), rows[i].one_level, 0,
                    0.01);
        assert_int_equal(tmx_bound_steady_peak(&j.bound, &j.chip, &j.work, 1, &peak_k, &none), TMX_OK);
        check_close(peak_k - 273.15, rows[i].peak_c, 0, 0.005);
        assert_int_equal(tmx_bound_feasible(&feasible, &j.chip, &j.work, &o, &none), TMX_OK);
        check_close(100 * (1 - feasible), rows[i].feasible, 0, 0.01);
        if (i == 2) {
            check_close(tmx_bound_level_share(&j.bound, 1), 0.029, 0, 0.01);
            check_close(tmx_bound_level_share(&j.bound, 2), 0.971, 0, 0.01);
        }
        tmx_gap_finish(&j);
        tmx_run_destroy(run);
    }
}

static void any_prices_give_a_valid_bound(void **state)
{
    struct tmx_run *run = open_mix("WL7", "");
    struct tmx_gap j = judge(run, (struct tmx_bound_options){0});
    struct tmx_bound *b = &j.bound;
    double *d = malloc(b->lp.n_row * sizeof *d);
    double least = INFINITY;
    srand(7);
    for (int draw = 0; draw < 100; draw++) {
        for (size_t i = 0; i < b->lp.n_row; i++) {
            d[i] = b->dual[i] * (0.9 + 0.2 * rand() / RAND_MAX);
        }
        least = fmin(least, tmx_lp_bound(&b->lp, d, NULL));
    }
    assert_true(least >= b->objective);
    assert_true(least > b->objective + 1e-3); /* the draws did something */
    memset(d, 0, b->lp.n_row * sizeof *d);
    check_close(tmx_lp_bound(&b->lp, d, NULL), 1, 0, 1e-12); /* no prices: no slowdown, true of everything */
    for (size_t i = 0; i < b->lp.n_row; i++) {
        d[i] = b->lp.equal[i] ? b->dual[i] : -1; /* a negative price of a row with <= is taken as none */
    }
    assert_true(tmx_lp_bound(&b->lp, d, NULL) >= b->objective);
    free(d);
    /* the optimum keeps every row; a little more of it does not */
    double worst = 0, more = 0;
    for (size_t i = 0; i < b->lp.n_row; i++) {
        const double slack = tmx_lp_slack(&b->lp, i, b->x);
        worst = fmin(worst, b->lp.equal[i] ? -fabs(slack) : slack);
    }
    assert_true(worst > -1e-6);
    for (size_t c = 0; c < b->y0; c++) {
        b->x[c] *= 1.001;
    }
    for (size_t i = 0; i < b->lp.n_row; i++) {
        const double slack = tmx_lp_slack(&b->lp, i, b->x);
        more = fmin(more, b->lp.equal[i] ? -fabs(slack) : slack);
    }
    assert_true(more < -1e-4);
    tmx_gap_finish(&j);
    tmx_run_destroy(run);
}

static void bounds_move_the_right_way(void **state)
{
    static const double one[] = {85 + 273.15}, three[] = {75 + 273.15, 82 + 273.15, 90 + 273.15};
    double many[24];
    struct tmx_run *run = open_mix("WL8", ""), *cool = open_mix("WL8", "package = { r_convec = 0.245; };");
    const double twelve = slowdown_pct(run, (struct tmx_bound_options){0});
    for (int i = 0; i < 24; i++) {
        many[i] = 273.15 + 70 + 20.0 * i / 23;
    }
    const double s1 = slowdown_pct(run, (struct tmx_bound_options){.tangent_k = one, .n_tangent = 1});
    const double s3 = slowdown_pct(run, (struct tmx_bound_options){.tangent_k = three, .n_tangent = 3});
    const double s24 = slowdown_pct(run, (struct tmx_bound_options){.tangent_k = many, .n_tangent = 24});
    assert_true(s1 < s3 && s3 < twelve && twelve <= s24 + 1e-9 && s24 < twelve + 0.002);
    assert_true(slowdown_pct(run, (struct tmx_bound_options){.limit_k = 362.15}) > twelve + 0.1);
    assert_true(slowdown_pct(run, (struct tmx_bound_options){.limit_k = 364.15}) < twelve - 0.1);
    check_close(slowdown_pct(run, (struct tmx_bound_options){.sm_leak = 0.9}), 2.512, 0, 0.01);
    const double colder = slowdown_pct(cool, (struct tmx_bound_options){0});
    check_close(colder, 1.451, 0, 0.01);
    assert_true(colder < twelve - 0.5);
    tmx_run_destroy(run);
    tmx_run_destroy(cool);
}

/* Leakage that grows faster than the package sheds: the optimum stays below the limit, where it still has a
 * steady state. Values: suite tabs-leaky. */
static void runaway_leakage_has_a_bound_too(void **state)
{
    struct tmx_run *run = open_mix(
        "WL7", "chip_power = { baseline_w = 0.15; leakage_w = 70.75; leakage_exp_per_k = 0.0551; "
               "leakage_sm_share = -1.0; baseline_sm_share = 0.0; dvfs_power = \"f\"; }; "
               "package = { t_chip = 0.00015; k_chip = 130.0; p_chip = 1.63e6; t_interface = 2.0e-5; "
               "k_interface = 3.0; p_interface = 4.0e6; s_spreader = 0.04; t_spreader = 0.002; "
               "k_spreader = 5000.0; p_spreader = 3.55e6; s_sink = 0.06; t_sink = 0.0069; k_sink = 400.0; "
               "p_sink = 3.55e6; r_convec = 0.25; c_convec = 2.0; ambient = 318.15; };");
    const struct tmx_bound_options o = {.limit_k = 363.15, .sm_leak = 1};
    struct tmx_gap j = judge(run, o);
    double feasible, peak_k;
    assert_int_equal(tmx_bound_steady_peak(&j.bound, &j.chip, &j.work, 1, &peak_k, &none), TMX_OK);
    assert_int_equal(tmx_bound_feasible(&feasible, &j.chip, &j.work, &o, &none), TMX_OK);
    assert_true(isinf(peak_k) && j.bound.certificate >= 0 && j.bound.certificate < 1e-6);
    check_close(100 * (1 - j.bound.speed), 10.823, 0, 0.01);
    check_close(100 * (1 - feasible), 12.388, 0, 0.02);
    tmx_gap_finish(&j);
    tmx_run_destroy(run);
}

static void no_leakage(const void *table, size_t n, const double *temp_k, double *factor)
{
    (void)table;
    (void)temp_k;
    for (size_t i = 0; i < n; i++) {
        factor[i] = 0;
    }
}

/* Two SMs that can be solved by hand: 45 K of headroom, 20 W a busy SM. */
static void two_sms_by_hand(void **state)
{
    static int sm_of_unit[] = {0, 1};
    static size_t unit_of_sm[] = {0, 1};
    static double part[] = {1, 1}, zero[] = {0, 0};
    /* a second level of half the clock and 0.81 of the voltage squared: a kernel that waits for memory all
     * the time keeps its speed there at 0.81 of its watts; 60 K at level 0, 45 allowed */
    static const struct {
        double A[4];
        size_t n_level;
        double waits, speed;
    } rows[] = {{{2, 1, 1, 2}, 1, 0, 0.75},
                {{3, 1, 1, 2}, 1, 0, 0.675},
                {{2, 1, 1, 2}, 2, 1, 45 / 48.6},
                {{2, 1, 1, 2}, 2, 0.5, 12.6 / 27.6 + 15 / 27.6 * 2 / 3},
                {{2, 1, 1, 2}, 2, 0, 20.7 / 35.7 + 15 / 35.7 * 0.5}};
    const struct tmx_chip chip = {.name = "two",
                                  .n_sm = 2,
                                  .n_level = 2,
                                  .sm_of_unit = sm_of_unit,
                                  .unit_of_sm = unit_of_sm,
                                  .part_share = part};
    double sm_w[] = {20}, work_s[] = {10};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double A[4], waits[] = {rows[i].waits};
        memcpy(A, rows[i].A, sizeof A);
        const struct tmx_plan_chip c = {.n_unit = 2,
                                        .n_sm = 2,
                                        .n_level = rows[i].n_level,
                                        .influence = A,
                                        .baseline_w = zero,
                                        .leak_w = zero,
                                        .ambient_k = 318.15,
                                        .factors = no_leakage,
                                        .chip = &chip,
                                        .speed = {1, 0.5},
                                        .dynamic = {1, 0.405},
                                        .leak = {1, 0.9}};
        const struct tmx_work w = {
            .n = 1, .sm_w = sm_w, .waits = waits, .work_s = work_s, .sum_s = 10, .gain = 1};
        const struct tmx_bound_options o = {.limit_k = 363.15, .sm_leak = 1};
        struct tmx_bound b;
        assert_int_equal(tmx_bound_init(&b, &c, &w, &o, &none), TMX_OK);
        check_close(b.speed, rows[i].speed, 0, 1e-9);
        tmx_bound_finish(&b);
    }
}

/* One row, so wide: maximise x0 + x1 / 2 with x0 + x1 <= rhs in a box of [0, 1]. */
static double best_of(struct tmx_lp_cache *solved, double rhs, double dual[1])
{
    struct tmx_lp lp;
    double x[2], objective;
    tmx_lp_init(&lp, 2, &none);
    lp.cost[0] = 1;
    lp.cost[1] = 0.5;
    (void)tmx_lp_row(&lp, rhs, false);
    tmx_lp_add(&lp, 0, 1);
    tmx_lp_add(&lp, 1, 1);
    tmx_lp_cache_lp(solved, &lp, x, dual, &objective, &none);
    assert_int_equal(none.code, TMX_OK);
    assert_true(x[0] + x[1] <= rhs + 1e-9);
    tmx_lp_finish(&lp);
    return objective;
}

/* What has been solved is known again, and nothing else is taken for it, also when the first ones had to go.
 */
static void solved_programmes_are_kept(void **state)
{
    enum { N = 300 };
    struct tmx_lp_cache *s = tmx_lp_cache_create();
    double dual[1], again[1];
    assert_non_null(s);
    for (size_t i = 0; i < N; i++) {
        const double rhs = 1 + 0.9 * (double)i / N;
        check_close(best_of(s, rhs, dual), 1 + (rhs - 1) / 2, 0, 1e-9);
        check_close(best_of(s, rhs, again), best_of(NULL, rhs, dual), 0, 0);
        assert_true(dual[0] == again[0]);
    }
    assert_int_equal(tmx_lp_cache_new(s), N);
    (void)best_of(s, 1, dual);
    assert_int_equal(tmx_lp_cache_new(s), N + 1);
    tmx_lp_cache_destroy(s);
}

static void judge_tick(void *ctx, const struct tmx_sim *sim)
{
    tmx_gap_tick(ctx, sim);
}

/* Whatever a run did, its losses sum to its gap, and each but the stored heat costs something. */
static void losses_sum_to_the_gap(void **state)
{
    static const char *const policies[] = {"BL", "DVFS", "MNU"};
    for (size_t i = 0; i < 3; i++) {
        char more[96];
        double pct[TMX_N_GAP_CAUSE], sum = 0;
        snprintf(more, sizeof more, "policy = \"%s\"; warmup_s = 40.0;", policies[i]);
        struct tmx_run *run = open_mix(TMX_SOURCE_DIR "/tests/golden/tabs_small/hot_hot.cfg", more);
        struct tmx_gap j = judge(run, (struct tmx_bound_options){0});
        const struct tmx_observer observer = {.ctx = &j, .tick = judge_tick};
        assert_int_equal(tmx_run_execute(run, &observer, NULL), TMX_OK);
        tmx_gap_losses(&j, run, pct);
        check_close(pct[TMX_GAP_BOUND] + pct[TMX_GAP_TOTAL], tmx_run_metric(run, &tmx_metrics[0]), 0, 1e-9);
        for (size_t l = TMX_GAP_IDLE; l < TMX_N_GAP_CAUSE; l++) {
            sum += pct[l];
            assert_true(pct[l] > -1e-3 || l == TMX_GAP_STORED);
        }
        check_close(sum, pct[TMX_GAP_TOTAL], 0, 1e-6);
        assert_true(pct[TMX_GAP_TOTAL] > 0.1);
        tmx_gap_finish(&j);
        tmx_run_destroy(run);
    }
}

static void a_build_without_solver_says_so(void **state)
{
    struct tmx_run *run = open_mix("WL7", "");
    struct tmx_gap j;
    struct tmx_err err = {0};
    const struct tmx_bound_options o = {.sm_leak = 1};
    assert_int_equal(tmx_gap_init(&j, run, &o, &err), TMX_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "GLPK"));
    tmx_gap_finish(&j);
    tmx_run_destroy(run);
}

static void kernels_that_heat_more_than_sms_have_no_bound(void **state)
{
    struct tmx_run *run = open_mix(
        "aw1", "chip = \"v100\"; rows = 4; cols = 4; throttle = { trip_c = 85.0; release_c = 80.0; };");
    struct tmx_work w;
    struct tmx_err err = {0};
    assert_int_equal(tmx_work_init(&w, run, &err), TMX_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "heats more than SMs"));
    tmx_work_finish(&w);
    tmx_run_destroy(run);
}

TMX_TESTS(test_bound)
{
    const struct CMUnitTest with[] = {
        cmocka_unit_test(bounds_of_the_main_table),
        cmocka_unit_test(any_prices_give_a_valid_bound),
        cmocka_unit_test(bounds_move_the_right_way),
        cmocka_unit_test(two_sms_by_hand),
        cmocka_unit_test(solved_programmes_are_kept),
        cmocka_unit_test(losses_sum_to_the_gap),
        cmocka_unit_test(runaway_leakage_has_a_bound_too),
        cmocka_unit_test(kernels_that_heat_more_than_sms_have_no_bound),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(a_build_without_solver_says_so)};
    return tmx_lp_has_solver() ? cmocka_run_group_tests_name("bound", with, NULL, NULL)
                               : cmocka_run_group_tests_name("bound", without, NULL, NULL);
}
