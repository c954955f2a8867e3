/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is asked when, and in which order: the loop's own rules, with policies that write down each call. */
#include "core/sim/sim.h"
#include "power/power.h"
#include "tests/support/tiny_thermal.h"

enum { N_SM = 4, MAX_JOB = 40, MAX_CALL = 512, QUANTUM = 50, SAMPLE = 5 };

struct calls {
    size_t n;
    char what[MAX_CALL];
    uint64_t tick[MAX_CALL];
    bool stops; /* the guard stops SM 1 in the third and fourth of every four samples */
    struct tmx_place (*where)(const struct tmx_view *view, size_t job);
};

struct world {
    struct tmx_chip chip;
    const struct tmx_chip *chips[2];
    struct tmx_kernel kernel;
    struct tmx_job job[MAX_JOB];
    struct tiny_thermal_model model;
    struct tmx_sim_gpu_thermal thermal[2];
    struct calls calls;
    struct tmx_sim *sim;
};

struct pen { /* a policy's state */
    struct calls *calls;
};

static void note(const void *state, const struct tmx_view *view, char what)
{
    struct calls *c = ((const struct pen *)state)->calls;
    assert_true(c->n < MAX_CALL);
    c->what[c->n] = what;
    c->tick[c->n++] = view->tick;
}

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    note(state, view, 'p');
    *at = ((const struct pen *)state)->calls->where(view, job);
}

static void widen(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    note(state, view, 'w');
    *at = (struct tmx_place){view->node->jobs[job]->home_gpu, view->node->jobs[job]->n_gpu};
}

static void decide(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)request;
    note(state, view, 'm');
}

static void guard(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    note(state, view, 'g');
    request->gate[1] = ((const struct pen *)state)->calls->stops && view->tick / SAMPLE % 4 >= 2;
}

static void govern(void *state, const struct tmx_view *view, struct tmx_request *request)
{
    (void)request;
    note(state, view, 'd');
}

/* By index at first, the other way round later. */
static void order(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)gpu;
    note(state, view, 'o');
    for (size_t i = 0; i < N_SM; i++) {
        out[i] = view->tick == 0 ? i : N_SM - 1 - i;
    }
}

static const struct tmx_place_policy place_policy = {.place = place, .widen = widen};
static const struct tmx_mix_policy mix_policy = {.decide = decide};
static const struct tmx_dtm_policy safety_policy = {.guard = guard}, dtm_policy = {.govern = govern};
static const struct tmx_tb_policy tb_policy = {.order = order};

static void *pen(struct world *w)
{
    struct pen *p = calloc(1, sizeof *p);
    p->calls = &w->calls;
    return p;
}

static void world_open_warm(struct world *w, size_t n_gpu, size_t n_job, bool shared_queue, double warmup_s,
                            enum tmx_warmup warmup_with,
                            struct tmx_place (*where)(const struct tmx_view *, size_t))
{
    static const bool leakage = true;
    struct tmx_err err = {0};
    memset(w, 0, sizeof *w);
    tiny_chip(&w->chip, N_SM);
    w->calls.where = where;
    w->model = (struct tiny_thermal_model){N_SM + 1, 318.15, 1, 0.05, 0.1, 5};
    for (size_t g = 0; g < 2; g++) {
        w->chips[g] = &w->chip;
        w->thermal[g] = (struct tmx_sim_gpu_thermal){&tiny_thermal_ops, &w->model, 300};
    }
    for (size_t j = 0; j < n_job; j++) {
        w->job[j] = tiny_job(&w->kernel, 100, 1, N_SM);
    }
    struct tmx_sim_spec spec = {
        .machine = {.chip = w->chips, .n_gpu = n_gpu, .job = w->job, .n_job = n_job, .dt_s = 1e-3, .gain = 1},
        .choice[TMX_LEVEL_PLACE] = {tmx_choice_level(TMX_LEVEL_PLACE), &place_policy.base, pen(w)},
        .choice[TMX_LEVEL_MIX] = {tmx_choice_level(TMX_LEVEL_MIX), &mix_policy.base, pen(w)},
        .choice[TMX_SAFETY] = {tmx_choice_level(TMX_SAFETY), &safety_policy.base, pen(w)},
        .choice[TMX_LEVEL_DTM] = {tmx_choice_level(TMX_LEVEL_DTM), &dtm_policy.base, pen(w)},
        .choice[TMX_LEVEL_TB] = {tmx_choice_level(TMX_LEVEL_TB), &tb_policy.base, pen(w)},
        .power = {.ops = tmx_power_models[0], .options = &leakage},
        .thermal = w->thermal,
        .shared_queue = shared_queue,
        .sensor = {.period_s = SAMPLE * 1e-3},
        .dt_s = 1e-3,
        .quantum_s = QUANTUM * 1e-3,
        .warmup_s = warmup_s,
        .warmup_with = warmup_with,
        .seed = 1,
    };
    if (tmx_sim_create(&w->sim, &spec, &err)) {
        fail_msg("%s", err.msg);
    }
}

