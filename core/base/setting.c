/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/setting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct tmx_setting {
    char *name;
    struct tmx_setting *parent;
    enum tmx_setting_kind kind;
    const char *file;
    unsigned line;
    struct tmx_setting **child; /* [n_child] owned */
    size_t n_child, room;
    struct tmx_scalar value; /* of a scalar */
    char *text;              /* owned: value's */
};

static const char *const kind_words[] = {"a group { key = value; }",
                                         "a list ( ... )",
                                         "an array [ ... ]",
                                         "an integer",
                                         "a number",
                                         "true or false",
                                         "a \"text\""};

enum tmx_setting_kind tmx_setting_kind(const struct tmx_setting *n)
{
    return n->kind;
}

bool tmx_setting_is(const struct tmx_setting *n, enum tmx_setting_kind kind)
{
    return n && n->kind == kind;
}

bool tmx_setting_is_list(const struct tmx_setting *n)
{
    return tmx_setting_is(n, TMX_SETTING_LIST) || tmx_setting_is(n, TMX_SETTING_ARRAY);
}

struct tmx_setting *tmx_setting_parent_mut(struct tmx_setting *n)
{
    return n ? n->parent : NULL;
}

const struct tmx_setting *tmx_setting_parent(const struct tmx_setting *n)
{
    return n ? n->parent : NULL;
}

const char *tmx_setting_name(const struct tmx_setting *n)
{
    return n && n->name ? n->name : "";
}

const char *tmx_setting_file(const struct tmx_setting *n)
{
    return n ? n->file : NULL;
}

unsigned tmx_setting_line(const struct tmx_setting *n)
{
    return n ? n->line : 0;
}

size_t tmx_setting_length(const struct tmx_setting *n)
{
    return n ? n->n_child : 0;
}

const struct tmx_setting *tmx_setting_at(const struct tmx_setting *n, size_t i)
{
    return i < tmx_setting_length(n) ? n->child[i] : NULL;
}

bool tmx_scalar_print(struct tmx_scalar v, char *buf, size_t size)
{
    char number[TMX_REAL_SIZE];
    if (v.kind == TMX_SETTING_REAL) {
        tmx_real_print(number, v.real);
        return snprintf(buf, size, "%s", number) < (int)size;
    }
    if (v.kind != TMX_SETTING_TEXT) {
        return (v.kind == TMX_SETTING_BOOL ? snprintf(buf, size, "%s", v.integer ? "true" : "false")
                                           : snprintf(buf, size, "%" PRId64, v.integer)) < (int)size;
    }
    size_t n = (size_t)snprintf(buf, size, "\"");
    for (const char *c = v.text; *c && n < size; c++) {
        n += (size_t)snprintf(buf + n, size - n,
                              (unsigned char)*c < ' '   ? "\\x%02x"
                              : *c == '"' || *c == '\\' ? "\\%c"
                                                        : "%c",
                              (unsigned char)*c);
    }
    return n < size && snprintf(buf + n, size - n, "\"") < (int)(size - n);
}

const char *tmx_scalar_plain(struct tmx_scalar v, char buf[TMX_REAL_SIZE])
{
    return v.kind == TMX_SETTING_TEXT || !tmx_scalar_print(v, buf, TMX_REAL_SIZE) ? v.text : buf;
}

static size_t find(const struct tmx_setting *group, const char *key)
{
    size_t i = 0;
    while (i < group->n_child && strcmp(tmx_setting_name(group->child[i]), key) != 0) {
        i++;
    }
    return i;
}

struct tmx_setting *tmx_setting_member_mut(struct tmx_setting *group, const char *key)
{
    const size_t i = tmx_setting_is(group, TMX_SETTING_GROUP) ? find(group, key) : 0;
    return i < tmx_setting_length(group) && group->kind == TMX_SETTING_GROUP ? group->child[i] : NULL;
}

const struct tmx_setting *tmx_setting_member(const struct tmx_setting *group, const char *key)
{
    const size_t i = tmx_setting_is(group, TMX_SETTING_GROUP) ? find(group, key) : SIZE_MAX;
    return tmx_setting_at(group, i);
}

const struct tmx_setting *tmx_setting_find(const struct tmx_setting *n, const char *path)
{
    while (n && *path) {
        const size_t length = strcspn(path, ".");
        const struct tmx_setting *member = NULL;
        for (size_t i = 0; i < n->n_child && n->kind == TMX_SETTING_GROUP; i++) {
            const char *name = n->child[i]->name;
            member = strncmp(name, path, length) == 0 && !name[length] ? n->child[i] : member;
        }
        n = member;
        path += length + (path[length] == '.');
    }
    return n;
}

