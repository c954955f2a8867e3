/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/golden.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"

static void pass(enum tmx_status st, const struct tmx_err *err)
{
    char msg[1600];
    if (st) {
        tmx_err_format(err, msg, sizeof msg);
        fail_msg("%s", msg);
    }
}

static double highest_density(const struct golden *g)
{
    const struct tmx_thermal_spec *spec = &g->stack.spec;
    double highest = 0;
    for (size_t c = 0; c < g->power.n_column; c++) {
        size_t unit = g->unit_of[c], l = 0;
        while (!spec->layer[l].dissipates || unit >= spec->layer[l].floorplan->n_unit) {
            unit -= spec->layer[l].dissipates ? spec->layer[l].floorplan->n_unit : 0;
            l++;
        }
        const double area = tmx_unit_area_m2(&spec->layer[l].floorplan->unit[unit]);
        for (size_t r = 0; r < g->power.n_row; r++) {
            highest = fmax(highest, g->power.value[r * g->power.n_column + c] / area);
        }
    }
    return highest;
}

void golden_open(struct golden *g, const char *name)
{
    const struct tmx_stack_options as_hotspot = {.hotspot_compat = true};
    struct tmx_err err = {0};
    char path[1024];
    *g = (struct golden){0};
    snprintf(path, sizeof path, "%s/tests/golden/%s", TMX_SOURCE_DIR, name);
    assert_int_equal(chdir(path), 0);
    tmx_hotspot_config_init(&g->cfg);
    pass(tmx_hotspot_config_set(&g->cfg, "f", "chip.flp", TMX_HOTSPOT_COMMAND_LINE, 0, &err), &err);
    pass(tmx_hotspot_config_read(&g->cfg, "case.config", TMX_HOTSPOT_CONFIG, &err), &err);
    pass(tmx_stack_create(&g->cfg, &as_hotspot, NULL, &g->stack, &err), &err);
    pass(tmx_trace_read("power.ptrace", &g->power, &err), &err);
    g->n_unit = tmx_thermal_spec_units(&g->stack.spec);
    g->unit_of = calloc(g->power.n_column, sizeof *g->unit_of);
    assert_non_null(g->unit_of);
    pass(tmx_stack_columns(&g->stack, &g->power, g->unit_of, &err), &err);
    g->stack.spec.power_density_w_per_m2 = highest_density(g);
}

void golden_close(struct golden *g)
{
    tmx_trace_finish(&g->power);
    tmx_stack_finish(&g->stack);
    free(g->unit_of);
}

void golden_power(const struct golden *g, size_t row, double *power_w)
{
    for (size_t c = 0; c < g->power.n_column; c++) {
        power_w[g->unit_of[c]] = g->power.value[row * g->power.n_column + c];
    }
}

void engine_open(struct engine *e, const char *name, const char *options, const struct tmx_thermal_spec *spec)
{
    struct tmx_err err = {0};
    struct tmx_config *config = NULL;
    *e = (struct engine){.ops = tmx_thermal_find(name)};
    assert_non_null(e->ops);
    pass(tmx_config_parse(&config, options, "options", &err), &err);
    pass(tmx_plugin_state(&e->ops->base, tmx_config_root(config), NULL, &e->options, &err), &err);
    tmx_config_close(config);
    pass(e->ops->model_create(e->options, spec, &e->model, &err), &err);
    pass(e->ops->create(e->model, &e->state, &err), &err);
}

void engine_close(struct engine *e)
{
    e->ops->destroy(e->state);
    e->ops->model_destroy(e->model);
    free(e->options);
}
