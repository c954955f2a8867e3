/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mix files: lists, Poisson arrivals, traces; what is wrong with one is said with its file and line. */
#include "core/workload/mix.h"

#include <string.h>

#include "tests/support/scratch.h"

static void load(struct tmx_mix *mix, const char *path, uint64_t seed)
{
    struct tmx_err err = {0};
    if (tmx_mix_load(mix, path, seed, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
}

/* Written in any order, served by arrival; equal arrivals in the order they are written. */
static void a_list_is_sorted_by_arrival(void **state)
{
    static const char *const want[] = {"B", "D", "C", "A", "E"};
    struct tmx_mix mix;
    load(&mix,
         scratch_write("mix_list.cfg", "name = \"m\"; doc = \"d\"; target = true;\nkernels = (\n"
                                       " { kernel = \"A\"; work_s = 3.0; arrival_s = 5.0; priority = 2; },\n"
                                       " { kernel = \"B\"; work_s = 400; },\n"
                                       " { kernel = \"C\"; arrival_s = 1.0; },\n"
                                       " { kernel = \"D\"; },\n"
                                       " { kernel = \"E\"; arrival_s = 5.0; } );\n"),
         1);
    assert_int_equal(mix.n_entry, 5);
    assert_true(mix.target);
    for (size_t i = 0; i < mix.n_entry; i++) {
        assert_string_equal(mix.entry[i].kernel, want[i]);
    }
    check_close(mix.entry[0].work_s, 400, 0, 0);
    check_close(mix.entry[3].work_s, 3, 0, 0);
    check_close(mix.entry[3].arrival_s, 5, 0, 0);
    assert_int_equal(mix.entry[3].priority, 2);
    assert_int_equal(mix.entry[4].priority, 0);
    tmx_mix_finish(&mix);
    assert_null(mix.entry);
}

#define POISSON                                                                                   \
    "name = \"m\"; arrivals = { process = \"poisson\"; mean_s = 2.0; count = 2000; work_s = 7.0;" \
    " kernels = [\"A\", \"B\"]; };"

static void poisson_arrivals_follow_the_seed_and_the_mean(void **state)
{
    const char *path = scratch_write("mix_poisson.cfg", POISSON);
    struct tmx_mix a, b, c;
    size_t of_a = 0;
    load(&a, path, 7);
    load(&b, path, 7);
    load(&c, path, 8);
    assert_int_equal(a.n_entry, 2000);
    for (size_t i = 0; i < a.n_entry; i++) {
        assert_string_equal(a.entry[i].kernel, b.entry[i].kernel);
        assert_true(a.entry[i].arrival_s == b.entry[i].arrival_s);
        assert_true(i == 0 || a.entry[i].arrival_s >= a.entry[i - 1].arrival_s);
        check_close(a.entry[i].work_s, 7, 0, 0);
        of_a += a.entry[i].kernel[0] == 'A';
    }
    assert_true(a.entry[0].arrival_s != c.entry[0].arrival_s);
    check_close(a.entry[1999].arrival_s / 2000, 2, 0.1, 0); /* three deviations are 7 % */
    assert_in_range(of_a, 900, 1100);
    tmx_mix_finish(&a);
    tmx_mix_finish(&b);
    tmx_mix_finish(&c);
}

#define TRACE "name = \"m\"; arrivals = { process = \"trace\"; file = \"arrivals.csv\"; };"
#define HEAD  "arrival_s,kernel,work_s,priority\n"

static void a_trace_stands_beside_its_mix(void **state)
{
    struct tmx_mix mix;
    const char *path = scratch_write("mix_trace.cfg", TRACE);
    scratch_write("arrivals.csv",
                  "work_s, kernel ,priority,arrival_s\n2.5, \"B\",-3,4\n\n0,A ,,1e0\n"); /* by name */
    load(&mix, path, 1);
    assert_int_equal(mix.n_entry, 2);
    assert_string_equal(mix.entry[0].kernel, "A");
    check_close(mix.entry[0].arrival_s, 1, 0, 0);
    assert_int_equal(mix.entry[0].priority, 0);
    check_close(mix.entry[1].work_s, 2.5, 0, 0);
    assert_int_equal(mix.entry[1].priority, -3);
    tmx_mix_finish(&mix);
    path = scratch_write("./mix_trace.cfg", TRACE); /* with a folder in its name */
    load(&mix, path, 1);
    assert_int_equal(mix.n_entry, 2);
    tmx_mix_finish(&mix);
}

#define SWF_JOB "1 100 2 126 8 -1 -1 8 900 -1 1 7 1 -1 1 -1 -1 -1\n"

/* Jobs of clusters: columns or 18 numbers; each runs the kernel of the group. */
static void logs_of_jobs_are_known_by_their_columns(void **state)
{
    static const char *const logs[] = {
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_"
        "time\n"
        "1,u,1,8,1,Eval,FAILED,2023-03-01 00:00:10+08:00,,,126,38,1\n"
        "2,u,1,0,1,Eval,FAILED,2023-03-01 00:00:20+08:00,,,5,38,1\n"
        "3,u,1,1,1,Eval,FAILED,2023-02-28 16:00:40+00:00,,,0,38,1\n"
        "4,u,1,2,1,Eval,FAILED,2023-03-01 00:01:10+08:00,,,90,38,1\n",
        "JobID|Submit|Elapsed|AllocTRES\n"
        "1|2023-02-28T23:59:59|02:06|billing=8,cpu=1,gres/gpu=8,mem=1G\n"
        "1.batch|2023-02-28T23:59:59|02:06|cpu=1,gres/gpu=8\n"
        "2|2023-03-01T00:00:19|1-00:00:05|cpu=1\n"
        "3|2023-03-01T00:00:59|00:01:30|gres/gpu:a100=2,gres/gpu=2\n",
        "JobID|Submit|Elapsed|AllocTRES\n" /* a step before its job */
        "1.0|2023-02-28T23:59:59+01:00|02:06|gres/gpu=8\n1|2023-02-28T23:59:59+01:00|02:06|gres/gpu=8\n"
        "3|2023-03-01T00:00:59+01:00|00:01:30|gres/gpu=2\n",
        "Submit|ElapsedRaw|AllocGRES|JobID\n100|126|gpu:8|7\n160|90|gpu:2|7\n", /* queued again */
        "Submit|ElapsedRaw|AllocGRES|User\n100|126|gpu:a100:8|x\n120|9||x\n160|90|gpu:2|x\n",
        "Submit|ElapsedRaw|ReqTRES\n100|126|cpu=1,gres/gpu:a100=6,gres/gpu:v100=2\n120|9|gres/gpumem=8\n"
        "160|90|gres/gpu:a100=2\n",
        "Submit|ElapsedRaw|AllocGRES\n100|126|gpu:a100:8(IDX:0-7)\n120|9|(null)\n160|90|gpu:2(S:0-1)\n",
        "; Version: 2.2\n; MaxNodes: 4\n1 100 2 126 8 -1 -1 8 900 -1 1 7 1 -1 1 -1 -1 -1\n"
        "2 120 2 -1 8 -1 -1 8 900 -1 1 7 1 -1 1 -1 -1 -1\n3 160 2 90 -1 -1 -1 2 900 -1 1 7 1 -1 1 -1 -1 -1\n",
    };
    static const struct {
        const char *log, *words;
        unsigned line;
    } bad[] = {
        {"Submit|ElapsedRaw|AllocTRES\n1|2|gres/gpu=many\n", "expected a number of GPUs", 2},
        {"Submit|ElapsedRaw|AllocTRES\n1|2|four\n", "AllocTRES = \"four\": expected a number of GPUs", 2},
        {"Submit|Elapsed|AllocTRES\n1|1:2:3:4|gres/gpu=1\n", "Elapsed = \"1:2:3:4\": expected seconds", 2},
        {"Submit|Elapsed|AllocTRES\nlater|1|gres/gpu=1\n", "Submit = \"later\": expected seconds, or a date",
         2},
        {"Submit|Elapsed|AllocTRES\n5|1|gres/gpu=1\n2023-02-28T23:59:59|1|gres/gpu=1\n",
         "some rows have a date and others seconds", 3},
        {"Submit|Elapsed|AllocTRES\n1|00:70:00|gres/gpu=1\n", "Elapsed = \"00:70:00\": expected seconds", 2},
        {"; x\n1 0 2 600 2.5 -1 -1 8 900 -1 1 7 1 -1 1 -1 -1 -1\n", "on 2.5 GPUs", 2},
        {"submit_time,duration,gpu_num,prio\n1,2,3,4\n", "unknown column \"prio\" of a log of Acme", 1},
        {"job_id,submit_time,duration,gpu_num\n7,1,2,3\n8,1,2,3\n7,5,2,3\n7,1,2,3\n7,1,2,3\n",
         "of line 2 again", 5},
        {"Submit|ElapsedRaw|AllocTRES|JobID\n1|2|gres/gpu=1|4_1\n1|2|gres/gpu=1|4_1\n", "of line 2 again", 3},
        {SWF_JOB SWF_JOB, "the job of line 1 again, equal in all columns", 2},
        {"; x\n1 0 2 600\n", "4 numbers; expected 18", 2},
        {"; x\n1 0 2 600 a\n", "field 5, \"a\"", 2},
    };
    const char *path = scratch_write("mix_jobs.cfg",
                                     "name = \"m\"; arrivals = { process = \"trace\"; file = \"jobs.log\"; "
                                     "kernels = [\"train\"]; };"),
               *beside = scratch_write("mix_beside.cfg",
                                       "name = \"m\"; kernels = ( { kernel = \"train\"; "
                                       "arrival_s = 30.0; } ); arrivals = { process = \"trace\"; file = "
                                       "\"jobs.log\"; kernels = [\"train\"]; };");
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        struct tmx_mix mix;
        scratch_write("jobs.log", logs[i]);
        load(&mix, path, 1);
        assert_int_equal(mix.n_entry, 2);
        assert_string_equal(mix.entry[1].kernel, "train");
        assert_true(mix.entry[0].arrival_s == 0 && mix.entry[0].work_s == 126 && mix.entry[0].gpus == 8);
        assert_true(mix.entry[1].arrival_s == 60 && mix.entry[1].work_s == 90 && mix.entry[1].gpus == 2);
        tmx_mix_finish(&mix);
        load(&mix, beside, 1); /* a listed kernel arrives when its own entry says */
        assert_int_equal(mix.n_entry, 3);
        assert_true(mix.entry[0].arrival_s == 0 && mix.entry[2].arrival_s == 60);
        assert_true(mix.entry[1].arrival_s == 30 && mix.entry[1].gpus == 1);
        tmx_mix_finish(&mix);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tmx_mix mix;
        struct tmx_err err = {0};
        scratch_write("jobs.log", bad[i].log);
        assert_int_equal(tmx_mix_load(&mix, path, 1, &err), TMX_EPARSE);
        if (!strstr(err.msg, bad[i].words) || err.line != bad[i].line) {
            fail_msg("%u: %s, expected %s", err.line, err.msg, bad[i].words);
        }
    }
}

static void bad_mixes_name_their_line(void **state)
{
    static const struct {
        const char *text;
        enum tmx_status status;
        unsigned line;
        const char *says;
    } rows[] = {
        {"name = \"m\";\nkernels = ( 3 );\n", TMX_ECONFIG, 2, "kernels: expected a group"},
        {"name = \"m\";\nkernels = ( {\n work_s = 3.0; } );\n", TMX_ECONFIG, 2, "kernel"},
        {"name = \"m\";\nkernels = ( { kernel = \"A\";\n work_s = -1.0; } );\n", TMX_ECONFIG, 3, "work_s"},
        {"name = \"m\";\nkernels = ( { kernel = \"A\";\n arrival_s = -1.0; } );\n", TMX_ECONFIG, 3,
         "arrival_s"},
        {"name = \"m\";\nkernels = ( { kernel = \"A\";\n priority = 101; } );\n", TMX_ECONFIG, 3, "priority"},
        {"name = \"m\";\nkernels = ( { kernel = \"A\";\n work = 1.0; } );\n", TMX_ECONFIG, 3, "work"},
        {"name = \"m\";\nkernels = ( { kernel = 4; } );\n", TMX_ECONFIG, 2, "kernel"},
        {"name = \"m\";\n\ncolour = 1;\nkernels = ( { kernel = \"A\"; } );\n", TMX_ECONFIG, 3, "colour"},
        {"kernels = ( { kernel = \"A\"; } );\n", TMX_ECONFIG, 1, "name"},
        {"name = \"m\";\n", TMX_ECONFIG, 1, "no kernels"},
        {"name = \"m\";\nkernels = ( );\n", TMX_ECONFIG, 1, "no kernels"},
        {"name = \"m\";\nkernels = (\n", TMX_ECONFIG, 3, ""},
        {"name = \"m\";\narrivals = { };\n", TMX_ECONFIG, 2, "process"},
        {"name = \"m\";\narrivals = { process = \"daily\"; };\n", TMX_ECONFIG, 2, "poisson, trace"},
        {"name = \"m\";\narrivals = { process = \"poisson\"; };\n", TMX_ECONFIG, 2,
         "missing key \"kernels\""},
        {"name = \"m\";\narrivals = { process = \"poisson\"; kernels = []; };\n", TMX_ECONFIG, 2,
         "kernels: expected a list of 1"},
        {"name = \"m\";\narrivals = { process = \"poisson\";\n kernels = [1, 2]; };\n", TMX_ECONFIG, 3,
         "kernels: entry 1: expected a \"text\""},
        {"name = \"m\";\narrivals = { process = \"poisson\";\n kernels = "
         "[\"0123456789012345678901234567890123456789012345678901234567890123\"]; };\n",
         TMX_ECONFIG, 3, "no kernel has so long a name"},
        {"name = \"m\";\narrivals = { process = \"poisson\"; kernels = [\"A\"];\n mean_s = 0.0; };\n",
         TMX_ECONFIG, 3, "mean_s"},
        {"name = \"m\";\narrivals = { process = \"poisson\"; kernels = [\"A\"];\n count = 0; };\n",
         TMX_ECONFIG, 3, "count"},
        {"name = \"m\";\narrivals = { process = \"trace\"; file = \"nowhere.csv\"; };\n", TMX_ECONFIG, 2,
         "nowhere.csv"},
        {"name = \"m\";\narrivals = { process = \"trace\"; };\n", TMX_ECONFIG, 2, "file"},
        {"name = \"m\";\narrivals = { process = \"trace\"; file = \"jobs.log\"; };\n", TMX_ECONFIG, 2,
         "the jobs of this log name no kernel; expected kernels"},
        {"name = \"m\";\narrivals = { process = \"trace\"; file = \"x.csv\";\n count = 5; };\n", TMX_ECONFIG,
         3, "arrivals.count does nothing here"},
        {"name = \"m\";\narrivals = { process = \"poisson\"; kernels = [\"A\"];\n file = \"x.csv\"; };\n",
         TMX_ECONFIG, 3, "arrivals.file does nothing here"},
    };
    scratch_write("jobs.log", "; SWF\n1 0 2 600 8 -1 -1 8 900 -1 1 7 1 -1 1 -1 -1 -1\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_mix mix;
        struct tmx_err err = {0};
        const enum tmx_status st = tmx_mix_load(&mix, scratch_write("mix_bad.cfg", rows[i].text), 1, &err);
        char text[512];
        tmx_err_format(&err, text, sizeof text);
        if (st != rows[i].status || err.line != rows[i].line || !strstr(text, rows[i].says)) {
            fail_msg("row %zu: status %d, %s", i, (int)st, text);
        }
        assert_null(mix.entry); /* nothing left to release */
    }
}

static void bad_traces_name_their_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } rows[] = {
        {HEAD "1,A\n", 2, "cells"},
        {HEAD "1,A,2,3\n1,A,2,3,4\n", 3, "cells"},
        {HEAD "1,A,2,3\n1,A,2\n", 3, "cells"}, /* cut off: of which priority? */
        {HEAD "x,A,2,0\n", 2, "is not"},
        {HEAD "1,A,two,0\n", 2, "is not"},
        {HEAD "nan,A,2,0\n", 2, "is not"},
        {HEAD "1,A,inf,0\n", 2, "is not"},
        {HEAD "-1,A,2,0\n", 2, "outside"},
        {HEAD "1,A,-2,0\n", 2, "outside"},
        {HEAD "1,A,2,high\n", 2, "is not"},
        {HEAD "1,A,2,101\n", 2, "outside"},
        {HEAD "1,A,2,1.5\n", 2, "expected"},
        {HEAD "1,,2,0\n", 2, "expected"},
        {HEAD "\n1,A,-2,\n", 3, "outside"},
        {"arrival_s,kernel\n1,A\n", 1, "expected"},
        {"0.0,SVM,1.0,0\n0.5,Cmem,1.0,0\n", 1, "expected"}, /* no header: not one job less */
        {HEAD "1e300,A,1,0\n", 2, "outside"},
        {HEAD "1,A,1e300,0\n", 2, "outside"},
        {HEAD "1,\"A\"x,1\n", 2, "expected"},
        {HEAD ",,\n", 2, "cells"},
        {HEAD "1,0123456789012345678901234567890123456789012345678901234567890123,2\n", 2, "cells"},
    };
    const char *path = scratch_write(
        "mix_bad_trace.cfg", "name = \"m\"; arrivals = { process = \"trace\"; file = \"bad.csv\"; };");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_mix mix;
        struct tmx_err err = {0};
        scratch_write("bad.csv", rows[i].text);
        const enum tmx_status st = tmx_mix_load(&mix, path, 1, &err);
        if (st != TMX_EPARSE || err.line != rows[i].line || !strstr(err.file, "bad.csv") ||
            !strstr(err.msg, rows[i].says)) {
            fail_msg("row %zu: status %d, %s:%u: %s", i, (int)st, err.file, err.line, err.msg);
        }
        assert_null(mix.entry);
    }
    struct tmx_mix mix;
    struct tmx_err err = {0};
    scratch_write("bad.csv", HEAD); /* a heading and nobody */
    assert_int_equal(tmx_mix_load(&mix, path, 1, &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "no kernels"));
}

TMX_TESTS(test_mix)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_sorted_by_arrival),
        cmocka_unit_test(poisson_arrivals_follow_the_seed_and_the_mean),
        cmocka_unit_test(a_trace_stands_beside_its_mix),
        cmocka_unit_test(logs_of_jobs_are_known_by_their_columns),
        cmocka_unit_test(bad_mixes_name_their_line),
        cmocka_unit_test(bad_traces_name_their_line),
    };
    return cmocka_run_group_tests_name("mix", tests, NULL, NULL);
}
