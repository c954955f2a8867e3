#include "core/sim/cta_stage.h"

#include "tests/check.h"

/* 4 x 2 SMs: the first is a corner, the second the opposite corner, no SM comes twice. */
static void spread_takes_far_sms_first(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3, 0, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1};
    size_t order[8];
    bool seen[8] = {false};
    tmx_spread_order(x, y, 8, order);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 7);
    for (size_t i = 0; i < 8; i++) {
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

/* Each of the first k SMs is at least as far from the others as in the order of their indices. */
static void spread_keeps_a_distance(void **state)
{
    (void)state;
    double x[30], y[30];
    size_t order[30];
    for (size_t i = 0; i < 30; i++) {
        x[i] = (double)(i % 6);
        y[i] = (double)(i / 6);
    }
    tmx_spread_order(x, y, 30, order);
    for (size_t k = 2; k <= 8; k++) {
        double nearest = INFINITY;
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j < i; j++) {
                nearest = fmin(nearest, hypot(x[order[i]] - x[order[j]], y[order[i]] - y[order[j]]));
            }
        }
        assert_true(nearest >= 1.9); /* neighbours are 1 apart */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread_takes_far_sms_first),
        cmocka_unit_test(spread_keeps_a_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
