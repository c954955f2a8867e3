/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/assembly/spec.h"

#include <math.h>

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

double tmx_thermal_spec_flow(const struct tmx_thermal_spec *spec, size_t level)
{
    tmx_assert(level < tmx_thermal_spec_levels(spec));
    return spec->flow_levels ? spec->flow_levels[level] : 1;
}

bool tmx_channels_fit(const struct tmx_channels *c, double width_m)
{
    const bool edges = c->kind == TMX_CHANNELS_RESOLVED;
    return c->width_m + (edges ? c->first_m + c->last_m : 0) <= width_m && tmx_channels_count(c, width_m) > 0;
}

size_t tmx_channels_count(const struct tmx_channels *c, double width_m)
{
    if (c->kind == TMX_CHANNELS_RESOLVED) {
        return (size_t)floor((width_m - c->first_m - c->last_m + c->wall_m) / (c->width_m + c->wall_m) + 0.5);
    }
    return (size_t)floor(width_m / (c->width_m + c->wall_m) + 0.5);
}

/* Friction factor times Reynolds number of a rectangular duct. Source: R. K. Shah, A. L. London, "Laminar
 * flow forced convection in ducts", 1978, eq. 341; alpha is the short side of the long one. */
double tmx_channels_pump_w(const struct tmx_channels *c, double width_m, double length_m, double height_m)
{
    if (c->viscosity_pa_s <= 0 || c->kind == TMX_CHANNELS_PINS_INLINE ||
        c->kind == TMX_CHANNELS_PINS_STAGGERED) {
        return NAN;
    }
    const double a = fmin(c->width_m, height_m) / fmax(c->width_m, height_m);
    const double f_re = 24 * (1 - a * (1.3553 - a * (1.9467 - a * (1.7012 - a * (0.9564 - a * 0.2537)))));
    const double area = c->width_m * height_m, hydraulic_m = 2 * area / (c->width_m + height_m);
    const double velocity = c->flow_m3_per_s / ((double)tmx_channels_count(c, width_m) * area);
    const double drop_pa = 2 * f_re * c->viscosity_pa_s * velocity * length_m / (hydraulic_m * hydraulic_m);
    return drop_pa * c->flow_m3_per_s;
}

const double tmx_falling_most = 0.002;

bool tmx_falling(const struct tmx_thermal_spec *spec)
{
    bool any = false;
    for (size_t l = 0; l < spec->n_layer; l++) {
        any = any || spec->layer[l].falls > 0;
    }
    return any;
}

void tmx_falling_part(const struct tmx_thermal_spec *spec, const double *node_k, double *part)
{
    const size_t n_cell = spec->rows * spec->cols;
    for (size_t l = 0; l < spec->n_layer; l++) {
        const struct tmx_layer *layer = &spec->layer[l];
        for (size_t c = l * n_cell; c < (l + 1) * n_cell; c++) {
            part[c] = layer->falls > 0 ? pow(node_k[c] / layer->falls_from_k, -layer->falls) : 1;
        }
    }
}
