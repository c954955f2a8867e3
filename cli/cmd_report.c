#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "plots/page.h"

enum { KEY_TITLE = 256, KEY_FRAMES };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the page to write (default: report.html)", 0},
    {"title", KEY_TITLE, "TEXT", 0, "heading of the page", 0},
    {"frames", KEY_FRAMES, "N", 0, "at most N pictures of a run's heat map (default 240)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tmx_report *r = state->input;
    char *end;
    switch (key) {
    case 'o':
        r->out = arg;
        return 0;
    case KEY_TITLE:
        r->title = arg;
        return 0;
    case KEY_FRAMES:
        r->max_frame = strtoul(arg, &end, 10);
        if (*end || r->max_frame < 2 || r->max_frame > 10000) {
            argp_error(state, "--frames %s: expected a number from 2 to 10000", arg);
        }
        return 0;
    case ARGP_KEY_ARGS:
        r->results = (const char *const *)(state->argv + state->next);
        r->n_result = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (r->n_result == 0) {
            argp_error(state, "which results? Folders of tables and runs, databases of studies");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "RESULTS...",
    "One HTML page that opens without a network: tables that sort, figures, and a player of heat maps.\v"
    "Runs need --hotspot for the player; give two policies of one mix to see them side by side.\n\nExample:\n"
    "  thermix run workloads/runs/wl1.cfg --set policy=BL -o out/bl --trace 2 --hotspot 2\n"
    "  thermix run workloads/runs/wl1.cfg --set policy=MNU -o out/mnu --trace 2 --hotspot 2\n"
    "  thermix report out/tabs out/bl out/mnu -o report.html",
    NULL,
    NULL,
    NULL};

int tmx_cmd_report(int argc, char **argv)
{
    struct tmx_report r = {.out = "report.html", .title = "thermix report", .max_frame = 240};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    const enum tmx_status st = tmx_report_write(&r, &err);
    if (!st) {
        printf("%s\n", r.out);
    }
    return tmx_command_end("report", st, &err);
}
