/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations that a run refuses or warns of: what is said, and of which line. */
#include <string.h>

#include "base/config.h"
#include "run/state.h"
#include "tests/support/check.h"

/* Line 1 is right; line 2 is under test. */
static enum tmx_status describe(const char *line, char *note, size_t size, struct tmx_err *err)
{
    char text[1024];
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    snprintf(text, sizeof text, "mix = \"WL1\"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;\n%s\n", line);
    assert_int_equal(tmx_config_parse(&cfg, text, "run.cfg", err), TMX_OK);
    const enum tmx_status st =
        tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, err);
    snprintf(note, size, "%s", run ? run->warning : "");
    tmx_run_destroy(run);
    tmx_config_close(cfg);
    return st;
}

static void what_cannot_be_meant_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"sensor = 5;", "expected a group"},
        {"thermal = [1];", "found an array"},
        {"package = \"a\";", "found a \"text\""},
        {"gpus = 4294967297;", "gpus = 4294967297 is outside"},
        {"zzz = 1;", "unknown key"},
        {"tick = \"event\";", "tick"},
        {"tick = 0.01;", "tick"},
        {"tick = \"events\"; method = \"grid\";",
         "takes no steps of any length: expected method = \"reduced\""},
        {"tick = \"events\"; cta = { policy = \"all\"; };", "group cta goes by fixed ticks"},
        {"smooth = { floor = 101.0; };", "floor = 101 % is outside [0, 100]"},
        {"smooth = { ramp_up_w_per_s = 0.0; };", "ramp_up_w_per_s = 0 W/s is outside"},
        {"smooth = { ramp_down_w_per_s = -1.0; };", "ramp_down_w_per_s = -1 W/s is outside"},
        {"smooth = { hysteresis_s = 1.0; };", "hysteresis_s does nothing here: expected a smooth.floor"},
        {"smooth = { prime_s = 1.0; };", "prime_s does nothing here: expected a smooth.floor"},
        {"smooth = { floor = 50.0; hysteresis_s = 0.001; };",
         "hysteresis_s = 0.001 is shorter than tick_s = 0.01"},
        {"store = { joules = -1.0; watts = 1.0; };", "joules = -1 J is outside"},
        {"store = { joules = 1.0; watts = 1.0; efficiency = 1.01; };", "efficiency = 1.01 is outside"},
        {"store = { watts = 1.0; };", "store: expected both joules and watts above 0, or neither"},
        {"store = { efficiency = 0.9; };", "store.efficiency does nothing here"},
        {"row = { policy = \"stagger\"; };", "row policy stagger does nothing here: expected sync_job.jobs"},
        {"row = { telemetry_s = 1.0; };", "row policy none does nothing here"},
        {"row = { policy = \"polca\"; };", "row policy polca does nothing here: it asks for clocks"},
        {"row = { policy = \"smooth_row\"; ramp_w_per_s = 0.0; };", "ramp_w_per_s = 0 W/s is outside"},
        {"tick = \"events\"; row = { policy = \"smooth_row\"; };", "expected tick = \"fixed\""},
        {"row = { policy = \"smooth_row\"; telemetry_s = 0.125; };", "is not a multiple of tick_s"},
        {"loop = { ua_w_per_k = 5.0; };", "loop does nothing here"},
        {"topology = \"gtx690\"; loop = { ua_w_per_k = 5.0; };", "is cooled by air"},
        {"topology = \"gtx690\"; loop = { flow = 5.0; };", "loop: expected ua_w_per_k above 0"},
        {"topology = \"gtx690\"; inlet = ( { time_s = 1.0; inlet_c = 20.0; }, { time_s = 1.0; inlet_c = "
         "20.0; } );",
         "inlet: time_s does not rise"},
        {"topology = \"gtx690\"; inlet = \"nowhere.csv\";", "inlet: no such file"},
        {"topology = \"gtx690\"; inlet_c = 20.0; inlet = \"nowhere.csv\";", "are the same air"},
        {"smooth = { secondary_floor_w = -1.0; };", "secondary_floor_w = -1 W is outside"},
        {"chip = \"a40\"; dtm = { policy = \"boost\"; }; smooth = { floor = 50.0; secondary_floor_w = 151.0; "
         "};",
         "secondary_floor_w = 151 is above the floor"},
        {"smooth = { floor = 50.0; };", "gtx280 states no power limit"},
        {"tick = \"events\"; smooth = { ramp_up_w_per_s = 9.0; };", "smooth: expected tick = \"fixed\""},
        {"chip = \"a40\"; dtm = { policy = \"boost\"; power_cap_w = 200.0; }; smooth = { floor = 70.0; };",
         "smooth.floor = 70 percent of 300 W is above the power cap of GPU 0, 200 W"},
        {"chip = \"nochip\";", "no chip \"nochip\""},
        {"policy = \"nopolicy\";", "no such preset"},
        {"topology = \"nosystem\";", "no topology \"nosystem\""},
        {"method = \"nomethod\";", "unknown thermal back-end"},
        {"floorplan = \"nowhere.flp\";", "floorplan: "},
        {"sms_off = \"99\";", "expected numbers of SMs"},
        {"sms_off = \"a-b\";", "expected numbers of SMs"},
        {"throttle = { policy = \"dvfs\"; };", "cannot stop a core"},
        {"throttle = { policy = \"nothing\"; };", "unknown dtm policy"},
        {"throttle = { trip_c = 80.0; release_c = 85.0; };", "above trip_c = 80"},
        {"dtm = { policy = \"dvfs\"; emergency_c = 70.0; release_c = 75.0; };", "above emergency_c = 70"},
        {"throttle = { policy = \"none\"; }; emergency_below_trip_k = 1.0;", "has no trip point"},
        {"emergency_below_trip_k = 1.0;", "no policy of this run"},
        {"policy = \"DVFS\"; emergency_below_trip_k = 1.0; dtm = { emergency_c = 70.0; };",
         "under a trip point of 90 degC is 89"},
        {"fan = { policy = \"curve\"; };", "none is given"},
        {"fan_failures = ( { fan = \"f\"; at_s = 1.0; } );", "none is given"},
        {"fan_period_s = 1.0;", "none is given"},
        {"link = \"T9\";", "none is given"},
        {"topology = \"gtx280x2\"; gpus = 2;", "gpus does nothing here"},
        {"topology = \"gtx280x2\"; chip = \"gtx280\";", "chip does nothing here"},
        {"topology = \"gtx280x2\"; link = \"T9\";", "no such link"},
        {"topology = \"gtx280x2\"; fan_failures = ( { fan = \"nofan\"; at_s = 1.0; } );", "no fan \"nofan\""},
        {"topology = \"gtx280x2\"; fan_failures = ( { fan = \"fan0\"; at_s = 1.0; }, { fan = \"fan0\"; } );",
         "\"fan0\" stops twice"},
        {"topology = \"gtx280x2\"; fan_failures = ( ( 1 ) );", "found a list"},
        {"topology = \"gtx280x2\"; fan_failures = 5;", "found an integer"},
        {"topology = \"gtx280x2\"; fan = { policy = \"nofan\"; };", "unknown fan policy"},
        {"topology = \"gtx280x2\"; power_caps_w = ( 1.0, 2.0, 3.0 );", "power_caps_w"},
        {"power_caps_w = ( -5.0 );", "expected watts"},
        {"power_caps_w = ( 100.0 );", "keeps none"},
        {"topology = \"hgx-b200\"; chip_power = { leakage_w = 1.0; };", "more than one kind of chip"},
        {"package = { f = \"x.flp\"; };", "package.f does nothing in a run"},
        {"package = { leakage_used = 1; };", "leakage_used does nothing"},
        {"package = { init_file = \"x\"; };", "init_file does nothing"},
        {"package = { zzz = 1; };", "unknown option"},
        {"package = { r_convec = \"much\"; };", "is not a number"},
        {"package = { r_convec = -1.0; };", "is outside"},
        {"package = { r_convec = { }; };", "expected a number"},
        {"package = { detailed_3D = \"on\"; };", "without a grid_layer_file"},
        {"package = { use_microchannels = 1; };", "without a grid_layer_file"},
        {"package = { materials_file = \"nowhere.materials\"; };", "materials_file: nowhere.materials"},
        {"package = { grid_layer_file = \"nowhere.lcf\"; };", "grid_layer_file: nowhere.lcf"},
        {"package = { material_chip = \"unobtainium\"; };", "unknown material"},
        {"chip_power = { leakage_w = -1.0; };", "is outside"},
        {"chip_power = 5;", "expected a group"},
        {"sensor = { period_s = 0.015; };", "not a multiple of tick_s"},
        {"sensor = { zzz = 1; };", "unknown key"},
        {"quantum_s = 0.015;", "not a multiple of tick_s"},
        {"gate = { policy = \"nogate\"; };", "unknown gating policy"},
        {"gate = { policy = \"convpg\"; instructions = 0; };", "is outside"},
        {"chip = \"c1060\"; gate = { policy = \"convpg\"; };", "sm.cfg"},
        {"cta = { policy = \"nocta\"; };", "unknown CTA policy"},
        {"cta = { policy = \"tcs\"; epoch_cycles = -1; };", "is outside"},
        {"job = { policy = \"nojob\"; };", "unknown job policy"},
        {"job = { policy = \"consolidate\"; node = \"nonode\"; };", "no node \"nonode\""},
        {"sync_job = 5;", "expected a group"},
        {"sync_job = { zzz = 1; };", "unknown key"},
        {"modules = [\"./nowhere.so\"];", "modules: ./nowhere.so"},
        {"modules = [1];", "modules"},
        {"mix_policy = { policy = \"alternate\"; slice_s = 0.0123; };", "not a multiple of tick_s"},
        {"mix_policy = { policy = \"nomix\"; };", "unknown mix policy"},
        {"place = { policy = \"noplace\"; };", "unknown place policy"},
        {"tb = { policy = \"notb\"; };", "unknown thread-block policy"},
        {"threads = 0;", "is outside"},
        {"network = \"none\";", "expected one of"},
        {"queue = \"long\";", "expected one of"},
        {"stopped_blocks = \"die\";", "expected one of"},
        {"forecast = { zzz = 1; };", "unknown key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_err err = {0};
        char note[512];
        const enum tmx_status st = describe(rows[i].line, note, sizeof note, &err);
        if (tmx_status_exit_code(st) != 2 || err.line != 2 || !strstr(err.msg, rows[i].says)) {
            fail_msg("%s\n-> %d, line %u: %s", rows[i].line, (int)st, err.line, err.msg);
        }
    }
}

