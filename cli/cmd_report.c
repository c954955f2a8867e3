/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix report: one page of results. */
#include <stdio.h>

#include "base/text.h"
#include "cli/commands.h"
#include "plots/plot.h"

struct args {
    struct tmx_texts results;
    const char *out, *title;
    long frames;
    bool no_what_if, no_explain;
    bool all, quiet;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "output", 'o', .value = "FILE", .def = "report.html", .names = TMX_NAMES_FILE,
            .doc = "file to write the page to"),
    TMX_ARG(args, title, TEXT, "title", 0, .value = "TEXT", .def = "thermix report",
            .doc = "heading of the page"),
    TMX_ARG(args, frames, INT, "frames", 0, .value = "N", .min = 2, .max = 10000, .def = "240",
            .doc = "at most N pictures of a run's heat map"),
    TMX_ARG(args, no_what_if, FLAG, "no-what-if", 0,
            .doc = "leave out the thermal models of the live what-if (1 to 2 MB per chip)"),
    TMX_ARG(args, no_explain, FLAG, "no-explain", 0,
            .doc = "do not simulate runs again for what limited them and what would help; runs of more than "
                   "16 GPUs or half a minute are never simulated again"),
    TMX_ARG_ALL(args, all),
    TMX_ARG(args, quiet, FLAG, "quiet", 'q', .doc = "do not print the name of the page"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    bool study = false;
    for (size_t i = 0; i < a->results.n; i++) {
        study = study || tmx_text_ends(a->results.text[i], ".sqlite");
    }
    if (a->all && !study) {
        tmx_error(err, TMX_ECONFIG, "--all is for the database of a study, X.sqlite");
        return;
    }
    const struct tmx_report r = {.results = a->results.text,
                                 .n_result = a->results.n,
                                 .out = a->out,
                                 .title = a->title,
                                 .max_frame = (size_t)a->frames,
                                 .what_if = !a->no_what_if,
                                 .explain = !a->no_explain,
                                 .all = a->all};
    if (!tmx_report_write(&r, err) && !a->quiet) {
        tmx_print_visible(stdout, "%s; its figures and their data are in %s.figures\n", a->out, a->out);
    }
}

const struct tmx_command tmx_cmd_report = {
    .name = "report",
    .summary = "one HTML page: verdict, heat maps, a live what-if, tables, figures",
    .doc = "Write one HTML page that opens without a network. It begins with the verdict: what was run, what "
           "limited it, what would help, and how the runs differ. Below are an overview of a hall, a player "
           "of heat maps, the chip itself (change the power of blocks, the fan and the air, and see the "
           "temperatures that the model of `thermix thermal` predicts), studies against axes of your choice, "
           "tables that sort, and figures.",
    .notes = "RESULTS are folders of `thermix run`, `table` and `calibrate`, databases of `sweep`, CSV files "
             "such as those of `replay -o` and `validate --format csv`, and folders of figures. The player "
             "and the what-if need runs made with --hotspot. Of a hall the ten hottest GPUs have all "
             "pictures, the others few.",
    .examples = "thermix run wl1 --set policy=BL -o out/bl --trace 2 --hotspot 2\n"
                "thermix run wl1 --set policy=MNU -o out/mnu --trace 2 --hotspot 2\n"
                "thermix report out/tabs out/bl out/mnu -o report.html\n"
                "thermix report mine errors.csv -o calibration.html",
    TMX_OPERANDS(args, results, 1, 1000, "RESULTS...", FILE,
                 "which results? Folders of runs, tables and calibrations, databases of studies, CSV files"),
    TMX_RUNS(args),
};
