#include "thermal/chip.h"

#include <stdlib.h>
#include <string.h>

static enum tmx_status apply(const struct tmx_plugin *plugin, void *options, const char *const *settings,
                             struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (; !st && settings && *settings; settings += 2) {
        const struct tmx_opt *o = plugin->opts;
        while (o && o->key && strcmp(o->key, settings[0]) != 0) {
            o++;
        }
        if (!o || !o->key) {
            return tmx_fail(err, TMX_ECONFIG, "thermal back-end %s has no option \"%s\"", plugin->name,
                            settings[0]);
        }
        st = tmx_opt_set(o, options, settings[1], NULL, 0, err);
    }
    return st;
}

enum tmx_status tmx_chip_create(struct tmx_chip *chip, const char *backend, const char *const *settings,
                                const struct tmx_thermal_spec *spec, struct tmx_err *err)
{
    *chip = (struct tmx_chip){.ops = tmx_thermal_find(backend), .spec = spec};
    if (!chip->ops) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "no thermal back-end \"%s\"", backend);
    }
    enum tmx_status st = tmx_plugin_state(&chip->ops->base, NULL, NULL, &chip->options, err);
    st = st ? st : apply(&chip->ops->base, chip->options, settings, err);
    st = st ? st : chip->ops->model_create(chip->options, spec, &chip->model, err);
    st = st ? st : chip->ops->create(chip->model, &chip->state, err);
    return st;
}

void tmx_chip_finish(struct tmx_chip *chip)
{
    if (chip->state) {
        chip->ops->destroy(chip->state);
    }
    if (chip->model) {
        chip->ops->model_destroy(chip->model);
    }
    free(chip->options);
    *chip = (struct tmx_chip){0};
}

enum tmx_status tmx_chip_nodes(const struct tmx_chip *chip, double *node_k, struct tmx_err *err)
{
    const size_t n_cell = chip->spec->rows * chip->spec->cols, n_layer = chip->spec->n_layer + 2;
    if (!chip->ops->field) {
        return tmx_fail(err, TMX_EUNSUPPORTED, "thermal back-end %s has no grid", chip->ops->base.name);
    }
    for (size_t l = 0; l <= n_layer; l++) {
        const enum tmx_status st = chip->ops->field(chip->state, l, node_k + l * n_cell);
        if (st) {
            return tmx_fail(err, st, "temperature field of layer %zu", l);
        }
    }
    return TMX_OK;
}
