/* SPDX-License-Identifier: GPL-3.0-or-later */
/* n nodes, m units. Times in seconds of processor time, fitted on golden case A at 64, 128 and 256 cells a
 * side on both networks: an iteration takes ITERATION_S n, of one of several columns side by side half of it;
 * levels LEVELS_S n. An exact row takes ROW_ITERATIONS, more in the physical network. The reduced basis takes
 * N shifts of m solutions of BASIS_ITERATIONS and one and a half times as many tests of TEST_ITERATIONS;
 * products of 7 n m^2 N^2 / 20e9; k = 0.9 m N modes, dense work 40 k^3 / 4e9. Two threads share all of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"
#include "base/trace.h"
#include "hotspot/hotspot.h"
#include "thermal/assembly/spec.h"
#include "thermal/backend/reduced_model.h"
#include "thermal/thermal.h"

/* What a trace would cost on the full grid and on the reduced model, so that the cheaper one can
 * be taken: the one has little set-up and dear rows, the other dear set-up and rows for nothing. */

struct estimate { /* on one thread of a 3 GHz core; a guide, right within a factor of two */
    double grid_s, grid_mb, reduced_s, reduced_mb;
    bool cached; /* the reduced model lies in the cache */
};

static const double ITERATION_S = 16e-9, COLUMN_ITERATION_S = 6e-9, LEVELS_S = 0.2e-6, PRODUCT_S = 1 / 45e9,
                    DENSE_S = 1 / 4e9, FIELD_S = 1e-9, READ_S_PER_BYTE = 1e-9;
static const double ROW_ITERATIONS = 110, BASIS_ITERATIONS = 5, TEST_ITERATIONS = 3, SHIFT_TESTS = 1.5,
                    START_SOLVES = 60;
static const double KRYLOV_VECTORS = 70; /* of n doubles, of the exact scheme */
static const double LEVELS_BYTES = 150;  /* of a node, with the work space of one column */
static const double MB = 1e-6;
static const double USUAL_MB = 4000; /* of --max-memory */

/* Other than what --max-memory is without it. */
static bool memory_given(const struct tmx_trace_options *a)
{
    return a->max_memory_mb > 0 && a->max_memory_mb != USUAL_MB;
}

static double tolerance_k(const struct tmx_trace_options *a)
{
    static const double USUAL_K = 1e-3;
    return a->tolerance_k > 0 ? a->tolerance_k : USUAL_K;
}

/* Of the transient alone. Where a method is to be chosen no cache counts: the choice moves last digits, and
 * what another run has left there changes none. */
static void estimate(const struct tmx_trace_run *r, bool choosing, struct estimate *e, struct tmx_err *err)
{
    const struct tmx_trace_options *a = r->args;
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    const struct tmx_reduced_options options = {.tolerance_k = tolerance_k(a),
                                                .cache = !choosing && !a->no_cache};
    const bool physical = spec->network == TMX_NETWORK_PHYSICAL,
               twice = a->cfg.leakage_used && !a->hotspot_compat,
               cells = spec->accurate_cells || tmx_map_by_cell(spec->map_mode);
    struct tmx_network net = {0};
    *e = (struct estimate){.cached = false};
    if (err->code || tmx_reduced_model_cached(spec, &options, &e->cached, err) ||
        tmx_network_init(&net, spec, err)) {
        tmx_network_finish(&net);
        return;
    }
    const double n = (double)net.n_node, m = (double)tmx_thermal_spec_units(spec),
                 rows = (double)r->power.n_row, levels = (double)tmx_thermal_spec_levels(spec),
                 hardness = physical ? 2.3 : 1, /* iterations, in those of HotSpot's network */
        step_s = spec->min_step_s > 0 ? fmin(spec->min_step_s, 1e-3) : 1e-3;
    tmx_network_finish(&net);
    e->grid_s =
        n * (2 * levels * LEVELS_S + rows * (twice ? 2 : 1) * ROW_ITERATIONS * hardness * ITERATION_S);
    e->grid_mb = MB * n * (2 * levels * LEVELS_BYTES + (KRYLOV_VECTORS + 20) * 8);
    /* a decade of shifts from 0.1 1/s to ten times the rate of the shortest step, halves in between for each
     * factor of 100 below 0.1 K */
    const double shifts = (4 + log10(1 / step_s)) * (1 + 0.25 * fmax(0, -1 - log10(options.tolerance_k))) *
                          ((cells ? 1.4 : 1) * (physical ? 1.7 : 1));
    const double modes = fmin(0.9 * m * shifts, n), kept = cells ? modes : 0.45 * modes;
    const bool maps = cells || spec->init_node_k || !spec->no_field;
    const double map = maps ? n * (cells ? 8 * modes : 4 * kept + 8 * m) : 0;
    double bytes = map;
    if (e->cached) {
        e->reduced_s = READ_S_PER_BYTE * map;
    } else {
        const double iterations = BASIS_ITERATIONS + SHIFT_TESTS * TEST_ITERATIONS;
        e->reduced_s =
            shifts * n * (LEVELS_S * (1 + SHIFT_TESTS) + m * iterations * hardness * COLUMN_ITERATION_S) +
            7 * PRODUCT_S * n * m * m * shifts * shifts + 40 * DENSE_S * pow(modes, 3) +
            10 * DENSE_S * (cells ? levels - 1 : fmin(levels - 1, 2)) * pow(modes, 3);
        bytes += 8 * n * (modes + 10 * m) + 8 * LEVELS_BYTES * n + 8 * 6 * modes * modes;
    }
    if (spec->init_node_k) {
        const double poles = 2 + ceil(log10(10 / step_s / 0.1) / 2);
        e->reduced_s += n * (poles * LEVELS_S + START_SOLVES * BASIS_ITERATIONS * hardness * ITERATION_S);
        bytes = fmax(bytes, map + n * (poles * LEVELS_BYTES + START_SOLVES * 8));
    }
    e->reduced_s += cells ? rows * FIELD_S * modes * (spec->accurate_cells ? n : n / 4) : 0;
    e->reduced_mb = MB * bytes;
}

