/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's id: each key and each file in turn is another run, and the resolved configuration is the same one.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/scratch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/provenance.h"
#include "base/text.h"
#include "run/run.h"

static const char common[] = "seed = 1; tick_s = 0.005; rows = 8; cols = 8;";

static const struct {
    const char *name, *text;
    size_t n_file; /* read at least */
} scenes[] = {
    {"one GPU",
     "chip = \"gtx280\"; mix = \"identity\"; dtm = { policy = \"dvfs\"; }; mix_policy = { policy = "
     "\"alternate\"; };"
     "package = { grid_layer_file = \"identity.lcf\"; materials_file = \"identity.materials\";"
     " material_sink = \"copper\"; grid_map_mode = \"min\"; };",
     8},
    {"unit gating", "chip = \"gtx280\"; mix = \"WL5\"; gate = { policy = \"convpg\"; instructions = 1000; };",
     6},
    {"CTA policy", "chip = \"gtx280\"; mix = \"WL5\"; cta = { policy = \"tcs\"; };", 4},
    {"topology",
     "topology = \"gtx280x2\"; mix = \"WL1\"; policy = \"MG-MU\"; fan = { policy = \"curve\"; };"
     "fan_failures = ( { fan = \"fan0\"; at_s = 3.0; } );",
     6},
    {"consolidation",
     "chip = \"c1060\"; mix = \"day_users\"; gpus = 2; quantum_s = 0.05; sensor = { period_s = 0.05; };"
     "job = { policy = \"consolidate\"; node = \"c1060\"; };",
     5},
};
enum { N_SCENE = sizeof scenes / sizeof scenes[0] };

/* Files that the scenes name, beside a copy of the shipped data. */
static void write_data(void)
{
    int code = 1;
    const char *const argv[] = {"sh", "-c",
                                "rm -rf identity_data && mkdir identity_data && cd " TMX_SOURCE_DIR
                                " && cp -r floorplans systems workloads \"$OLDPWD/identity_data\"",
                                NULL};
    assert_int_equal(tmx_os_run(argv, NULL, &code, NULL), TMX_OK);
    assert_int_equal(code, 0);
    assert_int_equal(setenv("THERMIX_DATA", "identity_data", 1), 0);
    scratch_write("identity_data/workloads/mixes/identity.cfg",
                  "name = \"identity\"; arrivals = { process = \"trace\"; file = \"identity.csv\"; };\n");
    scratch_write("identity_data/workloads/mixes/identity.csv",
                  "arrival_s,kernel,work_s\n0,Cmem,1\n1,SVM,1\n");
    scratch_write("identity.lcf",
                  "0\nY\nY\n1.75e6\n0.01\n0.00078\nidentity_data/floorplans/gtx280/gtx280.flp\n\n"
                  "1\nY\nN\n4e6\n0.4545\n0.0001\nidentity_data/floorplans/gtx280/gtx280.flp\n");
    scratch_write("identity.materials", "copper\nsolid\n400\n3.55e6\nalu\nsolid\n237\n2.4e6\n");
}

static enum tmx_status id_of(const struct tmx_config *c, char id[TMX_HASH_HEX], char **resolved,
                             struct tmx_err *err)
{
    struct tmx_run *r = NULL;
    const enum tmx_status st =
        tmx_run_create(&r, tmx_config_root(c), &(struct tmx_run_how){.described = true}, err);
    if (!st) {
        snprintf(id, TMX_HASH_HEX, "%s", tmx_run_id(r));
        if (resolved) {
            *resolved = strdup(tmx_run_resolved(r));
        }
    }
    tmx_run_destroy(r);
    return st;
}

static void describe(const char *text, char id[TMX_HASH_HEX], char **resolved, struct tmx_provenance *seen)
{
    struct tmx_config *c = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_config_parse(&c, text, "scene", &err), TMX_OK);
    if (seen) {
        tmx_provenance_begin(seen);
    }
    const enum tmx_status st = id_of(c, id, resolved, &err);
    if (seen) {
        tmx_provenance_end(seen);
    }
    if (st) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    tmx_config_close(c);
}

