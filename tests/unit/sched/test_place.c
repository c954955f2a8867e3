/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement on several GPUs as scenarios: what is seen, where the next kernel goes. */
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 4, N_GPU = 4, MAX_JOB = 8 };
#define HOT_K  (95 + 273.15)
#define COOL_K (60 + 273.15)

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel[MAX_JOB];
    struct tmx_machine *m;
    struct tmx_gpu_request gpu_request[N_GPU];
    struct tmx_request request;
    bool gate[N_SM * N_GPU];
    double sensed_k[N_SM * N_GPU], hottest_k[N_GPU];
    struct tmx_view view;
};

/* Four GPUs on two cards; jobs of the given watts, all arrived, none placed. */
static void rig_open(struct rig *r, const double *power_w, size_t n)
{
    static const size_t card[N_GPU] = {0, 0, 1, 1};
    const struct tmx_chip *chip[N_GPU];
    struct tmx_job job[MAX_JOB];
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    for (size_t g = 0; g < N_GPU; g++) {
        chip[g] = &r->chip;
        r->hottest_k[g] = COOL_K;
        r->gpu_request[g] = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = 0.5, .n_active = N_SM};
    }
    for (size_t i = 0; i < n; i++) {
        job[i] = tiny_job(&r->kernel[i], 100, power_w[i], N_SM);
        job[i].remote_weight = 0.1;
    }
    const struct tmx_machine_spec spec = {.chip = chip,
                                          .n_gpu = N_GPU,
                                          .card = card,
                                          .job = job,
                                          .n_job = n,
                                          .dt_s = 0.05,
                                          .gain = 1,
                                          .remote_cost = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    r->request = (struct tmx_request){.gpu = r->gpu_request, .gate = r->gate};
    r->view = (struct tmx_view){.node = &r->m->view, .sensed_k = r->sensed_k, .hottest_k = r->hottest_k};
    tmx_machine_admit(r->m, 0);
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

static const struct tmx_place_policy *policy(const char *name)
{
    for (size_t i = 0; tmx_place_policies[i]; i++) {
        if (strcmp(tmx_place_policies[i]->base.name, name) == 0) {
            return tmx_place_policies[i];
        }
    }
    fail_msg("no policy %s", name);
    return NULL;
}

static size_t put(struct rig *r, const struct tmx_place_policy *p, const void *state, size_t job)
{
    struct tmx_place at = {0};
    p->place(state, &r->view, job, &at);
    assert_true(at.n >= 1 && at.home + at.n <= N_GPU);
    r->m->job[job].home_gpu = at.home;
    r->m->job[job].n_gpu = at.n;
    assert_true(tmx_machine_enqueue(r->m, job));
    return at.home;
}

static void run(struct rig *r, size_t n_tick)
{
    for (size_t i = 0; i < n_tick; i++) {
        tiny_apply(r->m, &r->request, r->sensed_k);
        for (size_t g = 0; g < N_GPU; g++) {
            for (size_t sm = 0; sm < N_SM; sm++) { /* both resident kernels on every SM */
                double *share = &r->m->share[r->m->gpu[g].sm0 + sm];
                share[0] = r->m->gpu[g].n_run == 2 ? 0.5 : r->m->gpu[g].n_run == 1;
                share[r->m->n_sm] = r->m->gpu[g].n_run == 2 ? 0.5 : 0;
            }
        }
        tiny_advance(r->m, 0.05 * (double)i);
    }
}

static void round_robin_takes_turns(void **state)
{
    static const double w[] = {1, 1, 1, 1, 1};
    const struct tmx_place_policy *p = policy("round_robin");
    struct rig r;
    rig_open(&r, w, 5);
    for (size_t j = 0; j < 5; j++) {
        assert_int_equal(put(&r, p, NULL, j), j % N_GPU);
    }
    rig_close(&r);
}

static void coldest_looks_at_load_then_heat(void **state)
{
    static const double w[] = {1, 1, 1, 1, 1};
    static const size_t want[] = {2, 3, 0, 1, 2};
    const struct tmx_place_policy *p = policy("coldest");
    struct rig r;
    rig_open(&r, w, 5);
    r.hottest_k[0] = 330;
    r.hottest_k[1] = 340;
    r.hottest_k[2] = 310;
    r.hottest_k[3] = 320;
    for (size_t j = 0; j < 5; j++) {
        assert_int_equal(put(&r, p, NULL, j), want[j]);
    }
    rig_close(&r);
}

static void least_loaded_counts_the_work_left(void **state)
{
    static const double w[] = {1, 1, 1, 1, 1, 1};
    const struct tmx_place_policy *p = policy("least_loaded");
    struct rig r;
    rig_open(&r, w, 6);
    r.m->job[0].work_sm_s *= 9;
    r.m->job[1].work_sm_s *= 4;
    r.m->job[2].work_sm_s *= 2;
    static const size_t want[] = {0, 1, 2, 3, 3, 2};
    for (size_t j = 0; j < 6; j++) {
        assert_int_equal(put(&r, p, NULL, j), want[j]);
    }
    rig_close(&r);
}

/* Hot, hot, cold, cold on four GPUs; then a hot one joins a cold one and a cold one a hot one. */
static void hot_joins_cold(void **state)
{
    static const double w[] = {4, 3, 1, 1.5, 3.5, 0.5};
    const struct tmx_place_policy *p = policy("pair_hot_cold");
    struct rig r;
    rig_open(&r, w, 6);
    for (size_t j = 0; j < 6; j++) {
        r.m->job[j].pdi_valid = true;
    }
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(put(&r, p, NULL, j), j); /* idle ones first */
    }
    assert_int_equal(put(&r, p, NULL, 4), 2); /* with the 1 W kernel */
    assert_int_equal(put(&r, p, NULL, 5), 0); /* with the 4 W kernel */
    rig_close(&r);
}

