/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tick need not find again (struct tmx_gpu: dealt, steady, same) changes no bit: two machines under
 * the same random requests, one of which forgets everything between ticks.    test_steady [TICKS [SEED]] */
#include <string.h>

#include "base/rng.h"
#include "core/sim/stage/answers.h"
#include "power/power.h"
#include "tests/support/tiny.h"

enum {
    N_GPU = 3,
    N_SM = 6,
    N_UNIT = N_SM + 1,
    N_JOB = 400,
    ALL_SM = N_GPU * N_SM,
    ALL_UNIT = N_GPU * N_UNIT
};

struct rig {
    struct tmx_machine *m;
    void *model;
    struct tmx_frame f;
    double block[8][ALL_UNIT], slot_w[TMX_SLOTS * N_GPU], transition_w[N_GPU];
};

/* A third of the SMs each, in turns of two ticks. */
static void turns(const void *state, const struct tmx_spread *s, double *share0)
{
    for (size_t i = 0; i < s->n; i++) {
        share0[s->by_index[i]] = (long)(s->begin_s / 2e-3 + 0.25) % 2 ? s->share : 1 - s->share;
    }
}

static void by_hot_order(const void *state, const struct tmx_spread *s, double *share0)
{
    for (size_t i = 0; i < s->n; i++) {
        share0[s->hot_order[i]] = (2 * i < s->n) == s->first_is_hot ? s->share : 1 - s->share;
    }
}

static double two_ms(const void *state)
{
    return 2e-3;
}

static const struct tmx_mix_policy policies[] = {
    {.spread = NULL}, {.spread = turns, .slice_s = two_ms}, {.spread = by_hot_order}};

static void rig_open(struct rig *r, const struct tmx_chip *const *chip, const struct tmx_job *job)
{
    const bool leakage = true;
    const struct tmx_machine_spec spec = {.chip = chip,
                                          .n_gpu = N_GPU,
                                          .job = job,
                                          .n_job = N_JOB,
                                          .dt_s = 1e-3,
                                          .gain = 1.05,
                                          .remote_cost = 0.5,
                                          .system_kernel_s = 1e-3};
    *r = (struct rig){0};
    assert_int_equal(tmx_machine_create(&r->m, &spec, NULL), TMX_OK);
    assert_int_equal(tmx_power_models[0]->create(&leakage, r->m, &r->model, NULL), TMX_OK);
    double *const b = r->block[0];
    r->f = (struct tmx_frame){.n_gpu = N_GPU,
                              .n_sm = ALL_SM,
                              .n_unit = ALL_UNIT,
                              .sleeps = true,
                              .asleep = b,
                              .unpowered = b + ALL_UNIT,
                              .dynamic_w = b + 2 * ALL_UNIT,
                              .leakage_w = b + 3 * ALL_UNIT,
                              .saved_w = b + 4 * ALL_UNIT,
                              .baseline_w = b + 5 * ALL_UNIT,
                              .power_w = b + 6 * ALL_UNIT,
                              .temp_k = b + 7 * ALL_UNIT,
                              .slot_w = r->slot_w,
                              .transition_w = r->transition_w};
    for (size_t u = 0; u < ALL_UNIT; u++) {
        r->f.temp_k[u] = 350;
    }
}

static void rig_close(struct rig *r)
{
    tmx_power_models[0]->destroy(r->model);
    tmx_machine_destroy(r->m);
}

/* One thing of one GPU changes; most ticks nothing does. */
static void change(struct tmx_rng *rng, struct tmx_request *q, struct rig rig[2])
{
    const size_t g = tmx_rng_below(rng, N_GPU), sm = tmx_rng_below(rng, N_SM), k = tmx_rng_below(rng, 24);
    struct tmx_gpu_request *r = &q->gpu[g];
    if (k == 0) {
        r->level = tmx_rng_below(rng, 3);
    } else if (k == 1) {
        r->n_active = 1 + tmx_rng_below(rng, N_SM);
    } else if (k == 2) {
        r->share = tmx_rng_uniform(rng);
    } else if (k == 3) {
        r->rest = tmx_rng_below(rng, 2) ? tmx_rng_uniform(rng) : 0;
    } else if (k == 4) {
        q->gate[g * N_SM + sm] = !q->gate[g * N_SM + sm];
    } else if (k == 5) {
        r->n_part = r->n_part ? 0 : 3;
        r->part[0] = r->part[1] = r->part[2] = 0.25;
    } else if (k == 6 && rig[0].m->gpu[g].n_queue > 0) {
        r->admit = rig[0].m->gpu[g].queue[0];
    } else if (k == 7 && rig[0].m->gpu[g].n_run > 0) { /* as the stages of gating and contention do */
        const double by = 1 + tmx_rng_uniform(rng);
        for (int i = 0; i < 2; i++) {
            rig[i].m->job[rig[i].m->gpu[g].run[0]].memory_slowdown = by;
        }
    } else if (k == 8) { /* a scheduling tick */
        const size_t other = tmx_rng_below(rng, N_SM);
        for (int i = 0; i < 2; i++) {
            struct tmx_gpu *gpu = &rig[i].m->gpu[g];
            const size_t was = gpu->order[sm];
            gpu->order[sm] = gpu->order[other];
            gpu->order[other] = was;
            gpu->dealt = false;
        }
    }
}

