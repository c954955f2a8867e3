/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/plausible.h"
#include "base/text.h"
#include "thermal/files/package.h"
#include "thermal/thermal.h"

/* Why a key of HotSpot's does nothing in a run; NULL when it does something. */
static const char *key_unused(const char *key)
{
    static const char powers[] = "a run simulates its powers", outputs[] = "a run writes into its folder, -o",
                      leakage[] = "keys of a run: leakage, and chip_power.leakage_w and its others",
                      control[] = "a run has the groups dtm and throttle";
    static const struct {
        const char *key, *why;
    } rows[] = {{"f", "the floorplan of a run is its chip's, or the key floorplan"},
                {"p", powers},
                {"o", outputs},
                {"d", outputs},
                {"steady_file", outputs},
                {"grid_steady_file", outputs},
                {"grid_transient_file", outputs},
                {"init_file", "a run starts at init_temp; warmup_s warms it up"},
                {"sampling_intvl", "the step of a run is tick_s"},
                {"model_type", "only the grid model is offered; see the key method"},
                {"dtm_used", control},
                {"thermal_threshold", control},
                {"leakage_used", leakage},
                {"leakage_mode", leakage}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (tmx_word_compare(rows[i].key, key) == 0) {
            return rows[i].why;
        }
    }
    return NULL;
}

/* A key of the group `package`: one of HotSpot's options, by its name. */
static void set_key(struct tmx_run *r, struct tmx_hotspot_config *cfg, const struct tmx_setting *s)
{
    char path[TMX_HOTSPOT_PATH];
    const char *text = tmx_setting_text(s), *key = tmx_setting_name(s), *file = tmx_setting_file(s);
    const char *unused = key_unused(key);
    double number;
    if (text && strlen(text) >= sizeof path) {
        tmx_run_fail(r, s, "package.%s: longer than %zu bytes", key, sizeof path - 1);
    } else if (!text && !tmx_setting_is(s, TMX_SETTING_BOOL) && !tmx_setting_real(s, &number)) {
        tmx_run_fail(r, s, "package.%s: expected a number or a \"text\"", key);
    } else if (unused) {
        tmx_run_fail(r, s, "package.%s does nothing in a run: %s", key, unused);
    } else {
        struct tmx_scalar value = tmx_setting_scalar(s);
        struct tmx_err why = {0};
        if (text && tmx_hotspot_config_is_file(key) && tmx_beside(file, text, path, sizeof path)) {
            value.text = path;
        }
        if (tmx_hotspot_config_set_from(cfg, key, value, file, tmx_setting_line(s), &why)) {
            tmx_run_fail(r, s, "package: %s", why.msg);
        }
    }
}

/* rows and cols of the run, which are another way to say package.grid_rows and grid_cols. */
static void set_grid(struct tmx_run *r, struct tmx_hotspot_config *cfg, const char *key,
                     const char *package_key, int wanted, const int *given)
{
    const struct tmx_setting *at = tmx_run_member(r, key);
    if (wanted != 0 && tmx_hotspot_config_given(cfg, package_key) && *given != wanted) {
        tmx_run_fail(r, at, "%s = %d, but package.%s = %d", key, wanted, package_key, *given);
    } else if (wanted != 0 && !r->err.code) {
        tmx_run_try(r, tmx_hotspot_config_set_from, cfg, package_key, TMX_INTEGER_VALUE(wanted), NULL, 0);
        tmx_run_locate(r, at);
    }
}

