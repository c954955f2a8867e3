/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast SM against the literal one: the same events in the same cycles, the same counts. */
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/sm_cycle.h"
#include "sched/sched.h"
#include "tests/oracle/slow_sm.h"

struct log {
    struct tmx_sm_event *event;
    size_t n, room;
};

static void record(void *context, const struct tmx_sm_event *e)
{
    struct log *l = context;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 4096;
        l->event = realloc(l->event, l->room * sizeof *l->event);
        assert_non_null(l->event);
    }
    l->event[l->n++] = *e;
}

static bool same_event(const struct tmx_sm_event *a, const struct tmx_sm_event *b)
{
    return a->cycle == b->cycle && a->kind == b->kind && a->unit == b->unit && a->warp == b->warp;
}

static int choose(struct tmx_rng *rng, int low, int high)
{
    return low + (int)tmx_rng_below(rng, (uint64_t)high - (uint64_t)low + 1);
}

/* A kernel, an SM and gating times drawn at random; extremes are as likely as the middle. */
static void draw(struct tmx_rng *rng, struct tmx_instr_stats *st, struct tmx_sm_params *sm,
                 struct tmx_gate_params *gate)
{
    static const int per_block[] = {1, 2, 3, 4, 8};
    const double a = tmx_rng_uniform(rng), b = tmx_rng_uniform(rng), c = tmx_rng_uniform(rng) * 0.3;
    const double scale = 1 / (a + b + c + 0.2);
    const int wpb = per_block[choose(rng, 0, 4)];
    *st = (struct tmx_instr_stats){.mix_int = a * scale,
                                   .mix_fp = b * scale,
                                   .mix_sfu = c * scale,
                                   .mix_ldst = 1 - (a + b + c) * scale,
                                   .persistence = tmx_rng_uniform(rng) * 0.9,
                                   .warps = wpb * choose(rng, 1, TMX_MAX_WARPS / wpb),
                                   .warps_per_block = wpb,
                                   .dependence = tmx_rng_uniform(rng),
                                   .distance = 1 + tmx_rng_uniform(rng) * 5,
                                   .load_distance = 1 + tmx_rng_uniform(rng) * 8,
                                   .global_share = tmx_rng_uniform(rng),
                                   .store_share = tmx_rng_uniform(rng) * 0.5,
                                   .miss = tmx_rng_uniform(rng),
                                   .latency_cycles = 10 + tmx_rng_uniform(rng) * 900,
                                   .latency_variation = tmx_rng_uniform(rng) * 0.9,
                                   .bandwidth = choose(rng, 0, 1) ? 0.02 + tmx_rng_uniform(rng) * 0.2 : 0,
                                   .lines = 1 + tmx_rng_uniform(rng) * 4,
                                   .body = choose(rng, 8, 120),
                                   .repetitions = choose(rng, 1, 6),
                                   .barriers = choose(rng, 0, 2),
                                   .blocks_per_launch = choose(rng, 0, 1) * choose(rng, 1, 9),
                                   .launch_gap_cycles = choose(rng, 0, 300)};
    sm->active = choose(rng, 2, TMX_MAX_WARPS);
    sm->dual_issue = tmx_rng_uniform(rng);
    sm->issue_gap_cycles = choose(rng, 1, 3);
    sm->alu_cycles = choose(rng, 1, 12);
    sm->mshr = choose(rng, 1, 64);
    sm->clusters = choose(rng, 1, 4) == 1 ? 1 : 2;
    sm->slots = choose(rng, 1, 4) == 1 ? 1 : 2;
    sm->cluster_choice = choose(rng, 0, 1);
    sm->scan = choose(rng, TMX_SCAN_ROUND, TMX_SCAN_ENTRY);
    sm->waking = choose(rng, TMX_WAKING_PORT, TMX_WAKING_TYPE);
    gate->idle_detect_cycles = choose(rng, 1, 8);
    gate->break_even_cycles = choose(rng, 1, 24);
    gate->wakeup_cycles = choose(rng, 1, 9);
    gate->epoch_cycles = choose(rng, 20, 400);
    gate->critical_limit = choose(rng, 0, 5);
    gate->switch_limit_cycles = choose(rng, 0, 1) * choose(rng, 1, 200);
    gate->gate_sfu = choose(rng, 0, 1);
}

static void same_run(uint64_t seed, const struct tmx_instr_stats *st, const struct tmx_sm_params *sm,
                     const struct tmx_gate_params *gate, const struct tmx_gate_policy *policy)
{
    const struct tmx_stream_knobs knobs = {1, 1, 1, 1, 1, 1, 1};
    struct tmx_stream s;
    struct tmx_err err = {0};
    struct log fast = {0}, slow = {0};
    const struct tmx_sm_probe probe_fast = {record, &fast}, probe_slow = {record, &slow};
    struct tmx_sm_result a, b;

    assert_int_equal(tmx_stream_generate(&s, st, &knobs, seed, &err), TMX_OK);
    assert_int_equal(tmx_sm_run(sm, &s, policy, gate, 1500, &probe_fast, &a, &err), TMX_OK);
    assert_int_equal(slow_sm_run(sm, &s, policy, gate, 1500, &probe_slow, &b, &err), TMX_OK);
    for (size_t i = 0; i < fast.n && i < slow.n; i++) {
        if (!same_event(&fast.event[i], &slow.event[i])) {
            print_error("seed %d, %s, event %zu: fast cycle %d kind %d unit %u warp %u, "
                        "slow cycle %d kind %d unit %u warp %u\n",
                        (int)seed, policy->base.name, i, (int)fast.event[i].cycle, (int)fast.event[i].kind,
                        fast.event[i].unit, fast.event[i].warp, (int)slow.event[i].cycle,
                        (int)slow.event[i].kind, slow.event[i].unit, slow.event[i].warp);
            fail();
        }
    }
    assert_int_equal(fast.n, slow.n);
    assert_memory_equal(&a, &b, sizeof a);
    free(fast.event);
    free(slow.event);
    tmx_stream_finish(&s);
}

static void fast_and_slow_agree_in_every_cycle(void **state)
{
    struct tmx_rng *rng = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_rng_create(&rng, 20131207, "test.sm", &err), TMX_OK);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct tmx_instr_stats st;
        struct tmx_sm_params sm;
        struct tmx_gate_params gate;
        assert_int_equal(tmx_opt_read(tmx_sm_opts, &sm, NULL, NULL, &err), TMX_OK);
        assert_int_equal(tmx_opt_read(tmx_gate_opts, &gate, NULL, NULL, &err), TMX_OK);
        draw(rng, &st, &sm, &gate);
        for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
            same_run(seed, &st, &sm, &gate, *p);
        }
    }
    tmx_rng_destroy(rng);
}

TMX_TESTS(test_sm_oracle)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_slow_agree_in_every_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
