/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kind of bad input to `thermix thermal`: what it says, exit code 2, nothing written. */
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum { MAX_MESSAGE = 8192 };

static const char *const outputs[] = {"bad.ttrace", "bad.steady", "bad.gsteady", "bad.gttrace"};

/* A small valid case; each row of a table below spoils one file or adds options. */
static void write_valid_case(void)
{
    scratch_write("bad.flp", "# two halves\nA\t2e-3\t4e-3\t0\t0\nB\t2e-3\t4e-3\t2e-3\t0\n");
    scratch_write("bad.ptrace", "A\tB\n1\t2\n2\t1\n");
    scratch_write("bad.config",
                  "-sampling_intvl 0.001\n-grid_rows 8\n-grid_cols 8\n-ambient 318.15\n-init_temp 320\n");
    scratch_write("bad.lcf", "0\nY\nY\n1.75e6\n0.01\n1e-4\nbad.flp\n1\nY\nN\n4e6\n0.25\n2e-5\nbad.flp\n");
    scratch_write("bad.materials", "silicon\nsolid\n130\n1.63e6\n");
    scratch_write("bad.init",
                  "A 320\nB 321\niface_A 320\niface_B 320\nhsp_A 320\nhsp_B 320\nhsink_A 319\nhsink_B 319\n"
                  "inode_0 319\ninode_1 319\ninode_2 319\ninode_3 319\ninode_4 319\ninode_5 319\n"
                  "inode_6 319\ninode_7 319\ninode_8 319\ninode_9 319\ninode_10 319\ninode_11 319\n");
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        remove(outputs[i]);
    }
}

/* Run with the valid case's files and extra options; message gets standard error. */
static int run(const char *setup, const char *extra, char message[MAX_MESSAGE])
{
    char command[2048];
    int exit_code = -1;
    snprintf(
        command, sizeof command,
        "%s exec %s thermal -c bad.config -f bad.flp -p bad.ptrace -o bad.ttrace -steady_file bad.steady "
        "-grid_steady_file bad.gsteady -grid_transient_file bad.gttrace --method grid %s 2>bad.err",
        setup, THERMIX, extra);
    const char *const argv[] = {"sh", "-c", command, NULL};
    assert_int_equal(tmx_os_run(argv, "bad.out", &exit_code, NULL), TMX_OK);
    FILE *f = fopen("bad.err", "rb");
    assert_non_null(f);
    const size_t n = fread(message, 1, MAX_MESSAGE - 1, f);
    message[n] = '\0';
    fclose(f);
    return exit_code;
}

static void expect_nothing_written(const char *what)
{
    int exit_code = -1;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (tmx_os_exists(outputs[i])) {
            fail_msg("%s: %s was written", what, outputs[i]);
        }
    }
    const char *const argv[] = {"sh", "-c", "! ls | grep '^bad.*tmp-'", NULL};
    assert_int_equal(tmx_os_run(argv, NULL, &exit_code, NULL), TMX_OK);
    if (exit_code) {
        fail_msg("%s: a temporary file is left", what);
    }
}

struct row {
    const char *file, *text; /* the file to spoil (NULL: none) and what it holds instead */
    const char *extra;       /* options to add */
    const char *message;     /* how standard error begins, or a line of it */
};

static void check_rows(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char message[MAX_MESSAGE];
        write_valid_case();
        if (row[i].file) {
            scratch_write(row[i].file, row[i].text);
        }
        const int exit_code = run("", row[i].extra, message);
        if (exit_code != 2 || !strstr(message, row[i].message)) {
            fail_msg("exit code %d, \"%s\", expected \"%s\"", exit_code, message, row[i].message);
        }
        expect_nothing_written(row[i].message);
    }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

