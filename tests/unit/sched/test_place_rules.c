/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement, row by row and exact: what a policy answers to a state of the node that is written down, not
 * reached. The scenarios over time stand in test_place.c. */
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "sched/policies.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N_SM = 4, N_GPU = 4, N_JOB = 12, NEW = N_JOB - 1 };

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel[N_JOB];
    struct tmx_machine *m;
    double hottest_k[N_GPU];
    struct tmx_view view;
};

/* Four GPUs on two cards; all jobs have arrived, are profiled and run 1 W; the last one is the new one. */
static void rig_open(struct rig *r)
{
    static const size_t card[N_GPU] = {0, 0, 1, 1};
    const struct tmx_chip *chip[N_GPU];
    struct tmx_job job[N_JOB];
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    for (size_t g = 0; g < N_GPU; g++) {
        chip[g] = &r->chip;
        r->hottest_k[g] = 60 + TMX_ZERO_C;
    }
    for (size_t j = 0; j < N_JOB; j++) {
        job[j] = tiny_job(&r->kernel[j], 10, 1, N_SM);
        job[j].pdi_valid = true;
        job[j].n_gpu = 1;
    }
    const struct tmx_machine_spec spec = {
        .chip = chip, .n_gpu = N_GPU, .card = card, .job = job, .n_job = N_JOB, .dt_s = 0.05, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    tmx_machine_admit(r->m, 0);
    for (size_t j = 0; j < NEW; j++) {
        r->m->job[j].state = TMX_JOB_RUNNING;
    }
    r->view = (struct tmx_view){.node = &r->m->view, .hottest_k = r->hottest_k};
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

/* Jobs on a GPU by letters, 'a' = job 0; running ones, then after a comma the waiting ones. */
static void on(struct rig *r, size_t g, const char *jobs)
{
    struct tmx_gpu *gpu = &r->m->gpu[g];
    bool waits = false;
    gpu->n_run = gpu->n_queue = 0;
    for (; *jobs; jobs++) {
        if (*jobs == ',') {
            waits = true;
            continue;
        }
        const size_t j = (size_t)(*jobs - 'a');
        r->m->job[j].home_gpu = r->m->job[j].n_gpu > 1 ? r->m->job[j].home_gpu : g;
        if (waits) {
            gpu->queue[gpu->n_queue++] = j;
        } else {
            gpu->run[gpu->n_run++] = j;
        }
    }
}

static const struct tmx_place_policy *policy(const char *name)
{
    size_t i = 0;
    while (strcmp(tmx_place_policies[i]->base.name, name) != 0) {
        i++;
    }
    return tmx_place_policies[i];
}

static size_t home(struct rig *r, const char *name)
{
    struct tmx_place p = {0};
    policy(name)->place(NULL, &r->view, NEW, &p);
    assert_int_equal(p.n, 1);
    return p.home;
}

static void own_gpu_and_spread_take_turns_by_arrival(void **state)
{
    struct rig r;
    rig_open(&r);
    for (size_t k = 0; k < 9; k++) {
        r.m->job[NEW].queue_order = k;
        assert_int_equal(home(&r, "own_gpu"), k % N_GPU);
        assert_int_equal(home(&r, "spread"), k % N_GPU);
    }
    rig_close(&r);
}

static void round_robin_passes_full_queues(void **state)
{
    struct rig r;
    rig_open(&r);
    assert_int_equal(home(&r, "round_robin"), 0); /* nothing placed before */
    r.m->last_home = 3;
    assert_int_equal(home(&r, "round_robin"), 0);
    r.m->last_home = 0;
    r.m->gpu[1].n_queue = r.m->gpu[2].n_queue = TMX_KQUEUE;
    assert_int_equal(home(&r, "round_robin"), 3);
    r.m->gpu[3].n_queue = TMX_KQUEUE;
    assert_int_equal(home(&r, "round_robin"), 0); /* itself, last */
    r.m->gpu[0].n_queue = TMX_KQUEUE;
    struct tmx_place none = {0};
    policy("round_robin")->place(NULL, &r.view, NEW, &none);
    assert_int_equal(none.n, 0); /* has to wait */
    rig_close(&r);
}

static void coldest_counts_running_and_waiting_kernels_before_heat(void **state)
{
    static const struct {
        const char *on[N_GPU];
        double temp_c[N_GPU];
        size_t want;
    } rows[] = {
        {{"", "", "", ""}, {60, 50, 40, 50}, 2},           {{"", "", "", ""}, {60, 50, 50, 50}, 1},
        {{"a", "b", "c", ""}, {40, 50, 60, 90}, 3},        {{"ab", "c", "de", "fg"}, {40, 90, 40, 40}, 1},
        {{"a,b", "c", "d,e", "f,g"}, {40, 90, 40, 40}, 1}, {{"a,b", "cd", "e,f", "gh"}, {60, 50, 45, 50}, 2},
    };
    struct rig r;
    rig_open(&r);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t g = 0; g < N_GPU; g++) {
            on(&r, g, rows[i].on[g]);
            r.hottest_k[g] = rows[i].temp_c[g] + TMX_ZERO_C;
        }
        assert_int_equal(home(&r, "coldest"), rows[i].want);
    }
    rig_close(&r);
}

