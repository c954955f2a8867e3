/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/stages.h"

#include <string.h>

#include "tests/support/tiny.h"

/* 4 x 2 SMs: the first is a corner, the second the opposite corner, no SM comes twice. */
static void spread_takes_far_sms_first(void **state)
{
    const double x[] = {0, 1, 2, 3, 0, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1};
    size_t order[8];
    bool seen[8] = {false};
    tmx_spread_order(x, y, 8, order);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 7);
    for (size_t i = 0; i < 8; i++) {
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

/* Each of the first k SMs is at least as far from the others as in the order of their indices. */
static void spread_keeps_a_distance(void **state)
{
    double x[30], y[30];
    size_t order[30];
    for (size_t i = 0; i < 30; i++) {
        const size_t row = i / 6;
        x[i] = (double)(i % 6);
        y[i] = (double)row;
    }
    tmx_spread_order(x, y, 30, order);
    for (size_t k = 2; k <= 8; k++) {
        double nearest = INFINITY;
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j < i; j++) {
                nearest = fmin(nearest, hypot(x[order[i]] - x[order[j]], y[order[i]] - y[order[j]]));
            }
        }
        assert_true(nearest >= 1.9); /* neighbours are 1 apart */
    }
}

enum { N_SM = 8, N_KERNEL = 2, DRAINED = 6 };

/* A chip of 8 SMs where kernel 0 waits for memory and kernel 1 computes; plans of 2 and 6 SMs. */
struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel[N_KERNEL];
    struct tmx_cta_plan plan[N_KERNEL];
    struct tmx_cta_spec spec;
    struct tmx_machine *m;
    struct tmx_arena arena;
    struct tmx_cta_stage *stage;
    struct tmx_request request;
    struct tmx_gpu_request gpu;
    double sensed_k[N_SM], asleep[N_SM + 1];
};

