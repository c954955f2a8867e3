/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the four intermixing policies lay shares over SMs and time, and the contract they share. */
#include <string.h>

#include "sched/mix/tabs.h"
#include "sched/sched.h"
#include "tests/support/tiny.h"

enum { N = 30 };

struct bench {
    size_t by_index[N], hot_order[N];
};

static struct tmx_spread at(struct bench *b, double share, bool first_is_hot, double begin_s, double dt_s)
{
    for (size_t i = 0; i < N; i++) {
        b->by_index[i] = i;
        b->hot_order[i] = (i * 7) % N;
    }
    return (struct tmx_spread){N, b->by_index, b->hot_order, share, first_is_hot, begin_s, begin_s + dt_s,
                               0, NULL};
}

static const struct tmx_mix_policy *find(const char *name)
{
    size_t i = 0;
    while (strcmp(tmx_mix_policies[i]->base.name, name) != 0) {
        i++;
    }
    return tmx_mix_policies[i];
}

static void *options(const struct tmx_mix_policy *p)
{
    void *s = NULL;
    assert_int_equal(tmx_plugin_state(&p->base, NULL, NULL, &s, NULL), TMX_OK);
    if (p->base.opts == tmx_tabs_opts) { /* ten ticks of the tests below */
        ((struct tmx_tabs *)s)->slice_s = 0.01;
    }
    return s;
}

static void every_policy_gives_the_asked_share_on_average(void **state)
{
    static const double shares[] = {0.05, 0.35, 0.5, 0.65, 0.95};
    for (size_t p = 0; tmx_mix_policies[p]; p++) {
        if (!tmx_mix_policies[p]->spread) {
            continue;
        }
        void *s = options(tmx_mix_policies[p]);
        for (size_t k = 0; k < 2 * sizeof shares / sizeof shares[0]; k++) {
            const double x = shares[k / 2];
            double sum = 0, share0[N];
            struct bench b;
            const int n_tick = 6000; /* 6 s at 1 ms: whole periods of 20 ms, 80 ms and 30 slices */
            for (int t = 0; t < n_tick; t++) {
                const struct tmx_spread sp = at(&b, x, k % 2, 1e-3 * t, 1e-3);
                tmx_mix_policies[p]->spread(s, &sp, share0);
                for (size_t i = 0; i < N; i++) {
                    assert_true(share0[i] >= 0 && share0[i] <= 1);
                    sum += share0[i];
                }
            }
            /* whole SMs: within half an SM of what was asked */
            check_close(sum / N / n_tick, x, 0, 0.5 / N + 1e-9);
        }
        free(s);
    }
}

static void policies_that_take_turns_name_their_slice(void **state)
{
    for (size_t p = 0; tmx_mix_policies[p]; p++) {
        const char *name = tmx_mix_policies[p]->base.name;
        const bool turns = strcmp(name, "fcfs") != 0 && strcmp(name, "mixed_uniform") != 0 &&
                           strcmp(name, "foresight") != 0 && strcmp(name, "tsp") != 0 &&
                           strcmp(name, "slosh") != 0 && strcmp(name, "partition") != 0;
        assert_int_equal(tmx_mix_policies[p]->slice_s != NULL, turns);
        if (turns) {
            void *s = options(tmx_mix_policies[p]);
            check_close(tmx_mix_policies[p]->slice_s(s), 0.01, 0, 0);
            free(s);
        }
    }
}

static void spreads_are_pure(void **state)
{
    for (size_t p = 0; tmx_mix_policies[p]; p++) {
        if (!tmx_mix_policies[p]->spread) {
            continue;
        }
        void *s = options(tmx_mix_policies[p]);
        unsigned char before[1024];
        const size_t size = tmx_mix_policies[p]->base.state_size;
        double a[N] = {0}, c[N] = {0};
        struct bench b;
        assert_true(size <= sizeof before);
        memcpy(before, s, size);
        const struct tmx_spread sp = at(&b, 0.4, true, 1.234, 1e-3);
        tmx_mix_policies[p]->spread(s, &sp, a);
        tmx_mix_policies[p]->spread(s, &sp, c);
        assert_memory_equal(a, c, sizeof a);
        assert_memory_equal(before, s, size);
        free(s);
    }
}

