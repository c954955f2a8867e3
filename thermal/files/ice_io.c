/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/ice_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/files/ice_lex.h"

static const double UM = 1e-6;
enum { NAME = 256, MAX_SLOT = 1 << 20 };

struct element {
    char name[NAME];
    double x, y, w, h; /* um */
    bool placed, sized;
    size_t n_rectangle;
    unsigned line;
};

static enum tmx_status numbers(struct tmx_ice_lex *l, double *v, size_t n)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < n && !st; i++) {
        st = i ? tmx_ice_phrase(l, ",") : TMX_OK;
        st = st ? st : tmx_ice_number(l, &v[i]);
    }
    return st;
}

static enum tmx_status add(struct tmx_ice_lex *l, struct tmx_floorplan *fp, const struct element *e)
{
    char name[NAME + 24];
    if (e->w <= 0 || e->h <= 0) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, e->line, "%s: %g x %g um is no area", e->name,
                           e->w, e->h);
    }
    if (e->n_rectangle > 1) {
        snprintf(name, sizeof name, "%s_%zu", e->name, e->n_rectangle - 1);
    } else {
        snprintf(name, sizeof name, "%s", e->name);
    }
    const struct tmx_unit u = {.name = name,
                               .x_m = e->x * UM,
                               .y_m = e->y * UM,
                               .w_m = e->w * UM,
                               .h_m = e->h * UM,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN,
                               .line = e->line};
    return tmx_floorplan_add(fp, &u, l->err);
}

static enum tmx_status rectangle(struct tmx_ice_lex *l, struct tmx_floorplan *fp, struct element *e)
{
    double v[4] = {0};
    enum tmx_status st = tmx_ice_phrase(l, "(");
    st = st ? st : numbers(l, v, 4);
    st = st ? st : tmx_ice_phrase(l, ") ;");
    e->x = v[0], e->y = v[1], e->w = v[2], e->h = v[3];
    e->n_rectangle++;
    return st ? st : add(l, fp, e);
}

/* `power values 1, 2, 3 ;`: as many numbers as there are slots, grown as they come. */
static enum tmx_status power_values(struct tmx_ice_lex *l, double **slot, size_t *n_slot)
{
    enum tmx_status st = tmx_ice_phrase(l, "power values");
    size_t n = 0;
    do {
        if (n % 1024 == 0) {
            double *grown = n < MAX_SLOT ? realloc(*slot, (n + 1024) * sizeof *grown) : NULL;
            st = grown ? st : tmx_fail(l->err, TMX_ENOMEM, "%zu power values", n);
            *slot = grown ? grown : *slot;
        }
        st = st ? st : tmx_ice_number(l, &(*slot)[n++]);
    } while (!st && tmx_ice_accept(l, ","));
    *n_slot = n;
    return st ? st : tmx_ice_phrase(l, ";");
}

/* The watts of the units from first on, which are one element. */
static enum tmx_status keep_powers(struct tmx_ice_lex *l, const struct tmx_floorplan *fp, size_t first,
                                   const double *slot, size_t n_slot, struct tmx_ice_powers *p)
{
    if (n_slot > 0 && p->n_slot > 0 && n_slot != p->n_slot) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, fp->unit[first].line,
                           "\"%s\" has %zu power values, those above have %zu", fp->unit[first].name, n_slot,
                           p->n_slot);
    }
    const size_t had = p->n_slot > 0 ? first : 0;
    p->n_slot = n_slot > 0 ? n_slot : p->n_slot;
    if (p->n_slot == 0) {
        return TMX_OK;
    }
    double *grown = realloc(p->w, fp->n_unit * p->n_slot * sizeof *grown), area_m2 = 0;
    if (!grown) {
        return tmx_fail(l->err, TMX_ENOMEM, "powers of %s", l->text.name);
    }
    p->w = grown;
    memset(p->w + had * p->n_slot, 0, (fp->n_unit - had) * p->n_slot * sizeof *grown);
    for (size_t u = first; u < fp->n_unit; u++) {
        area_m2 += tmx_unit_area_m2(&fp->unit[u]);
    }
    for (size_t u = first; u < fp->n_unit; u++) {
        for (size_t k = 0; k < n_slot; k++) {
            p->w[u * p->n_slot + k] = slot[k] * (tmx_unit_area_m2(&fp->unit[u]) / area_m2);
        }
    }
    return TMX_OK;
}

/* One `name : ...` block; it ends where the next name begins. *slot is room for its powers. */
static enum tmx_status element(struct tmx_ice_lex *l, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                               double **slot)
{
    struct element e = {.line = l->line};
    double v[2] = {0};
    const size_t first = fp->n_unit;
    size_t n_slot = 0;
    enum tmx_status st = tmx_ice_name(l, e.name, sizeof e.name);
    st = st ? st : tmx_ice_phrase(l, ":");
    for (bool more = true; more && !st;) {
        if (tmx_ice_accept(l, "position")) {
            st = numbers(l, v, 2);
            e.x = v[0], e.y = v[1];
            e.placed = true;
        } else if (tmx_ice_accept(l, "dimension")) {
            st = numbers(l, v, 2);
            e.w = v[0], e.h = v[1];
            e.sized = true;
        } else if (tmx_ice_accept(l, "rectangle")) {
            st = rectangle(l, fp, &e);
            continue;
        } else if (tmx_span_is(l->word, "power")) {
            st = power_values(l, slot, &n_slot);
            continue;
        } else if (tmx_span_is(l->word, "discretization")) {
            st = tmx_ice_skip_values(l);
            continue;
        } else {
            more = false;
            continue;
        }
        st = st ? st : tmx_ice_phrase(l, ";");
    }
    if (!st && e.n_rectangle > 0 && (e.placed || e.sized)) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, e.line,
                           "%s has rectangles, and a position or dimension beside them", e.name);
    }
    if (!st && e.n_rectangle == 0) {
        st = e.placed && e.sized ? add(l, fp, &e)
                                 : tmx_ice_expected(l, "position and dimension, or rectangle");
    }
    return st ? st : keep_powers(l, fp, first, *slot, n_slot, powers);
}

enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                                 struct tmx_err *err)
{
    struct tmx_ice_lex l;
    struct tmx_ice_powers own = {0};
    double *slot = NULL;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    enum tmx_status st = tmx_ice_open(&l, path, err);
    while (!st && tmx_span_length(l.word) > 0) {
        st = element(&l, fp, &own, &slot);
    }
    free(slot);
    if (powers) {
        *powers = own;
    } else {
        free(own.w);
    }
    if (!st && fp->n_unit == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 0, "no elements");
    }
    tmx_ice_close(&l);
    return st;
}

/* The second word of a 3D-ICE floorplan is `:`; of a stack, some word soon is `stack :`. */
bool tmx_ice_is(const char *path)
{
    struct tmx_ice_lex l;
    bool is = false;
    if (tmx_ice_sniff(&l, path, NULL) == TMX_OK) {
        tmx_ice_next(&l);
        is = tmx_span_is(l.word, ":");
    }
    tmx_ice_close(&l);
    return is;
}

bool tmx_ice_is_stack(const char *path)
{
    struct tmx_ice_lex l;
    bool is = false;
    if (tmx_ice_sniff(&l, path, NULL) == TMX_OK) {
        while (!is && tmx_span_length(l.word) > 0) {
            is = tmx_ice_accept(&l, "stack") && tmx_span_is(l.word, ":");
            tmx_ice_next(&l);
        }
    }
    tmx_ice_close(&l);
    return is;
}
