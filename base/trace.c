/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/trace.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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
    size_t room;   /* rows that are allocated */
    unsigned line;
    struct tmx_err err;
};
#define fail(r, ...) tmx_error_at(&(r)->err, TMX_EPARSE, (r)->t->source, (r)->line, __VA_ARGS__)

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

static void read_names(struct reader *r, struct tmx_span line)
{
    struct tmx_trace *t = r->t;
    struct tmx_span rest = line, field;
    size_t n = 0;
    t->comma = tmx_span_is_cells(line);
    while (next_field(t, &rest, &field)) {
        n++;
    }
    TMX_TAKE(&t->arena, t->name, n + 1);
    tmx_arena_check(&t->arena, &r->err);
    t->name_line = r->line;
    for (rest = line, n = 0; !r->err.code && next_field(t, &rest, &field); n++) {
        if (n == 0 && t->comma && (r->unit_s = time_unit_s(field)) > 0) {
            continue;
        }
        if (tmx_span_length(field) == 0) {
            fail(r, "column %zu has no name", n + 1);
        }
        t->name[t->n_column++] = tmx_arena_letters(&t->arena, field.begin, tmx_span_length(field));
        tmx_arena_check(&t->arena, &r->err);
    }
}

/* Rows are equally long: the step of the first two is that of all. */
static void read_time(struct reader *r, struct tmx_span field)
{
    static const double SAME = 1e-6;
    struct tmx_trace *t = r->t;
    double s = 0;
    if (!tmx_span_real(field, &s)) {
        fail(r, "time \"%.*s\" %s", TMX_SPAN_ARG(field), tmx_span_real_fault(field));
    }
    s *= r->unit_s;
    const double step_s = s - r->last_s;
    if (t->n_row > 0 && !(step_s > 0)) {
        fail(r, "time %g s is not after the row before, %g s", s, r->last_s);
    } else if (t->n_row > 1 && fabs(step_s - t->step_s) > SAME * t->step_s + 4e-16 * fabs(s)) {
        fail(r, "this row is %g s after the one before, the first two are %g s apart: expected equal steps",
             step_s, t->step_s);
    }
    t->step_s = t->n_row == 1 ? step_s : t->step_s;
    r->last_s = s;
}

static void read_row(struct reader *r, struct tmx_span line)
{
    struct tmx_trace *t = r->t;
    struct tmx_span field;
    size_t n = 0;
    if (t->n_row == r->room) {
        const size_t rows = r->room ? 2 * r->room : FIRST_ROWS;
        double *value = realloc(t->value, rows * t->n_column * sizeof *value);
        t->value = value ? value : t->value;
        unsigned *lines = realloc(t->line, rows * sizeof *lines);
        t->line = lines ? lines : t->line;
        if (!value || !lines) {
            r->err.code = tmx_no_memory(&r->err);
            return;
        }
        r->room = rows;
    }
    double *row = t->value + t->n_row * t->n_column;
    if (r->unit_s > 0 && next_field(t, &line, &field)) {
        read_time(r, field);
    }
    for (; !r->err.code && next_field(t, &line, &field); n++) {
        if (n < t->n_column && !tmx_span_real(field, &row[n])) {
            fail(r, "value of \"%.60s\": \"%.*s\" %s", t->name[n], TMX_SPAN_ARG(field),
                 tmx_span_real_fault(field));
        }
    }
    if (n != t->n_column) {
        fail(r, "%zu values for %zu names (line %u)", n, t->n_column, t->name_line);
    }
    t->line[t->n_row++] = r->line;
}

enum tmx_status tmx_trace_read(const char *path, struct tmx_trace *t, struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct reader r = {.t = t};
    *t = (struct tmx_trace){0};
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    snprintf(t->source, sizeof t->source, "%s", path);
    while (!r.err.code && tmx_lines_next_filled(&lines, &text)) {
        r.line = lines.number;
        (t->name ? read_row : read_names)(&r, lines.line);
    }
    r.line = lines.number ? lines.number : 1;
    if (t->n_row == 0) {
        fail(&r, t->name ? "no rows after the names" : "empty trace");
    }
    r.err.code = tmx_text_locate(r.err.code, &text, ",",
                                 "a trace: a line of block names, then a line of numbers a row", &r.err);
    tmx_text_finish(&text);
    return tmx_error_give(err, &r.err);
}

void tmx_trace_finish(struct tmx_trace *t)
{
    tmx_arena_finish(&t->arena);
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
