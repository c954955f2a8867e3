/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/csv.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct reader {
    char *at, *end;
    unsigned line;
    char separator; /* '{': JSON lines */
};

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
 * line. NULL: *fault. */
static char *next_cell(struct reader *r, bool *last, const char **fault)
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
        *fault = open ? "a quote that never closes" : "text behind a closing quote; expected the next column";
        return NULL;
    }
    *last = r->at == r->end || *r->at == '\n';
    r->line += r->at < r->end && *r->at == '\n';
    r->at += r->at < r->end;
    *to = '\0'; /* where the cell's own text was, or the comma or line's end behind it */
    return cell;
}

/* Room for one more of `size` bytes: it doubles at powers of two. */
static bool make_room(void **list, size_t n, size_t size)
{
    if ((n & (n - 1)) == 0) {
        void *more = realloc(*list, (n ? 2 * n : 1) * size);
        if (!more) {
            return false;
        }
        *list = more;
    }
    return true;
}

static bool push(char ***list, size_t *n, char *cell)
{
    void *room = *list;
    const bool ok = make_room(&room, *n, sizeof **list);
    *list = room;
    if (ok) {
        (*list)[(*n)++] = cell;
    }
    return ok;
}

static enum tmx_status read_cells(const char *source, struct reader *r, char ***list, size_t *n,
                                  struct tmx_err *err)
{
    bool last = false;
    const char *fault = NULL;
    while (!last) {
        char *cell = next_cell(r, &last, &fault);
        if (!cell) {
            return tmx_fail_at(err, TMX_EPARSE, source, r->line, "%s", fault);
        }
        if (!push(list, n, cell)) {
            return tmx_fail_at(err, TMX_ENOMEM, source, r->line, "out of memory");
        }
    }
    return TMX_OK;
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

/* The object at r->at: its keys into key, or its values to the cells of those columns. */
static enum tmx_status json_object(const char *source, struct reader *r, char *const *column, size_t n_column,
                                   char **cell, char ***key, size_t *n_key, struct tmx_err *err)
{
    const unsigned line = r->line;
    char next = ',';
    size_t n = 0;
    for (r->at++; next == ','; n++) {
        char *name, *value;
        skip_space(r);
        if (n == 0 && r->at < r->end && *r->at == '}') {
            return tmx_fail_at(err, TMX_EPARSE, source, line, "an object without a key");
        }
        if (r->at == r->end || *r->at != '"' || json_cell(r, &name) != ':') {
            return tmx_fail_at(err, TMX_EPARSE, source, r->line, "expected a key in quotes and a colon");
        }
        skip_space(r);
        next = r->at < r->end ? json_cell(r, &value) : '\0';
        if (next != ',' && next != '}') {
            return tmx_fail_at(err, TMX_EPARSE, source, r->line, "\"%.60s\": expected a value and , or }",
                               name);
        }
        size_t c = n < n_column && strcmp(column[n], name) == 0 ? n : 0;
        while (!key && c < n_column && strcmp(column[c], name) != 0) {
            c++;
        }
        if (!key && (c == n_column || cell[c])) {
            return tmx_fail_at(err, TMX_EPARSE, source, r->line, "key \"%.60s\" is %s", name,
                               c == n_column ? "not in the first object" : "given twice");
        }
        if (!key) {
            cell[c] = value;
        } else if (!push(key, n_key, name)) {
            return tmx_fail_at(err, TMX_ENOMEM, source, r->line, "out of memory");
        }
    }
    for (size_t c = 0; c < n_column && !key; c++) {
        if (!cell[c]) {
            return tmx_fail_at(err, TMX_EPARSE, source, line, "no key \"%.60s\", which the first object has",
                               column[c]);
        }
    }
    return TMX_OK;
}

/* The next object, behind the *n cells of the list. Between objects may be a comma, as in a list. */
static enum tmx_status json_row(const struct tmx_csv *csv, struct reader *r, char ***list, size_t *n,
                                bool *got, unsigned *line, struct tmx_err *err)
{
    const size_t before = *n;
    skip_space(r);
    if (r->at < r->end && *r->at == ',') {
        r->at++;
        skip_space(r);
    }
    *got = r->at < r->end && *r->at != ']';
    *line = r->line;
    if (!*got) {
        return TMX_OK;
    }
    if (*r->at != '{') {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, r->line, "expected an object, { ... }");
    }
    for (size_t c = 0; c < csv->n_column; c++) {
        if (!push(list, n, NULL)) {
            return tmx_fail_at(err, TMX_ENOMEM, csv->source, r->line, "out of memory");
        }
    }
    return json_object(csv->source, r, csv->column, csv->n_column, *list + before, NULL, NULL, err);
}

