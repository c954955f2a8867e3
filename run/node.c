/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/rng.h"
#include "base/text.h"
#include "core/floorplan/floorplan.h"

enum { MAX_FAILURES = 4096, MAX_INLET = 1000000, NO_CAP_W = 100000 /* more than any board draws */ };

static void open_chip(struct tmx_run *r, struct tmx_run_kind *k)
{
    char folder[TMX_PATH_SIZE], path[2 * TMX_PATH_SIZE];
    struct tmx_floorplan fp = {0};
    const char *own = r->options.floorplan;
    tmx_run_try(r, tmx_data_find_read, TMX_DATA_CHIP, k->from, k->name, folder);
    tmx_run_try(r, tmx_path_join, path, folder, "chip.cfg");
    tmx_run_try(r, tmx_chip_load, &k->chip, path, tmx_run_member(r, "chip_power"));
    if (r->err.code) {
        return;
    }
    if (r->options.sms_off[0]) {
        snprintf(k->chip.sms_off, sizeof k->chip.sms_off, "%s", r->options.sms_off);
    }
    snprintf(k->floorplan_path, sizeof k->floorplan_path, "%s", own);
    if (!own[0] || !tmx_os_exists(k->floorplan_path)) { /* beside the chip's own */
        tmx_run_try(r, tmx_path_join, k->floorplan_path, folder, own[0] ? own : k->chip.floorplan_file);
    }
    tmx_run_try(r, tmx_flp_read, k->floorplan_path, &fp);
    tmx_run_try(r, tmx_floorplan_check, &fp, 1); /* gaps are the package's question: its filler's */
    tmx_run_locate(r, own[0] ? tmx_run_member(r, "floorplan") : NULL);
    if (!r->err.code) {
        tmx_run_try(r, tmx_chip_attach, &k->chip, &fp);
        tmx_run_locate(r, r->options.sms_off[0] ? tmx_run_member(r, "sms_off") : NULL);
    }
    tmx_floorplan_finish(&fp);
    if (!r->err.code && k->chip.confidence[0]) {
        tmx_warn("chip %s: %s", k->chip.name, k->chip.confidence);
    }
    tmx_run_try(r, tmx_path_join, k->package_path, folder, k->chip.package_file);
}

/* Do the sinks of two cards see the same convection at the same speeds? */
static bool same_cooler(const struct tmx_topology *t, size_t a, size_t b)
{
    const struct tmx_card *x = &t->card[a], *y = &t->card[b];
    bool same = x->convection == y->convection && x->fit_a_k_per_w == y->fit_a_k_per_w &&
                x->fit_b_k_per_w == y->fit_b_k_per_w && x->fit_exponent == y->fit_exponent &&
                x->still_k_per_w == y->still_k_per_w && x->levels == y->levels && x->n_fan == y->n_fan;
    const bool liquid = x->convection >= TMX_CONVECTION_PLATE;
    if (liquid) {
        same = same && x->n_gpu == y->n_gpu && x->still_flow_m3_per_s == y->still_flow_m3_per_s;
    }
    for (size_t f = 0; same && f < x->n_fan; f++) {
        same = t->fan[x->fan0 + f].min_rpm == t->fan[y->fan0 + f].min_rpm &&
               t->fan[x->fan0 + f].max_rpm == t->fan[y->fan0 + f].max_rpm &&
               (!liquid || t->fan[x->fan0 + f].flow_m3_per_s == t->fan[y->fan0 + f].flow_m3_per_s);
    }
    return same;
}

static void read_topology(struct tmx_run *r)
{
    const struct tmx_setting *at = tmx_run_member(r, "topology");
    char path[TMX_PATH_SIZE];
    if (!r->options.topology[0]) {
        return;
    }
    tmx_run_try(r, tmx_data_find_read, TMX_DATA_SYSTEM, tmx_setting_file(at), r->options.topology, path);
    tmx_run_locate(r, at);
    tmx_run_try(r, tmx_topology_load, &r->topology, path);
    if (r->options.gpus != 1) {
        tmx_run_fail(r, at, "topology and gpus: give one; the topology lists its GPUs");
    }
    if (!r->options.link[0]) {
        snprintf(r->options.link, sizeof r->options.link, "%s", r->topology.link_name);
    }
    if (!r->err.code && r->options.link[0] && !tmx_topology_link(&r->topology, r->options.link)) {
        const struct tmx_setting *s = tmx_run_member(r, "link");
        tmx_run_fail(r, s ? s : at, "link = \"%s\": topology %s has no such link", r->options.link,
                     r->topology.name);
    }
}

