/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs side by side: each gets what it gets alone, to the last bit; who fails or ends leaves the others as
 * they are. */
#include <stdlib.h>
#include <string.h>

#include "core/sim/sim.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

enum { N_RUN = 9, RUNAWAY = 3, NO_NUMBER = 4, LATER = 100 };

/* One package under five policies, another tick, another package, two GPUs of one kind, leakage that runs
 * away, steps from event to event. */
static const char *const keys[N_RUN] = {
    "policy = \"MU\";",
    "policy = \"MNU\";",
    "policy = \"BL\"; tick_s = 0.005;",
    "policy = \"BL\"; chip_power = { leakage_w = 400.0; leakage_exp_per_k = 0.06; };",
    "policy = \"DVFS\"; chip_power = { dvfs_power = \"v2f\"; };",
    "policy = \"DVFS\"; package = { r_convec = 0.4; };",
    "policy = \"MG-BL\"; gpus = 2;",
    "policy = \"A\";",
    "policy = \"MU\"; tick = \"events\";",
};

struct outcome {
    enum tmx_status st;
    struct tmx_err err;
    double metric[128];
    double temp_k[64];
};

static struct tmx_run *open_one(size_t i, const char *mix_file)
{
    return open_run("seed = 1; warmup_s = 1.0; rows = 8; cols = 8; mix = \"%s\"; %s%s", mix_file, keys[i],
                    strstr(keys[i], "tick_s") ? "" : " tick_s = 0.01;");
}

/* A voltage that is no number: neither will the temperatures be. */
static void poison(void *ctx, const struct tmx_sim *sim)
{
    size_t *n = ctx;
    if (++*n == LATER) {
        sim->machine->volt2[0] = NAN;
    }
}

static void read_outcome(struct tmx_run *run, enum tmx_status st, const struct tmx_err *err,
                         struct outcome *o)
{
    const struct tmx_frame *f = &tmx_run_sim(run)->frame;
    o->st = st;
    o->err = *err;
    for (size_t i = 0; tmx_metrics[i].name; i++) {
        assert_true(i < sizeof o->metric / sizeof o->metric[0]);
        o->metric[i] = tmx_run_metric(run, &tmx_metrics[i]);
    }
    memcpy(o->temp_k, f->temp_k, (f->n_unit < 64 ? f->n_unit : 64) * sizeof *f->temp_k);
}

static void run_alone(size_t i, const char *mix_file, struct outcome *o)
{
    struct tmx_run *run = open_one(i, mix_file);
    struct tmx_err err = {0};
    size_t n = 0;
    const struct tmx_observer bad = {.ctx = &n, .tick = poison};
    const enum tmx_status st = tmx_run_execute(run, i == NO_NUMBER ? &bad : NULL, &err);
    read_outcome(run, st, &err, o);
    tmx_run_destroy(run);
}

struct side_by_side {
    const char *mix_file;
    struct outcome *o;
    size_t n, n_ended; /* n: of poison */
};

static enum tmx_status begin_one(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                                 void **own, struct tmx_err *err)
{
    struct side_by_side *s = ctx;
    (void)err;
    *own = open_one(task, s->mix_file);
    *sim = tmx_run_sim(*own);
    *observer =
        task == NO_NUMBER ? (struct tmx_observer){.ctx = &s->n, .tick = poison} : (struct tmx_observer){0};
    return TMX_OK;
}

static void end_one(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err)
{
    struct side_by_side *s = ctx;
    read_outcome(own, st, err, &s->o[task]);
    tmx_run_destroy(own);
    s->n_ended++;
}

static void run_side_by_side(const char *mix_file, struct outcome *o)
{
    static const size_t task[N_RUN] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct side_by_side s = {mix_file, o, 0, 0};
    tmx_lockstep_run(&(struct tmx_lockstep_tasks){.ctx = &s, .begin = begin_one, .end = end_one}, task,
                     N_RUN);
    assert_int_equal(s.n_ended, N_RUN);
}

static void runs_side_by_side_get_what_they_get_alone(void **state)
{
    static struct outcome alone[N_RUN], beside[N_RUN];
    const char *mix_file =
        scratch_write("fleet_mix.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 8.0; }, { "
                                       "kernel = \"Cmem\"; work_s = 4.0; } );");
    for (size_t i = 0; i < N_RUN; i++) {
        run_alone(i, mix_file, &alone[i]);
    }
    run_side_by_side(mix_file, beside);
    assert_int_equal(alone[RUNAWAY].st, TMX_ERUNAWAY);
    assert_int_equal(alone[NO_NUMBER].st, TMX_ESOLVE);
    for (size_t i = 0; i < N_RUN; i++) {
        if (i != RUNAWAY && i != NO_NUMBER) {
            assert_int_equal(alone[i].st, TMX_OK);
        }
        assert_int_equal(beside[i].st, alone[i].st);
        assert_string_equal(beside[i].err.msg, alone[i].err.msg);
        assert_memory_equal(beside[i].metric, alone[i].metric, sizeof alone[i].metric);
        assert_memory_equal(beside[i].temp_k, alone[i].temp_k, sizeof alone[i].temp_k);
    }
}

struct turns {
    const char *mix_file;
    size_t n_begun, n_ended, ended_before_last; /* how many had ended when the last one began */
};

static enum tmx_status begin_turn(void *ctx, size_t task, struct tmx_sim **sim, struct tmx_observer *observer,
                                  void **own, struct tmx_err *err)
{
    struct turns *t = ctx;
    (void)task;
    (void)observer;
    (void)err;
    *own = open_one(0, t->mix_file);
    *sim = tmx_run_sim(*own);
    t->n_begun++;
    t->ended_before_last = t->n_ended;
    return TMX_OK;
}

static void end_turn(void *ctx, size_t task, void *own, enum tmx_status st, const struct tmx_err *err)
{
    struct turns *t = ctx;
    (void)task;
    (void)err;
    assert_int_equal(st, TMX_OK);
    tmx_run_destroy(own);
    t->n_ended++;
}

/* Alike, they would all end at the end: who stops a table of a few long runs would be left with none. */
static void few_runs_end_in_turn(void **state)
{
    static const size_t n[] = {6, 12, 20}, at_least[] = {2, 6, 10}, task[20] = {0};
    const char *mix_file =
        scratch_write("fleet_mix.cfg", "name = \"m\"; kernels = ( { kernel = \"SVM\"; work_s = 1.0; } );");
    for (size_t i = 0; i < 3; i++) {
        struct turns t = {.mix_file = mix_file};
        tmx_lockstep_run(&(struct tmx_lockstep_tasks){.ctx = &t, .begin = begin_turn, .end = end_turn}, task,
                         n[i]);
        assert_int_equal(t.n_begun, n[i]);
        assert_int_equal(t.n_ended, n[i]);
        assert_true(t.ended_before_last >= at_least[i]);
    }
}

TMX_TESTS(test_lockstep)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_runs_end_in_turn),
        cmocka_unit_test(runs_side_by_side_get_what_they_get_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
