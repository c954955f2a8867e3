/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T^ABS's rules as scenarios: who gets how much after which temperatures. */
#include <string.h>

#include "sched/mix/tabs.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 8, MAX_JOB = 4 };
#define HOT_K  (95 + 273.15)
#define COOL_K (60 + 273.15)

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel;
    struct tmx_machine *m;
    struct tmx_tabs *tabs;
    struct tmx_gpu_request gpu_request;
    struct tmx_request request;
    bool gate[N_SM];
    double sensed_k[N_SM], hottest_k;
    uint64_t tick;
};

static void rig_open(struct rig *r, const double *power_w, size_t n)
{
    struct tmx_job job[MAX_JOB];
    const struct tmx_chip *chip = &r->chip;
    void *state;
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    for (size_t i = 0; i < n; i++) {
        job[i] = tiny_job(&r->kernel, 100, power_w[i], N_SM);
    }
    const struct tmx_machine_spec spec = {
        .chip = &chip, .n_gpu = 1, .job = job, .n_job = n, .dt_s = 0.05, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    assert_int_equal(tmx_plugin_state(&tmx_mix_policies[1]->base, NULL, NULL, &state, NULL), TMX_OK);
    r->tabs = state;
    r->tabs->dvfs_beside = true;
    r->request = (struct tmx_request){.gpu = &r->gpu_request, .gate = r->gate};
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
    free(r->tabs);
}

/* One scheduling tick at this temperature, during which blocks run. */
static void step(struct rig *r, double hottest_k)
{
    for (size_t i = 0; i < N_SM; i++) {
        r->sensed_k[i] = hottest_k - (double)i;
    }
    r->hottest_k = hottest_k;
    const struct tmx_view view = {
        .tick = r->tick, .node = &r->m->view, .sensed_k = r->sensed_k, .hottest_k = &r->hottest_k};
    r->gpu_request =
        (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = r->m->gpu[0].share, .n_active = N_SM};
    tmx_machine_admit(r->m, r->tick);
    for (size_t j = 0; j < r->m->n_arrived; j++) {
        if (r->m->job[j].n_gpu == 0) {
            r->m->job[j].n_gpu = 1;
            assert_true(tmx_machine_enqueue(r->m, j));
        }
    }
    tmx_tabs_decide(r->tabs, &view, &r->request);
    tiny_apply(r->m, &r->request, r->sensed_k);
    for (size_t sm = 0; sm < N_SM; sm++) {
        r->m->share[sm] = r->m->gpu[0].n_run > 0 ? r->m->gpu[0].share : 0;
        r->m->share[r->m->n_sm + sm] = r->m->gpu[0].n_run > 1 ? 1 - r->m->gpu[0].share : 0;
    }
    tiny_advance(r->m, (double)r->tick * 0.05);
    r->tick++;
}

static void warm(struct rig *r) /* first kernel starts, the others are profiled */
{
    step(r, COOL_K);
    for (size_t j = 0; j < r->m->n_job; j++) {
        assert_true(r->m->job[j].pdi_valid);
    }
}

static void proactively_the_hottest_other_kernel_gets_half(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){2, 1, 3}, 3);
    warm(&r);
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 2);
    assert_int_equal(r.m->gpu[0].run[1], 2);
    check_close(r.m->gpu[0].share, 0.5, 0, 0);
    rig_close(&r);
}

static void in_an_emergency_the_coolest_kernel_gets_five_percent_more_a_tick(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 2, 1}, 3);
    warm(&r);
    for (int i = 0; i < 10; i++) {
        step(&r, HOT_K);
        assert_int_equal(r.m->gpu[0].run[1], 2);
        check_close(r.m->gpu[0].share, 0.95 - 0.05 * i, 0, 1e-12);
        assert_int_equal(r.m->gpu[0].level, 0);
    }
    step(&r, HOT_K); /* the first-come kernel is on its 50 % floor: now the clock */
    check_close(r.m->gpu[0].share, 0.5, 0, 1e-12);
    assert_int_equal(r.m->gpu[0].level, 1);
    step(&r, COOL_K); /* the clock comes back first, then the share, up to 95 % */
    assert_int_equal(r.m->gpu[0].level, 0);
    for (int i = 1; i < 12; i++) {
        step(&r, COOL_K);
        check_close(r.m->gpu[0].share, fmin(0.95, 0.5 + 0.05 * i), 0, 1e-12);
    }
    rig_close(&r);
}

