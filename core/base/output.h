/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_OUTPUT_H
#define TMX_CORE_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/err.h"

/* An output file that appears whole or not at all: written to a temporary name in
 * the same folder, renamed by commit. A name that is not a regular file (a pipe, a
 * device, what is in /dev) and "-" (standard output) are written directly, never renamed
 * over. A link stays a link; permissions stay; a file that may not be written is an error, and so is
 * one that has been read (inputs.h). */
struct tmx_output {
    FILE *file;
    char path[512];
    char asked[512]; /* the name as given: path is what a link of this name leads to */
    char temp[540];  /* "" when written directly */
    bool unnamed;    /* temp is not there yet: a file without a name, which goes with the process */
};
TMX_NODISCARD enum tmx_status tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err);
/* The same for the user's own eyes and hand: a new file of mode 0600 takes the name, whatever had it. */
TMX_NODISCARD enum tmx_status tmx_output_open_private(struct tmx_output *o, const char *path,
                                                      struct tmx_err *err);
/* Flush and check every write since open; the output stays open. With several outputs:
 * check all, then commit all. */
TMX_NODISCARD enum tmx_status tmx_output_check(struct tmx_output *o, struct tmx_err *err);
/* Flush, check every write since open, rename. Fails with TMX_EFULL (disk full, a
 * limit on sizes: no input is at fault) or TMX_EIO. */
TMX_NODISCARD enum tmx_status tmx_output_commit(struct tmx_output *o, struct tmx_err *err);
/* Drop an output that was not committed; accepts a zeroed or a committed one. */
void tmx_output_discard(struct tmx_output *o);

/* Fail when path is a file that has been read (inputs.h): for outputs that other programs write. */
TMX_NODISCARD enum tmx_status tmx_output_guard(const char *path, struct tmx_err *err);

#endif
