/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_config.h"

#include <stdarg.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

static const char *const model_words[] = {"block", "grid", NULL};
static const char *const switch_words[] = {"off", "on", NULL};
static const char *const map_words[] = {"area", "avg", "min", "max", "center", NULL}; /* enum tmx_map_mode */

#define REAL(field, unit, min, max, def, doc) \
    TMX_ROW_REAL(tmx_hotspot_config, field, unit, min, max, def, doc)
/* A row whose field has another name. */
#define REAL_AT(field, key_, unit_, min_, max_, def_, doc_)                                        \
    {                                                                                              \
        .key = (key_), .type = TMX_OPT_REAL, .offset = offsetof(struct tmx_hotspot_config, field), \
        .unit = (unit_), .min = (min_), .max = (max_), .def = (def_), .doc = (doc_)                \
    }
#define INT(field, min, max, def, doc)     TMX_ROW_INT(tmx_hotspot_config, field, "1", min, max, def, doc)
#define BOOL(field, doc)                   TMX_ROW_BOOL(tmx_hotspot_config, field, 0, doc)
#define TEXT(field, doc)                   TMX_ROW_TEXT(tmx_hotspot_config, field, "", doc)
#define FILE_(field, doc)                  TMX_ROW_FILE(tmx_hotspot_config, field, "", doc)
#define CHOICE(field, words, def, doc)     TMX_ROW_CHOICE(tmx_hotspot_config, field, words, def, doc)
#define THICKNESS(field, def, doc)         REAL(field, "m", 1e-9, 1, def, doc)
#define THICKNESS_AT(field, key, def, doc) REAL_AT(field, key, "m", 1e-9, 1, def, doc)
#define SIDE(field, def, doc)              REAL(field, "m", 1e-6, 10, def, doc)
#define CONDUCTIVITY(field, def, doc)      REAL(field, "W/(m K)", 0.01, 5000, def, doc)
#define CAPACITY(field, def, doc)          REAL(field, "J/(m3 K)", 1, 1e9, def, doc)
#define TEMPERATURE(field, def, doc)       REAL(field, "K", 200, 1000, def, doc)