/* `fan_failures = ( { fan = "fan0"; at_s = 100.0; }, ... )` */
static void read_failures(struct tmx_run *r)
{
    struct row {
        char fan[TMX_NAME];
        double at_s;
    };
    static const struct tmx_opt opts[] = {
        TMX_ROW_TEXT(row, fan, NULL, "fan that stops"),
        TMX_ROW_REAL(row, at_s, "s", 0, 1e7, 0, "when, after the end of the warm-up"),
        {0},
    };
    const struct tmx_setting *list = tmx_setting_list(r->root, "fan_failures", 0, MAX_FAILURES, &r->err);
    const size_t n = tmx_setting_length(list);
    TMX_TAKE(&r->arena, r->failure, n);
    for (size_t i = 0; i < n && r->failure && !r->err.code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct row row = {0};
        size_t f = 0;
        tmx_run_try(r, tmx_opt_read, opts, &row, e, NULL);
        while (f < r->topology.n_fan && strcmp(r->topology.fan[f].name, row.fan) != 0) {
            f++;
        }
        if (f == r->topology.n_fan) {
            char hint[TMX_HINT_SIZE];
            const char *names[MAX_FAILURES];
            size_t n_name = 0;
            for (; n_name < r->topology.n_fan && n_name < MAX_FAILURES; n_name++) {
                names[n_name] = r->topology.fan[n_name].name;
            }
            tmx_run_fail(r, e, "fan_failures: there is no fan \"%s\"%s", row.fan,
                         tmx_suggest(hint, row.fan, names, n_name));
        } else if (r->topology.fan[f].stand_in && !tmx_plausible_accepted()) {
            tmx_run_fail(r, e,
                         "fan_failures: %s stands for fans that no log has measured, so what its "
                         "failure does is not known: log fan_rpm at two speeds and calibrate "
                         "again (--accept takes a guess)",
                         row.fan);
        }
        for (size_t k = 0; k < r->n_failure; k++) {
            if (r->failure[k].fan == f) {
                tmx_run_fail(r, e, "fan_failures: fan \"%s\" stops twice", row.fan);
            }
        }
        r->failure[r->n_failure++] = (struct tmx_fan_failure){.fan = f, .at_s = row.at_s};
    }
}

/* Caps of the topology, and `power_caps_w = ( 300.0, 250.0 )`: one number for all GPUs, or one each. */
static void read_caps(struct tmx_run *r)
{
    const struct tmx_setting *at = tmx_run_member(r, "power_caps_w"), *list = NULL;
    double watt;
    const bool one = at && tmx_setting_real(at, &watt); /* --set power_caps_w=520 */
    const size_t n = one ? 1 : tmx_setting_length(at);
    bool any = false;
    if (!one) {
        list = tmx_setting_list(r->root, "power_caps_w", 0, r->n_gpu, &r->err);
    }
    if (n > 1 && n != r->n_gpu) {
        tmx_run_fail(r, at, "power_caps_w: %zu numbers for %zu GPUs, expected one, or one each", n, r->n_gpu);
    }
    TMX_TAKE(&r->arena, r->power_cap_w, r->n_gpu);
    for (size_t g = 0; !r->err.code && r->power_cap_w && g < r->n_gpu; g++) {
        double w = r->topology.n_gpu > 0 ? r->topology.gpu[g].power_cap_w : 0;
        const struct tmx_setting *s = one ? at : n > 0 ? tmx_setting_at(list, n == 1 ? 0 : g) : NULL;
        if (s && (!tmx_setting_real(s, &w) || !(w > 0) || w > NO_CAP_W)) {
            tmx_run_fail(r, s, "power_caps_w: expected watts, more than 0 and at most 100000");
        }
        r->power_cap_w[g] = w > 0 && w < NO_CAP_W ? w : INFINITY;
        any = any || isfinite(r->power_cap_w[g]);
    }
    r->power_cap_w = any ? r->power_cap_w : NULL;
}

