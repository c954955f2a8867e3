/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T^ABS's decision, row by row and exact: what one scheduling tick asks for, given who runs, who waits,
 * how hot it is. The scenarios over time stand in test_tabs.c. */
#include <thermix/policy.h>

#include "sched/mix/tabs.h"
#include "sched/policies.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 4, N_GPU = 2, N_JOB = 40, N_WAITING = 3, NONE = -1 };

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel;
    struct tmx_machine *m;
    struct tmx_tabs *tabs;
    struct tmx_gpu_request gpu_request[N_GPU];
    struct tmx_request request;
    double hottest_k[N_GPU];
};

static void rig_open(struct rig *r)
{
    struct tmx_job job[N_JOB];
    const struct tmx_chip *chip[N_GPU];
    void *state;
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    for (size_t g = 0; g < N_GPU; g++) {
        chip[g] = &r->chip;
    }
    for (size_t j = 0; j < N_JOB; j++) {
        job[j] = tiny_job(&r->kernel, 1, 1, N_SM);
        job[j].pdi_valid = true;
    }
    const struct tmx_machine_spec spec = {
        .chip = chip, .n_gpu = N_GPU, .job = job, .n_job = N_JOB, .dt_s = 0.05, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    for (size_t j = 0; j < N_JOB; j++) {
        r->m->job[j].queue_order = j;
    }
    assert_int_equal(tmx_plugin_state(&tmx_mix_policies[1]->base, NULL, NULL, &state, NULL), TMX_OK);
    r->tabs = state;
    r->tabs->dvfs_beside = true;
    r->request = (struct tmx_request){.gpu = r->gpu_request};
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
    free(r->tabs);
}

/* GPU g runs job 0, or 0 and 1; waiting are the jobs from 1 or 2 on. */
static void load(struct rig *r, size_t g, size_t n_run, size_t n_waiting)
{
    struct tmx_gpu *gpu = &r->m->gpu[g];
    gpu->n_run = n_run;
    gpu->n_queue = n_waiting;
    for (size_t k = 0; k < n_run; k++) {
        gpu->run[k] = k;
    }
    for (size_t q = 0; q < n_waiting; q++) {
        gpu->queue[q] = n_run + q;
    }
}

static struct tmx_gpu_request ask(struct rig *r, size_t g)
{
    const struct tmx_view view = {.node = &r->m->view, .hottest_k = r->hottest_k};
    for (size_t i = 0; i < N_GPU; i++) { /* as the loop starts a request */
        r->gpu_request[i] = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = r->m->gpu[i].share};
    }
    tmx_tabs_decide(r->tabs, &view, &r->request);
    return r->gpu_request[g];
}

/* One kernel runs (pdi[0]); pdi[1..] wait, 0 ends them. */
static const struct {
    double pdi[1 + N_WAITING], temp_c;
    size_t level;
    int admit; /* which waiting kernel, counted from 1 */
    double share;
    size_t want_level;
} one_rows[] = {
    {{2}, 88.7, 0, NONE, 1, 1}, /* nobody waits: DVFS, at the threshold itself */
    {{2}, 88.699, 0, NONE, 1, 0},
    {{2}, 88.7, 2, NONE, 1, 2}, /* the slowest of three */
    {{2}, 86.6, 1, NONE, 1, 1}, /* between the thresholds, and at the lower one: as it is */
    {{2}, 86.599, 2, NONE, 1, 1},
    {{2, 2}, 95, 0, NONE, 1, 1}, /* alike: DVFS */
    {{2, 2}, 60, 2, NONE, 1, 1},
    {{2, 1}, 88.7, 0, 1, 0.95, 0}, /* emergency: the least pdi, 5 % for it */
    {{2, 1.5, 1, 1.2}, 95, 0, 2, 0.95, 0},
    {{2, 1, 1, 1.2}, 95, 0, 1, 0.95, 0}, /* the first among equals */
    {{2, 3, 1}, 95, 0, 2, 0.95, 0},
    {{2, 3, 4}, 95, 0, NONE, 1, 1},   /* only hotter ones wait: DVFS */
    {{2, 1}, 95, 2, 1, 0.95, 2},      /* the clock stays as it is when a kernel comes in */
    {{2, 1}, 88.699, 0, 1, 0.5, 0},   /* no emergency: the largest pdi, half for it */
    {{2, 1, 3, 3}, 60, 0, 2, 0.5, 0}, /* the first among equals */
    {{2, 3, 1}, 60, 1, 1, 0.5, 1},
    {{3, 1, 2, 1.5}, 60, 0, 2, 0.5, 0},
};

