/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reader of 3D-ICE: the words of its files, floorplans (.flp), and stack files (.stk) of layers, dies and
 * channels. */
#include "thermal/files/ice.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/plausible.h"

static bool at(const struct tmx_ice_lex *l, const char *what)
{
    const size_t n = strlen(what);
    return (size_t)(l->text.data + l->text.size - l->next) >= n && memcmp(l->next, what, n) == 0;
}

/* Blanks and comments, counting lines. */
static void skip_space(struct tmx_ice_lex *l)
{
    const char *end = l->text.data + l->text.size;
    const char *until = NULL; /* what ends the comment we are in */
    while (l->next < end) {
        if (until && at(l, until)) {
            l->next += until[0] == '*' ? 2 : 0;
            until = NULL;
        } else if (!until && at(l, "//")) {
            until = "\n";
        } else if (!until && at(l, "/*")) {
            until = "*/";
        } else if (!until && !isspace((unsigned char)*l->next)) {
            return;
        } else {
            l->line += *l->next == '\n';
            l->next++;
        }
    }
}

void tmx_ice_next(struct tmx_ice_lex *l)
{
    const char *end = l->text.data + l->text.size;
    skip_space(l);
    l->word.begin = l->next;
    if (l->next < end && *l->next == '"') {
        const char *close = memchr(l->next + 1, '"', (size_t)(end - l->next - 1));
        l->word = (struct tmx_span){l->next + 1, close ? close : end};
        if (l->word.begin == close) { /* an empty word is the end of the file: the two quotes stand for it */
            l->word = (struct tmx_span){l->next, close + 1};
        }
        l->next = close ? close + 1 : end;
        return;
    }
    if (l->next < end && strchr(":;,()", *l->next)) {
        l->next++;
    } else {
        while (l->next < end && !isspace((unsigned char)*l->next) && !strchr(":;,()\"", *l->next)) {
            l->next++;
        }
    }
    l->word.end = l->next;
}

enum tmx_status tmx_ice_check_closed(const struct tmx_ice_lex *l, bool empty, struct tmx_err *err)
{
    const char *p = l->text.data, *end = l->text.data + l->text.size;
    unsigned line = 1;
    while (p < end) {
        const unsigned begun = line;
        const bool comment = end - p >= 2 && p[0] == '/' && p[1] == '*';
        if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n') {
                p++;
            }
        } else if (comment || *p == '"') {
            const char *from = p += comment ? 2 : 1;
            while (p < end && !(comment ? end - p >= 2 && p[0] == '*' && p[1] == '/' : *p == '"')) {
                line += *p++ == '\n';
            }
            if (p == end) {
                return tmx_fail_at(err, TMX_EPARSE, l->text.name, begun, "this %s has no end",
                                   comment ? "comment" : "quotation");
            }
            if (!comment && !empty && p == from) {
                return tmx_fail_at(err, TMX_EPARSE, l->text.name, begun, "empty quotation");
            }
            p += comment ? 2 : 1;
        } else {
            line += *p++ == '\n';
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_ice_sniff(struct tmx_ice_lex *l, const char *path, struct tmx_err *err)
{
    *l = (struct tmx_ice_lex){.line = 1, .err = err};
    const enum tmx_status st = tmx_text_load(&l->text, path, err);
    if (!st) {
        l->next = l->text.data;
        tmx_ice_next(l);
    }
    return st;
}

enum tmx_status tmx_ice_open(struct tmx_ice_lex *l, const char *path, struct tmx_err *err)
{
    const enum tmx_status st = tmx_ice_sniff(l, path, err);
    return st ? st : tmx_ice_check_closed(l, false, err);
}

void tmx_ice_close(struct tmx_ice_lex *l)
{
    tmx_text_finish(&l->text);
}

bool tmx_ice_accept(struct tmx_ice_lex *l, const char *word)
{
    const bool is = tmx_span_is(l->word, word);
    if (is) {
        tmx_ice_next(l);
    }
    return is;
}

enum tmx_status tmx_ice_expected(struct tmx_ice_lex *l, const char *what)
{
    if (tmx_span_length(l->word) == 0) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, l->line, "expected %s, got the end of the file",
                           what);
    }
    return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, l->line, "expected %s, got \"%.*s\"", what,
                       TMX_SPAN_ARG(l->word));
}

