/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One effect of the epoch model at a time, against what can be computed by hand. */
#include <math.h>
#include <string.h>

#include "kernels/contention.h"
#include "tests/support/check.h"

static struct tmx_contention_result r;

static struct tmx_memory_chip chip_of(int cores)
{
    return (struct tmx_memory_chip){.cores = cores,
                                    .core_hz = 1e9,
                                    .mshr = 32,
                                    .peak_ipc = 2,
                                    .base_core_cycles = 50,
                                    .base_memory_cycles = 150,
                                    .partitions = 4,
                                    .l2_lines_per_cycle = 1,
                                    .dram_lines_per_cycle = 0.3,
                                    .l2_hit_max = 0.6};
}

static struct tmx_memory_kernel waiting(void)
{
    return (struct tmx_memory_kernel){.blocks = 64,
                                      .warps_per_block = 8,
                                      .blocks_per_core = 2,
                                      .instr_per_warp = 500,
                                      .ipc1 = 1,
                                      .cpi1_cycles = 6,
                                      .mlp = 2,
                                      .lines_per_instr = 0.3,
                                      .l2_hit = 0.2,
                                      .simd = 1};
}

/* Blocks of 1000 cycles on a core of their own. */
static struct tmx_memory_kernel computing(int blocks)
{
    return (struct tmx_memory_kernel){.blocks = blocks,
                                      .warps_per_block = 1,
                                      .blocks_per_core = 1,
                                      .instr_per_warp = 1000,
                                      .ipc1 = 1,
                                      .cpi1_cycles = 1e-3,
                                      .mlp = 1,
                                      .simd = 1};
}

static double ipc(const struct tmx_memory_chip *chip, const struct tmx_memory_kernel *k, double cores,
                  double core_clock, double memory_clock)
{
    const struct tmx_share share = {k, cores};
    double v, latency;
    tmx_contention_rates(chip, &share, 1, core_clock, memory_clock, &v, &latency);
    return v;
}

/* 0.2 on 8 cores is 0.2 * 4^0.5 = 0.4 on 2, and at most 0.6 on one. */
static void the_hit_rate_rises_as_cores_go(void **state)
{
    const struct tmx_memory_chip chip = chip_of(8);
    struct tmx_memory_kernel k = waiting(), same = k;
    k.l2_gain = 0.5;
    check_close(ipc(&chip, &k, 8, 1, 1), ipc(&chip, &same, 8, 1, 1), 1e-12, 0);
    same.l2_hit = 0.4;
    check_close(ipc(&chip, &k, 2, 1, 1), ipc(&chip, &same, 2, 1, 1), 1e-12, 0);
    k.l2_gain = 2;
    same.l2_hit = 0.6;
    check_close(ipc(&chip, &k, 1, 1, 1), ipc(&chip, &same, 1, 1, 1), 1e-12, 0);
}

/* All cores lose 20 % of the DRAM's throughput, half of the others 10 %, one none. */
static void rows_are_lost_to_other_cores(void **state)
{
    const struct tmx_memory_chip chip = chip_of(9);
    struct tmx_memory_kernel k = waiting(), same = k;
    k.row_loss = 0.2;
    for (int half = 0; half <= 2; half++) {
        struct tmx_memory_chip slower = chip;
        slower.dram_lines_per_cycle *= 1 - 0.1 * half;
        check_close(ipc(&chip, &k, 1 + 4 * half, 1, 1), ipc(&slower, &same, 1 + 4 * half, 1, 1), 1e-12, 0);
    }
}

/* 32 warps that can run at once are 4 on each of 8 cores, and 16 (all there are) on one. */
static void a_launch_has_so_many_runnable_warps(void **state)
{
    const struct tmx_memory_chip chip = chip_of(8);
    struct tmx_memory_kernel k = waiting(), same = k;
    k.parallel_warps = 32;
    check_close(ipc(&chip, &k, 1, 1, 1), ipc(&chip, &same, 1, 1, 1), 1e-12, 0);
    same.warps_per_block = 2;
    check_close(ipc(&chip, &k, 8, 1, 1), ipc(&chip, &same, 8, 1, 1), 1e-12, 0);
}

/* Both clocks up alike: the same in cycles. The memory's alone: latency and service in fewer core cycles. */
static void clocks_scale_latency_and_service(void **state)
{
    const struct tmx_memory_chip chip = chip_of(8);
    struct tmx_memory_chip faster = chip;
    const struct tmx_memory_kernel k = waiting();
    check_close(ipc(&chip, &k, 8, 1.2, 1.2), ipc(&chip, &k, 8, 1, 1), 1e-12, 0);
    faster.base_memory_cycles /= 1.25;
    faster.l2_lines_per_cycle *= 1.25;
    faster.dram_lines_per_cycle *= 1.25;
    check_close(ipc(&chip, &k, 8, 1, 1.25), ipc(&faster, &k, 8, 1, 1), 1e-12, 0);
}

/* ---- a policy that acts once, at cycle 1500 ---- */

struct once {
    bool wake, slow, hold;
    int calls;
};

static void once_launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    const struct once *o = state;
    (void)view;
    request->wake_cycle = 1500;
    if (o->wake) {
        request->state[1] = TMX_CORE_OFF;
        request->accept[1] = false;
    }
}

static void once_observe(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct once *o = state;
    if (o->hold && view->cycle >= 3000) {
        request->state[1] = TMX_CORE_ACTIVE;
    }
    if (view->cycle < 1500 || o->calls++ > 0) {
        return;
    }
    if (o->hold) {
        request->state[1] = TMX_CORE_THROTTLE;
        request->wake_cycle = 3000;
    }
    if (o->wake) {
        request->state[1] = TMX_CORE_ACTIVE;
        request->accept[1] = true;
    }
    if (o->slow) {
        request->core_clock = 0.5;
    }
}

