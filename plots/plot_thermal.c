/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temperatures that `thermix thermal` or HotSpot wrote: maps of blocks and of grids, curves of traces.
 *
 * A grid file has the cells of every layer and no word of where they lie. The package does (-c): each layer
 * then gets the stack's outline and the blocks that lie in it. A floorplan alone (--flp) is taken for the
 * whole of a layer, as in HotSpot; where thermix wrote that the stack is of another size, it is refused. */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/plausible.h"
#include "base/text.h"
#include "base/trace.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/files/stack.h"

enum { MAX_NAME = 48, MOST_CURVES = 10 };

struct map {
    struct tmx_plot *p;
    const struct tmx_thermal_map *m;
    const char *file;
    /* the package: */
    struct tmx_hotspot_config cfg;
    struct tmx_stack stack;
    struct tmx_temps temps;
    bool packaged;
    struct tmx_floorplan flp; /* or a floorplan alone */
    /* the file: */
    bool grid;
    struct tmx_arena arena;
    double *cell_k; /* [n_layer * n_cell] */
    size_t n_layer, n_cell, rows, cols;
    double outline_m[2]; /* NAN: it does not say */
    double *unit_k;      /* of flp, NAN: not in the file */
    struct tmx_err err;  /* the first stays */
};

/* ---- what the file has ---- */

/* Its cells, of each layer as many and in order. */
static void read_grid(struct map *q)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    size_t n = 0, first = 0; /* cells so far, and of this layer from here */
    if (tmx_text_load(&text, q->file, &q->err)) {
        return;
    }
    TMX_TAKE(&q->arena, q->cell_k, text.size + 1); /* a line has more letters than one */
    tmx_arena_check(&q->arena, &q->err);
    while (!q->err.code && tmx_lines_next(&lines, &text)) {
        struct tmx_span rest = lines.line, key, value, more;
        double number = NAN, v = NAN;
        if (!tmx_span_field(&rest, &key)) {
            continue;
        }
        const bool two = tmx_span_field(&rest, &value);
        const bool layer = two && tmx_span_is(key, "Layer");
        if (tmx_span_is(key, "#") && two && tmx_span_is(value, "outline")) {
            (void)(tmx_span_field(&rest, &key) && tmx_span_real(key, &q->outline_m[0]) &&
                   tmx_span_field(&rest, &value) && tmx_span_real(value, &q->outline_m[1]));
        } else if (*key.begin == '#') {
            continue;
        } else if (layer) {
            char wanted[32];
            snprintf(wanted, sizeof wanted, "%zu:", q->n_layer);
            if (!tmx_span_is(value, wanted) || (q->n_layer > 0 && n - first != q->n_cell) ||
                (q->n_layer > 0 && n == first)) {
                tmx_error_at(&q->err, TMX_EPARSE, q->file, lines.number,
                             "expected Layer %zu behind %zu cells of the one before, which has %zu",
                             q->n_layer, q->n_cell, n - first);
            }
            q->n_layer++;
            first = n;
        } else if (q->n_layer == 0 || !two || tmx_span_field(&rest, &more) || !tmx_span_real(key, &number) ||
                   !tmx_span_real(value, &v) || !(v > 0) || v > 1e4) {
            tmx_error_at(&q->err, TMX_EPARSE, q->file, lines.number,
                         "expected a cell's number and its temperature [K]");
        } else if (number != (double)(n - first)) {
            tmx_error_at(&q->err, TMX_EPARSE, q->file, lines.number, "expected cell %zu, found %.*s",
                         n - first, (int)tmx_span_length(key), key.begin);
        } else {
            q->cell_k[n++] = v;
            q->n_cell = q->n_layer == 1 ? n : q->n_cell;
        }
    }
    if (n - first != q->n_cell) {
        tmx_error_at(&q->err, TMX_EPARSE, q->file, lines.number, "layer %zu ends after %zu cells of %zu",
                     q->n_layer - 1, n - first, q->n_cell);
    }
    tmx_text_finish(&text);
}

/* unit_k of the floorplan's block of this name, with or without its layer. Blocks of other layers, of
 * spreader and sink and the package's nodes are in the same file. */