static void rig_open(struct rig *r, size_t n_run)
{
    const struct tmx_chip *chip = &r->chip;
    struct tmx_job job[N_KERNEL];
    tiny_chip(&r->chip, N_SM);
    r->spec.chip = (struct tmx_memory_chip){.cores = N_SM,
                                            .core_hz = 1e9,
                                            .mshr = 32,
                                            .peak_ipc = 1,
                                            .base_core_cycles = 50,
                                            .base_memory_cycles = 150,
                                            .partitions = 2,
                                            .l2_lines_per_cycle = 1,
                                            .dram_lines_per_cycle = 0.3,
                                            .l2_hit_max = 0.9};
    for (size_t k = 0; k < N_KERNEL; k++) {
        r->plan[k] = (struct tmx_cta_plan){.memory = {.blocks = 100,
                                                      .warps_per_block = 4,
                                                      .blocks_per_core = 4,
                                                      .instr_per_warp = 1000,
                                                      .ipc1 = 1,
                                                      .cpi1_cycles = 6,
                                                      .mlp = 2,
                                                      .lines_per_instr = k == 0 ? 0.3 : 0.001},
                                           .sms = k == 0 ? 2 : 6,
                                           .core_clock = 1,
                                           .memory_clock = 1,
                                           .delay_s = 1e-4,
                                           .energy_j = 0.25};
        job[k] = tiny_job(&r->kernel[k], 1, 2, N_SM);
    }
    const struct tmx_machine_spec spec = {
        .chip = &chip, .n_gpu = 1, .job = job, .n_job = N_KERNEL, .dt_s = 1e-3, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    r->spec.kernel = r->kernel;
    r->spec.n_kernel = N_KERNEL;
    r->spec.plan = r->plan;
    r->stage = tmx_cta_stage_take(&r->arena, &r->spec, r->m);
    assert_false(r->arena.failed);
    struct tmx_gpu *gpu = &r->m->gpu[0];
    gpu->run[0] = 0;
    gpu->run[1] = 1;
    gpu->n_run = n_run;
    gpu->share = 0.5;
    gpu->n_active = N_SM;
    r->m->counting = true;
    r->m->speed[0] = 1;
    for (size_t i = 0; i < N_SM; i++) {
        gpu->order[i] = i;
        r->sensed_k[i] = 340 - (double)i;
    }
    r->request.gpu = &r->gpu;
}

static void rig_close(struct rig *r)
{
    tmx_arena_finish(&r->arena);
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

/* The first kernel has the SMs 0 .. n0 - 1, the second the n1 after them. */
static void deal(struct rig *r, size_t n0, size_t n1)
{
    for (size_t sm = 0; sm < N_SM; sm++) {
        r->m->share[sm] = sm < n0;
        r->m->share[r->m->n_sm + sm] = sm >= n0 && sm < n0 + n1;
    }
}

static void limit(struct rig *r, double share)
{
    r->gpu = (struct tmx_gpu_request){.share = share, .n_active = N_SM};
    tmx_cta_stage_limit(r->stage, r->m, &r->request);
    (void)tmx_cta_stage_order(r->stage, &r->m->gpu[0], 0, r->sensed_k, r->m->gpu[0].order);
}

static void a_kernel_gets_the_sms_of_its_plan(void **state)
{
    struct rig r = {.spec = {.place = TMX_CTA_ORDER}};
    rig_open(&r, 1);
    limit(&r, 1);
    assert_int_equal(r.gpu.n_active, 2);
    assert_int_equal(r.m->gpu[0].order[0], 0);
    rig_close(&r);

    rig_open(&r, 2); /* two kernels: mean of their plans by their shares */
    limit(&r, 0.25);
    assert_int_equal(r.gpu.n_active, 5); /* 2 / 4 + 6 * 3 / 4 */
    limit(&r, 0.75);
    assert_int_equal(r.gpu.n_active, 3); /* 2 * 3 / 4 + 6 / 4 */
    rig_close(&r);
}

/* Kernels that take turns on all SMs: enough for both. */
static void turns_keep_the_larger_plan(void **state)
{
    struct rig r = {.spec = {.place = TMX_CTA_ORDER, .turns = true}};
    rig_open(&r, 2);
    limit(&r, 0.75);
    assert_int_equal(r.gpu.n_active, 6);
    check_close(r.gpu.share, 0.75, 0, 0);
    rig_close(&r);
}

/* tcs_share: all SMs stay in use, the first kernel keeps what its plan says and no more. */
static void freed_sms_are_lent(void **state)
{
    struct rig r = {.spec = {.place = TMX_CTA_ORDER, .lend = true}};
    rig_open(&r, 2);
    limit(&r, 0.5);
    assert_int_equal(r.gpu.n_active, N_SM);
    check_close(r.gpu.share, 2.0 / N_SM, 1e-12, 0);
    limit(&r, 0.125);
    check_close(r.gpu.share, 0.125, 1e-12, 0);
    rig_close(&r);
}

static void the_coldest_sms_come_first(void **state)
{
    struct rig r = {.spec = {.place = TMX_CTA_COLDEST}};
    rig_open(&r, 1);
    limit(&r, 1);
    for (size_t i = 0; i < N_SM; i++) {
        assert_int_equal(r.m->gpu[0].order[i], N_SM - 1 - i);
    }
    rig_close(&r);
}

/* The level nearest to the clock asked for, never a faster one than the policies' own. */
static void a_lower_clock_is_a_level(void **state)
{
    struct rig r = {.spec = {.place = TMX_CTA_ORDER}};
    rig_open(&r, 1);
    r.plan[0].core_clock = 0.9;
    r.stage = tmx_cta_stage_take(&r.arena, &r.spec, r.m);
    assert_false(r.arena.failed);
    limit(&r, 1);
    assert_int_equal(r.gpu.level, 1); /* 1.0, 0.9, 0.8 GHz */
    rig_close(&r);
}

/* A memory-bound kernel on a quarter of the SMs is faster on each of them than on all, and its memory
 * answers sooner; beside itself it is slowed. */
static void sms_share_one_memory(void **state)
{
    struct rig r = {0};
    rig_open(&r, 1);
    deal(&r, N_SM, 0);
    tmx_cta_stage_slow(r.stage, r.m);
    check_close(r.m->job[0].memory_slowdown, 1, 1e-9, 0); /* the whole chip is the reference */
    check_close(tmx_cta_stage_latency(r.stage)[0], 1, 1e-9, 0);
    deal(&r, 2, 0);
    tmx_cta_stage_slow(r.stage, r.m);
    const double two = r.m->job[0].memory_slowdown, latency = tmx_cta_stage_latency(r.stage)[0];
    assert_true(two < 0.5);
    assert_true(latency < 0.5);
    r.m->gpu[0].n_run = 2;
    deal(&r, 4, 4); /* four SMs beside a kernel that computes */
    tmx_cta_stage_slow(r.stage, r.m);
    assert_true(r.m->job[0].memory_slowdown > two && r.m->job[0].memory_slowdown < 1);
    check_close(r.m->job[1].memory_slowdown, 1, 0.05, 0);
    assert_true(r.m->job[1].memory_slowdown > 0.9);
    deal(&r, N_SM, 0); /* taking turns: as if alone */
    tmx_cta_stage_slow(r.stage, r.m);
    check_close(r.m->job[0].memory_slowdown, 1, 1e-9, 0);
    deal(&r, 4, 4);
    tmx_cta_stage_slow(r.stage, r.m);
    r.m->speed[0] = 0.5; /* at half the clock memory is nearer: fewer cycles an instruction */
    const double before = r.m->job[0].memory_slowdown;
    tmx_cta_stage_slow(r.stage, r.m);
    assert_true(r.m->job[0].memory_slowdown < before);
    rig_close(&r);
}

static void a_transient_is_charged_once(void **state)
{
    struct rig r = {0};
    rig_open(&r, 1);
    struct tmx_gpu *gpu = &r.m->gpu[0];
    gpu->n_active = 2;
    for (int tick = 0; tick < 3; tick++) {
        tmx_cta_stage_slow(r.stage, r.m);
    }
    check_close(gpu->transition_j, 0.25, 1e-12, 0);
    check_close(gpu->overhead_s, 2e-4, 1e-12, 0); /* the delay on its two SMs */
    rig_close(&r);
}

static void unused_sms_leak_the_gated_rest(void **state)
{
    struct rig r = {.spec = {.power_gate = true, .gated_share = 0.1}};
    rig_open(&r, 1);
    r.m->gpu[0].n_active = 2;
    for (size_t sm = 0; sm < 3; sm++) { /* two work, one still drains */
        r.m->share[sm] = sm < 2;
        r.m->busy[sm] = sm < 2 ? 1 : 0.25;
    }
    memset(r.asleep, 0, sizeof r.asleep);
    tmx_cta_stage_sleep(r.stage, r.m, r.asleep);
    for (size_t sm = 0; sm < N_SM; sm++) {
        check_close(r.asleep[r.chip.unit_of_sm[sm]], sm < 3 ? 0 : 0.9, 1e-12, 0);
    }
    r.m->gpu[0].n_active = N_SM; /* idle for lack of work: not gated */
    tmx_cta_stage_sleep(r.stage, r.m, r.asleep);
    check_close(r.asleep[r.chip.unit_of_sm[DRAINED]], 0, 0, 0);
    rig_close(&r);
}

/* Unit gating reads its profile at the latency that the CTA policy leaves, and both slowdowns count. */
static void unit_gating_sees_the_latency_of_the_plan(void **state)
{
    struct rig r = {0};
    struct tmx_gate_profile profile[N_KERNEL] = {0};
    const double base[N_KERNEL] = {400, 400};
    struct tmx_gate_stage *gate;
    for (size_t i = 0; i < TMX_GATE_POINTS; i++) { /* slowdown and sleep equal latency / 1000 */
        const double latency = 50 * (double)(1u << i);
        profile[0].point[i] = (struct tmx_gate_point){
            .latency_cycles = latency, .asleep = {latency / 1e4}, .slowdown = latency / 1e3};
    }
    rig_open(&r, 1);
    const struct tmx_gate_kind kind = {.profile = profile, .latency_cycles = base, .chip_share = {0.5}};
    const struct tmx_gate_spec spec = {.kernel = r.kernel,
                                       .n_kernel = N_KERNEL,
                                       .kind = &kind,
                                       .n_kind = 1,
                                       .kind_of_gpu = &(const size_t){0}};
    gate = tmx_gate_stage_take(&r.arena, &spec, r.m);
    assert_false(r.arena.failed);
    tmx_gate_stage_slow(gate, r.m, tmx_machine_all(r.m), NULL);
    check_close(tmx_job_slowdown(&r.m->job[0]), 1.4, 1e-12, 0);
    tmx_gate_stage_sleep(gate, r.m, tmx_machine_all(r.m), r.asleep);
    const double alone = r.asleep[0];
    r.m->job[0].memory_slowdown = 0.5; /* as the CTA stage leaves it */
    tmx_gate_stage_slow(gate, r.m, tmx_machine_all(r.m), (const double[]){0.5, 1});
    check_close(tmx_job_slowdown(&r.m->job[0]), 0.5 * 1.2, 1e-12, 0);
    r.m->busy[0] = 1;
    tmx_gate_stage_sleep(gate, r.m, tmx_machine_all(r.m), r.asleep);
    assert_true(r.asleep[0] > 0 && r.asleep[0] < alone);
    rig_close(&r);
}

TMX_TESTS(test_cta_stage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread_takes_far_sms_first),
        cmocka_unit_test(spread_keeps_a_distance),
        cmocka_unit_test(a_kernel_gets_the_sms_of_its_plan),
        cmocka_unit_test(turns_keep_the_larger_plan),
        cmocka_unit_test(freed_sms_are_lent),
        cmocka_unit_test(the_coldest_sms_come_first),
        cmocka_unit_test(a_lower_clock_is_a_level),
        cmocka_unit_test(sms_share_one_memory),
        cmocka_unit_test(a_transient_is_charged_once),
        cmocka_unit_test(unused_sms_leak_the_gated_rest),
        cmocka_unit_test(unit_gating_sees_the_latency_of_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
