/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <gsl/gsl_cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/plausible.h"
#include "base/provenance.h"
#include "base/text.h"
#include "run/options.h"
#include "run/registry.h"
#include "run/run.h"
#include "run/state.h"

enum { MAX_KEYS = 128 };

/* "policy" and the keys of opts, NULL-terminated: what a reader of the group leaves to another. */
static void keys_of(const struct tmx_opt *opts, const char *keys[MAX_KEYS])
{
    size_t n = 0;
    keys[n++] = "policy";
    for (const struct tmx_opt *o = opts; o && o->key && n < MAX_KEYS - 1; o++) {
        keys[n++] = o->key;
    }
    keys[n] = NULL;
}

/* A policy that a module has which is not loaded: the level's default takes its place, and a warning says
 * that the group is not checked. */
static void leave_unread(struct tmx_run *r, size_t place, const char *name, const char *def,
                         const struct tmx_opt *own, void *obj)
{
    struct tmx_choice *c = &r->sim_spec.choice[place];
    size_t n;
    const struct tmx_module_file *f = tmx_catalog_modules(r->catalog, &n);
    const char *slash = strrchr(f[0].path, '/');
    c->policy = tmx_catalog_find(r->catalog, c->level, def);
    char *word = r->unread[place] = tmx_arena_take(&r->arena, strlen(name) + 1, 1);
    if (!c->policy || !word) {
        tmx_error(&r->err, TMX_ENOMEM, "out of memory");
        return;
    }
    memcpy(word, name, strlen(name));
    tmx_warn("policy %s of module %s%s is not checked: the module is not loaded", name,
             slash ? slash + 1 : f[0].path, n > 1 ? " or of another" : "");
    if (own) {
        tmx_run_try(r, tmx_opt_read, own, obj, NULL, NULL);
    }
    tmx_run_try(r, tmx_plugin_state, c->policy, NULL, NULL, &c->state);
}

void tmx_run_choose(struct tmx_run *r, size_t place, const char *def, const struct tmx_opt *own, void *obj)
{
    struct tmx_choice *c = &r->sim_spec.choice[place];
    const struct tmx_setting *group = tmx_setting_group(r->root, tmx_choice_keys[place], &r->err);
    const char *keys[MAX_KEYS], *name = tmx_setting_word(group, "policy", def, &r->err);
    if (r->err.code) {
        return;
    }
    c->level = tmx_choice_level(place);
    if (r->catalog->loads_nothing && r->own_catalog && !tmx_catalog_find(r->catalog, c->level, name)) {
        leave_unread(r, place, name, def, own, obj);
        return;
    }
    tmx_run_try(r, tmx_catalog_get, r->catalog, c->level, name, &c->policy,
                tmx_setting_nearest(group ? group : r->root, "policy"));
    if (!r->err.code && own) {
        keys_of(c->policy->opts, keys);
        tmx_run_try(r, tmx_opt_read, own, obj, group, keys);
    }
    keys_of(own, keys);
    tmx_run_try(r, tmx_plugin_state, c->policy, group, keys, &c->state);
}