/* `spread = { leakage = 0.24; ... }`, of the run or else of its topology, or the name of a chip whose file
 * states what was measured. */
static void read_spread(struct tmx_run *r)
{
    char folder[TMX_PATH_SIZE], path[2 * TMX_PATH_SIZE];
    const struct tmx_setting *at = tmx_run_member(r, "spread");
    struct tmx_chip chip = {0};
    if (!at && r->topology.config) {
        at = tmx_setting_member(tmx_config_root(r->topology.config), "spread");
    }
    const char *name = tmx_setting_text(at);
    if (!name) {
        tmx_run_try(r, tmx_opt_read, tmx_spread_opts, &r->spread, at, NULL);
        return;
    }
    tmx_run_try(r, tmx_data_find_read, TMX_DATA_CHIP, tmx_setting_file(at), name, folder);
    tmx_run_try(r, tmx_path_join, path, folder, "chip.cfg");
    tmx_run_try(r, tmx_chip_load, &chip, path, NULL);
    r->spread = chip.spread;
    tmx_chip_finish(&chip);
    tmx_run_locate(r, at);
    const struct tmx_chip_spread *s = &r->spread;
    if (s->leakage == 0 && s->dynamic == 0 && s->sink == 0 && s->inlet_k == 0) {
        tmx_run_fail(r, at, "chip %s states no spread", name);
    }
}

