#include "tests/support/check.h"

#include <string.h>

#include "core/base/config.h"

static void set_replaces_adds_and_types_values(void **state)
{
    (void)state;
    config_t cfg;
    struct tmx_err err = {0};
    const char *text = NULL;
    int i = 0;
    double v = 0;
    assert_int_equal(tmx_config_parse(&cfg, "a = 1; g = { b = 2.0; };", "t.cfg", &err), TMX_OK);
    assert_int_equal(tmx_config_set(&cfg, "a=7", &err), TMX_OK);
    assert_int_equal(tmx_config_set(&cfg, "g.b=3.5", &err), TMX_OK);
    assert_int_equal(tmx_config_set(&cfg, "h.name=gtx280", &err), TMX_OK);
    assert_int_equal(tmx_config_set(&cfg, "l=[1, 2, 3]", &err), TMX_OK);
    assert_true(config_lookup_int(&cfg, "a", &i) && i == 7);
    assert_true(config_lookup_float(&cfg, "g.b", &v) && v == 3.5);
    assert_true(config_lookup_string(&cfg, "h.name", &text) && strcmp(text, "gtx280") == 0);
    assert_int_equal(config_setting_length(config_lookup(&cfg, "l")), 3);
    assert_int_equal(tmx_config_set(&cfg, "a.b=1", &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "not a group"));
    assert_int_equal(tmx_config_set(&cfg, "novalue", &err), TMX_ECONFIG);
    assert_int_equal(tmx_config_set(&cfg, "k=\"open", &err), TMX_ECONFIG);
    config_destroy(&cfg);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    config_t cfg;
    struct tmx_err err = {0};
    assert_int_equal(tmx_config_load(&cfg, "/no/such.cfg", NULL, 0, &err), TMX_EIO);
    assert_string_equal(err.file, "/no/such.cfg");
    config_destroy(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_replaces_adds_and_types_values),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
