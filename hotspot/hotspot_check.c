/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hotspot/hotspot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/output.h"

enum { CONFIG, TRACE, STEADY, LOG, N_FILES };
static const char *const file_names[N_FILES] = {"hotspot.config", "hotspot.ttrace", "hotspot.steady",
                                                "hotspot.log"};

typedef char paths[N_FILES][TMX_PATH_SIZE];

/* Our options for HotSpot: its outputs elsewhere, and a map mode it knows. */
static enum tmx_status write_config(const struct tmx_trace_run *r, paths path, struct tmx_err *err)
{
    struct tmx_hotspot_config cfg = r->args->cfg;
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    struct tmx_output out;
    snprintf(cfg.o, sizeof cfg.o, "%s", r->trace_k ? path[TRACE] : "");
    snprintf(cfg.steady_file, sizeof cfg.steady_file, "%s", path[STEADY]);
    cfg.grid_steady_file[0] = cfg.grid_transient_file[0] = cfg.d[0] = '\0';
    snprintf(cfg.package_config_file, sizeof cfg.package_config_file, "%s", path[CONFIG]); /* fan, fins */
    if (cfg.cold_plate) { /* which HotSpot does not know */
        cfg.cold_plate = false;
        cfg.package.r_convec_k_per_w = spec->package.r_convec_k_per_w;
    }
    cfg.grid_map_mode = (int)spec->map_mode;
    if (spec->map_mode == TMX_MAP_AREA) {
        cfg.grid_map_mode = TMX_MAP_AVG;
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "HotSpot has no area-weighted blocks; it is run with grid_map_mode avg");
    }
    if (tmx_output_open(&out, path[CONFIG], err)) {
        return err->code;
    }
    tmx_hotspot_config_print(&cfg, out.file);
    return tmx_output_commit(&out, err);
}

static void run_hotspot(const struct tmx_trace_run *r, paths path, struct tmx_err *err)
{
    const struct tmx_trace_options *a = r->args;
    /* What HotSpot takes from its command line alone. */
    const char *const word[][2] = {{"-c", path[CONFIG]},
                                   {"-f", a->cfg.f},
                                   {"-p", a->cfg.p},
                                   {"-o", r->trace_k ? path[TRACE] : ""},
                                   {"-materials_file", a->cfg.materials_file},
                                   {"-detailed_3D", r->stack.spec.detailed_3d ? "on" : ""},
                                   {"-steady_file", path[STEADY]}};
    const char *argv[2 + 2 * sizeof word / sizeof word[0]] = {a->verify_with};
    size_t n = 1;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        if (word[i][1][0]) {
            argv[n++] = word[i][0];
            argv[n++] = word[i][1];
        }
    }
    int exit_code = 0;
    if (!tmx_os_run(argv, path[LOG], &exit_code, err) && exit_code != 0) {
        tmx_error_at(err, exit_code == 127 ? TMX_EIO : TMX_EPROGRAM, a->verify_with, 0,
                     "failed with exit code %d%s", exit_code,
                     exit_code == 127 ? " (not found or not executable)" : "");
    }
}

double tmx_hotspot_compare(const struct tmx_trace_run *r, const char *trace_path, const char *steady_path,
                           struct tmx_table *t, struct tmx_err *err)
{
    const struct tmx_trace *power = &r->power;
    const struct tmx_thermal_spec *spec = &r->stack.spec;
    const size_t n = power->n_column;
    struct tmx_temps steady = {0}; /* HotSpot's */
    struct tmx_trace trace = {0};  /* HotSpot's; no columns when there is no transient */
    if (!err->code && !tmx_temps_init(&steady, &r->stack, err) &&
        !tmx_temps_read(steady_path, &steady, err) && r->trace_k &&
        !tmx_trace_read(trace_path, &trace, err) && (trace.n_column != n || trace.n_row != power->n_row)) {
        tmx_error_at(err, TMX_EPARSE, trace_path, 0, "%zu columns and %zu rows, expected %zu and %zu",
                     trace.n_column, trace.n_row, n, power->n_row);
    }
    double largest_k = 0, largest_steady_k = 0, elsewhere_k = 0;
    for (size_t i = 0; i < n && !err->code; i++) { /* a unit of a column is one of the blocks of all layers */
        size_t l = 0, unit = r->unit_of[i];
        for (; !spec->layer[l].dissipates || unit >= spec->layer[l].floorplan->n_unit; l++) {
            unit -= spec->layer[l].dissipates ? spec->layer[l].floorplan->n_unit : 0;
        }
        if (r->trace_k && strcmp(trace.name[i], power->name[i]) != 0) {
            tmx_error_at(err, TMX_EPARSE, trace_path, 1, "\"%s\", expected \"%s\"", trace.name[i],
                         power->name[i]);
        }
        const size_t block = steady.first[l] + unit;
        const double steady_k = fabs(r->temps.block_k[block] - steady.block_k[block]);
        double transient_k = r->trace_k ? 0 : NAN;
        for (size_t row = 0; row < power->n_row && r->trace_k; row++) {
            transient_k = fmax(transient_k, fabs(r->trace_k[row * n + i] - trace.value[row * n + i]));
        }
        if (t) {
            tmx_table_row(t, "%s %G %g", power->name[i], transient_k, steady_k);
        }
        largest_k = fmax(largest_k, transient_k);
        largest_steady_k = fmax(largest_steady_k, steady_k);
    }
    if (t) {
        tmx_table_row(t, "%s %G %g", "largest", r->trace_k ? largest_k : NAN, largest_steady_k);
    }
    for (size_t i = 0; !err->code && i < steady.first[steady.n_layer]; i++) {
        elsewhere_k = fmax(elsewhere_k, fabs(steady.block_k[i] - r->temps.block_k[i]));
    }
    for (size_t i = 0; !err->code && i < steady.n_package; i++) {
        elsewhere_k = fmax(elsewhere_k, fabs(steady.package_k[i] - r->temps.package_k[i]));
    }
    tmx_trace_finish(&trace);
    tmx_temps_finish(&steady);
    return fmax(largest_k, elsewhere_k);
}

enum tmx_status tmx_hotspot_check(struct tmx_trace_run *r, struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_err own = {0};
    char folder[200];
    paths path;
    if (!r->args->hotspot_compat) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    "the differences include HotSpot's own map modes; --hotspot-compat takes the same");
    }
    if (r->trace_k) {
        tmx_log_say(r->log, TMX_LOG_INFO,
                    r->args->scheme == TMX_TRACE_BE
                        ? "and its time steps where it was built without SuperLU: many small ones a row"
                        : "and its time steps where it was built with SuperLU: one a row, as --scheme be "
                          "takes it");
    }
    if (tmx_os_temp_dir(folder, sizeof folder, &own)) {
        return tmx_error_give(err, &own);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(path[i], TMX_PATH_SIZE, "%s/%s", folder, file_names[i]);
    }
    if (!write_config(r, path, &own)) {
        run_hotspot(r, path, &own);
    }
    *t = tmx_table_of("block transient_max_abs_k:6 steady_abs_k:6");
    if (!own.code) {
        (void)tmx_hotspot_compare(r, path[TRACE], path[STEADY], *t, &own);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        remove(path[i]);
    }
    remove(folder);
    return tmx_error_give(err, &own);
}
