/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How power swings and how it is smoothed, against numbers by hand. */
#include <math.h>

#include "core/sim/sim.h"
#include "power/power.h"
#include "sched/policies.h"
#include "sched/sched.h"
#include "tests/support/tiny_thermal.h"

enum { N_GPU = 2, N_SM = 4, N_TICK = 1000 };

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
    tmx_swing_steps(&w->swing, 1, (double[]){gpu0_w, gpu1_w}, n, NULL);
    tmx_swing_settle(&w->swing, NULL);
}

static double band(const struct world *w, double low_hz, double high_hz)
{
    double share;
    (void)tmx_swing_band_w2(&w->swing, false, low_hz, high_hz, &share);
    return share;
}

static void a_ramp_is_the_largest_difference_within_its_window(void **state)
{
    struct world w;
    world_open(&w, 0.01); /* 50 ms are 5 ticks */
    for (int i = 0; i <= 10; i++) {
        ticks(&w, 100, 100 + i, 1); /* a watt of the chip a tick: 2 of the board's */
    }
    ticks(&w, 100, 90, 100);
    check_close(tmx_swing_ramp_w(&w.swing, 0, 0, false), 10, 0, 1e-9);
    check_close(tmx_swing_ramp_w(&w.swing, 0, 0, true), 40, 0, 1e-9); /* 110 to 90 */
    check_close(tmx_swing_ramp_w(&w.swing, 1, 1, false), 20, 0, 1e-9);
    check_close(tmx_swing_range_w(&w.swing, 1), 40, 0, 1e-9);
    check_close(w.swing.series[1].window[1].ramp_at[1], 11, 0, 0);
    assert_true(isnan(tmx_swing_ramp_w(&w.swing, 0, 2, false))); /* 1.11 s are less than 10 */
    assert_true(isnan(band(&w, 0.1, 20)));
    ticks(&w, 100, 91, 5); /* up, then on the next tick of the window's end */
    ticks(&w, 100, 93, 1);
    check_close(tmx_swing_ramp_w(&w.swing, 1, 0, false), 10, 0, 1e-9);
    tmx_arena_finish(&w.arena);
}

static void threads_and_steps_at_once_change_no_bit(void **state)
{
    enum { GROUPS = 80, STEPS = 5 };
    static struct tmx_power_group many[GROUPS];
    struct tmx_thread_pool *pool;
    struct world w[2];
    assert_int_equal(tmx_thread_pool_create(&pool, 2, NULL), TMX_OK);
    for (size_t i = 0; i < GROUPS; i++) {
        many[i] = (struct tmx_power_group){"gpu", 0, {i % 2 && i > 0, i > 0 ? i % 2 + 1 : N_GPU}};
    }
    for (size_t k = 0; k < 2; k++) {
        world_open(&w[k], 0.01);
        tmx_swing_take(&w[k].swing, &w[k].arena, &w[k].machine, many, GROUPS, false);
        assert_false(w[k].arena.failed);
    }
    for (size_t i = 0; i < 300; i++) {
        double now_w[STEPS * N_GPU];
        for (size_t g = 0; g < STEPS * N_GPU; g++) {
            now_w[g] = 100 + (double)((7 * i * i + 13 * g) % 31);
        }
        tmx_swing_steps(&w[0].swing, STEPS, now_w, 1, pool);
        for (size_t s = 0; s < STEPS; s++) {
            tmx_swing_steps(&w[1].swing, 1, now_w + s * N_GPU, 1, NULL);
        }
    }
    tmx_swing_settle(&w[0].swing, pool);
    tmx_swing_settle(&w[1].swing, NULL);
    assert_memory_equal(w[0].swing.series, w[1].swing.series, GROUPS * sizeof *w[0].swing.series);
    assert_memory_equal(w[0].swing.spectrum, w[1].swing.spectrum, sizeof *w[0].swing.spectrum);
    tmx_thread_pool_destroy(pool);
    tmx_arena_finish(&w[0].arena);
    tmx_arena_finish(&w[1].arena);
}

static void of_equal_ramps_the_first_has_the_time(void **state)
{
    struct world w;
    world_open(&w, 0.01);
    for (int i = 0; i < 3; i++) {
        ticks(&w, 100, 100, 10);
        ticks(&w, 100, 200 + i * 1e-9, 10);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct tmx_swing_window *v = &w.swing.series[i].window[0];
        check_close(v->ramp_at[0], 10, 0, 0);
        check_close(v->ramp_at[1], 20, 0, 0);
        assert_true(v->ramp_w[0] > 200 && v->ramp_w[1] > 200);
    }
    tmx_arena_finish(&w.arena);
}

