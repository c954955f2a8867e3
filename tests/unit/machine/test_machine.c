/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulated hardware: blocks are neither lost nor run twice, never preempted, clocks cost. */
#include <string.h>

#include "tests/support/tiny.h"

enum { N_SM = 8, MAX_JOB = 40 };

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel;
    struct tmx_machine *m;
    struct tmx_gpu_request gpu_request;
    struct tmx_request request;
    bool gate[N_SM];
    double sensed_k[N_SM];
};

static void rig_open(struct rig *r, const struct tmx_job *job, size_t n, double dt_s)
{
    const struct tmx_chip *chip = &r->chip;
    const struct tmx_machine_spec spec = {
        .chip = &chip, .n_gpu = 1, .job = job, .n_job = n, .dt_s = dt_s, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    r->gpu_request = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = 1, .n_active = N_SM};
    r->request = (struct tmx_request){.gpu = &r->gpu_request, .gate = r->gate};
    memset(r->gate, 0, sizeof r->gate);
    for (size_t i = 0; i < N_SM; i++) {
        r->sensed_k[i] = 330 - (double)i; /* the last SM is the coldest */
    }
}

static void rig_init(struct rig *r)
{
    memset(r, 0, sizeof *r);
    tiny_chip(&r->chip, N_SM);
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

static void arrive(struct rig *r, uint64_t tick)
{
    tmx_machine_admit(r->m, tick);
    for (size_t j = 0; j < r->m->n_arrived; j++) {
        if (r->m->job[j].n_gpu == 0) {
            r->m->job[j].n_gpu = 1;
            assert_true(tmx_machine_enqueue(r->m, j));
        }
    }
}

static void set_shares(struct rig *r, double s0, double s1, double drain_s)
{
    for (size_t sm = 0; sm < N_SM; sm++) {
        r->m->share[sm] = s0;
        r->m->share[r->m->n_sm + sm] = s1;
        r->m->drain_s[sm] = drain_s;
    }
}

static void a_kernel_takes_its_work_over_the_sms(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job job = tiny_job(&r.kernel, 1.0, 2, N_SM);
    rig_open(&r, &job, 1, 0.01);
    uint64_t t = 0;
    for (; r.m->n_done == 0 && t < 1000; t++) {
        arrive(&r, t);
        tiny_apply(r.m, &r.request, r.sensed_k);
        set_shares(&r, 1, 0, 0);
        tiny_advance(r.m, 0.01 * (double)t);
        const struct tmx_job_blocks b = tmx_job_blocks(&r.m->job[0]);
        assert_true(b.retired <= b.total && b.total == 4000 * N_SM);
    }
    check_close(r.m->job[0].finished_s, 1.0, 1e-9, 0);
    assert_int_equal(tmx_job_blocks(&r.m->job[0]).retired, 4000 * N_SM);
    rig_close(&r);
}

static void gated_sms_do_no_work(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job job = tiny_job(&r.kernel, 1.0, 2, N_SM);
    rig_open(&r, &job, 1, 0.01);
    arrive(&r, 0);
    r.gate[0] = r.gate[5] = true;
    tiny_apply(r.m, &r.request, r.sensed_k);
    set_shares(&r, 1, 0, 0);
    tiny_advance(r.m, 0);
    check_close(r.m->job[0].done_sm_s, 0.01 * (N_SM - 2), 1e-12, 0);
    check_close(r.m->gated_s[5], 0.01, 0, 0);
    check_close(r.m->busy[5], 0, 0, 0);
    rig_close(&r);
}

static void running_blocks_are_never_preempted(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
    rig_open(&r, jobs, 2, 0.25e-3); /* a quarter of a block's lifetime */
    r.m->job[1].pdi_valid = true;   /* nobody volunteers */
    arrive(&r, 0);
    tiny_apply(r.m, &r.request, r.sensed_k);
    set_shares(&r, 1, 0, 0);
    for (size_t sm = 0; sm < N_SM; sm++) {
        r.m->held[sm] = 1;
    }
    r.gpu_request.admit = 1;
    r.gpu_request.share = 0;
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->gpu[0].n_run, 2);
    set_shares(&r, 0, 1, 1e-3); /* the second takes over: slots come free over one lifetime */
    double done = 0;
    static const double want[] = {0.875, 0.625, 0.375, 0.125, 0};
    for (int t = 0; t < 5; t++) {
        tiny_advance(r.m, 0);
        check_close((r.m->job[0].done_sm_s - done) / (0.25e-3 * N_SM), want[t], 0, 1e-9);
        done = r.m->job[0].done_sm_s;
    }
    check_close(r.m->job[0].done_sm_s + r.m->job[1].done_sm_s, 5 * 0.25e-3 * N_SM, 1e-12, 0);
    rig_close(&r);
}

