/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed loop with every intermixing policy and every temperature manager: no work lost, nobody
 * starves, the ledger closes. */
#include "base/config.h"
#include "base/rng.h"
#include "core/sim/sim.h"
#include "power/power.h"
#include "sched/policies.h"
#include "sched/sched.h"
#include "tests/support/tiny_thermal.h"

enum { N_SM = 8, MAX_JOB = 12 };

struct world {
    struct tmx_chip chip;
    const struct tmx_chip *chips[1];
    struct tmx_kernel kernel;
    struct tmx_job job[MAX_JOB];
    struct tiny_thermal_model model;
    struct tmx_sim_gpu_thermal thermal;
    struct tmx_sim *sim;
    bool leakage;
    const char *throttle, *mix; /* their options as a file has them; NULL: all defaults */
};

static struct tmx_choice choice_with(size_t place, const struct tmx_plugin *p, const char *options)
{
    struct tmx_choice c = {tmx_choice_level(place), p, NULL};
    struct tmx_config *cfg = NULL;
    assert_int_equal(tmx_config_parse(&cfg, options ? options : "", "test", NULL), TMX_OK);
    struct tmx_err err = {0};
    if (tmx_plugin_state(p, tmx_config_root(cfg), NULL, &c.state, &err)) {
        fail_msg("%s", err.msg);
    }
    tmx_config_close(cfg);
    return c;
}

static struct tmx_choice choice_of(size_t place, const struct tmx_plugin *p)
{
    return choice_with(place, p, NULL);
}

static void world_open(struct world *w, size_t mix, size_t dtm, const struct tmx_job *job, size_t n_job,
                       double warmup_s)
{
    struct tmx_err err = {0};
    w->chips[0] = &w->chip;
    w->thermal = (struct tmx_sim_gpu_thermal){&tiny_thermal_ops, &w->model, 300};
    w->leakage = true;
    struct tmx_sim_spec spec = {
        .machine = {.chip = w->chips,
                    .n_gpu = 1,
                    .job = job,
                    .n_job = n_job,
                    .dt_s = 1e-3,
                    .gain = 1,
                    .system_kernel_s = 5e-7},
        .choice[TMX_LEVEL_PLACE] = choice_of(TMX_LEVEL_PLACE, &tmx_place_policies[0]->base),
        .choice[TMX_LEVEL_MIX] = choice_with(TMX_LEVEL_MIX, &tmx_mix_policies[mix]->base, w->mix),
        .choice[TMX_SAFETY] = choice_with(TMX_SAFETY, &tmx_dtm_policies[1]->base, w->throttle),
        .choice[TMX_LEVEL_DTM] = choice_of(TMX_LEVEL_DTM, &tmx_dtm_policies[dtm]->base),
        .choice[TMX_LEVEL_TB] = choice_of(TMX_LEVEL_TB, &tmx_tb_policies[0]->base),
        .power = {.ops = tmx_power_models[0], .options = &w->leakage},
        .thermal = &w->thermal,
        .sensor = {.period_s = 5e-3},
        .dt_s = 1e-3,
        .quantum_s = 0.05,
        .warmup_s = warmup_s,
        .stuck_s = 100,
        .seed = 1,
    };
    if (tmx_sim_create(&w->sim, &spec, &err)) {
        fail_msg("%s", err.msg);
    }
}

static void world_init(struct world *w)
{
    memset(w, 0, sizeof *w);
    tiny_chip(&w->chip, N_SM);
    /* 3.4 W on each SM reach 318 + 0.8 * 30 + 10 * 3.6 = 378 K, 1 W stays cool */
    w->model = (struct tiny_thermal_model){N_SM + 1, 318.15, 10, 0.05, 0.8, 5};
}

static void world_close(struct world *w)
{
    tmx_sim_destroy(w->sim);
    tmx_chip_finish(&w->chip);
}

static size_t random_jobs(struct world *w, struct tmx_rng *rng)
{
    const size_t n = 2 + (size_t)tmx_rng_below(rng, MAX_JOB - 2);
    double arrival_s = 0;
    for (size_t j = 0; j < n; j++) {
        w->job[j] =
            tiny_job(&w->kernel, 0.2 + 3 * tmx_rng_uniform(rng), 0.5 + 3 * tmx_rng_uniform(rng), N_SM);
        w->job[j].arrival_s = arrival_s;
        w->job[j].priority = (int)tmx_rng_below(rng, 2);
        w->job[j].width_sms = 1 + (size_t)tmx_rng_below(rng, (uint64_t)2 * N_SM);
        w->job[j].width_sms = w->job[j].width_sms < N_SM ? w->job[j].width_sms : N_SM;
        arrival_s += tmx_rng_uniform(rng) < 0.5 ? 0 : 2 * tmx_rng_uniform(rng);
    }
    return n;
}

