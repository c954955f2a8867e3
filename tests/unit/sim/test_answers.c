/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy that answers nonsense ends the run, and the message has its name. */
#include "core/sim/sim.h"
#include "power/power.h"
#include "tests/support/tiny_thermal.h"

enum { N_SM = 4, N_GPU = 2, N_JOB = 3 };

static void place_well(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)view;
    (void)job;
    *at = (struct tmx_place){0, 1};
}

static void place_outside(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)job;
    *at = (struct tmx_place){view->node->n_gpu, 1};
}

static void place_huge(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)view;
    (void)job;
    *at = (struct tmx_place){SIZE_MAX, 2};
}

static void widen_elsewhere(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)view;
    (void)job;
    *at = (struct tmx_place){1, 1};
}

static void mix_well(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    for (size_t g = 0; g < view->node->n_gpu; g++) { /* two kernels side by side where two wait */
        const struct tmx_gpu_view *gpu = view->node->gpus[g];
        request->gpu[g].admit = gpu->n_run == 1 && gpu->n_queue > 0 ? gpu->queue[0] : TMX_NO_JOB;
        request->gpu[g].share = 0.5;
    }
}

static void mix_nan(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)view;
    request->gpu[1].share = NAN;
}

static void mix_more_than_all(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)view;
    request->gpu[0].share = 1.5;
}

static void mix_cap(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)view;
    request->gpu[1].power_cap_w = 200;
}

static void mix_no_cap_at_all(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)view;
    request->gpu[0].power_cap_w = NAN;
}

static void mix_too_many_parts(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)view;
    request->gpu[1].n_part = 3;
    request->gpu[1].part[0] = request->gpu[1].part[1] = request->gpu[1].part[2] = 0.4;
}

static void mix_no_such_job(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    request->gpu[0].admit = view->node->n_job;
}

static void spread_nan(const void *state, const struct tmx_spread *s, double *share0)
{
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = i == 2 ? NAN : 0.5;
    }
}

static void order_well(const void *state, const struct tmx_view *view, size_t gpu, size_t *order)
{
    for (size_t i = 0; i < view->node->gpus[gpu]->n_sm; i++) {
        order[i] = i;
    }
}

static void order_twice(const void *state, const struct tmx_view *view, size_t gpu, size_t *order)
{
    order_well(state, view, gpu, order);
    order[1] = 0;
}

static void order_outside(const void *state, const struct tmx_view *view, size_t gpu, size_t *order)
{
    order_well(state, view, gpu, order);
    order[3] = N_SM;
}

static const struct tmx_dtm_policy quiet = {.base = {.name = "quiet"}};

static const struct {
    struct tmx_place_policy place;
    struct tmx_mix_policy mix;
    struct tmx_tb_policy tb;
    const char *says; /* NULL: all is well */
} rows[] = {
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "t"}, .order = order_well},
     NULL},
    {{.base = {.name = "off_by_one"}, .place = place_outside},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "t"}, .order = order_well},
     "place policy off_by_one: "},
    {{.base = {.name = "huge"}, .place = place_huge},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "t"}, .order = order_well},
     "place policy huge: "},
    {{.base = {.name = "leaver"}, .place = place_well, .widen = widen_elsewhere},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "t"}, .order = order_well},
     "place policy leaver: "},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "no_number"}, .decide = mix_nan},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy no_number: a share of "},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "greedy"}, .decide = mix_more_than_all},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy greedy: a share of 1.5 on GPU 0"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "ghost"}, .decide = mix_no_such_job},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy ghost: job 3 for GPU 0"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "parter"}, .decide = mix_too_many_parts},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy parter: 3 parts of GPU 1 that add up to 1.2"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "capper"}, .decide = mix_cap},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy capper: a power cap of 200 W on GPU 1, but no dtm policy of this run keeps caps"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "uncapped"}, .decide = mix_no_cap_at_all},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy uncapped: power_cap_w = nan on GPU 0"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "spreader"}, .decide = mix_well, .spread = spread_nan},
     {.base = {.name = "t"}, .order = order_well},
     "mix policy spreader: spread gives SM 2 of GPU 0"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "twice"}, .order = order_twice},
     "thread-block policy twice: the order of GPU 0 names SM 0 twice"},
    {{.base = {.name = "p"}, .place = place_well},
     {.base = {.name = "m"}, .decide = mix_well},
     {.base = {.name = "beyond"}, .order = order_outside},
     "thread-block policy beyond: the order of GPU 0 names SM 4"},
};

static void nonsense_ends_the_run_with_the_policys_name(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static const bool leakage = true;
        struct tmx_chip chip;
        struct tmx_kernel kernel = {0};
        struct tmx_err err = {0};
        struct tmx_sim *sim;
        struct tmx_job job[N_JOB];
        tiny_chip(&chip, N_SM);
        for (size_t j = 0; j < N_JOB; j++) {
            job[j] = tiny_job(&kernel, 100, 1, N_SM);
        }
        const struct tmx_chip *chips[N_GPU] = {&chip, &chip};
        struct tiny_thermal_model model = {N_SM + 1, 318.15, 1, 0.05, 0.1, 5};
        const struct tmx_sim_gpu_thermal thermal[N_GPU] = {{&tiny_thermal_ops, &model, 300},
                                                           {&tiny_thermal_ops, &model, 300}};
        struct tmx_sim_spec spec = {
            .machine = {.chip = chips, .n_gpu = N_GPU, .job = job, .n_job = N_JOB, .dt_s = 1e-3, .gain = 1},
            .choice = {[TMX_LEVEL_PLACE] = {TMX_LEVEL_PLACE, &rows[i].place.base, NULL},
                       [TMX_LEVEL_MIX] = {TMX_LEVEL_MIX, &rows[i].mix.base, NULL},
                       [TMX_LEVEL_TB] = {TMX_LEVEL_TB, &rows[i].tb.base, NULL},
                       [TMX_SAFETY] = {TMX_LEVEL_DTM, &quiet.base, NULL}},
            .power = {.ops = tmx_power_models[0], .options = &leakage},
            .thermal = thermal,
            .sensor = {.period_s = 5e-3},
            .dt_s = 1e-3,
            .quantum_s = 0.01,
            .seed = 1,
        };
        assert_int_equal(tmx_sim_create(&sim, &spec, &err), TMX_OK);
        enum tmx_status st = TMX_OK;
        for (int t = 0; t < 50 && !st; t++) {
            st = tmx_sim_tick(sim, &err);
        }
        assert_int_equal(st, rows[i].says ? TMX_ESOLVE : TMX_OK);
        if (rows[i].says && strncmp(err.msg, rows[i].says, strlen(rows[i].says)) != 0) {
            fail_msg("\"%s\", expected \"%s\"", err.msg, rows[i].says);
        }
        tmx_sim_destroy(sim);
        tmx_chip_finish(&chip);
    }
}

TMX_TESTS(test_answers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_ends_the_run_with_the_policys_name),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
