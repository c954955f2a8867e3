/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instruction traces: Figure 4 of the paper, agreement with the statistics, the converter, bad input. */
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "kernels/sm_cycle.h"
#include "kernels/stream.h"
#include "sched/sched.h"
#include "tests/support/scratch.h"

static const struct tmx_memory memory = {
    .miss = 0.4, .latency_cycles = 300, .latency_variation = 0.3, .bandwidth = 0.1, .lines = 1.5};

static void defaults(struct tmx_sm_params *sm, struct tmx_gate_params *gate)
{
    assert_int_equal(tmx_opt_read(tmx_sm_opts, sm, NULL, NULL, NULL), TMX_OK);
    assert_int_equal(tmx_opt_read(tmx_gate_opts, gate, NULL, NULL, NULL), TMX_OK);
}

enum { WINDOW = 15, LATENCY = 4 };

struct window {
    bool busy[2][WINDOW]; /* INT, FP */
};

static void see(void *context, const struct tmx_sm_event *e)
{
    struct window *w = context;
    if (e->kind == TMX_SM_ISSUE) {
        for (uint64_t t = e->cycle; t < e->cycle + LATENCY && t < WINDOW; t++) {
            w->busy[e->unit / 2][t] = true;
        }
    }
}

/* Lengths of the idle periods in the window, in order, as a text: "2 1 1". */
static void periods(const bool busy[WINDOW], char text[64])
{
    unsigned length = 0;
    text[0] = '\0';
    for (int t = 0; t <= WINDOW; t++) {
        if (t < WINDOW && !busy[t]) {
            length++;
        } else if (length > 0) {
            snprintf(text + strlen(text), 64 - strlen(text), "%s%u", text[0] ? " " : "", length);
            length = 0;
        }
    }
}

/* Figure 4: twelve warps with one add each, single issue, latency four. The picture's order is lost; this
 * one gives the numbers of the text. */
static void figure_4_gives_the_idle_cycles_of_the_text(void **state)
{
    static const char order[] = "IIFIFIIIIFFI";
    static const struct {
        const char *policy, *int_periods, *fp_periods;
    } rows[] = {{"none", "", "2 1 1"}, {"gates", "4", "8"}};
    struct tmx_sm_params sm;
    struct tmx_gate_params gate;
    char text[1024] = "thermix-trace 1\nblock_warps 1\nresident_warps 12\n";
    defaults(&sm, &gate);
    sm.slots = 1;
    sm.clusters = 1;
    sm.alu_cycles = LATENCY;
    sm.busy_cycles = LATENCY;
    gate.idle_detect_cycles = 1000; /* the figure is about idleness, not about gating */
    for (unsigned w = 0; order[w]; w++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u %s 1 - alu\n", w,
                 order[w] == 'I' ? "INT" : "FP");
    }
    const char *path = scratch_write("figure4.trace", text);
    for (size_t i = 0; i < 2; i++) {
        struct tmx_stream s;
        struct tmx_sm_result r;
        struct tmx_err err = {0};
        struct window w = {0};
        char found[64];
        assert_int_equal(tmx_trace_file_read(&s, path, &memory, 1, &err), TMX_OK);
        assert_int_equal(tmx_sm_run(&sm, &s, tmx_gate_find(rows[i].policy), &gate, UINT64_MAX,
                                    &(struct tmx_sm_probe){see, &w}, &r, &err),
                         TMX_OK);
        assert_int_equal(r.issued, 12);
        periods(w.busy[0], found);
        assert_string_equal(found, rows[i].int_periods);
        periods(w.busy[1], found);
        assert_string_equal(found, rows[i].fp_periods);
        tmx_stream_finish(&s);
    }
}

struct order {
    char warp[64];
    size_t n;
};

static void note_warp(void *context, const struct tmx_sm_event *e)
{
    struct order *o = context;
    if (e->kind == TMX_SM_ISSUE && o->n < sizeof o->warp - 1) {
        o->warp[o->n++] = (char)('0' + e->warp);
    }
}

