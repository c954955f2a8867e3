/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/parts/thermal_outputs.h"
#include "core/base/os.h"
#include "core/base/output.h"

#include <string.h>

enum tmx_status tmx_thermal_outputs_open(struct tmx_thermal_outputs *o, const struct tmx_hotspot_config *cfg,
                                         struct tmx_err *err)
{
    const char *const paths[TMX_N_OUTPUT] = {cfg->o, cfg->steady_file, cfg->grid_steady_file,
                                             cfg->grid_transient_file, cfg->d};
    const char *const inputs[] = {cfg->p,
                                  cfg->f,
                                  cfg->source[TMX_HOTSPOT_CONFIG],
                                  cfg->init_file,
                                  cfg->grid_layer_file,
                                  cfg->materials_file,
                                  cfg->package_config_file};
    enum tmx_status st = TMX_OK;
    memcpy(o->path, paths, sizeof paths);
    for (size_t i = 0; !st && i < TMX_N_OUTPUT; i++) {
        if (!paths[i][0] || strncmp(paths[i], "/dev/", 5) == 0) {
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            if (paths[j][0] && tmx_os_same_file(paths[i], paths[j])) {
                return tmx_fail_at(err, TMX_ECONFIG, paths[i], 0, "two outputs go to this file");
            }
        }
        for (size_t j = 0; j < sizeof inputs / sizeof inputs[0]; j++) {
            if (inputs[j][0] && strcmp(paths[i], "-") != 0 && tmx_os_same_file(paths[i], inputs[j])) {
                return tmx_fail_at(err, TMX_ECONFIG, paths[i], 0, "an output would replace this input");
            }
        }
    }
    for (size_t i = 0; !st && i < TMX_N_OUTPUT; i++) {
        st = paths[i][0] ? tmx_output_open(&o->out[i], paths[i], err) : TMX_OK;
    }
    return st;
}

/* All or nothing: no file gets its name before every one is known to be whole. */
enum tmx_status tmx_thermal_outputs_commit(struct tmx_thermal_outputs *o, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < TMX_N_OUTPUT; i++) {
        st = o->out[i].file ? tmx_output_check(&o->out[i], err) : TMX_OK;
    }
    for (size_t i = 0; !st && i < TMX_N_OUTPUT; i++) {
        st = o->out[i].file ? tmx_output_commit(&o->out[i], err) : TMX_OK;
    }
    return st;
}

void tmx_thermal_outputs_discard(struct tmx_thermal_outputs *o)
{
    for (size_t i = 0; i < TMX_N_OUTPUT; i++) {
        tmx_output_discard(&o->out[i]);
    }
}
