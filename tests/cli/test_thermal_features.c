/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `thermix thermal` does beyond the golden cases, seen from outside. */
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/trace.h"

static int run_to(const char *options, const char *err_file)
{
    char command[2048];
    int exit_code = -1;
    snprintf(command, sizeof command, "exec %s thermal %s 2>%s", THERMIX, options, err_file);
    const char *const argv[] = {"sh", "-c", command, NULL};
    assert_int_equal(tmx_os_run(argv, "feat.out", &exit_code, NULL), TMX_OK);
    return exit_code;
}

static void run(const char *options)
{
    const int exit_code = run_to(options, "feat.err");
    if (exit_code) {
        fail_msg("thermal %s: exit code %d", options, exit_code);
    }
}

static bool holds(const char *file, const char *word)
{
    char text[16384];
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return strstr(text, word) != NULL;
}

static bool same_bytes(const char *a, const char *b)
{
    const char *const argv[] = {"cmp", "-s", a, b, NULL};
    int exit_code = -1;
    assert_int_equal(tmx_os_run(argv, NULL, &exit_code, NULL), TMX_OK);
    return exit_code == 0;
}

/* Value of a block in the last row of a trace, or of a name in a steady file. */
static double last_of(const char *trace, const char *name)
{
    struct tmx_trace t;
    assert_int_equal(tmx_trace_read(trace, &t, NULL), TMX_OK);
    const size_t column = tmx_trace_find(&t, name);
    assert_true(column < t.n_column);
    const double v = t.value[(t.n_row - 1) * t.n_column + column];
    tmx_trace_finish(&t);
    return v;
}

static double steady_of(const char *file, const char *name)
{
    char line[256];
    double v = NAN;
    const size_t n = strlen(name);
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, name, n) == 0 && line[n] == '\t') {
            v = strtod(line + n, NULL);
        }
    }
    fclose(f);
    return v;
}

static int set_up(void **state)
{
    scratch_write("feat.flp", "A\t4e-3\t8e-3\t0\t0\nB\t4e-3\t8e-3\t4e-3\t0\n");
    scratch_write("feat.ptrace", "A\tB\n20\t5\n20\t5\n20\t5\n20\t5\n");
    scratch_write("feat.config",
                  "-grid_rows 9\n-grid_cols 11\n-ambient 318.15\n-init_temp 318.15\n-sampling_intvl 0.01\n"
                  "-r_convec 0.5\n");
    return 0;
}

#define BASE "-c feat.config -f feat.flp -p feat.ptrace --method grid --precision 9 "

static void names_ignore_case_and_line_ends_do_not_count(void **state)
{
    run(BASE "-o feat_a.ttrace -steady_file feat_a.steady");
    scratch_write("feat_w.flp", "# dos\r\nA\t4e-3\t8e-3\t0\t0\r\nB\t4e-3\t8e-3\t4e-3\t0");
    scratch_write("feat_w.ptrace", "A\tB\r\n20\t5\r\n20\t5\r\n\r\n20\t5\r\n20\t5");
    scratch_write("feat_w.config", "-GRID_ROWS 9\r\n-Grid_Cols 11\r\n-AMBIENT 318.15\r\n-init_temp 318.15\r\n"
                                   "-sampling_intvl 0.01\r\n-R_convec 0.5");
    run("-C feat_w.config -F feat_w.flp -P feat_w.ptrace --method=grid --precision=9 -O feat_b.ttrace "
        "-STEADY_FILE feat_b.steady");
    assert_true(same_bytes("feat_a.ttrace", "feat_b.ttrace"));
    assert_true(same_bytes("feat_a.steady", "feat_b.steady"));
}

static void the_command_line_beats_the_file_and_the_first_of_two_wins(void **state)
{
    run(BASE "-r_convec 0.9 -r_convec 0.1 -steady_file feat_a.steady");
    scratch_write("feat_r.config",
                  "-grid_rows 9\n-grid_cols 11\n-ambient 318.15\n-r_convec 0.9\n-r_convec 3\n");
    run("-c feat_r.config -c nowhere -f feat.flp -p feat.ptrace --precision 9 -steady_file feat_b.steady");
    assert_true(same_bytes("feat_a.steady", "feat_b.steady"));
}

