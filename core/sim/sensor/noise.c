/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normal errors, of one stream: GPUs and their SMs draw in their order. */
#include "core/sim/sensor/models.h"

struct noise {
    double noise_k;
};

const struct tmx_opt tmx_sensor_noise_opts[] = {
    TMX_ROW_REAL(noise, noise_k, "K", 0, 20, 0, "standard deviation of a reading"),
    {0},
};

static void measures(const struct tmx_sensing *s, double *reading_k)
{
    for (size_t i = 0; i < s->n; i++) {
        reading_k[i] += tmx_rng_normal(s->random, ((const struct noise *)s->options)->noise_k);
    }
}

const struct tmx_sensor_model tmx_sensor_noise = {
    .base = {.name = "noise", .opts = tmx_sensor_noise_opts, .state_size = sizeof(struct noise)},
    .measures = measures,
    .stream = "sensor",
    .in_every_config = true,
};
