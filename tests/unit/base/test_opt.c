/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

#include "base/config.h"
#include "base/opt.h"

enum mode { COLD, HOT };
static const char *const modes[] = {"cold", "hot", NULL};

struct box {
    double t;
    int n;
    bool on;
    int mode;
    char name[8];
};
static const struct tmx_opt opts[] = {
    TMX_ROW_REAL(box, t, "K", 0, 1000, NAN, "a temperature"),
    TMX_ROW_INT(box, n, "1", 1, 64, 4, "a count"),
    TMX_ROW_BOOL(box, on, 1, "a switch"),
    TMX_ROW_CHOICE(box, mode, modes, "hot", "a mode"),
    TMX_ROW_TEXT(box, name, "x", "a name"),
    {0},
};

/* text, then the expected error line and message ("" when it must parse) */
static const struct {
    const char *text;
    unsigned line;
    const char *msg;
} rows[] = {
    {"t = 300;", 0, ""},
    {"t = 300.5; n = 64; on = false; mode = \"cold\"; name = \"seven77\";", 0, ""},
    {"n = 2;", 1, "missing key \"t\""},
    {"t = 300;\nmm = 1;", 2, "unknown key \"mm\""},
    {"t = 300;\nmoode = 1;", 2, "did you mean \"mode\"?"},
    {"t = 300;\nn = 1e-6;", 2, "n: expected an integer"},
    {"t = \"hot\";", 1, "t: expected a number [K]"},
    {"\n\nt = -1.0;", 3, "t = -1 K is outside [0, 1000]"},
    {"t = 1000;", 0, ""},
    {"t = 1000.5;", 1, "is outside"},
    {"t = 300; n = 65;", 1, "is outside"},
    {"t = 300; n = 5000000000L;", 1, "is outside"},
    {"t = 300; on = 1;", 1, "on: expected true or false"},
    {"t = 300; mode = \"warm\";", 1, "expected one of cold, hot"},
    {"t = 300; name = \"eight888\";", 1, "longer than 7"},
};

static void rows_read_or_name_the_line(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_config *cfg = NULL;
        struct box b = {0};
        struct tmx_err err = {0};
        assert_int_equal(tmx_config_parse(&cfg, rows[i].text, "t.cfg", &err), TMX_OK);
        const enum tmx_status st = tmx_opt_read(opts, &b, tmx_config_root(cfg), NULL, &err);
        assert_int_equal(st, rows[i].msg[0] ? TMX_ECONFIG : TMX_OK);
        assert_int_equal(err.line, rows[i].line);
        assert_non_null(strstr(err.msg, rows[i].msg));
        tmx_config_close(cfg);
    }
}

static void written_options_read_back_equal(void **state)
{
    struct box a = {.t = 0.1 + 0.2, .n = 7, .on = false, .mode = COLD, .name = "abc"}, b = {0};
    char text[512] = "";
    FILE *f = fmemopen(text, sizeof text, "w");
    struct tmx_err err = {0};
    struct tmx_config *cfg = NULL;
    struct tmx_writer w = {.full = f};
    struct tmx_setting *tree = NULL;
    tmx_opt_write(opts, &a, &w);
    assert_int_equal(tmx_writer_finish(&w, &tree, &err), TMX_OK);
    fclose(f);
    assert_int_equal(tmx_opt_read(opts, &b, tree, NULL, &err), TMX_OK); /* the tree, and the text */
    assert_true(a.t == b.t && a.n == b.n && a.on == b.on && a.mode == b.mode);
    tmx_setting_destroy(tree);
    b = (struct box){0};
    assert_int_equal(tmx_config_parse(&cfg, text, "t.cfg", &err), TMX_OK);
    assert_int_equal(tmx_opt_read(opts, &b, tmx_config_root(cfg), NULL, &err), TMX_OK);
    assert_true(a.t == b.t && a.n == b.n && a.on == b.on && a.mode == b.mode);
    assert_string_equal(a.name, b.name);
    tmx_config_close(cfg);
}

static void any_value_beside_its_default_is_seen(void **state)
{
    static const char *const words[] = {"on = false;", "n = 2;", "mode = \"cold\";", "name = \"abc\";",
                                        "t = 2;"};
    static const char *const fields[] = {"on", "n", "mode", "name", "t"};
    struct tmx_err err = {0};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct box b = {0};
        struct tmx_config *cfg = NULL;
        struct tmx_opt one[2] = {{0}};
        for (const struct tmx_opt *o = opts; o->key; o++) {
            one[0] = strcmp(o->key, fields[i]) == 0 ? *o : one[0];
        }
        assert_non_null(one[0].key);
        assert_int_equal(tmx_config_parse(&cfg, words[i], "t.cfg", &err), TMX_OK);
        assert_int_equal(tmx_opt_read(one, &b, tmx_config_root(cfg), NULL, &err), TMX_OK);
        assert_false(tmx_opt_is_default(one, &b));
        tmx_config_close(cfg);
        if (tmx_opt_read(one, &b, NULL, NULL, &err) == TMX_OK) {
            assert_true(tmx_opt_is_default(one, &b));
        }
    }
}

static void keys_left_to_the_caller_are_not_unknown(void **state)
{
    const char *const also[] = {"kernels", NULL};
    struct box b = {0};
    struct tmx_err err = {0};
    struct tmx_config *cfg = NULL;
    assert_int_equal(tmx_config_parse(&cfg, "t = 1; kernels = (1, 2);", "t.cfg", &err), TMX_OK);
    assert_int_equal(tmx_opt_read(opts, &b, tmx_config_root(cfg), also, &err), TMX_OK);
    tmx_config_close(cfg);
}

TMX_TESTS(test_opt)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_read_or_name_the_line),
        cmocka_unit_test(written_options_read_back_equal),
        cmocka_unit_test(any_value_beside_its_default_is_seen),
        cmocka_unit_test(keys_left_to_the_caller_are_not_unknown),
    };
    return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
