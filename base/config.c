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
#include "base/config.h"

#include <libconfig.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config_text.h"
#include "base/os.h"
#include "base/text.h"

enum { MAX_WHERE = 480 };

struct tmx_config {
    struct tmx_setting *root; /* and in its tree the names of the files that the nodes point at */
};

/* From libconfig's tree to ours: false when out of memory. */
static bool copy_members(const struct tmx_config_text *t, const config_setting_t *group,
                         struct tmx_setting *parent)
{
    static const enum tmx_setting_kind kinds[] = {
        [CONFIG_TYPE_GROUP] = TMX_SETTING_GROUP,   [CONFIG_TYPE_LIST] = TMX_SETTING_LIST,
        [CONFIG_TYPE_ARRAY] = TMX_SETTING_ARRAY,   [CONFIG_TYPE_INT] = TMX_SETTING_INTEGER,
        [CONFIG_TYPE_INT64] = TMX_SETTING_INTEGER, [CONFIG_TYPE_FLOAT] = TMX_SETTING_REAL,
        [CONFIG_TYPE_STRING] = TMX_SETTING_TEXT,   [CONFIG_TYPE_BOOL] = TMX_SETTING_BOOL,
    };
    bool ok = true;
    for (int i = 0; ok && i < config_setting_length(group); i++) {
        const config_setting_t *from = config_setting_get_elem(group, (unsigned)i);
        const struct tmx_config_place at = tmx_config_text_place(t, config_setting_source_line(from));
        const int type = config_setting_type(from);
        tmx_assert(type > CONFIG_TYPE_NONE && type <= CONFIG_TYPE_LIST);
        struct tmx_scalar v = {kinds[type], {0}};
        struct tmx_setting *to = tmx_setting_add(parent, config_setting_name(from), v.kind, at.file, at.line);
        if (v.kind == TMX_SETTING_INTEGER) {
            v.integer = config_setting_get_int64(from);
        } else if (v.kind == TMX_SETTING_BOOL) {
            v.integer = config_setting_get_bool(from);
        } else if (v.kind == TMX_SETTING_REAL) {
            v.real = config_setting_get_float(from);
        } else if (v.kind == TMX_SETTING_TEXT) {
            v.text = config_setting_get_string(from);
            v.text = v.text ? v.text : "";
        }
        ok = to && (v.kind < TMX_SETTING_INTEGER
                        ? copy_members(t, from, to) /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
                        : tmx_setting_set(to, v));
    }
    return ok;
}

static enum tmx_status parse(struct tmx_setting *root, const struct tmx_config_text *t, struct tmx_err *err)
{
    config_t cfg;
    enum tmx_status st = TMX_OK;
    config_init(&cfg);
    if (!config_read_string(&cfg, t->data ? t->data : "")) {
        const struct tmx_config_place at = tmx_config_text_place(t, (unsigned)config_error_line(&cfg));
        st = tmx_fail_at(err, TMX_ECONFIG, at.file, at.line, "%s", config_error_text(&cfg));
    } else if (!copy_members(t, config_root_setting(&cfg), root)) {
        st = tmx_no_memory(err);
    }
    config_destroy(&cfg);
    return st;
}

static enum tmx_status make(struct tmx_config **c, const char *path, const char *text, const char *name,
                            struct tmx_err *err)
{
    struct tmx_config_text t = {0};
    struct tmx_fp_env plain;
    struct tmx_config *made = calloc(1, sizeof *made);
    *c = NULL;
    if (!made || !(made->root = tmx_setting_add(NULL, NULL, TMX_SETTING_GROUP, NULL, 1))) {
        free(made);
        return tmx_no_memory(err);
    }
    tmx_fp_env_enter(&plain); /* libconfig reads reals in the thread's locale, and leaves it in another one */
    enum tmx_status st = tmx_config_text_read(&t, made->root, path, text, name, err);
    if (!st) {
        tmx_setting_place(made->root, tmx_config_text_place(&t, 1).file, 1);
        st = parse(made->root, &t, err);
    }
    tmx_fp_env_leave(&plain);
    tmx_config_text_finish(&t);
    if (st) {
        tmx_config_close(made);
        made = NULL;
    }
    *c = made;
    return st;
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
    free(c);
}

const struct tmx_setting *tmx_config_root(const struct tmx_config *c)
{
    return c ? c->root : NULL;
}

