/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_REGISTRY_H
#define TMX_RUN_REGISTRY_H

/* What is built in, of every level and kind. registry.c is the one file that lists thermal, power and sched
 * together. */

#include <thermix/catalog.h>

#include "core/base/hash.h"
#include "core/base/setting.h"
#include "core/contract/catalog.h"

extern const struct tmx_catalog tmx_builtin;

/* Catalogs that grow (module.c), and what they have loaded. The public part is <thermix/catalog.h>. */

struct tmx_module_file {
    char path[512];          /* absolute */
    char hash[TMX_HASH_HEX]; /* of the content */
};

/* A copy of c (NULL: of what is built in), to grow on its own. */
TMX_NODISCARD enum tmx_status tmx_catalog_copy(struct tmx_catalog **copy, const struct tmx_catalog *c,
                                               struct tmx_err *err);

/* The modules loaded into c; *n is 0 for what is built in. */
const struct tmx_module_file *tmx_catalog_modules(const struct tmx_catalog *c, size_t *n);

/* `modules = ("a.so", { file = "b.so"; hash = "..."; });` paths are relative to the folder of the file they
 * stand in. A hash that is not the file's is TMX_ECONFIG with the line. */
TMX_NODISCARD enum tmx_status tmx_catalog_load_all(struct tmx_catalog *c, const struct tmx_setting *modules,
                                                   struct tmx_err *err);

#endif
