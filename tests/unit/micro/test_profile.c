/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles: the cache gives back what was measured, the interpolation what was run. */
#include "tests/support/check.h"

#include <string.h>

#include "base/os.h"
#include "kernels/profile.h"
#include "sched/sched.h"
#include "tests/support/scratch.h"

static struct tmx_profile_key key_of(const char *policy)
{
    struct tmx_profile_key key = {.stats = {.mix_int = 0.5,
                                            .mix_fp = 0.25,
                                            .mix_sfu = 0.02,
                                            .mix_ldst = 0.23,
                                            .persistence = 0.5,
                                            .warps = 16,
                                            .warps_per_block = 4,
                                            .dependence = 0.6,
                                            .distance = 2,
                                            .load_distance = 5,
                                            .global_share = 0.6,
                                            .store_share = 0.2,
                                            .miss = 0.2,
                                            .latency_cycles = 400,
                                            .latency_variation = 0.2,
                                            .lines = 1,
                                            .body = 60,
                                            .repetitions = 10},
                                  .knobs = {1, 1, 1, 1, 1, 1, 1},
                                  .policy = policy ? tmx_gate_find(policy) : NULL,
                                  .seed = 4,
                                  .budget = 30000};
    assert_int_equal(tmx_opt_read(tmx_sm_opts, &key.sm, NULL, NULL, NULL), TMX_OK);
    assert_int_equal(tmx_opt_read(tmx_gate_opts, &key.gate, NULL, NULL, NULL), TMX_OK);
    return key;
}

static void three_numbers_describe_a_core(void **state)
{
    const struct tmx_profile_key key = key_of(NULL);
    struct tmx_core_fit fit, again;
    struct tmx_err err = {0};
    assert_int_equal(tmx_profile_core(&key, NULL, &fit, &err), TMX_OK);
    assert_true(fit.mean_error < 0.06 && fit.worst_error < 0.25);
    assert_true(fit.ipc1 > 0.5 && fit.ipc1 < 2.5);
    assert_true(tmx_core_fit_ipc(&fit, 16, 400) > tmx_core_fit_ipc(&fit, 16, 800));
    assert_true(tmx_core_fit_ipc(&fit, 16, 400) > tmx_core_fit_ipc(&fit, 8, 400));
    assert_int_equal(tmx_profile_core(&key, "profile_cache", &fit, &err), TMX_OK);
    assert_int_equal(tmx_profile_core(&key, "profile_cache", &again, &err), TMX_OK);
    assert_memory_equal(&fit, &again, sizeof fit);
}

static void a_profile_interpolates_its_runs(void **state)
{
    const struct tmx_profile_key key = key_of("warped_gates");
    struct tmx_gate_profile p, again;
    struct tmx_gate_point at;
    struct tmx_err err = {0};
    assert_int_equal(tmx_profile_gate(&key, "profile_cache", &p, &err), TMX_OK);
    assert_int_equal(tmx_profile_gate(&key, "profile_cache", &again, &err), TMX_OK); /* from disk or not */
    assert_memory_equal(&p, &again, sizeof p);
    for (int i = 0; i < TMX_GATE_POINTS; i++) { /* at its points: exactly */
        struct tmx_gate_point fresh;
        tmx_gate_profile_at(&p, p.point[i].latency_cycles, &at);
        assert_int_equal(tmx_profile_gate_point(&key, p.point[i].latency_cycles, &fresh, &err), TMX_OK);
        for (int k = 0; k < 3; k++) {
            check_close(at.asleep[k], p.point[i].asleep[k], 1e-12, 0);
            check_close(fresh.asleep[k], p.point[i].asleep[k], 0, 1e-9);
        }
    }
    tmx_gate_profile_at(&p, 1, &at); /* beyond them: constant */
    check_close(at.slowdown, p.point[0].slowdown, 0, 0);
    tmx_gate_profile_at(&p, 1e9, &at);
    check_close(at.asleep[1], p.point[TMX_GATE_POINTS - 1].asleep[1], 0, 0);
    assert_true(p.asleep_error < 0.05); /* between them: a few points */
}

static void a_spoilt_cache_is_measured_again(void **state)
{
    struct tmx_profile_key key = key_of("convpg");
    struct tmx_gate_profile p, again;
    struct tmx_err err = {0};
    char list[64] = "profile_spoilt";
    key.budget = 5000;
    assert_int_equal(tmx_profile_gate(&key, "profile_spoilt", &p, &err), TMX_OK);
    const char *const argv[] = {"sh", "-c", "for f in profile_spoilt/*; do echo spoilt > $f; done", NULL};
    int code = 1;
    assert_int_equal(tmx_os_run(argv, NULL, &code, &err), TMX_OK);
    assert_int_equal(code, 0);
    assert_true(tmx_os_exists(list));
    assert_int_equal(tmx_profile_gate(&key, "profile_spoilt", &again, &err), TMX_OK);
    assert_memory_equal(&p, &again, sizeof p);
}

static void what_takes_too_long_is_refused_before_it_begins(void **state)
{
    struct tmx_profile_key key = key_of("convpg");
    struct tmx_core_fit fit;
    struct tmx_gate_profile gate;
    struct tmx_err err = {0};
    key.budget = 100000000000;
    assert_int_equal(tmx_profile_core(&key, NULL, &fit, &err), TMX_ERANGE);
    assert_non_null(strstr(err.msg, "max-minutes"));
    err.code = TMX_OK;
    assert_int_equal(tmx_profile_gate(&key, NULL, &gate, &err), TMX_ERANGE);
}

static struct tmx_err kept; /* an error stays */

/* Per-core parameters of a launch: the stream carries the launch's warps and lines, cycles are the chip's. */

