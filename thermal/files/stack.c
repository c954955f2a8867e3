/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/hotspot_lcf.h"

static const double SHOWN_PERCENT = 1e-7;      /* less is the round-off of decimal files */
static const double EXTENT_TOLERANCE_M = 1e-6; /* HotSpot's, for layers of one stack */

struct build {
    const struct tmx_hotspot_config *cfg;
    const struct tmx_stack_options *options;
    const struct tmx_log *log;
    struct tmx_materials materials;
    struct tmx_lcf lcf; /* of a layer file */
    struct tmx_stack *s;
    struct tmx_err *err; /* of the first failure: from then on nothing is read */
};

/* At the place where key was given, unless there is an error already. */
#define CONFIG_FAIL(b, key, ...)                                             \
    do {                                                                     \
        if (!(b)->err->code) {                                               \
            tmx_hotspot_config_fail((b)->cfg, (key), (b)->err, __VA_ARGS__); \
        }                                                                    \
    } while (0)

/* k and p of one part: the material wins over the numbers, as in HotSpot. */
static void apply_material(const struct build *b, const char *key, const char *name, double *k, double *p)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    if (!name[0] || b->err->code) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        char number[64];
        snprintf(number, sizeof number, "%c_%s", "kp"[i], strchr(key, '_') + 1);
        if (tmx_hotspot_config_given(cfg, number) && tmx_hotspot_config_closer(cfg, number, key) == number) {
            CONFIG_FAIL(b, number, "%s does nothing: %s = %s, which comes first", number, key, name);
        }
    }
    const struct tmx_material *found = tmx_materials_find(&b->materials, name);
    if (!found) {
        char hint[TMX_HINT_SIZE];
        CONFIG_FAIL(b, key, "%s: unknown material \"%s\"%s", key, name,
                    tmx_materials_hint(&b->materials, name, hint));
    } else if (!b->err->code) {
        *k = found->k_w_per_mk;
        *p = found->p_j_per_m3k;
        tmx_materials_check(&b->materials, found, b->err);
    }
}

/* ---- layers ---- */

/* filled: gaps are as they should be. */
static void check_floorplan(const struct build *b, const struct tmx_floorplan *fp, bool filled)
{
    struct tmx_tiling t;
    if (b->err->code ||
        tmx_floorplan_check_loose(fp, b->options->allow_gaps || filled, b->options->overlap_m, b->err) ||
        tmx_floorplan_tiling(fp, &t, b->err)) {
        return;
    }
    const double gap = 100 * t.gap_m2 / t.die_m2, overlap = 100 * t.overlap_m2 / t.die_m2;
    for (size_t u = 0; u < fp->n_unit && !b->cfg->detailed_3D && !filled; u++) {
        if (!isnan(fp->unit[u].resistivity_mk_per_w)) {
            tmx_warn("%s: block \"%s\" has a material of its own, which has no effect without -k_filler or "
                     "-detailed_3D",
                     fp->source, fp->unit[u].name);
            break;
        }
    }
    if (filled && t.gap_m2 <= 0) {
        tmx_warn("%s: the blocks leave no gap for the filler", fp->source);
    }
    if ((gap > SHOWN_PERCENT && !filled) || overlap > SHOWN_PERCENT) {
        tmx_log_say(
            b->log, TMX_LOG_INFO, "%s: accepted: %.3g %% of the die uncovered, %.3g %% covered twice%s",
            fp->source, gap, overlap > SHOWN_PERCENT ? overlap : 0,
            b->options->allow_gaps || b->options->overlap_m > 0 ? ""
                                                                : " (gaps and overlaps within rounding)");
    }
}

/* An array of the stack, NULL with an error. */
#define TAKE(b, pointer, n) \
    (TMX_TAKE(&(b)->s->arena, (pointer), (n)), tmx_arena_check(&(b)->s->arena, (b)->err), (pointer))

static void take_layers(struct build *b, size_t n_floorplan, size_t n_layer)
{
    struct tmx_stack *s = b->s;
    if (TAKE(b, s->floorplan, n_floorplan) && TAKE(b, s->layer, n_layer)) {
        s->n_floorplan = n_floorplan;
        s->spec.layer = s->layer;
        s->spec.n_layer = n_layer;
    }
}

