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
static const char NAME_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
static const double SAME_M = 1e-9; /* rounding of a floorplan's numbers */
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
    char block[NAME]; /* file of the layers without a floorplan */
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

static enum tmx_status twice(struct stack *s, const char *what, const char *name)
{
    return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "%s \"%s\" is given twice", what,
                       name);
}

static enum tmx_status read_material(struct stack *s)
{
    struct material *m = &s->material[s->n_material];
    if (s->n_material == MAX_MATERIAL) {
        return full(s, "materials", MAX_MATERIAL);
    }
    enum tmx_status st = tmx_ice_name(&s->l, m->name, sizeof m->name);
    for (size_t i = 0; !st && i < s->n_material; i++) {
        st = tmx_word_compare(s->material[i].name, m->name) == 0 ? twice(s, "material", m->name) : TMX_OK;
    }
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

/* The name of a `layer` or `die` block, not yet taken by another of its kind. */
static enum tmx_status kind_name(struct stack *s, struct kind *k)
{
    enum tmx_status st = tmx_ice_name(&s->l, k->name, sizeof k->name);
    for (size_t i = 0; !st && i < s->n_kind; i++) {
        const bool same = s->kind[i].die == k->die && tmx_word_compare(s->kind[i].name, k->name) == 0;
        st = same ? twice(s, k->die ? "die" : "layer", k->name) : TMX_OK;
    }
    return st;
}

static enum tmx_status read_layer(struct stack *s)
{
    struct kind *k = &s->kind[s->n_kind];
    if (s->n_kind == MAX_KIND) {
        return full(s, "layers and dies", MAX_KIND);
    }
    *k = (struct kind){.n_slice = 1};
    enum tmx_status st = kind_name(s, k);
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
    enum tmx_status st = kind_name(s, k);
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
        } else if (tmx_span_is(s->l.word, "pluggable")) {
            st = tmx_ice_expected(&s->l, "a conventional heat sink: pluggable ones are not supported");
        } else if (tmx_ice_accept(&s->l, "top")) {
            continue; /* heat sink: skipped below, unless pluggable */
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

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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
    qsort(edge, n, sizeof *edge, by_size);
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

/* What the elements leave of the chip becomes blocks without power: HotSpot takes the blocks' bounding box
 * for the die. */
static enum tmx_status fill_margins(const struct stack *s, struct tmx_floorplan *fp, struct tmx_err *err)
{
    const size_t n_unit = fp->n_unit;
    double *x = calloc(4 * n_unit + 4, sizeof *x), *y = x + 2 * n_unit + 2;
    if (!x) {
        return tmx_fail(err, TMX_ENOMEM, "margins of %s", fp->source);
    }
    const size_t nx = edges(fp, true, s->length_m, x), ny = edges(fp, false, s->width_m, y);
    enum tmx_status st = TMX_OK;
    if (x[0] < -SAME_M || y[0] < -SAME_M || x[nx - 1] > s->length_m + SAME_M ||
        y[ny - 1] > s->width_m + SAME_M) {
        st = tmx_fail_at(err, TMX_EPARSE, fp->source, 0, "an element lies outside the chip of %g x %g um",
                         s->length_m / UM, s->width_m / UM);
    }
    size_t n_filler = 0;
    for (size_t j = 0; j + 1 < ny && !st; j++) {
        for (size_t i = 0; i + 1 < nx && !st;) {
            size_t to = i; /* as far as the row is free */
            while (to + 1 < nx && !taken(fp, n_unit, 0.5 * (x[to] + x[to + 1]), 0.5 * (y[j] + y[j + 1]))) {
                to++;
            }
            if (to > i) {
                char name[32];
                snprintf(name, sizeof name, "filler_%zu", n_filler++);
                const struct tmx_unit u = {.name = name,
                                           .x_m = x[i],
                                           .y_m = y[j],
                                           .w_m = x[to] - x[i],
                                           .h_m = y[j + 1] - y[j],
                                           .heat_capacity_j_per_m3k = NAN,
                                           .resistivity_mk_per_w = NAN};
                st = tmx_floorplan_add(fp, &u, err);
            }
            i = to + 1;
        }
    }
    free(x);
    return st;
}

static enum tmx_status write_floorplan(struct stack *s, const struct placed *p, const char *out_dir,
                                       struct tmx_err *err)
{
    char from[PATH], to[PATH];
    struct tmx_floorplan fp;
    locate(s->l.text.name, p->floorplan, from);
    enum tmx_status st = tmx_ice_read_flp(from, &fp, err);
    st = st ? st : fill_margins(s, &fp, err);
    if (!st) {
        snprintf(to, sizeof to, "%s/%s.flp", out_dir, p->name);
        st = tmx_flp_write(to, &fp, "converted from a 3D-ICE floorplan", err);
    }
    tmx_floorplan_finish(&fp);
    return st;
}

/* Name of the floorplan of layers that have none: one that no die has. */
static void name_block(struct stack *s)
{
    snprintf(s->block, sizeof s->block, "die");
    for (size_t i = 0; i < s->n_placed; i++) {
        if (s->kind[s->placed[i].kind].die && tmx_word_compare(s->placed[i].name, s->block) == 0) {
            strncat(s->block, "_", sizeof s->block - strlen(s->block) - 1);
            i = (size_t)-1; /* begin again */
        }
    }
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
    snprintf(to, sizeof to, "%s/%s.flp", out_dir, s->block);
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
                    slice->source ? p->name : s->block);
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
    name_block(s);
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
