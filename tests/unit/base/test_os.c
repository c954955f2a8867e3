/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/output.h"
#include "base/provenance.h"
#include "base/rng.h"

static void an_output_appears_only_when_committed(void **state)
{
    char dir[] = "/tmp/tmx-os-XXXXXX", path[64];
    struct tmx_output o;
    struct tmx_err err = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/out.txt", dir);
    assert_int_equal(tmx_output_open(&o, path, &err), TMX_OK);
    fputs("half", o.file);
    assert_false(tmx_os_exists(path));
    assert_true(!o.unnamed || !tmx_os_exists(o.temp)); /* what is killed here leaves nothing */
    tmx_output_discard(&o);
    assert_false(tmx_os_exists(path));
    assert_int_equal(tmx_output_open(&o, path, &err), TMX_OK);
    fputs("whole", o.file);
    assert_int_equal(tmx_output_commit(&o, &err), TMX_OK);
    assert_true(tmx_os_exists(path));
    remove(path);
    remove(dir);
}

static void a_link_stays_a_link_and_permissions_stay(void **state)
{
    char dir[] = "/tmp/tmx-os-XXXXXX", real[64], link[64], other[96], text[16] = "";
    struct tmx_output o;
    struct stat info;
    assert_non_null(mkdtemp(dir));
    snprintf(real, sizeof real, "%s/real", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    snprintf(other, sizeof other, "%s/./link", dir);
    assert_false(tmx_os_same_file(real, link)); /* neither is there: other names */
    assert_true(tmx_os_same_file(link, other));
    FILE *f = fopen(real, "w");
    assert_non_null(f);
    fclose(f);
    assert_false(tmx_os_same_file(real, link)); /* one is there */
    assert_int_equal(chmod(real, 0640), 0);
    assert_int_equal(symlink("real", link), 0);
    assert_true(tmx_os_same_file(real, link));
    assert_int_equal(tmx_output_open(&o, link, NULL), TMX_OK);
    fputs("new", o.file);
    assert_int_equal(tmx_output_commit(&o, NULL), TMX_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(real, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    f = fopen(real, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "new");
    remove(link);
    remove(real);
    remove(dir);
}

static void an_output_follows_the_umask(void **state)
{
    char dir[] = "/tmp/tmx-os-XXXXXX", path[64];
    struct tmx_output o;
    struct stat info;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/out", dir);
    const mode_t before = umask(0027);
    assert_int_equal(tmx_output_open(&o, path, NULL), TMX_OK);
    assert_int_equal(tmx_output_commit(&o, NULL), TMX_OK);
    assert_int_equal(umask(before), 0027); /* nobody asks for it: tests/symbols.cmake */
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    remove(path);
    remove(dir);
}

static void lines_are_added_to_regular_files_only(void **state)
{
    char dir[] = "/tmp/tmx-os-XXXXXX", path[64];
    FILE *f = NULL;
    struct tmx_err err = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/log", dir);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tmx_os_append(&f, path, &err), TMX_OK);
        fputs("line\n", f);
        fclose(f);
    }
    assert_int_equal(tmx_os_file_size(path), 10);
    remove(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* does not wait for a reader */
    assert_int_equal(tmx_os_append(&f, path, &err), TMX_EIO);
    assert_null(f);
    remove(path);
    assert_int_equal(tmx_os_append(&f, "/no/such/folder/log", &err), TMX_EIO);
    remove(dir);
}

static void a_full_disk_is_an_error(void **state)
{
    struct tmx_output o;
    struct tmx_err err = {0};
    assert_int_equal(tmx_output_open(&o, "/dev/full", &err), TMX_OK);
    fputs("x", o.file);
    assert_int_equal(tmx_output_commit(&o, &err), TMX_EFULL);
    assert_int_equal(tmx_status_exit_code(TMX_EFULL), 1);
    assert_int_equal(tmx_output_open(&o, "/dev/full", NULL), TMX_OK);
    setvbuf(o.file, NULL, _IONBF, 0);
    fputs("x", o.file); /* lost before the commit */
    assert_int_equal(tmx_output_commit(&o, NULL), TMX_EFULL);
    assert_int_equal(tmx_output_open(&o, "/no/such/folder/x", &err), TMX_EFULL); /* the first one stays */
    assert_int_equal(tmx_output_open(&o, "/no/such/folder/x", NULL), TMX_EIO);
    assert_null(o.file);
}

static void streams_depend_on_seed_and_name_only(void **state)
{
    struct tmx_rng *a = NULL, *b = NULL, *c = NULL;
    assert_int_equal(tmx_rng_create(&a, 1, "sensor", NULL), TMX_OK);
    assert_int_equal(tmx_rng_create(&b, 1, "sensor", NULL), TMX_OK);
    assert_int_equal(tmx_rng_create(&c, 1, "arrivals", NULL), TMX_OK);
    const double x = tmx_rng_uniform(a);
    assert_true(x == tmx_rng_uniform(b));
    assert_true(x != tmx_rng_uniform(c));
    tmx_rng_destroy(a);
    tmx_rng_destroy(b);
    tmx_rng_destroy(c);
}

static void hashes_tell_boundaries_apart(void **state)
{
    char x[TMX_HASH_HEX], y[TMX_HASH_HEX];
    struct tmx_hash *h = NULL;
    assert_int_equal(tmx_hash_create(&h, NULL), TMX_OK);
    tmx_hash_add_text(h, "ab");
    tmx_hash_add_text(h, "c");
    tmx_hash_hex(h, x);
    tmx_hash_destroy(h);
    assert_int_equal(tmx_hash_create(&h, NULL), TMX_OK);
    tmx_hash_add_text(h, "a");
    tmx_hash_add_text(h, "bc");
    tmx_hash_hex(h, y);
    tmx_hash_destroy(h);
    assert_string_not_equal(x, y);
    assert_int_equal(strlen(x), 32);
}

static void a_child_returns_its_exit_code(void **state)
{
    int code = -1;
    assert_int_equal(tmx_os_run((const char *const[]){"sh", "-c", "exit 3", NULL}, NULL, &code, NULL),
                     TMX_OK);
    assert_int_equal(code, 3);
    assert_int_equal(tmx_os_run((const char *const[]){"no-such-program", NULL}, NULL, &code, NULL), TMX_OK);
    assert_int_equal(code, 127);
}

TMX_TESTS(test_os)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_appears_only_when_committed),
        cmocka_unit_test(a_link_stays_a_link_and_permissions_stay),
        cmocka_unit_test(an_output_follows_the_umask),
        cmocka_unit_test(lines_are_added_to_regular_files_only),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(streams_depend_on_seed_and_name_only),
        cmocka_unit_test(hashes_tell_boundaries_apart),
        cmocka_unit_test(a_child_returns_its_exit_code),
    };
    return cmocka_run_group_tests_name("os", tests, NULL, NULL);
}