/* Names and defaults are HotSpot 7's; model_type and grid_map_mode have our own defaults. */
const struct tmx_opt tmx_hotspot_opts[] = {
    FILE_(f, "floorplan file (.flp)"),
    FILE_(p, "power trace to read (.ptrace)"),
    TEXT(o, "temperature trace to write (.ttrace); without it only the steady state is computed"),
    TEXT(d, "write all options to this file"),
    TEXT(steady_file, "block temperatures of the steady state to write"),
    TEXT(grid_steady_file, "grid temperatures of the steady state to write; X.vtk: as VTK"),
    TEXT(grid_transient_file, "grid temperatures at the end of every row to write"),
    TEXT(all_transient_file, "block temperatures of all layers after the last row to write, as an init_file"),
    FILE_(init_file, "block temperatures to start from (a steady file)"),
    FILE_(grid_layer_file, "layers of a stack (.lcf), instead of -f"),
    FILE_(materials_file, "conductivities and heat capacities by name"),
    REAL(sampling_intvl, "s", 1e-12, 1e9, 3.333e-6, "time one row of the power trace lasts"),
    INT(grid_rows, 2, 4096, 64, "rows of the grid"),
    INT(grid_cols, 2, 4096, 64, "columns of the grid"),
    CHOICE(grid_map_mode, map_words, "area", "block temperature from its cells (HotSpot: center)"),
    CHOICE(model_type, model_words, "grid",
           "a grid of cells, or HotSpot's block model, of one die, a node a block (HotSpot: block)"),
    BOOL(block_omit_lateral, "block model: no heat flows sideways in the die"),
    CHOICE(detailed_3D, switch_words, "off", "blocks of a stack carry their own material"),
    BOOL(use_microchannels, "layers whose floorplan is a .csv have cells of coolant, driven by a pressure"),
    BOOL(use_microfluidic_cooling, "another name of -use_microchannels"),
    TEMPERATURE(ambient, 318.15, "air temperature"),
    TEMPERATURE(init_temp, 333.15, "uniform temperature to start from without an init file"),
    BOOL(dtm_used, "scale a start hotter than thermal_threshold down to it"),
    TEMPERATURE(thermal_threshold, 354.95, "hottest start with dtm_used"),
    THICKNESS(t_chip, 1.5e-4, "die thickness"),
    CONDUCTIVITY(k_chip, 100, "die conductivity"),
    CAPACITY(p_chip, 1.75e6, "die heat capacity"),
    TEXT(material_chip, "die material by name, before k_chip and p_chip"),
    THICKNESS(t_interface, 2e-5, "interface thickness"),
    CONDUCTIVITY(k_interface, 4, "interface conductivity"),
    CAPACITY(p_interface, 4e6, "interface heat capacity"),
    TEXT(material_interface, "interface material by name"),
    REAL_AT(package.s_spreader_m, "s_spreader", "m", 1e-6, 10, 0.03, "spreader side"),
    THICKNESS_AT(package.t_spreader_m, "t_spreader", 1e-3, "spreader thickness"),
    REAL_AT(package.k_spreader, "k_spreader", "W/(m K)", 0.01, 5000, 400, "spreader conductivity"),
    REAL_AT(package.p_spreader, "p_spreader", "J/(m3 K)", 1, 1e9, 3.55e6, "spreader heat capacity"),
    TEXT(material_spreader, "spreader material by name"),
    REAL_AT(package.s_sink_m, "s_sink", "m", 1e-6, 10, 0.06, "sink side"),
    THICKNESS_AT(package.t_sink_m, "t_sink", 6.9e-3, "sink base thickness"),
    REAL_AT(package.k_sink, "k_sink", "W/(m K)", 0.01, 5000, 400, "sink conductivity"),
    REAL_AT(package.p_sink, "p_sink", "J/(m3 K)", 1, 1e9, 3.55e6, "sink heat capacity"),
    TEXT(material_sink, "sink material by name"),
    REAL(k_filler, "W/(m K)", 0, 5000, 0,
         "conductivity of the filler where the floorplan leaves the die layer uncovered, such as moulding "
         "beside dies; 0: no filler (not HotSpot's)"),
    CAPACITY(p_filler, 1.7e6, "heat capacity of the filler"),
    TEXT(material_filler, "filler material by name"),
    REAL_AT(package.r_convec_k_per_w, "r_convec", "K/W", 0, 1e6, 0.1, "sink to air resistance"),
    REAL_AT(package.c_convec_j_per_k, "c_convec", "J/K", 0, 1e9, 140.4, "heat capacity of the air side"),
    REAL(r_below, "K/W", 0, 1e6, 0,
         "film resistance of the face away from the sink, in the physical network; 0: no film (not "
         "HotSpot's)"),
    BOOL(model_secondary, "heat leaves through substrate, solder and board, too"),
    REAL(r_convec_sec, "K/W", 1e-6, 1e6, 1, "board to air resistance"),
    REAL(c_convec_sec, "J/K", 0, 1e9, 140.4, "heat capacity of the air below the board"),
    THICKNESS(t_metal, 1e-5, "on-chip metal, as one layer"),
    THICKNESS(t_c4, 1e-4, "C4 pads and underfill"),
    SIDE(s_sub, 0.021, "package substrate side"),
    THICKNESS(t_sub, 1e-3, "package substrate thickness"),
    SIDE(s_solder, 0.021, "solder balls side"),
    THICKNESS(t_solder, 9.4e-4, "solder balls thickness"),
    SIDE(s_pcb, 0.1, "board side"),
    THICKNESS(t_pcb, 2e-3, "board thickness"),
    BOOL(leakage_used, "add HotSpot's temperature-dependent leakage"),
    INT(leakage_mode, 0, 0, 0, "leakage formula; 0 is the only one"),
    BOOL(package_model_used, "compute r_convec from fan and sink fins"),
    FILE_(package_config_file, "file of the fan and sink fin options below"),
    BOOL(natural_convec, "natural convection and radiation, no fan"),
    INT(flow_type, 0, 1, 0, "air flow: 0 lateral, 1 impinging"),
    INT(sink_type, 0, 1, 0, "0 plate fins, 1 pin fins"),
    THICKNESS_AT(fan.fin_height_m, "fin_height", 0.03, "plate fins"),
    THICKNESS_AT(fan.fin_width_m, "fin_width", 0.001, "plate fins"),
    THICKNESS_AT(fan.channel_width_m, "channel_width", 0.002, "gap of plate fins"),
    THICKNESS_AT(fan.pin_height_m, "pin_height", 0.02, "pin fins"),
    THICKNESS_AT(fan.pin_diam_m, "pin_diam", 0.002, "pin fins"),
    THICKNESS_AT(fan.pin_dist_m, "pin_dist", 0.005, "gap of pin fins"),
    THICKNESS_AT(fan.fan_radius_m, "fan_radius", 0.03, "outer radius"),
    THICKNESS_AT(fan.motor_radius_m, "motor_radius", 0.01, "fan hub radius"),
    REAL_AT(fan.rpm, "rpm", "1/min", 1, 1e6, 1000, "fan speed"),
    BOOL(cold_plate, "compute r_convec from a liquid-cooled plate as large as the sink (not HotSpot's)"),
    REAL(plate_flow, "m3/s", 1e-9, 1, 1.5e-5, "coolant through the plate (1 l/min is 1.667e-5)"),
    THICKNESS_AT(fan.plate.channel_width_m, "plate_channel_width", 5e-4, "channels along the plate"),
    THICKNESS_AT(fan.plate.channel_height_m, "plate_channel_height", 2e-3, "their height"),
    THICKNESS_AT(fan.plate.wall_m, "plate_wall", 5e-4, "walls between them"),
    REAL_AT(fan.plate.coolant_k_w_per_mk, "plate_coolant_k", "W/(m K)", 1e-3, 1000, 0.631,
            "coolant conductivity; the defaults are water at 40 degC"),
    REAL_AT(fan.plate.coolant_p_j_per_m3k, "plate_coolant_p", "J/(m3 K)", 1, 1e9, 4.146e6,
            "coolant heat capacity"),
    REAL_AT(fan.plate.coolant_nu_m2_per_s, "plate_coolant_nu", "m2/s", 1e-9, 1, 6.58e-7,
            "coolant kinematic viscosity"),
    REAL(
        coolant_inlet, "K", 0, 1000, 0,
        "inlet temperature of coolant in channels of the stack; 0: as the layer file has it (not HotSpot's)"),
    REAL(coolant_flow, "m3/s", 0, 1, 0, "flow through each layer of channels; 0: as the layer file has it"),
    TEMPERATURE(coolant_limit, 373.15, "coolant boils here: a hotter one is an error"),
    REAL(pumping_pressure, "Pa", 1e-3, 1e9, 5000, "pressure of the pump of use_microchannels"),
    REAL(pump_internal_res, "Pa s/m3", 0, 1e18, 0, "the pump's inner resistance to flow"),
    TEMPERATURE(inlet_temperature, 300, "coolant enters micro-channels with it"),
    REAL(htc, "W/(m2 K)", 1e-3, 1e9, 27132, "film coefficient between coolant and walls"),
    TEXT(coolant_material, "coolant by name, before the three below"),
    CAPACITY(coolant_capac, 4172638, "heat capacity of the coolant"),
    REAL(coolant_res, "m K/W", 2e-4, 1e3, 1.647717911, "resistivity of the coolant"),
    REAL(coolant_visc, "Pa s", 1e-7, 1e3, 0.000889, "dynamic viscosity of the coolant"),
    TEXT(wall_material, "walls by name, before the two below"),
    CAPACITY(wall_capac, 1635660, "heat capacity of the walls"),
    REAL(wall_res, "m K/W", 2e-4, 1e3, 0.0076923077, "resistivity of the walls"),
    {0},
};

