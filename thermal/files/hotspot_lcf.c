/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_lcf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/plausible.h"
#include "core/base/text.h"

struct reader {
    struct tmx_text_file text;
    struct tmx_lines lines;
    const struct tmx_materials *materials;
    struct tmx_err *err;
};

#define FAIL(r, ...) tmx_fail_at((r)->err, TMX_EPARSE, (r)->text.name, (r)->lines.number, __VA_ARGS__)

/* First field of the next filled line; what names it in the message at the file's end. */
static enum tmx_status next(struct reader *r, const char *what, struct tmx_span *token)
{
    if (!tmx_lines_next_filled(&r->lines, &r->text)) {
        return FAIL(r, "the file ends before the %s of a layer", what);
    }
    struct tmx_span rest = r->lines.line;
    return tmx_span_field(&rest, token) ? TMX_OK : TMX_EPARSE;
}

static enum tmx_status yes_no(struct reader *r, const char *what, bool *yes)
{
    struct tmx_span token;
    const enum tmx_status st = next(r, what, &token);
    if (st) {
        return st;
    }
    *yes = tmx_span_is(token, "Y");
    return *yes || tmx_span_is(token, "N")
               ? TMX_OK
               : FAIL(r, "%s \"%.*s\": expected Y or N", what, TMX_SPAN_ARG(token));
}

static enum tmx_status number(struct reader *r, struct tmx_span token, const char *what, double min,
                              double max, double *v)
{
    if (!tmx_span_real(token, v)) {
        return FAIL(r, "%s \"%.*s\" %s", what, TMX_SPAN_ARG(token), tmx_span_real_fault(token));
    }
    return *v < min || *v > max ? FAIL(r, "%s = %g is outside [%g, %g]", what, *v, min, max) : TMX_OK;
}

/* A word that starts like a number is a number, never a material. */
static bool looks_numeric(struct tmx_span token)
{
    const char c = token.begin[0];
    double v;
    return tmx_span_real(token, &v) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
           tmx_span_is(token, "nan") || tmx_span_is(token, "inf");
}

static enum tmx_status numbers(struct reader *r, struct tmx_span capacity, struct tmx_span resistivity,
                               double *k, double *p)
{
    double mk_per_w = NAN;
    enum tmx_status st = number(r, capacity, "heat capacity [J/(m3 K)]", 1, 1e9, p);
    st = st ? st
            : number(r, resistivity, "resistivity [m K/W]", 1 / TMX_MAX_CONDUCTIVITY,
                     1 / TMX_MIN_CONDUCTIVITY, &mk_per_w);
    *k = 1 / mk_per_w;
    st = st ? st : tmx_plausible(NULL, "capacity", "J/(m3 K)", *p, r->text.name, r->lines.number - 1, r->err);
    return st ? st
              : tmx_plausible(NULL, "conductivity", "W/(m K)", *k, r->text.name, r->lines.number, r->err);
}

