/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_POWER_MODEL_H
#define TMX_CORE_CONTRACT_POWER_MODEL_H

/* Watts per floorplan unit from activity, clocks and temperature. */

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "core/machine/machine.h"

/* The arrays that go round the ring in one tick. Each has one writer. */
struct tmx_frame {
    size_t n_gpu, n_sm, n_unit;
    bool sleeps; /* units may sleep or be without power; else asleep, unpowered and saved_w stay 0 */
    /* [n_unit], units of all GPUs one after another */
    double *asleep;     /* share of the leakage that sleeping units save; written by the gate stage */
    double *unpowered;  /* the same of units without power, 0 elsewhere: goes before; by the CTA stage */
    double *dynamic_w;  /* written by the power model */
    double *leakage_w;  /* likewise, net of asleep */
    double *saved_w;    /* leakage that sleeping units save, for the ledger */
    double *baseline_w; /* likewise */
    double *power_w;    /* sum, with transitions; read by the thermal back-end */
    double *temp_k;     /* written by the thermal back-end */
    /* [n_sm] */
    double *sensed_k; /* written by the sensor */
    double *slot_w;   /* [TMX_SLOTS * n_gpu] by kernel slot: dynamic power of each resident kernel; written by
                        the power model */
    double *transition_w; /* [n_gpu] changes of clock level */
    double *smooth_w;     /* [n_gpu] dummy work of power smoothing, in power_w behind the model */
};

/* What a GPU draws without work, for code that plans ahead. Pointers live as long as the model. */
struct tmx_static_power {
    const double *baseline_w; /* [n_unit of the GPU] constant */
    const double *leak_w;     /* [n_unit] leakage where factor is 1, at the nominal voltage; linear in it */
    /* Leakage against temperature, 200..600 K: factor [n] of temp_k [n]. */
    void (*factors)(const void *table, size_t n, const double *temp_k, double *factor);
    const void *table;
};

struct tmx_power_ops {
    struct tmx_plugin base; /* options; state_size is that of the options struct */
    /* REQUIRED. The caller ends *model with destroy. */
    enum tmx_status (*create)(const void *options, const struct tmx_machine *machine, void **model,
                              struct tmx_err *err);
    void (*destroy)(void *model);
    /* REQUIRED. Fill the power arrays of *frame for the tick from machine->busy and frame->temp_k.
     * No allocation. TMX_ERUNAWAY where a temperature is outside the leakage model's range. */
    enum tmx_status (*eval)(void *model, const struct tmx_machine *machine, struct tmx_gpus span,
                            struct tmx_frame *frame);
    /* OPTIONAL. The part of eval that does not depend on work. */
    void (*still)(const void *model, const struct tmx_machine *machine, size_t gpu,
                  struct tmx_static_power *p);
};

#endif