static void one_long_tick_drains_as_many_short_ones(void **state)
{
    double done[2];
    for (int k = 0; k < 2; k++) {
        struct rig r;
        rig_init(&r);
        const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
        rig_open(&r, jobs, 2, k ? 1e-2 : 1e-4);
        r.m->job[1].pdi_valid = true;
        arrive(&r, 0);
        r.gpu_request.admit = 1;
        tiny_apply(r.m, &r.request, r.sensed_k);
        r.gpu_request.admit = 1;
        tiny_apply(r.m, &r.request, r.sensed_k);
        set_shares(&r, 0, 1, 1e-3);
        for (size_t sm = 0; sm < N_SM; sm++) {
            r.m->held[sm] = 1;
        }
        for (int t = 0; t < (k ? 1 : 100); t++) {
            tiny_advance(r.m, 0);
        }
        done[k] = r.m->job[0].done_sm_s;
        rig_close(&r);
    }
    check_close(done[0], done[1], 1e-9, 0);
    check_close(done[1], 0.5e-3 * N_SM, 1e-9, 0);
}

static void a_change_of_level_stalls_and_costs_energy(void **state)
{
    struct rig r;
    rig_init(&r);
    r.chip.power.transition_s = 2e-3;
    r.chip.power.transition_j = 0.25;
    const struct tmx_job job = tiny_job(&r.kernel, 1.0, 2, N_SM);
    rig_open(&r, &job, 1, 0.01);
    arrive(&r, 0);
    r.gpu_request.level = 2;
    tiny_apply(r.m, &r.request, r.sensed_k);
    check_close(r.m->gpu[0].transition_j, 0.25, 0, 0);
    set_shares(&r, 1, 0, 0);
    tiny_advance(r.m, 0);
    check_close(r.m->job[0].done_sm_s, (0.01 - 2e-3) * 0.8 * N_SM, 1e-12, 0);
    tiny_apply(r.m, &r.request, r.sensed_k);
    check_close(r.m->gpu[0].transition_j, 0, 0, 0);
    r.gpu_request.level = 99; /* clamped to the slowest */
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->gpu[0].level, 2);
    rig_close(&r);
}

static void the_coldest_sm_profiles_a_waiting_kernel(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM),
                                   tiny_job(&r.kernel, 1.0, 3, N_SM)};
    rig_open(&r, jobs, 3, 0.5e-3);
    arrive(&r, 0);
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->volunteer_job[N_SM - 1], 1);
    assert_int_equal(r.m->volunteer_job[N_SM - 2], 2); /* two kernels, two volunteers */
    set_shares(&r, 1, 0, 0);
    for (int t = 0; t < 3; t++) { /* one lifetime to drain, one to measure: 2 ms */
        tiny_advance(r.m, 0);
        assert_false(r.m->job[1].pdi_valid);
        check_close(r.m->busy[N_SM - 1], 0, 0, 1e-12);
        check_close(r.m->busy[0], 1, 0, 1e-12);
    }
    tiny_advance(r.m, 0);
    assert_true(r.m->job[1].pdi_valid);
    tiny_advance(r.m, 0);
    assert_int_equal(r.m->gpu[0].n_volunteer, 0);
    check_close(r.m->busy[N_SM - 1], 1, 0, 1e-12);
    rig_close(&r);
}