static void place(struct tmx_rng *rng, struct rig rig[2])
{
    const size_t j = rig[0].m->n_arrived, home = tmx_rng_below(rng, N_GPU),
                 n = home + 1 < N_GPU && tmx_rng_below(rng, 4) == 0 ? 2 : 1;
    const bool room = j < N_JOB && rig[0].m->gpu[home].n_queue < 2;
    for (int i = 0; i < 2 && room; i++) {
        struct tmx_machine *m = rig[i].m;
        m->job[j].state = TMX_JOB_WAITING;
        m->job[j].queue_order = m->n_arrived++;
        m->job[j].home_gpu = home;
        m->job[j].n_gpu = n;
        if (!tmx_machine_enqueue(m, j)) {
            m->job[j].state = TMX_JOB_DONE;
        }
    }
}

static void tick(struct rig *r, const struct tmx_request *q, const struct tmx_mix_policy *mix, double now_s)
{
    const double sensed_k[ALL_SM] = {0};
    double scratch[N_SM];
    const struct tmx_gpus all = tmx_machine_all(r->m);
    r->m->now_s = now_s;
    tiny_apply(r->m, q, sensed_k);
    struct tmx_err dispatched = {0};
    tmx_dispatch(r->m, all, mix, NULL, now_s, scratch, &dispatched);
    assert_int_equal(dispatched.code, TMX_OK);
    tiny_advance(r->m, now_s);
    assert_int_equal(tmx_power_models[0]->eval(r->model, r->m, all, &r->f), TMX_OK);
}

static void forget(struct tmx_machine *m)
{
    for (size_t g = 0; g < N_GPU; g++) {
        m->gpu[g].dealt = m->gpu[g].steady = false;
    }
}

static void check_same(const struct rig *a, const struct rig *b, unsigned long t)
{
    const size_t slots = TMX_SLOTS * ALL_SM * sizeof(double);
    bool same = memcmp(a->block, b->block, sizeof a->block) == 0 &&
                memcmp(a->slot_w, b->slot_w, sizeof a->slot_w) == 0 &&
                memcmp(a->m->busy, b->m->busy, slots) == 0 && memcmp(a->m->held, b->m->held, slots) == 0 &&
                memcmp(a->m->share, b->m->share, slots) == 0 &&
                memcmp(a->m->gated_s, b->m->gated_s, ALL_SM * sizeof(double)) == 0;
    for (size_t j = 0; j < N_JOB && same; j++) {
        same = a->m->job[j].done_sm_s == b->m->job[j].done_sm_s;
    }
    if (!same) {
        fail_msg("tick %lu: not what a machine finds that has forgotten the last one", t);
    }
}

static unsigned long n_tick = 20000, seed = 1;

static void what_is_not_found_again_is_what_would_be_found(void **state)
{
    static struct tmx_kernel kernel;
    static struct tmx_job job[N_JOB];
    struct tmx_chip chip;
    const struct tmx_chip *const chips[N_GPU] = {&chip, &chip, &chip};
    unsigned long n_same = 0, n_dealt = 0;
    tiny_chip(&chip, N_SM);
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct tmx_rng *rng;
        struct rig rig[2];
        struct tmx_gpu_request gpu[N_GPU];
        bool gate[ALL_SM] = {false};
        struct tmx_request q = {.gpu = gpu, .gate = gate};
        assert_int_equal(tmx_rng_create(&rng, seed + p, "steady", NULL), TMX_OK);
        for (size_t j = 0; j < N_JOB; j++) {
            job[j] = tiny_job(&kernel, 0.02 + 0.3 * tmx_rng_uniform(rng), 1 + tmx_rng_uniform(rng),
                              1 + tmx_rng_below(rng, N_SM));
            job[j].lifetime_s = 5e-3 * tmx_rng_uniform(rng);
            job[j].memory_bound = tmx_rng_below(rng, 2) ? 0.5 : 0;
            job[j].l2_w = tmx_rng_below(rng, 4) == 0 ? 0.5 : 0;
            job[j].leak_factor = tmx_rng_below(rng, 4) == 0 ? 1.5 : 0;
        }
        for (size_t g = 0; g < N_GPU; g++) {
            gpu[g] = (struct tmx_gpu_request){.admit = TMX_NO_JOB, .share = 0.5, .n_active = N_SM};
        }
        rig_open(&rig[0], chips, job);
        rig_open(&rig[1], chips, job);
        for (unsigned long t = 0; t < n_tick; t++) {
            change(rng, &q, rig);
            place(rng, rig);
            forget(rig[1].m);
            for (int i = 0; i < 2; i++) {
                tick(&rig[i], &q, &policies[p], (double)t * 1e-3);
            }
            check_same(&rig[0], &rig[1], t);
            n_same += rig[0].m->gpu[0].same && rig[0].m->gpu[0].n_run > 0;
            n_dealt += rig[0].m->gpu[0].dealt;
        }
        assert_true(rig[0].m->n_done > 20);
        rig_close(&rig[0]);
        rig_close(&rig[1]);
        tmx_rng_destroy(rng);
    }
    assert_true(n_same > n_tick / 4 && n_dealt > n_tick); /* or the test shows nothing */
    tmx_chip_finish(&chip);
}

TMX_TESTS(test_steady)
{
    n_tick = argc > 1 ? strtoul(argv[1], NULL, 10) : n_tick;
    seed = argc > 2 ? strtoul(argv[2], NULL, 10) : seed;
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_found_again_is_what_would_be_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
