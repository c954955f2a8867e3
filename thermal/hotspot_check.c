/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/hotspot_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/base/text.h"

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

static enum tmx_status make_folder(struct verify *v)
{
    const enum tmx_status st = tmx_os_temp_dir(v->folder, sizeof v->folder, v->err);
    if (st) {
        v->folder[0] = '\0';
        return st;
    }
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(v->path[i], TMX_PATH_SIZE, "%s/%s", v->folder, file_names[i]);
    }
    return TMX_OK;
}

static void remove_folder(struct verify *v)
{
    for (size_t i = 0; v->folder[0] && i < N_FILES; i++) {
        remove(v->path[i]);
    }
    if (v->folder[0]) {
        remove(v->folder);
    }
}

/* Our options for HotSpot: its outputs elsewhere, and a map mode it knows. */
static enum tmx_status write_config(struct verify *v)
{
    struct tmx_hotspot_config cfg = v->r->args->cfg;
    struct tmx_output out;
    const bool transient = v->r->trace_k != NULL;
    snprintf(cfg.o, sizeof cfg.o, "%s", transient ? v->path[TRACE] : "");
    snprintf(cfg.steady_file, sizeof cfg.steady_file, "%s", v->path[STEADY]);
    cfg.grid_steady_file[0] = cfg.grid_transient_file[0] = cfg.d[0] = '\0';
    snprintf(cfg.package_config_file, sizeof cfg.package_config_file, "%s", v->path[CONFIG]); /* fan, fins */
    if (cfg.cold_plate) { /* which HotSpot does not know */
        cfg.cold_plate = false;
        cfg.r_convec = v->r->stack.spec.package.r_convec_k_per_w;
    }
    cfg.grid_map_mode = (int)v->r->stack.spec.map_mode;
    if (v->r->stack.spec.map_mode == TMX_MAP_AREA) {
        cfg.grid_map_mode = TMX_MAP_AVG;
        tmx_log_say(v->r->log, TMX_LOG_INFO,
                    "HotSpot has no area-weighted blocks; it is run with grid_map_mode avg");
    }
    const enum tmx_status st = tmx_output_open(&out, v->path[CONFIG], v->err);
    if (st) {
        return st;
    }
    tmx_hotspot_config_print(&cfg, out.file);
    return tmx_output_commit(&out, v->err);
}

static enum tmx_status run_hotspot(struct verify *v)
{
    const struct tmx_trace_options *a = v->r->args;
    const bool transient = v->r->trace_k != NULL;
    /* What HotSpot takes from its command line alone. */
    const char *const word[][2] = {{"-c", v->path[CONFIG]},
                                   {"-f", a->cfg.f},
                                   {"-p", a->cfg.p},
                                   {"-o", transient ? v->path[TRACE] : ""},
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
    const enum tmx_status st = tmx_os_run(argv, v->path[LOG], &exit_code, v->err);
    if (st) {
        return st;
    }
    return exit_code == 0 ? TMX_OK
                          : tmx_fail_at(v->err, exit_code == 127 ? TMX_EIO : TMX_EPROGRAM, a->verify_with, 0,
                                        "failed with exit code %d%s", exit_code,
                                        exit_code == 127 ? " (not found or not executable)" : "");
}

static enum tmx_status read_results(struct verify *v)
{
    const struct tmx_trace *power = &v->r->power;
    enum tmx_status st = tmx_temps_init(&v->steady, &v->r->stack, v->err);
    st = st ? st : tmx_temps_read(v->path[STEADY], &v->steady, v->err);
    if (st || !v->r->trace_k) {
        return st;
    }
    st = tmx_trace_read(v->path[TRACE], &v->trace, v->err);
    if (!st && (v->trace.n_column != power->n_column || v->trace.n_row != power->n_row)) {
        st = tmx_fail_at(v->err, TMX_EPARSE, v->path[TRACE], 0,
                         "%zu columns and %zu rows, expected %zu and %zu", v->trace.n_column, v->trace.n_row,
                         power->n_column, power->n_row);
    }
    return st;
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

static void add_row(struct tmx_table *t, const char *name, const double *transient_k, double steady_k)
{
    tmx_table_text(t, name);
    if (transient_k) {
        tmx_table_real(t, *transient_k);
    } else {
        tmx_table_empty(t);
    }
    tmx_table_real(t, steady_k);
}

static enum tmx_status compare(const struct verify *v, struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"block", TMX_COLUMN_TEXT, 0},
                                                {"transient_max_abs_k", TMX_COLUMN_REAL, 6},
                                                {"steady_abs_k", TMX_COLUMN_REAL, 6}};
    const bool transient = v->r->trace_k != NULL;
    double largest_k = 0, largest_steady_k = 0;
    const enum tmx_status st = tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
    for (size_t i = 0; !st && i < v->r->power.n_column; i++) {
        const size_t block = block_of(v, v->r->unit_of[i]);
        const double steady_k = fabs(v->r->temps.block_k[block] - v->steady.block_k[block]),
                     transient_k = transient ? trace_difference(v, i) : 0;
        add_row(*t, v->r->power.name[i], transient ? &transient_k : NULL, steady_k);
        largest_k = fmax(largest_k, transient_k);
        largest_steady_k = fmax(largest_steady_k, steady_k);
    }
    if (!st) {
        add_row(*t, "largest", transient ? &largest_k : NULL, largest_steady_k);
    }
    return st;
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
    struct verify v = {.r = r, .err = err};
    say_what_differs(r);
    enum tmx_status st = make_folder(&v);
    st = st ? st : write_config(&v);
    st = st ? st : run_hotspot(&v);
    st = st ? st : read_results(&v);
    st = st ? st : compare(&v, t, err);
    tmx_trace_finish(&v.trace);
    tmx_temps_finish(&v.steady);
    remove_folder(&v);
    return st;
}
