/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/power.h"

#include "power/models.h"

const struct tmx_power_ops *const tmx_power_models[] = {&tmx_power_unit, NULL};
const struct tmx_plugin *const tmx_power_heads[] = {&tmx_power_unit.base, NULL};
