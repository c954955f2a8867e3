#include <argp.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "core/base/opt.h"

static const struct tmx_command commands[] = {
    {"run", "simulate one configuration", tmx_cmd_run},
    {"table", "run a suite and print its table", tmx_cmd_table},
    {"reproduce", "the report of papers against ours, from suites", tmx_cmd_reproduce},
    {"list", "chips, kernels, mixes, policies, suites, back-ends", tmx_cmd_list},
    {"check", "check a configuration without running it", tmx_cmd_check},
    {"thermal", "temperatures of a chip from a power trace, with HotSpot's options and files",
     tmx_cmd_thermal},
    {"floorplan", "check, show, change, make and compare floorplans", tmx_cmd_floorplan},
    {"gate", "unit gating on one SM, cycle by cycle", tmx_cmd_gate},
    {"cta", "how many cores should work for a kernel: TCS, hTCS, ApSA", tmx_cmd_cta},
    {"consolidate", "time and energy of merged small jobs, and whether to merge them", tmx_cmd_consolidate},
    {"power", "fit a power model to measured kernels", tmx_cmd_power},
    {"sweep", "run a parameter study and keep its results", tmx_cmd_sweep},
    {"merge", "join the databases of one study's parts", tmx_cmd_merge},
    {"query", "tables from a study's results", tmx_cmd_query},
    {"sensitivity", "how much each axis of a study moves a metric", tmx_cmd_sensitivity},
    {"plot", "figures of a table, a run or a study", tmx_cmd_plot},
    {"animate", "a film of a run's heat map", tmx_cmd_animate},
    {"report", "one HTML page of tables, figures and heat maps", tmx_cmd_report},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: thermix COMMAND [OPTION...]\n"
                 "Thermal-aware multi-GPU scheduling simulator on a HotSpot-compatible RC grid.\n\n"
                 "Commands:\n");
    for (const struct tmx_command *c = commands; c->name; c++) {
        fprintf(out, "  %-12s %s\n", c->name, c->doc);
    }
    fprintf(out, "\n`thermix COMMAND --help` explains one command, with an example.\n"
                 "Exit codes: 0 ok, 1 failed, 2 bad input.\n");
}

static int unknown(const char *name)
{
    const char *names[64] = {NULL};
    size_t n = 0;
    for (const struct tmx_command *c = commands; c->name && n < 64; c++) {
        names[n++] = c->name;
    }
    const char *near = tmx_nearest(name, names, n);
    fprintf(stderr, "thermix: unknown command \"%s\"%s%s%s; see `thermix --help`\n", name,
            near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return 2;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off(); /* GSL's default handler aborts; every return is checked */
    argp_err_exit_status = 2;
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("thermix %s\n", TMX_VERSION);
        return 0;
    }
    for (const struct tmx_command *c = commands; c->name; c++) {
        if (strcmp(c->name, argv[1]) == 0) {
            char name[64]; /* argp prints argv[0] in messages */
            snprintf(name, sizeof name, "thermix %s", c->name);
            argv[1] = name;
            return c->run(argc - 1, argv + 1);
        }
    }
    return unknown(argv[1]);
}