static void the_valid_case_runs_and_writes_all(void **state)
{
    char message[MAX_MESSAGE];
    write_valid_case();
    const int exit_code = run("", "-init_file bad.init", message);
    if (exit_code || message[0]) {
        fail_msg("exit code %d, \"%s\"", exit_code, message);
    }
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        assert_true(tmx_os_exists(outputs[i]));
    }
}

static void options_are_checked(void **state)
{
    static const struct row rows[] = {
        {NULL, NULL, "-grid_rowz 8",
         "command line: unknown option \"-grid_rowz\", did you mean \"-grid_rows\"?"},
        {NULL, NULL, "--presision 8",
         "command line: unknown option \"--presision\", did you mean \"--precision\"?"},
        {NULL, NULL, "-foo", "command line: unknown option \"-foo\""},
        {NULL, NULL, "stray", "command line: \"stray\": expected an option, -name value"},
        {NULL, NULL, "-init_file", "command line: option \"-init_file\" has no value"},
        {NULL, NULL, "-init_file -r_convec 0.1", "command line: option \"-init_file\" has no value"},
        {NULL, NULL, "--method fast", "--method fast: expected auto, reduced, grid"},
        {NULL, NULL, "--precision 99", "--precision 99: expected a whole number from 0 to 15"},
        {NULL, NULL, "-ambient 45", "command line: ambient = 45 K looks like degrees Celsius"},
        {NULL, NULL, "-s_spreader 0.003", "bad.flp:2: the die (4 x 4 mm) must be smaller than the spreader"},
        {NULL, NULL, "-s_spreader 0.07",
         "command line: the spreader (s_spreader = 0.07 m) must be smaller than the sink (s_sink = 0.06 m)"},
        {NULL, NULL, "-s_spreader 0.06", "(s_sink = 0.06 m); with --network physical they may be equal"},
        {NULL, NULL, "-package_model_used 1 -motor_radius 0.03",
         "command line: package model: motor_radius is not below fan_radius"},
        {"bad.config", "-sampling_intvl 0.001\n-t_chpi 1e-4\n", "",
         "bad.config:2: unknown option \"-t_chpi\", did you mean \"-t_chip\"?"},
        {"bad.config", "-t_chip\n", "", "bad.config:1: option \"-t_chip\" has no value"},
        {"bad.config", "-k_chip 0.005\n", "", "bad.config:1: k_chip = 0.005 W/(m K) is outside [0.01, 5000]"},
        {"bad.config", "-ambient 45\n", "", "bad.config:1: ambient = 45 K looks like degrees Celsius"},
        {"bad.config", "-t_chip 1,5e-4\n", "", "bad.config:1: t_chip: \"1,5e-4\" has a decimal comma"},
        {"bad.config", "-t_chip nan\n", "", "bad.config:1: t_chip: \"nan\" is not a finite number"},
    };
    CHECK(rows);
}

