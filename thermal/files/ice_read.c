/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reader of 3D-ICE: the words of its files, floorplans (.flp), and stack files (.stk) of layers, dies and
 * channels.
 *
 * From the first error on no word is accepted and nothing is read, so the readers below ask for one thing
 * after the other and look at the error where a loop or a count hangs on it. */
#include "thermal/files/ice.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"

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

/* Words are separated by blanks; `: ; , ( )` are words of their own; "..." is one word without its quotes;
 * both C comment forms are skipped. */
static void next(struct tmx_ice_lex *l)
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

#define FAIL_AT(l, at_line, ...) tmx_error_at((l)->err, TMX_EPARSE, (l)->text.name, (at_line), __VA_ARGS__)
#define FAIL(l, ...)             FAIL_AT(l, (l)->line, __VA_ARGS__)

/* Every quotation and comment must end, as what an open one would swallow is never missed otherwise; and
 * unless `empty`, hold something. */
static void check_closed(struct tmx_ice_lex *l, bool empty)
{
    const char *p = l->text.data, *end = l->text.data + l->text.size;
    unsigned line = 1;
    while (p < end && !l->err->code) {
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
                FAIL_AT(l, begun, "this %s has no end", comment ? "comment" : "quotation");
            } else if (!comment && !empty && p == from) {
                FAIL_AT(l, begun, "empty quotation");
            }
            p += comment ? 2 : 1;
        } else {
            line += *p++ == '\n';
        }
    }
}

/* Load; unchecked, to find out what kind of file it is. */
static void sniff(struct tmx_ice_lex *l, const char *path, struct tmx_err *err)
{
    *l = (struct tmx_ice_lex){.line = 1, .err = err};
    if (!tmx_text_load(&l->text, path, err)) {
        l->next = l->text.data;
        next(l);
    }
}

static bool ended(const struct tmx_ice_lex *l)
{
    return l->err->code || tmx_span_length(l->word) == 0;
}

static bool is(const struct tmx_ice_lex *l, const char *word)
{
    return !l->err->code && tmx_span_is(l->word, word);
}

/* True and step when the word is this one. */
static bool accept(struct tmx_ice_lex *l, const char *word)
{
    const bool it_is = is(l, word);
    if (it_is) {
        next(l);
    }
    return it_is;
}

/* Fail at the word: "expected WHAT, got WORD". */
static void expected(struct tmx_ice_lex *l, const char *what)
{
    if (tmx_span_length(l->word) == 0) {
        FAIL(l, "expected %s, got the end of the file", what);
    }
    FAIL(l, "expected %s, got \"%.*s\"", what, TMX_SPAN_ARG(l->word));
}

/* One of two words; which of them it is. */
static bool first_of(struct tmx_ice_lex *l, const char *first, const char *second, const char *what)
{
    const bool it_is = accept(l, first);
    if (!it_is && !accept(l, second)) {
        expected(l, what);
    }
    return it_is;
}

/* The words of a phrase, one after another: "chip length". */
static void phrase(struct tmx_ice_lex *l, const char *words)
{
    struct tmx_span rest = {words, words + strlen(words)}, field;
    const char *named = words + strspn(words, ";:, ");
    char word[64];
    if (isalpha((unsigned char)*named)) {
        snprintf(l->phrase, sizeof l->phrase, "%s", named);
    }
    while (!l->err->code && tmx_span_field(&rest, &field)) {
        if (!tmx_span_copy(field, word, sizeof word) || !accept(l, word)) {
            expected(l, words);
        }
    }
}

static double number(struct tmx_ice_lex *l)
{
    double v = 0;
    if (tmx_span_real(l->word, &v)) {
        next(l);
    } else {
        expected(l, "a number");
    }
    return v;
}

/* Above 0, and where the last word of the phrase has a unit here, likely in it. */
static double positive(struct tmx_ice_lex *l)
{
    static const char *const units[][2] = {{"conductivity", "W/(um K)"}, {"capacity", "J/(um3 K)"},
                                           {"coefficient", "W/(um2 K)"}, {"height", "um"},
                                           {"temperature", "K"},         {"rate", "ml/min"},
                                           {"velocity", "um/s"}};
    const unsigned line = l->line;
    const char *space = strrchr(l->phrase, ' '), *last = space ? space + 1 : l->phrase;
    const double v = number(l);
    if (v <= 0) {
        FAIL(l, "%s = %g must be above 0", l->phrase, v);
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0] && !l->err->code; i++) {
        if (strcmp(last, units[i][0]) == 0) {
            (void)tmx_plausible(NULL, last, units[i][1], v, l->text.name, line, l->err);
        }
    }
    return v;
}