static void read_package(struct tmx_run *r, struct tmx_run_kind *k)
{
    const struct tmx_setting *group = tmx_setting_group(r->root, "package", &r->err);
    struct tmx_hotspot_config *cfg = &k->package;
    tmx_hotspot_config_init(cfg);
    snprintf(cfg->source[TMX_HOTSPOT_COMMAND_LINE], sizeof cfg->source[0], "package");
    for (size_t i = 0; i < tmx_setting_length(group) && !r->err.code; i++) {
        set_key(r, cfg, tmx_setting_at(group, i));
    }
    if (cfg->ignored[0]) {
        tmx_run_fail(r, group, "package: not modelled here: %s", cfg->ignored);
    }
    set_grid(r, cfg, "rows", "grid_rows", r->options.rows, &cfg->grid_rows);
    set_grid(r, cfg, "cols", "grid_cols", r->options.cols, &cfg->grid_cols);
    const bool start_given = tmx_hotspot_config_given(cfg, "init_temp"),
               air_given = tmx_hotspot_config_given(cfg, "ambient");
    if (!isnan(r->inlet_c) && !air_given) {
        tmx_run_try(r, tmx_hotspot_config_set_from, cfg, "ambient",
                    TMX_REAL_VALUE(r->inlet_c + r->inlet_plus_k + TMX_ZERO_C), NULL, 0);
    }
    tmx_run_try(r, tmx_hotspot_config_set, cfg, "f", k->floorplan_path, TMX_HOTSPOT_COMMAND_LINE, 0);
    tmx_run_try(r, tmx_hotspot_config_read, cfg, k->package_path, TMX_HOTSPOT_CONFIG);
    cfg->ambient += isnan(r->inlet_c) ? r->inlet_plus_k : 0;
    if (!r->err.code) {
        /* A chip starts no colder than the air around it, where the run says neither where it starts nor
         * which air it has. */
        const bool cold = cfg->init_temp < cfg->ambient;
        r->sim_spec.cooling.cold_start = cold && (start_given || air_given);
        if (cold && !start_given && !air_given) {
            cfg->init_temp = cfg->ambient;
        } else if (cold && !start_given) {
            tmx_warn("chip %s starts at %g degC, its package's init_temp, colder than its air, "
                     "package.ambient = %g degC; give package.init_temp too",
                     k->chip.name, cfg->init_temp - TMX_ZERO_C, cfg->ambient - TMX_ZERO_C);
        }
        if (r->start_plus_k != 0 && !tmx_hotspot_config_given(cfg, "init_temp")) {
            tmx_run_try(r, tmx_hotspot_config_set_from, cfg, "init_temp", TMX_REAL_VALUE(cfg->init_temp),
                        NULL, 0);
        }
        cfg->init_temp += r->start_plus_k;
    }
    if (!r->err.code && cfg->package_model_used && cfg->package_config_file[0]) {
        tmx_run_try(r, tmx_hotspot_config_read, cfg, cfg->package_config_file, TMX_HOTSPOT_PACKAGE);
        (void)tmx_hotspot_config_locate(cfg, "package_config_file", r->err.code, &r->err);
    }
}

/* Flow [m3/s] that the layers of channels of a stack have by themselves, and the electrical power [W] of
 * pumps without losses for `flow` of it. */
static double channels_flow(const struct tmx_stack *s, double flow, double *pump_w)
{
    double sum = 0;
    *pump_w = 0;
    for (size_t l = 0; l < s->spec.n_layer; l++) {
        if (s->spec.layer[l].channels) {
            struct tmx_channels c = *s->spec.layer[l].channels;
            sum += c.flow_m3_per_s;
            c.flow_m3_per_s *= flow;
            *pump_w += tmx_channels_pump_w(&c, tmx_thermal_spec_width_m(&s->spec),
                                           tmx_thermal_spec_height_m(&s->spec), s->spec.layer[l].thickness_m);
        }
    }
    return sum;
}

