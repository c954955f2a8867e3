/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_REGISTRY_H
#define TMX_RUN_REGISTRY_H

/* What is built in, of every level and kind. registry.c is the one file that lists thermal, power and sched
 * together. */

#include <thermix/catalog.h>

#include "base/provenance.h"
#include "base/setting.h"
#include "base/table.h"
#include "core/contract/choice.h"

extern const struct tmx_catalog tmx_builtin;
/* The same for a check: what is made of it loads no module. A policy that may be a module's is not checked,
 * which a warning (base/plausible.h) says. */
extern const struct tmx_catalog tmx_builtin_check;

/* What there is to choose from: runs, suites, ..., policies, metrics; NULL-terminated. */
extern const char *const tmx_choices[];
/* One of them as a table: name, doc and source (with the level, for policies and back-ends). The caller
 * destroys it, after an error too; errors stay (base/err.h). A file that cannot be read is listed without its
 * words. */
struct tmx_table *tmx_choices_table(const struct tmx_catalog *c, const char *what, struct tmx_err *err);
/* The keys of policies or back-ends, the files of chips, for people; of anything else nothing. */
void tmx_choices_keys(const struct tmx_catalog *c, const char *what, FILE *out);

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

/* `modules = ("a.so", { file = "b.so"; hash = "..."; });` paths are relative to the folder of the file that
 * names them. A hash that is not the file's is TMX_ECONFIG with the line. Errors stay (base/err.h). */
void tmx_catalog_load_all(struct tmx_catalog *c, const struct tmx_setting *modules, struct tmx_err *err);

#endif