static void take_block(struct map *q, const char *name, double temp_k, unsigned line)
{
    static const char *const others[] = {"layer_", "iface_", "hsp_",    "hsink_", "inode_",
                                         "pcb_",   "sub_",   "solder_", "c4_",    "metal_"};
    char before[32];
    const size_t n =
        (size_t)snprintf(before, sizeof before, "layer_%ld_", q->m->layer >= 0 ? q->m->layer : 0L);
    const char *plain = strncmp(name, before, n) == 0 ? name + n : name;
    for (size_t u = 0; u < q->flp.n_unit; u++) {
        if (strcmp(q->flp.unit[u].name, plain) == 0) {
            if (!isnan(q->unit_k[u])) {
                tmx_error_at(&q->err, TMX_EPARSE, q->file, line, "block %s is there twice", name);
            }
            q->unit_k[u] = temp_k;
            return;
        }
    }
    bool known = line == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        known = known || strncmp(name, others[i], strlen(others[i])) == 0;
    }
    if (!known) {
        tmx_error_at(&q->err, TMX_EPARSE, q->file, line, "block %s is not in %s", name, q->flp.source);
    }
}

static void read_blocks(struct map *q)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    tmx_text_load(&text, q->file, &q->err);
    while (!q->err.code && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, key, value, more;
        char name[TMX_NAME_SIZE];
        double v;
        const bool two = tmx_span_field(&rest, &key) && tmx_span_field(&rest, &value) &&
                         !tmx_span_field(&rest, &more) && tmx_span_copy(key, name, sizeof name);
        if (!two || !tmx_span_real(value, &v) || !(v > 0) || v > 1e4) {
            tmx_error_at(&q->err, TMX_EPARSE, q->file, lines.number,
                         "expected a block or a cell and its temperature [K]");
        } else {
            take_block(q, name, v, lines.number);
        }
    }
    tmx_text_finish(&text);
}

/* The row in which a block is hottest. */
static void read_hottest(struct map *q)
{
    struct tmx_trace t = {0};
    size_t at = 0;
    (void)!tmx_trace_read(q->file, &t, &q->err);
    for (size_t i = 1; !q->err.code && i < t.n_row * t.n_column; i++) {
        at = t.value[i] > t.value[at] ? i : at;
    }
    for (size_t c = 0; !q->err.code && c < t.n_column; c++) {
        take_block(q, t.name[c], t.value[at / t.n_column * t.n_column + c], 0);
    }
    tmx_trace_finish(&t);
}

/* ---- where it lies ---- */

static void open_package(struct map *q)
{
    const struct tmx_stack_options hotspot = {.allow_gaps = true, .falling = true},
                                   physical = {
                                       .allow_gaps = true, .falling = true, .network = TMX_NETWORK_PHYSICAL};
    struct tmx_err why = {0};
    tmx_hotspot_config_init(&q->cfg);
    if ((q->m->floorplan &&
         tmx_hotspot_config_set(&q->cfg, "f", q->m->floorplan, TMX_HOTSPOT_COMMAND_LINE, 0, &q->err)) ||
        tmx_hotspot_config_read(&q->cfg, q->m->config, TMX_HOTSPOT_CONFIG, &q->err)) {
        return;
    }
    if (!q->cfg.f[0] && !q->cfg.grid_layer_file[0]) {
        tmx_error_at(&q->err, TMX_ECONFIG, q->m->config, 0,
                     "it names neither a floorplan (-f) nor layers (-grid_layer_file): give --flp FILE, too");
        return;
    }
    /* either network's package: the physical one takes more */
    const enum tmx_status st = tmx_stack_create(&q->cfg, &hotspot, NULL, &q->stack, &why);
    if (st == TMX_ENOMEM) {
        q->err = why;
    } else if (st) {
        tmx_stack_finish(&q->stack);
        (void)!tmx_stack_create(&q->cfg, &physical, NULL, &q->stack, &q->err);
    }
    q->packaged = !q->err.code;
    if (q->packaged) {
        (void)!tmx_temps_init(&q->temps, &q->stack, &q->err);
    }
}

static void open_floorplan(struct map *q)
{
    struct tmx_err gap = {0};
    if (!tmx_flp_read(q->m->floorplan, &q->flp, &q->err) && !tmx_floorplan_check(&q->flp, 1, &q->err) &&
        tmx_floorplan_check(&q->flp, 0, &gap)) { /* a filler may lie there */
        char text[1200];
        tmx_err_format(&gap, text, sizeof text);
        tmx_warn("%s", text);
    }
    TMX_TAKE(&q->arena, q->unit_k, q->flp.n_unit);
    tmx_arena_check(&q->arena, &q->err);
    for (size_t u = 0; !q->err.code && u < q->flp.n_unit; u++) {
        q->unit_k[u] = NAN;
    }
}

