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

static void image(void *object, struct tmx_image *i)
{
    tmx_arena_image(&((struct object *)object)->state, i);
}

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

static void an_image_brings_all_arrays_back(void **state)
{
    struct object a, b;
    make(&a);
    make(&b);
    const size_t size = tmx_image_size(image, &a);
    void *saved = malloc(size);
    assert_int_equal(size, 100003 * sizeof(double));
    a.few[2] = 5;
    a.many[99999] = 7;
    tmx_image_save(image, &a, saved);
    tmx_image_restore(image, &b, saved);
    check_close(b.few[2], 5, 0, 0);
    check_close(b.many[99999], 7, 0, 0);
    tmx_arena_clear(&b.state);
    check_close(b.few[2], 0, 0, 0);
    check_close(b.many[99999], 0, 0, 0);
    free(saved);
    tmx_arena_finish(&a.state);
    tmx_arena_finish(&b.state);
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
        cmocka_unit_test(an_image_brings_all_arrays_back),
        cmocka_unit_test(a_request_that_fails_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
