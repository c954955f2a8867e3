/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_TINY_THERMAL_H
#define TMX_TESTS_SUPPORT_TINY_THERMAL_H

/* A thermal back-end for tests of the loop: one RC per unit over one RC for the sink. */

#include <string.h>

#include "core/contract/thermal_model.h"
#include "tests/support/tiny.h"

enum { TINY_UNITS = 64 };

struct tiny_thermal_model {
    size_t n_unit;
    double ambient_k, unit_r, unit_s, sink_r, sink_s; /* K/W, s */
};

struct tiny_thermal {
    const struct tiny_thermal_model *m;
    double sink_k, temp_k[TINY_UNITS];
};

static inline enum tmx_status tiny_thermal_create(const void *model, void **state, struct tmx_err *err)
{
    (void)err;
    struct tiny_thermal *t = calloc(1, sizeof *t);
    t->m = model;
    t->sink_k = t->m->ambient_k;
    for (size_t u = 0; u < TINY_UNITS; u++) {
        t->temp_k[u] = t->m->ambient_k;
    }
    *state = t;
    return TMX_OK;
}

static inline enum tmx_status tiny_thermal_step(void *state, double dt_s, const double *power_w,
                                                double *temp_k)
{
    struct tiny_thermal *t = state;
    double total_w = 0;
    for (size_t u = 0; u < t->m->n_unit; u++) {
        total_w += power_w[u];
    }
    const double sink_k = t->m->ambient_k + t->m->sink_r * total_w;
    t->sink_k = sink_k + (t->sink_k - sink_k) * exp(-dt_s / t->m->sink_s);
    for (size_t u = 0; u < t->m->n_unit; u++) {
        const double end_k = t->sink_k + t->m->unit_r * power_w[u];
        t->temp_k[u] = end_k + (t->temp_k[u] - end_k) * exp(-dt_s / t->m->unit_s);
        temp_k[u] = t->temp_k[u];
    }
    return TMX_OK;
}

static inline void tiny_thermal_read(const void *state, double *temp_k)
{
    const struct tiny_thermal *t = state;
    memcpy(temp_k, t->temp_k, t->m->n_unit * sizeof *temp_k);
}

static inline void tiny_thermal_image(void *state, struct tmx_image *i)
{
    tmx_image_item(i, state, sizeof(struct tiny_thermal));
}

static const struct tmx_thermal_ops tiny_thermal_ops = {
    .base = {.name = "tiny"},
    .create = tiny_thermal_create,
    .destroy = free,
    .step = tiny_thermal_step,
    .read = tiny_thermal_read,
    .image = tiny_thermal_image,
};

#endif