/* Are the cells those of the package or, of a floorplan alone, as many as asked for, of the outline that the
 * file says, if it does? */
static void fit(struct map *q)
{
    const struct tmx_thermal_map *m = q->m;
    const struct tmx_temps *t = &q->temps;
    const size_t n_layer = q->packaged ? t->n_layer : q->n_layer;
    q->rows = q->packaged   ? q->stack.spec.rows
              : m->rows > 0 ? (size_t)m->rows
                            : (size_t)lround(sqrt((double)q->n_cell));
    q->cols = q->packaged ? q->stack.spec.cols : m->rows > 0 ? (size_t)m->cols : q->rows;
    if (m->layer >= (long)n_layer) {
        tmx_error_at(&q->err, TMX_ECONFIG, q->file, 0, "--layer %ld: its layers are 0 to %zu", m->layer,
                     n_layer - 1);
    }
    if (q->packaged) {
        if (q->grid && (q->n_layer != t->n_layer || q->n_cell != t->n_cell)) {
            tmx_error_at(&q->err, TMX_ECONFIG, q->file, 0,
                         "%zu layers of %zu cells; the package %s has %zu of %zu x %zu", q->n_layer,
                         q->n_cell, m->config, t->n_layer, q->rows, q->cols);
        }
        return;
    }
    const double own[2] = {tmx_floorplan_width_m(&q->flp), tmx_floorplan_height_m(&q->flp)};
    for (size_t i = 0; i < 2; i++) {
        if (!isnan(q->outline_m[i]) && fabs(own[i] - q->outline_m[i]) > 1e-6 * q->outline_m[i]) {
            tmx_error_at(&q->err, TMX_ECONFIG, q->file, 0,
                         "its layers are %g x %g mm, %s is %g x %g mm and lies somewhere in one of them: "
                         "give the package, -c FILE, which knows where",
                         1e3 * q->outline_m[0], 1e3 * q->outline_m[1], m->floorplan, 1e3 * own[0],
                         1e3 * own[1]);
        }
    }
    if (q->rows * q->cols != q->n_cell) {
        tmx_error_at(&q->err, TMX_ECONFIG, q->file, 0,
                     m->rows > 0
                         ? "a layer has %zu cells, not %zu x %zu: give grid_rows and grid_cols of its "
                           "computation, --cells ROWSxCOLS"
                         : "a layer has %zu cells, which are no square: give --cells ROWSxCOLS",
                     q->n_cell, q->rows, q->cols);
    }
}

/* ---- a layer ---- */

struct layer {
    const struct tmx_floorplan *fp; /* its blocks; NULL: none are its own */
    char name[96];
    double width_m, height_m;
    const double *cell_k; /* NULL: blocks alone */
    const double *unit_k; /* of blocks alone */
};

static void find_layer(const struct map *q, size_t number, struct layer *l)
{
    static const char *const below[] = {"board", "solder", "substrate", "C4", "metal"};
    char stem[80];
    *l = (struct layer){.cell_k = q->grid ? q->cell_k + number * q->n_cell : NULL};
    if (!q->packaged) {
        l->fp = &q->flp;
        l->unit_k = q->unit_k;
        l->width_m = tmx_floorplan_width_m(&q->flp);
        l->height_m = tmx_floorplan_height_m(&q->flp);
        snprintf(l->name, sizeof l->name, "%s", tmx_plot_stem(q->m->floorplan, NULL, stem));
        return;
    }
    const struct tmx_thermal_spec *spec = &q->stack.spec;
    const size_t n_below = q->stack.n_below;
    const bool own = number < spec->n_layer;
    l->fp = own ? q->temps.map[number].floorplan : NULL;
    l->unit_k = q->grid ? NULL : q->temps.block_k + q->temps.first[number];
    l->fp = q->grid ? l->fp : q->temps.map[number].floorplan;
    l->width_m = tmx_thermal_spec_width_m(spec);
    l->height_m = tmx_thermal_spec_height_m(spec);
    snprintf(l->name, sizeof l->name, "%s",
             !own                                            ? (number == spec->n_layer ? "spreader" : "sink")
             : number < n_below                              ? below[number < 5 ? number : 4]
             : q->stack.from_layer_file || number == n_below ? tmx_plot_stem(l->fp->source, NULL, stem)
                                                             : "interface");
}

