/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paper 000, Algorithms 1 and 2, line by line. */
#include "tests/unit/sched/cta_script.h"

/* The first n cores are memory-bound in the window that ends at cycle, the others are not. */
static void window(struct script *s, double cycle, size_t n)
{
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        s->core[i].stall_cycles = i < n ? 5000 : 1000; /* against 8192 / 2 */
        s->core[i].latency_cycles = i < n ? 900 : 210; /* against 1.3 * 200 */
    }
    script_observe(s, cycle);
}

static void a_memory_bound_window_throttles_one_core(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 6);
    check_close(s.request.wake_cycle, 8192, 0, 0); /* for each (mon_cycle) do */
    window(&s, 8192, 6);
    assert_int_equal(s.core[5].state, TMX_CORE_THROTTLE);
    assert_false(s.accept[5]); /* no additional CTAs */
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 5);
    check_close(s.request.wake_cycle, 2 * 8192, 0, 0);
    window(&s, 2 * 8192, 6);
    assert_int_equal(s.core[4].state, TMX_CORE_THROTTLE);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 2);
    script_end(&s);
}

static void both_conditions_are_needed(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    for (size_t i = 0; i < SCRIPT_CORES; i++) { /* stalled, but the latency is low */
        s.core[i].stall_cycles = 8000;
        s.core[i].latency_cycles = 260;
    }
    script_observe(&s, 8192);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 0);
    for (size_t i = 0; i < SCRIPT_CORES; i++) { /* slow memory, but not stalled for more than half */
        s.core[i].stall_cycles = 4096;
        s.core[i].latency_cycles = 900;
    }
    script_observe(&s, 2 * 8192);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 0);
    script_end(&s);
}

static void half_of_the_active_cores_decide(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    window(&s, 8192, 2);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 0); /* 2 < 6 / 2 */
    window(&s, 2 * 8192, 3);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1); /* 3 >= 6 / 2 */
    window(&s, 3 * 8192, 2);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1); /* 2 < 5 / 2 */
    window(&s, 4 * 8192, 3);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 2); /* 3 >= 5 / 2 */
    window(&s, 5 * 8192, 2);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 3); /* 2 >= 4 / 2 */
    script_end(&s);
}

static void throttled_cores_do_not_vote(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    window(&s, 8192, 6);
    window(&s, 2 * 8192, 6); /* 4 active */
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        s.core[i].stall_cycles = i == 0 || i > 3 ? 8000 : 0; /* one active and both throttled */
        s.core[i].latency_cycles = 900;
    }
    script_observe(&s, 3 * 8192);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 4);
    script_end(&s);
}

static void counters_start_again_each_window(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    window(&s, 8192, 2);
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        check_close(s.core[i].stall_cycles, 0, 0, 0);
    }
    script_end(&s);
}

static void the_last_core_stays(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    for (int w = 1; w < 20; w++) {
        window(&s, w * 8192.0, 6);
    }
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 1);
    script_end(&s);
}

/* MONITOR continues until the first CTA completes, or 10,000 cycles, whichever occurs later. */
static void monitor_ends_at_the_later_of_block_and_10000_cycles(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    s.view.first_done_cycle = 3000;
    script_observe(&s, 3000);
    assert_true(s.accept[0]); /* too early */
    window(&s, 8192, 6);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1);
    check_close(s.request.wake_cycle, 10000, 0, 0);
    script_observe(&s, 10000);
    assert_false(s.accept[0]); /* REDUCE: no new blocks */
    window(&s, 2 * 8192, 6);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1); /* and no more windows */
    script_end(&s);

    script_begin(&s, "tcs");
    window(&s, 8192, 6);
    window(&s, 2 * 8192, 6); /* no block has ended: MONITOR goes on beyond 10,000 cycles */
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 2);
    s.view.first_done_cycle = 20000;
    script_observe(&s, 20000);
    assert_false(s.accept[0]);
    script_end(&s);
}

