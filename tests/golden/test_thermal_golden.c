/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `thermix thermal` against the golden cases; each case's README.txt says what made its files. Argument: of
 * the cases the one with this name, B_hotblock; or `all`: exactly in time also where a step on the grid takes
 * long. */
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/trace.h"

enum { MAX_COMMAND = 4096 };

static const char GOLDEN[] = TMX_SOURCE_DIR "/tests/golden";

static void run(const char *name, const char *extra)
{
    char command[MAX_COMMAND];
    int exit_code = -1;
    const int stack = strcmp(name, "E_stack2") == 0;
    snprintf(
        command, sizeof command,
        "exec %s thermal -c %s/%s/case.config %s %s/%s/%s -p %s/%s/power.ptrace -o gold.ttrace "
        "-steady_file gold.steady -grid_steady_file gold.gsteady --hotspot-compat --no-cache %s 2>gold.err",
        THERMIX, GOLDEN, name, stack ? "-grid_layer_file" : "-f", GOLDEN, name,
        stack ? "stack.lcf" : "chip.flp", GOLDEN, name, extra);
    const char *const argv[] = {"sh", "-c", command, NULL};
    assert_int_equal(tmx_os_run(argv, "gold.out", &exit_code, NULL), TMX_OK);
    assert_int_equal(exit_code, 0);
}

/* Largest difference of two traces. */
static double traces_differ(const char *ours, const char *theirs)
{
    struct tmx_trace a, b;
    double worst = 0;
    assert_int_equal(tmx_trace_read(ours, &a, NULL), TMX_OK);
    assert_int_equal(tmx_trace_read(theirs, &b, NULL), TMX_OK);
    assert_int_equal(a.n_column, b.n_column);
    assert_int_equal(a.n_row, b.n_row);
    for (size_t i = 0; i < a.n_column; i++) {
        assert_string_equal(a.name[i], b.name[i]);
    }
    for (size_t i = 0; i < a.n_row * a.n_column; i++) {
        worst = fmax(worst, fabs(a.value[i] - b.value[i]));
    }
    tmx_trace_finish(&a);
    tmx_trace_finish(&b);
    return worst;
}

/* The same for files of `word number` lines: words must agree, numbers may differ. */
static double listings_differ(const char *ours, const char *theirs)
{
    FILE *a = fopen(ours, "rb"), *b = fopen(theirs, "rb");
    char line_a[1024], line_b[1024];
    double worst = 0;
    assert_non_null(a);
    assert_non_null(b);
    while (fgets(line_b, sizeof line_b, b)) {
        assert_non_null(fgets(line_a, sizeof line_a, a));
        char *tab_a = strchr(line_a, '\t'), *tab_b = strchr(line_b, '\t');
        if (!tab_b || !tab_a) {
            assert_string_equal(line_a, line_b);
            continue;
        }
        *tab_a = *tab_b = '\0';
        assert_string_equal(line_a, line_b);
        worst = fmax(worst, fabs(strtod(tab_a + 1, NULL) - strtod(tab_b + 1, NULL)));
    }
    assert_null(fgets(line_a, sizeof line_a, a));
    fclose(a);
    fclose(b);
    return worst;
}