static void world_open(struct world *w, size_t n_gpu, size_t n_job, bool shared_queue, double warmup_s,
                       struct tmx_place (*where)(const struct tmx_view *, size_t))
{
    world_open_warm(w, n_gpu, n_job, shared_queue, warmup_s, TMX_WARMUP_POLICY, where);
}

static void world_close(struct world *w)
{
    tmx_sim_destroy(w->sim);
    tmx_chip_finish(&w->chip);
}

static void ticks(struct world *w, size_t n)
{
    for (size_t t = 0; t < n; t++) {
        assert_int_equal(tmx_sim_tick(w->sim, NULL), TMX_OK);
    }
}

static size_t count(const struct world *w, char what, uint64_t tick)
{
    size_t n = 0;
    for (size_t i = 0; i < w->calls.n; i++) {
        n += w->calls.what[i] == what && w->calls.tick[i] == tick;
    }
    return n;
}

static struct tmx_place on_gpu_0(const struct tmx_view *view, size_t job)
{
    (void)view;
    (void)job;
    return (struct tmx_place){0, 1};
}

static void the_hardware_looks_every_sample_and_the_system_every_quantum(void **state)
{
    struct world w;
    size_t at = 0;
    world_open(&w, 1, 1, false, 0, on_gpu_0);
    ticks(&w, 3 * QUANTUM + 1);
    for (uint64_t t = 0; t <= (uint64_t)3 * QUANTUM; t++) {
        /* thread blocks, placement of what arrived, more GPUs for what runs, mixing, clocks */
        const char *want = t == 0 ? "gopmd" : t % QUANTUM == 0 ? "gowmd" : t % SAMPLE == 0 ? "g" : "";
        for (; *want; want++, at++) {
            assert_true(at < w.calls.n);
            assert_int_equal(w.calls.what[at], *want);
            assert_int_equal(w.calls.tick[at], t);
        }
    }
    assert_int_equal(at, w.calls.n);
    world_close(&w);
}

static void the_thread_block_order_is_renewed_every_quantum(void **state)
{
    struct world w;
    world_open(&w, 1, 1, false, 0, on_gpu_0);
    ticks(&w, QUANTUM);
    assert_int_equal(w.sim->machine->gpu[0].order[0], 0);
    ticks(&w, 1);
    assert_int_equal(w.sim->machine->gpu[0].order[0], N_SM - 1);
    world_close(&w);
}

static struct tmx_place job_0_waits(const struct tmx_view *view, size_t job)
{
    return (struct tmx_place){0, job > 0 || view->tick > 0};
}

static void who_has_to_wait_holds_up_those_behind_him(void **state)
{
    struct world w;
    world_open(&w, 1, 3, false, 0, job_0_waits);
    ticks(&w, QUANTUM);
    assert_int_equal(count(&w, 'p', 0), 1);
    assert_int_equal(w.sim->machine->gpu[0].n_run, 0);
    ticks(&w, 1);
    assert_int_equal(count(&w, 'p', QUANTUM), 3);
    assert_int_equal(w.sim->machine->gpu[0].run[0], 0);
    assert_int_equal(w.sim->machine->gpu[0].n_queue, 2);
    world_close(&w);
}

/* 33 kernels for GPU 0, whose queue has 32 places, then one for GPU 1. */
static struct tmx_place last_on_gpu_1(const struct tmx_view *view, size_t job)
{
    return (struct tmx_place){job + 1 == view->node->n_job, 1};
}

static void a_full_queue_holds_up_the_arrivals_too(void **state)
{
    struct world w;
    world_open(&w, 2, TMX_KQUEUE + 2, false, 0, last_on_gpu_1);
    ticks(&w, 1);
    assert_int_equal(count(&w, 'p', 0), TMX_KQUEUE + 1);
    assert_int_equal(w.sim->machine->job[TMX_KQUEUE].n_gpu, 0); /* no room */
    assert_int_equal(w.sim->machine->gpu[1].n_run, 0);          /* nor asked for the last one */
    ticks(&w, QUANTUM);                                         /* the first runs, which makes room */
    assert_int_equal(w.sim->machine->gpu[0].n_queue, TMX_KQUEUE);
    assert_int_equal(w.sim->machine->gpu[1].n_run, 1);
    world_close(&w);
}

static void with_a_shared_queue_one_kernel_waits_at_the_gpu_and_the_rest_in_the_system(void **state)
{
    for (int shared = 0; shared < 2; shared++) {
        struct world w;
        world_open(&w, 1, 4, shared, 0, on_gpu_0);
        w.sim->machine->job[3].priority = 1; /* the first in either queue */
        ticks(&w, QUANTUM + 1);
        assert_int_equal(w.sim->machine->gpu[0].n_run, 1);
        assert_int_equal(w.sim->machine->gpu[0].run[0], 3);
        assert_int_equal(w.sim->machine->gpu[0].n_queue, shared ? 1 : 3);
        assert_int_equal(w.sim->machine->job[2].n_gpu, shared ? 0 : 1);
        world_close(&w);
    }
}

