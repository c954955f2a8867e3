/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/text.h"

struct tmx_table {
    struct tmx_arena arena;     /* of all that is here */
    struct tmx_column *columns; /* [n_column] */
    size_t n_column;
    struct tmx_cell *cells; /* [n_cell], row by row */
    size_t n_cell;
    size_t bad_cell; /* first real that is not finite; SIZE_MAX: none */
};

void tmx_table_extend(struct tmx_table *t, const char *name, enum tmx_column_type type, int decimals)
{
    tmx_assert(!t || t->n_cell == 0);
    if (t && TMX_GROW(&t->arena, t->columns, t->n_column)) {
        t->columns[t->n_column++] = (struct tmx_column){tmx_arena_text(&t->arena, name), type, decimals};
    }
}

struct tmx_table *tmx_table_new(const struct tmx_column *columns, size_t n_column)
{
    struct tmx_table *t = calloc(1, sizeof *t);
    if (t) {
        t->bad_cell = SIZE_MAX;
    }
    for (size_t i = 0; i < n_column; i++) {
        tmx_table_extend(t, columns[i].name, columns[i].type, columns[i].decimals);
    }
    if (t && t->arena.failed) {
        tmx_table_destroy(t);
        t = NULL;
    }
    return t;
}

size_t tmx_columns_of(struct tmx_arena *arena, const char *words, struct tmx_column **c)
{
    size_t n = 0;
    TMX_TAKE(arena, *c, strlen(words) / 2 + 1);
    for (const char *at = words + strspn(words, " "); *c && *at; at += strspn(at, " "), n++) {
        const size_t length = strcspn(at, " "), name = strcspn(at, ": ");
        const char *kind = name < length ? at + name + 1 : "s";
        const bool real = *kind == '-' || (*kind >= '0' && *kind <= '9');
        tmx_assert(real || *kind == 's' || *kind == 't' || *kind == 'd');
        (*c)[n] = (struct tmx_column){tmx_arena_letters(arena, at, name),
                                      real           ? TMX_COLUMN_REAL
                                      : *kind == 'd' ? TMX_COLUMN_INT
                                                     : TMX_COLUMN_TEXT,
                                      real           ? (int)strtol(kind, NULL, 10)
                                      : *kind == 't' ? TMX_TEXT_TYPED
                                                     : 0};
        at += length;
    }
    return n;
}

struct tmx_table *tmx_table_of(const char *words)
{
    struct tmx_arena arena = {0};
    struct tmx_column *c;
    const size_t n = tmx_columns_of(&arena, words, &c);
    struct tmx_table *t = arena.failed ? NULL : tmx_table_new(c, n);
    tmx_arena_finish(&arena);
    return t;
}

void tmx_table_destroy(struct tmx_table *t)
{
    if (t) {
        tmx_arena_finish(&t->arena);
    }
    free(t);
}

static enum tmx_column_type next_type(const struct tmx_table *t)
{
    return t->columns[t->n_cell % t->n_column].type;
}

static struct tmx_cell *append(struct tmx_table *t, enum tmx_column_type type)
{
    /* without memory nothing is added any more: cells do not count */
    if (!t || t->arena.failed || !TMX_GROW(&t->arena, t->cells, t->n_cell)) {
        return NULL;
    }
    tmx_assert(next_type(t) == type);
    t->cells[t->n_cell] = (struct tmx_cell){.type = type};
    return &t->cells[t->n_cell++];
}

void tmx_table_text(struct tmx_table *t, const char *text)
{
    struct tmx_cell *c = append(t, TMX_COLUMN_TEXT);
    if (c) {
        c->text = tmx_arena_text(&t->arena, text);
    }
}

void tmx_table_int(struct tmx_table *t, int64_t v)
{
    struct tmx_cell *c = append(t, TMX_COLUMN_INT);
    if (c) {
        c->integer = v;
    }
}

void tmx_table_real(struct tmx_table *t, double v)
{
    struct tmx_cell *c = append(t, TMX_COLUMN_REAL);
    if (c) {
        c->real = v;
        if (!isfinite(v) && t->bad_cell == SIZE_MAX) {
            t->bad_cell = t->n_cell - 1;
        }
    }
}