enum tmx_status tmx_ice_phrase(struct tmx_ice_lex *l, const char *phrase)
{
    struct tmx_span rest = {phrase, phrase + strlen(phrase)}, field;
    char word[64];
    l->phrase =
        isalpha((unsigned char)phrase[strspn(phrase, ";:, ")]) ? phrase + strspn(phrase, ";:, ") : l->phrase;
    while (tmx_span_field(&rest, &field)) {
        if (!tmx_span_copy(field, word, sizeof word) || !tmx_ice_accept(l, word)) {
            return tmx_ice_expected(l, phrase);
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_ice_number(struct tmx_ice_lex *l, double *v)
{
    if (!tmx_span_real(l->word, v)) {
        return tmx_ice_expected(l, "a number");
    }
    tmx_ice_next(l);
    return TMX_OK;
}

enum tmx_status tmx_ice_name(struct tmx_ice_lex *l, char *buf, size_t size)
{
    if (tmx_span_length(l->word) == 0 || !tmx_span_copy(l->word, buf, size)) {
        return tmx_ice_expected(l, "a name");
    }
    tmx_ice_next(l);
    return TMX_OK;
}

enum tmx_status tmx_ice_skip_values(struct tmx_ice_lex *l)
{
    do {
        tmx_ice_next(l);
    } while (tmx_span_length(l->word) > 0 && !tmx_span_is(l->word, ";") && !tmx_span_is(l->word, ":"));
    return tmx_ice_phrase(l, ";");
}

void tmx_ice_skip(struct tmx_ice_lex *l, const char *what)
{
    const size_t used = strlen(l->skipped);
    if (!strstr(l->skipped, what)) {
        snprintf(l->skipped + used, sizeof l->skipped - used, "%s%s (line %u)", used ? ", " : "", what,
                 l->line);
    }
}

void tmx_ice_print_skipped(const struct tmx_ice_lex *l)
{
    if (l->skipped[0]) {
        tmx_doubt("%s: skipped, without an effect here: %s", l->text.name, l->skipped);
    }
}

static const double UM = 1e-6;
enum { NAME = 256, MAX_SLOT = 1 << 20 };
enum { POSITION = 1, DIMENSION = 2, MATERIAL = 4, POWER = 8, DISCRETIZATION = 16 };

struct element {
    char name[NAME];
    const struct tmx_ice_material *material; /* NULL: its layer's */
    double x, y, w, h;                       /* um */
    unsigned given;                          /* keys, by their bits */
    size_t n_rectangle, n_slot;
    double **slot; /* [n_slot] room for its powers */
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
                               .heat_capacity_j_per_m3k = e->material ? e->material->c_j_per_m3k : NAN,
                               .resistivity_mk_per_w = e->material ? 1 / e->material->k_w_per_mk : NAN,
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

/* Materials of elements have one conductivity. */
static enum tmx_status unit_material(struct tmx_ice_lex *l, const struct tmx_ice_stack *stack,
                                     struct element *e)
{
    for (size_t i = stack->n_material; i-- > 0 && !e->material;) { /* a layout's own come last */
        e->material = tmx_ice_accept(l, stack->material[i].name) ? &stack->material[i] : NULL;
    }
    if (e->material && (e->material->k_part_x != 1 || e->material->k_part_y != 1)) {
        return tmx_ice_expected(l, "a material that conducts alike in all directions, in an element");
    }
    return e->material ? TMX_OK : tmx_ice_expected(l, "a material of the stack");
}

/* One key of an element, `rectangle` apart once; *is: there is one. */
static enum tmx_status element_key(struct tmx_ice_lex *l, struct tmx_floorplan *fp,
                                   const struct tmx_ice_stack *stack, struct element *e, bool *is)
{
    static const char *const words[] = {"position", "dimension", "material", "power", "discretization"};
    double v[2] = {0};
    size_t k = 0;
    while (k < 5 && !tmx_span_is(l->word, words[k])) {
        k++;
    }
    *is = k < 5 || tmx_span_is(l->word, "rectangle");
    if (k == 5) {
        return *is ? (tmx_ice_next(l), rectangle(l, fp, e)) : TMX_OK;
    }
    if (e->given & 1U << k) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, l->line, "%s: %s is given twice", e->name,
                           words[k]);
    }
    e->given |= 1U << k;
    if (1U << k == POWER) {
        return power_values(l, e->slot, &e->n_slot);
    }
    if (1U << k == MATERIAL && !stack) {
        return tmx_ice_expected(l, "no material: convert the stack that defines it");
    }
    if (1U << k == DISCRETIZATION) {
        tmx_ice_skip(l, "discretization");
    }
    tmx_ice_next(l);
    enum tmx_status st = 1U << k == MATERIAL ? unit_material(l, stack, e) : numbers(l, v, 2);
    if (1U << k == POSITION) {
        e->x = v[0], e->y = v[1];
    } else if (1U << k == DIMENSION) {
        e->w = v[0], e->h = v[1];
    }
    return st ? st : tmx_ice_phrase(l, ";");
}

/* Rectangles, or one by position and dimension. */
static enum tmx_status element_area(struct tmx_ice_lex *l, struct tmx_floorplan *fp, const struct element *e)
{
    if (e->n_rectangle > 0 && e->given & (POSITION | DIMENSION)) {
        return tmx_fail_at(l->err, TMX_EPARSE, l->text.name, e->line,
                           "%s has rectangles, and a position or dimension beside them", e->name);
    }
    return e->n_rectangle > 0 ? TMX_OK
           : (e->given & POSITION) && (e->given & DIMENSION)
               ? add(l, fp, e)
               : tmx_ice_expected(l, "position and dimension, or rectangle");
}

/* One `name : ...` block; it ends where the next name begins. */
static enum tmx_status element(struct tmx_ice_lex *l, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                               const struct tmx_ice_stack *stack, double **slot)
{
    struct element e = {.line = l->line, .slot = slot};
    const size_t first = fp->n_unit;
    enum tmx_status st = tmx_ice_name(l, e.name, sizeof e.name);
    st = st ? st : tmx_ice_phrase(l, ":");
    for (bool more = true; more && !st;) {
        st = element_key(l, fp, stack, &e, &more);
    }
    st = st ? st : element_area(l, fp, &e);
    powers->n_without += e.n_slot == 0;
    if (e.n_slot == 0 && powers->n_without == 1) {
        snprintf(powers->without, sizeof powers->without, "%s (line %u)", e.name, e.line);
    }
    return st ? st : keep_powers(l, fp, first, *slot, e.n_slot, powers);
}

enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                                 const struct tmx_ice_stack *stack, struct tmx_err *err)
{
    struct tmx_ice_lex l;
    struct tmx_ice_powers own = {0};
    double *slot = NULL;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    enum tmx_status st = tmx_ice_open(&l, path, err);
    while (!st && tmx_span_length(l.word) > 0) {
        st = element(&l, fp, &own, stack, &slot);
    }
    free(slot);
    if (!st) {
        tmx_ice_print_skipped(&l);
    }
    if (!st && own.n_slot > 0 && own.n_without > 0) {
        tmx_doubt("%s: no power values, so 0 W (3D-ICE stops there): %s%s", path, own.without,
                  own.n_without > 1 ? " and others" : "");
    }
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

/* The second word of a 3D-ICE floorplan is `:`; a stack begins `material NAME :`, or has `stack :`. */
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
        if (tmx_ice_accept(&l, "material")) {
            tmx_ice_next(&l);
            is = tmx_span_is(l.word, ":");
        }
        while (!is && tmx_span_length(l.word) > 0) {
            is = tmx_ice_accept(&l, "stack") && tmx_span_is(l.word, ":");
            tmx_ice_next(&l);
        }
    }
    tmx_ice_close(&l);
    return is;
}

