/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/merge.h"

static struct tmx_node node(void)
{
    return (struct tmx_node){.sms = 30,
                             .sm_threads = 1024,
                             .sm_blocks = 8,
                             .sm_registers = 16384,
                             .sm_shared_bytes = 16384,
                             .redistribution = TMX_BULK,
                             .idle_w = 300,
                             .active_w = 60,
                             .scaling = TMX_SCALE_LOG10,
                             .copy_bytes_per_s = 1e9,
                             .uncertainty = 0.05};
}

static struct tmx_workload kind(const char *kernel, int blocks, int threads, int registers, double time_s)
{
    struct tmx_workload w = {.blocks = blocks,
                             .threads_per_block = threads,
                             .registers_per_thread = registers,
                             .sm_share = 1,
                             .gpu_time_s = time_s,
                             .cpu_first_s = NAN,
                             .cpu_more_s = NAN,
                             .cpu_power_w = NAN};
    snprintf(w.kernel, sizeof w.kernel, "%s", kernel);
    return w;
}

static const struct tmx_template ab = {.name = "a+b", .member = {{"a", 0}, {"b", 0}}, .n_kernel = 2};

/* blocks of each type, time of one; SMs, slots, reading; expected end, critical SMs, blocks on SM 0 and 29 */
static const struct {
    const char *what;
    struct tmx_block_type type[2];
    size_t n_type, slots;
    enum tmx_redistribution redistribution;
    double time_s;
    size_t n_critical, first, last;
} placements[] = {
    {"45 blocks on 30 SMs, one slot: 15 SMs run two", {{45, 10, 1}}, 1, 1, TMX_BULK, 10 + 10, 15, 2, 1},
    {"the same, greedy", {{45, 10, 1}}, 1, 1, TMX_GREEDY, 20, 15, 2, 1},
    {"45 blocks, two slots: work adds up", {{45, 10, 1}}, 1, 2, TMX_BULK, 20, 15, 2, 1},
    {"45 blocks that use half an SM each", {{45, 10, 0.5}}, 1, 2, TMX_BULK, 10, 30, 2, 1},
    {"30 blocks fill every SM once", {{30, 10, 1}}, 1, 4, TMX_BULK, 10, 30, 1, 1},
    {"3 blocks leave 27 SMs idle", {{3, 10, 1}}, 1, 1, TMX_GREEDY, 10, 3, 1, 0},
    {"61 blocks: one SM runs three", {{61, 10, 1}}, 1, 1, TMX_GREEDY, 30, 1, 3, 2},
    {"scenario 1, bulk: the first 15 SMs get one short and two long blocks",
     {{15, 19.5, 1}, {45, 31.2, 1}},
     2,
     1,
     TMX_BULK,
     19.5 + 2 * 31.2,
     15,
     3,
     1},
    {"scenario 1, greedy: every SM runs two blocks, the last 15 SMs end last",
     {{15, 19.5, 1}, {45, 31.2, 1}},
     2,
     1,
     TMX_GREEDY,
     62.4,
     15,
     2,
     2},
    {"scenario 2: two resident blocks share an SM",
     {{15, 49.2, 1}, {45, 13.2, 1}},
     2,
     2,
     TMX_BULK,
     62.4,
     15,
     2,
     2},
};

static void blocks_land_where_the_rule_says(void **state)
{
    struct tmx_placement *p = malloc(sizeof *p);
    for (size_t i = 0; i < sizeof placements / sizeof placements[0]; i++) {
        const size_t n = placements[i].n_type;
        tmx_placement_run(placements[i].type, n, 30, placements[i].slots, placements[i].redistribution, p);
        print_message("%s\n", placements[i].what);
        check_close(p->time_s, placements[i].time_s, 1e-12, 0);
        assert_int_equal(p->n_critical, placements[i].n_critical);
        assert_int_equal(p->blocks[0][0] + p->blocks[0][1], placements[i].first);
        assert_int_equal(p->blocks[29][0] + p->blocks[29][1], placements[i].last);
    }
    free(p);
}

