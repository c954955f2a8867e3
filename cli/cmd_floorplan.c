/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "core/floorplan/floorplan.h"
#include "core/machine/machine.h"
#include "core/sim/record/recorder.h"
#include "hotspot/hotspot.h"
#include "plots/figure.h"
#include "plots/plot.h"
#include "run/load/data.h"
#include "study/study.h"
#include "thermal/files/ice.h"

struct args {
    struct tmx_texts words; /* the verb, then its files */
    const char *verb, *file, *out, *suite, *policy, *by, *unit, *with, *die;
    int to; /* of convert: enum tmx_floorplan_to */
    double sm_area_mm2, margin_mm;
    const char *power, *config, *stay, *mix, *description; /* optimise */
    int goal;
    struct tmx_texts set;
    long turns, sms, per_tpc, jobs, seed;
    int place;
    bool gaps, mirrored;
    struct tmx_print print;
};

enum tmx_floorplan_to { TMX_TO_HOTSPOT, TMX_TO_ICE };

enum { PEAK, GRADIENT, SLOWDOWN, ENERGY, N_METRIC };
static const char *const metric_name[N_METRIC] = {"peak_temp_c", "gradient_c", "slowdown_pct", "energy_j"};

/* The same work on several floorplans: every mix of --suite (its `base` and `mixes`), or --mix, under one
 * policy. */
struct compare {
    const struct args *a;
    const char *const *file; /* [n_file] .flp with the SMs of the suite's chip */
    size_t n_file;
    char suite[TMX_PATH_SIZE];
    char (*mix)[TMX_PATH_SIZE]; /* [n_mix] */
    size_t n_mix;
    struct tmx_floorplan *floorplan; /* [n_file] */
    size_t most_unit;
    struct tmx_run_values runs; /* [n_file * n_mix], values: the metrics, then those of the units */
    struct tmx_arena arena;
};

static void sets(const void *ctx, size_t task, struct tmx_sets *set, struct tmx_err *err)
{
    const struct compare *s = ctx;
    const char *const of_task[][2] = {{"base.floorplan", s->file[task / s->n_mix]},
                                      {"base.mix", s->mix[task % s->n_mix]},
                                      {"base.policy", s->a->policy}};
    for (size_t i = 0; i < sizeof of_task / sizeof of_task[0]; i++) {
        tmx_sets_put(set, of_task[i][0], TMX_TEXT_VALUE(of_task[i][1]), NULL, 0, err);
    }
}

static void read_units(void *ctx, const struct tmx_run *run, double *value)
{
    const struct compare *s = ctx;
    const struct tmx_recorder *r = tmx_run_sim(run)->recorder;
    for (size_t u = 0; u < s->most_unit && u < r->n_unit && r->n_tick > 0; u++) {
        value[u] = r->sum_k[u] / (double)r->n_tick - TMX_ZERO_C;
    }
}

/* The mixes, the floorplans' geometry, which the runs check against the chip, and all runs, in memory. */
static void compare_run(struct compare *s, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    const char **unit;
    char(*name)[32];
    err->code = tmx_data_find(TMX_DATA_SUITE, s->a->suite, s->suite, err);
    err->code = err->code ? err->code : tmx_config_load(&cfg, s->suite, NULL, err);
    const struct tmx_setting *mixes = err->code ? NULL : tmx_config_find(cfg, "mixes");
    if (!err->code && (tmx_setting_length(mixes) == 0 || !tmx_config_find(cfg, "base"))) {
        tmx_error_at(err, TMX_ECONFIG, s->suite, 0, "a suite to compare floorplans on has mixes and a base");
    }
    const size_t n = s->a->mix ? 1 : tmx_setting_length(mixes);
    TMX_TAKE(&s->arena, s->mix, n);
    TMX_TAKE(&s->arena, s->floorplan, s->n_file);
    tmx_arena_check(&s->arena, err);
    for (; s->n_mix < n && !err->code; s->n_mix++) {
        const struct tmx_setting *at = tmx_setting_at(mixes, s->n_mix);
        if (s->a->mix) {
            err->code = tmx_data_find(TMX_DATA_MIX, s->a->mix, s->mix[0], err);
        } else if (!tmx_setting_text(at)) {
            tmx_error_setting(err, mixes, "mixes: expected names in quotes");
        } else {
            tmx_data_name_for(TMX_DATA_MIX, at, tmx_setting_text(at), s->mix[s->n_mix], err);
        }
    }
    tmx_config_close(cfg);
    for (size_t f = 0; f < s->n_file && !err->code; f++) {
        err->code = tmx_flp_read(s->file[f], &s->floorplan[f], err);
        s->most_unit = s->floorplan[f].n_unit > s->most_unit ? s->floorplan[f].n_unit : s->most_unit;
    }
    TMX_TAKE(&s->arena, unit, s->most_unit);
    TMX_TAKE(&s->arena, name, s->most_unit);
    tmx_arena_check(&s->arena, err);
    for (size_t u = 0; u < s->most_unit && !err->code; u++) {
        snprintf(name[u], sizeof name[u], "unit_%zu_c", u);
        unit[u] = name[u];
    }
    const struct tmx_probe probe = {.ctx = s, .n = s->most_unit, .column = unit, .read = read_units};
    const struct tmx_runs runs = {.name = "floorplans",
                                  .file = s->suite,
                                  .base = s->suite,
                                  .group = "base",
                                  .n_point = s->n_file * s->n_mix,
                                  .ctx = s,
                                  .sets = sets,
                                  .probe = &probe,
                                  .suite = true};
    const struct tmx_study_options o = {.n_worker = (unsigned)s->a->jobs, .noun = "runs", TMX_STUDY_WHOLE};
    tmx_study_values(&s->runs, &runs, &o, err);
    for (size_t i = 0; i < s->runs.n_point && !err->code; i++) {
        if (s->runs.error[i]) {
            tmx_error(err, TMX_ESOLVE, "%s, %s: %s", s->file[i / s->n_mix], s->mix[i % s->n_mix],
                      s->runs.error[i]);
        }
    }
}

