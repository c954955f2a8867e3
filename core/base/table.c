/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/text.h"

struct tmx_table {
    struct tmx_column *columns; /* [n_column], names owned */
    size_t n_column;
    struct tmx_cell *cells; /* [n_cell], row by row */
    size_t n_cell, room;
    bool no_memory;
    size_t bad_cell; /* first real that is not finite; SIZE_MAX: none */
};

static char *copy(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *c = malloc(n);
    return c ? memcpy(c, text, n) : NULL;
}

enum tmx_status tmx_table_create(struct tmx_table **t, const struct tmx_column *columns, size_t n_column,
                                 struct tmx_err *err)
{
    tmx_assert(n_column > 0);
    struct tmx_table *n = calloc(1, sizeof *n);
    *t = n;
    if (!n || !(n->columns = calloc(n_column, sizeof *n->columns))) {
        goto fail;
    }
    n->n_column = n_column;
    n->bad_cell = SIZE_MAX;
    for (size_t i = 0; i < n_column; i++) {
        n->columns[i] = columns[i];
        n->columns[i].name = NULL;
    }
    for (size_t i = 0; i < n_column; i++) {
        if (!(n->columns[i].name = copy(columns[i].name))) {
            goto fail;
        }
    }
    return TMX_OK;
fail:
    tmx_table_destroy(n);
    *t = NULL;
    return tmx_fail(err, TMX_ENOMEM, "out of memory");
}

void tmx_table_destroy(struct tmx_table *t)
{
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->n_column; i++) {
        union { /* the name is owned, its type is for readers */
            const char *from;
            char *to;
        } name = {.from = t->columns[i].name};
        free(name.to);
    }
    for (size_t i = 0; i < t->n_cell; i++) {
        free(t->cells[i].text);
    }
    free(t->columns);
    free(t->cells);
    free(t);
}

static struct tmx_cell *append(struct tmx_table *t, enum tmx_column_type type)
{
    if (t->n_cell == t->room && !t->no_memory) {
        const size_t room = t->room ? 2 * t->room : 16 * t->n_column;
        struct tmx_cell *cells = realloc(t->cells, room * sizeof *cells);
        if (cells) {
            t->cells = cells;
            t->room = room;
        }
        t->no_memory = !cells;
    }
    if (t->no_memory) {
        return NULL;
    }
    struct tmx_cell *c = &t->cells[t->n_cell++];
    *c = (struct tmx_cell){.type = type};
    return c;
}

static enum tmx_column_type next_type(const struct tmx_table *t)
{
    return t->columns[t->n_cell % t->n_column].type;
}

void tmx_table_text(struct tmx_table *t, const char *text)
{
    tmx_assert(next_type(t) == TMX_COLUMN_TEXT);
    struct tmx_cell *c = append(t, TMX_COLUMN_TEXT);
    if (c && !(c->text = copy(text))) {
        t->no_memory = true;
    }
}

void tmx_table_int(struct tmx_table *t, int64_t v)
{
    tmx_assert(next_type(t) == TMX_COLUMN_INT);
    struct tmx_cell *c = append(t, TMX_COLUMN_INT);
    if (c) {
        c->integer = v;
    }
}

void tmx_table_real(struct tmx_table *t, double v)
{
    tmx_assert(next_type(t) == TMX_COLUMN_REAL);
    struct tmx_cell *c = append(t, TMX_COLUMN_REAL);
    if (c) {
        c->real = v;
        if (!isfinite(v) && t->bad_cell == SIZE_MAX) {
            t->bad_cell = t->n_cell - 1;
        }
    }
}

void tmx_table_empty(struct tmx_table *t)
{
    struct tmx_cell *c = append(t, next_type(t));
    if (c) {
        c->empty = true;
    }
}

enum tmx_status tmx_table_check(const struct tmx_table *t, struct tmx_err *err)
{
    if (t->no_memory) {
        return tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    tmx_assert(t->n_cell % t->n_column == 0);
    if (t->bad_cell != SIZE_MAX) {
        return tmx_fail(err, TMX_ESOLVE, "column %s, row %zu: not a finite number",
                        t->columns[t->bad_cell % t->n_column].name, t->bad_cell / t->n_column + 1);
    }
    return TMX_OK;
}

size_t tmx_table_rows(const struct tmx_table *t)
{
    return t->n_cell / t->n_column;
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
        return c->text;
    }
    if (c->type == TMX_COLUMN_INT) {
        snprintf(buf, size, "%" PRId64, c->integer);
    } else {
        snprintf(buf, size, "%.*f", decimals, c->real);
    }
    return buf;
}

/* Columns on a screen; counts bytes that start a UTF-8 character. */
static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++) {
        n += ((unsigned char)*s & 0xC0U) != 0x80U;
    }
    return n;
}

static void pad(FILE *out, const char *s, size_t width, bool right)
{
    const int fill = (int)(width - width_of(s));
    if (right) {
        fprintf(out, "%*s%s", fill, "", s);
    } else {
        fprintf(out, "%s%*s", s, fill, "");
    }
}

enum { NUMBER_SIZE = 400 }; /* %.Nf of the largest double */

