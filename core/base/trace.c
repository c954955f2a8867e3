/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/trace.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { FIRST_ROWS = 4, FIXED_SIZE = 32 };

static enum tmx_status read_names(struct tmx_trace *t, struct tmx_span line, struct tmx_err *err)
{
    struct tmx_span rest = line, field;
    size_t n = 0;
    while (tmx_span_field(&rest, &field)) {
        n++;
    }
    t->name = calloc(n + 1, sizeof *t->name);
    if (!t->name) {
        return tmx_no_memory(err);
    }
    for (rest = line; tmx_span_field(&rest, &field); t->n_column++) {
        const size_t size = tmx_span_length(field) + 1;
        char *name = malloc(size);
        if (!name) {
            return tmx_no_memory(err);
        }
        tmx_span_copy(field, name, size);
        t->name[t->n_column] = name;
    }
    return TMX_OK;
}

/* Room for one more row; *room rows are allocated. */
static enum tmx_status grow(struct tmx_trace *t, size_t *room, struct tmx_err *err)
{
    if (t->n_row < *room) {
        return TMX_OK;
    }
    const size_t rows = *room ? 2 * *room : FIRST_ROWS;
    double *value = realloc(t->value, rows * t->n_column * sizeof *value);
    if (value) {
        t->value = value;
    }
    unsigned *line = realloc(t->line, rows * sizeof *line);
    if (line) {
        t->line = line;
    }
    if (!value || !line) {
        return tmx_no_memory(err);
    }
    *room = rows;
    return TMX_OK;
}

static enum tmx_status read_row(struct tmx_trace *t, struct tmx_span line, unsigned number,
                                struct tmx_err *err)
{
    double *row = t->value + t->n_row * t->n_column;
    struct tmx_span field;
    size_t n = 0;
    for (; tmx_span_field(&line, &field); n++) {
        if (n < t->n_column && !tmx_span_real(field, &row[n])) {
            return tmx_fail_at(err, TMX_EPARSE, t->source, number, "value of \"%.60s\": \"%.*s\" %s",
                               t->name[n], TMX_SPAN_ARG(field), tmx_span_real_fault(field));
        }
    }
    if (n != t->n_column) {
        return tmx_fail_at(err, TMX_EPARSE, t->source, number, "%zu values for %zu names (line %u)", n,
                           t->n_column, t->name_line);
    }
    t->line[t->n_row++] = number;
    return TMX_OK;
}

enum tmx_status tmx_trace_read(const char *path, struct tmx_trace *t, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    size_t room = 0;
    *t = (struct tmx_trace){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(t->source, sizeof t->source, "%s", path);
    while (!st && tmx_lines_next_filled(&lines, &text)) {
        if (!t->name) {
            t->name_line = lines.number;
            st = read_names(t, lines.line, err);
            continue;
        }
        st = grow(t, &room, err);
        if (!st) {
            st = read_row(t, lines.line, lines.number, err);
        }
    }
    if (!st && t->n_row == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, lines.number ? lines.number : 1,
                         t->name ? "no rows after the names" : "empty trace");
    }
    tmx_text_finish(&text);
    return st;
}

void tmx_trace_finish(struct tmx_trace *t)
{
    for (size_t i = 0; i < t->n_column; i++) {
        free(t->name[i]);
    }
    free(t->name);
    free(t->value);
    free(t->line);
    *t = (struct tmx_trace){0};
}

size_t tmx_trace_find(const struct tmx_trace *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_column && tmx_word_compare(t->name[i], name) != 0) {
        i++;
    }
    return i;
}

void tmx_trace_mean(const struct tmx_trace *t, double *mean)
{
    for (size_t i = 0; i < t->n_column; i++) {
        double sum = 0;
        for (size_t row = 0; row < t->n_row; row++) {
            sum += t->value[row * t->n_column + i];
        }
        mean[i] = sum / (double)t->n_row;
    }
}

void tmx_trace_print_names(const char *const *name, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%s", i ? "\t" : "", name[i]);
    }
    fputc('\n', out);
}

/* v with so many decimals as printf("%.*f") writes it, into the end of buf; NULL: left to printf. Scaled to
 * whole numbers the product is off by half a unit of its last place, so all but ties round the same way. */
static char *print_fixed(double v, int decimals, char buf[FIXED_SIZE])
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    enum { MAX_DECIMALS = 9 };
    static const double MAX_WHOLE = 1e15, TIE = 1e-15;
    if (decimals < 0 || decimals > MAX_DECIMALS || !(fabs(v) * power[decimals] < MAX_WHOLE)) {
        return NULL;
    }
    const double scaled = fabs(v) * power[decimals], down = floor(scaled), part = scaled - down;
    if (fabs(part - 0.5) <= TIE * (scaled + 1)) {
        return NULL;
    }
    uint64_t whole = (uint64_t)down + (part > 0.5);
    char *p = buf + FIXED_SIZE - 1;
    *p = '\0';
    for (int i = 0; i < decimals || whole > 0 || i == decimals; i++) {
        if (i == decimals && decimals > 0) {
            *--p = '.';
        }
        *--p = (char)('0' + whole % 10);
        whole /= 10;
    }
    if (signbit(v)) {
        *--p = '-';
    }
    return p;
}

void tmx_trace_print_row(const double *value, size_t n, int decimals, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        char real[TMX_REAL_SIZE];
        if (i) {
            fputc('\t', out);
        }
        if (decimals == TMX_TRACE_LOSSLESS) {
            tmx_real_print(real, value[i]);
            fputs(real, out);
        } else {
            char buf[FIXED_SIZE];
            const char *fixed = print_fixed(value[i], decimals, buf);
            if (fixed) {
                fputs(fixed, out);
            } else {
                fprintf(out, "%.*f", decimals, value[i]);
            }
        }
    }
    fputc('\n', out);
}
