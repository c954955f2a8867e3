/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/plausible.h"
#include "core/base/text.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/hotspot_lcf.h"
#include "thermal/files/hotspot_materials.h"

static const double SHOWN_PERCENT = 1e-7;      /* less is the round-off of decimal files */
static const double EXTENT_TOLERANCE_M = 1e-6; /* HotSpot's, for layers of one stack */

struct build {
    const struct tmx_hotspot_config *cfg;
    const struct tmx_stack_options *options;
    const struct tmx_log *log;
    struct tmx_materials materials;
    struct tmx_stack *s;
    struct tmx_err *err;
};

static enum tmx_status read_materials(const struct tmx_hotspot_config *cfg, struct tmx_materials *m,
                                      struct tmx_err *err)
{
    *m = (struct tmx_materials){0};
    const enum tmx_status st =
        cfg->materials_file[0] ? tmx_materials_read(cfg->materials_file, m, err) : TMX_OK;
    return tmx_hotspot_config_blame(cfg, "materials_file", st, err);
}

/* k and p of one part: the material wins over the numbers, as in HotSpot. */
static enum tmx_status apply_material(const struct tmx_hotspot_config *cfg, const struct tmx_materials *m,
                                      const char *key, const char *name, double *k, double *p,
                                      struct tmx_err *err)
{
    if (!name[0]) {
        return TMX_OK;
    }
    const char *const numbers[] = {"k_", "p_"};
    for (size_t i = 0; i < 2; i++) {
        char number[64];
        snprintf(number, sizeof number, "%s%s", numbers[i], strchr(key, '_') + 1);
        if (tmx_hotspot_config_given(cfg, number) && tmx_hotspot_config_closer(cfg, number, key) == number) {
            return tmx_hotspot_config_fail(cfg, number, err, "%s does nothing: %s = %s, which comes first",
                                           number, key, name);
        }
    }
    const struct tmx_material *found = tmx_materials_find(m, name);
    if (!found) {
        const char *near = tmx_materials_nearest(m, name);
        return tmx_hotspot_config_fail(cfg, key, err, "%s: unknown material \"%s\"%s%s%s", key, name,
                                       near ? ", did you mean \"" : "",
                                       near                     ? near
                                       : cfg->materials_file[0] ? ""
                                                                : "; no materials file is given",
                                       near ? "\"?" : "");
    }
    *k = found->k_w_per_mk;
    *p = found->p_j_per_m3k;
    return tmx_materials_check(m, found, err);
}

/* equal: spreader and sink may be of one size, as the physical network has it. */
static enum tmx_status make_package(const struct tmx_hotspot_config *cfg, const struct tmx_materials *m,
                                    bool equal, struct tmx_package *package, struct tmx_err *err)
{
    *package = (struct tmx_package){
        .s_spreader_m = cfg->s_spreader,
        .t_spreader_m = cfg->t_spreader,
        .k_spreader = cfg->k_spreader,
        .p_spreader = cfg->p_spreader,
        .s_sink_m = cfg->s_sink,
        .t_sink_m = cfg->t_sink,
        .k_sink = cfg->k_sink,
        .p_sink = cfg->p_sink,
        .r_convec_k_per_w = cfg->r_convec,
        .c_convec_j_per_k = cfg->c_convec,
    };
    enum tmx_status st = apply_material(cfg, m, "material_spreader", cfg->material_spreader,
                                        &package->k_spreader, &package->p_spreader, err);
    st = st ? st
            : apply_material(cfg, m, "material_sink", cfg->material_sink, &package->k_sink, &package->p_sink,
                             err);
    if (!st && (equal ? cfg->s_spreader > cfg->s_sink : cfg->s_spreader >= cfg->s_sink)) {
        st = tmx_hotspot_config_fail(
            cfg, tmx_hotspot_config_closer(cfg, "s_spreader", "s_sink"), err,
            "the spreader (s_spreader = %g m) must be smaller than the sink "
            "(s_sink = %g m)%s",
            cfg->s_spreader, cfg->s_sink,
            cfg->s_spreader == cfg->s_sink && !equal ? "; with --network physical they may be equal" : "");
    }
    return st;
}

static enum tmx_status stack_package(const struct tmx_hotspot_config *cfg, struct tmx_package *package,
                                     struct tmx_err *err)
{
    struct tmx_materials m;
    enum tmx_status st = read_materials(cfg, &m, err);
    st = st ? st : make_package(cfg, &m, false, package, err);
    tmx_materials_finish(&m);
    return st;
}

enum tmx_status tmx_package_read(const char *path, struct tmx_package *package, struct tmx_err *err)
{
    struct tmx_hotspot_config cfg;
    tmx_hotspot_config_init(&cfg);
    const enum tmx_status st = tmx_hotspot_config_read(&cfg, path, TMX_HOTSPOT_CONFIG, err);
    return st ? st : stack_package(&cfg, package, err);
}

/* ---- layers ---- */

/* filled: gaps are as they should be. */
static enum tmx_status check_floorplan(struct build *b, const struct tmx_floorplan *fp, bool filled)
{
    struct tmx_tiling t;
    enum tmx_status st =
        tmx_floorplan_check_loose(fp, b->options->allow_gaps || filled, b->options->overlap_m, b->err);
    st = st ? st : tmx_floorplan_tiling(fp, &t, b->err);
    if (st) {
        return st;
    }
    const double gap = 100 * t.gap_m2 / t.die_m2, overlap = 100 * t.overlap_m2 / t.die_m2;
    if ((gap > SHOWN_PERCENT && !filled) || overlap > SHOWN_PERCENT) {
        tmx_log_say(
            b->log, TMX_LOG_INFO, "%s: accepted: %.3g %% of the die uncovered, %.3g %% covered twice%s",
            fp->source, gap, overlap > SHOWN_PERCENT ? overlap : 0,
            b->options->allow_gaps || b->options->overlap_m > 0 ? ""
                                                                : " (gaps and overlaps within rounding)");
    }
    return TMX_OK;
}

