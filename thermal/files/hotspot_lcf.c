/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_lcf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"

struct reader { /* lines of words, until err has an error */
    struct tmx_text_file text;
    struct tmx_lines lines;
    const char *of; /* what a line is of, for messages: "", " of a layer" */
    const struct tmx_materials *materials;
    struct tmx_arena *arena; /* of a layer file */
    struct tmx_err *err;
};

#define FAIL(r, ...) tmx_error_at((r)->err, TMX_EPARSE, (r)->text.name, (r)->lines.number, __VA_ARGS__)

/* First field of the next filled line; what names it in the message at the file's end. */
static struct tmx_span next(struct reader *r, const char *what)
{
    struct tmx_span token = {"", ""};
    if (!r->err->code && !tmx_lines_next_filled(&r->lines, &r->text)) {
        FAIL(r, "the file ends before the %s%s", what, r->of);
    } else if (!r->err->code) {
        struct tmx_span rest = r->lines.line;
        tmx_span_field(&rest, &token);
    }
    return token;
}

static double number(struct reader *r, struct tmx_span token, const char *what, double min, double max)
{
    double v = 0;
    if (!tmx_span_real(token, &v)) {
        FAIL(r, "%s \"%.*s\" %s", what, TMX_SPAN_ARG(token), tmx_span_real_fault(token));
    } else if (v < min || v > max) {
        FAIL(r, "%s = %g is outside [%g, %g]", what, v, min, max);
    }
    return v;
}

static double next_number(struct reader *r, const char *what, double min, double max)
{
    return number(r, next(r, what), what, min, max);
}

/* ---- materials ---- */

enum tmx_status tmx_materials_read(const char *path, struct tmx_materials *m, struct tmx_err *err)
{
    struct reader r = {.of = "", .err = err};
    struct tmx_span name;
    *m = (struct tmx_materials){0};
    if (tmx_text_load(&r.text, path, err)) {
        return err->code;
    }
    snprintf(m->source, sizeof m->source, "%s", path);
    while (!err->code && tmx_lines_next_filled(&r.lines, &r.text)) {
        struct tmx_material item = {.line = r.lines.number};
        if (!tmx_span_field(&r.lines.line, &name) || !tmx_span_copy(name, item.name, sizeof item.name)) {
            FAIL(&r, "name longer than %d characters", TMX_MATERIAL_NAME_SIZE - 1);
        }
        const struct tmx_material *first = tmx_materials_find(m, item.name);
        if (first) {
            FAIL(&r, "material \"%s\" given twice (first at line %u)", item.name, first->line);
        }
        const struct tmx_span kind = next(&r, "word solid or fluid");
        item.fluid = tmx_span_is(kind, "fluid");
        if (!item.fluid && !tmx_span_is(kind, "solid")) {
            FAIL(&r, "\"%.*s\": expected solid or fluid", TMX_SPAN_ARG(kind));
        }
        item.k_w_per_mk = next_number(&r, "conductivity [W/(m K)]", DBL_MIN, 1e9);
        item.p_j_per_m3k = next_number(&r, "heat capacity [J/(m3 K)]", 1, 1e9);
        item.viscosity_pa_s = item.fluid ? next_number(&r, "dynamic viscosity [Pa s]", 0, 1e6) : 0;
        if (TMX_GROW(&m->arena, m->item, m->n)) {
            m->item[m->n++] = item;
        }
        tmx_arena_check(&m->arena, err);
    }
    tmx_text_locate(err->code, &r.text, "", "materials of HotSpot, lines of name, kind, W/(m K) and J/(m3 K)",
                    err);
    tmx_text_finish(&r.text);
    if (m->n == 0) {
        tmx_error_at(err, TMX_EPARSE, path, 1, "no material");
    }
    return err->code;
}

void tmx_materials_finish(struct tmx_materials *m)
{
    tmx_arena_finish(&m->arena);
    *m = (struct tmx_materials){0};
}

const struct tmx_material *tmx_materials_find(const struct tmx_materials *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++) {
        if (strcmp(m->item[i].name, name) == 0) {
            return &m->item[i];
        }
    }
    return NULL;
}