static void name(struct tmx_ice_lex *l, char *buf, size_t size)
{
    buf[0] = '\0';
    if (ended(l) || !tmx_span_copy(l->word, buf, size)) {
        expected(l, "a name");
    } else {
        next(l);
    }
}

/* The word has no effect here: it is one of the few that a reader may skip, and is printed at the end. */
static void skip(struct tmx_ice_lex *l, const char *what)
{
    if (!strstr(l->skipped, what)) {
        tmx_text_add(l->skipped, sizeof l->skipped, "%s%s (line %u)", l->skipped[0] ? ", " : "", what,
                     l->line);
    }
}

static void print_skipped(const struct tmx_ice_lex *l)
{
    if (!l->err->code && l->skipped[0]) {
        tmx_warn("%s: skipped, without an effect here: %s", l->text.name, l->skipped);
    }
}

static const double UM = 1e-6;
enum { NAME = 256, MAX_SLOT = 1 << 20, MAX_SIDE = 4096 };
enum { POSITION = 1, DIMENSION = 2, MATERIAL = 4, POWER = 8, DISCRETIZATION = 16 };

struct element {
    char name[NAME];
    const struct tmx_ice_material *material; /* NULL: its layer's */
    double x, y, w, h;                       /* um */
    unsigned given;                          /* keys, by their bits */
    bool no_powers;                          /* nothing takes them */
    size_t n_rectangle, n_slot;
    double **slot; /* [n_slot] room for its powers */
    unsigned line;
};

/* Index of the material that is named; a layout's own come last, and first here. */
static size_t find_material(struct tmx_ice_lex *l, const char *what)
{
    size_t i = l->materials ? l->materials->n_material : 0;
    while (i > 0 && !accept(l, l->materials->material[i - 1].name)) {
        i--;
    }
    if (i == 0) {
        expected(l, what);
    }
    return i > 0 ? i - 1 : 0;
}

/* Words as they must follow, and between them # a number, % one above 0, to a double * (%u: of um, in m), and
 * @ a material, to a size_t *: its index. [word ...] may be left out. */
static void scan(struct tmx_ice_lex *l, const char *format, ...)
{
    bool absent = false;
    va_list to;
    va_start(to, format);
    for (const char *at_word = format; *at_word;) {
        char words[64];
        const char *begin = at_word + strspn(at_word, " ");
        size_t n = strcspn(begin, "#%@[]");
        at_word = begin + n;
        const char stop = *at_word;
        at_word += stop != '\0';
        while (n > 0 && begin[n - 1] == ' ') {
            n--;
        }
        snprintf(words, sizeof words, "%.*s", (int)n, begin);
        if (!absent) {
            phrase(l, words);
        }
        if (stop == '%' || stop == '#') {
            double *v = va_arg(to, double *);
            *v = absent ? *v : (stop == '#' ? number(l) : positive(l)) * (*at_word == 'u' ? UM : 1);
            at_word += *at_word == 'u';
        } else if (stop == '@') {
            *va_arg(to, size_t *) = find_material(l, "a material defined above");
        } else if (stop == '[') {
            n = strcspn(at_word, " ");
            snprintf(words, sizeof words, "%.*s", (int)n, at_word);
            absent = !accept(l, words);
            if (!absent) {
                snprintf(l->phrase, sizeof l->phrase, "%s", words);
            }
            at_word += n;
        } else {
            absent = false;
        }
    }
    va_end(to);
}

static void add(struct tmx_ice_lex *l, struct tmx_floorplan *fp, const struct element *e)
{
    char text[NAME + 24];
    if (e->w <= 0 || e->h <= 0) {
        FAIL_AT(l, e->line, "%s: %g x %g um is no area", e->name, e->w, e->h);
    }
    snprintf(text, sizeof text, e->n_rectangle > 1 ? "%s\n%zu" : "%s", e->name, e->n_rectangle - 1);
    const struct tmx_unit u = {.name = text,
                               .x_m = e->x * UM,
                               .y_m = e->y * UM,
                               .w_m = e->w * UM,
                               .h_m = e->h * UM,
                               .heat_capacity_j_per_m3k = e->material ? e->material->c_j_per_m3k : NAN,
                               .resistivity_mk_per_w = e->material ? 1 / e->material->k_w_per_mk : NAN,
                               .line = e->line};
    tmx_floorplan_add(fp, &u, l->err);
}

void tmx_ice_name_apart(const struct tmx_floorplan *fp, char *name, size_t size)
{
    while (tmx_floorplan_find(fp, name) < fp->n_unit) {
        tmx_text_add(name, size, "_");
    }
}

/* An element's further rectangles, which are NAME and a line's end and a number until all names are known,
 * become NAME_1, NAME_2, ... */
