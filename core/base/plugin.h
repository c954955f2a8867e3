/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_PLUGIN_H
#define TMX_CORE_BASE_PLUGIN_H

#include <thermix/policy.h>

#include "core/base/opt.h"

/* Allocate a zeroed state and read its options from group (NULL: all defaults).
 * Keys in also are left to the caller. The caller frees *state with free().
 * Returns TMX_OK, TMX_ENOMEM or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                               const char *const *also, void **state, struct tmx_err *err);

#endif