static void compare_finish(struct compare *s)
{
    for (size_t f = 0; s->floorplan && f < s->n_file; f++) {
        tmx_floorplan_finish(&s->floorplan[f]);
    }
    tmx_run_values_finish(&s->runs);
    tmx_arena_finish(&s->arena);
}

static void add_unit(struct tmx_table *t, const char *file, const struct tmx_unit *unit, double temp_c)
{
    tmx_table_row(t, "%s %s %g %g %g %g %g", file, unit->name, 1e3 * unit->x_m, 1e3 * (unit->x_m + unit->w_m),
                  1e3 * unit->y_m, 1e3 * (unit->y_m + unit->h_m), temp_c);
}

/* The row of a floorplan: the hottest SM and largest difference over all mixes, the mean slowdown and energy;
 * and every unit with its temperature, the mean over time and mixes. */
static void compare_mixes(const struct compare *s, size_t f, struct tmx_table *t, struct tmx_table *units)
{
    const double *first = &s->runs.value[f * s->n_mix * s->runs.n_value];
    double peak = -INFINITY, gradient = 0, slowdown = 0, energy = 0;
    size_t index[N_METRIC];
    for (size_t i = 0; i < N_METRIC; i++) {
        index[i] = tmx_study_metric(metric_name[i]);
    }
    for (size_t m = 0; m < s->n_mix; m++) {
        const double *v = first + m * s->runs.n_value;
        peak = fmax(peak, v[index[PEAK]]);
        gradient = fmax(gradient, v[index[GRADIENT]]);
        slowdown += v[index[SLOWDOWN]] / (double)s->n_mix;
        energy += v[index[ENERGY]] / (double)s->n_mix;
    }
    tmx_table_row(t, "%s %zu %g %g %g %g", s->file[f], s->n_mix, peak, gradient, slowdown, energy);
    for (size_t u = 0; u < s->floorplan[f].n_unit; u++) {
        double sum_c = 0;
        for (size_t m = 0; m < s->n_mix; m++) {
            sum_c += first[m * s->runs.n_value + tmx_study_metrics() + u];
        }
        add_unit(units, s->file[f], &s->floorplan[f].unit[u], sum_c / (double)s->n_mix);
    }
}

/* What `thermix floorplan VERB` does. */

enum verb {
    CHECK,
    SHOW,
    CONVERT, /* this and those below write a floorplan to -o */
    SCALE,
    ROTATE,
    MIRROR,
    MOVE,
    SWAP,
    SPLIT,
    GRID,
    GENERATE,
    COMPARE,
    OPTIMISE
};
static const char *const verbs[] = {"check", "show",  "convert", "scale",    "rotate",  "mirror",   "move",
                                    "swap",  "split", "grid",    "generate", "compare", "optimise", NULL};

/* "2x3", "2x3mm", "0.5": two numbers in the unit asked for. */
static void pair(const char *text, const char *what, double v[2], struct tmx_err *err)
{
    double unit = 1;
    size_t n = text ? strlen(text) : 0;
    if (n > 2 && (strcmp(text + n - 2, "mm") == 0 || strcmp(text + n - 2, "um") == 0)) {
        unit = text[n - 2] == 'u' ? 1e-3 : 1;
        n -= 2;
    }
    const char *x = n ? memchr(text, 'x', n) : NULL;
    const char *end = text ? text + n : NULL;
    if (!text || !tmx_span_real((struct tmx_span){text, x ? x : end}, &v[0]) ||
        !tmx_span_real((struct tmx_span){x ? x + 1 : text, end}, &v[1])) {
        tmx_error(err, TMX_ECONFIG, "%s %s: expected WIDTHxHEIGHT like %s", what, text ? text : "missing",
                  strcmp(what, "--die") == 0 ? "24x24mm" : "2x3");
    }
    v[0] *= unit;
    v[1] *= unit;
}