/* Known only when the thermal model is made. */
static void options_of_a_back_end_that_do_not_fit_have_their_line(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"thermal = { share_sinks = true; r_convec_low = 0.1; r_convec_high = 0.2; };",
         "expected no r_convec"},
        {"thermal = { r_convec_low = 0.2; r_convec_high = 0.1; };", "expected two resistances"},
        {"thermal = { r_convec_low = 1e-3; r_convec_high = 2e-3; };", "is outside r_convec_low"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        struct tmx_err err = {0};
        struct tmx_config *cfg = NULL;
        struct tmx_run *run = NULL;
        snprintf(text, sizeof text, "mix = \"WL1\"; seed = 1; rows = 8; cols = 8;\n%s\n", rows[i].line);
        assert_int_equal(tmx_config_parse(&cfg, text, "run.cfg", &err), TMX_OK);
        const enum tmx_status st = tmx_run_create(&run, tmx_config_root(cfg), NULL, &err);
        tmx_config_close(cfg);
        if (tmx_status_exit_code(st) != 2 || err.line != 2 || !strstr(err.msg, rows[i].says)) {
            fail_msg("%s\n-> %d, line %u: %s", rows[i].line, (int)st, err.line, err.msg);
        }
    }
}

static void what_cannot_act_is_warned_of(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"policy = \"DVFS\"; dtm = { emergency_c = 99.0; };", "dtm.emergency_c = 99 cannot act"},
        {"policy = \"MG-MU\";", "this run has one"},
        {"chip = \"h100\";", "h100"},
        {"policy = \"MU\";", ""},
        {"row = { policy = \"none\"; };", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tmx_err err = {0};
        char note[512];
        assert_int_equal(describe(rows[i].line, note, sizeof note, &err), TMX_OK);
        if (!strstr(note, rows[i].says) || (note[0] != 0) != (rows[i].says[0] != 0)) {
            fail_msg("%s\n-> \"%s\"", rows[i].line, note);
        }
    }
}

TMX_TESTS(test_refused)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_meant_is_refused_with_its_line),
        cmocka_unit_test(options_of_a_back_end_that_do_not_fit_have_their_line),
        cmocka_unit_test(what_cannot_act_is_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
