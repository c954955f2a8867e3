/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/trace.h"

#include <ctype.h>
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

/* ---- NumPy's .npy files as traces: "\x93NUMPY", version, length of the head, the head (a Python dictionary
 * of descr, fortran_order, shape, padded so that the data begin at a multiple of 64 bytes), then the data.
 * Source: numpy.lib.format, versions 1.0 to 3.0. ---- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the data are copied as they are: little-endian"
#endif

enum { MAGIC = 6, ALIGN = 64, MAX_COLUMN = 1 << 20 };
static const char magic[MAGIC] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

struct head {
    const char *next, *end; /* what is left of it */
    struct tmx_trace *t;
    size_t *bytes; /* [n_column] 4 or 8, of each field */
    size_t plain;  /* bytes of an element of an array without fields; 0: it has fields */
    size_t shape[2];
    size_t n_shape;
    bool fortran, has_descr, has_shape;
    struct tmx_err *err;
};

#define FAIL(h, ...) tmx_error_at((h)->err, TMX_EPARSE, (h)->t->source, 0, __VA_ARGS__)

/* From the first error on nothing is accepted. */
static bool accept(struct head *h, const char *what)
{
    const size_t n = strlen(what);
    while (h->next < h->end && isspace((unsigned char)*h->next)) {
        h->next++;
    }
    const bool is = !h->err->code && (size_t)(h->end - h->next) >= n && memcmp(h->next, what, n) == 0;
    h->next += is ? n : 0;
    return is;
}

static void expect(struct head *h, const char *what)
{
    if (!accept(h, what)) {
        FAIL(h, "the head of this .npy file has no \"%s\" where one is needed", what);
    }
}

/* Is there another item in what `close` ends? Commas between, one after the last is allowed. */
static bool another(struct head *h, const char *close, bool *first)
{
    const bool comma = *first || accept(h, ",");
    *first = false;
    if (comma && !h->err->code && !accept(h, close)) {
        return !h->err->code;
    }
    if (!comma) {
        expect(h, close);
    }
    return false;
}

/* 'text' or "text" without escapes. */
static struct tmx_span quoted(struct head *h)
{
    const char quote = accept(h, "'") ? '\'' : accept(h, "\"") ? '"' : 0;
    const char *close = quote ? memchr(h->next, quote, (size_t)(h->end - h->next)) : NULL;
    if (!close) {
        FAIL(h, "the head of this .npy file has no name where one is needed");
        return (struct tmx_span){"", ""};
    }
    const struct tmx_span s = {h->next, close};
    h->next = close + 1;
    if (memchr(s.begin, '\\', (size_t)(s.end - s.begin))) {
        FAIL(h, "name \"%.*s\": a backslash", TMX_SPAN_ARG(s));
    }
    return s;
}

static size_t type_bytes(struct head *h)
{
    const struct tmx_span s = quoted(h);
    const size_t bytes = tmx_span_is(s, "<f8") ? 8 : tmx_span_is(s, "<f4") ? 4 : 0;
    if (bytes == 0) {
        FAIL(h, "type \"%.*s\": expected little-endian floats, \"<f8\" or \"<f4\"", TMX_SPAN_ARG(s));
    }
    return bytes;
}

static void add_column(struct head *h, struct tmx_span name, size_t bytes)
{
    struct tmx_trace *t = h->t;
    if (h->err->code || t->n_column == MAX_COLUMN || !TMX_GROW(&t->arena, t->name, t->n_column) ||
        !TMX_GROW(&t->arena, h->bytes, t->n_column)) {
        tmx_error_at(h->err, TMX_ENOMEM, t->source, 0, "%zu columns", t->n_column + 1);
        return;
    }
    t->name[t->n_column] = tmx_arena_letters(&t->arena, name.begin, tmx_span_length(name));
    h->bytes[t->n_column++] = bytes;
    tmx_arena_check(&t->arena, h->err);
    if (tmx_span_length(name) == 0) {
        FAIL(h, "field %zu has no name", t->n_column);
    }
}