static const char NAME_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
static const double K_UM = 1e6 /* W/(um K) */, C_UM = 1e18 /* J/(um3 K) */;

static enum tmx_status full(struct tmx_ice_stack *s, const char *what, int max)
{
    return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "more than %d %s", max, what);
}

static enum tmx_status positive(struct tmx_ice_stack *s, double *v)
{
    const enum tmx_status st = tmx_ice_number(&s->l, v);
    if (!st && *v <= 0) {
        return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line, "%s = %g must be above 0",
                           s->l.phrase, *v);
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
    for (size_t i = s->n_outer; !st && i < s->n_material; i++) {
        st = tmx_word_compare(s->material[i].name, m->name) == 0 ? twice(s, "material", m->name) : TMX_OK;
    }
    st = st ? st : tmx_ice_phrase(&s->l, ": thermal conductivity");
    st = st ? st : positive(s, &m->k_w_per_mk);
    m->k_part_x = m->k_part_y = 1;
    if (!st && tmx_ice_accept(&s->l, ",")) { /* k_x, k_y, k_z */
        double k[2] = {0};
        st = positive(s, &k[0]);
        st =
            st || tmx_ice_accept(&s->l, ",") ? st : tmx_ice_expected(&s->l, "k_x, k_y, k_z: a comma and k_z");
        st = st ? st : positive(s, &k[1]);
        m->k_part_x = st ? 1 : m->k_w_per_mk / k[1];
        m->k_part_y = st ? 1 : k[0] / k[1];
        m->k_w_per_mk = k[1];
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
    if (!st && tmx_ice_accept(&s->l, "layout")) { /* other materials in parts of it */
        struct tmx_ice_layout *y = &s->layout[s->n_layout];
        y->line = s->l.line;
        st = tmx_ice_name(&s->l, y->file, sizeof y->file);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
        k->slice[0].layout = ++s->n_layout;
    }
    s->n_kind++;
    return st;
}

/* `layer 100 M ;`, `source 2 M ;`, or either with the name of a layer in place of height and material. *is:
 * it is a sheet, not the beginning of the next block. */
static enum tmx_status read_slice(struct tmx_ice_stack *s, struct tmx_ice_slice *slice, bool *is)
{
    const struct tmx_ice_lex before = s->l;
    double probe;
    const bool source = tmx_ice_accept(&s->l, "source");
    *is = source || tmx_ice_accept(&s->l, "layer");
    if (!*is) {
        return TMX_OK;
    }
    if (!tmx_span_real(s->l.word, &probe)) {
        const struct tmx_span name = s->l.word;
        tmx_ice_next(&s->l);
        if (!source && tmx_span_is(s->l.word, ":")) {
            s->l = before;
            *is = false;
            return TMX_OK;
        }
        size_t i = 0;
        while (i < s->n_kind &&
               (s->kind[i].die || s->kind[i].channel || !tmx_span_is(name, s->kind[i].name))) {
            i++;
        }
        if (i == s->n_kind) {
            return tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                               "expected a height, or a layer defined above, got \"%.*s\"",
                               TMX_SPAN_ARG(name));
        }
        *slice = s->kind[i].slice[0];
        slice->source = source;
        return source && slice->layout
                   ? tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                                 "a source with a layout: expected materials in the elements "
                                 "of its floorplan")
                   : tmx_ice_phrase(&s->l, ";");
    }
    slice->source = source;
    enum tmx_status st = positive(s, &slice->height_m);
    st = st ? st : find_material(s, &slice->material);
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