static void spread(const struct rig *r, const struct tmx_place_policy *p, const void *state, size_t job)
{
    struct tmx_place at = {0};
    p->widen(state, &r->view, job, &at);
    if (at.n > r->m->job[job].n_gpu) {
        assert_true(tmx_machine_widen(r->m, job, at.home, at.n));
    }
}

static void unlike_kernels_spread_over_their_card_when_one_is_hot(void **state)
{
    static const double w[] = {3, 1, 2, 2};
    const struct tmx_place_policy *p = policy("spread");
    struct rig r;
    void *s;
    rig_open(&r, w, 4);
    assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &s, NULL), TMX_OK);
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(put(&r, p, s, j), j);
    }
    run(&r, 2);
    for (size_t j = 0; j < 4; j++) {
        spread(&r, p, s, j);
        assert_int_equal(r.m->job[j].n_gpu, 1); /* nobody is hot */
    }
    r.hottest_k[0] = r.hottest_k[2] = HOT_K;
    for (size_t j = 0; j < 4; j++) {
        spread(&r, p, s, j);
    }
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(r.m->job[j].n_gpu, j < 2 ? 2 : 1); /* the second card's kernels are alike */
        assert_int_equal(r.m->job[j].home_gpu, j < 2 ? 0 : j);
        assert_int_equal(r.m->job[j].data_gpu, j);
    }
    assert_int_equal(r.m->gpu[0].n_queue, 1);
    assert_int_equal(r.m->gpu[0].queue[0], 1);
    assert_int_equal(r.m->gpu[1].queue[0], 0);
    free(s);
    rig_close(&r);
}

/* Half of each kernel on either GPU of the card: the blocks away from their data live 10 % longer. */
static void blocks_away_from_their_data_are_slower(void **state)
{
    static const double w[] = {3, 1};
    const struct tmx_place_policy *p = policy("own_gpu");
    struct rig r;
    rig_open(&r, w, 2);
    put(&r, p, NULL, 0);
    put(&r, p, NULL, 1);
    run(&r, 1);
    assert_true(tmx_machine_widen(r.m, 0, 0, 2));
    assert_true(tmx_machine_widen(r.m, 1, 0, 2));
    r.gpu_request[0].admit = 1;
    r.gpu_request[1].admit = 0;
    run(&r, 1);
    r.gpu_request[0].admit = r.gpu_request[1].admit = TMX_NO_JOB;
    assert_int_equal(r.m->gpu[0].n_run, 2);
    assert_int_equal(r.m->gpu[1].n_run, 2);
    const double done = r.m->job[0].done_sm_s;
    run(&r, 100);
    check_close(r.m->job[0].done_sm_s - done, 100 * 0.05 * N_SM * (0.5 + 0.5 / 1.1), 1e-9, 0);
    check_close(tmx_machine_remote_speed(r.m, &r.m->job[0], 0), 1, 0, 0);
    check_close(tmx_machine_remote_speed(r.m, &r.m->job[0], 1), 1 / 1.1, 1e-15, 0);
    rig_close(&r);
}

TMX_TESTS(test_place)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_takes_turns),
        cmocka_unit_test(coldest_looks_at_load_then_heat),
        cmocka_unit_test(least_loaded_counts_the_work_left),
        cmocka_unit_test(hot_joins_cold),
        cmocka_unit_test(unlike_kernels_spread_over_their_card_when_one_is_hot),
        cmocka_unit_test(blocks_away_from_their_data_are_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