static void without_outputs_the_steady_state_is_printed(void **state)
{
    run("-c feat.config -f feat.flp -p feat.ptrace");
    assert_true(holds("feat.out", "Unit\tSteady(Kelvin)\nA\t3"));
    assert_true(holds("feat.out", "inode_11\t3"));
}

static void a_steady_file_is_a_start(void **state)
{
    run(BASE "-steady_file feat.init");
    run(BASE "-init_file feat.init -o feat_a.ttrace");
    /* block means start right, their inner gradients relax within the first row */
    check_close(last_of("feat_a.ttrace", "A"), steady_of("feat.init", "A"), 0, 0.3);
    check_close(last_of("feat_a.ttrace", "B"), steady_of("feat.init", "B"), 0, 0.3);
    run(BASE "-init_file feat.init -dtm_used 1 -thermal_threshold 320 -sampling_intvl 1e-7 -o feat_a.ttrace");
    check_close(last_of("feat_a.ttrace", "A"), 320, 0, 0.05);
}

static void compat_starts_partly_covered_cells_too_cold(void **state)
{
    scratch_write("feat_g.flp", "A\t4e-3\t8e-3\t0\t0\nB\t4e-3\t8e-3\t4.002e-3\t0\n");
    run("-c feat.config -f feat_g.flp -p feat.ptrace --method grid -sampling_intvl 1e-9 -o feat_a.ttrace");
    run("-c feat.config -f feat_g.flp -p feat.ptrace --method grid -sampling_intvl 1e-9 -o feat_b.ttrace "
        "--hotspot-compat -grid_map_mode min");
    check_close(last_of("feat_a.ttrace", "B"), 318.15, 0, 0.01);
    /* 2 um of a 727 um cell: 0.275 % of 318 K */
    check_close(last_of("feat_b.ttrace", "A"), 318.15 * (1 - 2e-6 * 11 / 8.002e-3), 0, 0.01);
}

static void leakage_in_a_transient_ends_at_its_steady_state(void **state)
{
    run(BASE "-steady_file feat_n.steady");
    run(BASE "-leakage_used 1 -sampling_intvl 1000 -o feat_a.ttrace -steady_file feat_a.steady");
    const double end = last_of("feat_a.ttrace", "A"), steady = steady_of("feat_a.steady", "A");
    assert_true(steady > steady_of("feat_n.steady", "A") + 0.05);
    check_close(end, steady, 0, 1e-3);
    run(BASE "-leakage_used 1 -o feat_b.ttrace --hotspot-compat");
    assert_true(holds("feat.err", "leakage_used acts on the steady state only"));
    FILE *f = fopen("feat_l.ptrace", "wb"); /* its only watts are those of leakage */
    fprintf(f, "A\tB\n0\t0\n");
    fclose(f);
    run("-c feat.config -f feat.flp -p feat_l.ptrace --method reduced -leakage_used 1 -o feat_b.ttrace");
    assert_true(holds("feat.err", "error at most") && !holds("feat.err", "error at most 0 K"));
}

static void leakage_is_of_second_order_in_the_row(void **state)
{
    double v[4];
    static const int rows[] = {2, 4, 8, 256}; /* of 3.2 ms and less: shorter than the chip's response */
    for (size_t k = 0; k < 4; k++) {
        char options[512];
        FILE *f = fopen("feat_l.ptrace", "wb");
        fprintf(f, "A\tB\n");
        for (int i = 0; i < rows[k]; i++) {
            fprintf(f, "60\t5\n");
        }
        fclose(f);
        snprintf(options, sizeof options,
                 "-c feat.config -f feat.flp -p feat_l.ptrace --method grid --precision 12 -leakage_used 1 "
                 "-r_convec 1 "
                 "-sampling_intvl %.17g -o feat_l.ttrace",
                 0.0064 / rows[k]);
        run(options);
        v[k] = last_of("feat_l.ttrace", "A");
    }
    const double first = fabs(v[0] - v[3]), second = fabs(v[1] - v[3]), third = fabs(v[2] - v[3]);
    assert_true(second < first / 3 && third < second / 3);
}

