/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reader of 3D-ICE stack files (.stk) of plain layers and dies. */
#include "thermal/files/ice_stack.h"

#include <stdlib.h>
#include <string.h>

static const char NAME_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
static const double UM = 1e-6, K_UM = 1e6 /* W/(um K) */, C_UM = 1e18 /* J/(um3 K) */;

static enum tmx_status full(struct tmx_ice_stack *s, const char *what, int max)
{
    return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "more than %d %s", max, what);
}

static enum tmx_status positive(struct tmx_ice_stack *s, double *v)
{
    const enum tmx_status st = tmx_ice_number(&s->l, v);
    if (!st && *v <= 0) {
        return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "%g must be above 0", *v);
    }
    return st;
}

static enum tmx_status twice(struct tmx_ice_stack *s, const char *what, const char *name)
{
    return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "%s \"%s\" is given twice", what,
                       name);
}

static enum tmx_status read_material(struct tmx_ice_stack *s)
{
    struct tmx_ice_material *m = &s->material[s->n_material];
    if (s->n_material == TMX_ICE_MAX_MATERIAL) {
        return full(s, "materials", TMX_ICE_MAX_MATERIAL);
    }
    enum tmx_status st = tmx_ice_name(&s->l, m->name, sizeof m->name);
    for (size_t i = 0; !st && i < s->n_material; i++) {
        st = tmx_word_compare(s->material[i].name, m->name) == 0 ? twice(s, "material", m->name) : TMX_OK;
    }
    st = st ? st : tmx_ice_phrase(&s->l, ": thermal conductivity");
    st = st ? st : positive(s, &m->k_w_per_mk);
    while (!st && tmx_ice_accept(&s->l, ",")) {
        double k;
        st = positive(s, &k);
        if (!st && k != m->k_w_per_mk) {
            st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                             "%g beside %g: conductivities that differ by direction are not supported", k,
                             m->k_w_per_mk);
        }
    }
    st = st ? st : tmx_ice_phrase(&s->l, "; volumetric heat capacity");
    st = st ? st : positive(s, &m->c_j_per_m3k);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    m->k_w_per_mk *= K_UM;
    m->c_j_per_m3k *= C_UM;
    s->n_material++;
    return st;
}

static enum tmx_status find_material(struct tmx_ice_stack *s, size_t *index)
{
    for (*index = 0; *index < s->n_material; (*index)++) {
        if (tmx_ice_accept(&s->l, s->material[*index].name)) {
            return TMX_OK;
        }
    }
    return tmx_ice_expected(&s->l, "a material defined above");
}

/* The name of a `layer` or `die` block, not yet taken by another of its kind. */
static enum tmx_status kind_name(struct tmx_ice_stack *s, struct tmx_ice_kind *k)
{
    enum tmx_status st = tmx_ice_name(&s->l, k->name, sizeof k->name);
    for (size_t i = 0; !st && i < s->n_kind; i++) {
        const bool same = s->kind[i].die == k->die && tmx_word_compare(s->kind[i].name, k->name) == 0;
        st = same ? twice(s, k->die ? "die" : "layer", k->name) : TMX_OK;
    }
    return st;
}

static enum tmx_status read_layer(struct tmx_ice_stack *s)
{
    struct tmx_ice_kind *k = &s->kind[s->n_kind];
    if (s->n_kind == TMX_ICE_MAX_KIND) {
        return full(s, "layers and dies", TMX_ICE_MAX_KIND);
    }
    *k = (struct tmx_ice_kind){.n_slice = 1};
    enum tmx_status st = kind_name(s, k);
    st = st ? st : tmx_ice_phrase(&s->l, ": height");
    st = st ? st : positive(s, &k->slice[0].height_m);
    st = st ? st : tmx_ice_phrase(&s->l, "; material");
    st = st ? st : find_material(s, &k->slice[0].material);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    s->n_kind++;
    return st;
}