/* What keeps pumps of a card from cooling its GPUs by channels; NULL: nothing. */
static const char *channels_fault(const struct tmx_run *r, const struct tmx_run_kind *k)
{
    const struct tmx_choice *fan = &r->sim_spec.choice[TMX_LEVEL_FAN];
    const struct tmx_fan_policy *p = tmx_fan_of(fan);
    double pump_w;
    for (size_t l = 0; l < k->stack.spec.n_layer; l++) {
        const struct tmx_channels *c = k->stack.spec.layer[l].channels;
        if (c && c->kind > TMX_CHANNELS_RESOLVED) {
            return "pumps drive channels that are merged or resolved; the flow of others does not scale";
        }
        if (c && c->viscosity_pa_s <= 0) {
            return "channels: viscosity [Pa s] is missing, from which the pumps' watts follow";
        }
    }
    return channels_flow(&k->stack, 1, &pump_w) <= 0
               ? "the card is cooled by channels, no layer of the package has any"
           : tmx_hotspot_config_given(&k->package, "coolant_flow")
               ? "coolant_flow: the flow is that of the card's pumps"
           : tmx_hotspot_config_given(&k->package, "coolant_inlet")
               ? "coolant_inlet: the coolant enters at the inlet_c of the topology or the run"
           : p->constant && p->constant(fan->state) <= 0 ? "fan.speed = 0: no coolant flows"
           : r->spread.sink > 0                          ? "spread.sink: there is no sink in air"
                                                         : NULL;
}

/* The card's fans are pumps: at speed x each takes power_w x^3 + x^2 P / efficiency, with P its part of
 * pressure drop times flow at full speed (developed laminar flow: the drop follows the flow). Layers of a
 * stack share the flow as their own flows do. Film coefficients do not change with the flow, as in laminar
 * flow. */
void tmx_run_pumps(struct tmx_topology *t, size_t card, const struct tmx_run_kind *k)
{
    static const double STILL = 1e-3; /* of their flow, past pumps that stand still: assumed */
    struct tmx_card *c = &t->card[card];
    double full_m3_per_s = 0, pump_w;
    for (size_t f = c->fan0; f < c->fan0 + c->n_fan; f++) {
        full_m3_per_s += t->fan[f].flow_m3_per_s;
    }
    c->still_flow_m3_per_s = fmin(c->still_flow_m3_per_s, STILL * full_m3_per_s);
    const double own_m3_per_s = channels_flow(&k->stack, 1, &pump_w);
    (void)channels_flow(&k->stack, full_m3_per_s / (double)c->n_gpu / own_m3_per_s, &pump_w);
    for (size_t f = c->fan0; f < c->fan0 + c->n_fan; f++) {
        t->fan[f].drop_w =
            pump_w * (double)c->n_gpu * t->fan[f].flow_m3_per_s / full_m3_per_s / t->fan[f].efficiency;
    }
    for (size_t l = 0; l < k->stack.spec.n_layer; l++) {
        const struct tmx_channels *channels = k->stack.spec.layer[l].channels;
        c->coolant_j_per_m3k = channels ? channels->p_j_per_m3k : c->coolant_j_per_m3k;
    }
}

/* Convection at the speeds of the cooler's fans. */
static void tabulate_fan(struct tmx_run *r, struct tmx_run_kind *k)
{
    const struct tmx_card *card = &r->topology.card[k->card];
    const struct tmx_choice *fan = &r->sim_spec.choice[TMX_LEVEL_FAN];
    const struct tmx_fan_policy *p = tmx_fan_of(fan);
    const struct tmx_fan *first = &r->topology.fan[card->fan0];
    const bool one_speed = p->constant && r->n_failure == 0;
    const char *fault = card->convection == TMX_CONVECTION_PACKAGE ? tmx_fan_sink_fault(&k->stack.fan)
                        : card->convection == TMX_CONVECTION_PLATE && !k->stack.fan.liquid
                            ? "the card is cooled by a plate, the package has no cold_plate"
                        : card->convection == TMX_CONVECTION_CHANNELS ? channels_fault(r, k)
                                                                      : NULL;
    double flow_m3_per_s[TMX_MAX_FAN_LEVELS];
    if (fault) {
        tmx_error_at(&r->err, TMX_ECONFIG, k->package_path, 0, "card %s, package model: %s", card->name,
                     fault);
        return;
    }
    if (card->convection == TMX_CONVECTION_CHANNELS) {
        tmx_run_pumps(&r->topology, k->card, k);
    }
    const double rpm = p->constant ? p->constant(fan->state) * first->max_rpm : 0;
    if (k == r->kind && rpm > 0 && rpm < first->min_rpm) {
        tmx_warn("fan.speed = %g is %g rpm: fan %s turns no slower than its min_rpm, %g",
                 rpm / first->max_rpm, rpm, first->name, first->min_rpm);
    }
    k->n_level = tmx_fan_levels(card, first, &k->stack.fan, one_speed ? p->constant(fan->state) : -1,
                                k->level_rpm, k->level_k_per_w, flow_m3_per_s);
    if (card->convection == TMX_CONVECTION_CHANNELS) {
        /* flow at the levels; the convection of the sink stays the package's */
        double pump_w;
        for (size_t l = 0; l < k->n_level; l++) {
            k->level_k_per_w[l] = k->stack.spec.package.r_convec_k_per_w;
            k->level_flow[l] = flow_m3_per_s[l] / channels_flow(&k->stack, 1, &pump_w);
        }
        k->stack.spec.flow_levels = k->level_flow;
        k->stack.spec.inlet_at_ambient = true;
    }
    k->stack.spec.r_convec_levels = k->level_k_per_w;
    k->stack.spec.n_level = k->n_level;
}

