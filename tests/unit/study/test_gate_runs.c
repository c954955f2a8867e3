/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every shipped kernel that can run cycle by cycle does, on every chip that has an SM. */
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#include <string.h>

#include "base/config.h"
#include "run/load/data.h"
#include "run/load/gate_files.h"
#include "sched/sched.h"
#include "study/microbench/microbench.h"

static const char *const chips[] = {"gtx480", "gtx280"};

static bool has_instructions(const char *name)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    struct tmx_err err = {0};
    assert_int_equal(tmx_data_find(TMX_DATA_KERNEL, name, path, &err), TMX_OK);
    if (tmx_config_load(&cfg, path, NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    const bool found = tmx_config_find(cfg, "instructions") != NULL;
    tmx_config_close(cfg);
    return found;
}

static void shipped_kernels_run(void **state)
{
    struct tmx_arena arena = {0};
    const char *const *names;
    struct tmx_err err = {0};
    unsigned n = 0;
    const size_t n_name = tmx_data_names(TMX_DATA_KERNEL, &names, &arena);
    for (size_t c = 0; c < sizeof chips / sizeof chips[0]; c++) {
        struct tmx_gate_chip chip;
        assert_int_equal(tmx_gate_chip_load(&chip, chips[c], NULL, &err), TMX_OK);
        for (const char *const *name = names; name < names + n_name; name++) {
            struct tmx_gate_kernel k;
            struct tmx_stream s;
            struct tmx_sm_result r;
            if (!has_instructions(*name)) {
                continue;
            }
            assert_int_equal(tmx_gate_kernel_load(&k, *name, &err), TMX_OK);
            assert_int_equal(tmx_stream_generate(&s, &k.stats, &chip.fit[0], 1, &err), TMX_OK);
            assert_int_equal(
                tmx_sm_run(&chip.sm, &s, tmx_gate_find("warped_gates"), &chip.gate, 2000, NULL, &r, &err),
                TMX_OK);
            assert_int_equal(r.issued, 2000);
            tmx_stream_finish(&s);
            n++;
        }
    }
    tmx_arena_finish(&arena);
    assert_true(n >= 2 * 30); /* 18 of paper 001, 12 of paper 003 */
}

/* A kernel may name another whose instructions are its own. */
static void instructions_of_another_kernel(void **state)
{
    struct tmx_gate_kernel own, named;
    struct tmx_err err = {0};
    assert_int_equal(tmx_gate_kernel_load(&own, "backprop", &err), TMX_OK);
    assert_int_equal(tmx_gate_kernel_load(&named, "BP", &err), TMX_OK);
    assert_string_equal(named.name, "BP");
    assert_memory_equal(&own.stats, &named.stats, sizeof own.stats);
}

/* WG 7.3: from the units' leakage to the chip's power. */
static void the_chip_saves_what_the_paper_computes(void **state)
{
    struct tmx_gate_chip chip;
    struct tmx_err err = {0};
    assert_int_equal(tmx_gate_chip_load(&chip, "gtx480", NULL, &err), TMX_OK);
    const struct tmx_gate_leakage *l = &chip.leakage;
    check_close(100 * (l->int_w + l->fp_w) / l->chip_w, 16.38, 0, 0.005);
    check_close(100 * tmx_gate_chip_saved(l, 0.30, 0.30), 1.62, 0, 0.005);
    check_close(100 * tmx_gate_chip_saved(l, 0.45, 0.45), 2.43, 0, 0.005);
}

static void results_do_not_depend_on_the_number_of_workers(void **state)
{
    struct tmx_gate_chip chip;
    struct tmx_gate_kernel kernel[2];
    struct tmx_gate_case cases[] = {{tmx_gate_find("none"), 14, 3, 0},
                                    {tmx_gate_find("convpg"), 9, 3, 0},
                                    {tmx_gate_find("warped_gates"), 14, 6, 0}};
    struct tmx_sm_result one[6], two[6];
    struct tmx_err err = {0};
    assert_int_equal(tmx_gate_chip_load(&chip, "gtx480", NULL, &err), TMX_OK);
    assert_int_equal(tmx_gate_kernel_load(&kernel[0], "hotspot", &err), TMX_OK);
    assert_int_equal(tmx_gate_kernel_load(&kernel[1], "MUM", &err), TMX_OK);
    struct tmx_gate_plan plan = {.chip = &chip,
                                 .kernel = kernel,
                                 .n_kernel = 2,
                                 .gate = cases,
                                 .n_case = 3,
                                 .seed = 5,
                                 .budget = 5000,
                                 .n_worker = 1,
                                 .quiet = true};
    assert_int_equal(tmx_gate_run(&plan, one, &err), TMX_OK);
    plan.n_worker = 2;
    assert_int_equal(tmx_gate_run(&plan, two, &err), TMX_OK);
    assert_memory_equal(one, two, sizeof one);
}

static void overrides_name_their_key(void **state)
{
    struct tmx_sets sets = {0};
    struct tmx_gate_chip chip;
    struct tmx_err err = {0};
    tmx_sets_add(&sets, "", "gate.break_even_cycles=9", NULL, 0, &err);
    assert_int_equal(tmx_gate_chip_load(&chip, "gtx480", &sets, &err), TMX_OK);
    assert_int_equal(chip.gate.break_even_cycles, 9);
    tmx_sets_add(&sets, "", "gate.break_evn_cycles=9", NULL, 0, &err);
    assert_int_equal(err.code, TMX_OK);
    assert_int_equal(tmx_gate_chip_load(&chip, "gtx480", &sets, &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "break_even_cycles"));
    tmx_sets_finish(&sets);
}

/* Every shipped program runs to its end: each warp executes it once a block, and barriers let all warps go
 * on. */
static void shipped_code_runs_to_its_end(void **state)
{
    static const char *const kernels[] = {"backprop", "gaussian", "hotspot", "KMN",   "LBM",
                                          "mri",      "NN",       "nw",      "sgemm", "srad"};
    struct tmx_gate_chip chip;
    struct tmx_err err = {0};
    size_t all = 0;
    assert_int_equal(tmx_gate_chip_load(&chip, "gtx480", NULL, &err), TMX_OK);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        struct tmx_gate_code code[TMX_GATE_CODES];
        size_t n = 0;
        if (tmx_gate_code_load(kernels[k], code, &n, &err)) {
            fail_msg("%s:%u: %s", err.file, err.line, err.msg);
        }
        for (size_t i = 0; i < n; i++, all++) {
            struct tmx_stream *s = &code[i].stream;
            struct tmx_sm_result r;
            uint64_t block = 0;
            for (unsigned w = 0; w < s->warps_per_block; w++) {
                block += s->program[w % s->n_program].count;
            }
            s->n_block = 2;
            assert_int_equal(tmx_sm_run(&chip.sm, s, tmx_gate_find("naive_blackout"), &chip.gate, UINT64_MAX,
                                        NULL, &r, &err),
                             TMX_OK);
            assert_int_equal(r.blocks, 2);
            assert_int_equal(r.issued, 2 * block);
            tmx_gate_code_finish(&code[i]);
        }
    }
    assert_int_equal(all, 12);
}