static enum tmx_status alloc_layers(struct build *b, size_t n_floorplan, size_t n_layer)
{
    b->s->floorplan = calloc(n_floorplan, sizeof *b->s->floorplan);
    b->s->layer = calloc(n_layer, sizeof *b->s->layer);
    if (!b->s->floorplan || !b->s->layer) {
        return tmx_fail(b->err, TMX_ENOMEM, "stack of %zu layers", n_layer);
    }
    b->s->n_floorplan = n_floorplan;
    b->s->spec.layer = b->s->layer;
    b->s->spec.n_layer = n_layer;
    return TMX_OK;
}

/* The default stack: silicon on an interface, both with the die's floorplan. */
static enum tmx_status default_layers(struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const struct tmx_floorplan *given = b->options->floorplan;
    if (!cfg->f[0] && !given) {
        return tmx_fail(b->err, TMX_ECONFIG,
                        "no floorplan: give -f FILE, or -grid_layer_file FILE for a stack");
    }
    enum tmx_status st = alloc_layers(b, 1, 2);
    if (given && !st) {
        memcpy(b->s->floorplan[0].source, given->source, sizeof given->source);
    }
    for (size_t u = 0; given && u < given->n_unit && !st; u++) {
        st = tmx_floorplan_add(&b->s->floorplan[0], &given->unit[u], b->err);
    }
    st = st || given
             ? st
             : tmx_hotspot_config_blame(cfg, "f", tmx_flp_read(cfg->f, &b->s->floorplan[0], b->err), b->err);
    st = st ? st : check_floorplan(b, &b->s->floorplan[0], cfg->k_filler > 0 || cfg->material_filler[0]);
    if (st) {
        return st;
    }
    double k_filler = cfg->k_filler, p_filler = cfg->p_filler;
    double k_chip = cfg->k_chip, p_chip = cfg->p_chip, k_tim = cfg->k_interface, p_tim = cfg->p_interface;
    st = apply_material(cfg, &b->materials, "material_chip", cfg->material_chip, &k_chip, &p_chip, b->err);
    st = st ? st
            : apply_material(cfg, &b->materials, "material_interface", cfg->material_interface, &k_tim,
                             &p_tim, b->err);
    st = st ? st
            : apply_material(cfg, &b->materials, "material_filler", cfg->material_filler, &k_filler,
                             &p_filler, b->err);
    b->s->layer[0] = (struct tmx_layer){.floorplan = &b->s->floorplan[0],
                                        .lateral = true,
                                        .dissipates = true,
                                        .thickness_m = cfg->t_chip,
                                        .k_w_per_mk = k_chip,
                                        .p_j_per_m3k = p_chip,
                                        .filler_k_w_per_mk = k_filler,
                                        .filler_p_j_per_m3k = k_filler > 0 ? p_filler : 0};
    b->s->layer[1] = (struct tmx_layer){.floorplan = &b->s->floorplan[0],
                                        .lateral = true,
                                        .thickness_m = cfg->t_interface,
                                        .k_w_per_mk = k_tim,
                                        .p_j_per_m3k = p_tim};
    return st;
}

/* A layer's floorplan: relative to the current folder, else to the layer file's. */
static void locate(const char *lcf, const char *name, char path[TMX_HOTSPOT_PATH])
{
    const char *slash = strrchr(lcf, '/');
    snprintf(path, TMX_HOTSPOT_PATH, "%s", name);
    if (!tmx_os_exists(path) && name[0] != '/' && slash) {
        char beside[TMX_HOTSPOT_PATH];
        const int n = snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - lcf), lcf, name);
        if (n < TMX_HOTSPOT_PATH && tmx_os_exists(beside)) {
            memcpy(path, beside, sizeof beside);
        }
    }
}

/* Append what lies at a place in a layer. */
static enum tmx_status place_part(struct build *b, const struct tmx_lcf *lcf, const struct tmx_lcf_part *part,
                                  struct tmx_floorplan *fp)
{
    char path[TMX_HOTSPOT_PATH], name[TMX_NAME_SIZE + sizeof part->prefix];
    struct tmx_floorplan own = {0};
    locate(lcf->source, part->floorplan, path);
    enum tmx_status st = tmx_flp_read(path, &own, b->err);
    for (size_t i = 0; i < own.n_unit && !st; i++) {
        struct tmx_unit u = own.unit[i];
        snprintf(name, sizeof name, "%s%s", part->prefix, u.name);
        u.name = name;
        u.x_m += part->x_m;
        u.y_m += part->y_m;
        st = tmx_floorplan_add(fp, &u, b->err);
    }
    if (!fp->source[0]) {
        memcpy(fp->source, own.source, sizeof fp->source);
    }
    tmx_floorplan_finish(&own);
    return st;
}

/* The materials of coolant and walls of cfg. */
static enum tmx_status wet_materials(const struct build *b, struct tmx_material *coolant,
                                     struct tmx_material *wall)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    *coolant = (struct tmx_material){.k_w_per_mk = 1 / cfg->coolant_res,
                                     .p_j_per_m3k = cfg->coolant_capac,
                                     .viscosity_pa_s = cfg->coolant_visc};
    *wall = (struct tmx_material){.k_w_per_mk = 1 / cfg->wall_res, .p_j_per_m3k = cfg->wall_capac};
    const struct {
        const char *key, *name;
        struct tmx_material *to;
    } named[] = {{"coolant_material", cfg->coolant_material, coolant},
                 {"wall_material", cfg->wall_material, wall}};
    for (size_t i = 0; i < 2; i++) {
        const struct tmx_material *found = tmx_materials_find(&b->materials, named[i].name);
        if (!named[i].name[0]) {
            continue;
        }
        if (!found || (i == 0 && !(found->viscosity_pa_s > 0))) {
            return tmx_hotspot_config_fail(cfg, named[i].key, b->err, "%s: %s \"%s\"", named[i].key,
                                           found ? "no fluid with a viscosity:" : "unknown material",
                                           named[i].name);
        }
        *named[i].to = *found;
        const enum tmx_status st = tmx_materials_check(&b->materials, found, b->err);
        if (st) {
            return st;
        }
    }
    return TMX_OK;
}

/* HotSpot's map of micro-channels: a line a row of cells, numbers by commas or blanks: -1 or 0 solid, 1
 * coolant, 2 inlet, 3 outlet. */