/* The units that the thermal model heats must be those of the chip, one by one. */
static void check_units(struct tmx_run *r, const struct tmx_run_kind *k)
{
    const struct tmx_thermal_spec *spec = &k->stack.spec;
    const struct tmx_floorplan *chip = &k->chip.floorplan;
    const char *path = k->package.grid_layer_file[0] ? k->package.grid_layer_file : k->package_path;
    size_t at = 0;
    if (tmx_thermal_spec_units(spec) != chip->n_unit) {
        tmx_error_at(&r->err, TMX_ECONFIG, path, 0,
                     "the layers dissipate in %zu units, the chip's floorplan has %zu",
                     tmx_thermal_spec_units(spec), chip->n_unit);
    }
    for (size_t l = 0; l < spec->n_layer && !r->err.code; l++) {
        const struct tmx_floorplan *fp = spec->layer[l].floorplan;
        for (size_t u = 0; spec->layer[l].dissipates && u < fp->n_unit; u++, at++) {
            const struct tmx_unit *a = &fp->unit[u], *b = &chip->unit[at];
            if (strcmp(a->name, b->name) != 0 || fabs(a->w_m - b->w_m) > 1e-9 ||
                fabs(a->h_m - b->h_m) > 1e-9) {
                tmx_error_at(&r->err, TMX_ECONFIG, path, 0,
                             "the layers' unit %zu is %s of %g mm x %g mm, the chip's is %s of %g mm x %g mm",
                             at + 1, a->name, 1e3 * a->w_m, 1e3 * a->h_m, b->name, 1e3 * b->w_m,
                             1e3 * b->h_m);
            }
        }
    }
}

/* An inlet that reaches nothing: coolant enters channels at a temperature of its own. */
static void check_inlet(struct tmx_run *r, const struct tmx_run_kind *k)
{
    const struct tmx_setting *at = tmx_run_member(r, "inlet_c");
    const struct tmx_thermal_spec *spec = &k->stack.spec;
    at = at ? at : tmx_run_member(r, "inlet_plus_k");
    at = at || !r->topology.config ? at : tmx_setting_member(tmx_config_root(r->topology.config), "inlet_c");
    for (size_t l = 0; at && !spec->inlet_at_ambient && l < spec->n_layer && !tmx_plausible_accepted(); l++) {
        if (spec->layer[l].channels) {
            tmx_run_fail(
                r, at,
                "%s: the coolant of the package's channels enters at %g degC, whatever the inlet is: give "
                "package.coolant_inlet for it and package.ambient for the air, or pumps (a card of "
                "convection = "
                "\"channels\"), or --accept",
                tmx_setting_name(at), spec->layer[l].channels->inlet_k - TMX_ZERO_C);
        }
    }
}

/* Shortest step [s] from whose end on temperatures have to be right where a run goes from event to event:
 * that of the default tick. */