static void leakage_that_runs_away_fails_and_writes_nothing(void **state)
{
    remove("feat_x.steady");
    assert_int_equal(run_to(BASE "-leakage_used 1 -r_convec 40 -steady_file feat_x.steady", "feat.err"), 1);
    assert_true(holds("feat.err", "thermal runaway"));
    assert_false(tmx_os_exists("feat_x.steady"));
}

static void a_faster_fan_cools_better_and_its_file_counts(void **state)
{
    scratch_write("feat.package", "-rpm 3000\n-fan_radius 0.03\n");
    run(BASE "-package_model_used 1 -rpm 800 -steady_file feat_a.steady");
    run(BASE "-package_model_used 1 -package_config_file feat.package -steady_file feat_b.steady");
    assert_true(steady_of("feat_b.steady", "A") < steady_of("feat_a.steady", "A") - 0.5);
    run(BASE "-package_model_used 1 -rpm 800 -package_config_file feat.package -steady_file feat_b.steady");
    assert_true(same_bytes("feat_a.steady", "feat_b.steady"));
}

/* Largest difference of any number in two files of the same words. */
static double difference(const char *a, const char *b)
{
    char word[2][64];
    double worst = 0;
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    assert_true(f && g);
    while (fscanf(f, "%63s", word[0]) == 1 && fscanf(g, "%63s", word[1]) == 1) {
        char *end;
        const double v = strtod(word[0], &end);
        if (*end == '\0') {
            worst = fmax(worst, fabs(v - strtod(word[1], NULL)));
        }
    }
    fclose(f);
    fclose(g);
    return worst;
}

static void hottest_cells_and_fields_are_as_accurate_as_means(void **state)
{
#define REDUCED "-c feat.config -f feat.flp -p feat.ptrace --precision 9 --no-cache "
    run(REDUCED "--method reduced -grid_map_mode max --tolerance 1e-5 -o feat_a.ttrace -grid_transient_file "
                "feat_a.grid");
    assert_true(holds("feat.err", "K at a block") && holds("feat.err", "K at a cell"));
    run(BASE "-grid_map_mode max -o feat_b.ttrace -grid_transient_file feat_b.grid");
    assert_true(difference("feat_a.ttrace", "feat_b.ttrace") <= 1e-5);
    assert_true(difference("feat_a.grid", "feat_b.grid") <= 1e-5);
}

/* The smallest rate, some 1e-8 1/s, keeps its digits beside the die's. */
static void a_sink_that_hardly_cools_is_right(void **state)
{
    run(REDUCED "--method reduced -r_convec 1e6 -o feat_a.ttrace");
    run(BASE "-r_convec 1e6 -o feat_b.ttrace");
    assert_true(difference("feat_a.ttrace", "feat_b.ttrace") <= 1e-3);
}

static void a_model_that_misses_its_tolerance_by_far_is_an_error(void **state)
{
    remove("feat_x.ttrace");
    assert_int_equal(
        run_to(REDUCED "--method reduced -r_convec 1e6 -sampling_intvl 1e-7 -o feat_x.ttrace", "feat.err"),
        1);
    assert_true(holds("feat.err", "misses its tolerance of 0.001 K"));
    assert_false(tmx_os_exists("feat_x.ttrace"));
}

static void the_physical_network_takes_the_same_files(void **state)
{
    run(BASE "--network physical -sampling_intvl 8 -o feat_a.ttrace -steady_file feat_a.steady");
    run(BASE "-sampling_intvl 8 -o feat_b.ttrace -steady_file feat_b.steady");
    const double rise = steady_of("feat_b.steady", "A") - 318.15;
    assert_true(steady_of("feat_a.steady", "A") - 318.15 > 1.005 * rise);       /* HotSpot's is too cold */
    assert_true(last_of("feat_a.ttrace", "A") < last_of("feat_b.ttrace", "A")); /* and too fast */
    run(BASE "--network physical --refine 2 -steady_file feat_b.steady");
    check_close(steady_of("feat_a.steady", "A"), steady_of("feat_b.steady", "A"), 0, 0.05);
    run(BASE "--network physical -init_file feat_a.steady -o feat_a.ttrace");
    check_close(last_of("feat_a.ttrace", "A"), steady_of("feat_a.steady", "A"), 0, 1); /* block means alone */
    run(REDUCED "--method reduced --network physical -init_file feat_a.steady -o feat_b.ttrace");
    assert_true(difference("feat_a.ttrace", "feat_b.ttrace") <= 1e-3);
    assert_int_equal(run_to(BASE "--network physical --hotspot-compat", "feat.err"), 2);
    assert_true(holds("feat.err", "--network physical: not with --hotspot-compat"));
}

