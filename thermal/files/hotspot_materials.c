/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_materials.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "base/plausible.h"
#include "base/text.h"

#define FAIL TMX_HOTSPOT_FAIL

struct tmx_span tmx_hotspot_next(struct tmx_hotspot_lines *r, const char *what)
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

double tmx_hotspot_number(struct tmx_hotspot_lines *r, struct tmx_span token, const char *what, double min,
                          double max)
{
    double v = 0;
    if (!tmx_span_real(token, &v)) {
        FAIL(r, "%s \"%.*s\" %s", what, TMX_SPAN_ARG(token), tmx_span_real_fault(token));
    } else if (v < min || v > max) {
        FAIL(r, "%s = %g is outside [%g, %g]", what, v, min, max);
    }
    return v;
}

static double number(struct tmx_hotspot_lines *r, const char *what, double min, double max)
{
    return tmx_hotspot_number(r, tmx_hotspot_next(r, what), what, min, max);
}

enum tmx_status tmx_materials_read(const char *path, struct tmx_materials *m, struct tmx_err *err)
{
    struct tmx_hotspot_lines r = {.of = "", .err = err};
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
        const struct tmx_span kind = tmx_hotspot_next(&r, "word solid or fluid");
        item.fluid = tmx_span_is(kind, "fluid");
        if (!item.fluid && !tmx_span_is(kind, "solid")) {
            FAIL(&r, "\"%.*s\": expected solid or fluid", TMX_SPAN_ARG(kind));
        }
        item.k_w_per_mk = number(&r, "conductivity [W/(m K)]", DBL_MIN, 1e9);
        item.p_j_per_m3k = number(&r, "heat capacity [J/(m3 K)]", 1, 1e9);
        item.viscosity_pa_s = item.fluid ? number(&r, "dynamic viscosity [Pa s]", 0, 1e6) : 0;
        struct tmx_material *items = realloc(m->item, (m->n + 1) * sizeof *items);
        if (items) {
            m->item = items;
            m->item[m->n++] = item;
        } else {
            tmx_error_at(err, TMX_ENOMEM, path, 0, "out of memory");
        }
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
    free(m->item);
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