static const double EVENT_STEP_S = 1e-3;

/* Keys of the group `package` that others, or the card's convection, leave without an effect. A resolved
 * configuration repeats the package's own. */
static void doubt_package(struct tmx_run *r, const struct tmx_run_kind *k)
{
    const struct tmx_card *card = r->topology.n_gpu > 0 ? &r->topology.card[k->card] : NULL;
    struct tmx_hotspot_config own;
    const struct tmx_opt *o;
    double k_per_w;
    tmx_hotspot_config_init(&own);
    tmx_run_try(r, tmx_hotspot_config_read, &own, k->package_path, TMX_HOTSPOT_CONFIG);
    for (size_t row = 0; (o = tmx_hotspot_config_next(&k->package, false, &row)) != NULL;) {
        if (!tmx_opt_same(o, &own, &k->package)) {
            tmx_warn("package.%s has no effect beside the other keys of the package", o->key);
        }
    }
    if (card && card->convection != TMX_CONVECTION_CHANNELS &&
        tmx_setting_real(tmx_setting_find(r->root, "package.r_convec"), &k_per_w) &&
        own.package.r_convec_k_per_w != k_per_w) {
        tmx_warn("package.r_convec = %g K/W has no effect: the sinks of card %s have its convection", k_per_w,
                 card->name);
    }
}

static void open_thermal(struct tmx_run *r)
{
    const struct tmx_plugin *found = NULL;
    tmx_run_try(r, tmx_catalog_get, r->catalog, TMX_KIND_BACKEND, r->options.method, &found,
                tmx_run_place(r, "method"));
    r->thermal.ops = (const struct tmx_thermal_ops *)found;
    tmx_run_try(r, tmx_plugin_state, &r->thermal.ops->base, tmx_run_member(r, "thermal"), NULL,
                &r->thermal.options);
    for (struct tmx_run_kind *k = r->kind; !r->err.code && k < r->kind + r->n_kind; k++) {
        const struct tmx_stack_options options = {.network = (enum tmx_network_kind)r->options.network};
        read_package(r, k);
        tmx_run_try(r, tmx_stack_create, &k->package, &options, NULL, &k->stack);
        if (!r->err.code) {
            check_units(r, k);
        }
        if (r->err.code) {
            tmx_run_locate(r, tmx_run_place(r, "package"));
            return;
        }
        /* events are as far apart as that, or nothing looks at temperatures in between */
        k->stack.spec.min_step_s =
            r->options.tick == TMX_TICK_EVENTS ? fmax(r->options.tick_s, EVENT_STEP_S) : r->options.tick_s;
        k->stack.spec.coolant_limit_k = k->package.coolant_limit;
        k->stack.spec.no_field = true; /* a run writes the temperatures of units alone */
        if (r->topology.n_gpu > 0) {
            tabulate_fan(r, k);
        }
        check_inlet(r, k);
        if (k == r->kind && tmx_run_member(r, "package") && !r->err.code) {
            doubt_package(r, k);
        }
    }
}

static void build_thermal(struct tmx_run *r)
{
    /* steps to the next event have no length of which tables could be made; instances have room for them */
    const bool prepare = r->options.tick != TMX_TICK_EVENTS;
    for (size_t k = 0; k < r->n_kind; k++) {
        tmx_run_try(r, tmx_thermal_model_create, r->thermal.ops, r->thermal.options, &r->kind[k].stack.spec,
                    &r->kind[k].model);
        if (prepare) {
            tmx_run_try(r, tmx_thermal_prepare, r->thermal.ops, r->kind[k].model, r->options.tick_s);
        }
    }
    tmx_run_locate(r, tmx_run_member(r, "thermal")); /* options that do not fit each other or the chip */
}

