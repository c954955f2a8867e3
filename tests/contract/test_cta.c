/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every CTA policy must keep, on random programs and chips of 1, 3 and 28 cores: cores within
 * bounds, no block lost, gated cores empty, plain state, equal bytes, options checked. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/rng.h"
#include "kernels/contention.h"
#include "sched/sched.h"
#include "tests/support/check.h"

enum { N_PROGRAM = 6 };

static struct tmx_contention_result a, b;
static struct tmx_memory_program program[N_PROGRAM];

static const struct tmx_memory_chip chip = {
    .core_hz = 1e9,
    .mshr = 32,
    .peak_ipc = 2,
    .base_core_cycles = 50,
    .base_memory_cycles = 150,
    .partitions = 4,
    .l2_lines_per_cycle = 1,
    .dram_lines_per_cycle = 0.5,
    .l2_hit_max = 0.95,
    .wake_cycles = 500,
    .clock_change_cycles = 65,
};

static double between(struct tmx_rng *rng, double low, double high)
{
    return low + (high - low) * tmx_rng_uniform(rng);
}

/* From a block that computes to a large grid that does nothing but wait. */
static void make_programs(void)
{
    struct tmx_rng *rng = NULL;
    assert_int_equal(tmx_rng_create(&rng, 7, "contract.cta", NULL), TMX_OK);
    for (size_t p = 0; p < N_PROGRAM; p++) {
        memset(&program[p], 0, sizeof program[p]);
        snprintf(program[p].name, sizeof program[p].name, "random%zu", p);
        program[p].n = 1 + p % 3;
        for (size_t k = 0; k < program[p].n; k++) {
            struct tmx_memory_kernel *m = &program[p].kernel[k];
            m->blocks = k == 1 ? 1 : 2 + (int)tmx_rng_below(rng, 400);
            m->warps_per_block = 1 + (int)tmx_rng_below(rng, 8);
            m->blocks_per_core = 1 + (int)tmx_rng_below(rng, 6);
            m->instr_per_warp = between(rng, 20, 4000);
            m->ipc1 = between(rng, 0.5, 2);
            m->cpi1_cycles = between(rng, 3, 12);
            m->mlp = between(rng, 0.5, 4);
            m->lines_per_instr = p % 2 ? between(rng, 0.2, 0.5) : between(rng, 0, 0.02);
            m->l2_hit = between(rng, 0, 0.5);
            m->row_loss = between(rng, 0, 0.2);
            m->simd = m->full_warps = between(rng, 0.2, 1);
            m->variation = between(rng, 0, 0.2);
        }
    }
    tmx_rng_destroy(rng);
}

/* A policy around the policy: checks what it is shown and what it asks for, and moves its state about. */
struct guard {
    const struct tmx_cta_policy *policy;
    void *state;
    bool move;
};

static void check_request(const struct guard *g, const struct tmx_cta_view *v,
                          const struct tmx_cta_request *q)
{
    size_t may_work = 0;
    for (size_t i = 0; i < v->n_core; i++) {
        const enum tmx_core_state s = q->state[i];
        const bool lent = s == TMX_CORE_GIVEN && v->core[i].state != TMX_CORE_GIVEN;
        const bool off = s == TMX_CORE_OFF || s == TMX_CORE_CLOCK_OFF || lent;
        assert_true((unsigned)s < TMX_N_CORE_STATE);
        may_work += s == TMX_CORE_ACTIVE;
        if (off && (v->core[i].n_block > 0 || q->accept[i])) {
            fail_msg("%s switches core %zu off that holds %d blocks or accepts more", g->policy->base.name, i,
                     v->core[i].n_block);
        }
    }
    assert_true(may_work >= 1);
    assert_true(q->wake_cycle > v->cycle);
    assert_true(q->core_clock >= 0.5 && q->core_clock <= 1.5);
    assert_true(q->memory_clock >= 0.5 && q->memory_clock <= 1.5);
    assert_true(q->block_limit >= 0);
}