/* The default stack: silicon on an interface, both with the die's floorplan. */
static void default_layers(struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const struct tmx_floorplan *given = b->options->floorplan;
    if (!cfg->f[0] && !given) {
        tmx_error(b->err, TMX_ECONFIG, "no floorplan: give -f FILE, or -grid_layer_file FILE for a stack");
        return;
    }
    take_layers(b, 1, 2);
    struct tmx_floorplan *fp = b->s->floorplan;
    if (given && !b->err->code) {
        memcpy(fp->source, given->source, sizeof given->source);
    }
    for (size_t u = 0; given && u < given->n_unit && !b->err->code; u++) {
        tmx_floorplan_add(fp, &given->unit[u], b->err);
    }
    if (!given && !b->err->code) {
        tmx_hotspot_config_locate(cfg, "f", tmx_flp_read(cfg->f, fp, b->err), b->err);
    }
    check_floorplan(b, fp, cfg->k_filler > 0 || cfg->material_filler[0]);
    if (b->err->code) {
        return;
    }
    struct tmx_layer *die = &b->s->layer[0], *tim = &b->s->layer[1];
    *die = (struct tmx_layer){.floorplan = fp,
                              .lateral = true,
                              .dissipates = true,
                              .thickness_m = cfg->t_chip,
                              .k_w_per_mk = cfg->k_chip,
                              .p_j_per_m3k = cfg->p_chip,
                              .filler_k_w_per_mk = cfg->k_filler,
                              .filler_p_j_per_m3k = cfg->p_filler};
    *tim = (struct tmx_layer){.floorplan = fp,
                              .lateral = true,
                              .thickness_m = cfg->t_interface,
                              .k_w_per_mk = cfg->k_interface,
                              .p_j_per_m3k = cfg->p_interface};
    apply_material(b, "material_chip", cfg->material_chip, &die->k_w_per_mk, &die->p_j_per_m3k);
    apply_material(b, "material_interface", cfg->material_interface, &tim->k_w_per_mk, &tim->p_j_per_m3k);
    apply_material(b, "material_filler", cfg->material_filler, &die->filler_k_w_per_mk,
                   &die->filler_p_j_per_m3k);
    die->filler_p_j_per_m3k = die->filler_k_w_per_mk > 0 ? die->filler_p_j_per_m3k : 0;
}

/* A layer's floorplan: relative to the current folder, else to the layer file's. */
static void locate(const char *lcf, const char *name, char path[TMX_HOTSPOT_PATH])
{
    if (tmx_os_exists(name) || !tmx_beside(lcf, name, path, TMX_HOTSPOT_PATH)) {
        snprintf(path, TMX_HOTSPOT_PATH, "%s", name);
    }
}

/* HotSpot's map of micro-channels: a line a row of cells, numbers by commas or blanks: -1 or 0 solid, 1
 * coolant, 2 inlet, 3 outlet. */
static void read_map(const struct build *b, const char *path, unsigned char *cell)
{
    const size_t rows = (size_t)b->cfg->grid_rows, cols = (size_t)b->cfg->grid_cols;
    size_t row = 0, n_of[4] = {0};
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
#define FAIL(...) tmx_error_at(b->err, TMX_EPARSE, path, lines.number, __VA_ARGS__)
    if (tmx_text_load(&text, path, b->err)) {
        return;
    }
    for (; !b->err->code && tmx_lines_next_filled(&lines, &text); row++) {
        struct tmx_span rest = lines.line, word;
        size_t col = 0;
        const bool commas = memchr(rest.begin, ',', tmx_span_length(rest));
        while (commas ? tmx_span_cell(&rest, &word) : tmx_span_field(&rest, &word)) {
            double v = 0;
            if (word.begin == word.end && !rest.begin) {
                break; /* a comma at the end */
            }
            if (word.begin == word.end) {
                FAIL("cell %zu is empty", col + 1);
            } else if (!tmx_span_real(word, &v) || v < -1 || v > 3 || v != floor(v)) {
                FAIL("\"%.*s\": expected a cell from -1 to 3", TMX_SPAN_ARG(word));
            } else if (row < rows && col < cols) {
                cell[row * cols + col] = v > 0 ? (unsigned char)v : TMX_CELL_SOLID;
                n_of[cell[row * cols + col]]++;
            }
            col++;
        }
        if (col != cols) {
            FAIL("%zu cells in a row; grid_cols is %zu", col, cols);
        }
    }
    if (row != rows) {
        FAIL("%zu rows of cells; grid_rows is %zu", row, rows);
    }
    if (n_of[TMX_CELL_INLET] == 0 || n_of[TMX_CELL_OUTLET] == 0) {
        tmx_error_at(b->err, TMX_EPARSE, path, 0, "no %s: nothing flows",
                     n_of[TMX_CELL_INLET] ? "outlet (3)" : "inlet (2)");
    }
#undef FAIL
    tmx_text_finish(&text);
}

static bool is_map(const char *file)
{
    const size_t n = strlen(file);
    return n > 4 && tmx_word_compare(file + n - 4, ".csv") == 0;
}

/* Layer l of HotSpot's micro-channels: every cell is a block with its own material. Its size is that of the
 * first layer that is no map. */