/* 10 s of work a kernel unless said otherwise. */
static void least_loaded_counts_what_is_left_of_each_kernels_part(void **state)
{
    struct rig r;
    rig_open(&r);
    const char *const names[N_GPU] = {"a", "b", ",c", ",d"};
    for (size_t g = 0; g < N_GPU; g++) {
        on(&r, g, names[g]);
    }
    assert_int_equal(home(&r, "least_loaded"), 0); /* the first among equals */
    for (size_t g = 0; g < N_GPU; g++) {           /* work done counts, running or waiting */
        r.m->job[g].done_sm_s = 1;
        assert_int_equal(home(&r, "least_loaded"), g);
        r.m->job[g].done_sm_s = 0;
    }
    for (size_t g = 0; g < N_GPU; g++) { /* a kernel on two GPUs counts half on each */
        r.m->job[g].n_gpu = 2;
        assert_int_equal(home(&r, "least_loaded"), g);
        r.m->job[g].n_gpu = 1;
    }
    on(&r, 3, "");
    assert_int_equal(home(&r, "least_loaded"), 3);
    on(&r, 3, "d,e");
    on(&r, 0, "af");
    on(&r, 1, ",bg");
    assert_int_equal(home(&r, "least_loaded"), 2);
    rig_close(&r);
}

/* Watts of jobs a, b, c, ... and of the new one; 0: not profiled. */
static const struct {
    const char *what;
    const char *on[N_GPU];
    double pdi_w[8], new_w, temp_c[N_GPU];
    size_t want;
} pair_rows[] = {
    {"idle, the coldest", {"", "", "", ""}, {0}, 3, {60, 50, 40, 50}, 2},
    {"idle, the first", {"", "", "", ""}, {0}, 3, {60, 60, 60, 60}, 0},
    {"idle before least watts", {"a", "b", "c", ""}, {1, 1, 1}, 3, {40, 40, 40, 90}, 3},
    {"fewest kernels first", {"ab", "c", "de", "f,g"}, {1, 1, 4, 1, 1, 1, 1}, 5, {60, 60, 60, 60}, 1},
    {"hot to least, running", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 5, {60, 60, 60, 60}, 2},
    {"cold to most, running", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 1, {60, 60, 60, 60}, 1},
    {"hot to least, waiting", {",a", ",b", ",c", ",d"}, {2, 4, 1, 3}, 5, {60, 60, 60, 60}, 2},
    {"cold to most, waiting", {",a", ",b", ",c", ",d"}, {2, 4, 1, 3}, 1, {60, 60, 60, 60}, 1},
    {"the mean decides: above", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 2.6, {60, 60, 60, 60}, 2},
    {"the mean decides: below", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 2.4, {60, 60, 60, 60}, 1},
    {"unknown counts as cold", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 0, {60, 60, 60, 60}, 1},
    {"temperature only of idle ones", {"a", "b", "c", "d"}, {2, 4, 1, 3}, 5, {40, 60, 90, 60}, 2},
};