static enum tmx_status named(struct reader *r, struct tmx_span token, double *k, double *p)
{
    char name[TMX_MATERIAL_NAME_SIZE];
    const bool fits = tmx_span_copy(token, name, sizeof name), any = r->materials && r->materials->n > 0;
    const struct tmx_material *found = fits && any ? tmx_materials_find(r->materials, name) : NULL;
    if (!found && !any) {
        return FAIL(r, "unknown material \"%.*s\"; no materials file is given", TMX_SPAN_ARG(token));
    }
    if (!found) {
        const char *near = fits ? tmx_materials_nearest(r->materials, name) : NULL;
        return FAIL(r, "unknown material \"%.*s\"%s%s%s", TMX_SPAN_ARG(token),
                    near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    *k = found->k_w_per_mk;
    *p = found->p_j_per_m3k;
    return tmx_materials_check(r->materials, found, r->err);
}

/* A heat capacity and, on the next line, a resistivity; or one material name for both. */
static enum tmx_status material(struct reader *r, struct tmx_lcf_layer *layer)
{
    struct tmx_span capacity, resistivity;
    enum tmx_status st = next(r, "heat capacity", &capacity);
    if (st || !looks_numeric(capacity)) {
        return st ? st : named(r, capacity, &layer->k_w_per_mk, &layer->p_j_per_m3k);
    }
    double v; /* says it of the heat capacity's own line */
    st = number(r, capacity, "heat capacity [J/(m3 K)]", 1, 1e9, &v);
    st = st ? st : next(r, "resistivity", &resistivity);
    return st ? st : numbers(r, capacity, resistivity, &layer->k_w_per_mk, &layer->p_j_per_m3k);
}

/* One more floorplan in the layer. */
static enum tmx_status add_part(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span file)
{
    struct tmx_lcf_part *grown = realloc(layer->part, (layer->n_part + 1) * sizeof *grown);
    if (!grown) {
        return tmx_fail(r->err, TMX_ENOMEM, "floorplans of a layer");
    }
    layer->part = grown;
    layer->part[layer->n_part] = (struct tmx_lcf_part){.line = r->lines.number};
    return tmx_span_copy(file, layer->part[layer->n_part++].floorplan, sizeof layer->part->floorplan)
               ? TMX_OK
               : FAIL(r, "file name too long");
}

static enum tmx_status corner(struct reader *r, struct tmx_span *rest, struct tmx_lcf_part *part)
{
    struct tmx_span x, y;
    if (!tmx_span_field(rest, &x) || !tmx_span_field(rest, &y)) {
        return FAIL(r, "expected the place X Y [m] of a floorplan's lower left corner");
    }
    const enum tmx_status st = number(r, x, "x [m]", 0, 1, &part->x_m);
    return st ? st : number(r, y, "y [m]", 0, 1, &part->y_m);
}

/* `channels merged|resolved|pins|pins_staggered KEY VALUE ...`: coolant through the layer, whose own material
 * is that of the walls or pins. */
static enum tmx_status channels(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span rest)
{
    static const char *const kinds[] = {"merged", "resolved", "pins", "pins_staggered"};
    struct tmx_channels *c = &layer->channels;
    double pitch_m = 0;
    const struct {
        const char *key, *unit;
        double *to, min, max;
        unsigned needed; /* bit by kind */
    } keys[] = {{"width", "m", &c->width_m, 1e-9, 1, 15},
                {"pitch", "m", &pitch_m, 1e-9, 1, 15},
                {"first", "m", &c->first_m, 1e-9, 1, 2},
                {"last", "m", &c->last_m, 1e-9, 1, 2},
                {"flow", "m3/s", &c->flow_m3_per_s, 1e-15, 1, 15},
                {"inlet", "K", &c->inlet_k, 200, 1000, 15},
                {"p", "J/(m3 K)", &c->p_j_per_m3k, 1, 1e9, 15},
                {"h_top", "W/(m2 K)", &c->h_top, 1e-3, 1e9, 3},
                {"h_bottom", "W/(m2 K)", &c->h_bottom, 1e-3, 1e9, 3},
                {"h_side", "W/(m2 K)", &c->h_side, 1e-3, 1e9, 2},
                {"viscosity", "Pa s", &c->viscosity_pa_s, 1e-9, 1e3, 0}};
    enum { KEYS = sizeof keys / sizeof keys[0], KINDS = sizeof kinds / sizeof kinds[0] };
    struct tmx_span word, value;
    bool given[KEYS] = {0}, transport = false;
    size_t kind = 0, k = 0;
    if (layer->wet) {
        return FAIL(r, "channels: given twice");
    }
    while (tmx_span_field(&rest, &word) && kind < KINDS && !tmx_span_is(word, kinds[kind])) {
        kind++;
        rest.begin = word.begin;
    }
    if (kind == KINDS || tmx_span_length(word) == 0) {
        return FAIL(r, "channels: expected merged, resolved, pins or pins_staggered");
    }
    *c = (struct tmx_channels){.kind = (enum tmx_channel_kind)kind};
    layer->wet = r->lines.number;
    while (tmx_span_field(&rest, &word)) {
        if (!tmx_span_field(&rest, &value)) {
            return FAIL(r, "channels: %.*s has no value", TMX_SPAN_ARG(word));
        }
        if (tmx_span_is(word, "transport")) {
            c->upwind = tmx_span_is(value, "upwind");
            if (transport || (!c->upwind && !tmx_span_is(value, "central"))) {
                return FAIL(r, "channels: transport must be upwind or central, once");
            }
            transport = true;
            continue;
        }
        for (k = 0; k < KEYS && !tmx_span_is(word, keys[k].key);) {
            k++;
        }
        if (k == KEYS || given[k]) {
            return FAIL(r, "channels: %.*s %s", TMX_SPAN_ARG(word),
                        k == KEYS ? "is no key of it" : "is given twice");
        }
        char what[64];
        snprintf(what, sizeof what, "channels: %s [%s]", keys[k].key, keys[k].unit);
        given[k] = true;
        const enum tmx_status st = number(r, value, what, keys[k].min, keys[k].max, keys[k].to);
        if (st) {
            return st;
        }
    }
    for (k = 0; k < KEYS; k++) {
        if (keys[k].needed >> kind & 1 && !given[k]) {
            return FAIL(r, "channels %s: %s [%s] is missing", kinds[kind], keys[k].key, keys[k].unit);
        }
    }
    c->wall_m = pitch_m - c->width_m;
    return c->wall_m > 0
               ? TMX_OK
               : FAIL(r, "channels: a width of %g m leaves no wall in a pitch of %g m", c->width_m, pitch_m);
}

/* `conductivity_falls EXPONENT FROM_K`. */
static enum tmx_status falls(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span rest)
{
    struct tmx_span first, second, more;
    if (layer->falls > 0) {
        return FAIL(r, "conductivity_falls: given twice");
    }
    if (!tmx_span_field(&rest, &first) || !tmx_span_field(&rest, &second)) {
        return FAIL(
            r, "conductivity_falls: expected an exponent and the kelvins at which the conductivity is given");
    }
    enum tmx_status st = number(r, first, "conductivity_falls: exponent", 1e-3, 5, &layer->falls);
    st = st ? st : number(r, second, "conductivity_falls: from [K]", 100, 1000, &layer->falls_from_k);
    return !st && tmx_span_field(&rest, &more)
               ? FAIL(r, "conductivity_falls: unexpected \"%.*s\"", TMX_SPAN_ARG(more))
               : st;
}

/* What may follow a layer's floorplan: `at X Y`, `place FILE X Y [PREFIX]`, `channels KIND ...`, `filler
 * MATERIAL` or `filler HEAT-CAPACITY RESISTIVITY`, `conductivity ...`, `conductivity_falls ...`. */
static enum tmx_status addition(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span rest)
{
    struct tmx_span word, first, second, more;
    enum tmx_status st = TMX_OK;
    tmx_span_field(&rest, &word);
    if (tmx_span_is(word, "conductivity")) {
        double k[3];
        for (size_t i = 0; i < 3 && !st; i++) {
            st = tmx_span_field(&rest, &first) ? number(r, first, "conductivity [W/(m K)]",
                                                        TMX_MIN_CONDUCTIVITY, TMX_MAX_CONDUCTIVITY, &k[i])
                                               : FAIL(r, "conductivity: expected K_X K_Y K_Z [W/(m K)]");
        }
        if (!st && layer->k_part_x > 0) {
            st = FAIL(r, "conductivity: given twice");
        }
        layer->k_w_per_mk = st ? 0 : k[2];
        layer->k_part_x = st ? 0 : k[0] / k[2];
        layer->k_part_y = st ? 0 : k[1] / k[2];
        return !st && tmx_span_field(&rest, &more)
                   ? FAIL(r, "conductivity: unexpected \"%.*s\"", TMX_SPAN_ARG(more))
                   : st;
    }
    if (tmx_span_is(word, "conductivity_falls")) {
        return falls(r, layer, rest);
    }
    if (tmx_span_is(word, "channels")) {
        return channels(r, layer, rest);
    }
    if (tmx_span_is(word, "at")) {
        st = layer->at ? FAIL(r, "at: given twice") : corner(r, &rest, &layer->part[0]);
        layer->at = true;
    } else if (tmx_span_is(word, "place")) {
        st = tmx_span_field(&rest, &first) ? add_part(r, layer, first)
                                           : FAIL(r, "place: expected FILE X Y [PREFIX]");
        struct tmx_lcf_part *part = &layer->part[layer->n_part - 1];
        st = st ? st : corner(r, &rest, part);
        if (!st && tmx_span_field(&rest, &second) &&
            !tmx_span_copy(second, part->prefix, sizeof part->prefix)) {
            st = FAIL(r, "place: prefix too long");
        }
    } else if (layer->filler_k_w_per_mk > 0) {
        st = FAIL(r, "filler: given twice");
    } else if (!tmx_span_field(&rest, &first)) {
        st = FAIL(r, "filler: expected a material, or heat capacity and resistivity");
    } else if (looks_numeric(first)) {
        st = tmx_span_field(&rest, &second)
                 ? numbers(r, first, second, &layer->filler_k_w_per_mk, &layer->filler_p_j_per_m3k)
                 : FAIL(r, "filler: expected heat capacity and resistivity");
    } else {
        st = named(r, first, &layer->filler_k_w_per_mk, &layer->filler_p_j_per_m3k);
    }
    return !st && tmx_span_field(&rest, &more)
               ? FAIL(r, "%.*s: unexpected \"%.*s\"", TMX_SPAN_ARG(word), TMX_SPAN_ARG(more))
               : st;
}

static bool is_addition(struct tmx_span token)
{
    return tmx_span_is(token, "at") || tmx_span_is(token, "place") || tmx_span_is(token, "filler") ||
           tmx_span_is(token, "channels") || tmx_span_is(token, "conductivity") ||
           tmx_span_is(token, "conductivity_falls");
}

static enum tmx_status body(struct reader *r, struct tmx_lcf_layer *layer)
{
    struct tmx_span token;
    enum tmx_status st = yes_no(r, "lateral heat flow", &layer->lateral);
    st = st ? st : yes_no(r, "power dissipation", &layer->dissipates);
    st = st ? st : material(r, layer);
    st = st ? st : next(r, "thickness", &token);
    st = st ? st : number(r, token, "thickness [m]", 1e-9, 1, &layer->thickness_m);
    st =
        st ? st
           : tmx_plausible(NULL, "thickness", "m", layer->thickness_m, r->text.name, r->lines.number, r->err);
    st = st ? st : next(r, "floorplan file", &token);
    return st ? st : add_part(r, layer, token);
}

/* *last becomes the layer read, for what follows it. */
static enum tmx_status layer(struct reader *r, struct tmx_lcf *lcf, struct tmx_span token,
                             struct tmx_lcf_layer **last)
{
    struct tmx_lcf_layer read = {.given = true, .line = r->lines.number};
    double v;
    enum tmx_status st = number(r, token, "layer number", 0, TMX_LCF_MAX_LAYERS - 1, &v);
    if (!st && v != floor(v)) {
        st = FAIL(r, "layer number %g is no integer", v);
    }
    if (st) {
        return st;
    }
    const size_t l = (size_t)v;
    if (lcf->layer[l].given) {
        return FAIL(r, "layer %zu given twice (first at line %u)", l, lcf->layer[l].line);
    }
    st = body(r, &read);
    *last = &lcf->layer[l];
    lcf->layer[l] = read;
    lcf->n_layer = l + 1 > lcf->n_layer ? l + 1 : lcf->n_layer;
    return st;
}

static enum tmx_status check(struct reader *r, const struct tmx_lcf *lcf)
{
    bool dissipates = false;
    for (size_t l = 0; l < lcf->n_layer; l++) {
        if (!lcf->layer[l].given) {
            return FAIL(r, "layer %zu of 0..%zu is missing", l, lcf->n_layer - 1);
        }
        dissipates = dissipates || lcf->layer[l].dissipates;
        if ((lcf->layer[l].at || lcf->layer[l].n_part > 1) && lcf->layer[l].filler_k_w_per_mk == 0) {
            return tmx_fail_at(
                r->err, TMX_EPARSE, r->text.name, lcf->layer[l].line,
                "layer %zu: its floorplans are placed, so a line \"filler MATERIAL\" must name what "
                "is beside them",
                l);
        }
    }
    if (lcf->n_layer == 0) {
        return FAIL(r, "no layers");
    }
    return dissipates ? TMX_OK : FAIL(r, "no layer dissipates power");
}

enum tmx_status tmx_lcf_read(const char *path, const struct tmx_materials *materials, struct tmx_lcf *lcf,
                             struct tmx_err *err)
{
    struct reader r = {.materials = materials, .err = err};
    struct tmx_lcf_layer *last = NULL;
    *lcf = (struct tmx_lcf){0};
    enum tmx_status st = tmx_text_load(&r.text, path, err);
    if (st) {
        return st;
    }
    snprintf(lcf->source, sizeof lcf->source, "%s", path);
    lcf->layer = calloc(TMX_LCF_MAX_LAYERS, sizeof *lcf->layer);
    if (!lcf->layer) {
        st = tmx_fail_at(err, TMX_ENOMEM, path, 0, "out of memory");
    }
    while (!st && tmx_lines_next_filled(&r.lines, &r.text)) {
        struct tmx_span rest = r.lines.line, token;
        if (tmx_span_field(&rest, &token)) {
            st = last && is_addition(token) ? addition(&r, last, r.lines.line) : layer(&r, lcf, token, &last);
        }
    }
    if (!st) {
        st = check(&r, lcf);
    }
    st = tmx_text_blame(
        st, &r.text, "",
        "a layer file of HotSpot, seven lines a layer: number, Y or N for lateral flow, Y or N "
        "for power, J/(m3 K), m K/W, m, floorplan",
        err);
    tmx_text_finish(&r.text);
    return st;
}

void tmx_lcf_finish(struct tmx_lcf *lcf)
{
    for (size_t l = 0; lcf->layer && l < TMX_LCF_MAX_LAYERS; l++) {
        free(lcf->layer[l].part);
    }
    free(lcf->layer);
    *lcf = (struct tmx_lcf){0};
}
