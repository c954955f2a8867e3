/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HotSpot's files -> 3D-ICE stacks and floorplans, and 3D-ICE stacks -> HotSpot's .lcf, .flp, .ptrace and
 * .config. Lengths there are um; a stack is written from the sink
 * down. A layer that dissipates becomes a die whose power is on its face away from the sink. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "base/trace.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/hotspot_lcf.h"
#include "thermal/files/ice.h"
#include "thermal/files/stack.h"

enum { NAME = 600, PATH = 1100 };
static const double M_UM = 1e6, UM = 1e-6; /* um in a metre, and a um in metres */
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

enum tmx_status tmx_ice_write_flp(const char *path, const struct tmx_floorplan *fp,
                                  const struct tmx_trace *power, const size_t *column, struct tmx_err *err)
{
    struct tmx_output o;
    if (tmx_output_open(&o, path, err)) {
        return err->code;
    }
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *unit = &fp->unit[u];
        char name[NAME], other[NAME];
        identifier(unit->name, name);
        for (size_t v = 0; v < u; v++) {
            identifier(fp->unit[v].name, other);
            if (tmx_word_compare(name, other) == 0) {
                tmx_error_at(err, TMX_ECONFIG, fp->source, unit->line,
                             "\"%s\" and \"%s\" are both %s in 3D-ICE's letters", fp->unit[v].name,
                             unit->name, name);
            }
        }
        fprintf(o.file, "%s :\n  position %s, %s ;\n  dimension %s, %s", name,
                TMX_REAL_TEXT(unit->x_m * M_UM), TMX_REAL_TEXT(unit->y_m * M_UM),
                TMX_REAL_TEXT(unit->w_m * M_UM), TMX_REAL_TEXT(unit->h_m * M_UM));
        for (size_t r = 0; power && r < power->n_row; r++) {
            fprintf(o.file, "%s%s", r ? ", " : " ;\n  power values ",
                    TMX_REAL_TEXT(power->value[r * power->n_column + column[u]]));
        }
        fprintf(o.file, " ;\n\n");
    }
    return tmx_output_end(&o, err);
}

static void material(FILE *out, size_t layer, double k, double p)
{
    fprintf(out, "material M%zu :\n  thermal conductivity %s ;\n  volumetric heat capacity %s ;\n\n", layer,
            TMX_REAL_TEXT(k * 1e-6), TMX_REAL_TEXT(p * 1e-18));
}

static void heat_sink(FILE *out, const char *side, double m2k_per_w, double ambient_k)
{
    fprintf(out, "%s heat sink :\n  heat transfer coefficient %s ;\n  temperature %s ;\n\n", side,
            TMX_REAL_TEXT(1e-12 / m2k_per_w), TMX_REAL_TEXT(ambient_k));
}

