#ifndef TMX_POWER_POWER_H
#define TMX_POWER_POWER_H

#include "core/contract/power_model.h"

extern const struct tmx_power_ops *const tmx_power_models[]; /* NULL-terminated */

#endif
