/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands in order, and the text of --help about all of them. */
#include "cli/commands.h"

#include <string.h>

#include "base/os.h"
#include "base/text.h"
#include "run/load/data.h"

#define X(name) &tmx_cmd_##name,
const struct tmx_command *const tmx_commands[] = {TMX_COMMAND_LIST(X) NULL};
#undef X

const struct tmx_command *tmx_command_find(const char *name, struct tmx_err *err)
{
    const char *names[64];
    size_t n = 0;
    for (; tmx_commands[n] && n < 64; n++) {
        names[n] = tmx_commands[n]->name;
        if (strcmp(names[n], name) == 0) {
            return tmx_commands[n];
        }
    }
    char hint[TMX_HINT_SIZE];
    (void)tmx_fail(err, TMX_ECONFIG, "unknown command \"%s\"%s; see `thermix --help`", name,
                   tmx_suggest(hint, name, names, n));
    return NULL;
}

const char *tmx_command_group(const char *name)
{
    static const struct {
        const char *first, *title;
    } group[] = {{"run", "Simulate, and compare with papers"},
                 {"bound", "Limits: least slowdown, most watts and jobs"},
                 {"list", "What is shipped; chips, kernels and their models"},
                 {"log", "Measured GPUs"},
                 {"sweep", "Studies of many runs"},
                 {"plot", "Figures, pages and files for other tools"},
                 {"cache", "The program itself"}};
    for (size_t i = 0; i < sizeof group / sizeof group[0]; i++) {
        if (strcmp(group[i].first, name) == 0) {
            return group[i].title;
        }
    }
    return NULL;
}

void tmx_commands_usage(FILE *out)
{
    enum { INDENT = 15 };
    const size_t screen = tmx_os_terminal_width(out), width = screen > 0 ? screen : 80;
    fprintf(out, "Usage: thermix COMMAND [OPTION...]\n"
                 "Thermal-aware multi-GPU scheduling simulator on a HotSpot-compatible RC grid.\n\n"
                 "Commands:\n");
    for (size_t i = 0; tmx_commands[i]; i++) {
        const char *group = tmx_command_group(tmx_commands[i]->name);
        if (group) {
            fprintf(out, " %s:\n", group);
        }
        fprintf(out, "  %-12s ", tmx_commands[i]->name);
        tmx_text_wrap(tmx_commands[i]->summary, INDENT, width, out);
    }
    fprintf(out, "\n`thermix COMMAND --help` explains one command, with an example.\n"
                 "Every command takes --max-minutes M and --max-gb G: a command that needs\n"
                 "more computing time (default 10 min) or memory (default three quarters of the\n"
                 "machine's) is refused at once.\n"
                 "--accept allows values that are far from those of every real machine.\n"
                 "Exit codes: 0 ok, 1 failed, 2 bad input.\n\n"
                 "Begin with: thermix run study -o first --trace 0.5 --hotspot 0.5\n"
                 "            thermix report first -o first.html\n");
    char doc[TMX_PATH_SIZE];
    if (tmx_exe_relative("../share/doc/thermix", doc, sizeof doc)) { /* also in a moved prefix, or a wheel */
        fprintf(out, "Documents (docs/quick-start.md first): %s\n", doc);
    } else if (tmx_os_exists(TMX_INSTALL_DOC_DIR)) { /* not in a build tree */
        fprintf(out, "Documents (docs/quick-start.md first): %s\n", TMX_INSTALL_DOC_DIR);
    }
}
