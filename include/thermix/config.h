/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_CONFIG_H
#define THERMIX_CONFIG_H

/* Configurations: what `thermix run FILE` reads (docs/formats.md), from a file or from text. */

#include <thermix/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tmx_config;

/* Both openers leave *c NULL when they fail; errors are TMX_EIO, TMX_ENOMEM, and TMX_ECONFIG with
 * file:line. End *c with tmx_config_close. */

/* The file at path; @include is relative to the file that contains it. */
TMX_API TMX_NODISCARD enum tmx_status tmx_config_open(struct tmx_config **c, const char *path,
                                                      struct tmx_err *err);
/* From text; messages use name. No @include. */
TMX_API TMX_NODISCARD enum tmx_status tmx_config_parse(struct tmx_config **c, const char *text,
                                                       const char *name, struct tmx_err *err);

/* "a.b.c=value", as --set of the program. The value is any value of the syntax; a bare word counts as
 * text. Groups on the way are made when absent. In messages, here and of later readers, the file is
 * "--set a.b.c=value". */
TMX_API TMX_NODISCARD enum tmx_status tmx_config_set(struct tmx_config *c, const char *assignment,
                                                     struct tmx_err *err);

TMX_API void tmx_config_close(struct tmx_config *c); /* NULL: nothing happens */

#ifdef __cplusplus
}
#endif
#endif