static void write_stack(const struct tmx_thermal_spec *spec, double slot_s, FILE *out)
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
    fprintf(out, "dimensions :\n  chip length %s, width %s ;\n  cell length %s, width %s ;\n\n",
            TMX_REAL_TEXT(W * M_UM), TMX_REAL_TEXT(H * M_UM), TMX_REAL_TEXT(W * M_UM / (double)spec->cols),
            TMX_REAL_TEXT(H * M_UM / (double)spec->rows));
    for (size_t l = 0; l < n + 2; l++) {
        const double t = l < n ? spec->layer[l].thickness_m : plate_t[l - n];
        if (l < n && spec->layer[l].dissipates) {
            const bool face = t > 2 * SOURCE_M;
            fprintf(out, "die L%zu :\n", l);
            if (face) {
                fprintf(out, "  layer %s M%zu ;\n", TMX_REAL_TEXT((t - SOURCE_M) * M_UM), l);
            }
            fprintf(out, "  source %s M%zu ;\n\n", TMX_REAL_TEXT((face ? SOURCE_M : t) * M_UM), l);
        } else {
            fprintf(out, "layer L%zu :\n  height %s ;\n  material M%zu ;\n\n", l, TMX_REAL_TEXT(t * M_UM), l);
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
    fprintf(out, "\nsolver :\n  transient step %s, slot %s ;\n  initial temperature %s ;\n\noutput :\n",
            TMX_REAL_TEXT(slot_s / 10), TMX_REAL_TEXT(slot_s), TMX_REAL_TEXT(spec->init_k));
    for (size_t l = 0; l < n; l++) {
        if (spec->layer[l].dissipates) {
            fprintf(out, "  Tflp ( D%zu, \"D%zu.temps\", average, slot ) ;\n", l, l);
        }
    }
}

/* The folder, made when absent. */
static void open_folder(const char *out_dir, struct tmx_err *err)
{
    (void)(tmx_os_mkdirs(out_dir, err) || tmx_folder_open(out_dir, TMX_FOLDER_RESULTS, err));
}

enum tmx_status tmx_ice_write_stack(const char *path, const char *out_dir, char note[TMX_ICE_NOTE],
                                    struct tmx_err *err)
{
    const struct tmx_stack_options options = {.network = TMX_NETWORK_PHYSICAL};
    struct tmx_arena scratch = {0};
    struct tmx_hotspot_config *cfg;
    struct tmx_stack s = {0};
    struct tmx_trace power = {0};
    struct tmx_output o;
    char to[PATH];
    if (!TMX_TAKE(&scratch, cfg, 1)) {
        return tmx_no_memory(err);
    }
    tmx_hotspot_config_init(cfg);
    if (tmx_text_ends(path, ".lcf")) {
        tmx_hotspot_config_set(cfg, "grid_layer_file", path, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    } else {
        tmx_hotspot_config_read(cfg, path, TMX_HOTSPOT_CONFIG, err);
    }
    if (!err->code) {
        tmx_stack_create(cfg, &options, NULL, &s, err);
    }
    if (s.spec.board) {
        tmx_error(err, TMX_EUNSUPPORTED, "--to ice: a secondary path (model_secondary) is not written");
    }
    for (size_t l = 0; l < s.spec.n_layer && !err->code; l++) {
        const struct tmx_layer *layer = &s.spec.layer[l];
        bool own = layer->filler_k_w_per_mk > 0;
        for (size_t u = 0; u < layer->floorplan->n_unit && s.spec.detailed_3d; u++) {
            own = own || !isnan(layer->floorplan->unit[u].resistivity_mk_per_w);
        }
        const char *what = layer->k_part_x > 0 ? "conducts differently by direction, which is not written"
                           : layer->falls > 0
                               ? "has a conductivity that falls with temperature, which is not written"
                           : !layer->lateral ? "conducts nothing sideways, which 3D-ICE's layers do"
                           : layer->channels ? "has channels, which are not written"
                           : own             ? "has more than one material"
                                             : NULL;
        if (what) {
            tmx_error_at(err, TMX_EUNSUPPORTED, layer->floorplan->source, 0, "--to ice: layer %zu %s", l,
                         what);
        }
    }
    const size_t n_unit = err->code ? 0 : tmx_thermal_spec_units(&s.spec);
    size_t *unit_of, *column, first = 0;
    TMX_TAKE(&scratch, unit_of, n_unit);
    TMX_TAKE(&scratch, column, n_unit);
    tmx_arena_check(&scratch, err);
    if (!err->code && cfg->p[0] && !tmx_trace_read(cfg->p, &power, err) &&
        !tmx_stack_complete(&s, &power, err) && !tmx_stack_columns(&s, &power, unit_of, err)) {
        for (size_t c = 0; c < n_unit; c++) {
            column[unit_of[c]] = c;
        }
    }
    open_folder(out_dir, err);
    for (size_t l = 0; l < s.spec.n_layer && !err->code; l++) {
        if (s.spec.layer[l].dissipates) {
            snprintf(to, sizeof to, "%s/D%zu.flp", out_dir, l);
            tmx_ice_write_flp(to, s.spec.layer[l].floorplan, cfg->p[0] ? &power : NULL, column + first, err);
            first += s.spec.layer[l].floorplan->n_unit;
        }
    }
    tmx_path_join(to, out_dir, "stack.stk", err);
    if (!tmx_output_open(&o, to, err)) {
        write_stack(&s.spec, power.step_s > 0 ? power.step_s : cfg->sampling_intvl, o.file);
        tmx_output_end(&o, err);
    }
    char c_convec[48];
    snprintf(c_convec, sizeof c_convec, "c_convec = %g J/K", cfg->package.c_convec_j_per_k);
    const struct { /* what 3D-ICE has no words for */
        bool lost;
        const char *what;
    } rows[] = {{cfg->package.c_convec_j_per_k > 0, c_convec},
                {cfg->leakage_used, "leakage_used"},
                {cfg->init_file[0] != '\0', "init_file"},
                {cfg->dtm_used, "dtm_used"},
                {cfg->package_model_used && cfg->natural_convec, "natural_convec"}};
    note[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].lost) {
            tmx_text_add(note, TMX_ICE_NOTE, "%s%s", note[0] ? ", " : "not written: ", rows[i].what);
        }
    }
    if (!err->code && s.spec.package.s_sink_m > 1e-6 + fmax(tmx_thermal_spec_width_m(&s.spec),
                                                            tmx_thermal_spec_height_m(&s.spec))) {
        tmx_text_add(note, TMX_ICE_NOTE,
                     "%s3D-ICE's layers have one size: spreader and sink are written as large as the die, "
                     "with the whole of r_convec above it, so the chip gets hotter there than here",
                     note[0] ? "; " : "");
    }
    tmx_trace_finish(&power);
    tmx_stack_finish(&s);
    tmx_arena_finish(&scratch);
    return err->code;
}