enum { N_ROWS = sizeof tmx_hotspot_opts / sizeof tmx_hotspot_opts[0] - 1 };
_Static_assert((int)N_ROWS <= (int)TMX_HOTSPOT_MAX_KEYS, "origin has no room for every row");

/* Keys of HotSpot 7 and its floorplanner that are accepted and have no effect here; c is in what HotSpot's
 * own -d writes. */
enum { A_ROW = 3, N_NOT_MODELLED = 7 * A_ROW };
static const char *const not_modelled[][A_ROW] = {{"c", "detailed_3D_used", "n_metal"},
                                                  {"s_c4", "n_c4", "base_proc_freq"},
                                                  {"model_rim", "rim_thickness", "compact_ratio"},
                                                  {"n_orients", "P0", "Davg"},
                                                  {"Kmoves", "Rcool", "Rreject"},
                                                  {"Nmax", "lambdaA", "lambdaT"},
                                                  {"lambdaW", "wrap_l2", "l2_label"}};
_Static_assert(sizeof not_modelled == N_NOT_MODELLED * sizeof not_modelled[0][0], "rows");

static const char fan_keys[] =
    "natural_convec flow_type sink_type fin_height fin_width channel_width pin_height "
    "pin_diam pin_dist fan_radius motor_radius rpm";