static const struct tmx_cta_policy once_policy = {
    .base = {.name = "once"}, .launch = once_launch, .observe = once_observe};

static void run_with(const struct tmx_memory_chip *chip, const struct tmx_memory_kernel *k, struct once *once,
                     double epoch, void (*probe)(void *ctx, const struct tmx_contention_sample *s), void *ctx)
{
    struct tmx_memory_program program = {.name = "one", .n = 1};
    const struct tmx_memory_program *list[] = {&program};
    program.kernel[0] = *k;
    const struct tmx_contention_spec spec = {.chip = chip,
                                             .program = list,
                                             .n_program = 1,
                                             .policy = &once_policy,
                                             .policy_state = once,
                                             .epoch_cycles = epoch,
                                             .seed = 1,
                                             .max_cycles = 1e7,
                                             .probe = probe,
                                             .probe_ctx = ctx};
    assert_int_equal(tmx_contention_run(&spec, &r, NULL), TMX_OK);
}

static void run(const struct tmx_memory_chip *chip, const struct tmx_memory_kernel *k, struct once *once,
                double epoch, void (*probe)(void *ctx, const struct tmx_contention_sample *s))
{
    run_with(chip, k, once, epoch, probe, NULL);
}

/* Core 1 gets a block when it is asked to wake, and begins with it when it has woken. */
static void a_gated_core_takes_its_time_to_wake(void **state)
{
    struct tmx_memory_chip chip = chip_of(2);
    const struct tmx_memory_kernel k = computing(3);
    for (int wake = 0; wake <= 800; wake += 800) {
        struct once once = {.wake = true};
        chip.wake_cycles = wake;
        run(&chip, &k, &once, 1e6, NULL);
        /* core 0: 0 .. 2000; core 1: from 1500 + wake */
        check_close(r.cycles, 2500 + wake, 1e-6, 0);
        check_close(r.ledger.gatings, 1, 0, 0);
        check_close(r.ledger.wakeups, 1, 0, 0);
    }
}

/* 1500 of 2000 cycles at 1 GHz, a stall, the rest at 0.5 GHz. */
static void a_change_of_clock_stops_the_cores(void **state)
{
    struct tmx_memory_chip chip = chip_of(1);
    const struct tmx_memory_kernel k = computing(2);
    for (int stall = 0; stall <= 400; stall += 400) {
        struct once once = {.slow = true};
        chip.clock_change_cycles = stall;
        run(&chip, &k, &once, 1e6, NULL);
        check_close(r.cycles, 2000 + stall, 1e-6, 0);
        check_close(r.seconds, 1.5e-6 + (500 + stall) / 0.5e9, 1e-6, 0);
        check_close(r.ledger.clock_changes, 1, 0, 0);
    }
}

/* 16 warps that reach their next request after 1 / 0.3 instructions each, at one instruction a cycle: 53.3
 * cycles. */
static void check_hold(void *ctx, const struct tmx_contention_sample *s)
{
    const struct tmx_core *c = &s->core[1];
    const double issued = *(const bool *)ctx ? fmin(s->cycle - 1500, 16 / 0.3) : 0;
    if (s->cycle > 1500 && s->cycle < 3000) {
        assert_int_equal(c->state, TMX_CORE_THROTTLE);
        check_close(c->owed_lines, 0.3 * issued, 1e-9, 1e-9);
        check_close(c->latency_cycles, 0, 0, 0);
        check_close(c->n, 2, 0, 0);
    }
}

static void a_throttled_core_issues_until_its_warps_want_memory(void **state)
{
    struct tmx_memory_chip chip = chip_of(2);
    const struct tmx_memory_kernel k = waiting();
    for (int gradual = 0; gradual < 2; gradual++) {
        struct once once = {.hold = true};
        bool issues = gradual;
        chip.throttle = gradual ? TMX_THROTTLE_GRADUAL : TMX_THROTTLE_AT_ONCE;
        run_with(&chip, &k, &once, 10, check_hold, &issues);
        assert_true(once.calls >= 2);
        check_close(r.lines_served, r.lines_asked, 1e-9, 0);
    }
}

/* Blocks that end at once are replaced in the order of cores. */
static void check_last_block(void *ctx, const struct tmx_contention_sample *s)
{
    (void)ctx;
    if (s->cycle > 1100 && s->cycle < 1900) {
        for (size_t i = 0; i < s->n_core; i++) {
            assert_int_equal(s->core[i].n, i < 2);
        }
    }
}

static void ties_go_to_the_lower_core(void **state)
{
    const struct tmx_memory_chip chip = chip_of(5);
    const struct tmx_memory_kernel k = computing(7);
    struct once once = {0};
    for (int epoch = 200; epoch <= 1600; epoch *= 2) {
        run(&chip, &k, &once, epoch, check_last_block);
        check_close(r.cycles, 2000, 1e-6, 0);
        check_close(r.launch[0].core_seconds, 7e-6, 1e-6, 0);
    }
}

TMX_TESTS(test_contention_effects)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hit_rate_rises_as_cores_go),
        cmocka_unit_test(rows_are_lost_to_other_cores),
        cmocka_unit_test(a_launch_has_so_many_runnable_warps),
        cmocka_unit_test(clocks_scale_latency_and_service),
        cmocka_unit_test(a_gated_core_takes_its_time_to_wake),
        cmocka_unit_test(a_change_of_clock_stops_the_cores),
        cmocka_unit_test(a_throttled_core_issues_until_its_warps_want_memory),
        cmocka_unit_test(ties_go_to_the_lower_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
