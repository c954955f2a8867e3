/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of a thread pool. */
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "tests/support/check.h"

enum { PIECES = 1000 };

struct work {
    atomic_size_t n_done[PIECES];
};

static void count_piece(void *ctx, size_t i)
{
    atomic_fetch_add(&((struct work *)ctx)->n_done[i], 1);
}

static void pieces_are_done_once_each(void **state)
{
    for (size_t n_thread = 1; n_thread <= 3; n_thread++) {
        struct work w = {0};
        struct tmx_thread_pool *pool;
        assert_int_equal(tmx_thread_pool_create(&pool, n_thread, NULL), TMX_OK);
        for (size_t round = 0; round < 200; round++) {
            tmx_thread_pool_run(pool, round == 1 ? 0 : round == 2 ? 1 : PIECES, count_piece, &w);
        }
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(atomic_load(&w.n_done[i]), i == 0 ? 199 : 198);
        }
        tmx_thread_pool_destroy(pool);
    }
}

TMX_TESTS(test_thread_pool)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_done_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