/* Rows of another power than the one before, from which the reduced model of coolant takes less than the
 * grid: fitted to 42 random stacks of channels (17 to 108 cells a side, 8 to 128 units, rows of 0.01 to 50
 * times that coolant takes through), of which 90 % are within a factor of two and all within three. */
static double rows_to_pay(const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    struct tmx_network net = {0};
    double rows = INFINITY;
    if (!err->code && !tmx_network_init(&net, spec, err)) {
        const double side = sqrt((double)(spec->rows * spec->cols)),
                     transits = spec->min_step_s / tmx_network_transit_s(&net, 1);
        const bool sweeps = transits > 0.2 && transits < 2; /* a jump is in the die at the end of a row */
        rows = 78 * (double)tmx_thermal_spec_units(spec) * pow(side, -0.8) * pow(transits, -0.27) /
               (sweeps ? 3 : 1);
    }
    tmx_network_finish(&net);
    return rows;
}

enum { N_LEVELS = 24 }; /* of a still-air sink; neighbours differ by a few per cent of r_convec */

static const double MAX_W_PER_M2 = 1e8; /* 100 W/mm2: beyond every processor; mostly a slip in units */

/* ---- reading ---- */

static void say_what_is_not_modelled(const struct tmx_trace_run *r)
{
    const struct tmx_hotspot_config *cfg = &r->args->cfg;
    if (cfg->ignored[0]) {
        tmx_log_say(r->log, TMX_LOG_DETAIL, "HotSpot options without effect here: %s", cfg->ignored);
    }
    if (cfg->repeated[0]) {
        tmx_log_say(r->log, TMX_LOG_WARNING, "given more than once, the first counts, as in HotSpot: %s",
                    cfg->repeated);
    }
    if (cfg->dropped[0]) {
        tmx_log_say(r->log, TMX_LOG_WARNING,
                    "--hotspot-compat: not read from %s, as HotSpot reads them on the command line alone: %s",
                    cfg->source[TMX_HOTSPOT_CONFIG], cfg->dropped);
    }
    const struct tmx_opt *opt;
    for (size_t row = 0;
         (opt = tmx_hotspot_config_next(cfg, false, &row)) != NULL;) { /* a switch, or a number */
        tmx_log_say(r->log, opt->type == TMX_OPT_BOOL ? TMX_LOG_WARNING : TMX_LOG_DETAIL,
                    "-%s has no effect beside the other options", opt->key);
    }
    for (size_t row = 0; (opt = tmx_hotspot_config_next(cfg, true, &row)) != NULL;) {
        double v;
        memcpy(&v, (const char *)cfg + opt->offset, sizeof v);
        tmx_log_say(r->log, TMX_LOG_INFO, "%s:%u: -%s is commented out: %g %s, the default, counts",
                    cfg->source[TMX_HOTSPOT_CONFIG], cfg->commented[row - 1], opt->key, v, opt->unit);
    }
    if (r->args->hotspot_compat && !tmx_hotspot_config_given(cfg, "model_type")) {
        tmx_log_say(
            r->log, TMX_LOG_WARNING,
            "model_type is not given: HotSpot would take its block model, several kelvins off; this is its "
            "grid model (-model_type grid)");
    }
    if (cfg->detailed_3D && cfg->grid_layer_file[0] && !r->args->hotspot_compat &&
        r->args->network == TMX_NETWORK_HOTSPOT) {
        tmx_log_say(
            r->log, TMX_LOG_WARNING,
            "detailed_3D: half-cell resistances in series everywhere; HotSpot counts half of the convection "
            "twice above the die and is hotter, the more so the more watts and the smaller the die under its "
            "sink: 20 to 65 K in three stacks tried; --hotspot-compat computes that");
    }
}

/* What the trace's watts are worth a warning for, and the highest density: the reduced model's tolerance has
 * to hold for that. */
