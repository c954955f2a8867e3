/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/opt.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"

enum { MAX_KEYS = 256 };

/* Where a value is from, and the first error. */
struct reader {
    const char *file;
    unsigned line;
    struct tmx_err err;
};
#define fail(r, ...) tmx_error_at(&(r)->err, TMX_ECONFIG, (r)->file, (r)->line, __VA_ARGS__)

static void go_to(struct reader *r, const struct tmx_setting *s)
{
    r->file = tmx_setting_file(s);
    r->line = tmx_setting_line(s);
}

/* Every key of the group is one of these: opts, also and inner, of which any may be NULL. */
static void check_keys(struct reader *r, const struct tmx_opt *opts, const char *const *also,
                       const struct tmx_keys *inner, const struct tmx_setting *group)
{
    const char *names[MAX_KEYS] = {NULL};
    char hint[TMX_HINT_SIZE];
    size_t n = 0;
    for (; opts->key && n < MAX_KEYS; opts++) {
        names[n++] = opts->key;
    }
    for (; also && *also && n < MAX_KEYS; also++) { /* a group may have several rows */
        names[n] = *also;
        n += tmx_names_find(*also, names, n) == n;
    }
    for (; inner && inner->group && n < MAX_KEYS; inner++) {
        names[n++] = inner->group;
    }
    for (size_t i = 0; i < tmx_setting_length(group) && !r->err.code; i++) {
        const char *key = tmx_setting_name(tmx_setting_at(group, i));
        if (tmx_names_find(key, names, n) == n) {
            go_to(r, tmx_setting_at(group, i));
            fail(r, "unknown key \"%s\"%s", key, tmx_suggest(hint, key, names, n));
        }
    }
}

static void store_number(const struct tmx_opt *o, void *obj, double v)
{
    char *field = (char *)obj + o->offset;
    if (o->type == TMX_OPT_INT) {
        const int i = (int)v;
        memcpy(field, &i, sizeof i);
    } else if (o->type == TMX_OPT_BOOL) {
        const bool b = v != 0;
        memcpy(field, &b, sizeof b);
    } else {
        memcpy(field, &v, sizeof v);
    }
}

/* The words that a row takes, as a list. */
static size_t list_choices(const struct tmx_opt *o, char words[256])
{
    size_t n = 0;
    while (o->choices[n]) {
        n++;
    }
    tmx_names_list(words, 256, o->choices, n);
    return n;
}

static void store_word(struct reader *r, const struct tmx_opt *o, void *obj, const char *word)
{
    char *field = (char *)obj + o->offset, words[256];
    if (o->type == TMX_OPT_CHOICE) {
        const size_t n = list_choices(o, words), at = tmx_names_find(word, o->choices, n);
        const int i = (int)at;
        if (at == n) {
            fail(r, "%s = \"%s\": expected one of %s", o->key, word, words);
        } else {
            memcpy(field, &i, sizeof i);
        }
        return;
    }
    if (strlen(word) >= (size_t)o->max) {
        fail(r, "%s: longer than %d characters", o->key, (int)o->max - 1);
    }
    for (const char *c = word; *c; c++) { /* a terminal would obey it */
        if (((unsigned char)*c < ' ' && !strchr("\n\t", *c)) || *c == '\x7f') {
            fail(r, "%s: control character 0x%02x", o->key, (unsigned)(unsigned char)*c);
        }
    }
    if (!o->def_text && !*word) {
        fail(r, "%s = \"\": expected a name or text", o->key);
    }
    if (!r->err.code) {
        strcpy(field, word); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): length checked above */
    }
}

/* " [unit]" after what has one. */
static const char *bracketed(const struct tmx_opt *o, char text[40])
{
    const bool number = o->type == TMX_OPT_INT || o->type == TMX_OPT_REAL;
    const bool plain = !number || strcmp(o->unit, "1") == 0;
    snprintf(text, 40, "%s%s%s", plain ? "" : " [", plain ? "" : o->unit, plain ? "" : "]");
    return text;
}

