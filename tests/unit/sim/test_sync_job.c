/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synchronous jobs: steps end when the last member arrives, at times that follow from speeds and not from
 * ticks; who waits draws less; the state survives a snapshot. */
#include "base/config.h"
#include "core/sim/sim.h"
#include "power/power.h"
#include "tests/support/tiny_thermal.h"

enum { N_SM = 4, MAX_GPU = 4 };

struct world {
    struct tmx_chip chip;
    const struct tmx_chip *chips[MAX_GPU];
    struct tmx_kernel kernel;
    struct tmx_job job[MAX_GPU];
    struct tiny_thermal_model model;
    struct tmx_sim_gpu_thermal thermal[MAX_GPU];
    struct tmx_sync_job_spec sync_job;
    struct tmx_arena arena; /* of it */
    struct tmx_sim *sim;
};

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    (void)state, (void)view, (void)job;
    *at = (struct tmx_place){0, 1};
}
static void decide(void *state, const struct tmx_view *view, struct tmx_request *r)
{
    (void)state, (void)view, (void)r;
}
static void order(const void *state, const struct tmx_view *view, size_t gpu, size_t *out)
{
    (void)state, (void)view, (void)gpu;
    for (size_t i = 0; i < N_SM; i++) {
        out[i] = i;
    }
}
struct slow {
    int level;
};
static void govern(void *state, const struct tmx_view *view, struct tmx_request *r)
{
    r->gpu[view->node->n_gpu - 1].level = (size_t)((struct slow *)state)->level;
}
static const struct tmx_place_policy place_policy = {.place = place};
static const struct tmx_mix_policy mix_policy = {.decide = decide};
static const struct tmx_dtm_policy quiet,
    dtm_policy = {.base.state_size = sizeof(struct slow), .govern = govern};
static const struct tmx_tb_policy tb_policy = {.order = order};

/* n members on as many GPUs, of which the last runs at `level`: speeds 1, 0.9, 0.8. */
static void open_world(struct world *w, size_t n, const char *sync_job, double dt_s, double warmup_s,
                       int level)
{
    static const bool leakage = false;
    struct tmx_config *cfg = NULL;
    struct tmx_err err = {0};
    struct slow *slow = calloc(1, sizeof *slow);
    *w = (struct world){.model = {N_SM + 1, 318.15, 1, 0.05, 0.1, 5}};
    tiny_chip(&w->chip, N_SM);
    slow->level = level;
    for (size_t g = 0; g < n; g++) {
        w->chips[g] = &w->chip;
        w->thermal[g] = (struct tmx_sim_gpu_thermal){&tiny_thermal_ops, &w->model, 300};
        w->job[g] = tiny_job(&w->kernel, 1, 2, N_SM);
    }
    w->arena = (struct tmx_arena){0};
    if (tmx_config_parse(&cfg, sync_job, "test", &err) ||
        tmx_sync_job_read(&w->sync_job, &w->arena, tmx_config_root(cfg), n, n, n, &err)) {
        fail_msg("%s", err.msg);
    }
    tmx_config_close(cfg);
    struct tmx_sim_spec spec = {
        .machine = {.chip = w->chips, .n_gpu = n, .job = w->job, .n_job = n, .dt_s = dt_s, .gain = 1},
        .choice[TMX_LEVEL_PLACE] = {TMX_LEVEL_PLACE, &place_policy.base, NULL},
        .choice[TMX_LEVEL_MIX] = {TMX_LEVEL_MIX, &mix_policy.base, NULL},
        .choice[TMX_SAFETY] = {TMX_LEVEL_DTM, &quiet.base, NULL},
        .choice[TMX_LEVEL_DTM] = {TMX_LEVEL_DTM, &dtm_policy.base, slow},
        .choice[TMX_LEVEL_TB] = {TMX_LEVEL_TB, &tb_policy.base, NULL},
        .source = {&tmx_source_sync_job, &w->sync_job},
        .power = {.ops = tmx_power_models[0], .options = &leakage},
        .thermal = w->thermal,
        .sensor = {.period_s = dt_s},
        .dt_s = dt_s,
        .quantum_s = dt_s,
        .warmup_s = warmup_s,
    };
    if (tmx_sim_create(&w->sim, &spec, &err)) {
        fail_msg("%s", err.msg);
    }
}

