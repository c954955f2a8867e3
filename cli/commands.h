#ifndef TMX_CLI_COMMANDS_H
#define TMX_CLI_COMMANDS_H

/* One line a sub-command, each in its cmd_<name>.c; main.c lists them. */

#include "core/base/err.h"

int tmx_cmd_animate(int argc, char **argv);
int tmx_cmd_check(int argc, char **argv);
int tmx_cmd_consolidate(int argc, char **argv);
int tmx_cmd_cta(int argc, char **argv);
int tmx_cmd_floorplan(int argc, char **argv);
int tmx_cmd_gate(int argc, char **argv);
int tmx_cmd_list(int argc, char **argv);
int tmx_cmd_merge(int argc, char **argv);
int tmx_cmd_plot(int argc, char **argv);
int tmx_cmd_power(int argc, char **argv);
int tmx_cmd_query(int argc, char **argv);
int tmx_cmd_reproduce(int argc, char **argv);
int tmx_cmd_report(int argc, char **argv);
int tmx_cmd_run(int argc, char **argv);
int tmx_cmd_sensitivity(int argc, char **argv);
int tmx_cmd_sweep(int argc, char **argv);
int tmx_cmd_table(int argc, char **argv);
int tmx_cmd_thermal(int argc, char **argv);

/* Say on standard error how the command failed, if it did; the exit code. */
int tmx_command_end(const char *command, enum tmx_status st, const struct tmx_err *err);

#endif