/* Left edge of a column of cells [m]. */
static double column_m(const struct map *q, const struct layer *l, size_t c)
{
    const double *line = q->packaged ? q->stack.spec.col_line_m : NULL;
    return line ? line[c] : l->width_m * (double)c / (double)q->cols;
}

static double row_m(const struct map *q, const struct layer *l,
                    size_t r) /* lower edge; row 0 is the upper one */
{
    return l->height_m * (double)(q->rows - 1 - r) / (double)q->rows;
}

/* The hottest of the cells whose middle is in the block, and the one at its middle; a block smaller than a
 * cell has that one alone. */
static void cells_of(const struct map *q, const struct layer *l, const struct tmx_unit *u, double *hottest_k,
                     double *middle_k)
{
    double nearest = INFINITY;
    *hottest_k = 0;
    for (size_t i = 0; i < q->n_cell; i++) {
        const size_t r = i / q->cols, c = i % q->cols;
        const double x_m = 0.5 * (column_m(q, l, c) + column_m(q, l, c + 1)),
                     y_m = row_m(q, l, r) + 0.5 * l->height_m / (double)q->rows,
                     far = hypot(x_m - u->x_m - 0.5 * u->w_m, y_m - u->y_m - 0.5 * u->h_m);
        if (x_m >= u->x_m && x_m <= u->x_m + u->w_m && y_m >= u->y_m && y_m <= u->y_m + u->h_m) {
            *hottest_k = fmax(*hottest_k, l->cell_k[i]);
        }
        *middle_k = far < nearest ? l->cell_k[i] : *middle_k;
        nearest = fmin(nearest, far);
    }
    *hottest_k = *hottest_k > 0 ? *hottest_k : *middle_k;
}

static void put_cells(const struct map *q, const struct layer *l, const char *name)
{
    const double high_m = l->height_m / (double)q->rows;
    struct tmx_table *t = tmx_table_of("x_mm:4 y_mm:4 temp_c:3 left_mm:4 right_mm:4 bottom_mm:4 top_mm:4");
    for (size_t i = 0; i < q->n_cell; i++) {
        const double left_m = column_m(q, l, i % q->cols), right_m = column_m(q, l, i % q->cols + 1),
                     low_m = row_m(q, l, i / q->cols);
        tmx_table_row(t, "%g %g %g %g %g %g %g", 0.5e3 * (left_m + right_m), 1e3 * (low_m + 0.5 * high_m),
                      l->cell_k[i] - TMX_ZERO_C, 1e3 * left_m, 1e3 * right_m, 1e3 * low_m,
                      1e3 * (low_m + high_m));
    }
    tmx_plot_data(q->p, name, "_cells", t);
}