static void steps_of_many_ticks_give_what_single_ticks_give(void **state)
{
    static const double w[] = {50, 300, 120, 121, 700, 20, 400}, n[] = {3, 700, 41, 1, 2500, 9, 6100};
    struct world a, b;
    world_open(&a, 0.004);
    world_open(&b, 0.004);
    for (size_t i = 0; i < sizeof w / sizeof w[0]; i++) {
        ticks(&a, 10, w[i], n[i]);
        for (int k = 0; k < (int)n[i]; k++) {
            ticks(&b, 10, w[i], 1);
        }
    }
    for (size_t k = 0; k < 3; k++) {
        check_close(tmx_swing_ramp_w(&a.swing, 0, k, false), tmx_swing_ramp_w(&b.swing, 0, k, false), 0, 0);
        check_close(tmx_swing_ramp_w(&a.swing, 0, k, true), tmx_swing_ramp_w(&b.swing, 0, k, true), 0, 0);
    }
    check_close(tmx_swing_ramp_w(&a.swing, 0, 0, true), 2 * 680, 1e-12, 0);
    check_close(band(&a, 0.1, 20), band(&b, 0.1, 20), 1e-9, 0);
    tmx_arena_finish(&a.arena);
    tmx_arena_finish(&b.arena);
}

static void percentiles_are_within_a_bin(void **state)
{
    struct world w;
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
        check_close(band(&w, 0.1, 20), slow / (slow + fast), 2e-3, 0);
        check_close(band(&w, 2.5, 3.5), slow / (slow + fast), 2e-3, 0);
        check_close(tmx_swing_band_w2(&w.swing, false, 2.5, 3.5, NULL), 0.5 * 80 * 80 * slow / 4, 0.02, 0);
        tmx_arena_finish(&w.arena);
    }
}

/* Two nodes of a GPU each, with a host of 30 W that becomes 50 W with work, and a fan of 5 W. */
static void a_store_takes_the_swing_and_keeps_energy(void **state)
{
    static const double fan_w[] = {5, 5};
    struct world w;
    const struct tmx_topology t = {
        .nodes = 2,
        .host = {.idle_w = 30, .active_w = 20, .given = true, .n_supply = 1, .supply = {{1, 0.5}}}};
    struct tmx_feed f;
    world_open(&w, 0.01);
    w.gpu[1].n_run = 1;
    tmx_feed_take(&f, &w.arena, &w.machine, &t, &(struct tmx_store_options){.efficiency = 1});
    f.fan_w = fan_w;
    tmx_feed_hosts(&f, &w.machine);
    check_close(tmx_feed_tick(&f, (double[]){100, 300}, 1), 2 * (135 + 355), 1e-12, 0); /* no store */

    tmx_feed_take(&f, &w.arena, &w.machine, &t, &(struct tmx_store_options){1000, 100, 0.81});
    double low_w = INFINITY, high_w = 0, least_j = 0, most_j = 0;
    tmx_feed_hosts(&f, &w.machine);
    for (int i = 0; i < 6000; i++) { /* node 0: 300 W every other half second; node 1: a step of 100 W, then
                                        of 400 W */
        const double feed_w = tmx_feed_tick(&f,
                                            (double[]){i / 50 % 2 ? 300 : 200, i < 1000   ? 200
                                                                               : i < 4000 ? 300
                                                                                          : 700},
                                            1);
        low_w = i >= 900 && i < 1000 ? fmin(low_w, feed_w) : low_w;
        high_w = i >= 900 && i < 1000 ? fmax(high_w, feed_w) : high_w;
        least_j = i < 4000 ? fmin(least_j, f.node[1].above_j) : least_j;
        most_j = fmin(most_j, f.node[1].above_j);
        if (i == 1000) { /* as it begins the step is the store's, but for a tick's lag */
            check_close(f.node[1].mean_w, 250, 0.01, 0);
        }
        if (i == 2000) {
            tmx_feed_restart(&f);
        }
    }
    assert_true(high_w - low_w < 2 * 100 * 0.15);  /* of 200 W behind a supply of a half */
    assert_true(least_j > -500 && least_j < -400); /* and half of the losses below that */
    check_close(most_j, -500, 1e-9, 0);            /* too much for it: empty, never below */
    const struct tmx_feed_sum s = tmx_feed_sum(&f);
    check_close(s.load_j, 3999 * 0.01 * 0.5 * (230 + 330) + 0.01 * (1999 * 350 + 2000 * 750), 1e-2, 0);
    check_close(s.fed_j, s.load_j + s.loss_j + s.charge_j, 1e-12, 0);
    assert_true(s.loss_j > 50 && fabs(s.charge_j) > 50);
    tmx_arena_finish(&w.arena);
}