const struct tmx_opt tmx_run_forecast_opts[] = {
    TMX_ROW_REAL(tmx_run_forecast_options, r_convec_scale, "1", 0.1, 10, 1,
                 "convection resistance that the policy assumes, relative to the true one"),
    TMX_ROW_REAL(tmx_run_forecast_options, tolerance_k, "K", 0, 5, 0,
                 "of the policy's own thermal model; 0: it uses the run's model"),
    {0},
};

static void build_forecast(struct tmx_run *r)
{
    const struct tmx_run_forecast_options *o = &r->forecast_options;
    if (!tmx_mix_of(&r->sim_spec.choice[TMX_LEVEL_MIX])->foresees) {
        return;
    }
    TMX_TAKE(&r->arena, r->forecast_of_gpu, r->n_gpu);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < r->n_kind && !r->err.code; i++) {
        struct tmx_run_kind *k = &r->kind[i];
        const bool shared = r->thermal.ops->modes && o->r_convec_scale == 1 && o->tolerance_k == 0;
        /* a fan's cooler has many levels; a forecast is made for the middle one, the rest is for the observer
         */
        const size_t usual = k->n_level / 2;
        const double k_per_w = tmx_thermal_spec_r_convec(&k->stack.spec, usual);
        struct tmx_modes_view modes;
        if (!shared) { /* the policy's own model */
            struct tmx_thermal_spec spec = k->stack.spec;
            struct tmx_config *cfg = NULL;
            char text[64];
            void *options = NULL;
            spec.package.r_convec_k_per_w = o->r_convec_scale * k_per_w;
            spec.n_level = 0;
            snprintf(text, sizeof text, "tolerance_k = %.17g;", o->tolerance_k);
            tmx_run_try(r, tmx_config_parse, &cfg, o->tolerance_k > 0 ? text : "", "forecast");
            tmx_run_try(r, tmx_plugin_state, &tmx_thermal_reduced.base, tmx_config_root(cfg), NULL, &options);
            tmx_config_close(cfg);
            tmx_run_try(r, tmx_thermal_model_create, &tmx_thermal_reduced, options, &spec, &k->believed);
            free(options);
        }
        if (r->err.code) {
            return;
        }
        const struct tmx_thermal_ops *ops = shared ? r->thermal.ops : &tmx_thermal_reduced;
        ops->modes(shared ? k->model : k->believed, shared ? usual : 0, &modes);
        tmx_run_try(r, tmx_forecast_init, &k->forecast, &modes, r->options.quantum_s);
        struct tmx_forecast_air *air = &k->forecast.air;
        *air = (struct tmx_forecast_air){.n = k->n_level > 1 ? k->n_level : 0,
                                         .rpm = k->level_rpm,
                                         .k_per_w = k->level_k_per_w,
                                         .model_k_per_w = k_per_w};
        const struct tmx_card *card = air->n > 0 ? &r->topology.card[k->card] : NULL;
        for (size_t f = 0; card && f < card->n_fan; f++) {
            const struct tmx_fan *fan = &r->topology.fan[card->fan0 + f];
            air->max_rpm += fan->max_rpm / (double)card->n_fan;
            air->full_w += tmx_fan_power_w(fan, fan->max_rpm);
        }
    }
    for (size_t g = 0; g < r->n_gpu && !r->err.code; g++) {
        r->forecast_of_gpu[g] = &r->kind[r->kind_of_gpu[g]].forecast;
    }
    r->sim_spec.forecast = r->forecast_of_gpu;
}

static void close_thermal(struct tmx_run *r)
{
    for (size_t k = 0; k < r->n_kind; k++) {
        struct tmx_run_kind *kind = &r->kind[k];
        tmx_forecast_finish(&kind->forecast);
        if (kind->believed) {
            tmx_thermal_reduced.model_destroy(kind->believed);
        }
        if (kind->model) {
            r->thermal.ops->model_destroy(kind->model);
        }
        tmx_stack_finish(&kind->stack);
    }
    free(r->thermal.options);
}