static void no_block_is_lost_and_no_time_is_won(void **state)
{
    struct tmx_rng *rng = NULL;
    struct tmx_placement *p = malloc(sizeof *p);
    assert_int_equal(tmx_rng_create(&rng, 4, "placement", NULL), TMX_OK);
    for (int i = 0; i < 400; i++) {
        struct tmx_block_type t[3];
        double work = 0, longest = 0;
        const size_t sms = 1 + tmx_rng_below(rng, 40), slots = 1 + tmx_rng_below(rng, 8);
        for (size_t k = 0; k < 3; k++) {
            t[k] = (struct tmx_block_type){tmx_rng_below(rng, 90), 0.1 + tmx_rng_uniform(rng), 1};
            work += (double)t[k].blocks * t[k].work_s;
            longest = t[k].blocks > 0 && t[k].work_s > longest ? t[k].work_s : longest;
        }
        for (int r = TMX_BULK; r <= TMX_GREEDY; r++) {
            size_t seen[3] = {0};
            tmx_placement_run(t, 3, sms, slots, (enum tmx_redistribution)r, p);
            for (size_t sm = 0; sm < sms; sm++) {
                for (size_t k = 0; k < 3; k++) {
                    seen[k] += p->blocks[sm][k];
                }
            }
            for (size_t k = 0; k < 3; k++) {
                assert_int_equal(seen[k], t[k].blocks);
            }
            assert_true(p->time_s >= (1 - 1e-9) * work / (double)sms);
            assert_true(p->time_s >= (1 - 1e-9) * longest);
            assert_true(p->time_s <= (1 + 1e-9) * work);
        }
    }
    tmx_rng_destroy(rng);
    free(p);
}

/* threads, registers per thread, shared memory of two kinds; slots of the merge, obstacle */
static const struct {
    int threads[2], registers[2], shared[2], slots;
    enum tmx_obstacle why;
} fits[] = {
    {{256, 256}, {23, 20}, {0, 0}, 2, TMX_FITS},         /* BlackScholes + search: 16384 / (256 * 23) */
    {{256, 128}, {22, 49}, {6144, 2048}, 1, TMX_FITS},   /* encryption + MonteCarlo: 16384 / (256 * 49) */
    {{256, 256}, {16, 16}, {8192, 0}, 2, TMX_FITS},      /* shared memory decides */
    {{64, 64}, {8, 8}, {0, 0}, 8, TMX_FITS},             /* block slots decide */
    {{512, 256}, {4, 4}, {0, 0}, 2, TMX_FITS},           /* threads decide */
    {{512, 128}, {16, 40}, {0, 0}, 0, TMX_NO_REGISTERS}, /* each fits alone, the merged kernel does not */
    {{2048, 128}, {4, 4}, {0, 0}, 0, TMX_NO_THREADS},
    {{128, 128}, {4, 4}, {20000, 0}, 0, TMX_NO_SHARED},
};

static void a_merge_is_feasible_when_one_block_of_the_merged_kernel_fits(void **state)
{
    const struct tmx_node n = node();
    const size_t both[2] = {1, 1};
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        struct tmx_workload w[2];
        struct tmx_prediction p;
        enum tmx_obstacle why;
        for (size_t k = 0; k < 2; k++) {
            w[k] = kind(k ? "b" : "a", 3, fits[i].threads[k], fits[i].registers[k], 1);
            w[k].shared_bytes = fits[i].shared[k];
        }
        const struct tmx_batch b = {&n, w, 2, both};
        assert_int_equal(tmx_merge_slots(&b, &why), fits[i].slots);
        assert_int_equal(why, fits[i].why);
        assert_int_equal(tmx_merge_predict(&b, &ab, true, 70, &p, NULL), fits[i].why);
    }
}