#define CODE(warps, programs)                                                                       \
    "name = \"k\";\ncode = ( { name = \"a\"; warps = " warps "; warps_per_block = 2; blocks = 1;\n" \
    "miss = 0.5; lines = 1.0; latency_cycles = 400.0;\n" programs " } );\n"

static void bad_code_names_the_line(void **state)
{
    static const struct {
        const char *text, *msg;
        unsigned line;
    } rows[] = {
        {"name = \"k\";\n", "code", 1},
        {CODE("3", "programs = [\"i\"];"), "no multiple", 2},
        {CODE("2", "programs = [\"i\", \"i i 2(\"];"), "character 7", 4},
        {CODE("2", "programs = [\"i\"]; order = [0];"), "one program for each of 2 warps", 4},
        {CODE("2", "programs = [\"i\"]; order = [0, 1];"), "from 0 to 0", 4},
        {CODE("2", "programs = [\"i\"]; orders = [0, 1];"), "orders", 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_gate_code code[TMX_GATE_CODES];
        struct tmx_err err = {0};
        size_t n = 1;
        const char *path = scratch_write("bad_code.cfg", rows[i].text);
        assert_int_not_equal(tmx_gate_code_load(path, code, &n, &err), TMX_OK);
        assert_int_equal(n, 0);
        if (!strstr(err.msg, rows[i].msg) || err.line != rows[i].line) {
            fail_msg("row %zu: line %u, \"%s\"", i, err.line, err.msg);
        }
    }
}

TMX_TESTS(test_gate_runs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_kernels_run),
        cmocka_unit_test(instructions_of_another_kernel),
        cmocka_unit_test(the_chip_saves_what_the_paper_computes),
        cmocka_unit_test(results_do_not_depend_on_the_number_of_workers),
        cmocka_unit_test(overrides_name_their_key),
        cmocka_unit_test(shipped_code_runs_to_its_end),
        cmocka_unit_test(bad_code_names_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