static enum tmx_status read_map(struct build *b, const char *path, unsigned char *cell)
{
    const size_t rows = (size_t)b->cfg->grid_rows, cols = (size_t)b->cfg->grid_cols;
    size_t row = 0, n_of[4] = {0};
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    enum tmx_status st = tmx_text_load(&text, path, b->err);
    if (st) {
        return st;
    }
    for (; !st && tmx_lines_next_filled(&lines, &text); row++) {
        size_t col = 0;
        const bool commas = memchr(lines.line.begin, ',', (size_t)(lines.line.end - lines.line.begin));
        for (const char *at = lines.line.begin; at <= lines.line.end && !st;) {
            struct tmx_span word = {at, at};
            double v;
            while (word.end < lines.line.end && !strchr(commas ? "," : " \t\r", *word.end)) {
                word.end++;
            }
            at = word.end + 1;
            while (word.begin < word.end && strchr(" \t\r", *word.begin)) {
                word.begin++;
            }
            while (word.begin < word.end && strchr(" \t\r", word.end[-1])) {
                word.end--;
            }
            if (word.end == word.begin && (!commas || at > lines.line.end)) {
                continue; /* blanks, or a comma at the end */
            }
            if (word.end == word.begin) {
                st = tmx_fail_at(b->err, TMX_EPARSE, path, lines.number, "cell %zu is empty", col + 1);
            } else if (!tmx_span_real(word, &v) || v < -1 || v > 3 || v != floor(v)) {
                st = tmx_fail_at(b->err, TMX_EPARSE, path, lines.number,
                                 "\"%.*s\": expected a cell from -1 to 3", TMX_SPAN_ARG(word));
            } else if (row < rows && col < cols) {
                cell[row * cols + col] = v > 0 ? (unsigned char)v : TMX_CELL_SOLID;
                n_of[cell[row * cols + col]]++;
            }
            col++;
        }
        if (!st && col != cols) {
            st = tmx_fail_at(b->err, TMX_EPARSE, path, lines.number, "%zu cells in a row; grid_cols is %zu",
                             col, cols);
        }
    }
    if (!st && row != rows) {
        st = tmx_fail_at(b->err, TMX_EPARSE, path, lines.number, "%zu rows of cells; grid_rows is %zu", row,
                         rows);
    }
    if (!st && (n_of[TMX_CELL_INLET] == 0 || n_of[TMX_CELL_OUTLET] == 0)) {
        st = tmx_fail_at(b->err, TMX_EPARSE, path, 0, "no %s: nothing flows",
                         n_of[TMX_CELL_INLET] ? "outlet (3)" : "inlet (2)");
    }
    tmx_text_finish(&text);
    return st;
}

/* A layer of HotSpot's micro-channels: every cell is a block with its own material. Its size is that of the
 * layer before or after it, which is read first. */
static enum tmx_status mapped_layer(struct build *b, const struct tmx_lcf *lcf, size_t l)
{
    const struct tmx_lcf_layer *from = &lcf->layer[l];
    const struct tmx_hotspot_config *cfg = b->cfg;
    const size_t rows = (size_t)cfg->grid_rows, cols = (size_t)cfg->grid_cols;
    struct tmx_stack *s = b->s;
    struct tmx_material coolant, wall;
    char path[TMX_HOTSPOT_PATH], other[TMX_HOTSPOT_PATH];
    struct tmx_floorplan size = {0};
    locate(lcf->source, from->part[0].floorplan, path);
    s->channels = s->channels ? s->channels : calloc(lcf->n_layer, sizeof *s->channels);
    s->cells = s->cells ? s->cells : calloc(lcf->n_layer, sizeof *s->cells);
    enum tmx_status st = s->channels && s->cells ? wet_materials(b, &coolant, &wall) : tmx_no_memory(b->err);
    if (!st) {
        s->cells[l] = calloc(rows * cols, 1);
        st = s->cells[l] ? read_map(b, path, s->cells[l]) : tmx_no_memory(b->err);
    }
    for (size_t i = 0; i < lcf->n_layer && !st && size.n_unit == 0; i++) { /* the first that is no map */
        const size_t length = strlen(lcf->layer[i].part[0].floorplan);
        if (length < 5 || tmx_word_compare(lcf->layer[i].part[0].floorplan + length - 4, ".csv") != 0) {
            locate(lcf->source, lcf->layer[i].part[0].floorplan, other);
            st = tmx_flp_read(other, &size, b->err);
        }
    }
    const double w = tmx_floorplan_width_m(&size) / (double)cols,
                 h = tmx_floorplan_height_m(&size) / (double)rows;
    for (size_t c = 0; c < rows * cols && !st; c++) {
        char name[64];
        const struct tmx_material *m = s->cells[l][c] == TMX_CELL_SOLID ? &wall : &coolant;
        snprintf(name, sizeof name, "Cell_%zu_%zu", c / cols, c % cols);
        const struct tmx_unit u = {.name = name,
                                   .x_m = (double)(c % cols) * w,
                                   .y_m = (double)(rows - 1 - c / cols) * h,
                                   .w_m = w,
                                   .h_m = h,
                                   .heat_capacity_j_per_m3k = m->p_j_per_m3k,
                                   .resistivity_mk_per_w = 1 / m->k_w_per_mk};
        st = tmx_floorplan_add(&s->floorplan[l], &u, b->err);
    }
    tmx_floorplan_finish(&size);
    if (st) {
        char layer[32];
        snprintf(layer, sizeof layer, "layer %zu", l);
        return tmx_fail_from(b->err, st, lcf->source, from->line, layer);
    }
    snprintf(s->floorplan[l].source, sizeof s->floorplan[l].source, "%s", path);
    s->channels[l] = (struct tmx_channels){.kind = TMX_CHANNELS_MAPPED,
                                           .inlet_k = cfg->inlet_temperature,
                                           .p_j_per_m3k = coolant.p_j_per_m3k,
                                           .h_top = cfg->htc,
                                           .viscosity_pa_s = coolant.viscosity_pa_s,
                                           .cell = s->cells[l],
                                           .pressure_pa = cfg->pumping_pressure,
                                           .pump_pa_s_per_m3 = cfg->pump_internal_res};
    s->layer[l] = (struct tmx_layer){.floorplan = &s->floorplan[l],
                                     .lateral = from->lateral,
                                     .dissipates = from->dissipates,
                                     .thickness_m = from->thickness_m,
                                     .k_w_per_mk = wall.k_w_per_mk,
                                     .p_j_per_m3k = wall.p_j_per_m3k,
                                     .channels = &s->channels[l]};
    return TMX_OK;
}

