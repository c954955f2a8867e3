/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hardware thread-block scheduler: which SM hosts which kernel, and who drains when that changes. */
#include "core/sim/stage/answers.h"

#include "tests/support/tiny.h"

enum { N_SM = 6 };

struct rig {
    struct tmx_chip chip;
    struct tmx_kernel kernel;
    struct tmx_machine *m;
    double scratch[N_SM];
};

/* Two resident kernels of 3 W and 1 W whose blocks live for 1 and 5 ms. */
static void rig_open(struct rig *r)
{
    const struct tmx_chip *chip = &r->chip;
    *r = (struct rig){0};
    tiny_chip(&r->chip, N_SM);
    struct tmx_job job[] = {tiny_job(&r->kernel, 1, 3, N_SM), tiny_job(&r->kernel, 1, 1, N_SM)};
    job[1].lifetime_s = 5e-3;
    const struct tmx_machine_spec spec = {
        .chip = &chip, .n_gpu = 1, .job = job, .n_job = 2, .dt_s = 1e-3, .gain = 1};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    struct tmx_gpu *gpu = &r->m->gpu[0];
    gpu->run[0] = 0;
    gpu->run[1] = 1;
    gpu->n_run = 2;
    gpu->share = 0.5;
}

static void rig_close(struct rig *r)
{
    tmx_machine_destroy(r->m);
    tmx_chip_finish(&r->chip);
}

/* The SMs as letters: a or b hosts that kernel alone, m both in halves, a dot none. */
static void check_hosts(const struct rig *r, const char *want)
{
    for (size_t sm = 0; sm < N_SM; sm++) {
        const double s[] = {r->m->share[sm], r->m->share[r->m->n_sm + sm]};
        const int is = s[0] == 1 && s[1] == 0       ? 'a'
                       : s[0] == 0 && s[1] == 1     ? 'b'
                       : s[0] == 0.5 && s[1] == 0.5 ? 'm'
                       : s[0] == 0 && s[1] == 0     ? '.'
                                                    : '?';
        if (is != want[sm]) {
            fail_msg("SM %zu: %c, wanted %s", sm, is, want);
        }
    }
}

static void halves(const void *state, const struct tmx_spread *s, double *share0)
{
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = s->share;
    }
}

/* First half of the hot order to the hotter kernel. */
static void by_hot_order(const void *state, const struct tmx_spread *s, double *share0)
{
    for (size_t i = 0; i < s->n; i++) {
        share0[s->hot_order[i]] = (2 * i < s->n) == s->first_is_hot ? 1 : 0;
    }
}

static const struct tmx_mix_policy mix_none = {.spread = NULL}, mix_halves = {.spread = halves},
                                   mix_hot = {.spread = by_hot_order};

/* The machine has been written to by hand: all is dealt anew. */
static void deal(struct rig *r, const struct tmx_mix_policy *mix, double begin_s)
{
    r->m->gpu[0].dealt = false;
    struct tmx_err dispatched = {0};
    tmx_dispatch(r->m, tmx_machine_all(r->m), mix, NULL, begin_s, r->scratch, &dispatched);
    assert_int_equal(dispatched.code, TMX_OK);
    assert_true(r->m->gpu[0].dealt);
}

static void kernels_that_do_not_fill_the_chip_follow_the_thread_block_order(void **state)
{
    static const size_t order[N_SM] = {5, 3, 1, 0, 2, 4};
    static const struct {
        size_t n_run, w0, w1;
        const char *want;
    } rows[] = {
        {0, 0, 0, "......"}, {1, 2, 0, "...a.a"}, {1, 6, 0, "aaaaaa"}, {1, 99, 0, "aaaaaa"},
        {2, 2, 3, "bbba.a"}, {2, 2, 4, "bbbaba"}, {2, 3, 4, "mmmmmm"}, {2, 6, 6, "mmmmmm"},
    };
    struct rig r;
    rig_open(&r);
    for (size_t i = 0; i < N_SM; i++) {
        r.m->gpu[0].order[i] = order[i];
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r.m->gpu[0].n_run = rows[i].n_run;
        r.m->job[0].width_sms = rows[i].w0;
        r.m->job[1].width_sms = rows[i].w1;
        deal(&r, &mix_halves, 0);
        check_hosts(&r, rows[i].want);
        deal(&r, &mix_none, 0); /* a policy that does not say: halves too */
        check_hosts(&r, rows[i].want);
    }
    rig_close(&r);
}

static void the_hotter_kernel_is_told_by_its_power_density_index(void **state)
{
    struct rig r;
    rig_open(&r);
    for (int k = 0; k < 2; k++) {
        deal(&r, &mix_hot, 0);
        for (size_t i = 0; i < N_SM; i++) {
            const double first = r.m->share[r.chip.hot_order[i]];
            check_close(first, (i < N_SM / 2) == (k == 0) ? 1 : 0, 0, 0);
        }
        r.m->job[0].pdi_w = 0.5; /* now the second one is hotter */
    }
    rig_close(&r);
}

/* A running block ends first: the kernel that gives SMs away holds them for one of its lifetimes. */
static void the_kernel_that_shrinks_drains_for_one_of_its_lifetimes(void **state)
{
    struct rig r;
    rig_open(&r);
    deal(&r, &mix_halves, 0);
    for (size_t sm = 0; sm < N_SM; sm++) {
        r.m->drain_s[sm] = 0;
    }
    deal(&r, &mix_halves, 1e-3); /* nothing changes: nobody drains */
    check_close(r.m->drain_s[0], 0, 0, 0);
    r.m->gpu[0].share = 0.25;
    deal(&r, &mix_halves, 2e-3);
    check_close(r.m->drain_s[0], 1e-3, 0, 0);
    r.m->gpu[0].share = 0.75;
    deal(&r, &mix_halves, 3e-3);
    check_close(r.m->drain_s[N_SM - 1], 5e-3, 0, 0);
    r.m->job[0].gate_slowdown = 1.5; /* gated units lengthen its blocks */
    r.m->gpu[0].share = 0.5;
    deal(&r, &mix_halves, 4e-3);
    check_close(r.m->drain_s[0], 1.5e-3, 1e-15, 0);
    rig_close(&r);
}

static void sms_that_may_not_work_host_nobody(void **state)
{
    static const size_t order[N_SM] = {5, 3, 1, 0, 2, 4};
    struct rig r;
    rig_open(&r);
    struct tmx_gpu_request gpu = {.admit = TMX_NO_JOB, .share = 0.5, .n_active = 4};
    bool gate[N_SM] = {false};
    const double sensed_k[N_SM] = {0};
    const struct tmx_request request = {.gpu = &gpu, .gate = gate};
    for (size_t i = 0; i < N_SM; i++) {
        r.m->gpu[0].order[i] = order[i];
    }
    tiny_apply(r.m, &request, sensed_k);
    deal(&r, &mix_halves, 0);
    check_hosts(&r, "mm.m.m"); /* the first four of the order */
    r.m->gpu[0].n_run = 1;
    deal(&r, &mix_halves, 0);
    check_hosts(&r, "aa.a.a");
    rig_close(&r);
}

TMX_TESTS(test_dispatch)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_do_not_fill_the_chip_follow_the_thread_block_order),
        cmocka_unit_test(the_hotter_kernel_is_told_by_its_power_density_index),
        cmocka_unit_test(the_kernel_that_shrinks_drains_for_one_of_its_lifetimes),
        cmocka_unit_test(sms_that_may_not_work_host_nobody),
    };
    return cmocka_run_group_tests_name("dispatch", tests, NULL, NULL);
}