/* Warp 0 loads, leaves the active set for ten cycles and comes back behind warps 1 and 2. */
static void a_scan_begins_where_its_name_says(void **state)
{
    static const char *const issued[] = {[TMX_SCAN_ROUND] = "0121212121201201212121211",
                                         [TMX_SCAN_SLOT] = "0111111111001112222222222",
                                         [TMX_SCAN_ENTRY] = "0111111111111222222222200"};
    const struct tmx_memory ten = {.miss = 1, .latency_cycles = 10, .lines = 1};
    struct tmx_sm_params sm;
    struct tmx_gate_params gate;
    char text[1024] = "thermix-trace 1\nblock_warps 1\nresident_warps 3\n"
                      "0 LDST 1 - global\n0 INT 2 1 alu\n0 INT 3 - alu\n";
    defaults(&sm, &gate);
    sm.slots = 1;
    for (unsigned i = 0; i < 22; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u INT %u - alu\n", 1 + i / 12,
                 1 + i % 12);
    }
    const char *path = scratch_write("scan.trace", text);
    for (int scan = TMX_SCAN_ROUND; scan <= TMX_SCAN_ENTRY; scan++) {
        struct tmx_stream s;
        struct tmx_sm_result r;
        struct tmx_err err = {0};
        struct order order = {0};
        sm.scan = scan;
        assert_int_equal(tmx_trace_file_read(&s, path, &ten, 1, &err), TMX_OK);
        assert_int_equal(tmx_sm_run(&sm, &s, tmx_gate_find("none"), &gate, UINT64_MAX,
                                    &(struct tmx_sm_probe){note_warp, &order}, &r, &err),
                         TMX_OK);
        assert_string_equal(order.warp, issued[scan]);
        tmx_stream_finish(&s);
    }
}

/* Warp 0 wants the sleeping INT unit after its SFU; warp 1 has an FP instruction ready in every cycle. */
static void a_waking_unit_holds_up_its_port_or_its_type(void **state)
{
    struct tmx_sm_params sm;
    struct tmx_gate_params gate;
    char text[1024] = "thermix-trace 1\nblock_warps 1\nresident_warps 2\n0 SFU 1 - sfu\n0 INT 2 1 alu\n";
    uint64_t cycles[2];
    defaults(&sm, &gate);
    sm.slots = 1;
    sm.clusters = 1;
    gate.wakeup_cycles = 5;
    for (unsigned i = 1; i <= 40; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "1 FP %u - alu\n", i);
    }
    const char *path = scratch_write("waking.trace", text);
    for (int waking = TMX_WAKING_PORT; waking <= TMX_WAKING_TYPE; waking++) {
        struct tmx_stream s;
        struct tmx_sm_result r;
        struct tmx_err err = {0};
        sm.waking = waking;
        assert_int_equal(tmx_trace_file_read(&s, path, &memory, 1, &err), TMX_OK);
        assert_int_equal(tmx_sm_run(&sm, &s, tmx_gate_find("convpg"), &gate, UINT64_MAX, NULL, &r, &err),
                         TMX_OK);
        assert_int_equal(r.issued, 42);
        cycles[waking] = r.cycles;
        tmx_stream_finish(&s);
    }
    assert_int_equal(cycles[TMX_WAKING_TYPE], 42);
    assert_int_equal(cycles[TMX_WAKING_PORT], 42 + 5);
}

static void a_trace_of_the_statistics_runs_like_the_statistics(void **state)
{
    const struct tmx_instr_stats st = {.mix_int = 0.5,
                                       .mix_fp = 0.25,
                                       .mix_sfu = 0.05,
                                       .mix_ldst = 0.2,
                                       .persistence = 0.3,
                                       .warps = 24,
                                       .warps_per_block = 4,
                                       .dependence = 0.5,
                                       .distance = 2,
                                       .load_distance = 3,
                                       .global_share = 0.5,
                                       .store_share = 0.2,
                                       .miss = memory.miss,
                                       .latency_cycles = memory.latency_cycles,
                                       .latency_variation = memory.latency_variation,
                                       .bandwidth = memory.bandwidth,
                                       .lines = memory.lines,
                                       .body = 50,
                                       .repetitions = 3,
                                       .barriers = 1};
    const struct tmx_stream_knobs knobs = {1, 1, 1, 1, 1, 1, 1};
    struct tmx_sm_params sm;
    struct tmx_gate_params gate;
    struct tmx_stream a, b;
    struct tmx_output out;
    struct tmx_err err = {0};
    static const char path[] = "statistics.trace";
    defaults(&sm, &gate);
    assert_int_equal(tmx_stream_generate(&a, &st, &knobs, 77, &err), TMX_OK);
    a.stagger = false; /* a trace starts at its first line */
    a.n_block = 20;
    assert_int_equal(tmx_output_open(&out, path, &err), TMX_OK);
    tmx_trace_file_write(&a, a.n_block, out.file);
    assert_int_equal(tmx_output_commit(&out, &err), TMX_OK);
    assert_int_equal(tmx_trace_file_read(&b, path, &memory, 77, &err), TMX_OK);
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        struct tmx_sm_result ra, rb;
        assert_int_equal(tmx_sm_run(&sm, &a, *p, &gate, UINT64_MAX, NULL, &ra, &err), TMX_OK);
        assert_int_equal(tmx_sm_run(&sm, &b, *p, &gate, UINT64_MAX, NULL, &rb, &err), TMX_OK);
        assert_int_equal(ra.issued, 20 * 4 * 50 * 3);
        assert_memory_equal(&ra, &rb, sizeof ra);
    }
    tmx_stream_finish(&a);
    tmx_stream_finish(&b);
}

