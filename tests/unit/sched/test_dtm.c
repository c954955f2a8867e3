/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temperature managers and thread-block orders, row by row and exact, on two GPUs at once. */
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "core/floorplan/chip.h"
#include "sched/policies.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 4, N_GPU = 2, N = N_SM * N_GPU };

struct rig {
    struct tmx_chip chip;
    struct tmx_machine *m;
    struct tmx_gpu_request gpu_request[N_GPU];
    struct tmx_request request;
    bool gate[N];
    double sensed_k[N], hottest_k[N_GPU];
    struct tmx_view view;
};

static void rig_open(struct rig *r)
{
    const struct tmx_chip *chip[N_GPU];
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    for (size_t g = 0; g < N_GPU; g++) {
        chip[g] = &r->chip;
        r->hottest_k[g] = 60 + TMX_ZERO_C;
    }
    const struct tmx_machine_spec spec = {.chip = chip, .n_gpu = N_GPU, .dt_s = 0.05, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    r->request = (struct tmx_request){.gpu = r->gpu_request, .gate = r->gate};
    r->view = (struct tmx_view){.node = &r->m->view, .sensed_k = r->sensed_k, .hottest_k = r->hottest_k};
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

static const struct tmx_dtm_policy *policy(const char *name, const char *option, void **state)
{
    size_t i = 0;
    while (strcmp(tmx_dtm_policies[i]->base.name, name) != 0) {
        i++;
    }
    struct tmx_config *cfg = NULL;
    assert_int_equal(tmx_config_parse(&cfg, option, "test", NULL), TMX_OK);
    assert_int_equal(tmx_plugin_state(&tmx_dtm_policies[i]->base, tmx_config_root(cfg), NULL, state, NULL),
                     TMX_OK);
    tmx_config_close(cfg);
    return tmx_dtm_policies[i];
}

/* Three levels; down at or above 88.7 degC, up below 86.6: that pair is the default. */
static const struct {
    double temp_c;
    size_t level, want;
} level_rows[] = {
    {95, 0, 1},     {95, 1, 2},     {95, 2, 2},   {88.7, 0, 1}, {88.7, 1, 2},
    {88.699, 0, 0}, {88.4, 1, 1},   {86.6, 1, 1}, {86.6, 2, 2}, {86.599, 1, 0},
    {86.599, 2, 1}, {86.599, 0, 0}, {60, 2, 1},   {60, 1, 0},   {88.699, 2, 2},
};

static void dvfs_moves_one_level_a_tick_between_its_thresholds(void **state)
{
    struct rig r;
    void *s;
    rig_open(&r);
    const struct tmx_dtm_policy *p = policy("dvfs", "", &s);
    for (size_t i = 0; i < sizeof level_rows / sizeof level_rows[0]; i++) {
        const double k = level_rows[i].temp_c + TMX_ZERO_C;
        r.m->gpu[0].level = level_rows[i].level;
        assert_int_equal(tmx_level_next(&r.m->gpu[0].view, k, 88.7, 86.6), level_rows[i].want);
        for (size_t g = 0; g < N_GPU; g++) {
            memset(r.gpu_request, 0, sizeof r.gpu_request);
            r.m->gpu[g].level = level_rows[i].level;
            r.m->gpu[1 - g].level = 0;
            r.hottest_k[g] = k;
            r.hottest_k[1 - g] = (level_rows[i].want > level_rows[i].level ? 60 : 87.8) + TMX_ZERO_C;
            p->govern(s, &r.view, &r.request);
            assert_int_equal(r.gpu_request[g].level, level_rows[i].want);
            assert_int_equal(r.gpu_request[1 - g].level, 0);
        }
    }
    free(s);
    rig_close(&r);
}

static void dvfs_may_only_lower_what_another_policy_asked_for(void **state)
{
    struct rig r;
    void *s;
    rig_open(&r);
    const struct tmx_dtm_policy *p = policy("dvfs", "", &s);
    r.gpu_request[0].level = 2;
    p->govern(s, &r.view, &r.request); /* cool: would run at level 0 */
    assert_int_equal(r.gpu_request[0].level, 2);
    free(s);
    rig_close(&r);
}

/* One SM through time: trips at 90, stays gated down to 85, runs on up to 90. */
static const struct {
    double temp_c;
    bool gated;
} throttle_rows[] = {
    {60, false},     {89.999, false}, {90, true},    {95, true}, {89, true}, {85, true},
    {84.999, false}, {85.5, false},   {89.9, false}, {90, true}, {85, true}, {60, false},
};

static void with_scope_sm_an_sm_trips_at_90_and_runs_again_below_85(void **state)
{
    for (size_t sm = 0; sm < N; sm++) {
        struct rig r;
        void *s;
        rig_open(&r);
        const struct tmx_dtm_policy *p = policy("throttle", "scope = \"sm\";", &s);
        for (size_t i = 0; i < N; i++) {
            r.sensed_k[i] = 89 + TMX_ZERO_C; /* near the limit, never at it */
        }
        for (size_t t = 0; t < sizeof throttle_rows / sizeof throttle_rows[0]; t++) {
            r.sensed_k[sm] = throttle_rows[t].temp_c + TMX_ZERO_C;
            r.hottest_k[sm / N_SM] = fmax(r.sensed_k[sm], 89 + TMX_ZERO_C);
            p->guard(s, &r.view, &r.request);
            for (size_t i = 0; i < N; i++) {
                assert_int_equal(r.gate[i], i == sm && throttle_rows[t].gated);
            }
        }
        free(s);
        rig_close(&r);
    }
}

static void by_default_the_hottest_sm_gates_all_of_its_own_chip(void **state)
{
    struct rig r;
    void *s;
    rig_open(&r);
    const struct tmx_dtm_policy *p = policy("throttle", "", &s);
    for (size_t i = 0; i < N; i++) {
        r.sensed_k[i] = 60 + TMX_ZERO_C;
    }
    for (size_t t = 0; t < sizeof throttle_rows / sizeof throttle_rows[0]; t++) {
        r.hottest_k[1] = r.sensed_k[N_SM] = throttle_rows[t].temp_c + TMX_ZERO_C;
        p->guard(s, &r.view, &r.request);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(r.gate[i], i >= N_SM && throttle_rows[t].gated);
        }
    }
    free(s);
    rig_close(&r);
}

static void ascending_order_keeps_ties_in_the_order_of_the_index(void **state)
{
    static const double key[] = {3, 1, 2, 1, 3, 0};
    static const size_t want[] = {5, 1, 3, 2, 0, 4};
    size_t order[6];
    tmx_rank_ascending(key, 6, order);
    assert_memory_equal(order, want, sizeof want);
}

static void thread_blocks_go_to_the_coldest_sms_or_by_index(void **state)
{
    static const double temp_c[N] = {50, 51, 52, 53, 70, 60, 80, 60}; /* the second GPU's are the test */
    static const struct {
        const char *name;
        size_t want[N_SM];
    } rows[] = {{"round_robin", {0, 1, 2, 3}}, {"coldest_first", {1, 3, 0, 2}}};
    struct rig r;
    rig_open(&r);
    for (size_t i = 0; i < N; i++) {
        r.sensed_k[i] = temp_c[i] + TMX_ZERO_C;
    }
    for (size_t i = 0; i < 2; i++) {
        size_t order[N_SM], p = 0;
        while (strcmp(tmx_tb_policies[p]->base.name, rows[i].name) != 0) {
            p++;
        }
        tmx_tb_policies[p]->order(NULL, &r.view, 1, order);
        assert_memory_equal(order, rows[i].want, sizeof order);
    }
    rig_close(&r);
}

TMX_TESTS(test_dtm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dvfs_moves_one_level_a_tick_between_its_thresholds),
        cmocka_unit_test(dvfs_may_only_lower_what_another_policy_asked_for),
        cmocka_unit_test(with_scope_sm_an_sm_trips_at_90_and_runs_again_below_85),
        cmocka_unit_test(by_default_the_hottest_sm_gates_all_of_its_own_chip),
        cmocka_unit_test(ascending_order_keeps_ties_in_the_order_of_the_index),
        cmocka_unit_test(thread_blocks_go_to_the_coldest_sms_or_by_index),
    };
    return cmocka_run_group_tests_name("dtm", tests, NULL, NULL);
}
