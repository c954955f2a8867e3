/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/validate_golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/load/data.h"
#include "thermal/trace_run.h"

/* README.txt of each folder says how its files were made. */
const struct tmx_golden_case tmx_golden_cases[] = {
    {"A_gt200", "GPU of 30 SMs", "chip.flp"},
    {"B_hotblock", "one hot block", "chip.flp"},
    {"D_package", "package from its drawing", "chip.flp"},
    {"E_stack2", "two dies on each other", "stack.lcf"},
    {"F_rectcell", "cells that are no squares", "chip.flp"},
    {"G_board", "with the board below", "chip.flp"},
    {0},
};

struct follow { /* rows as they come beside those of the file */
    const struct tmx_trace_run *run;
    const struct tmx_trace *theirs;
    double worst_k;
};

static void compare_row(void *to, size_t n_done, size_t n_total)
{
    struct follow *f = to;
    (void)n_total;
    for (size_t i = 0; n_done <= f->theirs->n_row && i < f->theirs->n_column; i++) {
        const double d = f->run->row_k[i] - f->theirs->value[(n_done - 1) * f->theirs->n_column + i];
        f->worst_k = fmax(f->worst_k, fabs(d));
    }
}

static enum tmx_status same_columns(const struct tmx_trace *a, const struct tmx_trace *b, struct tmx_err *err)
{
    bool same = a->n_column == b->n_column && a->n_row == b->n_row;
    for (size_t i = 0; same && i < a->n_column; i++) {
        same = strcmp(a->name[i], b->name[i]) == 0;
    }
    return same
               ? TMX_OK
               : tmx_fail_at(err, TMX_EPARSE, b->source, 1, "expected the columns and rows of %s", a->source);
}

static enum tmx_status compare_steady(struct tmx_trace_run *r, const char *path, double *worst_k,
                                      struct tmx_err *err)
{
    struct tmx_temps theirs = {0};
    enum tmx_status st = tmx_trace_run_steady(r, err);
    st = st ? st : tmx_temps_init(&theirs, &r->stack, err);
    st = st ? st : tmx_temps_read(path, &theirs, err);
    *worst_k = 0;
    for (size_t i = 0; !st && i < theirs.first[theirs.n_layer]; i++) {
        *worst_k = fmax(*worst_k, fabs(theirs.block_k[i] - r->temps.block_k[i]));
    }
    for (size_t i = 0; !st && i < theirs.n_package; i++) {
        *worst_k = fmax(*worst_k, fabs(theirs.package_k[i] - r->temps.package_k[i]));
    }
    tmx_temps_finish(&theirs);
    return st;
}

enum tmx_status tmx_validate_golden(const struct tmx_golden_case *golden, struct tmx_golden_check *g,
                                    struct tmx_err *err)
{
    static const char *const files[] = {"case.config", "power.ptrace", "out.ttrace", "out.steady"};
    char path[5][TMX_PATH_SIZE], name[256];
    *g = (struct tmx_golden_check){.found = true};
    for (size_t i = 0; i < 5; i++) {
        struct tmx_err absent = {0};
        snprintf(name, sizeof name, "tests/golden/%s/%s", golden->name, i < 4 ? files[i] : golden->floorplan);
        g->found = g->found && !tmx_data_file(name, path[i], &absent);
    }
    if (!g->found) {
        return TMX_OK;
    }
    struct tmx_trace theirs = {0};
    struct tmx_trace_run run = {0};
    struct follow follow = {.run = &run, .theirs = &theirs};
    struct tmx_trace_options o = {.method = TMX_TRACE_GRID,
                                  .scheme = TMX_TRACE_BE,
                                  .no_cache = true,
                                  .hotspot_compat = true,
                                  .row_done = compare_row,
                                  .row_done_to = &follow};
    const char *const key = strcmp(golden->floorplan, "chip.flp") == 0 ? "f" : "grid_layer_file";
    tmx_hotspot_config_init(&o.cfg);
    enum tmx_status st = tmx_hotspot_config_set(&o.cfg, key, path[4], TMX_HOTSPOT_COMMAND_LINE, 0, err);
    st = st ? st : tmx_hotspot_config_set(&o.cfg, "p", path[1], TMX_HOTSPOT_COMMAND_LINE, 0, err);
    st = st ? st : tmx_hotspot_config_read(&o.cfg, path[0], TMX_HOTSPOT_CONFIG, err);
    st = st ? st : tmx_trace_read(path[2], &theirs, err);
    st = st ? st : tmx_trace_run_read(&run, &o, NULL, err);
    st = st ? st : same_columns(&run.power, &theirs, err);
    st = st ? st : tmx_trace_run_transient(&run, NULL, NULL, err);
    st = st ? st : compare_steady(&run, path[3], &g->steady_k, err);
    g->transient_k = follow.worst_k;
    tmx_trace_run_finish(&run);
    tmx_trace_finish(&theirs);
    return st;
}