static size_t find_unit(const struct tmx_floorplan *fp, const char *name, struct tmx_err *err)
{
    const size_t unit = name ? tmx_floorplan_find(fp, name) : fp->n_unit;
    if (unit == fp->n_unit) {
        const char **names = calloc(fp->n_unit + 1, sizeof *names);
        for (size_t i = 0; names && i < fp->n_unit; i++) {
            names[i] = fp->unit[i].name;
        }
        char hint[TMX_HINT_SIZE] = "";
        tmx_error_at(err, TMX_ECONFIG, fp->source, 0, name ? "no unit \"%s\"%s" : "which unit? --unit NAME",
                     name, names && name ? tmx_suggest(hint, name, names, fp->n_unit) : "");
        free(names);
    }
    return unit;
}

static void show(const struct args *a, const struct tmx_floorplan *fp, struct tmx_err *err)
{
    if (tmx_plot_is_file(a->out)) {
        err->code = tmx_floorplan_draw(fp, a->out, err);
        return;
    }
    struct tmx_table *t = tmx_table_of("unit left_mm:3 bottom_mm:3 width_mm:3 height_mm:3 area_mm2:3");
    for (const struct tmx_unit *u = fp->unit; u < fp->unit + fp->n_unit; u++) {
        tmx_table_row(t, "%s %g %g %g %g %g", u->name, 1e3 * u->x_m, 1e3 * u->y_m, 1e3 * u->w_m, 1e3 * u->h_m,
                      1e6 * tmx_unit_area_m2(u));
    }
    tmx_print_end(t, &a->print, a->out, NULL, err);
}

static void generate(const struct args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    /* SM area and margin of the two-band GT200 plan in floorplans/gtx280: 30 SMs of 10 mm2 on 576 mm2, memory
     * controllers 2 mm wide on a side of 24 mm. Assumed for other chips. */
    static const double sm_share = 300.0 / 576.0, margin_share = 2.0 / 24.0;
    double die[2] = {0};
    struct tmx_regular_chip c = {
        .n_sm = (size_t)a->sms, .per_cluster = (size_t)a->per_tpc, .placement = a->place};
    pair(a->die, "--die", die, err);
    c.width_m = 1e-3 * die[0];
    c.height_m = 1e-3 * die[1];
    c.margin_m = isnan(a->margin_mm) ? margin_share * c.width_m : 1e-3 * a->margin_mm;
    c.sm_area_m2 =
        isnan(a->sm_area_mm2) ? sm_share * c.width_m * c.height_m / (double)a->sms : 1e-6 * a->sm_area_mm2;
    err->code = err->code ? err->code : tmx_floorplan_generate(fp, &c, err);
}

static void change(const struct args *a, enum verb verb, struct tmx_floorplan *fp, struct tmx_err *err)
{
    double v[2] = {0};
    size_t n[2] = {0};
    const bool pieces = verb == SPLIT || verb == GRID;
    const size_t unit = verb == MOVE || verb == SWAP || verb == SPLIT ? find_unit(fp, a->unit, err) : 0,
                 with = verb == SWAP && !err->code ? find_unit(fp, a->with, err) : 0;
    if (pieces || verb == SCALE || verb == MOVE) {
        pair(a->by, "--by", v, err);
    }
    for (size_t i = 0; i < 2 && pieces && !err->code; i++) {
        if (v[i] < 1 || v[i] > 1024 || v[i] != floor(v[i])) {
            tmx_error(err, TMX_ECONFIG, "--by %s: expected whole numbers from 1 to 1024", a->by);
        } else {
            n[i] = (size_t)v[i];
        }
    }
    if (n[0] * n[1] > TMX_FLP_MAX_UNITS) {
        tmx_error(err, TMX_ECONFIG, "--by %s: more than %d pieces", a->by, TMX_FLP_MAX_UNITS);
    }
    const double side_m[] = {v[0] * tmx_floorplan_width_m(fp), v[1] * tmx_floorplan_height_m(fp)};
    if (verb == SCALE && (v[0] <= 0 || v[1] <= 0)) {
        tmx_error(err, TMX_ECONFIG, "--by %s: factors are above 0", a->by);
    } else if (verb == SCALE && (side_m[0] < 1e-6 || side_m[1] < 1e-6)) {
        tmx_error(err, TMX_ECONFIG, "--by %s: a die of %g x %g m; expected sides of 1e-6 m or more", a->by,
                  side_m[0], side_m[1]);
    }
    if (err->code) {
        return;
    }
    switch (verb) {
    case CHECK:
        tmx_print_visible(stdout, "%s: %zu units tile %.4g x %.4g mm%s\n", a->file, fp->n_unit,
                          1e3 * tmx_floorplan_width_m(fp), 1e3 * tmx_floorplan_height_m(fp),
                          a->gaps ? " (gaps allowed)" : "");
        break;
    case SHOW:
        show(a, fp, err);
        break;
    case SCALE:
        tmx_floorplan_scale(fp, v[0], v[1]);
        break;
    case ROTATE:
        tmx_floorplan_rotate(fp, (int)(a->turns % 4));
        break;
    case MIRROR:
        tmx_floorplan_mirror(fp);
        break;
    case MOVE:
        tmx_floorplan_move(fp, unit, 1e-3 * v[0], 1e-3 * v[1]);
        break;
    case SWAP:
        if (unit == with) {
            tmx_error(err, TMX_ECONFIG, "swap: --unit and --with are both %s", a->unit);
        }
        tmx_floorplan_swap(fp, unit, with);
        break;
    case SPLIT:
        err->code = tmx_floorplan_split(fp, unit, n[0], n[1], err);
        break;
    case GRID:
        err->code = tmx_floorplan_grid(fp, n[0], n[1], err);
        break;
    case GENERATE:
        generate(a, fp, err);
        break;
    case CONVERT: /* reading and writing is all */
    case COMPARE:
    case OPTIMISE:
        break;
    }
}

