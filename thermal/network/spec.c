/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/network/spec.h"

size_t tmx_thermal_spec_units(const struct tmx_thermal_spec *spec)
{
    size_t n = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        n += spec->layer[l].dissipates ? spec->layer[l].floorplan->n_unit : 0;
    }
    return n;
}

size_t tmx_thermal_spec_levels(const struct tmx_thermal_spec *spec)
{
    return spec->n_level ? spec->n_level : 1;
}

double tmx_thermal_spec_r_convec(const struct tmx_thermal_spec *spec, size_t level)
{
    tmx_assert(level < tmx_thermal_spec_levels(spec));
    return spec->n_level ? spec->r_convec_levels[level] : spec->package.r_convec_k_per_w;
}
