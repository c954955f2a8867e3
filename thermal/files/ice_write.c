/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HotSpot's files -> 3D-ICE stacks and floorplans. Lengths there are um; a stack is written from the sink
 * down. A layer that dissipates becomes a die whose power is on its face away from the sink. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/base/text.h"
#include "core/base/trace.h"
#include "thermal/files/ice_io.h"
#include "thermal/files/stack.h"

enum { NAME = 600, PATH = 1100 };
static const double UM = 1e6;        /* um in a metre */
static const double SOURCE_M = 2e-6; /* thickness that heats, where the layer has more than twice as much */

/* 3D-ICE's identifiers: letters, digits and _, a letter first. */
static void identifier(const char *name, char out[NAME])
{
    size_t n = 0;
    if (!isalpha((unsigned char)name[0])) {
        out[n++] = 'u';
    }
    for (; *name && n < NAME - 1; name++) {
        out[n++] = isalnum((unsigned char)*name) ? *name : '_';
    }
    out[n] = '\0';
}

static void number(FILE *out, const char *before, double v)
{
    char text[TMX_REAL_SIZE];
    tmx_real_print(text, v);
    fprintf(out, "%s%s", before, text);
}

enum tmx_status tmx_ice_write_flp(const char *path, const struct tmx_floorplan *fp,
                                  const struct tmx_trace *power, const size_t *column, struct tmx_err *err)
{
    struct tmx_output o;
    enum tmx_status st = tmx_output_open(&o, path, err);
    for (size_t u = 0; u < fp->n_unit && !st; u++) {
        const struct tmx_unit *unit = &fp->unit[u];
        char name[NAME], other[NAME];
        identifier(unit->name, name);
        for (size_t v = 0; v < u && !st; v++) {
            identifier(fp->unit[v].name, other);
            st = tmx_word_compare(name, other) == 0
                     ? tmx_fail_at(err, TMX_ECONFIG, fp->source, unit->line,
                                   "\"%s\" and \"%s\" are both %s in 3D-ICE's letters", fp->unit[v].name,
                                   unit->name, name)
                     : TMX_OK;
        }
        fprintf(o.file, "%s :\n", name);
        number(o.file, "  position ", unit->x_m * UM);
        number(o.file, ", ", unit->y_m * UM);
        number(o.file, " ;\n  dimension ", unit->w_m * UM);
        number(o.file, ", ", unit->h_m * UM);
        for (size_t r = 0; power && r < power->n_row; r++) {
            number(o.file, r ? ", " : " ;\n  power values ", power->value[r * power->n_column + column[u]]);
        }
        fprintf(o.file, " ;\n\n");
    }
    st = st ? st : tmx_output_commit(&o, err);
    tmx_output_discard(&o);
    return st;
}

static void sheet(FILE *out, const char *word, double t_m, size_t layer)
{
    number(out, word, t_m * UM);
    fprintf(out, " M%zu ;\n", layer);
}

static void material(FILE *out, size_t layer, double k, double p)
{
    fprintf(out, "material M%zu :\n", layer);
    number(out, "  thermal conductivity ", k * 1e-6);
    number(out, " ;\n  volumetric heat capacity ", p * 1e-18);
    fprintf(out, " ;\n\n");
}

static void heat_sink(FILE *out, const char *side, double m2k_per_w, double ambient_k)
{
    fprintf(out, "%s heat sink :\n", side);
    number(out, "  heat transfer coefficient ", 1e-12 / m2k_per_w);
    number(out, " ;\n  temperature ", ambient_k);
    fprintf(out, " ;\n\n");
}

static void write_stack(const struct tmx_thermal_spec *spec, const struct tmx_hotspot_config *cfg, FILE *out)
{
    const struct tmx_package *pk = &spec->package;
    const double W = tmx_thermal_spec_width_m(spec), H = tmx_thermal_spec_height_m(spec);
    const size_t n = spec->n_layer;
    const double plate_t[] = {pk->t_spreader_m, pk->t_sink_m};
    fprintf(out,
            "// Written by thermix floorplan convert --to ice. Layer n is Ln of M n, spreader L%zu, sink "
            "L%zu.\n\n",
            n, n + 1);
    for (size_t l = 0; l < n; l++) {
        material(out, l, spec->layer[l].k_w_per_mk, spec->layer[l].p_j_per_m3k);
    }
    material(out, n, pk->k_spreader, pk->p_spreader);
    material(out, n + 1, pk->k_sink, pk->p_sink);
    heat_sink(out, "top", pk->r_convec_k_per_w * W * H, spec->ambient_k);
    if (spec->r_below_k_per_w > 0) {
        heat_sink(out, "bottom", spec->r_below_k_per_w * W * H, spec->ambient_k);
    }
    number(out, "dimensions :\n  chip length ", W * UM);
    number(out, ", width ", H * UM);
    number(out, " ;\n  cell length ", W * UM / (double)spec->cols);
    number(out, ", width ", H * UM / (double)spec->rows);
    fprintf(out, " ;\n\n");
    for (size_t l = 0; l < n + 2; l++) {
        const double t = l < n ? spec->layer[l].thickness_m : plate_t[l - n];
        if (l < n && spec->layer[l].dissipates) {
            const bool face = t > 2 * SOURCE_M;
            fprintf(out, "die L%zu :\n", l);
            if (face) {
                sheet(out, "  layer ", t - SOURCE_M, l);
            }
            sheet(out, "  source ", face ? SOURCE_M : t, l);
            fputc('\n', out);
        } else {
            fprintf(out, "layer L%zu :\n", l);
            number(out, "  height ", t * UM);
            fprintf(out, " ;\n  material M%zu ;\n\n", l);
        }
    }
    fprintf(out, "stack :\n");
    for (size_t l = n + 2; l-- > 0;) {
        if (l < n && spec->layer[l].dissipates) {
            fprintf(out, "  die D%zu L%zu floorplan \"./D%zu.flp\" ;\n", l, l, l);
        } else {
            fprintf(out, "  layer P%zu L%zu ;\n", l, l);
        }
    }
    number(out, "\nsolver :\n  transient step ", cfg->sampling_intvl / 10);
    number(out, ", slot ", cfg->sampling_intvl);
    number(out, " ;\n  initial temperature ", spec->init_k);
    fprintf(out, " ;\n\noutput :\n");
    for (size_t l = 0; l < n; l++) {
        if (spec->layer[l].dissipates) {
            fprintf(out, "  Tflp ( D%zu, \"D%zu.temps\", average, slot ) ;\n", l, l);
        }
    }
}

