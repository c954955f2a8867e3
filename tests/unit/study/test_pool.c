/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/pool.h"

enum { N_TASK = 23, CRASH = 7, EXIT = 9, FAIL = 11 };

struct seen {
    size_t order[N_TASK];
    size_t n;
    char text[N_TASK][64];
    enum tmx_status status[N_TASK];
    struct tmx_err err[N_TASK];
};

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static enum tmx_status run(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    (void)ctx;
    pause_ms(task % 3 == 0 ? 20 : 1);
    fprintf(out, "task %zu", task);
    if (task == CRASH) {
        signal(SIGKILL, SIG_DFL);
        raise(SIGKILL);
    }
    if (task == EXIT) {
        _exit(5);
    }
    return task == FAIL ? tmx_fail(err, TMX_EUNFINISHED, "no way") : TMX_OK;
}

static enum tmx_status collect(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    (void)err;
    struct seen *s = ctx;
    s->order[s->n++] = r->task;
    s->status[r->task] = r->status;
    s->err[r->task] = r->err;
    snprintf(s->text[r->task], sizeof s->text[0], "%s", r->bytes);
    return TMX_OK;
}

static void results_arrive_in_task_order_and_a_crash_costs_its_task(void **state)
{
    for (unsigned n_worker = 1; n_worker <= 5; n_worker += 2) {
        struct seen s = {0};
        const struct tmx_pool pool = {
            .n_task = N_TASK, .n_worker = n_worker, .ctx = &s, .run = run, .collect = collect};
        assert_int_equal(tmx_pool_run(&pool, NULL), TMX_OK);
        assert_int_equal(s.n, N_TASK);
        for (size_t i = 0; i < s.n; i++) {
            assert_int_equal(s.order[i], i);
        }
        assert_string_equal(s.text[3], "task 3");
        assert_string_equal(s.text[FAIL], "task 11");
        assert_int_equal(s.status[FAIL], TMX_EUNFINISHED);
        assert_string_equal(s.err[FAIL].msg, "no way");
        assert_int_equal(s.status[CRASH], TMX_ESOLVE);
        assert_non_null(strstr(s.err[CRASH].msg, "signal 9"));
        assert_non_null(strstr(s.err[EXIT].msg, "exit code 5"));
    }
}

static enum tmx_status big(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    (void)ctx, (void)err;
    for (size_t i = 0; i < 300000; i++) {
        fputc((int)('a' + (task + i) % 26), out);
    }
    return TMX_OK;
}

static enum tmx_status collect_big(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    (void)err;
    size_t *n = ctx;
    assert_int_equal(r->n_byte, 300000);
    for (size_t i = 0; i < r->n_byte; i++) {
        assert_int_equal(r->bytes[i], 'a' + (r->task + i) % 26);
    }
    (*n)++;
    return TMX_OK;
}

static void large_results_arrive_whole(void **state)
{
    size_t n = 0;
    const struct tmx_pool pool = {
        .n_task = 4, .n_worker = 2, .as_completed = true, .ctx = &n, .run = big, .collect = collect_big};
    assert_int_equal(tmx_pool_run(&pool, NULL), TMX_OK);
    assert_int_equal(n, 4);
}

/* Tasks of a child in reverse order; the child dies over CRASH, every time. */
static void together(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    (void)ctx;
    for (size_t i = n; i-- > 0;) {
        char text[64];
        struct tmx_err err = {0};
        if (task[i] == CRASH) {
            signal(SIGKILL, SIG_DFL);
            raise(SIGKILL);
        }
        snprintf(text, sizeof text, "task %zu", task[i]);
        const enum tmx_status st = task[i] == FAIL ? tmx_fail(&err, TMX_EUNFINISHED, "no way") : TMX_OK;
        tmx_pool_done(child, task[i], st, &err, text, strlen(text));
    }
}

static void a_crash_among_tasks_that_run_together_costs_its_task(void **state)
{
    for (unsigned n_worker = 1; n_worker <= 5; n_worker += 2) {
        for (size_t n_together = 1; n_together <= TMX_POOL_TOGETHER; n_together += 9) {
            struct seen s = {0};
            const struct tmx_pool pool = {.n_task = N_TASK,
                                          .n_worker = n_worker,
                                          .as_completed = true,
                                          .ctx = &s,
                                          .n_together = n_together,
                                          .run_together = together,
                                          .collect = collect};
            assert_int_equal(tmx_pool_run(&pool, NULL), TMX_OK);
            assert_int_equal(s.n, N_TASK);
            for (size_t i = 0; i < N_TASK; i++) {
                char text[64] = "";
                if (i != CRASH) {
                    snprintf(text, sizeof text, "task %zu", i);
                }
                assert_string_equal(s.text[i], text);
                assert_int_equal(s.status[i], i == FAIL ? TMX_EUNFINISHED : i == CRASH ? TMX_ESOLVE : TMX_OK);
            }
            assert_non_null(strstr(s.err[CRASH].msg, "signal 9"));
        }
    }
}