static struct tmx_memory_chip chip_of(double sm_clocks)
{
    return (struct tmx_memory_chip){
        .cores = 4, .base_core_cycles = 50, .base_memory_cycles = 150, .sm_clocks = sm_clocks};
}

static struct tmx_profile_key launch_key(double global_share)
{
    struct tmx_profile_key key = {.stats = {.mix_int = 0.6,
                                            .mix_fp = 0.1,
                                            .mix_ldst = 0.3,
                                            .warps = 40,
                                            .warps_per_block = 8,
                                            .dependence = 0.6,
                                            .distance = 2,
                                            .load_distance = 5,
                                            .global_share = global_share,
                                            .store_share = 0.2,
                                            .miss = 0.5,
                                            .latency_cycles = 900,
                                            .lines = 1,
                                            .body = 60,
                                            .repetitions = 10},
                                  .knobs = {1, 1, 1, 0.8, 0.5, 1, 1},
                                  .seed = 3,
                                  .budget = 40000};
    assert_int_equal(tmx_opt_read(tmx_sm_opts, &key.sm, NULL, NULL, NULL), TMX_OK);
    return key;
}

static struct tmx_memory_kernel launch_of(double lines_per_instr)
{
    return (struct tmx_memory_kernel){.warps_per_block = 4,
                                      .blocks_per_core = 6,
                                      .lines_per_instr = lines_per_instr,
                                      .ipc1 = 1,
                                      .cpi1_cycles = 6,
                                      .mlp = 2};
}

/* From hardly any to many lines per access, with and without loads in the file's body. */
static void the_stream_sends_the_lines_of_the_launch(void **state)
{
    static const double traffic[] = {0.0005, 0.01, 0.05, 0.12, 0.3, 1.0};
    const struct tmx_memory_chip chip = chip_of(1);
    for (int none = 0; none < 2; none++) {
        for (size_t i = 0; i < sizeof traffic / sizeof traffic[0]; i += TMX_EVERY) {
            struct tmx_profile_key key = launch_key(none ? 0 : 0.7);
            const struct tmx_memory_kernel launch = launch_of(traffic[i]);
            struct tmx_core_fit fit = {0};
            assert_int_equal(tmx_launch_profile_key(&key, &launch, &chip, &kept), TMX_OK);
            assert_int_equal(key.stats.warps, 24);
            assert_int_equal(key.stats.warps_per_block, 4);
            check_close(key.stats.latency_cycles * key.knobs.latency, 200, 1e-12, 0);
            assert_int_equal(tmx_profile_core(&key, NULL, &fit, &kept), TMX_OK);
            check_close(fit.lines_per_instr, traffic[i], traffic[i] < 0.001 ? 0.3 : 0.06,
                        0); /* rare: few drawn */
        }
    }
}

static void a_launch_without_traffic_needs_no_loads(void **state)
{
    struct tmx_profile_key key = launch_key(0);
    const struct tmx_memory_kernel launch = launch_of(0);
    const struct tmx_memory_chip chip = chip_of(1);
    struct tmx_core_fit fit = {0};
    assert_int_equal(tmx_launch_profile_key(&key, &launch, &chip, &kept), TMX_OK);
    assert_int_equal(tmx_profile_core(&key, NULL, &fit, &kept), TMX_OK);
    check_close(fit.lines_per_instr, 0, 0, 0);
}

static void a_block_too_large_is_refused(void **state)
{
    struct tmx_profile_key key = launch_key(0.5);
    struct tmx_memory_kernel launch = launch_of(0.1);
    const struct tmx_memory_chip chip = chip_of(1);
    launch.warps_per_block = TMX_MAX_WARPS + 1;
    assert_int_equal(tmx_launch_profile_key(&key, &launch, &chip, &kept), TMX_ECONFIG);
    kept.code = TMX_OK;
    launch.warps_per_block = 32; /* two do not fit, one does */
    assert_int_equal(tmx_launch_profile_key(&key, &launch, &chip, &kept), TMX_OK);
    assert_int_equal(key.stats.warps, 32);
}

/* Where a cycle of the SM's description is four of the core's, rates and times are scaled, and the
 * distance between waits stays what was measured. */
static void cycles_are_those_of_the_core(void **state)
{
    const struct tmx_memory_chip chip = chip_of(4);
    const struct tmx_core_fit fit = {.ipc1 = 0.8, .cpi1_cycles = 3, .mlp = 5, .lines_per_instr = 0.2};
    struct tmx_memory_kernel launch = launch_of(0.1);
    struct tmx_profile_key key = launch_key(0.5);
    assert_int_equal(tmx_launch_profile_key(&key, &launch, &chip, &kept), TMX_OK);
    check_close(key.stats.latency_cycles, 50, 1e-12, 0);
    tmx_launch_profile_use(&launch, &chip, &fit);
    check_close(launch.ipc1, 0.2, 1e-12, 0);
    check_close(launch.cpi1_cycles, 12, 1e-12, 0);
    check_close(launch.mlp / launch.lines_per_instr, 25, 1e-12, 0);
    check_close(launch.lines_per_instr, 0.1, 0, 0);
}

TMX_TESTS(test_profile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_numbers_describe_a_core),
        cmocka_unit_test(a_profile_interpolates_its_runs),
        cmocka_unit_test(a_spoilt_cache_is_measured_again),
        cmocka_unit_test(what_takes_too_long_is_refused_before_it_begins),
        cmocka_unit_test(the_stream_sends_the_lines_of_the_launch),
        cmocka_unit_test(a_launch_without_traffic_needs_no_loads),
        cmocka_unit_test(a_block_too_large_is_refused),
        cmocka_unit_test(cycles_are_those_of_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
