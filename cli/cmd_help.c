/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix help: help of a command as on a screen, its man page, and what a shell completes. */
#include <stdio.h>

#include "cli/commands.h"

struct args {
    struct tmx_texts command;
    bool man;
    int completion;
};

static const char *const shells[] = {"bash", NULL};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, man, FLAG, "man", 'm', .apart = "completion",
            .doc = "print the man page (troff), of thermix itself without COMMAND"),
    TMX_ARG(args, completion, WORD, "completion", 0, .words = shells,
            .doc = "print the completion script of this shell"),
    {0},
};

/* The shell asks the program at every key: policies, suites and keys are those of this installation. */
static const char bash[] = "# bash completion of thermix; made by `thermix help --completion bash`\n"
                           "_thermix() {\n"
                           "  local line cur=${COMP_LINE:0:COMP_POINT}\n"
                           "  cur=${cur##*[[:space:]]}\n"
                           "  # what the shell itself takes for the word: = and : split words\n"
                           "  local word=${COMP_WORDS[COMP_CWORD]} before\n"
                           "  [ \"$word\" = '=' ] && word=\n"
                           "  before=${cur%\"$word\"}\n"
                           "  COMPREPLY=()\n"
                           "  local words=() i\n"
                           "  read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
                           "  [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')\n"
                           "  while IFS= read -r line; do\n"
                           "    case $line in\n"
                           "      :files) compopt -o filenames; while IFS= read -r i; do "
                           "COMPREPLY+=(\"$i\"); done < <(compgen -f -- \"$word\") ;;\n"
                           "      :folders) compopt -o filenames; while IFS= read -r i; do "
                           "COMPREPLY+=(\"$i\"); done < <(compgen -d -- \"$word\") ;;\n"
                           "      \"$cur\"*)\n"
                           "        [[ $line == *[=.] ]] && compopt -o nospace\n"
                           "        COMPREPLY+=(\"${line#\"$before\"}\") ;;\n"
                           "    esac\n"
                           "  done < <(\"${words[0]}\" complete \"${words[@]:1}\" 2>/dev/null)\n"
                           "}\n"
                           "complete -F _thermix thermix\n";

static void man_of_all(FILE *out)
{
    fprintf(out,
            ".TH THERMIX 1 \"\" \"thermix %s\" \"thermix\"\n.SH NAME\nthermix \\- thermal\\-aware "
            "multi\\-GPU scheduling simulator\n.SH SYNOPSIS\n\\fBthermix\\fR \\fICOMMAND\\fR "
            "[\\fIOPTION\\fR...]\n.SH DESCRIPTION\nSimulates GPUs, their kernels, schedulers and throttles "
            "on a HotSpot\\-compatible RC grid.\n"
            ".SH COMMANDS\n",
            TMX_VERSION);
    for (size_t i = 0; tmx_commands[i]; i++) {
        const char *group = tmx_command_group(tmx_commands[i]->name);
        if (group) {
            fprintf(out, ".SS %s\n", group);
        }
        fprintf(out, ".TP\n\\fBthermix\\-%s\\fR(1)\n%s\n", tmx_commands[i]->name, tmx_commands[i]->summary);
    }
    fputs(".SH ENVIRONMENT\n.TP\n\\fBTHERMIX_DATA\\fR\nfolder that holds floorplans/, systems/, workloads/ "
          "and plots/, tried first\n.TP\n\\fBXDG_CACHE_HOME\\fR\nreduced models and profiles are kept in its "
          "folder thermix/ (default ~/.cache)\n.TP\n\\fBTHERMIX_CACHE_MIB\\fR\nhow much of them is kept "
          "[MiB] (default 1024)\n.SH EXIT STATUS\n0 ok, 1 failed, 2 bad input.\n",
          out);
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    if (a->completion >= 0 && a->command.n > 0) {
        tmx_error(err, TMX_ECONFIG, "%s does nothing beside --completion", a->command.text[0]);
    } else if (a->completion >= 0) {
        fputs(bash, stdout);
    } else if (a->command.n == 0) {
        (a->man ? man_of_all : tmx_commands_usage)(stdout);
    } else {
        const struct tmx_command *c = tmx_command_find(a->command.text[0], err);
        if (c && a->man) {
            tmx_args_man(c, stdout);
        } else if (c) {
            tmx_args_help(c);
        }
    }
}

const struct tmx_command tmx_cmd_help = {
    .name = "help",
    .summary = "help of a command, its man page, completion for bash",
    .doc = "Print the help of a command, or of thermix.",
    .examples = "thermix help run\n"
                "thermix help run --man | man -l -\n"
                "source <(thermix help --completion bash)",
    TMX_OPERANDS(args, command, 0, 1, "[COMMAND]", COMMAND, NULL),
    TMX_RUNS(args),
};