static bool not_modelled_has(const char *name)
{
    size_t i = 0;
    while (i < N_NOT_MODELLED && tmx_word_compare(name, not_modelled[i / A_ROW][i % A_ROW]) != 0) {
        i++;
    }
    return i < N_NOT_MODELLED;
}

static size_t row_of(const char *name)
{
    size_t row = 0;
    while (row < N_ROWS && tmx_word_compare(tmx_hotspot_opts[row].key, name) != 0) {
        row++;
    }
    return row;
}

void tmx_hotspot_config_init(struct tmx_hotspot_config *cfg)
{
    *cfg = (struct tmx_hotspot_config){0};
    const enum tmx_status st = tmx_opt_read(tmx_hotspot_opts, cfg, NULL, NULL, NULL);
    tmx_assert(st == TMX_OK);
    snprintf(cfg->source[TMX_HOTSPOT_COMMAND_LINE], TMX_HOTSPOT_PATH, "command line");
}

bool tmx_hotspot_config_knows(const char *name)
{
    return row_of(name) < N_ROWS || not_modelled_has(name);
}

const char *tmx_hotspot_config_nearest(const char *name)
{
    const char *names[N_ROWS + N_NOT_MODELLED];
    for (size_t i = 0; i < N_ROWS + N_NOT_MODELLED; i++) {
        const size_t k = i < N_ROWS ? 0 : i - N_ROWS;
        names[i] = i < N_ROWS ? tmx_hotspot_opts[i].key : not_modelled[k / A_ROW][k % A_ROW];
    }
    return tmx_suggest_nearest(name, names, sizeof names / sizeof names[0]);
}

bool tmx_hotspot_config_is_file(const char *name)
{
    const size_t row = row_of(name);
    return row < N_ROWS && tmx_hotspot_opts[row].is_file;
}

static void append(char *list, size_t size, const char *name)
{
    tmx_text_add(list, size, "%s%s", list[0] ? " " : "", name);
}

