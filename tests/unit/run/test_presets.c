/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The named compositions of policies: what a run under each name consists of, and the paper's defaults. */
#include "run/options.h"

#include <string.h>

#include "base/config.h"
#include "run/state.h"
#include "tests/support/check.h"

static struct tmx_run *describe_on(const char *chip, const char *policy)
{
    char text[128];
    struct tmx_err err = {0};
    struct tmx_run *run;
    struct tmx_config *cfg = NULL;
    snprintf(text, sizeof text, "mix = \"WL1\"; seed = 1; chip = \"%s\"; policy = \"%s\";", chip, policy);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    if (tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err)) {
        fail_msg("%s: %s", policy, err.msg);
    }
    tmx_config_close(cfg);
    return run;
}

static struct tmx_run *describe(const char *policy)
{
    return describe_on("gtx280", policy);
}

/* Paper 003: Figures 3 and 5; the last four are ours. */
static const struct {
    const char *name, *place, *mix, *dtm;
} rows[] = {
    {"BL", "own_gpu", "fcfs", "none"},
    {"DVFS", "own_gpu", "fcfs", "dvfs"},
    {"A", "own_gpu", "alternate", "none"},
    {"MU", "own_gpu", "mixed_uniform", "none"},
    {"MNU", "own_gpu", "mixed_nonuniform", "none"},
    {"MA", "own_gpu", "mixed_alternate", "none"},
    {"foresight", "own_gpu", "foresight", "none"},
    {"tsp", "own_gpu", "tsp", "none"},
    {"slosh", "own_gpu", "slosh", "boost"},
    {"capped", "own_gpu", "fcfs", "boost"},
    {"MG-BL", "own_gpu", "fcfs", "none"},
    {"MG-DVFS", "own_gpu", "fcfs", "dvfs"},
    {"MG-A", "spread", "alternate", "none"},
    {"MG-MU", "spread", "mixed_uniform", "none"},
    {"MG-MNU", "spread", "mixed_nonuniform", "none"},
    {"MG-MA", "spread", "mixed_alternate", "none"},
    {"MG-RR", "round_robin", "mixed_uniform", "none"},
    {"MG-COLD", "coldest", "mixed_uniform", "none"},
    {"MG-LOAD", "least_loaded", "mixed_uniform", "none"},
    {"MG-PAIR", "pair_hot_cold", "mixed_uniform", "none"},
};

static void a_preset_sets_every_level_and_there_is_always_a_guard(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool boards = strcmp(rows[i].dtm, "boost") == 0; /* needs limits */
        struct tmx_run *r = describe_on(boards ? "gtx770" : "gtx280", rows[i].name);
        assert_string_equal(tmx_presets[i].name, rows[i].name); /* and none without a row */
        assert_string_equal(r->sim_spec.choice[TMX_LEVEL_PLACE].policy->name, rows[i].place);
        assert_string_equal(r->sim_spec.choice[TMX_LEVEL_MIX].policy->name, rows[i].mix);
        assert_string_equal(r->sim_spec.choice[TMX_LEVEL_DTM].policy->name, rows[i].dtm);
        assert_string_equal(r->sim_spec.choice[TMX_LEVEL_TB].policy->name, "round_robin");
        assert_string_equal(r->sim_spec.choice[TMX_SAFETY].policy->name, boards ? "none" : "throttle");
        tmx_run_destroy(r);
    }
    assert_null(tmx_presets[sizeof rows / sizeof rows[0]].name);
}

static void times_of_the_paper_are_the_defaults(void **state)
{
    struct tmx_run *r = describe("MA");
    check_close(r->options.quantum_s, 0.05, 0, 0);             /* section 3.1 */
    check_close(r->options.system_kernel_s, 0.5e-6, 0, 0);     /* section 3.3 */
    check_close(r->sim_spec.sensor.period_s, 0.005, 1e-12, 0); /* assumed */
    assert_false(r->options.measured_gains);
    tmx_run_destroy(r);
}

/* A key that was left out is never the fault of one that was written. */
static void times_that_are_not_written_become_whole_ticks(void **state)
{
    static const double ticks[][4] = {/* tick, quantum, fan period, slice [s] */
                                      {0.02, 0.06, 0.5, 0.02},
                                      {0.3, 0.3, 0.6, 0.3},
                                      {0.007, 0.056, 0.504, 0.007}};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        char text[200];
        struct tmx_err err = {0};
        struct tmx_run *r = NULL;
        struct tmx_config *cfg = NULL;
        snprintf(text, sizeof text,
                 "mix = \"WL1\"; seed = 1; topology = \"gtx280\"; policy = \"MA\"; tick_s = %g;",
                 ticks[i][0]);
        assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
        if (tmx_run_create(&r, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err)) {
            fail_msg("%s: %s", text, err.msg);
        }
        check_close(r->options.quantum_s, ticks[i][1], 1e-12, 0);
        check_close(r->options.fan_period_s, ticks[i][2], 1e-12, 0);
        check_close(tmx_slice_s(&r->sim_spec.choice[TMX_LEVEL_MIX], ticks[i][0]), ticks[i][3], 1e-12, 0);
        tmx_run_destroy(r);
        tmx_config_close(cfg);
    }
}

TMX_TESTS(test_presets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preset_sets_every_level_and_there_is_always_a_guard),
        cmocka_unit_test(times_of_the_paper_are_the_defaults),
        cmocka_unit_test(times_that_are_not_written_become_whole_ticks),
    };
    return cmocka_run_group_tests_name("presets", tests, NULL, NULL);
}
