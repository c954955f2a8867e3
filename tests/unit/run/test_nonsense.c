/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies from outside that answer nonsense end a run with their name, at the levels that unit.sim.answers
 * and unit.sim.jobs do not reach: fans, CTAs; what a dtm policy asks for is clamped. */
#include <math.h>
#include <string.h>
#include <thermix/catalog.h>

#include "base/config.h"
#include "run/run.h"
#include "tests/support/check.h"

static double speed_nan(const void *state, const struct tmx_fan_view *view)
{
    (void)view;
    return NAN;
}

static double speed_infinite(const void *state, const struct tmx_fan_view *view)
{
    (void)view;
    return INFINITY;
}

static void clock_nan(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    (void)view;
    request->core_clock = NAN;
}

static void memory_stopped(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    (void)view;
    request->memory_clock = 0;
}

static void no_such_state(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    (void)view;
    request->state[view->n_core - 1] = (enum tmx_core_state)TMX_N_CORE_STATE;
}

static void wake_never_said(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    (void)view;
    request->wake_cycle = NAN;
}

static void slowest_of_all(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    for (size_t g = 0; g < view->node->n_gpu; g++) {
        request->gpu[g].level = SIZE_MAX;
    }
}

static const struct tmx_fan_policy fans[] = {
    {.base = {.name = "gale", .doc = "d", .source = "s"}, .speed = speed_nan},
    {.base = {.name = "storm", .doc = "d", .source = "s"}, .speed = speed_infinite},
};
static const struct tmx_cta_policy ctas[] = {
    {.base = {.name = "no_clock", .doc = "d", .source = "s"}, .launch = clock_nan},
    {.base = {.name = "no_memory", .doc = "d", .source = "s"}, .launch = memory_stopped},
    {.base = {.name = "no_state", .doc = "d", .source = "s"}, .launch = no_such_state},
    {.base = {.name = "no_hour", .doc = "d", .source = "s"}, .launch = wake_never_said},
};
static const struct tmx_dtm_policy brake = {.base = {.name = "brake", .doc = "d", .source = "s"},
                                            .govern = slowest_of_all};

/* Create and, if that goes well, a few ticks. */
static enum tmx_status try(enum tmx_level level, const struct tmx_plugin *policy, const char *keys,
                           struct tmx_err *err)
{
    char text[1024];
    struct tmx_catalog *catalog = NULL;
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    snprintf(text, sizeof text,
             "mix = \"WL5\"; policy = \"BL\"; seed = 1; tick_s = 0.01; quantum_s = 0.05; rows = 8; cols = 8; "
             "warmup_s = 0.0; %s { policy = \"%s\"; };",
             keys, policy->name);
    assert_int_equal(tmx_catalog_create(&catalog, err), TMX_OK);
    assert_int_equal(tmx_catalog_add(catalog, level, policy, err), TMX_OK);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", err), TMX_OK);
    enum tmx_status st =
        tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.catalog = catalog}, err);
    for (int t = 0; t < 300 && !st; t++) {
        st = tmx_sim_tick(tmx_run_sim(run), err);
    }
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    tmx_catalog_destroy(catalog);
    return st;
}

static void nonsense_of_fans_and_ctas_ends_the_run(void **state)
{
    for (size_t i = 0; i < sizeof fans / sizeof fans[0]; i++) {
        struct tmx_err err = {0};
        char want[64];
        snprintf(want, sizeof want, "fan policy %s: a speed of ", fans[i].base.name);
        assert_int_equal(try(TMX_LEVEL_FAN, &fans[i].base, "topology = \"gtx280\"; fan =", &err), TMX_ESOLVE);
        assert_non_null(strstr(err.msg, want));
    }
    for (size_t i = 0; i < sizeof ctas / sizeof ctas[0]; i++) {
        struct tmx_err err = {0};
        char want[64];
        snprintf(want, sizeof want, "CTA policy %s: ", ctas[i].base.name);
        assert_int_equal(try(TMX_LEVEL_CTA, &ctas[i].base, "chip = \"gtx280\"; cta =", &err), TMX_ESOLVE);
        assert_non_null(strstr(err.msg, want));
    }
}

static void a_level_beyond_the_last_ends_the_run(void **state)
{
    struct tmx_err err = {0};
    assert_int_equal(try(TMX_LEVEL_DTM, &brake.base, "chip = \"gtx280\"; dtm =", &err), TMX_ESOLVE);
    assert_non_null(strstr(err.msg, "dtm policy"));
    assert_non_null(strstr(err.msg, "on GPU 0, expected 0 to "));
}

TMX_TESTS(test_nonsense)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_of_fans_and_ctas_ends_the_run),
        cmocka_unit_test(a_level_beyond_the_last_ends_the_run),
    };
    return cmocka_run_group_tests_name("nonsense", tests, NULL, NULL);
}
