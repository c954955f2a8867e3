/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/csv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct reader {
    const char *at, *end;
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

/* Next cell, without its quotes and the blanks around it, in a fresh text; *last when it ends its line. NULL:
 * out of memory, or *fault. */
static char *next_cell(struct reader *r, bool *last, const char **fault)
{
    skip_blanks(r);
    char *cell = malloc((size_t)(r->end - r->at) + 1), *to = cell;
    const bool quoted = r->at < r->end && *r->at == '"';
    bool open = quoted;
    *fault = NULL;
    if (!cell) {
        return NULL;
    }
    r->at += quoted;
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
        free(cell);
        return NULL;
    }
    *to = '\0';
    *last = r->at == r->end || *r->at == '\n';
    r->line += r->at < r->end && *r->at == '\n';
    r->at += r->at < r->end;
    char *fit = realloc(cell, (size_t)(to - cell) + 1);
    return fit ? fit : cell;
}

static bool push(char ***list, size_t *n, char *cell)
{
    if ((*n & (*n - 1)) == 0) { /* room doubles at powers of two */
        char **more = realloc(*list, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more) {
            free(cell);
            return false;
        }
        *list = more;
    }
    (*list)[(*n)++] = cell;
    return true;
}

static enum tmx_status read_row(struct tmx_csv *csv, struct reader *r, char ***list, size_t *n,
                                struct tmx_err *err)
{
    bool last = false;
    const char *fault;
    while (!last) {
        char *cell = next_cell(r, &last, &fault);
        if (!cell && fault) {
            return tmx_fail_at(err, TMX_EPARSE, csv->source, r->line, "%s", fault);
        }
        if (!cell || !push(list, n, cell)) {
            return tmx_fail_at(err, TMX_ENOMEM, csv->source, r->line, "out of memory");
        }
    }
    return TMX_OK;
}

static enum tmx_status parse(struct tmx_csv *csv, const struct tmx_text *t, size_t least, struct tmx_err *err)
{
    struct reader r = {t->data, t->data + t->size, 1};
    size_t n_cell = 0;
    if (t->size == 0) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, 1, "empty; expected a line of column names");
    }
    enum tmx_status st = read_row(csv, &r, &csv->column, &csv->n_column, err);
    while (!st && r.at < r.end) {
        const unsigned line = r.line;
        const size_t before = n_cell;
        st = read_row(csv, &r, &csv->cell, &n_cell, err);
        if (!st && csv->n_column > 1 && n_cell - before == 1 && !csv->cell[before][0]) {
            free(csv->cell[--n_cell]); /* a blank line */
            continue;
        }
        while (!st && n_cell - before >= least && n_cell - before < csv->n_column) {
            char *empty = calloc(1, 1);
            st = empty && push(&csv->cell, &n_cell, empty)
                     ? TMX_OK
                     : tmx_fail_at(err, TMX_ENOMEM, csv->source, line, "out of memory");
        }
        if (!st && n_cell - before != csv->n_column) {
            st = tmx_fail_at(err, TMX_EPARSE, csv->source, line, "%zu cells; the header has %zu columns",
                             n_cell - before, csv->n_column);
        }
        unsigned *lines = st ? NULL : realloc(csv->line, (csv->n_row + 1) * sizeof *lines);
        if (!st && !lines) {
            st = tmx_fail_at(err, TMX_ENOMEM, csv->source, line, "out of memory");
        }
        if (!st) {
            csv->line = lines;
            csv->line[csv->n_row++] = line;
        }
    }
    if (st) { /* free what the row count does not cover */
        for (size_t i = csv->n_row * csv->n_column; i < n_cell; i++) {
            free(csv->cell[i]);
        }
    }
    return st;
}

enum tmx_status tmx_csv_read_short(struct tmx_csv *csv, const char *path, size_t least, struct tmx_err *err)
{
    struct tmx_text t;
    *csv = (struct tmx_csv){0};
    snprintf(csv->source, sizeof csv->source, "%s", path);
    enum tmx_status st = tmx_text_load(&t, path, err);
    if (st) {
        return st;
    }
    st = tmx_utf8_check(t.data, t.size, path, err);
    st = st ? st : parse(csv, &t, least, err);
    for (size_t i = 0; !st && i < csv->n_column; i++) {
        if (csv->column[i][0] && tmx_csv_column(csv, csv->column[i]) < i) {
            st = tmx_fail_at(err, TMX_EPARSE, path, 1, "two columns are called \"%.60s\"", csv->column[i]);
        }
    }
    tmx_text_finish(&t);
    if (st) {
        tmx_csv_finish(csv);
    }
    return st;
}

enum tmx_status tmx_csv_read(struct tmx_csv *csv, const char *path, struct tmx_err *err)
{
    return tmx_csv_read_short(csv, path, SIZE_MAX, err);
}

void tmx_csv_finish(struct tmx_csv *csv)
{
    for (size_t i = 0; i < csv->n_row * csv->n_column; i++) {
        free(csv->cell[i]);
    }
    for (size_t i = 0; i < csv->n_column; i++) {
        free(csv->column[i]);
    }
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