static void nothing_asked_for_is_dropped_in_silence(void **state)
{
    static const struct {
        const char *options, *says;
    } row[] = {
        {"--refine 2", "--refine is of --network physical"},
        {"--network physical --method lumped -o feat.ttrace", "lumped does not model the physical network"},
        {"--quiet -v", "--quiet does nothing beside --verbose"},
        {"--modes 9", "--modes is the reduced model's"},
        {"--max-memory 9", "--max-memory is the reduced model's"},
        {"-grid_transient_file feat.npy", "feat.npy: fields are written as text"},
        {"-steady_file feat.npy", "feat.npy: fields are written as text"}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char command[512];
        snprintf(command, sizeof command, BASE "%s", row[i].options);
        assert_int_equal(run_to(command, "feat.err"), 2);
        assert_true(holds("feat.err", row[i].says));
    }
    assert_int_equal(
        run_to("-c feat.config -f feat.flp -p feat.ptrace --method reduced --scheme be", "feat.err"), 2);
    assert_true(holds("feat.err", "--scheme be is the full grid's"));
    assert_int_equal(
        run_to("-c feat.config -f feat.flp -p feat.ptrace -model_type block --tolerance 0.1", "feat.err"), 2);
    assert_true(holds("feat.err", "--tolerance is the reduced model's"));
    run("-c feat.config -f feat.flp -p feat.ptrace --tolerance 0.1");
    assert_true(holds("feat.err", "do nothing without -o"));
    run(BASE "-grid_rows 8 -grid_rows 4");
    assert_true(holds("feat.err", "given more than once, the first counts, as in HotSpot: grid_rows"));
    run(BASE "-ambient 300"); /* of the configuration file, too: there the command line counts */
    assert_false(holds("feat.err", "more than once"));
}

static void the_cheaper_method_is_taken_and_said(void **state)
{
    FILE *f = fopen("feat_m.ptrace", "wb");
    fprintf(f, "A\tB\n");
    for (int i = 0; i < 40; i++) {
        fprintf(f, "%d\t%d\n", i % 7 * 5, i % 3 * 5);
    }
    fclose(f);
    scratch_write("feat_1.ptrace", "A\tB\n20\t5\n");
#define COMMON "-c feat.config -f feat.flp --precision 9 --no-cache "
    run(COMMON "-p feat_1.ptrace -grid_rows 32 -grid_cols 32 -o feat_a.ttrace -v");
    assert_true(holds("feat.err", "method grid: 1 rows"));
    run(COMMON "-p feat_m.ptrace -o feat_a.ttrace --verbose");
    assert_true(holds("feat.err", "method reduced: 40 rows"));
    run(COMMON "-p feat_m.ptrace -o feat_b.ttrace --method grid -v");
    assert_true(difference("feat_a.ttrace", "feat_b.ttrace") <= 1e-3);
    run(COMMON "-p feat_m.ptrace -o feat_b.ttrace --max-memory 1 -v"); /* still small enough */
    assert_true(holds("feat.err", "method reduced"));
    run(COMMON "-p feat_m.ptrace -grid_rows 48 -o feat_b.ttrace --max-memory 1 -v");
    assert_true(holds("feat.err", "method grid") && holds("feat.err", "--max-memory forbids that"));
    /* what the reduced model cannot do, the grid does */
    run(COMMON "-p feat_m.ptrace -r_convec 1e6 -sampling_intvl 1e-7 -o feat_a.ttrace");
    assert_true(holds("feat.err", "the full grid is used instead"));
    run(COMMON "-p feat_m.ptrace -r_convec 1e6 -sampling_intvl 1e-7 -o feat_b.ttrace --method grid");
    assert_true(same_bytes("feat_a.ttrace", "feat_b.ttrace"));
}