static void write_floorplan(const struct args *a, struct tmx_floorplan *fp, struct tmx_err *err)
{
    char comment[256];
    snprintf(comment, sizeof comment, "thermix floorplan %s%s%s", a->verb, a->file ? " of " : "",
             a->file ? a->file : "");
    tmx_floorplan_normalise(fp);
    err->code = err->code ? err->code : tmx_floorplan_check(fp, a->gaps, err);
    tmx_os_mkdirs_for(a->out, err);
    if (!err->code && a->to == TMX_TO_ICE) {
        for (size_t u = 0; u < fp->n_unit; u++) {
            if (!isnan(fp->unit[u].heat_capacity_j_per_m3k)) {
                tmx_warn(
                    "%s:%u: the material of \"%s\" is not written: 3D-ICE's floorplans take those of a stack",
                    fp->source, fp->unit[u].line, fp->unit[u].name);
                break;
            }
        }
        err->code = tmx_ice_write_flp(a->out, fp, NULL, NULL, err);
    } else if (!err->code) {
        err->code = tmx_flp_write(a->out, fp, comment, err);
    }
}

/* `KEY=VALUE` of the floorplanner (o; NULL: refused) or of the package. */
static void set_option(const char *text, struct tmx_floorplanner_options *o, struct tmx_hotspot_config *cfg,
                       struct tmx_err *err)
{
    char name[64];
    const char *value = strchr(text, '=');
    const struct tmx_opt *row = tmx_floorplanner_opts;
    if (!value || !tmx_span_copy((struct tmx_span){text, value}, name, sizeof name)) {
        tmx_error(err, TMX_ECONFIG, "--set %s: expected KEY=VALUE", text);
        return;
    }
    while (row->key && tmx_word_compare(row->key, name) != 0) {
        row++;
    }
    if (row->key && !o) {
        tmx_error(err, TMX_ECONFIG, "--set %s: is an option of optimise", text);
    }
    (void)(err->code ||
           (row->key ? tmx_opt_set(row, o, value + 1, "--set", 0, err)
                     : tmx_hotspot_config_set(cfg, name, value + 1, TMX_HOTSPOT_COMMAND_LINE, 0, err)));
}

static void say(void *to, enum tmx_log_level level, const char *text)
{
    (void)to;
    if (level == TMX_LOG_WARNING) {
        tmx_print_visible(stderr, "thermix floorplan: warning: %s\n", text);
    }
}

/* One floorplan under the power file in the package: the steady state of the mean power, as `thermix thermal`
 * has it. */