static void floorplans_and_traces_are_checked(void **state)
{
    static const struct row rows[] = {
        {"bad.flp", "A 2e-3 4e-3 0 0\nB -2e-3 4e-3 2e-3 0\n", "",
         "bad.flp:2: width = -0.002 must be above 0"},
        {"bad.flp", "A 2e-3 4e-3 0 0\na 2e-3 4e-3 2e-3 0\n", "",
         "bad.flp:2: name \"a\" given twice (first at line 1"},
        {"bad.flp", "A 2e-3 4e-3 0 0\nB 2e-3 4e-3 2e-3\n", "", "bad.flp:2: 4 fields; a block has 5"},
        {"bad.flp", "A 2 4 0 0\nB 2 4 2 0\n", "",
         "bad.flp:1: width = 2 m is larger than 1 m; floorplans are in metres"},
        {"bad.flp", "A 2e-3 4e-3 0 0\nB 2e-3 4e-3 50e-3 0\n", "",
         "bad.flp:1: \"A\" at x = 0.000000 mm, y = 0.000000 mm lies outside the die"},
        {"bad.flp", "A 2e-3 4e-3 0 0\nB 2.1e-3 4e-3 1.9e-3 0\n", "",
         "bad.flp:2: \"B\" overlaps \"A\" by 100.000 x 4000.000 um"},
        {"bad.flp", "A 2e-3 4e-3 0 0\nB 2e-3 4e-3 2.1e-3 0\n", "",
         "bad.flp:1: gap of 100.000 x 4000.000 um in the die"},
        {"bad.flp", "", "", "bad.flp: no blocks"},
        {"bad.ptrace", "A\tC\n1\t2\n", "",
         "bad.ptrace:1: column 2: block \"C\" is not in the floorplan bad.flp"},
        {"bad.ptrace", "A\n1\n", "", "bad.ptrace:1: block \"B\" of the floorplan bad.flp has no column"},
        {"bad.ptrace", "A\tA\n1\t2\n", "", "bad.ptrace:1: column 2: block \"A\" given twice"},
        {"bad.ptrace", "A\tB\n1\t2\n3\n", "", "bad.ptrace:3: 1 values for 2 names"},
        {"bad.ptrace", "A\tB\n1\tnan\n", "", "bad.ptrace:2: value of \"B\": \"nan\" is not a finite number"},
        {"bad.ptrace", "A\tB\ninf\t1\n", "", "bad.ptrace:2: value of \"A\": \"inf\" is not a finite number"},
        {"bad.ptrace", "A\tB\n1e400\t1\n", "",
         "bad.ptrace:2: value of \"A\": \"1e400\" is too large for a number"},
        {"bad.ptrace", "A\tB\n1\t1,5\n", "", "bad.ptrace:2: value of \"B\": \"1,5\" has a decimal comma"},
        {"bad.ptrace", "", "", "bad.ptrace:1: empty trace"},
        {"bad.ptrace", "A\tB\n", "", "bad.ptrace:1: no rows after the names"},
    };
    CHECK(rows);
}

