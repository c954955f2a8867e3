/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces and the background task of a thread pool. */
#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/thread_pool.h"
#include "tests/support/check.h"

enum { PIECES = 1000 };

struct work {
    atomic_bool begun, go; /* a task that waits to be let go */
    atomic_size_t n_done[PIECES];
};

static void wait_to_go(void *ctx)
{
    struct work *w = ctx;
    atomic_store(&w->begun, true);
    while (!atomic_load(&w->go)) {
    }
}

static void count_piece(void *ctx, size_t i)
{
    atomic_fetch_add(&((struct work *)ctx)->n_done[i], 1);
}

static void pieces_are_done_once_each_with_a_task_beside_them_or_none(void **state)
{
    static struct work w;
    struct tmx_thread_pool *pool;
    assert_int_equal(tmx_thread_pool_create(&pool, 2, NULL), TMX_OK);
    tmx_thread_pool_wait(pool); /* nothing was started */
    tmx_thread_pool_start(pool, wait_to_go, &w);
    for (size_t round = 0; round < 6; round++) {
        if (round == 3) {
            while (!atomic_load(&w.begun)) { /* or the caller would do it, for ever */
            }
            atomic_store(&w.go, true);
            tmx_thread_pool_wait(pool);
        }
        tmx_thread_pool_run(pool, round == 1 ? 0 : round == 2 ? 1 : PIECES, count_piece, &w);
    }
    for (size_t i = 0; i < PIECES; i++) {
        assert_int_equal(atomic_load(&w.n_done[i]), i == 0 ? 5 : 4);
    }
    tmx_thread_pool_destroy(pool);
}

static void count_one(void *ctx)
{
    ++*(int *)ctx;
}

/* Whether a helper takes the task or the caller that waits, and where there is no helper. */
static void a_task_is_done_once_before_the_wait_ends(void **state)
{
    for (size_t n_thread = 1; n_thread <= 3; n_thread++) {
        struct tmx_thread_pool *pool;
        int n = 0;
        assert_int_equal(tmx_thread_pool_create(&pool, n_thread, NULL), TMX_OK);
        for (int i = 1; i <= 2000; i++) {
            tmx_thread_pool_start(pool, count_one, &n);
            tmx_thread_pool_wait(pool);
            assert_int_equal(n, i);
        }
        tmx_thread_pool_destroy(pool);
    }
}

TMX_TESTS(test_thread_pool)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_done_once_each_with_a_task_beside_them_or_none),
        cmocka_unit_test(a_task_is_done_once_before_the_wait_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