static void kernels_without_a_common_template_do_not_merge(void **state)
{
    const struct tmx_node n = node();
    const struct tmx_workload w[] = {kind("a", 3, 128, 8, 1), kind("c", 3, 128, 8, 1)};
    const size_t both[] = {1, 1}, one[] = {2, 0};
    struct tmx_prediction p;
    const struct tmx_batch ac = {&n, w, 2, both}, aa = {&n, w, 2, one};
    assert_null(tmx_template_for(&ac, &ab, 1));
    assert_int_equal(tmx_merge_predict(&ac, &ab, true, 70, &p, NULL), TMX_NO_TEMPLATE);
    assert_int_equal(tmx_merge_predict(&ac, NULL, true, 70, &p, NULL), TMX_NO_TEMPLATE);
    assert_ptr_equal(tmx_template_for(&aa, &ab, 1), &ab);
}

static void first_type_adds_slowdown_and_bandwidth_of_others_only(void **state)
{
    const struct tmx_node n = node();
    struct tmx_workload w[] = {kind("a", 10, 256, 20, 100), kind("b", 1, 256, 20, 90)};
    const struct tmx_template t = {
        .name = "a+b", .member = {{"a", 0.03}, {"b", 0}}, .n_kernel = 2, .overhead_s = 2};
    const size_t count[] = {2, 5}, one[] = {1, 0};
    struct tmx_prediction p;
    w[0].bandwidth_per_block = 0.001;
    w[1].bandwidth_per_block = 0.004;
    const struct tmx_batch b = {&n, w, 2, count}, alone = {&n, w, 2, one};
    assert_int_equal(tmx_merge_predict(&b, &t, false, 70, &p, NULL), TMX_FITS);
    check_close(p.time_s, 100 * (1 + 0.03 + 0.010 + 0.020), 1e-12, 0);
    assert_int_equal(p.occupied_sms, 25);
    assert_false(p.shared_sms);
    assert_int_equal(tmx_merge_predict(&b, &t, true, 70, &p, NULL), TMX_FITS);
    check_close(p.overhead_s, 2, 1e-12, 0);
    assert_int_equal(tmx_merge_predict(&alone, &t, false, 70, &p, NULL), TMX_FITS);
    check_close(p.time_s, 103, 1e-12, 0);
}

static void overheads_follow_leader_and_constant_reuse(void **state)
{
    struct tmx_node n = node();
    struct tmx_workload w[] = {kind("a", 1, 64, 8, 1), kind("b", 1, 64, 8, 1)};
    const size_t same[] = {5, 0}, mixed[] = {4, 1};
    const struct tmx_batch homo = {&n, w, 2, same}, hetero = {&n, w, 2, mixed};
    struct tmx_prediction p;
    n.message_s = 0.01;
    n.messages = 10;
    n.reuse_constants = n.leader = true;
    w[0].copy_bytes = 1e8;
    w[0].constant_bytes = 3e8;
    (void)tmx_merge_predict(&homo, &ab, true, 70, &p, NULL);
    check_close(p.overhead_s, 5 * 0.1 + 0.3 + 0.1, 1e-12, 0);
    (void)tmx_merge_predict(&hetero, &ab, true, 70, &p, NULL);
    check_close(p.overhead_s, 4 * 0.1 + 0.3 + 5 * 0.1, 1e-12, 0);
    n.reuse_constants = n.leader = false;
    (void)tmx_merge_predict(&homo, &ab, true, 70, &p, NULL);
    check_close(p.overhead_s, 5 * 0.1 + 5 * 0.3 + 5 * 0.1, 1e-12, 0);
}