static void stacks_and_starts_are_checked(void **state)
{
    static const struct row rows[] = {
        {"bad.lcf", "0\nY\nY\n1.75e6\n0.01\n1e-4\nbad.flp\n1\nY\nN\n4e6\n0.25\n2e-5\nbad2.flp\n",
         "-grid_layer_file bad.lcf",
         "bad.lcf:8: layer 1 (bad2.flp) is 5 x 4 mm, layer 0 (bad.flp) is 4 x 4 mm"},
        {"bad.lcf", "0\nY\nY\nsilicom\n1e-4\nbad.flp\n",
         "-grid_layer_file bad.lcf -materials_file bad.materials",
         "bad.lcf:4: unknown material \"silicom\", did you mean \"silicon\"?"},
        {"bad.lcf", "0\nY\nY\n1.75e6\n130\n1e-4\nbad.flp\n", "-grid_layer_file bad.lcf",
         "bad.lcf:5: resistivity [m K/W] = 130 is outside"},
#define WET(line) "0\nY\nY\n1.75e6\n0.01\n1e-4\nbad.flp\n1\nY\nN\n1.6e6\n0.0077\n1e-4\nbad.flp\n" line "\n"
#define COOLANT   "inlet 300 p 4.17e6 h_top 3e4 h_bottom 3e4"
#define LIQUID    "-grid_layer_file bad.lcf --network physical"
        {"bad.lcf", WET("conductivity 100 100"), "-grid_layer_file bad.lcf",
         "bad.lcf:15: conductivity: expected K_X K_Y K_Z [W/(m K)]"},
        {"bad.lcf", WET("conductivity 100 -100 10"), "-grid_layer_file bad.lcf",
         "bad.lcf:15: conductivity [W/(m K)] = -100 is outside [0.01, 5000]"},
        {"bad.lcf", WET("channels merged width 1e-4 pitch 2e-4 flow 1e-7 " COOLANT),
         "-grid_layer_file bad.lcf", "bad.lcf:15: layer 1: channels need --network physical"},
        {"bad.lcf", WET("channels merged width 2e-4 pitch 1e-4 flow 1e-7 " COOLANT), LIQUID,
         "bad.lcf:15: channels: a width of 0.0002 m leaves no wall in a pitch of 0.0001 m"},
        {"bad.lcf", WET("channels merged width 8e-3 pitch 9e-3 flow 1e-7 " COOLANT), LIQUID,
         "bad.lcf:15: layer 1: no channel or pin of 8 mm and its walls fit in a stack 4 mm wide"},
        {"bad.lcf",
         WET("channels resolved width 8e-3 pitch 9e-3 flow 1e-7 h_side 2e4 first 1e-5 last 1e-5 " COOLANT),
         LIQUID, "bad.lcf:15: layer 1: no channel or pin of 8 mm and its walls fit in a stack 4 mm wide"},
        {"bad.lcf", WET("channels pins width 8e-3 pitch 9e-3 flow 1e-7 " COOLANT), LIQUID,
         "bad.lcf:15: layer 1: no channel or pin of 8 mm and its walls fit in a stack 4 mm wide"},
        {"bad.lcf", WET("channels merged width 1e-4 pitch 2e-4 flow 0 " COOLANT), LIQUID,
         "bad.lcf:15: channels: flow [m3/s] = 0 is outside"},
        {"bad.lcf", WET("channels merged width 1e-4 pitch 2e-4 " COOLANT), LIQUID,
         "bad.lcf:15: channels merged: flow [m3/s] is missing"},
        {"bad.lcf",
         WET("channels resolved width 1e-4 pitch 2e-4 flow 1e-7 h_side 2e4 first 1e-5 last 1e-5 " COOLANT),
         LIQUID, "bad.lcf:15: layer 1: 20 channels with their walls are 3.92 mm wide, the stack 4 mm"},
        {"bad.lcf", WET("channels pins width 5e-5 pitch 1e-4 flow 1e-7 " COOLANT " transport up"), LIQUID,
         "bad.lcf:15: channels: transport must be upwind or central, once"},
        {"bad.lcf", WET("channels round width 5e-5"), LIQUID,
         "bad.lcf:15: channels: expected merged, resolved"},
        {"bad.lcf", WET("channels pins width 5e-5 width 4e-5"), LIQUID,
         "bad.lcf:15: channels: width is given twice"},
        {"bad.lcf", WET("channels pins width 5e-5 height 4e-5"), LIQUID,
         "bad.lcf:15: channels: height is no key"},
        {"bad.lcf", WET("channels merged width 1e-4 pitch 2e-4 flow 1e-9 " COOLANT), LIQUID " -r_convec 1e6",
         "layer 1: coolant boils: it reaches 1019.35 K 1.75 mm from the west and 3.25 mm from the south "
         "edge"},
        {"bad.materials", "silicon\nsolid\n1.3e5\n1.63e6\n",
         "-materials_file bad.materials -material_chip silicon",
         "bad.materials:1: material \"silicon\": conductivity = 130000 W/(m K) is outside [0.01, 5000]"},
        {"bad.init", "A 320\nB 321\niface_A 320\nhsp_A 320\n", "-init_file bad.init",
         "bad.init:4: \"hsp_A\" is no block of this layer"},
        {"bad.init", "A 320\nA 321\n", "-init_file bad.init", "bad.init:2: \"A\" given twice"},
        {"bad.init", "A 47\n", "-init_file bad.init", "is it in degrees Celsius?"},
        {"bad.init", "A 320\n", "-init_file bad.init", "bad.init:1: the file ends before \"B\""},
        {"bad.init", "A 320 K\n", "-init_file bad.init", "bad.init:1: expected a name and a temperature"},
    };
    scratch_write("bad2.flp", "A\t5e-3\t4e-3\t0\t0\n");
    CHECK(rows);
}

