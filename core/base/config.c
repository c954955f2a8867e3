/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a configuration is loaded.
 *
 *      run.cfg ----.                                                            --set a.b=1, axis values,
 *       @include --+--> one text -----> libconfig's tree --> tree of settings <-- set = ["a.b=1"] of a file
 *      more.cfg ---'   (config_text.c)   (discarded)         (setting.c)     |
 *                       file:line of                        file:line of     '--> readers: opt.c, run/load
 *                       every line                          every value
 *
 * Reading. tmx_config_open joins the file and all that it includes into one text. config_text.c checks every
 * literal, enforces the limits (nesting, sizes) and notes where each line comes from. libconfig parses the
 * text, and parse() copies its tree into ours, so no other file sees libconfig's types. Every setting of our
 * tree knows its file and line, and so does every message of a later reader. Reals are read in the C locale
 * whatever the program's locale is.
 *
 * Includes. @include "FILE" puts the text of FILE in its place, also inside a group. FILE is relative to the
 * file that includes it. An include replaces nothing: a key that is in a file and again in what it includes
 * is given twice, and that is an error. Only files include files; text in memory and overrides do not.
 *
 * Overrides. "a.b.c=value" replaces the setting c of group a.b:
 *
 *      file                      override        result
 *      g = { a = 1; b = 2; }     g.a=3           g = { a = 3; b = 2; }
 *                                g={a=3;}        g = { a = 3; }
 *                                h.a=3           g = { a = 1; b = 2; }    h = { a = 3; }
 *
 *   - The whole setting is replaced: a group or a list that is given as a value does not merge with the old
 *     one. Groups on the way to the key are made when they are absent.
 *   - The value is any value of the syntax. What does not parse, is no number and has no quote, backslash,
 *     semicolon or newline in it is a text: `k=word` is `k="word"`.
 *   - Its kind is not compared with the old one's. The reader checks kinds, ranges and unknown keys of the
 *     final tree, so an override can mend a value of the wrong kind in a file.
 *   - Overrides are applied in the order given, and the last one wins: a file's own `set` list, then the axis
 *     values of a study or the rows of a suite, then --set of the command line, where each exists. The
 *     callers put them in this order (tmx_sets).
 *   - Keys of other files are out of reach: `chip = "gtx280"` names a file that its reader opens by itself.
 *
 * Defaults are not in the tree. A key that is absent gets its default from the reader's option row (opt.h).
 *
 * Places. A value of --set has the file name "--set a.b.c=value", and a relative path in it is relative to
 * the current folder. A value from a list in a file has that file and line, and a path in it is relative to
 * that file (tmx_beside). */
#include "core/base/config.h"

#include <libconfig.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config_text.h"
#include "core/base/os.h"

enum { MAX_WHERE = 480, MAX_KEY = 512 };

struct tmx_config {
    struct tmx_setting *root;
    char **file; /* [n_file] owned names, which the nodes point at */
    size_t n_file;
};

/* From libconfig's tree to ours. */
struct copy {
    const struct tmx_config_text *text;
    struct tmx_err *err;
};

static enum tmx_status copy_members(const struct copy *c, const config_setting_t *from,
                                    struct tmx_setting *to);