static enum tmx_status file_layer(struct build *b, const struct tmx_lcf *lcf, size_t l)
{
    const struct tmx_lcf_layer *from = &lcf->layer[l];
    struct tmx_floorplan *fp = &b->s->floorplan[l];
    const char *file = from->part[0].floorplan;
    const size_t length = strlen(file);
    enum tmx_status st = TMX_OK;
    const bool map = length > 4 && tmx_word_compare(file + length - 4, ".csv") == 0;
    if (map && !b->cfg->use_microchannels && !b->cfg->use_microfluidic_cooling) {
        return tmx_fail_at(b->err, TMX_ECONFIG, lcf->source, from->line,
                           "layer %zu: a map of micro-channels (%s) needs -use_microchannels 1", l, file);
    }
    for (size_t i = 0; i < from->n_part && !map && !st; i++) {
        st = place_part(b, lcf, &from->part[i], fp);
    }
    if (map) {
        return mapped_layer(b, lcf, l);
    }
    st = st ? st : check_floorplan(b, fp, from->filler_k_w_per_mk > 0);
    if (st) {
        char layer[32];
        snprintf(layer, sizeof layer, "layer %zu", l);
        return tmx_fail_from(b->err, st, lcf->source, from->line, layer);
    }
    if (from->falls > 0 && (from->wet || !b->options->falling)) {
        return tmx_fail_at(b->err, TMX_ECONFIG, lcf->source, from->line,
                           "layer %zu: conductivity_falls is %s", l,
                           from->wet ? "not of layers with channels" : "of `thermix thermal` alone");
    }
    b->s->layer[l] = (struct tmx_layer){.floorplan = fp,
                                        .lateral = from->lateral,
                                        .dissipates = from->dissipates,
                                        .thickness_m = from->thickness_m,
                                        .k_w_per_mk = from->k_w_per_mk,
                                        .k_part_x = from->k_part_x,
                                        .k_part_y = from->k_part_y,
                                        .falls = from->falls,
                                        .falls_from_k = from->falls_from_k,
                                        .p_j_per_m3k = from->p_j_per_m3k,
                                        .filler_k_w_per_mk = from->filler_k_w_per_mk,
                                        .filler_p_j_per_m3k = from->filler_p_j_per_m3k};
    return st;
}

/* Channels of layer l: the layer's walls beside them, or columns of cells that are walls and channels by
 * turns. */
static enum tmx_status wet_layer(struct build *b, const struct tmx_lcf *lcf, size_t l)
{
    const struct tmx_lcf_layer *from = &lcf->layer[l];
    const struct tmx_hotspot_config *cfg = b->cfg;
    const double W = tmx_thermal_spec_width_m(&b->s->spec);
    struct tmx_channels *c = &b->s->channels[l];
    *c = from->channels;
    c->flow_m3_per_s = cfg->coolant_flow > 0 ? cfg->coolant_flow : c->flow_m3_per_s;
    c->inlet_k = cfg->coolant_inlet > 0 ? cfg->coolant_inlet : c->inlet_k;
    b->s->layer[l].channels = c;
    if (b->options->network != TMX_NETWORK_PHYSICAL) {
        return tmx_fail_at(b->err, TMX_ECONFIG, lcf->source, from->wet,
                           "layer %zu: channels need --network physical", l);
    }
    if (!tmx_channels_fit(c, W)) {
        return tmx_fail_at(b->err, TMX_EPARSE, lcf->source, from->wet,
                           "layer %zu: no channel or pin of %g mm and its walls fit in a stack %g mm wide", l,
                           1e3 * c->width_m, 1e3 * W);
    }
    const double height_m = from->thickness_m,
                 pump_w = tmx_channels_pump_w(c, W, tmx_thermal_spec_height_m(&b->s->spec), height_m);
    if (pump_w > 0) {
        tmx_log_say(b->log, TMX_LOG_INFO,
                    "layer %zu: %zu channels, %.4g m3/s, pressure drop %.4g kPa, pumping power %.4g W", l,
                    tmx_channels_count(c, W), c->flow_m3_per_s, 1e-3 * pump_w / c->flow_m3_per_s, pump_w);
    }
    if (c->kind != TMX_CHANNELS_RESOLVED) {
        return TMX_OK;
    }
    const size_t n = tmx_channels_count(c, W), n_col = 2 * n + 1;
    const double pitch = c->width_m + c->wall_m,
                 whole = c->first_m + (double)n * pitch - c->wall_m + c->last_m;
    if (fabs(whole - W) > EXTENT_TOLERANCE_M) {
        return tmx_fail_at(b->err, TMX_EPARSE, lcf->source, from->wet,
                           "layer %zu: %zu channels with their walls are %g mm wide, the stack %g mm", l, n,
                           1e3 * whole, 1e3 * W);
    }
    if (tmx_hotspot_config_given(cfg, "grid_cols") && (size_t)cfg->grid_cols != n_col) {
        return tmx_hotspot_config_fail(
            cfg, "grid_cols", b->err,
            "grid_cols = %d: resolved channels make %zu columns; leave grid_cols out", cfg->grid_cols, n_col);
    }
    double *line = calloc(n_col + 1, sizeof *line);
    if (!line) {
        return tmx_no_memory(b->err);
    }
    for (size_t j = 1; j < n_col; j++) {
        line[j] = W / whole * (c->first_m + (double)(j / 2) * pitch - (j % 2 ? 0 : c->wall_m));
    }
    line[n_col] = W;
    const bool differs =
        b->s->col_line_m &&
        (b->s->spec.cols != n_col || memcmp(line, b->s->col_line_m, (n_col + 1) * sizeof *line) != 0);
    free(b->s->col_line_m);
    b->s->col_line_m = line;
    b->s->spec.col_line_m = line;
    b->s->spec.cols = n_col;
    return differs
               ? tmx_fail_at(b->err, TMX_EPARSE, lcf->source, from->wet,
                             "layer %zu: resolved channels must lie where those of the other layers do", l)
               : TMX_OK;
}