static void files_that_cannot_be_used_are_named(void **state)
{
    static const struct row rows[] = {
        {NULL, NULL, "-init_file nowhere.init", "nowhere.init: cannot open: No such file"},
        {NULL, NULL, "-init_file .", ".: a folder; expected a regular file"},
        {NULL, NULL, "-d no/such/folder/x", "no/such/folder/x: cannot write: No such file"},
        {NULL, NULL, "-d .", ".: cannot write: Is a directory"},
        {NULL, NULL, "-d bad.steady", "bad.steady: two outputs go to this file"},
        {NULL, NULL, "-d ./bad.steady", "./bad.steady: two outputs go to this file"},
        {NULL, NULL, "-d bad.flp", "bad.flp: an output would replace this input"},
        {NULL, NULL, "-d ./bad.config", "./bad.config: an output would replace this input"},
        {NULL, NULL, "--precision 3.5", "--precision 3.5: expected a whole number from 0 to 15"},
    };
    CHECK(rows);
    char message[MAX_MESSAGE];
    write_valid_case(); /* a full disk: failed, and no input's fault */
    assert_int_equal(run("", "-d /dev/full", message), 1);
    assert_non_null(strstr(message, "/dev/full: cannot write: No space left on device"));
    write_valid_case(); /* a disk that takes 512 bytes a file */
    assert_int_equal(run("trap '' XFSZ; ulimit -f 1;", "", message), 1);
    assert_non_null(strstr(message, "cannot write: File too large"));
    expect_nothing_written("full disk");
}

static void small_gaps_and_high_densities_are_told_and_accepted(void **state)
{
    char message[MAX_MESSAGE];
    write_valid_case();
    scratch_write("bad.flp", "A 2e-3 4e-3 0 0\nB 2e-3 4e-3 2.001e-3 0\n");
    assert_int_equal(run("", "", message), 0);
    assert_non_null(strstr(message, "bad.flp: accepted: 0.025 % of the die uncovered"));
    write_valid_case();
    scratch_write("bad.flp", "A 2e-3 4e-3 0 0\nB 2e-3 4e-3 2.1e-3 0\n");
    assert_int_equal(run("", "--allow-gaps", message), 0);
    assert_non_null(strstr(message, "% of the die uncovered"));
    write_valid_case();
    scratch_write("bad.ptrace", "A\tB\n1\t900\n");
    assert_int_equal(run("", "", message), 0);
    assert_non_null(
        strstr(message, "warning: bad.ptrace:2: block \"B\": 900 W are 112.5 W/mm2, above 100 W/mm2"));
    write_valid_case();
    assert_int_equal(run("", "-n_metal 8 -base_proc_freq 3e9 -v", message), 0);
    assert_non_null(strstr(message, "HotSpot options without effect here: n_metal base_proc_freq"));
}

static void a_device_or_pipe_is_written_not_replaced(void **state)
{
    char message[MAX_MESSAGE];
    write_valid_case();
    assert_int_equal(run("", "-d /dev/null", message), 0);
    assert_true(tmx_os_exists("/dev/null"));
    write_valid_case();
    assert_int_equal(
        run("rm -f bad.pipe; mkfifo bad.pipe; cat bad.pipe > bad.copy &", "-d bad.pipe", message), 0);
    const char *const argv[] = {"sh", "-c", "sleep 0.2; test -p bad.pipe && grep -q sampling_intvl bad.copy",
                                NULL};
    int exit_code = -1;
    assert_int_equal(tmx_os_run(argv, NULL, &exit_code, NULL), TMX_OK);
    assert_int_equal(exit_code, 0);
}

TMX_TESTS(test_thermal_bad_input)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_valid_case_runs_and_writes_all),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(floorplans_and_traces_are_checked),
        cmocka_unit_test(stacks_and_starts_are_checked),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
        cmocka_unit_test(small_gaps_and_high_densities_are_told_and_accepted),
        cmocka_unit_test(a_device_or_pipe_is_written_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
