/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 3D-ICE stack files (.stk) of plain layers and dies -> HotSpot's .lcf and .flp. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/machine/floorplan_file.h"
#include "thermal/files/ice_io.h"
#include "thermal/files/ice_lex.h"

enum { NAME = 128, MAX_MATERIAL = 64, MAX_KIND = 64, MAX_SLICE = 16, MAX_STACK = 64, PATH = 1100 };
static const double UM = 1e-6, K_UM = 1e6 /* W/(um K) */, C_UM = 1e18 /* J/(um3 K) */;

struct material {
    char name[NAME];
    double k_w_per_mk, c_j_per_m3k;
};

struct slice { /* one sheet of one material */
    double height_m;
    size_t material;
    bool source; /* dissipates, by the die's floorplan */
};

struct kind { /* `layer NAME :` or `die NAME :`, top to bottom */
    char name[NAME];
    struct slice slice[MAX_SLICE];
    size_t n_slice;
    bool die;
};

struct placed { /* an entry of `stack :`, top to bottom */
    char name[NAME], floorplan[512];
    size_t kind;
};

struct stack {
    struct tmx_ice_lex l;
    struct material material[MAX_MATERIAL];
    size_t n_material;
    struct kind kind[MAX_KIND];
    size_t n_kind;
    struct placed placed[MAX_STACK];
    size_t n_placed;
    double length_m, width_m;
};

static enum tmx_status full(struct stack *s, const char *what, int max)
{
    return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "more than %d %s", max, what);
}

static enum tmx_status positive(struct stack *s, double *v)
{
    const enum tmx_status st = tmx_ice_number(&s->l, v);
    if (!st && *v <= 0) {
        return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "%g must be above 0", *v);
    }
    return st;
}

static enum tmx_status read_material(struct stack *s)
{
    struct material *m = &s->material[s->n_material];
    if (s->n_material == MAX_MATERIAL) {
        return full(s, "materials", MAX_MATERIAL);
    }
    enum tmx_status st = tmx_ice_name(&s->l, m->name, sizeof m->name);
    st = st ? st : tmx_ice_phrase(&s->l, ": thermal conductivity");
    st = st ? st : positive(s, &m->k_w_per_mk);
    if (!st && tmx_span_is(s->l.word, ",")) {
        st = tmx_ice_expected(&s->l, "one conductivity: those that differ by direction are not supported");
    }
    st = st ? st : tmx_ice_phrase(&s->l, "; volumetric heat capacity");
    st = st ? st : positive(s, &m->c_j_per_m3k);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    m->k_w_per_mk *= K_UM;
    m->c_j_per_m3k *= C_UM;
    s->n_material++;
    return st;
}

static enum tmx_status find_material(struct stack *s, size_t *index)
{
    for (*index = 0; *index < s->n_material; (*index)++) {
        if (tmx_ice_accept(&s->l, s->material[*index].name)) {
            return TMX_OK;
        }
    }
    return tmx_ice_expected(&s->l, "a material defined above");
}

static enum tmx_status read_layer(struct stack *s)
{
    struct kind *k = &s->kind[s->n_kind];
    if (s->n_kind == MAX_KIND) {
        return full(s, "layers and dies", MAX_KIND);
    }
    *k = (struct kind){.n_slice = 1};
    enum tmx_status st = tmx_ice_name(&s->l, k->name, sizeof k->name);
    st = st ? st : tmx_ice_phrase(&s->l, ": height");
    st = st ? st : positive(s, &k->slice[0].height_m);
    st = st ? st : tmx_ice_phrase(&s->l, "; material");
    st = st ? st : find_material(s, &k->slice[0].material);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    s->n_kind++;
    return st;
}

static enum tmx_status read_die(struct stack *s)
{
    struct kind *k = &s->kind[s->n_kind];
    if (s->n_kind == MAX_KIND) {
        return full(s, "layers and dies", MAX_KIND);
    }
    *k = (struct kind){.die = true};
    enum tmx_status st = tmx_ice_name(&s->l, k->name, sizeof k->name);
    st = st ? st : tmx_ice_phrase(&s->l, ":");
    while (!st) {
        const bool source = tmx_span_is(s->l.word, "source");
        if (!source && !tmx_span_is(s->l.word, "layer")) {
            break;
        }
        if (k->n_slice == MAX_SLICE) {
            return full(s, "layers in a die", MAX_SLICE);
        }
        const char *before = s->l.next;
        tmx_ice_next(&s->l);
        double probe;
        if (!tmx_span_real(s->l.word, &probe)) { /* `layer NAME :` begins the next block */
            s->l.next = before;
            s->l.word = (struct tmx_span){before - strlen("layer"), before};
            break;
        }
        struct slice *slice = &k->slice[k->n_slice++];
        slice->source = source;
        st = positive(s, &slice->height_m);
        st = st ? st : find_material(s, &slice->material);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    s->n_kind++;
    return !st && k->n_slice == 0 ? tmx_ice_expected(&s->l, "layer or source") : st;
}

static enum tmx_status read_dimensions(struct stack *s)
{
    enum tmx_status st = tmx_ice_phrase(&s->l, ": chip length");
    st = st ? st : positive(s, &s->length_m);
    st = st ? st : tmx_ice_phrase(&s->l, ", width");
    st = st ? st : positive(s, &s->width_m);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    s->length_m *= UM;
    s->width_m *= UM;
    if (!st && tmx_span_is(s->l.word, "cell")) {
        tmx_ice_skip(&s->l); /* HotSpot's grid is chosen in its configuration */
    }
    return st;
}

static enum tmx_status read_placed(struct stack *s, bool die)
{
    struct placed *p = &s->placed[s->n_placed];
    if (s->n_placed == MAX_STACK) {
        return full(s, "entries in the stack", MAX_STACK);
    }
    enum tmx_status st = tmx_ice_name(&s->l, p->name, sizeof p->name);
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
    s->n_placed++;
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

static enum tmx_status read_stack(struct stack *s)
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

static enum tmx_status read_file(struct stack *s)
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
        } else if (tmx_span_is(s->l.word, "microchannel") || tmx_span_is(s->l.word, "bottom")) {
            st = tmx_ice_expected(&s->l, "a stack cooled from the top: this part is not supported");
        } else {
            tmx_ice_skip(&s->l); /* heat sink, solver and output lines: given to HotSpot in its own files */
        }
    }
    if (!st && (s->n_placed == 0 || s->length_m <= 0)) {
        st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, 0,
                         "a stack needs dimensions and a stack of layers");
    }
    return st;
}

