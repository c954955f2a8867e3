/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/scratch.h"

#include <string.h>

#include "thermal/assembly/spec.h"
#include "thermal/files/hotspot_config.h"

static const char PATH[] = "hotspot_config_test.config";

static enum tmx_status read_text(struct tmx_hotspot_config *cfg, const char *text, char message[1600])
{
    struct tmx_err err = {0};
    scratch_write(PATH, text);
    const enum tmx_status st = tmx_hotspot_config_read(cfg, PATH, TMX_HOTSPOT_CONFIG, &err);
    tmx_err_format(&err, message, 1600);
    return st;
}

static void defaults_are_hotspots_but_for_model_and_map(void **state)
{
    struct tmx_hotspot_config cfg;
    tmx_hotspot_config_init(&cfg);
    assert_true(cfg.t_chip == 1.5e-4 && cfg.k_chip == 100 && cfg.p_chip == 1.75e6);
    assert_true(cfg.package.c_convec_j_per_k == 140.4 && cfg.package.r_convec_k_per_w == 0.1 &&
                cfg.ambient == 318.15 && cfg.init_temp == 333.15);
    assert_true(cfg.sampling_intvl == 3.333e-6 && cfg.thermal_threshold == 354.95);
    assert_true(cfg.grid_rows == 64 && cfg.grid_cols == 64);
    assert_int_equal(cfg.model_type, TMX_HOTSPOT_GRID);
    assert_int_equal(cfg.grid_map_mode, TMX_MAP_AREA);
    assert_string_equal(cfg.init_file, "");
}

static void the_first_occurrence_wins_whatever_its_case(void **state)
{
    struct tmx_hotspot_config cfg;
    char message[1600];
    tmx_hotspot_config_init(&cfg);
    assert_int_equal(tmx_hotspot_config_set(&cfg, "R_Convec", "0.7", TMX_HOTSPOT_COMMAND_LINE, 0, NULL),
                     TMX_OK);
    assert_int_equal(
        read_text(&cfg,
                  "# package\r\n-r_convec 0.2 rest ignored\n\n-T_SINK 0.01\n-t_sink 0.02\n"
                  "-grid_map_mode AVG\n-init_file (null)\n-detailed_3D on\n-n_metal 8\n-t_metal 2e-5\n"
                  "-use_microchannels 1\n-model_secondary 1\n-k_sink 237",
                  message),
        TMX_OK);
    assert_true(cfg.package.r_convec_k_per_w == 0.7 && cfg.package.t_sink_m == 0.01 &&
                cfg.package.k_sink == 237);
    assert_true(cfg.detailed_3D);
    assert_int_equal(cfg.grid_map_mode, TMX_MAP_AVG);
    assert_string_equal(cfg.ignored, "n_metal");
    assert_true(cfg.use_microchannels);
    assert_true(cfg.model_secondary && cfg.t_metal == 2e-5 && cfg.s_pcb == 0.1);
    assert_true(tmx_hotspot_config_given(&cfg, "k_sink") && !tmx_hotspot_config_given(&cfg, "k_chip"));
}

static void what_is_printed_reads_back(void **state)
{
    struct tmx_hotspot_config cfg, again;
    char message[1600];
    tmx_hotspot_config_init(&cfg);
    tmx_hotspot_config_init(&again);
    assert_int_equal(
        read_text(&cfg, "-t_chip 1.2345678901234567e-4\n-f a.flp\n-rpm 3000\n-leakage_used 1\n", message),
        TMX_OK);
    FILE *f = fopen(PATH, "wb");
    tmx_hotspot_config_print(&cfg, f);
    fclose(f);
    char text[8192] = "";
    f = fopen(PATH, "rb");
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_null(strstr(text, "-material_")); /* HotSpot would look for a material "(null)" */
    assert_non_null(strstr(text, "-f a.flp\n"));
    assert_int_equal(tmx_hotspot_config_read(&again, PATH, TMX_HOTSPOT_CONFIG, NULL), TMX_OK);
    assert_true(again.t_chip == cfg.t_chip && again.fan.rpm == 3000 && again.leakage_used);
    assert_string_equal(again.f, "a.flp");
}

static void malformed_options_name_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"-r_convecc 0.2\n", ".config:1: unknown option \"-r_convecc\", did you mean \"-r_convec\"?"},
        {"\n-r_convec\n", ".config:2: option \"-r_convec\" has no value"},
        {"r_convec 1\n", ".config:1: \"r_convec\": expected -name value"},
        {"-r_convec 0,2\n", ".config:1: r_convec: \"0,2\" has a decimal comma; write a point [K/W]"},
        {"-r_convec nan\n", "\"nan\" is not a finite number"},
        {"-t_chip 1e999\n", "\"1e999\" is too large for a number"},
        {"-t_chip -1e-4\n", "t_chip = -0.0001 m is outside [1e-09, 1]"},
        {"-k_chip 13000\n", "k_chip = 13000 W/(m K) is outside [0.01, 5000]"},
        {"-k_interface 0.004\n", "k_interface = 0.004 W/(m K) is outside [0.01, 5000]"},
        {"-ambient 45\n", "ambient = 45 K looks like degrees Celsius; temperatures are in kelvin (318.15)"},
        {"-init_temp 60\n", "looks like degrees Celsius"},
        {"-ambient -300\n", "ambient = -300 K is outside [200, 1000]"},
        {"-grid_rows 1\n", "grid_rows = 1 is outside [2, 4096]"},
        {"-grid_rows 6.5\n", "grid_rows = 6.5: expected an integer"},
        {"-grid_map_mode mean\n", "expected one of area, avg, min, max, center"},
        {"-leakage_mode 1\n", "leakage_mode = 1 is outside [0, 0]"},
        {"-leakage_used yes\n", "leakage_used = \"yes\": expected 0 or 1"},
        {"-sampling_intvl 0\n", "sampling_intvl = 0 s is outside"},
        {"-t_sink 0.01\n-t_sink x\n", ".config:2: t_sink: \"x\" is not a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_hotspot_config cfg;
        char message[1600];
        tmx_hotspot_config_init(&cfg);
        assert_int_equal(read_text(&cfg, rows[i].text, message), TMX_ECONFIG);
        if (!strstr(message, rows[i].message)) {
            fail_msg("got \"%s\", expected \"%s\"", message, rows[i].message);
        }
    }
}

static void a_package_file_holds_fan_keys_only(void **state)
{
    struct tmx_hotspot_config cfg;
    struct tmx_err err = {0};
    tmx_hotspot_config_init(&cfg);
    scratch_write(PATH, "-rpm 2000\n-sink_type 1\n");
    assert_int_equal(tmx_hotspot_config_read(&cfg, PATH, TMX_HOTSPOT_PACKAGE, &err), TMX_OK);
    assert_true(cfg.fan.rpm == 2000 && cfg.sink_type == 1);
    scratch_write(PATH, "-t_chip 1e-4\n");
    assert_int_equal(tmx_hotspot_config_read(&cfg, PATH, TMX_HOTSPOT_PACKAGE, &err), TMX_ECONFIG);
    assert_non_null(strstr(err.msg, "no option of a package file"));
}

TMX_TESTS(test_hotspot_config)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_hotspots_but_for_model_and_map),
        cmocka_unit_test(the_first_occurrence_wins_whatever_its_case),
        cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(malformed_options_name_their_line),
        cmocka_unit_test(a_package_file_holds_fan_keys_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
