/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/table_out.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"

const char *const tmx_formats[] = {"table", "csv", "markdown", "json", "latex", "openmetrics", NULL};

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
    } else if (!tmx_text_real(text, &v)) {
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

/* Are the texts valid in JSON? */
static void check_texts(const struct tmx_table *t, struct tmx_err *err)
{
    for (size_t r = 0; r < tmx_table_rows(t); r++) {
        for (size_t c = 0; c < tmx_table_columns(t) && !err->code; c++) {
            const struct tmx_cell *cell = tmx_table_cell(t, r, c);
            (void)(cell->type == TMX_COLUMN_TEXT && !cell->empty &&
                   tmx_utf8_check(cell->text, strlen(cell->text), tmx_table_column(t, c)->name, err));
        }
    }
}

static void write_json(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
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
    tmx_memory_check(ok, err);
}

/* OpenMetrics: the samples of a metric follow one another, and in it those of one set of labels. */

enum { FAMILY_SIZE = 128, SM_SIZE = 16 };

/* Names of families and labels have letters, digits and _. */
static void clean_name(char *name)
{
    for (; *name; name++) {
        *name = isalnum((unsigned char)*name) ? *name : '_';
    }
}

/* thermix_NAME of a column; smN_x: thermix_sm_x, and N. */
static void family_of(const struct tmx_column *column, char family[FAMILY_SIZE], char sm[SM_SIZE])
{
    const char *name = column->name;
    const size_t digits = strncmp(name, "sm", 2) == 0 ? strspn(name + 2, "0123456789") : 0;
    sm[0] = '\0';
    if (digits > 0 && digits < SM_SIZE) {
        snprintf(sm, SM_SIZE, "%.*s", (int)digits, name + 2);
        name += 2 + digits;
    }
    snprintf(family, FAMILY_SIZE, "thermix_%s%s", sm[0] ? "sm" : "", name);
    clean_name(family);
}

/* Of the room for a label, at most. */
static size_t label_size(const char *name, const char *value)
{
    return strlen(name) + 2 * strlen(value) + sizeof ",=\"\"";
}

/* labels has room for one more. */
static void add_label(char *labels, const char *name, const char *value)
{
    size_t n = strlen(labels);
    n += (size_t)snprintf(labels + n, label_size(name, ""), "%s%s", n > 0 ? "," : "", name);
    clean_name(labels + n - strlen(name));
    n += (size_t)snprintf(labels + n, sizeof "=\"", "=\"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n') {
            labels[n++] = '\\';
        }
        labels[n++] = (char)(*value == '\n' ? 'n' : *value);
    }
    labels[n++] = '"';
    labels[n] = '\0';
}

struct series { /* a row of a table as a sample */
    char *labels;
    size_t row;
};

