/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/thermal.h"

#include <string.h>

#include "thermal/backend/backends.h"

/* One line for each, the first is the default; X(name) is tmx_thermal_NAME in the file of its name. */
#define COMMON(X) X(reduced) X(grid) X(lumped) X(replay)
#ifdef TMX_HOTSPOT
#define LIST(X) COMMON(X) X(hotspot)
#else
#define LIST(X) COMMON(X)
#endif
#define TABLE(name) &tmx_thermal_##name,
#define HEAD(name)  &tmx_thermal_##name.base,

const struct tmx_thermal_ops *const tmx_thermal_backends[] = {LIST(TABLE) NULL};
const struct tmx_plugin *const tmx_thermal_heads[] = {LIST(HEAD) NULL};

const struct tmx_thermal_ops *tmx_thermal_find(const char *name)
{
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        if (strcmp(tmx_thermal_backends[i]->base.name, name) == 0) {
            return tmx_thermal_backends[i];
        }
    }
    return NULL;
}