/* Its blocks end (1 ms), blocks of the other kernel run (1 ms), the system kernel reads the counters. */
static void profiling_lasts_two_lifetimes_and_the_system_kernel(void **state)
{
    static const struct {
        double system_s;
        int n_tick; /* of 0.5 ms */
    } rows[] = {{0, 4}, {0.2e-3, 5}, {0.5e-3, 5}, {0.6e-3, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig r;
        int t = 0;
        rig_init(&r);
        const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
        rig_open(&r, jobs, 2, 0.5e-3);
        r.m->system_kernel_s = rows[i].system_s;
        arrive(&r, 0);
        tiny_apply(r.m, &r.request, r.sensed_k);
        set_shares(&r, 1, 0, 0);
        for (; !r.m->job[1].pdi_valid && t < 100; t++) {
            tiny_advance(r.m, 0);
        }
        assert_int_equal(t, rows[i].n_tick);
        rig_close(&r);
    }
}

static void a_gated_sm_does_not_volunteer(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
    rig_open(&r, jobs, 2, 0.5e-3);
    arrive(&r, 0);
    r.gate[N_SM - 1] = r.gate[N_SM - 2] = true;
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->volunteer_job[N_SM - 3], 1);
    assert_int_equal(r.m->gpu[0].n_volunteer, 1);
    rig_close(&r);
}

/* What multiplies the work of a tick, one factor at a time; all SMs host the first kernel. */
static void work_follows_each_factor(void **state)
{
    static const struct {
        double gain, speed_scale, slowdown, overhead_s, want; /* of 8 SMs for 10 ms */
        bool two;
    } rows[] = {
        {1, 1, 1, 0, 0.08, false},   {1.05, 1, 1, 0, 0.08, false},  {1.05, 1, 1, 0, 0.084, true},
        {1, 0.5, 1, 0, 0.04, false}, {1, 1, 1.25, 0, 0.064, false}, {1, 1, 1, 0.03, 0.05, false},
        {1, 1, 1, 0.5, 0, false}, /* at most the tick */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig r;
        rig_init(&r);
        const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
        rig_open(&r, jobs, 2, 0.01);
        r.m->job[1].pdi_valid = true;
        arrive(&r, 0);
        tiny_apply(r.m, &r.request, r.sensed_k);
        r.gpu_request.admit = rows[i].two ? 1 : TMX_NO_JOB;
        tiny_apply(r.m, &r.request, r.sensed_k);
        assert_int_equal(r.m->gpu[0].n_run, rows[i].two ? 2 : 1);
        r.m->gain = rows[i].gain;
        r.m->gpu[0].speed_scale = rows[i].speed_scale;
        r.m->gpu[0].overhead_s = rows[i].overhead_s;
        r.m->job[0].gate_slowdown = rows[i].slowdown;
        set_shares(&r, 1, 0, 0);
        tiny_advance(r.m, 0);
        check_close(r.m->job[0].done_sm_s, rows[i].want, 1e-12, 1e-15);
        check_close(r.m->gpu[0].overhead_s, 0, 0, 0); /* charged once */
        rig_close(&r);
    }
}

static void what_waits_for_memory_does_not_follow_the_clock(void **state)
{
    const double waits[] = {0, 0.5, 1}, want[] = {0.8, 0.8 / 0.9, 1}; /* 1 / ((1 - w) / 0.8 + w) */
    for (size_t i = 0; i < 3; i++) {
        struct rig r;
        rig_init(&r);
        struct tmx_job job = tiny_job(&r.kernel, 100, 1, N_SM);
        job.memory_bound = waits[i];
        rig_open(&r, &job, 1, 0.01);
        r.m->counting = true;
        arrive(&r, 0);
        tiny_apply(r.m, &r.request, r.sensed_k);
        set_shares(&r, 1, 0, 0);
        r.m->speed[0] = 0.8;
        tiny_advance(r.m, 0);
        check_close(r.m->job[0].done_sm_s, 0.01 * N_SM * want[i], 1e-12, 0);
        rig_close(&r);
    }
}

