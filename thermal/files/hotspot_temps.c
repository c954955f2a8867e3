/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_temps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { N_PACKAGE = 12, SPREADER_NODES = 4, MAX_NAME = 600 };
_Static_assert((int)TMX_TEMPS_PACKAGE == (int)N_PACKAGE + 16, "a board has 16 nodes");

static const double MIN_K = 200, MAX_K = 5000; /* colder is degrees C, hotter is no chip */

enum tmx_status tmx_temps_init(struct tmx_temps *t, const struct tmx_stack *stack, struct tmx_err *err)
{
    const struct tmx_thermal_spec *spec = &stack->spec;
    const size_t n_layer = spec->n_layer + 2;
    *t = (struct tmx_temps){.stack = stack,
                            .n_layer = n_layer,
                            .n_cell = spec->rows * spec->cols,
                            .n_package = spec->board ? TMX_TEMPS_PACKAGE : N_PACKAGE};
    TMX_TAKE(&t->arena, t->map, n_layer);
    TMX_TAKE(&t->arena, t->first, n_layer + 1);
    const enum tmx_status st = t->arena.failed ? TMX_OK : tmx_gridmap_layers(t->map, spec, err);
    if (st) {
        return st;
    }
    for (size_t l = 0; l < n_layer && !t->arena.failed; l++) {
        t->first[l + 1] = t->first[l] + t->map[l].n_unit;
    }
    TMX_TAKE(&t->arena, t->block_k, t->first ? t->first[n_layer] : 0);
    for (size_t i = 0; t->block_k && i < t->first[n_layer]; i++) {
        t->block_k[i] = spec->init_k;
    }
    for (size_t i = 0; i < t->n_package; i++) {
        t->package_k[i] = spec->init_k;
    }
    return t->arena.failed ? tmx_fail(err, TMX_ENOMEM, "temperatures of %zu layers", n_layer) : TMX_OK;
}

void tmx_temps_finish(struct tmx_temps *t)
{
    for (size_t l = 0; t->map && l < t->n_layer; l++) {
        tmx_gridmap_finish(&t->map[l]);
    }
    tmx_arena_finish(&t->arena);
    *t = (struct tmx_temps){0};
}

size_t tmx_temps_nodes(const struct tmx_temps *t)
{
    return t->n_layer * t->n_cell + t->n_package;
}

void tmx_temps_from_nodes(struct tmx_temps *t, const double *node_k)
{
    for (size_t l = 0; l < t->n_layer; l++) {
        tmx_gridmap_read(&t->map[l], t->stack->spec.map_mode, node_k + l * t->n_cell,
                         t->block_k + t->first[l]);
    }
    memcpy(t->package_k, node_k + t->n_layer * t->n_cell, t->n_package * sizeof *t->package_k);
}

/* What stands before the block names of a layer. */
static void prefix(const struct tmx_temps *t, size_t layer, char buf[32])
{
    static const char *const below[] = {"pcb_", "solder_", "sub_", "c4_", "metal_"};
    const size_t n_die = t->n_layer - 2, n_below = t->stack->n_below;
    snprintf(buf, 32, "layer_%zu_", layer);
    if (layer < n_below || layer >= n_die || !t->stack->from_layer_file) {
        snprintf(buf, 32, "%s",
                 layer < n_below    ? below[layer]
                 : layer == n_die   ? "hsp_"
                 : layer > n_die    ? "hsink_"
                 : layer == n_below ? ""
                                    : "iface_");
    }
}

/* ---- reading ---- */

#define FAIL(...) tmx_error_at(err, TMX_EPARSE, text.name, lines.number, __VA_ARGS__)

