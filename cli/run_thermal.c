#include "cli/run_thermal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run_state.h"
#include "core/base/config.h"
#include "core/base/text.h"
#include "thermal/thermal.h"

/* A key of the group `package`: one of HotSpot's options, by its name. */
static enum tmx_status set_key(struct tmx_hotspot_config *cfg, const config_setting_t *s, struct tmx_err *err)
{
    char value[TMX_HOTSPOT_PATH];
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
        snprintf(value, sizeof value, "%d", config_setting_get_int(s));
        break;
    case CONFIG_TYPE_FLOAT:
        tmx_real_print(value, config_setting_get_float(s));
        break;
    case CONFIG_TYPE_STRING:
        snprintf(value, sizeof value, "%s", config_setting_get_string(s));
        break;
    default:
        return tmx_fail_setting(err, s, "package.%s: expected a number or a \"text\"",
                                config_setting_name(s));
    }
    const enum tmx_status st = tmx_hotspot_config_set(
        cfg, config_setting_name(s), value, TMX_HOTSPOT_COMMAND_LINE, config_setting_source_line(s), err);
    if (st) {
        char msg[sizeof err->msg];
        snprintf(msg, sizeof msg, "%s", err->msg);
        return tmx_fail_setting(err, s, "package: %s", msg);
    }
    return TMX_OK;
}

static enum tmx_status read_package(struct tmx_run *r, const config_setting_t *root, struct tmx_err *err)
{
    const config_setting_t *group = config_setting_get_member(root, "package");
    char n[16];
    enum tmx_status st = TMX_OK;
    tmx_hotspot_config_init(&r->package);
    snprintf(r->package.source[TMX_HOTSPOT_COMMAND_LINE], sizeof r->package.source[0], "package");
    for (int i = 0; group && i < config_setting_length(group) && !st; i++) {
        st = set_key(&r->package, config_setting_get_elem(group, (unsigned)i), err);
    }
    if (!st && r->options.rows > 0) {
        snprintf(n, sizeof n, "%d", r->options.rows);
        st = tmx_hotspot_config_set(&r->package, "grid_rows", n, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
    if (!st && r->options.cols > 0) {
        snprintf(n, sizeof n, "%d", r->options.cols);
        st = tmx_hotspot_config_set(&r->package, "grid_cols", n, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
    st = st ? st
            : tmx_hotspot_config_set(&r->package, "f", r->floorplan_path, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    return st ? st : tmx_hotspot_config_read(&r->package, r->package_path, TMX_HOTSPOT_CONFIG, err);
}

static enum tmx_status find_backend(struct tmx_run *r, const config_setting_t *root, struct tmx_err *err)
{
    char list[256] = "";
    for (size_t i = 0; tmx_thermal_backends[i]; i++) {
        if (strcmp(tmx_thermal_backends[i]->base.name, r->options.method) == 0) {
            r->thermal.ops = tmx_thermal_backends[i];
            return TMX_OK;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", tmx_thermal_backends[i]->base.name);
    }
    const config_setting_t *s = config_setting_get_member(root, "method");
    return tmx_fail_setting(err, s ? s : root, "method = \"%s\": no such thermal back-end; there is %s",
                            r->options.method, list);
}

enum tmx_status tmx_run_thermal_read(struct tmx_run *r, const config_setting_t *root, struct tmx_err *err)
{
    const struct tmx_stack_options plain = {0};
    enum tmx_status st = find_backend(r, root, err);
    st = st ? st
            : tmx_plugin_state(&r->thermal.ops->base, config_setting_get_member(root, "thermal"), NULL,
                               &r->thermal.options, err);
    st = st ? st : read_package(r, root, err);
    st = st ? st : tmx_stack_create(&r->package, &plain, NULL, &r->stack, err);
    if (st) {
        return st;
    }
    if (tmx_thermal_spec_units(&r->stack.spec) != r->chip.floorplan.n_unit) {
        return tmx_fail_at(err, TMX_ECONFIG, r->package_path, 0,
                           "the layers dissipate in %zu units, the chip's floorplan has %zu",
                           tmx_thermal_spec_units(&r->stack.spec), r->chip.floorplan.n_unit);
    }
    r->stack.spec.min_step_s = r->options.tick_s;
    return TMX_OK;
}

enum tmx_status tmx_run_thermal_build(struct tmx_run *r, struct tmx_err *err)
{
    const enum tmx_status st =
        r->thermal.ops->model_create(r->thermal.options, &r->stack.spec, &r->thermal.model, err);
    return st ? st : r->thermal.ops->prepare(r->thermal.model, r->options.tick_s, err);
}

void tmx_run_thermal_close(struct tmx_run *r)
{
    if (r->thermal.model) {
        r->thermal.ops->model_destroy(r->thermal.model);
    }
    free(r->thermal.options);
    tmx_stack_finish(&r->stack);
}
