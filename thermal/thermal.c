/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/thermal.h"

#include <stdlib.h>
#include <string.h>

#define TABLE(name) &tmx_thermal_##name,
#define HEAD(name)  &tmx_thermal_##name.base,
#define NAME(name)  #name,

const struct tmx_thermal_ops *const tmx_thermal_backends[] = {TMX_THERMAL_LIST(TABLE) NULL};
const struct tmx_plugin *const tmx_thermal_heads[] = {TMX_THERMAL_LIST(HEAD) NULL};
const char *const tmx_thermal_auto_or_names[] = {"auto", TMX_THERMAL_LIST(NAME) NULL};

const struct tmx_thermal_ops *tmx_thermal_find(const char *name)
{
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        if (strcmp(tmx_thermal_backends[i]->base.name, name) == 0) {
            return tmx_thermal_backends[i];
        }
    }
    return NULL;
}

const struct tmx_opt *tmx_thermal_option(const struct tmx_thermal_ops *ops, const char *key)
{
    const struct tmx_opt *o = ops->base.opts;
    while (o && o->key && strcmp(o->key, key) != 0) {
        o++;
    }
    return o && o->key ? o : NULL;
}

enum tmx_status tmx_thermal_model_create(const struct tmx_thermal_ops *ops, const void *options,
                                         const struct tmx_thermal_spec *spec, void **model,
                                         struct tmx_err *err)
{
    bool coolant = false, filler = false;
    for (size_t l = 0; l < spec->n_layer; l++) {
        coolant = coolant || spec->layer[l].channels;
        filler = filler || spec->layer[l].filler_k_w_per_mk > 0;
    }
    const struct {
        unsigned can;
        bool asked;
        const char *what;
    } rows[] = {{TMX_THERMAL_PHYSICAL, spec->network == TMX_NETWORK_PHYSICAL, "the physical network"},
                {TMX_THERMAL_LEVELS, tmx_thermal_spec_levels(spec) > 1, "several levels of convection"},
                {TMX_THERMAL_BELOW, spec->board || spec->r_below_k_per_w > 0,
                 "a second heat path (model_secondary, r_below)"},
                {TMX_THERMAL_CHANNELS, coolant, "coolant"},
                {TMX_THERMAL_FILLER, filler, "a filler beside dies"},
                {TMX_THERMAL_FALLS, tmx_falling(spec), "conductivity_falls"},
                {TMX_THERMAL_FIELD, spec->init_node_k, "a start from a field of temperatures"},
                {TMX_THERMAL_BLOCKS, spec->network == TMX_NETWORK_BLOCK, "the block model"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].asked && !(ops->can & rows[i].can)) {
            return tmx_fail(err, TMX_EUNSUPPORTED, "thermal back-end %s does not model %s; grid does",
                            ops->base.name, rows[i].what);
        }
    }
    return ops->model_create(options, spec, model, err);
}

enum tmx_status tmx_thermal_instance_create(struct tmx_thermal_instance *inst, const char *backend,
                                            const char *const *settings, const struct tmx_thermal_spec *spec,
                                            struct tmx_err *err)
{
    *inst = (struct tmx_thermal_instance){.ops = tmx_thermal_find(backend), .spec = spec};
    if (!inst->ops) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "no thermal back-end \"%s\"", backend);
    }
    enum tmx_status st = tmx_plugin_state(&inst->ops->base, NULL, NULL, &inst->options, err);
    for (; !st && settings && *settings; settings += 2) {
        const struct tmx_opt *o = tmx_thermal_option(inst->ops, settings[0]);
        st = o ? tmx_opt_set(o, inst->options, settings[1], NULL, 0, err)
               : tmx_fail(err, TMX_ECONFIG, "thermal back-end %s has no option \"%s\"", backend, settings[0]);
    }
    st = st ? st : tmx_thermal_model_create(inst->ops, inst->options, spec, &inst->model, err);
    st = st ? st : inst->ops->create(inst->model, &inst->state, err);
    return st;
}

void tmx_thermal_instance_finish(struct tmx_thermal_instance *inst)
{
    if (inst->state) {
        inst->ops->destroy(inst->state);
    }
    if (inst->model) {
        inst->ops->model_destroy(inst->model);
    }
    free(inst->options);
    *inst = (struct tmx_thermal_instance){0};
}

enum tmx_status tmx_thermal_instance_nodes(const struct tmx_thermal_instance *inst, double *node_k,
                                           struct tmx_err *err)
{
    const size_t n_cell = inst->spec->rows * inst->spec->cols, n_layer = inst->spec->n_layer + 2;
    if (!inst->ops->field) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "thermal back-end %s has no grid", inst->ops->base.name);
    }
    for (size_t l = 0; l <= n_layer; l++) {
        const enum tmx_status st = inst->ops->field(inst->state, l, node_k + l * n_cell);
        if (st) {
            return tmx_fail(err, st, "temperature field of layer %zu", l);
        }
    }
    return TMX_OK;
}
