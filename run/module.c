/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <thermix/module.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/os.h"
#include "base/provenance.h"
#include "core/contract/choice.h"
#include "kernels/merge.h"
#include "run/registry.h"

enum { MAX_ROWS = 120, MAX_MODULE = 64 };

struct tmx_catalog_own {    /* of a catalog that grows */
    struct tmx_arena arena; /* of its lists and copies of tables */
    struct tmx_module_file module[MAX_MODULE];
    size_t n_module;
};

/* ---- checks of a table ---- */

static size_t field_size(const struct tmx_opt *o)
{
    switch (o->type) {
    case TMX_OPT_INT:
    case TMX_OPT_CHOICE:
        return sizeof(int);
    case TMX_OPT_REAL:
        return sizeof(double);
    case TMX_OPT_BOOL:
        return sizeof(bool);
    case TMX_OPT_TEXT:
        return o->max >= 1 && o->max <= TMX_STATE_MAX ? (size_t)o->max : SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

static enum tmx_status check_rows(const char *word, const struct tmx_plugin *p, struct tmx_err *err)
{
    size_t n = 0;
    for (const struct tmx_opt *o = p->opts; o && o->key; o++) {
        const size_t size = field_size(o);
        const bool number = o->type == TMX_OPT_INT || o->type == TMX_OPT_REAL;
        if (size > p->state_size || o->offset > p->state_size - size) {
            return tmx_fail(err, TMX_ECONFIG, "%s %s: option %s lies outside its state of %zu bytes", word,
                            p->name, o->key, p->state_size);
        }
        if (!o->doc || !o->unit || (o->type == TMX_OPT_CHOICE && !o->choices) ||
            (number && !isnan(o->def) && !(o->def >= o->min && o->def <= o->max))) {
            return tmx_fail(err, TMX_ECONFIG,
                            "%s %s: option %s lacks its doc, unit or choices, or its default is "
                            "outside its bounds",
                            word, p->name, o->key);
        }
        if (++n > MAX_ROWS) {
            return tmx_fail(err, TMX_ECONFIG, "%s %s: more than %d options, or no {0} at their end", word,
                            p->name, MAX_ROWS);
        }
    }
    return TMX_OK;
}

/* Tables of policies: how long, and where the function is that each must have. */
static const struct {
    size_t size, slot;
    const char *required; /* NULL: none */
} tables[TMX_N_LEVEL] = {
    [TMX_LEVEL_JOB] = {.size = sizeof(struct tmx_job_policy)},
    [TMX_LEVEL_PLACE] = {sizeof(struct tmx_place_policy), offsetof(struct tmx_place_policy, place), "place"},
    [TMX_LEVEL_MIX] = {sizeof(struct tmx_mix_policy), offsetof(struct tmx_mix_policy, decide), "decide"},
    [TMX_LEVEL_DTM] = {.size = sizeof(struct tmx_dtm_policy)},
    [TMX_LEVEL_CTA] = {sizeof(struct tmx_cta_policy), offsetof(struct tmx_cta_policy, launch), "launch"},
    [TMX_LEVEL_TB] = {sizeof(struct tmx_tb_policy), offsetof(struct tmx_tb_policy, order), "order"},
    [TMX_LEVEL_GATE] = {.size = sizeof(struct tmx_gate_policy)},
    [TMX_LEVEL_FAN] = {sizeof(struct tmx_fan_policy), offsetof(struct tmx_fan_policy, speed), "speed"},
    [TMX_LEVEL_ROUTE] = {sizeof(struct tmx_route_policy), offsetof(struct tmx_route_policy, route), "route"},
    [TMX_LEVEL_ROW] = {sizeof(struct tmx_row_policy), offsetof(struct tmx_row_policy, decide), "decide"},
};

static bool is_word(const char *name)
{
    const char *c = name;
    while (c && (isalnum((unsigned char)*c) || *c == '_' || *c == '-')) {
        c++;
    }
    return c && c > name && *c == '\0' && c - name < 64;
}

static enum tmx_status check_policy(const struct tmx_catalog *c, enum tmx_level level,
                                    const struct tmx_plugin *p, struct tmx_err *err)
{
    const char *word = (unsigned)level < TMX_N_LEVEL ? tmx_catalog_word(level) : "policy";
    if ((unsigned)level >= TMX_N_LEVEL || level == TMX_LEVEL_JOB) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "level %d takes no policies from outside", (int)level);
    }
    if (!is_word(p->name) || strcmp(p->name, "policy") == 0) {
        return tmx_fail(err, TMX_ECONFIG, "%s: a name is a word of at most 63 letters, digits, _ and -",
                        word);
    }
    if (!p->doc || !p->source) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: doc or source is missing", word, p->name);
    }
    if (tmx_catalog_find(c, level, p->name)) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: the name is taken", word, p->name);
    }
    if (p->state_size > TMX_STATE_MAX) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: a state of %zu bytes, at most %d", word, p->name,
                        p->state_size, TMX_STATE_MAX);
    }
    if (level == TMX_LEVEL_GATE && p->opts) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: has options; a chip gives them", word, p->name);
    }
    static const unsigned char none[sizeof(void (*)(void))] = {0};
    if (tables[level].required && memcmp((const char *)p + tables[level].slot, none, sizeof none) == 0) {
        return tmx_fail(err, TMX_ECONFIG, "%s %s: the required function %s is missing", word, p->name,
                        tables[level].required);
    }
    return check_rows(word, p, err);
}

