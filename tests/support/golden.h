/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_GOLDEN_H
#define TMX_TESTS_SUPPORT_GOLDEN_H

#include "tests/support/check.h"
#include "thermal/assembly/gridmap.h"
#include "thermal/files/stack.h"
#include "thermal/thermal.h"

/* A folder of tests/golden, read with HotSpot's conventions. */
struct golden {
    struct tmx_hotspot_config cfg;
    struct tmx_stack stack;
    struct tmx_trace power; /* columns in the order of the file */
    size_t *unit_of;        /* [power.n_column] */
    size_t n_unit;
};

/* Enter tests/golden/<name> and read it; ends the test when that fails. */
void golden_open(struct golden *g, const char *name);
void golden_close(struct golden *g);

/* power_w[n_unit] of a row of the trace. */
void golden_power(const struct golden *g, size_t row, double *power_w);

/* A model and one instance of the back-end `name` with the options in text (libconfig). */
struct engine {
    const struct tmx_thermal_ops *ops;
    void *options, *model, *state;
};
void engine_open(struct engine *e, const char *name, const char *options,
                 const struct tmx_thermal_spec *spec);
void engine_close(struct engine *e);

#endif
