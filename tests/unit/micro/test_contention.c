/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contention.h"

#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"
#include "tests/support/check.h"

static const struct tmx_memory_chip chip = {
    .profile = "tcs",
    .cores = 28,
    .core_hz = 1.4e9,
    .mshr = 32,
    .peak_ipc = 2,
    .base_core_cycles = 50,
    .base_memory_cycles = 150,
    .partitions = 8,
    .l2_lines_per_cycle = 2,
    .dram_lines_per_cycle = 0.95,
    .l2_hit_max = 0.95,
    .wake_cycles = 500,
    .clock_change_cycles = 65,
};

static int stall_of_chip = TMX_STALL_LOST;

static struct tmx_memory_program memory_bound(void)
{
    struct tmx_memory_program p = {.name = "memory", .n = 2};
    p.kernel[0] = (struct tmx_memory_kernel){.blocks = 701,
                                             .warps_per_block = 8,
                                             .blocks_per_core = 4,
                                             .instr_per_warp = 2000,
                                             .ipc1 = 1.2,
                                             .cpi1_cycles = 6,
                                             .mlp = 2,
                                             .lines_per_instr = 0.35,
                                             .l2_hit = 0.2,
                                             .l2_gain = 0.1,
                                             .row_loss = 0.1,
                                             .simd = 1,
                                             .full_warps = 0.5,
                                             .variation = 0.1};
    p.kernel[1] = p.kernel[0];
    p.kernel[1].blocks = 61;
    p.kernel[1].lines_per_instr = 0.01;
    return p;
}

static enum tmx_status run(const char *policy, const struct tmx_memory_program *const *p, size_t n,
                           double epoch, struct tmx_contention_result *r)
{
    for (const struct tmx_cta_policy *const *c = tmx_cta_policies; *c; c++) {
        if (strcmp((*c)->base.name, policy) == 0) {
            void *state = NULL;
            assert_int_equal(tmx_plugin_state(&(*c)->base, NULL, NULL, &state, NULL), TMX_OK);
            struct tmx_memory_chip with_stall = chip;
            with_stall.stall = stall_of_chip;
            const struct tmx_contention_spec spec = {.chip = &with_stall,
                                                     .program = p,
                                                     .n_program = n,
                                                     .policy = *c,
                                                     .policy_state = state,
                                                     .epoch_cycles = epoch,
                                                     .seed = 3,
                                                     .max_cycles = 1e9};
            const enum tmx_status st = tmx_contention_run(&spec, r, NULL);
            free(state);
            return st;
        }
    }
    fail();
    return TMX_OK;
}

static struct tmx_contention_result a, b;

static void no_block_is_lost(void **state)
{
    const struct tmx_memory_program p = memory_bound(), q = memory_bound();
    const struct tmx_memory_program *both[] = {&p, &q};
    for (const struct tmx_cta_policy *const *c = tmx_cta_policies; *c; c++) {
        for (size_t n = 1; n <= 2; n++) {
            assert_int_equal(run((*c)->base.name, both, n, 2048, &a), TMX_OK);
            assert_int_equal(a.blocks, n * (701 + 61));
            assert_int_equal(a.n_launch, 2 * n);
            for (size_t l = 0; l < a.n_launch; l++) {
                assert_int_equal(a.launch[l].blocks, a.launch[l].kernel == 0 ? 701 : 61);
            }
        }
    }
}

/* Lines that the blocks' instructions ask for = lines that the memory system served. */
static void requests_in_equal_requests_out(void **state)
{
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    for (const struct tmx_cta_policy *const *c = tmx_cta_policies; *c; c++) {
        assert_int_equal(run((*c)->base.name, list, 1, 2048, &a), TMX_OK);
        check_close(a.lines_served, a.lines_asked, 1e-9, 0);
        double lines = 0, dram = 0, instr = 0;
        for (size_t k = 0; k < a.ledger.n_clock; k++) {
            for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
                lines += a.ledger.bin[k][n].lines;
                dram += a.ledger.bin[k][n].dram_lines;
                instr += a.ledger.bin[k][n].instr;
            }
        }
        check_close(lines, a.lines_served, 1e-9, 0);
        check_close(dram, a.dram_lines, 1e-9, 0);
        check_close(instr, a.instr, 1e-9, 0);
    }
}