static void scene_text(size_t scene, char text[2048])
{
    snprintf(text, 2048, "%s %s", common, scenes[scene].text);
}

static void each_file_is_part_of_the_id(void **state)
{
    for (size_t s = 0; s < N_SCENE; s++) {
        char text[2048], id[TMX_HASH_HEX], changed[TMX_HASH_HEX];
        struct tmx_provenance seen = {0};
        scene_text(s, text);
        describe(text, id, NULL, &seen);
        if (seen.n_file < scenes[s].n_file) {
            fail_msg("%s: %zu files read", scenes[s].name, seen.n_file);
        }
        for (size_t i = 0; i < seen.n_file; i++) {
            const char *path = seen.file[i].path;
            struct tmx_text_file before;
            struct tmx_err err = {0};
            assert_null(strstr(path, ".thermal")); /* caches are no inputs */
            assert_int_equal(tmx_text_load(&before, path, &err), TMX_OK);
            FILE *f = fopen(path, "ab");
            assert_non_null(f);
            fputs(strstr(path, ".csv") ? "2,Cmem,1\n" : "\n# another\n", f);
            assert_int_equal(fclose(f), 0);
            describe(text, changed, NULL, NULL);
            if (strcmp(id, changed) == 0) {
                fail_msg("%s: %s is not part of the id", scenes[s].name, path);
            }
            f = fopen(path, "wb");
            assert_non_null(f);
            assert_int_equal(fwrite(before.data, 1, before.size, f), before.size);
            assert_int_equal(fclose(f), 0);
            tmx_text_finish(&before);
        }
        describe(text, changed, NULL, NULL);
        assert_string_equal(id, changed);
        tmx_provenance_finish(&seen);
    }
}

static void the_resolved_configuration_is_the_same_run(void **state)
{
    for (size_t s = 0; s < N_SCENE; s++) {
        char text[2048], id[TMX_HASH_HEX], again[TMX_HASH_HEX];
        char *resolved = NULL, *second = NULL;
        scene_text(s, text);
        describe(text, id, &resolved, NULL);
        describe(resolved, again, &second, NULL);
        assert_string_equal(resolved, second);
        assert_string_equal(id, again);
        free(resolved);
        free(second);
    }
}