/* A number; group: see tmx_plausible. */
static void store_in_bounds(struct reader *r, const struct tmx_opt *o, void *obj, const char *group,
                            struct tmx_scalar number)
{
    char text[TMX_REAL_SIZE];
    double v = 0;
    (void)tmx_scalar_real(number, &v);
    if (o->type == TMX_OPT_INT && v != floor(v)) {
        fail(r, "%s = %s: expected an integer", o->key, tmx_scalar_plain(number, text));
        return;
    }
    if (!isfinite(v) || v < o->min || v > o->max) {
        const bool plain = strcmp(o->unit, "1") == 0;
        char guess[TMX_GUESS_SIZE];
        fail(r, "%s = %.15g%s%s is outside [%.15g, %.15g]%s", o->key, v, plain ? "" : " ",
             plain ? "" : o->unit, o->min, o->max, tmx_plausible_guess(guess, group, o->key, o->unit, v));
        return;
    }
    store_number(o, obj, v);
    /* The least value is "none", and the highest of a limit one that never acts: neither is a slip of units.
     */
    const bool limit = strcmp(o->unit, "degC") == 0 || strcmp(o->unit, "K/W") == 0;
    if (v != o->min && !(limit && v == o->max)) {
        r->err.code = tmx_plausible(group, o->key, o->unit, v, r->file, r->line, &r->err);
    }
}

/* An input file is looked at where its key stands: its content is part of what was read. The value is its
 * path from the current folder. */
static void store_file(struct reader *r, const struct tmx_opt *o, void *obj, const char *name)
{
    char path[TMX_PATH_SIZE], places[2 * TMX_PATH_SIZE];
    struct tmx_text_file text = {0};
    struct tmx_err why = {0};
    if (!tmx_beside(r->file, name, path, sizeof path)) {
        fail(r, "%s = \"%s\": no such file; looked for %s", o->key, name,
             tmx_beside_places(r->file, name, places, sizeof places));
    } else if (tmx_text_load(&text, path, &why)) {
        fail(r, "%s = \"%s\": %s", o->key, path, why.msg);
    } else {
        store_word(r, o, obj, path);
    }
    tmx_text_finish(&text);
}

static void read_one(struct reader *r, const struct tmx_opt *o, void *obj, const struct tmx_setting *s)
{
    static const char *const want[] = {"an integer", "a number", "true or false", "a \"text\"", "a \"word\""};
    char path[TMX_PATH_SIZE] = "./", unit[40], words[256];
    const char *word = tmx_setting_text(s);
    const bool text = o->type == TMX_OPT_TEXT, choice = o->type == TMX_OPT_CHOICE;
    const bool number =
        o->type == TMX_OPT_REAL || (o->type == TMX_OPT_INT && tmx_setting_is(s, TMX_SETTING_INTEGER));
    double v;
    go_to(r, s);
    if (text && o->is_file && word && *word) {
        store_file(r, o, obj, word);
    } else if ((text || choice) && word) {
        /* a name is a path when something is there: obj gets one with a '/'; else the caller may search more
         */
        if (text && o->is_name && strpbrk(word, "/.") &&
            tmx_beside(r->file, word, path + 2, sizeof path - 2)) {
            word = strchr(path + 2, '/') ? path + 2 : path;
        }
        store_word(r, o, obj, word);
    } else if (o->type == TMX_OPT_BOOL && tmx_setting_is(s, TMX_SETTING_BOOL)) {
        store_number(o, obj, tmx_setting_bool(s));
    } else if (number && tmx_setting_real(s, &v)) {
        store_in_bounds(r, o, obj, tmx_setting_name(tmx_setting_parent(s)), tmx_setting_scalar(s));
    } else if (choice) {
        list_choices(o, words);
        fail(r, "%s: expected one of %s, in \"quotes\"", o->key, words);
    } else {
        fail(r, "%s: expected %s%s", o->key, want[o->type], bracketed(o, unit));
    }
}

static void set(struct reader *r, const struct tmx_opt *o, void *obj, const char *word)
{
    static const char *const bools[] = {"0", "1", "false", "true", "off", "on"}; /* even: no */
    const struct tmx_span span = {word, word + strlen(word)};
    char unit[40];
    double v;
    for (int i = 0; o->type == TMX_OPT_CHOICE && o->choices[i]; i++) {
        word = tmx_word_compare(o->choices[i], word) == 0 ? o->choices[i] : word;
    }
    if (o->type == TMX_OPT_TEXT || o->type == TMX_OPT_CHOICE) {
        store_word(r, o, obj, word);
    } else if (o->type == TMX_OPT_BOOL) {
        size_t i = 0;
        while (i < 6 && tmx_word_compare(bools[i], word) != 0) {
            i++;
        }
        if (i == 6) {
            fail(r, "%s = \"%s\": expected 0 or 1", o->key, word);
        }
        store_number(o, obj, (double)(i % 2));
    } else if (!tmx_span_real(span, &v)) {
        fail(r, "%s: \"%.60s\" %s%s", o->key, word, tmx_span_real_fault(span), bracketed(o, unit));
    } else {
        store_in_bounds(r, o, obj, NULL, TMX_REAL_VALUE(v));
    }
}

