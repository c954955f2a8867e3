/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/table_out.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/base/text.h"

const char *const tmx_formats[] = {"table", "csv", "markdown", "json", "latex", NULL};

static bool put_string(const char *s, FILE *out)
{
    json_t *text = json_string(s);
    const bool ok = text && (json_dumpf(text, out, JSON_ENCODE_ANY) == 0 || ferror(out));
    json_decref(text);
    return ok;
}

/* As every file has it (jansson has one precision for all), and with a point or an exponent, so that who
 * reads it sees a real. */
static void put_real(double v, FILE *out)
{
    char buf[TMX_REAL_SIZE];
    tmx_real_print(buf, v);
    fprintf(out, "%s%s", buf, strpbrk(buf, ".e") ? "" : ".0");
}

/* A text of a column whose values are numbers, booleans and words. */
static bool put_typed(const char *text, FILE *out)
{
    double v;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        fputs(text, out);
    } else if (!tmx_span_real((struct tmx_span){text, text + strlen(text)}, &v)) {
        return put_string(text, out);
    } else if (v > -9e15 && v < 9e15 && !strpbrk(text, ".eE")) {
        fprintf(out, "%" PRId64, (int64_t)v);
    } else {
        put_real(v, out);
    }
    return true;
}

static bool put_cell(const struct tmx_cell *c, const struct tmx_column *column, FILE *out)
{
    if (c->empty) {
        fputs("null", out);
    } else if (c->type == TMX_COLUMN_INT) {
        fprintf(out, "%" PRId64, c->integer);
    } else if (c->type == TMX_COLUMN_REAL) {
        put_real(c->real, out);
    } else {
        return column->decimals == TMX_TEXT_TYPED ? put_typed(c->text, out) : put_string(c->text, out);
    }
    return true;
}

/* May the texts stand in JSON? */
static enum tmx_status check_texts(const struct tmx_table *t, struct tmx_err *err)
{
    enum tmx_status st = tmx_table_check(t, err);
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        for (size_t c = 0; c < tmx_table_columns(t) && !st; c++) {
            const struct tmx_cell *cell = tmx_table_cell(t, r, c);
            if (cell->type == TMX_COLUMN_TEXT && !cell->empty) {
                st = tmx_utf8_check(cell->text, strlen(cell->text), tmx_table_column(t, c)->name, err);
            }
        }
    }
    return st;
}

static enum tmx_status write_json(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    const enum tmx_status st = check_texts(t, err);
    if (st) {
        return st;
    }
    bool ok = true;
    fputc('[', out);
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        fputs(r == 0 ? "\n {" : ",\n {", out);
        for (size_t c = 0; c < tmx_table_columns(t); c++) {
            const struct tmx_column *column = tmx_table_column(t, c);
            fputs(c == 0 ? "\n  " : ",\n  ", out);
            ok = ok && put_string(column->name, out);
            fputs(": ", out);
            ok = ok && put_cell(tmx_table_cell(t, r, c), column, out);
        }
        fputs("\n }", out);
    }
    fputs(tmx_table_rows(t) == 0 ? "]\n" : "\n]\n", out);
    return ok ? TMX_OK : tmx_no_memory(err);
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
    case TMX_FORMAT_LATEX:
        return tmx_table_write_latex(t, out, err);
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
    enum tmx_status st = tmx_os_mkdirs_for(path, err);
    if (st) {
        return st;
    }
    st = tmx_output_open(&o, path, err);
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
    char path[TMX_PATH_SIZE];
    enum tmx_status st = tmx_os_mkdirs(dir, err);
    st = st ? st : tmx_folder_open(dir, TMX_FOLDER_RESULTS, err);
    st = st ? st : tmx_path_join(path, dir, name, err);
    return st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}
