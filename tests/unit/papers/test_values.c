/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one rule that sets ours beside a printed value. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "papers/values.h"

/* A suite of one number a policy and seed: "sure" always 5, "spread" 4, 5, 6, "failed" none at seed 1. */
static double number(void *ctx, const struct tmx_pick *p, size_t seed, char *why)
{
    (void)ctx;
    if (strcmp(p->column, "x") != 0) {
        snprintf(why, TMX_WHY, "no column \"%s\"", p->column);
    }
    if (strcmp(p->policy, "failed") == 0) {
        return seed == 1 ? NAN : 0;
    }
    return strcmp(p->policy, "spread") == 0 ? 4 + (double)seed : 5;
}

/* What a posterior and the first screen make of an entry that says nothing of them. */
#define PLAIN ",0,,yes,,,,\n"

/* paper.csv of one entry, without its first line; or the error's text. */
static enum tmx_status judge(const char *entry, char *text, size_t size)
{
    char path[] = "/tmp/values-XXXXXX";
    const int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    struct tmx_config *cfg = NULL;
    struct tmx_table *t = NULL, *seeds = NULL;
    struct tmx_value_source source = {
        .paper = "999", .policy = "sure", .n_seed = 3, .first_seed = 1, .number = number};
    struct tmx_err err = {0};
    fprintf(f, "values = ( { figure = \"1\"; quantity = \"q\"; %s } );\n", entry);
    fclose(f);
    tmx_config_load(&cfg, path, NULL, &err);
    tmx_values_read(&source, tmx_config_root(cfg), &err);
    const enum tmx_status st = err.code;
    t = st ? NULL : tmx_values_table(&source, &seeds);
    snprintf(text, size, "%s", err.msg);
    if (!st) {
        char *all = NULL;
        size_t n;
        FILE *out = open_memstream(&all, &n);
        assert_int_equal(tmx_table_write_csv(t, out, NULL), TMX_OK);
        fclose(out);
        snprintf(text, size, "%s", strchr(all, '\n') + 1);
        free(all);
        assert_int_equal(tmx_table_rows(seeds), 3);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(seeds);
    tmx_values_finish(&source);
    tmx_config_close(cfg);
    unlink(path);
    return st;
}

static void error_and_band_decide(void **state)
{
    char text[512];
    assert_int_equal(
        judge("column = \"x\"; value = 6.0; band = 1.0; origin = \"unseen\";", text, sizeof text), 0);
    assert_string_equal(text, "999,1,q,sure,percent,6,5,0,0,3,unseen,equal,-1,1,in band,no" PLAIN);
    /* the same number beside a band that is too narrow: no word of the file makes it a hit */
    assert_int_equal(
        judge("column = \"x\"; value = 6.0; band = 0.9; origin = \"fitted\";", text, sizeof text), 0);
    assert_string_equal(text, "999,1,q,sure,percent,6,5,0,0,3,fitted,equal,-1,0.9,not in band,no" PLAIN);
    assert_int_equal(
        judge("column = \"x\"; value = 6.0; band_pct = 20.0; origin = \"input\";", text, sizeof text), 0);
    assert_non_null(strstr(text, ",-1,1.2,in band"));
}

/* An order within twice its spread is undecided, on either side; what follows from other rows says so. */
static void an_order_that_the_tick_could_turn_is_undecided(void **state)
{
    char text[512];
    static const char *const rows[][2] = {
        {"4.7", "in band"}, {"4.9", "undecided"}, {"5.1", "undecided"}, {"5.3", "not in band"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char entry[160], want[64];
        snprintf(
            entry, sizeof entry,
            "column = \"x\"; relation = \"at_least\"; value = %s; band = 0.0; spread = 0.1; follows = true; "
            "origin = \"derived\";",
            rows[i][0]);
        snprintf(want, sizeof want, ",%s,yes,0.1,,yes,,,,\n", rows[i][1]);
        assert_int_equal(judge(entry, text, sizeof text), 0);
        assert_non_null(strstr(text, want));
    }
    assert_int_equal(judge("column = \"x\"; value = 5.0; band = 0.1; spread = 0.2; as_one = \"both\"; weighs "
                           "= false; headline = \"h\"; "
                           "under = \"u\"; low = 4.5; high = 6.0; origin = \"fitted\";",
                           text, sizeof text),
                     0);
    assert_non_null(strstr(text, ",in band,no,0.2,both,no,h,u,4.5,6\n"));
}

static void a_bound_is_met_from_one_side(void **state)
{
    assert_int_equal(tmx_value_outcome(TMX_PAPER_AT_MOST, 2, -50, 0), TMX_IN_BAND);
    assert_int_equal(tmx_value_outcome(TMX_PAPER_AT_MOST, 2, 2.5, 0), TMX_OUT_OF_BAND);
    assert_int_equal(tmx_value_outcome(TMX_PAPER_AT_LEAST, -2, -0.004, 0), TMX_IN_BAND); /* "less than 2 %" */
    assert_int_equal(tmx_value_outcome(TMX_PAPER_AT_LEAST, -2, -2.1, 0), TMX_OUT_OF_BAND);
    assert_int_equal(tmx_value_outcome(TMX_PAPER_EQUAL, 0, NAN, 1e9), TMX_NO_VALUE);
    assert_int_equal(tmx_value_outcome(TMX_PAPER_AT_MOST, 0, -INFINITY, 0), TMX_NO_VALUE);
}

static void what_failed_is_no_zero(void **state)
{
    char text[512];
    /* the printed 0 would be hit by a 0 in place of NAN, and by a mean over the seeds that did not fail */
    assert_int_equal(
        judge("policy = \"failed\"; column = \"x\"; value = 0.0; band = 1.0; origin = \"unseen\";", text,
              sizeof text),
        0);
    assert_string_equal(text, "999,1,q,failed,percent,0,,,,3,unseen,equal,,1,no value,no" PLAIN);
    assert_int_equal(
        judge("name = \"not modelled\"; value = 0.0; band = 1.0; origin = \"unseen\";", text, sizeof text),
        0);
    assert_string_equal(text, "999,1,q,not modelled,percent,0,,,,3,unseen,equal,,1,no value,no" PLAIN);
}

/* The interval of 4, 5, 6: Student's t of two degrees of freedom, 4.30265, over the root of three. */
static void seeds_give_mean_and_spread(void **state)
{
    char text[512];
    assert_int_equal(
        judge("policy = \"spread\"; column = \"x\"; value = 5.0; band = 0.0; origin = \"fitted\";", text,
              sizeof text),
        0);
    assert_string_equal(
        text, "999,1,q,spread,percent,5,5,1,2.4841377117503303,3,fitted,equal,0,0,in band,no" PLAIN);
    assert_int_equal(
        judge("policy = \"spread\"; column = \"x\"; minus = { policy = \"sure\"; }; value = 1.0; band = 0.5; "
              "origin = \"derived\";",
              text, sizeof text),
        0);
    assert_string_equal(text,
                        "999,1,q,spread less "
                        "sure,percent,1,0,1,2.4841377117503303,3,derived,equal,-1,0.5,not in band,no" PLAIN);
}

static void what_is_not_stated_is_refused(void **state)
{
    static const char *const bad[][2] = {
        {"column = \"x\"; value = 6.0; origin = \"unseen\";", "band"},
        {"column = \"x\"; value = 6.0; band = 1.0;", "origin"},
        {"column = \"x\"; value = 6.0; band = 1.0; origin = \"calibrated\";", "origin"},
        {"column = \"x\"; band = 1.0; origin = \"unseen\";", "value"},
        {"column = \"y\"; value = 6.0; band = 1.0; origin = \"unseen\";", "no column"},
        {"column = \"x\"; value = 6.0; band = -1.0; origin = \"unseen\";", "band"},
        {"column = \"x\"; value = 6.0; band = 1.0; origin = \"unseen\"; status = \"prediction\";", "status"},
        {"column = \"x\"; minus = { column = \"y\"; }; value = 6.0; band = 1.0; origin = \"unseen\";",
         "no column"},
        {"column = \"x\"; value = 6.0; band = 1.0; origin = \"unseen\"; headline = \"h\";", "under a group"},
        {"column = \"x\"; value = 6.0; band = 1.0; origin = \"unseen\"; under = \"u\";", "under a group"},
        {"column = \"x\"; value = 6.0; band = 1.0; origin = \"unseen\"; low = 2.0; high = 1.0;", "low first"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512];
        assert_int_equal(judge(bad[i][0], text, sizeof text), TMX_ECONFIG);
        if (!strstr(text, bad[i][1])) {
            fail_msg("%s: \"%s\"", bad[i][0], text);
        }
    }
}

TMX_TESTS(test_values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_and_band_decide),
        cmocka_unit_test(an_order_that_the_tick_could_turn_is_undecided),
        cmocka_unit_test(a_bound_is_met_from_one_side),
        cmocka_unit_test(what_failed_is_no_zero),
        cmocka_unit_test(seeds_give_mean_and_spread),
        cmocka_unit_test(what_is_not_stated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
