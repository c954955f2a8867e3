/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power-gating state machine, row by row, and the book-keeping of whole runs. */
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/sm_cycle.h"
#include "sched/sched.h"

static struct tmx_sm_params default_sm(void)
{
    struct tmx_sm_params sm;
    assert_int_equal(tmx_opt_read(tmx_sm_opts, &sm, NULL, NULL, NULL), TMX_OK);
    return sm;
}

static struct tmx_gate_params default_gate(void)
{
    struct tmx_gate_params gate;
    assert_int_equal(tmx_opt_read(tmx_gate_opts, &gate, NULL, NULL, NULL), TMX_OK);
    return gate;
}

enum state { ON, ASLEEP, WAKING };

static enum state state_of(const struct tmx_gating *g, unsigned unit)
{
    assert_int_equal((g->on >> unit & 1) + (g->asleep >> unit & 1) + (g->waking >> unit & 1), 1);
    return g->on >> unit & 1 ? ON : (g->asleep >> unit & 1 ? ASLEEP : WAKING);
}

/* INT0 is used at cycle 0 and busy until 4; other units are used in every cycle. At `request` (0: never)
 * a warp asks for INT0. What is INT0's state in cycle `at`? Idle detect 5, break even 14, wake-up 3. */
static const struct {
    const char *what;
    const char *policy;
    uint32_t request, at;
    enum state state;
} machine_rows[] = {
    {"without gating it stays on", "none", 0, 500, ON},
    {"a busy unit is on", "convpg", 0, 3, ON},
    {"idle for four cycles: still on", "convpg", 0, 8, ON},
    {"idle for five cycles: asleep", "convpg", 0, 9, ASLEEP},
    {"nobody asks: asleep for ever", "convpg", 0, 500, ASLEEP},
    {"conventional: a request in the first cycle of sleep wakes it", "convpg", 9, 10, WAKING},
    {"it wakes for three cycles", "convpg", 9, 11, WAKING},
    {"and is on in the fourth", "convpg", 9, 12, ON},
    {"unused, it detects idleness again from the end of waking", "convpg", 9, 16, ON},
    {"and sleeps after five more cycles", "convpg", 9, 17, ASLEEP},
    {"GATES has the same state machine", "gates", 9, 12, ON},
    {"blackout: a request before the break-even time is refused", "naive_blackout", 22, 23, ASLEEP},
    {"blackout: at the break-even time it is granted", "naive_blackout", 23, 24, WAKING},
    {"blackout: later too", "naive_blackout", 60, 63, ON},
    {"Coordinated: the first cluster follows idle detect", "coordinated_blackout", 0, 9, ASLEEP},
    {"Warped Gates likewise", "warped_gates", 0, 9, ASLEEP},
};

static void state_machine_row_by_row(void **unused)
{
    const struct tmx_sm_params sm = default_sm();
    const struct tmx_gate_params gate = default_gate();
    (void)unused;
    for (size_t i = 0; i < sizeof machine_rows / sizeof machine_rows[0]; i++) {
        struct tmx_gating g;
        tmx_gating_init(&g, sm.clusters, tmx_gate_find(machine_rows[i].policy), &gate, NULL);
        for (uint32_t t = 0; t < machine_rows[i].at; t++) {
            tmx_gating_arrive(&g, t);
            if (t == machine_rows[i].request && t > 0 && tmx_gating_may_wake(&g, TMX_SM_INT0, t)) {
                tmx_gating_request(&g, TMX_SM_INT0, t);
            }
            for (unsigned u = t == 0 ? 0 : 1; u < TMX_SM_N_UNIT; u++) {
                tmx_gating_use(&g, u, t, 4);
            }
            tmx_gating_settle(&g, t, 7);
        }
        tmx_gating_arrive(&g, machine_rows[i].at);
        if (state_of(&g, TMX_SM_INT0) != machine_rows[i].state) {
            fail_msg("%s: state %d", machine_rows[i].what, (int)state_of(&g, TMX_SM_INT0));
        }
    }
}

/* INT0 sleeps from 9 on; INT1 was used last at cycle 10 (busy until 14). wanted: an active warp's next
 * instruction is INT. First cycle in which INT1 sleeps under Coordinated Blackout; 0: never. */