static void a_hot_kernel_that_came_second_goes_down_to_five_percent(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){1, 3}, 2);
    warm(&r);
    step(&r, COOL_K);
    check_close(r.m->gpu[0].share, 0.5, 0, 0);
    for (int i = 1; i <= 9; i++) {
        step(&r, HOT_K);
        check_close(r.m->gpu[0].share, 0.5 + 0.05 * i, 0, 1e-12);
        assert_int_equal(r.m->gpu[0].level, 0);
    }
    step(&r, HOT_K);
    check_close(r.m->gpu[0].share, 0.95, 0, 1e-12);
    assert_int_equal(r.m->gpu[0].level, 1);
    step(&r, 88.2 + 273.15); /* between the thresholds nothing moves */
    assert_int_equal(r.m->gpu[0].level, 1);
    step(&r, COOL_K);
    for (int i = 1; i <= 11; i++) {
        step(&r, COOL_K);
        check_close(r.m->gpu[0].share, 0.95 - 0.05 * i, 0, 1e-12); /* to 95 % for the hot one in the end */
    }
    rig_close(&r);
}

static void the_first_come_hot_kernel_keeps_half(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 1}, 2);
    warm(&r);
    step(&r, COOL_K);
    for (int i = 0; i < 5; i++) {
        step(&r, HOT_K);
        check_close(r.m->gpu[0].share, 0.5, 0, 0);
    }
    assert_int_equal(r.m->gpu[0].level, 2); /* the slowest of three */
    rig_close(&r);
}

static void with_dvfs_for_lone_kernels_only_the_floor_is_the_last_measure(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 1}, 2);
    r.tabs->dvfs_beside = false;
    warm(&r);
    step(&r, COOL_K);
    for (int i = 0; i < 5; i++) {
        step(&r, HOT_K);
        check_close(r.m->gpu[0].share, 0.5, 0, 0);
        assert_int_equal(r.m->gpu[0].level, 0);
    }
    rig_close(&r);
}

static void one_kernel_at_a_time_is_dvfs(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 1}, 2);
    r.tabs->kernels = 1;
    warm(&r);
    for (int i = 0; i < 3; i++) {
        step(&r, COOL_K);
    }
    step(&r, HOT_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    assert_int_equal(r.m->gpu[0].level, 1);
    rig_close(&r);
}

static void alike_kernels_are_not_mixed_but_clocked_down(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){2, 2}, 2);
    warm(&r);
    step(&r, HOT_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    assert_int_equal(r.m->gpu[0].level, 1);
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    assert_int_equal(r.m->gpu[0].level, 0);
    rig_close(&r);
}

static void four_bit_indices_cannot_tell_close_kernels_apart(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){2.0, 2.05}, 2);
    r.tabs->pdi_bits = 4;
    warm(&r);
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    r.tabs->pdi_bits = 0;
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 2);
    rig_close(&r);
}

static void a_window_of_one_is_first_come_first_served(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){2, 1, 3}, 3);
    r.tabs->window = 1;
    warm(&r);
    for (int i = 0; i < 5; i++) {
        step(&r, i % 2 ? HOT_K : COOL_K);
        assert_int_equal(r.m->gpu[0].n_run, 1);
    }
    r.tabs->window = 2; /* {0, 1} may mix, {2, 3} may mix: not 0 with 2 */
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].run[1], 1);
    rig_close(&r);
}

static void without_proactive_mixing_a_cool_gpu_runs_one_kernel(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 1}, 2);
    r.tabs->admission = TMX_TABS_REACTIVE;
    warm(&r);
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    step(&r, HOT_K);
    assert_int_equal(r.m->gpu[0].n_run, 2);
    check_close(r.m->gpu[0].share, 0.95, 0, 1e-12);
    rig_close(&r);
}

static void the_survivor_gets_the_whole_gpu(void **state)
{
    struct rig r;
    rig_open(&r, (const double[]){3, 1}, 2);
    r.m->job[0].work_sm_s = 1;
    warm(&r);
    for (int i = 0; i < 60 && r.m->job[0].state != TMX_JOB_DONE; i++) {
        step(&r, COOL_K);
    }
    assert_int_equal(r.m->job[0].state, TMX_JOB_DONE);
    step(&r, COOL_K);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    assert_int_equal(r.m->gpu[0].run[0], 1);
    check_close(r.m->gpu[0].share, 1, 0, 0);
    rig_close(&r);
}

TMX_TESTS(test_tabs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proactively_the_hottest_other_kernel_gets_half),
        cmocka_unit_test(in_an_emergency_the_coolest_kernel_gets_five_percent_more_a_tick),
        cmocka_unit_test(a_hot_kernel_that_came_second_goes_down_to_five_percent),
        cmocka_unit_test(the_first_come_hot_kernel_keeps_half),
        cmocka_unit_test(with_dvfs_for_lone_kernels_only_the_floor_is_the_last_measure),
        cmocka_unit_test(one_kernel_at_a_time_is_dvfs),
        cmocka_unit_test(alike_kernels_are_not_mixed_but_clocked_down),
        cmocka_unit_test(four_bit_indices_cannot_tell_close_kernels_apart),
        cmocka_unit_test(a_window_of_one_is_first_come_first_served),
        cmocka_unit_test(without_proactive_mixing_a_cool_gpu_runs_one_kernel),
        cmocka_unit_test(the_survivor_gets_the_whole_gpu),
    };
    return cmocka_run_group_tests_name("tabs", tests, NULL, NULL);
}
