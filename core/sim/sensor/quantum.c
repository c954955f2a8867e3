/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings in whole steps. */
#include <math.h>

#include "core/sim/sensor/models.h"

struct quantum {
    double quantum_k;
};

const struct tmx_opt tmx_sensor_quantum_opts[] = {
    TMX_ROW_REAL(quantum, quantum_k, "K", 0, 10, 0, "readings are multiples of this; 0: exact"),
    {0},
};

static void reports(const struct tmx_sensing *s, double *reading_k)
{
    const double quantum_k = ((const struct quantum *)s->options)->quantum_k;
    for (size_t i = 0; i < s->n; i++) {
        reading_k[i] = round(reading_k[i] / quantum_k) * quantum_k;
    }
}

static double above_k(const void *options)
{
    return ((const struct quantum *)options)->quantum_k / 2;
}

const struct tmx_sensor_model tmx_sensor_quantum = {
    .base = {.name = "quantum", .opts = tmx_sensor_quantum_opts, .state_size = sizeof(struct quantum)},
    .reports = reports,
    .above_k = above_k,
    .memory = true,
    .in_every_config = true,
};
