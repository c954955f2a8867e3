/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_BACKEND_BACKENDS_H
#define TMX_THERMAL_BACKEND_BACKENDS_H

/* One line a back-end, X(name), defined in thermal/backend/ as tmx_thermal_NAME. From this list come the
 * declarations below and the tables of thermal.c. The first is the default. */

#include "core/contract/thermal_model.h"

#ifdef TMX_HOTSPOT
#define TMX_THERMAL_LIST_HOTSPOT(X) X(hotspot) /* where the system has libhotspot */
#else
#define TMX_THERMAL_LIST_HOTSPOT(X)
#endif

#define TMX_THERMAL_LIST(X) \
    X(reduced)              \
    X(grid)                 \
    X(lumped)               \
    TMX_THERMAL_LIST_HOTSPOT(X)

#define TMX_DECLARE_THERMAL(name) extern const struct tmx_thermal_ops tmx_thermal_##name;
TMX_THERMAL_LIST(TMX_DECLARE_THERMAL)

#endif