/* '<f8', or [('name', '<f8'), ...] */
static void descr(struct head *h)
{
    bool first = true;
    if (!accept(h, "[")) {
        h->plain = type_bytes(h);
        return;
    }
    while (another(h, "]", &first)) {
        expect(h, "(");
        const struct tmx_span name = quoted(h);
        expect(h, ",");
        const size_t bytes = type_bytes(h);
        expect(h, ")");
        add_column(h, name, bytes);
    }
}

static void shape(struct head *h)
{
    bool first = true;
    expect(h, "(");
    while (another(h, ")", &first)) {
        size_t v = 0, digits = 0;
        for (; h->next < h->end && isdigit((unsigned char)*h->next) && digits < 15; h->next++, digits++) {
            v = 10 * v + (size_t)(*h->next - '0');
        }
        if (digits == 0 || h->n_shape == 2) {
            FAIL(h, "its shape: expected (rows,) of named fields, or (rows, columns)");
            return;
        }
        h->shape[h->n_shape++] = v;
    }
}

static void read_head(struct head *h)
{
    bool first = true;
    expect(h, "{");
    while (another(h, "}", &first)) {
        const struct tmx_span key = quoted(h);
        expect(h, ":");
        if (tmx_span_is(key, "descr") && !h->has_descr) {
            h->has_descr = true;
            descr(h);
        } else if (tmx_span_is(key, "shape") && !h->has_shape) {
            h->has_shape = true;
            shape(h);
        } else if (!tmx_span_is(key, "fortran_order")) {
            FAIL(h, "\"%.*s\" in its head: expected descr, fortran_order and shape, once each",
                 TMX_SPAN_ARG(key));
        } else if (!(h->fortran = accept(h, "True")) && !accept(h, "False")) {
            FAIL(h, "fortran_order: expected True or False");
        }
    }
    if (!h->has_descr || !h->has_shape || h->n_shape != (h->plain ? 2u : 1u)) {
        FAIL(h, "expected an array (rows,) of named fields, or (rows, columns)");
    } else if (h->fortran && h->plain) {
        FAIL(h, "it is in Fortran order: numpy.ascontiguousarray makes it C order");
    }
}

/* The names of a plain array: `X.names` beside `X.npy`. */
static void npy_names(struct head *h)
{
    char path[sizeof h->t->source + 8];
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct tmx_err why = {0};
    const size_t length = strlen(h->t->source),
                 stem = tmx_trace_wants_npy(h->t->source) ? length - 4 : length;
    snprintf(path, sizeof path, "%.*s.names", (int)stem, h->t->source);
    if (tmx_text_load(&text, path, &why)) {
        FAIL(h, "its columns have no names: expected named fields, or names in %s (%s)", path, why.msg);
        return;
    }
    while (!h->err->code && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, field;
        while (tmx_span_field(&rest, &field)) {
            add_column(h, field, h->plain);
        }
    }
    tmx_text_finish(&text);
    if (h->t->n_column != h->shape[1]) {
        tmx_error_at(h->err, TMX_EPARSE, path, 0, "%zu names for the %zu columns of %s", h->t->n_column,
                     h->shape[1], h->t->source);
    }
}

static void read_data(struct head *h, const char *data, size_t size)
{
    struct tmx_trace *t = h->t;
    size_t row_bytes = 0;
    for (size_t c = 0; c < t->n_column; c++) {
        row_bytes += h->bytes[c];
    }
    if (t->n_column == 0 || h->shape[0] == 0) {
        FAIL(h, t->n_column ? "no rows" : "no columns");
    } else if (size / row_bytes != h->shape[0] || size % row_bytes != 0) {
        FAIL(h, "%zu bytes of data, its header gives %zu rows of %zu bytes", size, h->shape[0], row_bytes);
    }
    t->value = h->err->code ? NULL : malloc(h->shape[0] * t->n_column * sizeof *t->value);
    t->line = t->value ? malloc(h->shape[0] * sizeof *t->line) : NULL;
    if (!t->line) {
        tmx_error_at(h->err, TMX_ENOMEM, t->source, 0, "%zu rows", h->shape[0]);
    }
    for (; !h->err->code && t->n_row < h->shape[0]; t->n_row++) {
        t->line[t->n_row] = (unsigned)(t->n_row + 1);
        for (size_t c = 0; c < t->n_column; data += h->bytes[c++]) {
            float narrow;
            double *v = &t->value[t->n_row * t->n_column + c];
            memcpy(h->bytes[c] == 4 ? (void *)&narrow : v, data, h->bytes[c]);
            *v = h->bytes[c] == 4 ? (double)narrow : *v;
            if (!isfinite(*v)) {
                tmx_error_at(h->err, TMX_EPARSE, t->source, t->line[t->n_row],
                             "value of \"%.60s\" in this row is no finite number", t->name[c]);
            }
        }
    }
}