static void still_air_settles_in_steady_state_and_transient(void **state)
{
    run(BASE "-package_model_used 1 -natural_convec 1 -sampling_intvl 2000 -o feat_a.ttrace -steady_file "
             "feat_a.steady");
    const double rise = steady_of("feat_a.steady", "A") - 318.15;
    assert_true(rise > 20);
    check_close(last_of("feat_a.ttrace", "A") - 318.15, rise, 0.03, 0); /* steps of r_convec */
}

static void binary_traces_say_the_same(void **state)
{
    run(BASE "-o feat_t.npy");
    assert_true(holds("feat.err", "--precision does nothing with -o feat_t.npy"));
    run("-c feat.config -f feat.flp -p feat_t.npy -o feat_u.npy"); /* kelvins taken for watts: any numbers
                                                                      will do */
    run("-c feat.config -f feat.flp -p feat_t.npy -o feat_u.ttrace --precision 15");
    struct tmx_trace b;
    FILE *npy = fopen("feat_u.npy", "rb");
    double v[64];
    assert_non_null(npy);
    assert_int_equal(tmx_trace_read("feat_u.ttrace", &b, NULL), TMX_OK);
    const size_t n = b.n_row * b.n_column;
    assert_true(n <= 64 && fseek(npy, -(long)(n * sizeof *v), SEEK_END) == 0 &&
                fread(v, sizeof *v, n, npy) == n);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(v[i] - b.value[i]) < 1e-12);
    }
    fclose(npy);
    tmx_trace_finish(&b);
}

static void heat_may_leave_through_the_board(void **state)
{
    run(BASE "-model_secondary 1 -o feat_b.ttrace -steady_file feat_b.steady");
    assert_true(holds("feat_b.steady", "pcb_") && holds("feat_b.steady", "inode_27"));
    run(BASE "-model_secondary 1 -init_file feat_b.steady -o feat_c.ttrace");
    /* a start that dtm_used scales down: the silicon to the threshold, in HotSpot the board */
    run(BASE
        "-model_secondary 1 -init_file feat_b.steady -dtm_used 1 -thermal_threshold 319 -sampling_intvl 1e-7 "
        "-o feat_c.ttrace");
    check_close(fmax(last_of("feat_c.ttrace", "A"), last_of("feat_c.ttrace", "B")), 319, 0, 0.05);
    const double hot_board = fmax(steady_of("feat_b.steady", "pcb_A"), steady_of("feat_b.steady", "pcb_B"));
    const double scale = (319 - 318.15) / (hot_board - 318.15), a = steady_of("feat_b.steady", "A");
    assert_true(hot_board > 319.1 && a > hot_board + 1);
    run(BASE
        "-model_secondary 1 -init_file feat_b.steady -dtm_used 1 -thermal_threshold 319 -sampling_intvl 1e-7 "
        "--hotspot-compat --method grid -o feat_c.ttrace");
    check_close(last_of("feat_c.ttrace", "A"), 318.15 + scale * (a - 318.15), 0, 0.05);
    assert_int_equal(run_to(BASE "-model_secondary 1 -s_pcb 0.02", "feat.err"), 2);
    assert_true(
        holds("feat.err", "model_secondary: s_pcb = 0.02 m must be larger than the solder (s_solder)"));
    assert_int_equal(run_to(BASE "-model_secondary 1 --network physical", "feat.err"), 2);
    assert_true(holds("feat.err", "the physical network has no secondary path"));
}

/* What a file switches on and no model here computes is an error at its line, unless a closer place switches
 * it off. */
static double hottest_board(const char *flp)
{
    char layers[512];
    snprintf(layers, sizeof layers, "0\nY\nY\n1.75e6\n0.01\n1.5e-4\n%s\n1\nY\nN\n4e6\n0.25\n2e-5\nfeat.flp\n",
             flp);
    scratch_write("feat_b.lcf", layers);
    run("-c feat.config -p feat.ptrace -grid_layer_file feat_b.lcf -detailed_3D on -model_secondary 1 "
        "--precision 9 "
        "-steady_file feat_b.steady");
    return steady_of("feat_b.steady", "pcb_A");
}