/* Normal numbers of a GPU, each from a stream of its own, cut at three. */
static void draw_spread(struct tmx_run *r)
{
    static const char *const streams[] = {"spread.leakage", "spread.dynamic", "spread.sink", "spread.inlet"};
    const struct tmx_chip_spread *s = &r->spread;
    const double sd[] = {s->leakage, s->dynamic, s->sink, s->inlet_k};
    const bool air = s->sink > 0 || s->inlet_k > 0;
    if (!air && s->leakage == 0 && s->dynamic == 0) {
        return;
    }
    const struct tmx_setting *at = tmx_run_member(r, "spread");
    if (air && r->topology.n_gpu == 0 && !tmx_setting_text(at)) {
        const char *key = s->sink > 0 ? "sink" : "inlet_k";
        tmx_run_fail(r, tmx_setting_nearest(at, key),
                     "spread.%s: a chip without a topology has no sink and air of its own to differ in; "
                     "give a topology",
                     key);
        return;
    }
    if (air && r->topology.n_gpu == 0) {
        tmx_warn("spread: sink and inlet_k are of a topology's GPUs; without one they are not drawn");
        r->spread.sink = r->spread.inlet_k = 0;
    }
    TMX_TAKE(&r->arena, r->spread_of_gpu, r->n_gpu);
    if (s->inlet_k > 0 && r->topology.n_gpu > 0 && !r->topology.inlet_above_k) {
        TMX_TAKE(&r->arena, r->topology.inlet_above_k, r->n_gpu);
    }
    tmx_arena_check(&r->arena, &r->err);
    struct tmx_rng *rng[4] = {NULL};
    const int seed = s->seed >= 0 ? s->seed : r->options.seed;
    for (size_t i = 0; i < 4; i++) {
        tmx_run_try(r, tmx_rng_create, &rng[i], (uint64_t)seed, streams[i]);
    }
    for (size_t g = 0; !r->err.code && g < r->n_gpu; g++) {
        const bool in_air = r->topology.n_gpu > 0;
        double v[4];
        for (size_t i = 0; i < 4; i++) {
            v[i] = sd[i] * fmax(-3, fmin(3, tmx_rng_normal(rng[i], 1)));
        }
        r->spread_of_gpu[g] =
            (struct tmx_chip_draw){exp(v[0]), exp(v[1]), in_air ? exp(v[2]) : 1, in_air ? v[3] : 0};
        if (r->topology.inlet_above_k) {
            r->topology.inlet_above_k[g] += r->spread_of_gpu[g].inlet_k;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        tmx_rng_destroy(rng[i]);
    }
}

/* A governor that keeps limits needs some, and limits somebody who keeps them. */
static void check_caps(struct tmx_run *r)
{
    const struct tmx_choice *dtm = &r->sim_spec.choice[TMX_LEVEL_DTM];
    const bool kept = dtm->policy && tmx_dtm_of(dtm)->caps;
    const struct tmx_setting *caps = tmx_run_place(r, "power_caps_w"), *group = tmx_run_place(r, "dtm");
    if (!kept && r->power_cap_w) {
        tmx_run_fail(r, caps,
                     "a power cap, but dtm policy %s keeps none; there is dtm = { policy = \"boost\"; }",
                     dtm->policy ? dtm->policy->name : "none");
    }
    for (size_t g = 0; r->power_cap_w && g < r->n_gpu && !tmx_plausible_accepted(); g++) {
        char label[TMX_NAME];
        const struct tmx_run_kind *kind = &r->kind[r->kind_of_gpu[g]];
        if (isfinite(r->power_cap_w[g]) && kind->chip.n_level == 1 && r->n_kind > 1) {
            tmx_run_fail(r, caps,
                         "a power cap of %g W for GPU %s, but its chip %s has one clock level; give "
                         "it `levels`, or --accept",
                         r->power_cap_w[g],
                         tmx_gpu_label(r->topology.n_gpu > 0 ? r->topology.gpu[g].name : "", g, label),
                         kind->name);
        }
    }
    bool slower = false; /* some chip has a clock to choose */
    for (size_t k = 0; k < r->n_kind; k++) {
        slower = slower || r->kind[k].chip.n_level > 1;
    }
    if (kept && !slower && !tmx_plausible_accepted()) {
        tmx_run_fail(r, group,
                     "dtm policy %s: chip %s has one clock level, so no cap and no governor slows "
                     "it; give it `levels` "
                     "(thermix calibrate --levels CHIP), or --accept",
                     dtm->policy->name, r->kind[0].name);
    }
    for (size_t k = 0; kept && k < r->n_kind; k++) {
        const struct tmx_chip_board *b = &r->kind[k].chip.board;
        if (b->power_w == 0 && b->target_c == 0 && b->slowdown_c == 0 && !r->power_cap_w &&
            tmx_setting_length(tmx_run_member(r, "dtm")) < 2) {
            tmx_run_fail(r, group,
                         "dtm policy %s: chip %s states no limit (group board of its chip.cfg); give "
                         "power_cap_w or target_c here",
                         dtm->policy->name, r->kind[k].name);
        }
    }
}

/* Overrides meant for one chip must not reach the others. */
static void check_overrides(struct tmx_run *r)
{
    static const char *const keys[] = {"chip_power", "package", "floorplan", "sms_off"};
    const bool given[] = {true, true, r->options.floorplan[0], r->options.sms_off[0]};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct tmx_setting *s = given[i] ? tmx_run_member(r, keys[i]) : NULL;
        for (size_t k = 1; s && k < r->n_kind; k++) {
            if (strcmp(r->kind[k].name, r->kind[0].name) != 0) {
                tmx_run_fail(r, s, "%s: the topology has more than one kind of chip", keys[i]);
            }
        }
    }
}

static void check_fans(struct tmx_run *r)
{
    const struct tmx_fan_policy *p = tmx_fan_of(&r->sim_spec.choice[TMX_LEVEL_FAN]);
    for (size_t f = 0; f < r->topology.n_fan && p->needs_curve; f++) {
        if (r->topology.fan[f].n_curve == 0) {
            tmx_run_fail(r, tmx_run_place(r, "fan"), "fan policy %s: fan %s has no curve", p->base.name,
                         r->topology.fan[f].name);
        }
    }
}