static void name_rectangles(struct tmx_floorplan *fp, struct tmx_err *err)
{
    char name[NAME + 64];
    for (size_t u = 0; u < fp->n_unit && !err->code; u++) {
        char *end = strchr(fp->unit[u].name, '\n');
        if (end) {
            snprintf(name, sizeof name, "%.*s_%s", (int)(end - fp->unit[u].name), fp->unit[u].name, end + 1);
            tmx_ice_name_apart(fp, name, sizeof name);
            end = tmx_arena_text(&fp->arena, name);
            fp->unit[u].name = end ? end : fp->unit[u].name;
            tmx_arena_check(&fp->arena, err);
        }
    }
}

/* `power values 1, 2, 3 ;`: as many numbers as there are slots, grown as they come. */
static void power_values(struct tmx_ice_lex *l, double **slot, size_t *n_slot)
{
    size_t n = 0;
    phrase(l, "power values");
    do {
        if (n % 1024 == 0) {
            double *grown = n < MAX_SLOT ? realloc(*slot, (n + 1024) * sizeof *grown) : NULL;
            *slot = grown ? grown : *slot;
            if (!grown) {
                tmx_error(l->err, TMX_ENOMEM, "%zu power values", n);
                return;
            }
        }
        (*slot)[n++] = number(l);
    } while (accept(l, ","));
    *n_slot = n;
    phrase(l, ";");
}

/* The watts of the units from first on, which are one element. */
static void keep_powers(struct tmx_ice_lex *l, const struct tmx_floorplan *fp, size_t first,
                        const double *slot, size_t n_slot, struct tmx_ice_powers *p)
{
    if (n_slot > 0 && p->n_slot > 0 && n_slot != p->n_slot && !l->err->code) {
        FAIL_AT(l, fp->unit[first].line, "\"%s\" has %zu power values, those above have %zu",
                fp->unit[first].name, n_slot, p->n_slot);
    }
    const size_t had = p->n_slot > 0 ? first : 0;
    p->n_slot = n_slot > 0 ? n_slot : p->n_slot;
    if (p->n_slot == 0 || l->err->code) {
        return;
    }
    double *grown = realloc(p->w, fp->n_unit * p->n_slot * sizeof *grown), area_m2 = 0;
    if (!grown) {
        tmx_error(l->err, TMX_ENOMEM, "out of memory");
        return;
    }
    p->w = grown;
    memset(p->w + had * p->n_slot, 0, (fp->n_unit - had) * p->n_slot * sizeof *grown);
    for (size_t u = first; u < fp->n_unit; u++) {
        area_m2 += tmx_unit_area_m2(&fp->unit[u]);
    }
    for (size_t i = 0; i < (fp->n_unit - first) * n_slot; i++) {
        const double part = tmx_unit_area_m2(&fp->unit[first + i / n_slot]) / area_m2;
        p->w[first * n_slot + i] = slot[i % n_slot] * part;
    }
}

/* Materials of elements have one conductivity. */
static void unit_material(struct tmx_ice_lex *l, struct element *e)
{
    e->material = &l->materials->material[find_material(l, "a material of the stack")];
    if (e->material->k_part_x != 1 || e->material->k_part_y != 1) {
        expected(l, "a material that conducts alike in all directions, in an element");
    }
}

/* One key of an element, `rectangle` apart once; false: there is none. */
static bool element_key(struct tmx_ice_lex *l, struct tmx_floorplan *fp, struct element *e)
{
    static const char *const words[] = {"position", "dimension", "material", "power", "discretization"};
    double unused;
    unsigned k = 0;
    while (k < 5 && !is(l, words[k])) {
        k++;
    }
    const unsigned bit = 1U << k;
    if (k == 5) {
        const bool there = accept(l, "rectangle");
        if (there) {
            scan(l, "( # , # , # , # ) ;", &e->x, &e->y, &e->w, &e->h);
            e->n_rectangle++;
            add(l, fp, e);
        }
        return there;
    }
    if (e->given & bit) {
        FAIL(l, "%s: %s is given twice", e->name, words[k]);
    }
    e->given |= bit;
    if (bit == POSITION) {
        scan(l, "position # , # ;", &e->x, &e->y);
    } else if (bit == DIMENSION) {
        scan(l, "dimension # , # ;", &e->w, &e->h);
    } else if (bit == DISCRETIZATION) {
        skip(l, "discretization");
        scan(l, "discretization # , # ;", &unused, &unused);
    } else if (bit == POWER) {
        if (e->no_powers) {
            skip(l, "power values");
        }
        power_values(l, e->slot, &e->n_slot);
    } else if (!l->materials) {
        expected(l, "no material: convert the stack that defines it");
    } else {
        next(l);
        unit_material(l, e);
        phrase(l, ";");
    }
    return true;
}