static enum tmx_status check(const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    if (spec->board) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "--to ice: a secondary path (model_secondary) is not written");
    }
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_layer *layer = &spec->layer[l];
        bool own = layer->filler_k_w_per_mk > 0;
        for (size_t u = 0; u < layer->floorplan->n_unit && spec->detailed_3d; u++) {
            own = own || !isnan(layer->floorplan->unit[u].resistivity_mk_per_w);
        }
        if (own) {
            return tmx_fail_at(err, TMX_EUNSUPPORTED, layer->floorplan->source, 0,
                               "--to ice: layer %zu has more than one material", l);
        }
    }
    return TMX_OK;
}

static enum tmx_status write_all(const struct tmx_hotspot_config *cfg, const struct tmx_stack *s,
                                 const char *out_dir, struct tmx_err *err)
{
    const struct tmx_thermal_spec *spec = &s->spec;
    char path[PATH];
    struct tmx_output o;
    struct tmx_trace power = {0};
    const size_t n_unit = tmx_thermal_spec_units(spec);
    size_t *unit_of = calloc(2 * n_unit + 1, sizeof *unit_of), *column = unit_of + n_unit, first = 0;
    enum tmx_status st = unit_of ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu units", n_unit);
    if (!st && cfg->p[0]) {
        st = tmx_trace_read(cfg->p, &power, err);
        st = st ? st : tmx_stack_columns(s, &power, unit_of, err);
        for (size_t c = 0; c < n_unit && !st; c++) {
            column[unit_of[c]] = c;
        }
    }
    st = st ? st : tmx_os_mkdirs(out_dir, err);
    st = st ? st : tmx_folder_open(out_dir, TMX_FOLDER_RESULTS, err);
    for (size_t l = 0; l < spec->n_layer && !st; l++) {
        if (spec->layer[l].dissipates) {
            snprintf(path, sizeof path, "%s/D%zu.flp", out_dir, l);
            st = tmx_ice_write_flp(path, spec->layer[l].floorplan, cfg->p[0] ? &power : NULL, column + first,
                                   err);
            first += spec->layer[l].floorplan->n_unit;
        }
    }
    if (!st) {
        snprintf(path, sizeof path, "%s/stack.stk", out_dir);
        st = tmx_output_open(&o, path, err);
    }
    if (!st) {
        write_stack(spec, cfg, o.file);
        st = tmx_output_commit(&o, err);
    }
    tmx_trace_finish(&power);
    free(unit_of);
    return st;
}

enum tmx_status tmx_ice_write_stack(const char *path, const char *out_dir, const char **note,
                                    struct tmx_err *err)
{
    static const char SMALLER[] = "3D-ICE's layers have one size: spreader and sink are written as large as "
                                  "the die, with the whole of r_convec "
                                  "above it, so the chip gets hotter there than here";
    const struct tmx_stack_options options = {.network = TMX_NETWORK_PHYSICAL};
    const size_t length = strlen(path);
    struct tmx_hotspot_config *cfg = malloc(sizeof *cfg);
    struct tmx_stack s = {0};
    if (!cfg) {
        return tmx_no_memory(err);
    }
    tmx_hotspot_config_init(cfg);
    enum tmx_status st = TMX_OK;
    if (length > 4 && strcmp(path + length - 4, ".lcf") == 0) {
        st = tmx_hotspot_config_set(cfg, "grid_layer_file", path, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    } else {
        st = tmx_hotspot_config_read(cfg, path, TMX_HOTSPOT_CONFIG, err);
    }
    st = st ? st : tmx_stack_create(cfg, &options, NULL, &s, err);
    st = st ? st : check(&s.spec, err);
    st = st ? st : write_all(cfg, &s, out_dir, err);
    if (!st) {
        const double W = tmx_thermal_spec_width_m(&s.spec), H = tmx_thermal_spec_height_m(&s.spec);
        *note = s.spec.package.s_sink_m > fmax(W, H) + 1e-6 ? SMALLER : NULL;
    }
    tmx_stack_finish(&s);
    free(cfg);
    return st;
}
