/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_POWER_H
#define TMX_POWER_POWER_H

#include "core/contract/power_model.h"

/* Every power model, by table and by head; the first is the default. */
extern const struct tmx_power_ops *const tmx_power_models[]; /* NULL-terminated */
extern const struct tmx_plugin *const tmx_power_heads[];

#endif