static void pairing_follows_the_power_density_indices(void **state)
{
    for (size_t i = 0; i < sizeof pair_rows / sizeof pair_rows[0]; i++) {
        struct rig r;
        rig_open(&r);
        for (size_t j = 0; j < NEW; j++) { /* jobs without watts have ended: they leave the mean */
            const double w = j < 8 ? pair_rows[i].pdi_w[j] : 0;
            r.m->job[j].pdi_w = w > 0 ? w : 100;
            r.m->job[j].state = w > 0 ? TMX_JOB_RUNNING : TMX_JOB_DONE;
        }
        r.m->job[NEW].pdi_w = pair_rows[i].new_w;
        r.m->job[NEW].pdi_valid = pair_rows[i].new_w > 0;
        for (size_t g = 0; g < N_GPU; g++) {
            on(&r, g, pair_rows[i].on[g]);
            r.hottest_k[g] = pair_rows[i].temp_c[g] + TMX_ZERO_C;
        }
        if (home(&r, "pair_hot_cold") != pair_rows[i].want) {
            fail_msg("%s: GPU %zu", pair_rows[i].what, home(&r, "pair_hot_cold"));
        }
        rig_close(&r);
    }
}

static void an_unprofiled_kernel_is_known_by_an_earlier_one_of_its_name(void **state)
{
    static const double w[N_GPU] = {2, 4, 1, 3};
    struct rig r;
    rig_open(&r);
    for (size_t g = 0; g < N_GPU; g++) {
        const char name[] = {(char)('a' + (int)g), 0};
        on(&r, g, name);
        r.m->job[g].pdi_w = w[g];
    }
    for (size_t j = N_GPU; j < NEW; j++) {
        r.m->job[j].state = TMX_JOB_DONE;
    }
    r.m->job[NEW].pdi_valid = false;
    r.m->job[5].kernel = r.m->job[NEW].kernel; /* has ended, was hot */
    r.m->job[5].pdi_w = 9;
    assert_int_equal(home(&r, "pair_hot_cold"), 2);
    r.m->job[5].pdi_valid = false; /* was never profiled: unknown, cold */
    assert_int_equal(home(&r, "pair_hot_cold"), 1);
    rig_close(&r);
}

/* Job a (3 W) runs on GPU 0, b (1 W) on GPU 1, both of card 0; c and d on card 1 likewise. Which
 * situations make a run on its whole card? */
static const struct {
    const char *what;
    double temp_c[N_GPU];
    double b_w;
    bool b_valid, b_waits, a_waits, b_is_wide;
    double alike;
    size_t asked, want_n;
} spread_rows[] = {
    {"nobody is hot", {88.499, 88.499, 60, 60}, 1, true, false, false, false, 0, 0, 1},
    {"its own GPU is hot", {88.7, 60, 60, 60}, 1, true, false, false, false, 0, 0, 2},
    {"its partner's GPU is hot", {60, 88.7, 60, 60}, 1, true, false, false, false, 0, 0, 2},
    {"another card is hot", {60, 60, 95, 95}, 1, true, false, false, false, 0, 0, 1},
    {"alike", {95, 95, 60, 60}, 3, true, false, false, false, 0, 0, 1},
    {"alike within a fraction of the larger", {95, 95, 60, 60}, 2.5, true, false, false, false, 0.2, 0, 1},
    {"not alike within a fraction", {95, 95, 60, 60}, 2.3, true, false, false, false, 0.2, 0, 2},
    {"not alike, small indices", {95, 95, 60, 60}, 2.9, true, false, false, false, 0.02, 0, 2},
    {"the partner is not profiled", {95, 95, 60, 60}, 1, false, false, false, false, 0, 0, 1},
    {"the partner waits", {95, 95, 60, 60}, 1, true, true, false, false, 0, 0, 1},
    {"it waits itself", {95, 95, 60, 60}, 1, true, false, true, false, 0, 0, 1},
    {"the partner is spread already", {60, 60, 60, 60}, 1, true, false, false, true, 0, 0, 2},
    {"the partner follows", {95, 60, 60, 60}, 1, true, false, false, false, 0, 1, 2},
};