/* Lines that cores wait for = lines on their way, in service and in queues. */
static void littles_law(void **state)
{
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    for (const struct tmx_cta_policy *const *c = tmx_cta_policies; *c; c++) {
        assert_int_equal(run((*c)->base.name, list, 1, 2048, &a), TMX_OK);
        check_close(a.outstanding_memory, a.outstanding_core, 1e-6, 0);
        assert_true(a.outstanding_core <= 28.0 * chip.mshr * a.cycles);
    }
}

static void core_time_adds_up(void **state)
{
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    assert_int_equal(run("htcs", list, 1, 2048, &a), TMX_OK);
    double seconds = 0, core_s = 0;
    for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
        seconds += a.ledger.bin[0][n].seconds;
        for (int k = 0; k < TMX_N_CORE_STATE; k++) {
            core_s += a.ledger.bin[0][n].core_s[k];
        }
    }
    check_close(seconds, a.seconds, 1e-12, 0);
    check_close(core_s, 28 * a.seconds, 1e-12, 0);
}

static void compare_epochs(const struct tmx_memory_program *const *list, const char *policy)
{
    assert_int_equal(run(policy, list, 1, 256, &a), TMX_OK);
    for (int epoch = 512; epoch <= 8192; epoch *= 2) {
        assert_int_equal(run(policy, list, 1, epoch, &b), TMX_OK);
        check_close(b.seconds, a.seconds, 0.005, 0);
        check_close(b.launch[0].core_seconds, a.launch[0].core_seconds, 0.01, 0);
        assert_int_equal(b.launch[0].cores, a.launch[0].cores);
    }
}

static void epoch_length_does_not_matter(void **state)
{
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    for (const struct tmx_cta_policy *const *c = tmx_cta_policies; *c; c++) {
        compare_epochs(list, (*c)->base.name);
    }
}

/* Cores busy on the first launch, which waits for memory, and the second, which computes. */
static void cores_of(int stall, double cores[2])
{
    struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    p.kernel[0].mlp = 4; /* 128 lines for 32 MSHRs */
    stall_of_chip = stall;
    assert_int_equal(run("tcs", list, 1, 2048, &a), TMX_OK);
    stall_of_chip = TMX_STALL_LOST;
    for (size_t l = 0; l < 2; l++) {
        cores[l] = a.launch[l].core_seconds / a.launch[l].seconds;
    }
}

static void what_counts_as_stalled_decides_whether_cores_are_throttled(void **state)
{
    double lost[2], mshr[2], consecutive[2];
    cores_of(TMX_STALL_LOST, lost);
    cores_of(TMX_STALL_MSHR, mshr);
    cores_of(TMX_STALL_CONSECUTIVE, consecutive); /* no stall on end fills half of a window */
    assert_true(lost[0] < 20 && consecutive[0] > 25);
    check_close(mshr[0], lost[0], 1e-9, 0);
    check_close(mshr[1], consecutive[1], 0.05, 0); /* which computes */
}

static void equal_inputs_give_equal_bytes(void **state)
{
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    assert_int_equal(run("tcs", list, 1, 1024, &a), TMX_OK);
    assert_int_equal(run("tcs", list, 1, 1024, &b), TMX_OK);
    assert_memory_equal(&a, &b, sizeof a);
}

static void nothing(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    for (size_t i = 0; i < view->n_core; i++) {
        request->state[i] = TMX_CORE_OFF;
    }
}

static void a_policy_that_stops_all_is_an_error(void **state)
{
    static const struct tmx_cta_policy off = {.base = {.name = "off"}, .launch = nothing};
    const struct tmx_memory_program p = memory_bound();
    const struct tmx_memory_program *list[] = {&p};
    const struct tmx_contention_spec spec = {
        .chip = &chip, .program = list, .n_program = 1, .policy = &off, .epoch_cycles = 1024};
    struct tmx_err err = {0};
    assert_int_equal(tmx_contention_run(&spec, &a, &err), TMX_EUNFINISHED);
    assert_non_null(strstr(err.msg, "no core runs"));
}