/* Blocks' own materials are the die's: with those of its layer the board stays as it is without them. */
static void a_board_has_not_the_materials_of_the_dies_blocks(void **state)
{
    scratch_write("feat_m.flp", "A\t4e-3\t8e-3\t0\t0\t1.75e6\t0.01\nB\t4e-3\t8e-3\t4e-3\t0\t1.75e6\t0.01\n");
    const double plain_k = hottest_board("feat.flp");
    assert_true(plain_k > 319);
    check_close(hottest_board("feat_m.flp"), plain_k, 0, 1e-9);
}

/* HotSpot reads these on the command line alone. */
static void compat_takes_some_options_from_the_command_line_alone(void **state)
{
    scratch_write("feat.lcf",
                  "0\nY\nY\n1.75e6\n0.01\n1.5e-4\nfeat.flp\n1\nY\nN\n4e6\n0.25\n2e-5\nfeat.flp\n");
    scratch_write("feat_d.config",
                  "-grid_rows 9\n-grid_cols 11\n-grid_layer_file feat.lcf\n-detailed_3D on\n");
    scratch_write("feat_e.config", "-grid_rows 9\n-grid_cols 11\n-grid_layer_file feat.lcf\n");
#define COMPAT "--hotspot-compat -model_type grid -p feat.ptrace --precision 9 "
    run(COMPAT "-c feat_d.config -steady_file feat_a.steady");
    assert_true(holds("feat.err",
                      "not read from feat_d.config, as HotSpot reads them on the command line alone: "
                      "detailed_3D"));
    run(COMPAT "-c feat_e.config -steady_file feat_b.steady");
    assert_true(same_bytes("feat_a.steady", "feat_b.steady"));
    run(COMPAT "-c feat_e.config -detailed_3D on -steady_file feat_b.steady");
    assert_false(same_bytes("feat_a.steady", "feat_b.steady"));
    scratch_write("feat_d.config", "-f feat.flp\n-p feat.ptrace\n-model_type grid\n");
    assert_int_equal(run_to("--hotspot-compat -c feat_d.config -f feat.flp", "feat.err"), 2);
    assert_true(holds("feat.err", "no power trace: give -p FILE"));
}

/* Columns between commas, of which one is the time, and not of every block. */
static void a_table_of_powers_is_a_trace(void **state)
{
    scratch_write("feat_z.ptrace", "A\tB\n20\t0\n10\t0\n");
    scratch_write("feat_z.csv", "time_ms,A\n0,20\n10,10\n");
    run("-c feat.config -f feat.flp -p feat_z.ptrace -o feat_a.ttrace");
    run("-c feat.config -f feat.flp -p feat_z.csv -o feat_b.ttrace");
    assert_true(holds("feat.err", "feat_z.csv: no column, so 0 W: B"));
    assert_true(same_bytes("feat_a.ttrace", "feat_b.ttrace"));
    assert_int_equal(run_to("-c feat.config -f feat.flp -p feat_z.csv -sampling_intvl 1", "feat.err"), 2);
    assert_true(holds("feat.err", "sampling_intvl = 1 s, but the rows of feat_z.csv are 0.01 s apart"));
    scratch_write("feat_z.csv", "B,C\n1,2\n");
    assert_int_equal(run_to("-c feat.config -f feat.flp -p feat_z.csv", "feat.err"), 2);
    assert_true(holds("feat.err", "feat_z.csv:1: column 2: block \"C\" is not in the floorplan feat.flp"));
}

static void models_that_are_not_offered_are_refused(void **state)
{
    static const char *const key[] = {"use_microchannels 1", "use_microfluidic_cooling 1", "detailed_3D on"};
    static const char *const off[] = {"-use_microchannels 0", "-use_microfluidic_cooling 0",
                                      "-detailed_3D off"};
    for (size_t k = 0; k < 3; k++) {
        char text[300], where[80];
        snprintf(text, sizeof text, "-ambient 318.15\n-init_temp 318.15\n-%s\n", key[k]);
        scratch_write("feat_n.config", text);
        snprintf(where, sizeof where, "feat_n.config:3: %s", key[k]);
        assert_int_equal(run_to("-c feat_n.config -f feat.flp -p feat.ptrace -o feat_a.ttrace", "feat.err"),
                         2);
        assert_true(holds("feat.err", where));
        snprintf(text, sizeof text, "-c feat_n.config -f feat.flp -p feat.ptrace -o feat_a.ttrace %s",
                 off[k]);
        run(text);
    }
}