/* The state is plain data: a copy elsewhere goes on where the original was. */
static void move_state(struct guard *g)
{
    const size_t size = g->policy->base.state_size;
    if (g->move && size > 0) {
        void *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, g->state, size);
        memset(g->state, 0xa5, size);
        free(g->state);
        g->state = copy;
    }
}

static void guard_launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct guard *g = state;
    move_state(g);
    g->policy->launch(g->state, view, request);
    check_request(g, view, request);
}

static void guard_observe(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    struct guard *g = state;
    move_state(g);
    if (g->policy->observe) {
        g->policy->observe(g->state, view, request);
    }
    check_request(g, view, request);
}

static const struct tmx_cta_policy guard_policy = {
    .base = {.name = "guard"}, .launch = guard_launch, .observe = guard_observe};

/* The chip at the end of every epoch. */
static void check_chip(void *ctx, const struct tmx_contention_sample *s)
{
    (void)ctx;
    for (size_t i = 0; i < s->n_core; i++) {
        const struct tmx_core *c = &s->core[i];
        if (c->state == TMX_CORE_OFF || c->state == TMX_CORE_CLOCK_OFF) {
            assert_int_equal(c->n, 0);
        }
        if (c->state == TMX_CORE_THROTTLE && c->latency_cycles != 0) {
            fail_msg("core %zu is throttled and sends requests", i);
        }
    }
}

static double any_edp(void *ctx, size_t launch, size_t n)
{
    (void)ctx;
    return fabs((double)n - 2 - (double)launch) + 1;
}

static void run(const struct tmx_cta_policy *policy, int cores, size_t first, size_t n, bool move,
                const char *monitor_cycles, struct tmx_contention_result *r)
{
    const struct tmx_memory_program *list[N_PROGRAM];
    struct tmx_memory_chip c = chip;
    struct tmx_err err = {0};
    struct guard g = {.policy = policy, .move = move};
    c.cores = cores;
    for (size_t i = 0; i < n; i++) {
        list[i] = &program[first + i];
    }
    assert_int_equal(tmx_plugin_state(&policy->base, NULL, NULL, &g.state, &err), TMX_OK);
    for (const struct tmx_opt *o = policy->base.opts; monitor_cycles && o && o->key; o++) {
        if (strcmp(o->key, "monitor_cycles") == 0) {
            assert_int_equal(tmx_opt_set(o, g.state, monitor_cycles, NULL, 0, &err), TMX_OK);
        }
    }
    if (policy->prepare) {
        policy->prepare(g.state, list[0]->n, (size_t)cores, any_edp, NULL);
    }
    const struct tmx_contention_spec spec = {.chip = &c,
                                             .program = list,
                                             .n_program = n,
                                             .policy = &guard_policy,
                                             .policy_state = &g,
                                             .epoch_cycles = 512,
                                             .seed = 11,
                                             .max_cycles = 1e9,
                                             .probe = check_chip};
    if (tmx_contention_run(&spec, r, &err)) {
        fail_msg("%s, %d cores, %s: %s", policy->base.name, cores, list[0]->name, err.msg);
    }
    free(g.state);
}

static void check_blocks(const struct tmx_contention_result *r, int cores, size_t first, size_t n)
{
    uint64_t blocks = 0;
    size_t launches = 0;
    for (size_t p = first; p < first + n; p++) {
        launches += program[p].n;
    }
    assert_int_equal(r->n_launch, launches);
    for (size_t l = 0; l < r->n_launch; l++) {
        const struct tmx_cta_launch *launch = &r->launch[l];
        const uint64_t grid = (uint64_t)program[first + launch->program].kernel[launch->kernel].blocks;
        assert_int_equal(launch->blocks, grid);
        assert_true(launch->cores >= (launch->program == 0) && launch->cores <= cores);
        assert_true(launch->core_seconds <= cores * launch->seconds * (1 + 1e-12));
        blocks += grid;
    }
    assert_int_equal(r->blocks, blocks);
    check_close(r->lines_served, r->lines_asked, 1e-3, 1e-3); /* a phase begins at the end of an epoch */
}