/* `inlet_c = 32.0` in place of the system's, or the ambient of a chip's package; `inlet_plus_k = 8.0` above
 * it; `start_plus_k = 1e-6` above the temperature at which the chips start. */
static void read_inlet(struct tmx_run *r)
{
    const struct {
        const char *key;
        double low, high, *at;
    } keys[] = {{"inlet_c", -60, 90, &r->inlet_c},
                {"inlet_plus_k", -60, 60, &r->inlet_plus_k},
                {"start_plus_k", -60, 60, &r->start_plus_k}};
    r->inlet_c = r->topology.n_gpu > 0 && r->topology.inlet_c > -TMX_ZERO_C ? r->topology.inlet_c : NAN;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct tmx_setting *s = tmx_run_member(r, keys[i].key);
        if (s &&
            (!tmx_setting_real(s, keys[i].at) || *keys[i].at < keys[i].low || *keys[i].at > keys[i].high)) {
            tmx_run_fail(r, s, "%s: expected a number from %g to %g", keys[i].key, keys[i].low, keys[i].high);
        }
        if (s && i < 2 && tmx_setting_find(r->root, "package.ambient")) {
            tmx_run_fail(r, s, "%s and package.ambient are the same air: give one", keys[i].key);
        }
    }
}

/* `inlet = ( { time_s = 0.0; inlet_c = 25.0; }, ... )` or a CSV with these columns, in place of inlet_c. */
static void read_schedule(struct tmx_run *r)
{
    static const struct tmx_opt opts[] = {
        TMX_ROW_REAL(tmx_inlet_point, time_s, "s", -1e9, 1e9, NAN, "from the end of the warm-up on"),
        TMX_ROW_REAL(tmx_inlet_point, inlet_c, "degC", -60, 90, NAN, "room air or supplied water then"),
        {0},
    };
    const struct tmx_setting *at = tmx_run_member(r, "inlet"), *list = NULL,
                             *also = tmx_run_member(r, "inlet_c");
    const char *file = tmx_setting_text(at);
    struct tmx_csv csv = {0};
    char path[TMX_PATH_SIZE];
    if (!at) {
        return;
    }
    if (also) {
        tmx_run_fail(r, also, "inlet_c and inlet are the same air: give one");
    }
    if (file ? !file[0] : !tmx_setting_is(at, TMX_SETTING_LIST)) {
        tmx_run_fail(r, at,
                     "inlet: expected a list of { time_s; inlet_c; } or the name of a CSV; "
                     "one temperature is inlet_c");
    }
    if (file && !tmx_beside(tmx_setting_file(at), file, path, sizeof path)) {
        char places[TMX_PATH_SIZE];
        tmx_run_fail(r, at, "inlet: no such file; looked for %s",
                     tmx_beside_places(tmx_setting_file(at), file, places, sizeof places));
    }
    if (file) {
        tmx_run_try(r, tmx_csv_read, &csv, path);
        tmx_run_try(r, tmx_opt_columns, opts, &csv);
    } else {
        list = tmx_setting_list(r->root, "inlet", 1, MAX_INLET, &r->err);
    }
    const size_t n = r->err.code ? 0 : file ? csv.n_row : tmx_setting_length(list);
    TMX_TAKE(&r->arena, r->inlet, n);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < n && !r->err.code; i++) {
        struct tmx_inlet_point *p = &r->inlet[i];
        const struct tmx_setting *e = file ? NULL : tmx_setting_at(list, i);
        if (file) {
            tmx_run_try(r, tmx_opt_cells, opts, p, &csv, i);
        } else {
            tmx_run_try(r, tmx_opt_read, opts, p, e, NULL);
        }
        if (i > 0 && !(p->time_s > p[-1].time_s)) {
            tmx_error_at(&r->err, TMX_ECONFIG, file ? path : tmx_setting_file(e),
                         file ? csv.line[i] : tmx_setting_line(e), "inlet: time_s does not rise");
        }
    }
    if (n == 0) {
        tmx_run_fail(r, at, "inlet: expected a row or more");
    }
    if (!r->err.code) {
        r->n_inlet = n;
        if (file && !tmx_os_real_path(path, r->inlet_file, sizeof r->inlet_file)) {
            snprintf(r->inlet_file, sizeof r->inlet_file, "%s", path);
        }
        r->inlet_c = r->inlet[0].inlet_c;
    }
    tmx_csv_finish(&csv);
}