static void check_power(struct tmx_trace_run *r)
{
    struct tmx_thermal_spec *spec = &r->stack.spec;
    struct tmx_err none = {0}; /* mean power has no bounds for errors */
    bool dense = false, negative = false;
    double *area_m2 = r->temp_k /* scratch */, mean_w = 0, m2 = 0, highest = 0;
    size_t unit = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        for (size_t i = 0; spec->layer[l].dissipates && i < spec->layer[l].floorplan->n_unit; i++) {
            area_m2[unit] = tmx_unit_area_m2(&spec->layer[l].floorplan->unit[i]);
            m2 += area_m2[unit++];
        }
    }
    for (size_t i = 0; i < r->power.n_row * r->power.n_column; i++) {
        mean_w += r->power.value[i] / (double)r->power.n_row;
    }
    if (mean_w > 0) { /* watts typed as kilowatts make a chip warm nowhere; no power at all is meant */
        tmx_plausible(NULL, "mean power", "W/m2", mean_w / m2, r->power.source, 0, &none);
    }
    for (size_t i = 0; i < r->power.n_row * r->power.n_column; i++) {
        const size_t column = i % r->power.n_column;
        const unsigned line = r->power.line[i / r->power.n_column];
        const double w = r->power.value[i], density = w / area_m2[r->unit_of[column]];
        highest = fmax(highest, fabs(density));
        if (density > MAX_W_PER_M2 && !dense) {
            tmx_log_say(r->log, TMX_LOG_WARNING,
                        "%s:%u: block \"%s\": %g W are %.4g W/mm2, above 100 W/mm2; is the power in watts?",
                        r->power.source, line, r->power.name[column], w, 1e-6 * density);
            dense = true;
        }
        if (w < 0 && !negative) {
            tmx_log_say(r->log, TMX_LOG_WARNING, "%s:%u: block \"%s\": negative power %g W", r->power.source,
                        line, r->power.name[column], w);
            negative = true;
        }
    }
    spec->power_density_w_per_m2 = highest;
}

static bool still_air(const struct tmx_trace_run *r)
{
    return r->args->cfg.package_model_used && r->stack.fan.natural;
}

/* Options that contradict one another, or would be without effect. */
static void check_options(const struct tmx_trace_options *args, struct tmx_err *err)
{
    const struct tmx_hotspot_config *cfg = &args->cfg;
    const struct tmx_thermal_ops *method = args->method;
    const bool physical = args->network == TMX_NETWORK_PHYSICAL, be = args->scheme == TMX_TRACE_BE,
               block = cfg->model_type == TMX_HOTSPOT_BLOCK;
    const char *const text[] = {cfg->steady_file, cfg->grid_steady_file, cfg->grid_transient_file};
    if (!cfg->p[0]) {
        tmx_error(err, TMX_ECONFIG, "no power trace: give -p FILE");
    }
    if (physical && (args->hotspot_compat || args->verify_with[0])) {
        tmx_error(
            err, TMX_ECONFIG,
            "--network physical: not with --hotspot-compat or --verify-with, whose network is HotSpot's");
    }
    if (!physical && args->refine > 1) {
        tmx_error(err, TMX_ECONFIG, "--refine is of --network physical");
    }
    if (be && method && !tmx_thermal_option(method, "scheme")) {
        tmx_error(err, TMX_ECONFIG, "--scheme be is the full grid's: not with --method %s",
                  method->base.name);
    }
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        if (tmx_trace_wants_npy(text[i])) {
            tmx_error(err, TMX_ECONFIG, "%s: fields are written as text; -o alone takes a .npy", text[i]);
        }
    }
    if (strlen(cfg->grid_transient_file) > 4 && tmx_text_ends(cfg->grid_transient_file, ".vtk")) {
        tmx_error(err, TMX_ECONFIG, "%s: a VTK file has one moment; -grid_steady_file takes it",
                  cfg->grid_transient_file);
    }
    const struct {
        const char *key, *option;
        bool given;
    } reduced[] = {{"modes", "--modes", args->modes > 0},
                   {"tolerance_k", "--tolerance", args->tolerance_k > 0},
                   {"tolerance_k", "--max-memory", memory_given(args)},
                   {"precision", "--mixed", args->mixed}};
    for (size_t i = 0; i < sizeof reduced / sizeof reduced[0]; i++) {
        if (reduced[i].given && ((method && !tmx_thermal_option(method, reduced[i].key)) || be || block)) {
            tmx_error(err, TMX_ECONFIG,
                      "%s is the reduced model's: not with --method %s, --scheme be or -model_type block",
                      reduced[i].option, method ? method->base.name : tmx_thermal_grid.base.name);
        }
    }
}

