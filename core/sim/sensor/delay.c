/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of some samples ago; at first the oldest there is. */
#include <math.h>
#include <string.h>

#include "core/sim/sensor/models.h"

const struct tmx_opt tmx_sensor_delay_opts[] = {
    TMX_ROW_REAL(tmx_sensor_delay, delay_s, "s", 0, 10, 0, "age of a reading"),
    {0},
};

static size_t keeps(const void *options, double period_s)
{
    return (size_t)round(((const struct tmx_sensor_delay *)options)->delay_s / period_s) + 1;
}

static void reports(const struct tmx_sensing *s, double *reading_k)
{
    const uint64_t most = s->n_kept - 1, back = s->sample < most ? s->sample : most;
    memcpy(s->kept + s->sample % s->n_kept * s->n, reading_k, s->n * sizeof *reading_k);
    memcpy(reading_k, s->kept + (s->sample - back) % s->n_kept * s->n, s->n * sizeof *reading_k);
}

const struct tmx_sensor_model tmx_sensor_delay = {
    .base = {.name = "delay", .opts = tmx_sensor_delay_opts, .state_size = sizeof(struct tmx_sensor_delay)},
    .reports = reports,
    .keeps = keeps,
    .in_every_config = true,
};