/* Only liquids, whose cards say so by their heat capacity, are supplied by a CDU. */
static void check_loop(struct tmx_run *r)
{
    static const double liquid_j_per_m3k = 1e5;
    const struct tmx_loop_options *o = &r->sim_spec.cooling.loop;
    const struct tmx_setting *at = tmx_run_member(r, "loop");
    if (o->ua_w_per_k == 0 && (o->flow > 0 || o->branches > 1)) {
        tmx_run_fail(r, at, "loop: expected ua_w_per_k above 0");
    }
    for (size_t k = 0; k < r->topology.n_card && o->ua_w_per_k > 0; k++) {
        if (r->topology.card[k].coolant_j_per_m3k < liquid_j_per_m3k) {
            tmx_run_fail(r, at, "loop: card %s of topology %s is cooled by air (coolant_j_per_m3k)",
                         r->topology.card[k].name, r->topology.name);
        }
    }
    if (r->topology.n_gpu % (size_t)o->branches != 0) {
        tmx_run_fail(r, at, "loop.branches: %d branches of %zu GPUs are not equal", o->branches,
                     r->topology.n_gpu);
    }
}

/* Every GPU's chip under its cooler. */
static void open_kinds(struct tmx_run *r)
{
    const bool has_topology = r->options.topology[0] != '\0';
    r->n_gpu = has_topology ? r->topology.n_gpu : (size_t)r->options.gpus;
    TMX_TAKE(&r->arena, r->kind, has_topology ? r->n_gpu : 1);
    TMX_TAKE(&r->arena, r->kind_of_gpu, r->n_gpu);
    TMX_TAKE(&r->arena, r->card_of_gpu, r->n_gpu);
    tmx_arena_check(&r->arena, &r->err);
    if (!r->err.code && !has_topology) {
        const struct tmx_setting *at = tmx_run_member(r, "chip");
        snprintf(r->kind[0].name, sizeof r->kind[0].name, "%s", r->options.chip);
        r->kind[0].from = tmx_setting_file(at);
        r->n_kind = 1;
        open_chip(r, &r->kind[0]);
        tmx_run_locate(r, tmx_run_place(r, "chip"));
    }
    for (size_t g = 0; has_topology && !r->err.code && g < r->n_gpu; g++) {
        const struct tmx_topology_gpu *gpu = &r->topology.gpu[g];
        size_t k = 0; /* its kind, found or opened */
        while (k < r->n_kind && !(strcmp(r->kind[k].name, gpu->chip) == 0 &&
                                  same_cooler(&r->topology, r->kind[k].card, gpu->card))) {
            k++;
        }
        r->card_of_gpu[g] = gpu->card;
        r->kind_of_gpu[g] = k;
        if (k == r->n_kind) {
            struct tmx_run_kind *kind = &r->kind[r->n_kind++];
            snprintf(kind->name, sizeof kind->name, "%s", gpu->chip);
            kind->from = gpu->file;
            kind->card = gpu->card;
            open_chip(r, kind);
            (void)tmx_fail_from(&r->err, r->err.code, gpu->file, gpu->line, "chip");
        }
    }
}

static void open_node(struct tmx_run *r)
{
    static void (*const steps[])(struct tmx_run *) = {
        read_topology, read_inlet,      read_schedule, check_loop,  read_failures, check_fans,
        open_kinds,    check_overrides, read_caps,     read_spread, draw_spread,   check_caps};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !r->err.code; i++) {
        steps[i](r);
    }
}

