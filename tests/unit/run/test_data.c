/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strverscmp */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/load/data.h"

static void touch(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

/* A data root with two mixes and a chip, named by THERMIX_DATA. */
static int make_root(void **state)
{
    static const char *const folders[] = {"floorplans", "floorplans/tesla_c9", "workloads",
                                          "workloads/mixes"};
    char *root = strdup("/tmp/tmx-data-XXXXXX"), path[128];
    if (!root || !mkdtemp(root)) {
        free(root);
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        mkdir(path, 0777);
    }
    snprintf(path, sizeof path, "%s/workloads/mixes/zz_hot.cfg", root);
    touch(path);
    snprintf(path, sizeof path, "%s/workloads/mixes/zz_cold.cfg", root);
    touch(path);
    setenv("THERMIX_DATA", root, 1);
    *state = root;
    return 0;
}

static int drop_root(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", (char *)*state);
    free(*state);
    return system(command);
}

static void names_are_found_below_the_root(void **state)
{
    char path[TMX_PATH_SIZE], expected[128];
    assert_int_equal(tmx_data_find(TMX_DATA_MIX, "zz_hot", path, NULL), TMX_OK);
    snprintf(expected, sizeof expected, "%s/workloads/mixes/zz_hot.cfg", (char *)*state);
    assert_string_equal(path, expected);
    assert_int_equal(tmx_data_find(TMX_DATA_CHIP, "tesla_c9", path, NULL), TMX_OK);
    assert_int_equal(tmx_data_find(TMX_DATA_MIX, expected, path, NULL), TMX_OK);
    assert_string_equal(path, expected);
}

static void a_wrong_name_gets_the_nearest_one(void **state)
{
    char path[TMX_PATH_SIZE];
    struct tmx_err err = {0};
    assert_int_equal(tmx_data_find(TMX_DATA_MIX, "zz_colt", path, &err), TMX_EIO);
    assert_string_equal(err.msg, "no mix \"zz_colt\" in workloads/mixes/, did you mean \"zz_cold\"?");
    err = (struct tmx_err){0};
    assert_int_equal(tmx_data_find(TMX_DATA_MIX, "nothing_like_it_at_all", path, &err), TMX_EIO);
    assert_non_null(strstr(err.msg, "; there is "));
    assert_int_equal(tmx_data_find(TMX_DATA_MIX, "no/such.cfg", path, NULL), TMX_EIO);
}

static void names_are_sorted(void **state)
{
    struct tmx_arena arena = {0};
    const char *const *names;
    const size_t n = tmx_data_names(TMX_DATA_MIX, &names, &arena);
    assert_true(n >= 2);
    for (size_t i = 1; i < n; i++) {
        assert_true(strverscmp(names[i - 1], names[i]) < 0);
    }
    tmx_arena_finish(&arena);
}

TMX_TESTS(test_data)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_below_the_root),
        cmocka_unit_test(a_wrong_name_gets_the_nearest_one),
        cmocka_unit_test(names_are_sorted),
    };
    return cmocka_run_group_tests(tests, make_root, drop_root);
}
