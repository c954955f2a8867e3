/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/falling.h"

#include <math.h>

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

double tmx_falling_between(const struct tmx_thermal_spec *spec, const double *now, const double *begin,
                           const double *end, double *want)
{
    double most = 0;
    for (size_t c = 0; c < spec->n_layer * spec->rows * spec->cols; c++) {
        want[c] = 0.5 * (begin[c] + end[c]);
        most = fmax(most, fabs(now[c] / want[c] - 1));
    }
    return most;
}