const char *tmx_materials_hint(const struct tmx_materials *m, const char *name, char hint[TMX_HINT_SIZE])
{
    const char *best = NULL;
    for (size_t i = 0; i < m->n; i++) { /* two at a time: the nearer of the best so far and the next */
        const char *const pair[] = {m->item[i].name, best};
        const char *near = tmx_suggest_nearest(name, pair, best ? 2 : 1);
        best = near ? near : best;
    }
    snprintf(hint, TMX_HINT_SIZE, "%s%s%s",
             best       ? ", did you mean \""
             : m->n > 0 ? ""
                        : "; no materials file is given",
             best ? best : "", best ? "\"?" : "");
    return hint;
}

enum tmx_status tmx_materials_check(const struct tmx_materials *m, const struct tmx_material *item,
                                    struct tmx_err *err)
{
    if (tmx_word_compare(item->name, "none") == 0 || tmx_word_compare(item->name, "vacuum") == 0) {
        return TMX_OK;
    }
    if (item->k_w_per_mk < TMX_MIN_CONDUCTIVITY || item->k_w_per_mk > TMX_MAX_CONDUCTIVITY) {
        return tmx_fail_at(err, TMX_EPARSE, m->source, item->line,
                           "material \"%s\": conductivity = %g W/(m K) is outside [%g, %g]", item->name,
                           item->k_w_per_mk, TMX_MIN_CONDUCTIVITY, TMX_MAX_CONDUCTIVITY);
    }
    const enum tmx_status st =
        tmx_plausible(NULL, "conductivity", "W/(m K)", item->k_w_per_mk, m->source, item->line, err);
    return st ? st
              : tmx_plausible(NULL, "capacity", "J/(m3 K)", item->p_j_per_m3k, m->source, item->line, err);
}

/* ---- layers ---- */

static bool yes_no(struct reader *r, const char *what)
{
    const struct tmx_span token = next(r, what);
    const bool yes = tmx_span_is(token, "Y");
    if (!yes && !tmx_span_is(token, "N")) {
        FAIL(r, "%s \"%.*s\": expected Y or N", what, TMX_SPAN_ARG(token));
    }
    return yes;
}

/* A word that starts like a number is a number, never a material. */
static bool looks_numeric(struct tmx_span token)
{
    const char c = token.begin[0];
    double v;
    return tmx_span_real(token, &v) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
           tmx_span_is(token, "nan") || tmx_span_is(token, "inf");
}

static void numbers(struct reader *r, struct tmx_span capacity, struct tmx_span resistivity, double *k,
                    double *p)
{
    const char *name = r->text.name;
    const unsigned line = r->lines.number;
    *p = number(r, capacity, "heat capacity [J/(m3 K)]", 1, 1e9);
    *k =
        1 / number(r, resistivity, "resistivity [m K/W]", 1 / TMX_MAX_CONDUCTIVITY, 1 / TMX_MIN_CONDUCTIVITY);
    if (!r->err->code && !tmx_plausible(NULL, "capacity", "J/(m3 K)", *p, name, line - 1, r->err)) {
        tmx_plausible(NULL, "conductivity", "W/(m K)", *k, name, line, r->err);
    }
}

static void named(struct reader *r, struct tmx_span token, double *k, double *p)
{
    char name[TMX_MATERIAL_NAME_SIZE] = "", hint[TMX_HINT_SIZE];
    const struct tmx_material *found =
        tmx_span_copy(token, name, sizeof name) ? tmx_materials_find(r->materials, name) : NULL;
    if (!found) {
        FAIL(r, "unknown material \"%.*s\"%s", TMX_SPAN_ARG(token),
             tmx_materials_hint(r->materials, name, hint));
    } else if (!r->err->code) {
        *k = found->k_w_per_mk;
        *p = found->p_j_per_m3k;
        tmx_materials_check(r->materials, found, r->err);
    }
}

/* One more floorplan in the layer. */
static void add_part(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span file)
{
    if (!TMX_GROW(r->arena, layer->part, layer->n_part)) {
        tmx_arena_check(r->arena, r->err);
        return;
    }
    layer->part[layer->n_part] = (struct tmx_lcf_part){.line = r->lines.number};
    if (!tmx_span_copy(file, layer->part[layer->n_part++].floorplan, sizeof layer->part->floorplan)) {
        FAIL(r, "file name too long");
    }
}