static void ask(const struct tmx_row_policy *p, const struct tmx_instance_view *v, size_t n, double *asked)
{
    void *state;
    const struct tmx_row_view view = {.n_row = 1, .n_instance = n, .instance = v};
    assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &state, NULL), TMX_OK);
    p->decide(state, &view, asked);
    free(state);
}

/* Four jobs of 2 s: 0.5 s apart. */
static void steps_are_staggered_by_the_least_waiting(void **state)
{
    static const struct {
        double begun_s[4], hold_s[4];
    } rows[] = {{{6, 6, 6, 6}, {0, 0.5, 1, 1.5}},
                {{6, 6.5, 7, 7.5}, {0, 0, 0, 0}},
                {{6, 6.52, 5.04, 7.49}, {0, 0, 0, 0}}, /* within a tenth of 0.5 s; a step earlier */
                {{6, 6.5, 7, 6}, {0, 0, 0, 1.5}},      /* one is off */
                {{6, 5, 5.5, 6}, {0.5, 0, 0, 0}}};     /* the first is, the others stay */
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct tmx_instance_view v[4] = {0};
        double hold_s[4] = {0};
        for (size_t i = 0; i < 4; i++) {
            v[i].period_s = 2;
            v[i].begun_s = rows[r].begun_s[i];
        }
        ask(&tmx_row_stagger, v, 4, hold_s);
        for (size_t i = 0; i < 4; i++) {
            check_close(hold_s[i], rows[r].hold_s[i], 0, 1e-12);
        }
        v[2].period_s = 0; /* not measured yet */
        double none_s[4] = {0};
        ask(&tmx_row_stagger, v, 4, none_s);
        check_close(none_s[0] + none_s[1] + none_s[2] + none_s[3], 0, 0, 0);
    }
}

static void a_rows_ramp_goes_to_boards_that_lack_power(void **state)
{
    const struct tmx_instance_view v[] = {{.rise_w = 300}, {.rise_w = 100}, {0}, {0}}, none[2] = {{0}};
    double w_per_s[4];
    (void)state;
    ask(&tmx_row_smooth_row, v, 4, w_per_s); /* 1000 W/s, half of it evenly */
    check_close(w_per_s[0], 125 + 375, 1e-12, 0);
    check_close(w_per_s[1], 125 + 125, 1e-12, 0);
    check_close(w_per_s[2], 125, 1e-12, 0);
    ask(&tmx_row_smooth_row, none, 2, w_per_s);
    check_close(w_per_s[1], 500, 1e-12, 0);
}

static struct tmx_choice choice_of(size_t place, const struct tmx_plugin *p)
{
    struct tmx_choice c = {tmx_choice_level(place), p, NULL};
    assert_int_equal(tmx_plugin_state(p, NULL, NULL, &c.state, NULL), TMX_OK);
    return c;
}

/* A kernel of 2 W on each of four SMs from 0.1 to 0.3 s, and one from 0.7 s on; a watt of the chip beside
 * them, 10 W of the board. Its limit is 40 W. W of the board at each tick, of the kernels and of dummy work
 * in all [J]. */