struct tmx_scalar tmx_setting_scalar(const struct tmx_setting *n)
{
    return n->value;
}

const char *tmx_setting_text(const struct tmx_setting *n)
{
    return tmx_setting_is(n, TMX_SETTING_TEXT) ? n->value.text : NULL;
}

bool tmx_scalar_real(struct tmx_scalar v, double *real)
{
    const bool number = v.kind == TMX_SETTING_INTEGER || v.kind == TMX_SETTING_REAL;
    *real = v.kind == TMX_SETTING_INTEGER ? (double)v.integer : number ? v.real : *real;
    return number;
}

bool tmx_setting_real(const struct tmx_setting *n, double *v)
{
    return n && tmx_scalar_real(n->value, v);
}

int64_t tmx_setting_integer(const struct tmx_setting *n)
{
    tmx_assert(n->kind == TMX_SETTING_INTEGER);
    return n->value.integer;
}

bool tmx_setting_bool(const struct tmx_setting *n)
{
    tmx_assert(n->kind == TMX_SETTING_BOOL);
    return n->value.integer != 0;
}

static enum tmx_status wrong_kind(const struct tmx_setting *n, enum tmx_setting_kind want,
                                  struct tmx_err *err)
{
    const char *name = tmx_setting_name(n->name ? n : n->parent); /* an element is called as its list */
    return tmx_fail_setting(err, n, "%s%sexpected %s, found %s", name, *name ? ": " : "", kind_words[want],
                            kind_words[n->kind]);
}

static const char *name_of(const struct tmx_setting *element, const char *key)
{
    const char *text = tmx_setting_text(element);
    return text ? text : tmx_setting_text(tmx_setting_member(element, key));
}