void tmx_table_real_or_empty(struct tmx_table *t, double v)
{
    isfinite(v) ? tmx_table_real(t, v) : tmx_table_empty(t);
}

void tmx_table_empty(struct tmx_table *t)
{
    struct tmx_cell *c = append(t, t && t->n_column > 0 ? next_type(t) : TMX_COLUMN_TEXT);
    if (c) {
        c->empty = true;
    }
}

void tmx_table_row(struct tmx_table *t, const char *cells, ...)
{
    va_list ap;
    va_start(ap, cells);
    for (const char *c = cells; *c; c++) {
        if (*c == '-') {
            tmx_table_empty(t);
        } else if (*c == 's') {
            tmx_table_text(t, va_arg(ap, const char *));
        } else if (*c == 'g') {
            tmx_table_real(t, va_arg(ap, double));
        } else if (*c == 'G') {
            tmx_table_real_or_empty(t, va_arg(ap, double));
        } else if (*c == 'd' && c[-1] == 'l') { /* PRId64 */
            tmx_table_int(t, va_arg(ap, int64_t));
        } else if (*c == 'd') {
            tmx_table_int(t, va_arg(ap, int));
        } else if (*c == 'u') {
            tmx_assert(c[-1] == 'z');
            tmx_table_int(t, (int64_t)va_arg(ap, size_t));
        } else {
            tmx_assert(strchr("% lz", *c));
        }
    }
    va_end(ap);
}

void tmx_table_copy(struct tmx_table *t, const struct tmx_cell *cell)
{
    if (cell->empty) {
        tmx_table_empty(t);
    } else if (cell->type == TMX_COLUMN_TEXT) {
        tmx_table_text(t, cell->text);
    } else if (cell->type == TMX_COLUMN_INT) {
        tmx_table_int(t, cell->integer);
    } else {
        tmx_table_real(t, cell->real);
    }
}

enum tmx_status tmx_table_check(const struct tmx_table *t, struct tmx_err *err)
{
    if (err && err->code) {
        return err->code;
    }
    if (!t || t->arena.failed) {
        return tmx_no_memory(err);
    }
    tmx_assert(t->n_cell == tmx_table_rows(t) * t->n_column);
    if (t->bad_cell != SIZE_MAX) {
        return tmx_fail(err, TMX_ESOLVE, "column %s, row %zu: not a finite number",
                        t->columns[t->bad_cell % t->n_column].name, t->bad_cell / t->n_column + 1);
    }
    return TMX_OK;
}

size_t tmx_table_rows(const struct tmx_table *t)
{
    return t && t->n_column > 0 ? t->n_cell / t->n_column : 0;
}

size_t tmx_table_columns(const struct tmx_table *t)
{
    return t->n_column;
}

const struct tmx_column *tmx_table_column(const struct tmx_table *t, size_t column)
{
    tmx_assert(column < t->n_column);
    return &t->columns[column];
}

const struct tmx_cell *tmx_table_cell(const struct tmx_table *t, size_t row, size_t column)
{
    tmx_assert(column < t->n_column && row < tmx_table_rows(t));
    return &t->cells[row * t->n_column + column];
}

/* The screen form of a cell; buf holds a number's digits. */
static const char *shown(const struct tmx_cell *c, int decimals, char *buf, size_t size)
{
    if (c->empty) {
        return "-";
    }
    if (c->type == TMX_COLUMN_TEXT) {
        bool dirty = false;
        for (const unsigned char *at = (const unsigned char *)c->text; *at && !dirty; at++) {
            dirty = *at == 0x7f || (*at < ' ' && *at != '\n' && *at != '\t') || (*at == 0xc2 && at[1] < 0xa0);
        }
        if (!dirty) {
            return c->text;
        }
        snprintf(buf, size, "%s", c->text);
        tmx_text_visible(buf, size);
        return buf;
    }
    if (c->type == TMX_COLUMN_INT) {
        snprintf(buf, size, "%" PRId64, c->integer);
    } else {
        snprintf(buf, size, decimals < 0 ? "%.*e" : "%.*f", abs(decimals), c->real);
        if (buf[0] == '-' && strspn(buf + 1, "0.") == strlen(buf + 1)) { /* no -0.00 */
            return buf + 1;
        }
    }
    return buf;
}