/* Layers without a filler have one size, and to the very last digit; what lies in the others fits into it. */
static enum tmx_status fit_layer(struct build *b, const struct tmx_lcf *lcf, size_t l)
{
    const struct tmx_lcf_layer *from = &lcf->layer[l];
    struct tmx_floorplan *fp = &b->s->floorplan[l];
    const double W = tmx_thermal_spec_width_m(&b->s->spec), H = tmx_thermal_spec_height_m(&b->s->spec);
    const double w = tmx_floorplan_width_m(fp), h = tmx_floorplan_height_m(fp);
    const bool filled = from->filler_k_w_per_mk > 0;
    const bool beyond = w - W > EXTENT_TOLERANCE_M || h - H > EXTENT_TOLERANCE_M,
               smaller = W - w > EXTENT_TOLERANCE_M || H - h > EXTENT_TOLERANCE_M;
    if (filled && beyond) {
        return tmx_fail_at(b->err, TMX_EPARSE, lcf->source, from->line,
                           "layer %zu: its floorplans reach to %g x %g mm, the stack is %g x %g mm", l,
                           1e3 * w, 1e3 * h, 1e3 * W, 1e3 * H);
    }
    if (filled && smaller && !from->at && from->n_part == 1) {
        return tmx_fail_at(
            b->err, TMX_EPARSE, lcf->source, from->line,
            "layer %zu (%s) is %g x %g mm in a stack of %g x %g mm: a line \"at X Y\" must give "
            "its place",
            l, fp->source, 1e3 * w, 1e3 * h, 1e3 * W, 1e3 * H);
    }
    if (!filled && (beyond || smaller)) {
        size_t first = 0;
        while (lcf->layer[first].filler_k_w_per_mk > 0) {
            first++;
        }
        return tmx_fail_at(
            b->err, TMX_EPARSE, lcf->source, from->line,
            "layer %zu (%s) is %g x %g mm, layer %zu (%s) is %g x %g mm; all layers need one size, or "
            "a place and a filler (docs/formats.md)",
            l, fp->source, 1e3 * w, 1e3 * h, first, b->s->floorplan[first].source, 1e3 * W, 1e3 * H);
    }
    for (size_t i = 0; i < fp->n_unit && !filled; i++) { /* below the tolerance: to the very same size */
        struct tmx_unit *u = &fp->unit[i];
        u->x_m *= W / w;
        u->w_m *= W / w;
        u->y_m *= H / h;
        u->h_m *= H / h;
    }
    return TMX_OK;
}

static enum tmx_status file_layers(struct build *b)
{
    struct tmx_lcf lcf;
    if (b->cfg->f[0]) {
        tmx_log_say(b->log, TMX_LOG_WARNING, "-f %s is ignored: the layer file names the floorplans",
                    b->cfg->f);
    }
    enum tmx_status st = tmx_lcf_read(b->cfg->grid_layer_file, &b->materials, &lcf, b->err);
    st = tmx_hotspot_config_blame(b->cfg, "grid_layer_file", st, b->err);
    st = st ? st : alloc_layers(b, lcf.n_layer, lcf.n_layer);
    b->s->from_layer_file = true;
    for (size_t l = 0; !st && l < lcf.n_layer; l++) {
        st = file_layer(b, &lcf, l);
    }
    for (size_t l = 0; !st && l < lcf.n_layer; l++) {
        st = fit_layer(b, &lcf, l);
    }
    for (size_t l = 0; !st && l < lcf.n_layer; l++) {
        if (lcf.layer[l].wet && !b->s->channels) {
            b->s->channels = calloc(lcf.n_layer, sizeof *b->s->channels);
            st = b->s->channels ? TMX_OK : tmx_no_memory(b->err);
        }
        st = st || !lcf.layer[l].wet ? st : wet_layer(b, &lcf, l);
    }
    tmx_lcf_finish(&lcf);
    return st;
}

/* ---- the whole ---- */

static enum tmx_status check_die(const struct build *b)
{
    const struct tmx_floorplan *fp = &b->s->floorplan[0];
    const double w = tmx_thermal_spec_width_m(&b->s->spec), h = tmx_thermal_spec_height_m(&b->s->spec);
    const double most_m = b->s->spec.package.s_spreader_m;
    /* in the physical network nothing lies beyond the die that has to be there */
    const bool fits = b->options->network == TMX_NETWORK_PHYSICAL ? fmax(w, h) <= most_m + EXTENT_TOLERANCE_M
                                                                  : fmax(w, h) < most_m;
    if (!fits) {
        return tmx_fail_at(
            b->err, TMX_ECONFIG, fp->source, fp->unit[0].line,
            "the die (%g x %g mm) must be smaller than the spreader (s_spreader = %g mm)%s", 1e3 * w, 1e3 * h,
            1e3 * most_m,
            fmax(w, h) <= most_m + EXTENT_TOLERANCE_M ? "; with --network physical they may be equal" : "");
    }
    return TMX_OK;
}

static enum tmx_status make_plate(const struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const struct tmx_cold_plate *plate = &b->s->fan.plate;
    const char *fault = cfg->package_model_used ? "not with package_model_used, which is fins in air"
                                                : tmx_cold_plate_fault(plate);
    if (fault) {
        return tmx_hotspot_config_fail(cfg, "cold_plate", b->err, "cold plate: %s", fault);
    }
    const double film = tmx_cold_plate_film_k_per_w(plate, cfg->plate_flow),
                 all = tmx_cold_plate_k_per_w(plate, cfg->plate_flow);
    tmx_log_say(b->log, TMX_LOG_INFO,
                "cold plate: r_convec = %.4g K/W: film %.4g, mean coolant above its inlet %.4g; it leaves "
                "%.4g K/W warmer",
                all, film, all - film, 2 * (all - film));
    b->s->spec.package.r_convec_k_per_w = all;
    return TMX_OK;
}