static void smoothed_with(const struct tmx_mix_policy *mix, double second_s,
                          const struct tmx_smooth_options *o, double board_w[N_TICK], double *dynamic_j,
                          double *smooth_j, double *total_j)
{
    struct tmx_chip chip;
    struct tmx_kernel kernel = {0};
    const bool leakage = false;
    tiny_chip(&chip, N_SM);
    chip.board = (struct tmx_chip_board){.power_w = 40, .other_w = 10, .loss = 0.5};
    const struct tmx_chip *chips = &chip;
    struct tmx_job job[] = {tiny_job(&kernel, 0.2, 2, N_SM), tiny_job(&kernel, 100, 2, N_SM)};
    job[0].arrival_s = 0.1;
    job[1].arrival_s = second_s;
    struct tiny_thermal_model model = {N_SM + 1, 300, 1, 0.05, 0.1, 5};
    const struct tmx_sim_gpu_thermal thermal = {&tiny_thermal_ops, &model, 300};
    struct tmx_sim *sim;
    struct tmx_sim_spec spec = {
        .machine = {.chip = &chips, .n_gpu = 1, .job = job, .n_job = 2, .dt_s = 1e-3, .gain = 1},
        .choice[TMX_LEVEL_PLACE] = choice_of(TMX_LEVEL_PLACE, &tmx_place_policies[0]->base),
        .choice[TMX_LEVEL_MIX] = choice_of(TMX_LEVEL_MIX, &mix->base),
        .choice[TMX_SAFETY] = choice_of(TMX_SAFETY, &tmx_dtm_policies[1]->base),
        .choice[TMX_LEVEL_DTM] = choice_of(TMX_LEVEL_DTM, &tmx_dtm_policies[0]->base),
        .choice[TMX_LEVEL_TB] = choice_of(TMX_LEVEL_TB, &tmx_tb_policies[0]->base),
        .power = {.ops = tmx_power_models[0], .options = &leakage},
        .thermal = &thermal,
        .sensor = {.period_s = 5e-3},
        .smooth = *o,
        .dt_s = 1e-3,
        .quantum_s = 1e-3,
        .seed = 1,
    };
    assert_int_equal(tmx_sim_create(&sim, &spec, NULL), TMX_OK);
    for (size_t t = 0; t < N_TICK; t++) {
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
        board_w[t] = tmx_chip_board_w(&chip, sim->recorder->now_w[0]);
    }
    const struct tmx_recorder *r = sim->recorder;
    double causes_j = r->smooth_j[0];
    *dynamic_j = 0;
    for (size_t u = 0; u < r->n_unit; u++) {
        *dynamic_j += r->dynamic_j[u];
        causes_j += r->dynamic_j[u] + r->baseline_j[u] + r->leakage_j[u];
    }
    *smooth_j = r->smooth_j[0];
    *total_j = r->total_j;
    check_close(causes_j, *total_j, 1e-12, 0);
    tmx_sim_destroy(sim);
    tmx_chip_finish(&chip);
}

static void smoothed(const struct tmx_smooth_options *o, double board_w[N_TICK], double *dynamic_j,
                     double *smooth_j, double *total_j)
{
    smoothed_with(tmx_mix_policies[0], 0.7, o, board_w, dynamic_j, smooth_j, total_j);
}

/* Idle 22 W, work 38 W, floor 30 W. */
static void dummy_work_holds_the_floor_and_the_ramp_down(void **state)
{
    static const struct tmx_smooth_options none = {0},
                                           o = {.floor = 75, .ramp_down_w_per_s = 200, .hysteresis_s = 0.1};
    double free_w[N_TICK], w[N_TICK], dynamic_j, total_j, smooth_j, free_dynamic_j, free_j, no_j;
    smoothed(&none, free_w, &free_dynamic_j, &no_j, &free_j);
    smoothed(&o, w, &dynamic_j, &smooth_j, &total_j);
    check_close(no_j, 0, 0, 0);
    check_close(free_w[50], 22, 1e-12, 0);
    check_close(free_w[200], 38, 1e-9, 0);
    check_close(w[50], 22, 1e-12, 0); /* the floor begins with work */
    check_close(w[200], 38, 1e-9, 0);
    size_t end = 200;
    while (free_w[end] > 30) {
        end++;
    }
    const double first_w = w[end - 1];
    for (size_t t = end; w[t] > 30 + 1e-9; t++) {
        check_close(w[t], first_w - 0.2 * (double)(t - end + 1), 1e-9, 0);
    }
    check_close(w[end + 70], 30, 1e-9, 0);
    check_close(w[end + 97], 30, 1e-9, 0);
    assert_true(w[end + 103] < 30);
    check_close(w[end + 103] - w[end + 113], 2, 1e-9, 0); /* down from the floor, too */
    check_close(w[end + 200], 22, 1e-9, 0);
    check_close(dynamic_j, free_dynamic_j, 1e-12, 0); /* work is what it was */
    check_close(total_j - free_j, smooth_j, 1e-9, 0); /* what is burnt is what is added */
    /* by hand, of the board: 16 W fall to 8 in 40 ms, 8 W for 60 ms, 8 W to 0 in 40 ms; half is the chip's */
    check_close(smooth_j, 0.5 * (0.040 * 12 + 0.060 * 8 + 0.040 * 4), 0.02, 0);
}

