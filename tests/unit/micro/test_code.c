/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/stream.h"

#include <string.h>

#include "tests/support/check.h"

static void check_instr(const struct tmx_instr *in, unsigned type, unsigned latency, unsigned dest,
                        unsigned first, unsigned second)
{
    assert_int_equal(in->type, type);
    assert_int_equal(in->latency, latency);
    assert_int_equal(in->dest, dest);
    assert_int_equal(in->source[0], first);
    assert_int_equal(in->source[1], second);
}

static void letters_say_class_and_distances_say_who_made_the_operands(void **state)
{
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    assert_int_equal(tmx_code_append(&s, "i g f1,2 s l w1 m2 I! F3", &err), TMX_OK);
    assert_int_equal(s.n_instr, 9);
    assert_int_equal(s.n_program, 1);
    check_instr(&s.instr[0], TMX_UNIT_INT, TMX_LATENCY_ALU, 1, 0, 0);
    check_instr(&s.instr[1], TMX_UNIT_LDST, TMX_LATENCY_GLOBAL, 2, 0, 0);
    check_instr(&s.instr[2], TMX_UNIT_FP, TMX_LATENCY_ALU, 3, 2, 1);
    check_instr(&s.instr[3], TMX_UNIT_SFU, TMX_LATENCY_SFU, 4, 0, 0);
    check_instr(&s.instr[4], TMX_UNIT_LDST, TMX_LATENCY_SHARED, 5, 0, 0);
    check_instr(&s.instr[5], TMX_UNIT_LDST, TMX_LATENCY_STORE, 0, 5, 0);
    check_instr(&s.instr[6], TMX_UNIT_LDST, TMX_LATENCY_SHARED, 0, 5, 0);
    assert_true(s.instr[7].barrier && !s.instr[6].barrier && s.instr[7].dest == 0);
    check_instr(&s.instr[8], TMX_UNIT_FP, TMX_LATENCY_ALU, 0, 0, 0); /* three ago made nothing */
    tmx_stream_finish(&s);
}

/* Distances count executed instructions, so those of a loop reach into its last turn; registers go round. */
static void loops_unroll_and_registers_outlive_every_distance(void **state)
{
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    assert_int_equal(tmx_code_append(&s, "i 2( f2 3( i1 ) ) ", &err), TMX_OK);
    assert_int_equal(tmx_code_append(&s, "300( i253 )", &err), TMX_OK);
    assert_int_equal(s.n_program, 2);
    assert_int_equal(s.program[0].count, 9);
    assert_int_equal(s.program[1].first, 9);
    assert_int_equal(s.program[1].count, 300);
    assert_int_equal(s.instr[1].source[0], 0); /* before the program */
    assert_int_equal(s.instr[5].source[0], s.instr[3].dest);
    assert_int_equal(s.instr[5].type, TMX_UNIT_FP);
    const struct tmx_instr *second = s.instr + s.program[1].first;
    for (size_t k = 0; k < 300; k++) {
        assert_int_equal(second[k].source[0], k >= 253 ? second[k - 253].dest : 0);
        assert_int_not_equal(second[k].source[0], second[k].dest);
    }
    tmx_stream_finish(&s);
}

static void what_is_no_program_is_refused_where_it_goes_wrong(void **state)
{
    static const struct {
        const char *text, *msg;
    } rows[] = {
        {"", "character 1: no instruction"},
        {"i x", "character 3: expected an instruction"},
        {"i 3 (i)", "character 4: expected a loop"},
        {"0(i)", "character 2: expected a loop"},
        {"2(i", "character 4: a loop is not closed"},
        {"i)", "character 2: no loop to close"},
        {"i 4()", "character 5: a loop without an instruction"},
        {"i0", "character 3: expected at most three distances"},
        {"i254", "distances from 1 to 253"},
        {"i1,2,3,4", "at most three distances"},
        {"2(2(2(2(2(2(2(2(2(i)))))))))", "more than 8 loops"},
        {"1048576(i i)", "more than 1048576 instructions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_stream s = {0};
        struct tmx_err err = {0};
        assert_int_equal(tmx_code_append(&s, rows[i].text, &err), TMX_EPARSE);
        if (!strstr(err.msg, rows[i].msg)) {
            fail_msg("\"%s\": \"%s\" has no \"%s\"", rows[i].text, err.msg, rows[i].msg);
        }
        tmx_stream_finish(&s);
    }
}

/* Several bodies: each has the mix, no two are alike, each is walked so much less often. */
static void several_bodies_are_drawn_one_after_another(void **state)
{
    const struct tmx_instr_stats st = {.mix_int = 0.5,
                                       .mix_fp = 0.3,
                                       .mix_ldst = 0.2,
                                       .warps = 8,
                                       .warps_per_block = 8,
                                       .dependence = 0.5,
                                       .distance = 2,
                                       .load_distance = 3,
                                       .global_share = 0.5,
                                       .miss = 0.5,
                                       .latency_cycles = 400,
                                       .lines = 1,
                                       .body = 50,
                                       .repetitions = 12};
    const struct tmx_stream_knobs one = {1, 1, 1, 1, 1, 1, 1}, three = {1, 1, 1, 1, 1, 1, 3};
    struct tmx_stream a, b;
    struct tmx_err err = {0};
    assert_int_equal(tmx_stream_generate(&a, &st, &one, 5, &err), TMX_OK);
    assert_int_equal(tmx_stream_generate(&b, &st, &three, 5, &err), TMX_OK);
    assert_int_equal(b.n_instr, 150);
    assert_int_equal(a.program[0].repetitions, 12);
    assert_int_equal(b.program[0].repetitions, 4);
    assert_memory_equal(a.instr, b.instr, 50 * sizeof *a.instr);
    assert_memory_not_equal(b.instr, b.instr + 50, 50 * sizeof *b.instr);
    for (size_t body = 0; body < 3; body++) {
        unsigned n_fp = 0;
        for (size_t i = 0; i < 50; i++) {
            n_fp += b.instr[50 * body + i].type == TMX_UNIT_FP;
        }
        assert_int_equal(n_fp, 15);
    }
    tmx_stream_finish(&a);
    tmx_stream_finish(&b);
}

TMX_TESTS(test_code)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_say_class_and_distances_say_who_made_the_operands),
        cmocka_unit_test(loops_unroll_and_registers_outlive_every_distance),
        cmocka_unit_test(what_is_no_program_is_refused_where_it_goes_wrong),
        cmocka_unit_test(several_bodies_are_drawn_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