static enum tmx_status make_fan(const struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    struct tmx_fan_sink *fan = &b->s->fan;
    *fan = (struct tmx_fan_sink){.natural = cfg->natural_convec,
                                 .impinging = cfg->flow_type == TMX_HOTSPOT_IMPINGING_FLOW,
                                 .pins = cfg->sink_type == TMX_HOTSPOT_PIN_FINS,
                                 .s_sink_m = cfg->s_sink,
                                 .k_sink = b->s->spec.package.k_sink,
                                 .fin_height_m = cfg->fin_height,
                                 .fin_width_m = cfg->fin_width,
                                 .channel_width_m = cfg->channel_width,
                                 .pin_height_m = cfg->pin_height,
                                 .pin_diam_m = cfg->pin_diam,
                                 .pin_dist_m = cfg->pin_dist,
                                 .fan_radius_m = cfg->fan_radius,
                                 .motor_radius_m = cfg->motor_radius,
                                 .rpm = cfg->rpm,
                                 .liquid = cfg->cold_plate,
                                 .plate = {.side_m = cfg->s_sink,
                                           .k_w_per_mk = b->s->spec.package.k_sink,
                                           .channel_width_m = cfg->plate_channel_width,
                                           .channel_height_m = cfg->plate_channel_height,
                                           .wall_m = cfg->plate_wall,
                                           .coolant_k_w_per_mk = cfg->plate_coolant_k,
                                           .coolant_p_j_per_m3k = cfg->plate_coolant_p,
                                           .coolant_nu_m2_per_s = cfg->plate_coolant_nu}};
    if (cfg->cold_plate) {
        return make_plate(b);
    }
    if (!cfg->package_model_used) {
        return TMX_OK;
    }
    const char *fault = tmx_fan_sink_fault(fan);
    if (fault) {
        return tmx_hotspot_config_fail(cfg, "package_model_used", b->err, "package model: %s", fault);
    }
    if (!fan->natural) {
        const double r = tmx_fan_forced_k_per_w(fan);
        tmx_log_say(b->log, TMX_LOG_INFO, "package model: r_convec = %.6g K/W", r);
        if (r < 0.01 || r > 50) {
            tmx_log_say(b->log, TMX_LOG_WARNING, "package model: r_convec = %g K/W is outside 0.01 .. 50 K/W",
                        r);
        }
        b->s->spec.package.r_convec_k_per_w = r;
    }
    return TMX_OK;
}

/* A cell is the smallest thing that has a temperature: blocks that share one have one temperature. */
static void doubt_grid(const struct tmx_stack *s)
{
    for (size_t i = 0; i < s->n_floorplan; i++) {
        const struct tmx_floorplan *fp = &s->floorplan[i];
        if (s->spec.rows * s->spec.cols < fp->n_unit) {
            tmx_doubt("%s: a grid of %zu x %zu cells is too coarse for %zu blocks; %zu x %zu "
                      "give each a cell",
                      fp->source[0] ? fp->source : "the floorplan that is made", s->spec.rows, s->spec.cols,
                      fp->n_unit, (size_t)ceil(sqrt((double)fp->n_unit)),
                      (size_t)ceil(sqrt((double)fp->n_unit)));
            return;
        }
    }
}

/* Resistances to air, on the areas that they are of. */
static enum tmx_status check_films(const struct tmx_hotspot_config *cfg, const struct tmx_thermal_spec *spec,
                                   struct tmx_err *err)
{
    enum tmx_status st =
        tmx_hotspot_config_film(cfg, "r_convec", cfg->r_convec, cfg->s_sink * cfg->s_sink, err);
    st = st || !cfg->model_secondary
             ? st
             : tmx_hotspot_config_film(cfg, "r_convec_sec", cfg->r_convec_sec, cfg->s_pcb * cfg->s_pcb, err);
    return st || cfg->r_below == 0
               ? st
               : tmx_hotspot_config_film(cfg, "r_below", cfg->r_below,
                                         tmx_thermal_spec_width_m(spec) * tmx_thermal_spec_height_m(spec),
                                         err);
}

/* Models that a file switches on and that are not computed here: temperatures without them would be wrong by
 * tens of kelvins. */
static enum tmx_status check_models(const struct tmx_hotspot_config *cfg,
                                    const struct tmx_stack_options *options, struct tmx_err *err)
{
    const bool wet = cfg->use_microchannels || cfg->use_microfluidic_cooling;
    if (cfg->model_type == TMX_HOTSPOT_BLOCK) {
        const char *not_with = cfg->grid_layer_file[0]       ? "grid_layer_file"
                               : cfg->model_secondary        ? "model_secondary"
                               : cfg->k_filler > 0           ? "k_filler"
                               : cfg->material_filler[0]     ? "material_filler"
                               : cfg->grid_steady_file[0]    ? "grid_steady_file"
                               : cfg->grid_transient_file[0] ? "grid_transient_file"
                               : wet                         ? "use_microchannels"
                                                             : NULL;
        if (not_with || options->network == TMX_NETWORK_PHYSICAL) {
            return tmx_hotspot_config_fail(
                cfg, "model_type", err,
                "model_type block: not with %s; -model_type grid takes the grid model",
                not_with ? not_with : "--network physical");
        }
    }
    if (wet && (!cfg->grid_layer_file[0] || !cfg->detailed_3D || options->network == TMX_NETWORK_PHYSICAL)) {
        const char *key = cfg->use_microchannels ? "use_microchannels" : "use_microfluidic_cooling";
        return tmx_hotspot_config_fail(cfg, key, err, "%s 1 %s", key,
                                       !cfg->grid_layer_file[0] ? "does nothing without a grid_layer_file"
                                       : !cfg->detailed_3D
                                           ? "needs -detailed_3D on, which gives cells a material"
                                           : "is HotSpot's network; the physical one has the line "
                                             "channels in a layer file");
    }
    if (cfg->detailed_3D && !cfg->grid_layer_file[0]) {
        return tmx_hotspot_config_fail(cfg, "detailed_3D", err,
                                       "detailed_3D on does nothing without a grid_layer_file");
    }
    return TMX_OK;
}

/* model_secondary: the layers between die and board, as HotSpot has them. Materials: HotSpot 7's constants.
 */

enum { BOARD = 3, CHIP = 2 }; /* layers: board, solder, substrate; without a layer file also C4 and metal */