static void the_second_cluster_follows_the_active_warps(void **unused)
{
    const struct tmx_sm_params sm = default_sm();
    const struct tmx_gate_params gate = default_gate();
    static const struct {
        unsigned wanted;
        uint32_t asleep;
    } rows[] = {{0, 15}, {1, 0}};
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        struct tmx_gating g;
        uint32_t asleep = 0;
        tmx_gating_init(&g, sm.clusters, tmx_gate_find("coordinated_blackout"), &gate, NULL);
        tmx_gating_use(&g, TMX_SM_INT0, 0, 4);
        for (uint32_t t = 0; t < 100; t++) {
            if (t <= 10) {
                tmx_gating_use(&g, TMX_SM_INT1, t, 4);
            }
            tmx_gating_settle(&g, t, rows[i].wanted);
            asleep = asleep == 0 && (g.asleep >> TMX_SM_INT1 & 1) ? t + 1 : asleep;
        }
        assert_int_equal(state_of(&g, TMX_SM_INT0), ASLEEP);
        assert_int_equal(asleep, rows[i].asleep);
    }
}

/* Epochs with this many critical wake-ups of INT, one after another, and idle detect after them. */
static void idle_detect_adapts_fast_up_and_slowly_down(void **unused)
{
    const struct tmx_sm_params sm = default_sm();
    const struct tmx_gate_params gate = default_gate();
    static const unsigned critical[] = {5, 6, 7, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0,
                                        0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9};
    static const unsigned detect[] = {5, 6, 7, 7, 7, 7, 6, 6, 6, 7, 7, 7,  7,  6, 6,
                                      6, 6, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 10, 10};
    struct tmx_gating g;
    (void)unused;
    tmx_gating_init(&g, sm.clusters, tmx_gate_find("warped_gates"), &gate, NULL);
    for (size_t i = 0; i < sizeof detect / sizeof detect[0]; i++) {
        g.critical[0] = critical[i];
        tmx_gating_adapt(&g);
        assert_int_equal(g.idle_detect[0], detect[i]);
        assert_int_equal(g.idle_detect[1], 5); /* FP has its own */
    }
}

static void a_wake_up_is_critical_only_in_the_first_cycle_allowed(void **unused)
{
    const struct tmx_sm_params sm = default_sm();
    const struct tmx_gate_params gate = default_gate();
    (void)unused;
    for (uint32_t at = 13; at <= 15; at++) {
        struct tmx_gating g;
        tmx_gating_init(&g, sm.clusters, tmx_gate_find("convpg"), &gate, NULL);
        for (uint32_t t = 0; t < 5 + at; t++) {
            tmx_gating_settle(&g, t, 7);
        }
        tmx_gating_request(&g, TMX_SM_FP1, 5 + at); /* asleep since 5 */
        assert_int_equal(g.stat[1].critical_wakeups, at == 14);
        assert_int_equal(g.stat[1].early_wakeups, at < 14);
        assert_int_equal(g.stat[1].unpaid_cycles, at < 14 ? 14 - at : 0);
        assert_int_equal(g.stat[1].paid_cycles, at > 14 ? at - 14 : 0);
    }
}

/* Kernels from one extreme to the other. */
static void kernel(unsigned i, struct tmx_instr_stats *st)
{
    const double fp = 0.1 * (i % 6), memory = i % 4 == 3 ? 0.5 : 0.05;
    *st = (struct tmx_instr_stats){.mix_int = 0.8 - fp,
                                   .mix_fp = fp,
                                   .mix_sfu = 0.02,
                                   .mix_ldst = 0.18,
                                   .persistence = 0.1 * (i % 8),
                                   .warps = 8 * (int)(1 + i % 5),
                                   .warps_per_block = 8,
                                   .dependence = 0.4,
                                   .distance = 2,
                                   .load_distance = 4,
                                   .global_share = 0.7,
                                   .store_share = 0.2,
                                   .miss = memory,
                                   .latency_cycles = 400,
                                   .latency_variation = 0.3,
                                   .bandwidth = 0.1,
                                   .lines = 1,
                                   .body = 60,
                                   .repetitions = 5,
                                   .barriers = (int)(i % 2)};
}