static void write_thermal(const struct tmx_run *r, struct tmx_writer *w)
{
    static const struct tmx_opt none[] = {{0}};
    const struct tmx_opt *opts = r->thermal.ops->base.opts;
    bool one_chip = true; /* overrides are of one chip; where there are several, their own files say all */
    for (size_t k = 1; k < r->n_kind; k++) {
        one_chip = one_chip && strcmp(r->kind[k].name, r->kind[0].name) == 0;
    }
    if (one_chip) {
        tmx_chip_write_power(&r->kind[0].chip, "chip_power", w);
        /* write package */
        const struct tmx_hotspot_config *cfg = &r->kind[0].package;
        tmx_writer_open(w, "package", TMX_SETTING_GROUP);
        for (const struct tmx_opt *o = tmx_hotspot_opts; o->key; o++) {
            const struct tmx_opt row[2] = {*o, {0}};
            const bool by_root =
                (o->offset == offsetof(struct tmx_hotspot_config, grid_rows) && r->options.rows > 0) ||
                (o->offset == offsetof(struct tmx_hotspot_config, grid_cols) && r->options.cols > 0);
            if (cfg->origin[o - tmx_hotspot_opts].source == TMX_HOTSPOT_DEFAULT || by_root ||
                key_unused(o->key)) {
                continue;
            }
            if (o->type == TMX_OPT_BOOL) { /* HotSpot's switches are 0 and 1 */
                const bool *on = (const bool *)((const char *)cfg + o->offset);
                tmx_writer_value(w, o->key, TMX_INTEGER_VALUE(*on), false);
            } else {
                tmx_opt_write(row, cfg, w);
            }
        }
        tmx_writer_close(w);
    } else {
        /* of one chip its package has the ambient and the start */
        if (!isnan(r->inlet_c) && r->n_inlet == 0 && r->inlet_c != r->topology.inlet_c) {
            tmx_writer_value(w, "inlet_c", TMX_REAL_VALUE(r->inlet_c), false);
        }
        if (r->inlet_plus_k != 0) {
            tmx_writer_value(w, "inlet_plus_k", TMX_REAL_VALUE(r->inlet_plus_k), false);
        }
        if (r->start_plus_k != 0) {
            tmx_writer_value(w, "start_plus_k", TMX_REAL_VALUE(r->start_plus_k), false);
        }
    }
    if (r->topology.n_gpu > 0) {
        tmx_run_choice_write(r, TMX_LEVEL_FAN, NULL, NULL, NULL, w);
        /* write failures */
        tmx_writer_open(w, "fan_failures", TMX_SETTING_LIST);
        for (size_t i = 0; i < r->n_failure; i++) {
            tmx_writer_open(w, NULL, TMX_SETTING_GROUP);
            tmx_writer_value(w, "fan", TMX_TEXT_VALUE(r->topology.fan[r->failure[i].fan].name), false);
            tmx_writer_value(w, "at_s", TMX_REAL_VALUE(r->failure[i].at_s), false);
            tmx_writer_close(w);
        }
        tmx_writer_close(w);
    }
    if (r->n_inlet > 0 && r->inlet_file[0]) {
        tmx_writer_value(w, "inlet", TMX_TEXT_VALUE(r->inlet_file), true);
    } else if (r->n_inlet > 0) {
        tmx_writer_open(w, "inlet", TMX_SETTING_LIST);
        for (size_t i = 0; i < r->n_inlet; i++) {
            tmx_writer_open(w, NULL, TMX_SETTING_GROUP);
            tmx_writer_value(w, "time_s", TMX_REAL_VALUE(r->inlet[i].time_s), false);
            tmx_writer_value(w, "inlet_c", TMX_REAL_VALUE(r->inlet[i].inlet_c), false);
            tmx_writer_close(w);
        }
        tmx_writer_close(w);
    }
    tmx_opt_write_group(opts ? opts : none, r->thermal.options, "thermal", w);
}

const struct tmx_run_feature tmx_feature_thermal = {
    .open = open_thermal, .build = build_thermal, .write = write_thermal, .close = close_thermal};
const struct tmx_run_feature tmx_feature_forecast = {.build = build_forecast};