enum { NUMBER_SIZE = 400 }; /* %.Nf of the largest double */

enum tmx_status tmx_table_write_text(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    static const char *const all[] = {"all"};
    return tmx_table_write_screen(t, &(struct tmx_screen){.column = all, .n_column = 1}, out, err);
}

const char *tmx_table_cell_text(const struct tmx_table *t, size_t row, size_t column, char *buf, size_t size)
{
    return shown(tmx_table_cell(t, row, column), t->columns[column].decimals, buf, size);
}

enum { CELL = 400, GAP = 2, LEAST_TEXT = 8, NARROW = 18 };

/* A table as people read it: as wide as the screen, what says nothing left to a line below. */
struct screen {
    const struct tmx_table *t;
    const struct tmx_screen *o;
    size_t *at;                                        /* [n] columns in the order they are shown in */
    size_t *width;                                     /* [n] of each column, its name included */
    enum { SHOWN, CONSTANT, SILENT, LEFT_OUT } * what; /* [n] */
    size_t n;
    size_t n_shown; /* of those asked for, at the first places */
};

/* s in `width` letters; what is cut ends in an ellipsis. */
static void put_cell(FILE *out, const char *s, size_t width, bool right)
{
    const size_t n = tmx_text_letters(s);
    size_t at = 0;
    for (size_t used = 0; n > width && s[at] && used + 1 < width; used++) {
        for (at++; ((unsigned char)s[at] & 0xC0U) == 0x80U; at++) {
        }
    }
    if (n > width) {
        fprintf(out, "%.*s\xe2\x80\xa6", (int)at, s);
    } else {
        fprintf(out, "%*s%s%*s", right ? (int)(width - n) : 0, "", s, right ? 0 : (int)(width - n), "");
    }
}

static bool is_text(const struct screen *s, size_t c)
{
    return tmx_table_column(s->t, c)->type == TMX_COLUMN_TEXT;
}

/* Widths, and which columns say the same or nothing in every row. */
static void look(struct screen *s)
{
    char buf[CELL], first[CELL];
    const size_t rows = tmx_table_rows(s->t);
    for (size_t c = 0; c < s->n; c++) {
        bool silent = rows > 0, same = rows > 1;
        s->width[c] = tmx_text_letters(tmx_table_column(s->t, c)->name);
        for (size_t r = 0; r < rows; r++) {
            const char *v = tmx_table_cell_text(s->t, r, c, buf, sizeof buf);
            const size_t w = tmx_text_letters(v);
            s->width[c] = w > s->width[c] ? w : s->width[c];
            if (r == 0) {
                snprintf(first, sizeof first, "%s", v);
            }
            same = same && strcmp(first, v) == 0;
            const struct tmx_cell *cell = tmx_table_cell(s->t, r, c);
            silent = silent && (cell->empty || (cell->type == TMX_COLUMN_TEXT   ? cell->text[0] == '\0'
                                                : cell->type == TMX_COLUMN_REAL ? cell->real == 0
                                                                                : cell->integer == 0));
        }
        s->what[c] = silent ? SILENT : same && c > 0 ? CONSTANT : SHOWN;
    }
}

size_t tmx_table_find(const struct tmx_table *t, const char *name)
{
    size_t c = 0;
    while (c < tmx_table_columns(t) && strcmp(tmx_table_column(t, c)->name, name) != 0) {
        c++;
    }
    return c;
}

/* The columns of these names ("all": each) into at, which has room for all of them n_name times and once
 * more; of one that is named again the first place counts if once. Returns how many. */