/* Keys as long as there are any; rectangles, or one by position and dimension. */
static void element_keys(struct tmx_ice_lex *l, struct tmx_floorplan *fp, struct element *e)
{
    while (!l->err->code && element_key(l, fp, e)) {
    }
    if (e->n_rectangle > 0 && e->given & (POSITION | DIMENSION)) {
        FAIL_AT(l, e->line, "%s has rectangles, and a position or dimension beside them", e->name);
    } else if (e->n_rectangle == 0 && (e->given & POSITION) && (e->given & DIMENSION)) {
        add(l, fp, e);
    } else if (e->n_rectangle == 0) {
        expected(l, "position and dimension, or rectangle");
    }
}

enum tmx_status tmx_ice_read_flp(const char *path, struct tmx_floorplan *fp, struct tmx_ice_powers *powers,
                                 const struct tmx_ice_stack *stack, struct tmx_err *err)
{
    struct tmx_ice_lex l;
    struct tmx_ice_powers own = {0}, *p = powers ? powers : &own;
    double *slot = NULL;
    *p = own;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    sniff(&l, path, err);
    l.materials = stack;
    check_closed(&l, false);
    while (!ended(&l)) { /* `name : ...`; it ends where the next name begins */
        struct element e = {.line = l.line, .slot = &slot, .no_powers = !powers};
        const size_t first = fp->n_unit;
        name(&l, e.name, sizeof e.name);
        phrase(&l, ":");
        element_keys(&l, fp, &e);
        p->n_without += e.n_slot == 0;
        if (e.n_slot == 0 && p->n_without == 1) {
            snprintf(p->without, sizeof p->without, "%s (line %u)", e.name, e.line);
        }
        keep_powers(&l, fp, first, slot, e.n_slot, p);
    }
    free(slot);
    name_rectangles(fp, err);
    print_skipped(&l);
    if (!err->code && p->n_slot > 0 && p->n_without > 0) {
        tmx_warn("%s: no power values, so 0 W (3D-ICE stops there): %s%s", path, p->without,
                 p->n_without > 1 ? " and others" : "");
    }
    free(own.w);
    if (fp->n_unit == 0) {
        FAIL_AT(&l, 0, "no elements");
    }
    tmx_text_finish(&l.text);
    return err->code;
}

/* The second word of a 3D-ICE floorplan is `:`; a stack begins `material NAME :`, or has `stack :`. */
bool tmx_ice_is(const char *path, bool stack)
{
    struct tmx_err none = {0};
    struct tmx_ice_lex l;
    bool it_is = false;
    sniff(&l, path, &none);
    if (!none.code && (!stack || accept(&l, "material"))) {
        next(&l);
        it_is = is(&l, ":");
    }
    while (stack && !it_is && !ended(&l)) {
        it_is = accept(&l, "stack") && is(&l, ":");
        next(&l);
    }
    tmx_text_finish(&l.text);
    return it_is;
}

static const char NAME_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
static const double K_UM = 1e6 /* W/(um K) */, C_UM = 1e18 /* J/(um3 K) */, W_UM2K = 1e12 /* W/(um2 K) */;

/* Is there room for one more? */
static bool room(struct tmx_ice_stack *s, size_t n, int max, const char *what)
{
    if (n >= (size_t)max) {
        FAIL(&s->l, "more than %d %s", max, what);
    }
    return !s->l.err->code;
}

static void twice(struct tmx_ice_stack *s, const char *what, const char *it)
{
    FAIL(&s->l, "%s \"%s\" is given twice", what, it);
}

static void read_material(struct tmx_ice_stack *s)
{
    struct tmx_ice_material *m = &s->material[s->n_material];
    if (!room(s, s->n_material, TMX_ICE_MAX_MATERIAL, "materials")) {
        return;
    }
    name(&s->l, m->name, sizeof m->name);
    for (size_t i = s->n_outer; i < s->n_material; i++) {
        if (tmx_word_compare(s->material[i].name, m->name) == 0) {
            twice(s, "material", m->name);
        }
    }
    scan(&s->l, ": thermal conductivity %", &m->k_w_per_mk);
    m->k_part_x = m->k_part_y = 1;
    if (accept(&s->l, ",")) { /* k_x, k_y, k_z */
        const double k_y = positive(&s->l);
        if (!accept(&s->l, ",")) {
            expected(&s->l, "k_x, k_y, k_z: a comma and k_z");
        }
        const double k_z = positive(&s->l);
        m->k_part_x = s->l.err->code ? 1 : m->k_w_per_mk / k_z;
        m->k_part_y = s->l.err->code ? 1 : k_y / k_z;
        m->k_w_per_mk = k_z;
    }
    scan(&s->l, "; volumetric heat capacity % ;", &m->c_j_per_m3k);
    m->k_w_per_mk *= K_UM;
    m->c_j_per_m3k *= C_UM;
    s->n_material++;
}

