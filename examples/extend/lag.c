/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/sim/sensor/lag.c: an element that follows the silicon with a time constant: dr/dt = (T - r) / lag_s.
 */
#include <math.h>

#include "core/sim/sensor/models.h"

struct lag {
    double lag_s;
};

const struct tmx_opt tmx_sensor_lag_opts[] = {
    TMX_ROW_REAL(lag, lag_s, "s", 0, 10, 0, "a reading follows the temperature with this time constant"),
    {0},
};

static size_t keeps(const void *options, double period_s)
{
    (void)options, (void)period_s;
    return 1; /* the last reading */
}

static void measures(const struct tmx_sensing *s, double *reading_k)
{
    const struct lag *l = s->options;
    const double gain = 1 - exp(-s->period_s / l->lag_s);
    for (size_t i = 0; i < s->n; i++) {
        reading_k[i] = s->sample == 0 ? reading_k[i] : s->kept[i] + gain * (reading_k[i] - s->kept[i]);
        s->kept[i] = reading_k[i];
    }
}

const struct tmx_sensor_model tmx_sensor_lag = {
    .base = {.name = "lag", .opts = tmx_sensor_lag_opts, .state_size = sizeof(struct lag)},
    .measures = measures,
    .keeps = keeps,
};