enum tmx_status tmx_setting_unique(const struct tmx_setting *list, const char *key, struct tmx_err *err)
{
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = list->child[i];
        const char *name = name_of(e, key);
        if (name && !*name) {
            return tmx_fail_setting(err, e, "%s: an empty name", tmx_setting_name(list));
        }
        for (size_t k = 0; name && k < i; k++) {
            const char *other = name_of(list->child[k], key);
            if (other && strcmp(name, other) == 0) {
                return tmx_fail_setting(err, e, "%s: \"%.80s\" is given twice (first at line %u)",
                                        tmx_setting_name(list), name, list->child[k]->line);
            }
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_setting_check(const struct tmx_setting *n, enum tmx_setting_kind kind,
                                  struct tmx_err *err)
{
    const bool list = kind == TMX_SETTING_LIST && tmx_setting_is_list(n);
    return !n || n->kind == kind || list ? TMX_OK : wrong_kind(n, kind, err);
}

enum tmx_status tmx_setting_group(const struct tmx_setting *parent, const char *key,
                                  const struct tmx_setting **out, struct tmx_err *err)
{
    *out = tmx_setting_member(parent, key);
    return tmx_setting_check(*out, TMX_SETTING_GROUP, err);
}

enum tmx_status tmx_setting_list(const struct tmx_setting *parent, const char *key, size_t least, size_t most,
                                 const struct tmx_setting **out, struct tmx_err *err)
{
    *out = tmx_setting_member(parent, key);
    const enum tmx_status st = tmx_setting_check(*out, TMX_SETTING_LIST, err);
    const size_t n = tmx_setting_length(*out);
    if (!st && !*out && least > 0) {
        return tmx_fail_setting(err, parent, "missing key \"%s\": a list of %zu to %zu entries", key, least,
                                most);
    }
    if (!st && *out && (n > most || n < least)) {
        return tmx_fail_setting(err, *out ? *out : parent,
                                "%s: expected a list of %zu to %zu entries, found %zu", key, least, most, n);
    }
    return st;
}

enum tmx_status tmx_setting_texts(const struct tmx_setting *parent, const char *key, size_t least,
                                  size_t most, const struct tmx_setting **out, struct tmx_err *err)
{
    enum tmx_status st = tmx_setting_list(parent, key, least, most, out, err);
    for (size_t i = 0; !st && i < tmx_setting_length(*out); i++) {
        const struct tmx_setting *e = tmx_setting_at(*out, i);
        st = tmx_setting_text(e) ? TMX_OK
                                 : tmx_fail_setting(err, e, "%s: entry %zu: expected %s, found %s", key,
                                                    i + 1, kind_words[TMX_SETTING_TEXT], kind_words[e->kind]);
    }
    return st;
}

enum tmx_status tmx_setting_word(const struct tmx_setting *parent, const char *key, const char *fallback,
                                 const char **out, struct tmx_err *err)
{
    const struct tmx_setting *n = tmx_setting_member(parent, key);
    *out = n ? tmx_setting_text(n) : fallback;
    return tmx_setting_check(tmx_setting_member(parent, key), TMX_SETTING_TEXT, err);
}

enum tmx_status tmx_setting_blame(const struct tmx_setting *n, enum tmx_status st, struct tmx_err *err)
{
    return tmx_fail_from(err, st, tmx_setting_file(n), tmx_setting_line(n), tmx_setting_name(n));
}

static bool append(struct tmx_setting *parent, struct tmx_setting *n)
{
    if (parent->n_child == parent->room) {
        const size_t room = parent->room ? 2 * parent->room : 8;
        struct tmx_setting **more = realloc(parent->child, room * sizeof(struct tmx_setting *));
        if (!more) {
            return false;
        }
        parent->child = more;
        parent->room = room;
    }
    parent->child[parent->n_child++] = n;
    n->parent = parent;
    return true;
}

struct tmx_setting *tmx_setting_add(struct tmx_setting *parent, const char *name, enum tmx_setting_kind kind,
                                    const char *file, unsigned line)
{
    struct tmx_setting *n = calloc(1, sizeof *n);
    if (!n) {
        return NULL;
    }
    n->kind = n->value.kind = kind;
    n->file = file;
    n->line = line;
    n->name = name ? tmx_text_dup(name) : NULL;
    if ((name && !n->name) || (parent && !append(parent, n))) {
        tmx_setting_destroy(n);
        return NULL;
    }
    return n;
}

bool tmx_setting_set(struct tmx_setting *n, struct tmx_scalar v)
{
    tmx_assert(v.kind == n->kind);
    if (v.kind == TMX_SETTING_TEXT) {
        v.text = n->text = tmx_text_dup(v.text);
    }
    n->value = v;
    return v.kind != TMX_SETTING_TEXT || v.text;
}

void tmx_setting_place(struct tmx_setting *n, const char *file, unsigned line)
{
    n->file = file;
    n->line = line;
    for (size_t i = 0; i < n->n_child; i++) {
        tmx_setting_place(n->child[i], file, line); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
}

static struct tmx_setting *copy_below(const struct tmx_setting *n, struct tmx_setting *parent)
{
    struct tmx_setting *to = tmx_setting_add(parent, n->name, n->kind, n->file, n->line);
    bool ok = to && (n->kind < TMX_SETTING_INTEGER || tmx_setting_set(to, n->value));
    for (size_t i = 0; ok && i < n->n_child; i++) {
        ok = copy_below(n->child[i], to); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
    if (!ok && !parent) {
        tmx_setting_destroy(to);
    }
    return ok ? to : NULL;
}

struct tmx_setting *tmx_setting_copy(const struct tmx_setting *n)
{
    return copy_below(n, NULL);
}

struct tmx_setting *tmx_setting_detach(struct tmx_setting *group, const char *key)
{
    const size_t i = find(group, key);
    struct tmx_setting *n = i < group->n_child ? group->child[i] : NULL;
    if (n) {
        group->n_child--;
        memmove(&group->child[i], &group->child[i + 1], (group->n_child - i) * sizeof(struct tmx_setting *));
    }
    return n;
}

bool tmx_setting_override(struct tmx_setting *group, struct tmx_setting *node, const char *name)
{
    char *own = tmx_text_dup(name);
    const size_t at = find(group, name);
    const bool there = at < group->n_child;
    if (!own || (!there && !append(group, node))) {
        free(own);
        return false;
    }
    if (there) {
        tmx_setting_destroy(group->child[at]);
        node->parent = group;
        group->child[at] = node;
    }
    free(node->name);
    node->name = own;
    return true;
}

void tmx_setting_destroy(struct tmx_setting *n)
{
    if (!n) {
        return;
    }
    for (size_t i = 0; i < n->n_child; i++) {
        tmx_setting_destroy(n->child[i]); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
    free(n->text);
    free(n->child);
    free(n->name);
    free(n);
}