enum tmx_status tmx_trace_run_read(struct tmx_trace_run *r, const struct tmx_trace_options *args,
                                   const struct tmx_log *log, struct tmx_err *err)
{
    const struct tmx_stack_options options = {.allow_gaps = args->allow_gaps,
                                              .overlap_m = args->overlap_m,
                                              .falling = true,
                                              .hotspot_compat = args->hotspot_compat,
                                              .network = args->network,
                                              .refine = (unsigned)args->refine};
    const struct tmx_hotspot_config *cfg = &args->cfg;
    struct tmx_thermal_spec *spec = &r->stack.spec;
    const bool verify = args->verify_with[0]; /* a comparison with HotSpot must be one of the same model */
    bool npy = false;
    *r = (struct tmx_trace_run){.args = args, .log = log};
    check_options(args, err);
    if (err->code) {
        return err->code;
    }
    say_what_is_not_modelled(r);
    if (!cfg->o[0] && !cfg->grid_transient_file[0] && !cfg->all_transient_file[0] && !verify &&
        !args->keep_rows &&
        (args->method || args->scheme == TMX_TRACE_BE || args->tolerance_k > 0 || args->modes > 0 ||
         args->mixed || memory_given(args))) {
        tmx_log_say(
            log, TMX_LOG_WARNING,
            "--method, --scheme, --tolerance, --modes, --mixed and --max-memory do nothing without -o, "
            "-grid_transient_file or -all_transient_file: steady states are solved on the full grid");
    }
    if (args->precision != 2 && tmx_trace_wants_npy(cfg->o) && !cfg->steady_file[0] &&
        !cfg->grid_steady_file[0] && !cfg->grid_transient_file[0] && !cfg->all_transient_file[0]) {
        tmx_log_say(log, TMX_LOG_WARNING, "--precision does nothing with -o %s, which has all digits",
                    cfg->o);
    }
    tmx_stack_create(cfg, &options, log, &r->stack, err);
    if (verify && !tmx_hotspot_config_given(cfg, "model_type")) {
        tmx_error(err, TMX_ECONFIG,
                  "--verify-with: on these files HotSpot takes its block model (model_type is not given); "
                  "-model_type grid compares its grid model");
    }
    for (size_t l = 0; l < spec->n_layer && verify; l++) {
        if (spec->layer[l].filler_k_w_per_mk > 0) {
            tmx_error(err, TMX_ECONFIG, "--verify-with: layer %zu has a filler, which HotSpot does not know",
                      l);
        }
    }
    if (!err->code) {
        tmx_hotspot_config_locate(cfg, "p", tmx_trace_read_any(cfg->p, &r->power, &npy, err), err);
    }
    if ((npy || r->power.comma) && verify) {
        tmx_error(err, TMX_ECONFIG, "--verify-with: HotSpot does not read %s; give a .ptrace", cfg->p);
    }
    tmx_stack_complete(&r->stack, &r->power, err);
    const double step_s = err->code ? 0 : r->power.step_s; /* a column of time says how long a row is */
    if (step_s > 0 && tmx_hotspot_config_given(cfg, "sampling_intvl") &&
        fabs(step_s - cfg->sampling_intvl) > 1e-6 * step_s) {
        tmx_hotspot_config_fail(cfg, "sampling_intvl", err,
                                "sampling_intvl = %g s, but the rows of %s are %g s apart",
                                cfg->sampling_intvl, r->power.source, step_s);
    }
    if (err->code) {
        return err->code;
    }
    if (step_s > 0) {
        spec->min_step_s = step_s;
        tmx_log_say(r->log, TMX_LOG_INFO, "%s: a row lasts %g s, by its column of time", r->power.source,
                    step_s);
    }
    r->n_unit = tmx_thermal_spec_units(spec);
    TMX_TAKE(&r->arena, r->unit_of, r->power.n_column);
    TMX_TAKE(&r->arena, r->row_k, r->power.n_column);
    TMX_TAKE_REALS(&r->arena, r->n_unit, &r->power_w, &r->temp_k);
    tmx_arena_check(&r->arena, err);
    if (!err->code && !tmx_stack_columns(&r->stack, &r->power, r->unit_of, err) &&
        !tmx_temps_init(&r->temps, &r->stack, err)) {
        check_power(r);
        spec->accurate_cells = cfg->grid_transient_file[0] || cfg->all_transient_file[0];
        spec->no_field = !spec->accurate_cells && !still_air(r); /* which follows the sink */
        tmx_temps_start(&r->temps, cfg, args->hotspot_compat, &r->init_node_k, err);
        spec->init_node_k = r->init_node_k;
        TMX_TAKE(&r->arena, r->node_k, tmx_temps_nodes(&r->temps));
        tmx_arena_check(&r->arena, err);
    }
    return err->code;
}

void tmx_trace_run_finish(struct tmx_trace_run *r)
{
    tmx_thermal_instance_finish(&r->chip);
    tmx_temps_finish(&r->temps);
    tmx_trace_finish(&r->power);
    tmx_stack_finish(&r->stack);
    free(r->init_node_k);
    tmx_arena_finish(&r->arena);
    *r = (struct tmx_trace_run){0};
}

/* ---- still air ---- */

static struct tmx_settle_options settle_options(const struct tmx_trace_run *r)
{
    static const double HOTSPOT_K = 0.01, FINE_K = 1e-6;
    return (struct tmx_settle_options){
        .leakage = r->args->cfg.leakage_used,
        .natural = still_air(r),
        .backend = r->args->method && (r->args->method->can & TMX_THERMAL_FULL) ? r->args->method : NULL,
        .leakage_tolerance_k = r->args->hotspot_compat ? HOTSPOT_K : FINE_K};
}

/* r_convec in still air where nodes have these temperatures (NULL: all at the start). */
static double still_air_k_per_w(const struct tmx_trace_run *r, const double *node_k)
{
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    const double sink_k = node_k ? tmx_temps_sink_mean_k(&r->temps, node_k) : spec->init_k;
    return tmx_fan_natural_k_per_w(&r->stack.fan, fmax(sink_k, spec->ambient_k + 0.01), spec->ambient_k);
}