enum tmx_status tmx_opt_set(const struct tmx_opt *o, void *obj, const char *word, const char *file,
                            unsigned line, struct tmx_err *err)
{
    struct reader r = {.file = file, .line = line};
    set(&r, o, obj, word);
    return tmx_error_give(err, &r.err);
}

enum tmx_status tmx_opt_put(const struct tmx_opt *o, void *obj, struct tmx_scalar value, const char *file,
                            unsigned line, struct tmx_err *err)
{
    struct reader r = {.file = file, .line = line};
    char word[TMX_REAL_SIZE];
    double v;
    if (!tmx_scalar_real(value, &v) || (o->type != TMX_OPT_INT && o->type != TMX_OPT_REAL)) {
        set(&r, o, obj, tmx_scalar_plain(value, word));
    } else {
        store_in_bounds(&r, o, obj, NULL, value);
    }
    return tmx_error_give(err, &r.err);
}

static bool is_word(const struct tmx_opt *o)
{
    return o->type == TMX_OPT_TEXT || o->type == TMX_OPT_CHOICE;
}

bool tmx_opt_has_default(const struct tmx_opt *o)
{
    return is_word(o) ? o->def_text != NULL : !isnan(o->def);
}

static void store_default(struct reader *r, const struct tmx_opt *o, void *obj)
{
    is_word(o) ? store_word(r, o, obj, o->def_text) : store_number(o, obj, o->def);
}

enum tmx_status tmx_opt_cells(const struct tmx_opt *opts, void *obj, const struct tmx_csv *csv, size_t row,
                              struct tmx_err *err)
{
    struct reader r = {.file = csv->source, .line = csv->line[row]};
    for (const struct tmx_opt *o = opts; !r.err.code && o->key; o++) {
        const size_t column = tmx_csv_column(csv, o->key);
        const char *cell = column < csv->n_column ? tmx_csv_cell(csv, row, column) : "";
        *cell || !tmx_opt_has_default(o) ? set(&r, o, obj, cell) : store_default(&r, o, obj);
    }
    r.err.code = r.err.code ? TMX_EPARSE : TMX_OK;
    return tmx_error_give(err, &r.err);
}

enum tmx_status tmx_opt_columns(const struct tmx_opt *opts, const struct tmx_csv *csv, struct tmx_err *err)
{
    size_t column[MAX_KEYS], n = 0;
    for (const struct tmx_opt *o = opts; o->key && n < MAX_KEYS; o++) {
        column[n] = tmx_csv_column(csv, o->key);
        if (column[n++] == csv->n_column && !tmx_opt_has_default(o)) {
            return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->head_line, "expected a column %s", o->key);
        }
    }
    tmx_csv_idle(csv, column, n);
    return TMX_OK;
}

/* place, name: of a group for what is missing; name "" when the keys are in place itself. */
static void read_rows(struct reader *r, const struct tmx_opt *opts, void *obj,
                      const struct tmx_setting *group, const struct tmx_setting *place, const char *name,
                      const char *const *also, const struct tmx_keys *inner)
{
    tmx_setting_check(group, TMX_SETTING_GROUP, &r->err);
    if (!r->err.code) {
        check_keys(r, opts, also, inner, group);
    }
    for (const struct tmx_opt *o = opts; !r->err.code && o->key; o++) {
        const struct tmx_setting *s = tmx_setting_member(group, o->key);
        if (s) {
            read_one(r, o, obj, s);
        } else if (tmx_opt_has_default(o)) {
            store_default(r, o, obj);
        } else {
            go_to(r, place);
            fail(r, "missing key \"%s%s%s\" (%s)", name, *name ? "." : "", o->key, o->doc);
        }
    }
}

static enum tmx_status read_all(const struct tmx_opt *opts, void *obj, const struct tmx_setting *group,
                                const struct tmx_setting *place, const char *name, const char *const *also,
                                struct tmx_err *err)
{
    struct reader r = {.file = NULL};
    if (err && err->code) {
        return err->code;
    }
    read_rows(&r, opts, obj, group, place, name, also, NULL);
    return tmx_error_give(err, &r.err);
}

