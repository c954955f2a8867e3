/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_COMMANDS_H
#define TMX_CLI_COMMANDS_H

/* The commands, in the order of `thermix --help`: a line a command, whose table tmx_cmd_<name> is in
 * cmd_<name>.c. */

#include "cli/args.h"

/* clang-format off */
#define TMX_COMMAND_LIST(X) \
    X(run) \
    X(explain) \
    X(table) \
    X(reproduce) \
    X(bound) \
    X(budget) \
    X(place) \
    X(list) \
    X(check) \
    X(thermal) \
    X(floorplan) \
    X(gate) \
    X(cta) \
    X(consolidate) \
    X(power) \
    X(llm) \
    X(log) \
    X(calibrate) \
    X(replay) \
    X(validate) \
    X(sweep) \
    X(merge) \
    X(query) \
    X(sensitivity) \
    X(posterior) \
    X(plot) \
    X(animate) \
    X(report) \
    X(export) \
    X(cache) \
    X(help)
/* clang-format on */

#define X(name) extern const struct tmx_command tmx_cmd_##name;
TMX_COMMAND_LIST(X)
#undef X

extern const struct tmx_command *const tmx_commands[]; /* NULL-terminated */

/* The command of a name; NULL: none, and the error (err may be NULL) has the nearest one. */
const struct tmx_command *tmx_command_find(const char *name, struct tmx_err *err);
/* The title of the group of `thermix --help` that this command begins; NULL: it belongs to the group of the
 * one before. */
const char *tmx_command_group(const char *name);
/* What `thermix --help` prints. */
void tmx_commands_usage(FILE *out);

#endif