/* ---- coolant ---- */

/* Coolant that boils carries heat away in another manner than is computed. cell_k: of the layer. */
static void check_coolant(const struct tmx_trace_run *r, size_t layer, const double *cell_k,
                          struct tmx_err *err)
{
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    const struct tmx_channels *channels = spec->layer[layer].channels;
    size_t at = SIZE_MAX; /* the hottest coolant */
    for (size_t c = 0; c < spec->rows * spec->cols; c++) {
        const bool wet = channels->kind == TMX_CHANNELS_RESOLVED ? c % spec->cols % 2 == 1
                         : channels->cell                        ? channels->cell[c] != TMX_CELL_SOLID
                                                                 : true;
        /* of cells that are equal but for rounding the first */
        at = wet && (at == SIZE_MAX || cell_k[c] > cell_k[at] * (1 + 1e-9)) ? c : at;
    }
    const double W = tmx_thermal_spec_width_m(spec), H = tmx_thermal_spec_height_m(spec);
    const double *line = spec->col_line_m, limit_k = r->args->cfg.coolant_limit;
    const size_t i = at / spec->cols, j = at % spec->cols;
    const double x = line ? 0.5 * (line[j] + line[j + 1]) : ((double)j + 0.5) * W / (double)spec->cols;
    const double y = H * (1 - ((double)i + 0.5) / (double)spec->rows);
    if (!(cell_k[at] <= limit_k)) {
        tmx_error(
            err, TMX_ECONFIG,
            "layer %zu: coolant boils: it reaches %.2f K %.4g mm from the west and %.4g mm from the south "
            "edge, the limit is %.2f K (coolant_limit)",
            layer, cell_k[at], 1e3 * x, 1e3 * y, limit_k);
    }
}

/* Coldest of what surrounds the chip. */
static double surroundings_k(const struct tmx_trace_run *r)
{
    double k = r->args->cfg.ambient;
    for (size_t l = 0; l < r->stack.spec.n_layer; l++) {
        const struct tmx_channels *c = r->stack.spec.layer[l].channels;
        k = c ? fmin(k, c->inlet_k) : k;
    }
    return k;
}

/* ---- transient ---- */

static bool leaks(const struct tmx_trace_run *r)
{
    return r->args->cfg.leakage_used && !r->args->hotspot_compat;
}

/* What the method itself may add to the error, for the largest change of power of every block, leakage of the
 * start included. */
static void say_error(struct tmx_trace_run *r)
{
    const struct tmx_thermal_ops *ops = r->chip.ops;
    const size_t n = r->power.n_column;
    if (!ops->error_bound) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double *swing_w = &r->power_w[r->unit_of[i]];
        *swing_w = fabs(r->power.value[i]);
        for (size_t row = 1; row < r->power.n_row; row++) {
            *swing_w = fmax(*swing_w, fabs(r->power.value[row * n + i] - r->power.value[(row - 1) * n + i]));
            *swing_w = fmax(*swing_w, r->args->mixed ? fabs(r->power.value[row * n + i]) : 0);
        }
    }
    if (leaks(r)) {
        ops->read(r->chip.state, r->temp_k);
        tmx_settle_leakage(&r->stack.spec, r->temp_k, r->power_w);
    }
    tmx_log_say(r->log, TMX_LOG_INFO, "%s model: estimated error at most %.2g K at a block", ops->base.name,
                ops->error_bound(r->chip.state, false, r->power_w));
    if (r->stack.spec.accurate_cells) {
        tmx_log_say(r->log, TMX_LOG_INFO, "%s model: estimated error at most %.2g K at a cell",
                    ops->base.name, ops->error_bound(r->chip.state, true, r->power_w));
    }
}

/* One back-end, with what the command line asks of the options that it has. */
static enum tmx_status create(struct tmx_trace_run *r, const struct tmx_thermal_ops *ops, struct tmx_err *err)
{
    char tolerance[TMX_REAL_SIZE], modes[32];
    const char *const asked[][2] = {{"scheme", r->args->scheme == TMX_TRACE_BE ? "be" : "exact"},
                                    {"modes", modes},
                                    {"cache", r->args->no_cache ? "0" : "1"},
                                    {"tolerance_k", tolerance},
                                    {"precision", r->args->mixed ? "mixed" : "double"}};
    enum { N = sizeof asked / sizeof asked[0] };
    const char *settings[2 * N + 1] = {NULL};
    size_t n = 0;
    r->stack.spec.coolant_limit_k =
        r->stack.channels && ops == &tmx_thermal_reduced ? r->args->cfg.coolant_limit : 0;
    snprintf(modes, sizeof modes, "%d", r->args->modes);
    tmx_real_print(tolerance, tolerance_k(r->args));
    for (size_t i = 0; i < N; i++) {
        if (tmx_thermal_option(ops, asked[i][0])) {
            settings[n++] = asked[i][0];
            settings[n++] = asked[i][1];
        }
    }
    return tmx_thermal_instance_create(&r->chip, ops->base.name, settings, &r->stack.spec, err);
}

