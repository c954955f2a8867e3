/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hotspot/trace_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/output.h"
#include "base/text.h"

enum { CONFIG, TRACE, STEADY, LOG, N_FILES };
static const char *const file_names[N_FILES] = {"hotspot.config", "hotspot.ttrace", "hotspot.steady",
                                                "hotspot.log"};

struct verify {
    struct tmx_trace_run *r;
    char folder[200], path[N_FILES][TMX_PATH_SIZE];
    struct tmx_temps steady; /* HotSpot's */
    struct tmx_trace trace;  /* HotSpot's; no columns when there is no transient */
    struct tmx_err *err;
};

/* Our options for HotSpot: its outputs elsewhere, and a map mode it knows. */
static enum tmx_status write_config(struct verify *v)
{
    struct tmx_hotspot_config cfg = v->r->args->cfg;
    const struct tmx_thermal_spec *spec = &v->r->stack.spec;
    struct tmx_output out;
    snprintf(cfg.o, sizeof cfg.o, "%s", v->r->trace_k ? v->path[TRACE] : "");
    snprintf(cfg.steady_file, sizeof cfg.steady_file, "%s", v->path[STEADY]);
    cfg.grid_steady_file[0] = cfg.grid_transient_file[0] = cfg.d[0] = '\0';
    snprintf(cfg.package_config_file, sizeof cfg.package_config_file, "%s", v->path[CONFIG]); /* fan, fins */
    if (cfg.cold_plate) { /* which HotSpot does not know */
        cfg.cold_plate = false;
        cfg.r_convec = spec->package.r_convec_k_per_w;
    }
    cfg.grid_map_mode = (int)spec->map_mode;
    if (spec->map_mode == TMX_MAP_AREA) {
        cfg.grid_map_mode = TMX_MAP_AVG;
        tmx_log_say(v->r->log, TMX_LOG_INFO,
                    "HotSpot has no area-weighted blocks; it is run with grid_map_mode avg");
    }
    if (tmx_output_open(&out, v->path[CONFIG], v->err)) {
        return v->err->code;
    }
    tmx_hotspot_config_print(&cfg, out.file);
    return tmx_output_commit(&out, v->err);
}

static void run_hotspot(struct verify *v)
{
    const struct tmx_trace_options *a = v->r->args;
    /* What HotSpot takes from its command line alone. */
    const char *const word[][2] = {{"-c", v->path[CONFIG]},
                                   {"-f", a->cfg.f},
                                   {"-p", a->cfg.p},
                                   {"-o", v->r->trace_k ? v->path[TRACE] : ""},
                                   {"-materials_file", a->cfg.materials_file},
                                   {"-detailed_3D", v->r->stack.spec.detailed_3d ? "on" : ""},
                                   {"-steady_file", v->path[STEADY]}};
    const char *argv[2 + 2 * sizeof word / sizeof word[0]] = {a->verify_with};
    size_t n = 1;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        if (word[i][1][0]) {
            argv[n++] = word[i][0];
            argv[n++] = word[i][1];
        }
    }
    int exit_code = 0;
    if (!tmx_os_run(argv, v->path[LOG], &exit_code, v->err) && exit_code != 0) {
        tmx_error_at(v->err, exit_code == 127 ? TMX_EIO : TMX_EPROGRAM, a->verify_with, 0,
                     "failed with exit code %d%s", exit_code,
                     exit_code == 127 ? " (not found or not executable)" : "");
    }
}

static void read_results(struct verify *v)
{
    const struct tmx_trace *power = &v->r->power;
    if (!v->err->code && !tmx_temps_init(&v->steady, &v->r->stack, v->err) &&
        !tmx_temps_read(v->path[STEADY], &v->steady, v->err) && v->r->trace_k &&
        !tmx_trace_read(v->path[TRACE], &v->trace, v->err) &&
        (v->trace.n_column != power->n_column || v->trace.n_row != power->n_row)) {
        tmx_error_at(v->err, TMX_EPARSE, v->path[TRACE], 0, "%zu columns and %zu rows, expected %zu and %zu",
                     v->trace.n_column, v->trace.n_row, power->n_column, power->n_row);
    }
}

/* Largest difference of one column over all rows. */
static double trace_difference(const struct verify *v, size_t column)
{
    const size_t n = v->r->power.n_column;
    double worst = 0;
    for (size_t row = 0; row < v->r->power.n_row; row++) {
        worst = fmax(worst, fabs(v->r->trace_k[row * n + column] - v->trace.value[row * n + column]));
    }
    return worst;
}

/* Where the unit of a trace column stands among the blocks of all layers. */
static size_t block_of(const struct verify *v, size_t unit)
{
    const struct tmx_thermal_spec *spec = &v->r->stack.spec;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const size_t n = spec->layer[l].dissipates ? spec->layer[l].floorplan->n_unit : 0;
        if (unit < n) {
            return v->steady.first[l] + unit;
        }
        unit -= n;
    }
    return 0;
}

static void compare(const struct verify *v, struct tmx_table **t)
{
    static const struct tmx_column columns[] = {TMX_TEXT("block"), TMX_REAL("transient_max_abs_k", 6),
                                                TMX_REAL("steady_abs_k", 6)};
    const bool transient = v->r->trace_k != NULL;
    double largest_k = 0, largest_steady_k = 0;
    if (v->err->code || tmx_table_create(t, columns, sizeof columns / sizeof columns[0], v->err)) {
        return;
    }
    for (size_t i = 0; i < v->r->power.n_column; i++) {
        const size_t block = block_of(v, v->r->unit_of[i]);
        const double steady_k = fabs(v->r->temps.block_k[block] - v->steady.block_k[block]),
                     transient_k = transient ? trace_difference(v, i) : NAN;
        tmx_table_row(*t, "%s %G %g", v->r->power.name[i], transient_k, steady_k);
        largest_k = fmax(largest_k, transient_k);
        largest_steady_k = fmax(largest_steady_k, steady_k);
    }
    tmx_table_row(*t, "%s %G %g", "largest", transient ? largest_k : NAN, largest_steady_k);
}

static void say_what_differs(const struct tmx_trace_run *r)
{
    if (!r->args->hotspot_compat) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "the differences include HotSpot's own map modes; --hotspot-compat takes the same");
    }
    if (r->trace_k && r->args->scheme == TMX_TRACE_BE) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "and its time steps where it was built without SuperLU: many small ones a row");
    } else if (r->trace_k) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "and its time steps where it was built with SuperLU: one a row, as --scheme be takes it");
    }
}

enum tmx_status tmx_hotspot_check(struct tmx_trace_run *r, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct verify v = {.r = r, .err = &own};
    say_what_differs(r);
    if (tmx_os_temp_dir(v.folder, sizeof v.folder, &own)) {
        return tmx_error_give(err, &own);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(v.path[i], TMX_PATH_SIZE, "%s/%s", v.folder, file_names[i]);
    }
    if (!write_config(&v)) {
        run_hotspot(&v);
        read_results(&v);
        compare(&v, t);
    }
    tmx_trace_finish(&v.trace);
    tmx_temps_finish(&v.steady);
    for (size_t i = 0; i < N_FILES; i++) {
        remove(v.path[i]);
    }
    remove(v.folder);
    return tmx_error_give(err, &own);
}