static void spreading_needs_an_emergency_and_an_unlike_partner_on_the_card(void **state)
{
    const struct tmx_place_policy *p = policy("spread");
    for (size_t i = 0; i < sizeof spread_rows / sizeof spread_rows[0]; i++) {
        struct rig r;
        void *s;
        char text[32];
        struct tmx_config *cfg = NULL;
        rig_open(&r);
        snprintf(text, sizeof text, "alike = %g%s;", spread_rows[i].alike,
                 spread_rows[i].alike > 0 ? "" : ".0");
        assert_int_equal(tmx_config_parse(&cfg, text, "test", NULL), TMX_OK);
        assert_int_equal(tmx_plugin_state(&p->base, tmx_config_root(cfg), NULL, &s, NULL), TMX_OK);
        on(&r, 0, spread_rows[i].a_waits ? ",a" : "a");
        on(&r, 1, spread_rows[i].b_waits ? ",b" : "b");
        on(&r, 2, "c");
        on(&r, 3, "d");
        r.m->job[0].pdi_w = r.m->job[2].pdi_w = 3;
        r.m->job[1].pdi_w = spread_rows[i].b_w;
        r.m->job[3].pdi_w = 0.5; /* unlike everyone, on the other card */
        r.m->job[1].pdi_valid = spread_rows[i].b_valid;
        if (spread_rows[i].a_waits) {
            r.m->job[0].state = TMX_JOB_WAITING;
        }
        if (spread_rows[i].b_is_wide) {
            r.m->job[1].home_gpu = 0;
            r.m->job[1].n_gpu = 2;
        }
        for (size_t g = 0; g < N_GPU; g++) {
            r.hottest_k[g] = spread_rows[i].temp_c[g] + TMX_ZERO_C;
        }
        struct tmx_place at = {0};
        p->widen(s, &r.view, spread_rows[i].asked, &at);
        if (at.n != spread_rows[i].want_n || at.home != (at.n > 1 ? 0 : spread_rows[i].asked)) {
            fail_msg("%s: GPUs %zu + %zu", spread_rows[i].what, at.home, at.n);
        }
        r.m->job[3].home_gpu = 1; /* wider than a card: no GPU is left out */
        r.m->job[3].n_gpu = 3;
        p->widen(s, &r.view, 3, &at);
        assert_true(at.home == 1 && at.n == 3);
        free(s);
        tmx_config_close(cfg);
        rig_close(&r);
    }
}

/* A card of four: job a runs on the first two, b on the third. Each draws the other in, hot or not. */
static void a_wide_kernel_and_its_partner_end_on_the_whole_card(void **state)
{
    const struct tmx_place_policy *p = policy("spread");
    struct rig r;
    void *s;
    rig_open(&r);
    assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &s, NULL), TMX_OK);
    for (size_t g = 0; g < N_GPU; g++) {
        r.m->gpu[g].card0 = 0;
        r.m->gpu[g].n_card = N_GPU;
    }
    r.m->job[0].n_gpu = 2;
    r.m->job[1].pdi_w = 3;
    on(&r, 0, "a");
    on(&r, 1, "a");
    on(&r, 2, "b");
    for (size_t j = 0; j < 2; j++) {
        struct tmx_place at = {0};
        p->widen(s, &r.view, j, &at);
        assert_int_equal(at.home, 0);
        assert_int_equal(at.n, N_GPU);
    }
    free(s);
    rig_close(&r);
}

TMX_TESTS(test_place_rules)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_gpu_and_spread_take_turns_by_arrival),
        cmocka_unit_test(round_robin_passes_full_queues),
        cmocka_unit_test(coldest_counts_running_and_waiting_kernels_before_heat),
        cmocka_unit_test(least_loaded_counts_what_is_left_of_each_kernels_part),
        cmocka_unit_test(pairing_follows_the_power_density_indices),
        cmocka_unit_test(an_unprofiled_kernel_is_known_by_an_earlier_one_of_its_name),
        cmocka_unit_test(spreading_needs_an_emergency_and_an_unlike_partner_on_the_card),
        cmocka_unit_test(a_wide_kernel_and_its_partner_end_on_the_whole_card),
    };
    return cmocka_run_group_tests_name("place rules", tests, NULL, NULL);
}
