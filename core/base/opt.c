/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/opt.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "core/base/plausible.h"
#include "core/base/text.h"

enum { MAX_KEYS = 256 };

/* Every key of the group is one of these: opts, also and inner, of which any may be NULL. */
static enum tmx_status check_keys(const struct tmx_opt *opts, const char *const *also,
                                  const struct tmx_keys *inner, const struct tmx_setting *group,
                                  struct tmx_err *err)
{
    const char *names[MAX_KEYS] = {NULL};
    char hint[TMX_HINT_SIZE];
    size_t n = 0;
    for (; opts->key && n < MAX_KEYS; opts++) {
        names[n++] = opts->key;
    }
    for (; also && *also && n < MAX_KEYS; also++) {
        names[n++] = *also;
    }
    for (; inner && inner->group && n < MAX_KEYS; inner++) {
        names[n++] = inner->group;
    }
    for (size_t i = 0; i < tmx_setting_length(group); i++) {
        const struct tmx_setting *s = tmx_setting_at(group, i);
        const char *key = tmx_setting_name(s);
        size_t k = 0;
        while (k < n && strcmp(names[k], key) != 0) {
            k++;
        }
        if (k == n) {
            return tmx_fail_setting(err, s, "unknown key \"%s\"%s", key, tmx_suggest(hint, key, names, n));
        }
    }
    return TMX_OK;
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

static enum tmx_status store_word(const struct tmx_opt *o, void *obj, const char *word, const char *file,
                                  unsigned line, struct tmx_err *err)
{
    char *field = (char *)obj + o->offset;
    if (o->type == TMX_OPT_TEXT) {
        if (strlen(word) >= (size_t)o->max) {
            return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s: longer than %d characters", o->key,
                               (int)o->max - 1);
        }
        for (const char *c = word; *c; c++) { /* a terminal would obey it */
            if (((unsigned char)*c < ' ' && !strchr("\n\t", *c)) || *c == '\x7f') {
                return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s: control character 0x%02x", o->key,
                                   (unsigned)(unsigned char)*c);
            }
        }
        if (!o->def_text && !*word) {
            return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s = \"\": expected a name or text", o->key);
        }
        strcpy(field, word); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): length checked above */
        return TMX_OK;
    }
    char words[256];
    int n = 0;
    for (; o->choices[n]; n++) {
        if (strcmp(o->choices[n], word) == 0) {
            memcpy(field, &n, sizeof n);
            return TMX_OK;
        }
    }
    tmx_names_list(words, sizeof words, o->choices, (size_t)n);
    return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s = \"%s\": expected one of %s", o->key, word, words);
}

/* " [unit]" after what has one. */
static const char *bracketed(const struct tmx_opt *o, char text[40])
{
    const bool number = o->type == TMX_OPT_INT || o->type == TMX_OPT_REAL;
    const bool plain = !number || strcmp(o->unit, "1") == 0;
    snprintf(text, 40, "%s%s%s", plain ? "" : " [", plain ? "" : o->unit, plain ? "" : "]");
    return text;
}

static enum tmx_status wrong_type(const struct tmx_opt *o, const struct tmx_setting *s, struct tmx_err *err)
{
    static const char *const want[] = {"an integer", "a number", "true or false", "a \"text\"", "a \"word\""};
    char unit[40], words[256];
    size_t n = 0;
    while (o->type == TMX_OPT_CHOICE && o->choices[n]) {
        n++;
    }
    if (n > 0) {
        tmx_names_list(words, sizeof words, o->choices, n);
        return tmx_fail_setting(err, s, "%s: expected one of %s, in \"quotes\"", o->key, words);
    }
    return tmx_fail_setting(err, s, "%s: expected %s%s", o->key, want[o->type], bracketed(o, unit));
}

/* group: see tmx_plausible */
static enum tmx_status store_in_bounds(const struct tmx_opt *o, void *obj, const char *group, double v,
                                       const char *file, unsigned line, struct tmx_err *err)
{
    if (!isfinite(v) || v < o->min || v > o->max) {
        const bool plain = strcmp(o->unit, "1") == 0;
        char guess[TMX_GUESS_SIZE];
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s = %.15g%s%s is outside [%.15g, %.15g]%s", o->key,
                           v, plain ? "" : " ", plain ? "" : o->unit, o->min, o->max,
                           tmx_plausible_guess(guess, group, o->key, o->unit, v));
    }
    store_number(o, obj, v);
    /* The least value is "none", and the highest of a limit one that never acts: neither is a slip of units.
     */
    const bool limit = strcmp(o->unit, "degC") == 0 || strcmp(o->unit, "K/W") == 0;
    return v == o->min || (limit && v == o->max) ? TMX_OK
                                                 : tmx_plausible(group, o->key, o->unit, v, file, line, err);
}

/* An input file is looked at where its key stands: its content is part of what was read. The value is its
 * path from the current folder. */