/* The columns of the first object, from a copy of it. */
static enum tmx_status json_head(struct tmx_csv *csv, struct reader *r, struct tmx_err *err)
{
    if (*r->at == '[') {
        r->at++;
        skip_space(r);
    }
    char *end = r->at < r->end && *r->at == '{' ? behind_value(r->at, r->end) : NULL;
    if (!end) {
        return tmx_fail_at(
            err, TMX_EPARSE, csv->source, r->line,
            "is JSON; expected columns between commas, or an object a line, { \"column\": value, ... }");
    }
    const size_t size = (size_t)(end - r->at);
    csv->head = malloc(size + 1);
    if (!csv->head) {
        return tmx_no_memory(err);
    }
    memcpy(csv->head, r->at, size);
    csv->head[size] = '\0';
    struct reader first = {csv->head, csv->head + size, r->line, '{'};
    return json_object(csv->source, &first, NULL, 0, NULL, &csv->column, &csv->n_column, err);
}

/* The next row that is not blank behind the *n cells of the list; *got: there is one. A cell that is left out
 * is the NUL behind the text. */
static enum tmx_status read_row(const struct tmx_csv *csv, struct reader *r, size_t least, char ***list,
                                size_t *n, bool *got, unsigned *line, struct tmx_err *err)
{
    const size_t before = *n;
    enum tmx_status st = TMX_OK;
    if (r->separator == '{') {
        return json_row(csv, r, list, n, got, line, err);
    }
    for (*got = false; !st && !*got && r->at < r->end;) {
        *line = r->line;
        if (*r->at == '#') {
            skip_line(r);
            continue;
        }
        st = read_cells(csv->source, r, list, n, err);
        *got = !st && !(csv->n_column > 1 && *n - before == 1 && !(*list)[before][0]);
        *n = *got ? *n : before;
    }
    while (*got && !st && *n - before >= least && *n - before < csv->n_column) {
        st = push(list, n, r->end) ? TMX_OK
                                   : tmx_fail_at(err, TMX_ENOMEM, csv->source, *line, "out of memory");
    }
    if (*got && !st && *n - before != csv->n_column) {
        st = tmx_fail_at(err, TMX_EPARSE, csv->source, *line, "%zu cells; the header has %zu columns",
                         *n - before, csv->n_column);
    }
    return st;
}

static enum tmx_status read_rows(struct tmx_csv *csv, struct reader *r, size_t least, struct tmx_err *err)
{
    size_t n_cell = 0;
    bool got = true;
    enum tmx_status st = TMX_OK;
    while (!st && got) {
        unsigned line = 0;
        st = read_row(csv, r, least, &csv->cell, &n_cell, &got, &line, err);
        void *lines = csv->line;
        if (!st && got && !make_room(&lines, csv->n_row, sizeof *csv->line)) {
            st = tmx_fail_at(err, TMX_ENOMEM, csv->source, line, "out of memory");
        }
        csv->line = lines;
        if (!st && got) {
            csv->line[csv->n_row++] = line;
        }
    }
    return st;
}

/* Each row in the place of row 0. */
static enum tmx_status call_rows(struct tmx_csv *csv, struct reader *r, tmx_csv_row_fn *row, void *ctx,
                                 struct tmx_err *err)
{
    unsigned line = 0;
    bool got = true;
    enum tmx_status st = TMX_OK;
    csv->line = &line;
    csv->n_row = 1;
    while (!st && got) {
        size_t n_cell = 0;
        st = read_row(csv, r, SIZE_MAX, &csv->cell, &n_cell, &got, &line, err);
        st = st || !got ? st : row(ctx, csv, err);
    }
    csv->line = NULL;
    return st;
}

