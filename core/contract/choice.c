/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *const tmx_choice_keys[TMX_N_CHOICE] = {
    [TMX_LEVEL_JOB] = "job",   [TMX_LEVEL_PLACE] = "place", [TMX_LEVEL_MIX] = "mix_policy",
    [TMX_LEVEL_DTM] = "dtm",   [TMX_LEVEL_CTA] = "cta",     [TMX_LEVEL_TB] = "tb",
    [TMX_LEVEL_GATE] = "gate", [TMX_LEVEL_FAN] = "fan",     [TMX_LEVEL_ROUTE] = "route",
    [TMX_LEVEL_ROW] = "row",   [TMX_SAFETY] = "throttle",
};

enum tmx_level tmx_choice_level(size_t place)
{
    return place == TMX_SAFETY ? TMX_LEVEL_DTM : (enum tmx_level)place;
}

void tmx_choices_finish(struct tmx_choice *choice)
{
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        free(choice[i].state);
        choice[i] = (struct tmx_choice){0};
    }
}

enum { MAX_NAMES = 256 }; /* in a message */

const char *tmx_catalog_word(size_t kind)
{
    static const char *const words[TMX_N_KIND] = {
        [TMX_LEVEL_JOB] = "job policy",          [TMX_LEVEL_PLACE] = "place policy",
        [TMX_LEVEL_MIX] = "mix policy",          [TMX_LEVEL_DTM] = "dtm policy",
        [TMX_LEVEL_CTA] = "CTA policy",          [TMX_LEVEL_TB] = "thread-block policy",
        [TMX_LEVEL_GATE] = "gating policy",      [TMX_LEVEL_FAN] = "fan policy",
        [TMX_LEVEL_ROUTE] = "route policy",      [TMX_LEVEL_ROW] = "row policy",
        [TMX_KIND_BACKEND] = "thermal back-end", [TMX_KIND_POWER] = "power model",
    };
    return words[kind];
}

const struct tmx_plugin *tmx_catalog_item(const struct tmx_catalog *c, size_t kind, size_t i)
{
    const struct tmx_plugin *const *list = c->kind[kind];
    for (size_t k = 0; list && list[k]; k++) {
        if (k == i) {
            return list[k];
        }
    }
    return NULL;
}

const struct tmx_plugin *tmx_catalog_find(const struct tmx_catalog *c, size_t kind, const char *name)
{
    const struct tmx_plugin *const *p = c->kind[kind];
    while (p && *p && strcmp((*p)->name, name) != 0) {
        p++;
    }
    return p ? *p : NULL;
}

enum tmx_status tmx_catalog_get(const struct tmx_catalog *c, size_t kind, const char *name,
                                const struct tmx_plugin **p, const struct tmx_setting *at,
                                struct tmx_err *err)
{
    const char *names[MAX_NAMES];
    char hint[TMX_HINT_SIZE];
    size_t n = 0;
    *p = tmx_catalog_find(c, kind, name);
    if (*p) {
        return TMX_OK;
    }
    for (; n < MAX_NAMES && tmx_catalog_item(c, kind, n); n++) {
        names[n] = tmx_catalog_item(c, kind, n)->name;
    }
    return tmx_fail_setting(err, at, "unknown %s \"%.60s\"%s", tmx_catalog_word(kind), name,
                            tmx_suggest(hint, name, names, n));
}
