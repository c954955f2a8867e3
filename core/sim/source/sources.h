/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SOURCE_SOURCES_H
#define TMX_CORE_SIM_SOURCE_SOURCES_H

/* One line a source, defined in core/sim/source/ as tmx_source_NAME: X(Y, name), whose group of the
 * configuration another file of run/ reads, or G(Y, name), whose group has the rows tmx_source_NAME_opts
 * alone. */

#include "core/contract/source.h"

#define TMX_SOURCE_LIST(X, G, Y) \
    X(Y, mix)                    \
    X(Y, job)                    \
    X(Y, sync_job)               \
    X(Y, serve)

#define TMX_DECLARE_SOURCE(Y, name) extern const struct tmx_source tmx_source_##name;
#define TMX_DECLARE_SOURCE_ROWS(Y, name)              \
    extern const struct tmx_source tmx_source_##name; \
    extern const struct tmx_opt tmx_source_##name##_opts[];
TMX_SOURCE_LIST(TMX_DECLARE_SOURCE, TMX_DECLARE_SOURCE_ROWS, )

/* Those groups, X(group, policies, rows). */
#define TMX_SOURCE_NO_ROWS(X, name)
#define TMX_SOURCE_ROWS_OF(X, name) X(name, NULL, tmx_source_##name##_opts)
#define TMX_SOURCE_ROWS(X)          TMX_SOURCE_LIST(TMX_SOURCE_NO_ROWS, TMX_SOURCE_ROWS_OF, X)

/* mix.c: jobs that have arrived get their GPUs from the place policy. TMX_ESOLVE: its answer cannot be. */
TMX_NODISCARD enum tmx_status tmx_source_place(const struct tmx_source_view *v, struct tmx_err *err);
/* Placed jobs may get more. */
TMX_NODISCARD enum tmx_status tmx_source_widen(const struct tmx_source_view *v, struct tmx_err *err);

#endif
