/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How power swings, against numbers by hand. */
#include <math.h>

#include "core/sim/record/swing.h"
#include "tests/support/check.h"

enum { N_GPU = 2 };

struct world {
    struct tmx_chip chip;
    struct tmx_gpu gpu[N_GPU];
    struct tmx_machine machine;
    struct tmx_arena arena;
    struct tmx_swing swing;
};

static const struct tmx_power_group groups[] = {{"node", 0, {0, N_GPU}}, {"gpu", 0, {1, 2}}};

static void world_open(struct world *w, double tick_s)
{
    *w = (struct world){.machine = {.n_gpu = N_GPU, .tick_s = tick_s, .gpu = w->gpu}};
    w->chip.board.other_w = 10; /* (100 + 10) / 0.5 = 220 */
    w->chip.board.loss = 0.5;
    w->gpu[0].chip = w->gpu[1].chip = &w->chip;
    tmx_swing_take(&w->swing, &w->arena, &w->machine, groups, 2, false);
    assert_false(w->arena.failed);
}

static void ticks(struct world *w, double gpu0_w, double gpu1_w, double n)
{
    tmx_swing_tick(&w->swing, (double[]){gpu0_w, gpu1_w}, n);
}

static void a_ramp_is_the_largest_difference_within_its_window(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 0.01); /* 50 ms are 5 ticks */
    for (int i = 0; i <= 10; i++) {
        ticks(&w, 100, 100 + i, 1); /* a watt of the chip a tick: 2 of the board's */
    }
    ticks(&w, 100, 90, 100);
    check_close(tmx_swing_rise_w(&w.swing, 0, 0), 10, 0, 1e-9);
    check_close(tmx_swing_fall_w(&w.swing, 0, 0), 40, 0, 1e-9); /* 110 to 90 */
    check_close(tmx_swing_rise_w(&w.swing, 1, 1), 20, 0, 1e-9);
    check_close(tmx_swing_range_w(&w.swing, 1), 40, 0, 1e-9);
    check_close(w.swing.series[1].window[1].fall_at, 11, 0, 0);
    assert_true(isnan(tmx_swing_rise_w(&w.swing, 0, 2))); /* 1.11 s are less than 10 */
    assert_true(isnan(tmx_swing_band(&w.swing, 0.1, 20)));
    ticks(&w, 100, 91, 5); /* up, then on the next tick of the window's end */
    ticks(&w, 100, 93, 1);
    check_close(tmx_swing_rise_w(&w.swing, 1, 0), 10, 0, 1e-9);
    tmx_arena_finish(&w.arena);
}

static void steps_of_many_ticks_give_what_single_ticks_give(void **state)
{
    static const double w[] = {50, 300, 120, 121, 700, 20, 400}, n[] = {3, 700, 41, 1, 2500, 9, 6100};
    struct world a, b;
    (void)state;
    world_open(&a, 0.004);
    world_open(&b, 0.004);
    for (size_t i = 0; i < sizeof w / sizeof w[0]; i++) {
        ticks(&a, 10, w[i], n[i]);
        for (int k = 0; k < (int)n[i]; k++) {
            ticks(&b, 10, w[i], 1);
        }
    }
    for (size_t k = 0; k < 3; k++) {
        check_close(tmx_swing_rise_w(&a.swing, 0, k), tmx_swing_rise_w(&b.swing, 0, k), 0, 0);
        check_close(tmx_swing_fall_w(&a.swing, 0, k), tmx_swing_fall_w(&b.swing, 0, k), 0, 0);
    }
    check_close(tmx_swing_fall_w(&a.swing, 0, 0), 2 * 680, 1e-12, 0);
    check_close(tmx_swing_band(&a.swing, 0.1, 20), tmx_swing_band(&b.swing, 0.1, 20), 1e-9, 0);
    tmx_arena_finish(&a.arena);
    tmx_arena_finish(&b.arena);
}

static void percentiles_are_within_a_bin(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 0.01);
    for (int i = 0; i < 1000; i++) {
        ticks(&w, 0, 100 + i * 0.4, 1); /* GPU 1: 220 to 1020 W, each as long */
    }
    check_close(tmx_swing_quantile_w(&w.swing, 1, 0.05), 260, 1.0 / 64, 0);
    check_close(tmx_swing_quantile_w(&w.swing, 1, 0.95), 980, 1.0 / 64, 0);
    check_close(tmx_swing_quantile_w(&w.swing, 1, 1), 1019.2, 1e-12, 0);
    tmx_arena_finish(&w.arena);
}

/* A sine of 3 Hz and one of 30 Hz with half its amplitude: 4 of 5 parts of the energy, but for what means
 * over 10 ms take of them, sinc(0.03)^2 and sinc(0.3)^2. */
static void the_band_is_its_share_of_the_energy(void **state)
{
    (void)state;
    for (int seconds = 12; seconds <= 60; seconds += 48) { /* less than a segment, and several */
        struct world w;
        world_open(&w, 0.001);
        for (int i = 0; i < seconds * 1000; i++) {
            const double t = i * 0.001;
            ticks(&w, 100 + 40 * sin(2 * 3.14159265358979 * 3 * t),
                  100 + 20 * sin(2 * 3.14159265358979 * 30 * t), 1);
        }
        const double x = 3.14159265358979 * 0.03, y = 10 * x, slow = 4 * pow(sin(x) / x, 2),
                     fast = pow(sin(y) / y, 2);
        check_close(tmx_swing_band(&w.swing, 0.1, 20), slow / (slow + fast), 2e-3, 0);
        check_close(tmx_swing_band(&w.swing, 2.5, 3.5), slow / (slow + fast), 2e-3, 0);
        tmx_arena_finish(&w.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_is_the_largest_difference_within_its_window),
        cmocka_unit_test(steps_of_many_ticks_give_what_single_ticks_give),
        cmocka_unit_test(percentiles_are_within_a_bin),
        cmocka_unit_test(the_band_is_its_share_of_the_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