static size_t find_columns(const struct tmx_table *t, const char *const *name, size_t n_name, bool once,
                           size_t *at, struct tmx_err *err)
{
    const size_t n = tmx_table_columns(t);
    size_t n_at = 0;
    for (size_t i = 0; i < n_name; i++) {
        const bool all = strcmp(name[i], "all") == 0;
        const size_t from = all ? 0 : tmx_table_find(t, name[i]), to = all ? n : from + 1;
        if (!all && from == n) {
            char list[900] = "";
            for (size_t k = 0; k < n; k++) {
                tmx_text_add(list, sizeof list, "%s%s", k ? ", " : "", tmx_table_column(t, k)->name);
            }
            tmx_error(err, TMX_ECONFIG, "no column \"%s\"; there are %s", name[i], list);
            return 0;
        }
        for (size_t c = from; c < to; c++) {
            size_t k = 0;
            while (once && k < n_at && at[k] != c) {
                k++;
            }
            at[n_at] = c;
            n_at += !once || k == n_at;
        }
    }
    return n_at;
}

enum tmx_status tmx_table_choose(const struct tmx_table *t, const char *const *name, size_t n_name,
                                 struct tmx_table **out, struct tmx_err *err)
{
    struct tmx_err own = {0};
    struct tmx_arena a = {0};
    size_t *at, n_at = 0;
    if (TMX_TAKE(&a, at, n_name + n_name * tmx_table_columns(t) + 1)) {
        n_at = find_columns(t, name, n_name, false, at, &own);
    }
    tmx_arena_check(&a, &own);
    *out = own.code ? NULL : tmx_table_of("");
    for (size_t c = 0; c < n_at && *out; c++) {
        const struct tmx_column *from = tmx_table_column(t, at[c]);
        tmx_table_extend(*out, from->name, from->type, from->decimals);
    }
    for (size_t i = 0; !own.code && i < n_at * tmx_table_rows(t); i++) {
        tmx_table_copy(*out, tmx_table_cell(t, i / n_at, at[i % n_at]));
    }
    tmx_arena_finish(&a);
    return own.code ? tmx_error_give(err, &own) : tmx_table_check(*out, err);
}

static bool preferred(const struct screen *s, size_t c)
{
    return tmx_names_find(tmx_table_column(s->t, c)->name, s->o->prefer, s->o->n_prefer) < s->o->n_prefer;
}

/* Leave out, from the right, what is too much for the width: first come the preferred columns that are
 * narrow, then preferred texts, cut to what is left, then the others. */
static void fit(struct screen *s)
{
    const size_t width = s->o->width;
    size_t used = 0;
    bool *in = calloc(s->n, sizeof *in);
    if (!in) {
        return; /* wider than the screen, nothing worse */
    }
    for (size_t pass = 0; pass < 3; pass++) {
        for (size_t c = 0; c < s->n; c++) {
            const bool wide = is_text(s, c) && s->width[c] > NARROW, first = preferred(s, c);
            const size_t gap = used > 0 ? GAP : 0;
            if (s->what[c] != SHOWN || in[c] || (pass < 2 && !first) || (pass == 0 && wide)) {
                continue;
            }
            if (is_text(s, c) && used + gap + s->width[c] > width && used + gap + LEAST_TEXT <= width) {
                s->width[c] = width - used - gap; /* a text may be cut */
            }
            in[c] = used == 0 || used + gap + s->width[c] <= width;
            s->width[c] = s->width[c] > width ? width : s->width[c];
            used += in[c] ? gap + s->width[c] : 0;
        }
    }
    for (size_t c = 0; c < s->n; c++) {
        s->what[c] = s->what[c] == SHOWN && !in[c] ? LEFT_OUT : s->what[c];
    }
    free(in);
}

/* Rows that are printed. */
static size_t rows_of(const struct screen *s)
{
    const size_t n = tmx_table_rows(s->t), most = s->o->n_column > 0 ? 0 : s->o->most_rows;
    return most > 0 && n > most ? most : n;
}

