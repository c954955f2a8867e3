#include "thermal/thermal.h"

#include <string.h>

#include "thermal/backend/backends.h"

const struct tmx_thermal_ops *const tmx_thermal_backends[] = {
    &tmx_thermal_reduced,
    &tmx_thermal_grid,
    &tmx_thermal_lumped,
    &tmx_thermal_replay,
#ifdef TMX_HOTSPOT
    &tmx_thermal_hotspot,
#endif
    NULL,
};

const struct tmx_thermal_ops *tmx_thermal_find(const char *name)
{
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        if (strcmp(tmx_thermal_backends[i]->base.name, name) == 0) {
            return tmx_thermal_backends[i];
        }
    }
    return NULL;
}