static void open_policies(struct tmx_run *r)
{
    const struct tmx_preset *p = tmx_preset_find(r->options.policy);
    if (!p) {
        tmx_run_fail(r, tmx_run_place(r, "policy"),
                     "policy = \"%s\": no such preset; see `thermix list policies`", r->options.policy);
        return;
    }
    const struct {
        size_t place;
        const char *def;
    } rows[] = {{TMX_LEVEL_PLACE, p->place}, {TMX_LEVEL_MIX, p->mix}, {TMX_LEVEL_DTM, p->dtm},
                {TMX_SAFETY, NULL},          {TMX_LEVEL_TB, p->tb},   {TMX_LEVEL_FAN, "fixed"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !r->err.code; i++) {
        const struct tmx_choice *dtm = &r->sim_spec.choice[TMX_LEVEL_DTM];
        const char *safety = tmx_dtm_of(dtm) && tmx_dtm_of(dtm)->caps ? "none" : "throttle"; /* has limits */
        tmx_run_choose(r, rows[i].place, rows[i].def ? rows[i].def : safety, NULL, NULL);
    }
}

void tmx_run_choice_write(const struct tmx_run *r, size_t place, const struct tmx_opt *own, const void *obj,
                          void (*more)(const struct tmx_run *, struct tmx_writer *), struct tmx_writer *w)
{
    const struct tmx_choice *c = &r->sim_spec.choice[place];
    const char *unread = r->unread[place];
    if (!c->policy) {
        return;
    }
    tmx_writer_open(w, tmx_choice_keys[place], TMX_SETTING_GROUP);
    tmx_writer_value(w, "policy", TMX_TEXT_VALUE(unread ? unread : c->policy->name), false);
    if (unread) {
        tmx_writer_comment(w, "not checked");
    }
    if (own && !unread) {
        tmx_opt_write(own, obj, w);
    }
    if (c->policy->opts && !unread) {
        tmx_opt_write(c->policy->opts, c->state, w);
    }
    if (more && !unread) {
        more(r, w);
    }
    tmx_writer_close(w);
}

/* By name and content; by content alone in what the run's id is made of. */
static void write_modules(const struct tmx_run *r, struct tmx_writer *w)
{
    size_t n;
    const struct tmx_module_file *f = tmx_catalog_modules(r->catalog, &n);
    if (n == 0) {
        return;
    }
    tmx_writer_open(w, "modules", TMX_SETTING_LIST);
    for (size_t i = 0; i < n; i++) {
        tmx_writer_open(w, NULL, TMX_SETTING_GROUP);
        tmx_writer_value(w, "file", TMX_TEXT_VALUE(f[i].path), true);
        tmx_writer_value(w, "hash", TMX_TEXT_VALUE(f[i].hash), false);
        tmx_writer_close(w);
    }
    tmx_writer_close(w);
}

/* Groups of rows alone: part of the run's id where a value is not its default. */
#define PLAIN(name, policies, opts) {#name, opts, offsetof(struct tmx_run, name##_options)},
static const struct {
    const char *name;
    const struct tmx_opt *opts;
    size_t offset; /* in struct tmx_run */
} plain[] = {{"smooth", tmx_smooth_opts, offsetof(struct tmx_run, sim_spec.smooth)},
             {"loop", tmx_loop_opts, offsetof(struct tmx_run, sim_spec.cooling.loop)},
             {"store", tmx_store_opts, offsetof(struct tmx_run, sim_spec.store)},
             TMX_RUN_PLAIN_GROUPS(PLAIN)};
enum { N_PLAIN = sizeof plain / sizeof plain[0] };

static void open_plain(struct tmx_run *r)
{
    struct tmx_sensor_options *sensor = &r->sim_spec.sensor;
    const double tick_s = r->options.tick_s;
    tmx_run_try(r, tmx_opt_read_group, tmx_run_forecast_opts, &r->forecast_options, r->root, "forecast",
                NULL);
    tmx_run_try(r, tmx_sensor_open, sensor, &r->arena, tmx_run_member(r, "sensor"));
    for (size_t i = 0; i < N_PLAIN; i++) {
        tmx_run_try(r, tmx_opt_read_group, plain[i].opts, (char *)r + plain[i].offset, r->root, plain[i].name,
                    NULL);
    }
    sensor->period_s =
        sensor->period_s == 0 ? ceil(TMX_SENSOR_PERIOD_S / tick_s - 1e-9) * tick_s : sensor->period_s;
}

static void write_plain(const struct tmx_run *r, struct tmx_writer *w)
{
    if (tmx_mix_of(&r->sim_spec.choice[TMX_LEVEL_MIX])->foresees) {
        tmx_opt_write_group(tmx_run_forecast_opts, &r->forecast_options, "forecast", w);
    }
    tmx_sensor_write(&r->sim_spec.sensor, w);
    for (size_t i = 0; i < N_PLAIN; i++) {
        const void *values = (const char *)r + plain[i].offset;
        if (!tmx_opt_is_default(plain[i].opts, values)) {
            tmx_opt_write_group(plain[i].opts, values, plain[i].name, w);
        }
    }
}

static void write_policies(const struct tmx_run *r, struct tmx_writer *w)
{
    static const size_t levels[] = {TMX_LEVEL_PLACE, TMX_LEVEL_MIX, TMX_LEVEL_DTM, TMX_SAFETY, TMX_LEVEL_TB};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        tmx_run_choice_write(r, levels[i], NULL, NULL, NULL, w);
    }
}

static void open_modules(struct tmx_run *r)
{
    const struct tmx_setting *modules = tmx_setting_list(r->root, "modules", 0, 64, &r->err);
    if (modules) {
        tmx_run_try(r, tmx_catalog_copy, &r->own_catalog, r->catalog);
        r->catalog = r->err.code ? r->catalog : r->own_catalog;
        tmx_catalog_load_all(r->own_catalog, modules, &r->err);
    }
}

