/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/hotspot_materials.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opt.h"
#include "core/base/plausible.h"
#include "core/base/text.h"

struct reader {
    struct tmx_text_file text;
    struct tmx_lines lines;
    struct tmx_err *err;
};

/* First field of the next filled line; what names it in the message at the file's end. */
static enum tmx_status next(struct reader *r, const char *what, struct tmx_span *token)
{
    if (!tmx_lines_next_filled(&r->lines, &r->text)) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number, "the file ends before the %s",
                           what);
    }
    struct tmx_span rest = r->lines.line;
    return tmx_span_field(&rest, token) ? TMX_OK : TMX_EPARSE;
}

static enum tmx_status number(struct reader *r, const char *what, double min, double max, double *v)
{
    struct tmx_span token;
    const enum tmx_status st = next(r, what, &token);
    if (st) {
        return st;
    }
    if (!tmx_span_real(token, v)) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number, "%s \"%.*s\" %s", what,
                           TMX_SPAN_ARG(token), tmx_span_real_fault(token));
    }
    if (*v < min || *v > max) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number, "%s = %g is outside [%g, %g]",
                           what, *v, min, max);
    }
    return TMX_OK;
}

static enum tmx_status material(struct reader *r, struct tmx_materials *m, struct tmx_span name)
{
    struct tmx_material item = {.line = r->lines.number};
    if (!tmx_span_copy(name, item.name, sizeof item.name)) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number,
                           "name longer than %d characters", TMX_MATERIAL_NAME_SIZE - 1);
    }
    const struct tmx_material *first = tmx_materials_find(m, item.name);
    if (first) {
        return tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number,
                           "material \"%s\" given twice (first at line %u)", item.name, first->line);
    }
    struct tmx_span kind;
    enum tmx_status st = next(r, "word solid or fluid", &kind);
    if (!st && !tmx_span_is(kind, "solid") && !tmx_span_is(kind, "fluid")) {
        st = tmx_fail_at(r->err, TMX_EPARSE, r->text.name, r->lines.number,
                         "\"%.*s\": expected solid or fluid", TMX_SPAN_ARG(kind));
    }
    if (!st) {
        item.fluid = tmx_span_is(kind, "fluid");
        st = number(r, "conductivity [W/(m K)]", DBL_MIN, 1e9, &item.k_w_per_mk);
    }
    if (!st) {
        st = number(r, "heat capacity [J/(m3 K)]", 1, 1e9, &item.p_j_per_m3k);
    }
    if (!st && item.fluid) {
        st = number(r, "dynamic viscosity [Pa s]", 0, 1e6, &item.viscosity_pa_s);
    }
    struct tmx_material *items = st ? NULL : realloc(m->item, (m->n + 1) * sizeof *items);
    if (!st && !items) {
        st = tmx_fail_at(r->err, TMX_ENOMEM, r->text.name, 0, "out of memory");
    }
    if (!st) {
        m->item = items;
        m->item[m->n++] = item;
    }
    return st;
}

enum tmx_status tmx_materials_read(const char *path, struct tmx_materials *m, struct tmx_err *err)
{
    struct reader r = {.err = err};
    *m = (struct tmx_materials){0};
    enum tmx_status st = tmx_text_load(&r.text, path, err);
    if (st) {
        return st;
    }
    snprintf(m->source, sizeof m->source, "%s", path);
    while (!st && tmx_lines_next_filled(&r.lines, &r.text)) {
        struct tmx_span rest = r.lines.line, name;
        if (tmx_span_field(&rest, &name)) {
            st = material(&r, m, name);
        }
    }
    st = tmx_text_blame(st, &r.text, "", "materials of HotSpot, lines of name, kind, W/(m K) and J/(m3 K)",
                        err);
    tmx_text_finish(&r.text);
    return st || m->n > 0 ? st : tmx_fail_at(err, TMX_EPARSE, path, 1, "no material");
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

const char *tmx_materials_nearest(const struct tmx_materials *m, const char *name)
{
    const char *best = NULL;
    for (size_t i = 0; i < m->n; i++) { /* two at a time: the nearer of the best so far and the next */
        const char *const pair[] = {m->item[i].name, best};
        const char *near = tmx_suggest_nearest(name, pair, best ? 2 : 1);
        best = near ? near : best;
    }
    return best;
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