/* The method that is asked for: the reduced model within the memory that is allowed, or not at all. Without
 * one the cheaper of the full grid and the reduced model, as far as memory allows; the grid where the reduced
 * model cannot keep its tolerance. */
static void create_chip(struct tmx_trace_run *r, struct tmx_err *err)
{
    const struct tmx_trace_options *a = r->args;
    struct tmx_thermal_spec *spec = &r->stack.spec;
    const struct tmx_settle_options options = settle_options(r);
    const size_t n_value = still_air(r) ? r->power.n_row * r->power.n_column : 0;
    double r_low = INFINITY;
    for (size_t i = 0; i < n_value; i++) { /* every block at its peak */
        double *w = &r->power_w[r->unit_of[i % r->power.n_column]];
        *w = i < r->power.n_column ? r->power.value[i] : fmax(*w, r->power.value[i]);
    }
    if (still_air(r) &&
        !tmx_settle(&r->stack, &options, r->power_w, &r->temps, r->node_k, &r_low, NULL, err) &&
        TMX_TAKE(&r->arena, r->levels, N_LEVELS)) { /* between a sink at ambient and the hottest sink */
        const double air_k = spec->ambient_k,
                     r_high = tmx_fan_natural_k_per_w(&r->stack.fan, air_k + 0.01, air_k);
        r_low = fmin(r_low, still_air_k_per_w(r, r->init_node_k));
        for (size_t i = 0; i < N_LEVELS; i++) {
            r->levels[i] = r_low * pow(r_high / r_low, (double)i / (N_LEVELS - 1));
        }
        spec->r_convec_levels = r->levels;
        spec->n_level = N_LEVELS;
        tmx_log_say(r->log, TMX_LOG_INFO, "still air: r_convec from %.4g to %.4g K/W in %d steps", r_low,
                    r_high, N_LEVELS);
    }
    tmx_arena_check(&r->arena, err);
    size_t steps = 0; /* between rows of equal power the grid settles */
    for (size_t row = 1; row < r->power.n_row; row++) {
        const double *value = r->power.value + row * r->power.n_column;
        steps += memcmp(value, value - r->power.n_column, r->power.n_column * sizeof *value) != 0;
    }
    /* does the reduced model of coolant take less than the grid? */
    const bool pays = !tmx_map_by_cell(spec->map_mode) && !spec->accurate_cells && !spec->init_node_k &&
                      !a->mixed && r->stack.channels && (double)steps >= rows_to_pay(spec, err);
    const bool grid = a->scheme == TMX_TRACE_BE ||
                      (!a->method && ((r->stack.channels && !pays) || spec->rows == 1 || tmx_falling(spec)));
    const struct tmx_thermal_ops *method = grid ? &tmx_thermal_grid : a->method;
    const bool chosen = !method && !r->stack.channels;
    struct estimate e = {0};
    if (chosen || method == &tmx_thermal_reduced) {
        estimate(r, chosen, &e, err);
    }
    const double most_mb = a->max_memory_mb > 0 ? a->max_memory_mb : USUAL_MB;
    const bool fits = e.reduced_mb <= most_mb, faster = e.reduced_s < e.grid_s;
    if (method == &tmx_thermal_reduced && !fits) {
        tmx_error(
            err, TMX_ECONFIG,
            "--method reduced: its set-up would take about %.0f MB, --max-memory allows %.0f MB; a coarser "
            "grid, fewer blocks or --method grid (%.0f MB) take less",
            e.reduced_mb, most_mb, e.grid_mb);
    }
    if (err->code) {
        return;
    }
    method = method                                        ? method
             : !chosen || a->modes > 0 || (fits && faster) ? &tmx_thermal_reduced
                                                           : &tmx_thermal_grid;
    if (chosen) {
        tmx_log_say(
            r->log, faster && !fits && a->modes == 0 ? TMX_LOG_INFO : TMX_LOG_DETAIL,
            "method %s: %zu rows would take about %.2g s and %.2g MB on the full grid, %.2g s and %.2g MB on "
            "a reduced model that is made first%s",
            method->base.name, r->power.n_row, e.grid_s, e.grid_mb, e.reduced_s, e.reduced_mb,
            a->modes > 0      ? "; --modes asks for it"
            : faster && !fits ? "; --max-memory forbids that"
                              : "");
    }
    if (create(r, method, err) == TMX_ESOLVE && chosen && method == &tmx_thermal_reduced) {
        tmx_log_say(r->log, TMX_LOG_WARNING, "%s: the full grid is used instead", err->msg);
        tmx_thermal_instance_finish(&r->chip);
        *err = (struct tmx_err){0};
        create(r, &tmx_thermal_grid, err);
    }
    if (!err->code && !tmx_thermal_prepare(r->chip.ops, r->chip.model, r->stack.spec.min_step_s, err)) {
        say_error(r);
    }
}

static enum tmx_status one_row(struct tmx_trace_run *r, void *snapshot, double *mean_w)
{
    const double dt_s = r->stack.spec.min_step_s;
    return leaks(r) ? tmx_settle_step(&r->chip, dt_s, r->power_w, r->temp_k, snapshot, mean_w)
                    : r->chip.ops->step(r->chip.state, dt_s, r->power_w, r->temp_k);
}

