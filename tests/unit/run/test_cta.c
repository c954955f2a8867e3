/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CTA policies in the loop: fewer SMs do the same work for less energy, kernels that take turns gain nothing
 * from a memory they do not share, and both layers of gating act together. */
#include <string.h>

#include "base/config.h"
#include "run/run.h"
#include "tests/support/check.h"
#include "tests/support/open_run.h"

struct outcome {
    double makespan_s, energy_j, mean_temp_c, saved_j;
};

static enum tmx_status open_cta_run(const char *policy, int seed, const char *groups, struct tmx_config **cfg,
                                    struct tmx_run **r, struct tmx_err *err)
{
    char text[1024];
    snprintf(text, sizeof text,
             "chip = \"gtx280\"; mix = \"WL5\"; policy = \"%s\"; seed = %d; tick_s = 0.01; quantum_s = 0.05; "
             "warmup_s = 1.0; rows = 8; cols = 8; "
             "throttle = { trip_c = 199.0; release_c = 198.0; }; %s",
             policy, seed, groups);
    assert_int_equal(tmx_config_parse(cfg, text, "test", err), TMX_OK);
    return tmx_run_create(r, tmx_config_root(*cfg), NULL, err);
}

static struct outcome run(const char *policy, const char *groups)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    struct tmx_err err = {0};
    if (open_cta_run(policy, 1, groups, &cfg, &r, &err) || tmx_run_execute(r, NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const struct outcome o = {metric(r, "makespan_s"), metric(r, "energy_j"), metric(r, "mean_temp_c"),
                              metric(r, "gating_saved_j")};
    tmx_run_destroy(r);
    tmx_config_close(cfg);
    return o;
}

/* The plans as the resolved configuration tells them: SMs, and the time they were found in. */
static void plans(int seed, const char *groups, char *text, size_t size)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    struct tmx_err err = {0};
    if (open_cta_run("BL", seed, groups, &cfg, &r, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const char *from = strstr(tmx_run_resolved(r), "\ncta = {");
    assert_non_null(from);
    snprintf(text, size, "%.*s", (int)(strstr(from, "};") - from), from);
    assert_non_null(strstr(text, "found in"));
    tmx_run_destroy(r);
    tmx_config_close(cfg);
}

/* Lengths of blocks; the streams of a measured core: unit.run.cta_alone. */
static void a_seed_is_of_the_plans_too(void **state)
{
    static const char groups[] = "cta = { policy = \"apsa\"; core = \"given\"; };";
    char one[2048], two[2048], again[2048];
    plans(1, groups, one, sizeof one);
    plans(2, groups, two, sizeof two);
    plans(2, groups, again, sizeof again);
    assert_string_not_equal(one, two);
    assert_string_equal(two, again);
}

static void fewer_sms_do_the_work(void **state)
{
    const struct outcome none = run("BL", ""), tcs = run("BL", "cta = { policy = \"tcs\"; };"),
                         given = run("BL", "cta = { policy = \"tcs\"; core = \"given\"; };");
    check_close(tcs.makespan_s, none.makespan_s, 0.02, 0);
    assert_true(tcs.energy_j < 0.985 * none.energy_j);
    assert_true(tcs.mean_temp_c < none.mean_temp_c - 1);
    assert_true(given.energy_j != tcs.energy_j);
    check_close(given.energy_j, tcs.energy_j, 0.02, 0);
}

static void unpowered_cores_leak_less(void **state)
{
    const struct outcome clock =
                             run("BL", "cta = { policy = \"apsa\"; core = \"given\"; power_gate = false; };"),
                         power =
                             run("BL", "cta = { policy = \"apsa\"; core = \"given\"; power_gate = true; };");
    check_close(power.makespan_s, clock.makespan_s, 0.02, 0);
    assert_true(power.energy_j < 0.985 * clock.energy_j);
}

static void turns_do_not_share_the_memory(void **state)
{
    static const char cta[] = "cta = { policy = \"tcs\"; };";
    const struct outcome none = run("A", ""), tcs = run("A", cta), side_by_side = run("MU", cta);
    check_close(tcs.makespan_s, none.makespan_s, 0.01, 0);
    assert_true(side_by_side.makespan_s < 0.97 * none.makespan_s);
}

static void both_layers_act(void **state)
{
    const struct outcome cta = run("BL", "cta = { policy = \"tcs\"; };"),
                         both =
                             run("BL", "cta = { policy = \"tcs\"; }; gate = { policy = \"warped_gates\"; };");
    assert_true(both.saved_j > cta.saved_j && cta.saved_j > 0);
    assert_true(both.makespan_s > cta.makespan_s);
    assert_true(both.energy_j < cta.energy_j);
}

static void mistakes_are_named(void **state)
{
    static const char *const wrong[] = {"cta = { policy = \"tsc\"; };",
                                        "cta = { policy = \"tcs\"; tresh = 1.2; };",
                                        "cta = { policy = \"tcs\"; core = \"guess\"; };", "cta = 3;"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tmx_config *cfg = NULL;
        struct tmx_run *r = NULL;
        struct tmx_err err = {0};
        assert_int_equal(open_cta_run("BL", 1, wrong[i], &cfg, &r, &err), TMX_ECONFIG);
        assert_true(strlen(err.msg) > 0);
        tmx_run_destroy(r);
        tmx_config_close(cfg);
    }
}

TMX_TESTS(test_cta)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_sms_do_the_work), cmocka_unit_test(turns_do_not_share_the_memory),
        cmocka_unit_test(both_layers_act),       cmocka_unit_test(a_seed_is_of_the_plans_too),
        cmocka_unit_test(mistakes_are_named),    cmocka_unit_test(unpowered_cores_leak_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