static void a_kernel_ends_without_or_with_its_blocks_on_a_stopped_sm(void **state)
{
    for (int wait = 0; wait < 2; wait++) {
        struct rig r;
        rig_init(&r);
        const struct tmx_job job = tiny_job(&r.kernel, 0.02, 1, N_SM);
        rig_open(&r, &job, 1, 0.01);
        r.m->counting = true;
        r.m->blocks_wait = wait;
        arrive(&r, 0);
        tiny_apply(r.m, &r.request, r.sensed_k);
        set_shares(&r, 1, 0, 0);
        for (size_t sm = 0; sm < N_SM; sm++) {
            r.m->held[sm] = 1;
        }
        tiny_advance(r.m, 0);
        r.gate[0] = true; /* its blocks stay where they are */
        for (int t = 1; t < 4; t++) {
            tiny_apply(r.m, &r.request, r.sensed_k);
            tiny_advance(r.m, 0.01 * t);
        }
        assert_int_equal(r.m->job[0].state == TMX_JOB_DONE, !wait);
        if (wait) {
            check_close(r.m->busy[1], 0, 0, 0); /* the others have nothing left to do */
            r.gate[0] = false;
            tiny_apply(r.m, &r.request, r.sensed_k);
            tiny_advance(r.m, 0.04);
            assert_int_equal(r.m->job[0].state, TMX_JOB_DONE);
            check_close(r.m->job[0].finished_s, 0.04, 0, 1e-9);
        } else {
            check_close(r.m->job[0].finished_s, 0.01 + 0.01 * N_SM / (N_SM - 1), 0, 1e-9);
        }
        check_close(r.m->job[0].done_sm_s, 0.02 * N_SM, 1e-12, 0);
        rig_close(&r);
    }
}

static void when_the_first_kernel_ends_the_second_keeps_its_slots(void **state)
{
    struct rig r;
    rig_init(&r);
    const struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
    rig_open(&r, jobs, 2, 0.01);
    r.m->job[1].pdi_valid = true;
    arrive(&r, 0);
    tiny_apply(r.m, &r.request, r.sensed_k);
    r.gpu_request.admit = 1;
    r.gpu_request.share = 0.75;
    tiny_apply(r.m, &r.request, r.sensed_k);
    check_close(r.m->gpu[0].share, 0.75, 0, 0);
    check_close(r.m->gpu[0].admit_share, 0.75, 0, 0);
    for (size_t sm = 0; sm < N_SM; sm++) {
        r.m->held[sm] = r.m->share[sm] = 0.75;
        r.m->held[r.m->n_sm + sm] = r.m->share[r.m->n_sm + sm] = 0.25;
    }
    r.m->job[0].state = TMX_JOB_DONE;
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->gpu[0].n_run, 1);
    assert_int_equal(r.m->gpu[0].run[0], 1);
    check_close(r.m->gpu[0].share, 1, 0, 0);
    for (size_t sm = 0; sm < N_SM; sm++) {
        check_close(r.m->held[sm], 0.25, 0, 0);
        check_close(r.m->share[sm], 0.25, 0, 0);
        check_close(r.m->held[r.m->n_sm + sm] + r.m->share[r.m->n_sm + sm], 0, 0, 0);
    }
    rig_close(&r);
}