static void alternate_gives_the_hot_kernel_the_first_part_of_each_period(void **state)
{
    const struct tmx_mix_policy *p = find("alternate");
    void *s = options(p);
    struct bench b;
    double share0[N];
    static const struct {
        double share;
        bool first_is_hot;
        double begin_s, want;
    } rows[] = {
        {0.5, true, 0.000, 1},  {0.5, true, 0.009, 1},  {0.5, true, 0.010, 0},   {0.5, true, 0.019, 0},
        {0.5, true, 0.020, 1},  {0.75, true, 0.014, 1}, {0.75, true, 0.015, 0},  {0.475, true, 0.009, 0.5},
        {0.5, false, 0.000, 0}, {0.5, false, 0.010, 1}, {0.75, false, 0.004, 0}, {0.75, false, 0.005, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tmx_spread sp = at(&b, rows[i].share, rows[i].first_is_hot, rows[i].begin_s, 1e-3);
        p->spread(s, &sp, share0);
        check_close(share0[0], rows[i].want, 0, 1e-9);
        check_close(share0[N - 1], rows[i].want, 0, 1e-9);
    }
    const struct tmx_spread whole = at(&b, 0.7, true, 0.08, 0.02); /* a tick of one period sees the mean */
    p->spread(s, &whole, share0);
    check_close(share0[3], 0.7, 0, 1e-9);
    free(s);
}

static void mixed_uniform_puts_the_hot_kernel_on_the_first_sms_of_the_hot_order(void **state)
{
    const struct tmx_mix_policy *p = find("mixed_uniform");
    void *s = options(p);
    struct bench b;
    double share0[N];
    struct tmx_spread sp = at(&b, 0.5, true, 0, 1e-3);
    p->spread(s, &sp, share0);
    for (size_t i = 0; i < N; i++) {
        check_close(share0[b.hot_order[i]], i < 15 ? 1 : 0, 0, 0);
    }
    sp = at(&b, 0.9, false, 0, 1e-3); /* the hot kernel is the second: 3 SMs */
    p->spread(s, &sp, share0);
    for (size_t i = 0; i < N; i++) {
        check_close(share0[b.hot_order[i]], i < 3 ? 0 : 1, 0, 0);
    }
    free(s);
}

/* 2.4 of 8 slots: the running sum of what was wanted, rounded, gives 2 3 2 3 2 and starts again. */
static void mixed_nonuniform_hosts_whole_slots_and_carries_the_remainder_over(void **state)
{
    static const double slots[] = {2, 3, 2, 3, 2};
    const struct tmx_mix_policy *p = find("mixed_nonuniform");
    void *s = options(p);
    struct bench b;
    double share0[N];
    for (int ms = 0; ms < 500; ms++) {
        const struct tmx_spread sp = at(&b, 0.3, true, 1e-3 * ms, 1e-3);
        p->spread(s, &sp, share0);
        for (size_t i = 0; i < N; i++) {
            check_close(share0[i], slots[ms / 10 % 5] / 8, 0, 0);
        }
    }
    free(s);
}

static void mixed_alternate_moves_one_sm_a_slice_and_favours_none(void **state)
{
    const struct tmx_mix_policy *p = find("mixed_alternate");
    void *s = options(p);
    struct bench b;
    double first[N], next[N], sum[N] = {0};
    struct tmx_spread sp = at(&b, 0.4, true, 0, 1e-3);
    p->spread(s, &sp, first);
    sp = at(&b, 0.4, true, 0.01, 1e-3);
    p->spread(s, &sp, next);
    for (size_t i = 0; i + 1 < N; i++) {
        check_close(next[i], first[i + 1], 0, 0);
    }
    for (int slice = 0; slice < N; slice++) {
        sp = at(&b, 0.4, true, 0.01 * slice, 1e-3);
        p->spread(s, &sp, next);
        for (size_t i = 0; i < N; i++) {
            sum[i] += next[i];
        }
    }
    for (size_t i = 0; i < N; i++) {
        check_close(sum[i], 0.4 * N, 0, 1e-9);
    }
    free(s);
}

/* 12 of 30: two of any five neighbours. */
static void mixed_alternate_spreads_hot_sms_evenly_over_the_index(void **state)
{
    const struct tmx_mix_policy *p = find("mixed_alternate");
    void *s = options(p);
    struct bench b;
    double share0[N];
    for (int slice = 0; slice < 2 * N; slice++) {
        for (int first_is_hot = 0; first_is_hot < 2; first_is_hot++) {
            const struct tmx_spread sp =
                at(&b, first_is_hot ? 0.4 : 0.6, first_is_hot > 0, 0.01 * slice, 1e-3);
            p->spread(s, &sp, share0);
            for (size_t i = 0; i < N; i++) {
                double hot = 0;
                for (size_t k = i; k < i + 5; k++) {
                    hot += first_is_hot ? share0[k % N] : 1 - share0[k % N];
                }
                check_close(hot, 2, 0, 0);
            }
        }
    }
    free(s);
}

/* Slices of a tenth of a tick: what a tick sees is the mean over them, exactly. */
static void a_tick_of_several_slices_sees_their_mean(void **state)
{
    static const char *const names[] = {"alternate", "mixed_nonuniform", "mixed_alternate"};
    for (size_t p = 0; p < sizeof names / sizeof names[0]; p++) {
        const struct tmx_mix_policy *policy = find(names[p]);
        struct tmx_tabs *s = options(policy);
        s->slice_s = 1e-4;
        for (int k = 0; k < 200; k++) {
            struct bench b;
            double whole[N], part[N], sum[N] = {0};
            const double share = 0.05 + 0.045 * (k % 20), begin_s = 1e-3 * (k % 37);
            const struct tmx_spread tick = at(&b, share, k % 2, begin_s, 1e-3);
            policy->spread(s, &tick, whole);
            for (int slice = 0; slice < 10; slice++) {
                const struct tmx_spread sp = at(&b, share, k % 2, begin_s + 1e-4 * slice, 1e-4);
                policy->spread(s, &sp, part);
                for (size_t i = 0; i < N; i++) {
                    sum[i] += part[i] / 10;
                }
            }
            for (size_t i = 0; i < N; i++) {
                check_close(whole[i], sum[i], 0, 1e-9);
            }
        }
        free(s);
    }
}

TMX_TESTS(test_spread)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_gives_the_asked_share_on_average),
        cmocka_unit_test(policies_that_take_turns_name_their_slice),
        cmocka_unit_test(spreads_are_pure),
        cmocka_unit_test(alternate_gives_the_hot_kernel_the_first_part_of_each_period),
        cmocka_unit_test(mixed_uniform_puts_the_hot_kernel_on_the_first_sms_of_the_hot_order),
        cmocka_unit_test(mixed_nonuniform_hosts_whole_slots_and_carries_the_remainder_over),
        cmocka_unit_test(mixed_alternate_moves_one_sm_a_slice_and_favours_none),
        cmocka_unit_test(mixed_alternate_spreads_hot_sms_evenly_over_the_index),
        cmocka_unit_test(a_tick_of_several_slices_sees_their_mean),
    };
    return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