/* Columns at places [from, to), behind the first one. */
static void put_rows(const struct screen *s, size_t from, size_t to, FILE *out)
{
    char buf[CELL];
    size_t last = 0;
    for (size_t k = 0; k < to; k++) {
        last = s->what[s->at[k]] == SHOWN && (k == 0 || k >= from) ? k : last;
    }
    const struct tmx_bold bold = tmx_os_bold(out);
    for (size_t r = 0; r <= rows_of(s) && to > 0; r++) {
        size_t used = 0;
        fputs(r == 0 ? bold.on : "", out);
        for (size_t k = 0; k <= last; k++) {
            const size_t c = s->at[k];
            if (s->what[c] != SHOWN || (k > 0 && k < from)) {
                continue;
            }
            const char *v = r == 0 ? tmx_table_column(s->t, c)->name
                                   : tmx_table_cell_text(s->t, r - 1, c, buf, sizeof buf);
            const size_t n = tmx_text_letters(v);
            if (k == last && is_text(s, c) && s->o->wrap && n > s->width[c]) {
                tmx_text_wrap(v, used, s->o->width, out);
                continue;
            }
            put_cell(out, v, k == last && is_text(s, c) && n < s->width[c] ? n : s->width[c], !is_text(s, c));
            fputs(r == 0 && k == last ? bold.off : "", out);
            fputs(k == last ? "\n" : "  ", out);
            used += s->width[c] + GAP;
        }
    }
}

/* The columns asked for, in as many blocks as they need; each starts with the first column. */
static void put_blocks(const struct screen *s, FILE *out)
{
    size_t from = 0;
    while (from < s->n_shown) {
        size_t used = from > 0 ? s->width[s->at[0]] : 0, to = from;
        for (; to < s->n_shown; to++) {
            const size_t gap = used > 0 ? GAP : 0, c = s->at[to];
            const size_t least = s->o->wrap ? NARROW : to == from ? LEAST_TEXT : s->o->width;
            if (is_text(s, c) && s->o->width > used + gap + least && used + gap + s->width[c] > s->o->width) {
                s->width[c] = s->o->width - used - gap; /* cut, or going on below */
            }
            const size_t w = s->width[c] + gap;
            if (s->o->width > 0 && used + w > s->o->width && to > from) {
                break;
            }
            used += w;
        }
        fputs(from > 0 ? "\n" : "", out);
        put_rows(s, from, to, out);
        from = to;
    }
}

/* "words: a, b, c", broken at the screen's width. */
static void note(const struct screen *s, int what, const char *words, FILE *out)
{
    char buf[CELL], item[CELL + 80];
    size_t used = 0;
    for (size_t c = 0; c < s->n; c++) {
        if ((int)s->what[c] != what) {
            continue;
        }
        snprintf(item, sizeof item, "%s%s%s", tmx_table_column(s->t, c)->name, what == CONSTANT ? " " : "",
                 what == CONSTANT ? tmx_table_cell_text(s->t, 0, c, buf, sizeof buf) : "");
        if (used == 0) {
            used = tmx_text_letters(words);
            fputs(words, out);
        } else {
            fputc(',', out);
            used++;
        }
        if (s->o->width > 0 && used + 1 + tmx_text_letters(item) + 1 > s->o->width) {
            fputs("\n ", out);
            used = 1;
        }
        fprintf(out, " %s", item);
        used += 1 + tmx_text_letters(item);
    }
    fputs(used > 0 ? "\n" : "", out);
}