static enum tmx_status read_die(struct tmx_ice_stack *s)
{
    struct tmx_ice_kind *k = &s->kind[s->n_kind];
    if (s->n_kind == TMX_ICE_MAX_KIND) {
        return full(s, "layers and dies", TMX_ICE_MAX_KIND);
    }
    *k = (struct tmx_ice_kind){.die = true};
    const unsigned line = s->l.line;
    enum tmx_status st = kind_name(s, k);
    st = st ? st : tmx_ice_phrase(&s->l, ":");
    for (bool more = true; more && !st;) {
        if (k->n_slice == TMX_ICE_MAX_SLICE) {
            return full(s, "layers in a die", TMX_ICE_MAX_SLICE - 1);
        }
        st = read_slice(s, &k->slice[k->n_slice], &more);
        k->n_slice += more && !st;
    }
    s->n_kind++;
    size_t n_source = 0;
    for (size_t i = 0; i < k->n_slice; i++) {
        n_source += k->slice[i].source;
    }
    if (st || k->n_slice == 0) {
        return st ? st : tmx_ice_expected(&s->l, "layer or source");
    }
    return n_source == 1 ? TMX_OK
                         : tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, line,
                                       "die %s has %zu sources, expected one", k->name, n_source);
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
    if (!st && tmx_span_is(s->l.word, "non-uniform")) { /* one grid serves all layers */
        tmx_ice_next(&s->l);
        if (tmx_span_is(s->l.word, "true")) {
            tmx_ice_skip(&s->l, "non-uniform");
        }
        st = tmx_ice_accept(&s->l, "true") || tmx_ice_accept(&s->l, "false")
                 ? tmx_ice_phrase(&s->l, ";")
                 : tmx_ice_expected(&s->l, "true or false");
    }
    return st;
}