static enum tmx_status set(struct tmx_hotspot_config *cfg, const char *name, struct tmx_scalar value,
                           enum tmx_hotspot_source source, unsigned place, unsigned line, struct tmx_err *err)
{
    const char *file = cfg->source[place];
    const size_t row = row_of(name);
    if (row == N_ROWS && not_modelled_has(name)) {
        append(cfg->ignored, sizeof cfg->ignored, name);
        return TMX_OK;
    }
    if (row == N_ROWS) {
        const char *near = tmx_hotspot_config_nearest(name);
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "unknown option \"-%.60s\"%s%s%s", name,
                           near ? ", did you mean \"-" : "", near ? near : "", near ? "\"?" : "");
    }
    if (source == TMX_HOTSPOT_PACKAGE && !tmx_words_have(fan_keys, tmx_hotspot_opts[row].key)) {
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "\"-%s\" is no option of a package file", name);
    }
    const struct tmx_opt *opt = &tmx_hotspot_opts[row];
    const bool text = value.kind == TMX_SETTING_TEXT;
    if (opt->type == TMX_OPT_TEXT && text && tmx_word_compare(value.text, "(null)") == 0) {
        value.text = "";
    }
    char beside[TMX_HOTSPOT_PATH];
    const bool in_file = source == TMX_HOTSPOT_CONFIG || source == TMX_HOTSPOT_PACKAGE;
    if (in_file && opt->is_file && text && *value.text && !tmx_os_exists(value.text) &&
        tmx_beside(file, value.text, beside, sizeof beside)) { /* HotSpot knows the current folder alone */
        value.text = beside;
    }
    const bool kelvins = strcmp(opt->unit, "K") == 0;
    double v;
    if (!in_file && text && kelvins && tmx_celsius_read(value.text, &v)) {
        value = TMX_REAL_VALUE(v + TMX_ZERO_C); /* typed; a file of HotSpot's has kelvins */
    }
    const bool number =
        value.kind == TMX_SETTING_TEXT ? tmx_text_real(value.text, &v) : tmx_scalar_real(value, &v);
    if (kelvins && number && v >= -100 && v < opt->min) { /* below 200 it is almost surely degrees C */
        return tmx_fail_at(err, TMX_ECONFIG, file, line,
                           "%s = %g K looks like degrees Celsius; temperatures are in kelvin (%g)", opt->key,
                           v, v + TMX_ZERO_C);
    }
    struct tmx_hotspot_config scratch; /* a later occurrence is checked, too, and then dropped */
    const bool first = cfg->origin[row].source == TMX_HOTSPOT_DEFAULT;
    const enum tmx_status st = tmx_opt_put(opt, first ? cfg : &scratch, value, file, line, err);
    if (!st && !first && cfg->origin[row].source == source && cfg->origin[row].place == place) {
        append(cfg->repeated, sizeof cfg->repeated, opt->key);
    }
    if (!st && first) {
        cfg->origin[row] = (struct tmx_hotspot_origin){source, place, line};
    }
    return st;
}

enum tmx_status tmx_hotspot_config_set(struct tmx_hotspot_config *cfg, const char *name, const char *value,
                                       enum tmx_hotspot_source source, unsigned line, struct tmx_err *err)
{
    return set(cfg, name, TMX_TEXT_VALUE(value), source, source, line, err);
}