/* The next kind, if there is room: a `layer` or `die` with a name that no other of its kind has, or channels.
 */
static struct tmx_ice_kind *new_kind(struct tmx_ice_stack *s, struct tmx_ice_kind kind)
{
    struct tmx_ice_kind *k = &s->kind[s->n_kind];
    if (!room(s, s->n_kind, TMX_ICE_MAX_KIND, "layers and dies")) {
        return NULL;
    }
    *k = kind;
    if (!k->channel) {
        name(&s->l, k->name, sizeof k->name);
    }
    for (size_t i = 0; i < s->n_kind && !k->channel; i++) {
        if (s->kind[i].die == k->die && tmx_word_compare(s->kind[i].name, k->name) == 0) {
            twice(s, k->die ? "die" : "layer", k->name);
        }
    }
    return k;
}

static void read_layer(struct tmx_ice_stack *s)
{
    struct tmx_ice_kind *k = new_kind(s, (struct tmx_ice_kind){.n_slice = 1});
    if (!k) {
        return;
    }
    scan(&s->l, ": height % ; material @ ;", &k->slice[0].height_m, &k->slice[0].material);
    if (accept(&s->l, "layout")) { /* other materials in parts of it */
        struct tmx_ice_layout *y = &s->layout[s->n_layout];
        y->line = s->l.line;
        name(&s->l, y->file, sizeof y->file);
        phrase(&s->l, ";");
        k->slice[0].layout = ++s->n_layout;
    }
    s->n_kind++;
}

/* `layer 100 M ;`, `source 2 M ;`, or either with the name of a layer in place of height and material. false:
 * it is no sheet but the beginning of the next block. */
static bool read_slice(struct tmx_ice_stack *s, struct tmx_ice_slice *slice)
{
    const struct tmx_ice_lex before = s->l;
    double probe;
    const bool source = accept(&s->l, "source");
    if (!source && !accept(&s->l, "layer")) {
        return false;
    }
    if (tmx_span_real(s->l.word, &probe)) {
        slice->source = source;
        snprintf(s->l.phrase, sizeof s->l.phrase, "height");
        scan(&s->l, "% @ ;", &slice->height_m, &slice->material);
        return true;
    }
    const struct tmx_span of = s->l.word;
    next(&s->l);
    if (!source && is(&s->l, ":")) {
        s->l = before;
        return false;
    }
    size_t i = 0;
    while (i < s->n_kind && (s->kind[i].die || s->kind[i].channel || !tmx_span_is(of, s->kind[i].name))) {
        i++;
    }
    if (i == s->n_kind) {
        FAIL(&s->l, "expected a height, or a layer defined above, got \"%.*s\"", TMX_SPAN_ARG(of));
        return true;
    }
    *slice = s->kind[i].slice[0];
    slice->source = source;
    if (source && slice->layout) {
        FAIL(&s->l, "a source with a layout: expected materials in the elements of its floorplan");
    }
    phrase(&s->l, ";");
    return true;
}

static void read_die(struct tmx_ice_stack *s)
{
    const unsigned line = s->l.line;
    struct tmx_ice_kind *k = new_kind(s, (struct tmx_ice_kind){.die = true});
    size_t n_source = 0;
    if (!k) {
        return;
    }
    phrase(&s->l, ":");
    while (k->n_slice < TMX_ICE_MAX_SLICE && read_slice(s, &k->slice[k->n_slice]) && !s->l.err->code) {
        n_source += k->slice[k->n_slice++].source;
    }
    if (k->n_slice == TMX_ICE_MAX_SLICE) {
        FAIL(&s->l, "more than %d layers in a die", TMX_ICE_MAX_SLICE - 1);
    }
    s->n_kind++;
    if (k->n_slice == 0) {
        expected(&s->l, "layer or source");
    } else if (n_source != 1) {
        FAIL_AT(&s->l, line, "die %s has %zu sources, expected one", k->name, n_source);
    }
}