/* Half the clock of the cores doubles the time of a kernel that never waits for memory, and leaves the
 * lines per second of one that always does. */
static void clocks_are_independent(void **state)
{
    struct tmx_memory_program p = memory_bound();
    struct tmx_memory_kernel *k = &p.kernel[0];
    double fast, slow, latency;
    struct tmx_share share = {k, 28};
    k->lines_per_instr = 0;
    tmx_contention_rates(&chip, &share, 1, 1, 1, &fast, &latency);
    tmx_contention_rates(&chip, &share, 1, 0.5, 1, &slow, &latency);
    check_close(slow, fast, 1e-12, 0); /* per core cycle */
    k->lines_per_instr = 0.6;
    k->mlp = 8;
    tmx_contention_rates(&chip, &share, 1, 1, 1, &fast, &latency);
    tmx_contention_rates(&chip, &share, 1, 0.5, 1, &slow, &latency);
    check_close(0.5 * slow, fast, 0.01, 0); /* per second */
    tmx_contention_rates(&chip, &share, 1, 1, 0.5, &slow, &latency);
    check_close(slow, 0.5 * fast, 0.01, 0);
}

/* A neighbour that uses the memory slows a kernel down; one that does not leaves it alone. */
static void kernels_side_by_side_share_the_memory(void **state)
{
    struct tmx_memory_program p = memory_bound();
    double ipc[2], latency[2];
    const struct tmx_share alone[] = {{&p.kernel[0], 14}, {&p.kernel[0], 0}},
                           with_memory[] = {{&p.kernel[0], 14}, {&p.kernel[0], 14}},
                           with_compute[] = {{&p.kernel[0], 14}, {&p.kernel[1], 14}};
    p.kernel[0].row_loss = p.kernel[0].l2_gain = 0;
    tmx_contention_rates(&chip, alone, 2, 1, 1, ipc, latency);
    const double own = ipc[0];
    tmx_contention_rates(&chip, with_memory, 2, 1, 1, ipc, latency);
    check_close(ipc[0], ipc[1], 1e-9, 0);
    assert_true(ipc[0] < 0.6 * own);
    tmx_contention_rates(&chip, with_compute, 2, 1, 1, ipc, latency);
    assert_true(ipc[0] > 0.6 * own && ipc[0] < own);
}

/* A program on lent cores goes from launch to launch without waiting for the first program. */
static void lent_cores_take_the_next_launch_at_once(void **state)
{
    static struct tmx_contention_result r;
    struct tmx_memory_program first = memory_bound(), second = memory_bound();
    const struct tmx_memory_program *list[] = {&first, &second};
    first.n = 1;
    first.kernel[0].blocks = 2000;
    second.n = 30;
    for (size_t k = 0; k < second.n; k++) {
        second.kernel[k] = memory_bound().kernel[1];
    }
    assert_int_equal(run("tcs_share", list, 2, 2048, &r), TMX_OK);
    assert_int_equal(r.n_launch, 31);
    assert_true(r.launch[30].start_s < r.launch[0].seconds); /* the last one still beside the first program */
    for (size_t l = 2; l < 30; l++) {
        assert_int_equal(r.launch[l].program, 1);
        check_close(r.launch[l].start_s + r.launch[l].seconds, r.launch[l + 1].start_s, 1e-9, 0);
    }
}

TMX_TESTS(test_contention)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_block_is_lost),
        cmocka_unit_test(requests_in_equal_requests_out),
        cmocka_unit_test(littles_law),
        cmocka_unit_test(core_time_adds_up),
        cmocka_unit_test(epoch_length_does_not_matter),
        cmocka_unit_test(what_counts_as_stalled_decides_whether_cores_are_throttled),
        cmocka_unit_test(equal_inputs_give_equal_bytes),
        cmocka_unit_test(a_policy_that_stops_all_is_an_error),
        cmocka_unit_test(clocks_are_independent),
        cmocka_unit_test(kernels_side_by_side_share_the_memory),
        cmocka_unit_test(lent_cores_take_the_next_launch_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
