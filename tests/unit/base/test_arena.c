/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "tests/support/check.h"

struct object {
    struct tmx_arena state;
    double *few;
    double *many;
    bool *none;
};

static void make(struct object *o)
{
    *o = (struct object){0};
    TMX_TAKE(&o->state, o->few, 3);
    TMX_TAKE(&o->state, o->many, 100000);
    TMX_TAKE(&o->state, o->none, 0);
    assert_false(o->state.failed);
    assert_non_null(o->none);
    for (size_t i = 0; i < 100000; i++) {
        check_close(o->many[i], 0, 0, 0);
    }
}

static void a_cleared_arena_is_zero_again(void **state)
{
    struct object o;
    make(&o);
    o.few[2] = 5;
    o.many[99999] = 7;
    tmx_arena_clear(&o.state);
    check_close(o.few[2], 0, 0, 0);
    check_close(o.many[99999], 0, 0, 0);
    tmx_arena_finish(&o.state);
}

static void a_request_that_fails_is_remembered(void **state)
{
    struct tmx_arena a = {0};
    assert_null(tmx_arena_take(&a, SIZE_MAX / 4, 8)); /* the product has no size_t */
    assert_true(a.failed);
    assert_null(tmx_arena_take(&a, 1, 1));
    tmx_arena_finish(&a);
    assert_false(a.failed);
}

TMX_TESTS(test_arena)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cleared_arena_is_zero_again),
        cmocka_unit_test(a_request_that_fails_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