/* ---- catalogs ---- */

/* A list with one more: copies of a catalog may have the old one. */
static bool append(struct tmx_catalog *c, size_t kind, const struct tmx_plugin *p)
{
    size_t n = 0;
    while (tmx_catalog_item(c, kind, n)) {
        n++;
    }
    const struct tmx_plugin **list = tmx_arena_take(&c->own->arena, n + 2, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        list[i] = tmx_catalog_item(c, kind, i);
    }
    if (list) {
        list[n] = p;
        c->kind[kind] = list;
    }
    return list != NULL;
}

enum tmx_status tmx_catalog_copy(struct tmx_catalog **copy, const struct tmx_catalog *from,
                                 struct tmx_err *err)
{
    struct tmx_catalog *c = calloc(1, sizeof *c);
    struct tmx_catalog_own *own = calloc(1, sizeof *own);
    *copy = c;
    if (!c || !own) {
        free(c);
        free(own);
        *copy = NULL;
        return tmx_no_memory(err);
    }
    from = from ? from : &tmx_builtin;
    *c = *from;
    c->own = own;
    if (from->own) {
        own->n_module = from->own->n_module;
        memcpy(own->module, from->own->module, sizeof own->module);
    }
    return TMX_OK;
}

enum tmx_status tmx_catalog_create(struct tmx_catalog **c, struct tmx_err *err)
{
    return tmx_catalog_copy(c, NULL, err);
}

void tmx_catalog_destroy(struct tmx_catalog *c)
{
    if (c && c->own) {
        tmx_arena_finish(&c->own->arena);
        free(c->own);
    }
    free(c);
}

const struct tmx_plugin *tmx_catalog_at(const struct tmx_catalog *c, enum tmx_level level, size_t i)
{
    return (unsigned)level < TMX_N_LEVEL ? tmx_catalog_item(c ? c : &tmx_builtin, level, i) : NULL;
}

enum tmx_status tmx_catalog_add(struct tmx_catalog *c, enum tmx_level level, const struct tmx_plugin *policy,
                                struct tmx_err *err)
{
    const enum tmx_status st = check_policy(c, level, policy, err);
    const size_t size = st ? 0 : tables[level].size;
    void *table = st ? NULL : tmx_arena_take(&c->own->arena, 1, size);
    return st ? st : table && append(c, level, memcpy(table, policy, size)) ? TMX_OK : tmx_no_memory(err);
}

const struct tmx_module_file *tmx_catalog_modules(const struct tmx_catalog *c, size_t *n)
{
    *n = c->own ? c->own->n_module : 0;
    return c->own ? c->own->module : NULL;
}

/* ---- modules ---- */

static enum tmx_status another(const char *path, const char *what, uint32_t theirs, size_t ours,
                               struct tmx_err *err)
{
    return tmx_fail_at(err, TMX_EUNSUPPORTED, path, 0,
                       "the module's %s is %lu, this library's %zu: compile it against these headers", what,
                       (unsigned long)theirs, ours);
}

/* Field after field: nothing is read before what stands before it has been found equal. */
static enum tmx_status check_head(const struct tmx_module *m, const char *path, struct tmx_err *err)
{
    static const struct {
        const char *name;
        size_t size;
    } ours[TMX_MODULE_SIZES] = {
#define ROW(s) {"sizeof(struct " #s ")", sizeof(struct s)},
        TMX_MODULE_STRUCTS(ROW)
#undef ROW
    };
    if ((uintptr_t)m % _Alignof(struct tmx_module) != 0) {
        return tmx_fail_at(err, TMX_EUNSUPPORTED, path, 0,
                           "no module: its tmx_module is no struct tmx_module");
    }
    if (m->magic != TMX_MODULE_MAGIC) {
        return another(path, "magic number", m->magic, TMX_MODULE_MAGIC, err);
    }
    if (m->abi != TMX_ABI) {
        return another(path, "ABI number", m->abi, TMX_ABI, err);
    }
    if (m->bytes != sizeof *m) {
        return another(path, "sizeof(struct tmx_module)", m->bytes, sizeof *m, err);
    }
    if (m->n_size != TMX_MODULE_SIZES) {
        return another(path, "number of structs", m->n_size, TMX_MODULE_SIZES, err);
    }
    for (size_t i = 0; i < TMX_MODULE_SIZES; i++) {
        if (m->size[i] != ours[i].size) {
            return another(path, ours[i].name, m->size[i], ours[i].size, err);
        }
    }
    return TMX_OK;
}

