/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leakage uses the temperature at the start of a tick. That coupling is first order in the tick, and it is
 * the only thing in the loop that depends on it: halving the tick halves the distance to the solution of
 *
 *     tau dT/dt = T_ambient + R P(T) - T,     P(T) = P_busy + P_leak(T)                  (each unit)
 *
 * which the test's thermal model steps exactly under constant power, and which classical Runge-Kutta
 * solves here with steps of 0.1 ms. */
#include "core/sim/sim.h"
#include "power/power.h"
#include "sched/sched.h"
#include "tests/support/tiny_thermal.h"

enum { N_SM = 4, N_UNIT = N_SM + 1, N_HALVING = 4 };

static const double R = 10, TAU_S = 0.05, AMBIENT_K = 318.15, BUSY_W = 2, END_S = 0.08;

static struct tmx_choice choice_of(size_t place, const struct tmx_plugin *p)
{
    struct tmx_choice c = {tmx_choice_level(place), p, NULL};
    assert_int_equal(tmx_plugin_state(p, NULL, NULL, &c.state, NULL), TMX_OK);
    return c;
}

/* One busy kernel without end on a chip that stays below every threshold; unit temperatures at END_S. */
static void run(double dt_s, bool leakage, double *temp_k)
{
    struct tmx_chip chip;
    struct tmx_kernel kernel = {0};
    tiny_chip(&chip, N_SM);
    chip.power.baseline_w = 0;
    const struct tmx_chip *chips = &chip;
    const struct tmx_job job = tiny_job(&kernel, 100, BUSY_W, N_SM);
    struct tiny_thermal_model model = {N_UNIT, AMBIENT_K, R, TAU_S, 0, 1};
    const struct tmx_sim_gpu_thermal thermal = {&tiny_thermal_ops, &model, 300};
    struct tmx_sim *sim;
    struct tmx_sim_spec spec = {
        .machine = {.chip = &chips, .n_gpu = 1, .job = &job, .n_job = 1, .dt_s = dt_s, .gain = 1},
        .choice[TMX_LEVEL_PLACE] = choice_of(TMX_LEVEL_PLACE, &tmx_place_policies[0]->base),
        .choice[TMX_LEVEL_MIX] = choice_of(TMX_LEVEL_MIX, &tmx_mix_policies[0]->base),
        .choice[TMX_SAFETY] = choice_of(TMX_SAFETY, &tmx_dtm_policies[1]->base),
        .choice[TMX_LEVEL_DTM] = choice_of(TMX_LEVEL_DTM, &tmx_dtm_policies[0]->base),
        .choice[TMX_LEVEL_TB] = choice_of(TMX_LEVEL_TB, &tmx_tb_policies[0]->base),
        .power = {.ops = tmx_power_models[0], .options = &leakage},
        .thermal = &thermal,
        .sensor = {.period_s = 8e-3},
        .dt_s = dt_s,
        .quantum_s = 0.04,
        .seed = 1,
    };
    assert_int_equal(tmx_sim_create(&sim, &spec, NULL), TMX_OK);
    for (size_t t = 0; t < (size_t)(END_S / dt_s + 0.5); t++) {
        assert_int_equal(tmx_sim_tick(sim, NULL), TMX_OK);
    }
    memcpy(temp_k, sim->frame.temp_k, N_UNIT * sizeof *temp_k);
    tmx_sim_destroy(sim);
    tmx_chip_finish(&chip);
}

/* The tiny chip's 2 W at 85 degC, x exp(0.02 (T - 85)), by area: an SM has 1 of 6 parts, the strip 2. */
static double slope(double busy_w, double part, double temp_k)
{
    const double leak_w = 2 * part * exp(0.02 * (temp_k - 273.15 - 85));
    return (AMBIENT_K + R * (busy_w + leak_w) - temp_k) / TAU_S;
}

static double exact(double busy_w, double part)
{
    const double h = 1e-4;
    double y = AMBIENT_K;
    for (size_t i = 0; i < (size_t)(END_S / h + 0.5); i++) {
        const double a = slope(busy_w, part, y), b = slope(busy_w, part, y + h / 2 * a),
                     c = slope(busy_w, part, y + h / 2 * b), d = slope(busy_w, part, y + h * c);
        y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return y;
}

static void halving_the_tick_halves_the_error_of_the_leakage_coupling(void **state)
{
    const double want_k[] = {exact(BUSY_W, 1.0 / 6), exact(0, 2.0 / 6)};
    double error_k[N_HALVING][2];
    for (int k = 0; k < N_HALVING; k++) {
        double temp_k[N_UNIT];
        run(8e-3 / (1 << k), true, temp_k);
        error_k[k][0] = temp_k[0] - want_k[0];
        error_k[k][1] = temp_k[N_SM] - want_k[1];
    }
    for (int u = 0; u < 2; u++) {
        assert_true(fabs(error_k[0][u]) > 1e-3); /* there is something to see */
        for (int k = 1; k < N_HALVING; k++) {
            check_close(error_k[k - 1][u] / error_k[k][u], 2, 0, 0.1);
        }
        /* and the limit is the equation's: the error's linear part cancels */
        check_close(2 * error_k[3][u] - error_k[2][u], 0, 0, 0.02 * fabs(error_k[2][u]));
    }
}

static void without_leakage_the_tick_does_not_matter(void **state)
{
    double coarse_k[N_UNIT], fine_k[N_UNIT];
    run(8e-3, false, coarse_k);
    run(1e-3, false, fine_k);
    for (size_t u = 0; u < N_UNIT; u++) {
        check_close(coarse_k[u], fine_k[u], 1e-12, 0);
    }
    check_close(coarse_k[0], AMBIENT_K + R * BUSY_W * (1 - exp(-END_S / TAU_S)), 1e-12, 0);
}

TMX_TESTS(test_coupling)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halving_the_tick_halves_the_error_of_the_leakage_coupling),
        cmocka_unit_test(without_leakage_the_tick_does_not_matter),
    };
    return cmocka_run_group_tests_name("coupling", tests, NULL, NULL);
}
