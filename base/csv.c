/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"

struct reader {
    struct tmx_csv *csv;
    char *at, *end;
    unsigned line;
    char separator; /* '{': JSON lines */
    size_t least;   /* cells of a row */
    size_t n_cell;  /* in csv->cell */
    struct tmx_err err;
};
#define fail(r, line_, ...) tmx_error_at(&(r)->err, TMX_EPARSE, (r)->csv->source, (line_), __VA_ARGS__)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at) && *r->at != r->separator) {
        r->at++;
    }
}

/* Next cell, without its quotes and the blanks around it, in its place in the text; *last when it ends its
 * line, or after an error. */
static char *next_cell(struct reader *r, bool *last)
{
    skip_blanks(r);
    const bool quoted = r->at < r->end && *r->at == '"';
    bool open = quoted;
    r->at += quoted;
    char *const cell = r->at, *to = cell;
    for (; r->at < r->end; r->at++) {
        const char c = *r->at;
        if (quoted && c == '"') {
            if (r->at + 1 == r->end || r->at[1] != '"') {
                open = false;
                r->at++;
                break;
            }
            r->at++;
        } else if (!quoted && (c == r->separator || c == '\n')) {
            break;
        }
        r->line += c == '\n';
        *to++ = c;
    }
    while (!quoted && to > cell && (is_blank(to[-1]) || to[-1] == '\r')) {
        to--;
    }
    skip_blanks(r);
    r->at += r->at < r->end && *r->at == '\r';
    if (open || (r->at < r->end && *r->at != r->separator && *r->at != '\n')) {
        fail(r, r->line, "%s",
             open ? "a quote that never closes" : "text behind a closing quote; expected the next column");
    }
    *last = r->at == r->end || *r->at == '\n' || r->err.code;
    r->line += r->at < r->end && *r->at == '\n';
    r->at += r->at < r->end;
    if (!r->err.code) {
        *to = '\0'; /* where the cell's own text was, or the comma or line's end behind it */
    }
    return cell;
}

/* Room for one more of `size` bytes: it doubles at powers of two. */
static void *make_room(struct reader *r, void *list, size_t n, size_t size)
{
    if (r->err.code || (n & (n - 1)) != 0) {
        return list;
    }
    void *more = realloc(list, (n ? 2 * n : 1) * size);
    if (!more) {
        tmx_error_at(&r->err, TMX_ENOMEM, r->csv->source, r->line, "out of memory");
    }
    return more ? more : list;
}

static void push(struct reader *r, char ***list, size_t *n, char *cell)
{
    *list = make_room(r, *list, *n, sizeof **list);
    if (!r->err.code) {
        (*list)[(*n)++] = cell;
    }
}

static void read_cells(struct reader *r, char ***list, size_t *n)
{
    for (bool last = false; !last;) {
        char *cell = next_cell(r, &last);
        push(r, list, n, cell);
    }
}

static void skip_line(struct reader *r)
{
    while (r->at < r->end && *r->at++ != '\n') {
    }
    r->line++;
}

/* ---- JSON lines ---- */

static void skip_space(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at)) {
        r->line += *r->at++ == '\n';
    }
}

/* Behind the string whose quote is at p; NULL: it has no end. */
static char *behind_string(char *p, const char *end)
{
    for (p++; p < end && *p != '"' && *p != '\n'; p++) {
        p += *p == '\\';
    }
    return p < end && *p == '"' ? p + 1 : NULL;
}

/* Behind the value at p, with all that is inside; NULL: it has no end. */
static char *behind_value(char *p, const char *end)
{
    size_t depth = 0;
    do {
        if (*p == '"') {
            p = behind_string(p, end);
            if (!p) {
                return NULL;
            }
        } else if (*p == '[' || *p == '{') {
            depth++;
            p++;
        } else if (*p == ']' || *p == '}') {
            depth--;
            p++;
        } else if (depth > 0) {
            p++;
        } else {
            while (p < end && !strchr(",]} \t\r\n", *p)) {
                p++;
            }
        }
    } while (depth > 0 && p < end);
    return depth == 0 ? p : NULL;
}