enum tmx_status tmx_opt_read(const struct tmx_opt *opts, void *obj, const struct tmx_setting *group,
                             const char *const *also, struct tmx_err *err)
{
    return read_all(opts, obj, group, group, "", also, err);
}

enum tmx_status tmx_opt_read_group(const struct tmx_opt *opts, void *obj, const struct tmx_setting *parent,
                                   const char *key, const char *const *also, struct tmx_err *err)
{
    const struct tmx_setting *group = tmx_setting_member(parent, key);
    return read_all(opts, obj, group, group ? group : parent, group ? "" : key, also, err);
}

/* place, name: see read_rows */
static void read_group(struct reader *r, const struct tmx_opt *rows, const struct tmx_keys *inner, void *obj,
                       const struct tmx_setting *group, const struct tmx_setting *place, const char *name);

static void read_list(struct reader *r, const struct tmx_keys *p, void *obj, const struct tmx_setting *group)
{
    struct tmx_err *err = &r->err;
    const bool absent = p->optional && !tmx_setting_member(group, p->group);
    const struct tmx_setting *list = tmx_setting_list(group, p->group, absent ? 0 : p->least, p->most, err);
    if (p->name) {
        tmx_setting_unique(list, p->name, err);
    }
    char *element = (char *)obj + p->offset;
    size_t n = err->code ? 0 : tmx_setting_length(list);
    if (!err->code && p->owned) {
        void *array = calloc(n + 1, p->size);
        memcpy(element, &array, sizeof array);
        element = array;
        err->code = array ? TMX_OK : tmx_no_memory(err);
        n = array ? n : 0;
    }
    for (size_t i = 0; i < n && !err->code; i++) {
        double before = -INFINITY, v = INFINITY;
        const struct tmx_setting *at = tmx_setting_at(list, i),
                                 *last = i > 0 ? tmx_setting_at(list, i - 1) : NULL;
        read_group(r, p->opts, p->inner, element + i * p->size, at, at,
                   ""); /* NOLINT(misc-no-recursion): as deep as the rows are */
        if (p->rises && tmx_setting_real(tmx_setting_member(at, p->rises), &v) &&
            tmx_setting_real(tmx_setting_member(last, p->rises), &before) && v <= before) {
            tmx_error_setting(err, at, "%s: %s = %.15g after %.15g; expected ascending values", p->group,
                              p->rises, v, before);
        }
    }
    memcpy((char *)obj + p->count, &n, sizeof n);
}

static void read_group(struct reader *r, const struct tmx_opt *rows, const struct tmx_keys *inner, void *obj,
                       const struct tmx_setting *group, const struct tmx_setting *place, const char *name)
{
    read_rows(r, rows, obj, group, place, name, NULL, inner);
    for (const struct tmx_keys *p = inner; p && p->group && !r->err.code; p++) {
        const struct tmx_setting *s = tmx_setting_member(group, p->group);
        if (p->opts && p->size > 0) {
            read_list(r, p, obj, group); /* NOLINT(misc-no-recursion): as deep as the rows are */
        } else if (p->opts) {
            read_group(r, p->opts, p->inner, (char *)obj + p->offset, s, s ? s : group, s ? "" : p->group);
        }
    }
}

enum tmx_status tmx_keys_read(const struct tmx_keys *keys, void *obj, const struct tmx_setting *group,
                              struct tmx_err *err)
{
    struct reader r = {.file = NULL};
    if (!err->code) {
        read_group(&r, keys->opts, keys->inner, obj, group, group, "");
    }
    return err->code ? err->code : tmx_error_give(err, &r.err);
}

enum tmx_status tmx_keys_load(const struct tmx_keys *file, void *obj, const char *path,
                              const struct tmx_sets *sets, struct tmx_config **keep, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    tmx_config_load(&cfg, path, sets, err);
    tmx_keys_read(file, obj, tmx_config_root(cfg), err);
    if (err->code || !keep) {
        tmx_config_close(cfg);
        cfg = NULL;
    }
    if (keep) {
        *keep = cfg;
    }
    return err->code;
}

const struct tmx_setting *tmx_opt_given(const struct tmx_opt *opts, const void *obj, const char *keys,
                                        const struct tmx_setting *group)
{
    for (const struct tmx_opt *o = opts; group && o->key; o++) {
        const struct tmx_opt one[2] = {*o, {0}};
        const struct tmx_setting *s = tmx_words_have(keys, o->key) ? tmx_setting_member(group, o->key) : NULL;
        if (s && !tmx_opt_is_default(one, obj)) {
            return s;
        }
    }
    return NULL;
}