static void measured_power_of_one_instance_is_predicted_back(void **state)
{
    for (int scaling = TMX_SCALE_LINEAR; scaling <= TMX_SCALE_LOG10; scaling++) {
        struct tmx_node n = node();
        struct tmx_workload w = kind("a", 15, 256, 20, 49.2);
        const size_t one[] = {1}, three[] = {3};
        struct tmx_prediction p;
        n.scaling = scaling;
        w.dynamic_w_per_block = tmx_workload_dynamic_w(&n, 15, 390.0);
        const struct tmx_batch b = {&n, &w, 1, one}, b3 = {&n, &w, 1, three};
        tmx_serial_predict(&b, n.reference_c, &p);
        check_close(p.power_w, 390, 1e-12, 0);
        check_close(p.energy_j, 390 * 49.2, 1e-12, 0);
        tmx_serial_predict(&b3, n.reference_c, &p);
        check_close(p.energy_j, 3 * 390 * 49.2, 1e-12, 0);
        n.temperature_w_per_k = 0.5;
        tmx_serial_predict(&b, n.reference_c + 10, &p);
        check_close(p.power_w, 395, 1e-12, 0);
    }
    struct tmx_node n = node();
    check_close(tmx_node_scale(&n, 30), 1, 1e-12, 0);
    assert_true(tmx_workload_dynamic_w(&n, 3, 355) == 0); /* below idle + active: never negative */
}

static void the_order_of_kinds_does_not_matter(void **state)
{
    const struct tmx_node n = node();
    const struct tmx_workload a = kind("a", 15, 256, 20, 19.5), b = kind("b", 45, 128, 49, 62.4);
    const struct tmx_workload forth[] = {a, b}, back[] = {b, a};
    const size_t count[] = {1, 1};
    struct tmx_prediction p, q;
    const struct tmx_batch x = {&n, forth, 2, count}, y = {&n, back, 2, count};
    assert_int_equal(tmx_merge_predict(&x, &ab, true, 70, &p, NULL), TMX_FITS);
    assert_int_equal(tmx_merge_predict(&y, &ab, true, 70, &q, NULL), TMX_FITS);
    assert_true(p.time_s == q.time_s && p.energy_j == q.energy_j);
    check_close(p.time_s, 81.9, 1e-12, 0);
}

static void the_cpu_is_unknown_unless_every_kind_is_known(void **state)
{
    const struct tmx_node n = node();
    struct tmx_workload w[] = {kind("a", 3, 64, 8, 1), kind("b", 3, 64, 8, 1)};
    const size_t both[] = {2, 3}, one[] = {1, 0};
    struct tmx_prediction p;
    const struct tmx_batch b = {&n, w, 2, both}, alone = {&n, w, 2, one};
    w[0].cpu_first_s = 10, w[0].cpu_more_s = 2, w[0].cpu_power_w = 400;
    assert_false(tmx_cpu_predict(&b, &p));
    assert_true(tmx_cpu_predict(&alone, &p));
    check_close(p.time_s, 10, 1e-12, 0);
    w[1].cpu_first_s = 20, w[1].cpu_more_s = 5, w[1].cpu_power_w = 420;
    assert_true(tmx_cpu_predict(&b, &p));
    check_close(p.time_s, 20 + 2 * 5 + 2 * 2, 1e-12, 0);
    check_close(p.energy_j, 420 * 34.0, 1e-12, 0);
}

TMX_TESTS(test_merge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_land_where_the_rule_says),
        cmocka_unit_test(no_block_is_lost_and_no_time_is_won),
        cmocka_unit_test(a_merge_is_feasible_when_one_block_of_the_merged_kernel_fits),
        cmocka_unit_test(kernels_without_a_common_template_do_not_merge),
        cmocka_unit_test(first_type_adds_slowdown_and_bandwidth_of_others_only),
        cmocka_unit_test(overheads_follow_leader_and_constant_reuse),
        cmocka_unit_test(measured_power_of_one_instance_is_predicted_back),
        cmocka_unit_test(the_order_of_kinds_does_not_matter),
        cmocka_unit_test(the_cpu_is_unknown_unless_every_kind_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