enum tmx_status tmx_table_write_screen(const struct tmx_table *t, const struct tmx_screen *o, FILE *out,
                                       struct tmx_err *err)
{
    static const char *const all[] = {"all"};
    const bool chosen = o->n_column > 0;
    struct screen s = {.t = t, .o = o};
    struct tmx_arena a = {0};
    struct tmx_err own = {0};
    own.code = tmx_table_check(t, &own);
    if (!own.code) {
        s.n = tmx_table_columns(t);
        TMX_TAKE(&a, s.width, s.n);
        TMX_TAKE(&a, s.what, s.n);
        TMX_TAKE(&a, s.at, s.n * (o->n_column + 1) + 1);
        own.code = a.failed ? tmx_no_memory(&own) : TMX_OK;
    }
    if (!own.code) {
        look(&s);
        s.n_shown = find_columns(t, chosen ? o->column : all, chosen ? o->n_column : 1, true, s.at, &own);
    }
    for (size_t k = 0; k < s.n_shown && chosen; k++) {
        s.what[s.at[k]] = SHOWN;
    }
    if (!own.code && chosen) {
        put_blocks(&s, out);
    } else if (!own.code) {
        if (o->width > 0) {
            fit(&s);
        }
        put_rows(&s, 0, s.n, out);
        if (rows_of(&s) < tmx_table_rows(t)) {
            fprintf(out, "%zu of %zu rows; all: --columns all\n", rows_of(&s), tmx_table_rows(t));
        }
        note(&s, CONSTANT, "In every row:", out);
        note(&s, SILENT, "Empty or zero in every row:", out);
        note(&s, LEFT_OUT, "Further columns:", out);
    }
    tmx_arena_finish(&a);
    return tmx_error_give(err, &own);
}

static void csv_cell(FILE *out, const struct tmx_cell *c)
{
    char buf[TMX_REAL_SIZE];
    if (c->empty) {
        return;
    }
    if (c->type == TMX_COLUMN_TEXT) {
        tmx_csv_text(c->text, out);
    } else if (c->type == TMX_COLUMN_INT) {
        fprintf(out, "%" PRId64, c->integer);
    } else {
        tmx_real_print(buf, c->real);
        fputs(buf, out);
    }
}

enum tmx_status tmx_table_write_csv(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    const enum tmx_status st = tmx_table_check(t, err);
    for (size_t c = 0; !st && c < t->n_column; c++) {
        tmx_csv_text(t->columns[c].name, out);
        fputc(c + 1 == t->n_column ? '\n' : ',', out);
    }
    for (size_t i = 0, c = 0; !st && i < t->n_cell; i++) {
        csv_cell(out, &t->cells[i]);
        c = c + 1 == t->n_column ? 0 : c + 1;
        fputc(c == 0 ? '\n' : ',', out);
    }
    return st;
}

/* ---- markup: Markdown and LaTeX ---- */

static void markdown_text(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|') {
            fputc('\\', out);
        }
        fputc(*s == '\n' ? ' ' : *s, out);
    }
}

static void latex_text(FILE *out, const char *s)
{
    static const struct {
        char letter;
        const char *latex;
    } special[] = {{'\\', "\\textbackslash{}"},
                   {'~', "\\textasciitilde{}"},
                   {'^', "\\textasciicircum{}"},
                   {'<', "\\textless{}"},
                   {'>', "\\textgreater{}"},
                   {'|', "\\textbar{}"},
                   {'\n', " "},
                   {'&', "\\&"},
                   {'%', "\\%"},
                   {'$', "\\$"},
                   {'#', "\\#"},
                   {'_', "\\_"},
                   {'{', "\\{"},
                   {'}', "\\}"}};
    const size_t n = sizeof special / sizeof special[0];
    for (; *s; s++) {
        size_t i = 0;
        while (i < n && special[i].letter != *s) {
            i++;
        }
        if (i < n) {
            fputs(special[i].latex, out);
        } else {
            fputc(*s, out);
        }
    }
}

struct markup {
    const char *row, *next, *end; /* before the first cell, between two, behind the last */
    void (*text)(FILE *out, const char *s);
    bool spread; /* "12.3 $\\pm$ 0.4" in place of two columns */
};

static const char *const spreads[] = {"sd", "se", "ci95"};
enum { N_SPREAD = sizeof spreads / sizeof spreads[0] };

/* "BL sd" behind "BL": NULL, or which spread of the column before it this column is. */
static const char *spread_of(const struct tmx_table *t, size_t c)
{
    const char *name = c > 0 && c < t->n_column ? t->columns[c].name : "",
               *of = c > 0 ? t->columns[c - 1].name : "";
    const size_t n = strlen(of);
    if (n == 0 || strncmp(name, of, n) != 0 || (name[n] != ' ' && name[n] != '_') ||
        t->columns[c].type != TMX_COLUMN_REAL || t->columns[c - 1].type != TMX_COLUMN_REAL) {
        return NULL;
    }
    const size_t i = tmx_names_find(name + n + 1, spreads, N_SPREAD);
    return i < N_SPREAD ? spreads[i] : NULL;
}

