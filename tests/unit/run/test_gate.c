/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unit gating in the loop: what sleeps does not leak, what is slowed takes longer, nothing is lost. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "run/run.h"

struct outcome {
    double leakage_j, saved_j, dynamic_j, total_j, makespan_s, mean_temp_c, error_points;
};

static double metric(const struct tmx_run *r, const char *name)
{
    for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
        if (strcmp(m->name, name) == 0) {
            return m->value(r);
        }
    }
    fail_msg("no metric %s", name);
    return NAN;
}

/* One run without throttling; leakage at 20 W whatever the temperature, so that it can be counted by hand. */
static struct outcome run(const char *chip, const char *policy)
{
    char text[1024];
    struct tmx_config *cfg = NULL;
    struct tmx_run *r = NULL;
    struct tmx_err err = {0};
    snprintf(text, sizeof text,
             "chip = \"%s\"; mix = \"micro60\"; policy = \"BL\"; seed = 1; tick_s = 0.05; quantum_s = 0.05; "
             "rows = 16; cols = 16; chip_power = { leakage_w = 20.0; leakage_exp_per_k = 0.0; }; "
             "throttle = { trip_c = 199.0; release_c = 198.0; }; "
             "gate = { policy = \"%s\"; instructions = 20000; };",
             chip, policy);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    if (tmx_run_create(&r, tmx_config_root(cfg), &err) || tmx_run_execute(r, NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const struct outcome o = {metric(r, "leakage_j"),
                              metric(r, "gating_saved_j"),
                              metric(r, "dynamic_j"),
                              metric(r, "energy_j"),
                              metric(r, "makespan_s"),
                              metric(r, "mean_temp_c"),
                              metric(r, "gate_asleep_error_points")};
    tmx_run_destroy(r);
    tmx_config_close(cfg);
    return o;
}

static void what_sleeps_does_not_leak(void **state)
{
    static const char *const chips[] = {"gtx280", "gtx480_units"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct outcome none = run(chips[i], "none"), gated = run(chips[i], "warped_gates");
        assert_true(none.saved_j == 0 && none.error_points == 0);
        /* leakage spent and saved add up to 20 W all the time, gated or not */
        check_close(none.leakage_j / none.makespan_s, 20, 1e-3, 0);
        check_close((gated.leakage_j + gated.saved_j) / gated.makespan_s, 20, 1e-3, 0);
        /* the same work takes longer and costs the same dynamic energy */
        assert_true(gated.makespan_s >= none.makespan_s);
        check_close(gated.dynamic_j, none.dynamic_j, 1e-3, 0);
        /* INT and FP leak 16.4 % of 20 W; a micro-kernel keeps its units busy, so little is saved, but some
         */
        assert_true(gated.saved_j < 0.17 * 20 * gated.makespan_s);
        assert_true(gated.saved_j > -0.02 * 20 * gated.makespan_s);
        assert_true(gated.error_points < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sleeps_does_not_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
