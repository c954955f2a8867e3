/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "power/leakage.h"
#include "power/power.h"
#include "tests/support/tiny.h"

static const struct tmx_chip_power forms[] = {
    {.leakage_form = TMX_LEAK_EXPONENTIAL, .leakage_ref_c = 85, .leakage_exp_per_k = 0.036},
    {.leakage_form = TMX_LEAK_QUADRATIC,
     .leakage_ref_c = 85,
     .leakage_c1_per_k = 0.01447,
     .leakage_c2_per_k2 = 6.36e-5},
    {.leakage_form = TMX_LEAK_LIAO, .leakage_ref_c = 85},
};

static void every_form_is_one_at_its_reference_and_grows(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        check_close(tmx_leakage_factor(&forms[i], 85 + 273.15), 1, 1e-12, 0);
        assert_true(tmx_leakage_factor(&forms[i], 90 + 273.15) > 1);
        assert_true(tmx_leakage_factor(&forms[i], 45 + 273.15) < 1);
    }
}

static void the_forms_have_their_published_ratios(void **state)
{
    /* r(T) / r(45 degC): HotSpot 4.221 at 85; CACTI 65 nm 1.681 at 85, 1.780 at 90; Liao 1.434 at 85 */
    static const struct {
        size_t form;
        double temp_c, want, rel;
    } rows[] = {{0, 85, 4.221, 1e-3}, {0, 60, 1.716, 1e-3}, {1, 85, 1.681, 2e-3},
                {1, 90, 1.780, 2e-3}, {2, 85, 1.434, 1e-3}, {2, 60, 1.146, 1e-3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double r = tmx_leakage_factor(&forms[rows[i].form], rows[i].temp_c + 273.15) /
                         tmx_leakage_factor(&forms[rows[i].form], 45 + 273.15);
        check_close(r, rows[i].want, rows[i].rel, 0);
    }
}

static void the_vector_function_agrees_with_the_formula(void **state)
{
    enum { N = 10219 };
    static double temp_k[N], factor[N], single;
    for (size_t k = 0; k < N; k++) {
        temp_k[k] = 200 + 400 * (double)k / (N - 1);
    }
    for (size_t i = 0; i < 3; i++) {
        const struct tmx_leakage l = tmx_leakage_init(&forms[i]);
        tmx_leakage_factors(&l, N, temp_k, factor);
        for (size_t k = 0; k < N; k++) {
            check_close(factor[k], tmx_leakage_factor(&forms[i], temp_k[k]), 1e-12, 1e-15);
            if (k % 97 == 0) { /* alone as among others */
                tmx_leakage_factors(&l, 1, &temp_k[k], &single);
                assert_true(single == factor[k]);
            }
        }
    }
}

/* The bits themselves: what another compiler, level of optimisation or processor would change. */
static void the_vector_function_has_these_bits_everywhere(void **state)
{
    enum { N = 4001 };
    static double temp_k[N], factor[N];
    static const uint64_t want[] = {0x8b4986a1b7f2c988, 0xda7200d8b832d00c, 0x70b11f238a70bc0d};
    for (size_t k = 0; k < N; k++) {
        temp_k[k] = 200 + 0.1 * (double)k;
    }
    for (size_t i = 0; i < 3; i++) {
        struct tmx_leakage l = tmx_leakage_init(&forms[i]);
        l.scale = i == 2 ? 1e-7 : l.scale; /* those of liao come from the C library */
        l.floor = i == 2 ? 0.25 : l.floor;
        uint64_t sum = 0;
        tmx_leakage_factors(&l, N, temp_k, factor);
        for (size_t k = 0; k < N; k++) {
            uint64_t bits;
            memcpy(&bits, &factor[k], sizeof bits);
            sum = sum * 6364136223846793005u + bits;
        }
        if (sum != want[i]) {
            fail_msg("form %zu: 0x%016" PRIx64, i, sum);
        }
    }
}

enum { N_SM = 4, N_UNIT = N_SM + 1 };

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel;
    struct tmx_machine *m;
    void *model;
    struct tmx_frame f;
    double block[8][N_UNIT], slot_w[TMX_SLOTS], transition_w[1];
};

