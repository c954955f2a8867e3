#include <argp.h>

#include "cli/commands.h"
#include "plots/plot.h"

struct arguments {
    const char *results;
    struct tmx_plot plot;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "folder for the figures and, in data/, what they show", 0},
    {"format", 'f', "FORMAT", 0, "svg (default), png or pdf", 0},
    {"quiet", 'q', 0, 0, "do not print the names of the figures", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o':
        a->plot.dir = arg;
        return 0;
    case 'f':
        a->plot.format = arg;
        return 0;
    case 'q':
        a->plot.quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->results) {
            argp_error(state, "one result at a time");
        }
        a->results = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->results || !a->plot.dir) {
            argp_error(state, "expected RESULTS and -o DIR");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "RESULTS",
    "Draw the figures of a table's folder, a run's folder or a study's database.\v"
    "Each figure is a gnuplot script of plots/ on a CSV file of DIR/data: copy it and change "
    "it.\n\nExamples:\n"
    "  thermix table tabs -o out/tabs && thermix plot out/tabs -o out/figures\n"
    "  thermix run workloads/runs/wl1.cfg -o out/wl1 --trace 1 --hotspot 1 && thermix plot out/wl1 -o "
    "out/wl1/figures\n"
    "  thermix plot cooling.sqlite -o out/cooling --format pdf",
    NULL,
    NULL,
    NULL};

int tmx_cmd_plot(int argc, char **argv)
{
    struct arguments a = {.plot = {.format = "svg"}};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_plot_begin(&a.plot, &err);
    st = st ? st : tmx_plot_results(&a.plot, a.results, &err);
    return tmx_command_end("plot", st, &err);
}
