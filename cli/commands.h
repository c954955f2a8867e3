/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_COMMANDS_H
#define TMX_CLI_COMMANDS_H

/* One line a sub-command, each the table of its cmd_<name>.c;
 * commands.c lists them. */

#include "cli/line/args.h"

extern const struct tmx_command tmx_cmd_animate, tmx_cmd_bound, tmx_cmd_budget, tmx_cmd_cache,
    tmx_cmd_calibrate, tmx_cmd_check, tmx_cmd_consolidate, tmx_cmd_cta, tmx_cmd_explain, tmx_cmd_floorplan,
    tmx_cmd_gate, tmx_cmd_help, tmx_cmd_list, tmx_cmd_log, tmx_cmd_merge, tmx_cmd_plot, tmx_cmd_power,
    tmx_cmd_query, tmx_cmd_replay, tmx_cmd_report, tmx_cmd_reproduce, tmx_cmd_run, tmx_cmd_sensitivity,
    tmx_cmd_sweep, tmx_cmd_table, tmx_cmd_thermal, tmx_cmd_validate;

extern const struct tmx_command *const tmx_commands[]; /* NULL-terminated, in the order of `thermix --help` */

/* The command of a name; NULL: none. */
const struct tmx_command *tmx_command_find(const char *name);
/* "unknown command", with the nearest one. */
TMX_NODISCARD enum tmx_status tmx_command_unknown(const char *name, struct tmx_err *err);
/* What `thermix --help` prints. */
void tmx_commands_usage(FILE *out);

/* Say on standard error how the command failed, if it did; the exit code. */
int tmx_command_end(const char *command, enum tmx_status st, const struct tmx_err *err);

#endif