const struct tmx_run_feature tmx_feature_modules = {.open = open_modules, .write = write_modules},
                             tmx_feature_policies = {.open = open_policies},
                             tmx_feature_levels = {.write = write_policies},
                             tmx_feature_plain = {.open = open_plain},
                             tmx_feature_groups = {.write = write_plain};

#define FEATURE(name, groups) &tmx_feature_##name,
static const struct tmx_run_feature *const features[] = {TMX_RUN_FEATURES(FEATURE, )};
enum { N_FEATURE = sizeof features / sizeof features[0] };

/* The resolved configuration of a run: every key with its value, readable by tmx_run_create. */

static const char *after_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* What steps from event to event may leave out, by what the policies say. */
static void rests(const struct tmx_run *r, struct tmx_sim_spec *s)
{
    const struct tmx_choice *c = s->choice;
    const unsigned mix = c[TMX_LEVEL_MIX].policy->rests, dtm = c[TMX_LEVEL_DTM].policy->rests,
                   tb = c[TMX_LEVEL_TB].policy->rests, safety = c[TMX_SAFETY].policy->rests;
    s->events = r->options.tick == TMX_TICK_EVENTS;
    s->samples_skippable = (mix & dtm & c[TMX_LEVEL_FAN].policy->rests & TMX_RESTS_SAMPLES) &&
                           (safety & (TMX_RESTS_SAMPLES | TMX_RESTS_BELOW_TRIP));
    s->policies_skippable = s->samples_skippable && (mix & dtm & tb & TMX_RESTS_ALIKE) &&
                            !tmx_place_of(&c[TMX_LEVEL_PLACE])->widen;
    s->idle_skippable = s->samples_skippable && (dtm & TMX_RESTS_ALIKE);
}

static void fill_spec(struct tmx_run *r)
{
    const struct tmx_run_options *o = &r->options;
    struct tmx_sim_spec *s = &r->sim_spec;
    const struct tmx_mix_policy *mix = tmx_mix_of(&s->choice[TMX_LEVEL_MIX]);
    s->machine = (struct tmx_machine_spec){.job = r->job,
                                           .n_job = r->mix.n_entry,
                                           .dt_s = o->tick_s,
                                           .gain = o->measured_gains ? 1 + mix->measured_gain_pct / 100 : 1,
                                           .system_kernel_s = o->system_kernel_s,
                                           .blocks_wait = o->stopped_blocks == TMX_BLOCKS_WAIT};
    s->power.ops = (const struct tmx_power_ops *)tmx_catalog_item(r->catalog, TMX_KIND_POWER, 0);
    s->power.options = &o->leakage;
    s->dt_s = o->tick_s;
    rests(r, s);
    s->quantum_s = o->quantum_s;
    s->warmup_s = o->warmup_s;
    s->warmup_with = (enum tmx_warmup)o->warmup_with;
    s->stuck_s = o->stuck_s;
    s->seed = (uint64_t)o->seed;
    s->n_thread = (size_t)o->threads;
}

/* The text of the resolved configuration, and the id: a hash of the program's version, of every key with its
 * value and of every file that was read. Paths stay out of it: a copy elsewhere is the same input. */
