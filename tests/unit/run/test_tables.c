/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tables of a run's folder say besides numbers. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/plausible.h"
#include "run/summary.h"
#include "tests/support/open_run.h"
#include "tests/support/scratch.h"

/* Cell of a row under the column's name; NULL: there is no such column. */
static char *cell(const struct tmx_table *t, size_t row, const char *name)
{
    struct tmx_csv csv = {0};
    struct tmx_err err = {0};
    FILE *f = fopen("table.csv", "w");
    assert_non_null(f);
    assert_int_equal(tmx_table_write_csv(t, f, &err), TMX_OK);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(tmx_csv_read(&csv, "table.csv", &err), TMX_OK);
    const size_t c = tmx_csv_column(&csv, name);
    char *text = c < csv.n_column ? strdup(tmx_csv_cell(&csv, row, c)) : NULL;
    tmx_csv_finish(&csv);
    return text;
}

static void check_cell(const struct tmx_table *t, size_t row, const char *name, const char *expected)
{
    char *text = cell(t, row, name);
    if (!text || !expected) {
        assert_true(text == NULL && expected == NULL);
    } else {
        assert_string_equal(text, expected);
    }
    free(text);
}

static struct tmx_run *open_node(const char *racks)
{
    char text[1024];
    snprintf(text, sizeof text,
             "name = \"node\"; inlet_c = 25.0;"
             "cards = ( { name = \"c\"; fit_a_k_per_w = 0.05; fit_b_k_per_w = 111.0; } );"
             "fans = ( { name = \"f\"; card = \"c\"; min_rpm = 400.0; max_rpm = 2700.0; power_w = 5.5;"
             " flow_m3_per_s = 0.009; } );"
             "gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; count = 2; } ); %s",
             racks);
    return open_run(
        "seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = \"WL1\";"
        "policy = \"MG-BL\"; topology = \"%s\"; dtm = { policy = \"dvfs\"; };",
        scratch_write("node.cfg", text));
}

static void gpus_have_the_names_of_their_topology(void **state)
{
    struct tmx_table *t = NULL;
    struct tmx_run *run = open_node("racks = ( { name = \"front\"; nodes = 2; }, { name = \"back\"; } );");
    t = tmx_run_gpus(run);
    check_cell(t, 0, "rack", "front");
    check_cell(t, 3, "rack", "front");
    check_cell(t, 3, "name", "front.node1.g1");
    check_cell(t, 5, "rack", "back");
    check_cell(t, 5, "chip", "gtx280");
    tmx_table_destroy(t);
    tmx_run_destroy(run);
    run = open_node("");
    t = tmx_run_gpus(run);
    check_cell(t, 1, "name", "g1");
    check_cell(t, 1, "rack", NULL);
    tmx_table_destroy(t);
    tmx_run_destroy(run);
}

static void power_swings_of_racks_nodes_and_gpus(void **state)
{
    struct tmx_table *t = NULL;
    struct tmx_err err = {0};
    struct tmx_run *run = open_node("racks = ( { name = \"front\"; nodes = 2; }, { name = \"back\"; } );");
    assert_true(isnan(metric(run, "power_swing_w"))); /* no tick */
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 30, NULL, &err), TMX_OK);
    t = tmx_run_ramps(run);
    static const char *const names[][2] = {{"hall", ""},
                                           {"rack", "front"},
                                           {"rack", "back"},
                                           {"node", "front.node0"},
                                           {"node", "front.node1"},
                                           {"node", "back.node0"},
                                           {"gpu", "front.node0.g0"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_cell(t, 4 * i, "level", names[i][0]);
        check_cell(t, 4 * i, "name", names[i][1]);
    }
    check_cell(t, 4 * 11 + 3, "name", "back.node0.g1");
    check_cell(t, 4 * 12, "level", "feed");
    check_cell(t, 4 * 12, "name", "");
    check_close(metric(run, "feed_range_w"), metric(run, "power_range_w"), 0.1, 0); /* and slow fans */
    check_cell(t, 3, "window_s", "60");
    check_cell(t, 3, "rise_w", ""); /* 1.5 s are shorter */
    assert_true(metric(run, "rise_1s_w") >= 0 && isnan(metric(run, "rise_10s_w")));
    tmx_table_destroy(t);
    tmx_run_destroy(run);
}

static double inlet_c(struct tmx_run *run, size_t gpu)
{
    struct tmx_cooling_gpu c;
    assert_true(tmx_sim_gpu_cooling(tmx_run_sim(run), gpu, &c));
    return c.inlet_k - TMX_ZERO_C;
}

static void a_ramp_has_its_step(void **state)
{
    struct tmx_err err = {0};
    struct tmx_table *t = NULL;
    char why[300];
    (void)state;
    struct tmx_run *run =
        open_run("seed = 1; tick_s = 0.01; mix = \"train8\"; policy = \"BL\"; topology = \"hgx-b200-vf\";"
                 "sync_job = { step_work_s = 1.0; steps = 12; comm_s = 0.3; };");
    assert_int_equal(tmx_run_execute(run, NULL, &err), TMX_OK);
    if (!strstr(tmx_run_ramp_why(run, false, why, sizeof why), "when step ") ||
        !strstr(why, " begins; of 8 GPUs 8 have")) {
        fail_msg("%s", why);
    }
    if (!strstr(tmx_run_ramp_why(run, true, why, sizeof why), "when all have computed step ")) {
        fail_msg("%s", why);
    }
    t = tmx_run_spectrum(run);
    assert_int_equal(tmx_table_rows(t), 1024);
    check_cell(t, 0, "hz", "0.048828125");
    tmx_table_destroy(t);
    tmx_run_destroy(run);
}