static enum tmx_status read_die(struct tmx_ice_stack *s)
{
    struct tmx_ice_kind *k = &s->kind[s->n_kind];
    if (s->n_kind == TMX_ICE_MAX_KIND) {
        return full(s, "layers and dies", TMX_ICE_MAX_KIND);
    }
    *k = (struct tmx_ice_kind){.die = true};
    enum tmx_status st = kind_name(s, k);
    st = st ? st : tmx_ice_phrase(&s->l, ":");
    while (!st) {
        const bool source = tmx_span_is(s->l.word, "source");
        if (!source && !tmx_span_is(s->l.word, "layer")) {
            break;
        }
        if (k->n_slice == TMX_ICE_MAX_SLICE) {
            return full(s, "layers in a die", TMX_ICE_MAX_SLICE);
        }
        const char *before = s->l.next;
        tmx_ice_next(&s->l);
        double probe;
        if (!tmx_span_real(s->l.word, &probe)) { /* `layer TMX_ICE_NAME :` begins the next block */
            s->l.next = before;
            s->l.word = (struct tmx_span){before - strlen("layer"), before};
            break;
        }
        struct tmx_ice_slice *slice = &k->slice[k->n_slice++];
        slice->source = source;
        st = positive(s, &slice->height_m);
        st = st ? st : find_material(s, &slice->material);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    s->n_kind++;
    return !st && k->n_slice == 0 ? tmx_ice_expected(&s->l, "layer or source") : st;
}

static enum tmx_status read_dimensions(struct tmx_ice_stack *s)
{
    enum tmx_status st = tmx_ice_phrase(&s->l, ": chip length");
    st = st ? st : positive(s, &s->length_m);
    st = st ? st : tmx_ice_phrase(&s->l, ", width");
    st = st ? st : positive(s, &s->width_m);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    s->length_m *= UM;
    s->width_m *= UM;
    if (!st && tmx_ice_accept(&s->l, "cell")) {
        st = tmx_ice_phrase(&s->l, "length");
        st = st ? st : positive(s, &s->cell_length_m);
        st = st ? st : tmx_ice_phrase(&s->l, ", width");
        st = st ? st : positive(s, &s->cell_width_m);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
        s->cell_length_m *= UM;
        s->cell_width_m *= UM;
    }
    return st;
}

/* `heat sink : heat transfer coefficient H ; temperature T ;`, `top` or `bottom` being read. */
static enum tmx_status read_sink(struct tmx_ice_stack *s, double *film_w_per_m2k)
{
    static const double W_UM2K = 1e12; /* W/(um2 K) in W/(m2 K) */
    const double other_k = s->ambient_k;
    if (tmx_span_is(s->l.word, "pluggable")) {
        return tmx_ice_expected(&s->l, "a conventional heat sink: pluggable ones are not supported");
    }
    enum tmx_status st = tmx_ice_phrase(&s->l, "heat sink : heat transfer coefficient");
    st = st ? st : positive(s, film_w_per_m2k);
    st = st ? st : tmx_ice_phrase(&s->l, "; temperature");
    st = st ? st : positive(s, &s->ambient_k);
    *film_w_per_m2k *= W_UM2K;
    if (!st && other_k > 0 && other_k != s->ambient_k) {
        return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                           "a sink at %g K and one at %g K: both must have one temperature", other_k,
                           s->ambient_k);
    }
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

/* `solver :`: `steady ;` or `transient step S, slot S ;`, then `initial temperature T ;`. */
static enum tmx_status read_solver(struct tmx_ice_stack *s)
{
    double step;
    enum tmx_status st = tmx_ice_phrase(&s->l, ":");
    if (!st && tmx_ice_accept(&s->l, "transient")) {
        st = tmx_ice_phrase(&s->l, "step");
        st = st ? st : positive(s, &step);
        st = st ? st : tmx_ice_phrase(&s->l, ", slot");
        st = st ? st : positive(s, &s->slot_s);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    } else if (!st) {
        tmx_ice_skip(&s->l);
    }
    if (!st && tmx_ice_accept(&s->l, "initial")) {
        st = tmx_ice_phrase(&s->l, "temperature");
        st = st ? st : positive(s, &s->init_k);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    return st;
}

static enum tmx_status read_placed(struct tmx_ice_stack *s, bool die)
{
    struct tmx_ice_placed *p = &s->placed[s->n_placed];
    if (s->n_placed == TMX_ICE_MAX_STACK) {
        return full(s, "entries in the stack", TMX_ICE_MAX_STACK);
    }
    enum tmx_status st = tmx_ice_name(&s->l, p->name, sizeof p->name);
    for (const char *c = p->name; !st && die && *c; c++) { /* it becomes a file's */
        if (!strchr(NAME_LETTERS, *c) || (*c == '.' && c == p->name)) {
            st = tmx_fail_at(
                s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                "die \"%s\": a file is named after it, so letters, digits, - _ and . inside only", p->name);
        }
    }
    for (size_t i = 0; !st && die && i < s->n_placed; i++) {
        const bool same = s->kind[s->placed[i].kind].die && tmx_word_compare(s->placed[i].name, p->name) == 0;
        st = same ? twice(s, "die", p->name) : TMX_OK;
    }
    for (p->kind = 0; !st && p->kind < s->n_kind; p->kind++) {
        if (s->kind[p->kind].die == die && tmx_ice_accept(&s->l, s->kind[p->kind].name)) {
            break;
        }
    }
    if (!st && p->kind == s->n_kind) {
        return tmx_ice_expected(&s->l, die ? "a die defined above" : "a layer defined above");
    }
    if (!st && die) {
        st = tmx_ice_phrase(&s->l, "floorplan");
        st = st ? st : tmx_ice_name(&s->l, p->floorplan, sizeof p->floorplan);
    }
    if (!st && tmx_ice_accept(&s->l, "discretization")) { /* cells of one size serve all layers here */
        double cells;
        st = positive(s, &cells);
        st = st ? st : positive(s, &cells);
    }
    s->n_placed++;
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

static enum tmx_status read_stack(struct tmx_ice_stack *s)
{
    enum tmx_status st = tmx_ice_phrase(&s->l, ":");
    while (!st) {
        if (tmx_ice_accept(&s->l, "die")) {
            st = read_placed(s, true);
        } else if (tmx_ice_accept(&s->l, "layer")) {
            st = read_placed(s, false);
        } else if (tmx_span_is(s->l.word, "channel")) {
            st = tmx_ice_expected(&s->l, "layers and dies only: microchannels are not supported");
        } else {
            break;
        }
    }
    return st;
}

static enum tmx_status read_file(struct tmx_ice_stack *s)
{
    enum tmx_status st = TMX_OK;
    while (!st && tmx_span_length(s->l.word) > 0) {
        if (tmx_ice_accept(&s->l, "material")) {
            st = read_material(s);
        } else if (tmx_ice_accept(&s->l, "layer")) {
            st = read_layer(s);
        } else if (tmx_ice_accept(&s->l, "die")) {
            st = read_die(s);
        } else if (tmx_ice_accept(&s->l, "dimensions")) {
            st = read_dimensions(s);
        } else if (tmx_ice_accept(&s->l, "stack")) {
            st = read_stack(s);
        } else if (tmx_span_is(s->l.word, "pluggable")) {
            st = tmx_ice_expected(&s->l, "a conventional heat sink: pluggable ones are not supported");
        } else if (tmx_ice_accept(&s->l, "top")) {
            st = read_sink(s, &s->top_w_per_m2k);
        } else if (tmx_ice_accept(&s->l, "bottom")) {
            st = read_sink(s, &s->bottom_w_per_m2k);
        } else if (tmx_ice_accept(&s->l, "solver")) {
            st = read_solver(s);
        } else if (tmx_span_is(s->l.word, "microchannel") || tmx_span_is(s->l.word, "pinfin")) {
            st = tmx_ice_expected(&s->l, "layers and dies only: microchannels are not supported");
        } else {
            tmx_ice_skip(&s->l); /* what is put out, and where */
        }
    }
    if (!st && (s->n_placed == 0 || s->length_m <= 0)) {
        st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, 0,
                         "a stack needs dimensions and a stack of layers");
    }
    return st;
}

enum tmx_status tmx_ice_stack_read(struct tmx_ice_stack *s, const char *path, struct tmx_err *err)
{
    *s = (struct tmx_ice_stack){.n_placed = 0};
    enum tmx_status st = tmx_ice_sniff(&s->l, path, err);
    st = st ? st
            : tmx_ice_check_closed(&s->l, true,
                                   err); /* a plug-in's arguments, which is then refused by name */
    st = st ? st : read_file(s);
    return st ? st : tmx_ice_check_closed(&s->l, false, err);
}

void tmx_ice_stack_finish(struct tmx_ice_stack *s)
{
    for (size_t i = 0; i < s->n_placed; i++) {
        tmx_floorplan_finish(&s->placed[i].units);
        free(s->placed[i].powers.w);
    }
    tmx_ice_close(&s->l);
}