static void answer_sizes(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    (void)ctx;
    for (size_t i = 0; i < n; i++) {
        tmx_pool_done(child, task[i], TMX_OK, NULL, &n, sizeof n);
    }
}

static enum tmx_status collect_sizes(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    (void)err;
    memcpy((size_t *)ctx + r->task, r->bytes, sizeof(size_t));
    return TMX_OK;
}

static void few_tasks_run_together_until_they_prove_short(void **state)
{
    enum { N = 1 + 2 + 4 + 8 + 16 + 32 + 64 + 64 };
    static size_t size[N];
    const struct tmx_pool pool = {.n_task = N,
                                  .n_worker = 1,
                                  .as_completed = true,
                                  .ctx = size,
                                  .n_together = TMX_POOL_TOGETHER,
                                  .run_together = answer_sizes,
                                  .collect = collect_sizes};
    assert_int_equal(tmx_pool_run(&pool, NULL), TMX_OK);
    for (size_t i = 0, of = 1; i < N; i += of, of = of < TMX_POOL_TOGETHER ? 2 * of : of) {
        assert_int_equal(size[i], of);
    }
}

static int collected[2]; /* a pipe: the parent has the first answer */

static void answers_before_the_signal(void *ctx, const size_t *task, size_t n, struct tmx_pool_child *child)
{
    char c;
    (void)ctx;
    for (size_t i = 0; i < n && n < 4; i++) { /* one task, then two, then four */
        tmx_pool_done(child, task[i], TMX_OK, NULL, "done", 4);
    }
    if (n < 4) {
        return;
    }
    tmx_pool_done(child, task[0], TMX_OK, NULL, "done", 4);
    if (read(collected[0], &c, 1) == 1) {
        tmx_pool_done(child, task[1], TMX_OK, NULL, "done", 4);
        tmx_pool_done(child, task[2], TMX_OK, NULL, "done", 4);
        kill(getppid(), SIGTERM);
    }
    pause();
}

/* Returns from the first answer when the signal waits. */
static enum tmx_status collect_until_the_signal(void *ctx, const struct tmx_pool_result *r,
                                                struct tmx_err *err)
{
    sigset_t waiting;
    sigemptyset(&waiting);
    if (r->task == 3 && write(collected[1], "c", 1) == 1) {
        while (!sigismember(&waiting, SIGTERM)) {
            pause_ms(1);
            sigpending(&waiting);
        }
    }
    return collect(ctx, r, err);
}

static void a_signal_loses_no_answer_that_was_sent(void **state)
{
    struct seen s = {0};
    struct tmx_err err = {0};
    const struct tmx_pool pool = {.n_task = N_TASK,
                                  .n_worker = 1,
                                  .as_completed = true,
                                  .ctx = &s,
                                  .n_together = TMX_POOL_TOGETHER,
                                  .run_together = answers_before_the_signal,
                                  .collect = collect_until_the_signal};
    assert_int_equal(pipe(collected), 0);
    assert_int_equal(tmx_pool_run(&pool, &err), TMX_ESTOPPED);
    assert_int_equal(s.n, 6);
    assert_non_null(strstr(err.msg, "6 of 23"));
    close(collected[0]);
    close(collected[1]);
}

static enum tmx_status refuse(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    (void)ctx;
    return r->task == 2 ? tmx_fail(err, TMX_EIO, "disk full") : TMX_OK;
}

static void the_collector_can_stop_everything(void **state)
{
    struct tmx_err err = {0};
    const struct tmx_pool pool = {.n_task = N_TASK, .n_worker = 2, .run = run, .collect = refuse};
    assert_int_equal(tmx_pool_run(&pool, &err), TMX_EIO);
    assert_string_equal(err.msg, "disk full");
}

static enum tmx_status interrupt_parent(void *ctx, size_t task, FILE *out, struct tmx_err *err)
{
    (void)ctx, (void)out, (void)err;
    if (task == 3) {
        kill(getppid(), SIGINT);
        pause_ms(900);
    }
    return TMX_OK;
}

static void ctrl_c_says_what_is_done(void **state)
{
    struct tmx_err err = {0};
    struct seen s = {0};
    const struct tmx_pool pool = {
        .n_task = N_TASK, .n_worker = 1, .ctx = &s, .run = interrupt_parent, .collect = collect};
    assert_int_equal(tmx_pool_run(&pool, &err), TMX_ESTOPPED);
    assert_string_equal(err.msg, "stopped by a signal: 3 of 23 tasks done");
    assert_int_equal(s.n, 3);
}

TMX_TESTS(test_pool)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_arrive_in_task_order_and_a_crash_costs_its_task),
        cmocka_unit_test(a_crash_among_tasks_that_run_together_costs_its_task),
        cmocka_unit_test(few_tasks_run_together_until_they_prove_short),
        cmocka_unit_test(large_results_arrive_whole),
        cmocka_unit_test(the_collector_can_stop_everything),
        cmocka_unit_test(ctrl_c_says_what_is_done),
        cmocka_unit_test(a_signal_loses_no_answer_that_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
