/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels whose power changes: steps over work and over time, from a list or a file, and what is wrong with
 * one. */
#include "core/workload/kernel.h"

#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/tiny.h"

#define KERNEL(phases)                                                           \
    "name = \"k\"; launch = { thread_blocks = 64; threads_per_block = 256; };\n" \
    "power = { block_lifetime_s = 0.001; phases = { " phases " }; };\n"

static struct tmx_kernel load(const char *phases_of_file)
{
    struct tmx_kernel k;
    struct tmx_err err = {0};
    if (tmx_kernel_load(&k, scratch_write("phases_kernel.cfg", phases_of_file), &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    return k;
}

static void power_follows_the_work(void **state)
{
    struct tmx_chip chip;
    struct tmx_job job;
    const struct tmx_kernel k = load(KERNEL("list = ( { until = 0.25; power_w = 40; }, { until = 0.5; "
                                            "power_w = 120; }, { until = 1; power_w = 60; } );"));
    check_close(k.power.sm_power_w, 70, 1e-12, 0); /* the mean, which policies know */
    tiny_chip(&chip, 10);
    chip.kernel_time_scale = 1;
    assert_int_equal(tmx_job_init(&job, &k, &chip, 2, NULL), TMX_OK);
    static const double rows[][2] = {{0, 4}, {0.2499, 4}, {0.25, 12}, {0.4, 12}, {0.5, 6}, {1, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        job.done_sm_s = rows[i][0] * job.work_sm_s;
        check_close(tmx_job_power_w(&job, 99), rows[i][1], 1e-12, 0);
    }
    check_close(job.pdi_w, 7, 1e-12, 0);
    tmx_chip_finish(&chip);
}

static void power_follows_the_time(void **state)
{
    struct tmx_chip chip;
    struct tmx_job job;
    scratch_write("phases.csv", "power_w,until\n100,5\n20,10\n");
    struct tmx_kernel k = load(KERNEL("over = \"time\"; file = \"phases.csv\"; repeat = true;"));
    tiny_chip(&chip, 10);
    chip.kernel_time_scale = 1;
    assert_int_equal(tmx_job_init(&job, &k, &chip, 2, NULL), TMX_OK);
    job.started_s = -1; /* has not begun, as the machine says it */
    check_close(tmx_job_power_w(&job, 7), 10, 1e-12, 0);
    job.started_s = 3;
    static const double rows[][2] = {{3, 10},  {7.9, 10}, {8, 2},       {12.9, 2},
                                     {13, 10}, {18.5, 2}, {1e6 + 3, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_close(tmx_job_power_w(&job, rows[i][0]), rows[i][1], 1e-12, 0);
    }
    k.phases.repeat = false; /* the last one holds */
    check_close(tmx_job_power_w(&job, 1e6), 2, 1e-12, 0);
    tmx_chip_finish(&chip);
}

/* 0.2 s of work at the clock, then 0.1 s that waits for something else, and again: at half the clock a turn
 * takes 0.4 + 0.1 s. */
static void a_step_passes_phases_of_the_work(void **state)
{
    struct tmx_chip chip;
    struct tmx_job job;
    const struct tmx_kernel k =
        load(KERNEL("over = \"work_s\"; repeat = true; list = ( { until = 0.2; power_w = 40; }, { until = "
                    "0.3; power_w = 10; waits = 1.0; } );"));
    tiny_chip(&chip, 10);
    chip.kernel_time_scale = 1;
    assert_int_equal(tmx_job_init(&job, &k, &chip, 2, NULL), TMX_OK);
    static const struct {
        double done, run_s, clock, rate, speed, power_w; /* SM-seconds; ten SMs */
    } rows[] = {
        {0, 2, 0.5, 1, 0.5, 4},                           /* within the first phase */
        {0, 5, 0.5, 1, 0.6, 3},                           /* a turn */
        {0, 4.5, 0.5, 1, 2.5 / 4.5, 8.5 / 2.5},           /* half of the second, too */
        {1.9, 1.2, 0.5, 1, 1.1 / 1.2, 1.4 / 1.1},         /* the end of the first, and the second */
        {2.5 + 300, 0.5, 0.5, 1, 1, 1},                   /* the rest of the second, a hundred turns later */
        {0, 35 + 2, 0.5, 1, 22. / 37, (7 * 9 + 4.) / 22}, /* seven turns, and a piece */
        {0, 9, 0.5, 0.5, 5. / 9, 17. / 5}, /* a second is worth half of one: as the third row */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        job.done_sm_s = rows[i].done;
        const struct tmx_job_step step = tmx_job_step(&job, rows[i].run_s, rows[i].clock, rows[i].rate, true);
        check_close(step.speed, rows[i].speed, 1e-12, 0);
        check_close(step.power_w, rows[i].power_w, 1e-12, 0);
    }
    job.done_sm_s = 2.5; /* where it does not get on, the mean of a turn; where nothing runs, its place */
    check_close(tmx_job_step(&job, 1, 0.5, 1, false).power_w, 3, 1e-12, 0);
    check_close(tmx_job_step(&job, 0, 0.5, 1, true).power_w, 1, 1e-12, 0);
    check_close(tmx_job_waits(&job, 0), 1, 0, 0);
    check_close(tmx_job_phase_left(&job, 0), 0.5, 1e-12, 0);
    job.phases = NULL;
    job.memory_bound = 0.25;
    check_close(tmx_job_waits(&job, 0), 0.25, 0, 0);
    tmx_chip_finish(&chip);
}

static void mistakes_are_named(void **state)
{
    static const char *const rows[][2] = {
        {KERNEL("list = ( { until = 0.5; power_w = 1; } );"), "the last step ends at 1"},
        {KERNEL("list = ( { until = 0.5; power_w = 1; }, { until = 0.4; power_w = 1; } );"),
         "until: expected more"},
        {KERNEL("list = ( { until = 2; power_w = 1; } );"), "it ends at 1"},
        {KERNEL("list = ( { until = 1; power_w = -1; } );"), "power_w"},
        {KERNEL("list = ( { until = 1; power_w = 0; } );"), "no power"},
        {KERNEL("list = ( );"), "no step"},
        {KERNEL("over = \"work\";"), "either list"},
        {KERNEL("over = \"life\"; list = ( { until = 1; power_w = 1; } );"), "over"},
        {KERNEL("repeat = true; list = ( { until = 1; power_w = 1; } );"), "repeat does nothing"},
        {KERNEL("over = \"work_s\"; list = ( { until = 1; power_w = 1; waits = 1.5; } );"), "waits"},
        {KERNEL("file = \"absent.csv\";"), "cannot open"},
        {KERNEL("file = \"phases_wrong.csv\";"), "power_w: \"ten\" is not a number"},
        {KERNEL("file = \"phases_head.csv\";"), "expected a column until"},
    };
    scratch_write("phases_wrong.csv", "until,power_w\n0.5,ten\n");
    scratch_write("phases_head.csv", "time,power_w\n0.5,10\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_kernel k;
        struct tmx_err err = {0};
        if (!tmx_kernel_load(&k, scratch_write("phases_bad.cfg", rows[i][0]), &err) ||
            !strstr(err.msg, rows[i][1]) || !err.file[0]) {
            fail_msg("%s: \"%s\" of file \"%s\", expected \"%s\"", rows[i][0], err.msg, err.file, rows[i][1]);
        }
    }
}

TMX_TESTS(test_phases)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_follows_the_work),
        cmocka_unit_test(power_follows_the_time),
        cmocka_unit_test(a_step_passes_phases_of_the_work),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
