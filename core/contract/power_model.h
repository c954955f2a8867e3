/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_CONTRACT_POWER_MODEL_H
#define TMX_CORE_CONTRACT_POWER_MODEL_H

/* Watts per floorplan unit from activity, clocks and temperature. */

#include "core/base/plugin.h"
#include "core/contract/frame.h"
#include "core/machine/machine.h"

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