static void run(const struct tmx_instr_stats *st, const char *policy, struct tmx_sm_result *r)
{
    const struct tmx_sm_params sm = default_sm();
    struct tmx_gate_params gate = default_gate();
    const struct tmx_stream_knobs knobs = {1, 1, 1, 1, 1, 1, 1};
    struct tmx_stream s;
    struct tmx_err err = {0};
    gate.gate_sfu = true;
    assert_int_equal(tmx_stream_generate(&s, st, &knobs, 3, &err), TMX_OK);
    assert_int_equal(tmx_sm_run(&sm, &s, tmx_gate_find(policy), &gate, 40000, NULL, r, &err), TMX_OK);
    tmx_stream_finish(&s);
}

static void energy_closes(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 24; i += TMX_EVERY) {
        struct tmx_instr_stats st;
        kernel(i, &st);
        for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
            struct tmx_sm_result r;
            uint64_t issued = 0;
            run(&st, (*p)->base.name, &r);
            for (unsigned k = 0; k < 3; k++) {
                const struct tmx_gate_stat *g = &r.type[k];
                const uint64_t all = g->clusters * r.cycles;
                const int64_t net = (int64_t)g->asleep_cycles - 14 * (int64_t)g->gatings;
                assert_int_equal(net, (int64_t)g->paid_cycles - (int64_t)g->unpaid_cycles);
                assert_int_equal(g->period_cycles[0] + g->period_cycles[1] + g->period_cycles[2],
                                 g->idle_cycles);
                assert_true(g->asleep_cycles + g->waking_cycles <= g->idle_cycles);
                assert_true(g->idle_cycles <= all);
                assert_true(g->gatings - g->wakeups <= g->clusters);
                assert_true(g->early_wakeups + g->critical_wakeups <= g->wakeups);
                /* burnt + saved = what burns without gating */
                const double saved = tmx_gate_saved(g, r.cycles, r.cycles, 14);
                check_close(saved * (double)all, (double)net, 1e-12, 1e-6);
                assert_int_equal(g->issued, r.issued_type[k]);
            }
            for (unsigned t = 0; t < TMX_N_UNIT_TYPE; t++) {
                issued += r.issued_type[t];
            }
            assert_int_equal(issued, r.issued);
            assert_int_equal(r.issued, 40000);
        }
    }
}

static void under_blackout_no_idle_period_ends_uncompensated(void **unused)
{
    static const char *const blackout[] = {"naive_blackout", "coordinated_blackout", "warped_gates"};
    (void)unused;
    for (unsigned i = 0; i < 24; i += TMX_EVERY) {
        struct tmx_instr_stats st;
        struct tmx_sm_result r;
        uint64_t early = 0;
        kernel(i, &st);
        for (unsigned p = 0; p < 3; p++) {
            run(&st, blackout[p], &r);
            for (unsigned k = 0; k < 2; k++) {
                assert_int_equal(r.type[k].idle_periods[TMX_IDLE_UNCOMPENSATED], 0);
                assert_int_equal(r.type[k].early_wakeups, 0);
            }
        }
        run(&st, "convpg", &r); /* which the conventional rule cannot say */
        early = r.type[0].early_wakeups;
        assert_true(early > 0);
    }
}

static void every_policy_does_the_same_work(void **unused)
{
    struct tmx_instr_stats st;
    struct tmx_sm_result base, r;
    (void)unused;
    kernel(2, &st);
    run(&st, "none", &base);
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        run(&st, (*p)->base.name, &r);
        for (unsigned t = 0; t < TMX_N_UNIT_TYPE; t++) {
            /* the run ends after the same number; only what is in flight at the end differs */
            check_close((double)r.issued_type[t], (double)base.issued_type[t], 0.02, 40);
        }
    }
}

TMX_TESTS(test_gating)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_machine_row_by_row),
        cmocka_unit_test(the_second_cluster_follows_the_active_warps),
        cmocka_unit_test(idle_detect_adapts_fast_up_and_slowly_down),
        cmocka_unit_test(a_wake_up_is_critical_only_in_the_first_cycle_allowed),
        cmocka_unit_test(energy_closes),
        cmocka_unit_test(under_blackout_no_idle_period_ends_uncompensated),
        cmocka_unit_test(every_policy_does_the_same_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
