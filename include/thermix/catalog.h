/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_CATALOG_H
#define THERMIX_CATALOG_H

/* Which policies there are. A catalog starts with the built-in ones; one serves many runs, in many threads,
 * as long as no thread changes it. */

#include <stddef.h>

#include <thermix/error.h>
#include <thermix/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tmx_catalog;

enum { TMX_STATE_MAX = 1 << 20 }; /* bytes of a policy's state */

/* *c is NULL after a failure (TMX_ENOMEM). */
TMX_API TMX_NODISCARD enum tmx_status tmx_catalog_create(struct tmx_catalog **c, struct tmx_err *err);

/* Add a policy: the head of the level's table, which is checked and copied; what it points to stays the
 * caller's and has to live as long as the catalog. Levels place, mix, dtm, cta, tb, gate, fan, route and row.
 * Errors, after which nothing has changed: TMX_ECONFIG (name taken or no word, a REQUIRED slot missing,
 * option rows that do not fit the state, a state above TMX_STATE_MAX), TMX_EUNSUPPORTED (level job),
 * TMX_ENOMEM. */
TMX_API TMX_NODISCARD enum tmx_status tmx_catalog_add(struct tmx_catalog *c, enum tmx_level level,
                                                      const struct tmx_plugin *policy, struct tmx_err *err);

/* Add all policies of a shared object (module.h). The file is regular and not writable by others; it is
 * loaded for the life of the process, with the floating-point environment as it was. The same content again
 * changes nothing. Errors as above; TMX_EIO; TMX_EUNSUPPORTED with both numbers where magic, ABI or a size is
 * another. */
TMX_API TMX_NODISCARD enum tmx_status tmx_catalog_load(struct tmx_catalog *c, const char *path,
                                                       struct tmx_err *err);

/* The i-th policy of a level; NULL: the end. c NULL: of the built-in ones. */
TMX_API const struct tmx_plugin *tmx_catalog_at(const struct tmx_catalog *c, enum tmx_level level, size_t i);

/* After every run opened with it. NULL: nothing happens. */
TMX_API void tmx_catalog_destroy(struct tmx_catalog *c);

#ifdef __cplusplus
}
#endif
#endif