static void check_blocks(const struct tmx_machine *m)
{
    for (size_t j = 0; j < m->n_job; j++) {
        const struct tmx_job_blocks b = tmx_job_blocks(&m->job[j]);
        assert_true(b.retired <= b.total);
    }
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        assert_true(m->busy[sm] >= 0 && m->busy[m->n_sm + sm] >= 0);
        assert_true(m->busy[sm] + m->busy[m->n_sm + sm] <= 1 + 1e-12);
    }
}

static void check_ledger(const struct tmx_sim *sim)
{
    const struct tmx_recorder *r = sim->recorder;
    double causes = r->transition_j[0], jobs = 0, dynamic = 0;
    for (size_t u = 0; u < r->n_unit; u++) {
        causes += r->dynamic_j[u] + r->leakage_j[u] + r->baseline_j[u];
        dynamic += r->dynamic_j[u];
    }
    for (size_t j = 0; j < r->n_job; j++) {
        jobs += r->job_j[j];
    }
    check_close(causes, r->total_j, 1e-9, 0);
    check_close(jobs, dynamic, 1e-9, 0);
}

static void one_random_run(struct tmx_rng *rng, size_t mix, size_t dtm)
{
    struct world w;
    struct tmx_err err = {0};
    world_init(&w);
    const size_t n = random_jobs(&w, rng);
    world_open(&w, mix, dtm, w.job, n, 0);
    for (int t = 0; t < 300; t++) {
        assert_int_equal(tmx_sim_tick(w.sim, &err), TMX_OK);
        check_blocks(w.sim->machine);
    }
    if (tmx_sim_advance(w.sim, 0, NULL, &err)) {
        fail_msg("%s + %s: %s", tmx_mix_policies[mix]->base.name, tmx_dtm_policies[dtm]->base.name, err.msg);
    }
    const struct tmx_machine *m = w.sim->machine;
    for (size_t j = 0; j < n; j++) {
        assert_true(m->job[j].done_sm_s == m->job[j].work_sm_s);
        assert_true(m->job[j].finished_s >= m->job[j].arrival_s);
    }
    check_ledger(w.sim);
    world_close(&w);
}

static void no_work_is_lost_and_nobody_starves(void **state)
{
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 7, "jobs", NULL), TMX_OK);
    for (size_t mix = 0; tmx_mix_policies[mix]; mix++) {
        for (size_t dtm = 0; dtm < 3; dtm += 2) {
            for (int k = 0; k < 5; k += TMX_EVERY) {
                one_random_run(rng, mix, dtm);
            }
        }
    }
    tmx_rng_destroy(rng);
}

static void hot_and_cold(struct world *w)
{
    w->job[0] = tiny_job(&w->kernel, 20, 3.4, N_SM);
    w->job[1] = tiny_job(&w->kernel, 20, 1.0, N_SM);
}

/* A throttle that stops SMs one by one gains from every mixing policy. One that stops the chip, the default,
 * gains from those that take turns or watts from the hot kernel; beside a cold kernel its SMs are as hot as
 * alone, wherever they are for good. */
static void throttling_holds_the_limit_and_mixing_beats_it(void **state)
{
    static const char *const scopes[] = {"scope = \"sm\";", NULL};
    for (size_t i = 0; i < 2; i++) {
        double lost[16] = {0};
        for (size_t mix = 0; tmx_mix_policies[mix]; mix++) {
            struct world w;
            world_init(&w);
            hot_and_cold(&w);
            w.throttle = scopes[i];
            w.mix = tmx_mix_policies[mix] == &tmx_mix_mixed_uniform
                        ? "places = \"thermal\"; dvfs_beside = true;"
                        : NULL;
            world_open(&w, mix, 0, w.job, 2, 10);
            assert_int_equal(tmx_sim_advance(w.sim, 0, NULL, NULL), TMX_OK);
            const struct tmx_machine *m = w.sim->machine;
            /* one sample of 5 ms late: 34 K at a time constant of 50 ms */
            assert_true(w.sim->recorder->peak_sm_k < 90 + 273.15 + 3.5);
            lost[mix] = 1 - (m->job[0].work_sm_s + m->job[1].work_sm_s) / (N_SM * m->gpu[0].busy_s);
            world_close(&w);
        }
        assert_true(lost[0] > 0.02);
        for (size_t mix = 1; tmx_mix_policies[mix]; mix++) {
            const struct tmx_mix_policy *p = tmx_mix_policies[mix];
            const bool divides_watts = p == &tmx_mix_slosh; /* among GPUs: on one it is fcfs */
            const bool side_by_side = p == &tmx_mix_mixed_uniform || p == &tmx_mix_mixed_alternate;
            const double most = side_by_side && scopes[i] == NULL ? lost[0] : 0.7 * lost[0];
            assert_true(divides_watts ? lost[mix] == lost[0] : lost[mix] < most);
        }
    }
}

