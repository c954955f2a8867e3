#ifndef TMX_CORE_BASE_CONFIG_H
#define TMX_CORE_BASE_CONFIG_H

#include <libconfig.h>
#include <stddef.h>

#include "core/base/err.h"

/* libconfig files with overrides from the command line. */

/* Parse the file at path into *cfg (@include is relative to the file's folder),
 * then apply sets[0..n_set): "a.b.c=value". The value is any libconfig value; a
 * bare word counts as text. Groups on the way are made when absent. Release *cfg
 * with config_destroy also after failure. Errors: TMX_EIO, TMX_ECONFIG with
 * file:line, or with the file name "--set a=b" for an override. */
TMX_NODISCARD enum tmx_status tmx_config_load(config_t *cfg, const char *path, const char *const *sets,
                                              size_t n_set, struct tmx_err *err);

/* The same from text (tests, generated configurations); name stands in messages. */
TMX_NODISCARD enum tmx_status tmx_config_parse(config_t *cfg, const char *text, const char *name,
                                               struct tmx_err *err);

TMX_NODISCARD enum tmx_status tmx_config_set(config_t *cfg, const char *assignment, struct tmx_err *err);

/* Fail at the place of a setting. */
#define tmx_fail_setting(err, s, ...) \
    tmx_fail_at((err), TMX_ECONFIG, config_setting_source_file(s), config_setting_source_line(s), __VA_ARGS__)

#endif