static void one_kernel_running(void **state)
{
    struct rig r;
    rig_open(&r);
    for (size_t i = 0; i < sizeof one_rows / sizeof one_rows[0]; i++) {
        size_t n = 0;
        while (n < N_WAITING && one_rows[i].pdi[1 + n] > 0) {
            n++;
        }
        for (size_t j = 0; j <= n; j++) {
            r.m->job[j].pdi_w = one_rows[i].pdi[j];
        }
        for (size_t g = 0; g < N_GPU; g++) { /* the other GPU is idle, cold or hot */
            load(&r, g, 1, n);
            load(&r, 1 - g, 0, 0);
            r.hottest_k[g] = one_rows[i].temp_c + TMX_ZERO_C;
            r.hottest_k[1 - g] = (one_rows[i].temp_c > 88 ? 50 : 95) + TMX_ZERO_C;
            r.m->gpu[g].level = one_rows[i].level;
            r.m->gpu[g].share = 1;
            const struct tmx_gpu_request a = ask(&r, g);
            if (a.level != one_rows[i].want_level || a.share != one_rows[i].share ||
                a.admit != (one_rows[i].admit == NONE ? TMX_NO_JOB : (size_t)one_rows[i].admit)) {
                fail_msg("row %zu, GPU %zu: admit %zu, share %g, level %zu", i, g, a.admit, a.share, a.level);
            }
            assert_true(r.gpu_request[1 - g].admit == TMX_NO_JOB && r.gpu_request[1 - g].level == 0);
        }
    }
    rig_close(&r);
}

/* Two kernels run; shares are of the first. */
static const struct {
    double pdi0, pdi1, temp_c;
    size_t level;
    double share, want_share;
    size_t want_level;
} two_rows[] = {
    /* the first one is hotter: down to its 50 %, then the clock */
    {3, 1, 88.7, 0, 0.95, 0.90, 0},
    {3, 1, 88.699, 0, 0.95, 0.95, 0},
    {3, 1, 95, 1, 0.70, 0.65, 1}, /* shares first, whatever the clock */
    {3, 1, 95, 0, 0.53, 0.50, 0}, /* never below the floor */
    {3, 1, 95, 0, 0.50, 0.50, 1},
    {3, 1, 95, 2, 0.50, 0.50, 2},
    /* and back: the clock one level a tick, then the share up to 95 % */
    {3, 1, 86.6, 2, 0.50, 0.50, 2},
    {3, 1, 86.599, 2, 0.50, 0.50, 1},
    {3, 1, 60, 1, 0.50, 0.50, 0},
    {3, 1, 60, 0, 0.50, 0.55, 0},
    {3, 1, 86.6, 0, 0.50, 0.50, 0},
    {3, 1, 60, 0, 0.93, 0.95, 0},
    {3, 1, 60, 0, 0.95, 0.95, 0},
    /* the second one is hotter: the first gets up to 95 % */
    {1, 3, 88.7, 0, 0.50, 0.55, 0},
    {1, 3, 95, 0, 0.93, 0.95, 0},
    {1, 3, 95, 0, 0.95, 0.95, 1},
    {1, 3, 60, 0, 0.95, 0.90, 0},
    {1, 3, 60, 0, 0.52, 0.47, 0},
    {1, 3, 60, 0, 0.07, 0.05, 0},
    {1, 3, 60, 0, 0.05, 0.05, 0},
    /* equal indices count as the first being hotter */
    {2, 2, 95, 0, 0.95, 0.90, 0},
};

