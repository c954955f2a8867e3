/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_CATALOG_H
#define TMX_CORE_CONTRACT_CATALOG_H

/* Which policies, thermal back-ends and power models there are, by level and name. run/registry.c fills one
 * with what is built in. */

#include <thermix/policy.h>

#include "core/base/plugin.h"

/* What is looked up like a policy without being one. */
enum { TMX_KIND_BACKEND = TMX_N_LEVEL, TMX_KIND_POWER, TMX_N_KIND };

struct tmx_catalog {
    const struct tmx_plugin *const
        *kind[TMX_N_KIND];       /* NULL-terminated lists by level or kind; NULL: empty */
    struct tmx_catalog_own *own; /* of one that grows (run/module.c); NULL: constant */
    bool loads_nothing;          /* modules are looked at and not loaded (thermix check) */
};

/* The word for one of a kind in messages: "place policy", "thermal back-end". */
const char *tmx_catalog_word(size_t kind);

/* The i-th of a kind; NULL after the last. */
const struct tmx_plugin *tmx_catalog_item(const struct tmx_catalog *c, size_t kind, size_t i);

/* By its exact name; NULL when there is none. */
const struct tmx_plugin *tmx_catalog_find(const struct tmx_catalog *c, size_t kind, const char *name);

/* The same for a name written at a setting (NULL: elsewhere). The message names the nearest one, or all.
 * TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_catalog_get(const struct tmx_catalog *c, size_t kind, const char *name,
                                              const struct tmx_plugin **p, const struct tmx_setting *at,
                                              struct tmx_err *err);

#endif