static void identify(struct tmx_run *r)
{
    struct tmx_hash *h = NULL;
    size_t size = 0;
    struct tmx_writer w = {.full = open_memstream(&r->resolved, &size)};
    w.keys = w.full ? open_memstream(&r->keys, &size) : NULL;
    if (!w.keys) {
        if (w.full) {
            fclose(w.full);
        }
        tmx_error(&r->err, TMX_ENOMEM, "out of memory");
        return;
    }
    /* write resolved */
    fprintf(w.full, "# thermix %s%s\n", TMX_VERSION, tmx_os_digits((void (*)(void))cblas_ddot));
    for (const char *line = r->warning; *line; line = after_line(line)) {
        fprintf(w.full, TMX_RUN_WARNING "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    for (const struct tmx_opt *o = tmx_run_opts; o->key; o++) {
        const struct tmx_opt row[2] = {*o, {0}};
        const bool of_the_run = o->offset < offsetof(struct tmx_run_options, threads);
        const bool fixed =
            o->offset == offsetof(struct tmx_run_options, tick) && r->options.tick == TMX_TICK_FIXED;
        if (of_the_run && !fixed && !tmx_run_key_unused(r, o->key)) {
            tmx_opt_write(row, &r->options, &w);
        }
    }
    for (size_t i = 0; i < N_FEATURE; i++) {
        if (features[i]->write) {
            features[i]->write(r, &w);
        }
    }
    tmx_run_try(r, tmx_writer_finish, &w, &r->settings);
    fclose(w.full);
    fclose(w.keys);
    tmx_run_try(r, tmx_hash_create, &h);
    if (h) {
        tmx_hash_add_text(h, TMX_VERSION);
        tmx_hash_add(h, r->keys, size);
        tmx_run_try(r, tmx_provenance_hash, &r->inputs, h);
        if (r->sim_spec.choice[TMX_LEVEL_GATE].policy) { /* what it chooses is in no option and no file */
            const struct tmx_gate_policy *p = tmx_gate_of(&r->sim_spec.choice[TMX_LEVEL_GATE]);
            const int choices[] = {(int)p->order, (int)p->wake, p->coordinated, p->adaptive};
            tmx_hash_add(h, choices, sizeof choices);
        }
        /* a policy of another language whose code sees what has no hash says so in its option `code` */
        const bool repeatable = !strstr(r->keys, "code = \"" TMX_UNREPRODUCIBLE);
        memcpy(r->id, TMX_UNREPRODUCIBLE, sizeof TMX_UNREPRODUCIBLE);
        tmx_hash_hex(h, r->id + (repeatable ? 0 : strlen(TMX_UNREPRODUCIBLE)));
        tmx_hash_destroy(h);
    }
}

static void keep_warning(void *run, const char *text)
{
    struct tmx_run *r = run;
    const size_t used = strlen(r->warning), n = strlen(text);
    if (used + n + 2 <= sizeof r->warning && !strstr(r->warning, text)) {
        snprintf(r->warning + used, sizeof r->warning - used, "%s\n", text);
    }
}

/* All that needs no model; what is read is part of the run's identity, what it warns of of its text. */
static void describe(struct tmx_run *r)
{
    struct tmx_warn_listener listener = {.line = keep_warning, .to = r};
    tmx_provenance_begin(&r->inputs);
    tmx_warn_begin(&listener);
    tmx_run_try(r, tmx_opt_read, tmx_run_opts, &r->options, r->root, tmx_run_groups);
    r->serves = tmx_setting_member(r->root, "serve") != NULL;
    for (size_t i = 0; i < N_FEATURE && !r->err.code; i++) {
        if (features[i]->open) {
            features[i]->open(r);
        }
    }
    tmx_arena_check(&r->arena, &r->err);
    tmx_warn_end(&listener);
    tmx_provenance_end(&r->inputs);
    if (!r->err.code) {
        identify(r);
    }
}

static void build(struct tmx_run *r)
{
    fill_spec(r);
    for (size_t i = 0; i < N_FEATURE && !r->err.code; i++) {
        if (features[i]->build) {
            features[i]->build(r);
        }
    }
    tmx_arena_check(&r->arena, &r->err);
    tmx_run_try(r, tmx_sim_create, &r->sim, &r->sim_spec);
}

enum tmx_status tmx_run_create(struct tmx_run **run, const struct tmx_setting *root,
                               const struct tmx_run_how *how, struct tmx_err *err)
{
    struct tmx_run *r = *run = calloc(1, sizeof *r);
    if (!r) {
        if (how && how->mix) {
            tmx_mix_finish(how->mix);
        }
        return tmx_no_memory(err);
    }
    r->mix = how && how->mix ? *how->mix : r->mix;
    r->root = root;
    r->catalog = how && how->catalog ? how->catalog : &tmx_builtin;
    describe(r);
    if (!r->err.code && !(how && how->described)) {
        build(r);
    }
    const enum tmx_status st = tmx_error_give(err, &r->err);
    if (st) {
        tmx_run_destroy(r);
        *run = NULL;
    }
    return st;
}

enum tmx_status tmx_run_load(struct tmx_run **run, const char *path, const struct tmx_run_how *how,
                             struct tmx_err *err)
{
    static const struct tmx_run_how none = {0};
    struct tmx_config *cfg = NULL;
    how = how ? how : &none;
    *run = NULL;
    if (path[0]) {
        tmx_config_load(&cfg, path, how->sets, err);
    } else if (!err->code && !tmx_config_parse(&cfg, "", "", err) && how->sets) {
        tmx_config_apply(cfg, how->sets, err);
    }
    const struct tmx_setting *root = err->code    ? NULL
                                     : how->group ? tmx_config_find(cfg, how->group)
                                                  : tmx_config_root(cfg);
    if (root) {
        (void)!tmx_run_create(run, root, how, err);
    } else {
        tmx_error_at(err, TMX_ECONFIG, path, 0, "missing %s = { ... }", how->group);
    }
    if (!root && how->mix) {
        tmx_mix_finish(how->mix);
    }
    tmx_config_close(cfg);
    return err->code;
}

void tmx_run_destroy(struct tmx_run *r)
{
    if (!r) {
        return;
    }
    tmx_sim_destroy(r->sim);
    tmx_choices_finish(r->sim_spec.choice);
    for (size_t i = 0; i < N_FEATURE; i++) {
        if (features[i]->close) {
            features[i]->close(r);
        }
    }
    free(r->resolved);
    tmx_setting_destroy(r->settings);
    free(r->keys);
    tmx_provenance_finish(&r->inputs);
    tmx_catalog_destroy(r->own_catalog);
    tmx_arena_finish(&r->arena);
    free(r);
}

const struct tmx_setting *tmx_run_settings(const struct tmx_run *r)
{
    return r->settings;
}

const char *tmx_run_resolved(const struct tmx_run *r)
{
    return r->resolved;
}

const char *tmx_run_keys(const struct tmx_run *r)
{
    return r->keys;
}

const char *tmx_run_id(const struct tmx_run *r)
{
    return r->id;
}

enum tmx_status tmx_run_execute(struct tmx_run *r, const struct tmx_observer *observer, struct tmx_err *err)
{
    const enum tmx_status st = tmx_sim_advance(r->sim, 0, observer, err);
    if (!st) {
        tmx_run_warn_of_result(r);
    }
    return st;
}

void tmx_run_warn_of_result(const struct tmx_run *r)
{
    tmx_run_serve_warn(r);
    const double exhaust_j = tmx_sim_cooling_ledger(r->sim).exhaust_j;
    if (r->topology.n_gpu > 0 && exhaust_j < -1e-6 * r->sim->recorder->total_j) {
        tmx_warn(
            "exhaust_j is %.3g J: sinks took heat out of the air. They began colder than it is "
            "(warmup_s), or it became hotter than that: from another GPU (`thermix check %s`), or by inlet",
            exhaust_j, r->options.topology);
    }
    for (size_t i = 0; i < r->n_failure; i++) {
        if (r->failure[i].at_s >= tmx_sim_time_s(r->sim)) {
            tmx_warn("fan_failures: fan %s did not stop: the run ended at %.6g s, before %.6g s",
                     r->topology.fan[r->failure[i].fan].name, tmx_sim_time_s(r->sim), r->failure[i].at_s);
        }
    }
    static const double WATER_MOST_C = 90; /* as of inlet_c */
    for (size_t g = 0; r->sim_spec.cooling.loop.ua_w_per_k > 0 && g < r->n_gpu; g++) {
        struct tmx_cooling_gpu c;
        if (tmx_sim_gpu_cooling(r->sim, g, &c) && c.inlet_k > WATER_MOST_C + TMX_ZERO_C) {
            tmx_warn(
                "loop: the water before the plate of GPU %zu is %.4g degC, above %g degC; are ua_w_per_k "
                "and flow in W/K and m3/s?",
                g, c.inlet_k - TMX_ZERO_C, WATER_MOST_C);
            break;
        }
    }
    const double peak_k = r->sim->recorder->peak_sm_k;
    if (peak_k > 0) {
        const struct tmx_thermal_spec *spec = &r->kind[0].stack.spec;
        double coldest_k = spec->ambient_k;
        for (size_t l = 0; l < spec->n_layer; l++) {
            const struct tmx_channels *c = spec->layer[l].channels;
            coldest_k = c && !spec->inlet_at_ambient ? fmin(coldest_k, c->inlet_k) : coldest_k;
        }
        tmx_plausible_result("the run", peak_k, peak_k, coldest_k);
    }
}

struct tmx_sim *tmx_run_sim(const struct tmx_run *r)
{
    return r->sim;
}

const char *tmx_run_mix_name(const struct tmx_run *r)
{
    return r->mix.name;
}

const char *tmx_run_policy_name(const struct tmx_run *r)
{
    return r->options.policy;
}

const struct tmx_sim_gpu_thermal *tmx_run_gpu_thermal(const struct tmx_run *r, size_t gpu)
{
    return &r->thermal_of_gpu[gpu];
}

size_t tmx_run_fastest_air(const struct tmx_run *r, size_t gpu)
{
    const struct tmx_run_kind *k = &r->kind[r->kind_of_gpu[gpu]];
    size_t best = 0;
    for (size_t l = 1; l < k->n_level; l++) {
        best = k->level_k_per_w[l] <= k->level_k_per_w[best] ? l : best;
    }
    return k->n_level > 1 ? best : SIZE_MAX;
}

double tmx_run_tick_s(const struct tmx_run *r)
{
    return r->options.tick_s;
}