static enum tmx_status store_file(const struct tmx_opt *o, void *obj, const struct tmx_setting *s,
                                  const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], places[2 * TMX_PATH_SIZE];
    struct tmx_text_file text;
    struct tmx_err why = {0};
    if (!tmx_beside(tmx_setting_file(s), name, path, sizeof path)) {
        return tmx_fail_setting(err, s, "%s = \"%s\": no such file; looked for %s", o->key, name,
                                tmx_beside_places(tmx_setting_file(s), name, places, sizeof places));
    }
    const enum tmx_status st = tmx_text_load(&text, path, &why);
    tmx_text_finish(&text);
    return st ? tmx_fail_setting(err, s, "%s = \"%s\": %s", o->key, path, why.msg)
              : store_word(o, obj, path, tmx_setting_file(s), tmx_setting_line(s), err);
}

static enum tmx_status read_one(const struct tmx_opt *o, void *obj, const struct tmx_setting *s,
                                struct tmx_err *err)
{
    const char *file = tmx_setting_file(s), *word = tmx_setting_text(s);
    const unsigned line = tmx_setting_line(s);
    double v;
    switch (o->type) {
    case TMX_OPT_BOOL:
        if (!tmx_setting_is(s, TMX_SETTING_BOOL)) {
            return wrong_type(o, s, err);
        }
        store_number(o, obj, tmx_setting_bool(s));
        return TMX_OK;
    case TMX_OPT_TEXT:
        if (o->is_file && word && *word) {
            return store_file(o, obj, s, word, err);
        }
        char path[TMX_PATH_SIZE] = "./"; /* of a name where something is there: obj gets one with a '/' */
        if (o->is_name && word && strpbrk(word, "/.") && tmx_beside(file, word, path + 2, sizeof path - 2)) {
            word = strchr(path + 2, '/') ? path + 2 : path; /* else the caller may search more places */
        }
        return word ? store_word(o, obj, word, file, line, err) : wrong_type(o, s, err);
    case TMX_OPT_CHOICE:
        return word ? store_word(o, obj, word, file, line, err) : wrong_type(o, s, err);
    case TMX_OPT_INT:
        if (!tmx_setting_is(s, TMX_SETTING_INTEGER)) {
            return wrong_type(o, s, err);
        }
        break;
    case TMX_OPT_REAL:
        break;
    }
    const char *group = tmx_setting_name(tmx_setting_parent(s));
    return tmx_setting_real(s, &v) ? store_in_bounds(o, obj, group, v, file, line, err)
                                   : wrong_type(o, s, err);
}

enum tmx_status tmx_opt_set(const struct tmx_opt *o, void *obj, const char *word, const char *file,
                            unsigned line, struct tmx_err *err)
{
    if (o->type == TMX_OPT_CHOICE) {
        for (int i = 0; o->choices[i]; i++) {
            if (tmx_word_compare(o->choices[i], word) == 0) {
                word = o->choices[i];
            }
        }
    }
    if (o->type == TMX_OPT_TEXT || o->type == TMX_OPT_CHOICE) {
        return store_word(o, obj, word, file, line, err);
    }
    static const char *const bools[] = {"0", "1", "false", "true", "off", "on"}; /* even: no */
    for (size_t i = 0; i < 6 && o->type == TMX_OPT_BOOL; i++) {
        if (tmx_word_compare(bools[i], word) == 0) {
            store_number(o, obj, (double)(i % 2));
            return TMX_OK;
        }
    }
    if (o->type == TMX_OPT_BOOL) {
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s = \"%s\": expected 0 or 1", o->key, word);
    }
    const struct tmx_span span = {word, word + strlen(word)};
    double v;
    if (!tmx_span_real(span, &v)) {
        char unit[40];
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s: \"%.60s\" %s%s", o->key, word,
                           tmx_span_real_fault(span), bracketed(o, unit));
    }
    return tmx_opt_put(o, obj, TMX_REAL_VALUE(v), file, line, err);
}

enum tmx_status tmx_opt_put(const struct tmx_opt *o, void *obj, struct tmx_scalar value, const char *file,
                            unsigned line, struct tmx_err *err)
{
    char word[TMX_REAL_SIZE];
    double v;
    if (!tmx_scalar_real(value, &v) || (o->type != TMX_OPT_INT && o->type != TMX_OPT_REAL)) {
        return tmx_opt_set(o, obj, tmx_scalar_plain(value, word), file, line, err);
    }
    if (o->type == TMX_OPT_INT && v != floor(v)) {
        return tmx_fail_at(err, TMX_ECONFIG, file, line, "%s = %s: expected an integer", o->key,
                           tmx_scalar_plain(value, word));
    }
    return store_in_bounds(o, obj, NULL, v, file, line, err);
}

/* name: of the group, "" when the keys are in place itself. */
static enum tmx_status read_default(const struct tmx_opt *o, void *obj, const struct tmx_setting *place,
                                    const char *name, struct tmx_err *err)
{
    const bool word = o->type == TMX_OPT_TEXT || o->type == TMX_OPT_CHOICE;
    if (word ? !o->def_text : isnan(o->def)) {
        return tmx_fail_setting(err, place, "missing key \"%s%s%s\" (%s)", name, *name ? "." : "", o->key,
                                o->doc);
    }
    if (word) {
        return store_word(o, obj, o->def_text, NULL, 0, err);
    }
    store_number(o, obj, o->def);
    return TMX_OK;
}

