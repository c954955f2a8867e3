/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_CHECK_FILE_H
#define TMX_CLI_CHECK_FILE_H

#include "cli/line/args.h"
#include "study/table_out.h"

/* Check what a name or a file is: a run, suite, study, mix, chip, system, kernel or batch, each with
 * everything it names. A name may be of several kinds: all are checked. A run is printed resolved, the
 * others as one line; in the formats for programs rows of file, kind, key and value. */
TMX_NODISCARD enum tmx_status tmx_check_file(const char *name, const char *const *sets, size_t n_set,
                                             enum tmx_format format, FILE *out, struct tmx_err *err);

#endif