/* Other values of a key: the first that is accepted must give another id. */
static bool another_value(const char *resolved, const char *key, const struct tmx_setting *s, const char *id)
{
    static const char *const words[] = {"gtx280-columns",
                                        "WL2",
                                        "MU",
                                        "A",
                                        "coldest_first",
                                        "spread",
                                        "round_robin",
                                        "best",
                                        "throttle",
                                        "none",
                                        "shared",
                                        "alu",
                                        "avg",
                                        "max",
                                        "on",
                                        "quadratic",
                                        "grid",
                                        "lumped",
                                        "gtx280",
                                        "columns.flp",
                                        "identity_other.lcf",
                                        "identity_other.materials",
                                        "wait",
                                        "chip",
                                        "f",
                                        "mixed_uniform",
                                        "rotate",
                                        "fixed",
                                        "dvfs",
                                        "order",
                                        "rand",
                                        "target",
                                        "merge",
                                        "sm",
                                        "reactive",
                                        "thermal",
                                        "v2f",
                                        "reversed",
                                        "counters"};
    const size_t n_words = sizeof words / sizeof words[0];
    for (size_t k = 0; k < n_words; k++) {
        char set[256], value[64], changed[TMX_HASH_HEX];
        double v;
        if (tmx_setting_is(s, TMX_SETTING_TEXT)) {
            snprintf(value, sizeof value, "\"%s\"", words[k]);
            if (strcmp(words[k], tmx_setting_text(s)) == 0) {
                continue;
            }
        } else if (tmx_setting_is(s, TMX_SETTING_BOOL)) {
            snprintf(value, sizeof value, "%s", tmx_setting_bool(s) ? "false" : "true");
        } else if (tmx_setting_is(s, TMX_SETTING_INTEGER)) {
            static const int other[] = {1, -1, 2, -2, 4, 8, 16, 100};
            if (k >= sizeof other / sizeof other[0]) {
                break;
            }
            snprintf(value, sizeof value, "%d", (int)tmx_setting_integer(s) + other[k]);
        } else if (tmx_setting_real(s, &v)) {
            static const double factor[] = {1.001, 2, 0.5, 3, 10, 0.1}, more[] = {0.01, 0.1, 1, 5, -0.01, -1};
            if (k >= 12) {
                break;
            }
            snprintf(value, sizeof value, "%.9e", k < 6 ? v * factor[k] : v + more[k - 6]);
            if (strtod(value, NULL) == v) {
                continue;
            }
        } else {
            return false;
        }
        struct tmx_config *c = NULL;
        struct tmx_err err = {0};
        const char *dot = strstr(key, ".policy");
        snprintf(set, sizeof set, dot ? "%.*s={ policy = %s; }" : "%.*s=%s",
                 dot ? (int)(dot - key) : (int)strlen(key), key, value);
        assert_int_equal(tmx_config_parse(&c, resolved, "resolved", &err), TMX_OK);
        assert_int_equal(tmx_config_set(c, set, &err), TMX_OK);
        const bool accepted = id_of(c, changed, NULL, &err) == TMX_OK;
        tmx_config_close(c);
        if (accepted && strcmp(changed, id) == 0) {
            fail_msg("%s is accepted and is not part of the id", set);
        }
        if (accepted) {
            return true;
        }
    }
    return false;
}

static size_t change_members(const char *resolved, const char *prefix, const struct tmx_setting *group,
                             const char *id, size_t *fixed)
{
    size_t n = 0;
    for (size_t i = 0; i < tmx_setting_length(group); i++) {
        const struct tmx_setting *s = tmx_setting_at(group, i);
        char key[256];
        snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? "." : "", tmx_setting_name(s));
        if (tmx_setting_is(s, TMX_SETTING_GROUP)) {
            n += change_members(resolved, key, s, id, fixed); /* NOLINT(misc-no-recursion): two deep */
        } else if (another_value(resolved, key, s, id)) {
            n++;
        } else {
            print_message("no other value of %s\n", key);
            ++*fixed;
        }
    }
    return n;
}

static void each_key_is_part_of_the_id(void **state)
{
    static const size_t scene[] = {0, 4};
    scratch_write("identity_other.materials", "copper\nsolid\n401\n3.55e6\nalu\nsolid\n237\n2.4e6\n");
    const char *const argv[] = {"sh", "-c", "sed s/0.00078/0.00079/ identity.lcf > identity_other.lcf", NULL};
    int code = 1;
    assert_int_equal(tmx_os_run(argv, NULL, &code, NULL), TMX_OK);
    for (size_t k = 0; k < sizeof scene / sizeof scene[0]; k++) {
        char text[2048], id[TMX_HASH_HEX];
        char *resolved = NULL;
        struct tmx_config *c = NULL;
        size_t fixed = 0;
        scene_text(scene[k], text);
        describe(text, id, &resolved, NULL);
        assert_int_equal(tmx_config_parse(&c, resolved, "resolved", NULL), TMX_OK);
        const size_t n = change_members(resolved, "", tmx_config_root(c), id, &fixed);
        print_message("%s: %zu keys changed, %zu have no other value\n", scenes[scene[k]].name, n, fixed);
        assert_true(n >= 60);
        assert_true(fixed <= 9);
        tmx_config_close(c);
        free(resolved);
    }
}

TMX_TESTS(test_identity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_is_part_of_the_id),
        cmocka_unit_test(the_resolved_configuration_is_the_same_run),
        cmocka_unit_test(each_key_is_part_of_the_id),
    };
    write_data();
    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
