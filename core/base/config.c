#include "core/base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { MAX_PATH = 512, MAX_VALUE = 4096 };

static enum tmx_status parse_failed(const config_t *cfg, const char *name, struct tmx_err *err)
{
    const char *file = config_error_file(cfg);
    return tmx_fail_at(err, TMX_ECONFIG, file ? file : name, (unsigned)config_error_line(cfg), "%s",
                       config_error_text(cfg));
}

enum tmx_status tmx_config_parse(config_t *cfg, const char *text, const char *name, struct tmx_err *err)
{
    config_init(cfg);
    return config_read_string(cfg, text) ? TMX_OK : parse_failed(cfg, name, err);
}

enum tmx_status tmx_config_load(config_t *cfg, const char *path, const char *const *sets, size_t n_set,
                                struct tmx_err *err)
{
    char dir[MAX_PATH];
    snprintf(dir, sizeof dir, "%s", path);
    char *slash = strrchr(dir, '/');
    config_init(cfg);
    if (slash) {
        *slash = '\0';
        config_set_include_dir(cfg, slash == dir ? "/" : dir);
    }
    struct tmx_text text; /* libconfig says only "file I/O error": find the reason first */
    enum tmx_status st = tmx_text_load(&text, path, err);
    if (st) {
        return st;
    }
    tmx_text_finish(&text);
    if (!config_read_file(cfg, path)) {
        return parse_failed(cfg, path, err);
    }
    for (size_t i = 0; i < n_set && !st; i++) {
        st = tmx_config_set(cfg, sets[i], err);
    }
    return st;
}

static bool copy_value(config_setting_t *parent, const char *name, const config_setting_t *from)
{
    const int type = config_setting_type(from);
    config_setting_t *to = config_setting_add(parent, name, type);
    if (!to) {
        return false;
    }
    switch (type) {
    case CONFIG_TYPE_INT:
        return config_setting_set_int(to, config_setting_get_int(from));
    case CONFIG_TYPE_INT64:
        return config_setting_set_int64(to, config_setting_get_int64(from));
    case CONFIG_TYPE_FLOAT:
        return config_setting_set_float(to, config_setting_get_float(from));
    case CONFIG_TYPE_BOOL:
        return config_setting_set_bool(to, config_setting_get_bool(from));
    case CONFIG_TYPE_STRING:
        return config_setting_set_string(to, config_setting_get_string(from));
    default:
        break;
    }
    for (int i = 0; i < config_setting_length(from); i++) {
        const config_setting_t *e = config_setting_get_elem(from, (unsigned)i);
        if (!copy_value(to, config_setting_name(e),
                        e)) { /* NOLINT(misc-no-recursion): as deep as the file nests */
            return false;
        }
    }
    return true;
}

/* "v = <value>;" as libconfig reads it; a bare word becomes text. */
static bool parse_value(config_t *tmp, const char *value)
{
    char text[MAX_VALUE];
    config_init(tmp);
    if ((size_t)snprintf(text, sizeof text, "v = %s;", value) >= sizeof text) {
        return false;
    }
    if (config_read_string(tmp, text) && config_setting_length(config_root_setting(tmp)) == 1) {
        return true;
    }
    if (strpbrk(value, "\"\\;\n")) {
        return false;
    }
    config_destroy(tmp);
    config_init(tmp);
    snprintf(text, sizeof text, "v = \"%s\";", value);
    return config_read_string(tmp, text);
}

enum tmx_status tmx_config_set(config_t *cfg, const char *assignment, struct tmx_err *err)
{
    char where[MAX_PATH], key[MAX_PATH];
    config_t tmp;
    const char *eq = strchr(assignment, '=');
    snprintf(where, sizeof where, "--set %s", assignment);
    if (!eq || eq == assignment || (size_t)(eq - assignment) >= sizeof key) {
        return tmx_fail_at(err, TMX_ECONFIG, where, 0, "expected key=value");
    }
    memcpy(key, assignment, (size_t)(eq - assignment));
    key[eq - assignment] = '\0';
    if (!parse_value(&tmp, eq + 1)) {
        config_destroy(&tmp);
        return tmx_fail_at(err, TMX_ECONFIG, where, 0, "\"%s\" is no number, true, false, \"text\" or [list]",
                           eq + 1);
    }
    config_setting_t *group = config_root_setting(cfg);
    char *part = key;
    enum tmx_status st = TMX_OK;
    for (char *dot; (dot = strchr(part, '.')); part = dot + 1) {
        *dot = '\0';
        config_setting_t *next = config_setting_get_member(group, part);
        group = next ? next : config_setting_add(group, part, CONFIG_TYPE_GROUP);
        if (!group || !config_setting_is_group(group)) {
            st = tmx_fail_at(err, TMX_ECONFIG, where, 0, "\"%s\" is not a group", part);
            goto out;
        }
    }
    config_setting_remove(group, part);
    if (!copy_value(group, part, config_lookup(&tmp, "v"))) {
        st = tmx_fail_at(err, TMX_ECONFIG, where, 0, "\"%s\" is no key", part);
    }
out:
    config_destroy(&tmp);
    return st;
}