/* The escapes of a string, in its place; those of \u beyond ASCII stay as they are. */
static void unescape(char *s)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char *out = s;
    for (; *s; s++) {
        const char *known = s[0] == '\\' && s[1] ? strchr(from, s[1]) : NULL;
        *out++ = known ? to[known - from] : *s;
        s += known != NULL;
    }
    *out = '\0';
}

/* A value as a cell: the text of a string, "" of null. The letter behind it, which ends it, is returned. */
static char json_cell(struct reader *r, char **cell)
{
    char *const begin = r->at, *const end = behind_value(begin, r->end);
    if (!end || end == begin) {
        return '\0';
    }
    for (const char *p = begin; p < end; p++) {
        r->line += *p == '\n';
    }
    const bool string = *begin == '"';
    r->at = end;
    skip_space(r);
    const char next = r->at < r->end ? *r->at : '\0';
    r->at += next != '\0';
    *cell = begin + string;
    *(end - string) = '\0';
    if (string) {
        unescape(*cell);
    } else if (strcmp(*cell, "null") == 0) {
        *cell = end;
    }
    return next;
}

/* The object at r->at: its values to the cells of their columns; cell NULL: its keys are the columns. */
static void json_object(struct reader *r, char **cell)
{
    const unsigned line = r->line;
    const struct tmx_csv *csv = r->csv;
    char next = ',';
    r->at++;
    for (size_t n = 0; next == ',' && !r->err.code; n++) {
        char *name, *value;
        skip_space(r);
        if (n == 0 && r->at < r->end && *r->at == '}') {
            fail(r, line, "an object without a key");
            return;
        }
        if (r->at == r->end || *r->at != '"' || json_cell(r, &name) != ':') {
            fail(r, r->line, "expected a key in quotes and a colon");
            return;
        }
        skip_space(r);
        next = r->at < r->end ? json_cell(r, &value) : '\0';
        if (next != ',' && next != '}') {
            fail(r, r->line, "\"%.60s\": expected a value and , or }", name);
        } else if (!cell) {
            push(r, &r->csv->column, &r->csv->n_column, name);
        } else {
            const size_t c =
                n < csv->n_column && strcmp(csv->column[n], name) == 0 ? n : tmx_csv_column(csv, name);
            if (c == csv->n_column || cell[c]) {
                fail(r, r->line, "key \"%.60s\" is %s", name,
                     c == csv->n_column ? "not in the first object" : "given twice");
            } else {
                cell[c] = value;
            }
        }
    }
    for (size_t c = 0; c < csv->n_column && cell; c++) {
        if (!cell[c]) {
            fail(r, line, "no key \"%.60s\", which the first object has", csv->column[c]);
        }
    }
}

/* The columns of the first object, from a copy of it. */
static void json_head(struct reader *r)
{
    if (*r->at == '[') {
        r->at++;
        skip_space(r);
    }
    char *end = r->at < r->end && *r->at == '{' ? behind_value(r->at, r->end) : NULL;
    if (!end) {
        fail(r, r->line,
             "is JSON; expected columns between commas, or an object a line, { \"column\": value, ... }");
        return;
    }
    r->csv->head = tmx_span_dup((struct tmx_span){r->at, end});
    if (!r->csv->head) {
        r->err.code = tmx_no_memory(&r->err);
        return;
    }
    struct reader first = *r;
    first.at = r->csv->head;
    first.end = first.at + (end - r->at);
    json_object(&first, NULL);
    r->err = first.err;
}

/* The next row that is not blank behind the cells so far; false: there is none. A cell that is left out is
 * the NUL behind the text. Between objects may be a comma, as in a list. */