/* Value and spread with the digits that the spread leaves: one of the spread, two if it begins with 1. A
 * spread below 1e-6 is rounding. */
static void spread_cell(FILE *out, const struct tmx_cell *value, const struct tmx_cell *spread, int decimals)
{
    if (decimals >= 0 && !spread->empty && spread->real > 1e-6) {
        const double digit = floor(log10(spread->real));
        const double wanted = spread->real < 2 * pow(10, digit) ? 1 - digit : -digit;
        decimals = (int)fmin(fmax(wanted, 0), 15);
    }
    char a[NUMBER_SIZE], b[NUMBER_SIZE];
    fprintf(out, "$%s", shown(value, decimals, a, sizeof a));
    if (!spread->empty) {
        fprintf(out, " \\pm %s", shown(spread, decimals, b, sizeof b));
    }
    fputc('$', out);
}

static void markup_names(const struct tmx_table *t, const struct markup *m, FILE *out)
{
    for (size_t c = 0; c < t->n_column; c++) {
        if (m->spread && spread_of(t, c)) {
            continue;
        }
        fputs(c == 0 ? m->row : m->next, out);
        m->text(out, t->columns[c].name);
    }
    fputs(m->end, out);
}

static void markup_rows(const struct tmx_table *t, const struct markup *m, FILE *out)
{
    char buf[NUMBER_SIZE];
    for (size_t i = 0, c = 0; i < t->n_cell; i++) {
        const bool joined = m->spread && !t->cells[i].empty && spread_of(t, c + 1);
        if (!m->spread || !spread_of(t, c)) {
            fputs(c == 0 ? m->row : m->next, out);
            if (joined) {
                spread_cell(out, &t->cells[i], &t->cells[i + 1], t->columns[c].decimals);
            } else {
                m->text(out, shown(&t->cells[i], t->columns[c].decimals, buf, sizeof buf));
            }
        }
        c = c + 1 == t->n_column ? 0 : c + 1;
        fputs(c == 0 ? m->end : "", out);
    }
}

enum tmx_status tmx_table_write_markdown(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    static const struct markup markdown = {"| ", " | ", " |\n", markdown_text, false};
    const enum tmx_status st = tmx_table_check(t, err);
    if (st) {
        return st;
    }
    markup_names(t, &markdown, out);
    for (size_t c = 0; c < t->n_column; c++) {
        fputs(t->columns[c].type == TMX_COLUMN_TEXT ? "| --- " : "| ---: ", out);
    }
    fputs("|\n", out);
    markup_rows(t, &markdown, out);
    return TMX_OK;
}

enum tmx_status tmx_table_write_latex(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    static const struct markup latex = {"", " & ", " \\\\\n", latex_text, true};
    const enum tmx_status st = tmx_table_check(t, err);
    if (st) {
        return st;
    }
    for (size_t i = 0, n = 0; i < N_SPREAD; i++) { /* a comment of TeX */
        size_t c = 0;
        while (c < t->n_column && spread_of(t, c) != spreads[i]) {
            c++;
        }
        if (c < t->n_column) {
            fprintf(out, "%s%s", n++ ? ", " : "% behind \\pm: ", spreads[i]);
        }
        fputs(i + 1 == N_SPREAD && n ? "\n" : "", out);
    }
    fputs("\\begin{tabular}{", out);
    for (size_t c = 0; c < t->n_column; c++) {
        fputs(spread_of(t, c) ? "" : t->columns[c].type == TMX_COLUMN_TEXT ? "l" : "r", out);
    }
    fputs("}\n\\toprule\n", out);
    markup_names(t, &latex, out);
    fputs("\\midrule\n", out);
    markup_rows(t, &latex, out);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
    return TMX_OK;
}