/* `sink height H, area A, material M ;` of 3D-ICE 2.x, where the first word is there. */
static enum tmx_status read_plate(struct tmx_ice_stack *s, const char *word, struct tmx_ice_plate *p)
{
    double area = 0;
    if (!tmx_ice_accept(&s->l, word)) {
        return TMX_OK;
    }
    enum tmx_status st = tmx_ice_phrase(&s->l, "height");
    st = st ? st : positive(s, &p->height_m);
    st = st ? st : tmx_ice_phrase(&s->l, ", area");
    st = st ? st : positive(s, &area);
    st = st ? st : tmx_ice_phrase(&s->l, ", material");
    st = st ? st : find_material(s, &p->material);
    p->height_m *= UM;
    p->side_m = sqrt(area) * UM;
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

/* `heat sink : heat transfer coefficient H ; temperature T ;`, `top` or `bottom` being read; of 3D-ICE 2.x
 * without either, with the plates that it may have. */
static enum tmx_status read_sink(struct tmx_ice_stack *s, bool old, double *film_w_per_m2k)
{
    static const double W_UM2K = 1e12; /* W/(um2 K) in W/(m2 K) */
    const double other_k = s->ambient_k;
    if (tmx_span_is(s->l.word, "pluggable")) {
        return tmx_ice_expected(&s->l, "a conventional heat sink: pluggable ones are not supported");
    }
    if (*film_w_per_m2k > 0) {
        return tmx_ice_expected(&s->l, "one heat sink on a face");
    }
    enum tmx_status st = tmx_ice_phrase(&s->l, "heat sink :");
    st = st || !old ? st : read_plate(s, "sink", &s->sink);
    st = st || !old ? st : read_plate(s, "spreader", &s->spreader);
    st = st ? st : tmx_ice_phrase(&s->l, "heat transfer coefficient");
    st = st ? st : positive(s, film_w_per_m2k);
    st = st ? st : tmx_ice_phrase(&s->l, ";");
    if (!st && old && !tmx_ice_accept(&s->l, "ambient")) {
        (void)tmx_ice_accept(&s->l, "environment");
    }
    st = st ? st : tmx_ice_phrase(&s->l, "temperature");
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
        st = tmx_ice_accept(&s->l, "steady") ? TMX_OK : tmx_ice_expected(&s->l, "steady or transient");
        (void)tmx_ice_accept(&s->l, "state"); /* 1.0 */
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    if (!st && tmx_ice_accept(&s->l, "initial")) {
        st = tmx_ice_phrase(&s->l, "temperature");
        st = st ? st : positive(s, &s->init_k);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    if (!st && tmx_span_is(s->l.word, "numofcores")) {
        double cores;
        tmx_ice_skip(&s->l, "numofcores");
        tmx_ice_next(&s->l);
        st = positive(s, &cores);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
    }
    return st;
}

/* What is put out, and where: `Tmap ( A, "a.txt", slot ) ;` and its like. */
static enum tmx_status skip_output(struct tmx_ice_stack *s)
{
    static const char *const words[] = {"T", "Tflp", "Tflpel", "Tmap", "T3d", "Pmap", "Tcoolant"};
    enum tmx_status st = tmx_ice_phrase(&s->l, ":");
    for (size_t i = 0; !st && i < sizeof words / sizeof words[0];) {
        i++;
        if (tmx_ice_accept(&s->l, words[i - 1])) {
            st = tmx_span_is(s->l.word, "(") ? tmx_ice_skip_values(&s->l) : tmx_ice_expected(&s->l, "(");
            i = 0;
        }
    }
    return st;
}

/* `coolant heat transfer coefficient [side H ,] top H , bottom H ;` or one for all. */
static enum tmx_status read_films(struct tmx_ice_stack *s, struct tmx_channels *c)
{
    static const double W_UM2K = 1e12;
    struct {
        const char *word;
        double *h;
    } rows[] = {{"side", &c->h_side}, {"top", &c->h_top}, {"bottom", &c->h_bottom}};
    enum tmx_status st = TMX_OK;
    bool any = false;
    for (size_t i = 0; i < 3 && !st; i++) {
        if (any && !st) {
            st = tmx_ice_phrase(&s->l, ",");
        }
        if (!st && tmx_ice_accept(&s->l, rows[i].word)) {
            st = positive(s, rows[i].h);
            any = true;
        } else if (any) {
            st = tmx_ice_expected(&s->l, rows[i].word);
        }
    }
    if (!st && !any) {
        st = positive(s, &c->h_top);
        c->h_side = c->h_bottom = c->h_top;
    }
    c->h_side *= W_UM2K, c->h_top *= W_UM2K, c->h_bottom *= W_UM2K;
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

/* `microchannel 2rm|4rm :` or `pinfin :` and their keys, in the order that 3D-ICE wants. */
static enum tmx_status read_channels(struct tmx_ice_stack *s, bool pins)
{
    static const double M3_PER_S = 1e-6 / 60; /* of ml/min */
    struct tmx_ice_kind *k = &s->kind[s->n_kind];
    struct tmx_channels *c = &s->channels;
    double pitch, darcy = 0;
    if (s->n_kind == TMX_ICE_MAX_KIND) {
        return full(s, "layers and dies", TMX_ICE_MAX_KIND);
    }
    if (c->inlet_k > 0) {
        return tmx_ice_expected(&s->l, "one kind of channels in a stack, as 3D-ICE has it");
    }
    *k = (struct tmx_ice_kind){.n_slice = 1, .channel = true};
    *c = (struct tmx_channels){.kind = TMX_CHANNELS_MERGED};
    s->channels_line = s->l.line;
    enum tmx_status st = TMX_OK;
    if (!pins) {
        c->kind = tmx_span_is(s->l.word, "4rm") ? TMX_CHANNELS_RESOLVED : TMX_CHANNELS_MERGED;
        st = tmx_ice_accept(&s->l, "4rm") || tmx_ice_accept(&s->l, "2rm")
                 ? TMX_OK
                 : tmx_ice_expected(&s->l, "2rm or 4rm");
    }
    st = st ? st : tmx_ice_phrase(&s->l, ": height");
    st = st ? st : positive(s, &k->slice[0].height_m);
    if (pins) {
        st = st ? st : tmx_ice_phrase(&s->l, "; pin diameter");
        st = st ? st : positive(s, &c->width_m);
        st = st ? st : tmx_ice_phrase(&s->l, "; pin pitch");
        st = st ? st : positive(s, &pitch);
        if (!st && pitch <= c->width_m) {
            st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->l.line,
                             "pins of %g um in a pitch of %g um touch", c->width_m, pitch);
        }
        c->wall_m = st ? 0 : pitch - c->width_m;
        st = st ? st : tmx_ice_phrase(&s->l, "; pin distribution");
        c->kind =
            tmx_span_is(s->l.word, "staggered") ? TMX_CHANNELS_PINS_STAGGERED : TMX_CHANNELS_PINS_INLINE;
        st = st || tmx_ice_accept(&s->l, "staggered") || tmx_ice_accept(&s->l, "inline")
                 ? st
                 : tmx_ice_expected(&s->l, "inline or staggered");
        st = st ? st : tmx_ice_phrase(&s->l, "; pin material");
        st = st ? st : find_material(s, &k->slice[0].material);
        st = st ? st : tmx_ice_phrase(&s->l, "; darcy velocity");
        st = st ? st : positive(s, &darcy);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
        c->flow_m3_per_s =
            darcy * UM * k->slice[0].height_m * UM; /* times the chip's length, which follows */
    } else {
        st = st ? st : tmx_ice_phrase(&s->l, "; channel length");
        st = st ? st : positive(s, &c->width_m);
        st = st ? st : tmx_ice_phrase(&s->l, "; wall length");
        st = st ? st : positive(s, &c->wall_m);
        st = st ? st : tmx_ice_phrase(&s->l, ";");
        c->first_m = c->last_m = c->wall_m;
        if (!st && tmx_ice_accept(&s->l, "first")) {
            st = tmx_ice_phrase(&s->l, "wall length");
            st = st ? st : positive(s, &c->first_m);
            st = st ? st : tmx_ice_phrase(&s->l, ";");
        }
        if (!st && tmx_ice_accept(&s->l, "last")) {
            st = tmx_ice_phrase(&s->l, "wall length");
            st = st ? st : positive(s, &c->last_m);
            st = st ? st : tmx_ice_phrase(&s->l, ";");
        }
        st = st ? st : tmx_ice_phrase(&s->l, "wall material");
        st = st ? st : find_material(s, &k->slice[0].material);
        st = st ? st : tmx_ice_phrase(&s->l, "; coolant flow rate");
        st = st ? st : positive(s, &c->flow_m3_per_s);
        c->flow_m3_per_s *= M3_PER_S;
        st = st ? st : tmx_ice_phrase(&s->l, "; coolant heat transfer coefficient");
        st = st ? st : read_films(s, c);
    }
    st = st ? st : tmx_ice_phrase(&s->l, "coolant volumetric heat capacity");
    st = st ? st : positive(s, &c->p_j_per_m3k);
    c->p_j_per_m3k *= C_UM;
    st = st ? st : tmx_ice_phrase(&s->l, "; coolant incoming temperature");
    st = st ? st : positive(s, &c->inlet_k);
    c->width_m /= 1e6, c->wall_m /= 1e6, c->first_m /= 1e6,
        c->last_m /= 1e6; /* as it is written: 5e-05 for 50 */
    s->n_kind++;
    return st ? st : tmx_ice_phrase(&s->l, ";");
}

/* `channel NAME ;` */
static enum tmx_status read_placed_channel(struct tmx_ice_stack *s)
{
    struct tmx_ice_placed *p = &s->placed[s->n_placed];
    if (s->n_placed == TMX_ICE_MAX_STACK) {
        return full(s, "entries in the stack", TMX_ICE_MAX_STACK);
    }
    enum tmx_status st = tmx_ice_name(&s->l, p->name, sizeof p->name);
    while (p->kind < s->n_kind && !s->kind[p->kind].channel) {
        p->kind++;
    }
    st = st || p->kind < s->n_kind ? st : tmx_ice_expected(&s->l, "a microchannel or pinfin block above");
    s->n_placed++;
    return st ? st : tmx_ice_phrase(&s->l, ";");
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
        if (s->kind[p->kind].die == die && !s->kind[p->kind].channel &&
            tmx_ice_accept(&s->l, s->kind[p->kind].name)) {
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
    if (!st && tmx_span_is(s->l.word, "discretization")) { /* cells of one size serve all layers here */
        double cells;
        tmx_ice_skip(&s->l, "discretization");
        tmx_ice_next(&s->l);
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
        } else if (tmx_ice_accept(&s->l, "channel")) {
            st = read_placed_channel(s);
        } else {
            break;
        }
    }
    return st;
}

static enum tmx_status read_top(struct tmx_ice_stack *s)
{
    return read_sink(s, false, &s->top_w_per_m2k);
}

static enum tmx_status read_bottom(struct tmx_ice_stack *s)
{
    return read_sink(s, false, &s->bottom_w_per_m2k);
}

static enum tmx_status read_old_sink(struct tmx_ice_stack *s)
{
    return read_sink(s, true, &s->top_w_per_m2k);
}

static enum tmx_status read_pins(struct tmx_ice_stack *s)
{
    return read_channels(s, true);
}

static enum tmx_status read_microchannel(struct tmx_ice_stack *s)
{
    return read_channels(s, false);
}

/* The blocks of a file, in any order. */
static const struct block {
    const char *word;
    enum tmx_status (*read)(struct tmx_ice_stack *s);
    bool once, stays; /* its reader wants the word, too */
} blocks[] = {
    {"material", read_material, false, false},
    {"layer", read_layer, false, false},
    {"die", read_die, false, false},
    {"dimensions", read_dimensions, true, false},
    {"stack", read_stack, true, false},
    {"top", read_top, false, false},
    {"bottom", read_bottom, false, false},
    {"heat", read_old_sink, false, true},
    {"conventional", read_old_sink, false, false},
    {"solver", read_solver, true, false},
    {"microchannel", read_microchannel, false, false},
    {"pinfin", read_pins, false, false},
    {"output", skip_output, true, false},
};
enum { N_BLOCK = sizeof blocks / sizeof blocks[0] };

static enum tmx_status read_block(struct tmx_ice_stack *s, unsigned *had)
{
    size_t b = 0;
    while (b < N_BLOCK && !tmx_span_is(s->l.word, blocks[b].word)) {
        b++;
    }
    if (b == N_BLOCK) {
        return tmx_ice_expected(&s->l, "material, heat sink, microchannel, pinfin, dimensions, layer, die, "
                                       "stack, solver or output");
    }
    if (blocks[b].once && *had & 1U << b) {
        return twice(s, "block", blocks[b].word);
    }
    *had |= 1U << b;
    if (blocks[b].read == skip_output) {
        tmx_ice_skip(&s->l, "output");
    }
    if (!blocks[b].stays) {
        tmx_ice_next(&s->l);
    }
    return blocks[b].read(s);
}

static enum tmx_status read_file(struct tmx_ice_stack *s)
{
    enum tmx_status st = TMX_OK;
    unsigned had = 0;
    while (!st && tmx_span_length(s->l.word) > 0) {
        st = read_block(s, &had);
    }
    if (!st && (s->n_placed == 0 || s->length_m <= 0)) {
        st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, 0,
                         "a stack needs dimensions and a stack of layers");
    }
    if (!st && s->channels.width_m > 0 && !tmx_channels_fit(&s->channels, s->length_m)) {
        st = tmx_fail_at(s->l.err, TMX_EPARSE, s->l.text.name, s->channels_line,
                         "no channel or pin of %g um and its walls fit in a chip of %g um",
                         s->channels.width_m / UM, s->length_m / UM);
    }
    return st;
}

/* Of a layout file: `material` blocks of its own, then `MATERIAL : rectangle (x, y, w, h) ; ...`, or position
 * and dimension. Of two elements in one place the first counts in 3D-ICE; here they are refused. */
static enum tmx_status read_layout(struct tmx_ice_stack *s, struct tmx_floorplan *fp)
{
    struct tmx_ice_lex *l = &s->l;
    enum tmx_status st = TMX_OK;
    while (!st && tmx_ice_accept(l, "material")) {
        st = read_material(s);
    }
    while (!st && tmx_span_length(l->word) > 0) {
        struct element e = {.line = l->line, .given = MATERIAL | POWER | DISCRETIZATION};
        st = unit_material(l, s, &e);
        snprintf(e.name, sizeof e.name, "%s_%zu", st ? "" : e.material->name, fp->n_unit);
        st = st ? st : tmx_ice_phrase(l, ":");
        for (bool more = true; more && !st;) {
            st = element_key(l, fp, s, &e, &more);
        }
        st = st ? st : element_area(l, fp, &e);
    }
    return !st && fp->n_unit == 0 ? tmx_ice_expected(l, "a material") : st;
}

enum tmx_status tmx_ice_read_layout(struct tmx_ice_stack *s, const char *path, struct tmx_floorplan *fp,
                                    struct tmx_err *err)
{
    const struct tmx_ice_lex outer = s->l;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    enum tmx_status st = tmx_ice_open(&s->l, path, err);
    s->n_outer = s->n_material;
    st = st ? st : read_layout(s, fp);
    s->n_material = s->n_outer; /* its own materials end with it */
    s->n_outer = 0;
    tmx_ice_close(&s->l);
    s->l = outer;
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
    st = st ? st : tmx_ice_check_closed(&s->l, false, err);
    if (!st) {
        tmx_ice_print_skipped(&s->l);
    }
    return st;
}

void tmx_ice_stack_finish(struct tmx_ice_stack *s)
{
    for (size_t i = 0; i < s->n_placed; i++) {
        tmx_floorplan_finish(&s->placed[i].units);
        free(s->placed[i].powers.w);
    }
    for (size_t i = 0; i < s->n_layout; i++) {
        tmx_floorplan_finish(&s->layout[i].units);
    }
    tmx_ice_close(&s->l);
}
