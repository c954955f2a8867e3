/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/memory.h"

#include "base/rng.h"
#include "tests/support/check.h"

static const struct tmx_memory_system memory = {.base_cycles = 200, .l2_lines_per_cycle = 2, .partitions = 8};

static struct tmx_core_class any(struct tmx_rng *rng)
{
    return (struct tmx_core_class){
        .cores = 1 + (double)tmx_rng_below(rng, 40),
        .warps = 1 + (double)tmx_rng_below(rng, 48),
        .ipc1 = 0.5 + 1.5 * tmx_rng_uniform(rng),
        .cpi1_cycles = 1 + 20 * tmx_rng_uniform(rng),
        .mlp = 0.1 + 4 * tmx_rng_uniform(rng),
        .lines_per_instr = tmx_rng_below(rng, 8) == 0 ? 0 : 0.6 * tmx_rng_uniform(rng),
        .mshr = 8 + (double)tmx_rng_below(rng, 64),
        .l2_hit = tmx_rng_uniform(rng),
        .dram_service = 0.5 + tmx_rng_uniform(rng),
    };
}

/* Waits that the demand at the given waits would cause. */
static void response(const struct tmx_core_class *c, size_t n, double l2_wait, double dram_wait, double *l2,
                     double *dram)
{
    double lines = 0, busy = 0, weight = 0, service = 0;
    for (size_t i = 0; i < n; i++) {
        const double miss = 1 - c[i].l2_hit;
        const double x = c[i].cores * c[i].lines_per_instr *
                         tmx_core_class_ipc(&c[i], memory.base_cycles + l2_wait + miss * dram_wait);
        lines += x;
        busy += miss * x * c[i].dram_service;
        weight += c[i].cores;
        service += c[i].cores * c[i].dram_service;
    }
    const double load = lines / memory.l2_lines_per_cycle;
    *l2 = load < 1 ? memory.partitions / memory.l2_lines_per_cycle * load / (2 * (1 - load)) : INFINITY;
    *dram = busy < 1 ? memory.partitions * service / weight * busy / (2 * (1 - busy)) : INFINITY;
}

static void the_solution_is_a_fixed_point(void **state)
{
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 7, "latency", NULL), TMX_OK);
    for (int trial = 0; trial < 2000; trial++) {
        struct tmx_core_class c[4];
        struct tmx_latency l;
        double l2, dram;
        const size_t n = 1 + (size_t)tmx_rng_below(rng, 4);
        for (size_t i = 0; i < n; i++) {
            c[i] = any(rng);
        }
        tmx_latency_solve(&memory, c, n, &l);
        response(c, n, l.l2_wait_cycles, l.dram_wait_cycles, &l2, &dram);
        check_close(l.l2_wait_cycles, l2, 1e-6, 1e-6);
        check_close(l.dram_wait_cycles, dram, 1e-6, 1e-6);
        assert_true(l.l2_load < 1 && l.dram_load < 1);
    }
    tmx_rng_destroy(rng);
}

/* The wait that demand would cause, less the wait assumed, falls all the way: one root. */
static void there_is_one_fixed_point(void **state)
{
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 8, "latency", NULL), TMX_OK);
    for (int trial = 0; trial < 200; trial++) {
        struct tmx_core_class c[2] = {any(rng), any(rng)};
        c[0].l2_hit = c[1].l2_hit = 0;
        double before = INFINITY;
        for (int k = 0; k < 400; k++) {
            const double wait = 10.0 * k;
            double l2, dram;
            response(c, 2, 0, wait, &l2, &dram);
            assert_true(dram - wait < before || isinf(before));
            before = dram - wait;
        }
    }
    tmx_rng_destroy(rng);
}

static void a_core_obeys_its_three_limits(void **state)
{
    struct tmx_core_class c = {
        .cores = 1, .warps = 32, .ipc1 = 1, .cpi1_cycles = 6, .mlp = 2, .lines_per_instr = 0.3, .mshr = 32};
    for (int k = 0; k < 30; k++) {
        const double cycles = pow(1.3, k);
        const double ipc = tmx_core_class_ipc(&c, cycles), run = c.mlp / c.lines_per_instr;
        assert_true(ipc < c.ipc1);
        assert_true(ipc * c.lines_per_instr * cycles < c.mshr); /* Little's law with full MSHRs */
        assert_true(ipc < c.warps * run / (run * c.cpi1_cycles + cycles));
        assert_true(tmx_core_class_ipc(&c, cycles * 1.01) < ipc);
    }
    c.lines_per_instr = 0;
    check_close(tmx_core_class_ipc(&c, 1e9), tmx_core_class_ipc(&c, 0), 0, 0);
}

/* What the study found: latency of a saturated chip grows as the number of cores. */
static void saturated_latency_is_proportional_to_cores(void **state)
{
    struct tmx_core_class c = {.cores = 28,
                               .warps = 48,
                               .ipc1 = 1.2,
                               .cpi1_cycles = 6,
                               .mlp = 4,
                               .lines_per_instr = 0.4,
                               .mshr = 32,
                               .dram_service = 1};
    struct tmx_latency all, half;
    tmx_latency_solve(&memory, &c, 1, &all);
    c.cores = 14;
    tmx_latency_solve(&memory, &c, 1, &half);
    check_close(all.cycles[0] / half.cycles[0], 2, 0.02, 0);
}

/* Erlang's B: 4 lines offered to 2 MSHRs find both taken for 8 / 13 of the time. */
static void mshrs_are_full_as_erlang_says(void **state)
{
    struct tmx_core_class c = {
        .cores = 1, .warps = 1e6, .ipc1 = 1, .cpi1_cycles = 1, .mlp = 1, .lines_per_instr = 0.02, .mshr = 2};
    check_close(tmx_core_class_mshr_full(&c, 200), 8.0 / 13, 1e-6, 0);
    c.lines_per_instr = 0;
    check_close(tmx_core_class_mshr_full(&c, 200), 0, 0, 0);
}

TMX_TESTS(test_latency)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_solution_is_a_fixed_point),
        cmocka_unit_test(there_is_one_fixed_point),
        cmocka_unit_test(a_core_obeys_its_three_limits),
        cmocka_unit_test(mshrs_are_full_as_erlang_says),
        cmocka_unit_test(saturated_latency_is_proportional_to_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