/* Algorithm 2: power gate CORE_i; a throttled CORE_j becomes active; C_throttle--. */
static void reduce_swaps_a_finished_core_for_a_throttled_one(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    for (int w = 1; w <= 4; w++) {
        window(&s, w * 8192.0, 6);
    }
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 2); /* figure 5 (c): C0 and C1 */
    s.view.first_done_cycle = 40000;
    script_observe(&s, 40000);
    script_drain(&s, 41000, 1); /* figure 5 (d): C1 finishes first, C2 takes over */
    assert_int_equal(s.core[1].state, TMX_CORE_OFF);
    assert_int_equal(s.core[2].state, TMX_CORE_ACTIVE);
    assert_false(s.accept[2]);
    script_drain(&s, 42000, 0);
    script_drain(&s, 43000, 2);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 2);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 3);
    script_drain(&s, 44000, 3); /* figure 5 (e): the last throttled core */
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 0);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 2);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 4);
    for (size_t i = 0; i < SCRIPT_CORES; i++) { /* the two that are left run the rest of the kernel */
        assert_int_equal(s.accept[i], s.core[i].state == TMX_CORE_ACTIVE);
    }
    script_drain(&s, 90000, 4); /* no more gating after that */
    assert_int_equal(s.core[4].state, TMX_CORE_ACTIVE);
    script_end(&s);
}

static void a_new_kernel_starts_with_all_cores(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    window(&s, 8192, 6);
    s.view.first_done_cycle = 10000;
    script_observe(&s, 10000);
    script_launch(&s);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 6);
    window(&s, 8192, 6);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1); /* MONITOR again */
    script_end(&s);
}

static void without_throttling_all_run_in_reduce(void **state)
{
    struct script s;
    script_begin(&s, "tcs");
    bool *throttling = (bool *)((char *)s.state + s.policy->base.opts[4].offset);
    assert_string_equal(s.policy->base.opts[4].key, "throttling");
    *throttling = false;
    window(&s, 8192, 6);
    window(&s, 2 * 8192, 6);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 2);
    s.view.first_done_cycle = 20000;
    script_observe(&s, 20000);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 6);
    assert_false(s.accept[0]);
    script_drain(&s, 21000, 3);
    script_drain(&s, 22000, 0);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 2);
    assert_true(s.accept[1]);
    script_drain(&s, 23000, 1);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 2);
    script_end(&s);
}

static void htcs_starts_on_half_and_enables_all(void **state)
{
    struct script s;
    script_begin(&s, "htcs");
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 3);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 3);
    window(&s, 8192, 1); /* not memory-bound */
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 6);
    assert_true(s.accept[5]);
    script_end(&s);

    script_begin(&s, "htcs");
    window(&s, 8192, 3); /* memory-bound: on from N / 2 */
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 2);
    assert_int_equal(script_count(&s, TMX_CORE_THROTTLE), 1);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 3);
    window(&s, 2 * 8192, 0); /* only the first window enables */
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 2);
    assert_false(s.accept[5]);
    script_end(&s);
}

static void tcs_share_lends_finished_cores(void **state)
{
    struct script s;
    script_begin(&s, "tcs_share");
    window(&s, 8192, 6);
    s.view.first_done_cycle = 10000;
    script_observe(&s, 10000);
    script_drain(&s, 11000, 2);
    assert_int_equal(s.core[2].state, TMX_CORE_GIVEN);
    assert_int_equal(s.core[5].state, TMX_CORE_ACTIVE);
    script_end(&s);
}

TMX_TESTS(test_tcs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memory_bound_window_throttles_one_core),
        cmocka_unit_test(both_conditions_are_needed),
        cmocka_unit_test(half_of_the_active_cores_decide),
        cmocka_unit_test(throttled_cores_do_not_vote),
        cmocka_unit_test(counters_start_again_each_window),
        cmocka_unit_test(the_last_core_stays),
        cmocka_unit_test(monitor_ends_at_the_later_of_block_and_10000_cycles),
        cmocka_unit_test(reduce_swaps_a_finished_core_for_a_throttled_one),
        cmocka_unit_test(a_new_kernel_starts_with_all_cores),
        cmocka_unit_test(without_throttling_all_run_in_reduce),
        cmocka_unit_test(htcs_starts_on_half_and_enables_all),
        cmocka_unit_test(tcs_share_lends_finished_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