#define HEAD "thermix-trace 1\nblock_warps 2\nresident_warps 4\n"
static const struct {
    const char *text;
    unsigned line;
    const char *msg;
} bad_rows[] = {
    {"", 0, "not a trace"},
    {"0 INT 1 - alu\n", 1, "expected \"thermix-trace N\""},
    {"thermix-trace 2\n", 1, "version 1"},
    {"thermix-trace 1\nblock_warps 3\nresident_warps 4\n", 3, "no multiple"},
    {"thermix-trace 1\nblock_warps 64\n", 2, "expected \"block_warps N\""},
    {HEAD, 0, "no instruction"},
    {HEAD "0 INT 1 - alu\n", 0, "1 warps are no whole number of blocks of 2"},
    {HEAD "0 INT 1 - alu\n5 INT 1 - alu\n", 0, "thread block 1 has no instruction"},
    {HEAD "0 INT 1 -\n", 4, "expected: warp type dest"},
    {HEAD "x INT 1 - alu\n", 4, "expected a warp number"},
    {HEAD "0 IMT 1 - alu\n", 4, "expected a type"},
    {HEAD "0 INT 255 - alu\n", 4, "expected registers"},
    {HEAD "0 INT 0 - alu\n", 4, "expected registers"},
    {HEAD "0 INT 1 1,2,3,4 alu\n", 4, "at most three sources"},
    {HEAD "0 INT 1 1, alu\n", 4, "expected registers"},
    {HEAD "0 INT 1 2 fast\n", 4, "expected a latency class"},
    {HEAD "0 INT 1 2 alu wait\n", 4, "expected \"barrier\""},
    {HEAD "0 INT 1 2 alu barrier x\n", 4, "expected: warp type dest"},
};

static void bad_traces_name_the_line(void **state)
{
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        struct tmx_stream s;
        struct tmx_err err = {0};
        const char *path = scratch_write("bad.trace", bad_rows[i].text);
        assert_int_equal(tmx_trace_file_read(&s, path, &memory, 1, &err), TMX_EPARSE);
        assert_int_equal(err.line, bad_rows[i].line);
        if (!strstr(err.msg, bad_rows[i].msg)) {
            fail_msg("row %zu: \"%s\" has no \"%s\"", i, err.msg, bad_rows[i].msg);
        }
    }
}

static const char accelsim[] = "-kernel name = power\n-grid dim = (1,1,1)\n-block dim = (8,8,1)\n"
                               "-enable lineinfo = 0\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n"
                               "warp = 0\ninsts = 9\n"
                               "0000 ffffffff 1 R1 MOV 0 0 0 \n"
                               "0010 ffffffff 1 R2 IMAD.WIDE 2 R1 R255 0 0 \n"
                               "0020 ffffffff 1 R12 LDG.E.128.SYS 1 R2 16 1 0x7f580face400 16 0 \n"
                               "0030 ffffffff 1 R11 FMUL 2 R13 R12 0 0 \n"
                               "0040 ffffffff 1 R5 MUFU.EX2 1 R11 0 0 \n"
                               "0050 ffffffff 0 STS 2 R1 R5 4 1 0x0 4 \n"
                               "0060 ffffffff 0 BAR.SYNC 0 0 0 \n"
                               "0070 ffffffff 0 STG.E 2 R2 R5 4 1 0x0 4 \n"
                               "0080 ffffffff 0 EXIT 0 0 0 \n\n"
                               "warp = 1\ninsts = 2\n"
                               "0000 ffffffff 1 R1 MOV 0 0 0 \n"
                               "0080 ffffffff 0 EXIT 0 0 0 \n\n#END_TB\n";