enum tmx_status tmx_hotspot_config_set_from(struct tmx_hotspot_config *cfg, const char *name,
                                            struct tmx_scalar value, const char *file, unsigned line,
                                            struct tmx_err *err)
{
    if (!file) {
        return set(cfg, name, value, TMX_HOTSPOT_COMMAND_LINE, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
    unsigned place = TMX_HOTSPOT_SOURCES; /* the last one is shared by all that have no room */
    while (place + 1 < TMX_HOTSPOT_PLACES && cfg->source[place][0] && strcmp(cfg->source[place], file) != 0) {
        place++;
    }
    snprintf(cfg->source[place], TMX_HOTSPOT_PATH, "%s", file);
    return set(cfg, name, value, TMX_HOTSPOT_COMMAND_LINE, place, line, err);
}

/* Does the key's number count? Materials, models and files take the place of some. */
static bool counts(const struct tmx_hotspot_config *cfg, const char *key)
{
    const bool wet = cfg->use_microchannels || cfg->use_microfluidic_cooling;
    const struct {
        const char *keys;
        bool count;
    } rows[] = {{"k_chip p_chip", !cfg->material_chip[0] && !cfg->grid_layer_file[0]},
                {"k_interface p_interface", !cfg->material_interface[0] && !cfg->grid_layer_file[0]},
                {"k_filler p_filler", !cfg->material_filler[0] && !cfg->grid_layer_file[0]},
                {"k_spreader p_spreader", !cfg->material_spreader[0]},
                {"k_sink p_sink", !cfg->material_sink[0]},
                {"t_chip t_interface", !cfg->grid_layer_file[0]},
                {"t_metal t_c4", cfg->model_secondary && !cfg->grid_layer_file[0]},
                {"r_convec_sec c_convec_sec s_sub t_sub s_solder t_solder s_pcb t_pcb", cfg->model_secondary},
                {"r_convec", !cfg->package_model_used && !cfg->cold_plate},
                {fan_keys, cfg->package_model_used},
                {"package_config_file", cfg->package_model_used},
                {"thermal_threshold", cfg->dtm_used},
                {"block_omit_lateral", cfg->model_type == TMX_HOTSPOT_BLOCK},
                {"grid_map_mode grid_rows grid_cols", cfg->model_type == TMX_HOTSPOT_GRID},
                {"coolant_inlet coolant_flow coolant_limit", cfg->grid_layer_file[0]},
                {"pumping_pressure pump_internal_res inlet_temperature htc", wet}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (tmx_words_have(rows[i].keys, key)) {
            return rows[i].count;
        }
    }
    return strncmp(key, "coolant_", 8) == 0 ? wet && !cfg->coolant_material[0]
           : strncmp(key, "wall_", 5) == 0  ? wet && !cfg->wall_material[0]
                                            : strncmp(key, "plate_", 6) != 0 || cfg->cold_plate;
}

const struct tmx_opt *tmx_hotspot_config_next(const struct tmx_hotspot_config *cfg, bool commented,
                                              size_t *row)
{
    for (; *row < N_ROWS; ++*row) {
        const enum tmx_hotspot_source source = cfg->origin[*row].source;
        const bool count = counts(cfg, tmx_hotspot_opts[*row].key);
        if (commented ? cfg->commented[*row] && source == TMX_HOTSPOT_DEFAULT && count
                      : source == TMX_HOTSPOT_COMMAND_LINE && !count) {
            return &tmx_hotspot_opts[(*row)++];
        }
    }
    return NULL;
}

void tmx_hotspot_config_drop(struct tmx_hotspot_config *cfg)
{
    static const char *const keys[] = {
        "f", "p", "o", "d", "detailed_3D", "use_microchannels", "use_microfluidic_cooling", "materials_file"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const size_t row = row_of(keys[i]);
        const struct tmx_opt one[2] = {tmx_hotspot_opts[row], {0}};
        if (cfg->origin[row].source == TMX_HOTSPOT_CONFIG && !tmx_opt_read(one, cfg, NULL, NULL, NULL)) {
            cfg->origin[row].source = TMX_HOTSPOT_DEFAULT;
            append(cfg->dropped, sizeof cfg->dropped, one[0].key);
        }
    }
}

enum tmx_status tmx_hotspot_config_film(const struct tmx_hotspot_config *cfg, const char *key, double k_per_w,
                                        double area_m2, struct tmx_err *err)
{
    const size_t row = row_of(key);
    if (cfg->origin[row].source == TMX_HOTSPOT_DEFAULT) {
        return TMX_OK;
    }
    return tmx_plausible_film(key, k_per_w, area_m2, cfg->source[cfg->origin[row].place],
                              cfg->origin[row].line, err);
}

enum tmx_status tmx_hotspot_config_read(struct tmx_hotspot_config *cfg, const char *path,
                                        enum tmx_hotspot_source source, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(cfg->source[source], TMX_HOTSPOT_PATH, "%s", path);
    while (!st && tmx_lines_next(&lines, &text)) {
        struct tmx_span rest = lines.line, first = {"", ""}, second;
        char name[64], value[TMX_HOTSPOT_PATH];
        double v;
        if (!tmx_span_field(&rest, &first) || *first.begin == '#') { /* perhaps `# -r_convec 0.3` */
            rest = lines.line;
            while (rest.begin < rest.end && strchr("# \t", *rest.begin)) {
                rest.begin++;
            }
            if (source == TMX_HOTSPOT_CONFIG && tmx_span_field(&rest, &first) && *first.begin == '-' &&
                tmx_span_field(&rest, &second) && tmx_span_real(second, &v)) {
                first.begin++;
                const size_t row = tmx_span_copy(first, name, sizeof name) ? row_of(name) : N_ROWS;
                if (row < N_ROWS && tmx_hotspot_opts[row].type == TMX_OPT_REAL) {
                    cfg->commented[row] = lines.number;
                }
            }
        } else if (first.begin[0] != '-' || tmx_span_length(first) < 2) {
            st = tmx_fail_at(err, TMX_ECONFIG, path, lines.number, "\"%.*s\": expected -name value",
                             TMX_SPAN_ARG(first));
        } else if (!tmx_span_field(&rest, &second)) {
            st = tmx_fail_at(err, TMX_ECONFIG, path, lines.number, "option \"%.*s\" has no value",
                             TMX_SPAN_ARG(first));
        } else {
            first.begin++;
            st = tmx_span_copy(first, name, sizeof name) && tmx_span_copy(second, value, sizeof value)
                     ? tmx_hotspot_config_set(cfg, name, value, source, lines.number, err)
                     : tmx_fail_at(err, TMX_ECONFIG, path, lines.number, "\"-%.*s\": name or value too long",
                                   TMX_SPAN_ARG(first));
        }
    }
    st = tmx_text_locate(st, &text, "", "options of HotSpot, `-name value` a line", err);
    tmx_text_finish(&text);
    return st;
}

enum tmx_status tmx_hotspot_config_read_files(struct tmx_hotspot_config *cfg, const char *config,
                                              struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (config && tmx_word_compare(config, "(null)") != 0) {
        st = tmx_hotspot_config_read(cfg, config, TMX_HOTSPOT_CONFIG, err);
    }
    if (!st && cfg->package_model_used && cfg->package_config_file[0]) {
        st = tmx_hotspot_config_locate(
            cfg, "package_config_file",
            tmx_hotspot_config_read(cfg, cfg->package_config_file, TMX_HOTSPOT_PACKAGE, err), err);
    }
    return st;
}

void tmx_hotspot_config_print(const struct tmx_hotspot_config *cfg, FILE *out)
{
    for (const struct tmx_opt *opt = tmx_hotspot_opts; opt->key; opt++) {
        struct tmx_scalar v = tmx_opt_value(opt, cfg);
        char word[TMX_REAL_SIZE];
        if (v.kind == TMX_SETTING_BOOL) {
            v.kind = TMX_SETTING_INTEGER; /* HotSpot's 0 and 1 */
        }
        if (opt->type != TMX_OPT_TEXT ||
            *v.text) { /* "(null)" is no file, but there is no word for no material */
            fprintf(out, "-%s %s\n", opt->key, tmx_scalar_plain(v, word));
        }
    }
}

bool tmx_hotspot_config_given(const struct tmx_hotspot_config *cfg, const char *key)
{
    return cfg->origin[row_of(key)].source != TMX_HOTSPOT_DEFAULT;
}

const char *tmx_hotspot_config_closer(const struct tmx_hotspot_config *cfg, const char *a, const char *b)
{
    const enum tmx_hotspot_source of_a = cfg->origin[row_of(a)].source, of_b = cfg->origin[row_of(b)].source;
    return of_a != TMX_HOTSPOT_DEFAULT && (of_b == TMX_HOTSPOT_DEFAULT || of_a < of_b) ? a : b;
}

enum tmx_status tmx_hotspot_config_fail(const struct tmx_hotspot_config *cfg, const char *key,
                                        struct tmx_err *err, const char *fmt, ...)
{
    char msg[sizeof err->msg];
    va_list ap;
    const size_t row = row_of(key);
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    tmx_assert(row < N_ROWS);
    return tmx_fail_at(err, TMX_ECONFIG, cfg->source[cfg->origin[row].place], cfg->origin[row].line, "%s",
                       msg);
}

enum tmx_status tmx_hotspot_config_locate(const struct tmx_hotspot_config *cfg, const char *key,
                                          enum tmx_status st, struct tmx_err *err)
{
    const size_t row = row_of(key);
    tmx_assert(row < N_ROWS);
    return cfg->origin[row].line == 0
               ? st
               : tmx_fail_from(err, st, cfg->source[cfg->origin[row].place], cfg->origin[row].line, key);
}