/* place, name: see read_default, for what is missing */
static enum tmx_status read_rows(const struct tmx_opt *opts, void *obj, const struct tmx_setting *group,
                                 const struct tmx_setting *place, const char *name, const char *const *also,
                                 const struct tmx_keys *inner, struct tmx_err *err)
{
    enum tmx_status st = tmx_setting_check(group, TMX_SETTING_GROUP, err);
    st = st ? st : check_keys(opts, also, inner, group, err);
    for (const struct tmx_opt *o = opts; !st && o->key; o++) {
        const struct tmx_setting *s = tmx_setting_member(group, o->key);
        st = s ? read_one(o, obj, s, err) : read_default(o, obj, place, name, err);
    }
    return st;
}

enum tmx_status tmx_opt_read(const struct tmx_opt *opts, void *obj, const struct tmx_setting *group,
                             const char *const *also, struct tmx_err *err)
{
    return read_rows(opts, obj, group, group, "", also, NULL, err);
}

enum tmx_status tmx_opt_read_group(const struct tmx_opt *opts, void *obj, const struct tmx_setting *parent,
                                   const char *key, const char *const *also, struct tmx_err *err)
{
    const struct tmx_setting *group = tmx_setting_member(parent, key);
    return read_rows(opts, obj, group, group ? group : parent, group ? "" : key, also, NULL, err);
}

/* Does the number of this key rise from one element to the next? */
static enum tmx_status check_order(const struct tmx_keys *p, const struct tmx_setting *list, size_t i,
                                   struct tmx_err *err)
{
    double before = -INFINITY, v = INFINITY;
    const struct tmx_setting *s = p->rises ? tmx_setting_member(tmx_setting_at(list, i), p->rises) : NULL;
    if (i > 0 && tmx_setting_real(s, &v) &&
        tmx_setting_real(tmx_setting_member(tmx_setting_at(list, i - 1), p->rises), &before) && v <= before) {
        return tmx_fail_setting(err, tmx_setting_at(list, i),
                                "%s: %s = %.15g after %.15g; expected ascending values", p->group, p->rises,
                                v, before);
    }
    return TMX_OK;
}

static enum tmx_status read_list(const struct tmx_keys *p, void *obj, const struct tmx_setting *group,
                                 struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(group, p->group);
    enum tmx_status st =
        tmx_setting_list(group, p->group, list || !p->optional ? p->least : 0, p->most, &list, err);
    st = st || !p->name ? st : tmx_setting_unique(list, p->name, err);
    char *element = (char *)obj + p->offset;
    size_t n = st ? 0 : tmx_setting_length(list);
    if (!st && p->owned) {
        void *array = calloc(n + 1, p->size);
        memcpy(element, &array, sizeof array);
        element = array;
        st = array ? TMX_OK : tmx_no_memory(err);
        n = array ? n : 0;
    }
    for (size_t i = 0; i < n && !st; i++) {
        const struct tmx_setting *at = tmx_setting_at(list, i);
        st = tmx_keys_read(p, element + i * p->size, at,
                           err); /* NOLINT(misc-no-recursion): as deep as the rows are */
        st = st ? st : check_order(p, list, i, err);
    }
    memcpy((char *)obj + p->count, &n, sizeof n);
    return st;
}

/* place, name: see read_default */
static enum tmx_status read_group(const struct tmx_opt *rows, const struct tmx_keys *inner, void *obj,
                                  const struct tmx_setting *group, const struct tmx_setting *place,
                                  const char *name, struct tmx_err *err)
{
    enum tmx_status st = read_rows(rows, obj, group, place, name, NULL, inner, err);
    for (const struct tmx_keys *p = inner; p && p->group && !st; p++) {
        const struct tmx_setting *s = tmx_setting_member(group, p->group);
        if (p->opts && p->size > 0) {
            st = read_list(p, obj, group, err); /* NOLINT(misc-no-recursion): as deep as the rows are */
        } else if (p->opts) {
            st = read_group(p->opts, p->inner, (char *)obj + p->offset, s, s ? s : group, s ? "" : p->group,
                            err);
        }
    }
    return st;
}

enum tmx_status tmx_keys_read(const struct tmx_keys *keys, void *obj, const struct tmx_setting *group,
                              struct tmx_err *err)
{
    return read_group(keys->opts, keys->inner, obj, group, group, "", err);
}

enum tmx_status tmx_keys_load(const struct tmx_keys *file, void *obj, const char *path,
                              const struct tmx_sets *sets, struct tmx_config **keep, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_config_load(&cfg, path, sets, err);
    st = st ? st : tmx_keys_read(file, obj, tmx_config_root(cfg), err);
    if (st || !keep) {
        tmx_config_close(cfg);
        cfg = NULL;
    }
    if (keep) {
        *keep = cfg;
    }
    return st;
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
    const enum tmx_status st = tmx_opt_read(p->opts ? p->opts : none, s, group, also, err);
    if (st) {
        free(s);
        return st;
    }
    *state = s;
    return TMX_OK;
}
