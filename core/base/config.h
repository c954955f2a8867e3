#ifndef TMX_CORE_BASE_CONFIG_H
#define TMX_CORE_BASE_CONFIG_H

#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"
#include "core/base/setting.h"

/* Configuration files with overrides from the command line. The syntax is libconfig's, whose types
 * stay in config.c; numbers are read at 64 bits however they are written. */
struct tmx_config;

/* All four of the openers leave *c NULL when they fail; errors are TMX_EIO, TMX_ENOMEM, and TMX_ECONFIG
 * with file:line. End *c with tmx_config_close, which accepts NULL. */

/* The file at path; @include is relative to the file it stands in. */
TMX_NODISCARD enum tmx_status tmx_config_open(struct tmx_config **c, const char *path, struct tmx_err *err);
/* The same, then sets[0..n_set) as tmx_config_set does; several are counted in messages. */
TMX_NODISCARD enum tmx_status tmx_config_load(struct tmx_config **c, const char *path,
                                              const char *const *sets, size_t n_set, struct tmx_err *err);
/* From text (tests, generated configurations); name stands in messages. No @include. */
TMX_NODISCARD enum tmx_status tmx_config_parse(struct tmx_config **c, const char *text, const char *name,
                                               struct tmx_err *err);
void tmx_config_close(struct tmx_config *c);

/* "a.b.c=value". The value is any value of the syntax; a bare word counts as text. Groups on the way are
 * made when absent. In messages, here and of later readers, the file is "--set a.b.c=value". */
TMX_NODISCARD enum tmx_status tmx_config_set(struct tmx_config *c, const char *assignment,
                                             struct tmx_err *err);

/* Write text in quotes, so that it reads back equal. */
void tmx_config_quote(const char *text, FILE *out);

const struct tmx_setting *tmx_config_root(const struct tmx_config *c);
const struct tmx_setting *tmx_config_find(const struct tmx_config *c,
                                          const char *path); /* "a.b.c"; NULL: absent */

#endif