/* The columns c with show[c]. */
static enum tmx_status write_columns(const struct tmx_table *t, const bool *show, FILE *out,
                                     struct tmx_err *err)
{
    char buf[NUMBER_SIZE];
    size_t last = 0, *width = calloc(t->n_column, sizeof *width);
    if (!width) {
        return tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    for (size_t c = 0; c < t->n_column; c++) {
        width[c] = width_of(t->columns[c].name);
        last = show[c] ? c : last;
    }
    for (size_t i = 0; i < t->n_cell; i++) {
        const size_t c = i % t->n_column;
        const size_t w = width_of(shown(&t->cells[i], t->columns[c].decimals, buf, sizeof buf));
        width[c] = w > width[c] ? w : width[c];
    }
    for (size_t i = 0; i < t->n_cell + t->n_column; i++) {
        const size_t c = i % t->n_column;
        const struct tmx_column *col = &t->columns[c];
        if (!show[c]) {
            continue;
        }
        const char *s =
            i < t->n_column ? col->name : shown(&t->cells[i - t->n_column], col->decimals, buf, sizeof buf);
        const bool last_text = c == last && col->type == TMX_COLUMN_TEXT;
        pad(out, s, last_text ? width_of(s) : width[c], col->type != TMX_COLUMN_TEXT);
        fputs(c == last ? "\n" : "  ", out);
    }
    free(width);
    return TMX_OK;
}

static bool *all_columns(const struct tmx_table *t)
{
    bool *show = calloc(t->n_column, sizeof *show);
    for (size_t c = 0; show && c < t->n_column; c++) {
        show[c] = true;
    }
    return show;
}

enum tmx_status tmx_table_write_text(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    enum tmx_status st = tmx_table_check(t, err);
    bool *show = st ? NULL : all_columns(t);
    if (!st) {
        st = show ? write_columns(t, show, out, err) : tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    free(show);
    return st;
}

static bool says_nothing(const struct tmx_cell *c)
{
    return c->empty || (c->type == TMX_COLUMN_TEXT   ? c->text[0] == '\0'
                        : c->type == TMX_COLUMN_REAL ? c->real == 0
                                                     : c->integer == 0);
}

enum tmx_status tmx_table_write_brief(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    size_t n_hidden = 0;
    enum tmx_status st = tmx_table_check(t, err);
    bool *show = st ? NULL : all_columns(t);
    if (!st && !show) {
        st = tmx_fail(err, TMX_ENOMEM, "out of memory");
    }
    for (size_t c = 0; !st && c < t->n_column; c++) {
        bool says = t->n_cell == 0;
        for (size_t i = c; i < t->n_cell; i += t->n_column) {
            says = says || !says_nothing(&t->cells[i]);
        }
        show[c] = says;
    }
    st = st ? st : write_columns(t, show, out, err);
    for (size_t c = 0; !st && c < t->n_column; c++) {
        if (!show[c]) {
            fprintf(out, "%s%s",
                    n_hidden++ ? ", " : "Empty or zero in every row, not shown: ", t->columns[c].name);
        }
    }
    fputs(n_hidden ? "\n" : "", out);
    free(show);
    return st;
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
    if (st) {
        return st;
    }
    for (size_t c = 0; c < t->n_column; c++) {
        tmx_csv_text(t->columns[c].name, out);
        fputc(c + 1 == t->n_column ? '\n' : ',', out);
    }
    for (size_t i = 0, c = 0; i < t->n_cell; i++) {
        csv_cell(out, &t->cells[i]);
        c = c + 1 == t->n_column ? 0 : c + 1;
        fputc(c == 0 ? '\n' : ',', out);
    }
    return TMX_OK;
}

static void markdown_text(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|') {
            fputc('\\', out);
        }
        fputc(*s == '\n' ? ' ' : *s, out);
    }
}

enum tmx_status tmx_table_write_markdown(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    char buf[NUMBER_SIZE];
    const enum tmx_status st = tmx_table_check(t, err);
    if (st) {
        return st;
    }
    for (size_t c = 0; c < t->n_column; c++) {
        fputs(c == 0 ? "| " : " | ", out);
        markdown_text(out, t->columns[c].name);
    }
    fputs(" |\n", out);
    for (size_t c = 0; c < t->n_column; c++) {
        fputs(t->columns[c].type == TMX_COLUMN_TEXT ? "| --- " : "| ---: ", out);
    }
    fputs("|\n", out);
    for (size_t i = 0, c = 0; i < t->n_cell; i++) {
        fputs(c == 0 ? "| " : " | ", out);
        markdown_text(out, shown(&t->cells[i], t->columns[c].decimals, buf, sizeof buf));
        c = c + 1 == t->n_column ? 0 : c + 1;
        fputs(c == 0 ? " |\n" : "", out);
    }
    return TMX_OK;
}

enum tmx_status tmx_paper_create(struct tmx_table **t, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"paper", TMX_COLUMN_TEXT, 0}, {"figure", TMX_COLUMN_TEXT, 0}, {"quantity", TMX_COLUMN_TEXT, 0},
        {"case", TMX_COLUMN_TEXT, 0},  {"unit", TMX_COLUMN_TEXT, 0},   {"paper_value", TMX_COLUMN_REAL, 2},
        {"ours", TMX_COLUMN_REAL, 2},  {"status", TMX_COLUMN_TEXT, 0},
    };
    return tmx_table_create(t, columns, sizeof columns / sizeof columns[0], err);
}

void tmx_paper_add(struct tmx_table *t, const struct tmx_paper_row *row)
{
    static const char *const status[] = {"calibrated", "prediction", "input", "not_reproduced"};
    tmx_table_text(t, row->paper);
    tmx_table_text(t, row->figure);
    tmx_table_text(t, row->quantity);
    tmx_table_text(t, row->condition);
    tmx_table_text(t, row->unit);
    if (row->paper_value) {
        tmx_table_real(t, *row->paper_value);
    } else {
        tmx_table_empty(t);
    }
    if (isfinite(row->ours)) {
        tmx_table_real(t, row->ours);
    } else {
        tmx_table_empty(t); /* no run gave it: a zero would be a value */
    }
    tmx_table_text(t, status[row->status]);
}
