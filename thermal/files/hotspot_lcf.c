/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_lcf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"

struct reader {
    struct tmx_text text;
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

/* A heat capacity and, on the next line, a resistivity; or one material name for both. */
static enum tmx_status material(struct reader *r, struct tmx_lcf_layer *layer)
{
    struct tmx_span token;
    enum tmx_status st = next(r, "heat capacity", &token);
    if (st) {
        return st;
    }
    if (looks_numeric(token)) {
        double resistivity = 0;
        st = number(r, token, "heat capacity [J/(m3 K)]", 1, 1e9, &layer->p_j_per_m3k);
        st = st ? st : next(r, "resistivity", &token);
        st = st ? st
                : number(r, token, "resistivity [m K/W]", 1 / TMX_MAX_CONDUCTIVITY, 1 / TMX_MIN_CONDUCTIVITY,
                         &resistivity);
        layer->k_w_per_mk = st ? NAN : 1 / resistivity;
        return st;
    }
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
    layer->k_w_per_mk = found->k_w_per_mk;
    layer->p_j_per_m3k = found->p_j_per_m3k;
    return tmx_materials_check(r->materials, found, r->err);
}

static enum tmx_status body(struct reader *r, struct tmx_lcf_layer *layer)
{
    struct tmx_span token;
    enum tmx_status st = yes_no(r, "lateral heat flow", &layer->lateral);
    st = st ? st : yes_no(r, "power dissipation", &layer->dissipates);
    st = st ? st : material(r, layer);
    st = st ? st : next(r, "thickness", &token);
    st = st ? st : number(r, token, "thickness [m]", 1e-9, 1, &layer->thickness_m);
    st = st ? st : next(r, "floorplan file", &token);
    if (!st && !tmx_span_copy(token, layer->floorplan, sizeof layer->floorplan)) {
        st = FAIL(r, "file name too long");
    }
    return st;
}

static enum tmx_status layer(struct reader *r, struct tmx_lcf *lcf, struct tmx_span token)
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
    if (!st) {
        lcf->layer[l] = read;
        lcf->n_layer = l + 1 > lcf->n_layer ? l + 1 : lcf->n_layer;
    }
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
            st = layer(&r, lcf, token);
        }
    }
    if (!st) {
        st = check(&r, lcf);
    }
    tmx_text_finish(&r.text);
    return st;
}

void tmx_lcf_finish(struct tmx_lcf *lcf)
{
    free(lcf->layer);
    *lcf = (struct tmx_lcf){0};
}
