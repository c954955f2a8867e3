/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/scratch.h"

#include <string.h>

#include "base/trace.h"
#include "thermal/files/hotspot_lcf.h"
#include "thermal/files/stack.h"

static const char MATERIALS[] = "silicon\nsolid\n130.0\n1630300\n# x\nwater\nfluid\n0.6\n4172638\n8.89e-4\n"
                                "aluminum\nsolid\n237.0\n2.422e6";

static void write_files(void)
{
    scratch_write("st_a.flp", "A 5e-3 1e-2 0 0\nB 5e-3 1e-2 5e-3 0\n");
    scratch_write("st_one.flp", "ALL 10.0004e-3 1e-2 0 0\n");
    scratch_write("st_big.flp", "ALL 12e-3 1e-2 0 0\n");
    scratch_write("st.materials", MATERIALS);
    scratch_write("st.lcf",
                  "# stack\n1\nN\nN\n4e6\n0.25\n2e-5\nst_one.flp\n\n0\nY\nY\nsilicon\n1e-4\nst_a.flp");
}

static enum tmx_status create(const char *options, struct tmx_stack *s, char message[1600])
{
    struct tmx_hotspot_config cfg;
    struct tmx_stack_options opt = {0};
    struct tmx_err err = {0};
    tmx_hotspot_config_init(&cfg);
    *s = (struct tmx_stack){0};
    scratch_write("st.config", options);
    enum tmx_status st = tmx_hotspot_config_read(&cfg, "st.config", TMX_HOTSPOT_CONFIG, &err);
    st = st ? st : tmx_stack_create(&cfg, &opt, NULL, s, &err);
    tmx_err_format(&err, message, 1600);
    return st;
}

static void a_plain_chip_is_silicon_on_an_interface(void **state)
{
    struct tmx_stack s;
    char message[1600];
    write_files();
    assert_int_equal(create("-f st_a.flp\n-materials_file st.materials\n-material_chip silicon\n-k_chip 90\n"
                            "-material_sink aluminum\n-grid_rows 39\n",
                            &s, message),
                     TMX_OK);
    assert_int_equal(s.spec.n_layer, 2);
    assert_true(s.layer[0].k_w_per_mk == 130 && s.layer[0].p_j_per_m3k == 1630300);
    assert_true(s.layer[0].dissipates && !s.layer[1].dissipates && s.layer[1].lateral);
    assert_true(s.layer[1].k_w_per_mk == 4 && s.layer[1].thickness_m == 2e-5);
    assert_true(s.spec.package.k_sink == 237 && s.spec.package.k_spreader == 400);
    assert_true(s.spec.rows == 39 && s.spec.cols == 64);
    tmx_stack_finish(&s);
}

static void a_layer_file_names_layers_in_any_order(void **state)
{
    struct tmx_stack s;
    char message[1600];
    write_files();
    assert_int_equal(create("-grid_layer_file st.lcf\n-materials_file st.materials\n", &s, message), TMX_OK);
    assert_int_equal(s.spec.n_layer, 2);
    assert_true(s.layer[0].dissipates && s.layer[0].k_w_per_mk == 130);
    assert_true(!s.layer[1].lateral && s.layer[1].k_w_per_mk == 4 && s.layer[1].p_j_per_m3k == 4e6);
    /* 0.4 um of rounding is taken out */
    check_close(tmx_floorplan_width_m(&s.floorplan[1]), tmx_floorplan_width_m(&s.floorplan[0]), 1e-15, 0);
    tmx_stack_finish(&s);
}

#define PLACED "0\nY\nN\n1.7e6\n0.01\n1e-4\nst_big.flp\n1\nY\nY\n1.7e6\n0.01\n5e-4\nst_a.flp\n"
static void dies_lie_side_by_side_in_a_layer(void **state)
{
    struct tmx_stack s;
    char message[1600];
    write_files();
    scratch_write("st_hbm.flp", "stack 1e-3 4e-3 0.7 0.8 1.6e6 0.05\n");
    scratch_write("st.lcf", PLACED "at 0.5e-3 0\nplace st_hbm.flp 10.75e-3 1e-3 hbm0_\n"
                                   "place st_hbm.flp 10.75e-3 5e-3 hbm1_\nfiller 1.5e6 2\n");
    if (create("-grid_layer_file st.lcf\n", &s, message) != TMX_OK) {
        fail_msg("%s", message);
    }
    const struct tmx_floorplan *fp = s.layer[1].floorplan;
    assert_int_equal(fp->n_unit, 4);
    assert_string_equal(fp->unit[3].name, "hbm1_stack");
    check_close(fp->unit[0].x_m, 0.5e-3, 1e-12, 0);
    check_close(fp->unit[3].x_m, 10.75e-3, 1e-12, 0);
    check_close(fp->unit[3].y_m, 5e-3, 1e-12, 0);
    check_close(fp->unit[3].resistivity_mk_per_w, 0.05, 1e-12, 0);
    check_close(tmx_thermal_spec_width_m(&s.spec), 12e-3, 1e-12, 0);
    assert_true(s.layer[1].filler_k_w_per_mk == 0.5 && s.layer[0].filler_k_w_per_mk == 0);
    tmx_stack_finish(&s);
    scratch_write("st_gap.flp", "A 5e-3 1e-2 0 0\nH 2e-3 1e-2 8e-3 0 1.6e6 0.05\n");
    assert_int_equal(create("-f st_gap.flp\n-k_filler 0.8\n", &s, message), TMX_OK);
    assert_true(s.layer[0].filler_k_w_per_mk == 0.8 && s.layer[0].filler_p_j_per_m3k == 1.7e6);
    assert_true(s.layer[1].filler_k_w_per_mk == 0);
    tmx_stack_finish(&s);
    assert_int_equal(create("-f st_gap.flp\n", &s, message), TMX_EPARSE); /* gaps are a mistake without it */
    tmx_stack_finish(&s);
}