static void compare_one(const struct args *a, const char *file, struct tmx_table *t, struct tmx_table *units,
                        struct tmx_err *err)
{
    static struct tmx_trace_options o; /* large */
    struct tmx_trace_run r = {0};
    const struct tmx_log log = {say, NULL};
    o = (struct tmx_trace_options){.refine = 1, .allow_gaps = a->gaps};
    tmx_hotspot_config_init(&o.cfg);
    (void)(tmx_hotspot_config_set(&o.cfg, "f", file, TMX_HOTSPOT_COMMAND_LINE, 0, err) ||
           tmx_hotspot_config_set(&o.cfg, "p", a->power, TMX_HOTSPOT_COMMAND_LINE, 0, err));
    for (size_t i = 0; i < a->set.n; i++) {
        set_option(a->set.text[i], NULL, &o.cfg, err);
    }
    (void)(err->code || tmx_hotspot_config_read_files(&o.cfg, a->config, err));
    if (o.cfg.grid_layer_file[0]) {
        tmx_error_at(err, TMX_ECONFIG, o.cfg.grid_layer_file, 0,
                     "compare: a layer file names its own floorplans; expected a package of one die");
    }
    o.cfg.grid_steady_file[0] = '\0';
    if (!err->code && !tmx_trace_run_read(&r, &o, &log, err) && !tmx_trace_run_steady(&r, err)) {
        const struct tmx_floorplan *fp = &r.stack.floorplan[0];
        const double *k = r.temps.block_k + r.temps.first[r.stack.n_below];
        size_t hot = 0, cold = 0;
        double power_w = 0;
        for (size_t u = 0; u < fp->n_unit; u++) {
            hot = k[u] > k[hot] ? u : hot;
            cold = k[u] < k[cold] ? u : cold;
            add_unit(units, file, &fp->unit[u], k[u] - TMX_ZERO_C);
        }
        for (size_t i = 0; i < r.power.n_column; i++) {
            power_w += r.row_k[i]; /* the mean of the trace */
        }
        tmx_table_row(t, "%s %g %s %g %g", file, power_w, fp->unit[hot].name, k[hot] - TMX_ZERO_C,
                      k[hot] - k[cold]);
    }
    tmx_trace_run_finish(&r);
}

static void compare_files(const struct args *a, struct tmx_err *err)
{
    struct compare s = {.a = a, .file = a->words.text + 1, .n_file = a->words.n - 1};
    if (a->words.n < 3 || !a->suite == !a->power || (a->suite && a->config)) {
        tmx_error(err, TMX_ECONFIG,
                  "compare: expected two floorplans or more, and --suite SUITE, whose runs it "
                  "compares, or -p POWER and -c CONFIG, whose steady states it compares");
        return;
    }
    struct tmx_table *t = tmx_table_of(
                         a->suite ? "floorplan mixes:d peak_temp_c:2 gradient_c:2 slowdown_pct:2 energy_j:0"
                                  : "floorplan power_w:2 hottest peak_temp_c:2 gradient_c:2"),
                     *units = tmx_table_of(
                         "floorplan unit left_mm:4 right_mm:4 bottom_mm:4 top_mm:4 mean_temp_c:3");
    if (a->suite) {
        compare_run(&s, err);
    }
    for (size_t f = 0; f < s.n_file && !err->code; f++) { /* one power file on every floorplan */
        a->suite ? compare_mixes(&s, f, t, units) : compare_one(a, s.file[f], t, units, err);
    }
    tmx_print(t, &a->print, "-", NULL, err);
    if (strcmp(a->out, "-") != 0) { /* the units, for heat maps, only go to the folder */
        tmx_table_save_in(t, a->out, "table.csv", err);
        tmx_table_save_in(units, a->out, "units.csv", err);
    }
    tmx_table_destroy(t);
    tmx_table_destroy(units);
    compare_finish(&s);
}

/* What the best candidate is chosen by. */
enum { FOR_COST, FOR_SLOWDOWN };
static const char *const goals[] = {"cost", "slowdown", NULL};

/* The candidate whose runs lose least time; slowdown_pct [1 + r->n]: of the start, then of the candidates. */
static size_t choose_by_runs(const struct args *a, const struct tmx_floorplanner_result *r,
                             double *slowdown_pct, struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE - 32], (*path)[TMX_PATH_SIZE];
    const char **file;
    struct compare s = {.a = a, .n_file = 1 + r->n};
    size_t best = 0;
    const size_t metric = tmx_study_metric(metric_name[SLOWDOWN]);
    TMX_TAKE(&s.arena, path, s.n_file);
    s.file = TMX_TAKE(&s.arena, file, s.n_file);
    tmx_arena_check(&s.arena, err);
    err->code = err->code ? err->code : tmx_os_temp_dir(folder, sizeof folder, err);
    const bool made = !err->code;
    for (size_t i = 0; i <= r->n && !err->code; i++) {
        snprintf(path[i], sizeof path[i], "%s/%zu.flp", folder, i);
        file[i] = path[i];
        err->code = tmx_flp_write(path[i], i ? &r->floorplan[i - 1] : &r->start, NULL, err);
    }
    if (!err->code) {
        compare_run(&s, err);
    }
    for (size_t i = 0; i <= r->n && !err->code; i++) {
        for (size_t m = 0; m < s.n_mix; m++) {
            slowdown_pct[i] += s.runs.value[(i * s.n_mix + m) * s.runs.n_value + metric] / (double)s.n_mix;
        }
        best = i > 0 && slowdown_pct[i] < slowdown_pct[best + 1] ? i - 1 : best;
    }
    for (size_t i = 0; i <= r->n && made; i++) {
        remove(path[i]);
    }
    if (made) {
        remove(folder);
    }
    compare_finish(&s);
    return best;
}