static bool read_row(struct reader *r, unsigned *line)
{
    struct tmx_csv *csv = r->csv;
    const size_t before = r->n_cell;
    if (r->separator == '{') {
        skip_space(r);
        if (r->at < r->end && *r->at == ',') {
            r->at++;
            skip_space(r);
        }
        *line = r->line;
        if (r->at == r->end || *r->at == ']' || r->err.code) {
            return false;
        }
        if (*r->at != '{') {
            fail(r, r->line, "expected an object, { ... }");
        }
        for (size_t c = 0; c < csv->n_column; c++) {
            push(r, &csv->cell, &r->n_cell, NULL);
        }
        if (!r->err.code) {
            json_object(r, csv->cell + before);
        }
        return !r->err.code;
    }
    bool got = false;
    while (!got && !r->err.code && r->at < r->end) {
        *line = r->line;
        if (*r->at == '#') {
            skip_line(r);
            continue;
        }
        read_cells(r, &csv->cell, &r->n_cell);
        got = !r->err.code && !(csv->n_column > 1 && r->n_cell - before == 1 && !csv->cell[before][0]);
        r->n_cell = got ? r->n_cell : before;
    }
    while (got && !r->err.code && r->n_cell - before >= r->least && r->n_cell - before < csv->n_column) {
        push(r, &csv->cell, &r->n_cell, r->end);
    }
    if (got && r->n_cell - before != csv->n_column) {
        fail(r, *line, "%zu cells; the header has %zu columns", r->n_cell - before, csv->n_column);
    }
    return got && !r->err.code;
}

/* The text and the columns' names; r is then behind them. */
static void begin(struct reader *r, struct tmx_csv *csv, const char *path, const struct tmx_err *err)
{
    struct tmx_text_file t;
    *csv = (struct tmx_csv){0};
    *r = (struct reader){.csv = csv, .line = 1, .separator = ',', .least = SIZE_MAX};
    snprintf(csv->source, sizeof csv->source, "%s", path);
    (void)tmx_error_give(&r->err, err ? err : &r->err);
    if (tmx_text_load(&t, path, &r->err)) {
        return;
    }
    r->at = csv->text = t.data;
    r->end = t.data + t.size;
    r->err.code = tmx_utf8_check(t.data, t.size, path, &r->err);
    while (!r->err.code && r->at < r->end && (*r->at == '#' || *r->at == '\n' || *r->at == '\r')) {
        skip_line(r);
    }
    if (r->at == r->end) {
        fail(r, 1, "empty; expected a line of column names");
    }
    const char *kind = r->err.code ? NULL : tmx_text_kind(&t, ",|;");
    if (kind && strcmp(kind, "JSON") == 0) {
        skip_space(r);
        csv->head_line = r->line;
        r->separator = '{';
        json_head(r);
    } else if (kind && strcmp(kind, "XML or HTML") == 0) {
        fail(r, r->line, "is %s; expected columns between commas", kind);
    } else if (!r->err.code) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const size_t n = (size_t)((newline ? newline : r->end) - r->at);
        /* between the names a comma, or the last of the others that is there */
        for (const char *s = "\t;|,"; *s; s++) {
            r->separator = memchr(r->at, *s, n) ? *s : r->separator;
        }
        csv->head_line = r->line;
        read_cells(r, &csv->column, &csv->n_column);
    }
}

static void check_names(struct reader *r)
{
    const struct tmx_csv *csv = r->csv;
    for (size_t i = 0; !r->err.code && i < csv->n_column; i++) {
        if (csv->column[i][0] && tmx_csv_column(csv, csv->column[i]) < i) {
            fail(r, csv->head_line, "two columns are called \"%.60s\"", csv->column[i]);
        }
    }
}

enum tmx_status tmx_csv_read_short(struct tmx_csv *csv, const char *path, size_t least, struct tmx_err *err)
{
    struct reader r;
    unsigned line = 0;
    begin(&r, csv, path, err);
    r.least = least;
    while (!r.err.code && read_row(&r, &line)) {
        csv->line = make_room(&r, csv->line, csv->n_row, sizeof *csv->line);
        if (!r.err.code) {
            csv->line[csv->n_row++] = line;
        }
    }
    check_names(&r);
    if (r.err.code) {
        tmx_csv_finish(csv);
    }
    return tmx_error_give(err, &r.err);
}

