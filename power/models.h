/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_MODELS_H
#define TMX_POWER_MODELS_H

/* Private to power/: one line per model, each defined in the file of its name. */

#include "core/contract/power_model.h"

extern const struct tmx_power_ops tmx_power_unit;

#endif