static void read_dimensions(struct tmx_ice_stack *s)
{
    const unsigned line = s->l.line;
    scan(&s->l, ": chip length %u , width %u ; [cell length %u , width %u ;]", &s->length_m, &s->width_m,
         &s->cell_length_m, &s->cell_width_m);
    const double cols = s->length_m / s->cell_length_m, rows = s->width_m / s->cell_width_m; /* inf: as is */
    if (s->cell_length_m > 0 && (fmin(rows, cols) < 1 - 1e-6 || fmax(rows, cols) > MAX_SIDE)) {
        FAIL_AT(&s->l, line, "cells of %g x %g um: a grid of %g x %g, expected 1 to %d each way",
                s->cell_length_m / UM, s->cell_width_m / UM, rows, cols, MAX_SIDE);
    } else if (s->cell_length_m > 0 &&
               (fabs(rows - round(rows)) > 1e-6 * rows || fabs(cols - round(cols)) > 1e-6 * cols)) {
        tmx_warn("%s:%u: cells of %g x %g um do not divide the chip: a grid of %.0f x %.0f", s->l.text.name,
                 line, s->cell_length_m / UM, s->cell_width_m / UM, round(rows), round(cols));
    }
    if (accept(&s->l, "non-uniform")) { /* one grid serves all layers */
        if (is(&s->l, "true")) {
            skip(&s->l, "non-uniform");
        }
        first_of(&s->l, "true", "false", "true or false");
        phrase(&s->l, ";");
    }
}

/* `sink height H, area A, material M ;` of 3D-ICE 2.x, where the first word is there. */
static void read_plate(struct tmx_ice_stack *s, const char *word, struct tmx_ice_plate *p)
{
    double area = 0;
    if (accept(&s->l, word)) {
        scan(&s->l, "height %u , area % , material @ ;", &p->height_m, &area, &p->material);
        p->side_m = sqrt(area) * UM;
    }
}

/* `heat sink : heat transfer coefficient H ; temperature T ;`, `top` or `bottom` being read; of 3D-ICE 2.x
 * without either, with the plates that it may have. */
static void read_sink(struct tmx_ice_stack *s)
{
    const bool bottom = strcmp(s->block_word, "bottom") == 0, old = !bottom && strcmp(s->block_word, "top");
    double *film_w_per_m2k = bottom ? &s->bottom_w_per_m2k : &s->top_w_per_m2k;
    const double other_k = s->ambient_k;
    if (is(&s->l, "pluggable")) {
        expected(&s->l, "a conventional heat sink: pluggable ones are not supported");
    }
    if (*film_w_per_m2k > 0) {
        expected(&s->l, "one heat sink on a face");
    }
    phrase(&s->l, "heat sink :");
    if (old) {
        read_plate(s, "sink", &s->sink);
        read_plate(s, "spreader", &s->spreader);
    }
    scan(&s->l, "heat transfer coefficient % ;", film_w_per_m2k);
    if (old && !accept(&s->l, "ambient")) {
        (void)accept(&s->l, "environment");
    }
    scan(&s->l, "temperature %", &s->ambient_k);
    *film_w_per_m2k *= W_UM2K;
    if (other_k > 0 && other_k != s->ambient_k) {
        FAIL(&s->l, "a sink at %g K and one at %g K: both must have one temperature", other_k, s->ambient_k);
    }
    phrase(&s->l, ";");
}

/* `solver :`: `steady ;` or `transient step S, slot S ;`, then `initial temperature T ;`. */
static void read_solver(struct tmx_ice_stack *s)
{
    double unused = 0; /* steps here are exact at any length */
    phrase(&s->l, ":");
    if (accept(&s->l, "transient")) {
        scan(&s->l, "step % , slot % ;", &unused, &s->slot_s);
        if (s->slot_s < unused) {
            FAIL(&s->l, "slot %g s is shorter than step %g s", s->slot_s, unused);
        }
    } else if (accept(&s->l, "steady")) {
        (void)accept(&s->l, "state"); /* 1.0 */
        phrase(&s->l, ";");
    } else {
        expected(&s->l, "steady or transient");
    }
    scan(&s->l, "[initial temperature % ;]", &s->init_k);
    if (is(&s->l, "numofcores")) {
        skip(&s->l, "numofcores");
    }
    scan(&s->l, "[numofcores % ;]", &unused);
}

/* What is put out, and where: `Tmap ( A, "a.txt", slot ) ;` and its like. */
static void skip_output(struct tmx_ice_stack *s)
{
    static const char *const words[] = {"T", "Tflp", "Tflpel", "Tmap", "T3d", "Pmap", "Tcoolant"};
    phrase(&s->l, ":");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!accept(&s->l, words[i])) {
            continue;
        }
        if (!is(&s->l, "(")) {
            expected(&s->l, "(");
        }
        while (!ended(&s->l) && !is(&s->l, ";") && !is(&s->l, ":")) {
            next(&s->l);
        }
        phrase(&s->l, ";");
        i = SIZE_MAX; /* from the first again */
    }
}

