/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix plot: the figures that results allow. */
#include "cli/commands.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts results;
    const char *out;
    int format;
    bool quiet;
};

static const char *const formats[] = {"svg", "png", "pdf", NULL};

static const struct tmx_arg rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = TMX_ARG_TEXT,
     TMX_ARG_FIELD(args, out),
     .value = "DIR",
     .names = TMX_NAMES_FOLDER,
     .doc = "folder for the figures and, in data/, what they show"},
    {.name = "format",
     .letter = 'f',
     .type = TMX_ARG_WORD,
     TMX_ARG_FIELD(args, format),
     .words = formats,
     .def = "svg",
     .doc = "kind of file"},
    {.name = "quiet",
     .letter = 'q',
     .type = TMX_ARG_FLAG,
     TMX_ARG_FIELD(args, quiet),
     .doc = "do not print the names of the figures"},
    {0},
};

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_plot p = {.dir = a->out, .format = formats[a->format], .quiet = a->quiet};
    if (!a->out) {
        return tmx_fail(err, TMX_ECONFIG, "where to? -o DIR");
    }
    const enum tmx_status st = tmx_plot_begin(&p, err);
    return st ? st : tmx_plot_results(&p, a->results.text[0], err);
}

const struct tmx_command tmx_cmd_plot = {
    .name = "plot",
    .summary = "figures of a table, a run or a study",
    .doc = "Draw the figures of a table's folder, a run's folder or a study's database.",
    .notes = "Each figure is a gnuplot script of plots/ on a CSV file of DIR/data: copy it and change it.",
    .examples =
        "thermix table tabs -o out/tabs && thermix plot out/tabs -o out/figures\n"
        "thermix run wl1 -o out/wl1 --trace 1 --hotspot 1 && thermix plot out/wl1 -o out/wl1/figures\n"
        "thermix plot cooling.sqlite -o out/cooling --format pdf",
    .args = rows,
    .operands = "RESULTS",
    .operand = offsetof(struct args, results),
    .min_operand = 1,
    .max_operand = 1,
    .which = "which results? A folder of a table or a run, or a study's database",
    .operand_names = TMX_NAMES_FILE,
    .size = sizeof(struct args),
    .run = run,
};
