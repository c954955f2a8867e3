/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "core/sim/source/sources.h"
#include "core/sim/stage/answers.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 8, N_JOB = 60, N_GPU = 2 };

struct rig { /* a machine, its jobs and the job level, without power and heat */
    struct tmx_chip chip;
    const struct tmx_chip *chips[N_GPU];
    struct tmx_kernel kernel;
    struct tmx_job job[N_JOB];
    size_t kind_of[N_JOB];
    struct tmx_node node;
    struct tmx_workload kind[2];
    struct tmx_template tmpl;
    struct tmx_machine *m;
    struct tmx_arena arena;
    struct tmx_jobs *jobs;
    void *state;
    struct tmx_choice choice;
    struct tmx_request request;
    struct tmx_gpu_request gpu_request[N_GPU];
    bool gate[N_SM * N_GPU];
    double sensed_k[N_SM * N_GPU], hottest_k[N_GPU], scratch[N_SM];
    struct tmx_view view;
    uint64_t tick;
};

static const struct tmx_mix_policy even = {.base = {.name = "even"}};

static void rig_up(struct rig *r, size_t policy, size_t n_gpu)
{
    struct tmx_err err = {0};
    *r = (struct rig){.node = {.sms = N_SM,
                               .sm_threads = 1024,
                               .sm_blocks = 8,
                               .sm_registers = 16384,
                               .sm_shared_bytes = 16384,
                               .idle_w = 100,
                               .active_w = 20,
                               .on_die = 0.25,
                               .copy_bytes_per_s = 1e9,
                               .uncertainty = 0.05},
                      .tmpl = {.name = "ab", .member = {{"a", 0}, {"b", 0}}, .n_kernel = 2}};
    for (size_t k = 0; k < 2; k++) {
        r->kind[k] = (struct tmx_workload){.blocks = k ? 1 : 2,
                                           .threads_per_block = 128,
                                           .registers_per_thread = 8,
                                           .sm_share = 1,
                                           .gpu_time_s = k ? 3 : 4,
                                           .dynamic_w_per_block = 2};
        snprintf(r->kind[k].kernel, sizeof r->kind[k].kernel, "%s", k ? "b" : "a");
    }
    tiny_chip(&r->chip, N_SM);
    for (size_t g = 0; g < N_GPU; g++) {
        r->chips[g] = &r->chip;
        r->hottest_k[g] = 330;
    }
    for (size_t i = 0; i < N_JOB; i++) {
        r->kind_of[i] = i % 3 == 0;
        r->job[i] = tiny_job(&r->kernel, 1, 1, N_SM);
        r->job[i].arrival_s = 0.7 * (double)i;
    }
    const struct tmx_machine_spec spec = {
        .chip = r->chips, .n_gpu = n_gpu, .job = r->job, .n_job = N_JOB, .dt_s = 0.05, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, &err), TMX_OK);
    r->m->counting = true;
    assert_int_equal(tmx_plugin_state(&tmx_job_policies[policy]->base, NULL, NULL, &r->state, &err), TMX_OK);
    r->choice = (struct tmx_choice){TMX_LEVEL_JOB, &tmx_job_policies[policy]->base, r->state};
    const struct tmx_jobs_spec jobs = {.choice = &r->choice,
                                       .node = &r->node,
                                       .kind = r->kind,
                                       .n_kind = 2,
                                       .tmpl = &r->tmpl,
                                       .n_tmpl = 1,
                                       .kind_of = r->kind_of,
                                       .depth = 1};
    r->jobs = tmx_jobs_take(&r->arena, &jobs, r->m);
    assert_false(r->arena.failed);
    r->request = (struct tmx_request){r->gpu_request, r->gate, NULL};
    for (size_t g = 0; g < N_GPU; g++) {
        r->gpu_request[g] = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = 1, .n_active = N_SM};
        for (size_t sm = 0; sm < N_SM; sm++) {
            r->sensed_k[g * N_SM + sm] = 330;
        }
    }
    r->view = (struct tmx_view){.node = &r->m->view, .sensed_k = r->sensed_k, .hottest_k = r->hottest_k};
}

static void rig_down(struct rig *r)
{
    tmx_arena_finish(&r->arena);
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
    free(r->state);
}

static void rig_tick(struct rig *r)
{
    struct tmx_err err = {0};
    r->view.tick = r->tick;
    r->view.time_s = (double)r->tick * r->m->dt_s;
    tmx_machine_admit(r->m, r->tick);
    tmx_jobs_step(r->jobs, r->m, &r->view, &err);
    assert_int_equal(err.code, TMX_OK);
    tiny_apply(r->m, &r->request, r->sensed_k);
    struct tmx_err dispatched = {0};
    tmx_dispatch(r->m, tmx_machine_all(r->m), &even, NULL, r->view.time_s, r->scratch, &dispatched);
    assert_int_equal(dispatched.code, TMX_OK);
    tiny_advance(r->m, r->view.time_s);
    r->tick++;
}