/* `microchannel 2rm|4rm :` or `pinfin :` and their keys, in the order that 3D-ICE wants. */
static void read_channels(struct tmx_ice_stack *s)
{
    static const double M3_PER_S = 1e-6 / 60; /* of ml/min */
    struct tmx_channels *c = &s->channels;
    struct tmx_ice_kind *k = new_kind(s, (struct tmx_ice_kind){.n_slice = 1, .channel = true});
    if (!k) {
        return;
    }
    if (c->inlet_k > 0) {
        expected(&s->l, "one kind of channels in a stack, as 3D-ICE has it");
        return;
    }
    struct tmx_ice_slice *slice = &k->slice[0];
    double pitch = 0, darcy = 0;
    *c = (struct tmx_channels){.kind = TMX_CHANNELS_MERGED};
    s->channels_line = s->l.line;
    if (strcmp(s->block_word, "pinfin") == 0) {
        scan(&s->l, ": height % ; pin diameter % ; pin pitch %", &slice->height_m, &c->width_m, &pitch);
        if (pitch <= c->width_m) {
            FAIL(&s->l, "pins of %g um in a pitch of %g um touch", c->width_m, pitch);
        }
        c->wall_m = pitch - c->width_m;
        phrase(&s->l, "; pin distribution");
        c->kind = first_of(&s->l, "staggered", "inline", "inline or staggered") ? TMX_CHANNELS_PINS_STAGGERED
                                                                                : TMX_CHANNELS_PINS_INLINE;
        scan(&s->l, "; pin material @ ; darcy velocity % ;", &slice->material, &darcy);
        c->flow_m3_per_s = darcy * UM * slice->height_m * UM; /* times the chip's length, which follows */
    } else {
        c->kind = first_of(&s->l, "4rm", "2rm", "2rm or 4rm") ? TMX_CHANNELS_RESOLVED : TMX_CHANNELS_MERGED;
        scan(&s->l, ": height % ; channel length % ; wall length % ;", &slice->height_m, &c->width_m,
             &c->wall_m);
        c->first_m = c->last_m = c->wall_m;
        scan(&s->l,
             "[first wall length % ;] [last wall length % ;] wall material @ ; coolant flow rate % ; coolant "
             "heat transfer coefficient",
             &c->first_m, &c->last_m, &slice->material, &c->flow_m3_per_s);
        c->flow_m3_per_s *= M3_PER_S;
        /* `coolant heat transfer coefficient [side H ,] top H , bottom H ;` or one for all. */
        static const char *const words[] = {"side", "top", "bottom"};
        double *const h[] = {&c->h_side, &c->h_top, &c->h_bottom};
        bool any = false;
        for (size_t i = 0; i < 3; i++) {
            if (any && (!accept(&s->l, ",") || !is(&s->l, words[i]))) {
                expected(&s->l, words[i]);
            }
            if (accept(&s->l, words[i])) {
                *h[i] = positive(&s->l);
                any = true;
            }
        }
        if (!any) {
            c->h_side = c->h_bottom = c->h_top = positive(&s->l);
        }
        c->h_side *= W_UM2K, c->h_top *= W_UM2K, c->h_bottom *= W_UM2K;
        phrase(&s->l, ";");
    }
    scan(&s->l, "coolant volumetric heat capacity % ; coolant incoming temperature % ;", &c->p_j_per_m3k,
         &c->inlet_k);
    c->p_j_per_m3k *= C_UM;
    c->width_m /= 1e6, c->wall_m /= 1e6, c->first_m /= 1e6,
        c->last_m /= 1e6; /* as it is written: 5e-05 for 50 */
    s->n_kind++;
}

/* Entries of the stack: `layer NAME KIND ;`, `die NAME KIND floorplan "file" ;`, `channel NAME ;`. */
static void read_stack(struct tmx_ice_stack *s)
{
    phrase(&s->l, ":");
    for (;;) {
        const bool die = accept(&s->l, "die"), channel = !die && accept(&s->l, "channel");
        if ((!die && !channel && !accept(&s->l, "layer")) ||
            !room(s, s->n_placed, TMX_ICE_MAX_STACK, "entries in the stack")) {
            return;
        }
        struct tmx_ice_placed *p = &s->placed[s->n_placed];
        name(&s->l, p->name, sizeof p->name);
        for (const char *c = p->name; die && *c; c++) { /* it becomes a file's */
            if (!strchr(NAME_LETTERS, *c) || (*c == '.' && c == p->name)) {
                FAIL(&s->l, "die \"%s\": a file is named after it, so letters, digits, - _ and . inside only",
                     p->name);
            }
        }
        for (size_t i = 0; die && i < s->n_placed; i++) {
            if (s->kind[s->placed[i].kind].die && tmx_word_compare(s->placed[i].name, p->name) == 0) {
                twice(s, "die", p->name);
            }
        }
        for (p->kind = 0; p->kind < s->n_kind; p->kind++) {
            const struct tmx_ice_kind *k = &s->kind[p->kind];
            if (k->die == die && k->channel == channel && (channel || accept(&s->l, k->name))) {
                break;
            }
        }
        if (p->kind == s->n_kind) {
            p->kind = 0;
            expected(&s->l, channel ? "a microchannel or pinfin block above"
                            : die   ? "a die defined above"
                                    : "a layer defined above");
        }
        if (die) {
            phrase(&s->l, "floorplan");
            name(&s->l, p->floorplan, sizeof p->floorplan);
        }
        if (!channel && is(&s->l, "discretization")) { /* cells of one size serve all layers here */
            double cells;
            skip(&s->l, "discretization");
            next(&s->l);
            scan(&s->l, "% %", &cells, &cells);
        }
        s->n_placed++;
        phrase(&s->l, ";");
    }
}

