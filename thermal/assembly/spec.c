/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/assembly/spec.h"

size_t tmx_thermal_spec_units(const struct tmx_thermal_spec *spec)
{
    size_t n = 0;
    for (size_t l = 0; l < spec->n_layer; l++) {
        n += spec->layer[l].dissipates ? spec->layer[l].floorplan->n_unit : 0;
    }
    return n;
}

/* The largest layer, or the first that fills its plane. */
static const struct tmx_floorplan *plane(const struct tmx_thermal_spec *spec,
                                         double (*side)(const struct tmx_floorplan *))
{
    const struct tmx_floorplan *found = spec->layer[0].floorplan;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_floorplan *fp = spec->layer[l].floorplan;
        if (spec->layer[l].filler_k_w_per_mk == 0) {
            return fp;
        }
        found = side(fp) > side(found) ? fp : found;
    }
    return found;
}

double tmx_thermal_spec_width_m(const struct tmx_thermal_spec *spec)
{
    return tmx_floorplan_width_m(plane(spec, tmx_floorplan_width_m));
}

double tmx_thermal_spec_height_m(const struct tmx_thermal_spec *spec)
{
    return tmx_floorplan_height_m(plane(spec, tmx_floorplan_height_m));
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