static void mapped_layer(struct build *b, size_t l)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const size_t rows = (size_t)cfg->grid_rows, cols = (size_t)cfg->grid_cols;
    struct tmx_stack *s = b->s;
    struct tmx_material coolant = {.k_w_per_mk = 1 / cfg->coolant_res,
                                   .p_j_per_m3k = cfg->coolant_capac,
                                   .viscosity_pa_s = cfg->coolant_visc},
                        wall = {.k_w_per_mk = 1 / cfg->wall_res, .p_j_per_m3k = cfg->wall_capac};
    char path[TMX_HOTSPOT_PATH], other[TMX_HOTSPOT_PATH];
    struct tmx_floorplan size = {0}, *fp = &s->floorplan[l];
    unsigned char *cells;
    locate(b->lcf.source, b->lcf.layer[l].part[0].floorplan, path);
    for (size_t i = 0; i < 2 && !b->err->code; i++) {
        const char *key = i ? "wall_material" : "coolant_material",
                   *name = i ? cfg->wall_material : cfg->coolant_material;
        const struct tmx_material *found = tmx_materials_find(&b->materials, name);
        if (name[0] && (!found || (i == 0 && !(found->viscosity_pa_s > 0)))) {
            CONFIG_FAIL(b, key, "%s: %s \"%s\"", key,
                        found ? "no fluid with a viscosity:" : "unknown material", name);
        } else if (name[0]) {
            *(i ? &wall : &coolant) = *found;
            tmx_materials_check(&b->materials, found, b->err);
        }
    }
    if (TAKE(b, cells, rows * cols) && !b->err->code) {
        read_map(b, path, cells);
    }
    for (size_t i = 0; i < b->lcf.n_layer && !b->err->code && size.n_unit == 0; i++) {
        if (!is_map(b->lcf.layer[i].part[0].floorplan)) {
            locate(b->lcf.source, b->lcf.layer[i].part[0].floorplan, other);
            tmx_flp_read(other, &size, b->err);
        }
    }
    const double w = tmx_floorplan_width_m(&size) / (double)cols,
                 h = tmx_floorplan_height_m(&size) / (double)rows;
    for (size_t c = 0; c < rows * cols && !b->err->code; c++) {
        char name[64];
        const struct tmx_material *m = cells[c] == TMX_CELL_SOLID ? &wall : &coolant;
        snprintf(name, sizeof name, "Cell_%zu_%zu", c / cols, c % cols);
        const struct tmx_unit u = {.name = name,
                                   .x_m = (double)(c % cols) * w,
                                   .y_m = (double)(rows - 1 - c / cols) * h,
                                   .w_m = w,
                                   .h_m = h,
                                   .heat_capacity_j_per_m3k = m->p_j_per_m3k,
                                   .resistivity_mk_per_w = 1 / m->k_w_per_mk};
        tmx_floorplan_add(fp, &u, b->err);
    }
    tmx_floorplan_finish(&size);
    if (b->err->code) {
        return;
    }
    snprintf(fp->source, sizeof fp->source, "%s", path);
    s->channels[l] = (struct tmx_channels){.kind = TMX_CHANNELS_MAPPED,
                                           .inlet_k = cfg->inlet_temperature,
                                           .p_j_per_m3k = coolant.p_j_per_m3k,
                                           .h_top = cfg->htc,
                                           .viscosity_pa_s = coolant.viscosity_pa_s,
                                           .cell = cells,
                                           .pressure_pa = cfg->pumping_pressure,
                                           .pump_pa_s_per_m3 = cfg->pump_internal_res};
    s->layer[l] = (struct tmx_layer){.floorplan = fp,
                                     .lateral = s->layer[l].lateral,
                                     .dissipates = s->layer[l].dissipates,
                                     .thickness_m = s->layer[l].thickness_m,
                                     .k_w_per_mk = wall.k_w_per_mk,
                                     .p_j_per_m3k = wall.p_j_per_m3k,
                                     .channels = &s->channels[l]};
}

static void file_layer(struct build *b, size_t l)
{
    const struct tmx_lcf_layer *from = &b->lcf.layer[l];
    struct tmx_floorplan *fp = &b->s->floorplan[l];
    b->s->layer[l] = from->l;
    b->s->layer[l].floorplan = fp;
    if (is_map(from->part[0].floorplan) && (b->cfg->use_microchannels || b->cfg->use_microfluidic_cooling)) {
        mapped_layer(b, l);
        return;
    }
    if (is_map(from->part[0].floorplan)) {
        tmx_error(b->err, TMX_ECONFIG, "a map of micro-channels (%s) needs -use_microchannels 1",
                  from->part[0].floorplan);
    }
    for (size_t i = 0; i < from->n_part && !b->err->code; i++) { /* what lies at a place in it */
        const struct tmx_lcf_part *part = &from->part[i];
        char path[TMX_HOTSPOT_PATH], name[TMX_NAME_SIZE + sizeof part->prefix];
        struct tmx_floorplan own = {0};
        locate(b->lcf.source, part->floorplan, path);
        tmx_flp_read(path, &own, b->err);
        for (size_t k = 0; k < own.n_unit && !b->err->code; k++) {
            struct tmx_unit u = own.unit[k];
            snprintf(name, sizeof name, "%s%s", part->prefix, u.name);
            u.name = name;
            u.x_m += part->x_m;
            u.y_m += part->y_m;
            tmx_floorplan_add(fp, &u, b->err);
        }
        if (!fp->source[0]) {
            memcpy(fp->source, own.source, sizeof fp->source);
        }
        tmx_floorplan_finish(&own);
    }
    check_floorplan(b, fp, from->l.filler_k_w_per_mk > 0);
    if (from->l.falls > 0 && (from->wet || !b->options->falling)) {
        tmx_error(b->err, TMX_ECONFIG, "conductivity_falls is %s",
                  from->wet ? "not of layers with channels" : "of `thermix thermal` alone");
    }
}