static void corner(struct reader *r, struct tmx_span *rest, struct tmx_lcf_part *part)
{
    struct tmx_span x, y;
    if (!tmx_span_field(rest, &x) || !tmx_span_field(rest, &y)) {
        FAIL(r, "expected the place X Y [m] of a floorplan's lower left corner");
        return;
    }
    part->x_m = number(r, x, "x [m]", 0, 1);
    part->y_m = number(r, y, "y [m]", 0, 1);
}

/* `channels merged|resolved|pins|pins_staggered KEY VALUE ...`: coolant through the layer, whose own material
 * is that of the walls or pins. */
static const char *const kinds[] = {"merged", "resolved", "pins", "pins_staggered"};
#define KEY(key, unit, field, min, max, needed)                           \
    {                                                                     \
        key, unit, offsetof(struct tmx_channels, field), min, max, needed \
    }
static const struct {
    const char *key, *unit;
    size_t offset;
    double min, max;
    unsigned needed; /* bit by kind */
} keys[] = {KEY("width", "m", width_m, 1e-9, 1, 15),
            KEY("pitch", "m", wall_m, 1e-9, 1, 15), /* less the width in the end */
            KEY("first", "m", first_m, 1e-9, 1, 2),
            KEY("last", "m", last_m, 1e-9, 1, 2),
            KEY("flow", "m3/s", flow_m3_per_s, 1e-15, 1, 15),
            KEY("inlet", "K", inlet_k, 200, 1000, 15),
            KEY("p", "J/(m3 K)", p_j_per_m3k, 1, 1e9, 15),
            KEY("h_top", "W/(m2 K)", h_top, 1e-3, 1e9, 3),
            KEY("h_bottom", "W/(m2 K)", h_bottom, 1e-3, 1e9, 3),
            KEY("h_side", "W/(m2 K)", h_side, 1e-3, 1e9, 2),
            KEY("viscosity", "Pa s", viscosity_pa_s, 1e-9, 1e3, 0)};
#undef KEY
enum { KEYS = sizeof keys / sizeof keys[0], KINDS = sizeof kinds / sizeof kinds[0] };

void tmx_lcf_print_channels(struct tmx_channels c, FILE *out)
{
    c.wall_m += c.width_m;
    fprintf(out, "channels %s", kinds[c.kind]);
    for (size_t k = 0; k < KEYS; k++) {
        double v;
        memcpy(&v, (const char *)&c + keys[k].offset, sizeof v);
        if (keys[k].needed >> c.kind & 1) {
            fprintf(out, " %s %s", keys[k].key, TMX_REAL_TEXT(v));
        }
    }
    fprintf(out, " transport %s\n", c.upwind ? "upwind" : "central");
}

static void channels(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span rest)
{
    struct tmx_channels *c = &layer->channels;
    struct tmx_span word, value;
    bool given[KEYS] = {0}, transport = false;
    size_t kind = 0, k = 0;
    if (layer->wet) {
        FAIL(r, "channels: given twice");
        return;
    }
    while (tmx_span_field(&rest, &word) && kind < KINDS && !tmx_span_is(word, kinds[kind])) {
        kind++;
        rest.begin = word.begin;
    }
    if (kind == KINDS || tmx_span_length(word) == 0) {
        FAIL(r, "channels: expected merged, resolved, pins or pins_staggered");
        return;
    }
    *c = (struct tmx_channels){.kind = (enum tmx_channel_kind)kind};
    layer->wet = r->lines.number;
    while (!r->err->code && tmx_span_field(&rest, &word)) {
        if (!tmx_span_field(&rest, &value)) {
            FAIL(r, "channels: %.*s has no value", TMX_SPAN_ARG(word));
            break;
        }
        if (tmx_span_is(word, "transport")) {
            c->upwind = tmx_span_is(value, "upwind");
            if (transport || (!c->upwind && !tmx_span_is(value, "central"))) {
                FAIL(r, "channels: transport must be upwind or central, once");
            }
            transport = true;
            continue;
        }
        for (k = 0; k < KEYS && !tmx_span_is(word, keys[k].key);) {
            k++;
        }
        if (k == KEYS || given[k]) {
            FAIL(r, "channels: %.*s %s", TMX_SPAN_ARG(word),
                 k == KEYS ? "is no key of it" : "is given twice");
            break;
        }
        char what[64];
        snprintf(what, sizeof what, "channels: %s [%s]", keys[k].key, keys[k].unit);
        given[k] = true;
        const double v = number(r, value, what, keys[k].min, keys[k].max);
        memcpy((char *)c + keys[k].offset, &v, sizeof v);
    }
    for (k = 0; k < KEYS; k++) {
        if (keys[k].needed >> kind & 1 && !given[k]) {
            FAIL(r, "channels %s: %s [%s] is missing", kinds[kind], keys[k].key, keys[k].unit);
        }
    }
    if (c->wall_m - c->width_m <= 0) {
        FAIL(r, "channels: a width of %g m leaves no wall in a pitch of %g m", c->width_m, c->wall_m);
    }
    c->wall_m -= c->width_m;
}