static void every_instance_ends_once_under_every_policy(void **state)
{
    struct rig *r = malloc(sizeof *r);
    double end_s[2] = {0};
    for (size_t policy = 0; tmx_job_policies[policy]; policy++) {
        rig_up(r, policy, 1);
        while (r->m->n_done < N_JOB && r->tick < 10000) {
            rig_tick(r);
        }
        assert_int_equal(r->m->n_done, N_JOB);
        const struct tmx_jobs_ledger *l = tmx_jobs_ledger(r->jobs);
        assert_int_equal(l->n_member, N_JOB);
        assert_true(policy == 0 ? l->n_launch == N_JOB : l->n_launch < N_JOB);
        for (size_t i = 0; i < N_JOB; i++) {
            const struct tmx_job *j = &r->m->job[i];
            assert_int_equal(j->state, TMX_JOB_DONE);
            assert_true(j->started_s >= j->arrival_s && j->finished_s > j->started_s);
            end_s[policy] = j->finished_s > end_s[policy] ? j->finished_s : end_s[policy];
        }
        rig_down(r);
    }
    check_close(end_s[0], 20 * 3.0 + 40 * 4.0, 0,
                N_JOB * 0.05); /* one after another, a tick lost at each end */
    assert_true(end_s[1] < 0.6 * end_s[0]);
    free(r);
}

/* One merged launch: eight SMs, four a-instances of two blocks, all ready: 4 s alone and together. */
static void a_merged_kernel_takes_its_predicted_time_and_power(void **state)
{
    struct rig *r = malloc(sizeof *r);
    rig_up(r, 1, 1);
    for (size_t i = 0; i < N_JOB; i++) {
        r->m->job[i].arrival_s = i < 12 ? 0 : 1000;
        r->kind_of[i] = 0;
    }
    rig_tick(r);
    const struct tmx_jobs_ledger *l = tmx_jobs_ledger(r->jobs);
    assert_int_equal(l->n_merged, 1);
    const size_t n = l->largest;
    assert_int_equal(n, 4);
    size_t merged = 0;
    uint64_t blocks = 0;
    for (size_t i = 0; i < 12; i++) {
        merged += r->m->job[i].state == TMX_JOB_MERGED;
        blocks += r->m->job[i].state == TMX_JOB_MERGED ? tmx_job_blocks(&r->m->job[i]).total : 0;
    }
    assert_int_equal(merged, n - 1);
    const struct tmx_job *c = &r->m->job[0];
    assert_int_equal(c->state, TMX_JOB_RUNNING);
    assert_int_equal(tmx_job_blocks(c).total + blocks, n * 2); /* each once */
    assert_int_equal(c->width_sms, 8);
    check_close(c->power_w * 8, 8 * 2.0, 1e-12, 0);
    check_close(c->uncore_w, 0.25 * 20, 1e-12, 0);
    while (c->state != TMX_JOB_DONE) {
        rig_tick(r);
    }
    check_close(c->finished_s - c->started_s, 4, 0, 0.051);
    rig_tick(r);
    assert_true(r->m->job[1].state == TMX_JOB_DONE && r->m->job[1].finished_s == c->finished_s);
    rig_down(r);
    free(r);
}

/* A launch that cannot be, by number: nothing of it happens. */
static bool mad(const void *state, const struct tmx_waiting_view *view, struct tmx_launch *launch)
{
    const int what = *(const int *)state;
    *launch = (struct tmx_launch){.target = TMX_TO_GPU,
                                  .gpu = what == 0 ? view->n_gpu : 0,
                                  .n_member = what == 1   ? 0
                                              : what == 2 ? view->n_waiting + 1
                                                          : 1,
                                  .predicted = {.occupied_sms = what == 3 ? 0 : 4,
                                                .time_s = what == 4   ? NAN
                                                          : what == 5 ? -1
                                                                      : 2,
                                                .gpu_w = what == 6 ? INFINITY : 50,
                                                .sm_w = 20}};
    for (size_t i = 0; i < launch->n_member && i < TMX_LAUNCH_MAX; i++) {
        launch->member[i] = what == 7 ? view->n_waiting : i;
    }
    return true;
}

static void a_launch_that_cannot_be_ends_the_run_with_the_policys_name(void **state)
{
    static const struct tmx_job_policy policy = {.base = {.name = "mad_hatter"}, .next = mad};
    struct rig *r = malloc(sizeof *r);
    for (int what = 0; what < 8; what++) {
        struct tmx_err err = {0};
        rig_up(r, 1, 1);
        r->choice = (struct tmx_choice){TMX_LEVEL_JOB, &policy.base, &what};
        tmx_machine_admit(r->m, 0);
        tmx_jobs_step(r->jobs, r->m, &r->view, &err);
        assert_int_equal(err.code, TMX_ESOLVE);
        assert_non_null(strstr(err.msg, "job policy mad_hatter: a launch of "));
        assert_int_equal(tmx_jobs_ledger(r->jobs)->n_launch, 0);
        assert_int_equal(r->m->gpu[0].n_queue, 0);
        rig_down(r);
    }
    free(r);
}

TMX_TESTS(test_jobs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instance_ends_once_under_every_policy),
        cmocka_unit_test(a_merged_kernel_takes_its_predicted_time_and_power),
        cmocka_unit_test(a_launch_that_cannot_be_ends_the_run_with_the_policys_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