static void old_habits_are_warned_about(void **state)
{
    assert_int_equal(run_to(BASE "-model_type block --network physical", "feat.err"), 2);
    assert_true(holds("feat.err", "command line: model_type block: not with --network physical"));
    run(BASE "--hotspot-compat");
    assert_true(holds("feat.err", "HotSpot would take its block model"));
    run(BASE "--hotspot-compat -model_type grid");
    assert_false(holds("feat.err", "block model"));
    assert_int_equal(run_to(BASE "--verify-with /bin/true", "feat.err"), 2);
    assert_true(holds("feat.err", "on these files HotSpot takes its block model"));
    run(BASE "-htc 1e4");
    assert_false(holds("feat.err", "htc")); /* only what matters; the rest with -v */
    scratch_write("feat.lcf",
                  "0\nY\nY\n1.75e6\n0.01\n1.5e-4\nfeat.flp\n1\nY\nN\n4e6\n0.25\n2e-5\nfeat.flp\n");
    run("-c feat.config -p feat.ptrace -f feat.flp -grid_layer_file feat.lcf -detailed_3D on -steady_file "
        "feat_a.steady");
    assert_true(holds("feat.err", "-f feat.flp is ignored"));
    assert_true(holds("feat.err", "hotter, the more so the more watts"));
}

static void the_options_can_be_dumped_and_used_again(void **state)
{
    run(BASE "-r_convec 0.7 -d feat.dump -steady_file feat_a.steady");
    run("-c feat.dump -d feat.dump2 --precision 9 -steady_file feat_b.steady");
    assert_true(same_bytes("feat_a.steady", "feat_b.steady"));
}

static void help_shows_an_example_and_every_option(void **state)
{
    run("--help");
    assert_true(holds("feat.out", "thermix thermal -c chip.config -f chip.flp -p power.ptrace"));
    assert_true(holds("feat.out", "-grid_transient_file"));
    assert_true(holds("feat.out", "--hotspot-compat"));
    run("--version");
    assert_true(holds("feat.out", "thermix "));
}

TMX_TESTS(test_thermal_features)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_ignore_case_and_line_ends_do_not_count),
        cmocka_unit_test(the_command_line_beats_the_file_and_the_first_of_two_wins),
        cmocka_unit_test(without_outputs_the_steady_state_is_printed),
        cmocka_unit_test(a_steady_file_is_a_start),
        cmocka_unit_test(compat_starts_partly_covered_cells_too_cold),
        cmocka_unit_test(leakage_in_a_transient_ends_at_its_steady_state),
        cmocka_unit_test(leakage_is_of_second_order_in_the_row),
        cmocka_unit_test(leakage_that_runs_away_fails_and_writes_nothing),
        cmocka_unit_test(a_faster_fan_cools_better_and_its_file_counts),
        cmocka_unit_test(hottest_cells_and_fields_are_as_accurate_as_means),
        cmocka_unit_test(a_sink_that_hardly_cools_is_right),
        cmocka_unit_test(a_model_that_misses_its_tolerance_by_far_is_an_error),
        cmocka_unit_test(the_physical_network_takes_the_same_files),
        cmocka_unit_test(nothing_asked_for_is_dropped_in_silence),
        cmocka_unit_test(the_cheaper_method_is_taken_and_said),
        cmocka_unit_test(still_air_settles_in_steady_state_and_transient),
        cmocka_unit_test(binary_traces_say_the_same),
        cmocka_unit_test(heat_may_leave_through_the_board),
        cmocka_unit_test(a_board_has_not_the_materials_of_the_dies_blocks),
        cmocka_unit_test(compat_takes_some_options_from_the_command_line_alone),
        cmocka_unit_test(a_table_of_powers_is_a_trace),
        cmocka_unit_test(models_that_are_not_offered_are_refused),
        cmocka_unit_test(old_habits_are_warned_about),
        cmocka_unit_test(the_options_can_be_dumped_and_used_again),
        cmocka_unit_test(help_shows_an_example_and_every_option),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