static void find_water(void *found, const char *text)
{
    *(bool *)found = *(bool *)found || strstr(text, "the water before the plate of GPU 0 is ");
}

static bool warns_of_water(const struct tmx_run *run)
{
    bool found = false;
    struct tmx_warn_listener listener = {.line = find_water, .to = &found, .alone = true};
    tmx_warn_begin(&listener);
    tmx_run_warn_of_result(run);
    tmx_warn_end(&listener);
    return found;
}

/* Two plates, each a branch of half of 1e-4 m3/s of water: 20 K a kW from the CDU, 5 K a kW on the way; from
 * 100 s on the inlet is 10 K warmer. */
static void a_loop_warms_its_water(void **state)
{
    struct tmx_err err = {0};
    (void)state;
    const char *node = scratch_write(
        "wet.cfg",
        "name = \"wet\"; inlet_c = 20.0; cards = ( { name = \"c\"; count = 2; fit_a_k_per_w = 0.1;"
        " fit_b_k_per_w = 0.0; coolant_j_per_m3k = 4e6; } ); fans = ( { name = \"f\"; card = \"c\";"
        " min_rpm = 400.0; max_rpm = 2700.0; power_w = 0.0; flow_m3_per_s = 1e-4; } );"
        " gpus = ( { name = \"g\"; chip = \"gtx280\"; card = \"c\"; } );");
    static const char form[] =
        "seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = \"micro120\";"
        "policy = \"BL\"; topology = \"%s\"; loop = { ua_w_per_k = %s; flow = 1e-4; branches = 2; };"
        "inlet = ( { time_s = 0.0; inlet_c = 25.0; }, { time_s = 100.0; inlet_c = 25.0; },"
        " { time_s = 200.0; inlet_c = 35.0; } );";
    struct tmx_run *run = open_run(form, node, "50.0");
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 2000, NULL, &err), TMX_OK); /* 100 s */
    const double *w = tmx_run_sim(run)->recorder->now_w;
    check_close(inlet_c(run, 0) - 25, (w[0] + w[1]) / 50 + w[0] * 2 / (2 * 1e-4 * 4e6), 0.05, 0);
    check_close(inlet_c(run, 1) - inlet_c(run, 0), (w[1] - w[0]) * 2 / (2 * 1e-4 * 4e6), 0.1, 0.02);
    const double before_c = inlet_c(run, 0);
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 1000, NULL, &err), TMX_OK);
    check_close(inlet_c(run, 0) - before_c, 5, 0.1, 0); /* and what sinks did not give while they warmed */
    assert_false(warns_of_water(run));
    tmx_run_destroy(run);
    run = open_run(form, node, "1.0");
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 2000, NULL, &err), TMX_OK);
    assert_true(inlet_c(run, 0) > 90 && warns_of_water(run));
    tmx_run_destroy(run);
    run = open_run("seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = "
                   "\"micro120\"; topology = \"%s\"; inlet = ( { time_s = 0.0; inlet_c = 20.0; }, { time_s = "
                   "10.0; inlet_c = 30.0; } );",
                   node);
    assert_int_equal(tmx_sim_advance(tmx_run_sim(run), 200, NULL, &err), TMX_OK);
    check_close(metric(run, "mean_inlet_c"), 24.75, 0, 1e-9); /* each update's holds until the next */
    tmx_run_destroy(run);
}

/* A policy that changes the mix changes what kernels draw; ramps of 5 W/s cost no time where power is steady.
 */
static void ramps_leave_steady_work_alone(void **state)
{
    struct tmx_err err = {0};
    struct tmx_run *run = open_run(
        "seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = \"WL1\";"
        "policy = \"A\"; warmup_s = 200.0; smooth = { ramp_up_w_per_s = 5.0; ramp_down_w_per_s = 5.0; };");
    assert_int_equal(tmx_run_execute(run, NULL, &err), TMX_OK);
    check_close(metric(run, "makespan_s"), 800, 0.01, 0);
    tmx_run_destroy(run);
}

/* What the first kernel draws as it ends, less and less, says nothing of the second. */
static void a_kernel_after_another_keeps_to_the_ramp(void **state)
{
    struct tmx_err err = {0};
    struct tmx_run *run = open_run(
        "seed = 1; tick_s = 0.05; sensor = { period_s = 0.05; }; rows = 8; cols = 8; mix = \"WL1\";"
        "policy = \"BL\"; throttle = { policy = \"none\"; }; smooth = { ramp_up_w_per_s = 100.0; };");
    assert_int_equal(tmx_run_execute(run, NULL, &err), TMX_OK);
    check_close(metric(run, "rise_50ms_w"), 100 * 0.05, 0.2, 0); /* leakage rises, too */
    tmx_run_destroy(run);
}

static void a_summary_names_the_policies_that_ran(void **state)
{
    struct tmx_table *t = NULL;
    struct tmx_run *run = open_node("");
    t = tmx_run_summary(run);
    check_cell(t, 0, "policy", "MG-BL");
    check_cell(t, 0, "policies", "MG-BL with dtm dvfs");
    tmx_table_destroy(t);
    tmx_run_destroy(run);
}

TMX_TESTS(test_tables)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_have_the_names_of_their_topology),
        cmocka_unit_test(power_swings_of_racks_nodes_and_gpus),
        cmocka_unit_test(a_ramp_has_its_step),
        cmocka_unit_test(a_loop_warms_its_water),
        cmocka_unit_test(ramps_leave_steady_work_alone),
        cmocka_unit_test(a_kernel_after_another_keeps_to_the_ramp),
        cmocka_unit_test(a_summary_names_the_policies_that_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