static int by_labels(const void *a, const void *b)
{
    const struct series *x = a, *y = b;
    const int order = strcmp(x->labels, y->labels);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static bool is_label(const struct tmx_table *t, size_t c, bool timed)
{
    const char *name = tmx_table_column(t, c)->name;
    return strcmp(name, "run") == 0 || strcmp(name, "gpu") == 0 ||
           (!timed && tmx_table_column(t, c)->type == TMX_COLUMN_TEXT);
}

static void put_samples(const struct tmx_table *t, size_t c, size_t time, const struct series *s, size_t n,
                        const char *family, const char *sm, char *labels, FILE *out)
{
    const struct tmx_column *column = tmx_table_column(t, c);
    for (size_t i = 0; i < n; i++) {
        const struct tmx_cell *cell = tmx_table_cell(t, s[i].row, c);
        char v[TMX_REAL_SIZE] = "1";
        memcpy(labels, s[i].labels, strlen(s[i].labels) + 1);
        if (cell->empty || (cell->type == TMX_COLUMN_TEXT && !cell->text[0])) {
            continue;
        }
        if (cell->type == TMX_COLUMN_TEXT) {
            add_label(labels, column->name, cell->text);
        } else if (cell->type == TMX_COLUMN_INT) {
            snprintf(v, sizeof v, "%" PRId64, cell->integer);
        } else {
            tmx_real_print(v, cell->real);
        }
        if (sm[0]) {
            add_label(labels, "sm", sm);
        }
        fprintf(out, labels[0] ? "%s{%s} %s" : "%s%s %s", family, labels, v);
        if (time < tmx_table_columns(t)) {
            tmx_real_print(v, tmx_table_cell(t, s[i].row, time)->real);
            fprintf(out, " %s", v);
        }
        fputc('\n', out);
    }
}

static void write_openmetrics(const struct tmx_table *t, FILE *out, struct tmx_err *err)
{
    const size_t n_column = tmx_table_columns(t), time = tmx_table_find(t, "time_s");
    const bool timed = time < n_column;
    struct tmx_arena arena = {0};
    struct series *s;
    size_t n = 0, most = 0;
    char *labels;
    TMX_TAKE(&arena, s, tmx_table_rows(t));
    for (size_t i = 0; i < tmx_table_rows(t); i++) {
        size_t size =
            SM_SIZE + sizeof ",sm=\"\""; /* of all labels of a row, of the text of a cell and an SM */
        for (size_t c = 0; c < n_column; c++) {
            const struct tmx_cell *cell = tmx_table_cell(t, i, c);
            size += label_size(tmx_table_column(t, c)->name,
                               cell->type == TMX_COLUMN_TEXT && !cell->empty ? cell->text : "") +
                    TMX_REAL_SIZE;
        }
        most = size > most ? size : most;
    }
    TMX_TAKE(&arena, labels, most + 1);
    for (size_t r = 0; !arena.failed && r < tmx_table_rows(t); r++) {
        char text[TMX_REAL_SIZE];
        labels[0] = '\0';
        if (timed && (tmx_table_cell(t, r, time)->empty || tmx_table_cell(t, r, time)->real < 0)) {
            continue;
        }
        for (size_t c = 0; c < n_column; c++) {
            if (is_label(t, c, timed) && !tmx_table_cell(t, r, c)->empty) {
                add_label(labels, tmx_table_column(t, c)->name,
                          tmx_table_cell_text(t, r, c, text, sizeof text));
            }
        }
        s[n++] = (struct series){tmx_arena_text(&arena, labels), r};
    }
    tmx_arena_check(&arena, err);
    if (!err->code) {
        qsort(s, n, sizeof *s, by_labels);
    }
    for (size_t c = 0; !err->code && c < n_column; c++) {
        char family[FAMILY_SIZE], other[FAMILY_SIZE], sm[SM_SIZE];
        size_t before = 0;
        family_of(tmx_table_column(t, c), family, sm);
        while (before < c &&
               (family_of(tmx_table_column(t, before), other, sm), strcmp(other, family) != 0)) {
            before++;
        }
        if (before < c || c == time || is_label(t, c, timed)) { /* written with its first column, or none */
            continue;
        }
        fprintf(out, "# TYPE %s gauge\n", family);
        for (size_t i = c; i < n_column; i++) {
            family_of(tmx_table_column(t, i), other, sm);
            if (strcmp(other, family) == 0) {
                put_samples(t, i, time, s, n, family, sm, labels, out);
            }
        }
    }
    fputs(err->code ? "" : "# EOF\n", out);
    tmx_arena_finish(&arena);
}

enum tmx_status tmx_table_write(const struct tmx_table *t, enum tmx_format f, FILE *out, struct tmx_err *err)
{
    switch (f) {
    case TMX_FORMAT_CSV:
        return tmx_table_write_csv(t, out, err);
    case TMX_FORMAT_MARKDOWN:
        return tmx_table_write_markdown(t, out, err);
    case TMX_FORMAT_LATEX:
        return tmx_table_write_latex(t, out, err);
    case TMX_FORMAT_JSON:
    case TMX_FORMAT_OPENMETRICS:
        if (!tmx_table_check(t, err)) {
            check_texts(t, err);
        }
        if (!err->code) {
            (f == TMX_FORMAT_JSON ? write_json : write_openmetrics)(t, out, err);
        }
        return err->code;
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
        return tmx_table_save_columns(t, f, "-", o->column, o->n_column, err);
    }
    fitted.width = tmx_os_terminal_width(stdout);
    return err->code ? err->code : tmx_table_write_screen(t, &fitted, stdout, err);
}

enum tmx_status tmx_table_save(const struct tmx_table *t, enum tmx_format f, const char *path,
                               struct tmx_err *err)
{
    static const char *const pictures[] = {".png", ".pdf", ".svg", ".jpg", ".html"};
    struct tmx_output o;
    const char *ending = strrchr(path, '.');
    enum { N_PICTURE = sizeof pictures / sizeof pictures[0] };
    if (ending && tmx_names_find(ending, pictures, N_PICTURE) < N_PICTURE) {
        tmx_error(err, TMX_ECONFIG, "%s: this is a table, of which no %s file is made", path, ending);
    }
    tmx_os_mkdirs_for(path, err);
    (void)(tmx_output_open(&o, path, err) || tmx_table_write(t, f, o.file, err));
    return tmx_output_end(&o, err);
}

enum tmx_status tmx_table_save_columns(const struct tmx_table *t, enum tmx_format f, const char *path,
                                       const char *const *column, size_t n, struct tmx_err *err)
{
    static const char *const keys[] = {"run", "gpu", "time_s"}; /* tell samples of a series apart */
    enum { N_KEY = sizeof keys / sizeof keys[0] };
    struct tmx_table *chosen = NULL;
    struct tmx_arena arena = {0};
    const char **name;
    size_t n_name = 0;
    TMX_TAKE(&arena, name, n + N_KEY);
    tmx_arena_check(&arena, err);
    tmx_table_check(t, err);
    for (size_t k = 0; !err->code && k < N_KEY && f == TMX_FORMAT_OPENMETRICS; k++) {
        if (tmx_table_find(t, keys[k]) < tmx_table_columns(t) && tmx_names_find(keys[k], column, n) == n &&
            tmx_names_find("all", column, n) == n) {
            name[n_name++] = keys[k];
        }
    }
    for (size_t i = 0; !err->code && i < n; i++) {
        name[n_name++] = column[i];
    }
    (void)(!err->code && n > 0 && tmx_table_choose(t, name, n_name, &chosen, err));
    tmx_table_save(chosen ? chosen : t, f, path, err);
    tmx_table_destroy(chosen);
    tmx_arena_finish(&arena);
    return err->code;
}

enum tmx_status tmx_table_save_in(const struct tmx_table *t, const char *dir, const char *name,
                                  struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    if (!err->code && !tmx_os_mkdirs(dir, err) && !tmx_folder_open(dir, TMX_FOLDER_RESULTS, err) &&
        !tmx_path_join(path, dir, name, err)) {
        tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    }
    return err->code;
}