static void two_kernels_running(void **state)
{
    struct rig r;
    rig_open(&r);
    for (size_t i = 0; i < sizeof two_rows / sizeof two_rows[0]; i++) {
        r.m->job[0].pdi_w = two_rows[i].pdi0;
        r.m->job[1].pdi_w = two_rows[i].pdi1;
        r.m->job[2].pdi_w = 2.5; /* waits, and has to */
        for (size_t g = 0; g < N_GPU; g++) {
            load(&r, g, 2, 1);
            load(&r, 1 - g, 0, 0);
            r.hottest_k[g] = two_rows[i].temp_c + TMX_ZERO_C;
            r.hottest_k[1 - g] = (two_rows[i].temp_c > 88 ? 50 : 95) + TMX_ZERO_C;
            r.m->gpu[g].level = two_rows[i].level;
            r.m->gpu[g].share = two_rows[i].share;
            const struct tmx_gpu_request a = ask(&r, g);
            if (a.admit != TMX_NO_JOB || a.level != two_rows[i].want_level ||
                fabs(a.share - two_rows[i].want_share) > 1e-12) {
                fail_msg("row %zu, GPU %zu: admit %zu, share %g, level %zu", i, g, a.admit, a.share, a.level);
            }
        }
    }
    rig_close(&r);
}

static void both_gpus_decide_by_their_own_sensors(void **state)
{
    struct rig r;
    rig_open(&r);
    r.m->job[0].pdi_w = 3;
    r.m->job[1].pdi_w = 1;
    for (size_t g = 0; g < N_GPU; g++) {
        load(&r, g, 1, 1);
    }
    r.hottest_k[0] = 60 + TMX_ZERO_C;
    r.hottest_k[1] = 95 + TMX_ZERO_C;
    ask(&r, 0);
    check_close(r.gpu_request[0].share, 0.5, 0, 0);
    check_close(r.gpu_request[1].share, 0.95, 0, 0);
    rig_close(&r);
}

/* Windows of N arrivals do not overlap: with 32, job 31 may join job 0, job 32 may not. */
static void only_kernels_of_one_window_of_32_arrivals_meet(void **state)
{
    static const struct {
        size_t runs, waits;
        bool meet;
    } rows[] = {{0, 31, true}, {0, 32, false}, {31, 32, false}, {32, 33, true}, {31, 30, true}};
    struct rig r;
    rig_open(&r);
    r.hottest_k[0] = 60 + TMX_ZERO_C;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        load(&r, 0, 1, 1);
        r.m->gpu[0].run[0] = rows[i].runs;
        r.m->gpu[0].queue[0] = rows[i].waits;
        r.m->job[rows[i].runs].pdi_w = 1;
        r.m->job[rows[i].waits].pdi_w = 2;
        assert_int_equal(ask(&r, 0).admit, rows[i].meet ? rows[i].waits : TMX_NO_JOB);
    }
    rig_close(&r);
}

static void a_kernel_without_a_profile_waits(void **state)
{
    struct rig r;
    rig_open(&r);
    load(&r, 0, 1, 2);
    r.m->job[0].pdi_w = 2;
    r.m->job[1].pdi_w = 4; /* the larger one, but nobody knows yet */
    r.m->job[2].pdi_w = 3;
    r.m->job[1].pdi_valid = false;
    assert_int_equal(ask(&r, 0).admit, 2);
    r.m->job[1].pdi_valid = true;
    assert_int_equal(ask(&r, 0).admit, 1);
    rig_close(&r);
}

/* The stat table of section 3.3: codes 0..15 of 4 W, rounded, saturated. */
static void indices_of_four_bits(void **state)
{
    static const struct {
        double runs_w, waits_w;
        bool meet;
    } rows[] = {
        {2.00, 2.10, false}, /* 7.5 and 7.875: both code 8 */
        {1.98, 2.02, true},  /* 7.4 -> 7, 7.6 -> 8 */
        {0.13, 0.10, false}, /* both 0 */
        {0.13, 0.14, true},  /* 0.49 -> 0, 0.53 -> 1 */
        {4.00, 6.00, false}, /* 15 is the end */
        {3.80, 4.00, true},  /* 14 and 15 */
    };
    struct rig r;
    rig_open(&r);
    load(&r, 0, 1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r.m->job[0].pdi_w = rows[i].runs_w;
        r.m->job[1].pdi_w = rows[i].waits_w;
        r.tabs->pdi_bits = 0;
        assert_int_equal(ask(&r, 0).admit, 1); /* reals tell all of them apart */
        r.tabs->pdi_bits = 4;
        assert_int_equal(ask(&r, 0).admit, rows[i].meet ? 1 : TMX_NO_JOB);
    }
    rig_close(&r);
}