enum tmx_status tmx_temps_read(const char *path, struct tmx_temps *t, struct tmx_err *given_err)
{
    struct tmx_err own = {0}, *err = &own;
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    const size_t n_block = t->first[t->n_layer];
    if (tmx_text_load(&text, path, err)) {
        return tmx_error_give(given_err, &own);
    }
    bool *given = calloc(n_block + 1, sizeof *given);
    if (!given) {
        tmx_error(err, TMX_ENOMEM, "reading %s", path);
    }
    /* lines with a name and a temperature: blocks of a layer in any order, then the package */
    for (size_t l = 0, n = 0; n < n_block + t->n_package && !own.code; n++) {
        char before[32], name[MAX_NAME] = "", want[MAX_NAME];
        double temp_k = 0;
        struct tmx_span field, value, more;
        while (n < n_block && n == t->first[l + 1]) {
            l++;
        }
        const struct tmx_floorplan *fp = t->map[l].floorplan;
        if (n < n_block) {
            prefix(t, l, before);
            snprintf(want, sizeof want, "%s%s", before, fp->unit[n - t->first[l]].name);
        } else {
            snprintf(want, sizeof want, "inode_%zu", n - n_block);
        }
        if (!tmx_lines_next_filled(&lines, &text)) {
            FAIL("the file ends before \"%s\"", want);
        }
        struct tmx_span rest = lines.line;
        if (!tmx_span_field(&rest, &field) || !tmx_span_field(&rest, &value) ||
            tmx_span_field(&rest, &more)) {
            FAIL("expected a name and a temperature");
            break;
        }
        if (!tmx_span_copy(field, name, MAX_NAME)) {
            FAIL("name longer than %d characters", MAX_NAME - 1);
        }
        if (!tmx_span_real(value, &temp_k)) {
            FAIL("temperature of \"%s\": \"%.*s\" %s", name, TMX_SPAN_ARG(value), tmx_span_real_fault(value));
        } else if (temp_k < MIN_K || temp_k > MAX_K) {
            FAIL("temperature of \"%s\" = %g K is outside [%g, %g]%s", name, temp_k, MIN_K, MAX_K,
                 temp_k < MIN_K && temp_k > -100 ? "; is it in degrees Celsius?" : "");
        }
        if (n >= n_block) {
            if (tmx_word_compare(name, want) != 0) {
                FAIL("\"%s\": expected \"%s\"", name, want);
            }
            t->package_k[n - n_block] = temp_k;
            continue;
        }
        const size_t length = strlen(name), skip = strlen(before);
        const struct tmx_span head = {name, name + (length < skip ? length : skip)};
        const size_t unit = tmx_span_is(head, before) ? tmx_floorplan_find(fp, name + skip) : fp->n_unit,
                     block = t->first[l] + unit;
        if (unit == fp->n_unit) {
            FAIL("\"%s\" is no block of this layer (expected %s... of %s)", name, before, fp->source);
        } else if (given[block]) {
            FAIL("\"%s\" given twice", name);
        } else {
            given[block] = true;
            t->block_k[block] = temp_k;
        }
    }
    if (!own.code && tmx_lines_next_filled(&lines, &text)) {
        FAIL("text after the last node, inode_%zu", t->n_package - 1);
    }
    tmx_text_locate(own.code, &text, "", "temperatures of HotSpot, a block and its kelvins a line", err);
    tmx_text_finish(&text);
    free(given);
    return tmx_error_give(given_err, &own);
}

/* ---- writing ---- */

void tmx_temps_print(const struct tmx_temps *t, int decimals, FILE *out)
{
    char before[32];
    for (size_t l = 0; l < t->n_layer; l++) {
        const struct tmx_floorplan *fp = t->map[l].floorplan;
        prefix(t, l, before);
        for (size_t i = 0; i < fp->n_unit; i++) {
            fprintf(out, "%s%s\t", before, fp->unit[i].name);
            tmx_trace_print_row(&t->block_k[t->first[l] + i], 1, decimals, out);
        }
    }
    for (size_t i = 0; i < t->n_package; i++) {
        fprintf(out, "inode_%zu\t", i);
        tmx_trace_print_row(&t->package_k[i], 1, decimals, out);
    }
}

void tmx_temps_print_grids(const struct tmx_temps *t, const double *node_k, int decimals, FILE *out)
{
    const struct tmx_thermal_spec *spec = &t->stack->spec;
    bool filled = false; /* HotSpot's stacks are not, and its readers know no comments */
    for (size_t l = 0; l < spec->n_layer; l++) {
        filled = filled || spec->layer[l].filler_k_w_per_mk > 0;
    }
    if (filled) {
        fprintf(out, "# outline %.9g %.9g\n", tmx_thermal_spec_width_m(spec),
                tmx_thermal_spec_height_m(spec));
    }
    for (size_t l = 0; l < t->n_layer; l++) {
        fprintf(out, "Layer %zu:\n", l);
        for (size_t cell = 0; cell < t->n_cell; cell++) {
            fprintf(out, "%zu\t", cell);
            tmx_trace_print_row(&node_k[l * t->n_cell + cell], 1, decimals, out);
        }
    }
}

static void print_axis(char axis, double end_m, size_t n, FILE *out)
{
    fprintf(out, "%c_COORDINATES %zu double\n", axis, n + 1);
    for (size_t i = 0; i <= n; i++) {
        fprintf(out, "%.9g%c", end_m * (double)i / (double)n, i < n ? ' ' : '\n');
    }
}

