/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_SENSOR_MODELS_H
#define TMX_CORE_SIM_SENSOR_MODELS_H

/* What lies between the temperature of an SM and what policies read of it: models, one after another.
 *
 *      units' temperatures -> mean of the SM -> measures of all models -> reports of all models -> reading
 *
 * `measures` is what the element in the silicon gets wrong: noise, offsets, lags. `reports` is what becomes
 * of that on its way: rounding, age. A model acts where one of its options is not its default. */

#include "base/opt.h"
#include "base/rng.h"

struct tmx_sensing { /* n readings: of the SMs of a GPU, or of its memory */
    const void *options;
    size_t n;
    uint64_t sample; /* 0 is the first of the run */
    double period_s; /* between samples */
    double *kept;    /* [n_kept * n] from sample to sample, zeros before the first; of SMs alone */
    size_t n_kept;
    struct tmx_rng *random;
};

struct tmx_sensor_model {
    struct tmx_plugin base; /* rows of the group `sensor`; state_size is that of their struct */
    /* Each may be NULL. No allocation; the readings [n, K] are changed in place. */
    void (*measures)(const struct tmx_sensing *s, double *reading_k);
    void (*reports)(const struct tmx_sensing *s, double *reading_k);
    size_t (*keeps)(const void *options, double period_s); /* n_kept; NULL: 0 */
    /* A reading depends on its own sample alone and is above the truth by this at most [K]; samples at which
     * nothing can happen may then be left out. NULL: each counts. */
    double (*above_k)(const void *options);
    const char *stream;   /* of random numbers; NULL: none. GPUs are then read in their order */
    bool memory;          /* `reports` also of the memory's temperature */
    bool in_every_config; /* a resolved configuration has its rows also where they are defaults */
};

/* One line a model, X(Y, name), defined in core/sim/sensor/ as tmx_sensor_NAME with rows
 * tmx_sensor_NAME_opts. In this order they act. */
#define TMX_SENSOR_LIST(X, Y) \
    X(Y, quantum)             \
    X(Y, delay)               \
    X(Y, noise)

#define TMX_DECLARE_SENSOR(Y, name)                         \
    extern const struct tmx_sensor_model tmx_sensor_##name; \
    extern const struct tmx_opt tmx_sensor_##name##_opts[];
TMX_SENSOR_LIST(TMX_DECLARE_SENSOR, )
#define TMX_NUMBER_SENSOR(Y, name) TMX_SENSOR_##name,
enum { TMX_SENSOR_LIST(TMX_NUMBER_SENSOR, ) TMX_N_SENSOR };

struct tmx_sensor_delay {
    double delay_s;
};

#endif
