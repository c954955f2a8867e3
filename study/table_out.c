/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/table_out.h"

#include <jansson.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/base/text.h"

const char *const tmx_formats[] = {"table", "csv", "markdown", "json", NULL};

/* A text of a column whose values are numbers, booleans and words. */
static json_t *typed_json(const char *text)
{
    double v;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        return json_boolean(text[0] == 't');
    }
    if (!tmx_span_real((struct tmx_span){text, text + strlen(text)}, &v)) {
        return json_string(text);
    }
    if (v > -9e15 && v < 9e15 && !strpbrk(text, ".eE")) {
        return json_integer((json_int_t)v);
    }
    return json_real(v);
}

static json_t *cell_json(const struct tmx_cell *c, const struct tmx_column *column)
{
    if (c->empty) {
        return json_null();
    }
    switch (c->type) {
    case TMX_COLUMN_INT:
        return json_integer(c->integer);
    case TMX_COLUMN_REAL:
        return json_real(c->real);
    case TMX_COLUMN_TEXT:
        break;
    }
    return column->decimals == TMX_TEXT_TYPED ? typed_json(c->text) : json_string(c->text);
}

static enum tmx_status write_json(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    enum tmx_status st = tmx_table_check(t, err);
    if (st) {
        return st;
    }
    json_t *rows = json_array();
    bool ok = rows != NULL;
    for (size_t r = 0; ok && r < tmx_table_rows(t); r++) {
        json_t *row = json_object();
        for (size_t c = 0; ok && c < tmx_table_columns(t); c++) {
            const struct tmx_column *column = tmx_table_column(t, c);
            ok = json_object_set_new(row, column->name, cell_json(tmx_table_cell(t, r, c), column)) == 0;
        }
        ok = json_array_append_new(rows, row) == 0 && ok;
    }
    if (ok) {
        ok = json_dumpf(rows, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17)) == 0 ||
             ferror(out);
        fputc('\n', out);
    }
    json_decref(rows);
    return ok ? TMX_OK
              : tmx_fail(err, TMX_ENOMEM, "cannot build JSON: out of memory or text that is not UTF-8");
}

enum tmx_status tmx_table_write(const struct tmx_table *t, enum tmx_format f, FILE *out, struct tmx_err *err)
{
    switch (f) {
    case TMX_FORMAT_CSV:
        return tmx_table_write_csv(t, out, err);
    case TMX_FORMAT_MARKDOWN:
        return tmx_table_write_markdown(t, out, err);
    case TMX_FORMAT_JSON:
        return write_json(t, out, err);
    case TMX_FORMAT_TEXT:
        break;
    }
    const struct tmx_screen o = {.width = tmx_os_terminal_width(out)};
    return o.width > 0 ? tmx_table_write_screen(t, &o, out, err) : tmx_table_write_text(t, out, err);
}

enum tmx_status tmx_table_show(const struct tmx_table *t, enum tmx_format f, const struct tmx_screen *o,
                               struct tmx_err *err)
{
    struct tmx_screen fitted = *o;
    if (f != TMX_FORMAT_TEXT) {
        return tmx_table_save(t, f, "-", err);
    }
    fitted.width = tmx_os_terminal_width(stdout);
    return tmx_table_write_screen(t, &fitted, stdout, err);
}

enum tmx_status tmx_table_save(const struct tmx_table *t, enum tmx_format f, const char *path,
                               struct tmx_err *err)
{
    struct tmx_output o;
    enum tmx_status st = tmx_output_open(&o, path, err);
    if (!st) {
        st = tmx_table_write(t, f, o.file, err);
        if (!st) {
            st = tmx_output_commit(&o, err);
        }
    }
    tmx_output_discard(&o);
    return st;
}

enum tmx_status tmx_table_save_in(const struct tmx_table *t, const char *dir, const char *name,
                                  struct tmx_err *err)
{
    char path[1024];
    const enum tmx_status st = tmx_os_mkdirs(dir, err);
    if (!st && snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) {
        return tmx_fail(err, TMX_EIO, "%s: path too long", dir);
    }
    return st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}
