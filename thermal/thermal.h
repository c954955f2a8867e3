/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_THERMAL_H
#define TMX_THERMAL_THERMAL_H

#include "thermal/network/spec.h"

/* Every thermal back-end, NULL-terminated; the first is the default. */
extern const struct tmx_thermal_ops *const tmx_thermal_backends[];
extern const struct tmx_plugin *const tmx_thermal_heads[]; /* the same by their heads */

/* The back-end of this exact name; NULL when there is none. */
const struct tmx_thermal_ops *tmx_thermal_find(const char *name);

#endif
