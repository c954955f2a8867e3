/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watts to the stragglers: the policy alone against a pair of GPUs that can be solved by hand, then the node
 * of eight B200 against the equations of its own files, and against what its logs show. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "sched/policies.h"
#include "tests/support/check.h"
#include "tests/support/open_run.h"

static const double PREHEAT_K_RPM_PER_W = 84; /* of the node's logs */

/* ---- two GPUs, one behind the other ---- */

/* F = 18.75 (P / 600)^0.6 e^(-0.002 (T - 53)), T = 24 + 42.98 mK/W P (+ 84 K P_front / rpm behind), 5590 rpm
 */
static double speed_of(double watt, double front_w, bool behind)
{
    const double temp_c = 24 + 42.98e-3 * watt + (behind ? PREHEAT_K_RPM_PER_W * front_w / 5590 : 0);
    return 18.75 * pow(watt / 600, 0.6) * exp(-0.002 * (temp_c - 53));
}

struct pair {
    struct tmx_gpu_view gpu[2];
    const struct tmx_gpu_view *gpus[2];
    size_t gpu_of_member[2];
    double compute_s[2];
    struct tmx_sync_job_view sync_job;
    struct tmx_node_view node;
    struct tmx_board_view board[2];
    struct tmx_gpu_request request[2];
    double memory[16];
};

static void open_pair(struct pair *p, double least_w, double most_w)
{
    *p = (struct pair){.gpu_of_member = {0, 1}};
    for (size_t g = 0; g < 2; g++) {
        p->gpus[g] = &p->gpu[g];
        p->board[g] = (struct tmx_board_view){.power_w = most_w, .power_min_w = least_w};
    }
    p->sync_job =
        (struct tmx_sync_job_view){.n_member = 2, .gpu = p->gpu_of_member, .compute_s = p->compute_s};
    p->node = (struct tmx_node_view){.n_gpu = 2, .gpus = p->gpus, .sync_job = &p->sync_job};
}

/* The policy's caps after n steps of its period, with the speeds that follow; checks that their sum stays. */
static void decide(struct pair *p, void *state, int n)
{
    struct tmx_request r = {.gpu = p->request, .memory = p->memory};
    for (int i = 0; i < n; i++) {
        const struct tmx_view view = {
            .time_s = 5.0 * i, .node = &p->node, .board = p->board, .quantum_s = 0.1};
        for (size_t g = 0; g < 2; g++) {
            p->request[g] = (struct tmx_gpu_request){.power_cap_w = INFINITY};
        }
        tmx_mix_slosh.decide(state, &view, &r);
        const double a = p->request[0].power_cap_w, b = p->request[1].power_cap_w;
        check_close(a + b, 1200, 1e-9, 0);
        p->compute_s[0] = 10 / speed_of(a, a, false);
        p->compute_s[1] = 10 / speed_of(b, a, true);
        p->sync_job.n_step++;
    }
}

static void *options(const char *text)
{
    struct tmx_config *cfg = NULL;
    void *state = calloc(1, tmx_mix_slosh.base.state_size);
    assert_int_equal(tmx_config_parse(&cfg, text, "test", NULL), TMX_OK);
    assert_int_equal(tmx_opt_read(tmx_mix_slosh.base.opts, state, tmx_config_root(cfg), NULL, NULL), TMX_OK);
    tmx_config_close(cfg);
    return state;
}

static void a_pair_is_levelled_as_by_hand(void **state)
{
    void *equal = options("node_w = 1200.0; gain = 0.0;"), *slosh = options("node_w = 1200.0;");
    struct pair p;
    open_pair(&p, 100, 1000);
    decide(&p, equal, 20);
    check_close(100 * (p.compute_s[0] / p.compute_s[1] - 1), -1.787, 0, 0.05);
    const double before_s = p.compute_s[1];
    open_pair(&p, 100, 1000);
    decide(&p, slosh, 20);
    check_close(p.compute_s[0], p.compute_s[1], 1e-5, 0);
    check_close(p.request[1].power_cap_w - 600, 9.70, 0, 0.05);
    check_close(100 * (before_s / p.compute_s[1] - 1), 0.912, 0, 0.05);
    open_pair(&p, 100, 1000);
    decide(&p, slosh, 4); /* nearly there after three changes */
    check_close(p.compute_s[0], p.compute_s[1], 3.5e-3, 0);
    open_pair(&p, 100, 605); /* what the limit cuts off goes to the other */
    decide(&p, slosh, 20);
    check_close(p.request[1].power_cap_w, 605, 1e-9, 0);
    free(equal);
    free(slosh);
}

/* Red ends with the slowest at its limit and the other lowered until both are level; Realloc is level with a
 * sum of at most what it may draw, less what rounding up takes off. */
