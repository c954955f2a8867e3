/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static optimum: the number of cores of the smallest energy-delay product of each launch. */
#include "tests/unit/sched/cta_script.h"

static double edp(void *ctx, size_t launch, size_t n)
{
    static const double table[2][SCRIPT_CORES] = {{9, 5, 3, 4, 6, 8}, {9, 2, 7, 2, 8, 8}};
    (void)ctx;
    return table[launch][n - 1];
}

static void each_launch_gets_its_own_optimum(void **state)
{
    struct script s;
    script_begin(&s, "static_optimal");
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), SCRIPT_CORES); /* nothing known yet */
    s.policy->prepare(s.state, 2, SCRIPT_CORES, edp, NULL);
    script_launch(&s);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 3);
    assert_int_equal(script_count(&s, TMX_CORE_OFF), 3);
    script_launch(&s);
    assert_int_equal(script_count(&s, TMX_CORE_ACTIVE), 4); /* of two equal ones the larger */
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        assert_int_equal(s.accept[i], i < 4);
    }
    script_end(&s);
}

TMX_TESTS(test_static_optimal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launch_gets_its_own_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