static void an_accelsim_trace_converts(void **state)
{
    static const char expected[] = "thermix-trace 1\nblock_warps 2\nresident_warps 48\n"
                                   "0 INT 2 - alu\n"
                                   "0 INT 3 2 alu\n"
                                   "0 LDST 13 3 global\n"
                                   "0 FP 12 13,13 alu\n" /* R13 came with the wide load of R12 */
                                   "0 SFU 6 12 sfu\n"
                                   "0 LDST - 2,6 shared barrier\n"
                                   "0 LDST - 3,6 store\n"
                                   "1 INT 2 - alu\n";
    static const char converted[] = "kernel-1.trace";
    char text[2048] = "";
    struct tmx_output out;
    struct tmx_err err = {0};
    struct tmx_stream s;
    const char *path = scratch_write("kernel-1.traceg", accelsim);
    assert_int_equal(tmx_output_open(&out, converted, &err), TMX_OK);
    assert_int_equal(tmx_trace_from_accelsim(path, 48, out.file, &err), TMX_OK);
    assert_int_equal(tmx_output_commit(&out, &err), TMX_OK);
    FILE *f = fopen(converted, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, expected);
    assert_int_equal(tmx_trace_file_read(&s, converted, &memory, 1, &err), TMX_OK);
    assert_int_equal(s.n_instr, 8);
    tmx_stream_finish(&s);
}

static void what_is_no_accelsim_trace_is_refused(void **state)
{
    static const struct {
        const char *text, *msg;
    } rows[] = {
        {"hello\n", "expected: PC mask"},
        {"-block dim = (0,0,0)\n", "1 to 1024 threads"},
        {"-grid dim = (1,1,1)\n", "no warp"},
        {"warp = 0\n", "no \"-block dim\""},
        {"-block dim = (64,1,1)\nwarp = 1\n", "out of order"},
        {"-block dim = (-8,8,1)\n", "1 to 1024 threads"},
        {"-block dim = (8,8)\n", "1 to 1024 threads"},
        {"-block dim = 64\n", "1 to 1024 threads"},
        {"-block dim = (32,1,1)\n-block dim = (32,1,1)\n", "a second"},
        {"-block dim = (32,1,1)\nwarp = 0.7\n", "expected \"warp = N\""},
        {"-block dim = (64,1,1)\nwarp = 0\ninsts = 0\n", "fewer warps"},
        {"-block dim = (32,1,1)\nwarp = 0\ninsts = 2\n0080 ffffffff 0 EXIT 0 0 0\n",
         "2 instructions announced, 1"},
        {"-block dim = (32,1,1)\nwarp = 0\ninsts = 1\n0080 zzzzzzzz 0 EXIT 0 0 0\n", "expected: PC mask"},
        {"-block dim = (32,1,1)\nwarp = 0\ninsts = 1\n0000 ffffffff 1 R1.5 MOV 0 0 0\n", "expected: PC mask"},
        {"-block dim = (32,1,1)\nwarp = 0\n0000 ffffffff 1 MOV 0 0 0\n", "expected: PC mask"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_output out;
        struct tmx_err err = {0};
        const char *path = scratch_write("bad.traceg", rows[i].text);
        assert_int_equal(tmx_output_open(&out, "bad.out", &err), TMX_OK);
        assert_int_equal(tmx_trace_from_accelsim(path, 48, out.file, &err), TMX_EPARSE);
        tmx_output_discard(&out);
        if (!strstr(err.msg, rows[i].msg)) {
            fail_msg("row %zu: \"%s\" has no \"%s\"", i, err.msg, rows[i].msg);
        }
    }
}

TMX_TESTS(test_trace_file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_4_gives_the_idle_cycles_of_the_text),
        cmocka_unit_test(a_scan_begins_where_its_name_says),
        cmocka_unit_test(a_waking_unit_holds_up_its_port_or_its_type),
        cmocka_unit_test(a_trace_of_the_statistics_runs_like_the_statistics),
        cmocka_unit_test(bad_traces_name_the_line),
        cmocka_unit_test(an_accelsim_trace_converts),
        cmocka_unit_test(what_is_no_accelsim_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