/* Layers without a filler have one size, and to the very last digit; what lies in the others fits into it. */
static void fit_layer(struct build *b, size_t l)
{
    const struct tmx_lcf_layer *from = &b->lcf.layer[l];
    struct tmx_floorplan *fp = &b->s->floorplan[l];
    const double W = tmx_thermal_spec_width_m(&b->s->spec), H = tmx_thermal_spec_height_m(&b->s->spec);
    const double w = tmx_floorplan_width_m(fp), h = tmx_floorplan_height_m(fp);
    const bool filled = from->l.filler_k_w_per_mk > 0;
    const bool beyond = w - W > EXTENT_TOLERANCE_M || h - H > EXTENT_TOLERANCE_M,
               smaller = W - w > EXTENT_TOLERANCE_M || H - h > EXTENT_TOLERANCE_M;
    if (filled && beyond) {
        tmx_error(b->err, TMX_EPARSE, "its floorplans reach to %g x %g mm, the stack is %g x %g mm", 1e3 * w,
                  1e3 * h, 1e3 * W, 1e3 * H);
    } else if (filled && smaller && !from->at && from->n_part == 1) {
        tmx_error_at(b->err, TMX_EPARSE, b->lcf.source, from->line,
                     "layer %zu (%s) is %g x %g mm in a stack of %g x %g mm: a line \"at X Y\" must give its "
                     "place",
                     l, fp->source, 1e3 * w, 1e3 * h, 1e3 * W, 1e3 * H);
    } else if (!filled && (beyond || smaller)) {
        size_t first = 0;
        while (b->lcf.layer[first].l.filler_k_w_per_mk > 0) {
            first++;
        }
        tmx_error_at(
            b->err, TMX_EPARSE, b->lcf.source, from->line,
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
}

/* Channels of layer l: the layer's walls beside them, or columns of cells that are walls and channels by
 * turns. */
static void wet_layer(struct build *b, size_t l)
{
    const struct tmx_lcf_layer *from = &b->lcf.layer[l];
    const struct tmx_hotspot_config *cfg = b->cfg;
    struct tmx_stack *s = b->s;
    const double W = tmx_thermal_spec_width_m(&s->spec);
    struct tmx_channels *c = &s->channels[l];
    *c = from->channels;
    c->flow_m3_per_s = cfg->coolant_flow > 0 ? cfg->coolant_flow : c->flow_m3_per_s;
    c->inlet_k = cfg->coolant_inlet > 0 ? cfg->coolant_inlet : c->inlet_k;
    s->layer[l].channels = c;
    if (b->options->network != TMX_NETWORK_PHYSICAL) {
        tmx_error(b->err, TMX_ECONFIG, "channels need --network physical");
    } else if (!tmx_channels_fit(c, W)) {
        tmx_error(b->err, TMX_EPARSE, "no channel or pin of %g mm and its walls fit in a stack %g mm wide",
                  1e3 * c->width_m, 1e3 * W);
    }
    if (b->err->code) {
        return;
    }
    const size_t n = tmx_channels_count(c, W), n_col = 2 * n + 1;
    const double pump_w = tmx_channels_pump_w(c, W, tmx_thermal_spec_height_m(&s->spec), from->l.thickness_m);
    if (pump_w > 0) {
        tmx_log_say(b->log, TMX_LOG_INFO,
                    "layer %zu: %zu channels, %.4g m3/s, pressure drop %.4g kPa, pumping power %.4g W", l, n,
                    c->flow_m3_per_s, 1e-3 * pump_w / c->flow_m3_per_s, pump_w);
    }
    if (c->kind != TMX_CHANNELS_RESOLVED) {
        return;
    }
    const double pitch = c->width_m + c->wall_m,
                 whole = c->first_m + (double)n * pitch - c->wall_m + c->last_m;
    double *line, *before = s->col_line_m;
    if (fabs(whole - W) > EXTENT_TOLERANCE_M) {
        tmx_error(b->err, TMX_EPARSE, "%zu channels with their walls are %g mm wide, the stack %g mm", n,
                  1e3 * whole, 1e3 * W);
    } else if (tmx_hotspot_config_given(cfg, "grid_cols") && (size_t)cfg->grid_cols != n_col) {
        CONFIG_FAIL(b, "grid_cols", "grid_cols = %d: resolved channels make %zu columns; leave grid_cols out",
                    cfg->grid_cols, n_col);
    } else if (TAKE(b, line, n_col + 1)) {
        for (size_t j = 1; j < n_col; j++) {
            line[j] = W / whole * (c->first_m + (double)(j / 2) * pitch - (j % 2 ? 0 : c->wall_m));
        }
        line[n_col] = W;
        if (before && (s->spec.cols != n_col || memcmp(line, before, (n_col + 1) * sizeof *line) != 0)) {
            tmx_error(b->err, TMX_EPARSE, "resolved channels must lie where those of the other layers do");
        }
        s->spec.col_line_m = s->col_line_m = line;
        s->spec.cols = n_col;
    }
}

static void file_layers(struct build *b)
{
    static void (*const steps[])(struct build *, size_t) = {file_layer, fit_layer, wet_layer};
    struct tmx_lcf *lcf = &b->lcf;
    bool wet = false;
    if (b->cfg->f[0]) {
        tmx_log_say(b->log, TMX_LOG_WARNING, "-f %s is ignored: the layer file names the floorplans",
                    b->cfg->f);
    }
    tmx_hotspot_config_locate(b->cfg, "grid_layer_file",
                              tmx_lcf_read(b->cfg->grid_layer_file, &b->materials, lcf, b->err), b->err);
    b->s->from_layer_file = true;
    if (b->err->code) {
        return;
    }
    take_layers(b, lcf->n_layer, lcf->n_layer);
    for (size_t l = 0; l < lcf->n_layer; l++) {
        wet = wet || lcf->layer[l].wet || is_map(lcf->layer[l].part[0].floorplan);
    }
    if (wet) {
        (void)TAKE(b, b->s->channels, lcf->n_layer);
    }
    for (size_t step = 0; step < 3; step++) {
        for (size_t l = 0; l < lcf->n_layer && !b->err->code; l++) {
            char layer[32];
            snprintf(layer, sizeof layer, "layer %zu", l);
            if (step < 2 || lcf->layer[l].wet) {
                steps[step](b, l);
                if (step == 0 || !b->err->file[0]) {
                    tmx_fail_from(b->err, b->err->code, lcf->source,
                                  step < 2 ? lcf->layer[l].line : lcf->layer[l].wet, layer);
                }
            }
        }
    }
}

/* ---- the whole ---- */

/* Fins under a fan or in still air, or a cold plate, in place of r_convec. */
static void make_fan(const struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    struct tmx_package *pk = &b->s->spec.package;
    struct tmx_fan_sink *fan = &b->s->fan;
    *fan = cfg->fan;
    fan->natural = cfg->natural_convec;
    fan->impinging = cfg->flow_type == TMX_HOTSPOT_IMPINGING_FLOW;
    fan->pins = cfg->sink_type == TMX_HOTSPOT_PIN_FINS;
    fan->liquid = cfg->cold_plate;
    fan->s_sink_m = fan->plate.side_m = pk->s_sink_m;
    fan->k_sink = fan->plate.k_w_per_mk = pk->k_sink;
    const char *fault = !cfg->cold_plate          ? cfg->package_model_used ? tmx_fan_sink_fault(fan) : NULL
                        : cfg->package_model_used ? "not with package_model_used, which is fins in air"
                                                  : tmx_cold_plate_fault(&fan->plate);
    if (fault) {
        CONFIG_FAIL(b, cfg->cold_plate ? "cold_plate" : "package_model_used", "%s: %s",
                    cfg->cold_plate ? "cold plate" : "package model", fault);
    } else if (cfg->cold_plate) {
        const double film = tmx_cold_plate_film_k_per_w(&fan->plate, cfg->plate_flow),
                     all = tmx_cold_plate_k_per_w(&fan->plate, cfg->plate_flow);
        tmx_log_say(
            b->log, TMX_LOG_INFO,
            "cold plate: r_convec = %.4g K/W: film %.4g, mean coolant above its inlet %.4g; it leaves "
            "%.4g K/W warmer",
            all, film, all - film, 2 * (all - film));
        pk->r_convec_k_per_w = all;
    } else if (cfg->package_model_used && !fan->natural) {
        const double r = tmx_fan_forced_k_per_w(fan);
        tmx_log_say(b->log, TMX_LOG_INFO, "package model: r_convec = %.6g K/W", r);
        if (r < 0.01 || r > 50) {
            tmx_log_say(b->log, TMX_LOG_WARNING, "package model: r_convec = %g K/W is outside 0.01 .. 50 K/W",
                        r);
        }
        pk->r_convec_k_per_w = r;
    }
}

/* Resistances to air, on the areas that they are of, and a die that fits on its spreader. */
static void check_sizes(const struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const struct tmx_floorplan *fp = &b->s->floorplan[0];
    const double w = tmx_thermal_spec_width_m(&b->s->spec), h = tmx_thermal_spec_height_m(&b->s->spec),
                 most_m = cfg->package.s_spreader_m;
    const struct {
        const char *key;
        bool is;
        double k_per_w, area_m2;
    } rows[] = {
        {"r_convec", true, cfg->package.r_convec_k_per_w, cfg->package.s_sink_m * cfg->package.s_sink_m},
        {"r_convec_sec", cfg->model_secondary, cfg->r_convec_sec, cfg->s_pcb * cfg->s_pcb},
        {"r_below", cfg->r_below != 0, cfg->r_below, w * h}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !b->err->code; i++) {
        if (rows[i].is) {
            tmx_hotspot_config_film(cfg, rows[i].key, rows[i].k_per_w, rows[i].area_m2, b->err);
        }
    }
    /* in the physical network nothing lies beyond the die that has to be there */
    const bool equal = fmax(w, h) <= most_m + EXTENT_TOLERANCE_M;
    if (b->options->network == TMX_NETWORK_PHYSICAL ? !equal : fmax(w, h) >= most_m) {
        tmx_error_at(b->err, TMX_ECONFIG, fp->source, fp->unit[0].line,
                     "the die (%g x %g mm) must be smaller than the spreader (s_spreader = %g mm)%s", 1e3 * w,
                     1e3 * h, 1e3 * most_m, equal ? "; with --network physical they may be equal" : "");
    }
}

/* Models that a file switches on and that are not computed here: temperatures without them would be wrong by
 * tens of kelvins. */
static void check_models(const struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    const bool wet = cfg->use_microchannels || cfg->use_microfluidic_cooling,
               physical = b->options->network == TMX_NETWORK_PHYSICAL, stack = cfg->grid_layer_file[0];
    const char *not_with = cfg->model_type != TMX_HOTSPOT_BLOCK ? NULL
                           : stack                              ? "grid_layer_file"
                           : cfg->model_secondary               ? "model_secondary"
                           : cfg->k_filler > 0                  ? "k_filler"
                           : cfg->material_filler[0]            ? "material_filler"
                           : cfg->grid_steady_file[0]           ? "grid_steady_file"
                           : cfg->grid_transient_file[0]        ? "grid_transient_file"
                           : wet                                ? "use_microchannels"
                           : physical                           ? "--network physical"
                                                                : NULL;
    if (not_with) {
        CONFIG_FAIL(b, "model_type", "model_type block: not with %s; -model_type grid takes the grid model",
                    not_with);
    }
    if (wet && (!stack || !cfg->detailed_3D || physical)) {
        const char *key = cfg->use_microchannels ? "use_microchannels" : "use_microfluidic_cooling";
        CONFIG_FAIL(b, key, "%s 1 %s", key,
                    !stack              ? "does nothing without a grid_layer_file"
                    : !cfg->detailed_3D ? "needs -detailed_3D on, which gives cells a material"
                                        : "is HotSpot's network; the physical one has the line "
                                          "channels in a layer file");
    }
    if (cfg->detailed_3D && !stack) {
        CONFIG_FAIL(b, "detailed_3D", "detailed_3D on does nothing without a grid_layer_file");
    }
}

/* model_secondary: the layers between die and board, as HotSpot has them. Materials: HotSpot 7's constants.
 */

enum { BOARD = 3, CHIP = 2 }; /* layers: board, solder, substrate; without a layer file also C4 and metal */

static void add_board(struct build *b)
{
    const struct tmx_hotspot_config *cfg = b->cfg;
    struct tmx_stack *s = b->s;
    const struct {
        double thickness_m, resistivity_mk_per_w, p_j_per_m3k;
    } below[BOARD + CHIP] = {{cfg->t_pcb, 0.333, 1.32e6},
                             {cfg->t_solder, 0.06, 2.1e6},
                             {cfg->t_sub, 0.5, 1.6e6},
                             {cfg->t_c4, 0.8, 1.65e6},
                             {cfg->t_metal, 0.0025, 3.55e6}};
    const double die_m = fmax(tmx_thermal_spec_width_m(&s->spec), tmx_thermal_spec_height_m(&s->spec));
    const struct {
        const char *key, *under;
        double side_m, least_m;
    } sides[] = {{"s_sub", "the die", cfg->s_sub, die_m},
                 {"s_solder", "the die", cfg->s_solder, die_m},
                 {"s_pcb", "the solder (s_solder)", cfg->s_pcb, cfg->s_solder}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (sides[i].side_m <= sides[i].least_m) {
            CONFIG_FAIL(b, sides[i].key, "model_secondary: %s = %g m must be larger than %s of %g m",
                        sides[i].key, sides[i].side_m, sides[i].under, sides[i].least_m);
        }
    }
    s->n_below = BOARD + (s->from_layer_file ? 0 : CHIP);
    struct tmx_layer *layer;
    if (b->err->code || !TAKE(b, layer, s->n_below + s->spec.n_layer) || !TAKE(b, s->board, 1)) {
        return;
    }
    for (size_t l = 0; l < s->n_below; l++) {
        layer[l] = (struct tmx_layer){.floorplan = s->layer[0].floorplan,
                                      .lateral = true,
                                      .thickness_m = below[l].thickness_m,
                                      .k_w_per_mk = 1 / below[l].resistivity_mk_per_w,
                                      .p_j_per_m3k = below[l].p_j_per_m3k};
    }
    memcpy(layer + s->n_below, s->layer, s->spec.n_layer * sizeof *layer);
    s->spec.layer = s->layer = layer;
    s->spec.n_layer += s->n_below;
    *s->board = (struct tmx_board){.s_sub_m = cfg->s_sub,
                                   .s_solder_m = cfg->s_solder,
                                   .s_pcb_m = cfg->s_pcb,
                                   .r_convec_k_per_w = cfg->r_convec_sec,
                                   .c_convec_j_per_k = cfg->c_convec_sec,
                                   .quasi_static = b->options->hotspot_compat};
    s->spec.board = s->board;
}

enum tmx_status tmx_stack_create(const struct tmx_hotspot_config *cfg,
                                 const struct tmx_stack_options *options, const struct tmx_log *log,
                                 struct tmx_stack *s, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct build b = {.cfg = cfg, .options = options, .log = log, .s = s, .err = &own};
    *s = (struct tmx_stack){0};
    check_models(&b);
    if (cfg->materials_file[0] && !own.code) {
        tmx_hotspot_config_locate(cfg, "materials_file",
                                  tmx_materials_read(cfg->materials_file, &b.materials, &own), &own);
    }
    /* In the physical network spreader and sink may be of one size. */
    const bool equal = options->network == TMX_NETWORK_PHYSICAL;
    struct tmx_package *pk = &s->spec.package;
    *pk = cfg->package;
    apply_material(&b, "material_spreader", cfg->material_spreader, &pk->k_spreader, &pk->p_spreader);
    apply_material(&b, "material_sink", cfg->material_sink, &pk->k_sink, &pk->p_sink);
    if (equal ? pk->s_spreader_m > pk->s_sink_m : pk->s_spreader_m >= pk->s_sink_m) {
        CONFIG_FAIL(&b, tmx_hotspot_config_closer(cfg, "s_spreader", "s_sink"),
                    "the spreader (s_spreader = %g m) must be smaller than the sink (s_sink = %g m)%s",
                    pk->s_spreader_m, pk->s_sink_m,
                    pk->s_spreader_m == pk->s_sink_m && !equal ? "; with --network physical they may be equal"
                                                               : "");
    }
    if (!own.code) {
        (cfg->grid_layer_file[0] ? file_layers : default_layers)(&b);
    }
    if (!own.code && cfg->model_secondary) {
        add_board(&b);
    }
    if (cfg->r_below > 0 && options->network != TMX_NETWORK_PHYSICAL) {
        CONFIG_FAIL(&b, "r_below",
                    "r_below: HotSpot's network has no film below the stack; --network physical "
                    "has");
    }
    if (!own.code) {
        check_sizes(&b);
    }
    if (!own.code) {
        make_fan(&b);
    }
    tmx_materials_finish(&b.materials);
    tmx_lcf_finish(&b.lcf);
    if (own.code) {
        return tmx_error_give(err, &own);
    }
    s->spec.r_below_k_per_w = cfg->r_below;
    s->spec.rows = (size_t)cfg->grid_rows;
    s->spec.cols = s->col_line_m ? s->spec.cols : (size_t)cfg->grid_cols;
    s->spec.map_mode = options->hotspot_compat && !tmx_hotspot_config_given(cfg, "grid_map_mode")
                           ? TMX_MAP_CENTER
                           : (enum tmx_map_mode)cfg->grid_map_mode;
    s->spec.hotspot_lateral = options->hotspot_compat;
    s->spec.network = options->network;
    s->spec.omit_lateral = cfg->block_omit_lateral;
    if (cfg->model_type == TMX_HOTSPOT_BLOCK) {
        s->spec.network = TMX_NETWORK_BLOCK;
        s->spec.rows = 1;
        s->spec.cols = s->floorplan[0].n_unit;
    }
    s->spec.refine = options->refine;
    s->spec.detailed_3d = cfg->detailed_3D && s->from_layer_file;
    s->spec.ambient_k = cfg->ambient;
    s->spec.init_k = cfg->init_temp;
    s->spec.min_step_s = cfg->sampling_intvl;
    for (size_t i = 0; i < s->n_floorplan; i++) { /* blocks that share a cell have one temperature */
        const size_t n = s->floorplan[i].n_unit, side = (size_t)ceil(sqrt((double)n));
        if (s->spec.rows * s->spec.cols < n) {
            tmx_warn("%s: a grid of %zu x %zu cells is too coarse for %zu blocks; %zu x %zu give each a cell",
                     s->floorplan[i].source[0] ? s->floorplan[i].source : "the floorplan that is made",
                     s->spec.rows, s->spec.cols, n, side, side);
            break;
        }
    }
    return TMX_OK;
}

void tmx_stack_finish(struct tmx_stack *s)
{
    for (size_t i = 0; i < s->n_floorplan; i++) {
        tmx_floorplan_finish(&s->floorplan[i]);
    }
    tmx_arena_finish(&s->arena);
    *s = (struct tmx_stack){0};
}

/* ---- power trace columns ---- */

/* At the trace's names. */
#define TRACE_FAIL(...) tmx_error_at(err, TMX_EPARSE, trace->source, trace->name_line, __VA_ARGS__)

static void unknown_name(const struct tmx_floorplan *fp, const struct tmx_trace *trace, size_t column,
                         struct tmx_err *err)
{
    const char *best = NULL;
    for (size_t i = 0; i < fp->n_unit; i++) {
        const char *const pair[] = {fp->unit[i].name, best};
        const char *near = tmx_suggest_nearest(trace->name[column], pair, best ? 2 : 1);
        best = near ? near : best;
    }
    TRACE_FAIL("column %zu: block \"%s\" is not in the floorplan %s%s%s%s", column + 1, trace->name[column],
               fp->source, best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

enum tmx_status tmx_stack_complete(const struct tmx_stack *s, struct tmx_trace *trace, struct tmx_err *err)
{
    enum { SHOWN = 5 };
    const size_t n_unit = tmx_thermal_spec_units(&s->spec);
    const struct tmx_floorplan *last = NULL;
    char list[320] = "";
    size_t missing = 0, u;
    if (!trace->comma || err->code) {
        return err->code;
    }
    struct tmx_trace whole = {.value = calloc(trace->n_row * n_unit + 1, sizeof *whole.value)};
    size_t *column; /* the trace's of each unit; SIZE_MAX: it has none */
    TMX_TAKE(&whole.arena, whole.name, n_unit);
    TMX_TAKE(&whole.arena, column, n_unit);
    whole.arena.failed = whole.arena.failed || !whole.value;
    tmx_arena_check(&whole.arena, err);
    for (size_t l = 0; l < s->spec.n_layer; l++) {
        const struct tmx_floorplan *fp = s->layer[l].floorplan;
        last = s->layer[l].dissipates ? fp : last;
        for (size_t i = 0; i < fp->n_unit && s->layer[l].dissipates && !err->code; i++) {
            column[whole.n_column] = SIZE_MAX;
            whole.name[whole.n_column++] = tmx_arena_text(&whole.arena, fp->unit[i].name);
            tmx_arena_check(&whole.arena, err);
        }
    }
    for (size_t c = 0; c < trace->n_column && !err->code; c++) {
        bool known = false;
        for (u = 0; u < n_unit; u++) {
            const bool is = tmx_word_compare(whole.name[u], trace->name[c]) == 0;
            known = known || is;
            if (is && column[u] == SIZE_MAX) {
                column[u] = c;
                break;
            }
        }
        if (!known) {
            unknown_name(last, trace, c, err);
        } else if (u == n_unit) {
            TRACE_FAIL("column %zu: block \"%s\" is given more often than there are such blocks", c + 1,
                       trace->name[c]);
        }
    }
    for (u = 0; u < n_unit && !err->code; u++) {
        for (size_t r = 0; r < trace->n_row && column[u] < SIZE_MAX; r++) {
            whole.value[r * n_unit + u] = trace->value[r * trace->n_column + column[u]];
        }
        if (column[u] == SIZE_MAX && missing++ < SHOWN) {
            tmx_text_add(list, sizeof list, "%s%.50s", list[0] ? ", " : "", whole.name[u]);
        }
    }
    if (missing > SHOWN) {
        tmx_text_add(list, sizeof list, " and %zu others", missing - SHOWN);
    }
    if (!err->code) {
        if (missing > 0) {
            tmx_warn("%s: no column, so 0 W: %s", trace->source, list);
        }
        const struct tmx_trace parts = *trace;
        trace->name = whole.name, trace->value = whole.value, trace->n_column = n_unit;
        trace->arena = whole.arena;
        whole.value = parts.value, whole.arena = parts.arena;
    }
    tmx_trace_finish(&whole);
    return err->code;
}

enum tmx_status tmx_stack_columns(const struct tmx_stack *s, const struct tmx_trace *trace, size_t *unit_of,
                                  struct tmx_err *err)
{
    size_t first = 0;
    bool *taken = calloc(tmx_thermal_spec_units(&s->spec) + 1, sizeof *taken);
    if (!taken) {
        return tmx_no_memory(err);
    }
    for (size_t l = 0; !err->code && l < s->spec.n_layer; l++) {
        const struct tmx_floorplan *fp = s->layer[l].floorplan;
        const size_t end = first + (s->layer[l].dissipates ? fp->n_unit : 0);
        for (size_t column = first; column < end && column < trace->n_column && !err->code; column++) {
            const size_t unit = tmx_floorplan_find(fp, trace->name[column]);
            if (unit == fp->n_unit) {
                unknown_name(fp, trace, column, err);
            } else if (taken[first + unit]) {
                TRACE_FAIL("column %zu: block \"%s\" given twice", column + 1, trace->name[column]);
            } else {
                taken[first + unit] = true;
                unit_of[column] = first + unit;
            }
        }
        for (size_t unit = first; unit < end; unit++) {
            if (!taken[unit]) {
                TRACE_FAIL("block \"%s\" of the floorplan %s has no column", fp->unit[unit - first].name,
                           fp->source);
            }
        }
        first = end;
    }
    free(taken);
    if (trace->n_column > first) { /* every block has its column; what is left is unknown or a repetition */
        TRACE_FAIL("column %zu: block \"%s\" is %s; the floorplans have %zu blocks that dissipate", first + 1,
                   trace->name[first],
                   tmx_trace_find(trace, trace->name[first]) < first ? "given twice" : "in no floorplan",
                   first);
    }
    return err->code;
}