static void faults_name_their_place(void **state)
{
    static const struct {
        const char *options, *lcf, *message;
    } rows[] = {
        {"-k_chip 100\n", NULL, "no floorplan: give -f FILE"},
        {"-f st_nowhere.flp\n", NULL, "st_nowhere.flp: cannot open"},
        {"-f st_a.flp\n-s_spreader 0.009\n", NULL,
         "st_a.flp:1: the die (10 x 10 mm) must be smaller than the spr"},
        {"-f st_a.flp\n-s_sink 0.02\n", NULL,
         "st.config:2: the spreader (s_spreader = 0.03 m) must be smaller"},
        {"-f st_a.flp\n-material_chip silicon\n", NULL,
         "st.config:2: material_chip: unknown material \"silicon\"; no mat"},
        {"-f st_a.flp\n-materials_file st.materials\n-material_chip silicom\n", NULL,
         "unknown material \"silicom\", did you mean \"silicon\"?"},
        {"-grid_layer_file st.lcf\n",
         "0\nY\nY\n1e6\n0.01\n1e-4\nst_a.flp\n1\nY\nN\n1e6\n0.01\n1e-4\nst_big.flp\n",
         "st.lcf:8: layer 1 (st_big.flp) is 12 x 10 mm, layer 0 (st_a.flp) is 10 x 10 mm"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\n1e6\n0.01\n1e-4\n",
         "st.lcf:6: the file ends before the floorplan file"},
        {"-grid_layer_file st.lcf\n", "0\nY\nMaybe\n",
         "st.lcf:3: power dissipation \"Maybe\": expected Y or N"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\n1e6\n130\n",
         "st.lcf:5: resistivity [m K/W] = 130 is outside"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\n1foo\n",
         "st.lcf:4: heat capacity [J/(m3 K)] \"1foo\" is not a number"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\nsilicon\n",
         "st.lcf:4: unknown material \"silicon\"; no materials"},
        {"-grid_layer_file st.lcf\n", "1\nY\nY\n1e6\n0.01\n1e-4\nst_a.flp\n", "layer 0 of 0..1 is missing"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\n1e6\n0.01\n1e-4\nst_a.flp\n0\n",
         "st.lcf:8: layer 0 given twice"},
        {"-grid_layer_file st.lcf\n", "0\nY\nY\n1e6\n0.01\n1e-4\nx.csv\n",
         "layer 0: a map of micro-channels (x.csv) needs -use_microchannels 1"},
        {"-grid_layer_file st.lcf\n", "0\nY\nN\n1e6\n0.01\n1e-4\nst_a.flp\n", "no layer dissipates power"},
        {"-grid_layer_file st.lcf\n", "\n", "no layers"},
        {"-grid_layer_file st.lcf\n", PLACED "at 0 0\n",
         "st.lcf:8: layer 1: its floorplans are placed, so a line \"filler MATERIAL\""},
        {"-grid_layer_file st.lcf\n", PLACED "filler 1.5e6 2\n",
         "st.lcf:8: layer 1 (st_a.flp) is 10 x 10 mm in a stack of 12 x 10 mm: a line \"at X Y\""},
        {"-grid_layer_file st.lcf\n", PLACED "at 5e-3 0\nfiller 1.5e6 2\n",
         "st.lcf:8: layer 1: its floorplans reach to 15 x 10 mm, the stack is 12 x 10 mm"},
        {"-grid_layer_file st.lcf\n", PLACED "at 0\n", "st.lcf:15: expected the place X Y [m]"},
        {"-grid_layer_file st.lcf\n", PLACED "at 0 0 0\n", "st.lcf:15: at: unexpected \"0\""},
        {"-grid_layer_file st.lcf\n", PLACED "filler mould\n", "st.lcf:15: unknown material \"mould\""},
        {"-grid_layer_file st.lcf\n", PLACED "filler 1.5e6\n", "st.lcf:15: filler: expected heat capacity"},
        {"-grid_layer_file st.lcf\n", PLACED "filler 1.5e6 1\nfiller 1.5e6 1\n",
         "st.lcf:16: filler: given twice"},
        {"-grid_layer_file st.lcf\n", PLACED "at 0 0\nplace st_a.flp 1e-3 0 b_\nfiller 1.5e6 1\n", "overlap"},
        {"-grid_layer_file st.lcf\n", "at 0 0\n", "st.lcf:1: layer number \"at\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_stack s;
        char message[1600];
        write_files();
        if (rows[i].lcf) {
            scratch_write("st.lcf", rows[i].lcf);
        }
        const enum tmx_status st = create(rows[i].options, &s, message);
        if (st == TMX_OK || !strstr(message, rows[i].message)) {
            fail_msg("got \"%s\", expected \"%s\"", message, rows[i].message);
        }
        assert_int_equal(tmx_status_exit_code(st), 2);
        tmx_stack_finish(&s);
    }
}

static void malformed_materials_name_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"si\nsolid\n-1\n1e6\n", "st.materials:3: conductivity [W/(m K)] = -1 is outside"},
        {"si\nliquid\n", "st.materials:2: \"liquid\": expected solid or fluid"},
        {"si\nsolid\n130\n", "st.materials:3: the file ends before the heat capacity"},
        {"si\nsolid\n1,3\n", "st.materials:3: conductivity [W/(m K)] \"1,3\" has a decimal comma"},
        {"si\nsolid\n1\n1e6\nsi\n", "st.materials:5: material \"si\" given twice (first at line 1)"},
        {"w\nfluid\n0.6\n4e6\n", "the file ends before the dynamic viscosity"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_materials m;
        struct tmx_err err = {0};
        char message[1600];
        scratch_write("st.materials", rows[i].text);
        assert_int_equal(tmx_materials_read("st.materials", &m, &err), TMX_EPARSE);
        tmx_err_format(&err, message, sizeof message);
        if (!strstr(message, rows[i].message)) {
            fail_msg("got \"%s\", expected \"%s\"", message, rows[i].message);
        }
        tmx_materials_finish(&m);
    }
}