static const double SAME_M = 1e-9; /* rounding of a floorplan's numbers */

/* A floorplan's path: relative to the folder of the stack file, or else, as 3D-ICE has it, to the current
 * one. */
static void locate(const char *stack, const char *file, char path[PATH])
{
    const char *slash = strrchr(stack, '/');
    snprintf(path, PATH, "%s", file);
    if (file[0] != '/' && slash) {
        char beside[PATH];
        snprintf(beside, PATH, "%.*s/%s", (int)(slash - stack), stack, file);
        if (tmx_os_exists(beside) || !tmx_os_exists(file)) {
            memcpy(path, beside, sizeof beside);
        }
    }
}

/* Edges of fp's units along one axis, with the chip's, ascending and apart; returns how many. */
static size_t edges(const struct tmx_floorplan *fp, bool x, double chip_m, double *edge)
{
    size_t n = 0, kept = 0;
    edge[n++] = 0;
    edge[n++] = chip_m;
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *unit = &fp->unit[u];
        edge[n++] = x ? unit->x_m : unit->y_m;
        edge[n++] = x ? unit->x_m + unit->w_m : unit->y_m + unit->h_m;
    }
    qsort(edge, n, sizeof *edge, tmx_real_compare);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || edge[i] - edge[kept - 1] > SAME_M) {
            edge[kept++] = edge[i];
        }
    }
    return kept;
}

static bool taken(const struct tmx_floorplan *fp, size_t n_unit, double x, double y)
{
    for (size_t u = 0; u < n_unit; u++) {
        const struct tmx_unit *v = &fp->unit[u];
        if (x > v->x_m && x < v->x_m + v->w_m && y > v->y_m && y < v->y_m + v->h_m) {
            return true;
        }
    }
    return false;
}

/* A floorplan's file. What the elements leave of the chip becomes blocks without power (of its powers, NULL:
 * it has none): HotSpot takes the blocks' bounding box for the die. Without elements it is one block. */
static void write_units(const struct tmx_ice_stack *s, struct tmx_floorplan *fp,
                        struct tmx_ice_powers *powers, const char *out_dir, const char *file,
                        const char *comment, struct tmx_err *err)
{
    char to[PATH], name[TMX_ICE_NAME + 96] = "die"; /* longer than any that an element has */
    const size_t n_unit = fp->n_unit, n_slot = powers ? powers->n_slot : 0;
    double *x = err->code ? NULL : calloc(4 * n_unit + 4, sizeof *x);
    if (!x) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        return;
    }
    double *y = x + 2 * n_unit + 2;
    const size_t nx = edges(fp, true, s->length_m, x), ny = edges(fp, false, s->width_m, y);
    if (x[0] < -SAME_M || y[0] < -SAME_M || x[nx - 1] > s->length_m + SAME_M ||
        y[ny - 1] > s->width_m + SAME_M) {
        tmx_error_at(err, TMX_EPARSE, fp->source, 0, "an element lies outside the chip of %g x %g um",
                     s->length_m / UM, s->width_m / UM);
    }
    for (size_t j = 0; j + 1 < ny && !err->code; j++) {
        for (size_t i = 0, to_x; i + 1 < nx && !err->code; i = to_x + 1) {
            for (to_x = i; to_x + 1 < nx; to_x++) { /* as far as the row is free */
                if (taken(fp, n_unit, 0.5 * (x[to_x] + x[to_x + 1]), 0.5 * (y[j] + y[j + 1]))) {
                    break;
                }
            }
            if (n_unit > 0) {
                snprintf(name, sizeof name, "filler_%zu", fp->n_unit - n_unit);
                tmx_ice_name_apart(fp, name, sizeof name);
            }
            if (to_x > i) {
                const struct tmx_unit u = {name, x[i], y[j], x[to_x] - x[i], y[j + 1] - y[j], NAN, NAN, 0};
                tmx_floorplan_add(fp, &u, err);
            }
        }
    }
    free(x);
    snprintf(to, sizeof to, "%s/%s.flp", out_dir, file);
    if (!err->code && !tmx_floorplan_check(fp, false, err)) {
        tmx_flp_write(to, fp, comment, err);
    }
    if (!err->code && n_slot > 0) {
        double *w = realloc(powers->w, fp->n_unit * n_slot * sizeof *w);
        if (!w) {
            tmx_error(err, TMX_ENOMEM, "out of memory");
            return;
        }
        powers->w = w;
        memset(w + n_unit * n_slot, 0, (fp->n_unit - n_unit) * n_slot * sizeof *w);
    }
}

