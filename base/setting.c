/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/setting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

struct tmx_setting {
    const char *name; /* NULL: of none */
    struct tmx_setting *parent;
    struct tmx_arena *arena; /* of the whole tree */
    enum tmx_setting_kind kind;
    const char *file;
    unsigned line;
    struct tmx_setting **child; /* [n_child] */
    size_t n_child;
    struct tmx_scalar value; /* of a scalar */
};

struct tree {
    struct tmx_setting root; /* first: whose address is the tree's */
    struct tmx_arena arena;
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

/* As far along the path as there is something; *path is what is left of it. */
static const struct tmx_setting *walk(const struct tmx_setting *n, const char **path)
{
    while (n && **path) {
        const size_t length = strcspn(*path, ".");
        const struct tmx_setting *member = NULL;
        for (size_t i = 0; i < n->n_child && n->kind == TMX_SETTING_GROUP; i++) {
            const char *name = n->child[i]->name;
            member = strncmp(name, *path, length) == 0 && !name[length] ? n->child[i] : member;
        }
        if (!member) {
            return n;
        }
        n = member;
        *path += length + ((*path)[length] == '.');
    }
    return n;
}

const struct tmx_setting *tmx_setting_find(const struct tmx_setting *n, const char *path)
{
    const struct tmx_setting *last = walk(n, &path);
    return *path ? NULL : last;
}

const struct tmx_setting *tmx_setting_nearest(const struct tmx_setting *n, const char *path)
{
    return walk(n, &path);
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

static const char *name_of(const struct tmx_setting *element, const char *key)
{
    const char *text = tmx_setting_text(element);
    return text ? text : tmx_setting_text(tmx_setting_member(element, key));
}

void tmx_setting_unique(const struct tmx_setting *list, const char *key, struct tmx_err *err)
{
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        const struct tmx_setting *e = list->child[i];
        const char *name = name_of(e, key);
        if (name && !*name) {
            tmx_error_setting(err, e, "%s: an empty name", tmx_setting_name(list));
        }
        for (size_t k = 0; name && k < i; k++) {
            const char *other = name_of(list->child[k], key);
            if (other && strcmp(name, other) == 0) {
                tmx_error_setting(err, e, "%s: \"%.80s\" is given twice (first at line %u)",
                                  tmx_setting_name(list), name, list->child[k]->line);
            }
        }
    }
}

void tmx_setting_check(const struct tmx_setting *n, enum tmx_setting_kind kind, struct tmx_err *err)
{
    if (n && n->kind != kind && !(kind == TMX_SETTING_LIST && tmx_setting_is_list(n))) {
        const char *name = tmx_setting_name(n->name ? n : n->parent); /* an element is called as its list */
        tmx_error_setting(err, n, "%s%sexpected %s, found %s", name, *name ? ": " : "", kind_words[kind],
                          kind_words[n->kind]);
    }
}

const struct tmx_setting *tmx_setting_group(const struct tmx_setting *parent, const char *key,
                                            struct tmx_err *err)
{
    const struct tmx_setting *group = tmx_setting_member(parent, key);
    tmx_setting_check(group, TMX_SETTING_GROUP, err);
    return err->code ? NULL : group;
}

const struct tmx_setting *tmx_setting_list(const struct tmx_setting *parent, const char *key, size_t least,
                                           size_t most, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(parent, key);
    const size_t n = tmx_setting_length(list);
    tmx_setting_check(list, TMX_SETTING_LIST, err);
    if (!list && least > 0) {
        tmx_error_setting(err, parent, "missing key \"%s\": a list of %zu to %zu entries", key, least, most);
    } else if (list && (n > most || n < least)) {
        tmx_error_setting(err, list, "%s: expected a list of %zu to %zu entries, found %zu", key, least, most,
                          n);
    }
    return err->code ? NULL : list;
}

const struct tmx_setting *tmx_setting_texts(const struct tmx_setting *parent, const char *key, size_t least,
                                            size_t most, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_list(parent, key, least, most, err);
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = list->child[i];
        if (!tmx_setting_text(e)) {
            tmx_error_setting(err, e, "%s: entry %zu: expected %s, found %s", key, i + 1,
                              kind_words[TMX_SETTING_TEXT], kind_words[e->kind]);
        }
    }
    return err->code ? NULL : list;
}

const char *tmx_setting_word(const struct tmx_setting *parent, const char *key, const char *fallback,
                             struct tmx_err *err)
{
    const struct tmx_setting *n = tmx_setting_member(parent, key);
    tmx_setting_check(n, TMX_SETTING_TEXT, err);
    return n && !err->code ? tmx_setting_text(n) : fallback;
}

enum tmx_status tmx_setting_locate(const struct tmx_setting *n, enum tmx_status st, struct tmx_err *err)
{
    return tmx_fail_from(err, st, tmx_setting_file(n), tmx_setting_line(n), tmx_setting_name(n));
}

struct tmx_setting *tmx_setting_add(struct tmx_setting *parent, const char *name, enum tmx_setting_kind kind,
                                    const char *file, unsigned line)
{
    struct tree *tree = parent ? NULL : calloc(1, sizeof *tree);
    struct tmx_arena *a = parent ? parent->arena : tree ? &tree->arena : NULL;
    struct tmx_setting *n = tree ? &tree->root : parent ? tmx_arena_take(a, 1, sizeof *n) : NULL;
    if (!n) {
        return NULL;
    }
    *n = (struct tmx_setting){.name = name ? tmx_arena_text(a, name) : NULL,
                              .parent = parent,
                              .arena = a,
                              .kind = kind,
                              .file = file,
                              .line = line,
                              .value = {.kind = kind}};
    if (parent && TMX_GROW(a, parent->child, parent->n_child)) {
        parent->child[parent->n_child++] = n;
    }
    return a->failed ? NULL : n;
}

const char *tmx_setting_keep(struct tmx_setting *n, const char *text)
{
    return tmx_arena_text(n->arena, text);
}

void tmx_setting_place(struct tmx_setting *n, const char *file, unsigned line)
{
    n->file = file;
    n->line = line;
}

bool tmx_setting_set(struct tmx_setting *n, struct tmx_scalar v)
{
    tmx_assert(v.kind == n->kind);
    n->value = v;
    if (v.kind == TMX_SETTING_TEXT) {
        n->value.text = tmx_arena_text(n->arena, v.text);
    }
    return !n->arena->failed;
}

struct tmx_setting *tmx_setting_copy(struct tmx_setting *parent, const char *name,
                                     const struct tmx_setting *from, const char *file, unsigned line)
{
    struct tmx_setting *to = tmx_setting_add(parent, name, from->kind, file, line);
    bool ok = to && (from->kind < TMX_SETTING_INTEGER || tmx_setting_set(to, from->value));
    for (size_t i = 0; ok && i < from->n_child; i++) {
        ok = tmx_setting_copy(to, from->child[i]->name, from->child[i], file,
                              line); /* NOLINT(misc-no-recursion): TMX_CONFIG_DEPTH at most */
    }
    return ok ? to : NULL;
}

bool tmx_setting_override(struct tmx_setting *group, const char *name, const struct tmx_setting *from,
                          const char *file, unsigned line)
{
    const size_t at = find(group, name), n = group->n_child;
    struct tmx_setting *to = tmx_setting_copy(group, name, from, file, line);
    if (to && at < n) {
        group->child[at] = to;
        group->n_child = n;
    }
    return to;
}

void tmx_setting_destroy(struct tmx_setting *n)
{
    if (n) {
        tmx_arena_finish(n->arena);
        free(n);
    }
}