static void optimise(const struct args *a, struct tmx_err *err)
{
    static struct tmx_hotspot_config cfg; /* large */
    struct tmx_floorplanner_options o;
    struct tmx_floorplanner_result r = {0};
    struct tmx_arena arena = {0};
    const bool runs = a->goal == FOR_SLOWDOWN;
    if (!a->file || a->words.n > 2 || (a->words.n == 2 && a->description) || !a->power) {
        tmx_error(err, TMX_ECONFIG, "optimise: expected one .desc or .flp, and --power FILE");
    } else if (runs ? !a->suite || tmx_text_ends(a->file, ".desc") : a->suite != NULL) {
        tmx_error(err, TMX_ECONFIG,
                  runs ? "--for slowdown: expected a chip's .flp, and --suite SUITE"
                       : "--suite does nothing in optimise without --for slowdown");
    }
    tmx_hotspot_config_init(&cfg);
    err->code = err->code ? err->code : tmx_floorplanner_options_read(&o, a->config, err);
    for (size_t i = 0; i < a->set.n; i++) {
        set_option(a->set.text[i], &o, &cfg, err);
    }
    if (!err->code && a->config) {
        err->code = tmx_hotspot_config_read(&cfg, a->config, TMX_HOTSPOT_CONFIG, err);
    }
    const struct tmx_floorplanner_input in = {.file = a->file,
                                              .power = a->power,
                                              .stay = a->stay,
                                              .mirror = a->mirrored,
                                              .cfg = &cfg,
                                              .options = &o,
                                              .seed = (uint64_t)a->seed};
    err->code = err->code ? err->code : tmx_floorplanner_run(&in, &r, err);
    double *slowdown_pct = TMX_TAKE(&arena, slowdown_pct, 1 + r.n);
    tmx_arena_check(&arena, err);
    const size_t best = runs && !err->code ? choose_by_runs(a, &r, slowdown_pct, err) : 0;
    struct tmx_table *t =
        tmx_table_of(runs ? "floorplan cost:3 area_mm2:3 wire_mm:3 peak_temp_c:3 gradient_c:3 slowdown_pct:2"
                          : "floorplan cost:3 area_mm2:3 wire_mm:3 peak_temp_c:3 gradient_c:3");
    for (size_t i = 0; i < 2 && t && !err->code; i++) {
        const struct tmx_floorplanner_values *v = i ? &r.value[best] : &r.start_value;
        tmx_table_row(t, "%s %g %g %g %g %g", i ? "result" : "start", v->cost, 1e6 * v->area_m2,
                      1e3 * v->wire_m, v->peak_k - TMX_ZERO_C, v->gradient_k);
        if (runs) {
            tmx_table_real(t, slowdown_pct[i ? best + 1 : 0]);
        }
    }
    err->code = err->code || t ? err->code : tmx_no_memory(err);
    if (!err->code) {
        write_floorplan(a, &r.floorplan[best], err);
    }
    if (!err->code) {
        FILE *out = strcmp(a->out, "-") == 0 ? stderr : stdout;
        struct tmx_table *chosen = NULL;
        if (a->print.columns.n > 0) {
            err->code = tmx_table_choose(t, a->print.columns.text, a->print.columns.n, &chosen, err);
        }
        err->code = err->code
                        ? err->code
                        : tmx_table_write(chosen ? chosen : t, (enum tmx_format)a->print.format, out, err);
        tmx_table_destroy(chosen);
        fprintf(stderr, "%zu candidates; the annealer's model had the peak of the result %.3f K %s\n",
                r.n_tried, fabs(r.value[best].estimate_k - r.value[best].peak_k),
                r.value[best].estimate_k < r.value[best].peak_k ? "too cold" : "too hot");
    }
    tmx_arena_finish(&arena);
    tmx_table_destroy(t);
    tmx_floorplanner_finish(&r);
}