static void close_world(struct world *w)
{
    tmx_sim_destroy(w->sim);
    tmx_arena_finish(&w->arena);
    tmx_chip_finish(&w->chip);
}

static const struct tmx_sync_job *run_world(struct world *w)
{
    struct tmx_err err = {0};
    if (tmx_sim_advance(w->sim, 0, NULL, &err)) {
        fail_msg("%s", err.msg);
    }
    return w->sim->machine->members;
}

static void alike_members_never_wait(void **state)
{
    struct world w;
    open_world(&w, 3, "sync_job = { step_work_s = 0.0137; steps = 40; };", 1e-3, 0, 0);
    const struct tmx_sync_job *g = run_world(&w);
    const struct tmx_machine *m = w.sim->machine;
    check_close(tmx_sync_job_step_mean_s(g), 0.0137, 1e-12, 0);
    check_close(m->job[2].finished_s, 40 * 0.0137, 1e-12, 0);
    for (size_t i = 0; i < 3; i++) {
        check_close(tmx_sync_job_wait_share(g, i), 0, 1e-12, 0);
    }
    close_world(&w);
}

/* Three members of weights 1, 1.5, 1; the third at speed 0.8: they compute 10, 15 and 12.5 ms. */
static void steps_do_not_depend_on_ticks(void **state)
{
    static const double dt_s[] = {1e-4, 1e-3, 4e-3, 0.1};
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        open_world(
            &w, 3,
            "sync_job = { step_work_s = 0.01; steps = 30; comm_s = 0.0025; weights = [1.0, 1.5, 1.0]; };",
            dt_s[i], 0, 2);
        const struct tmx_sync_job *g = run_world(&w);
        const struct tmx_machine *m = w.sim->machine;
        check_close(tmx_sync_job_step_mean_s(g), 0.0175, 1e-9, 0);
        check_close(tmx_sync_job_step_quantile_s(g, 0.99), 0.0175, 1e-9, 0);
        check_close(m->job[0].finished_s, 30 * 0.0175, 1e-9, 0);
        check_close(tmx_sync_job_wait_share(g, 0), 5 / 17.5, 1e-9, 0);
        check_close(tmx_sync_job_wait_share(g, 1), 0, 1e-9, 0);
        check_close(tmx_sync_job_wait_share(g, 2), 2.5 / 17.5, 1e-9, 0);
        check_close(tmx_sync_job_speed(g, 2), 0.8, 1e-9, 0);
        assert_int_equal(g->member[1].n_last, 30);
        /* 2 W an SM at work, scaled by V^2 f; 0.45 of it while waiting and communicating */
        const double *j = w.sim->recorder->job_j, p0 = 2 * N_SM, p2 = p0 * 0.8 / 1.44;
        check_close(j[0], 30 * p0 * (0.010 + 0.45 * 0.0075), 1e-7, 0);
        check_close(j[1], 30 * p0 * (0.015 + 0.45 * 0.0025), 1e-7, 0);
        check_close(j[2], 30 * p2 * (0.0125 + 0.45 * 0.005), 1e-7, 0);
        close_world(&w);
    }
}

static void the_warm_up_does_not_count(void **state)
{
    struct world w;
    open_world(&w, 2, "sync_job = { step_work_s = 0.01; steps = 10; comm_s = 0.001; };", 1e-3, 0.025, 0);
    const struct tmx_sync_job *g = run_world(&w);
    assert_int_equal(g->n_step, 10);
    assert_int_equal(g->view.n_step, 12); /* two whole ones before */
    check_close(tmx_sync_job_step_mean_s(g), 0.011, 1e-12, 0);
    check_close(w.sim->machine->job[0].finished_s, 0.11, 1e-12, 0);
    close_world(&w);
}

