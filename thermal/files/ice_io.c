/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/ice_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "thermal/files/ice_lex.h"

static const double UM = 1e-6;
enum { NAME = 256 };

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

/* One `name : ...` block; it ends where the next name begins. */
static enum tmx_status element(struct tmx_ice_lex *l, struct tmx_floorplan *fp)
{
    struct element e = {.line = l->line};
    double v[2] = {0};
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
        } else if (tmx_span_is(l->word, "power") || tmx_span_is(l->word, "discretization")) {
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
    return st;
}

enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp, struct tmx_err *err)
{
    struct tmx_ice_lex l;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    enum tmx_status st = tmx_ice_open(&l, path, err);
    while (!st && tmx_span_length(l.word) > 0) {
        st = element(&l, fp);
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
