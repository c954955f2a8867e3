/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/choose.h"

#include <string.h>

#include "core/base/config.h"
#include "core/base/plausible.h"
#include "core/base/text.h"
#include "run/presets.h"
#include "run/registry.h"

enum { MAX_KEYS = 128 };

/* "policy" and the keys of opts, NULL-terminated: what a reader of the group leaves to another. */
static void keys_of(const struct tmx_opt *opts, const char *keys[MAX_KEYS])
{
    size_t n = 0;
    keys[n++] = "policy";
    for (const struct tmx_opt *o = opts; o && o->key && n < MAX_KEYS - 1; o++) {
        keys[n++] = o->key;
    }
    keys[n] = NULL;
}

/* A policy that a module has which is not loaded: the level's default takes its place, and a doubt says that
 * the group is not checked. */
static enum tmx_status leave_unread(struct tmx_run *r, size_t place, const char *name, const char *def,
                                    const struct tmx_opt *own, void *obj, struct tmx_err *err)
{
    struct tmx_choice *c = &r->sim_spec.choice[place];
    size_t n;
    const struct tmx_module_file *f = tmx_catalog_modules(r->catalog, &n);
    const char *slash = strrchr(f[0].path, '/');
    c->policy = tmx_catalog_find(r->catalog, c->level, def);
    r->unread[place] = tmx_text_dup(name);
    if (!c->policy || !r->unread[place]) {
        return tmx_no_memory(err);
    }
    tmx_doubt("policy %s of module %s%s is not checked: the module is not loaded", name,
              slash ? slash + 1 : f[0].path, n > 1 ? " or of another" : "");
    const enum tmx_status st = own ? tmx_opt_read(own, obj, NULL, NULL, err) : TMX_OK;
    return st ? st : tmx_plugin_state(c->policy, NULL, NULL, &c->state, err);
}

enum tmx_status tmx_run_choose(struct tmx_run *r, const struct tmx_setting *root, size_t place,
                               const char *def, const struct tmx_opt *own, void *obj, struct tmx_err *err)
{
    struct tmx_choice *c = &r->sim_spec.choice[place];
    const struct tmx_setting *group;
    const char *keys[MAX_KEYS], *name = NULL;
    enum tmx_status st = tmx_setting_group(root, tmx_choice_keys[place], &group, err);
    st = st ? st : tmx_setting_word(group, "policy", def, &name, err);
    if (st) {
        return st;
    }
    const struct tmx_setting *s = tmx_setting_member(group, "policy");
    c->level = tmx_choice_level(place);
    if (r->catalog->loads_nothing && r->own_catalog && !tmx_catalog_find(r->catalog, c->level, name)) {
        return leave_unread(r, place, name, def, own, obj, err);
    }
    st = tmx_catalog_get(r->catalog, c->level, name, &c->policy, s ? s : root, err);
    if (!st && own) {
        keys_of(c->policy->opts, keys);
        st = tmx_opt_read(own, obj, group, keys, err);
    }
    keys_of(own, keys);
    return st ? st : tmx_plugin_state(c->policy, group, keys, &c->state, err);
}

enum tmx_status tmx_run_choose_all(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_preset *p = tmx_preset_find(r->options.policy);
    if (!p) {
        const struct tmx_setting *s = tmx_setting_member(root, "policy");
        return tmx_fail_setting(err, s ? s : root,
                                "policy = \"%s\": no such preset; see `thermix list policies`",
                                r->options.policy);
    }
    const struct {
        size_t place;
        const char *def;
    } rows[] = {{TMX_LEVEL_PLACE, p->place}, {TMX_LEVEL_MIX, p->mix}, {TMX_LEVEL_DTM, p->dtm},
                {TMX_SAFETY, NULL},          {TMX_LEVEL_TB, p->tb},   {TMX_LEVEL_FAN, "fixed"}};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !st; i++) {
        const struct tmx_choice *dtm = &r->sim_spec.choice[TMX_LEVEL_DTM];
        const char *safety = tmx_dtm_of(dtm) && tmx_dtm_of(dtm)->caps ? "none" : "throttle"; /* has limits */
        const char *def = rows[i].def ? rows[i].def : safety;
        st = tmx_run_choose(r, root, rows[i].place, def, NULL, NULL, err);
    }
    return st;
}

void tmx_run_choice_write(const struct tmx_run *r, size_t place, const struct tmx_opt *own, const void *obj,
                          void (*more)(const struct tmx_run *, FILE *), enum tmx_resolved what, FILE *out)
{
    const struct tmx_choice *c = &r->sim_spec.choice[place];
    void (*const write)(const struct tmx_opt *, const void *, const char *, FILE *) =
        what == TMX_RESOLVED_KEYS ? tmx_opt_write_keys : tmx_opt_write;
    if (!c->policy) {
        return;
    }
    if (r->unread[place]) {
        fprintf(out, "%s = { policy = \"%s\"; }; # not checked\n", tmx_choice_keys[place], r->unread[place]);
        return;
    }
    fprintf(out, "%s = {\n    policy = \"%s\";\n", tmx_choice_keys[place], c->policy->name);
    if (own) {
        write(own, obj, "    ", out);
    }
    if (c->policy->opts) {
        write(c->policy->opts, c->state, "    ", out);
    }
    if (more) {
        more(r, out);
    }
    fprintf(out, "};\n");
}