static void runaway_and_standstill_are_named(void **state)
{
    struct world w;
    struct tmx_err err = {0};
    world_init(&w);
    hot_and_cold(&w);
    w.chip.power.leakage_w = 40;
    w.chip.power.leakage_exp_per_k = 0.06;
    world_open(&w, 0, 0, w.job, 2, 0);
    assert_int_equal(tmx_sim_advance(w.sim, 0, NULL, &err), TMX_ERUNAWAY);
    assert_non_null(strstr(err.msg, "its cooling does not carry its watts, or leakage"));
    world_close(&w);

    world_init(&w);
    hot_and_cold(&w);
    w.model.ambient_k = 273.15 + 92; /* never below the release temperature */
    world_open(&w, 0, 0, w.job, 2, 0);
    assert_int_equal(tmx_sim_advance(w.sim, 0, NULL, &err), TMX_EUNFINISHED);
    assert_non_null(strstr(err.msg, "no progress"));
    world_close(&w);
}

static void periods_must_be_multiples_of_the_tick(void **state)
{
    struct world w;
    struct tmx_err err = {0};
    struct tmx_sensor *s = NULL;
    world_init(&w);
    hot_and_cold(&w);
    world_open(&w, 0, 0, w.job, 2, 0);
    const struct tmx_sensor_options odd = {.period_s = 0.0025};
    assert_int_equal(tmx_sensor_create(&s, &odd, w.sim->machine, 1e-3, 1, &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "not a multiple"));
    world_close(&w);
}

static void sensor_options(struct tmx_sensor_options *o, struct tmx_arena *a, const char *text)
{
    struct tmx_config *cfg = NULL;
    assert_int_equal(tmx_config_parse(&cfg, text, "test", NULL), TMX_OK);
    assert_int_equal(tmx_sensor_open(o, a, tmx_config_root(cfg), NULL), TMX_OK);
    tmx_config_close(cfg);
}

static void sensors_quantise_delay_and_err_as_told(void **state)
{
    struct world w;
    double temp_k[N_SM + 1], sensed_k[N_SM], hot_k, mean = 0, square = 0;
    struct tmx_sensor *s = NULL;
    world_init(&w);
    hot_and_cold(&w);
    world_open(&w, 0, 0, w.job, 2, 0);
    const struct tmx_machine *m = w.sim->machine;
    struct tmx_arena arena = {0};
    struct tmx_sensor_options late, noisy;
    sensor_options(&late, &arena, "period_s = 0.01; quantum_k = 0.5; delay_s = 0.02;");
    assert_int_equal(tmx_sensor_create(&s, &late, m, 1e-3, 1, NULL), TMX_OK);
    for (int k = 0; k < 5; k++) {
        for (size_t u = 0; u <= N_SM; u++) {
            temp_k[u] = 300.2 + k + (double)u;
        }
        s->n_sample++;
        tmx_sensor_read(s, m, tmx_machine_all(m), temp_k, sensed_k, &hot_k);
        check_close(sensed_k[0], 300 + (k < 2 ? 0 : k - 2), 0, 1e-12);
        check_close(hot_k, sensed_k[N_SM - 1], 0, 0);
    }
    tmx_sensor_destroy(s);
    struct tmx_sensor_options both;
    sensor_options(&both, &arena, "period_s = 0.01; quantum_k = 0.5; noise_k = 2.0;");
    assert_int_equal(tmx_sensor_create(&s, &both, m, 1e-3, 1, NULL), TMX_OK);
    assert_true(s->in_order && s->needs_all);
    s->n_sample++;
    tmx_sensor_read(s, m, tmx_machine_all(m), temp_k, sensed_k, &hot_k);
    check_close(2 * sensed_k[0], round(2 * sensed_k[0]), 0, 0); /* rounded after the noise */
    check_close(tmx_sensor_memory_k(s, 300.2), 300, 0, 0);      /* which a memory has not */
    tmx_sensor_destroy(s);
    sensor_options(&noisy, &arena, "period_s = 0.01; noise_k = 2.0;");
    assert_int_equal(tmx_sensor_create(&s, &noisy, m, 1e-3, 1, NULL), TMX_OK);
    for (int k = 0; k < 2000; k++) {
        s->n_sample++;
        tmx_sensor_read(s, m, tmx_machine_all(m), temp_k, sensed_k, &hot_k);
        mean += (sensed_k[0] - temp_k[0]) / 2000;
        square += (sensed_k[0] - temp_k[0]) * (sensed_k[0] - temp_k[0]) / 2000;
    }
    check_close(mean, 0, 0, 0.2);
    check_close(square, 4, 0.1, 0);
    tmx_sensor_destroy(s);
    tmx_arena_finish(&arena);
    world_close(&w);
}

TMX_TESTS(test_loop)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_work_is_lost_and_nobody_starves),
        cmocka_unit_test(throttling_holds_the_limit_and_mixing_beats_it),
        cmocka_unit_test(runaway_and_standstill_are_named),
        cmocka_unit_test(periods_must_be_multiples_of_the_tick),
        cmocka_unit_test(sensors_quantise_delay_and_err_as_told),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
