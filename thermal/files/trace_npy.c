/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NumPy's .npy files as traces: "\x93NUMPY", version, length of the head, the head (a Python dictionary of
 * descr, fortran_order, shape, padded so that the data begin at a multiple of 64 bytes), then the data.
 * Source: numpy.lib.format, versions 1.0 to 3.0. */
#include "thermal/files/trace_npy.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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
static void read_names(struct head *h)
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
            read_names(&h);
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