static void build_gpus(struct tmx_run *r)
{
    struct tmx_sim_spec *s = &r->sim_spec;
    TMX_TAKE(&r->arena, r->chip_of_gpu, r->n_gpu);
    TMX_TAKE(&r->arena, r->thermal_of_gpu, r->n_gpu);
    for (size_t g = 0; g < r->n_gpu && r->thermal_of_gpu; g++) {
        const struct tmx_run_kind *k = &r->kind[r->kind_of_gpu[g]];
        r->chip_of_gpu[g] = &k->chip;
        r->thermal_of_gpu[g] =
            (struct tmx_sim_gpu_thermal){r->thermal.ops, k->model, k->stack.spec.ambient_k};
    }
    s->machine.chip = r->chip_of_gpu;
    s->power_cap_w = r->power_cap_w;
    s->machine.n_gpu = r->n_gpu;
    s->machine.spread = r->spread_of_gpu;
    s->thermal = r->thermal_of_gpu;
    s->shared_queue = r->options.queue == TMX_QUEUE_SHARED;
    tmx_run_power_groups(r);
    tmx_arena_check(&r->arena, &r->err);
    if (r->err.code || r->topology.n_gpu == 0) {
        return;
    }
    const struct tmx_link *link = tmx_topology_link(&r->topology, r->options.link);
    s->machine.card = r->card_of_gpu;
    s->machine.remote_cost = link ? tmx_link_cost(link) : 0;
    struct tmx_topology *t = &r->topology;
    TMX_TAKE(&r->arena, r->level_rpm, t->n_card);
    TMX_TAKE(&r->arena, r->level_k_per_w, t->n_card);
    TMX_TAKE(&r->arena, r->n_level, t->n_card);
    for (size_t k = 0; k < t->n_card && r->n_level; k++) {
        const struct tmx_run_kind *kind = &r->kind[r->kind_of_gpu[t->card[k].gpu0]];
        r->level_rpm[k] = kind->level_rpm;
        r->level_k_per_w[k] = kind->level_k_per_w;
        r->n_level[k] = kind->n_level;
        if (t->card[k].convection == TMX_CONVECTION_CHANNELS) {
            tmx_run_pumps(t, k, kind);
        }
    }
    struct tmx_cooling_spec *c = &s->cooling;
    c->topology = t;
    c->level_rpm = r->level_rpm;
    c->level_k_per_w = r->level_k_per_w;
    c->spread = r->spread.sink > 0 ? r->spread_of_gpu : NULL;
    c->n_level = r->n_level;
    c->inlet = r->inlet;
    c->n_inlet = r->n_inlet;
    c->failure = r->failure;
    c->n_failure = r->n_failure;
    c->period_s = r->options.fan_period_s;
    c->room_k = r->kind[0].stack.spec.ambient_k;
    for (size_t k = 1; k < r->n_kind; k++) {
        if (r->kind[k].stack.spec.ambient_k != c->room_k) {
            tmx_error(&r->err, TMX_ECONFIG,
                      "topology %s: the packages of %s and %s differ in ambient; give inlet_c", t->name,
                      r->kind[0].name, r->kind[k].name);
        }
    }
}

static void close_node(struct tmx_run *r)
{
    for (size_t k = 0; k < r->n_kind; k++) {
        tmx_chip_finish(&r->kind[k].chip);
    }
    tmx_topology_finish(&r->topology);
}

static void write_caps(const struct tmx_run *r, struct tmx_writer *w)
{
    if (r->power_cap_w) {
        tmx_writer_open(w, "power_caps_w", TMX_SETTING_LIST);
        for (size_t g = 0; g < r->n_gpu; g++) {
            tmx_writer_value(w, NULL, TMX_REAL_VALUE(fmin(r->power_cap_w[g], NO_CAP_W)), false);
        }
        tmx_writer_close(w);
    }
    if (r->spread_of_gpu) {
        tmx_opt_write_group(tmx_spread_opts, &r->spread, "spread", w);
    }
}

const struct tmx_run_feature tmx_feature_node = {.open = open_node, .close = close_node};
const struct tmx_run_feature tmx_feature_caps = {.write = write_caps};
const struct tmx_run_feature tmx_feature_gpus = {.build = build_gpus};