/* What may follow a layer's floorplan: `at X Y`, `place FILE X Y [PREFIX]`, `channels KIND ...`, `filler
 * MATERIAL` or `filler HEAT-CAPACITY RESISTIVITY`, `conductivity K_X K_Y K_Z`, `conductivity_falls EXPONENT
 * FROM_K`. False: the line is none of these. */
static bool addition(struct reader *r, struct tmx_lcf_layer *layer, struct tmx_span rest)
{
    struct tmx_span word, first, second;
    tmx_span_field(&rest, &word);
    if (tmx_span_is(word, "channels")) {
        channels(r, layer, rest);
        return true;
    }
    if (tmx_span_is(word, "conductivity")) {
        double k[3] = {0};
        for (size_t i = 0; i < 3; i++) {
            if (tmx_span_field(&rest, &first)) {
                k[i] = number(r, first, "conductivity [W/(m K)]", TMX_MIN_CONDUCTIVITY, TMX_MAX_CONDUCTIVITY);
            } else {
                FAIL(r, "conductivity: expected K_X K_Y K_Z [W/(m K)]");
            }
        }
        if (layer->l.k_part_x > 0) {
            FAIL(r, "conductivity: given twice");
        }
        layer->l.k_w_per_mk = k[2];
        layer->l.k_part_x = k[0] / k[2];
        layer->l.k_part_y = k[1] / k[2];
    } else if (tmx_span_is(word, "conductivity_falls")) {
        if (layer->l.falls > 0) {
            FAIL(r, "conductivity_falls: given twice");
        } else if (!tmx_span_field(&rest, &first) || !tmx_span_field(&rest, &second)) {
            FAIL(r, "conductivity_falls: expected an exponent and the kelvins at which the conductivity is "
                    "given");
        } else {
            layer->l.falls = number(r, first, "conductivity_falls: exponent", 1e-3, 5);
            layer->l.falls_from_k = number(r, second, "conductivity_falls: from [K]", 100, 1000);
        }
    } else if (tmx_span_is(word, "at")) {
        if (layer->at) {
            FAIL(r, "at: given twice");
        }
        corner(r, &rest, &layer->part[0]);
        layer->at = true;
    } else if (tmx_span_is(word, "place")) {
        if (tmx_span_field(&rest, &first)) {
            add_part(r, layer, first);
        } else {
            FAIL(r, "place: expected FILE X Y [PREFIX]");
        }
        struct tmx_lcf_part *part = &layer->part[layer->n_part - 1];
        corner(r, &rest, part);
        if (tmx_span_field(&rest, &second) && !tmx_span_copy(second, part->prefix, sizeof part->prefix)) {
            FAIL(r, "place: prefix too long");
        }
    } else if (!tmx_span_is(word, "filler")) {
        return false;
    } else if (layer->l.filler_k_w_per_mk > 0) {
        FAIL(r, "filler: given twice");
    } else if (!tmx_span_field(&rest, &first)) {
        FAIL(r, "filler: expected a material, or heat capacity and resistivity");
    } else if (!looks_numeric(first)) {
        named(r, first, &layer->l.filler_k_w_per_mk, &layer->l.filler_p_j_per_m3k);
    } else if (tmx_span_field(&rest, &second)) {
        numbers(r, first, second, &layer->l.filler_k_w_per_mk, &layer->l.filler_p_j_per_m3k);
    } else {
        FAIL(r, "filler: expected heat capacity and resistivity");
    }
    if (tmx_span_field(&rest, &first)) {
        FAIL(r, "%.*s: unexpected \"%.*s\"", TMX_SPAN_ARG(word), TMX_SPAN_ARG(first));
    }
    return true;
}