static void every_block_ends_on_a_working_core(void **state)
{
    static const int cores[] = {1, 3, 28};
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        for (size_t c = 0; c < sizeof cores / sizeof cores[0]; c++) {
            for (size_t i = 0; i < N_PROGRAM; i++) {
                const size_t n = i + 1 < N_PROGRAM && i % 2 ? 2 : 1;
                run(*p, cores[c], i, n, false, NULL, &a);
                check_blocks(&a, cores[c], i, n);
                run(*p, cores[c], i, n, false, "1e7", &a); /* TCS monitors longer than the kernel lives */
                check_blocks(&a, cores[c], i, n);
            }
        }
    }
}

static void equal_inputs_give_equal_bytes(void **state)
{
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        run(*p, 28, 1, 2, false, NULL, &a);
        run(*p, 28, 1, 2, false, NULL, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void a_moved_state_goes_on(void **state)
{
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        for (size_t i = 0; i + 1 < N_PROGRAM; i++) {
            run(*p, 28, i, 2, false, NULL, &a);
            run(*p, 28, i, 2, true, NULL, &b);
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
}

static enum tmx_status read(const struct tmx_plugin *p, const char *text)
{
    struct tmx_config *cfg = NULL;
    void *s = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_config_parse(&cfg, text, "test", &err), TMX_OK);
    const enum tmx_status st = tmx_plugin_state(p, tmx_config_root(cfg), NULL, &s, &err);
    tmx_config_close(cfg);
    free(s);
    if (st) {
        assert_true(strlen(err.msg) > 0);
    }
    return st;
}

static void bad_options_are_refused(void **state)
{
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        const struct tmx_plugin *base = &(*p)->base;
        char text[256];
        assert_int_equal(read(base, ""), TMX_OK);
        assert_int_equal(read(base, "no_such_key = 1;"), TMX_ECONFIG);
        for (const struct tmx_opt *o = base->opts; o && o->key; o++) {
            const bool real = o->type == TMX_OPT_REAL;
            snprintf(text, sizeof text, "%s = [1, 2];", o->key);
            assert_int_equal(read(base, text), TMX_ECONFIG);
            if (!real && o->type != TMX_OPT_INT) {
                snprintf(text, sizeof text, "%s = \"no such word\";", o->key);
                assert_int_equal(read(base, text), TMX_ECONFIG);
                continue;
            }
            for (int side = 0; side < 2; side++) {
                const double bound = side ? o->max : o->min, step = real ? 0.5 : 1;
                snprintf(text, sizeof text, real ? "%s = %.6f;" : "%s = %.0f;", o->key, bound);
                assert_int_equal(read(base, text), TMX_OK);
                snprintf(text, sizeof text, real ? "%s = %.6f;" : "%s = %.0f;", o->key,
                         side ? bound + step : bound - step);
                assert_int_equal(read(base, text), TMX_ECONFIG);
            }
        }
    }
}

static void every_policy_says_what_it_is(void **state)
{
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        assert_true(strlen((*p)->base.name) > 0 && strlen((*p)->base.doc) > 0);
        assert_true(strlen((*p)->base.source) > 0);
        assert_non_null((*p)->launch);
        for (const struct tmx_cta_policy *const *q = tmx_cta_policies; q < p; q++) {
            assert_string_not_equal((*p)->base.name, (*q)->base.name);
        }
    }
}

TMX_TESTS(test_cta)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_ends_on_a_working_core),
        cmocka_unit_test(equal_inputs_give_equal_bytes),
        cmocka_unit_test(a_moved_state_goes_on),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(every_policy_says_what_it_is),
    };
    make_programs();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