static void alike_is_a_fraction_of_the_larger_index(void **state)
{
    static const double rows[][3] = {/* runs, waits, meet */
                                     {1, 1.2, 0},
                                     {1.2, 1, 0},
                                     {1, 1.26, 1},
                                     {1.26, 1, 1},
                                     {1, 1.24, 0}};
    struct rig r;
    rig_open(&r);
    load(&r, 0, 1, 1);
    r.tabs->alike = 0.2;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r.m->job[0].pdi_w = rows[i][0];
        r.m->job[1].pdi_w = rows[i][1];
        assert_int_equal(ask(&r, 0).admit, rows[i][2] > 0 ? 1 : TMX_NO_JOB);
    }
    rig_close(&r);
}

static void the_numbers_of_the_paper_and_the_readings_of_the_main_table_are_the_defaults(void **state)
{
    for (size_t p = 1; tmx_mix_policies[p]; p++) {
        void *s;
        if (tmx_mix_policies[p]->base.opts != tmx_tabs_opts) {
            continue; /* of T^ABS's family alone */
        }
        assert_int_equal(tmx_plugin_state(&tmx_mix_policies[p]->base, NULL, NULL, &s, NULL), TMX_OK);
        const struct tmx_tabs *t = s;
        check_close(t->emergency_c, 88.7, 0, 0);
        check_close(t->release_c, 86.6, 0, 0);
        check_close(t->initial_share, 0.05, 0, 0);
        check_close(t->step, 0.05, 0, 0);
        check_close(t->first_floor, 0.5, 0, 0);
        check_close(t->alike, 0, 0, 0);
        check_close(t->slice_s, 5e-4, 0, 0);
        assert_int_equal(t->window, 32);
        assert_int_equal(t->pdi_bits, 0);
        assert_int_equal(t->admission, TMX_TABS_PROACTIVE);
        assert_int_equal(t->places, TMX_TABS_CORNERS);
        assert_false(t->dvfs_beside);
        check_close(t->admit_share, 0.5, 0, 0);
        check_close(t->most, 0.95, 0, 0);
        free(s);
    }
}

static void first_come_first_served_asks_for_nothing(void **state)
{
    struct rig r;
    rig_open(&r);
    const struct tmx_view view = {.node = &r.m->view, .hottest_k = r.hottest_k};
    load(&r, 0, 1, 2);
    r.m->job[1].pdi_w = 9;
    for (int hot = 0; hot < 2; hot++) {
        r.hottest_k[0] = (hot ? 95 : 60) + TMX_ZERO_C;
        r.gpu_request[0] = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = 1};
        tmx_mix_policies[0]->decide(NULL, &view, &r.request);
        assert_true(r.gpu_request[0].admit == TMX_NO_JOB && r.gpu_request[0].level == 0);
    }
    rig_close(&r);
}

TMX_TESTS(test_rules)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kernel_running),
        cmocka_unit_test(two_kernels_running),
        cmocka_unit_test(both_gpus_decide_by_their_own_sensors),
        cmocka_unit_test(only_kernels_of_one_window_of_32_arrivals_meet),
        cmocka_unit_test(a_kernel_without_a_profile_waits),
        cmocka_unit_test(indices_of_four_bits),
        cmocka_unit_test(alike_is_a_fraction_of_the_larger_index),
        cmocka_unit_test(the_numbers_of_the_paper_and_the_readings_of_the_main_table_are_the_defaults),
        cmocka_unit_test(first_come_first_served_asks_for_nothing),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