/* A file's name that no die has, as files are named after dies. */
static void name_apart(const struct tmx_ice_stack *s, const char *base, char name[TMX_ICE_NAME])
{
    snprintf(name, TMX_ICE_NAME, "%s", base);
    for (size_t i = 0; i < s->n_placed; i++) {
        if (s->kind[s->placed[i].kind].die && tmx_word_compare(s->placed[i].name, name) == 0) {
            tmx_text_add(name, TMX_ICE_NAME, "_");
            i = SIZE_MAX; /* from the first again */
        }
    }
}

/* The name of a layout's file, counted from 1. */
static void name_layout(const struct tmx_ice_stack *s, size_t layout, char name[TMX_ICE_NAME])
{
    char base[32];
    snprintf(base, sizeof base, "layout%zu", layout);
    name_apart(s, base, name);
}

/* Is it cooled from the bottom alone? Layer 0 is the one farthest from the sink. */
static bool upside_down(const struct tmx_ice_stack *s)
{
    return s->top_w_per_m2k == 0 && s->bottom_w_per_m2k > 0;
}

/* The entry of the stack that is the i-th from layer 0 on. */
static const struct tmx_ice_placed *placed_at(const struct tmx_ice_stack *s, size_t i)
{
    return &s->placed[upside_down(s) ? i : s->n_placed - 1 - i];
}

static void write_layers(const struct tmx_ice_stack *s, FILE *out)
{
    size_t number = 0;
    fprintf(out, "# Converted from a 3D-ICE stack. Layer 0 is farthest from the heat sink.\n"
                 "# number, lateral flow, power, J/(m3 K), m K/W, m, floorplan\n");
    for (size_t i = 0; i < s->n_placed; i++) {
        const struct tmx_ice_placed *p = placed_at(s, i);
        const struct tmx_ice_kind *k = &s->kind[p->kind];
        for (size_t j = 0; j < k->n_slice; j++) {
            const struct tmx_ice_slice *slice = &k->slice[upside_down(s) ? j : k->n_slice - 1 - j];
            const struct tmx_ice_material *m = &s->material[slice->material];
            char layout[TMX_ICE_NAME];
            name_layout(s, slice->layout, layout);
            fprintf(out, "%zu\nY\n%c\n%s\n%s\n%s\n%s.flp\n", number++, slice->source ? 'Y' : 'N',
                    TMX_REAL_TEXT(m->c_j_per_m3k), TMX_REAL_TEXT(1 / m->k_w_per_mk),
                    TMX_REAL_TEXT(slice->height_m * UM),
                    slice->source   ? p->name
                    : slice->layout ? layout
                                    : s->block);
            if (m->k_part_x != 1 || m->k_part_y != 1) {
                fprintf(out, "conductivity %.12g %.12g %.12g\n", m->k_part_x * m->k_w_per_mk,
                        m->k_part_y * m->k_w_per_mk, m->k_w_per_mk);
            }
            if (k->channel) { /* transport as 3D-ICE's: means of both sides of a face */
                struct tmx_channels flow = s->channels;
                flow.flow_m3_per_s *= flow.kind > TMX_CHANNELS_RESOLVED ? s->length_m : 1;
                flow.h_top = upside_down(s) ? s->channels.h_bottom : flow.h_top;
                flow.h_bottom = upside_down(s) ? s->channels.h_top : flow.h_bottom;
                tmx_lcf_print_channels(flow, out);
            }
            fputc('\n', out);
        }
    }
}