/* Floorplan paths are relative to the folder of the stack file. */
static void beside(const char *stack, const char *file, char path[PATH])
{
    const char *slash = strrchr(stack, '/');
    if (file[0] == '/' || !slash) {
        snprintf(path, PATH, "%s", file);
    } else {
        snprintf(path, PATH, "%.*s/%s", (int)(slash - stack), stack, file);
    }
}

static enum tmx_status write_floorplan(struct stack *s, const struct placed *p, const char *out_dir,
                                       struct tmx_err *err)
{
    char from[PATH], to[PATH];
    struct tmx_floorplan fp;
    beside(s->l.text.name, p->floorplan, from);
    enum tmx_status st = tmx_ice_read_flp(from, &fp, err);
    if (!st) {
        snprintf(to, sizeof to, "%s/%s.flp", out_dir, p->name);
        st = tmx_flp_write(to, &fp, "converted from a 3D-ICE floorplan", err);
    }
    tmx_floorplan_finish(&fp);
    return st;
}

static enum tmx_status write_block(const struct stack *s, const char *out_dir, struct tmx_err *err)
{
    char to[PATH], name[] = "die";
    struct tmx_floorplan fp = {0};
    const struct tmx_unit u = {.name = name,
                               .w_m = s->length_m,
                               .h_m = s->width_m,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN};
    snprintf(to, sizeof to, "%s/die.flp", out_dir);
    enum tmx_status st = tmx_floorplan_add(&fp, &u, err);
    st = st ? st : tmx_flp_write(to, &fp, "one block for layers without a floorplan", err);
    tmx_floorplan_finish(&fp);
    return st;
}

static void write_layers(const struct stack *s, FILE *out)
{
    size_t number = 0;
    fprintf(out, "# Converted from a 3D-ICE stack. Layer 0 is farthest from the heat sink.\n"
                 "# number, lateral flow, power, J/(m3 K), m K/W, m, floorplan\n");
    for (size_t i = s->n_placed; i-- > 0;) {
        const struct placed *p = &s->placed[i];
        const struct kind *k = &s->kind[p->kind];
        for (size_t j = k->n_slice; j-- > 0;) {
            const struct slice *slice = &k->slice[j];
            const struct material *m = &s->material[slice->material];
            char c[TMX_REAL_SIZE], r[TMX_REAL_SIZE], t[TMX_REAL_SIZE];
            tmx_real_print(c, m->c_j_per_m3k);
            tmx_real_print(r, 1 / m->k_w_per_mk);
            tmx_real_print(t, slice->height_m * UM);
            fprintf(out, "%zu\nY\n%c\n%s\n%s\n%s\n%s.flp\n\n", number++, slice->source ? 'Y' : 'N', c, r, t,
                    slice->source ? p->name : "die");
        }
    }
}

enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir, struct tmx_err *err)
{
    char lcf[PATH];
    struct tmx_output o;
    struct stack *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    enum tmx_status st = tmx_ice_open(&s->l, path, err);
    st = st ? st : read_file(s);
    st = st ? st : tmx_os_mkdirs(out_dir, err);
    for (size_t i = 0; i < s->n_placed && !st; i++) {
        st = s->kind[s->placed[i].kind].die ? write_floorplan(s, &s->placed[i], out_dir, err) : TMX_OK;
    }
    st = st ? st : write_block(s, out_dir, err);
    if (!st) {
        snprintf(lcf, sizeof lcf, "%s/stack.lcf", out_dir);
        st = tmx_output_open(&o, lcf, err);
    }
    if (!st) {
        write_layers(s, o.file);
        st = tmx_output_commit(&o, err);
    }
    tmx_ice_close(&s->l);
    free(s);
    return st;
}