static void rig_open(struct rig *r)
{
    const bool leakage = true;
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    const struct tmx_chip *chip = &r->chip;
    const struct tmx_job jobs[] = {tiny_job(&r->kernel, 10, 2, N_SM), tiny_job(&r->kernel, 10, 1, N_SM)};
    const struct tmx_machine_spec spec = {
        .chip = &chip, .n_gpu = 1, .job = jobs, .n_job = 2, .dt_s = 0.01, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    assert_int_equal(tmx_power_models[0]->create(&leakage, r->m, &r->model, NULL), TMX_OK);
    r->f = (struct tmx_frame){.n_gpu = 1,
                              .n_sm = N_SM,
                              .n_unit = N_UNIT,
                              .sleeps = true,
                              .asleep = r->block[0],
                              .unpowered = r->block[1],
                              .dynamic_w = r->block[2],
                              .leakage_w = r->block[3],
                              .saved_w = r->block[4],
                              .baseline_w = r->block[5],
                              .power_w = r->block[6],
                              .temp_k = r->block[7],
                              .slot_w = r->slot_w,
                              .transition_w = r->transition_w};
    for (size_t u = 0; u < N_UNIT; u++) {
        r->f.temp_k[u] = 85 + 273.15;
    }
    r->m->gpu[0].n_run = 2;
    r->m->gpu[0].run[0] = 0;
    r->m->gpu[0].run[1] = 1;
}

static void rig_close(struct rig *r)
{
    tmx_power_models[0]->destroy(r->model);
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

static double sum(const double *v)
{
    double s = 0;
    for (size_t u = 0; u < N_UNIT; u++) {
        s += v[u];
    }
    return s;
}

static void power_follows_activity_voltage_clock_and_sleep(void **state)
{
    struct rig r;
    rig_open(&r);
    r.m->busy[0] = 1;                                     /* SM0 runs the first kernel */
    r.m->busy[1] = 0.25, r.m->busy[r.m->n_sm + 1] = 0.75; /* SM1 both */
    r.m->volt[0] = 0.9, r.m->volt2[0] = 0.81, r.m->speed[0] = 0.8;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.dynamic_w[0], 2 * 0.81 * 0.8, 1e-12, 0);
    check_close(r.f.dynamic_w[1], (0.25 * 2 + 0.75 * 1) * 0.81 * 0.8, 1e-12, 0);
    check_close(r.f.dynamic_w[2], 0, 0, 0);
    check_close(r.f.slot_w[0] + r.f.slot_w[1], sum(r.f.dynamic_w), 1e-12, 0);
    check_close(sum(r.f.leakage_w), 2 * 0.9, 1e-7, 0);        /* 2 W at 85 degC, linear in V */
    check_close(r.f.leakage_w[0], 2 * 0.9 * 4 / 24, 1e-7, 0); /* by area: 4 of 24 mm2 */
    check_close(sum(r.f.baseline_w), 1, 1e-12, 0);
    check_close(r.f.baseline_w[N_SM], 1, 1e-12, 0); /* outside the SMs */
    r.f.asleep[0] = 0.4;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.saved_w[0] / (r.f.saved_w[0] + r.f.leakage_w[0]), 0.4, 1e-12, 0);
    r.f.unpowered[0] = 0.9; /* without power all of the SM is off, its sleeping units too */
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.saved_w[0] / (r.f.saved_w[0] + r.f.leakage_w[0]), 0.9, 1e-12, 0);
    rig_close(&r);
}

static void readings_of_dvfs_change_the_power_of_a_lower_level(void **state)
{
    struct rig r;
    rig_open(&r);
    r.m->busy[0] = 1;
    r.m->volt[0] = 0.9, r.m->volt2[0] = 0.81, r.m->speed[0] = 0.8;
    r.chip.power.dvfs_power = TMX_DVFS_F;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.dynamic_w[0], 2 * 0.8, 1e-12, 0); /* the rate of accesses alone */
    check_close(sum(r.f.leakage_w), 2 * 0.9, 1e-7, 0);
    r.chip.power.dvfs_leakage = false;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(sum(r.f.leakage_w), 2, 1e-7, 0);
    r.chip.power.dvfs_power = TMX_DVFS_V2F;
    r.m->job[0].memory_bound = 1; /* works as fast as before, at a lower voltage */
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.dynamic_w[0], 2 * 0.81, 1e-12, 0);
    rig_close(&r);
}

static void the_parts_add_up_to_the_power(void **state)
{
    struct rig r;
    rig_open(&r);
    r.m->busy[0] = r.m->busy[r.m->n_sm + 2] = 0.5;
    r.m->gpu[0].transition_j = 0.002;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_OK);
    check_close(r.f.transition_w[0], 0.2, 1e-12, 0);
    check_close(sum(r.f.power_w), sum(r.f.dynamic_w) + sum(r.f.leakage_w) + sum(r.f.baseline_w) + 0.2, 1e-12,
                0);
    rig_close(&r);
}

static void a_temperature_off_the_table_is_runaway(void **state)
{
    struct rig r;
    rig_open(&r);
    r.f.temp_k[2] = 700;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_ERUNAWAY);
    r.f.temp_k[2] = NAN;
    assert_int_equal(tmx_power_models[0]->eval(r.model, r.m, tmx_machine_all(r.m), &r.f), TMX_ERUNAWAY);
    rig_close(&r);
}

TMX_TESTS(test_power)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_one_at_its_reference_and_grows),
        cmocka_unit_test(the_forms_have_their_published_ratios),
        cmocka_unit_test(the_vector_function_agrees_with_the_formula),
        cmocka_unit_test(the_vector_function_has_these_bits_everywhere),
        cmocka_unit_test(power_follows_activity_voltage_clock_and_sleep),
        cmocka_unit_test(readings_of_dvfs_change_the_power_of_a_lower_level),
        cmocka_unit_test(the_parts_add_up_to_the_power),
        cmocka_unit_test(a_temperature_off_the_table_is_runaway),
    };
    return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