/* The blocks of a file, in any order. */
static const struct {
    const char *word;
    void (*read)(struct tmx_ice_stack *s);
    bool once, stays; /* its reader wants the word, too */
} blocks[] = {
    {"material", read_material, false, false},
    {"layer", read_layer, false, false},
    {"die", read_die, false, false},
    {"dimensions", read_dimensions, true, false},
    {"stack", read_stack, true, false},
    {"top", read_sink, false, false},
    {"bottom", read_sink, false, false},
    {"heat", read_sink, false, true},
    {"conventional", read_sink, false, false},
    {"solver", read_solver, true, false},
    {"microchannel", read_channels, false, false},
    {"pinfin", read_channels, false, false},
    {"output", skip_output, true, false},
};
enum { N_BLOCK = sizeof blocks / sizeof blocks[0] };

/* `material` blocks of its own, then `MATERIAL : rectangle (x, y, w, h) ; ...`, or position and dimension. Of
 * two elements in one place the first counts in 3D-ICE; here they are refused. */
enum tmx_status tmx_ice_read_layout(struct tmx_ice_stack *s, const char *path, struct tmx_floorplan *fp,
                                    struct tmx_err *err)
{
    struct tmx_ice_lex *l = &s->l;
    const struct tmx_ice_lex outer = *l;
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", path);
    sniff(l, path, err);
    l->materials = s;
    check_closed(l, false);
    s->n_outer = s->n_material;
    while (accept(l, "material")) {
        read_material(s);
    }
    while (!ended(l)) {
        struct element e = {.line = l->line, .given = MATERIAL | POWER | DISCRETIZATION};
        unit_material(l, &e);
        snprintf(e.name, sizeof e.name, "%s_%zu", l->err->code ? "" : e.material->name, fp->n_unit);
        phrase(l, ":");
        element_keys(l, fp, &e);
    }
    name_rectangles(fp, err);
    if (fp->n_unit == 0) {
        expected(l, "a material");
    }
    s->n_material = s->n_outer; /* its own materials end with it */
    s->n_outer = 0;
    tmx_text_finish(&l->text);
    *l = outer;
    return err->code;
}

enum tmx_status tmx_ice_stack_read(struct tmx_ice_stack *s, const char *path, struct tmx_err *err)
{
    struct tmx_ice_lex *l = &s->l;
    unsigned had = 0;
    *s = (struct tmx_ice_stack){.n_placed = 0};
    sniff(l, path, err);
    l->materials = s;
    check_closed(l, true); /* a plug-in's arguments, which is then refused by name */
    while (!ended(l)) {
        size_t b = 0;
        while (b < N_BLOCK && !is(l, blocks[b].word)) {
            b++;
        }
        if (b == N_BLOCK) {
            expected(l, "material, heat sink, microchannel, pinfin, dimensions, layer, die, stack, solver or "
                        "output");
            break;
        }
        if (blocks[b].once && had & 1U << b) {
            twice(s, "block", blocks[b].word);
        }
        had |= 1U << b;
        if (blocks[b].read == skip_output) {
            skip(l, "output");
        }
        if (!blocks[b].stays) {
            next(l);
        }
        s->block_word = blocks[b].word;
        blocks[b].read(s);
    }
    if (s->n_placed == 0 || s->length_m <= 0) {
        FAIL_AT(l, 0, "a stack needs dimensions and a stack of layers");
    }
    if (!err->code && s->channels.width_m > 0 && !tmx_channels_fit(&s->channels, s->length_m)) {
        FAIL_AT(l, s->channels_line, "no channel or pin of %g um and its walls fit in a chip of %g um",
                s->channels.width_m / UM, s->length_m / UM);
    }
    check_closed(l, false);
    print_skipped(l);
    return err->code;
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
    tmx_text_finish(&s->l.text);
}