static void the_throttle_alone_warms_up_without_the_policies(void **state)
{
    struct world w;
    world_open_warm(&w, 1, 1, false, 0.1, TMX_WARMUP_THROTTLE, on_gpu_0);
    ticks(&w, 2 * QUANTUM + 1);
    assert_int_equal(count(&w, 'p', 0), 1); /* placed, and running, */
    assert_true(w.sim->frame.dynamic_w[0] > 0.9);
    assert_int_equal(count(&w, 'g', QUANTUM), 1); /* guarded, */
    assert_int_equal(count(&w, 'm', QUANTUM) + count(&w, 'd', QUANTUM), 0);
    assert_int_equal(count(&w, 'm', 2 * QUANTUM) + count(&w, 'd', 2 * QUANTUM),
                     2); /* managed when it counts */
    world_close(&w);
}

static void an_idle_chip_warms_up_without_work(void **state)
{
    struct world w;
    world_open_warm(&w, 1, 1, false, 0.1, TMX_WARMUP_IDLE, on_gpu_0);
    ticks(&w, 2 * QUANTUM);
    check_close(w.sim->frame.dynamic_w[0], 0, 0, 0);
    assert_true(w.sim->frame.leakage_w[0] > 0);
    assert_int_equal(count(&w, 'p', 0) + count(&w, 'p', QUANTUM), 0);
    ticks(&w, 1);
    check_close(w.sim->machine->job[0].done_sm_s, 1e-3 * N_SM, 1e-12, 0);
    world_close(&w);
}

static void the_recorder_counts_stops_their_length_and_their_period(void **state)
{
    struct world w;
    world_open(&w, 1, 1, false, 0, on_gpu_0);
    w.calls.stops = true;
    ticks(&w, (size_t)3 * 4 * SAMPLE + 3 * SAMPLE); /* stopped in samples 2-3, 6-7, 10-11 and 14 */
    const struct tmx_recorder *r = w.sim->recorder;
    check_close(r->trips[0], 0, 0, 0);
    check_close(r->longest_s[0], 0, 0, 0);
    check_close(r->trips[1], 4, 0, 0);
    check_close(r->longest_s[1], 2 * SAMPLE * 1e-3, 0, 1e-12);
    check_close(r->stopped_s[1], SAMPLE * 1e-3, 0, 1e-12);
    check_close(r->last_s[1] - r->first_s[1], 3 * 4 * SAMPLE * 1e-3, 0, 1e-12);
    check_close(r->hot_k[0], w.sim->frame.sensed_k[0], 0, 1e-12); /* it only warms */
    assert_true(r->hot_k[0] > r->hot_k[1]);
    assert_true(isnan(tmx_sim_trip_k(w.sim))); /* this guard names no trip point */
    world_close(&w);
}

static void work_of_the_warm_up_does_not_count(void **state)
{
    struct world w;
    world_open(&w, 1, 1, false, 0.1, on_gpu_0);
    ticks(&w, 100);
    const struct tmx_machine *m = w.sim->machine;
    assert_int_equal(m->gpu[0].n_run, 1); /* it runs and heats, */
    assert_true(w.sim->frame.dynamic_w[0] > 0.9);
    check_close(m->job[0].done_sm_s, 0, 0, 0); /* and has done nothing */
    check_close(m->gpu[0].busy_s, 0, 0, 0);
    assert_true(m->job[0].started_s < 0);
    ticks(&w, 1);
    check_close(m->job[0].done_sm_s, 1e-3 * N_SM, 1e-12, 0);
    check_close(m->gpu[0].busy_s, 1e-3, 1e-12, 0);
    check_close(m->job[0].started_s, 0, 0, 1e-12);
    world_close(&w);
}

TMX_TESTS(test_tick)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hardware_looks_every_sample_and_the_system_every_quantum),
        cmocka_unit_test(the_thread_block_order_is_renewed_every_quantum),
        cmocka_unit_test(who_has_to_wait_holds_up_those_behind_him),
        cmocka_unit_test(a_full_queue_holds_up_the_arrivals_too),
        cmocka_unit_test(the_throttle_alone_warms_up_without_the_policies),
        cmocka_unit_test(an_idle_chip_warms_up_without_work),
        cmocka_unit_test(the_recorder_counts_stops_their_length_and_their_period),
        cmocka_unit_test(work_of_the_warm_up_does_not_count),
        cmocka_unit_test(with_a_shared_queue_one_kernel_waits_at_the_gpu_and_the_rest_in_the_system),
    };
    return cmocka_run_group_tests_name("tick", tests, NULL, NULL);
}