/* convert, of a stack of several files; false: it is one floorplan. */
static bool convert_stack(const struct args *a, struct tmx_err *err)
{
    char note[TMX_ICE_NOTE] = "";
    const bool to_ice = a->to == TMX_TO_ICE;
    if (tmx_ice_is(a->file, true)) {
        err->code = to_ice ? tmx_fail_at(err, TMX_ECONFIG, a->file, 0, "is a stack of 3D-ICE already")
                           : tmx_ice_convert_stack(a->file, a->out, err);
        return true;
    }
    if (!to_ice || tmx_text_ends(a->file, ".flp")) {
        return false;
    }
    err->code = strcmp(a->out, "-") == 0
                    ? tmx_fail(err, TMX_ECONFIG, "convert --to ice: -o DIR, a stack is several files")
                    : tmx_ice_write_stack(a->file, a->out, note, err);
    if (!err->code && note[0]) {
        tmx_print_visible(stderr, "thermix floorplan: %s\n", note);
    }
    return true;
}

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_floorplan fp = {0};
    a->verb = a->words.text[0];
    a->file = a->words.n > 1 ? a->words.text[1] : a->description;
    const enum verb verb = (enum verb)tmx_names_find(a->verb, verbs, sizeof verbs / sizeof verbs[0] - 1);
    if (verb == COMPARE || verb == OPTIMISE) {
        (verb == COMPARE ? compare_files : optimise)(a, err);
        return;
    }
    if (a->words.n > 2) {
        tmx_error(err, TMX_ECONFIG, "one floorplan at a time");
    } else if (a->file && strcmp(a->file, "-") == 0) {
        tmx_error(
            err, TMX_ECONFIG,
            "%s: a file is read twice, as its kind is found out first; expected one in place of standard "
            "input",
            a->verb);
    } else if (verb == CONVERT && a->file && convert_stack(a, err)) {
        return;
    } else if (verb != GENERATE && a->file && tmx_text_ends(a->file, ".lcf")) {
        tmx_error_at(err, TMX_ECONFIG, a->file, 0,
                     "is a layer file, whose layers name floorplans: give one of those, or `thermix "
                     "thermal -grid_layer_file`");
    } else if (verb != GENERATE && !a->file) {
        tmx_error(err, TMX_ECONFIG, "%s: which floorplan?", a->verb);
    } else if (verb != GENERATE) {
        (void)((tmx_ice_is(a->file, false) ? tmx_ice_read_flp(a->file, &fp, NULL, NULL, err)
                                           : tmx_flp_read(a->file, &fp, err)) ||
               tmx_floorplan_check(&fp, a->gaps, err));
    }
    if (!err->code) {
        change(a, verb, &fp, err);
    }
    if (!err->code && verb >= CONVERT) {
        write_floorplan(a, &fp, err);
    }
    tmx_floorplan_finish(&fp);
}

/* thermix floorplan: check, show, change, make and compare floorplans. */