static void the_queue_serves_priority_then_arrival_and_has_32_places(void **state)
{
    struct rig r;
    struct tmx_job jobs[MAX_JOB];
    rig_init(&r);
    for (size_t j = 0; j < MAX_JOB; j++) {
        jobs[j] = tiny_job(&r.kernel, 1.0, 2, N_SM);
    }
    jobs[5].priority = 3;
    jobs[7].priority = 3;
    rig_open(&r, jobs, MAX_JOB, 0.01);
    tmx_machine_admit(r.m, 0);
    size_t n = 0;
    for (size_t j = 0; j < MAX_JOB; j++) {
        r.m->job[j].n_gpu = 1;
        n += tmx_machine_enqueue(r.m, j);
    }
    assert_int_equal(n, TMX_KQUEUE);
    assert_int_equal(r.m->gpu[0].queue[0], 5);
    assert_int_equal(r.m->gpu[0].queue[1], 7);
    assert_int_equal(r.m->gpu[0].queue[2], 0);
    rig_close(&r);
}

static void small_kernels_run_side_by_side(void **state)
{
    struct rig r;
    rig_init(&r);
    struct tmx_job jobs[] = {tiny_job(&r.kernel, 1.0, 2, N_SM), tiny_job(&r.kernel, 1.0, 1, N_SM)};
    jobs[0].width_sms = 3;
    rig_open(&r, jobs, 2, 0.01);
    arrive(&r, 0);
    tiny_apply(r.m, &r.request, r.sensed_k);
    assert_int_equal(r.m->gpu[0].n_run, 2);
    rig_close(&r);
}