enum tmx_status tmx_csv_read(struct tmx_csv *csv, const char *path, struct tmx_err *err)
{
    return tmx_csv_read_short(csv, path, SIZE_MAX, err);
}

enum tmx_status tmx_csv_each(const char *path, tmx_csv_row_fn *row, void *ctx, struct tmx_err *err)
{
    struct tmx_csv csv;
    struct reader r;
    unsigned line = 0;
    begin(&r, &csv, path, err);
    check_names(&r);
    r.err.code = r.err.code ? r.err.code : row(ctx, &csv, &r.err);
    csv.line = &line;
    csv.n_row = 1;
    while (!r.err.code && read_row(&r, &line)) { /* each in the place of row 0 */
        r.err.code = row(ctx, &csv, &r.err);
        r.n_cell = 0;
    }
    csv.line = NULL;
    tmx_csv_finish(&csv);
    return tmx_error_give(err, &r.err);
}

void tmx_csv_finish(struct tmx_csv *csv)
{
    free(csv->text);
    free(csv->head);
    free(csv->cell);
    free(csv->column);
    free(csv->line);
    *csv = (struct tmx_csv){0};
}

void tmx_csv_idle(const struct tmx_csv *csv, const size_t *column, size_t n)
{
    char names[400] = "";
    for (size_t c = 0; c < csv->n_column; c++) {
        bool counts = !csv->column[c][0];
        for (size_t k = 0; k < n; k++) {
            counts = counts || c == column[k];
        }
        if (!counts && strlen(names) < sizeof names - 70) {
            tmx_text_add(names, sizeof names, "%s%.60s", *names ? ", " : "", csv->column[c]);
        }
    }
    if (*names) {
        tmx_warn("%s: columns without an effect: %s", csv->source, names);
    }
}

size_t tmx_csv_column(const struct tmx_csv *csv, const char *name)
{
    size_t i = 0;
    while (i < csv->n_column && strcmp(csv->column[i], name) != 0) {
        i++;
    }
    return i;
}

enum tmx_status tmx_csv_need(const struct tmx_csv *csv, const char *names, struct tmx_err *err)
{
    char name[64];
    for (const char *at = names + strspn(names, " "); !tmx_failed(err) && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (tmx_csv_column(csv, name) == csv->n_column) {
            return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->head_line, "no column \"%s\"", name);
        }
        at += n;
    }
    return tmx_failed(err) ? err->code : TMX_OK;
}

const char *tmx_csv_cell(const struct tmx_csv *csv, size_t row, size_t column)
{
    return csv->cell[row * csv->n_column + column];
}

const char *tmx_csv_at(const struct tmx_csv *csv, size_t row, const char *column)
{
    return tmx_csv_cell(csv, row, tmx_csv_column(csv, column));
}

bool tmx_csv_real(const struct tmx_csv *csv, size_t row, size_t column, double *v)
{
    return tmx_text_real(tmx_csv_cell(csv, row, column), v);
}

double tmx_csv_value(const struct tmx_csv *csv, size_t row, size_t column)
{
    double v;
    return column < csv->n_column && tmx_csv_real(csv, row, column, &v) ? v : NAN;
}

double tmx_csv_value_at(const struct tmx_csv *csv, size_t row, const char *column)
{
    return tmx_csv_value(csv, row, tmx_csv_column(csv, column));
}

void tmx_csv_text(const char *text, FILE *out)
{
    const size_t n = strlen(text);
    const bool formula = *text && strchr("=@+", *text);
    const bool padded = n > 0 && (is_blank(text[0]) || is_blank(text[n - 1]));
    double v;
    const char *mark = formula && !tmx_span_real((struct tmx_span){text, text + n}, &v) ? "'" : "";
    if (!padded && text[0] != '#' && !strpbrk(text, ",\"\r\n")) {
        fprintf(out, "%s%s", mark, text);
        return;
    }
    fprintf(out, "\"%s", mark); /* inside the quotes, which only begin a cell */
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}
