/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/trace.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { FIRST_ROWS = 4, FIXED_SIZE = 32 };

/* Names of a column of time, in small letters and without blanks and brackets, and its unit. */
static const struct {
    const char *name;
    double s;
} times[] = {
    {"time", 1},       {"time_s", 1},    {"t", 1},          {"t_s", 1},        {"times", 1},
    {"timesec", 1},    {"seconds", 1},   {"elapsed_s", 1},  {"time_ms", 1e-3}, {"timems", 1e-3},
    {"t_ms", 1e-3},    {"tms", 1e-3},    {"time_us", 1e-6}, {"timeus", 1e-6},  {"t_us", 1e-6},
    {"time_ns", 1e-9}, {"timens", 1e-9}, {"t_ns", 1e-9},
};
enum { N_TIME = sizeof times / sizeof times[0] };

/* Seconds of the unit of a column of time; 0: it is none. */
static double time_unit_s(struct tmx_span name)
{
    char word[24];
    size_t n = 0;
    for (const char *c = name.begin; c < name.end && n < sizeof word - 1; c++) {
        if (!strchr(" ()[]\"", *c)) {
            word[n++] = *c;
        }
    }
    word[n] = '\0';
    for (size_t i = 0; i < N_TIME; i++) {
        if (tmx_word_compare(times[i].name, word) == 0) {
            return times[i].s;
        }
    }
    return 0;
}

struct reader {
    struct tmx_trace *t;
    double unit_s; /* of the first column, which is a time; 0: it is none */
    double last_s; /* time of the row before */
};

/* The next field, by the trace's separator. */
static bool next_field(const struct tmx_trace *t, struct tmx_span *rest, struct tmx_span *field)
{
    if (!t->comma) {
        return tmx_span_field(rest, field);
    }
    const bool is = tmx_span_cell(rest, field);
    if (is && tmx_span_length(*field) > 1 && *field->begin == '"' && field->end[-1] == '"') {
        field->begin++;
        field->end--;
    }
    return is;
}

static enum tmx_status read_names(struct reader *r, struct tmx_span line, struct tmx_err *err)
{
    struct tmx_trace *t = r->t;
    struct tmx_span rest = line, field;
    size_t n = 0;
    t->comma = tmx_span_is_cells(line);
    while (next_field(t, &rest, &field)) {
        n++;
    }
    t->name = calloc(n + 1, sizeof *t->name);
    if (!t->name) {
        return tmx_no_memory(err);
    }
    for (rest = line, n = 0; next_field(t, &rest, &field); n++) {
        if (n == 0 && t->comma && (r->unit_s = time_unit_s(field)) > 0) {
            continue;
        }
        if (tmx_span_length(field) == 0) {
            return tmx_fail_at(err, TMX_EPARSE, t->source, t->name_line, "column %zu has no name", n + 1);
        }
        t->name[t->n_column] = tmx_span_dup(field);
        if (!t->name[t->n_column++]) {
            return tmx_no_memory(err);
        }
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

/* Rows are equally long: the step of the first two is that of all. */
static enum tmx_status read_time(struct reader *r, struct tmx_span field, unsigned number,
                                 struct tmx_err *err)
{
    static const double SAME = 1e-6;
    struct tmx_trace *t = r->t;
    double s;
    if (!tmx_span_real(field, &s)) {
        return tmx_fail_at(err, TMX_EPARSE, t->source, number, "time \"%.*s\" %s", TMX_SPAN_ARG(field),
                           tmx_span_real_fault(field));
    }
    s *= r->unit_s;
    const double step_s = s - r->last_s;
    if (t->n_row > 0 && !(step_s > 0)) {
        return tmx_fail_at(err, TMX_EPARSE, t->source, number, "time %g s is not after the row before, %g s",
                           s, r->last_s);
    }
    if (t->n_row == 1) {
        t->step_s = step_s;
    } else if (t->n_row > 1 && fabs(step_s - t->step_s) > SAME * t->step_s + 4e-16 * fabs(s)) {
        return tmx_fail_at(
            err, TMX_EPARSE, t->source, number,
            "this row is %g s after the one before, the first two are %g s apart: expected equal steps",
            step_s, t->step_s);
    }
    r->last_s = s;
    return TMX_OK;
}

static enum tmx_status read_row(struct reader *r, struct tmx_span line, unsigned number, struct tmx_err *err)
{
    struct tmx_trace *t = r->t;
    double *row = t->value + t->n_row * t->n_column;
    struct tmx_span field;
    size_t n = 0;
    if (r->unit_s > 0 && next_field(t, &line, &field)) {
        const enum tmx_status st = read_time(r, field, number, err);
        if (st) {
            return st;
        }
    }
    for (; next_field(t, &line, &field); n++) {
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
    struct reader r = {.t = t};
    *t = (struct tmx_trace){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(t->source, sizeof t->source, "%s", path);
    while (!st && tmx_lines_next_filled(&lines, &text)) {
        if (!t->name) {
            t->name_line = lines.number;
            st = read_names(&r, lines.line, err);
            continue;
        }
        st = grow(t, &room, err);
        if (!st) {
            st = read_row(&r, lines.line, lines.number, err);
        }
    }
    if (!st && t->n_row == 0) {
        st = tmx_fail_at(err, TMX_EPARSE, path, lines.number ? lines.number : 1,
                         t->name ? "no rows after the names" : "empty trace");
    }
    st = tmx_text_blame(st, &text, ",", "a trace: a line of block names, then a line of numbers a row", err);
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