static enum tmx_status copy_setting(const struct copy *c, const config_setting_t *from,
                                    struct tmx_setting *parent)
{
    static const enum tmx_setting_kind kinds[] = {
        [CONFIG_TYPE_GROUP] = TMX_SETTING_GROUP,   [CONFIG_TYPE_LIST] = TMX_SETTING_LIST,
        [CONFIG_TYPE_ARRAY] = TMX_SETTING_ARRAY,   [CONFIG_TYPE_INT] = TMX_SETTING_INTEGER,
        [CONFIG_TYPE_INT64] = TMX_SETTING_INTEGER, [CONFIG_TYPE_FLOAT] = TMX_SETTING_REAL,
        [CONFIG_TYPE_STRING] = TMX_SETTING_TEXT,   [CONFIG_TYPE_BOOL] = TMX_SETTING_BOOL,
    };
    const struct tmx_config_place at = tmx_config_text_place(c->text, config_setting_source_line(from));
    const int type = config_setting_type(from);
    tmx_assert(type > CONFIG_TYPE_NONE && type <= CONFIG_TYPE_LIST);
    struct tmx_setting *to =
        tmx_setting_add(parent, config_setting_name(from), kinds[type], c->text->file[at.file], at.line);
    if (!to) {
        return tmx_no_memory(c->err);
    }
    switch (kinds[type]) {
    case TMX_SETTING_INTEGER:
        tmx_setting_set_integer(to, config_setting_get_int64(from));
        return TMX_OK;
    case TMX_SETTING_BOOL:
        tmx_setting_set_integer(to, config_setting_get_bool(from));
        return TMX_OK;
    case TMX_SETTING_REAL:
        tmx_setting_set_real(to, config_setting_get_float(from));
        return TMX_OK;
    case TMX_SETTING_TEXT: {
        const char *text = config_setting_get_string(from);
        return tmx_setting_set_text(to, text ? text : "") ? TMX_OK : tmx_no_memory(c->err);
    }
    default:
        return copy_members(c, from, to); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
}

static enum tmx_status copy_members(const struct copy *c, const config_setting_t *from,
                                    struct tmx_setting *to)
{
    enum tmx_status st = TMX_OK;
    for (int i = 0; !st && i < config_setting_length(from); i++) {
        st = copy_setting(c, config_setting_get_elem(from, (unsigned)i),
                          to); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
    return st;
}

static enum tmx_status parse(struct tmx_config *c, const struct tmx_config_text *t, struct tmx_err *err)
{
    const struct copy copy = {t, err};
    config_t cfg;
    enum tmx_status st;
    config_init(&cfg);
    if (config_read_string(&cfg, t->data ? t->data : "")) {
        c->root = tmx_setting_add(NULL, NULL, TMX_SETTING_GROUP, t->file[0], 1);
        st = c->root ? copy_members(&copy, config_root_setting(&cfg), c->root) : tmx_no_memory(err);
    } else {
        const struct tmx_config_place at = tmx_config_text_place(t, (unsigned)config_error_line(&cfg));
        st = tmx_fail_at(err, TMX_ECONFIG, t->file[at.file], at.line, "%s", config_error_text(&cfg));
    }
    config_destroy(&cfg);
    return st;
}

static enum tmx_status make(struct tmx_config **c, const char *path, const char *text, const char *name,
                            struct tmx_err *err)
{
    struct tmx_config_text t;
    struct tmx_config *made = calloc(1, sizeof *made);
    *c = NULL;
    if (!made) {
        return tmx_no_memory(err);
    }
    struct tmx_fp_env plain;
    tmx_fp_env_enter(&plain); /* libconfig reads reals in the thread's locale, and leaves it in another one */
    enum tmx_status st = tmx_config_text_read(&t, path, text, name, err);
    st = st ? st : parse(made, &t, err);
    tmx_fp_env_leave(&plain);
    made->file = t.file; /* the nodes point at these names */
    made->n_file = t.n_file;
    t.file = NULL;
    t.n_file = 0;
    tmx_config_text_finish(&t);
    if (st) {
        tmx_config_close(made);
        return st;
    }
    *c = made;
    return TMX_OK;
}

enum tmx_status tmx_config_parse(struct tmx_config **c, const char *text, const char *name,
                                 struct tmx_err *err)
{
    return make(c, NULL, text, name, err);
}

enum tmx_status tmx_config_open(struct tmx_config **c, const char *path, struct tmx_err *err)
{
    return make(c, path, NULL, NULL, err);
}

void tmx_config_close(struct tmx_config *c)
{
    if (!c) {
        return;
    }
    tmx_setting_destroy(c->root);
    for (size_t i = 0; i < c->n_file; i++) {
        free(c->file[i]);
    }
    free(c->file);
    free(c);
}

const struct tmx_setting *tmx_config_root(const struct tmx_config *c)
{
    return c->root;
}

const struct tmx_setting *tmx_config_find(const struct tmx_config *c, const char *path)
{
    const struct tmx_setting *n = c->root;
    char key[MAX_KEY];
    while (n) {
        const size_t length = strcspn(path, ".");
        if (length >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, length);
        key[length] = '\0';
        n = tmx_setting_member(n, key);
        if (!path[length]) {
            break;
        }
        path += length + 1;
    }
    return n;
}

void tmx_config_quote(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        if ((unsigned char)*text < ' ') {
            fprintf(out, "\\x%02x", (unsigned char)*text);
        } else {
            fputc(*text, out);
        }
    }
    fputc('"', out);
}

/* ---- --set ---- */

/* The value as the syntax has it; else, when no quote or separator is in it, as a bare word. */
static enum tmx_status parse_value(struct tmx_config **c, const char *value, const char *where, unsigned line,
                                   struct tmx_err *err)
{
    const size_t size = strlen(value) + 16;
    char *text = malloc(size);
    if (!text) {
        return tmx_no_memory(err);
    }
    snprintf(text, size, "v = %s;", value);
    struct tmx_err why = {0};
    enum tmx_status st = tmx_config_parse(c, text, where, &why);
    if (!st && tmx_setting_length((*c)->root) != 1) {
        tmx_config_close(*c);
        *c = NULL;
        st = tmx_fail_at(&why, TMX_ECONFIG, where, 0, "more than one value");
    }
    const size_t number = strspn(value, "0123456789+-.eE");
    const bool is_number = strspn(value, "eE") == 0 && number > 0 && value[number] == '\0';
    if (st && value[strcspn(value, "\"\\;\n")] == '\0' && !is_number) {
        snprintf(text, size, "v = \"%s\";", value);
        st = tmx_config_parse(c, text, where, &why);
    }
    free(text);
    return st == TMX_ECONFIG
               ? tmx_fail_at(err, st, where, line, "\"%.200s\" is no value: %.300s", value, why.msg)
           : st ? tmx_fail(err, st, "%s", why.msg)
                : TMX_OK;
}

/* The length of one part of a key at s, 0 when it is no name. */
static size_t part_length(const char *s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*_";
    const size_t n = strcspn(s, ".=");
    return *s && strchr(first, *s) &&
                   strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*_-0123456789") >= n
               ? n
               : 0;
}

/* Keep a name for the nodes to point at. */
static const char *keep(struct tmx_config *c, const char *name)
{
    char **file = realloc(c->file, (c->n_file + 1) * sizeof *file);
    const size_t n = strlen(name) + 1;
    if (!file) {
        return NULL;
    }
    c->file = file;
    file[c->n_file] = malloc(n);
    return file[c->n_file] ? memcpy(file[c->n_file++], name, n) : NULL;
}

enum tmx_status tmx_config_assign(struct tmx_config *c, const char *assignment, const char *where,
                                  unsigned line, struct tmx_err *err)
{
    struct tmx_config *value = NULL;
    struct tmx_setting *group = c->root;
    char key[TMX_CONFIG_NAME + 1];
    const char *eq = strchr(assignment, '='), *part = assignment;
    size_t depth = 0;
    if (!eq) {
        return tmx_fail_at(err, TMX_ECONFIG, where, line, "expected key=value");
    }
    for (;; depth++) {
        const size_t n = part_length(part);
        if (n == 0 || n > TMX_CONFIG_NAME || depth == TMX_CONFIG_DEPTH) {
            return tmx_fail_at(err, TMX_ECONFIG, where, line, "character %d: expected a key like group.key",
                               (int)(part - assignment) + 1);
        }
        memcpy(key, part, n);
        key[n] = '\0';
        part += n;
        if (part == eq) {
            break;
        }
        struct tmx_setting *next = tmx_setting_member_mut(group, key);
        const char *file = next ? NULL : keep(c, where);
        if (!next && !(file && (next = tmx_setting_add(group, key, TMX_SETTING_GROUP, file, line)))) {
            return tmx_no_memory(err);
        }
        if (tmx_setting_kind(next) != TMX_SETTING_GROUP) {
            return tmx_fail_at(err, TMX_ECONFIG, where, line, "character %d: \"%s\" is not a group (%s:%u)",
                               (int)(part - assignment) + 1 - (int)n, key, tmx_setting_file(next),
                               tmx_setting_line(next));
        }
        group = next;
        part++;
    }
    enum tmx_status st = parse_value(&value, eq + 1, where, line, err);
    if (st) {
        return st;
    }
    /* the value's names and nodes move over */
    char **file = realloc(c->file, (c->n_file + value->n_file) * sizeof *file);
    if (file) {
        c->file = file;
        memcpy(c->file + c->n_file, value->file, value->n_file * sizeof *file);
        c->n_file += value->n_file;
        value->n_file = 0;
    }
    struct tmx_setting *node = file ? tmx_setting_detach(value->root, "v") : NULL;
    tmx_setting_at_line(node, line);
    if (!node || !tmx_setting_override(group, node, key)) {
        tmx_setting_destroy(node);
        st = tmx_no_memory(err);
    }
    tmx_config_close(value);
    return st;
}

enum tmx_status tmx_config_set(struct tmx_config *c, const char *assignment, struct tmx_err *err)
{
    static const char below[] = "base."; /* a suite's command puts it before what was typed */
    const size_t put = strncmp(assignment, below, strlen(below)) == 0 && tmx_setting_member(c->root, "base")
                           ? strlen(below)
                           : 0;
    char where[MAX_WHERE];
    snprintf(where, sizeof where, "--set %s", assignment + put);
    return tmx_config_assign(c, assignment, where, 1, err);
}

enum tmx_status tmx_config_load(struct tmx_config **c, const char *path, const char *const *sets,
                                size_t n_set, struct tmx_err *err)
{
    enum tmx_status st = tmx_config_open(c, path, err);
    for (size_t i = 0; i < n_set && !st; i++) {
        st = tmx_config_set(*c, sets[i], err);
    }
    if (st) {
        tmx_config_close(*c);
        *c = NULL;
    }
    return st;
}

/* ---- overrides of many places ---- */

enum tmx_status tmx_sets_add(struct tmx_sets *s, const char *file, unsigned line, struct tmx_err *err,
                             const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    struct tmx_set *more = realloc(s->set, (s->n + 1) * sizeof *more);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (more) {
        s->set = more;
    }
    if (text) {
        vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    va_end(args);
    if (!more || !text) {
        free(text);
        return tmx_fail(err, TMX_ENOMEM, "overrides");
    }
    more[s->n++] = (struct tmx_set){text, file, line};
    return TMX_OK;
}

enum tmx_status tmx_sets_add_list(struct tmx_sets *s, const struct tmx_setting *list, const char *prefix,
                                  struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const size_t n = list ? tmx_setting_length(list) : 0;
    for (size_t i = 0; i < n && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *one = tmx_setting_text(e);
        st = one ? tmx_sets_add(s, tmx_setting_file(e), tmx_setting_line(e), err, "%s%s", prefix, one)
                 : tmx_fail_setting(err, list, "%s: expected [\"key=value\", ...]", tmx_setting_name(list));
    }
    return st;
}

enum tmx_status tmx_sets_load(struct tmx_config **c, const char *path, const struct tmx_sets *s,
                              struct tmx_err *err)
{
    enum tmx_status st = tmx_config_open(c, path, err);
    for (size_t i = 0; i < s->n && !st; i++) {
        const struct tmx_set *set = &s->set[i];
        st = set->file ? tmx_config_assign(*c, set->text, set->file, set->line, err)
                       : tmx_config_set(*c, set->text, err);
    }
    if (st) {
        tmx_config_close(*c);
        *c = NULL;
    }
    return st;
}

void tmx_sets_finish(struct tmx_sets *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->set[i].text);
    }
    free(s->set);
    *s = (struct tmx_sets){0};
}
