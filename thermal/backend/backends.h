/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_BACKEND_BACKENDS_H
#define TMX_THERMAL_BACKEND_BACKENDS_H

#include "core/contract/thermal_model.h"

/* Private to thermal/: one line for each back-end, listed in thermal.c. */
extern const struct tmx_thermal_ops tmx_thermal_reduced;
extern const struct tmx_thermal_ops tmx_thermal_grid;
extern const struct tmx_thermal_ops tmx_thermal_lumped;
extern const struct tmx_thermal_ops tmx_thermal_replay;
extern const struct tmx_thermal_ops tmx_thermal_hotspot; /* where the system has libhotspot */

#endif