void tmx_temps_print_vtk(const struct tmx_temps *t, const double *node_k, FILE *out)
{
    const struct tmx_thermal_spec *s = &t->stack->spec;
    double z_m = 0;
    fprintf(
        out,
        "# vtk DataFile Version 3.0\nthermix: steady temperatures of the layers, spreader and sink\nASCII\n"
        "DATASET RECTILINEAR_GRID\nDIMENSIONS %zu %zu %zu\n",
        s->cols + 1, s->rows + 1, t->n_layer + 1);
    print_axis('X', tmx_thermal_spec_width_m(s), s->cols, out);
    print_axis('Y', tmx_thermal_spec_height_m(s), s->rows, out);
    fprintf(out, "Z_COORDINATES %zu double\n0", t->n_layer + 1);
    for (size_t l = 0; l < t->n_layer; l++) {
        z_m += l < s->n_layer       ? s->layer[l].thickness_m
               : l + 1 < t->n_layer ? s->package.t_spreader_m
                                    : s->package.t_sink_m;
        fprintf(out, " %.9g", z_m);
    }
    fprintf(out, "\nCELL_DATA %zu\nSCALARS temp_k double 1\nLOOKUP_TABLE default\n", t->n_layer * t->n_cell);
    for (size_t l = 0; l < t->n_layer; l++) {
        for (size_t row = s->rows; row-- > 0;) { /* row 0 is the north */
            tmx_trace_print_row(&node_k[l * t->n_cell + row * s->cols], s->cols, 6, out);
        }
    }
    fprintf(out, "SCALARS layer int 1\nLOOKUP_TABLE default\n");
    for (size_t i = 0; i < t->n_layer * t->n_cell; i++) {
        fprintf(out, "%zu\n", i / t->n_cell);
    }
}

/* ---- arithmetic ---- */

void tmx_temps_limit(struct tmx_temps *t, bool as_hotspot, double threshold_k)
{
    const double ambient_k = t->stack->spec.ambient_k;
    double hottest = -INFINITY;
    const size_t below = t->stack->n_below, n_unit = t->first[below + 1] - t->first[below];
    const double *block_k =
        t->block_k + (as_hotspot ? 0 : t->first[below]); /* HotSpot counts from the board */
    for (size_t i = 0; i < n_unit; i++) {
        hottest = fmax(hottest, block_k[i]);
    }
    if (hottest <= threshold_k || hottest <= ambient_k) {
        return;
    }
    const double scale = (threshold_k - ambient_k) / (hottest - ambient_k);
    for (size_t i = 0; i < t->first[t->n_layer]; i++) {
        t->block_k[i] = ambient_k + scale * (t->block_k[i] - ambient_k);
    }
    for (size_t i = 0; i < t->n_package; i++) {
        t->package_k[i] = ambient_k + scale * (t->package_k[i] - ambient_k);
    }
}

enum tmx_status tmx_temps_start(struct tmx_temps *t, const struct tmx_hotspot_config *cfg, bool as_hotspot,
                                double **node_k, struct tmx_err *err)
{
    const bool file = cfg->init_file[0];
    const size_t n = tmx_temps_nodes(t), n_cells = t->n_layer * t->n_cell;
    enum tmx_status st = TMX_OK;
    *node_k = NULL;
    if (!file && !as_hotspot) {
        return TMX_OK;
    }
    if (file) {
        st = tmx_hotspot_config_locate(cfg, "init_file", tmx_temps_read(cfg->init_file, t, err), err);
    }
    if (!st && file && cfg->dtm_used) {
        tmx_temps_limit(t, as_hotspot, cfg->thermal_threshold);
    }
    double *start_k = st ? NULL : malloc(n * sizeof *start_k);
    st = st || start_k ? st : tmx_fail(err, TMX_ENOMEM, "start field");
    for (size_t l = 0; l < t->n_layer && !st; l++) { /* as_hotspot: cells covered in part are too cold */
        st = tmx_gridmap_fill(&t->map[l], t->block_k + t->first[l], as_hotspot, start_k + l * t->n_cell, err);
    }
    if (!st) {
        memcpy(start_k + n_cells, t->package_k, t->n_package * sizeof *t->package_k);
    }
    bool uniform = !file;
    for (size_t i = 0; !st && uniform && i < n; i++) {
        uniform = fabs(start_k[i] - cfg->init_temp) < 1e-9 * cfg->init_temp;
    }
    if (st || uniform) {
        free(start_k);
        return st;
    }
    *node_k = start_k;
    return TMX_OK;
}

double tmx_temps_sink_mean_k(const struct tmx_temps *t, const double *node_k)
{
    const struct tmx_package *p = &t->stack->spec.package;
    const double W = tmx_thermal_spec_width_m(&t->stack->spec),
                 H = tmx_thermal_spec_height_m(&t->stack->spec);
    const double s = p->s_spreader_m, S = p->s_sink_m;
    const double A_x = (s + H) * (s - W) / 4, A_y = (s + W) * (s - H) / 4, A_o = (S * S - s * s) / 4;
    const double *cell = node_k + (t->n_layer - 1) * t->n_cell, *node = node_k + t->n_layer * t->n_cell;
    double sum = 0;
    for (size_t i = 0; i < t->n_cell; i++) {
        sum += cell[i];
    }
    sum *= W * H / (double)t->n_cell;
    for (size_t i = SPREADER_NODES; i < N_PACKAGE; i++) { /* inner W,E then N,S; outer */
        const double area = i >= 8 ? A_o : i < 6 ? A_x : A_y;
        sum += area * node[i];
    }
    return sum / (S * S);
}