/* The hash of its content, which is a whole shared object. */
static void hash_file(struct tmx_module_file *f, struct tmx_err *err)
{
    FILE *in = NULL;
    struct tmx_hash *h = NULL;
    const long long size = tmx_os_file_size(f->path);
    char *data = tmx_input_open(&in, f->path, err) || size <= 0 ? NULL : malloc((size_t)size);
    if (!data || fread(data, 1, (size_t)size, in) != (size_t)size) {
        tmx_error_at(err, TMX_EIO, f->path, 0, "cannot read %lld bytes", size);
    }
    if (!err->code && !tmx_hash_create(&h, err)) {
        tmx_hash_add(h, data, (size_t)size);
        tmx_hash_hex(h, f->hash);
        (void)!tmx_os_module_whole(f->path, data, (size_t)size, err);
        tmx_provenance_note(f->path, NULL, 0); /* no output may replace it; resolved.cfg has its hash */
    }
    tmx_hash_destroy(h);
    free(data);
    if (in) {
        fclose(in);
    }
}

/* Into a copy first: a module is added whole or not at all. */
static void add_all(struct tmx_catalog *c, const struct tmx_module *m, const char *path, struct tmx_err *err)
{
    struct tmx_err why = {0};
    struct tmx_catalog *trial = NULL;
    if (tmx_catalog_copy(&trial, c, err)) {
        return;
    }
    for (int pass = 0; pass < 2; pass++) {
        struct tmx_catalog *into = pass ? c : trial;
        for (size_t l = 0; l < TMX_N_LEVEL; l++) {
            for (size_t i = 0; !why.code && m->level[l] && m->level[l][i]; i++) {
                (void)!tmx_catalog_add(into, (enum tmx_level)l, m->level[l][i], &why);
            }
        }
    }
    tmx_catalog_destroy(trial);
    if (why.code) {
        tmx_error_at(err, why.code, path, 0, "%s", why.msg);
    }
}

static void load(struct tmx_catalog *c, const char *path, const char *want_hash, const struct tmx_setting *at,
                 struct tmx_err *err)
{
    struct tmx_module_file f = {0};
    const void *symbol = NULL;
    void *handle = NULL;
    if (!tmx_os_module_path(path, f.path, sizeof f.path, err)) {
        hash_file(&f, err);
    }
    if (want_hash && strcmp(want_hash, f.hash) != 0) {
        tmx_error_setting(err, at, "module %s is another file: its hash is %s, expected %s", path, f.hash,
                          want_hash);
    }
    for (size_t i = 0; !err->code && i < c->own->n_module; i++) {
        if (strcmp(c->own->module[i].hash, f.hash) == 0) {
            return;
        }
    }
    if (c->own->n_module == MAX_MODULE) {
        tmx_error(err, TMX_ECONFIG, "more than %d modules", MAX_MODULE);
    }
    if (!err->code && !c->loads_nothing && !tmx_os_module_open(f.path, "tmx_module", &handle, &symbol, err) &&
        !check_head(symbol, path, err)) {
        add_all(c, symbol, path, err);
    }
    if (err->code) {
        tmx_os_module_close(handle);
    } else {
        c->own->module[c->own->n_module++] = f;
    }
}

enum tmx_status tmx_catalog_load(struct tmx_catalog *c, const char *path, struct tmx_err *err)
{
    struct tmx_err own = {0};
    load(c, path, NULL, NULL, &own);
    return tmx_error_give(err, &own);
}

void tmx_catalog_load_all(struct tmx_catalog *c, const struct tmx_setting *modules, struct tmx_err *err)
{
    struct row {
        char file[512];
        char hash[TMX_HASH_HEX];
    };
    static const struct tmx_opt opts[] = {
        TMX_ROW_TEXT(row, file, NULL, "shared object"),
        TMX_ROW_TEXT(row, hash, "", "hash of its content; \"\": any"),
        {0},
    };
    for (size_t i = 0; i < tmx_setting_length(modules) && !err->code; i++) {
        const struct tmx_setting *e = tmx_setting_at(modules, i);
        const char *text = tmx_setting_text(e), *from = tmx_setting_file(e);
        const char *slash = from && strncmp(from, "--", 2) != 0 ? strrchr(from, '/') : NULL;
        struct row r = {0};
        char path[1100];
        if (text && strlen(text) < sizeof r.file) {
            snprintf(r.file, sizeof r.file, "%s", text);
        } else if (text) {
            tmx_error_setting(err, e, "modules: a path longer than %zu bytes", sizeof r.file - 1);
        } else {
            (void)!tmx_opt_read(opts, &r, e, NULL, err);
        }
        if (!err->code) {
            snprintf(path, sizeof path, "%.*s%s", r.file[0] != '/' && slash ? (int)(slash + 1 - from) : 0,
                     from ? from : "", r.file);
            load(c, path, r.hash[0] ? r.hash : NULL, e, err);
            (void)tmx_fail_from(err, err->code, from, tmx_setting_line(e), "modules");
        }
    }
}
