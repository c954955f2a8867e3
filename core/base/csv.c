/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/csv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct reader {
    char *at, *end;
    unsigned line;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) {
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
        } else if (!quoted && (c == ',' || c == '\n')) {
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
    if (open || (r->at < r->end && *r->at != ',' && *r->at != '\n')) {
        *fault = open ? "a quote that never closes" : "text behind a closing quote; expected a comma";
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

/* The next row that is not blank behind the *n cells of the list; *got: there is one. A cell that is left out
 * is the NUL behind the text. */
static enum tmx_status read_row(const struct tmx_csv *csv, struct reader *r, size_t least, char ***list,
                                size_t *n, bool *got, unsigned *line, struct tmx_err *err)
{
    const size_t before = *n;
    enum tmx_status st = TMX_OK;
    for (*got = false; !st && !*got && r->at < r->end;) {
        *line = r->line;
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
    *r = (struct reader){t.data, t.data + t.size, 1};
    st = tmx_utf8_check(t.data, t.size, path, err);
    if (!st && t.size == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, csv->source, 1, "empty; expected a line of column names");
    }
    return st ? st : read_cells(csv->source, r, &csv->column, &csv->n_column, err);
}

static enum tmx_status check_names(const struct tmx_csv *csv, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < csv->n_column; i++) {
        if (csv->column[i][0] && tmx_csv_column(csv, csv->column[i]) < i) {
            st = tmx_fail_at(err, TMX_EPARSE, csv->source, 1, "two columns are called \"%.60s\"",
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

bool tmx_csv_real(const struct tmx_csv *csv, size_t row, size_t column, double *v)
{
    const char *c = tmx_csv_cell(csv, row, column);
    return tmx_span_real((struct tmx_span){c, c + strlen(c)}, v);
}

void tmx_csv_text(const char *text, FILE *out)
{
    const size_t n = strlen(text);
    const bool formula = *text && strchr("=@+", *text);
    const bool padded = n > 0 && (is_blank(text[0]) || is_blank(text[n - 1]));
    double v;
    const char *mark = formula && !tmx_span_real((struct tmx_span){text, text + n}, &v) ? "'" : "";
    if (!padded && !strpbrk(text, ",\"\r\n")) {
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
