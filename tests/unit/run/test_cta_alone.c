/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Papers 000 and 002 on the shipped chips and kernels: every file loads, the headline numbers hold. */
#include <stdlib.h>

#include "run/cta.h"
#include "tests/support/check.h"

static struct tmx_cta_outcome all, out;
static struct tmx_memory_program program;

static void run(const struct tmx_cta_chip *chip, const char *policy, struct tmx_cta_outcome *o)
{
    const struct tmx_cta_options options = {.epoch_cycles = 2048, .seed = 1};
    const struct tmx_memory_program *list[] = {&program};
    struct tmx_err err = {0};
    assert_int_equal(tmx_cta_run_as(chip, list, 1, policy, &options, NULL, o, &err), TMX_OK);
}

static void load(const struct tmx_cta_chip *chip, const char *kernel)
{
    struct tmx_err err = {0};
    if (tmx_cta_program_load(&program, kernel, chip, 1, NULL, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
}

static void tcs_saves_energy_where_memory_is_the_limit(void **state)
{
    static const char *const memory[] = {"MUM", "LBM", "KMN", "BFS", "PVC"};
    static const char *const compute[] = {"CONV_tcs", "BLK", "BP", "BINO_tcs", "DXTC"};
    struct tmx_cta_chip chip;
    struct tmx_err err = {0};
    double energy = 0, performance = 0, best = 0;
    assert_int_equal(tmx_cta_chip_load(&chip, "tcs28", NULL, &err), TMX_OK);
    for (size_t k = 0; k < 5; k++) {
        load(&chip, memory[k]);
        run(&chip, "all", &all);
        run(&chip, "tcs", &out);
        const double e = 100 * (out.energy.total_j / all.energy.total_j - 1);
        energy += e / 5;
        best = fmin(best, e);
        performance += 100 * (all.result.seconds / out.result.seconds - 1) / 5;
    }
    assert_true(energy > -42 && energy < -34);
    assert_true(best > -54 && best < -42);
    assert_true(performance > -6 && performance < 1);
    for (size_t k = 0; k < 5; k++) {
        load(&chip, compute[k]);
        run(&chip, "all", &all);
        run(&chip, "tcs", &out);
        check_close(out.result.seconds, all.result.seconds, 0.01, 0);
        check_close(out.energy.total_j, all.energy.total_j, 0.01, 0);
    }
}

static void apsa_tells_the_two_types_apart(void **state)
{
    static const char *const kernel[] = {"MTC", "CP",        "BINO_tcs", "BP-I",  "STO",   "MSORT", "DXTC",
                                         "QR",  "SN",        "HW",       "BP-II", "VADD",  "SP",    "MUM",
                                         "KMN", "SRAD_apsa", "BLK",      "ASYNC", "ALIGN", "BFS"};
    struct tmx_cta_chip chip;
    struct tmx_err err = {0};
    assert_int_equal(tmx_cta_chip_load(&chip, "apsa60", NULL, &err), TMX_OK);
    for (size_t k = 0; k < 20; k++) {
        load(&chip, kernel[k]);
        program.n = program.n > 2 ? 2 : program.n; /* launches of one kernel are alike */
        run(&chip, "apsa", &out);
        if (fabs(out.cores - (k < 10 ? 60 : 30)) > 0.5) {
            fail_msg("%s: %g cores", kernel[k], out.cores);
        }
    }
}

/* The source of the per-core parameters changes these and nothing else. */
static void core_parameters_come_from_the_source_asked_for(void **state)
{
    static struct tmx_memory_program given, measured;
    struct tmx_cta_chip chip;
    struct tmx_table *t = tmx_cta_core_table();
    struct tmx_err err = {0};
    assert_int_equal(tmx_cta_chip_load(&chip, "tcs28", NULL, &err), TMX_OK);
    assert_int_equal(chip.memory.core, TMX_SOURCE_MEASURED);
    assert_int_equal(tmx_cta_program_load(&measured, "PVC", &chip, 1, t, &err), TMX_OK);
    assert_int_equal(tmx_table_rows(t), 2); /* short launches and long ones */
    tmx_table_destroy(t);
    chip.memory.core = TMX_SOURCE_GIVEN;
    assert_int_equal(tmx_cta_program_load(&given, "PVC", &chip, 1, NULL, &err), TMX_OK);
    assert_int_equal(given.n, measured.n);
    for (size_t i = 0; i < given.n; i++) {
        const struct tmx_memory_kernel *m = &measured.kernel[i], *g = &given.kernel[i];
        assert_true(m->blocks == g->blocks && m->warps_per_block == g->warps_per_block);
        assert_true(m->blocks_per_core == g->blocks_per_core && m->instr_per_warp == g->instr_per_warp);
        assert_true(m->lines_per_instr == g->lines_per_instr && m->l2_hit == g->l2_hit);
        assert_true(m->ipc1 != g->ipc1 && m->cpi1_cycles != g->cpi1_cycles && m->mlp != g->mlp);
        assert_true(i == 0 || (m->mlp == m[-1].mlp) == (g->lines_per_instr == g[-1].lines_per_instr));
    }
    chip.memory.core = TMX_SOURCE_MEASURED;
    static struct tmx_memory_program seeded;
    assert_int_equal(tmx_cta_program_load(&seeded, "PVC", &chip, 2, NULL, &err), TMX_OK);
    assert_true(seeded.kernel[0].mlp != measured.kernel[0].mlp);
    check_close(seeded.kernel[0].mlp, measured.kernel[0].mlp, 0.1, 0);
    chip.memory.sm[0] = '\0';
    assert_int_equal(tmx_cta_program_load(&given, "PVC", &chip, 1, NULL, &err), TMX_ECONFIG);
}

/* Side by side every program gets the cores that suit it, not the first one's. */
static void optimum_of_every_program(void **state)
{
    static const char *const kernel[] = {"MUM", "KMN"};
    static struct tmx_memory_program two[2];
    static struct tmx_contention_result together;
    const struct tmx_cta_options options = {.epoch_cycles = 2048, .seed = 1};
    const struct tmx_memory_program *list[] = {&two[0], &two[1]};
    struct tmx_cta_chip chip;
    struct tmx_err err = {0};
    assert_int_equal(tmx_cta_chip_load(&chip, "tcs28", NULL, &err), TMX_OK);
    for (size_t k = 0; k < 2; k++) {
        load(&chip, kernel[k]);
        two[k] = program;
    }
    assert_int_equal(tmx_cta_run_as(&chip, list, 2, "static_optimal", &options, NULL, &out, &err), TMX_OK);
    together = out.result;
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(tmx_cta_run_as(&chip, &list[k], 1, "static_optimal", &options, NULL, &out, &err),
                         TMX_OK);
        assert_int_equal(together.launch[k].cores, out.result.launch[0].cores);
        assert_true(out.result.launch[0].cores < chip.memory.cores);
    }
    assert_true(together.launch[0].cores != together.launch[1].cores);
    two[0].n = TMX_MAX_LAUNCH;
    assert_int_equal(tmx_cta_run_as(&chip, list, 2, "static_optimal", &options, NULL, &out, &err),
                     TMX_ECONFIG);
}

static void policies_are_read_with_their_options(void **state)
{
    struct tmx_cta_policy_spec p;
    struct tmx_err err = {0};
    assert_int_equal(tmx_cta_policy_parse("tcs(threshold=1.5,throttling=false)", &p, &err), TMX_OK);
    tmx_cta_policy_finish(&p);
    static const char *const bad[] = {"tcs(treshold=1.5)", "tcs(threshold=1.5", "tc"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tmx_cta_policy_parse(bad[i], &p, &err), TMX_ECONFIG);
        err = (struct tmx_err){0};
    }
}

/* Hong and Kim's form: all of it at N SMs, 0.744 of it at half of 30. */
static void logarithmic_scaling(void **state)
{
    check_close(tmx_core_scaling_factor(TMX_CORE_LOG, 30, 30), 1, 1e-12, 0);
    check_close(tmx_core_scaling_factor(TMX_CORE_LOG, 30, 15) * 0.5, 0.744, 1e-3, 0);
    check_close(tmx_core_scaling_factor(TMX_CORE_LINEAR, 30, 15), 1, 0, 0);
}

TMX_TESTS(test_cta_alone)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcs_saves_energy_where_memory_is_the_limit),
        cmocka_unit_test(apsa_tells_the_two_types_apart),
        cmocka_unit_test(optimum_of_every_program),
        cmocka_unit_test(core_parameters_come_from_the_source_asked_for),
        cmocka_unit_test(policies_are_read_with_their_options),
        cmocka_unit_test(logarithmic_scaling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