static void leads_are_followed_as_in_the_paper(void **state)
{
    static const struct {
        const char *options;
        double most_w, sum_w;
    } cases[] = {{"mode = \"reduce\"; start_w = 600.0;", 600, 1200},
                 {"mode = \"realloc\"; start_w = 600.0; node_w = 1200.0;", 700, 1200},
                 {"mode = \"realloc\"; start_w = 600.0; node_w = 1240.0;", 700, 1240}};
    for (size_t c = 0; c < 3; c++) {
        void *slosh = options(cases[c].options);
        struct pair p;
        double a = 0, b = 0;
        open_pair(&p, 100, cases[c].most_w);
        for (int i = 0; i < 80; i++) {
            struct tmx_request r = {.gpu = p.request, .memory = p.memory};
            const struct tmx_view view = {
                .time_s = 5.0 * i, .node = &p.node, .board = p.board, .quantum_s = 0.1};
            p.request[0] = p.request[1] = (struct tmx_gpu_request){.power_cap_w = INFINITY};
            tmx_mix_slosh.decide(slosh, &view, &r);
            a = p.request[0].power_cap_w;
            b = p.request[1].power_cap_w;
            if (i == 0) {
                check_close(a, 600, 1e-12, 0);
                check_close(b, 600, 1e-12, 0);
            }
            p.compute_s[0] = 10 / speed_of(a, a, false);
            p.compute_s[1] = 10 / speed_of(b, a, true);
            p.sync_job.n_step++;
        }
        check_close(p.compute_s[0], p.compute_s[1], 4e-3, 0);
        assert_true(a < b && b <= cases[c].most_w && a + b <= cases[c].sum_w + 1e-9);
        if (c == 0) {
            check_close(b, 600, 1e-9, 0);
            assert_true(a < 590);
        } else {
            assert_true(a + b > cases[c].sum_w - 4);
        }
        free(slosh);
    }
}

/* ---- the node ---- */

struct node {
    double front_s, rear_s, step_s;          /* computing and whole step, without communication */
    double front_k, rear_k, front_w, rear_w; /* means */
};

/* Who waits draws what who works does, as in the logs, where nobody waits. */
static struct tmx_run *open_node(double node_w, double rpm, double gain)
{
    return open_run(
        "topology = \"hgx-b200-vf\"; mix = \"train8\"; policy = \"slosh\"; seed = 1; tick_s = 0.05; "
        "quantum_s = 0.1; warmup_s = 600.0; sensor = { period_s = 0.1; }; "
        "fan = { policy = \"fixed\"; speed = %.6f; }; mix_policy = { node_w = %.1f; gain = %.2f; }; "
        "sync_job = { step_work_s = 0.5; steps = 100; wait_power = 1.0; };",
        rpm / 11590, node_w, gain);
}

static double mean_w(const struct tmx_recorder *r, size_t unit)
{
    return (r->dynamic_j[unit] + r->leakage_j[unit] + r->baseline_j[unit]) / ((double)r->n_tick * 0.05);
}

static struct node watch(double node_w, double rpm, double gain)
{
    struct tmx_run *run = open_node(node_w, rpm, gain);
    assert_int_equal(tmx_run_execute(run, NULL, NULL), TMX_OK);
    const struct tmx_machine *m = tmx_run_sim(run)->machine;
    const struct tmx_sync_job *g = m->members;
    const struct tmx_recorder *r = tmx_run_sim(run)->recorder;
    const struct node n = {.front_s = 0.5 / tmx_sync_job_speed(g, 0),
                           .rear_s = 0.5 / tmx_sync_job_speed(g, 1),
                           .step_s = tmx_sync_job_step_mean_s(g),
                           .front_k = r->sum_k[m->gpu[0].unit0] / (double)r->n_tick,
                           .rear_k = r->sum_k[m->gpu[1].unit0] / (double)r->n_tick,
                           .front_w = mean_w(r, m->gpu[0].unit0),
                           .rear_w = mean_w(r, m->gpu[1].unit0)};
    tmx_run_destroy(run);
    return n;
}

/* The chip file's own equation: clock at a cap and a temperature. */
static double clock_at(double watt, double temp_c)
{
    double low = 0.4, high = 1;
    for (int i = 0; i < 60; i++) {
        const double f = (low + high) / 2, v = 0.28 + 0.72 * f;
        const double w = 100 + 396.8 * f * v * v + 137.2 * v * exp(0.0127 * (temp_c - 53));
        *(w < watt ? &low : &high) = f;
    }
    return low;
}

static void the_node_follows_its_equations(void **state)
{
    const struct node equal = watch(4800, 5590, 0), slosh = watch(4800, 5590, 0.8);
    const double sensor_k_per_w = 43.8e-3; /* at 5590 rpm, of the node's file */
    check_close(equal.rear_k - equal.front_k,
                PREHEAT_K_RPM_PER_W * equal.front_w / 5590 + sensor_k_per_w * (equal.rear_w - equal.front_w),
                0, 0.05);
    assert_true(equal.front_w > 594 && equal.front_w < 600.5 && equal.rear_w > 594 && equal.rear_w < 600.5);
    const double front = clock_at(equal.front_w, equal.front_k - 273.15),
                 rear = clock_at(equal.rear_w, equal.rear_k - 273.15);
    check_close(100 * (equal.front_s / equal.rear_s - 1), 100 * (rear / front - 1), 0, 0.05);
    check_close(slosh.front_s, slosh.rear_s, 5e-4, 0);
    assert_true(slosh.step_s < 0.994 * equal.step_s && slosh.step_s > 0.989 * equal.step_s);
}

/* Of the logs: how far the rear row's TFLOPS are below the front row's. At 400 W and full fans it is -0.94
 * there and -0.54 here. */
static void the_rows_differ_as_measured(void **state)
{
    static const struct {
        double node_w, rpm, rear_pct;
    } rows[] = {{4800, 5590, -1.68}, {4800, 11590, -0.84}, {3200, 3848, -2.36}};
    for (size_t i = 0; i < 3; i++) {
        const struct node n = watch(rows[i].node_w, rows[i].rpm, 0);
        check_close(100 * (n.front_s / n.rear_s - 1), rows[i].rear_pct, 0, 0.4);
    }
}

TMX_TESTS(test_slosh)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_levelled_as_by_hand),
        cmocka_unit_test(leads_are_followed_as_in_the_paper),
        cmocka_unit_test(the_node_follows_its_equations),
        cmocka_unit_test(the_rows_differ_as_measured),
    };
    return cmocka_run_group_tests_name("slosh", tests, NULL, NULL);
}
