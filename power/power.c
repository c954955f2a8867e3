#include "power/power.h"

#include "power/models.h"

const struct tmx_power_ops *const tmx_power_models[] = {&tmx_power_unit, NULL};
