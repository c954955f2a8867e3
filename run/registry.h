/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_REGISTRY_H
#define TMX_RUN_REGISTRY_H

/* What is built in, of every level and kind. registry.c is the one file that lists thermal, power and sched
 * together. */

#include "core/contract/catalog.h"

extern const struct tmx_catalog tmx_builtin;

#endif