static enum tmx_status add_board(struct tmx_stack *s, const struct tmx_hotspot_config *cfg,
                                 bool hotspot_compat, struct tmx_err *err)
{
    const struct {
        double thickness_m, resistivity_mk_per_w, p_j_per_m3k;
    } below[BOARD + CHIP] = {{cfg->t_pcb, 0.333, 1.32e6},
                             {cfg->t_solder, 0.06, 2.1e6},
                             {cfg->t_sub, 0.5, 1.6e6},
                             {cfg->t_c4, 0.8, 1.65e6},
                             {cfg->t_metal, 0.0025, 3.55e6}};
    const double W = tmx_thermal_spec_width_m(&s->spec), H = tmx_thermal_spec_height_m(&s->spec);
    const struct {
        const char *key, *under;
        double side_m, least_m;
    } sides[] = {{"s_sub", "the die", cfg->s_sub, fmax(W, H)},
                 {"s_solder", "the die", cfg->s_solder, fmax(W, H)},
                 {"s_pcb", "the solder (s_solder)", cfg->s_pcb, cfg->s_solder}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (sides[i].side_m <= sides[i].least_m) {
            return tmx_hotspot_config_fail(cfg, sides[i].key, err,
                                           "model_secondary: %s = %g m must be larger than %s of %g m",
                                           sides[i].key, sides[i].side_m, sides[i].under, sides[i].least_m);
        }
    }
    s->n_below = BOARD + (s->from_layer_file ? 0 : CHIP);
    struct tmx_layer *layer = calloc(s->n_below + s->spec.n_layer, sizeof *layer);
    s->board = malloc(sizeof *s->board);
    if (!layer || !s->board) {
        free(layer);
        return tmx_fail(err, TMX_ENOMEM, "stack of %zu layers", s->n_below + s->spec.n_layer);
    }
    for (size_t l = 0; l < s->n_below; l++) {
        layer[l] = (struct tmx_layer){.floorplan = s->layer[0].floorplan,
                                      .lateral = true,
                                      .thickness_m = below[l].thickness_m,
                                      .k_w_per_mk = 1 / below[l].resistivity_mk_per_w,
                                      .p_j_per_m3k = below[l].p_j_per_m3k};
    }
    memcpy(layer + s->n_below, s->layer, s->spec.n_layer * sizeof *layer);
    free(s->layer);
    s->layer = layer;
    s->spec.layer = layer;
    s->spec.n_layer += s->n_below;
    *s->board = (struct tmx_board){.s_sub_m = cfg->s_sub,
                                   .s_solder_m = cfg->s_solder,
                                   .s_pcb_m = cfg->s_pcb,
                                   .r_convec_k_per_w = cfg->r_convec_sec,
                                   .c_convec_j_per_k = cfg->c_convec_sec,
                                   .quasi_static = hotspot_compat};
    s->spec.board = s->board;
    return TMX_OK;
}

enum tmx_status tmx_stack_create(const struct tmx_hotspot_config *cfg,
                                 const struct tmx_stack_options *options, const struct tmx_log *log,
                                 struct tmx_stack *s, struct tmx_err *err)
{
    struct build b = {.cfg = cfg, .options = options, .log = log, .s = s, .err = err};
    *s = (struct tmx_stack){0};
    enum tmx_status st = check_models(cfg, options, err);
    if (st) {
        return st;
    }
    st = read_materials(cfg, &b.materials, err);
    st =
        st ? st
           : make_package(cfg, &b.materials, options->network == TMX_NETWORK_PHYSICAL, &s->spec.package, err);
    st = st ? st : cfg->grid_layer_file[0] ? file_layers(&b) : default_layers(&b);
    st = st || !cfg->model_secondary ? st : add_board(s, cfg, options->hotspot_compat, err);
    if (!st && cfg->r_below > 0 && options->network != TMX_NETWORK_PHYSICAL) {
        st = tmx_hotspot_config_fail(cfg, "r_below", err,
                                     "r_below: HotSpot's network has no film below the stack; --network "
                                     "physical has");
    }
    s->spec.r_below_k_per_w = cfg->r_below;
    st = st ? st : check_films(cfg, &s->spec, err);
    st = st ? st : check_die(&b);
    st = st ? st : make_fan(&b);
    tmx_materials_finish(&b.materials);
    s->spec.rows = (size_t)cfg->grid_rows;
    s->spec.cols = s->col_line_m ? s->spec.cols : (size_t)cfg->grid_cols;
    s->spec.map_mode = (enum tmx_map_mode)cfg->grid_map_mode;
    if (options->hotspot_compat && !tmx_hotspot_config_given(cfg, "grid_map_mode")) {
        s->spec.map_mode = TMX_MAP_CENTER;
    }
    s->spec.hotspot_lateral = options->hotspot_compat;
    s->spec.network = options->network;
    s->spec.omit_lateral = cfg->block_omit_lateral;
    if (cfg->model_type == TMX_HOTSPOT_BLOCK && !st) {
        s->spec.network = TMX_NETWORK_BLOCK;
        s->spec.rows = 1;
        s->spec.cols = s->floorplan[0].n_unit;
    }
    s->spec.refine = options->refine;
    s->spec.detailed_3d = cfg->detailed_3D && s->from_layer_file;
    s->spec.ambient_k = cfg->ambient;
    s->spec.init_k = cfg->init_temp;
    s->spec.min_step_s = cfg->sampling_intvl;
    if (!st) {
        doubt_grid(s);
    }
    return st;
}

void tmx_stack_finish(struct tmx_stack *s)
{
    for (size_t i = 0; i < s->n_floorplan; i++) {
        tmx_floorplan_finish(&s->floorplan[i]);
    }
    free(s->floorplan);
    free(s->layer);
    for (size_t i = 0; i < s->n_floorplan && s->cells; i++) {
        free(s->cells[i]);
    }
    free(s->cells);
    free(s->channels);
    free(s->col_line_m);
    free(s->board);
    *s = (struct tmx_stack){0};
}

/* ---- power trace columns ---- */

static enum tmx_status unknown_name(const struct tmx_floorplan *fp, const struct tmx_trace *trace,
                                    size_t column, struct tmx_err *err)
{
    const char *best = NULL;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const char *const pair[] = {fp->unit[i].name, best};
        const char *near = tmx_suggest_nearest(trace->name[column], pair, best ? 2 : 1);
        best = near ? near : best;
    }
    return tmx_fail_at(err, TMX_EPARSE, trace->source, trace->name_line,
                       "column %zu: block \"%s\" is not in the floorplan %s%s%s%s", column + 1,
                       trace->name[column], fp->source, best ? ", did you mean \"" : "", best ? best : "",
                       best ? "\"?" : "");
}