static void occupancy_follows_the_scarcest_resource(void **state)
{
    const struct tmx_sm_limits gt200 = {1024, 8, 16384, 16384};
    static const struct {
        struct tmx_kernel_launch launch;
        int want;
    } rows[] = {
        {{1, 256, 16, 0}, 4},  {{1, 64, 16, 0}, 8},     {{1, 64, 59, 2560}, 4},
        {{1, 256, 37, 44}, 1}, {{1, 128, 10, 6000}, 2}, {{1, 512, 40, 0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tmx_kernel k = {.launch = rows[i].launch};
        assert_int_equal(tmx_kernel_occupancy(&k, &gt200), rows[i].want);
    }
}

static void hot_blocks_take_corner_clusters_first(void **state)
{
    struct tmx_chip c;
    tiny_chip(&c, N_SM); /* clusters of two in one row: 0 1 2 3 */
    bool seen[N_SM] = {false};
    for (size_t i = 0; i < N_SM; i++) {
        seen[c.hot_order[i]] = true;
    }
    for (size_t i = 0; i < N_SM; i++) {
        assert_true(seen[i]);
    }
    assert_true(c.hot_order[0] / 2 == 0 && c.hot_order[1] / 2 == 0); /* the cluster at the left end */
    assert_true(c.hot_order[2] / 2 == 3 && c.hot_order[3] / 2 == 3); /* the one at the right end */
    tmx_chip_finish(&c);
}

/* Seven clusters in one row: the four corners of the die, then the one farthest from all taken. */
static void after_the_corners_hot_blocks_go_where_they_are_farthest_apart(void **state)
{
    static const size_t want[] = {0, 6, 1, 5, 3, 2, 4};
    struct tmx_chip c;
    tiny_chip(&c, 14);
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(c.hot_order[i], 2 * want[i / 2] + i % 2);
    }
    tmx_chip_finish(&c);
}

/* Paper 003, equation 1: where a kernel gives access rates in place of a power. */
static void access_rates_make_a_power(void **state)
{
    struct tmx_chip chip;
    struct tmx_job job;
    struct tmx_kernel k = {
        .name = "rates",
        .launch = {.thread_blocks = 64, .threads_per_block = 256},
        .power = {.block_lifetime_s = 1e-3, .access_rate = {[TMX_INT] = 0.5, [TMX_SHM] = 0.25}}};
    tiny_chip(&chip, N_SM);
    chip.kernel_time_scale = 1;
    assert_int_equal(tmx_job_init(&job, &k, &chip, 1, NULL), TMX_ECONFIG); /* the chip has no max_*_w */
    chip.power.max_power_w[TMX_INT] = 2;
    chip.power.max_power_w[TMX_SHM] = 1;
    assert_int_equal(tmx_job_init(&job, &k, &chip, 1, NULL), TMX_OK);
    check_close(job.power_w, 0.5 * 2 + 0.25 * 1, 1e-12, 0);
    k.power.sm_power_w = 3.0 * N_SM; /* what was measured goes first */
    assert_int_equal(tmx_job_init(&job, &k, &chip, 1, NULL), TMX_OK);
    check_close(job.power_w, 3, 1e-12, 0);
    tmx_chip_finish(&chip);
}

/* A chip of half the SMs, twice as fast, at three times the watts of a launch. */
static void a_job_of_another_chip_keeps_its_time_and_watts(void **state)
{
    struct tmx_chip unit, c;
    struct tmx_job job;
    const struct tmx_kernel k = {.name = "k",
                                 .launch = {.thread_blocks = 4096, .threads_per_block = 256},
                                 .power = {.block_lifetime_s = 1e-3, .sm_power_w = 8}};
    tiny_chip(&unit, 8);
    tiny_chip(&c, 4);
    unit.kernel_time_scale = unit.kernel_power_scale = 1;
    unit.sm_power_reference_sms = 8;
    c.kernel_time_scale = 0.5;
    c.kernel_power_scale = 3;
    c.sm_power_reference_sms = 4;
    const double speed = tmx_job_sm_speed(&c, &unit), w = tmx_job_sm_w(&c, &unit);
    assert_int_equal(tmx_job_init(&job, &k, &c, 2, NULL), TMX_OK);
    tmx_job_count_in(&job, &c, &unit, 8);
    check_close(speed, 2, 1e-12, 0);
    check_close(job.work_sm_s / (4 * speed), 2, 1e-12, 0); /* seconds on c */
    check_close(job.power_w * w * 4, 3 * 8, 1e-12, 0);
    assert_int_equal(job.width_sms, 8);
    struct tmx_job own;
    assert_int_equal(tmx_job_init(&own, &k, &c, 0, NULL), TMX_OK); /* a launch: as many blocks */
    job = own;
    tmx_job_count_in(&job, &c, &unit, 4);
    check_close(job.work_sm_s * job.blocks_per_sm_s, 4096, 1e-12, 0);
    check_close(job.work_sm_s / speed, own.work_sm_s, 1e-12, 0);
    check_close(job.lifetime_s / speed, own.lifetime_s, 1e-12, 0);
    tmx_chip_finish(&unit);
    tmx_chip_finish(&c);
}

TMX_TESTS(test_machine)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_takes_its_work_over_the_sms),
        cmocka_unit_test(gated_sms_do_no_work),
        cmocka_unit_test(running_blocks_are_never_preempted),
        cmocka_unit_test(one_long_tick_drains_as_many_short_ones),
        cmocka_unit_test(a_change_of_level_stalls_and_costs_energy),
        cmocka_unit_test(the_coldest_sm_profiles_a_waiting_kernel),
        cmocka_unit_test(profiling_lasts_two_lifetimes_and_the_system_kernel),
        cmocka_unit_test(a_gated_sm_does_not_volunteer),
        cmocka_unit_test(work_follows_each_factor),
        cmocka_unit_test(what_waits_for_memory_does_not_follow_the_clock),
        cmocka_unit_test(a_kernel_ends_without_or_with_its_blocks_on_a_stopped_sm),
        cmocka_unit_test(when_the_first_kernel_ends_the_second_keeps_its_slots),
        cmocka_unit_test(the_queue_serves_priority_then_arrival_and_has_32_places),
        cmocka_unit_test(small_kernels_run_side_by_side),
        cmocka_unit_test(access_rates_make_a_power),
        cmocka_unit_test(a_job_of_another_chip_keeps_its_time_and_watts),
        cmocka_unit_test(occupancy_follows_the_scarcest_resource),
        cmocka_unit_test(hot_blocks_take_corner_clusters_first),
        cmocka_unit_test(after_the_corners_hot_blocks_go_where_they_are_farthest_apart),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