/* Conductivities of the die cells now. */
static void falling_now(struct tmx_trace_run *r, double *part, struct tmx_err *err)
{
    if (!err->code && !tmx_thermal_instance_nodes(&r->chip, r->node_k, err)) {
        tmx_falling_part(&r->stack.spec, r->node_k, part);
    }
}

/* A row with conductivities that lie, within tmx_falling_most, at the mean of its begin and its end. */
static enum tmx_status falling_row(struct tmx_trace_run *r, void *image, double *mean_w, struct tmx_err *err)
{
    enum { MOST_ROUNDS = 20 };
    const struct tmx_thermal_ops *ops = r->chip.ops;
    struct tmx_thermal_spec *spec = &r->stack.spec;
    const size_t n = spec->n_layer * spec->rows * spec->cols,
                 bytes = tmx_image_size(ops->image, r->chip.state);
    double *begin = r->falling + n, *end = begin + n, *want = end + n, *power_w = want + n, off = INFINITY;
    void *start = (unsigned char *)image + bytes; /* image: two of them, one for leakage */
    memcpy(power_w, r->power_w, r->n_unit * sizeof *power_w);
    tmx_image_save(ops->image, r->chip.state, start);
    falling_now(r, begin, err);
    for (int round = 0; !err->code && off > tmx_falling_most; round++) {
        if (round == MOST_ROUNDS) {
            return TMX_ESOLVE;
        }
        if (round > 0) { /* the model again, with these conductivities */
            memcpy(r->falling, want, n * sizeof *want);
            spec->k_part = r->falling;
            tmx_thermal_instance_finish(&r->chip);
            if (!create(r, ops, err) && !tmx_thermal_prepare(ops, r->chip.model, spec->min_step_s, err)) {
                tmx_image_restore(ops->image, r->chip.state, start);
                r->n_refresh++;
            }
        }
        memcpy(r->power_w, power_w, r->n_unit * sizeof *power_w); /* without leakage */
        const enum tmx_status st = err->code ? err->code : one_row(r, image, mean_w);
        if (st) {
            return st;
        }
        falling_now(r, end, err);
        off = 0;
        for (size_t c = 0; c < n && !err->code; c++) {
            want[c] = 0.5 * (begin[c] + end[c]);
            off = fmax(off, fabs(r->falling[c] / want[c] - 1));
        }
    }
    return err->code;
}

static void step(struct tmx_trace_run *r, size_t row, void *snapshot, double *mean_w, struct tmx_err *err)
{
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    for (size_t i = 0; i < r->power.n_column; i++) {
        r->power_w[r->unit_of[i]] = r->power.value[row * r->power.n_column + i];
    }
    if (still_air(r) && !tmx_thermal_instance_nodes(&r->chip, r->node_k, err)) { /* the sink's level */
        const double want = still_air_k_per_w(r, r->node_k);
        size_t best = 0;
        for (size_t i = 1; i < N_LEVELS; i++) {
            best = fabs(r->levels[i] - want) < fabs(r->levels[best] - want) ? i : best;
        }
        r->chip.ops->set_convection(r->chip.state, best);
    }
    if (err->code) {
        return;
    }
    const enum tmx_status st =
        r->falling ? falling_row(r, snapshot, mean_w, err) : one_row(r, snapshot, mean_w);
    char why[256] = "";
    if (st && r->chip.ops->why) {
        r->chip.ops->why(r->chip.state, why, sizeof why);
    }
    if (st) {
        tmx_fail_at(err, why[0] ? TMX_ECONFIG : st, r->power.source, r->power.line[row], "%s",
                    why[0] ? why : "temperatures are no longer finite");
    }
    for (size_t l = 0; l < spec->n_layer && spec->coolant_limit_k == 0; l++) { /* else its steps look */
        const bool wet = spec->layer[l].channels && !err->code;
        const enum tmx_status bad = wet ? r->chip.ops->field(r->chip.state, l, r->node_k) : TMX_OK;
        if (bad) {
            tmx_error(err, bad, "%s", "");
        } else if (wet) {
            check_coolant(r, l, r->node_k, err);
        }
    }
}

/* Widens low to high by the blocks of the trace. */
static void widen(const struct tmx_trace_run *r, double *low_k, double *high_k)
{
    for (size_t i = 0; i < r->power.n_column; i++) {
        *low_k = fmin(*low_k, r->temp_k[r->unit_of[i]]);
        *high_k = fmax(*high_k, r->temp_k[r->unit_of[i]]);
    }
}