const struct tmx_setting *tmx_config_find(const struct tmx_config *c, const char *path)
{
    return tmx_setting_find(tmx_config_root(c), path);
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

/* ---- writing ---- */

static bool in_line(const struct tmx_writer *w)
{
    return tmx_setting_is_list(w->group) || tmx_setting_is_list(tmx_setting_parent(w->group));
}

/* To both texts, or to the first alone. */
static void print(const struct tmx_writer *w, bool both, const char *fmt, ...) TMX_PRINTF(3, 4);
static void print(const struct tmx_writer *w, bool both, const char *fmt, ...)
{
    va_list args;
    for (size_t i = 0; i < (both && w->keys ? 2 : 1); i++) {
        va_start(args, fmt);
        vfprintf(i ? w->keys : w->full, fmt, args);
        va_end(args);
    }
}

/* The next node below the open group, and what is before its value: an indented key, or a comma. */
static struct tmx_setting *begin(struct tmx_writer *w, const char *key, enum tmx_setting_kind kind, bool both)
{
    w->root = w->root ? w->root : tmx_setting_add(NULL, NULL, TMX_SETTING_GROUP, NULL, 0);
    w->group = w->group ? w->group : w->root;
    const bool list = tmx_setting_is_list(w->group), more = tmx_setting_length(w->group) > 0;
    struct tmx_setting *n = w->root ? tmx_setting_add(w->group, key, kind, NULL, 0) : NULL;
    w->failed = w->failed || !n;
    for (const struct tmx_setting *g = w->group; !in_line(w) && tmx_setting_parent(g);
         g = tmx_setting_parent(g)) {
        print(w, both, "    ");
    }
    print(w, both, "%s%s%s", list && more ? ", " : in_line(w) ? " " : "", key ? key : "", key ? " = " : "");
    return n;
}

void tmx_writer_open(struct tmx_writer *w, const char *key, enum tmx_setting_kind kind)
{
    struct tmx_setting *n = begin(w, key, kind, true);
    print(w, true, kind == TMX_SETTING_LIST ? "(" : in_line(w) ? "{" : "{\n");
    w->group = n ? n : w->group;
}

void tmx_writer_close(struct tmx_writer *w)
{
    const bool list = tmx_setting_is_list(w->group);
    print(w, true, list ? " )" : in_line(w) ? " }" : "}");
    w->group = tmx_setting_parent_mut(w->group);
    print(w, true, in_line(w) ? "" : ";\n");
}

void tmx_writer_value(struct tmx_writer *w, const char *key, struct tmx_scalar v, bool path)
{
    struct tmx_setting *n = begin(w, key, v.kind, !path);
    char text[TMX_REAL_SIZE];
    w->failed = w->failed || !n || !tmx_setting_set(n, v);
    if (v.kind == TMX_SETTING_TEXT) {
        tmx_config_quote(v.text, w->full);
        if (!path && w->keys) {
            tmx_config_quote(v.text, w->keys);
        }
    } else {
        (void)tmx_scalar_print(v, text, sizeof text);
        print(w, !path, "%s%s", text,
              v.kind == TMX_SETTING_REAL && !in_line(w) && !strpbrk(text, ".en") ? ".0" : "");
    }
    print(w, !path, "%s", tmx_setting_is_list(w->group) ? "" : in_line(w) ? ";" : ";\n");
}

void tmx_writer_comment(struct tmx_writer *w, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    print(w, true, "%s# %s\n", tmx_setting_parent(w->group) ? "    " : "", text);
}

enum tmx_status tmx_writer_finish(struct tmx_writer *w, struct tmx_setting **tree, struct tmx_err *err)
{
    const bool ok = !w->failed && w->root;
    if (tree && ok) {
        *tree = w->root;
    } else {
        tmx_setting_destroy(w->root);
    }
    return ok ? TMX_OK : tmx_no_memory(err);
}

/* ---- overrides ---- */

/* The value as the syntax has it; else, when no quote or separator is in it, as a bare word. *c: the member
 * v. */
static void parse_value(struct tmx_config **c, const char *value, const char *where, unsigned line,
                        struct tmx_err *err)
{
    const size_t size = strlen(value) + 16;
    char *text = malloc(size);
    if (!text) {
        tmx_no_memory(err);
        return;
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
    if (st == TMX_ECONFIG) {
        tmx_error_at(err, st, where, line, "\"%.200s\" is no value: %.300s", value, why.msg);
    } else if (st) {
        tmx_error(err, st, "%s", why.msg);
    }
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

static void check_key(const char *key, const char *file, unsigned line, struct tmx_err *err)
{
    const char *part = key;
    size_t n = part_length(part);
    for (size_t depth = 0; !err->code; depth++, n = part_length(part)) {
        if (n == 0 || n > TMX_CONFIG_NAME || depth == TMX_CONFIG_DEPTH) {
            tmx_error_at(err, TMX_ECONFIG, file, line, "character %d: expected a key like group.key",
                         (int)(part - key) + 1);
        }
        if (!part[n]) {
            return;
        }
        part += n + 1;
    }
}

/* The next override, of a valid key, with a copy of the value or a scalar (from NULL). */
static void put(struct tmx_sets *s, const char *key, const struct tmx_setting *from, struct tmx_scalar v,
                const char *file, unsigned line, struct tmx_err *err)
{
    if (err->code) {
        return;
    }
    struct tmx_set *more = realloc(s->set, (s->n + 1) * sizeof *more);
    s->set = more ? more : s->set;
    s->values = s->values ? s->values : tmx_setting_add(NULL, NULL, TMX_SETTING_GROUP, NULL, 0);
    file = s->values ? tmx_setting_keep(s->values, file) : NULL;
    struct tmx_setting *to = !file  ? NULL
                             : from ? tmx_setting_copy(s->values, key, from, file, line)
                                    : tmx_setting_add(s->values, key, v.kind, file, line);
    if (!more || !to || (!from && !tmx_setting_set(to, v))) {
        tmx_no_memory(err);
        return;
    }
    more[s->n++] = (struct tmx_set){tmx_setting_name(to), to, file, line};
}

void tmx_sets_add(struct tmx_sets *s, const char *below, const char *text, const char *file, unsigned line,
                  struct tmx_err *err)
{
    static const char base[] = "base."; /* a suite's command puts it before what was typed */
    static const char plus[] = "_plus_k";
    const size_t size = strlen(below) + strlen(text) + sizeof plus;
    char *key = malloc(size), where[MAX_WHERE], plain[TMX_REAL_SIZE];
    struct tmx_config *value = NULL;
    double celsius;
    if (!key) {
        tmx_no_memory(err);
        return;
    }
    snprintf(key, size, "%s%s", below, text);
    if (!file) {
        snprintf(where, sizeof where, "--set %s",
                 key + (strncmp(below, base, strlen(base)) == 0 ? strlen(base) : 0));
        file = where;
        line = 1;
    }
    char *eq = strchr(key, '=');
    if (!eq) {
        free(key);
        tmx_error_at(err, TMX_ECONFIG, file, line, "expected key=value");
        return;
    }
    *eq = '\0';
    char *typed = eq + 1;
    if (tmx_text_ends(key, "_c") && *typed == '+') { /* inlet_c=+8: inlet_plus_k=8 */
        memmove(eq - 2 + sizeof plus, typed + 1, strlen(typed));
        memcpy(eq - 2, plus, sizeof plus);
        typed = eq - 2 + sizeof plus;
    }
    const size_t n = strlen(typed);
    if (tmx_text_ends(key, "_c") && tmx_celsius_read(typed, &celsius)) { /* inlet_c=32C: inlet_c=32 */
        tmx_real_print(plain, celsius);
        typed = plain;
    } else if (tmx_text_ends(key, "_k") && n > 1 && typed[n - 1] == 'K' &&
               tmx_span_copy((struct tmx_span){typed, typed + n - 1}, plain,
                             sizeof plain)) { /* inlet_plus_k=8K */
        typed = plain;
    }
    check_key(key, file, line, err);
    if (!err->code) {
        parse_value(&value, typed, file, line, err);
    }
    put(s, key, tmx_setting_at(tmx_config_root(value), 0), (struct tmx_scalar){0}, file, line, err);
    tmx_config_close(value);
    free(key);
}

void tmx_sets_put(struct tmx_sets *s, const char *key, struct tmx_scalar v, const char *file, unsigned line,
                  struct tmx_err *err)
{
    char where[MAX_WHERE];
    if (!file) {
        const int n = snprintf(where, sizeof where, "--set %.200s=", key);
        (void)tmx_scalar_print(v, where + n, sizeof where - (size_t)n);
        file = where;
        line = 1;
    }
    check_key(key, file, line, err);
    put(s, key, NULL, v, file, line, err);
}

void tmx_sets_add_list(struct tmx_sets *s, const char *below, const struct tmx_setting *list,
                       struct tmx_err *err)
{
    const size_t first = s->n;
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const char *text = tmx_setting_text(e);
        if (!text) {
            tmx_error_setting(err, list, "%s: expected [\"key=value\", ...]", tmx_setting_name(list));
            return;
        }
        tmx_sets_add(s, below, text, tmx_setting_file(e), tmx_setting_line(e), err);
        for (size_t k = first; k + 1 < s->n; k++) {
            if (strcmp(s->set[k].key, s->set[s->n - 1].key) == 0) {
                tmx_error_setting(err, e, "%s: %s is given twice", tmx_setting_name(list), s->set[k].key);
            }
        }
    }
}

void tmx_sets_join(struct tmx_sets *s, const struct tmx_sets *others, const char *less, struct tmx_err *err)
{
    for (size_t i = 0; others && i < others->n; i++) {
        const struct tmx_set *o = &others->set[i];
        const size_t skip = strncmp(o->key, less, strlen(less)) == 0 ? strlen(less) : 0;
        put(s, o->key + skip, o->value, (struct tmx_scalar){0}, o->file, o->line, err);
    }
}

void tmx_sets_refuse(const struct tmx_sets *s, const char *words, const char *why, struct tmx_err *err)
{
    for (size_t i = 0; s && i < s->n; i++) {
        const struct tmx_set *set = &s->set[i];
        const char *key = set->key + (strncmp(set->key, "base.", 5) == 0 ? 5 : 0);
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(key, "."), key);
        if (tmx_words_have(words, first) || tmx_words_have(words, key)) {
            tmx_error(err, TMX_ECONFIG, "%s: %s", set->file ? set->file : set->key, why);
        }
    }
}

void tmx_sets_finish(struct tmx_sets *s)
{
    tmx_setting_destroy(s->values);
    free(s->set);
    *s = (struct tmx_sets){0};
}

static void apply(struct tmx_config *c, const struct tmx_set *set, struct tmx_err *err)
{
    struct tmx_setting *group = c->root;
    char key[TMX_CONFIG_NAME + 1];
    const char *file = tmx_setting_keep(c->root, set->file), *part = set->key;
    for (size_t n; file && group && part[n = strcspn(part, ".")]; part += n + 1) {
        snprintf(key, sizeof key, "%.*s", (int)n, part);
        struct tmx_setting *next = tmx_setting_member_mut(group, key);
        group = next ? next : tmx_setting_add(group, key, TMX_SETTING_GROUP, file, set->line);
        if (group && tmx_setting_kind(group) != TMX_SETTING_GROUP) {
            tmx_error_at(err, TMX_ECONFIG, file, set->line, "character %d: \"%s\" is not a group (%s:%u)",
                         (int)(part - set->key) + 1, key, tmx_setting_file(group), tmx_setting_line(group));
            return;
        }
    }
    if (!file || !group || !tmx_setting_override(group, part, set->value, file, set->line)) {
        tmx_no_memory(err);
    }
}

void tmx_config_apply(struct tmx_config *c, const struct tmx_sets *s, struct tmx_err *err)
{
    for (size_t i = 0; i < s->n && !err->code; i++) {
        apply(c, &s->set[i], err);
    }
}

enum tmx_status tmx_config_set(struct tmx_config *c, const char *assignment, struct tmx_err *err)
{
    struct tmx_sets s = {0};
    struct tmx_err own = {0};
    tmx_sets_add(&s, "", assignment, NULL, 0, &own);
    tmx_config_apply(c, &s, &own);
    tmx_sets_finish(&s);
    return tmx_error_give(err, &own);
}

enum tmx_status tmx_config_load(struct tmx_config **c, const char *path, const struct tmx_sets *s,
                                struct tmx_err *err)
{
    *c = NULL;
    if (!err->code && !tmx_config_open(c, path, err) && s) {
        tmx_config_apply(*c, s, err);
    }
    if (err->code) {
        tmx_config_close(*c);
        *c = NULL;
    }
    return err->code;
}
