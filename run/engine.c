/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public engine: one chip, temperatures from powers. */
#include <thermix/engine.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/floorplan/chip.h"
#include "run/load/data.h"
#include "run/run.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/thermal.h"

enum { MAX_SETTING = 16, WORD = 128 };

struct tmx_engine {
    struct tmx_hotspot_config cfg;
    struct tmx_stack stack;
    struct tmx_thermal_instance chip;
    size_t n_unit;
    double *temp_k;      /* [n_unit] owned: scratch */
    double *init_node_k; /* owned: the start field; NULL: uniform */
};

struct words { /* the options, sorted by whose they are */
    const char *method, *config, *chip;
    const char *const *all; /* as they are given */
    struct tmx_stack_options stack;
    const char *setting[2 * MAX_SETTING + 2]; /* of the back-end: key, value, ..., NULL */
    char key[MAX_SETTING][WORD];
    size_t n_setting;
};

static enum tmx_status flag(const char *name, const char *value, bool *to, struct tmx_err *err)
{
    *to = strcmp(value, "1") == 0;
    return *to || strcmp(value, "0") == 0
               ? TMX_OK
               : tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "%s = \"%.60s\": expected 0 or 1", name, value);
}

/* Is it an option of a back-end that an engine may use? */
static bool of_backend(const char *name)
{
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        for (const struct tmx_opt *o = tmx_thermal_backends[i]->base.opts; o && o->key; o++) {
            if (strcmp(o->key, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Files that `thermix thermal` reads and writes beside its network. A .config file may name them. */
static const char of_trace[] = "p o d steady_file grid_steady_file grid_transient_file";

static enum tmx_status unknown(const char *name, struct tmx_err *err)
{
    const char *names[] = {
        "c",         "chip",         "method",        "allow_gaps",  "hotspot_compat",
        "network",   "modes",        "tolerance_k",   "cache",       "scheme",
        "precision", "r_convec_low", "r_convec_high", "share_sinks", tmx_hotspot_config_nearest(name)};
    const size_t n = sizeof names / sizeof names[0];
    char hint[TMX_HINT_SIZE];
    return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "unknown option \"%s\"%s", name,
                       tmx_suggest(hint, name, names, n - !names[n - 1]));
}

static enum tmx_status sort_word(struct words *w, struct tmx_hotspot_config *cfg, const char *word,
                                 struct tmx_err *err)
{
    char name[WORD];
    const char *eq = strchr(word, '='), *value = eq ? eq + 1 : NULL;
    const size_t n = eq ? (size_t)(eq - word) : 0;
    if (n == 0 || n >= sizeof name) {
        return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "\"%.60s\": expected name=value", word);
    }
    memcpy(name, word, n);
    name[n] = '\0';
    for (const char *const *other = w->all; *other != word; other++) {
        char before[WORD];
        snprintf(before, sizeof before, "%.*s", (int)strcspn(*other, "="), *other);
        if (tmx_word_compare(before, name) == 0) {
            return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "%s is given twice", name);
        }
    }
    if (strcmp(name, "c") == 0) {
        w->config = value;
    } else if (strcmp(name, "chip") == 0) {
        w->chip = value;
    } else if (strcmp(name, "method") == 0) {
        w->method = value;
    } else if (strcmp(name, "network") == 0) {
        const bool physical = value && strcmp(value, "physical") == 0;
        if (!physical && (!value || strcmp(value, "hotspot") != 0)) {
            return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "network=%.60s: expected hotspot or physical",
                               value ? value : "");
        }
        w->stack.network = physical ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT;
    } else if (strcmp(name, "allow_gaps") == 0) {
        return flag(name, value, &w->stack.allow_gaps, err);
    } else if (strcmp(name, "hotspot_compat") == 0) {
        return flag(name, value, &w->stack.hotspot_compat, err);
    } else if (of_backend(name)) {
        if (w->n_setting == MAX_SETTING) {
            return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "more than %d options of the method",
                               MAX_SETTING);
        }
        memcpy(w->key[w->n_setting], name, n + 1);
        w->setting[2 * w->n_setting] = w->key[w->n_setting];
        w->setting[2 * w->n_setting + 1] = value;
        w->n_setting++;
    } else if (tmx_words_have(of_trace, name)) {
        return tmx_fail_at(err, TMX_ECONFIG, "engine", 0, "%s: an engine reads no trace and writes no file",
                           name);
    } else if (!tmx_hotspot_config_knows(name)) {
        return unknown(name, err);
    } else {
        return tmx_hotspot_config_set(cfg, name, value, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
    return TMX_OK;
}

/* Floorplan and package of a shipped chip. */
static void take_chip(struct tmx_hotspot_config *cfg, const char *name, char package[2 * TMX_PATH_SIZE],
                      struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE], path[2 * TMX_PATH_SIZE];
    struct tmx_chip chip = {0};
    if (!tmx_data_find(TMX_DATA_CHIP, name, folder, err) && !tmx_path_join(path, folder, "chip.cfg", err) &&
        !tmx_chip_load(&chip, path, NULL, err) && !tmx_path_join(path, folder, chip.floorplan_file, err) &&
        !tmx_path_join(package, folder, chip.package_file, err)) {
        tmx_hotspot_config_set(cfg, "f", path, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
    tmx_chip_finish(&chip);
}

static void read_options(struct tmx_engine *e, const char *const *options, struct words *w,
                         struct tmx_err *err)
{
    char package[2 * TMX_PATH_SIZE];
    tmx_hotspot_config_init(&e->cfg);
    snprintf(e->cfg.source[TMX_HOTSPOT_COMMAND_LINE], sizeof e->cfg.source[0], "engine");
    w->all = options;
    for (; options && *options && !err->code; options++) {
        sort_word(w, &e->cfg, *options, err);
    }
    const char *config = w->config;
    const char *twice = config                      ? "c"
                        : e->cfg.f[0]               ? "f"
                        : e->cfg.grid_layer_file[0] ? "grid_layer_file"
                                                    : NULL;
    if (w->chip && twice) {
        tmx_error_at(err, TMX_ECONFIG, "engine", 0,
                     "chip=%.60s brings a floorplan and a package of its own: no %s=", w->chip, twice);
    }
    if (w->chip && !err->code) {
        take_chip(&e->cfg, w->chip, package, err);
        config = package;
    }
    if (config && !err->code) {
        tmx_hotspot_config_read(&e->cfg, config, TMX_HOTSPOT_CONFIG, err);
    }
    if (e->cfg.package_config_file[0] && !err->code) {
        tmx_hotspot_config_read(&e->cfg, e->cfg.package_config_file, TMX_HOTSPOT_PACKAGE, err);
    }
    if (e->cfg.leakage_used && !err->code) {
        tmx_hotspot_config_fail(&e->cfg, "leakage_used", err,
                                "leakage_used: an engine takes powers as they are; add leakage to them");
    } else if (e->cfg.package_model_used && e->cfg.natural_convec && !err->code) {
        tmx_hotspot_config_fail(&e->cfg, "natural_convec", err,
                                "natural_convec: an engine has one r_convec; give that of the sink");
    }
}

static void set_up(struct tmx_engine *e, const char *const *options, struct tmx_err *err)
{
    struct words w = {.method = tmx_thermal_backends[0]->base.name};
    struct tmx_temps temps = {0};
    read_options(e, options, &w, err);
    if (!err->code && !tmx_stack_create(&e->cfg, &w.stack, NULL, &e->stack, err) &&
        !tmx_temps_init(&temps, &e->stack, err)) {
        tmx_temps_start(&temps, &e->cfg, w.stack.hotspot_compat, &e->init_node_k, err);
    }
    tmx_temps_finish(&temps);
    e->stack.spec.init_node_k = e->init_node_k;
    if (!err->code && !tmx_thermal_instance_create(&e->chip, w.method, w.setting, &e->stack.spec, err)) {
        e->n_unit = tmx_thermal_spec_units(&e->stack.spec);
        e->temp_k = calloc(e->n_unit, sizeof *e->temp_k);
        if (!e->temp_k) {
            tmx_error(err, TMX_ENOMEM, "%zu units", e->n_unit);
        }
    }
}

static void destroy(struct tmx_engine *e)
{
    tmx_thermal_instance_finish(&e->chip);
    tmx_stack_finish(&e->stack);
    free(e->temp_k);
    free(e->init_node_k);
    free(e);
}

enum tmx_status tmx_engine_open(struct tmx_engine **engine, const char *const *options, struct tmx_err *err)
{
    struct tmx_process_guard host;
    struct tmx_engine *e = calloc(1, sizeof *e);
    struct tmx_err own = {0}; /* the first error of set-up, which stays (base/err.h) */
    *engine = NULL;
    if (!e) {
        return tmx_fail(err, TMX_ENOMEM, "engine");
    }
    tmx_process_guard_enter(&host);
    set_up(e, options, &own);
    if (own.code) {
        destroy(e);
    } else {
        *engine = e;
    }
    tmx_process_guard_leave(&host);
    return tmx_error_give(err, &own);
}

void tmx_engine_close(struct tmx_engine *e)
{
    if (e) {
        destroy(e);
    }
}

size_t tmx_engine_units(const struct tmx_engine *e)
{
    return e->n_unit;
}

const char *tmx_engine_unit(const struct tmx_engine *e, size_t unit)
{
    for (size_t l = 0; l < e->stack.spec.n_layer; l++) {
        const struct tmx_layer *layer = &e->stack.spec.layer[l];
        if (!layer->dissipates) {
            continue;
        }
        if (unit < layer->floorplan->n_unit) {
            return layer->floorplan->unit[unit].name;
        }
        unit -= layer->floorplan->n_unit;
    }
    return NULL;
}

static enum tmx_status check_power(const struct tmx_engine *e, const double *power_w, struct tmx_err *err)
{
    for (size_t u = 0; u < e->n_unit; u++) {
        if (!(power_w[u] >= 0 && isfinite(power_w[u]))) {
            return tmx_fail(err, TMX_ERANGE, "unit %s: power %g W is %s", tmx_engine_unit(e, u), power_w[u],
                            power_w[u] < 0 ? "below 0" : "not finite");
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_engine_step_many(struct tmx_engine *e, double dt_s, size_t n_step, const double *power_w,
                                     double *temp_k, struct tmx_err *err)
{
    struct tmx_process_guard host;
    const size_t n = e->n_unit;
    enum tmx_status st = TMX_OK;
    if (!(dt_s > 0 && isfinite(dt_s))) {
        return tmx_fail(err, TMX_ERANGE, "dt_s = %g: expected a time above 0", dt_s);
    }
    tmx_process_guard_enter(&host);
    for (size_t i = 0; !st && i < n_step; i++) {
        st = check_power(e, power_w + i * n, err);
        if (!st) {
            st = e->chip.ops->step(e->chip.state, dt_s, power_w + i * n, temp_k ? temp_k + i * n : e->temp_k);
            st = st ? tmx_fail(err, st, "step %zu: temperatures are no longer finite", i) : TMX_OK;
        }
    }
    tmx_process_guard_leave(&host);
    return st;
}

enum tmx_status tmx_engine_step(struct tmx_engine *e, double dt_s, const double *power_w, double *temp_k,
                                struct tmx_err *err)
{
    return tmx_engine_step_many(e, dt_s, 1, power_w, temp_k, err);
}

void tmx_engine_read(const struct tmx_engine *e, double *temp_k)
{
    struct tmx_process_guard host;
    tmx_process_guard_enter(&host);
    e->chip.ops->read(e->chip.state, temp_k);
    tmx_process_guard_leave(&host);
}

enum tmx_status tmx_engine_steady(struct tmx_engine *e, const double *power_w, bool settle, double *temp_k,
                                  struct tmx_err *err)
{
    struct tmx_process_guard host;
    tmx_process_guard_enter(&host);
    enum tmx_status st = check_power(e, power_w, err);
    if (!st) {
        st = e->chip.ops->steady(e->chip.state, power_w, settle, temp_k ? temp_k : e->temp_k);
        st = st ? tmx_fail(err, st, "the steady state is not finite") : TMX_OK;
    }
    tmx_process_guard_leave(&host);
    return st;
}