static const char *const formats[] = {"hotspot", "ice", NULL}; /* enum tmx_floorplan_to */

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o',
            .of = "show convert scale rotate mirror move swap split grid generate compare optimise",
            .value = "PATH", .def = "-", .names = TMX_NAMES_FILE,
            .doc = "write to PATH; `show -o X.svg` (.png, .pdf) draws; compare: a folder"),
    TMX_ARG(args, by, TEXT, "by", 0, .of = "scale move split grid", .value = "XxY",
            .doc = "scale: factors; move: millimetres; split, grid: pieces"),
    TMX_ARG(args, unit, TEXT, "unit", 0, .of = "move swap split", .value = "NAME",
            .doc = "the unit to move, swap or split"),
    TMX_ARG(args, with, TEXT, "with", 0, .of = "swap", .value = "NAME", .doc = "swap: the other unit"),
    TMX_ARG(args, turns, INT, "turns", 0, .of = "rotate", .value = "N", .min = -4096, .max = 4096, .def = "1",
            .doc = "rotate: quarter turns counter-clockwise"),
    TMX_ARG(args, to, WORD, "to", 0, .of = "convert", .words = formats, .def = "hotspot",
            .doc = "convert: HotSpot's files, or 3D-ICE's: of a .flp a floorplan, of a .lcf or .config a "
                   "stack in the folder -o"),
    TMX_ARG(args, gaps, FLAG, "allow-gaps", 0, .doc = "accept floorplans whose units leave gaps in the die"),
    TMX_ARG_TABLE_IF(args, .of = "show compare optimise"),
    {.type = TMX_ARG_GROUP, .doc = "generate:"},
    TMX_ARG(args, sms, INT, "sms", 0, .of = "generate", .value = "N", .min = 1, .max = 4096, .def = "1",
            .doc = "number of SMs"),
    TMX_ARG(args, per_tpc, INT, "per-tpc", 0, .of = "generate", .value = "N", .min = 1, .max = 4096,
            .def = "1", .doc = "SMs of one cluster"),
    TMX_ARG(args, die, TEXT, "die", 0, .of = "generate", .value = "WxHmm", .doc = "sides of the die"),
    TMX_ARG(args, sm_area_mm2, REAL, "sm-area", 0, .of = "generate", .value = "MM2", .min = 0, .max = 1e6,
            .doc = "area of one SM (without it: all SMs together take 52 % of the die)"),
    TMX_ARG(args, margin_mm, REAL, "margin", 0, .of = "generate", .value = "MM", .min = 0, .max = 1e6,
            .doc = "width of the memory controllers (without it: a twelfth of the die)"),
    TMX_ARG(args, place, WORD, "place", 0, .of = "generate", .words = tmx_sm_layout_names, .def = "edges",
            .doc = "where the SMs are"),
    {.type = TMX_ARG_GROUP, .doc = "optimise, and -p, -c and --set of compare:"},
    TMX_ARG(args, description, TEXT, "description", 'f', .of = "optimise", .value = "FILE",
            .names = TMX_NAMES_FILE, .doc = "the .desc or .flp, as hotfloorplan takes it"),
    TMX_ARG(args, power, TEXT, "power", 'p', .of = "compare optimise", .value = "FILE",
            .names = TMX_NAMES_FILE,
            .doc = "a block and its watts a line, or a power trace, whose mean counts"),
    TMX_ARG(args, config, TEXT, "config", 'c', .of = "compare optimise", .value = "FILE",
            .names = TMX_NAMES_FILE,
            .doc = "HotSpot's options: the package, weights (lambdaA, lambdaT, lambdaW; lambdaG for the "
                   "gradient), schedule (P0, Davg, Kmoves, Rcool, Rreject, Nmax)"),
    TMX_ARG(args, set, TEXTS, "set", 0, .of = "compare optimise", .value = "KEY=VALUE",
            .doc = "override one of them, such as lambdaT=5; may be repeated"),
    TMX_ARG(args, seed, INT, "seed", 0, .of = "optimise", .value = "N", .min = 0, .max = 2147483647,
            .def = "1", .doc = "of the annealing; the same seed gives the same floorplan"),
    TMX_ARG(args, stay, TEXT, "stay", 0, .of = "optimise", .value = "NAME,...",
            .doc = "of a .flp: units that keep their place; `MC*` for all names that begin so"),
    TMX_ARG(args, mirrored, FLAG, "mirrored", 0, .of = "optimise",
            .doc = "of a .flp: what is done to the left half is done to the right one"),
    TMX_ARG(args, goal, WORD, "for", 0, .of = "optimise", .words = goals, .def = "cost",
            .doc = "of the best eight candidates take the one of least cost, or of least time lost in runs "
                   "of --suite"),
    {.type = TMX_ARG_GROUP, .doc = "compare, and optimise --for slowdown:"},
    TMX_ARG(args, suite, TEXT, "suite", 0, .of = "compare optimise", .value = "SUITE",
            .names = TMX_NAMES_SUITE, .doc = "run the mixes and settings of this suite on every floorplan"),
    TMX_ARG(args, mix, TEXT, "mix", 0, .of = "compare optimise", .needs = "suite", .value = "MIX",
            .names = TMX_NAMES_MIX, .doc = "run this mix in place of the suite's"),
    TMX_ARG(args, policy, TEXT, "policy", 0, .of = "compare optimise", .needs = "suite", .value = "NAME",
            .def = "BL", .names = TMX_NAMES_PRESET, .doc = "the policy"),
    TMX_ARG_JOBS(args, jobs),
    {0},
};

const struct tmx_command tmx_cmd_floorplan = {
    .name = "floorplan",
    .summary = "check, show, change, make, compare and optimise floorplans",
    .doc = "Check, show, change, make and compare floorplans (HotSpot .flp; 3D-ICE .flp and .stk are read "
           "too).\n\n"
           "Verbs: check show convert scale rotate mirror move swap split grid generate compare optimise\n\n"
           "optimise anneals for area, wire length, peak temperature and gradient: blocks of a HotSpot .desc "
           "are placed as slicing trees; of a .flp, units of one size and different power change places.\n\n"
           "compare runs the mixes of a suite on each floorplan (--suite), or has one power file heat each "
           "of them (-p, -c): steady states of the mean power.",
    .notes = "Before a result is written, thermix checks that its units tile the die.",
    .examples = "thermix floorplan generate --sms 30 --per-tpc 3 --die 24x24mm --place centre -o centre.flp\n"
                "thermix floorplan scale centre.flp --by 0.7 -o shrink.flp\n"
                "thermix floorplan show shrink.flp -o shrink.svg\n"
                "thermix floorplan compare centre.flp floorplans/gtx280/gtx280.flp --suite tabs\n"
                "thermix floorplan compare a.flp b.flp -c chip.config -p power.ptrace\n"
                "thermix floorplan optimise ev6.desc -p avg.p -c example.config -o best.flp",
    TMX_OPERANDS(args, words, 1, 33, "VERB [FILE...]", FILE, "what to do?"),
    .operand_words = verbs,
    TMX_RUNS(args),
};