/* The seven lines of a layer, of which this is the first; NULL: they are none. */
static struct tmx_lcf_layer *read_layer(struct reader *r, struct tmx_lcf *lcf)
{
    struct tmx_span rest = r->lines.line, token;
    struct tmx_lcf_layer read = {.given = true, .line = r->lines.number};
    tmx_span_field(&rest, &token);
    const double v = number(r, token, "layer number", 0, TMX_LCF_MAX_LAYERS - 1);
    if (v != floor(v)) {
        FAIL(r, "layer number %g is no integer", v);
    }
    const size_t l = r->err->code ? 0 : (size_t)v;
    if (lcf->layer[l].given) {
        FAIL(r, "layer %zu given twice (first at line %u)", l, lcf->layer[l].line);
    }
    if (r->err->code) {
        return NULL;
    }
    read.l.lateral = yes_no(r, "lateral heat flow");
    read.l.dissipates = yes_no(r, "power dissipation");
    const struct tmx_span capacity = next(r, "heat capacity"); /* or one material's name for both */
    if (looks_numeric(capacity)) {
        (void)number(r, capacity, "heat capacity [J/(m3 K)]", 1, 1e9); /* on its own line */
        numbers(r, capacity, next(r, "resistivity"), &read.l.k_w_per_mk, &read.l.p_j_per_m3k);
    } else {
        named(r, capacity, &read.l.k_w_per_mk, &read.l.p_j_per_m3k);
    }
    read.l.thickness_m = number(r, next(r, "thickness"), "thickness [m]", 1e-9, 1);
    if (!r->err->code) {
        tmx_plausible(NULL, "thickness", "m", read.l.thickness_m, r->text.name, r->lines.number, r->err);
    }
    add_part(r, &read, next(r, "floorplan file"));
    lcf->layer[l] = read;
    lcf->n_layer = l + 1 > lcf->n_layer ? l + 1 : lcf->n_layer;
    return &lcf->layer[l];
}

enum tmx_status tmx_lcf_read(const char *path, const struct tmx_materials *materials, struct tmx_lcf *lcf,
                             struct tmx_err *err)
{
    struct reader r = {.of = " of a layer", .err = err, .materials = materials, .arena = &lcf->arena};
    struct tmx_lcf_layer *last = NULL;
    bool dissipates = false;
    *lcf = (struct tmx_lcf){0};
    if (tmx_text_load(&r.text, path, err)) {
        return err->code;
    }
    snprintf(lcf->source, sizeof lcf->source, "%s", path);
    TMX_TAKE(&lcf->arena, lcf->layer, TMX_LCF_MAX_LAYERS);
    tmx_arena_check(&lcf->arena, err);
    while (!err->code && tmx_lines_next_filled(&r.lines, &r.text)) {
        if (!last || !addition(&r, last, r.lines.line)) {
            last = read_layer(&r, lcf);
        }
    }
    for (size_t l = 0; l < lcf->n_layer; l++) {
        const struct tmx_lcf_layer *layer = &lcf->layer[l];
        if (!layer->given) {
            FAIL(&r, "layer %zu of 0..%zu is missing", l, lcf->n_layer - 1);
        }
        dissipates = dissipates || layer->l.dissipates;
        if ((layer->at || layer->n_part > 1) && layer->l.filler_k_w_per_mk == 0) {
            tmx_error_at(
                err, TMX_EPARSE, path, layer->line,
                "layer %zu: its floorplans are placed, so a line \"filler MATERIAL\" must name what is "
                "beside them",
                l);
        }
    }
    if (!dissipates) {
        FAIL(&r, lcf->n_layer == 0 ? "no layers" : "no layer dissipates power");
    }
    tmx_text_locate(err->code, &r.text, "",
                    "a layer file of HotSpot, seven lines a layer: number, Y or N for lateral flow, Y or N "
                    "for power, J/(m3 K), m K/W, m, floorplan",
                    err);
    tmx_text_finish(&r.text);
    return err->code;
}

void tmx_lcf_finish(struct tmx_lcf *lcf)
{
    tmx_arena_finish(&lcf->arena);
    *lcf = (struct tmx_lcf){0};
}