enum tmx_status tmx_trace_read_any(const char *path, struct tmx_trace *t, bool *npy, struct tmx_err *err)
{
    struct tmx_text_file text = {0};
    *t = (struct tmx_trace){0};
    *npy = false;
    if (strcmp(path, "-") == 0) { /* it cannot be looked at twice */
        return tmx_trace_read(path, t, err);
    }
    struct tmx_err own = {0};
    *npy =
        !tmx_text_load_bytes(&text, path, &own) && text.size >= MAGIC && memcmp(text.data, magic, MAGIC) == 0;
    const unsigned char *byte = (const unsigned char *)text.data;
    const size_t wide = *npy && text.size > MAGIC && byte[MAGIC] >= 2 ? 4 : 2, fixed = MAGIC + 2 + wide;
    struct head h = {.t = t, .err = &own};
    size_t length = 0;
    for (size_t i = 0; i < wide && *npy && text.size >= fixed; i++) {
        length |= (size_t)byte[MAGIC + 2 + i] << (8 * i);
    }
    if (*npy) {
        snprintf(t->source, sizeof t->source, "%s", path);
    }
    if (*npy && (text.size < fixed || byte[MAGIC] < 1 || byte[MAGIC] > 3 || length > text.size - fixed)) {
        FAIL(&h, "a .npy file that ends in its head, or of a version above 3");
    } else if (*npy) {
        h.next = text.data + fixed;
        h.end = h.next + length;
        read_head(&h);
        if (!own.code && h.plain) {
            npy_names(&h);
        }
        read_data(&h, text.data + fixed + length, text.size - fixed - length);
    }
    tmx_text_finish(&text);
    return own.code || *npy ? tmx_error_give(err, &own) : tmx_trace_read(path, t, err);
}

/* ---- writing ---- */

bool tmx_trace_wants_npy(const char *path)
{
    return strlen(path) > 4 && tmx_text_ends(path, ".npy");
}

void tmx_trace_put_names(const char *const *name, size_t n, size_t n_row, FILE *out)
{
    static const char begin[] = "{'descr': [", around[] = "('', '<f8'), "; /* a name */
    char end[96];
    snprintf(end, sizeof end, "], 'fortran_order': False, 'shape': (%zu,), }", n_row);
    const size_t fixed = MAGIC + 2 + 4;
    size_t head = strlen(begin) + strlen(end) + 1; /* with the line's end */
    for (size_t c = 0; c < n; c++) {
        head += strlen(around) + strlen(name[c]);
    }
    const size_t length = (fixed + head + ALIGN - 1) / ALIGN * ALIGN - fixed;
    fwrite(magic, 1, MAGIC, out);
    fputc(2, out); /* version 2.0: heads of any length */
    fputc(0, out);
    for (size_t i = 0; i < 4; i++) {
        fputc((int)(length >> (8 * i) & 0xff), out);
    }
    fputs(begin, out);
    for (size_t c = 0; c < n; c++) {
        fprintf(out, "('%s', '<f8'), ", name[c]);
    }
    fprintf(out, "%s%*s\n", end, (int)(length - head), "");
}

void tmx_trace_put_row(const double *value, size_t n, FILE *out)
{
    fwrite(value, sizeof *value, n, out);
}
