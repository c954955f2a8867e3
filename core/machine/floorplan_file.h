/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_FLOORPLAN_FILE_H
#define TMX_CORE_MACHINE_FLOORPLAN_FILE_H

#include <stdio.h>

#include "core/machine/floorplan.h"

/* HotSpot floorplan files (.flp): one block per line,
 *     name  width  height  left-x  bottom-y  [heat-capacity  resistivity]
 * in metres (J/(m3 K) and m K/W for the material), `#` starts a comment line. Wire lists
 * (`name1 name2 density`) are skipped. Format: docs/formats.md. */

enum { TMX_FLP_MAX_UNITS = 8192, TMX_NAME_SIZE = 512 }; /* HotSpot's own limits */

/* Read the file at path into *fp (overwritten; end it with tmx_floorplan_finish, also
 * after failure) and shift it to the origin. Checks each line; whether the blocks tile
 * the die is tmx_floorplan_check's question. Errors: TMX_EIO, TMX_EPARSE, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_flp_read(const char *path, struct tmx_floorplan *fp, struct tmx_err *err);

/* Write fp so that tmx_flp_read reads it back equal; comment may be NULL or several
 * lines, each is written behind `# `. */
void tmx_flp_print(const struct tmx_floorplan *fp, const char *comment, FILE *out);

/* The same to a file that appears whole or not at all. */
TMX_NODISCARD enum tmx_status tmx_flp_write(const char *path, const struct tmx_floorplan *fp,
                                            const char *comment, struct tmx_err *err);

#endif