/* What is between the names of the header: a comma, or where there is none the first other that is there. */
static char separator_of(const struct reader *r)
{
    static const char all[] = ",|;\t";
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const size_t n = (size_t)((newline ? newline : r->end) - r->at);
    for (const char *s = all; *s; s++) {
        if (memchr(r->at, *s, n)) {
            return *s;
        }
    }
    return ',';
}

/* The text and the columns' names; r is then behind them. */
static enum tmx_status begin(struct tmx_csv *csv, struct reader *r, const char *path, struct tmx_err *err)
{
    struct tmx_text_file t;
    *csv = (struct tmx_csv){0};
    snprintf(csv->source, sizeof csv->source, "%s", path);
    enum tmx_status st = tmx_text_load(&t, path, err);
    if (st) {
        return st;
    }
    csv->text = t.data;
    *r = (struct reader){t.data, t.data + t.size, 1, ','};
    st = tmx_utf8_check(t.data, t.size, path, err);
    while (!st && r->at < r->end && (*r->at == '#' || *r->at == '\n' || *r->at == '\r')) {
        skip_line(r);
    }
    if (!st && r->at == r->end) {
        st = tmx_fail_at(err, TMX_EPARSE, csv->source, 1, "empty; expected a line of column names");
    }
    const char *kind = st ? NULL : tmx_text_kind(&t, ",|;");
    if (kind && strcmp(kind, "JSON") == 0) {
        skip_space(r);
        csv->head_line = r->line;
        r->separator = '{';
        return json_head(csv, r, err);
    }
    if (kind && strcmp(kind, "XML or HTML") == 0) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, r->line, "is %s; expected columns between commas",
                           kind);
    }
    r->separator = st ? ',' : separator_of(r);
    csv->head_line = r->line;
    return st ? st : read_cells(csv->source, r, &csv->column, &csv->n_column, err);
}

static enum tmx_status check_names(const struct tmx_csv *csv, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < csv->n_column; i++) {
        if (csv->column[i][0] && tmx_csv_column(csv, csv->column[i]) < i) {
            st = tmx_fail_at(err, TMX_EPARSE, csv->source, csv->head_line, "two columns are called \"%.60s\"",
                             csv->column[i]);
        }
    }
    return st;
}

enum tmx_status tmx_csv_read_short(struct tmx_csv *csv, const char *path, size_t least, struct tmx_err *err)
{
    struct reader r;
    enum tmx_status st = begin(csv, &r, path, err);
    st = st ? st : read_rows(csv, &r, least, err);
    st = st ? st : check_names(csv, err);
    if (st) {
        tmx_csv_finish(csv);
    }
    return st;
}

enum tmx_status tmx_csv_read(struct tmx_csv *csv, const char *path, struct tmx_err *err)
{
    return tmx_csv_read_short(csv, path, SIZE_MAX, err);
}

enum tmx_status tmx_csv_each(const char *path, tmx_csv_row_fn *row, void *ctx, struct tmx_err *err)
{
    struct tmx_csv csv;
    struct reader r;
    enum tmx_status st = begin(&csv, &r, path, err);
    st = st ? st : check_names(&csv, err);
    st = st ? st : row(ctx, &csv, err);
    st = st ? st : call_rows(&csv, &r, row, ctx, err);
    tmx_csv_finish(&csv);
    return st;
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

size_t tmx_csv_column(const struct tmx_csv *csv, const char *name)
{
    size_t i = 0;
    while (i < csv->n_column && strcmp(csv->column[i], name) != 0) {
        i++;
    }
    return i;
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
    const char *c = tmx_csv_cell(csv, row, column);
    return tmx_span_real((struct tmx_span){c, c + strlen(c)}, v);
}

double tmx_csv_value(const struct tmx_csv *csv, size_t row, size_t column)
{
    double v;
    return column < csv->n_column && tmx_csv_real(csv, row, column, &v) ? v : NAN;
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