enum tmx_status tmx_trace_run_transient(struct tmx_trace_run *r, FILE *trace, FILE *grid, struct tmx_err *err)
{
    const struct tmx_trace_options *a = r->args;
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    const bool leakage = leaks(r), falling = tmx_falling(spec);
    const size_t n = spec->n_layer * spec->rows * spec->cols, n_column = r->power.n_column;
    unsigned char *snapshot = NULL;
    double *mean_w;
    TMX_TAKE(&r->arena, mean_w, r->n_unit);
    create_chip(r, err);
    if (falling && !err->code && (!(r->chip.ops->can & TMX_THERMAL_FULL) || still_air(r))) {
        tmx_error(
            err, TMX_EUNSUPPORTED,
            "conductivities that fall with temperature: --method grid follows them, and not in still air "
            "(natural_convec)");
    }
    if (err->code) {
        return err->code;
    }
    if (falling) { /* the model of the start is made again for its conductivities in the first row */
        TMX_TAKE(&r->arena, r->falling, 4 * n + r->n_unit);
    }
    for (size_t c = 0; c < n && r->falling; c++) {
        r->falling[c] = 1;
    }
    if (leakage || falling) {
        TMX_TAKE(&r->arena, snapshot, 2 * tmx_image_size(r->chip.ops->image, r->chip.state));
    } else if (a->cfg.leakage_used) {
        tmx_log_say(r->log, TMX_LOG_WARNING, "leakage_used acts on the steady state only (--hotspot-compat)");
    }
    if (a->verify_with[0] || a->keep_rows) {
        TMX_TAKE(&r->arena, r->trace_k, r->power.n_row * n_column);
    }
    if (r->arena.failed) {
        return tmx_no_memory(err);
    }
    if (trace && tmx_trace_wants_npy(a->cfg.o)) {
        tmx_trace_put_names((const char *const *)r->power.name, n_column, r->power.n_row, trace);
    } else if (trace) {
        tmx_trace_print_names((const char *const *)r->power.name, n_column, trace);
    }
    double start_k = INFINITY, low_k = INFINITY, high_k = -INFINITY;
    r->chip.ops->read(r->chip.state, r->temp_k);
    widen(r, &start_k, &high_k);
    for (size_t row = 0; !err->code && row < r->power.n_row; row++) {
        step(r, row, snapshot, mean_w, err);
        widen(r, &low_k, &high_k);
        if (err->code) {
            return err->code;
        }
        for (size_t i = 0; i < n_column; i++) {
            r->row_k[i] = r->temp_k[r->unit_of[i]];
        }
        if (trace && tmx_trace_wants_npy(a->cfg.o)) {
            tmx_trace_put_row(r->row_k, n_column, trace);
        } else if (trace) {
            tmx_trace_print_row(r->row_k, n_column, a->precision, trace);
        }
        if (r->trace_k) {
            memcpy(r->trace_k + row * n_column, r->row_k, n_column * sizeof *r->row_k);
        }
        if (grid && !tmx_thermal_instance_nodes(&r->chip, r->node_k, err)) {
            /* HotSpot labels a row with its begin, the temperatures are those of its end */
            fprintf(grid, "t = %f\n", (double)row * spec->min_step_s);
            tmx_temps_print_grids(&r->temps, r->node_k, a->precision, grid);
        }
        if (a->row_done) {
            a->row_done(a->row_done_to, row + 1, r->power.n_row);
        }
    }
    if (falling) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "conductivities that fall: %zu models; each cell's is right within %g %% of a row's mean",
                    r->n_refresh, 100 * tmx_falling_most);
    }
    tmx_plausible_result("the trace", low_k, high_k, fmin(start_k, surroundings_k(r)));
    return err->code;
}

/* ---- steady state ---- */

enum tmx_status tmx_trace_run_steady(struct tmx_trace_run *r, struct tmx_err *err)
{
    const struct tmx_settle_options options = settle_options(r);
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    double low_k = INFINITY, high_k = -INFINITY;
    tmx_trace_mean(&r->power, r->row_k);
    for (size_t i = 0; i < r->power.n_column; i++) {
        r->power_w[r->unit_of[i]] = r->row_k[i];
    }
    if (tmx_settle(&r->stack, &options, r->power_w, &r->temps, r->node_k, NULL, r->log, err)) {
        return err->code;
    }
    tmx_temps_from_nodes(&r->temps, r->node_k);
    for (size_t i = 0; i < r->temps.first[r->temps.n_layer]; i++) {
        low_k = fmin(low_k, r->temps.block_k[i]);
        high_k = fmax(high_k, r->temps.block_k[i]);
    }
    tmx_plausible_result("the steady state", low_k, high_k, surroundings_k(r));
    for (size_t l = 0; l < spec->n_layer && !err->code; l++) { /* what each layer of channels takes */
        const double *cell_k = r->node_k + l * spec->rows * spec->cols; /* row 0 is the north edge */
        const struct tmx_channels *c = spec->layer[l].channels;
        if (c && c->kind != TMX_CHANNELS_MAPPED) { /* whose outlets are anywhere */
            const bool resolved = c->kind == TMX_CHANNELS_RESOLVED;
            double mean_k = 0;
            size_t n = 0;
            for (size_t j = resolved; j < spec->cols; j += resolved ? 2 : 1, n++) {
                mean_k += cell_k[j];
            }
            mean_k /= (double)n;
            tmx_log_say(r->log, TMX_LOG_INFO, "layer %zu: coolant leaves at %.4f K on average, with %.6g W",
                        l, mean_k, c->p_j_per_m3k * c->flow_m3_per_s * (mean_k - c->inlet_k));
        }
        if (c) {
            check_coolant(r, l, cell_k, err);
        }
    }
    return err->code;
}