/* Columns first.. of one layer, whose units start at first. taken[n_unit] is scratch, zeroed. */
static enum tmx_status layer_columns(const struct tmx_floorplan *fp, const struct tmx_trace *trace,
                                     size_t first, bool *taken, size_t *unit_of, struct tmx_err *err)
{
    for (size_t i = 0; i < fp->n_unit && first + i < trace->n_column; i++) {
        const size_t column = first + i, unit = tmx_floorplan_find(fp, trace->name[column]);
        if (unit == fp->n_unit) {
            return unknown_name(fp, trace, column, err);
        }
        if (taken[unit]) {
            return tmx_fail_at(err, TMX_EPARSE, trace->source, trace->name_line,
                               "column %zu: block \"%s\" given twice", column + 1, trace->name[column]);
        }
        taken[unit] = true;
        unit_of[column] = first + unit;
    }
    for (size_t unit = 0; unit < fp->n_unit; unit++) {
        if (!taken[unit]) {
            return tmx_fail_at(err, TMX_EPARSE, trace->source, trace->name_line,
                               "block \"%s\" of the floorplan %s has no column", fp->unit[unit].name,
                               fp->source);
        }
    }
    return TMX_OK;
}

/* The trace's column of each unit; SIZE_MAX: it has none. */
static enum tmx_status find_columns(const struct tmx_stack *s, const struct tmx_trace *trace, size_t n_unit,
                                    size_t *column, struct tmx_err *err)
{
    for (size_t u = 0; u < n_unit; u++) {
        column[u] = SIZE_MAX;
    }
    for (size_t c = 0; c < trace->n_column; c++) {
        const struct tmx_floorplan *any = NULL;
        size_t first = 0, has = 0;
        bool taken = false;
        for (size_t l = 0; l < s->spec.n_layer && !taken; l++) {
            const struct tmx_floorplan *fp = s->layer[l].floorplan;
            const size_t unit = s->layer[l].dissipates ? tmx_floorplan_find(fp, trace->name[c]) : fp->n_unit;
            any = s->layer[l].dissipates ? fp : any;
            if (unit < fp->n_unit) {
                has++;
                taken = column[first + unit] == SIZE_MAX;
                column[first + unit] = taken ? c : column[first + unit];
            }
            first += s->layer[l].dissipates ? fp->n_unit : 0;
        }
        if (!taken) {
            return has == 0 ? unknown_name(any, trace, c, err)
                            : tmx_fail_at(
                                  err, TMX_EPARSE, trace->source, trace->name_line,
                                  "column %zu: block \"%s\" is given more often than there are such blocks",
                                  c + 1, trace->name[c]);
        }
    }
    return TMX_OK;
}

static void doubt_missing(const struct tmx_trace *trace, char *const *name, size_t n_unit,
                          const size_t *column)
{
    enum { SHOWN = 5 };
    char list[320] = "";
    size_t missing = 0, used = 0;
    for (size_t u = 0; u < n_unit; u++) {
        if (column[u] == SIZE_MAX && missing++ < SHOWN) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.50s", used ? ", " : "", name[u]);
        }
    }
    if (missing > SHOWN) {
        snprintf(list + used, sizeof list - used, " and %zu others", missing - SHOWN);
    }
    if (missing > 0) {
        tmx_doubt("%s: no column, so 0 W: %s", trace->source, list);
    }
}

enum tmx_status tmx_stack_complete(const struct tmx_stack *s, struct tmx_trace *trace, struct tmx_err *err)
{
    const size_t n_unit = tmx_thermal_spec_units(&s->spec);
    size_t u = 0;
    if (!trace->comma) {
        return TMX_OK;
    }
    struct tmx_trace whole = {0};
    size_t *column = calloc(n_unit + 1, sizeof *column);
    whole.name = calloc(n_unit + 1, sizeof *whole.name);
    whole.value = calloc(trace->n_row * n_unit + 1, sizeof *whole.value);
    enum tmx_status st = column && whole.name && whole.value ? find_columns(s, trace, n_unit, column, err)
                                                             : tmx_no_memory(err);
    for (size_t l = 0; l < s->spec.n_layer && !st; l++) {
        const struct tmx_floorplan *fp = s->layer[l].floorplan;
        for (size_t i = 0; i < fp->n_unit && s->layer[l].dissipates && !st; i++, u++) {
            whole.name[u] = tmx_text_dup(fp->unit[i].name);
            st = whole.name[u] ? TMX_OK : tmx_no_memory(err);
            whole.n_column++;
            for (size_t r = 0; r < trace->n_row && column[u] < SIZE_MAX; r++) {
                whole.value[r * n_unit + u] = trace->value[r * trace->n_column + column[u]];
            }
        }
    }
    if (!st) {
        doubt_missing(trace, whole.name, n_unit, column);
        const struct tmx_trace parts = *trace;
        trace->name = whole.name, trace->value = whole.value, trace->n_column = n_unit;
        whole.name = parts.name, whole.value = parts.value, whole.n_column = parts.n_column;
    }
    tmx_trace_finish(&whole);
    free(column);
    return st;
}

enum tmx_status tmx_stack_columns(const struct tmx_stack *s, const struct tmx_trace *trace, size_t *unit_of,
                                  struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    size_t first = 0;
    for (size_t l = 0; !st && l < s->spec.n_layer; l++) {
        const struct tmx_floorplan *fp = s->layer[l].floorplan;
        if (!s->layer[l].dissipates) {
            continue;
        }
        bool *taken = calloc(fp->n_unit, sizeof *taken);
        if (!taken) {
            return tmx_fail(err, TMX_ENOMEM, "columns of %s", trace->source);
        }
        st = layer_columns(fp, trace, first, taken, unit_of, err);
        free(taken);
        first += fp->n_unit;
    }
    if (!st &&
        trace->n_column > first) { /* every block has its column; what is left is unknown or a repetition */
        st = tmx_fail_at(
            err, TMX_EPARSE, trace->source, trace->name_line,
            "column %zu: block \"%s\" is %s; the floorplans have %zu blocks that dissipate", first + 1,
            trace->name[first],
            tmx_trace_find(trace, trace->name[first]) < first ? "given twice" : "in no floorplan", first);
    }
    return st;
}