static void draw_layer(const struct map *q, size_t number, const char *name, const double range_c[2])
{
    struct layer l;
    struct tmx_table *t = tmx_table_of(TMX_OUTLINE_COLUMNS " temp_c:3 middle_c:3");
    const char *hottest = NULL;
    double hottest_k = 0;
    char title[400];
    find_layer(q, number, &l);
    for (size_t u = 0; l.fp && u < l.fp->n_unit; u++) {
        const struct tmx_unit *unit = &l.fp->unit[u];
        double k = l.cell_k ? 0 : l.unit_k[u], middle_k = k;
        if (l.cell_k) {
            cells_of(q, &l, unit, &k, &middle_k);
        }
        hottest = k > hottest_k ? unit->name : hottest;
        hottest_k = fmax(hottest_k, k);
        tmx_plot_outline(t, unit, 0, 0);
        tmx_table_row(t, "%g %g", k - TMX_ZERO_C, middle_k - TMX_ZERO_C);
    }
    for (size_t i = 0; l.cell_k && !l.fp && i < q->n_cell; i++) {
        hottest_k = fmax(hottest_k, l.cell_k[i]);
    }
    if (!l.fp) { /* gnuplot wants a row */
        tmx_table_row(t, "%s %g %g %g %g %g %g", "", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    }
    if (l.cell_k) {
        tmx_plot_numbers(q->p, "cells uneven",
                         (double[]){(double)q->n_cell, q->packaged && q->stack.spec.col_line_m});
        put_cells(q, &l, name);
    }
    snprintf(title, sizeof title, "%s, layer %zu (%s): hottest%s%s, %.1f °C", tmx_text_behind(q->file, '/'),
             number, l.name, hottest ? " is " : "", hottest ? hottest : "", hottest_k - TMX_ZERO_C);
    tmx_plot_label(q->p, "title", title);
    tmx_plot_numbers(q->p, "width_mm height_mm n_gpu n_column n_row pitch_x pitch_y low_c high_c",
                     (double[]){1e3 * l.width_m, 1e3 * l.height_m, 1, 1, 1, 1.06e3 * l.width_m,
                                1.14e3 * l.height_m, range_c[0], range_c[1]});
    tmx_plot_draw(q->p, "heatmap", name, t);
}

/* Least and most of a layer into range_c. */
static void widen(const struct map *q, size_t number, double range_c[2])
{
    struct layer l;
    find_layer(q, number, &l);
    const double *k = l.cell_k ? l.cell_k : l.unit_k;
    const size_t n = l.cell_k ? q->n_cell : l.fp->n_unit;
    for (size_t i = 0; i < n; i++) {
        range_c[0] = fmin(range_c[0], floor(k[i] - TMX_ZERO_C)); /* NAN: none, an error later */
        range_c[1] = fmax(range_c[1], ceil(k[i] - TMX_ZERO_C + 1e-9));
    }
}

static void draw_layers(const struct map *q)
{
    const struct tmx_thermal_map *m = q->m;
    const size_t n = !m->all ? 1 : q->packaged ? q->temps.n_layer : q->n_layer ? q->n_layer : 1;
    const size_t first = m->all || m->layer < 0 ? 0 : (size_t)m->layer;
    const double none[2] = {INFINITY, -INFINITY};
    double range_c[2] = {INFINITY, -INFINITY};
    tmx_plot_folder(q->p);
    for (size_t i = 0; i < n; i++) {
        widen(q, first + i, range_c);
    }
    for (size_t i = 0; i < n; i++) {
        char name[MAX_NAME] = "map";
        if (m->all) {
            snprintf(name, sizeof name, "map_layer%zu", first + i);
        }
        if (m->own_scale) {
            memcpy(range_c, none, sizeof none);
            widen(q, first + i, range_c);
        }
        draw_layer(q, first + i, name,
                   m->low_c < m->high_c ? (const double[]){m->low_c, m->high_c} : range_c);
    }
}

/* ---- curves of a trace ---- */

static int hotter_first(const void *a, const void *b)
{
    const double *x = *(const double *const *)a, *y = *(const double *const *)b;
    return (*x < *y) - (*x > *y);
}

/* Each block over time; of many the hottest, and a band of all. */
static void draw_curves(struct map *q)
{
    struct tmx_plot *p = q->p;
    struct tmx_trace t = {0};
    double *peak_c, **by_peak, step_s = NAN;
    if (!tmx_trace_read(q->file, &t, p->err) && q->m->config) {
        tmx_hotspot_config_init(&q->cfg);
        (void)!tmx_hotspot_config_read(&q->cfg, q->m->config, TMX_HOTSPOT_CONFIG, p->err);
        step_s = q->cfg.sampling_intvl;
    }
    const size_t n = p->err->code ? 0 : t.n_column, shown = n < MOST_CURVES ? n : MOST_CURVES;
    TMX_TAKE(&q->arena, peak_c, n + 1);
    TMX_TAKE(&q->arena, by_peak, n + 1);
    tmx_arena_check(&q->arena, p->err);
    if (p->err->code) {
        tmx_trace_finish(&t);
        return;
    }
    for (size_t i = 0; i < n * t.n_row; i++) {
        t.value[i] -= TMX_ZERO_C;
    }
    for (size_t c = 0; c < n; c++) {
        peak_c[c] = -INFINITY;
        by_peak[c] = &peak_c[c];
        for (size_t r = 0; r < t.n_row; r++) {
            peak_c[c] = fmax(peak_c[c], t.value[r * n + c]);
        }
    }
    qsort(by_peak, n, sizeof *by_peak, hotter_first);
    struct tmx_table *table =
        tmx_table_of(isnan(step_s) ? "row:6 coolest_c:3 hottest_c:3" : "time_s:6 coolest_c:3 hottest_c:3");
    for (size_t i = 0; i < shown; i++) {
        tmx_table_extend(table, t.name[by_peak[i] - peak_c], TMX_COLUMN_REAL, 3);
        tmx_plot_label(p, "name", t.name[by_peak[i] - peak_c]);
    }
    for (size_t r = 0; r < t.n_row; r++) {
        double low_c = INFINITY, high_c = -INFINITY;
        for (size_t c = 0; c < n; c++) {
            low_c = fmin(low_c, t.value[r * n + c]);
            high_c = fmax(high_c, t.value[r * n + c]);
        }
        tmx_table_row(table, "%g %g %g", isnan(step_s) ? (double)(r + 1) : (double)(r + 1) * step_s, low_c,
                      high_c);
        for (size_t i = 0; i < shown; i++) {
            tmx_table_real(table, t.value[r * n + (size_t)(by_peak[i] - peak_c)]);
        }
    }
    char title[200];
    snprintf(title, sizeof title, shown < n ? "%s: its %zu hottest blocks of %zu" : "%s",
             tmx_text_behind(q->file, '/'), shown, n);
    tmx_plot_words(p, title, isnan(step_s) ? "row (-c FILE gives the interval)" : "time (s)",
                   "temperature (°C)");
    tmx_plot_number(p, "band", shown < n);
    tmx_plot_folder(p);
    tmx_plot_draw(p, "curves", "curves", table);
    tmx_trace_finish(&t);
}

/* What is to be known of file and place before a map is drawn. */
static void open_map(struct map *q, bool trace)
{
    const struct tmx_thermal_map *m = q->m;
    struct tmx_text_file text = {0};
    struct tmx_lines lines = {0};
    if (!trace && !tmx_text_load(&text, q->file, &q->err) && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, key; /* blocks are the other kind */
        q->grid = tmx_span_field(&rest, &key) && tmx_span_is(key, "Layer");
    }
    tmx_text_finish(&text);
    if (!m->floorplan && !m->config) {
        tmx_error(&q->err, TMX_ECONFIG,
                  "%s: a map of temperatures needs to know where they are: give the package that "
                  "computed them, -c FILE, or its floorplan, --flp FILE",
                  q->file);
    }
    if (!q->err.code && q->grid) {
        read_grid(q);
    }
    if (!q->err.code) {
        m->config ? open_package(q) : open_floorplan(q);
    }
    if (trace && m->config) {
        tmx_error(&q->err, TMX_ECONFIG, "%s: -c draws its curves, --flp alone the map of its hottest row",
                  q->file);
    }
    if (!q->err.code && !q->grid && m->config) {
        (void)!tmx_temps_read(q->file, &q->temps, &q->err);
    } else if (!q->err.code && !q->grid) {
        trace ? read_hottest(q) : read_blocks(q);
        for (size_t u = 0; !q->err.code && u < q->flp.n_unit; u++) {
            if (isnan(q->unit_k[u])) {
                tmx_error_at(&q->err, TMX_ECONFIG, q->flp.source, q->flp.unit[u].line,
                             "no temperature of block %s in %s; blocks of another layer: --layer N",
                             q->flp.unit[u].name, q->file);
            }
        }
    }
    if (!q->err.code && (m->config || q->grid)) {
        fit(q);
    }
}

enum tmx_status tmx_plot_thermal(struct tmx_plot *p, const char *file, const struct tmx_thermal_map *m)
{
    struct map q = {.p = p, .m = m, .file = file, .outline_m = {NAN, NAN}};
    const bool trace = tmx_text_ends(file, ".ttrace");
    if (trace && !m->floorplan) {
        draw_curves(&q);
    } else {
        open_map(&q, trace);
        tmx_error_give(p->err, &q.err);
    }
    if (!p->err->code && !(trace && !m->floorplan)) {
        draw_layers(&q);
    }
    tmx_floorplan_finish(&q.flp);
    tmx_temps_finish(&q.temps);
    tmx_stack_finish(&q.stack);
    tmx_arena_finish(&q.arena);
    return p->err->code;
}
