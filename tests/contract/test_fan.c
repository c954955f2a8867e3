/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed loop with every fan policy: a fan turns within its range, one that says it is constant never
 * moves and the others do, the same run has the same bits. And what any of
 * them answers to any temperature is a number. */
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"
#include "tests/support/check.h"
#include "tests/support/open_run.h"

enum { TICKS = 1003, MAX_UNIT = 64 }; /* ticks of 10 ms */

static const double min_rpm = 1000, max_rpm = 4000; /* of systems/gtx280-fast.cfg */

/* From a chip that is warm, under a policy that looks ahead. */
static struct tmx_run *open_warm(const char *fan)
{
    return open_run("topology = \"gtx280-fast\"; mix = \"WL7\"; seed = 1; tick_s = 0.01; rows = 8; cols = 8; "
                    "warmup_s = 0.0; policy = \"foresight\"; package = { init_temp = 335.0; }; "
                    "sensor = { period_s = 0.01; noise_k = 0.1; }; fan = { policy = \"%s\"; };",
                    fan);
}

struct seen {
    double least_rpm, most_rpm, rpm, temp_k[MAX_UNIT];
};

static void watch(const char *fan, struct tmx_sim *sim, int n, struct seen *s)
{
    const struct tmx_frame *f = &sim->frame;
    assert_true(f->n_unit <= MAX_UNIT);
    for (int i = 0; i < n; i++) {
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
        s->rpm = sim->cooling->rpm[0];
        if (!(s->rpm >= min_rpm && s->rpm <= max_rpm)) {
            fail_msg("%s: %.17g rpm, the fan turns at %g to %g", fan, s->rpm, min_rpm, max_rpm);
        }
        s->least_rpm = fmin(s->least_rpm, s->rpm);
        s->most_rpm = fmax(s->most_rpm, s->rpm);
    }
    memcpy(s->temp_k, f->temp_k, f->n_unit * sizeof *s->temp_k);
}

static void check_policy(const struct tmx_fan_policy *p)
{
    struct seen s[2];
    void *state = NULL;
    assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &state, NULL), TMX_OK);
    for (int i = 0; i < 2; i++) {
        s[i] = (struct seen){.least_rpm = INFINITY};
    }
    struct tmx_run *run = open_warm(p->base.name);
    watch(p->base.name, tmx_run_sim(run), TICKS, &s[0]);
    tmx_run_destroy(run);
    run = open_warm(p->base.name);
    watch(p->base.name, tmx_run_sim(run), TICKS, &s[1]);
    tmx_run_destroy(run);
    if (s[1].rpm != s[0].rpm || memcmp(s[1].temp_k, s[0].temp_k, sizeof s[0].temp_k) != 0) {
        fail_msg("%s: %.17g rpm for %.17g", p->base.name, s[1].rpm, s[0].rpm);
    }
    if (p->constant) {
        check_close(s[0].least_rpm, max_rpm * p->constant(state), 1e-12, 0);
        check_close(s[0].most_rpm, max_rpm * p->constant(state), 1e-12, 0);
    } else if (s[0].most_rpm < s[0].least_rpm + 10) {
        fail_msg("%s: always %.1f rpm", p->base.name, s[0].rpm);
    }
    free(state);
}

static void every_policy_keeps_the_contract(void **state)
{
    for (size_t i = 0; tmx_fan_policies[i]; i++) {
        check_policy(tmx_fan_policies[i]);
    }
}

/* Without a view of what comes, at any temperature and pace. */
static void every_answer_is_a_number(void **state)
{
    static const double temp_c[] = {-60, 0, 79.9, 80, 250, 1000}, dt_s[] = {0, 1e-3, 0.5, 1e4};
    static const struct tmx_fan_point curve[] = {{40, 0.3}, {90, 1.0}};
    static const double hottest_k[] = {350};
    for (size_t i = 0; tmx_fan_policies[i]; i++) {
        const struct tmx_fan_policy *p = tmx_fan_policies[i];
        const struct tmx_node_view node = {.n_gpu = 1};
        const struct tmx_view view = {.node = &node, .hottest_k = hottest_k};
        double memory[TMX_FAN_MEMORY] = {0}, speed = 0.3;
        void *options = NULL;
        assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &options, NULL), TMX_OK);
        for (size_t k = 0; k < 24; k++) {
            const struct tmx_fan_view v = {.view = &view,
                                           .min_rpm = min_rpm,
                                           .max_rpm = max_rpm,
                                           .curve = curve,
                                           .n_curve = 2,
                                           .hottest_c = temp_c[k % 6],
                                           .speed = speed,
                                           .dt_s = dt_s[k / 6],
                                           .memory = memory};
            const double wanted = p->speed(options, &v);
            if (!isfinite(wanted)) {
                fail_msg("%s: %g at %g degC after %g s", p->base.name, wanted, v.hottest_c, v.dt_s);
            }
            speed = fmin(1, fmax(0, wanted));
        }
        free(options);
    }
}

TMX_TESTS(test_fan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_keeps_the_contract),
        cmocka_unit_test(every_answer_is_a_number),
    };
    return cmocka_run_group_tests_name("fan policies", tests, NULL, NULL);
}
