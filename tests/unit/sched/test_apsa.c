/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 002, Algorithms 1 to 3, line by line. */
#include "sched/policies.h"

#include "tests/unit/sched/cta_script.h"

/* Algorithm 1: one CTA on one core, for 7000 cycles or until it ends. */
static void profile_runs_one_block_on_one_core(void **state)
{
    struct script s;
    script_begin(&s, "apsa");
    assert_int_equal(s.request.block_limit, 1);
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        assert_int_equal(s.accept[i], i == 0);
    }
    check_close(s.request.wake_cycle, 7000, 0, 0);
    script_observe(&s, 6999);
    assert_int_equal(s.request.block_limit, 1); /* not yet */
    s.view.ipc_share = 0.9;
    script_observe(&s, 7000);
    assert_int_equal(s.request.block_limit, 0);
    script_end(&s);

    script_begin(&s, "apsa"); /* whichever comes first */
    s.view.ipc_share = 0.9;
    s.view.first_done_cycle = 1234;
    script_observe(&s, 1234);
    assert_int_equal(s.request.block_limit, 0);
    script_end(&s);
}

/* Algorithm 2 and the text of section 3.1.2, row by row. */
static void decision(void **state)
{
    struct tmx_apsa a = {.ipc_upper = 0.85, .ipc_lower = 0.15, .bandwidth = 0.01025, .good_to_bad = 0.65};
    const struct {
        double ipc, bandwidth, gbr;
        bool text, pseudocode;
    } row[] = {
        {0.86, 1.00, 0.0, true, true},   /* IPC above t_u_ipc: type I whatever else */
        {0.14, 0.00, 1.0, false, false}, /* below t_l_ipc: type II whatever else */
        {0.50, 0.01, 1.0, true, true},   /* little bandwidth, no divergence */
        {0.50, 0.01, 0.1, true, false},  /* little bandwidth: the text asks no more, Algorithm 2 asks for GBR
                                          */
        {0.50, 0.02, 0.7, true, false},  /* much bandwidth: Algorithm 2 asks no more, the text asks for GBR */
        {0.50, 0.02, 0.6, false, false}, {0.15, 0.00, 0.7, true, true}, /* exactly t_l_ipc is not below it */
        {0.85, 0.02, 0.1, false, false},                                /* exactly t_u_ipc is not above it */
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        a.reading = TMX_APSA_TEXT;
        assert_int_equal(tmx_apsa_is_type1(&a, row[i].ipc, row[i].bandwidth, row[i].gbr), row[i].text);
        a.reading = TMX_APSA_PSEUDOCODE;
        assert_int_equal(tmx_apsa_is_type1(&a, row[i].ipc, row[i].bandwidth, row[i].gbr), row[i].pseudocode);
    }
}

/* Algorithm 3: type I, New_N_cores = N_cores, FC = 0. */
static void action_of_type_1(void **state)
{
    struct script s;
    script_begin(&s, "apsa");
    s.view.ipc_share = 0.9;
    script_observe(&s, 7000);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 6);
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        assert_true(s.accept[i]);
    }
    check_close(s.request.core_clock, 1, 0, 0);
    check_close(s.request.memory_clock, 1, 0, 0);
    script_end(&s);
}

/* Algorithm 3: type II, New_N_cores = N_cores / 2, FC = 1. */
static void action_of_type_2(void **state)
{
    struct script s;
    script_begin(&s, "apsa");
    s.view.ipc_share = 0.1;
    script_observe(&s, 7000);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 3);
    assert_int_equal(script_count(&s, TMX_CORE_CLOCK_OFF), 3);
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        assert_int_equal(s.accept[i], i < 3);
    }
    check_close(s.request.core_clock, 0.85, 1e-12, 0);
    check_close(s.request.memory_clock, 1.15, 1e-12, 0);
    s.view.ipc_share = 0.99; /* the decision stands until the next kernel */
    script_observe(&s, 9000);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 3);
    script_launch(&s);
    assert_int_equal(s.request.block_limit, 1);
    script_end(&s);
}

static void power_gating_is_an_option(void **state)
{
    struct script s;
    script_begin(&s, "apsa");
    ((struct tmx_apsa *)s.state)->power_gate = true;
    s.view.ipc_share = 0.1;
    script_observe(&s, 7000);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 3);
    script_end(&s);
}

TMX_TESTS(test_apsa)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_runs_one_block_on_one_core),
        cmocka_unit_test(decision),
        cmocka_unit_test(action_of_type_1),
        cmocka_unit_test(action_of_type_2),
        cmocka_unit_test(power_gating_is_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