#define WITHIN(value, limit)                                                       \
    do {                                                                           \
        const double v_ = (value);                                                 \
        if (!(v_ <= (limit))) {                                                    \
            fail_msg("%s: %s: %.3g K, at most %.3g K", name, #value, v_, (limit)); \
        }                                                                          \
    } while (0)

struct path {
    char text[1024];
};
static struct path golden(const char *name, const char *file)
{
    struct path p;
    snprintf(p.text, sizeof p.text, "%s/%s/%s", GOLDEN, name, file);
    return p;
}

/* HotSpot's files carry two decimals, hence 0.006 K; the references six. */
static void steady_and_backward_euler(const char *name)
{
    run(name, "--scheme be --precision 9");
    WITHIN(listings_differ("gold.steady", golden(name, "out.steady").text), 0.006);
    WITHIN(listings_differ("gold.gsteady", golden(name, "out.grid_steady").text), 0.006);
    WITHIN(traces_differ("gold.ttrace", golden(name, "out.ttrace").text), 0.006);
    if (strcmp(name, "G_board") == 0) { /* of which there is no independent solution */
        return;
    }
    WITHIN(listings_differ("gold.steady", golden(name, "ref.steady").text), 1e-5);
    WITHIN(traces_differ("gold.ttrace", golden(name, "ref_be.ttrace").text), 1e-5);
}

static void exact(const char *name, const char *method, double limit_k)
{
    run(name, method);
    WITHIN(traces_differ("gold.ttrace", golden(name, "ref_exact.ttrace").text), limit_k);
    WITHIN(traces_differ("gold.ttrace", golden(name, "rk4.ttrace").text), 0.02);
}

static void case_a(void **state)
{
    steady_and_backward_euler("A_gt200");
}

static void case_b(void **state)
{
    steady_and_backward_euler("B_hotblock");
    exact("B_hotblock", "--method grid --precision 9", 1e-5);
}

static void case_d(void **state)
{
    steady_and_backward_euler("D_package");
    exact("D_package", "--method grid --precision 9", 1e-5);
}

static void case_e(void **state)
{
    steady_and_backward_euler("E_stack2");
    if (*state) {
        exact("E_stack2", "--method grid --precision 9", 1e-5);
    }
}

static void case_f(void **state)
{
    steady_and_backward_euler("F_rectcell");
    if (*state) {
        exact("F_rectcell", "--method grid --precision 9", 1e-5);
    }
}

static void case_g(void **state)
{
    steady_and_backward_euler("G_board");
}

static void the_reduced_model_is_within_a_millikelvin(void **state)
{
    static const char *const names[] = {"A_gt200", "B_hotblock", "D_package", "E_stack2", "F_rectcell"};
    const bool one = *state;
    for (size_t i = one; i < (one ? 2 : sizeof names / sizeof names[0]); i++) {
        exact(names[i], "--method reduced --precision 9", 1e-3);
    }
}

/* With two decimals our files are HotSpot's own but for last-digit rounding of equal numbers. */
static void grid_transient_has_hotspots_layout(void **state)
{
    const char *name = "B_hotblock";
    char command[MAX_COMMAND];
    int exit_code = -1;
    snprintf(command, sizeof command,
             "cd %s/%s && exec %s thermal -c case.config -f chip.flp -p power5.ptrace --scheme be "
             "-grid_transient_file \"$OLDPWD\"/gold.gttrace --hotspot-compat",
             GOLDEN, name, THERMIX);
    const char *const argv[] = {"sh", "-c", command, NULL};
    assert_int_equal(tmx_os_run(argv, NULL, &exit_code, NULL), TMX_OK);
    assert_int_equal(exit_code, 0);
    WITHIN(listings_differ("gold.gttrace", golden(name, "out5.grid_ttrace").text), 0.0101);
}

/* A script in HotSpot's place that copies golden outputs. */
static void verify_with_prints_the_largest_difference(void **state)
{
    char script[MAX_COMMAND];
    snprintf(script, sizeof script,
             "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -o) cp %s/B_hotblock/out.ttrace $2;; "
             "-steady_file) cp %s/B_hotblock/out.steady $2;; -c) cp $2 gold.config;; esac; shift; done\n",
             GOLDEN, GOLDEN);
    scratch_write("fake_hotspot", script);
    const char *const chmod[] = {"chmod", "+x", "fake_hotspot", NULL};
    int exit_code = -1;
    assert_int_equal(tmx_os_run(chmod, NULL, &exit_code, NULL), TMX_OK);
    run("B_hotblock", "--scheme be --precision 9 --verify-with ./fake_hotspot");
    const char *const argv[] = {"awk",
                                "$1 == \"largest\" { found = 1; if ($2 > 0.006 || $3 > 0.006 || $2 < 0.001) "
                                "exit 1 } END { exit !found }",
                                "gold.out", NULL};
    assert_int_equal(tmx_os_run(argv, NULL, &exit_code, NULL), TMX_OK);
    assert_int_equal(exit_code, 0);
    run("B_hotblock", "-cold_plate 1 --verify-with ./fake_hotspot"); /* which HotSpot does not know */
    const char *const plate[] = {
        "awk",
        "$1 == \"-cold_plate\" && $2 != 0 { exit 1 } $1 == \"-r_convec\" { found = $2 < 0.1 } "
        "END { exit !found }",
        "gold.config", NULL};
    assert_int_equal(tmx_os_run(plate, NULL, &exit_code, NULL), TMX_OK);
    assert_int_equal(exit_code, 0);
}

TMX_TESTS(test_thermal_golden)
{
    char *all = argc > 1 && strcmp(argv[1], "all") == 0 ? argv[1] : NULL,
         *one = argc > 1 && !all ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_b),
        cmocka_unit_test_prestate(the_reduced_model_is_within_a_millikelvin, one),
        cmocka_unit_test(grid_transient_has_hotspots_layout),
        cmocka_unit_test(verify_with_prints_the_largest_difference),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(case_a),
        cmocka_unit_test(case_d),
        cmocka_unit_test_prestate(case_e, all),
        cmocka_unit_test_prestate(case_f, all),
        cmocka_unit_test(case_g),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) || (!one && cmocka_run_group_tests(others, NULL, NULL));
}