static void trace_columns_find_their_units(void **state)
{
    static const struct {
        const char *text, *message; /* message NULL: accepted */
    } rows[] = {
        {"b a\n1 2\n", NULL},
        {"A B C\n1 2 3\n", "st.ptrace:1: column 3: block \"C\" is in no floorplan"},
        {"A B a\n1 2 3\n", "column 3: block \"a\" is given twice"},
        {"A\n1\n", "st.ptrace:1: block \"B\" of the floorplan st_a.flp has no column"},
        {"A a\n1 2\n", "st.ptrace:1: column 2: block \"a\" given twice"},
        {"A BB\n1 2\n", "column 2: block \"BB\" is not in the floorplan st_a.flp, did you mean \"B\"?"},
    };
    struct tmx_stack s;
    char message[1600];
    write_files();
    assert_int_equal(create("-f st_a.flp\n", &s, message), TMX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_trace t;
        struct tmx_err err = {0};
        size_t unit_of[3] = {9, 9, 9};
        scratch_write("st.ptrace", rows[i].text);
        assert_int_equal(tmx_trace_read("st.ptrace", &t, NULL), TMX_OK);
        const enum tmx_status st = tmx_stack_columns(&s, &t, unit_of, &err);
        tmx_err_format(&err, message, sizeof message);
        if (rows[i].message ? st == TMX_OK || !strstr(message, rows[i].message) : st != TMX_OK) {
            fail_msg("got \"%s\", expected \"%s\"", message, rows[i].message ? rows[i].message : "");
        }
        if (!rows[i].message) {
            assert_true(unit_of[0] == 1 && unit_of[1] == 0);
        }
        tmx_trace_finish(&t);
    }
    tmx_stack_finish(&s);
}

static void a_package_file_gives_a_package(void **state)
{
    struct tmx_stack s;
    char message[1600];
    write_files();
    assert_int_equal(create("-f st_a.flp\n-s_sink 0.09\n-r_convec 0.5\n", &s, message), TMX_OK);
    const struct tmx_package *p = &s.spec.package;
    assert_true(p->s_sink_m == 0.09 && p->r_convec_k_per_w == 0.5 && p->k_spreader == 400);
    tmx_stack_finish(&s);
}

TMX_TESTS(test_stack)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_chip_is_silicon_on_an_interface),
        cmocka_unit_test(a_layer_file_names_layers_in_any_order),
        cmocka_unit_test(dies_lie_side_by_side_in_a_layer),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(malformed_materials_name_their_line),
        cmocka_unit_test(trace_columns_find_their_units),
        cmocka_unit_test(a_package_file_gives_a_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