/* A member each: steps of 10 and 12.5 ms, a checkpoint of 3 ms at each third. The second is held for 5 ms. */
static void jobs_go_by_themselves_hold_and_write(void **state)
{
    struct world w;
    (void)state;
    open_world(
        &w, 2,
        "sync_job = { step_work_s = 0.01; steps = 30; jobs = 2; checkpoint_steps = 3; checkpoint_s = 0.003;"
        " checkpoint_power = 0.1; };",
        4e-3, 0, 2);
    struct tmx_sync_part *p = w.sim->machine->members->part;
    p[1].hold_s = 0.005;
    const struct tmx_sync_job *g = run_world(&w);
    const struct tmx_job *job = w.sim->machine->job;
    check_close(g->step_s[29], 0.010, 1e-9, 0);
    check_close(job[1].finished_s, 30 * 0.0125 + 10 * 0.003 + 0.005, 1e-9, 0);
    assert_int_equal(g->n_step, 60);
    check_close(p[1].period_s, 0.0125, 1e-9, 0); /* the last wrote one */
    check_close(p[1].begun_s + p[1].held_s, job[1].finished_s, 1e-9, 0);
    const double *j = w.sim->recorder->job_j;
    check_close(j[0], 2 * N_SM * (0.41 - 0.9 * 12 * 0.003), 1e-2, 0); /* goes on until the second ends */
    check_close(j[1], 2 * N_SM * 0.8 / 1.44 * (30 * 0.0125 + 0.1 * 10 * 0.003 + 0.45 * 0.005), 1e-7, 0);
    close_world(&w);
}

/* Two jobs of weights 1 and 1.5 each wait as one does. */
static void members_wait_in_their_own_job(void **state)
{
    struct world w;
    (void)state;
    open_world(&w, 4,
               "sync_job = { step_work_s = 0.01; steps = 30; jobs = 2; comm_s = 0.005; "
               "weights = [1.0, 1.5, 1.5, 1.0]; };",
               1e-3, 0, 0);
    const struct tmx_sync_job *g = run_world(&w);
    for (size_t i = 0; i < 4; i++) {
        check_close(tmx_sync_job_wait_share(g, i), i % 3 == 0 ? 0.25 : 0, 1e-9, 1e-12);
    }
    close_world(&w);
}

static void bad_groups_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"sync_job = { steps = 3; };", "step_work_s"},
        {"sync_job = { step_work_s = 0.1; };", "steps"},
        {"sync_job = { step_work_s = 0.1; steps = 3; members = 4; };", "4 members"},
        {"sync_job = { step_work_s = 0.1; steps = 3; members = 3; };", "only 2 kernels"},
        {"sync_job = { step_work_s = 0.1; steps = 3; weights = [1.0]; };", "weights"},
        {"sync_job = { step_work_s = 0.1; steps = 3; weights = [1.0, 0.0]; };", "weights"},
        {"sync_job = { step_work_s = 0.1; steps = 3; gpus = [1, 1]; };", "each needs its own"},
        {"sync_job = { step_work_s = 0.1; steps = 3; gpus = [0, 3]; };", "0 to 2"},
        {"sync_job = { step_work_s = 0.1; steps = 3; gpus = [0.0, 1.0]; };", "numbers of GPUs"},
        {"sync_job = { step_work_s = 0.1; steps = 3; wait = 0.4; };", "wait"},
        {"sync_job = { step_work_s = 0.0; steps = 3; };", "step_work_s"},
        {"sync_job = { step_work_s = 0.1; steps = 3; jobs = 3; };", "3 jobs of 2 members"},
        {"sync_job = { step_work_s = 0.1; steps = 3; checkpoint_s = 1.0; };", "both checkpoint_steps"},
        {"sync_job = 3;", "sync_job"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_config *cfg = NULL;
        struct tmx_err err = {0};
        struct tmx_sync_job_spec s;
        struct tmx_arena arena = {0};
        const bool two = i > 3;
        assert_int_equal(tmx_config_parse(&cfg, rows[i].text, "test", &err), TMX_OK);
        const enum tmx_status st =
            tmx_sync_job_read(&s, &arena, tmx_config_root(cfg), two ? 2 : 3, 2, 3, &err);
        if (st != TMX_ECONFIG || !strstr(err.msg, rows[i].says) || err.line != 1) {
            fail_msg("%s: %d, line %u, %s", rows[i].text, st, err.line, err.msg);
        }
        tmx_arena_finish(&arena);
        tmx_config_close(cfg);
    }
}

TMX_TESTS(test_sync_job)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_members_never_wait),
        cmocka_unit_test(steps_do_not_depend_on_ticks),
        cmocka_unit_test(jobs_go_by_themselves_hold_and_write),
        cmocka_unit_test(members_wait_in_their_own_job),
        cmocka_unit_test(the_warm_up_does_not_count),
        cmocka_unit_test(bad_groups_are_refused_with_their_line),
    };
    return cmocka_run_group_tests_name("sync_job", tests, NULL, NULL);
}