static void the_secondary_floor_is_there_at_any_time(void **state)
{
    static const struct tmx_smooth_options o = {.floor = 75, .secondary_floor_w = 25};
    double w[N_TICK], dynamic_j, smooth_j, total_j;
    (void)state;
    smoothed(&o, w, &dynamic_j, &smooth_j, &total_j);
    check_close(w[50], 25, 1e-9, 0);
    check_close(w[200], 38, 1e-9, 0);
    check_close(w[600], 25, 1e-9, 0);
}

static void clocks_rise_no_faster_than_the_ramp_up(void **state)
{
    static const struct tmx_smooth_options none = {0}, o = {.ramp_up_w_per_s = 100},
                                           primed = {.floor = 75, .ramp_up_w_per_s = 100, .prime_s = 0.09};
    double free_w[N_TICK], w[N_TICK], free_j, dynamic_j, smooth_j, total_j;
    smoothed(&none, free_w, &free_j, &smooth_j, &total_j);
    smoothed(&o, w, &dynamic_j, &smooth_j, &total_j);
    for (size_t t = 1; t < N_TICK; t++) {
        assert_true(w[t] - w[t - 1] <= 0.1 + 1e-6);
    }
    check_close(w[150] - w[110], 4, 0.01, 0);
    check_close(w[300], 38, 1e-6, 0); /* 160 ms later; half of that time is lost: work ends 80 ms late */
    check_close(w[360], 38, 1e-6, 0);
    assert_true(free_w[320] < 30);
    check_close(smooth_j, 0, 0, 0);
    smoothed(&primed, w, &dynamic_j, &smooth_j, &total_j);
    check_close(w[5], 22, 1e-12, 0);
    check_close(w[50], 22 + 0.1 * 41, 0.01, 0); /* from 10 ms on */
    check_close(w[95], 30, 1e-9, 0);
}

/* A kernel that ends leaves its part of the SMs to the other one; a slow ramp is slower than a thousandth of
 * the full speed in a tick. */
static void what_comes_and_goes_keeps_the_ramp(void **state)
{
    static const struct tmx_smooth_options o = {.ramp_up_w_per_s = 100}, slow = {.ramp_up_w_per_s = 1};
    double w[N_TICK], dynamic_j, smooth_j, total_j;
    (void)state;
    smoothed_with(&tmx_mix_partition, 0.1, &o, w, &dynamic_j, &smooth_j, &total_j);
    for (size_t t = 1; t < N_TICK; t++) {
        assert_true(w[t] - w[t - 1] <= 0.1 + 1e-6);
    }
    check_close(w[400], 38, 1e-6, 0);
    check_close(w[999], 38, 1e-6, 0);
    smoothed(&slow, w, &dynamic_j, &smooth_j, &total_j);
    for (size_t t = 1; t < N_TICK; t++) {
        assert_true(w[t] - w[t - 1] <= 0.001 + 1e-6);
    }
    check_close(w[600] - w[200], 0.4, 1e-3, 0);
}

TMX_TESTS(test_swing)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_is_the_largest_difference_within_its_window),
        cmocka_unit_test(threads_and_steps_at_once_change_no_bit),
        cmocka_unit_test(of_equal_ramps_the_first_has_the_time),
        cmocka_unit_test(steps_of_many_ticks_give_what_single_ticks_give),
        cmocka_unit_test(percentiles_are_within_a_bin),
        cmocka_unit_test(the_band_is_its_share_of_the_energy),
        cmocka_unit_test(a_store_takes_the_swing_and_keeps_energy),
        cmocka_unit_test(steps_are_staggered_by_the_least_waiting),
        cmocka_unit_test(a_rows_ramp_goes_to_boards_that_lack_power),
        cmocka_unit_test(dummy_work_holds_the_floor_and_the_ramp_down),
        cmocka_unit_test(the_secondary_floor_is_there_at_any_time),
        cmocka_unit_test(clocks_rise_no_faster_than_the_ramp_up),
        cmocka_unit_test(what_comes_and_goes_keeps_the_ramp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
