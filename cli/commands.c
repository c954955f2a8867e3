/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands in order, and what is said of all of them. */
#include "cli/commands.h"
#include "core/base/os.h"
#include "core/base/text.h"

#include <string.h>

const struct tmx_command *const tmx_commands[] = {
    &tmx_cmd_run,         &tmx_cmd_explain,     &tmx_cmd_table, &tmx_cmd_reproduce,
    &tmx_cmd_bound,       &tmx_cmd_budget,      &tmx_cmd_list,  &tmx_cmd_check,
    &tmx_cmd_thermal,     &tmx_cmd_floorplan,   &tmx_cmd_gate,  &tmx_cmd_cta,
    &tmx_cmd_consolidate, &tmx_cmd_power,       &tmx_cmd_log,   &tmx_cmd_calibrate,
    &tmx_cmd_replay,      &tmx_cmd_validate,    &tmx_cmd_sweep, &tmx_cmd_merge,
    &tmx_cmd_query,       &tmx_cmd_sensitivity, &tmx_cmd_plot,  &tmx_cmd_animate,
    &tmx_cmd_report,      &tmx_cmd_cache,       &tmx_cmd_help,  NULL,
};

const struct tmx_command *tmx_command_find(const char *name)
{
    size_t i = 0;
    while (tmx_commands[i] && strcmp(tmx_commands[i]->name, name) != 0) {
        i++;
    }
    return tmx_commands[i];
}

enum tmx_status tmx_command_unknown(const char *name, struct tmx_err *err)
{
    const char *names[64] = {NULL};
    size_t n = 0;
    for (; tmx_commands[n] && n < 64; n++) {
        names[n] = tmx_commands[n]->name;
    }
    char hint[TMX_HINT_SIZE];
    return tmx_fail(err, TMX_ECONFIG, "unknown command \"%s\"%s; see `thermix --help`", name,
                    tmx_suggest(hint, name, names, n));
}

void tmx_commands_usage(FILE *out)
{
    enum { INDENT = 15 };
    const size_t screen = tmx_os_terminal_width(out), width = screen > 0 ? screen : 80;
    fprintf(out, "Usage: thermix COMMAND [OPTION...]\n"
                 "Thermal-aware multi-GPU scheduling simulator on a HotSpot-compatible RC grid.\n\n"
                 "Commands:\n");
    for (size_t i = 0; tmx_commands[i]; i++) {
        fprintf(out, "  %-12s ", tmx_commands[i]->name);
        tmx_text_wrap(tmx_commands[i]->summary, INDENT, width, out);
    }
    fprintf(out, "\n`thermix COMMAND --help` explains one command, with an example.\n"
                 "Every command takes --max-minutes M and --max-gb G: what needs more computing\n"
                 "(10 min) or memory (three quarters of the machine's) is refused at once.\n"
                 "--accept takes values that are far from those of every real machine.\n"
                 "Exit codes: 0 ok, 1 failed, 2 bad input.\n");
}

int tmx_command_end(const char *command, enum tmx_status st, const struct tmx_err *err)
{
    if (st) {
        struct tmx_err e = *err;
        char text[2048];
        e.code = st;
        tmx_err_format(&e, text, sizeof text);
        if (e.file[0]) {
            fprintf(stderr, "%s\n", text); /* file:line: ... stands first, as editors want it */
        } else {
            fprintf(stderr, "thermix %s: %s\n", command, text);
        }
    }
    return tmx_status_exit_code(st);
}