bool tmx_opt_same(const struct tmx_opt *o, const void *a, const void *b)
{
    const struct tmx_scalar x = tmx_opt_value(o, a), y = tmx_opt_value(o, b);
    return x.kind == TMX_SETTING_REAL   ? x.real == y.real
           : x.kind == TMX_SETTING_TEXT ? strcmp(x.text, y.text) == 0
                                        : x.integer == y.integer;
}

struct tmx_scalar tmx_opt_value(const struct tmx_opt *o, const void *obj)
{
    const char *field = (const char *)obj + o->offset;
    struct tmx_scalar v = TMX_TEXT_VALUE(field);
    int i = 0;
    bool b = false;
    if (o->type == TMX_OPT_REAL) {
        v.kind = TMX_SETTING_REAL;
        memcpy(&v.real, field, sizeof v.real);
    } else if (o->type == TMX_OPT_BOOL) {
        memcpy(&b, field, sizeof b);
        v = (struct tmx_scalar){TMX_SETTING_BOOL, {.integer = b}};
    } else if (o->type != TMX_OPT_TEXT) {
        memcpy(&i, field, sizeof i);
        v = o->type == TMX_OPT_INT ? TMX_INTEGER_VALUE(i) : TMX_TEXT_VALUE(o->choices[i]);
    }
    return v;
}

bool tmx_opt_is_default(const struct tmx_opt *opts, const void *obj)
{
    bool same = true;
    for (const struct tmx_opt *o = opts; same && o->key; o++) {
        const struct tmx_scalar v = tmx_opt_value(o, obj);
        same = v.kind == TMX_SETTING_TEXT   ? o->def_text && strcmp(o->def_text, v.text) == 0
               : v.kind == TMX_SETTING_REAL ? v.real == o->def
                                            : (double)v.integer == o->def;
    }
    return same;
}

void tmx_opt_write(const struct tmx_opt *opts, const void *obj, struct tmx_writer *w)
{
    for (const struct tmx_opt *o = opts; o->key; o++) {
        struct tmx_scalar v = tmx_opt_value(o, obj);
        char full[4 * TMX_PATH_SIZE];
        const bool path =
            o->type == TMX_OPT_TEXT && ((o->is_file && *v.text) || (o->is_name && strchr(v.text, '/')));
        if (path && tmx_os_real_path(v.text, full, sizeof full)) {
            v.text = full;
        }
        tmx_writer_value(w, o->key, v, path);
    }
}

void tmx_opt_write_group(const struct tmx_opt *opts, const void *obj, const char *key, struct tmx_writer *w)
{
    tmx_writer_open(w, key, TMX_SETTING_GROUP);
    tmx_opt_write(opts, obj, w);
    tmx_writer_close(w);
}

void tmx_opt_help(const struct tmx_opt *opts, const char *indent, FILE *out)
{
    for (const struct tmx_opt *o = opts; o->key; o++) {
        fprintf(out, "%s%-24s %s", indent, o->key, o->doc);
        if (o->type == TMX_OPT_INT || o->type == TMX_OPT_REAL) {
            fprintf(out, " [%s] in [%g, %g]", o->unit, o->min, o->max);
            if (!isnan(o->def)) {
                fprintf(out, ", default %g", o->def);
            }
        } else if (o->type == TMX_OPT_BOOL) {
            fprintf(out, ", default %s", o->def != 0 ? "true" : "false");
        } else {
            for (int i = 0; o->choices && o->choices[i]; i++) {
                fprintf(out, "%s%s", i ? "|" : ": ", o->choices[i]);
            }
            if (o->def_text) {
                fprintf(out, ", default \"%s\"", o->def_text);
            }
        }
        fputc('\n', out);
    }
}

enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                 const char *const *also, void **state, struct tmx_err *err)
{
    static const struct tmx_opt none[] = {{0}};
    void *s = calloc(1, p->state_size ? p->state_size : 1);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "%s: state of %zu bytes", p->name, p->state_size);
    }
    struct tmx_err own = {0}; /* err is that of the library's users, who may have used it before */
    if (tmx_opt_read(p->opts ? p->opts : none, s, group, also, &own)) {
        free(s);
    } else {
        *state = s;
    }
    return tmx_error_give(err, &own);
}