/* Columns in the order of the layers; a row a slot, behind that of names. */
static void write_powers(const struct tmx_ice_stack *s, size_t n_slot, FILE *out, struct tmx_err *err)
{
    for (size_t k = 0; k <= n_slot; k++) {
        const char *before = "";
        for (size_t i = 0; i < s->n_placed; i++) {
            const struct tmx_ice_placed *p = placed_at(s, i);
            const bool die = s->kind[p->kind].die, some = p->powers.n_slot > 0;
            for (size_t u = 0; die && u < p->units.n_unit; u++) {
                fprintf(out, "%s%s", before,
                        k > 0 ? TMX_REAL_TEXT(some ? p->powers.w[u * n_slot + k - 1] : 0)
                              : p->units.unit[u].name);
                before = "\t";
            }
            if (die && some && p->powers.n_slot != n_slot) {
                tmx_error_at(err, TMX_EPARSE, s->l.text.name, 0,
                             "die \"%s\" has %zu power values, another %zu", p->name, p->powers.n_slot,
                             n_slot);
                return;
            }
        }
        fputc('\n', out);
    }
}

/* 3D-ICE 4 has neither spreader nor sink: both are sheets of next to nothing, of the last layer's material.
 * Of 3D-ICE 2.x they may be plates. */
static const double SHEET_M = 1e-8;

/* A number of a plate, k or c; a sheet's is kept within those of real plates, which thermal expects: it has
 * next to none of heat. */
static double of_plate(const struct tmx_ice_plate *p, double v, double least, double most)
{
    return p->height_m > SHEET_M ? v : fmin(fmax(v, least), most);
}

static void write_config(const struct tmx_ice_stack *s, bool powers, FILE *out)
{
    static const double INSULATED_K_PER_W = 1e6; /* the largest r_convec: coolant alone cools it */
    const struct tmx_ice_kind *last = &s->kind[placed_at(s, s->n_placed - 1)->kind];
    const struct tmx_ice_material *m =
        &s->material[last->slice[upside_down(s) ? last->n_slice - 1 : 0].material];
    const double side_m = fmax(s->length_m, s->width_m), face_m2 = s->length_m * s->width_m;
    const struct tmx_ice_plate none = {SHEET_M, side_m, (size_t)(m - s->material)};
    struct tmx_ice_plate spreader = s->spreader.side_m > 0 ? s->spreader : none,
                         sink = s->sink.side_m > 0
                                    ? s->sink
                                    : (struct tmx_ice_plate){SHEET_M, spreader.side_m, spreader.material};
    if (s->spreader.side_m <= 0 && s->sink.side_m > 0) { /* no sheet is needed: the plate in two */
        spreader = sink;
        spreader.height_m = 0.1 * sink.height_m;
        sink.height_m -= spreader.height_m;
    }
    const double air_k = s->ambient_k > 0 ? s->ambient_k : s->channels.inlet_k;
    const bool both = s->top_w_per_m2k > 0 && s->bottom_w_per_m2k > 0;
    const double film = upside_down(s) ? s->bottom_w_per_m2k : s->top_w_per_m2k;
    const struct {
        const char *key;
        double v;
    } rows[] = {{"ambient", air_k},
                {"init_temp", s->init_k > 0 ? s->init_k : air_k},
                {"s_spreader", spreader.side_m},
                {"t_spreader", spreader.height_m},
                {"k_spreader", of_plate(&spreader, s->material[spreader.material].k_w_per_mk, 5, 5000)},
                {"p_spreader", of_plate(&spreader, s->material[spreader.material].c_j_per_m3k, 1e4, 6e6)},
                {"s_sink", sink.side_m},
                {"t_sink", sink.height_m},
                {"k_sink", of_plate(&sink, s->material[sink.material].k_w_per_mk, 5, 5000)},
                {"p_sink", of_plate(&sink, s->material[sink.material].c_j_per_m3k, 1e4, 6e6)},
                {"r_convec", film > 0 ? 1 / (film * sink.side_m * sink.side_m) : INSULATED_K_PER_W},
                {"c_convec", 0},
                {"r_below", both ? 1 / (s->bottom_w_per_m2k * face_m2) : 0},
                {"sampling_intvl", s->slot_s > 0 ? s->slot_s : 1}};
    bool detailed = s->n_layout > 0; /* has a part of a layer a material of its own? */
    for (size_t i = 0; i < s->n_placed; i++) {
        for (size_t u = 0; u < s->placed[i].units.n_unit; u++) {
            detailed = detailed || !isnan(s->placed[i].units.unit[u].resistivity_mk_per_w);
        }
    }
    fprintf(out,
            "# Converted from a 3D-ICE stack, for thermix thermal --network physical.\n-model_type grid\n"
            "-grid_layer_file stack.lcf\n%s%s",
            detailed ? "-detailed_3D on\n" : "", powers ? "-p stack.ptrace\n" : "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(out, "-%s %s\n", rows[i].key, TMX_REAL_TEXT(rows[i].v));
    }
    if (s->cell_length_m > 0) {
        fprintf(out, "-grid_rows %.0f\n", fmax(2, round(s->width_m / s->cell_width_m)));
    }
    if (s->cell_length_m > 0 && s->channels.kind != TMX_CHANNELS_RESOLVED) {
        fprintf(out, "-grid_cols %.0f\n", fmax(2, round(s->length_m / s->cell_length_m)));
    }
}

enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir, struct tmx_err *err)
{
    char file[PATH], name[TMX_ICE_NAME];
    struct tmx_ice_stack *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_no_memory(err);
    }
    tmx_ice_stack_read(s, path, err);
    const double die_m = fmax(s->length_m, s->width_m) - SAME_M, spreader_m = s->spreader.side_m,
                 below_m = spreader_m > 0 ? spreader_m - SAME_M : die_m;
    size_t n = 0;
    for (size_t i = 0; i < s->n_placed; i++) {
        n += s->kind[s->placed[i].kind].n_slice;
    }
    if (n > TMX_LCF_MAX_LAYERS) { /* of a layer file */
        tmx_error_at(err, TMX_EPARSE, s->l.text.name, 0,
                     "%zu layers, those of dies included: expected at most %d", n, TMX_LCF_MAX_LAYERS);
    }
    if ((spreader_m > 0 && spreader_m < die_m) || (s->sink.side_m > 0 && s->sink.side_m < below_m)) {
        tmx_error_at(err, TMX_EPARSE, s->l.text.name, 0,
                     "a spreader of %g mm2 and a sink of %g mm2 on a chip of %g x %g um: expected each not "
                     "smaller than what it lies on",
                     1e6 * spreader_m * spreader_m, 1e6 * s->sink.side_m * s->sink.side_m, s->length_m / UM,
                     s->width_m / UM);
    }
    open_folder(out_dir, err);
    for (size_t i = 0; i < s->n_placed && !err->code; i++) {
        struct tmx_ice_placed *p = &s->placed[i];
        if (s->kind[p->kind].die) {
            locate(s->l.text.name, p->floorplan, file);
            tmx_ice_read_flp(file, &p->units, &p->powers, s, err);
            write_units(s, &p->units, &p->powers, out_dir, p->name, "converted from a 3D-ICE floorplan", err);
        }
    }
    for (size_t i = 0; i < s->n_layout && !err->code; i++) {
        struct tmx_ice_layout *y = &s->layout[i];
        locate(s->l.text.name, y->file, file);
        name_layout(s, i + 1, name);
        tmx_fail_from(err, tmx_ice_read_layout(s, file, &y->units, err), s->l.text.name, y->line, "layout");
        write_units(s, &y->units, NULL, out_dir, name, "converted from a 3D-ICE layout", err);
    }
    if (!err->code) { /* a block as large as the chip */
        struct tmx_floorplan whole = {0};
        name_apart(s, "die", s->block);
        write_units(s, &whole, NULL, out_dir, s->block, "one block for layers without a floorplan", err);
        tmx_floorplan_finish(&whole);
    }
    static const char *const names[] = {"stack.lcf", "stack.ptrace", "stack.config"};
    size_t n_slot = 0;
    for (size_t i = 0; i < s->n_placed; i++) {
        n_slot = s->placed[i].powers.n_slot > n_slot ? s->placed[i].powers.n_slot : n_slot;
    }
    const bool wanted[] = {true, n_slot > 0,
                           s->top_w_per_m2k + s->bottom_w_per_m2k != 0 || s->channels.inlet_k != 0};
    for (size_t f = 0; f < sizeof names / sizeof names[0]; f++) {
        struct tmx_output o;
        tmx_path_join(file, out_dir, names[f], err);
        if (!wanted[f] || tmx_output_open(&o, file, err)) {
            continue;
        }
        if (f == 0) {
            write_layers(s, o.file);
        } else if (f == 1) {
            write_powers(s, n_slot, o.file, err);
        } else {
            write_config(s, n_slot > 0, o.file);
        }
        tmx_output_end(&o, err);
    }
    tmx_ice_stack_finish(s);
    free(s);
    return err->code;
}
